"""Chains of loops through singular positions: the exact motion along the branch, every passage told, none invented.

Whenever the cranks of a chain of parallelograms lie along the line of pivots, every loop of it could go on as an
antiparallelogram. The motion is smooth all the same, and known (``loops.py``).

Errors of positions are in mechanism sizes, divided by how much a relative change of the energy grows until then; so
they are what the run itself did wrong. ``OFF`` says how many tolerances that may be. ``KEMPE_EXPLORE=1`` draws other
chains, and five times as many.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from loops import Chain, pick

import kempe as kp
from kempe.simulation.posing import Posed

EXPLORE = bool(os.environ.get("KEMPE_EXPLORE"))
FIRST = int(np.random.SeedSequence().entropy % 10**9) if EXPLORE else 0
SHARE = 5 if EXPLORE else 1

#: What positions may be off by, in tolerances and growths. Methods of order 8 take some hundred steps here, each of
#: which is off by less than a tolerance, mostly much less; others take more steps.
OFF = {"auto": 5.0, "projection": 5.0, "augmented": 5.0, "baumgarte": 5.0, "canonical": 30.0, "independent": 30.0}
OFF |= {"radau": 50.0, "bdf": 200.0, "bdf3": 200.0, "alpha": 30.0, "ali3p": 30.0, "penalty": 300.0}
#: Of the energy in units of the largest kinetic energy: a size of a long chain is many lengths of its cranks.
UNBALANCED = 20.0
#: Rounding, in sizes: what is lost at a passage, some distance from it, where s is about 0.1.
ROUNDING = 3e-11
#: How well instants are known, in radians of the crank, besides what the motion itself is off by.
INSTANT = 1e-6


def kind_of(seed: int) -> str:
    return "bodies" if seed % 2 else "points"


def listed(wrong: dict[Any, list[str]]) -> str:
    """One line for each run."""
    return "\n".join(f"{key}: {'; '.join(found)}" for key, found in wrong.items())


def passages(result: kp.Result) -> np.ndarray:
    """The instants told."""
    return np.array([e.t for e in result.events if e.kind == "singular"])


def motion_faults(c: Chain, result: kp.Result, model: Any, off: float) -> tuple[list[str], float]:
    """What is wrong with a motion that may be off by ``off`` sizes and growths; what it is off by."""
    theta, omega, _, growth = c.exact(result.t)
    size, rate, kinetic = Posed(model).scale.max(), c.fastest(), result.array("energy.kinetic").max()
    apart = np.abs(c.places(result) - c.tips(theta)).max() / (size * growth)
    found = {
        "another branch": c.apart(result) / max(1e-8, 1e-2 * off),
        "places": apart / off,
        "balance": np.abs(result.array("energy.balance")).max() / (kinetic * UNBALANCED * off * size / c.length),
    }
    if c.kind == "bodies":
        lever = c.length / (size * growth)
        found["angles"] = np.abs(result.array("v0.angle") - theta).max() * lever / off
        found["speeds"] = np.abs(result.array("v0.omega") - omega).max() * lever / (10 * rate * off)
    wrong = [f"{name}: {share:.2g} times what is allowed" for name, share in found.items() if not share < 1.0]
    return wrong if result.success else [result.message, *wrong], float(apart)


def passage_faults(c: Chain, result: kp.Result, off: float) -> list[str]:
    """What is wrong with the events: every passage is one, at its instant, and nothing else is."""
    found = passages(result)
    if len(found) != len(c.flats):
        return [f"passages {found} instead of {c.flats}"]
    late = np.abs(found - c.flats).max() * c.fastest()
    return [f"instants off by {late:.1e} rad"] if late > INSTANT + 10 * off * c.exact(c.flats)[3] else []


def faults(c: Chain, off: float, **options: Any) -> tuple[list[str], float]:
    """Everything that is wrong with a run that may be off by ``off``; what it is off by."""
    m = c.build()
    try:
        result = m.simulate(c.end, steps=12, velocities=c.velocities, **options)
    except kp.KempeError as error:
        return [str(error)], np.nan
    wrong, apart = motion_faults(c, result, m, off)
    return wrong + passage_faults(c, result, off), apart


# --- two hundred chains -----------------------------------------------------------------------------------------------

TOLERANCES = [10.0**-k for k in range(4, 12)]


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_random_chains_at_every_tolerance(tolerance):
    """200 chains: 1 to 40 loops, points and bodies, links alike and unlike, from 1 cm to 100 m."""
    group, wrong = TOLERANCES.index(tolerance), {}
    for k in range(25 * SHARE):
        seed = FIRST + len(TOLERANCES) * k + group
        found, _ = faults(pick(seed, kind_of(k)), OFF["auto"] * tolerance + ROUNDING, tolerance=tolerance)
        if found:
            wrong[seed, kind_of(k)] = found
    assert not wrong, listed(wrong)


@pytest.mark.parametrize("method", [name for name in kp.METHODS if name != "auto"])
def test_random_chains_by_every_method(method):
    order = kp.METHODS[method].order
    tolerances = {2: [1e-4, 1e-6, 1e-7], 5: [1e-4, 1e-6, 1e-8, 1e-10]}.get(order, [1e-4, 1e-6, 1e-8, 1e-10, 1e-11])
    if method == "penalty":  # its own error stays
        tolerances = [1e-4, 1e-6, 1e-7]
    wrong = {}
    for k in range(10 * SHARE):
        tolerance, seed = tolerances[k // 2 % len(tolerances)], FIRST + 1000 + k
        c, off = pick(seed, kind_of(k), 20), OFF[method] * tolerance + ROUNDING
        found, _ = faults(c, off, method=method, tolerance=tolerance)
        if found:
            wrong[seed, kind_of(k), tolerance] = found
    assert not wrong, listed(wrong)


#: Errors with steps of 0.02 radians of the fastest motion, in sizes, and the order that they fall with.
FIXED = {"alpha": (1e-3, 2), "ali3p": (1e-3, 2), "bdf": (3e-3, 2), "bdf3": (3e-3, 2)}
FIXED |= {"radau": (1e-9, 5), "penalty": (1e-5, 0)}


@pytest.mark.parametrize("method", kp.METHODS)
def test_random_chains_by_fixed_steps(method):
    """Methods of order 8 are as good as rounding lets them be; those of order 2 fall with the square of the step."""
    bound, order = FIXED.get(method, (1e-9, 8))
    wrong, ratios = {}, []
    for k in range(2 * SHARE):
        c, errors = pick(FIRST + 2000 + k, kind_of(k), 6), []
        for turn in (0.04, 0.02, 0.01):
            step = c.end / np.ceil(c.end * c.fastest() / turn)
            off = bound * (turn / 0.02) ** order + ROUNDING
            found, apart = faults(c, off, method=method, step=step)
            errors.append(apart)
            if found:
                wrong[FIRST + 2000 + k, kind_of(k), turn] = found
        ratios.append(errors[0] / errors[-1])
    assert not wrong, listed(wrong)
    if order == 2:
        assert 8 < np.exp(np.mean(np.log(ratios))) < 32  # (16)
