"""Pictures and animations."""

from kempe.view.animation import animate
from kempe.view.live import show
from kempe.view.matrices import pattern
from kempe.view.optimum_plots import plot_changes, plot_history
from kempe.view.optimum_report import optimum_report
from kempe.view.orbits import plot_exponent, plot_horizon, plot_orbit, plot_phase, plot_poincare
from kempe.view.pictures import draw, path
from kempe.view.plots import orbit, plot
from kempe.view.report import modes_report, report
from kempe.view.style import COLOURS, save
from kempe.view.tornado import tornado

__all__ = [
    "COLOURS",
    "animate",
    "draw",
    "modes_report",
    "optimum_report",
    "orbit",
    "path",
    "pattern",
    "plot",
    "plot_changes",
    "plot_exponent",
    "plot_history",
    "plot_horizon",
    "plot_orbit",
    "plot_phase",
    "plot_poincare",
    "report",
    "save",
    "show",
    "tornado",
]
