"""Whatever a result has by name, as an expression of the state of one instant: for functionals and their derivatives.

The symbols are those of X = [x | q | v | a | lambda | t | parameters]: x is the input of all kernels, of which an
expression uses the elements' numbers, the pieces of their tables, modes and kept values; coordinates, rates,
accelerations, multipliers and the time are always those of the system.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import casadi as ca
import numpy as np

from kempe.calling import suggestion
from kempe.elements.base import Part
from kempe.elements.geometry import length_of
from kempe.elements.numbers import Number, parameters_in
from kempe.elements.parts import Point
from kempe.elements.quantities import as_quantity
from kempe.elements.readings import readings_in
from kempe.elements.sources import Source
from kempe.elements.user import UserElement
from kempe.errors import ModelError
from kempe.kernels import compile_function
from kempe.model.expressions import mentioned
from kempe.model.measures import Definition, written
from kempe.solvers.gauge import Gauge
from kempe.solvers.program import Kernels
from kempe.system.derived import derived_names, shaking_names
from kempe.system.families import INPUTS, Family
from kempe.system.system import System
from kempe.system.walking import chooses, split, with_lengths
from kempe.system.wrenches import heavy, loads_on, second_part, touched, virtual

#: The parts of X, in order; behind them there may be sides of kinks.
STATE = ("x", "q", "v", "a", "lam", "t", "parameters", "sides")
#: Energies and powers of all elements, as their kernels have them.
ENERGIES = ("energy.kinetic", "energy.potential", "energy.elastic", "power.dissipated", "power.supplied")
#: What a run adds up on its way.
ADDED_UP = ("energy.dissipated", "energy.supplied", "energy.balance")
#: With more inputs than this a quantity is differentiated backward, whatever it consists of.
BROAD = 300


class Symbols:
    """One symbol for each entry of X that is used."""

    def __init__(self, system: System) -> None:
        n, m = system.n, system.m
        ends = np.cumsum([0, int(system.x_at[-1]), n, n, n, m, 1, len(system.parameters)]).tolist()
        #: Where each part of X begins.
        self.first: dict[str, int] = dict(zip(STATE, ends, strict=True))
        #: How long X is, without sides.
        self.size: int = ends[-1]
        self._symbols: dict[int, ca.SX] = {}
        self._places: dict[int, int] = {}
        for k, parameter in enumerate(system.parameters):
            self._enter(self.first["parameters"] + k, ca.SX(parameter))

    def _enter(self, place: int, symbol: ca.SX) -> ca.SX:
        self._symbols[place], self._places[symbol.element_hash()] = symbol, place
        return symbol

    def at(self, part: str, k: int) -> ca.SX:
        """The symbol of an entry of a part of X."""
        place = self.first[part] + int(k)
        return self._symbols[place] if place in self._symbols else self._enter(place, ca.SX.sym(f"{part} {k}"))

    def place(self, symbol: ca.SX) -> int | None:
        """Where a symbol is in X; None for a stranger."""
        return self._places.get(symbol.element_hash())

    def rows_in(self, expressions: Sequence[ca.SX]) -> list[int]:
        """The constraint rows whose multipliers expressions depend on."""
        places = {self.place(symbol) for e in expressions for symbol in ca.symvar(e)}
        first, end = self.first["lam"], self.first["t"]
        return sorted(place - first for place in places if place is not None and first <= place < end)


class _Instant(Source):
    """The coordinates of an instant, numbers as expressions of the parameters."""

    def __init__(self, system: System, symbols: Symbols) -> None:
        self.t = symbols.at("t", 0)
        self._system, self._symbols = system, symbols

    def coordinates(self, part: Part) -> list[Any]:
        first = self._system.first.get(part.name)
        if first is None:
            raise ModelError(f"'{part.name}' is not a part of '{self._system.model.name}'")
        return [self._symbols.at("q", first + k) for k in range(len(part.channels))]

    def numbers(self, values: Sequence[Number]) -> list[Any]:
        return list(values)


class Expressions:
    """Quantities of a system by name, in symbols; ``definitions`` are its measures."""

    def __init__(self, system: System, definitions: Mapping[str, Definition]) -> None:
        self.system, self.definitions = system, definitions
        self.symbols = Symbols(system)
        self._instant = _Instant(system, self.symbols)
        self._parameters = {p.label: p for p in system.parameters}
        #: The kinks whose sides are symbols.
        self.sides: list[ca.SX] = []
        self._derived = derived_names(system, [row.label for row in system.rows])
        self._makers = self._by_name()
        self._kept: dict[str, ca.SX] = {}
        self._inputs: dict[Family, dict[int, tuple[str, int]]] = {}

    @property
    def names(self) -> list[str]:
        """Every quantity there is."""
        return [*self._makers, *self.definitions]

    def of(self, quantity: Any, what: str) -> ca.SX:
        """A quantity as an expression: a name, a text of names, parameters and ``t``, a quantity of parts, a measure.

        ``what`` says in messages what it is for.
        """
        if isinstance(quantity, str):
            made = self._of_text(quantity, what)
        elif isinstance(quantity, Definition):
            made = self._defined(quantity)
        elif isinstance(quantity, (int, float, ca.SX)):
            made = ca.SX(quantity)
        else:
            seen = as_quantity(quantity, what).symbolic(self._instant)
            made = ca.SX(getattr(seen, "value", seen))
        return self._checked(made, what)

    def sided(self, quantity: Any, what: str) -> ca.SX:
        """The same as :meth:`of`, smooth, with the sides of its kinks (in ``abs``, ``max``, conditions) as symbols.

        ``sides`` are the kinks so far: a symbol is 1 where its kink is above zero and 0 where it is below. Kinks within
        elements are not among them: where those are not smooth they switch, and steps end there anyway.
        """
        self.of(quantity, what)  # (says what is wrong with it)
        if isinstance(quantity, str) and quantity not in self._makers and quantity not in self._parameters:
            quantity = self.definitions.get(quantity) or self._read(quantity, what)
        if not isinstance(quantity, Definition):
            return self.of(quantity, what)
        try:
            return self._split(quantity)
        except ModelError as error:
            raise ModelError(f"{what}: {error}") from None

    def _split(self, definition: Definition) -> ca.SX:
        """A measure with the sides of its kinks, and of those of what it is made of."""

        def put_in(expression: ca.SX, smooth: bool) -> ca.SX:
            inner = [n for n in definition.needs if smooth and n in self.definitions and n not in self._makers]
            return self._put_in(definition, expression, {name: self._split(self.definitions[name]) for name in inner})

        return put_in(split(definition.expression, lambda kink: self.side(put_in(kink, smooth=False))), smooth=True)

    def side(self, kink: ca.SX) -> ca.SX | None:
        """The symbol of the side of a kink; None where nothing moves it."""
        if not self._moves(kink):
            return None
        known = [k for k, other in enumerate(self.sides) if ca.is_equal(other, kink, 100)]
        if not known:
            self.sides.append(kink)
        return self.symbols.at("sides", known[0] if known else len(self.sides) - 1)

    def _moves(self, expression: ca.SX) -> bool:
        """Whether an expression changes along a motion."""
        first, last = self.symbols.first["q"], self.symbols.first["parameters"]
        places = [self.symbols.place(symbol) for symbol in ca.symvar(expression)]
        return any(place is not None and first <= place < last for place in places)

    def _checked(self, made: ca.SX, what: str) -> ca.SX:
        if made.numel() != 1:
            raise ModelError(f"{what} must be one number, not {made.numel()}")
        readings = readings_in([made])
        if readings:
            name = f" '{readings[0].table.name}'" if readings[0].table.name else ""
            raise ModelError(
                f"{what} reads the table{name} itself, of which no derivatives are known here; tables may stand in "
                "laws, forces and elements"
            )
        strange = [symbol for symbol in ca.symvar(made) if self.symbols.place(symbol) is None]
        if strange:
            label = parameters_in(strange)[0].label
            raise ModelError(f"{what} uses parameter '{label}', which is not of '{self.system.model.name}'")
        return made

    def kinks(self) -> list[ca.SX]:
        """What passes zero where forces are not smooth."""
        found = [self._of_element(k, f, kink) for k, f in enumerate(self.system.families) for kink in f.kinks]
        return [e for e in found if not e.is_constant()]

    # --- by name -------------------------------------------------------------------------------------------------

    def _of_text(self, text: str, what: str) -> ca.SX:
        if text in self._makers or text in self.definitions:
            return self._named(text)
        if text in self._parameters:
            return ca.SX(self._parameters[text])
        return self._defined(self._read(text, what))

    def _read(self, text: str, what: str) -> Definition:
        """A text that is more than a name."""
        known = {*self.names, *ADDED_UP}
        try:
            mentioned(text)
        except ModelError as error:
            raise ModelError(f"{what}: {error}{suggestion(text, [*self.names, *self._parameters])}") from None
        definition = written(text, text, self._parameters, known.__contains__, self.names, what=what)
        for name in definition.needs:
            if name not in self._makers and name not in self.definitions:
                raise ModelError(
                    f"{what}: '{name}' is added up along a run and is no quantity of an instant; take the integral of "
                    f"'power.{'supplied' if name.endswith('supplied') else 'dissipated'}'"
                )
        return definition

    def _named(self, name: str) -> ca.SX:
        if name not in self._kept:
            known = self._makers.get(name)
            self._kept[name] = self._defined(self.definitions[name]) if known is None else ca.SX(known())
        return self._kept[name]

    def _defined(self, definition: Definition) -> ca.SX:
        """A measure, with what it is made of put in."""
        missing = [name for name in definition.needs if name not in self._makers and name not in self.definitions]
        if missing:
            raise ModelError(f"'{definition.name}' is made of '{missing[0]}', which is no quantity of an instant")
        return self._put_in(definition, with_lengths(definition.expression), {})

    def _put_in(self, definition: Definition, expression: ca.SX, given: Mapping[str, ca.SX]) -> ca.SX:
        """An expression in the symbols of a measure, with what these stand for; some of that is given."""
        old, new = [definition.t], [self._instant.t]
        for name, symbol in definition.symbols.items():
            old.append(symbol)
            new.append(given[name] if name in given else self._named(name))
        return ca.substitute(expression, ca.vertcat(*old), ca.vertcat(*new))

    def _by_name(self) -> dict[str, Callable[[], ca.SX]]:
        """What there is by name, and how it is made."""
        found: dict[str, Callable[[], ca.SX]] = {}
        for k, triple in enumerate(self.system.names):
            found |= {name: partial(self.symbols.at, part, k) for part, name in zip("qva", triple, strict=True)}
        for k, row in enumerate(self.system.rows):
            found[f"lambda.{row.label}"] = partial(self.symbols.at, "lam", k)
        found |= {name: partial(self._energy, [k]) for k, name in enumerate(ENERGIES)}
        found["energy.total"] = partial(self._energy, [0, 1, 2])
        return found | {name: partial(self._of_elements, name) for name in self._derived}

    def _of_elements(self, name: str) -> ca.SX:
        """An output, load, effort or power of an element, or the shaking force."""
        kind, k, which = self._derived[name]
        if kind == "shaking":
            return self._shaking[shaking_names(self.system).index(which)]
        family, rows = self.system.families[k], self.system.rows_of[k]
        if kind == "effort":
            return -self.symbols.at("lam", int(rows[which]))
        if kind == "power":  # of what moves the rows along: lambda . Phi_t
            moved = self._of_element(k, family, family.Phi_t)
            return ca.dot(ca.vertcat(*[self.symbols.at("lam", row) for row in rows]), moved)
        if kind == "output":
            return self._of_element(k, family, family.outputs[which])
        part = second_part(self.system.elements[k])
        assert part is not None
        wrench = self._wrench(k, part.name)
        space = self.system.space
        if which == "force":
            return length_of(*ca.vertsplit(wrench[: space.dim]))
        if which == "moment" and space.turns > 1:
            return length_of(*ca.vertsplit(wrench[space.dim :]))
        return wrench[space.loads.index(which)]

    # --- elements ------------------------------------------------------------------------------------------------

    def _of_element(self, k: int, family: Family, expression: ca.SX) -> ca.SX:
        """An expression of element k's equations in the symbols of an instant; virtual displacements are zero."""
        known = self._inputs.get(family)
        if known is None:
            places = [(name, i) for name in INPUTS for i in range(getattr(family, name).numel())]
            known = {family.x[j].element_hash(): place for j, place in enumerate(places)}
            self._inputs[family] = known
        used = ca.symvar(expression)
        if not used:
            return ca.densify(expression)
        seen = [self._seen(k, *known[symbol.element_hash()]) for symbol in used]
        return ca.densify(ca.substitute(expression, ca.vertcat(*used), ca.vertcat(*seen)))

    def _seen(self, k: int, part: str, i: int) -> ca.SX:
        """An input of element k's kernels, i-th of its part, in the symbols of an instant."""
        system = self.system
        if part in ("q", "v", "a"):
            own = system.q_of[k]
            return self.symbols.at(part, own[i]) if i < len(own) else ca.SX(0)
        if part == "lam":
            return self.symbols.at("lam", system.lam_of[k][i])
        return (
            self._instant.t if part == "t" else self.symbols.at("x", system.x_at[k] + system.families[k].at[part] + i)
        )

    @cached_property
    def _energies(self) -> ca.SX:
        """Kinetic, of gravity, elastic; power dissipated, power supplied: sums over all elements."""
        total = ca.SX.zeros(len(ENERGIES))
        for k, family in enumerate(self.system.families):
            total += self._of_element(k, family, ca.vertcat(*family.energies))
        return total

    def _energy(self, which: list[int]) -> ca.SX:
        return ca.sum1(self._energies[which])

    def _wrench(self, k: int, name: str) -> ca.SX:
        """The components of force and moment that element k exerts on a part, about its point on it."""
        element = self.system.elements[k]
        if isinstance(element, UserElement):
            return self._of_coordinates(k, name)
        family, tables = virtual(self.system, k)
        if [id(table) for table in tables] != [id(table) for table in self.system.tables_of[k]]:
            raise ModelError(f"the load of '{element.name}' reads tables that its equations do not read")
        moves = self.system.space.moves
        at = moves * list(touched(element)).index(name)
        return self._of_element(k, family, family.wrenches[at : at + moves])

    def _of_coordinates(self, k: int, name: str) -> ca.SX:
        """The same for an element that is known in coordinates only, moved from the part's origin to its point."""
        element, family = self.system.elements[k], self.system.families[k]
        marker, space = touched(element)[name], self.system.space
        part: Any = marker.carrier
        wrench = self._of_element(k, family, loads_on(element, part, -family.balance, family.q))
        if isinstance(part, Point):
            return wrench
        arm = marker.symbolic(self._instant).r - part.on().symbolic(self._instant).r
        force, moment = wrench[: space.dim], wrench[space.dim :]
        return ca.vertcat(force, moment - space.moment(arm, force))

    @cached_property
    def _shaking(self) -> list[ca.SX]:
        """The resultant of all inertia forces: its size, its components, and the moment about the world's origin."""
        space = self.system.space
        total = ca.SX.zeros(space.moves)
        for k in heavy(self.system):
            for name, marker in touched(self.system.elements[k]).items():
                wrench = self._wrench(k, name)
                push = ca.densify(wrench - self._resting(wrench))
                at = marker.symbolic(self._instant).r
                force = push[: space.dim]
                total += ca.vertcat(force, push[space.dim :] + space.moment(at, force))
        return [length_of(*ca.vertsplit(total[: space.dim])), *ca.vertsplit(total)]

    def _resting(self, expression: ca.SX) -> ca.SX:
        """The same without accelerations."""
        first = self.symbols.first["a"]
        places = [(symbol, self.symbols.place(symbol)) for symbol in ca.symvar(expression)]
        moved = [symbol for symbol, place in places if place is not None and first <= place < first + self.system.n]
        return ca.substitute(expression, ca.vertcat(*moved), ca.SX.zeros(len(moved))) if moved else expression


def gauge(outputs: Sequence[ca.SX], symbols: Symbols) -> Gauge:
    """Expressions of an instant compiled: their values, and the products of their Jacobian with a vector, both ways."""
    y = ca.vertcat(ca.SX(0, 1), *outputs)
    used = {symbols.place(symbol): symbol for symbol in ca.symvar(y)}
    place = np.array(sorted(used), dtype=np.int64)  # type: ignore[type-var]
    w = ca.vertcat(ca.SX(0, 1), *[used[k] for k in place.tolist()])
    n, size = w.numel(), y.numel()
    dw, weights = ca.SX.sym("dw", n), ca.SX.sym("weights", size)
    kernels = Kernels(3)
    made = [
        compile_function(w, y),
        compile_function(ca.vertcat(w, dw), ca.jtimes(y, w, dw)),
        compile_function(ca.vertcat(w, weights), _pulled(y, w, weights)),
    ]
    value, push, pull = (kernels.number(kernel) for kernel in made)
    return Gauge(
        kernels=kernels,
        value=value,
        push=push,
        pull=pull,
        place=place,
        size=size,
        inputs=np.zeros(max(2 * n + size, 1)),
        outputs=np.zeros(max(n, size, 1)),
    )


def _pulled(y: ca.SX, w: ca.SX, weights: ca.SX) -> ca.SX:
    """y_w^T weights; forward where there are conditions, so that nothing undefined leaks from an untaken side."""
    if w.numel() > BROAD or not chooses(y):
        return ca.jtimes(y, w, weights, True)
    return ca.mtimes(ca.jacobian(y, w, {"allow_reverse": False}).T, weights)
