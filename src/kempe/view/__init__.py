"""Pictures and animations."""

from kempe.view.pictures import animate, draw, plot, save

__all__ = ["animate", "draw", "plot", "save"]
