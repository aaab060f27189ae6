"""A hundred random mechanisms: their derivatives are those of differences, driven, at rest and vibrating."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from random_designs import driven_design, resting_design
from richardson import agree, richardson

import kempe as kp

TIMES = np.array([0.0, 0.03, 0.08])
SEEDS = range(100)


def compared(names: list[str], found: Any, run: Any, m: kp.Mechanism, what: str) -> None:
    """Derivatives of quantities by every parameter beside those of differences."""
    for p in m.parameters:
        value = m.parameters[p].value
        true, doubt = richardson(lambda x, p=p: run({p: x}), value, 0.01 * abs(value))  # type: ignore[misc]
        agree(found(p), true, doubt, np.abs(run({p: value})).max(axis=0) / abs(value), f"{what} by {p}")


@pytest.mark.parametrize("seed", SEEDS)
def test_driven_motions_and_what_they_take(seed: int) -> None:
    m = driven_design(seed)
    motion = m.inverse_dynamics(TIMES)
    efforts = [n for n in motion.names if n.endswith(".effort")]
    coordinates = [n for triple in motion.columns for n in triple]
    names = [*coordinates, *efforts, "energy.kinetic", "ground.shaking.x"]
    sens = m.inverse_dynamics_sensitivity(TIMES, names)

    def run(parameters: dict[str, float]) -> np.ndarray:
        result = m.inverse_dynamics(TIMES, parameters=parameters)
        return np.column_stack([result.array(n) for n in names])

    compared(names, lambda p: np.column_stack([sens.derivative(n, p) for n in names]), run, m, f"driven {seed}")


@pytest.mark.parametrize("seed", SEEDS)
def test_equilibria_and_vibrations(seed: int) -> None:
    m = resting_design(seed)
    rest = m.equilibrium()
    shapes = m.modes(rest)
    sens = m.equilibrium_sensitivity(list(rest.pose.values))
    vibrating = m.modal_sensitivity(about=rest)
    names = list(rest.pose.values)
    known = [n for n in vibrating.names if n not in vibrating.without and n.endswith("frequency")]

    def run(parameters: dict[str, float]) -> np.ndarray:
        found = m.equilibrium(start=rest.pose, parameters=parameters)
        frequencies = m.modes(found).frequencies
        return np.array([[*found.pose.q, *(frequencies[int(n[4:].partition(".")[0])] for n in known)]])

    def slopes(p: str) -> np.ndarray:
        return np.array([[*(sens[n, p] for n in names), *(vibrating[n, p] for n in known)]])

    assert len(known) >= 0.8 * len(shapes)
    with warnings.catch_warnings():
        compared([*names, *known], slopes, run, m, f"resting {seed}")
