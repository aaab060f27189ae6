"""Forces that are different in space: torques with a direction, torsion springs about an axis, bushings of six."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.base import Element
from kempe.elements.forces import SpringDamper, TorsionSpring, along_axes, efforts
from kempe.elements.geometry import length_of, plain
from kempe.elements.numbers import Number, evaluate, not_negative, number, shown, unless_zero
from kempe.elements.parts import Ground, Marker
from kempe.elements.quantities import Angle, as_marker, drawn_value
from kempe.elements.sources import DrawnSource, Source
from kempe.elements.spatial import SPACE
from kempe.elements.spatial_joints import fasten
from kempe.errors import ModelError


class SpatialTorque(Element):
    """A torque on a body, three components, and the opposite one on ``reaction`` if it is given.

    Each component is a number, a law of time or a function of time. With ``frame="world"`` they are along x, y and z;
    with ``frame="body"`` along the axes of the body, or of the marker if one is given as ``part``.
    """

    called = "torque"

    def __init__(self, name: str, part: Any, torque: Any, *, reaction: Any = None, frame: str = "world") -> None:
        what = f"torque '{name}'"
        on = as_marker(part, f"{what}: the part")
        base = Ground(SPACE).on() if reaction is None else as_marker(reaction, f"{what}: the reaction")
        if base.carrier is on.carrier:
            raise ModelError(f"{what} acts between '{on.name}' and itself")
        if frame not in ("world", "body"):
            raise ModelError(f"{what}: frame must be 'world' or 'body', not {frame!r}")
        super().__init__(name, base=base, on=on, components=efforts(torque, SPACE, "T", f"{what}: torque"), frame=frame)

    @property
    def markers(self) -> tuple[Marker, Marker]:
        """What takes the reaction, and what the torque turns."""
        return self.fields["base"], self.fields["on"]  # type: ignore[return-value]

    def force(self, x: Any) -> Any:
        torque = along_axes(x.components, x.on if x.frame == "body" else None)
        return x.on.turned_by(x, torque) + x.base.turned_by(x, -torque)


class SpatialTorsionSpring(TorsionSpring):
    """A torsion spring, damper and actuator about an axis: torque k (phi - phi_0) + c dphi/dt + T(t) + law.

    It acts about the axis of a joint, ``m.torsion_spring("S", hinge, stiffness=...)``, or between two parts i and j,
    about ``axis``, a world direction in the drawn pose. phi is the angle of j as seen from i, zero as drawn; ``angle``
    is the free angle. The rest is as in the plane; half a turn away from its free angle the spring gives way.
    """

    called = "torsion spring"

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any = None,
        *,
        axis: Any = None,
        stiffness: Any = 0.0,
        angle: Any = None,
        damping: Any = 0.0,
        torque: Any = 0.0,
        law: Any = None,
    ) -> None:
        what = f"torsion spring '{name}'"
        mi, mj = about(what, i, j, axis)
        free = drawn_value(Angle(mi, mj)) if angle is None else number(angle, f"{what}: angle")
        SpringDamper.__init__(
            self, name, i=mi, j=mj, **self._fields(what, free, stiffness, damping, law, pull=("torque", torque))
        )


def about(what: str, i: Any, j: Any, axis: Any) -> tuple[Marker, Marker]:
    """The markers of a joint with an axis, or of two parts with a direction."""
    if j is None:
        if not isinstance(getattr(i, "angle", None), Angle):
            raise ModelError(f"{what} acts about the axis of a joint, or between two parts about axis=, not {shown(i)}")
        if axis is not None:
            raise ModelError(f"{what}: the joint has its axis; leave axis= out")
        return i.markers  # type: ignore[no-any-return]
    return fasten(what, i, j, None, None, (0.0, 0.0, 0.0) if not isinstance(j, Marker) else None, axis)


class SpatialBushing(Element):
    """A soft joint of six stiffnesses along and about the axes of i, unloaded as drawn.

    ``stiffness`` and ``damping`` are three numbers along the axes, or one for all; ``torsion`` and ``torsion_damping``
    three about them, or one. Or ``stiffness`` and ``damping`` are symmetric 6x6 matrices (forces, then moments). The
    axes are those of i, or with ``axis`` (the third of them) a world direction of the drawn pose; they turn with i.

    Turns are measured by half the sum of e_i x e_j, the rotation vector for small turns; a bushing is meant for such.
    """

    called = "bushing"

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        torsion: Any = 0.0,
        torsion_damping: Any = 0.0,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        axis: Any = None,
    ) -> None:
        what = f"bushing '{name}'"
        mi, mj = fasten(what, i, j, at, on_i, on_j, axis, turned=False, default="j")
        matrices = {
            "stiffness": _six(stiffness, torsion, f"{what}: stiffness", f"{what}: torsion"),
            "damping": _six(damping, torsion_damping, f"{what}: damping", f"{what}: torsion_damping"),
        }
        if all(entry is None for matrix in matrices.values() for entry in matrix):
            raise ModelError(f"{what} does nothing: give it stiffness=, damping=, torsion= or torsion_damping=")
        drawn = [plain(c) for c in ca.vertsplit(_moved(*(m.symbolic(DrawnSource()) for m in (mi, mj))))]
        super().__init__(name, i=mi, j=mj, drawn=drawn, **matrices)

    @property
    def markers(self) -> tuple[Marker, Marker]:
        """The bushing's two sides."""
        return self.fields["i"], self.fields["j"]  # type: ignore[return-value]

    def view(self, source: Source) -> Any:
        x = super().view(source)
        x.moved = _moved(x.i, x.j) - ca.vertcat(*x.drawn)
        x.K, x.C = _matrix(x.stiffness), _matrix(x.damping)
        return x

    def potential(self, x: Any) -> Any:
        return ca.dot(x.moved, ca.mtimes(x.K, x.moved)) / 2

    def damping(self, x: Any) -> Any:
        return x.push(x.moved, -ca.mtimes(x.C, x.d(x.moved)))

    def outputs(self, x: Any) -> dict[str, Any]:
        """What j is pushed with, in world directions."""
        effort = -ca.mtimes(x.K, x.moved) - ca.mtimes(x.C, x.d(x.moved))
        force = x.i.along(ca.vertsplit(effort[:3]))
        return {"force": length_of(*ca.vertsplit(force)), **{f"force.{c}": force[k] for k, c in enumerate("xyz")}}

    def output_kinds(self) -> Mapping[str, str]:
        return dict.fromkeys(("force", "force.x", "force.y", "force.z"), "force")


def _moved(i: Any, j: Any) -> ca.SX:
    """Where j is, and how it is turned, in the axes of i."""
    turned = sum(ca.cross(a, b) for a, b in zip(i.directions, j.directions, strict=True)) / 2
    return ca.vertcat(i.local(j.r - i.r), i.local(turned))


def _matrix(entries: Any) -> ca.SX:
    """A symmetric matrix from its upper half, row by row."""
    made, at = ca.SX(6, 6), 0
    for i in range(6):
        for k in range(i, 6):
            if entries[at] is not None:
                made[i, k] = made[k, i] = entries[at]
            at += 1
    return made


def _six(along: Any, turning: Any, what: str, what_turning: str) -> list[Number | None]:
    """The upper half of a symmetric 6x6 matrix, row by row: from the matrix, or from numbers along and about axes."""
    rows = np.asarray(along, dtype=object) if isinstance(along, (list, tuple, np.ndarray)) else None
    if rows is not None and rows.shape == (6, 6):
        entries = [[number(c, what) for c in row] for row in rows]
        now = np.array([evaluate(row) for row in entries], dtype=float)
        if np.abs(now - now.T).max() > 1e-9 * np.abs(now).max():
            raise ModelError(f"{what} must be a symmetric matrix")
        return [unless_zero(entries[i][k]) for i in range(6) for k in range(i, 6)]
    diagonal = [*_three(along, what), *_three(turning, what_turning)]
    return [unless_zero(diagonal[i]) if i == k else None for i in range(6) for k in range(i, 6)]


def _three(value: Any, what: str) -> list[Number]:
    given = [value] * 3 if not isinstance(value, (list, tuple, np.ndarray, ca.SX)) else value
    if isinstance(value, ca.SX) and value.is_scalar():
        given = [value] * 3
    return [not_negative(c, what) for c in SPACE.vector(given, what)]
