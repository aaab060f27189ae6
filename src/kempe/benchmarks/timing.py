"""How benchmarks take times: all contenders in turn, in one run, the best of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Run = Callable[[], Any]
"""What is timed."""
Contender = Callable[[], Run]
"""Makes a run ready; called before every round, its time does not count."""
Name = TypeVar("Name", bound=Hashable)

ROUNDS = 5
BUDGET, LEAST = 20.0, 5.0
"""Seconds after which no further round begins, and before which none is the last unless the budget is smaller."""
TURN = 0.1
"""A contender's turn lasts so many seconds: it runs several times where it can, set-up included."""
CONFIRMED = 0.05
"""A best time counts as found once the third best is within this share of it."""


@dataclass(frozen=True)
class Timed:
    """The shortest of a contender's runs, and what its last run returned."""

    seconds: float
    outcome: Any


def again(run: Run) -> Contender:
    """A contender whose run needs nothing made ready."""
    return lambda: run


def interleaved(
    contenders: Mapping[Name, Contender], rounds: int = ROUNDS, budget: float = BUDGET, elsewhere: bool = False
) -> dict[Name, Timed]:
    """Let all contenders run in turn, round after round, and keep the best time of each.

    A machine that is slower for a while is then slower for all of them, which keeps their ratios, and turns of equal
    length give short runs and long ones the same chance to meet it at its best. There are so many ``rounds`` at least,
    and more until every best time is confirmed, as far as the ``budget`` of seconds allows.

    A run's time is what the clock says, or the processor time of this process where that is less: the difference is
    what it waited for other programs, which a run of a millisecond escapes and a longer one does not. Work done
    ``elsewhere``, in other processes, is timed by the clock alone.
    """
    seconds: dict[Name, list[float]] = {name: [] for name in contenders}
    outcomes: dict[Name, Any] = {}
    begun, turn, count = time.perf_counter(), min(TURN, budget / 10), 0
    while contenders:
        for name, ready in contenders.items():
            began = time.perf_counter()
            while True:
                outcomes.pop(name, None)  # the memory of the run before is free again
                taken, outcomes[name] = _timed(ready(), elsewhere)
                seconds[name].append(taken)
                if time.perf_counter() - began >= turn:
                    break
        spent, count = time.perf_counter() - begun, count + 1
        enough = spent >= LEAST and count >= rounds and all(_confirmed(taken) for taken in seconds.values())
        if enough or spent > budget:
            break
    return {name: Timed(min(taken), outcomes[name]) for name, taken in seconds.items()}


def _timed(run: Run, elsewhere: bool) -> tuple[float, Any]:
    """Seconds of a run, and what it returned."""
    begin, worked = time.perf_counter(), time.process_time()
    outcome = run()
    worked, passed = time.process_time() - worked, time.perf_counter() - begin
    return (passed if elsewhere else min(passed, worked)), outcome


def _confirmed(taken: list[float]) -> bool:
    best = sorted(taken)[:3]
    return best[-1] <= (1 + CONFIRMED) * best[0]
