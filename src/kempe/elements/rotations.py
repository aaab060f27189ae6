"""Rotations in space as a user gives them: a matrix, an axis and an angle, Euler angles by name, a quaternion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from kempe.calling import explained
from kempe.elements.geometry import column, plain
from kempe.elements.numbers import Number, Told, evaluate, number, shown, vector
from kempe.errors import ModelError

#: How far the rows of a given matrix may be from orthogonal unit vectors; smaller errors are taken out.
ORTHOGONAL = 1e-6


class Rotation(Told):
    """A rotation in space: what turns the axes of the world, or of a part, into those of a body or marker.

    Make one by ``kp.Rotation(matrix)``, whose columns are the turned axes; ``kp.Rotation.about(axis, angle)``;
    ``kp.Rotation.euler("ZXZ", (a, b, c))``; or ``kp.Rotation.quaternion((w, x, y, z))``. ``first @ second`` turns by
    ``second`` in the axes that ``first`` has made. Numbers may be design parameters.
    """

    #: How it was given, as files have it.
    given: dict[str, Any]

    def __init__(self, matrix: Any) -> None:
        self.matrix = _orthogonal(matrix)
        self.given = {"matrix": self.matrix}

    @classmethod
    def _of(cls, matrix: ca.SX, given: dict[str, Any] | None = None) -> Rotation:
        made = object.__new__(cls)
        made.matrix = tuple(tuple(plain(matrix[i, k]) for k in range(3)) for i in range(3))
        made.given = given or {"matrix": made.matrix}
        return made

    @classmethod
    @explained
    def about(cls, axis: Any, angle: Any) -> Rotation:
        """A turn by an angle about an axis ("x", "y", "z", or three numbers of any length)."""
        along, turn = vector(_axis(axis), "a rotation: axis", 3), number(angle, "a rotation: angle")
        u = unit(along, "a rotation: axis")
        c, s = _cosine_and_sine(turn)
        made = c * ca.SX.eye(3) + s * ca.skew(u) + (1 - c) * ca.mtimes(u, u.T)
        return cls._of(made, {"axis": along, "angle": turn})

    @classmethod
    @explained
    def euler(cls, convention: str, angles: Any) -> Rotation:
        """Turns one after the other about the named axes, by the given angles.

        Capital letters are the axes of the turned body ("ZXZ": precession, nutation, spin; "XYZ": Cardan angles),
        small ones those of the world ("xyz": roll, pitch, yaw of robot files).
        """
        letters = check_convention(convention)
        values = vector(angles, f"a rotation: the angles of '{convention}'", len(letters))
        turns = [cls.about(letter.lower(), value) for letter, value in zip(letters, values, strict=True)]
        if letters.islower():
            turns.reverse()
        made = turns[0]
        for turn in turns[1:]:
            made = made @ turn
        return cls._of(made.symbols, {"euler": letters, "angles": values})

    @classmethod
    @explained
    def quaternion(cls, components: Any) -> Rotation:
        """From a quaternion (w, x, y, z), scalar first, of any length but zero."""
        values = vector(components, "a quaternion (w, x, y, z)", 4)
        given = column(values)
        if not np.any(evaluate([given[k] for k in range(4)])):
            raise ModelError("a quaternion must not be zero")
        e = given / ca.norm_2(given)
        w, v = e[0], e[1:]
        made = (w * w - ca.dot(v, v)) * ca.SX.eye(3) + 2 * ca.mtimes(v, v.T) + 2 * w * ca.skew(v)
        return cls._of(made, {"quaternion": values})

    def __matmul__(self, other: Any) -> Rotation:
        if not isinstance(other, Rotation):
            return NotImplemented
        return Rotation._of(ca.mtimes(self.symbols, other.symbols))

    @property
    def symbols(self) -> ca.SX:
        """The matrix for equations."""
        return ca.vertcat(*[ca.horzcat(*[ca.SX(c) for c in row]) for row in self.matrix])

    @property
    def axes(self) -> tuple[Number, ...]:
        """The nine numbers, axis by axis."""
        return tuple(self.matrix[i][k] for k in range(3) for i in range(3))

    @property
    def is_none(self) -> bool:
        """Whether it turns nothing."""
        unturned = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        return all(not isinstance(c, ca.SX) and c == e for c, e in zip(self.axes, unturned, strict=True))

    def told(self) -> str:
        return "a rotation"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rotation) and all(
            ca.is_equal(ca.SX(a), ca.SX(b), 30) for a, b in zip(self.axes, other.axes, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Rotation({[list(row) for row in self.matrix]})"


def as_rotation(value: Any, what: str) -> Rotation:
    """A rotation as it is, or from a matrix, or from a mapping as files have it."""
    if isinstance(value, Rotation):
        return value
    try:
        if isinstance(value, Mapping):
            return _from_mapping(value)
        return Rotation(value)
    except ModelError as error:
        raise ModelError([f"{what}: {finding}" for finding in error.findings]) from None


#: What a mapping of a rotation may hold, and what makes it.
FORMS: dict[tuple[str, ...], Callable[..., Rotation]] = {
    ("axis", "angle"): Rotation.about,
    ("euler", "angles"): Rotation.euler,
    ("quaternion",): Rotation.quaternion,
    ("matrix",): Rotation,
}


def _from_mapping(value: Mapping[str, Any]) -> Rotation:
    for keys, make in FORMS.items():
        if set(value) == set(keys):
            return make(*[value[key] for key in keys])
    forms = ", ".join("{" + ", ".join(f"{key}: ..." for key in keys) + "}" for keys in FORMS)
    raise ModelError(f"a rotation is one of {forms}, not {shown(dict(value))}")


def check_convention(convention: Any) -> str:
    """The name of a sequence of turns: one to three of XYZ, or of xyz, none twice in a row."""
    good = isinstance(convention, str) and 1 <= len(convention) <= 3 and set(convention.lower()) <= set("xyz")
    good = good and convention in (convention.lower(), convention.upper())
    if not good or any(a == b for a, b in pairwise(convention)):
        raise ModelError(
            "Euler angles are named by their axes in order, 'ZXZ' (axes of the body) or 'xyz' (fixed axes), "
            f"not {shown(convention)}"
        )
    return str(convention)


def unit(direction: Any, what: str) -> ca.SX:
    """A direction of length one."""
    along = column(vector(direction, what, 3))
    if not np.any(evaluate([along[k] for k in range(3)])):
        raise ModelError(f"{what} must not be the zero vector")
    zeros = [k for k in range(3) if along[k].is_zero()]
    if len(zeros) == 2:  # along x, y or z: no rounding
        k = ({0, 1, 2} - set(zeros)).pop()
        return along / ca.fabs(along[k]) if along[k].is_constant() else along / ca.sqrt(along[k] ** 2)
    return along / ca.norm_2(along)


def frame_along(w: ca.SX) -> ca.SX:
    """Three orthogonal axes, as columns, the third along a unit vector; the first as near as can be to x, y or z."""
    k = int(np.argmin(np.abs(evaluate([w[i] for i in range(3)]))))
    k = 0 if abs(float(evaluate([w[0]])[0])) < 0.9 else k
    start = ca.SX.zeros(3)
    start[k] = 1.0
    across = start - ca.dot(start, w) * w
    u = across / ca.norm_2(across)
    return ca.horzcat(u, ca.cross(w, u), w)


def _axis(axis: Any) -> Any:
    if isinstance(axis, str):
        if axis not in ("x", "y", "z"):
            raise ModelError(f"an axis is 'x', 'y', 'z' or three numbers, not {axis!r}")
        return [1.0 if c == axis else 0.0 for c in "xyz"]
    return axis


def _cosine_and_sine(angle: Number) -> tuple[Any, Any]:
    if isinstance(angle, ca.SX):
        return ca.cos(angle), ca.sin(angle)
    return float(np.cos(angle)), float(np.sin(angle))


def _orthogonal(matrix: Any) -> tuple[tuple[Number, ...], ...]:
    """The entries of a rotation matrix, checked; rounding errors of plain numbers are taken out."""
    if isinstance(matrix, ca.SX):
        matrix = [[matrix[i, k] for k in range(3)] for i in range(3)] if matrix.shape == (3, 3) else matrix
    if not isinstance(matrix, (Sequence, np.ndarray)) or isinstance(matrix, str) or len(matrix) != 3:
        raise ModelError(
            "a rotation is kp.Rotation.about(axis, angle), .euler(convention, angles), .quaternion((w, x, y, z)) or a "
            f"matrix of three rows, not {shown(matrix)}"
        )
    rows = [vector(row, f"a rotation: row {k + 1} of the matrix", 3) for k, row in enumerate(matrix)]
    now = np.array([evaluate(list(row)) for row in rows], dtype=float)
    if not np.allclose(now @ now.T, np.eye(3), atol=ORTHOGONAL) or np.linalg.det(now) < 0:
        mirror = " (it is a mirror image)" if np.allclose(now @ now.T, np.eye(3), atol=ORTHOGONAL) else ""
        raise ModelError(f"a rotation matrix has three orthogonal columns of length one, right-handed{mirror}")
    if any(isinstance(c, ca.SX) for row in rows for c in row):
        return tuple(rows)
    left, _, right = np.linalg.svd(now)
    exact = left @ right
    return tuple(tuple(float(c) for c in row) for row in (now if np.abs(exact - now).max() < 1e-14 else exact))
