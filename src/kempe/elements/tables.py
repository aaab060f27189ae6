"""Tables of measured or computed data, callable on anything: piecewise polynomials of one or two arguments."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.base import Field, check_name
from kempe.elements.numbers import plain_array, shown
from kempe.elements.readings import SLACK, read
from kempe.elements.sealing import Sealed
from kempe.elements.sources import Source
from kempe.errors import ModelError

#: What a table may do beyond its data.
OUTSIDE = ("error", "hold", "extrapolate")


class Axis(Sealed):
    """One argument of a table: where its pieces begin, the last one's end, and its period (0 if it does not repeat)."""

    def __init__(self, breaks: Any, period: float = 0.0) -> None:
        self.breaks = np.ascontiguousarray(breaks, dtype=float)
        self.period = float(period)

    @property
    def low(self) -> float:
        """Where the data begin."""
        return float(self.breaks[0])

    @property
    def high(self) -> float:
        """Where they end."""
        return float(self.breaks[-1])

    def find(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pieces that hold at each x (beyond the data those at the ends), and where they begin."""
        turns = np.floor((x - self.low) / self.period) * self.period if self.period else np.zeros(len(x))
        k = np.clip(np.searchsorted(self.breaks, x - turns, side="right") - 1, 0, len(self.breaks) - 2)
        return k, self.breaks[k] + turns


class Table(Field):
    """A piecewise cubic (bicubic) polynomial: the engine finds the piece, a kernel sees only the piece's numbers.

    A piece is, for each axis, where it begins and where the data begin and end, then the coefficients in ascending
    powers of the distances from where it begins.
    """

    def __init__(self, axes: Sequence[Axis], coefficients: Any, outside: str = "extrapolate", name: str = "") -> None:
        self.axes = tuple(axes)
        shape = [len(axis.breaks) - 1 for axis in axes]
        self.coefficients = np.ascontiguousarray(coefficients, dtype=float).reshape(*shape, 4 ** len(shape))
        self.outside, self.name = outside, name
        said = [self.coefficients, *(axis.breaks for axis in axes), np.array([axis.period for axis in axes])]
        self.key = hashlib.sha256(
            b"".join(a.tobytes() for a in said) + f"{shape} {outside} {name}".encode()
        ).hexdigest()

    @property
    def dim(self) -> int:
        """How many arguments it takes."""
        return len(self.axes)

    @property
    def width(self) -> int:
        """How many numbers a piece is."""
        return int(3 * self.dim + 4**self.dim)

    @property
    def watched(self) -> bool:
        """Whether it must not be read beyond its data."""
        return self.outside == "error" and any(not axis.period for axis in self.axes)

    def structure(self) -> Hashable:
        return (Table, self.key)

    def symbolic(self, source: Source) -> Table:
        return self

    def pieces(self, *x: np.ndarray) -> np.ndarray:
        """The pieces that hold at each place, a row each."""
        given = np.broadcast_arrays(*[np.atleast_1d(np.asarray(a, dtype=float)) for a in x])
        found = [axis.find(a) for axis, a in zip(self.axes, given, strict=True)]
        columns: list[np.ndarray] = []
        for axis, (_, left) in zip(self.axes, found, strict=True):
            columns += [left, np.full(len(left), self._limit(axis, 0)), np.full(len(left), self._limit(axis, 1))]
        return np.column_stack([*columns, self.coefficients[tuple(k for k, _ in found)]])

    def ends(self) -> np.ndarray:
        """Per axis where the data begin and end; what repeats has no end."""
        return np.array([[self._limit(axis, 0), self._limit(axis, 1)] for axis in self.axes])

    def _limit(self, axis: Axis, end: int) -> float:
        return (-1e300, 1e300)[end] if axis.period else (axis.low, axis.high)[end]

    def polynomial(self, piece: Sequence[Any], x: Sequence[Any]) -> Any:
        """The value at x by the numbers of a piece."""
        u = [a - piece[3 * k] for k, a in enumerate(x)]
        c = list(piece[3 * self.dim :])
        for d in reversed(u):  # innermost power last in the list: each axis turns four numbers into one
            c = [c[k] + d * (c[k + 1] + d * (c[k + 2] + d * c[k + 3])) for k in range(0, len(c), 4)]
        return c[0]

    def values(self, *x: Any) -> Any:
        """Its values at numbers or arrays, whatever lies beyond the data."""
        given = np.broadcast_arrays(*[np.asarray(a, dtype=float) for a in x])
        flat = [a.ravel() for a in given]
        found = self.polynomial(list(self.pieces(*flat).T), flat).reshape(given[0].shape)
        return found if found.ndim else float(found)

    def beyond(self, *x: Any, slack: float = SLACK) -> list[str]:
        """What to say where a place is beyond the data and must not be."""
        if self.outside != "error":
            return []
        found = []
        for k, (axis, a) in enumerate(zip(self.axes, x, strict=True)):
            a, more = np.atleast_1d(np.asarray(a, dtype=float)), slack * (axis.high - axis.low)
            wrong = a[~((a >= axis.low - more) & (a <= axis.high + more))] if not axis.period else a[:0]
            if len(wrong):
                which = "" if self.dim == 1 else f" in its argument {k + 1}"
                found.append(f"{self.called} is read at {wrong[0]:.6g}{which}; its data go from {self._range(axis)}")
        return found

    @staticmethod
    def _range(axis: Axis) -> str:
        return f"{axis.low:.6g} to {axis.high:.6g}"

    @property
    def called(self) -> str:
        """The table in a sentence."""
        return f"table '{self.name}'" if self.name else "a table"

    def __call__(self, *x: Any) -> Any:
        """Its value at numbers, arrays, or expressions of anything."""
        if len(x) != self.dim:
            raise ModelError(f"{self.called} takes {self.dim} argument{'s' * (self.dim > 1)}, not {len(x)}")
        if any(isinstance(a, ca.SX) for a in x):
            return self._read([ca.SX(a) for a in x])
        given = [plain_array(a, f"{self.called}: the argument") for a in x]
        if not all(np.isfinite(a).all() for a in given):
            raise ModelError(f"{self.called} is read at a number that is not finite")
        wrong = self.beyond(*given)
        if wrong:
            raise ModelError(f"{wrong[0]} (outside='hold' or 'extrapolate' would allow it)")
        return self.values(*given)

    def _read(self, x: list[ca.SX]) -> ca.SX:
        for a in x:
            if a.numel() != 1:
                raise ModelError(f"{self.called} is read at one number, not at {a.numel()}")
        if all(a.is_constant() for a in x):
            return ca.SX(self(*[float(a) for a in x]))
        return read(self, x)

    def __repr__(self) -> str:
        ranges = ", ".join(self._range(axis) for axis in self.axes)
        return f"<{self.called}: {ranges}, outside: {self.outside}>"


def interpolated(x: np.ndarray, y: np.ndarray, kind: str, periodic: bool, ends: str) -> np.ndarray:
    """The pieces between data, coefficients in ascending powers: an array (pieces, 4, ...) for y of shape (n, ...)."""
    from scipy.interpolate import CubicSpline

    if kind == "linear":
        slope = np.diff(y, axis=0) / np.diff(x).reshape(-1, *[1] * (y.ndim - 1))
        none = np.zeros_like(slope)
        return np.stack([y[:-1], slope, none, none], axis=1)
    fit = CubicSpline(x, y, bc_type="periodic" if periodic else ends)
    return np.moveaxis(fit.c[::-1], 0, 1)


def checked_data(x: Any, y: Any, what: str, periodic: bool, ends: str, axis: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Arguments that increase, and finite values of the right number along an axis."""
    x, y = plain_array(x, f"{what}: the arguments"), plain_array(y, f"{what}: the values")
    if ends not in ("not-a-knot", "natural", "clamped"):
        raise ModelError(f"{what}: ends must be 'not-a-knot', 'natural' or 'clamped', not {shown(ends)}")
    if x.ndim != 1 or y.ndim <= axis or y.shape[axis] != len(x) or len(x) < 2:
        raise ModelError(
            f"{what}: arguments and values must be lists of the same length, at least 2, not {_many(x)} and {_many(y)}"
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ModelError(f"{what}: the data must be finite")
    if not (np.diff(x) > 0).all():
        raise ModelError(f"{what}: the arguments must increase")
    if periodic and not np.array_equal(np.take(y, 0, axis), np.take(y, -1, axis)):
        raise ModelError(f"{what}: periodic data must end with the value they begin with")
    return x, y


def _many(values: np.ndarray) -> str:
    return " x ".join(map(str, values.shape)) if values.ndim else "1"


def fitted(
    axes: Sequence[np.ndarray], values: np.ndarray, what: str, kind: str, periodic: Any, ends: str
) -> np.ndarray:
    """Coefficients of all pieces: the interpolation along one axis after the other (tensor product)."""
    try:
        with np.errstate(all="ignore"):
            c = interpolated(axes[0], values, kind, periodic[0], ends)
            if len(axes) == 2:  # c is (pieces, 4, n): each coefficient is interpolated along the second axis
                if periodic[1]:
                    c[..., -1] = c[..., 0]
                along = interpolated(axes[1], np.moveaxis(c, 2, 0), kind, periodic[1], ends)
                c = np.moveaxis(along, (0, 1), (1, 3))  # (first pieces, second pieces, first powers, second powers)
    except (ValueError, np.linalg.LinAlgError):
        raise ModelError(f"{what}: no curve goes through these data, which are too far apart or too large") from None
    if not np.isfinite(c).all():
        raise ModelError(f"{what}: no curve goes through these data, which are too far apart or too large")
    return c.reshape(*[len(a) - 1 for a in axes], -1)


def held(axes: list[Axis], c: np.ndarray) -> tuple[list[Axis], np.ndarray]:
    """The same with a constant piece at either end of each axis that does not repeat."""
    dim = len(axes)
    for k, axis in enumerate(axes):
        if axis.period:
            continue
        c = c.reshape(*c.shape[:dim], *[4] * dim)
        first, last = np.take(c, [0], k), np.take(c, [-1], k)
        width = axis.breaks[-1] - axis.breaks[-2]
        powers = (width ** np.arange(4)).reshape([4 if i == dim + k else 1 for i in range(2 * dim)])
        at_end = (last * powers).sum(axis=dim + k, keepdims=True)
        ends = []
        for value in (np.take(first, [0], dim + k), at_end):
            constant = np.zeros_like(first)
            constant[tuple(slice(0, 1) if i == dim + k else slice(None) for i in range(2 * dim))] = value
            ends.append(constant)
        c = np.concatenate([ends[0], c, ends[1]], axis=k)
        axes = [Axis([a.low, *a.breaks, a.high]) if i == k else a for i, a in enumerate(axes)]
    return axes, c.reshape(*c.shape[:dim], -1)


def made_table(
    axes: Sequence[np.ndarray], values: np.ndarray, what: str, kind: str, periodic: Any, ends: str, outside: str
) -> tuple[list[Axis], np.ndarray]:
    """Axes and coefficients of a table through checked data."""
    if outside not in OUTSIDE:
        raise ModelError(f"{what}: outside must be 'error', 'hold' or 'extrapolate', not {shown(outside)}")
    c = fitted(axes, values, what, kind, periodic, ends)
    made = [Axis(a, a[-1] - a[0] if p else 0.0) for a, p in zip(axes, periodic, strict=True)]
    return held(made, c) if outside == "hold" else (made, c)


class table(Table):
    """A table of data, callable on anything: ``T = kp.table(x, y)``, ``T(angle)``; with three lists of x and y.

    ``kp.table(x, y)`` goes through values y at increasing x, ``kp.table(x, y, z)`` through values z, a row for each x
    and a column for each y. ``kind`` is "cubic" (a spline with two continuous derivatives, ``ends`` as in
    scipy.interpolate.CubicSpline) or "linear". ``periodic`` data repeat (for two axes: a pair). ``outside`` says what
    holds beyond the data: "error" (the default: an analysis that gets there ends and says so), "hold" (the last
    value) or "extrapolate" (the last piece goes on). ``name`` is what messages and files call it.

    Called on numbers it gives numbers; called on an expression, in a force, law, constraint, curve or element, an
    expression with exact derivatives.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        z: Any = None,
        *,
        kind: str = "cubic",
        periodic: Any = False,
        ends: str = "not-a-knot",
        outside: str = "error",
        name: str = "",
    ) -> None:
        what = f"table '{check_name(name, 'table')}'" if name else "table"
        if kind not in ("cubic", "linear"):
            raise ModelError(f"{what}: kind must be 'cubic' or 'linear', not {shown(kind)}")
        dim = 1 if z is None else 2
        repeats = _flags(periodic, dim, what)
        if dim == 1:
            first, values = checked_data(x, y, what, repeats[0], ends)
            if values.ndim != 1:
                raise ModelError(f"{what}: the values are one list; for a table of two arguments give x, y and z")
            axes = [first]
        else:
            first, values = checked_data(x, z, what, repeats[0], ends)
            second, values = checked_data(y, values, what, repeats[1], ends, axis=1)
            if values.ndim != 2:
                raise ModelError(f"{what}: z is a row for each x with a column for each y, not {_many(values)} numbers")
            axes = [first, second]
        made, c = made_table(axes, values, what, kind, repeats, ends, outside)
        super().__init__(made, c, outside, name)
        #: As given, for files.
        self.given: dict[str, Any] = {"x": first.tolist(), "y": (values if dim == 1 else axes[1]).tolist()}
        self.given |= {} if dim == 1 else {"z": values.tolist()}
        self.given |= {
            "kind": kind,
            "periodic": list(repeats) if repeats[0] != repeats[-1] else repeats[0],
            "ends": ends,
        }
        self.given["outside"] = outside


def _flags(periodic: Any, dim: int, what: str) -> tuple[bool, ...]:
    flags = tuple(periodic) if isinstance(periodic, (list, tuple)) and dim == 2 else (periodic,) * dim
    if len(flags) != dim or not all(isinstance(flag, (bool, np.bool_)) for flag in flags):
        raise ModelError(f"{what}: periodic must be True or False{' (or a pair of them)' * (dim == 2)}")
    return tuple(bool(flag) for flag in flags)
