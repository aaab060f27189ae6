"""Surfaces that touch: contacts that open and close, and friction that sticks and slides.

An element that touches says how (``Touch``): where its gap is, how fast it slides, how large friction may be. Its modes
are chosen together with those of all others that touch, so that all forces are admissible at once
(``solvers.selection``); its impacts are solved together with all others (``solvers.impact``). Its ``Switch``es say when
to choose again, and what to call what happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from kempe.elements.base import Element, Source, Switch

#: The rows: the gap, which is held at zero while closed, and the place along it, which is held while sticking.
NORMAL, STICK = "normal", "stick"
#: The modes. A contact without friction is open or closed; with friction, closed is one of the last three.
OPEN, CLOSED, STICKS, FORWARD, BACKWARD = "open", "closed", "stick", "forward", "backward"
#: No switch of this guard is ever met: it only says what a change of modes is called.
NEVER = 1.0


@dataclass(frozen=True)
class Touch:
    """What the choice of modes has to know of an element, as expressions.

    ``most`` is the largest friction that sticking may need, ``sliding`` that of sliding; both may depend on
    multipliers. ``restitution`` is that of impacts, by Newton's or by Poisson's law.
    """

    gap: Any = 0.0
    slip: Any = 0.0
    most: Any = 0.0
    sliding: Any = 0.0
    restitution: Any = 0.0
    poisson: bool = False


class Touching(Element):
    """An element with a gap that closes, with dry friction, or with both.

    A subclass calls ``_touching`` before its fields are set, and defines ``gap``, ``slid``, ``pressed``, ``friction``
    as far as they apply. Rows of its own come first: ``own_rows``.
    """

    #: Whether it has a gap; whether it has friction that sticks.
    closes: bool = False
    rubs: bool = False
    #: Rows that always hold.
    own_rows: ClassVar[tuple[str, ...]] = ()

    def _touching(self, closes: bool, rubs: bool) -> None:
        """Its rows and modes."""
        self.closes, self.rubs = closes, rubs
        if not closes and not rubs:
            return
        self.rows = (*self.own_rows, *((NORMAL,) if closes else ()), *((STICK,) if rubs else ()))
        sliding = (STICKS, FORWARD, BACKWARD) if rubs else (CLOSED,)
        self.modes = ((OPEN,) if closes else ()) + sliding  # type: ignore[misc]
        self.row_modes = {NORMAL: sliding} if closes else {}  # type: ignore[misc]
        if rubs:
            self.row_modes = {**self.row_modes, STICK: (STICKS,)}  # type: ignore[misc]
            self.latches = ("place",)  # type: ignore[misc]

    # --- what a subclass says ------------------------------------------------------------------------------------

    def gap(self, x: Any) -> Any:
        """How far its surfaces are apart."""
        raise NotImplementedError

    def slid(self, x: Any) -> Any:
        """How far it has slid: its rate is the sliding velocity, and friction does work on it."""
        raise NotImplementedError

    def held(self, x: Any, place: Any) -> Any:
        """Zero exactly where it has slid to a place."""
        return self.slid(x) - place

    def slip(self, x: Any) -> Any:
        """The sliding velocity."""
        return x.d(self.slid(x))

    def pressed(self, x: Any) -> Any:
        """The normal force, never below zero. A row exerts -Phi_q^T lambda: a gap is pushed open by -lambda."""
        return ca.fmax(-x.lam[NORMAL], 0.0)

    def most(self, x: Any) -> Any:
        """The largest friction while sticking."""
        return x.friction.static * self.pressed(x)

    def sliding(self, x: Any) -> Any:
        """The friction while sliding."""
        return x.friction.kinetic(self.slip(x)) * self.pressed(x)

    def restitution(self, x: Any) -> Any:
        """The restitution of impacts."""
        return 0.0

    @property
    def poisson(self) -> bool:
        """Whether restitution is Poisson's ratio of impulses rather than Newton's of velocities."""
        return False

    # --- what follows --------------------------------------------------------------------------------------------

    def view(self, source: Source) -> Any:
        x = super().view(source)
        if self.rubs:
            x.slid, x.slip = self.slid(x), self.slip(x)
            x.most, x.rubbing = self.most(x), self.sliding(x)
        return x

    def touch(self, x: Any) -> Touch | None:
        """What the choice of modes has to know; None for an element that does not touch."""
        if not self.closes and not self.rubs:
            return None
        return Touch(
            gap=self.gap(x) if self.closes else 0.0,
            slip=x.slip if self.rubs else 0.0,
            most=x.most if self.rubs else 0.0,
            sliding=x.rubbing if self.rubs else 0.0,
            restitution=self.restitution(x) if self.closes else 0.0,
            poisson=self.poisson,
        )

    def touching_rows(self, x: Any) -> list[Any]:
        """The gap and the place held."""
        normal = [self.gap(x)] if self.closes else []
        return [*normal, self.held(x, x.kept["place"])] if self.rubs else normal

    def rubbing_force(self, x: Any) -> Any:
        """Sliding friction, against the sliding."""
        if not self.rubs:
            return 0.0
        return x.push(x.slid, x.mode(BACKWARD, x.rubbing) - x.mode(FORWARD, x.rubbing))

    def phi(self, x: Any) -> Any:
        return self.touching_rows(x)

    def damping(self, x: Any) -> Any:
        return self.rubbing_force(x)

    def switches(self, x: Any) -> list[Switch]:
        found: list[Switch] = []
        here = {"place": x.slid} if self.rubs else {}
        closed = (STICKS, FORWARD, BACKWARD) if self.rubs else (CLOSED,)
        if self.closes:
            gap, first = self.gap(x), closed[0]
            found.append(Switch(OPEN, gap, first, latch=here, limit=first, note="closes"))
            found.append(Switch(OPEN, NEVER, OPEN, note="bounces"))
            for mode in closed:
                found.append(Switch(mode, -x.lam[NORMAL], OPEN, note="opens"))
                found.append(Switch(mode, NEVER, mode, latch=here if mode == STICKS else {}, note="is hit"))
        if self.rubs:
            found += [
                Switch(STICKS, x.most - x.lam[STICK], FORWARD, note="slides forward"),
                Switch(STICKS, x.most + x.lam[STICK], BACKWARD, note="slides backward"),
                Switch(FORWARD, x.slip, STICKS, latch=here, note="sticks"),
                Switch(BACKWARD, -x.slip, STICKS, latch=here, note="sticks"),
                Switch(FORWARD, NEVER, BACKWARD, note="slides backward"),
                Switch(BACKWARD, NEVER, FORWARD, note="slides forward"),
            ]
            if self.closes:
                found += [
                    Switch(OPEN, NEVER, FORWARD, note="closes and slides forward"),
                    Switch(OPEN, NEVER, BACKWARD, note="closes and slides backward"),
                ]
        return found

    def first_mode(self, x: Any) -> Any:
        """Where it is at rest it is taken to stick or touch, until all modes are chosen together."""
        mode: Any = 0.0
        if self.rubs:
            first = 1.0 if self.closes else 0.0
            mode = first + ca.if_else(x.slip > 0, 1.0, ca.if_else(x.slip < 0, 2.0, 0.0))
        if self.closes:
            gap = self.gap(x)
            rests = ca.logic_and(gap <= 0, x.d(gap) <= 0)
            mode = ca.if_else(rests, mode if self.rubs else 1.0, 0.0)
        return mode
