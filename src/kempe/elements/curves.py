"""Curves fixed to a part, points that stay on them, cams and followers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.base import (
    DrawnSource,
    Element,
    Field,
    KernelSource,
    Positive,
    Source,
    Table,
    cubic,
)
from kempe.elements.functions import Expression, arguments_of, called_on_symbols
from kempe.elements.joints import attach
from kempe.elements.motions import cubic_table
from kempe.elements.numbers import Number, evaluate, number, plain_array, shown
from kempe.elements.parts import Coordinate, Marker, as_carrier
from kempe.elements.planar import Placed, column, cross, perpendicular
from kempe.elements.quantities import as_marker
from kempe.errors import ModelError


class Curve(Field):
    """A plane curve (x(s), y(s)) in the axes of the part that carries it, with a range of s to search a start in."""

    def __init__(self, span: tuple[float, float]) -> None:
        self.span = span

    @property
    def scale(self) -> float:
        """What counts as a change of the parameter by one radian."""
        return (self.span[1] - self.span[0]) / (2 * np.pi)

    def at(self, s: Any) -> Any:
        """The point of the curve at parameter s, with parameters symbolic (used to find a start)."""
        return self.symbolic(DrawnSource())(s)


class curve(Curve):
    """A curve given by a Python function s -> (x, y), written with CasADi operations.

    Further arguments of the function need a default, which they keep.
    """

    def __init__(self, function: Callable[[Any], Any], span: tuple[float, float] = (0.0, 2 * np.pi)) -> None:
        super().__init__(span)
        self.s = ca.SX.sym("s")
        what = "curve: the function"
        arguments_of(function, ["s"], (), what)
        self.point = called_on_symbols(lambda s: column(_two(function(s), what)), [self.s], what)
        if self.point.numel() != 2:
            raise ModelError(f"{what} must return two numbers, not {self.point.numel()}")
        self._expression = Expression(self.point, [self.s], what)

    def data(self) -> Iterable[Number]:
        return self._expression.data()

    def structure(self) -> Hashable:
        return (curve, self._expression.structure())

    def symbolic(self, source: Source) -> Callable[[Any], Any]:
        return self._expression.symbolic(source)


def _two(point: Any, what: str) -> Any:
    """What a curve's function returned, if it is a point."""
    if not isinstance(point, (list, tuple, np.ndarray)) and getattr(point, "numel", lambda: 0)() != 2:
        raise ModelError(f"{what} must return two numbers, (x, y)")
    return [point[0], point[1]] if isinstance(point, ca.SX) else point


def polar(radius: Callable[[Any], Any]) -> curve:
    """A disk profile: ``radius`` is a Python function of the polar angle."""
    if not callable(radius):
        raise ModelError(f"polar needs a function of the angle, lambda a: 0.2 say, not {shown(radius)}")
    arguments_of(radius, ["angle"], (), "polar: the function")
    return curve(lambda s: (radius(s) * ca.cos(s), radius(s) * ca.sin(s)))


class curve_through(Curve):
    """A smooth curve (C2 cubic spline) through points; ``closed`` joins the last point to the first."""

    def __init__(self, points: Any, closed: bool = False) -> None:
        data = plain_array(points, "curve_through: the points")
        if data.ndim != 2 or data.shape[1] != 2 or len(data) < 3:
            raise ModelError(f"curve_through needs a list of at least three points (x, y), not shape {data.shape}")
        if closed and not np.array_equal(data[0], data[-1]):
            data = np.vstack([data, data[:1]])
        #: As given, for files.
        self.given = {"points": plain_array(points, "curve_through").tolist(), "closed": bool(closed)}
        s = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(data, axis=0).T))))
        self._tables = [cubic_table(s, data[:, k], "curve_through", periodic=closed) for k in (0, 1)]
        super().__init__((0.0, float(s[-1])))

    def tables(self) -> Iterable[Table]:
        return self._tables

    def symbolic(self, source: Source) -> Callable[[Any], Any]:
        if isinstance(source, KernelSource):
            pieces: list[Any] = []

            def point(s: Any) -> Any:
                if not pieces:  # one lookup serves every use of the curve in an element
                    pieces.append((s, column([source.table(table, s) for table in self._tables])))
                made_at, value = pieces[0]
                return ca.substitute([value], [made_at], [ca.SX(s)])[0]

            return point
        return lambda s: column([cubic(t.piece(float(s)), float(s)) for t in self._tables])


class Contact(Element):
    """A constraint with the parameter s of a curve as an unknown of its own, found near the drawn follower."""

    def __init__(self, name: str, what: str, base: Marker, profile: Any, target: Marker, start: Any, **f: Any) -> None:
        if not isinstance(profile, Curve):
            hint = "; write kp.curve(...) around it" if callable(profile) else ""
            raise ModelError(
                f"{what}: the curve must be kp.curve, kp.polar or kp.curve_through, not {shown(profile)}{hint}"
            )
        if start is None:
            start = _nearest(base, profile, target)
        contact = Coordinate(f"{name} s", number(start, f"{what}: start"), owner=self, scale=profile.scale)
        super().__init__(name, base=base, profile=profile, s=contact, follower=target, **f)

    def contact(self, x: Any) -> tuple[Any, Any]:
        """World position and unit tangent of the contact point."""
        local = x.profile(x.s)
        slope = ca.jacobian(local, x.s)
        slope = slope / ca.norm_2(slope)
        return _world(x.base, local), slope[0] * x.base.u + slope[1] * x.base.n


def _world(frame: Placed, local: Any) -> Any:
    return frame.r + local[0] * frame.u + local[1] * frame.n


def _nearest(base: Marker, profile: Curve, target: Marker) -> float:
    """The curve parameter whose point is nearest to the follower in the drawn pose."""
    source = DrawnSource()
    frame, goal = base.symbolic(source), target.symbolic(source).r

    def gaps(places: Any) -> np.ndarray:
        found = ca.horzcat(*[_world(frame, profile.at(float(s))) - goal for s in places])
        return evaluate([found[k] for k in range(found.numel())]).reshape(-1, 2)

    samples = np.linspace(*profile.span, 361)
    s, near = float(samples[int(np.argmin(np.hypot(*gaps(samples).T)))]), 1e-3 * (samples[1] - samples[0])
    for _ in range(12):  # Gauss and Newton: a point that is drawn on the curve is found to the last digit
        before, gap, behind = gaps([s - near, s, s + near])
        slope = (behind - before) / (2.0 * near)
        step = -float(gap @ slope) / max(float(slope @ slope), 1e-300)
        trial = float(np.clip(s + step, *profile.span))
        if not np.hypot(*gaps([trial])[0]) < np.hypot(*gap):
            break
        s = trial
    return s


class PointOnCurve(Contact):
    """A point of j stays on a curve fixed to i."""

    rows = ("x", "y")

    def __init__(self, name: str, i: Any, j: Any, *, curve: Any, on_j: Any = None, start: Any = None) -> None:
        what = f"point on curve '{name}'"
        base = as_marker(i, f"{what}: the part that carries the curve")
        follower = as_carrier(j, f"{what}: the follower").on((0.0, 0.0) if on_j is None else on_j)
        if isinstance(j, Marker) and on_j is None:
            follower = j
        if base.carrier is follower.carrier:
            raise ModelError(f"{what} connects '{base.name}' with itself")
        super().__init__(name, what, base, curve, follower, start)

    def phi(self, x: Any) -> Any:
        return x.follower.r - _world(x.base, x.profile(x.s))


class CamRoller(Contact):
    """A roller of j on a cam profile of i: the roller's centre lies ``radius`` outside the profile.

    Outside is to the right of the direction in which the profile is run through (a profile run counter-clockwise).
    """

    rows = ("x", "y")

    def __init__(
        self, name: str, i: Any, j: Any, *, profile: Any, radius: Any, on_j: Any = (0.0, 0.0), start: Any = None
    ) -> None:
        what = f"cam '{name}'"
        base, follower = attach(what, i, j, None, (0.0, 0.0), on_j)
        super().__init__(
            name,
            what,
            base,
            profile,
            follower,
            start,
            radius=Positive(radius, f"{what}: roller radius (for a knife edge use point_on_curve)"),
        )

    def phi(self, x: Any) -> Any:
        position, tangent = self.contact(x)
        return x.follower.r - position + x.radius * perpendicular(tangent)


class CamFlat(Contact):
    """A flat face of j on a cam profile of i: the face touches the profile and is tangent to it.

    ``axis`` is the face's direction in world coordinates of the drawn pose.
    """

    rows = ("contact", "tangent")

    def __init__(
        self, name: str, i: Any, j: Any, *, profile: Any, axis: Any, on_j: Any = (0.0, 0.0), start: Any = None
    ) -> None:
        what = f"cam '{name}'"
        base = as_marker(i, f"{what}: the cam")
        face = as_carrier(j, f"{what}: the follower")
        if base.carrier is face:
            raise ModelError(f"{what} connects '{face.name}' with itself")
        turned = face.at_world((0.0, 0.0), axis).angle
        super().__init__(name, what, base, profile, Marker(face, face.on(on_j).point, turned), start)

    def phi(self, x: Any) -> list[Any]:
        position, tangent = self.contact(x)
        return [ca.dot(x.follower.n, position - x.follower.r), cross(x.follower.u, tangent)]
