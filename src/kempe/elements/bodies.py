"""Rigid bodies in space, in natural coordinates: a point and three unit vectors, or points and vectors of the user's.

Every material point is linear in these coordinates, so that the mass matrix is constant, constraints are quadratic, and
there are no gyroscopic terms (Garcia de Jalon and Bayo, 1994).
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from kempe.elements.base import Element, Group, Part, Positive, Scalar
from kempe.elements.geometry import column
from kempe.elements.looks import Look
from kempe.elements.numbers import Number, evaluate, number, shown, vector
from kempe.elements.parts import Carrier, Component
from kempe.elements.rotations import as_rotation
from kempe.elements.sources import Source
from kempe.elements.spatial import SPACE, PlacedInSpace
from kempe.errors import ModelError, ModelWarning

#: Below this fraction of the largest a body is flat, or a rod: the inertia of its axes alone does not carry it.
FLAT = 1e-3
#: The axes of a body, each a unit vector.
AXES = ("e1", "e2", "e3")
#: Pairs of axes: those of the six conditions that make them orthogonal and of length one.
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


class SpatialBody(Part, Carrier):
    """A rigid body in space: the position of its centre of mass and three unit vectors, its axes; twelve numbers."""

    space = SPACE
    solid = True
    channels: ClassVar[tuple[tuple[str, str, str], ...]] = (
        *((c, f"v{c}", f"a{c}") for c in "xyz"),
        *((f"{e}.{c}", f"{e}.v{c}", f"{e}.a{c}") for e in AXES for c in "xyz"),
    )

    def __init__(self, name: str, at: Any = (0.0, 0.0, 0.0), rotation: Any = None) -> None:
        what = f"body '{name}'"
        axes = as_rotation(np.eye(3) if rotation is None else rotation, f"{what}: rotation").axes
        super().__init__(name, (*SPACE.vector(at, f"{what}: at"), *axes))
        #: Meshes to show in pictures.
        self.looks: tuple[Look, ...] = ()

    def _open(self) -> frozenset[str]:
        return frozenset({"looks"})

    def told(self) -> str:
        return f"body '{self.name}'"

    x = property(lambda self: Component(self, 0), doc="The x coordinate as a quantity.")
    y = property(lambda self: Component(self, 1), doc="The y coordinate as a quantity.")
    z = property(lambda self: Component(self, 2), doc="The z coordinate as a quantity.")

    def spins(self) -> dict[str, tuple[int, bool, int]]:
        ends = [(own, k, end) for own, letters in ((False, "xyz"), (True, "123")) for k, end in enumerate(letters)]
        return {f"{self.name}.omega.{end}": (3, own, k) for own, k, end in ends}

    def kinds(self) -> list[str]:
        return ["position"] * 3 + ["direction"] * 9

    def natural_scale(self) -> list[float]:
        return [float("nan")] * 3 + [1.0] * 9

    def frame(self, source: Source) -> PlacedInSpace:
        c = source.coordinates(self)
        return PlacedInSpace(self.name, column(c[:3]), tuple(column(c[3 * k : 3 * k + 3]) for k in (1, 2, 3)))

    def symbolic(self, source: Source) -> Any:
        return source.placed(self, self.frame(source))

    def virtual(self, coordinates: list[Any]) -> ca.SX:
        """A shift moves the position; a turn moves each axis e by turn x e."""
        turned = [-ca.skew(column(coordinates[3 * k : 3 * k + 3])) for k in (1, 2, 3)]
        return ca.diagcat(ca.SX.eye(3), ca.vertcat(*turned))


class Euler(Group):
    """What a body resists the turning of its axes with: J = integral of s s^T dm = tr(I)/2 - I, from its inertia I.

    ``I`` is given as three moments, or as a symmetric matrix, about the centre of mass in the body's axes. The
    equations see the six numbers J11, J22, J33, J12, J13, J23 (the last three None where they are zero).
    """

    def __init__(self, inertia: Any, what: str) -> None:
        I = _inertia(inertia, what)
        now = np.array([evaluate(list(row)) for row in I], dtype=float)
        moments = np.linalg.eigvalsh(now)
        if moments[0] <= 0.0:
            raise ModelError(f"{what} must be above zero about every axis; its principal values are {_listed(moments)}")
        axes = moments.sum() / 2 - moments
        if axes.min() < -1e-6 * moments.max():
            warnings.warn(
                f"{what}: no distribution of mass has the principal values {_listed(moments)}: none may be larger than "
                "the sum of the two others",
                ModelWarning,
                stacklevel=2,
            )
        #: Whether a body is so flat or thin that the inertia of its axes alone does not carry it.
        self.flat = bool(axes.min() < FLAT * axes.max())
        half = (I[0][0] + I[1][1] + I[2][2]) / 2
        entries = [half - I[i][k] if i == k else -I[i][k] for i, k in PAIRS]
        self.full = any(isinstance(c, ca.SX) or c != 0.0 for c in entries[3:])
        self.inertia = I
        super().__init__(Scalar(c) for c in (entries if self.full else entries[:3]))

    def structure(self) -> Hashable:
        return (Euler, self.full, self.flat)

    def symbolic(self, source: Source) -> Any:
        entries = super().symbolic(source)
        return entries if self.full else [*entries, None, None, None]


def _listed(values: np.ndarray) -> str:
    return ", ".join(f"{value:.6g}" for value in values)


def _inertia(inertia: Any, what: str) -> list[list[Number]]:
    """An inertia as a symmetric matrix."""
    entries = None
    if isinstance(inertia, ca.SX):
        shape = inertia.shape
        entries = [[inertia[i, k] for k in range(3)] for i in range(3)] if shape == (3, 3) else ca.vertsplit(inertia)
    elif isinstance(inertia, (list, tuple, np.ndarray)):
        entries = list(inertia)
    if entries is None or len(entries) != 3:
        raise ModelError(
            f"{what} must be three moments about the body's axes, (Ixx, Iyy, Izz), or a symmetric matrix of three "
            f"rows, not {shown(inertia)}"
        )
    if not isinstance(entries[0], (list, tuple, np.ndarray)):
        diagonal = [number(c, f"{what}[{k}]") for k, c in enumerate(entries)]
        return [[diagonal[i] if i == k else 0.0 for k in range(3)] for i in range(3)]
    rows: list[list[Number]] = [list(vector(row, f"{what}: row {k + 1}", 3)) for k, row in enumerate(entries)]
    now = np.array([evaluate(row) for row in rows], dtype=float)
    if np.abs(now - now.T).max() > 1e-9 * np.abs(now).max():
        raise ModelError(f"{what} must be a symmetric matrix")
    return [[rows[min(i, k)][max(i, k)] for k in range(3)] for i in range(3)]


class RigidBody(Element):
    """The axes of a body in space stay orthogonal and of length one; with a mass, its inertia and weight.

    Kinetic energy m v.v / 2 + sum of J_ik e_i'.e_k' / 2. A flat body, whose J is singular, also gets half the square of
    the rate of each condition, times the trace of J: that is zero in every motion, and its equations are too, but the
    mass matrix is then sound.
    """

    keeps_rigid = True
    rows = tuple(f"unit {i + 1}" if i == k else f"square {i + 1}{k + 1}" for i, k in PAIRS)

    def __init__(
        self, name: str, body: SpatialBody, mass: Any = None, inertia: Any = None, gravity: Any = (0.0, 0.0, 0.0)
    ) -> None:
        what = f"body '{body.name}'"
        heavy = mass is not None
        self._has_inertia = heavy
        self._body = body.name
        super().__init__(
            name,
            body=body,
            mass=Positive(mass, f"{what}: mass") if heavy else None,
            euler=Euler(inertia, f"{what}: inertia") if heavy else None,
            gravity=gravity if heavy else [],
        )
        self.flat: bool = heavy and self.fields["euler"].flat  # type: ignore[attr-defined]

    aside = Element.aside | {"_body"}

    @property
    def has_inertia(self) -> bool:
        return self._has_inertia

    @property
    def shown_as(self) -> str:
        return self._body

    def row_label(self, row: str) -> str:
        return f"{self._body}.{row}"

    def row_owner(self, row: str) -> str:
        return self._body

    def phi(self, x: Any) -> list[Any]:
        e = x.body.axes
        return [(ca.dot(e[i], e[i]) - 1) / 2 if i == k else ca.dot(e[i], e[k]) for i, k in PAIRS]

    def kinetic(self, x: Any) -> Any:
        rates = [x.d(e) for e in x.body.axes]
        energy = x.mass * ca.sumsqr(x.d(x.body.r)) / 2
        for (i, k), entry in zip(PAIRS, x.euler, strict=True):
            if entry is not None:
                energy += entry * ca.dot(rates[i], rates[k]) / (2 if i == k else 1)
        if self.flat:
            weight = x.euler[0] + x.euler[1] + x.euler[2]
            energy += weight * ca.sumsqr(x.d(ca.vertcat(*self.phi(x)))) / 2
        return energy

    def weight(self, x: Any) -> Any:
        return -x.mass * ca.dot(column(x.gravity), x.body.r) if self._has_inertia else 0.0

    def outputs(self, x: Any) -> dict[str, Any]:
        """Angular velocity and acceleration, along the axes of the world (x, y, z) and of the body (1, 2, 3)."""
        e = x.body.axes
        omega = x.body.omega(x.d)
        alpha = sum(ca.cross(axis, x.dd(axis)) for axis in e) / 2
        found: dict[str, Any] = {}
        for name, value in (("omega", omega), ("alpha", alpha)):
            found |= {f"{name}.{c}": value[k] for k, c in enumerate("xyz")}
            found |= {f"{name}.{k + 1}": ca.dot(e[k], value) for k in range(3)}
        return found

    def output_kinds(self) -> Mapping[str, str]:
        kinds = {"omega": "angular velocity", "alpha": "angular acceleration"}
        return {f"{name}.{end}": kind for name, kind in kinds.items() for end in "xyz123"}

    def row_kinds(self) -> Mapping[str, str]:
        return dict.fromkeys(self.rows, "direction")
