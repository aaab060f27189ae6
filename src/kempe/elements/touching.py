"""Surfaces that touch: contacts that open and close, and friction that sticks and slides.

An element that touches says how (``Touch``): where its gap is, how fast it slides, how large friction may be. Its modes
are chosen together with those of all others that touch, so that all forces are admissible at once
(``solvers.selection``); its impacts are solved together with all others (``solvers.impact``). Its ``Switch``es say when
to choose again, and what to call what happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from kempe.elements.base import Limit, Scalar, Switch
from kempe.elements.bristles import BENT, Bristled
from kempe.elements.friction import FrictionLaw, refuse_unloaded
from kempe.elements.numbers import evaluate, not_negative
from kempe.elements.sources import Source
from kempe.errors import ModelError

#: The rows: the gap, which is held at zero while closed, and the place along it, which is held while sticking.
NORMAL, STICK = "normal", "stick"
#: The modes. A contact without friction is open or closed; with friction, closed is one of the last three.
OPEN, CLOSED, STICKS, FORWARD, BACKWARD = "open", "closed", "stick", "forward", "backward"
#: What holds where nothing presses and nothing pulls, so that it may stay as it is.
IDLE = 1e-100
#: No switch of this guard is ever met: it only says what a change of modes is called.
NEVER = 1.0


@dataclass(frozen=True)
class Touch:
    """What the choice of modes has to know of an element, as expressions.

    ``most`` is the largest friction that sticking may need, ``sliding`` that of sliding; both may depend on
    multipliers. ``restitution`` is that of impacts, by Newton's or by Poisson's law.

    The loads that friction grows with are multipliers, in proportion, and perhaps given ones, which do not act at
    impacts. So the friction of an impulse P is the limit of ``sliding`` at s P, divided by s, for large s.
    """

    gap: Any = 0.0
    slip: Any = 0.0
    most: Any = 0.0
    sliding: Any = 0.0
    restitution: Any = 0.0
    poisson: bool = False


class Touching(Bristled):
    """An element with a gap that closes, with friction, or with both.

    A subclass calls ``_touching`` before its fields are set, which says whether it closes and how it rubs, and defines
    ``gap``, ``slid``, ``pressed`` as far as they apply. Rows of its own come first: ``own_rows``. A law of friction
    that does not stick is a force without modes.
    """

    #: Whether it has a gap; whether it has friction that sticks.
    closes: bool = False
    rubs: bool = False
    giving_rows = (STICK,)
    #: Rows that always hold.
    own_rows: ClassVar[tuple[str, ...]] = ()

    def _touching(self, name: str, closes: bool, friction: FrictionLaw | None) -> dict[str, Any]:
        """Its rows and modes; returns the fields of its friction."""
        self.closes, self.rubs = closes, friction is not None and friction.sticks
        if self.closes or self.rubs:
            self.rows = (*self.own_rows, *((NORMAL,) if closes else ()), *((STICK,) if self.rubs else ()))
            sliding = (STICKS, FORWARD, BACKWARD) if self.rubs else (CLOSED,)
            self.modes = ((OPEN,) if closes else ()) + sliding  # type: ignore[misc]
            self.row_modes = {NORMAL: sliding} if closes else {}  # type: ignore[misc]
        if self.rubs:
            self.row_modes = {**self.row_modes, STICK: (STICKS,)}  # type: ignore[misc]
            self.latches = ("place",)  # type: ignore[misc]
        elif closes and friction is not None and friction.bristles:
            refuse_unloaded(friction, "friction")
            self.latches = (BENT,)  # type: ignore[misc]
        return {"friction": friction, "bristles": self._bristles(name, friction)}

    # --- what a subclass says ------------------------------------------------------------------------------------

    def gap(self, x: Any) -> Any:
        """How far its surfaces are apart."""
        raise NotImplementedError

    def clear(self, x: Any) -> Any:
        """What is watched for its surfaces to meet: falls to zero as the gap does, at the same rate."""
        return self.gap(x)

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
        return x.friction.share(x.slip) * self.pressed(x)

    def here(self, x: Any) -> dict[str, Any]:
        """What is kept from where it begins to stick."""
        return {"place": x.slid}

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
        if x.friction is not None:
            x.slid = self.slid(x)
            x.slip = self.slip(x)
        if self.rubs:
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
        gap = [self.gap(x)] if self.closes else []
        return [*gap, self.held(x, x.kept["place"])] if self.rubs else gap

    def resistance(self, x: Any) -> Any:
        """The friction that is a force and no constraint, on what has slid."""
        law = x.friction
        if self.rubs:
            friction = x.mode(BACKWARD, x.rubbing) - x.mode(FORWARD, x.rubbing)
            if law.viscous is not None:
                friction -= (x.mode(FORWARD, x.slip) + x.mode(BACKWARD, x.slip)) * law.viscous
            return friction
        pressed = self.pressed(x)
        friction = -(self.bent(x, pressed)[0] if law.bristles else law.share(x.slip) * pressed)
        if law.viscous is not None:
            friction -= law.viscous * x.slip
        return x.mode(CLOSED, friction) if self.closes else friction

    def phi(self, x: Any) -> Any:
        return self.touching_rows(x)

    def damping(self, x: Any) -> Any:
        return 0.0 if x.friction is None else self.rubbed(x)

    def rubbed(self, x: Any) -> Any:
        """Friction. The rate of the bristles' coordinate is their deflection: what bends them is a force on it."""
        found = x.push(x.slid, self.resistance(x))
        if x.bristles is not None:
            bending = x.friction.inertia * self.bent(x, self.pressed(x))[1]
            found += x.push(x.bristles, x.mode(CLOSED, bending) if self.closes else bending)
        return found

    def switches(self, x: Any) -> list[Switch]:
        found: list[Switch] = []
        here = self.here(x) if self.rubs else self.straightened(x)
        closed = (STICKS, FORWARD, BACKWARD) if self.rubs else (CLOSED,)
        if self.closes:
            first = closed[0]
            found.append(Switch(OPEN, self.clear(x), first, latch=here, limit=first, note="closes"))
            found.append(Switch(OPEN, NEVER, OPEN, note="bounces"))
            for mode in closed:
                found.append(Switch(mode, -x.lam[NORMAL], OPEN, note="opens"))
                found.append(Switch(mode, NEVER, mode, latch=here if mode == STICKS else {}, note="is hit"))
        if self.rubs:
            found += [
                Switch(STICKS, x.most - x.lam[STICK] + IDLE, FORWARD, note="slides forward"),
                Switch(STICKS, x.most + x.lam[STICK] + IDLE, BACKWARD, note="slides backward"),
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
            rests = ca.logic_and(gap <= 0, x.d(gap) == 0)
            mode = ca.if_else(rests, mode if self.rubs else 1.0, 0.0)
        return mode

    def limits(self) -> list[Limit]:
        law = self.fields["friction"]
        said = [limit._replace(words=f"{self.told()}: {limit.words}") for limit in law.limits()]
        return [limit for f in self.fields.values() if f is not law for limit in f.limits()] + said

    # --- what results show -----------------------------------------------------------------------------------------

    def outputs(self, x: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.closes:
            found |= {"gap": self.gap(x), "normal": -x.lam[NORMAL]}
        if x.friction is not None:
            held = x.mode(STICKS, -x.lam[STICK]) if self.rubs else 0.0
            found |= {"friction": held + self.resistance(x), "slip": x.slip}
        return found

    def output_kinds(self) -> Mapping[str, str]:
        return {"gap": "length", "normal": "force", "friction": "force", "slip": "velocity"}

    def row_kinds(self) -> Mapping[str, str]:
        return {row: "length" for row in (NORMAL, STICK) if row in self.rows}


class Restitution(Scalar):
    """A restitution: a number from 0 to 1, whatever the parameters become."""

    def __init__(self, value: Any, what: str) -> None:
        super().__init__(not_negative(value, f"{what}: restitution"))
        self.what = what
        if evaluate([self.value])[0] > 1.0:
            raise ModelError(f"{what}: a restitution is between 0 and 1, not {evaluate([self.value])[0]:g}")

    def limits(self) -> Iterable[Limit]:
        words = f"{self.what}: a restitution is between 0 and 1"
        return (Limit(self.value, words, self.value), Limit(1.0 - self.value, words, self.value))
