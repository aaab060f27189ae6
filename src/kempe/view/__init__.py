"""Pictures and animations."""

from kempe.view.animation import animate
from kempe.view.families import plot_designs
from kempe.view.matrices import pattern
from kempe.view.pictures import draw, path
from kempe.view.plots import orbit, plot
from kempe.view.report import report
from kempe.view.style import COLOURS, save

__all__ = ["COLOURS", "animate", "draw", "orbit", "path", "pattern", "plot", "plot_designs", "report", "save"]
