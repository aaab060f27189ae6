"""Pictures of a mechanism in space with what stands around it: names, axes, the grid's size, arrows, the time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from PIL import Image

from kempe.model import Model
from kempe.results import Result
from kempe.view.camera import View, camera, level
from kempe.view.drawing import Drawing
from kempe.view.margin import Clock, room, write_scales
from kempe.view.names import write_names
from kempe.view.photograph import Photographer, floor_of
from kempe.view.scene import Scene
from kempe.view.style import LINE, SMALL, TITLE, WIDTH, Picture, colour, folded, plain

#: Colours of the directions of x, y and z.
AXES = ("#C0392B", "#2E8B57", "#2C6FBB")
#: Height of a picture at least and at most, room for the title, and around what is seen; in inches.
LOW, HIGH, HEAD, RIM = 2.6, 5.6, 0.32, 0.16


class Print:
    """A figure with a picture of a scene in it; one unit of its axes is one pixel of the picture, up is positive."""

    def __init__(
        self,
        model: Model,
        scene: Scene,
        title: str,
        view: View,
        *,
        paths: Sequence[np.ndarray] = (),
        dpi: float = 200.0,
        below: float = 0.0,
        fine: int = 2,
    ) -> None:
        self.scene, self.axes_of_world = scene, level(scene.up)
        extent = np.concatenate([scene.extent, *paths])
        floor = floor_of(scene, self.axes_of_world, extent)
        eye = camera(view, scene.up, np.zeros(3))
        leaning = abs(float(eye.axes[2] @ scene.up)) > 0.05  # else the floor is seen from its edge
        rim = np.concatenate(floor.lines()) if leaning else extent[:0]
        seen = np.concatenate([eye.seen(extent), eye.seen(rim)])
        low, high = seen.min(axis=0), seen.max(axis=0)
        wide, tall = np.fmax(high - low, 1e-9 * scene.size)[:2]
        inches = min((WIDTH - 2 * RIM) / wide, (HIGH - 2 * RIM) / tall)  # of a unit of length
        size = (WIDTH, float(np.clip(tall * inches + 2 * RIM, LOW, HIGH)))
        self.figure: Figure = Picture(figsize=(size[0], size[1] + HEAD + below / 72.0))
        top = HEAD / self.figure.get_figheight()
        bottom = below / 72.0 / self.figure.get_figheight()
        self.axes: Axes = self.figure.add_axes((0.0, bottom, 1.0, 1.0 - top - bottom))
        width, height = (round(side * dpi) for side in size)
        eye = camera(view, scene.up, (low + high) / 2.0 @ eye.axes)
        tracks = [(where, colour(k)) for k, where in enumerate(paths)]
        self.photographer = Photographer(
            scene, eye, width, height, inches * dpi, floor if leaning else None, tracks, fine, hair=dpi / 110.0
        )
        self.axes.set(xlim=(0, width), ylim=(-height, 0))
        self.axes.set_axis_off()
        self.axes.set_title(folded(title, size[0] - 0.5, TITLE), fontsize=TITLE)
        self.image = self.axes.imshow(np.full((2, 2, 3), 255, np.uint8), extent=(0, width, -height, 0), zorder=0)
        self._triad(dpi)
        if leaning:
            self._pitch(model, floor.pitch)

    def show(self, row: int) -> None:
        """Take the picture of an instant."""
        self.image.set_data(self.photographer.take(row))

    def flat(self, row: int) -> Drawing:
        """What names stand by and what they should not hide, on the picture."""
        points = [self.scene.where(k)[row] for k in range(len(self.scene.points))]
        seen = self.photographer.pixels(np.array(points).reshape(-1, 3))[:, :2] * np.array([1.0, -1.0])
        found = Drawing(seen[None], size=float(self.photographer.width))
        for label in self.scene.labels:
            if label.kind == "part":
                found.outlines[label.text] = found.links[label.text] = label.points
            elif label.kind == "load":
                found.springs[label.text] = (label.points[0], label.points[-1])
            else:
                found.joints[label.text] = label.points[0]
                found.pins.append(label.points[0])
        return found

    @property
    def scales(self) -> Drawing:
        """How long vectors are on the picture."""
        pixels = self.photographer.scale
        lengths = {kind: scale * pixels for kind, scale in self.scene.scales.items()}
        return Drawing(np.zeros((1, 0, 2)), size=self.scene.size * pixels, scales=lengths, turned=False)

    def _triad(self, dpi: float) -> None:
        """The directions of x, y and z in the lower left corner."""
        long = 0.26 * dpi
        origin = np.array([0.42 * dpi, -self.photographer.height + 0.42 * dpi])
        for k in np.argsort(self.photographer.camera.axes[2]):  # nearest last
            tip = self.photographer.camera.axes[:2, k] * long
            self.axes.plot(*np.stack([origin, origin + tip]).T, color=AXES[k], linewidth=1.6, solid_capstyle="round")
            if np.linalg.norm(tip) > 0.2 * long:
                x, y = origin + tip + tip / np.linalg.norm(tip) * 0.09 * dpi
                self.axes.text(x, y, "xyz"[k], color=AXES[k], fontsize=SMALL, ha="center", va="center")

    def _pitch(self, model: Model, pitch: float) -> None:
        unit = "" if model.units is None else model.units.label("length")
        words = f"grid {pitch:g} {unit}".rstrip()
        self.axes.annotate(
            plain(words), (1.0, 0.0), xycoords="axes fraction", xytext=(-6.0, 5.0), textcoords="offset points",
            ha="right", va="bottom", fontsize=SMALL, color="0.4",
        )  # fmt: skip


def still(
    model: Model,
    scene: Scene,
    title: str,
    view: View = None,
    *,
    names: bool = True,
    motion: Result | None = None,
    at: float | None = None,
    paths: Mapping[str, np.ndarray] | None = None,
) -> Figure:
    """The first instant of a scene as a figure; with a motion, the scales of its vectors and the time ``at`` below.

    ``paths`` are lines (n, 3) by their names.
    """
    below = room(Drawing(np.zeros((1, 0, 2)), scales=scene.scales), clock=at is not None)
    lines = list((paths or {}).values())
    printed = Print(model, scene, title, view, paths=lines, below=below + 20.0 * bool(below))
    printed.show(0)
    if names:
        for text in write_names(printed.axes, printed.flat(0), scene.colours):
            text.set_path_effects([withStroke(linewidth=2.0, foreground="white", alpha=0.85)])
    if paths:
        keys = [Line2D([], [], color=colour(k), linewidth=LINE) for k in range(len(paths))]
        words = [plain(name) for name in paths]
        printed.axes.legend(keys, words, loc="upper right", frameon=False, fontsize=SMALL, handlelength=1.5)
    if motion is not None:
        write_scales(printed.axes, printed.scales, motion)
        if at is not None:
            Clock(printed.axes, motion).show(at)
    return printed.figure


def frames(
    model: Model,
    scene: Scene,
    result: Result,
    times: np.ndarray,
    title: str,
    view: View,
    paths: Sequence[np.ndarray],
    dpi: float,
) -> Iterator[Image.Image]:
    """One picture per instant of a scene: what stands around it is drawn once."""
    below = 20.0 + room(Drawing(np.zeros((1, 0, 2)), scales=scene.scales), clock=True)
    printed = Print(model, scene, title, view, paths=paths, dpi=dpi, below=below)
    printed.figure.set_dpi(dpi)
    write_scales(printed.axes, printed.scales, result)
    clock = Clock(printed.axes, result)
    agg = FigureCanvasAgg(printed.figure)
    printed.image.set_interpolation("nearest")  # its pixels are those of the page
    moving: list[Any] = [printed.image, *printed.axes.lines, *printed.axes.texts]
    for artist in moving:
        artist.set_animated(True)
    agg.draw()
    still_there = agg.copy_from_bbox(printed.figure.bbox)
    for row, t in enumerate(times):
        agg.restore_region(still_there)
        printed.show(row)
        clock.show(float(t))
        for artist in moving:
            printed.axes.draw_artist(artist)
        yield Image.fromarray(np.asarray(agg.buffer_rgba())[..., :3].copy())
