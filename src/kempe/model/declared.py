"""What a file declares before its model: tables, and parameters that may follow from each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import casadi as ca

from kempe import elements as el
from kempe.elements.numbers import named_symbol
from kempe.elements.readings import readings_in
from kempe.errors import ModelError
from kempe.model.columns import columns
from kempe.model.expressions import FUNCTIONS, parse
from kempe.model.model import Model
from kempe.model.schema import ParameterSpec

#: Does something for the entry at a path, or notes down why it cannot be done; whether it was.
Attempt = Callable[[tuple[Any, ...], Callable[[], Any]], bool]


def tables_of(data: Any, folder: Path, attempt: Attempt) -> dict[str, el.Table]:
    """The tables of a file by name; data files are looked for in its folder."""
    found: dict[str, el.Table] = {}

    def make(name: str, spec: Any) -> None:
        el.check_name(name, "table")
        if name in data.parameters:
            raise ModelError(f"the name '{name}' is already taken by a parameter")
        if name in FUNCTIONS:
            raise ModelError(f"a table cannot be called '{name}', which is a function of expressions")
        found[name] = el.table(**_data_of(spec, folder), name=name)

    for name, spec in data.tables.items():
        attempt(("tables", name), partial(make, name, spec))
    return found


def _data_of(spec: Any, folder: Path) -> dict[str, Any]:
    """What a table is made of; columns of a data file are looked for beside the model."""
    given = dict(spec)
    file, named = given.pop("file"), [isinstance(given[axis], str) for axis in ("x", "y")]
    if file is None and any(named):
        raise ModelError("x and y are lists of numbers, or columns of a file: (a CSV file)")
    if file is not None:
        if not all(named) or given["z"] is not None:
            raise ModelError("with file:, x and y are the names of two of its columns")
        given["x"], given["y"] = columns(folder / file, [given["x"], given["y"]])
    return given


def add_parameters(given: Mapping[str, Any], model: Model, tables: Mapping[str, el.Table], attempt: Attempt) -> None:
    """Add the parameters of a file to a model, each behind those it follows."""
    order: list[str] = []
    if attempt(("parameters",), lambda: order.extend(_in_order(given, tables))):
        for name in order:
            attempt(("parameters", name), partial(_add_parameter, model, name, given[name], tables))


def _in_order(given: Mapping[str, Any], tables: Mapping[str, el.Table]) -> list[str]:
    """The names of parameters, each behind those it is made of; a circle is named."""
    symbols = {name: named_symbol(name) for name in given}
    label = {symbol.element_hash(): name for name, symbol in symbols.items()}

    def needs(name: str) -> list[str]:
        value = _value_of(given[name])
        try:
            expression = parse(value, {**tables, **symbols}) if isinstance(value, str) else ca.SX(value)
        except ModelError:  # told, with its line, when it is added: behind the others, so that it is compared with them
            return [other for other in given if not isinstance(_value_of(given[other]), str)]
        read = [argument for reading in readings_in([expression]) for argument in reading.arguments]
        found = [label.get(s.element_hash()) for e in (expression, *read) for s in ca.symvar(e)]
        return [each for each in dict.fromkeys(found) if each is not None]

    order: list[str] = []

    def visit(name: str, way: list[str]) -> None:
        if name in way:
            circle = " -> ".join([*way[way.index(name) :], name])
            raise ModelError(f"parameters follow from each other in a circle: {circle}")
        if name not in order:
            for other in needs(name):
                visit(other, [*way, name])
            order.append(name)

    try:
        for name in given:
            visit(name, [])
    except RecursionError:
        raise ModelError("parameters follow from each other over too many others") from None
    return order


def _value_of(given: Any) -> Any:
    return given.value if isinstance(given, ParameterSpec) else given


def _add_parameter(model: Model, name: str, given: Any, tables: Mapping[str, el.Table]) -> None:
    value = _value_of(given)
    if isinstance(value, str):
        try:
            value = parse(value, {**tables, **model.parameters})
        except ModelError as error:
            raise ModelError(f"parameter '{name}': {error}") from None
    model.parameter(name, value, given.bounds if isinstance(given, ParameterSpec) else None)


def parameters_as_functions(
    given: Mapping[str, Any], tables: Mapping[str, el.Table], attempt: Attempt
) -> dict[str, Any]:
    """The parameters of equations: numbers, and functions of those before them."""
    order: list[str] = []
    attempt(("parameters",), lambda: order.extend(_in_order(given, tables)))
    return {name: _following(_value_of(given[name]), tables, order[:k]) for k, name in enumerate(order)}


def _following(value: Any, tables: Mapping[str, el.Table], before: list[str]) -> Any:
    """The value of a parameter, or the function of those before it that its text says."""
    if not isinstance(value, str):
        return value
    return lambda p: parse(value, {**tables, **{name: p[name] for name in before}})
