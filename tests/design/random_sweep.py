"""Derivatives of random mechanisms beside those of differences: driven, at rest and vibrating.

    python tests/design/random_sweep.py 0 100

looks at the seeds from 0 to 99 and prints each disagreement; ``make test`` takes a share.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np
from random_designs import driven_design, resting_design
from richardson import agree, richardson

import kempe as kp

TIMES = np.array([0.0, 0.03, 0.08])

Parameters = dict[str, float]
Slopes = Callable[[str], np.ndarray]


def _compare(
    slopes: Slopes,
    run: Callable[[Parameters], np.ndarray],
    m: kp.Mechanism,
    what: str,
    beside: Sequence[Slopes] = (),
) -> None:
    """Compare slopes with those of differences.

    Near a singular position the last digits of a parameter move slopes by more than 1e-9: what they scatter by beside
    is allowed for.
    """
    for p in m.parameters:
        value = m.parameters[p].value
        true, doubt = richardson(lambda x, p=p: run({p: x}), value, 0.03 * abs(value))  # type: ignore[misc]
        if beside:
            doubt = doubt + 3 * np.std([near(p) for near in beside], axis=0)
        agree(slopes(p), true, doubt, np.abs(run({p: value})).max(axis=0) / abs(value), f"{what} by {p}", least=0.1)


def _contradicts(error: kp.ModelError, m: kp.Mechanism, run: Callable[[Parameters], np.ndarray]) -> bool:
    """Whether a mechanism that is said to have no derivatives cannot be moved at other values indeed."""
    name = next((p for p in m.parameters if f"another value of '{p}'" in str(error)), None)
    if name is None:
        return False
    try:
        run({name: 1.03 * m.parameters[name].value})
    except kp.KempeError:
        return True
    return False


def driven(seed: int) -> str:
    """A driven motion and what it takes: how it went, in a word."""
    m = driven_design(seed)
    motion = m.inverse_dynamics(TIMES)
    efforts = [n for n in motion.names if n.endswith(".effort")]
    names = [*(n for triple in motion.columns for n in triple), *efforts, "energy.kinetic", "ground.shaking.x"]

    def run(parameters: Parameters) -> np.ndarray:
        result = m.inverse_dynamics(TIMES, parameters=parameters)
        return np.column_stack([result.array(n) for n in names])

    def slopes_at(parameters: Parameters) -> Slopes:
        sens = m.inverse_dynamics_sensitivity(TIMES, names, parameters=parameters)
        return lambda p: np.column_stack([sens.derivative(n, p) for n in names])

    try:
        slopes = slopes_at({})
    except kp.ModelError as error:
        assert _contradicts(error, m, run), error
        return "contradicts"
    first, *_ = m.parameters
    digit = np.finfo(float).eps * m.parameters[first].value
    beside = [slopes_at({first: m.parameters[first].value + k * digit}) for k in (-3, -2, -1, 1, 2, 3)]
    _compare(slopes, run, m, f"driven {seed}", beside)
    return "agrees"


def resting(seed: int) -> str:
    """An equilibrium and the vibrations about it."""
    m = resting_design(seed)
    rest = m.equilibrium()
    names, moves = list(rest.pose.values), not np.isinf(rest.stiffness)

    def run(parameters: Parameters) -> np.ndarray:
        found = m.equilibrium(start=rest.pose, parameters=parameters)
        frequencies = m.modes(found).frequencies if moves else np.zeros(0)
        return np.array([[*found.pose.q, *(frequencies[k] for k in known)]])

    known: list[int] = []
    try:
        sens = m.equilibrium_sensitivity(names)
    except kp.ModelError as error:
        assert _contradicts(error, m, run), error
        return "contradicts"
    if moves:
        vibrating = m.modal_sensitivity(about=rest)
        count = len(m.modes(rest))
        known = [k for k in range(count) if f"mode{k}.frequency" in vibrating.values]
        assert len(known) >= 0.8 * count
    _compare(
        lambda p: np.array([[*(sens[n][p] for n in names), *(vibrating[f"mode{k}.frequency"][p] for k in known)]]),
        run,
        m,
        f"resting {seed}",
    )
    return "agrees"


def main(first: int, last: int) -> None:
    """Look at all seeds, and count."""
    counts: dict[str, int] = {}
    for seed in range(first, last):
        for look in (driven, resting):
            try:
                verdict = look(seed)
            except (AssertionError, kp.KempeError) as error:
                verdict = "DISAGREES"
                print(f"{look.__name__} {seed}: {error}", flush=True)
            counts[f"{look.__name__} {verdict}"] = counts.get(f"{look.__name__} {verdict}", 0) + 1
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
