"""The cost of a gradient in units of one simulation, by the number of design parameters; beside CasADi's IDAS.

A chain of links has ten parameters each. The adjoint method costs the same for one and for a thousand of them, the
direct method grows with their number, and differences need one more simulation for each. IDAS solves the same
equations, with adjoint and with forward sensitivities, at the same tolerance; how far gradients differ is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import kempe as kp
from kempe.benchmarks import sensitivity_problems as given
from kempe.benchmarks.ours import simulating
from kempe.benchmarks.record import Record, less_is_better
from kempe.benchmarks.sensitivity_peers import Idas
from kempe.benchmarks.timing import Contender, Timed, again, interleaved
from kempe.design.evaluating import Evaluator, Gradient

BENCH = "sensitivity"
TOLERANCE = 1e-8
TARGET = 4.0
"""Simulations for an adjoint gradient."""
COUNTS = (1, 10, 100, 1000)
LINKS = 100
FEW = 10
"""Links of the chain that IDAS computes too."""
MOST = {"direct": 100, "forward": 10}
"""More parameters would take minutes."""
SIMULATION = "simulation"


def evaluator(links: int, count: int, gradient: Gradient) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """A gradient of the chain by its first parameters; it has been computed once."""
    m, names = given.chain(links), list(given.names(links))[:count]
    asked = Evaluator(m, [0.0, given.END], kp.integral(given.integrand(links)), names, gradient=gradient,
                      tolerance=TOLERANCE)  # fmt: skip
    design = given.values(links)[:count]
    asked.gradients(design)
    return lambda: asked.gradients(design)


def _ours(links: int, counts: tuple[int, ...], method: Gradient) -> dict[tuple[str, int], Contender]:
    return {(method, count): again(evaluator(links, count, method)) for count in counts}


def _simulation(links: int) -> dict[tuple[str, int], Contender]:
    return {(SIMULATION, 0): simulating(given.chain(links), [0.0, given.END], tolerance=TOLERANCE, audit=False)}


def _costs() -> Iterator[Record]:
    """By the number of parameters, in simulations of the same chain."""
    direct = tuple(count for count in COUNTS if count <= MOST["direct"])
    times = interleaved(
        _simulation(LINKS) | _ours(LINKS, COUNTS, "adjoint") | _ours(LINKS, direct, "direct"), rounds=3, budget=60.0
    )
    one = times[SIMULATION, 0].seconds
    about = (
        f"chain of {LINKS} links, an integral over {given.END:g} s, tolerance {TOLERANCE:g}; a simulation: {one:.3g} s"
    )
    for (method, count), timed in times.items():
        if method == SIMULATION:
            continue
        cost, name = timed.seconds / one, f"{method} gradient, {_many(count)}"
        if method == "adjoint":
            yield less_is_better(BENCH, name, cost, "target", TARGET, "simulations", about)
        yield less_is_better(BENCH, name, cost, "differences", count + 1.0, "simulations", f"{about}; one-sided")


def _idas() -> Iterator[Record]:
    """The same chain in IDAS, shorter for its sake."""
    counts = tuple(count for count in COUNTS if count <= FEW * len(given.KINDS))
    peer, p = Idas(FEW, TOLERANCE), given.values(FEW)
    theirs: dict[tuple[str, int], Callable[[np.ndarray], np.ndarray]] = {
        ("IDAS", 0): peer.simulation(),
        ("IDAS adjoint", counts[-1]): peer.adjoint(),
        **{("IDAS forward", count): peer.forward(count) for count in counts if count <= MOST["forward"]},
    }
    contenders = {key: again(partial(run, p)) for key, run in theirs.items()}
    ours = _simulation(FEW) | _ours(FEW, counts, "adjoint") | _ours(FEW, counts, "direct")
    times = interleaved(ours | contenders, rounds=3, budget=60.0)
    about = f"chain of {FEW} links, an integral over {given.END:g} s, tolerance {TOLERANCE:g}"
    pairs = [(SIMULATION, 0, "IDAS", 0, "simulation")]
    pairs += [("adjoint", count, "IDAS adjoint", counts[-1], f"adjoint gradient, {_many(count)}") for count in counts]
    pairs += [("direct", count, "IDAS forward", count, f"direct gradient, {_many(count)}") for count in counts]
    for method, count, name, number, quantity in pairs:
        mine, other = times[method, count], times.get((name, number))
        told = f"{about}{_apart(mine, other, count)}"
        yield less_is_better(
            BENCH,
            f"{quantity}, {FEW} links",
            mine.seconds * 1e3,
            name,
            None if other is None else other.seconds * 1e3,
            "ms",
            told,
        )


def _apart(mine: Timed, other: Timed | None, count: int) -> str:
    """How far a peer's gradient is from ours, in shares of its largest entry."""
    if other is None:
        return "; peer: would take minutes"
    if not count:
        return ""
    gradient = mine.outcome[1].ravel()
    theirs = np.ravel(other.outcome)[:count]
    return f"; gradients differ by {np.abs(theirs - gradient).max() / np.abs(gradient).max():.1e}"


def _many(count: int) -> str:
    return f"{count} parameter{'s' * (count > 1)}"


def records() -> Iterator[Record]:
    """All comparisons."""
    yield from _costs()
    yield from _idas()
