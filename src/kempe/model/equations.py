"""A system given as equations in the user's own coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import casadi as ca

from kempe import elements as el
from kempe.calling import explained_methods, suggestion
from kempe.elements.functions import arguments_of
from kempe.elements.numbers import parameters_of
from kempe.elements.tracing import failed_on_symbols
from kempe.errors import ModelError
from kempe.model.model import Model


@explained_methods
class EquationsModel(Model):
    """Coordinates q, parameters p, and as functions: Phi(q, t, p) = 0, a mass matrix M(q, p), a force Q(q, v, t, p).

    ``coordinates`` is a list of names, or a mapping from name to start value. The functions are
    ``constraints(q, t, p)``, ``mass(q, p)`` and ``force(q, v, t, p)``; they receive q, v and p with the user's names as
    attributes (and by index). The motion satisfies M a + Phi_q^T lambda = Q as written: where M varies with q, the
    velocity terms (centrifugal, Coriolis) belong into Q. ``constraints`` returns a list of expressions, or a mapping
    from row name to expression. Angles are coordinates like any other. A parameter that follows from those before it is
    given as a function of them, ``{"a": 1.0, "b": lambda p: 2 * p.a}``.
    """

    def __init__(
        self,
        name: str,
        coordinates: Sequence[str] | Mapping[str, Any],
        *,
        constraints: Callable[..., Any] | None = None,
        mass: Callable[..., Any] | None = None,
        force: Callable[..., Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(name)
        if isinstance(coordinates, str):
            raise ModelError(f"equations '{name}': coordinates must be a list of names, not one string")
        if not isinstance(coordinates, Iterable):
            raise ModelError(f"equations '{name}': coordinates must be a list of names, not {el.shown(coordinates)}")
        coordinates = coordinates if isinstance(coordinates, Mapping) else list(coordinates)
        for key in coordinates:
            el.check_name(key, "coordinate")
        starts = dict(coordinates) if isinstance(coordinates, Mapping) else dict.fromkeys(coordinates, 0.0)
        if not starts:
            raise ModelError(f"equations '{name}': there must be at least one coordinate")
        if not isinstance(coordinates, Mapping) and len(starts) != len(coordinates):
            raise ModelError(f"equations '{name}': a coordinate is named twice")
        for key, value in (parameters or {}).items():
            given = value(_Names(dict(self.parameters))) if callable(value) and not isinstance(value, ca.SX) else value
            self.parameter(key, given)
        parts = [self.add_part(el.Coordinate(key, start), "coordinate") for key, start in starts.items()]
        q, v, t = ca.SX.sym("q", len(parts)), ca.SX.sym("v", len(parts)), ca.SX.sym("t")
        p = ca.SX.sym("p", len(self.parameters))
        q_view, p_view = _named(q, list(starts)), _named(p, list(self.parameters))
        rows, phi = _constraints(name, constraints, q_view, t, p_view)
        matrix = None if mass is None else _mass(name, mass, q_view, p_view, len(parts))
        pushed = None if force is None else _force(name, force, q_view, _named(v, list(starts)), t, p_view)
        for what, expression in (("constraints", phi), ("mass", matrix), ("force", pushed)):
            _no_strangers(f"equations '{name}': {what}", expression, (q, v, t, p))
        symbols = (q, v, t, p, phi, matrix, pushed)
        self.add(el.SystemEquations("equations", parts, rows, list(self.parameters.values()), symbols))


class _Names:
    """Named scalars as attributes, by index, and (where a name is no identifier) by name in brackets."""

    __slots__ = ("_named",)

    def __init__(self, named: dict[str, Any]) -> None:
        object.__setattr__(self, "_named", named)

    def __getattribute__(self, name: str) -> Any:
        named = object.__getattribute__(self, "_named")
        if name in named:
            return named[name]
        if name.startswith("__"):
            return object.__getattribute__(self, name)
        raise ModelError(f"there is no '{name}'; there are {', '.join(named) or 'none'}{suggestion(name, named)}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise ModelError(f"'{name}' is given; it cannot be assigned to")

    def __getitem__(self, key: int | str) -> Any:
        named = object.__getattribute__(self, "_named")
        return named[key] if isinstance(key, str) else list(named.values())[key]

    def __len__(self) -> int:
        return len(object.__getattribute__(self, "_named"))


def _named(symbols: ca.SX, names: Sequence[str]) -> _Names:
    return _Names({name: symbols[k] for k, name in enumerate(names)})


def _constraints(name: str, function: Any, q: Any, t: Any, p: Any) -> tuple[list[str], ca.SX | None]:
    if function is None:
        return [], None
    result = _called(f"equations '{name}': constraints", function, "q, t, p", q, t, p)
    if not isinstance(result, Mapping):
        items = result if isinstance(result, (list, tuple)) else [result]
        flat = [e for item in items for e in ca.vertsplit(ca.vec(_expression(name, "constraints", item)))]
        result = {str(k + 1): e for k, e in enumerate(flat)}
    rows = {str(key): _expression(name, f"constraint '{key}'", value) for key, value in result.items()}
    return list(rows), ca.vertcat(ca.SX(0, 1), *rows.values())


def _expression(name: str, what: str, value: Any) -> ca.SX:
    try:
        return ca.SX(value)
    except (NotImplementedError, TypeError):
        raise ModelError(f"equations '{name}': {what} must be an expression, not {value!r}") from None


def _mass(name: str, function: Any, q: Any, p: Any, n: int) -> ca.SX:
    result = _called(f"equations '{name}': mass", function, "q, p", q, p)
    try:
        matrix = (
            result if isinstance(result, ca.SX) else ca.vertcat(*[ca.horzcat(*[ca.SX(e) for e in r]) for r in result])
        )
    except (NotImplementedError, TypeError, RuntimeError):
        raise ModelError(f"equations '{name}': the mass matrix must be {n} rows of {n} expressions") from None
    if matrix.shape != (n, n):
        raise ModelError(f"equations '{name}': the mass matrix is {matrix.shape}, but there are {n} coordinates")
    if not _looks_symmetric(matrix):
        raise ModelError(f"equations '{name}': the mass matrix is not symmetric")
    return matrix


def _looks_symmetric(matrix: ca.SX) -> bool:
    """Whether a matrix is symmetric at some point (to simplify a large one takes longer than to compile it)."""
    symbols = ca.vertcat(ca.SX(0, 1), *ca.symvar(matrix))
    point = [0.37 + 0.61 * k for k in range(symbols.numel())]
    gap = ca.Function("gap", [symbols], [ca.norm_inf(ca.densify(matrix - matrix.T)), ca.norm_inf(ca.densify(matrix))])(
        point
    )
    return not float(gap[0]) > 1e-12 * float(gap[1])


def _force(name: str, function: Any, q: Any, v: Any, t: Any, p: Any) -> ca.SX:
    result = _called(f"equations '{name}': force", function, "q, v, t, p", q, v, t, p)
    items = result if isinstance(result, (list, tuple)) else [result]
    vector = ca.vertcat(ca.SX(0, 1), *[ca.vec(_expression(name, "force", item)) for item in items])
    if vector.numel() != len(q):
        raise ModelError(f"equations '{name}': the force has {vector.numel()} entries for {len(q)} coordinates")
    return vector


def _called(what: str, function: Any, names: str, *arguments: Any) -> Any:
    if not callable(function):
        raise ModelError(f"{what}: this must be a function of ({names}), not {el.shown(function)}")
    arguments_of(function, names.split(", "), (), f"{what}: the function")
    try:
        return function(*arguments)
    except ModelError as error:
        raise ModelError([f"{what}: {finding}" for finding in error.findings]) from None
    except Exception as error:
        raise ModelError(f"{what}: your function {failed_on_symbols(error)}") from error


def _no_strangers(what: str, expression: ca.SX | None, known: tuple[ca.SX, ...]) -> None:
    if expression is None:
        return
    strangers = parameters_of(expression, ca.vertcat(*known), what)
    if strangers:
        raise ModelError(f"{what}: '{strangers[0].label}' belongs to another model; name it in parameters=")
