"""Reactions that rigid-body mechanics leaves open: said once, where one of them is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any

import numpy as np

from kempe.errors import AccuracyWarning
from kempe.system.replay import Replay
from kempe.system.sharing import ELASTIC
from kempe.system.uniqueness import Uniqueness

#: Up to so many coordinates full matrices are looked at.
DENSE = 2000


_unasked: ContextVar[bool] = ContextVar("unasked", default=False)


@contextmanager
def unasked() -> Iterator[None]:
    """All quantities are looked at, and nobody asked for a reaction: nothing is said."""
    token = _unasked.set(True)
    try:
        yield
    finally:
        _unasked.reset(token)


class OpenReactions:
    """What of the reactions of a motion nothing determines, found when first asked for."""

    def __init__(self, replay: Replay, stats: Mapping[str, Any]) -> None:
        self._replay, self._stats, self._told = replay, stats, False

    @cached_property
    def _position(self) -> tuple[Uniqueness, np.ndarray] | None:
        """The middle of the motion, and multipliers that exert nothing there and that nothing tells."""
        system, states = self._replay.system, self._replay.states
        if not self._stats.get("redundant constraints") or not len(states.t) or system.n > DENSE:
            return None
        k = len(states.t) // 2
        on = np.ones(system.m, dtype=bool)
        on[system.conditions[0]] = False
        at = Uniqueness(system, self._replay.parameters, states.q[k], float(states.t[k]), on)
        kind = self._stats.get("reactions")
        if kind != ELASTIC:
            return at, at.idle
        place = {row.label: k for k, row in enumerate(system.rows)}
        given = {place[label]: value for label, value in self._stats.get("penalties", {}).items()}
        return at, at.shared(kind, given).untold(at.idle)

    def warn(self, kind: str, k: int, which: Any, on: str | None = None) -> None:
        """Warn, once, where a quantity of element k that is asked for is open."""
        if self._told or _unasked.get():
            return
        if words := self.words(kind, k, which, on):
            self._told = True
            warnings.warn(words, AccuracyWarning, stacklevel=2)

    def words(self, kind: str, k: int, which: Any, on: str | None = None) -> str:
        """What there is to say about a quantity of element k: nothing where it is determined."""
        if self._position is None:
            return ""
        (at, idle), system = self._position, self._replay.system
        felt = kind == "output" and which in system.families[k].felt_outputs
        if kind not in ("force", "effort", "power") and not felt:
            return ""
        found = at.open_components(k, idle, on)
        if kind == "force" and which:
            found = [name for name in found if name.startswith(which)]
        return self._everything if found else ""

    @cached_property
    def _everything(self) -> str:
        """All joints whose reactions are open, and what to do."""
        assert self._position is not None
        (at, idle), system = self._position, self._replay.system
        joints = [(i, e.name) for i, e in enumerate(system.elements) if e.rows and not e.keeps_rigid]
        several = [name for i, name in joints if at.open_components(i, idle)]
        listed = ", ".join(f"'{name}'" for name in several[:6])
        listed += f" and {len(several) - 6} more" if len(several) > 6 else ""
        return (
            f"constraints of '{system.model.name}' are redundant, and rigid-body mechanics does not determine the "
            f"reactions of {listed}: of all that fit, those of minimum norm are given; give these joints stiffness= to "
            "have the elastic ones, and see m.redundancy()"
        )
