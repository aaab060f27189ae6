"""The table of contacts: when surfaces met and parted, how fast, how hard, and what that cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from kempe.errors import ModelError
from kempe.results.events import SwitchEvent
from kempe.results.modes import switching
from kempe.system.replay import Replay, States

if TYPE_CHECKING:
    from kempe.results.result import Result

#: So many contacts are printed; the rest is counted.
SHOWN = 40


@dataclass(frozen=True)
class Contact:
    """Two surfaces from where they met to where they parted.

    ``approach`` and ``departure`` are how fast they met and parted, both positive; ``force`` is the largest normal
    force on the way, ``lost`` the energy that its damping took, ``rubbed`` that of friction. ``angle`` is where they
    met, as the direction from the centre of a bearing in its own axes; it is nan of what is no revolute joint. ``end``
    and ``departure`` are nan for surfaces that still touched at the end of the run.
    """

    element: str
    begin: float
    end: float
    approach: float
    departure: float
    force: float
    lost: float
    rubbed: float
    angle: float

    @property
    def restitution(self) -> float:
        """Departure over approach: what became of this contact, with all else that acted meanwhile."""
        return self.departure / self.approach if self.approach else float("nan")


#: The columns of the table.
COLUMNS = tuple(f.name for f in fields(Contact))


class Contacts(list[Contact]):
    """The contacts of a motion in the order in which they began; ``contacts.array("force")`` is one column."""

    def array(self, name: str) -> np.ndarray:
        """A column as an array."""
        if name not in (*COLUMNS[1:], "restitution"):
            raise ModelError(f"contacts have no column {name!r}, only {', '.join(COLUMNS[1:])} and restitution")
        return np.array([getattr(contact, name) for contact in self], dtype=float)

    def _rows(self) -> list[list[str]]:
        return [[c.element, *(f"{value:.6g}" for value in astuple(c)[1:])] for c in self[:SHOWN]]

    def __str__(self) -> str:
        if not self:
            return "no contacts"
        rows = [list(COLUMNS), *self._rows()]
        wide = [max(len(row[k]) for row in rows) for k in range(len(COLUMNS))]
        lines = ["  ".join(f"{cell:>{w}}" for cell, w in zip(row, wide, strict=True)) for row in rows]
        return "\n".join([*lines, *([f"and {len(self) - SHOWN} more"] if len(self) > SHOWN else [])])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in COLUMNS)
        rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows())
        more = f"<p>and {len(self) - SHOWN} more</p>" if len(self) > SHOWN else ""
        return f"<table><tr>{head}</tr>{rows}</table>{more}"


def contacts(result: Result, element: Any = None) -> Contacts:
    """The contacts of an element, or of all that have any."""
    model = result._known_model()
    system = result._compiled()
    presses = {e.name for e, f in zip(system.elements, system.families, strict=True) if "approach" in f.outputs}
    pressing = [name for name in result.first_modes if name in presses]
    if element is not None:
        name = switching(result, element)
        if name not in pressing:
            there = ", ".join(f"'{p}'" for p in pressing) or "none"
            raise ModelError(f"'{name}' has no contacts with a contact law; those that have: {there}")
        pressing = [name]
    elif not pressing:
        raise ModelError(f"nothing in '{model.name}' presses by a contact law, so that there are no contacts to tell")
    found = [contact for name in pressing for contact in _of(result, name)]
    return Contacts(sorted(found, key=lambda contact: contact.begin))


def _of(result: Result, name: str) -> list[Contact]:
    met: list[tuple[SwitchEvent | None, SwitchEvent | None]] = []
    free = result._known_model().elements[name].modes[0]
    begun = result.first_modes[name] != free
    entered: SwitchEvent | None = None
    for event in result.events:
        if not isinstance(event, SwitchEvent) or event.element != name:
            continue
        if not begun:
            begun, entered = True, event
        elif event.mode == free:
            met.append((entered, event))
            begun = False
    if begun and len(result):
        met.append((entered, None))
    if not met:
        return []
    first = (float(result.t[0]), result.q[0], result.v[0])
    begins = [first if e is None else (e.t, e.q, e.v) for e, _ in met]
    ends = [(e.t, e.q, e.v) for _, e in met if e is not None]
    approach, angle = _looked_at(result, name, begins)
    departure = -_looked_at(result, name, ends)[0] if ends else np.zeros(0)
    still = result.stats.get("unfinished", {}).get(name, {})
    rows = []
    for k, (_, last) in enumerate(met):
        told = still if last is None else last.followed
        force, lost, rubbed = (told.get(key, float("nan")) for key in ("force", "lost", "rubbed"))
        over = (float("nan"), float("nan")) if last is None else (last.t, float(departure[k]))
        rows.append(
            Contact(
                name, begins[k][0], over[0], float(approach[k]), over[1], force, lost, rubbed, angle=float(angle[k])
            )
        )
    return rows


def _looked_at(result: Result, name: str, states: Sequence[tuple[float, Any, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """How fast the surfaces approach in some states, and in which direction they face each other."""
    system = result._compiled()
    t, q, v = (np.array(column) for column in zip(*states, strict=True))
    nothing = States(t, q, v, np.zeros_like(q), np.zeros((len(t), system.m)))
    replay = Replay(system, result._parameters(), nothing, (), result.first_modes)
    k = [element.name for element in system.elements].index(name)
    outputs = system.families[k].outputs

    def value(what: str) -> np.ndarray:
        return replay.evaluate(k, system.families[k], f"output {what}", outputs[what])[:, 0]

    directed = "x" in outputs and "y" in outputs
    return value("approach"), np.arctan2(value("y"), value("x")) if directed else np.full(len(t), np.nan)
