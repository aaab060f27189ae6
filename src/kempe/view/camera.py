"""From where a scene in space is looked at."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kempe.errors import ModelError

#: Azimuth and elevation in degrees. In front one looks along y (where z is up), with x to the right.
VIEWS = {
    "free": (-58.0, 26.0),
    "isometric": (-45.0, float(np.degrees(np.arctan(np.sqrt(0.5))))),
    "front": (-90.0, 0.0),
    "back": (90.0, 0.0),
    "right": (0.0, 0.0),
    "left": (180.0, 0.0),
    "top": (-90.0, 90.0),
    "bottom": (-90.0, -90.0),
}
View = str | Sequence[float] | None


def angles_of(view: View) -> tuple[float, float]:
    """Azimuth and elevation, in degrees, from a name or as they are."""
    if view is None:
        return VIEWS["free"]
    if isinstance(view, str):
        if view not in VIEWS:
            near = difflib.get_close_matches(view, VIEWS, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise ModelError(f"there is no view '{view}'{hint}; there are {', '.join(VIEWS)}, and (azimuth, elevation)")
        return VIEWS[view]
    try:
        azimuth, elevation = (float(angle) for angle in view)
    except (TypeError, ValueError):
        azimuth = elevation = float("nan")
    if not (np.isfinite(azimuth) and -90.0 <= elevation <= 90.0):
        raise ModelError(f"view is a name or azimuth and elevation in degrees, up to 90 above or below, not {view!r}")
    return azimuth, elevation


def level(up: np.ndarray) -> np.ndarray:
    """Axes (rows right, back, up) of the world as one stands in it: x, y, z where z is up, and x, -z, y where y is."""
    main = int(np.abs(up).argmax())
    right = np.eye(3)[1 if main == 0 else 0]
    right = right - (right @ up) * up
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(up, right), up])


@dataclass(frozen=True)
class Camera:
    """A parallel projection: rows right, up and towards the eye, and what is in the middle of the picture."""

    axes: np.ndarray
    centre: np.ndarray

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) of the world to the right, up and towards the eye."""
        return (points - self.centre) @ self.axes.T


def camera(view: View, up: np.ndarray, centre: np.ndarray) -> Camera:
    """The camera of a view."""
    azimuth, elevation = np.radians(angles_of(view))
    right, back, top = level(up)
    out = np.cos(azimuth) * right + np.sin(azimuth) * back
    eye = np.cos(elevation) * out + np.sin(elevation) * top
    above = -np.sin(elevation) * out + np.cos(elevation) * top
    return Camera(np.stack([np.cross(above, eye), above, eye]), np.asarray(centre, dtype=float))
