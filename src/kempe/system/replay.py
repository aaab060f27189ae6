"""A finished motion played back: what any element's equations give at each of its times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from kempe.elements import Table
from kempe.elements.readings import looked_up
from kempe.system.families import Family
from kempe.system.system import System


@dataclass(frozen=True)
class States:
    """States of a whole system, one per row: time, coordinates, rates, accelerations, multipliers."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    multipliers: np.ndarray


_functions: WeakKeyDictionary[Family, dict[str, ca.Function]] = WeakKeyDictionary()


class Replay:
    """Evaluates expressions of elements over a motion.

    ``events`` are the switches met, in order; each has ``t``, ``element``, ``mode`` and, where values are latched, the
    coordinates ``q`` and rates ``v`` at that instant. From them the mode of an element is known at every time:
    ``first_modes`` are those in which elements began, where they were noted down.
    """

    def __init__(
        self,
        system: System,
        parameters: np.ndarray,
        states: States,
        events: Sequence[Any] = (),
        first_modes: Mapping[str, str] | None = None,
    ) -> None:
        self.system, self.parameters, self.states, self.events = system, parameters, states, events
        self.first_modes = first_modes or {}
        self._x = system.inputs(parameters)[0]

    def evaluate(
        self, k: int, family: Family, what: str, expression: ca.SX, tables: list[Table] | None = None
    ) -> np.ndarray:
        """An expression of an element's equations over time, one row per time; ``what`` names it within its family.

        ``tables`` are those the family reads, where it is not the element's own.
        """
        tables = self.system.tables_of[k] if tables is None else tables
        return self._evaluate(k, family, what, expression, self.states, self._modes(k, family, tables), tables)

    def _evaluate(
        self, k: int, family: Family, what: str, expression: ca.SX, states: States, z: np.ndarray, tables: list[Table]
    ) -> np.ndarray:
        x = self._inputs(k, family, states)
        x[_places(family, "z")] = z
        for _ in range(family.levels):
            arguments = np.array(_function(family, "arguments", family.arguments)(x))
            x[_places(family, "pieces")] = looked_up(tables, arguments)
        return np.array(_function(family, what, expression)(x)).T

    def _inputs(self, k: int, family: Family, states: States) -> np.ndarray:
        """The inputs of an element's equations, one column per time; virtual displacements stay zero."""
        system, own = self.system, self.system.families[k]
        x = np.zeros((family.x.numel(), len(states.t)))
        for name, values in (("q", states.q), ("v", states.v), ("a", states.a)):
            first = family.at[name]
            x[first : first + len(system.q_of[k])] = values[:, system.q_of[k]].T
        x[family.at["t"]] = states.t
        x[_places(family, "p")] = self._x[system.x_at[k] : system.x_at[k + 1]][_places(own, "p"), None]
        x[_places(family, "lam")] = states.multipliers[:, system.lam_of[k]].T
        return x

    def _modes(self, k: int, family: Family, tables: list[Table]) -> np.ndarray:
        """Mode, latched values and rows in force at each time: the first mode, then what the events say."""
        z = np.zeros((family.z.numel(), len(self.states.t)))
        if not family.modes or not len(self.states.t):
            return z
        s, kept = self.states, slice(1, 1 + len(family.latches))
        start = States(s.t[:1], s.q[:1], s.v[:1], s.a[:1], s.multipliers[:1])
        name = self.system.elements[k].name
        met = [event for event in self.events if getattr(event, "element", None) == name]
        mode = self.first_modes.get(name, "")
        if mode in family.modes:
            z[0] = family.modes.index(mode)
        else:  # of a motion that was not simulated: as one would begin at each time
            first = self._evaluate(k, family, "first mode", family.first_mode, s, z, tables)[:, 0]
            z[0] = first[0] if met else first
            mode = family.modes[int(first[0])]
            start = start if met else s
        for number in np.unique(z[0].astype(int)) if family.latches else ():
            into = [i for i, switch in enumerate(family.switches) if switch.target == family.modes[number]]
            if into:
                values = self._latched(k, family, into[0], start, z[:, : len(start.t)], tables)
                z[kept] = np.where(z[0] == number, values, z[kept])
        for event in met:
            rows = s.t >= event.t
            number = self._number(family, mode, event.mode)
            if family.latches and rows.any() and number is not None and event.q is not None:
                q, v = np.atleast_2d(event.q), np.atleast_2d(event.v)
                state = States(np.array([event.t]), q, v, np.zeros_like(q), np.zeros((1, self.system.m)))
                z[kept, rows.argmax() :] = self._latched(k, family, number, state, z[:, rows][:, :1], tables)
            mode = event.mode
            z[0, rows] = family.modes.index(mode)
        self._put_rows(k, family, z)
        return z

    def _put_rows(self, k: int, family: Family, z: np.ndarray) -> None:
        """Which rows are in force, as the modes say."""
        element = self.system.elements[k]
        for number, row in enumerate(element.conditional_rows()):
            on = [element.modes.index(mode) for mode in element.row_modes[row]]
            z[1 + len(family.latches) + number] = np.isin(z[0], on)

    @staticmethod
    def _number(family: Family, source: str, entered: str) -> int | None:
        """The switch that led from one mode to another, or to where its sequence ends."""
        for number, switch in enumerate(family.switches):
            if switch.source == source and entered in (switch.target, switch.limit):
                return number
        return None

    def _latched(
        self, k: int, family: Family, number: int, state: States, z: np.ndarray, tables: list[Table]
    ) -> np.ndarray:
        """The values an element keeps when it passes a switch in a state."""
        switch = family.switches[number]
        values = [switch.latch.get(name, family.z[1 + i]) for i, name in enumerate(family.latches)]
        return self._evaluate(k, family, f"latch {number}", ca.vertcat(*values), state, z, tables).T


def _places(family: Family, name: str) -> slice:
    return slice(family.at[name], family.at[name] + getattr(family, name).numel())


def _function(family: Family, what: str, expression: ca.SX) -> ca.Function:
    known = _functions.setdefault(family, {})
    if what not in known:
        known[what] = ca.Function("f", [family.x], [ca.densify(expression)])
    return known[what]
