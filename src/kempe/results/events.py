"""What is met on the way of a motion: switches of elements and singular positions, each with the state by its names."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any

import numpy as np

from kempe.errors import ModelError

#: So many impulses of an event stand in a table, without those that are rounding beside the largest.
MOST, ROUNDING = 4, 1e-12
#: Coordinate, rate and acceleration of each column of a motion.
Columns = Sequence[tuple[str, str, str]]


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something met at an instant: ``event["slider.x"]`` is a coordinate there, ``event["slider.vx"]`` a velocity.

    ``kind`` is a word, ``message`` a sentence. ``values`` and ``rates`` are all coordinates and, where they are known,
    velocities by name; ``q`` and ``v`` the same as arrays.
    """

    kind: str
    t: float
    message: str
    q: np.ndarray = field(repr=False, compare=False, default_factory=lambda: np.zeros(0))
    v: np.ndarray | None = field(repr=False, compare=False, default=None)
    columns: Columns = field(repr=False, compare=False, default=())

    @property
    def values(self) -> dict[str, float]:
        """The coordinates by name."""
        return {names[0]: float(c) for names, c in zip(self.columns, self.q, strict=False)}

    @property
    def rates(self) -> dict[str, float]:
        """The velocities by name, where they are known."""
        return {} if self.v is None else {n[1]: float(c) for n, c in zip(self.columns, self.v, strict=False)}

    def __getitem__(self, name: str) -> float:
        known = {**self.values, **self.rates}
        if name in known:
            return known[name]
        near = difflib.get_close_matches(str(name), list(known), n=3)
        hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
        raise ModelError(f"an event has no '{name}', only coordinates and velocities{hint}")

    def __contains__(self, name: object) -> bool:
        return name in self.values or name in self.rates

    def __iter__(self) -> Iterator[str]:
        return iter({**self.values, **self.rates})


class Events(list[Event]):
    """The events of a motion in order, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        if not self:
            return "<p>no events</p>"
        heads, cells = ["t", "kind", "what happens"], [[f"{e.t:.6g}", e.kind, e.message] for e in self]
        if impacts(self):
            heads += ["impulses", "energy lost"]
            cells = [[*row, *hit_of(event)] for row, event in zip(cells, self, strict=True)]
        head = "".join(f"<th>{word}</th>" for word in heads)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        return f"<table><tr>{head}</tr>{rows}</table>"


@dataclass(frozen=True, kw_only=True)
class SwitchEvent(Event):
    """A switch met on the way: which element, into which mode, and the state behind it.

    Where velocities jump (``struck``), ``impulses`` are those of all constraint rows at that instant (as multipliers: a
    row exerts -Phi_q^T times its own), and ``lost`` is the energy they took; both stand with every switch of the
    instant but for ``lost``, which stands with its first.
    """

    kind: str = "switch"
    element: str
    mode: str
    impulses: dict[str, float] = field(default_factory=dict)
    lost: float = 0.0
    struck: bool = False
    #: Of an element that comes back to its first mode: what was followed on the way (of a contact, see ``contacts``).
    followed: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Impact:
    """An instant at which velocities jumped: the elements that switched, the impulses of all rows, the energy lost."""

    t: float
    elements: list[str]
    impulses: dict[str, float]
    lost: float


def impacts(events: Sequence[Event]) -> list[Impact]:
    """The impacts among events, in order; several at one instant that follow each other are several."""
    found: list[Impact] = []
    for event in events:
        if not isinstance(event, SwitchEvent) or not event.struck:
            continue
        if found and found[-1].t == event.t and found[-1].impulses == event.impulses:
            found[-1].elements.append(event.element)
        else:
            found.append(Impact(event.t, [event.element], event.impulses, event.lost))
    return found


def hit_of(event: Event) -> tuple[str, str]:
    """The impulses of an event, its own first, and the energy lost, as a table shows them."""
    if not isinstance(event, SwitchEvent) or not event.impulses:
        return "", ""
    own, least = f"{event.element}.", ROUNDING * max(map(abs, event.impulses.values()))
    felt = [(row, p) for row, p in event.impulses.items() if abs(p) > least]
    order = sorted(felt, key=lambda item: (not item[0].startswith(own), -abs(item[1])))
    more = f" and {len(order) - MOST} more" if len(order) > MOST else ""
    return ", ".join(f"{row} {p:.6g}" for row, p in order[:MOST]) + more, f"{event.lost:.6g}" if event.lost else ""


@dataclass(frozen=True, kw_only=True)
class SingularEvent(Event):
    """A singular position crossed: at which joints it shows, and the state there. The motion kept its branch."""

    kind: str = "singular"
    joints: list[str]


@dataclass(frozen=True)
class Branch:
    """One way a motion can go on: the velocities by coordinate; ``vertical`` when it moves while time stands still."""

    velocity: dict[str, float]
    vertical: bool = False


@dataclass(frozen=True, kw_only=True)
class SingularPosition(Event):
    """A singular position met by a driven motion.

    ``kind`` is "lock-up", "bifurcation" or "degenerate" (ranks agree for every velocity: a branch decides only in
    higher order). ``ranks`` are those of Phi_q, [Phi_q nu] and, for the first branch's velocity, [Phi_q gamma].
    ``moving`` names the coordinates that can move although the drivers stand still, ``blamed`` the joints and drivers
    whose equations become dependent there, strongest first.
    """

    ranks: tuple[int, int, int]
    singular_values: np.ndarray = field(compare=False)
    branches: list[Branch]
    moving: list[str]
    blamed: list[str]
    tangents: list[np.ndarray] = field(repr=False, compare=False, default_factory=list)  # unit vectors (q', t')

    @property
    def pose(self) -> dict[str, float]:
        """The coordinates by name."""
        return self.values


_KINDS: dict[str, type[Event]] = {kind.__name__: kind for kind in (SwitchEvent, SingularEvent, SingularPosition)}
#: How plain data becomes what it was.
_READ: dict[str, Any] = {
    "ranks": tuple,
    "singular_values": np.array,
    "branches": lambda told: [Branch(**branch) for branch in told],
    "tangents": lambda told: [np.array(tangent) for tangent in told],
}


def told(event: Event) -> dict[str, Any]:
    """What a file keeps of an event as plain data, its state apart."""
    kept = {f.name: getattr(event, f.name) for f in fields(event) if f.name not in ("q", "v", "columns")}
    if "branches" in kept:
        kept["branches"] = [vars(branch) for branch in kept["branches"]]
    return {"event": type(event).__name__, **kept}


def retold(plain: dict[str, Any], columns: Columns, q: np.ndarray, v: np.ndarray | None) -> Event:
    """An event from what a file kept of it."""
    kind = _KINDS.get(str(plain.get("event")), Event)
    known = {f.name for f in fields(kind)}
    kept = {name: _READ.get(name, lambda x: x)(value) for name, value in plain.items() if name in known}
    return kind(**kept, columns=columns, q=q, v=v)
