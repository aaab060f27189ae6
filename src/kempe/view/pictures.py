"""Pictures of a mechanism, without a screen: a drawing with names, and the paths that points take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kempe.analysis import Pose
from kempe.elements import Carrier, Joint, RigidLink, SpatialJoint
from kempe.errors import ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.simulation.assembling import pose_array
from kempe.simulation.posing import Posed
from kempe.view.camera import View, angles_of
from kempe.view.drawing import Drawing
from kempe.view.geometry import drawing_of
from kempe.view.labels import unit_of, with_unit
from kempe.view.margin import Clock, room, write_length, write_scales
from kempe.view.names import write_names
from kempe.view.painter import Painter, canvas, sheet
from kempe.view.plots import mark_events, orbit, plot
from kempe.view.scene import Scene
from kempe.view.space_loads import add_space_vectors
from kempe.view.space_pictures import still
from kempe.view.space_stage import SpaceStage
from kempe.view.spatial import scene_of
from kempe.view.stage import Stage
from kempe.view.style import COLOURS, LINE, TEXT, colour, events, filled, legend, plain, quiet, save
from kempe.view.vectors import add_vectors, vectors_of

__all__ = ["COLOURS", "draw", "orbit", "path", "plot", "save"]


def drawable(model: Model, drawing: Drawing) -> Drawing:
    """A drawing with something in it, or an error."""
    if drawing.points.shape[1] == 0:
        raise ModelError(f"'{model.name}' has no bodies, points or joints to draw")
    if not np.isfinite(drawing.points).all():
        raise ModelError(f"'{model.name}' cannot be drawn: a position is not finite")
    return drawing


def in_space(model: Model) -> bool:
    """Whether a model is one of space, not of the plane."""
    return model.space.dim == 3


def plane_only(model: Model, view: View) -> None:
    """A view is one of a mechanism in space, and a known one."""
    if view is not None and not in_space(model):
        raise ModelError(f"'{model.name}' is in the plane: view= is for mechanisms in space")
    angles_of(view)


def visible(model: Model, scene: Scene) -> Scene:
    """A scene with something in it, or an error."""
    if not scene.pieces:
        raise ModelError(f"'{model.name}' has no bodies, points or joints to draw")
    if not np.isfinite(scene.frames).all():
        raise ModelError(f"'{model.name}' cannot be drawn: a position is not finite")
    return scene


def motion_scene(model: Model, result: Result) -> Scene:
    """The scene of a motion in space, from a result of this model."""
    _of_this(model, result)
    return visible(model, scene_of(model, result.q, result.provenance.get("parameters")))


def motion_drawing(model: Model, result: Result, rows: Any = slice(None)) -> Drawing:
    """The drawing of a motion, from the chosen rows of a result of this model."""
    _of_this(model, result)
    return drawable(model, drawing_of(model, result.q[rows], result.provenance.get("parameters")))


def _of_this(model: Model, result: Result) -> None:
    expected = len(Posed(model).system.names)
    if filled(result).q.shape[1] != expected:
        raise ModelError(
            f"the result has {result.q.shape[1]} coordinates and '{model.name}' has {expected}: "
            "it is not a result of this model"
        )


def draw(
    model: Model,
    pose: Pose | None = None,
    names: bool = True,
    *,
    motion: Result | None = None,
    at: float | None = None,
    vectors: Sequence[str] | str = (),
    scale: Mapping[str, float] | None = None,
    title: str = "",
    view: View = None,
) -> Figure:
    """A mechanism in one pose (assembled from the sketch by default), with the names of its parts and joints.

    With ``motion`` it is drawn in the first pose of a result, or in that nearest to the time ``at``; guides are as long
    as the motion needs, and ``vectors`` are shown as arrows with their sizes (names and ``scale`` as in
    :func:`animate`). A mechanism in space is looked at from ``view``: "front", "right", "top", "isometric" and others,
    or azimuth and elevation in degrees.
    """
    plane_only(model, view)
    if motion is not None:
        if pose is not None:
            raise ModelError("draw: give a pose or a motion, not both")
        return _instant(model, motion, names, at, vectors, scale, title, view)
    if at is not None or len(vectors):
        raise ModelError("draw: a time and vectors are those of a motion: give the result with motion=")
    from kempe.analysis import assemble

    q = pose_array(Posed(model).system, assemble(model) if pose is None else pose)
    if in_space(model):
        return still(model, visible(model, scene_of(model, q)), title or model.name, view, names=names)
    drawing = drawable(model, drawing_of(model, q))
    return _painted(model, drawing, names, title or model.name)[0]


def _instant(
    model: Model, motion: Result, names: bool, at: float | None, vectors: Any, scale: Any, title: str, view: View
) -> Figure:
    """A mechanism at one time of a motion, with the vectors there and how large they are."""
    row = 0 if at is None else _row(motion, at)
    found = vectors_of(model, motion, vectors)
    said = [f"{v.name} {v.size[row]:.4g} {unit_of(motion, v.kind)}".rstrip() for v in found]
    there = [v.at(row, words) for v, words in zip(found, said, strict=True)]
    if in_space(model):
        scene = motion_scene(model, motion)
        scene.keep(np.array([row]))
        add_space_vectors(scene, there, scale)
        time = None if at is None else float(motion.t[row])
        return still(model, scene, title or model.name, view, names=names, motion=motion, at=time)
    drawing = motion_drawing(model, motion)
    drawing.points = drawing.points[row : row + 1]
    add_vectors(drawing, there, scale)
    figure, axes = _painted(model, drawing, names, title or model.name, room(drawing, clock=at is not None))
    write_scales(axes, drawing, motion)
    if at is not None:
        Clock(axes, motion).show(float(motion.t[row]))
    return figure


def _row(motion: Result, at: float) -> int:
    """The row of a result nearest to a time within it."""
    t = filled(motion).t
    spare = 1e-9 * max(float(np.ptp(t)), abs(float(at)))
    if not t[0] - spare <= at <= t[-1] + spare:
        raise ModelError(f"draw: the motion is from t = {t[0]:.6g} to {t[-1]:.6g}; there is no pose at {at:.6g}")
    return int(np.abs(t - at).argmin())


def _painted(model: Model, drawing: Drawing, names: bool, title: str, below: float = 0.0) -> tuple[Figure, Axes]:
    figure, axes, unit = canvas(drawing, title, below=below)
    write_length(axes, model)
    painter = Painter(axes, drawing, unit)
    if names:
        write_names(axes, drawing, painter.colours)
    return figure, axes


def _still(drawing: Drawing) -> Drawing:
    """The first frame alone."""
    return replace(drawing, points=drawing.points[:1])


def path(
    result: Result,
    names: Sequence[Any] | str,
    *,
    model: Model | None = None,
    title: str = "",
    at: float | None = None,
    view: View = None,
) -> Figure:
    """The paths of points in the plane, on equal axes, or in space, with the mechanism.

    A name is that of a point, body or joint, or a pair ``("rod", (0.1, 0))`` for a point in a part's own axes. With
    ``model`` the mechanism is drawn behind in its first pose, or in that at the time ``at``. ``view`` says from where
    one looks in space, as in :func:`draw`.
    """
    wanted = [names] if isinstance(names, str) else list(names)
    if not wanted:
        raise ModelError("path: name at least one point, body or joint")
    paths = {_called(name): history(filled(result), name, model or result.model) for name in wanted}
    every = np.concatenate(list(paths.values()))
    heading = title or result.provenance.get("model", "")
    known = model or result.model
    if known is not None and in_space(known):
        scene = motion_scene(known, result)
        scene.keep(np.array([0 if at is None else _row(result, at)]))
        return still(known, scene, heading, view, names=False, paths=paths)
    if model is None:
        spare = 0.03 * max(float(np.ptp(every, axis=0).max()), 1e-12)
        figure, axes, _ = sheet(every.min(axis=0) - spare, every.max(axis=0) + spare, heading)
        quiet(axes)
    else:
        row = 0 if at is None else int(np.abs(result.t - at).argmin())
        shown = _still(motion_drawing(model, result, np.roll(np.arange(len(result)), -row)))
        figure, axes, unit = canvas(shown, heading, every)
        Painter(axes, shown, unit, faint=True)
    trace(axes, result, paths)
    owner, metres = f"{next(iter(paths))}." if len(paths) == 1 else "", unit_of(result, "position")
    axes.set_xlabel(plain(with_unit(f"{owner}x", metres)), fontsize=TEXT)
    axes.set_ylabel(plain(with_unit(f"{owner}y", metres)), fontsize=TEXT)
    return figure


def trace(axes: Axes, result: Result, paths: dict[str, np.ndarray]) -> None:
    """Paths as lines, with their start and the events on them marked."""
    for k, (name, where) in enumerate(paths.items()):
        axes.plot(*where.T, color=colour(k), linewidth=LINE, label=plain(name), zorder=5)
        axes.plot(*where[:1].T, "o", color=colour(k), markersize=4, zorder=5)
    for where in paths.values():
        mark_events(axes, result, where)
    if len(paths) > 1 or events(result):
        legend(axes)


def _called(name: Any) -> str:
    return name if isinstance(name, str) else f"{name[0]} ({', '.join(f'{float(c):g}' for c in name[1])})"


def history(result: Result, name: Any, model: Model | None = None) -> np.ndarray:
    """Where a point, a body, or with the model a joint or a part's own point, is: (times, 2), in space (times, 3)."""
    known = result.model or model
    letters = "xy" if known is None else known.space.letters
    if isinstance(name, str) and {f"{name}.{c}" for c in letters} <= set(result.names):
        return np.column_stack([result.array(f"{name}.{c}") for c in letters])
    if model is None:
        if isinstance(name, str):
            result.array(f"{name}.x"), result.array(f"{name}.y")  # says what there is instead
        raise ModelError(f"the path of {_called(name)} can only be drawn with the model")
    of = SpaceStage if in_space(model) else Stage
    stage = of(model, result.q, result.provenance.get("parameters"))
    if isinstance(name, str):
        thing = model[name]
        if isinstance(thing, (Joint, SpatialJoint)):
            return stage.where(thing.markers[1])
        local: Any = model.space.origin
    else:
        thing, local = model[name[0]], name[1]
    carrier = thing.carrier if isinstance(thing, RigidLink) else thing
    if not isinstance(carrier, Carrier):
        raise ModelError(f"'{_called(name)}' is not a point, body, bar or joint, so it has no path")
    return stage.where(carrier.at(local))
