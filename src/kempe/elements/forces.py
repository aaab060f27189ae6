"""Forces: springs with dampers and actuators, bushings, loads. Each is one class: its data and its equations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.base import Element, Field
from kempe.elements.functions import Expression, arguments_of, scalar_expression
from kempe.elements.geometry import Geometry, length_of, plain
from kempe.elements.joints import attach, between
from kempe.elements.kinds import EFFORTS, rate_of
from kempe.elements.links import drawn_distance
from kempe.elements.motions import Law, spline, traced
from kempe.elements.numbers import Number, evaluate, not_negative, number, shown, unless_zero, vector
from kempe.elements.parts import Ground, Marker, Point
from kempe.elements.planar import angle_beyond, relative_angle
from kempe.elements.quantities import Angle, Distance, as_marker, drawn_value
from kempe.elements.sources import DrawnSource, Source
from kempe.elements.tables import Table
from kempe.errors import ModelError


def effort(value: Any, what: str) -> Field | Number | None:
    """A force or torque in time: a law of time (from zero where it has no start), a function of time, or a number."""
    if isinstance(value, Law):
        return value.starting(0.0)
    if callable(value) and not isinstance(value, ca.SX):
        try:
            return traced(value, what)
        except ModelError as error:
            if "is called with" not in str(error):
                raise
            raise ModelError(f"{error}; what depends on the motion is a spring's law=, or m.user_force(...)") from None
    return unless_zero(number(value, what))


class Characteristic(Field):
    """A tabulated force of a deformation as an elastic energy, which is zero at zero deformation.

    On an interval, with u counted from its left end, the force is f = c0 + c1 u + c2 u^2 + c3 u^3, and its integral is
    u f / 4 + (E + 3/4 c0 u + c1/4 u^2 + c2/12 u^3), so that three cubic tables (f, u and the bracket) give it exactly.
    """

    def __init__(self, force: Table) -> None:
        c, zero = force.coefficients, np.zeros(len(force.coefficients))
        width = np.diff(force.axes[0].breaks)
        powers = np.arange(1, 5)
        energy = np.concatenate([[0.0], np.cumsum((c / powers * width[:, None] ** powers).sum(axis=1))])[:-1]
        at_zero = (0.0 - force.pieces(np.zeros(1))[0, 0]) * force.values(0.0) / 4.0
        rest = np.column_stack([energy, 0.75 * c[:, 0], c[:, 1] / 4.0, c[:, 2] / 12.0])
        rest[:, 0] -= at_zero + Table(force.axes, rest).values(0.0)
        self._tables = (
            force,
            Table(force.axes, np.column_stack([zero, zero + 1.0, zero, zero])),
            Table(force.axes, rest),
        )

    def structure(self) -> Hashable:
        return (Characteristic, *(table.structure() for table in self._tables))

    def symbolic(self, source: Source) -> Callable[[Any], tuple[Any, Any]]:
        """A function of the deformation that gives the energy and the force."""

        def energy(deformation: Any) -> tuple[Any, Any]:
            force, counted, rest = (table(deformation) for table in self._tables)
            return counted * force / 4.0 + rest, force

        return energy


def characteristic(law: Any, measured: str, what: str) -> tuple[Characteristic | None, Expression | None]:
    """What a spring's ``law`` means: a table of its deformation, or a function of what it measures and its rate.

    A function that takes a third argument gets the time; arguments with a default keep it and do not count.
    """
    if law is None:
        return None, None
    tabulated = law.table if isinstance(law, spline) else law
    if isinstance(tabulated, Table):
        if tabulated.dim > 1:
            raise ModelError(
                f"{what}: a table of two arguments is called in a function, law=lambda s, rate: T(s, rate)"
            )
        if tabulated.axes[0].period:
            raise ModelError(f"{what}: the table of a spring's force must not be periodic")
        return Characteristic(tabulated), None
    if isinstance(law, (Law, ca.SX)) or not callable(law):
        raise ModelError(
            f"{what}: law must be a function law({measured}, rate) or law({measured}, rate, t), "
            f"or kp.table(deformations, forces), not {shown(law)}"
        )
    takes = arguments_of(law, [measured, "rate"], ["t"], f"{what}: the law")
    function = law if takes == 3 else lambda value, rate, t: law(value, rate)
    return None, scalar_expression(function, [measured, "rate", "t"], f"{what}: the law")


class SpringDamper(Element):
    """A spring, a damper and an actuator along one variable s: tension k (s - s_0) + c ds/dt + F(t) + law.

    Subclasses set in their view ``s``, ``deformation`` (s - s_0) and ``squared`` (its square).
    """

    #: What s is called, and what pulls along it.
    measured: str
    exerted: str

    def _fields(
        self, what: str, free: Number, stiffness: Any, damping: Any, law: Any, pull: tuple[str, Any]
    ) -> dict[str, Any]:
        table, function = characteristic(law, self.measured, what)
        fields = {
            "free": unless_zero(free),
            "stiffness": unless_zero(number(stiffness, f"{what}: stiffness")),
            "damping": unless_zero(not_negative(damping, f"{what}: damping")),
            "pull": effort(pull[1], f"{what}: {pull[0]}"),
            "table": table,
            "law": function,
        }
        if all(value is None for key, value in fields.items() if key != "free"):
            raise ModelError(f"{what} does nothing: give it stiffness=, damping=, {pull[0]}= or law=")
        return fields

    @property
    def markers(self) -> tuple[Marker, Marker]:
        """The two ends."""
        return self.fields["i"], self.fields["j"]  # type: ignore[return-value]

    def view(self, source: Source) -> Any:
        x = super().view(source)
        self.measure(x)
        x.stored, x.tabulated = (0.0, 0.0) if x.table is None else x.table(x.deformation)
        return x

    def measure(self, x: Any) -> None:
        """Set ``s``, ``deformation`` and ``squared``."""
        raise NotImplementedError

    def potential(self, x: Any) -> Any:
        return x.stored if x.stiffness is None else x.stored + x.stiffness * x.squared / 2

    def damping(self, x: Any) -> Any:
        return 0.0 if x.damping is None else x.push(x.s, -x.damping * x.d(x.s))

    def force(self, x: Any) -> Any:
        return 0.0 if x.pull is None and x.law is None else x.push(x.s, -self._supplied(x))

    def _supplied(self, x: Any) -> Any:
        """The tension of actuator and law."""
        tension = 0.0 if x.pull is None else x.pull
        return tension if x.law is None else tension + x.law(x.s, x.d(x.s), x.t)

    def outputs(self, x: Any) -> dict[str, Any]:
        tension = self._supplied(x) + x.tabulated
        tension += 0.0 if x.stiffness is None else x.stiffness * x.deformation
        tension += 0.0 if x.damping is None else x.damping * x.d(x.s)
        return {self.measured: x.s, "rate": x.d(x.s), self.exerted: tension}

    def output_kinds(self) -> Mapping[str, str]:
        return {self.measured: self.measured, "rate": rate_of(self.measured), self.exerted: EFFORTS[self.measured]}


class Spring(SpringDamper):
    """A spring, damper and actuator between two points: tension k (l - l_0) + c dl/dt + F(t) + law.

    Equations 2.10 to 2.16 of Haug, Wehage and Barman (1981). ``length`` is the free length l_0, as drawn if not given.
    ``force`` is F: a number, a law of time or a function of time. ``law`` is a function law(length, rate) or
    law(length, rate, t) that gives a tension (arguments with a default keep it), or kp.spline(deformations, tensions).
    A tension pulls the points together. Stiffness and spline store elastic energy, damping dissipates; what force and a
    function supply counts as supplied energy.

    At length zero a spring has no direction: its force is taken as zero there, and jumps. With a free length of zero
    the elastic energy is k d.d / 2, which is smooth everywhere.
    """

    measured = "length"
    exerted = "force"

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        on_i: Any = None,
        on_j: Any = None,
        stiffness: Any = 0.0,
        length: Any = None,
        damping: Any = 0.0,
        force: Any = 0.0,
        law: Any = None,
    ) -> None:
        what = f"spring '{name}'"
        mi, mj = between(what, i, j, on_i, on_j)
        free = drawn_distance(mi, mj) if length is None else not_negative(length, f"{what}: length")
        super().__init__(name, i=mi, j=mj, **self._fields(what, free, stiffness, damping, law, pull=("force", force)))

    @property
    def distance(self) -> Distance:
        """The spring's length as a quantity."""
        return Distance(*self.markers)

    def measure(self, x: Any) -> None:
        d = x.j.r - x.i.r
        squared = ca.dot(d, d)
        x.s = ca.if_else(squared > 0, ca.sqrt(squared), 0.0)
        x.deformation = x.s if x.free is None else x.s - x.free
        x.squared = squared if x.free is None else x.deformation**2


class TorsionSpring(SpringDamper):
    """A torsion spring, damper and actuator between two parts: torque k (phi - phi_0) + c dphi/dt + T(t) + law.

    Equation 2.11 of Haug, Wehage and Barman (1981). phi is the angle of j as seen from i; ``angle`` is the free angle
    phi_0, as drawn if not given. ``torque`` is T: a number, a law of time or a function of time. ``law`` is a function
    law(angle, rate) or law(angle, rate, t), or kp.spline(deformations, torques). A positive torque turns j back towards
    i. Full turns count between bodies; with a bar, the spring gives way half a turn from its free angle.
    """

    measured = "angle"
    exerted = "torque"

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        stiffness: Any = 0.0,
        angle: Any = None,
        damping: Any = 0.0,
        torque: Any = 0.0,
        law: Any = None,
    ) -> None:
        what = f"torsion spring '{name}'"
        mi, mj = between(what, i, j)
        free = drawn_value(Angle(mi, mj)) if angle is None else number(angle, f"{what}: angle")
        super().__init__(name, i=mi, j=mj, **self._fields(what, free, stiffness, damping, law, pull=("torque", torque)))

    @property
    def angle(self) -> Angle:
        """The angle of j as seen from i."""
        return Angle(*self.markers)

    def measure(self, x: Any) -> None:
        x.s = relative_angle(x.i, x.j)
        x.deformation = angle_beyond(x.i, x.j, ca.SX(0.0 if x.free is None else x.free))
        x.squared = x.deformation**2


class Bushing(Element):
    """A soft joint: linear springs and dampers along two axes of i and about the third, unloaded as drawn.

    ``stiffness`` and ``damping`` are two numbers, along and across the axis, or one for both; ``torsion`` and
    ``torsion_damping`` resist the turning of j in i. ``axis`` is a world direction in the drawn pose (the axis of i if
    not given) and turns with i.
    """

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        stiffness: Any,
        damping: Any = 0.0,
        torsion: Any = 0.0,
        torsion_damping: Any = 0.0,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        axis: Any = None,
    ) -> None:
        what = f"bushing '{name}'"
        mi, mj = attach(what, i, j, at, on_i, on_j, axis, default="j")
        drawn = [m.symbolic(DrawnSource()) for m in (mi, mj)]
        turns = [number(torsion, f"{what}: torsion"), not_negative(torsion_damping, f"{what}: torsion_damping")]
        turning = any(unless_zero(value) is not None for value in turns)
        super().__init__(
            name,
            i=mi,
            j=mj,
            stiffness=[number(k, f"{what}: stiffness") for k in _pair(stiffness, f"{what}: stiffness")],
            damping=[not_negative(c, f"{what}: damping") for c in _pair(damping, f"{what}: damping")],
            drawn=[plain(c) for c in _offset(*drawn)],
            turned=drawn_value(Angle(mi, mj)) if turning else None,
            torsion=turns if turning else None,
        )

    @property
    def markers(self) -> tuple[Marker, Marker]:
        """The bushing's two sides."""
        return self.fields["i"], self.fields["j"]  # type: ignore[return-value]

    def view(self, source: Source) -> Any:
        x = super().view(source)
        x.moved = [now - then for now, then in zip(_offset(x.i, x.j), x.drawn, strict=True)]
        x.stiffnesses, x.dampings = list(x.stiffness), list(x.damping)
        if x.torsion is not None:
            x.moved.append(angle_beyond(x.i, x.j, x.turned))
            x.stiffnesses.append(x.torsion[0])
            x.dampings.append(x.torsion[1])
        return x

    def potential(self, x: Any) -> Any:
        return sum(k * s**2 / 2 for k, s in zip(x.stiffnesses, x.moved, strict=True))

    def damping(self, x: Any) -> Any:
        return sum(x.push(s, -c * x.d(s)) for c, s in zip(x.dampings, x.moved, strict=True))

    def outputs(self, x: Any) -> dict[str, Any]:
        """What j is pushed with, in world directions."""
        along, across, *turning = [
            -k * s - c * x.d(s) for k, c, s in zip(x.stiffnesses, x.dampings, x.moved, strict=True)
        ]
        force = along * x.i.u + across * x.i.n
        found = {"force": length_of(force[0], force[1]), "force.x": force[0], "force.y": force[1]}
        return {**found, "torque": turning[0]} if turning else found

    def output_kinds(self) -> Mapping[str, str]:
        return {"force": "force", "force.x": "force", "force.y": "force", "torque": "moment"}


def _pair(value: Any, what: str) -> tuple[Number, ...]:
    """Two numbers, or one that stands for both."""
    entries = _entries(value)
    return (number(value, what),) * 2 if entries is None else vector(entries, what)


def _entries(value: Any) -> list[Any] | None:
    """What a list, array or vector holds; None for anything else."""
    if isinstance(value, ca.SX):
        return ca.vertsplit(value) if value.is_column() and value.numel() > 1 else None
    return list(value) if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim) else None


def _offset(i: Any, j: Any) -> tuple[Any, Any]:
    """Where j is in the axes of i."""
    d = j.r - i.r
    return ca.dot(i.u, d), ca.dot(i.n, d)


class Force(Element):
    """A force on a point of a part: two components, in space three, each a number, a law or a function of time.

    ``at`` is the point in the world, in the drawn pose; ``on`` gives it in the part's own axes (its origin if neither
    is given). With ``frame="world"`` the components are along x, y (and z); with ``frame="body"`` they turn with the
    part (a follower force). A marker has a point and axes of its own.
    """

    def __init__(
        self, name: str, part: Any, force: Any, *, at: Any = None, on: Any = None, frame: str = "world"
    ) -> None:
        what = f"force '{name}'"
        marker = acting_on(what, part, at, on)
        if frame not in ("world", "body"):
            raise ModelError(f"{what}: frame must be 'world' or 'body', not {frame!r}")
        components = efforts(force, marker.carrier.space, "F", f"{what}: force")
        super().__init__(name, on=marker, components=components, frame=frame)

    @property
    def marker(self) -> Marker:
        """Where it acts."""
        return self.fields["on"]  # type: ignore[return-value]

    def force(self, x: Any) -> Any:
        return x.push(x.on.r, along_axes(x.components, x.on if x.frame == "body" else None))


def efforts(given: Any, space: Geometry, letter: str, what: str) -> list[Any]:
    """The components of a force or torque: numbers, laws or functions of time."""
    entries = _entries(given)
    if entries is None or len(entries) != space.dim:
        said = shown(given) if entries is None else f"{len(entries)} of them"
        names = ", ".join(f"{letter}{c}" for c in space.letters)
        raise ModelError(f"{what} must be {space.dim} numbers ({names}), or laws or functions of time, not {said}")
    return [effort(value, f"{what}[{k}]") for k, value in enumerate(entries)]


def along_axes(components: Any, marker: Any = None) -> ca.SX:
    """A vector from components along the axes of a marker, or of the world."""
    values = [ca.SX(0.0) if c is None else c for c in components]
    return ca.vertcat(*values) if marker is None else marker.along(values)


def acting_on(what: str, part: Any, at: Any, on: Any) -> Marker:
    """The point of a part that a world point of the drawn pose, or one in the part's own axes, says."""
    marker = as_marker(part, f"{what}: the part")
    if at is None and on is None:
        return marker
    if isinstance(part, Marker):
        raise ModelError(f"{what}: the part is a marker and has its point; leave {'at' if on is None else 'on'}= out")
    if at is not None and on is not None:
        raise ModelError(f"{what}: give at=, a world point of the drawn pose, or on=, in the part's own axes, not both")
    if on is not None:
        return marker.carrier.on(on)
    if isinstance(part, Point):
        gap = np.subtract(evaluate(part.space.vector(at, f"{what}: at")), evaluate(part.location))
        if np.linalg.norm(gap) > 1e-9 * np.linalg.norm(evaluate(part.location)):
            raise ModelError(f"{what}: '{part.name}' is a point, drawn elsewhere than at=; leave at= out")
    return marker.carrier.at_world(at)


class Torque(Element):
    """A torque on a body or bar, and the opposite one on ``reaction`` if it is given.

    ``torque`` is a number, a law of time or a function of time; positive is counter-clockwise.
    """

    def __init__(self, name: str, part: Any, torque: Any, *, reaction: Any = None) -> None:
        what = f"torque '{name}'"
        on = as_marker(part, f"{what}: the part")
        base = Ground(on.carrier.space).on() if reaction is None else as_marker(reaction, f"{what}: the reaction")
        if base.carrier is on.carrier:
            raise ModelError(f"{what} acts between '{on.name}' and itself")
        super().__init__(name, base=base, on=on, torque=effort(torque, f"{what}: torque"))

    @property
    def markers(self) -> tuple[Marker, Marker]:
        """What takes the reaction, and what the torque turns."""
        return self.fields["base"], self.fields["on"]  # type: ignore[return-value]

    def force(self, x: Any) -> Any:
        return 0.0 if x.torque is None else x.push(relative_angle(x.base, x.on), x.torque)
