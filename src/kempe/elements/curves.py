"""Curves fixed to a part, points that stay on them, cams and followers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.base import Element, Field, Positive, Switch
from kempe.elements.functions import Expression, arguments_of, called_on_symbols
from kempe.elements.geometry import column
from kempe.elements.joints import attach
from kempe.elements.numbers import Number, evaluate, not_negative, number, plain_array, shown, unless_zero
from kempe.elements.parts import Coordinate, Marker, as_carrier
from kempe.elements.planar import PlacedInPlane, cross, perpendicular, relative_angle
from kempe.elements.pressing import Pressing, pushing
from kempe.elements.quantities import as_marker
from kempe.elements.sources import DrawnSource, Source
from kempe.elements.tables import table
from kempe.elements.touching import Restitution
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
        given = plain_array(span, "curve: span")
        if given.shape != (2,) or not given[0] < given[1]:
            raise ModelError(f"curve: span must be two numbers, the second above the first, not {shown(span)}")
        super().__init__((float(given[0]), float(given[1])))
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
        self._tables = [
            table(s, data[:, k], periodic=bool(closed), outside="extrapolate", name="curve_through") for k in (0, 1)
        ]
        super().__init__((0.0, float(s[-1])))

    def structure(self) -> Hashable:
        return (curve_through, *(t.structure() for t in self._tables))

    def symbolic(self, source: Source) -> Callable[[Any], Any]:
        return lambda s: column([t(s) for t in self._tables])


class Contact(Element):
    """A constraint with the parameter s of a curve as an unknown of its own, found near the drawn follower.

    With ``lift_off`` the follower touches the curve or is free: one row says which point of the curve faces it and
    always holds, the other holds the gap at zero while they touch. They part where the contact would have to pull, and
    meet again with a restitution. Outside is to the right of the direction in which the curve is run through.
    """

    def __init__(
        self,
        name: str,
        what: str,
        base: Marker,
        profile: Any,
        target: Marker,
        start: Any,
        lift_off: Any = False,
        restitution: Any = 0.0,
        **f: Any,
    ) -> None:
        if not isinstance(profile, Curve):
            hint = "; write kp.curve(...) around it" if callable(profile) else ""
            raise ModelError(
                f"{what}: the curve must be kp.curve, kp.polar or kp.curve_through, not {shown(profile)}{hint}"
            )
        if not isinstance(lift_off, (bool, np.bool_)):
            raise ModelError(f"{what}: lift_off must be True or False, not {shown(lift_off)}")
        bounce = Restitution(restitution, what)
        if not lift_off and unless_zero(bounce.value) is not None:
            raise ModelError(f"{what}: a restitution needs lift_off=True: without it the contact never opens")
        if start is None:
            start = _nearest(base, profile, target)
        contact = Coordinate(f"{name} s", number(start, f"{what}: start"), owner=self, scale=profile.scale)
        if lift_off:
            self.rows = ("contact", "tangent")
            self.modes = ("free", "touching")  # type: ignore[misc]
            self.row_modes = {"contact": ("touching",)}  # type: ignore[misc]
            self.closed_rows = ("contact",)  # type: ignore[misc]
            f |= {"restitution": bounce, "near": NEAR * _extent(profile)}
        super().__init__(name, base=base, profile=profile, s=contact, follower=target, **f)

    def contact(self, x: Any) -> tuple[Any, Any]:
        """World position and unit tangent of the contact point."""
        local = x.profile(x.s)
        slope = ca.jacobian(local, x.s)
        slope = slope / ca.norm_2(slope)
        return _world(x.base, local), slope[0] * x.base.u + slope[1] * x.base.n

    def gap(self, x: Any) -> Any:
        """How far the follower is outside of the curve."""
        position, tangent = self.contact(x)
        return ca.dot(x.follower.r - position, -perpendicular(tangent)) - self.reach(x)

    def facing(self, x: Any) -> Any:
        """Zero where the point of the curve is the one that faces the follower."""
        position, tangent = self.contact(x)
        return ca.dot(x.follower.r - position, tangent)

    def reach(self, x: Any) -> Any:
        """How far the follower reaches out from its point."""
        return 0.0

    def closed(self, x: Any) -> Any:
        """The rows of a contact that never opens."""
        raise NotImplementedError

    def phi(self, x: Any) -> Any:
        return [self.gap(x), self.facing(x)] if self.modes else self.closed(x)

    def switches(self, x: Any) -> list[Switch]:
        if not self.modes:
            return []
        # behind a lift-off the gap is zero but for rounding, which is no landing
        gap = self.gap(x) + ROUNDING * x.near
        lands = Switch("free", gap, "free", jump={"contact": x.restitution}, limit="touching", note="lands")
        return [lands, Switch("touching", -x.lam["contact"], "free", note="lifts off")]

    def first_mode(self, x: Any) -> Any:
        return ca.if_else(self.gap(x) <= x.near, 1.0, 0.0) if self.modes else 0.0

    def outputs(self, x: Any) -> dict[str, Any]:
        return {"gap": self.gap(x)} if self.modes else {}

    def output_kinds(self) -> Mapping[str, str]:
        return {"gap": "length"}


#: A follower that is drawn as near to its curve as this touches it at the start, in sizes of the curve.
NEAR = 1e-6
#: A gap below this share of that is rounding.
ROUNDING = 1e-6


def _extent(profile: Curve) -> float:
    """The size of a curve as drawn."""
    found = ca.horzcat(*[ca.SX(profile.at(float(s))) for s in np.linspace(*profile.span, 25)])
    points = evaluate([found[k] for k in range(found.numel())]).reshape(-1, 2)
    return float(np.ptp(points, axis=0).max())


def _world(frame: PlacedInPlane, local: Any) -> Any:
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
    for _ in range(12):  # Newton's method: a point that is drawn on the curve is found to the last digit
        before, gap, behind = gaps([s - near, s, s + near])
        slope, bend = (behind - before) / (2.0 * near), (before - 2.0 * gap + behind) / near**2
        least = float(slope @ slope)
        step = -float(gap @ slope) / max(least + float(gap @ bend), 0.1 * least, 1e-300)
        trial = float(np.clip(s + step, *profile.span))
        if np.hypot(*gaps([trial])[0]) > np.hypot(*gap):
            break
        s = trial
    return s


class PointOnCurve(Contact):
    """A point of j stays on a curve fixed to i; with ``lift_off`` it may leave it to the right of its direction."""

    rows = ("x", "y")

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        curve: Any,
        on_j: Any = None,
        start: Any = None,
        lift_off: bool = False,
        restitution: Any = 0.0,
    ) -> None:
        what = f"point on curve '{name}'"
        base, follower = _on_curve(what, i, j, on_j)
        super().__init__(name, what, base, curve, follower, start, lift_off, restitution)

    def closed(self, x: Any) -> Any:
        return x.follower.r - _world(x.base, x.profile(x.s))


def _on_curve(what: str, i: Any, j: Any, on_j: Any) -> tuple[Marker, Marker]:
    """Where a curve is fixed, and the point that follows it."""
    base = as_marker(i, f"{what}: the part that carries the curve")
    follower = as_carrier(j, f"{what}: the follower").on((0.0, 0.0) if on_j is None else on_j)
    if isinstance(j, Marker) and on_j is None:
        follower = j
    if base.carrier is follower.carrier:
        raise ModelError(f"{what} connects '{base.name}' with itself")
    return base, follower


class CamRoller(Contact):
    """A roller of j on a cam profile of i: the roller's centre lies ``radius`` outside the profile.

    Outside is to the right of the direction in which the profile is run through (a profile run counter-clockwise). With
    ``lift_off`` the roller leaves the cam where the contact would have to pull, and lands with ``restitution``.
    """

    rows = ("x", "y")

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        profile: Any,
        radius: Any,
        on_j: Any = (0.0, 0.0),
        start: Any = None,
        lift_off: bool = False,
        restitution: Any = 0.0,
    ) -> None:
        what = f"cam '{name}'"
        base, follower = attach(what, i, j, None, (0.0, 0.0), on_j)
        size = Positive(radius, f"{what}: roller radius (for a knife edge use point_on_curve)")
        super().__init__(name, what, base, profile, follower, start, lift_off, restitution, radius=size)

    def reach(self, x: Any) -> Any:
        return x.radius

    def closed(self, x: Any) -> Any:
        position, tangent = self.contact(x)
        return x.follower.r - position + x.radius * perpendicular(tangent)


class CamFlat(Contact):
    """A flat face of j on a cam profile of i: the face touches the profile and is tangent to it.

    ``axis`` is the face's direction in world coordinates of the drawn pose. With ``lift_off`` the face leaves the cam
    where the contact would have to pull, and lands with ``restitution``.
    """

    rows = ("contact", "tangent")

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        profile: Any,
        axis: Any,
        on_j: Any = (0.0, 0.0),
        start: Any = None,
        lift_off: bool = False,
        restitution: Any = 0.0,
    ) -> None:
        what = f"cam '{name}'"
        base = as_marker(i, f"{what}: the cam")
        face = as_carrier(j, f"{what}: the follower")
        if base.carrier is face:
            raise ModelError(f"{what} connects '{face.name}' with itself")
        turned = face.at_world((0.0, 0.0), axis).angle
        follower = face.on(on_j, turned)
        super().__init__(name, what, base, profile, follower, start, lift_off, restitution)

    def gap(self, x: Any) -> Any:
        position, tangent = self.contact(x)  # along the face or against it: that is where the cam lies
        return ca.dot(x.follower.u, tangent) * ca.dot(x.follower.n, position - x.follower.r)

    def facing(self, x: Any) -> Any:
        return cross(x.follower.u, self.contact(x)[1])

    def closed(self, x: Any) -> list[Any]:
        position, _ = self.contact(x)
        return [ca.dot(x.follower.n, position - x.follower.r), self.facing(x)]


class CurveContact(Pressing, Contact):
    """A point or a roller of j that a curve of i pushes away: force k d^n + c d', d being how deep it is inside.

    Outside is to the right of the direction in which the curve is run through. Without ``radius`` it is a point. The
    contact never pulls; it opens and closes as that of a bump stop does. ``contact`` is a contact law in the place of
    the spring and the damper; as the curve has no one radius, it needs a stiffness. ``friction`` is a smooth law; it
    acts at the point, or at the surface of the roller.
    """

    rows = ("tangent",)

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        curve: Any,
        stiffness: Any = None,
        damping: Any = None,
        exponent: Any = None,
        radius: Any = 0.0,
        on_j: Any = None,
        start: Any = None,
        contact: Any = None,
        friction: Any = None,
    ) -> None:
        what = f"curve contact '{name}'"
        base, follower = _on_curve(what, i, j, on_j)
        fields = self._pressing(name, what, pushing(what, contact, None, stiffness, damping, exponent), friction)
        fields["radius"] = unless_zero(not_negative(radius, f"{what}: radius"))
        Contact.__init__(self, name, what, base, curve, follower, start, **fields)

    def reach(self, x: Any) -> Any:
        return 0.0 if x.radius is None else x.radius

    def depth(self, x: Any) -> Any:
        return -self.gap(x)

    def _seen(self, x: Any) -> tuple[Any, Any]:
        """The follower's point in the axes of the curve, and the direction of the curve."""
        d = x.follower.r - x.base.r
        slope = ca.jacobian(x.profile(x.s), x.s)
        return column([ca.dot(x.base.u, d), ca.dot(x.base.n, d)]), slope / ca.norm_2(slope)

    def slip(self, x: Any) -> Any:
        """How fast the surface of j moves along the curve, where it touches."""
        seen, along = self._seen(x)
        moved = x.d(seen[0]) * along[0] + x.d(seen[1]) * along[1]
        return moved if x.radius is None else moved - x.radius * x.d(relative_angle(x.base, x.follower))

    def rub(self, x: Any, effort: Any) -> Any:
        seen, along = self._seen(x)
        found = x.push(seen, effort * along)
        return found if x.radius is None else found - x.push(relative_angle(x.base, x.follower), effort * x.radius)

    def phi(self, x: Any) -> Any:
        return self.facing(x)
