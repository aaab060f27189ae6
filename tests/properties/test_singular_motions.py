"""Chains of loops through singular positions: the exact motion along the branch, every passage told, none invented.

Whenever the cranks of a chain of parallelograms lie along the line of pivots, every loop of it could go on as an
antiparallelogram. The motion is smooth all the same, and known (``loops.py``).

Errors of positions are in mechanism sizes, divided by how much a relative change of the energy grows until then; so
they are what the run itself did wrong. ``OFF`` says how many tolerances that may be. ``KEMPE_EXPLORE=1`` draws other
chains, and five times as many.
"""

from __future__ import annotations

import os
import pickle
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from loops import Chain, FourBar, across, direction, pick, plain_chain
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import kempe as kp
from kempe.simulation.checkpoints import write_checkpoint
from kempe.simulation.posing import Posed
from kempe.simulation.running import Record
from kempe.simulation.starting import begun
from kempe.solvers import course as co

EXPLORE = bool(os.environ.get("KEMPE_EXPLORE"))
FIRST = int(np.random.SeedSequence().entropy % 10**9) if EXPLORE else 0
SHARE = 5 if EXPLORE else 1

#: What positions may be off by, in tolerances and growths. Methods of order 8 take some hundred steps here, each of
#: which is off by less than a tolerance, mostly much less; others take more steps.
OFF = {"auto": 15.0, "projection": 5.0, "augmented": 5.0, "baumgarte": 5.0, "canonical": 30.0, "independent": 30.0}
OFF |= {"radau": 50.0, "bdf": 200.0, "bdf3": 200.0, "alpha": 30.0, "ali3p": 30.0, "penalty": 300.0}
#: Of the energy in units of the largest kinetic energy: a size of a long chain is many lengths of its cranks.
UNBALANCED = 20.0
#: Rounding, in sizes.
ROUNDING = 1e-10
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
    """What is wrong with the events: each is a passage, at its instant, and told once.

    (A step may go across one unseen, mostly at loose tolerances and in long chains: the motion is right all the same.)
    """
    found = passages(result)
    if len(found) > len(c.flats):
        return [f"passages {found} instead of {c.flats}"]
    late = max((np.abs(c.flats - t).min() for t in found), default=0.0) * c.fastest()
    # (a motion that is off by so much in its places is later or earlier by that over its slowest speed at the passages)
    slowest = np.abs(c.exact(c.flats)[1]).min(initial=c.fastest()) / c.fastest()
    return [f"instants off by {late:.1e} rad"] if late > INSTANT + 30 * off * c.exact(c.flats)[3] / slowest else []


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


@pytest.mark.filterwarnings("ignore::kempe.errors.AccuracyWarning")  # (the balance is judged below)
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
    if method in ("bdf", "canonical"):  # below, they are refused crossings of many loops, and come too near
        tolerances = [1e-4, 1e-6, 1e-8]
    wrong = {}
    for k in range(10 * SHARE):
        tolerance, seed = tolerances[k // 2 % len(tolerances)], FIRST + 1000 + k
        c, off = pick(seed, kind_of(k), 20), OFF[method] * tolerance + ROUNDING
        found, _ = faults(c, off, method=method, tolerance=tolerance)
        if found:
            wrong[seed, kind_of(k), tolerance] = found
    assert not wrong, listed(wrong)


@pytest.mark.parametrize(
    ("seed", "kind", "method", "tolerance"),
    [
        (221, "bodies", "auto", 1e-10),
        (229, "bodies", "auto", 1e-6),
        (147, "bodies", "auto", 1e-5),
        (1017, "bodies", "radau", 1e-4),
    ],
)
@pytest.mark.filterwarnings("ignore::kempe.errors.AccuracyWarning")
def test_chains_that_were_hard_once(seed, kind, method, tolerance):
    """Crossings refused again and again, or taken where nothing is singular."""
    found, _ = faults(pick(seed, kind), OFF[method] * tolerance + ROUNDING, method=method, tolerance=tolerance)
    assert not found


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
        for turn in (0.04, 0.02, 0.01) if method != "ali3p" else (0.04,):  # (shorter, Newton's method meets rounding)
            step = c.end / np.ceil(c.end * c.fastest() / turn)
            off = bound * (turn / 0.02) ** order + ROUNDING
            found, apart = faults(c, off, method=method, step=step)
            errors.append(apart)
            if found:
                wrong[FIRST + 2000 + k, kind_of(k), turn] = found
        ratios.append(errors[0] / errors[-1])
    assert not wrong, listed(wrong)
    if order == 2 and method != "ali3p":
        assert 8 < np.exp(np.mean(np.log(ratios))) < 32  # (16)


# --- at and next to the instant --------------------------------------------------------------------------------------

ASIDE = np.array([-1e-1, -1e-3, -1e-5, -1e-7, -1e-9, 0.0, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1])


@pytest.mark.parametrize("kind", ["points", "bodies"])
@pytest.mark.parametrize(("loops", "even"), [(1, True), (1, False), (3, False)])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-11])
def test_motion_next_to_the_instant(kind, loops, even, tolerance):
    """Position, velocity and acceleration are regular there, whatever the reactions do."""
    c = plain_chain(loops, kind, even)
    for flat in c.flats:
        t = np.concatenate([[0.0], flat + ASIDE[np.abs(ASIDE) < min(flat, 0.05)], [c.end]])
        result = c.simulate(t, tolerance=tolerance)
        theta, omega, alpha, growth = c.exact(t)
        off = OFF["auto"] * growth * tolerance + ROUNDING
        side, ahead = direction(theta + np.pi / 2), direction(theta)
        if kind == "points":
            v = np.column_stack([result.array("B0.vx"), result.array("B0.vy")])
            a = np.column_stack([result.array("B0.ax"), result.array("B0.ay")])
            assert np.abs(v - omega[:, None] * side).max() < 10 * off * c.fastest()
            exact = alpha[:, None] * side - omega[:, None] ** 2 * ahead
            assert np.abs(a - exact).max() < (100 * off + 1e-8) * c.fastest() ** 2
        else:
            assert np.abs(result.array("v1.omega") - omega).max() < 10 * off * c.fastest()
            assert np.abs(result.array("v1.alpha") - alpha).max() < (100 * off + 1e-8) * c.fastest() ** 2
        assert np.abs(c.places(result) - c.tips(theta)).max() < off
        assert all(np.isfinite(result.array(name)).all() for name in result.series)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-11])
def test_reactions_of_one_even_loop_are_regular(tolerance):
    """Both cranks are loaded alike, so that nothing acts on the weak direction."""
    c = plain_chain(1, "bodies", True)
    for flat in c.flats[c.flats > 0.1]:
        result = c.simulate(np.concatenate([[0.0], flat + ASIDE[1:-1], [c.end]]), tolerance=tolerance)
        exact = across(c, flat, flat + ASIDE[1:-1], 0.05, pole=False)
        largest = max(np.abs(v).max() for v in exact.values())
        for name, values in exact.items():
            assert np.abs(result.array(f"lambda.{name}")[1:-1] - values).max() < (1e3 * tolerance + 1e-5) * largest


@pytest.mark.parametrize("loops", [1, 3])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-11])
def test_axial_forces_of_an_uneven_chain_have_a_pole(loops, tolerance):
    """They grow as 1/(t - t*) and change their sign: their product with t - t* is smooth, and known."""
    c = plain_chain(loops, "bodies", False)
    within = ASIDE[(np.abs(ASIDE) < 0.05) & (np.abs(ASIDE) > 1e-6)]
    for flat in c.flats[c.flats > 0.1]:
        result = c.simulate(np.concatenate([[0.0], flat + within, [c.end]]), tolerance=tolerance)
        exact = across(c, flat, flat + within, 0.05, pole=True)
        largest = max(np.abs(v).max() for v in exact.values())
        assert largest > 0.1
        for name, values in exact.items():
            found = result.array(f"lambda.{name}")[1:-1] * within
            # an instant that is off by d moves the pole: 1 - d/(t - t*)
            moved = 3 * (OFF["auto"] * tolerance * c.exact([flat])[3] + 1e-8) / np.abs(within)
            assert (np.abs(found - values) < (1e3 * tolerance + 1e-4 + moved) * largest).all()


# --- near misses -----------------------------------------------------------------------------------------------------

#: Lengths of crank, coupler, rocker and ground that differ from a parallelogram's. In the first the cranks turn round
#: side by side; in the others the true motion turns into the antiparallelogram at some flat position.
NEAR_MISSES = {
    "ground shorter": lambda gap: FourBar(1.0, 0.7, 1.0, 0.7 - gap),
    "rocker longer": lambda gap: FourBar(1.0, 1.3, 1.0 + gap, 1.3),
    "coupler longer": lambda gap: FourBar(1.0, 1.3 + gap, 1.0, 1.3),
    "coupler shorter": lambda gap: FourBar(1.0, 1.3 - gap, 1.0, 1.3),
}


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, 1e-8])  # (below, what is left of a double does not tell it apart)
@pytest.mark.parametrize("which", NEAR_MISSES)
def test_a_near_miss_is_no_singular_position(which, gap):
    """Branches come as near as the root of the gap. The motion follows the true one, without an event.

    With gaps below the tolerance it may go across to the other instead, but only with an event that says so.
    """
    b, times = NEAR_MISSES[which](gap), np.linspace(0.0, 4.0, 41)
    exact = b.exact(times)
    for kind, tolerance in product(("points", "bodies"), (1e-6, 1e-10)):
        with warnings.catch_warnings():
            if 1e-14 / gap > 1e2 * tolerance:  # rounding over the square of the weakest singular value: it may be told
                warnings.simplefilter("ignore", kp.AccuracyWarning)
            result = b.simulate(kind, times, tolerance=tolerance)
        kinetic = result.array("energy.kinetic")
        assert np.abs(kinetic / kinetic[0] - 1).max() < 1e3 * tolerance + 1e-8
        if result.events:
            assert gap <= 1e-2 * tolerance
        else:
            # a turn within the root of the gap magnifies what there is; the reference is no better at the last
            assert b.apart(kind, result, exact) < 300 * tolerance + 1e-13 / gap


# --- several degrees of freedom --------------------------------------------------------------------------------------


class TwoOnACart:
    """Two single parallelograms on a cart that slides along x: three degrees of freedom, flat each in its own time."""

    CART = 3.0

    def __init__(self, later: float, even: bool = True) -> None:
        one, other = plain_chain(1, "bodies", True, line=0.0), plain_chain(1, "bodies", even, line=0.0)
        other.angle = one.angle - later * one.speed
        self.chains = one, other
        self.sol = self._solve()

    def _rates(self, _: float, y: np.ndarray) -> np.ndarray:
        """Of x, both angles and their rates, by Lagrange's equations."""
        M, f = np.zeros((3, 3)), np.zeros(3)
        M[0, 0] = self.CART
        for k, c in enumerate(self.chains, 1):
            S = np.column_stack([direction(y[k]), direction(y[k] + np.pi / 2)]) @ c.S
            M[0, 0] += sum(b.mass for b in c.cranks + c.couplers)
            M[0, k] = M[k, 0] = -S[1]
            M[k, k] = c.A
            f[0] += y[3 + k] ** 2 * S[0]
            f[k] = c.A * c.pull(y[k])
        return np.concatenate([y[3:], np.linalg.solve(M, f)])

    def _solve(self) -> Any:
        y = np.array([0.0, *(c.angle for c in self.chains), 0.0, *(c.speed for c in self.chains)])
        options = {"rtol": 1e-13, "atol": 1e-14, "dense_output": True, "max_step": 0.05}
        return solve_ivp(self._rates, (0.0, 1.5), y, "DOP853", **options).sol

    def flats(self) -> np.ndarray:
        """Of both, in order."""
        t, found = np.linspace(0.0, 1.5, 300), []
        for k in (1, 2):
            height = np.sin(self.sol(t)[k])
            for i in np.flatnonzero(height[:-1] * height[1:] < 0):
                found.append(brentq(lambda s, k=k: np.sin(self.sol(s)[k]), t[i], t[i + 1], xtol=1e-15))
        return np.sort(found)

    def build(self) -> kp.Mechanism:
        m = kp.Mechanism("two parallelograms on a cart", gravity=(0.0, -9.81))
        cart = m.body("cart", self.CART, 1.0, at=(0.0, 0.0))
        m.translational("rail", m.ground, cart, at=(0, 0), axis=(1, 0))
        for name, c in zip("ab", self.chains, strict=True):
            tips = c.pivots + c.length * direction(c.angle)
            v = [c._body(m, f"{name}v{i}", b, c.pivots[i], c.angle) for i, b in enumerate(c.cranks)]
            h = c._body(m, f"{name}h", c.couplers[0], tips[0], c.line)
            for i, b in enumerate(c.cranks):
                arm, end = np.array([c.length, 0.0]) - b.centre, np.array([i * c.gaps[0], 0.0])
                m.revolute(f"{name}A{i}", cart, v[i], on_i=c.pivots[i], on_j=-np.array(b.centre))
                m.revolute(f"{name}B{i}", v[i], h, on_i=arm, on_j=end - c.couplers[0].centre)
        return m


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("later", [0.2, 1e-1, 1e-2, 1e-3, 1e-5, 1e-7, 1e-9, 0.0])
def test_two_loops_flat_shortly_one_after_the_other(later, even):
    two = TwoOnACart(later, even)
    m, t, flats = two.build(), np.linspace(0.0, 1.5, 16), two.flats()
    exact, start = two.sol(t), {f"{n}v0.omega": c.speed for n, c in zip("ab", two.chains, strict=True)}
    for tolerance in (1e-6, 1e-10):
        result = m.simulate(t, velocities=start | {"cart.vx": 0.0}, tolerance=tolerance)
        off = 100 * tolerance + ROUNDING
        for name, y in zip(("cart.x", "av0.angle", "bv0.angle"), exact, strict=False):
            assert np.abs(result.array(name) - y).max() < off, (name, tolerance)
        for name in "ab":
            assert np.abs(result.array(f"{name}v0.angle") - result.array(f"{name}v1.angle")).max() < 1e-8
        # what is told is one of them
        told, close = passages(result), INSTANT + 10 * off
        assert len(told) > 0
        assert all(np.abs(flats - t).min() < close for t in told), (tolerance, told, flats)


# --- with switches, drivers, in company, and continued ----------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::kempe.errors.AccuracyWarning")  # a run that starts afresh there says so
@pytest.mark.parametrize("beside", [1e-1, 1e-2, 1e-4, 1e-6, 1e-9, 0.0, -1e-9, -1e-6, -1e-4, -1e-2, -1e-1])
def test_a_stop_next_to_the_flat_position(beside):
    """A spring that begins to act before, at or behind it, on one crank of two, and turns the motion round."""
    c = plain_chain(1, "bodies", True, line=0.0)
    stiffness, limit = 400.0, np.pi + beside
    m = c.build()
    m.bump_stop("stop", m["v0"].angle, limit, stiffness, side="above")
    times = np.linspace(0.0, 1.2, 13)
    y, t, found, instants, pressed = np.array([c.angle, c.speed]), 0.0, [], [], False
    while t < times[-1]:  # from switch to switch

        def rates(_, y, k=stiffness * pressed):
            return [y[1], c.pull(y[0]) - k * (y[0] - limit) / c.A]

        def switch(_, y):
            return y[0] - limit

        switch.terminal, switch.direction = True, -1.0 if pressed else 1.0
        part = solve_ivp(
            rates, (t, 1.2), y, "DOP853", rtol=1e-13, atol=1e-14, events=switch, dense_output=True, max_step=0.01
        )
        found.append((t, part.t[-1], part.sol))
        if part.status == 0:
            break
        t, y, pressed = part.t[-1], part.y[:, -1], not pressed
        instants.append(t)
    exact = np.array([next(sol(s) for a, b, sol in found if a <= s <= b) for s in times])
    assert len(instants) >= 2  # pressed, and free again
    height = np.sin(np.concatenate([sol(np.linspace(a, b, 2000))[0] for a, b, sol in found]))
    for tolerance in (1e-6, 1e-10):
        result = m.simulate(times, velocities=c.velocities, tolerance=tolerance)
        off = 100 * tolerance + ROUNDING
        assert np.abs(result.array("v0.angle") - exact[:, 0]).max() < off
        assert c.apart(result) < 1e-8
        switches = np.array([e.t for e in result.events if e.kind == "switch"])
        assert len(switches) == len(instants) and np.abs(switches - instants).max() < 10 * off
        assert len(passages(result)) <= np.count_nonzero(height[:-1] * height[1:] < 0)


@pytest.mark.filterwarnings("ignore::kempe.errors.AccuracyWarning")  # a run that starts afresh there says so
@pytest.mark.parametrize(
    ("method", "beside"),
    [(m, b) for m in ("auto", "ali3p") for b in (1e-1, 1e-3, 1e-6, 1e-9, 0.0, -1e-9, -1e-6, -1e-3, -1e-1)]
    + [("radau", b) for b in (1e-1, 1e-3, -1e-3, -1e-1)],  # nearer, radau cannot start afresh behind the switch
)
def test_an_event_within_a_crossing_is_found_at_its_instant(beside, method):
    """And where the run stops there, nothing that comes later is told."""
    c = plain_chain(2, "bodies", False, line=0.0)
    tolerance = {"auto": 1e-10, "radau": 1e-8, "ali3p": 1e-6}[method]
    sol = c.solve(3.0)
    instant = brentq(lambda t: sol(t)[0] - np.pi - beside, 0.0, c.flats[0] + 0.3)
    off = OFF[method] * tolerance * c.exact([instant])[3] + 1e-9
    for stop in (False, True):
        m = c.build()
        m.event("there", m["v0"].angle, np.pi + beside, direction="rising", stop=stop)
        result = m.simulate(c.end, velocities=c.velocities, method=method, tolerance=tolerance)
        there = next(e for e in result.events if e.kind == "switch")
        assert abs(there.t - instant) < off
        told = passages(result)
        if stop:
            assert result.status == "stopped" and (told <= there.t + off).all()
            if abs(beside) > 1e-4:
                assert len(told) == (beside > 0)
        else:
            assert 0 < len(told) <= len(c.flats)


@pytest.mark.parametrize("kind", ["law", "rheonomic"])
def test_a_driven_chain_passes_flat_positions(kind):
    """The cranks turn as they are told; the driver's work is what the energy needs, its effort A theta'' - g.R'S."""
    c = plain_chain(3, "bodies", False, line=0.0)
    m, rate, wave = c.build(), 5.0, 0.0 if kind == "law" else 0.3
    m.driver("motor", m["v0"].angle, lambda t: c.angle + rate * t + wave * kp.sin(3 * t))
    for tolerance in (1e-6, 1e-10):
        result = m.simulate(2.0, steps=400, tolerance=tolerance)
        t = result.t
        theta, alpha = c.angle + rate * t + wave * np.sin(3 * t), -9 * wave * np.sin(3 * t)
        off = 10 * tolerance + ROUNDING
        assert np.abs(c.places(result) - c.tips(theta)).max() < off and c.apart(result) < 1e-8
        effort = c.A * (alpha - c.pull(theta))
        assert np.abs(result.array("motor.effort") - effort).max() < (1e3 * tolerance + 1e-5) * np.abs(effort).max()
        assert (
            np.abs(result.array("energy.balance")).max()
            < (1e3 * tolerance + 3e-7) * result.array("energy.kinetic").max()
        )
        line = brentq(lambda s: c.angle + rate * s + wave * np.sin(3 * s) - np.pi, 0.0, 1.0)
        assert len(passages(result)) == np.count_nonzero(np.diff(np.floor(theta / np.pi)))
        assert abs(passages(result)[0] - line) * rate < INSTANT + 10 * off


@pytest.mark.parametrize("method", kp.METHODS)
def test_many_runs_through_passages_are_the_same_runs(method):
    m = kp.Mechanism("cranks with a mass", gravity=(0.0, -9.81))
    mass = m.parameter("mass", 1.0)
    a, b, h = (m.body(n, mass * w, 0.1, at=at, angle=angle) for n, w, at, angle in CRANKS)
    pins = {"O": (m.ground, a, (0, 0)), "A": (a, h, (0, 1)), "B": (b, h, (2, 1)), "C": (m.ground, b, (2, 0))}
    for name, (i, j, at) in pins.items():
        m.revolute(name, i, j, at=at)
    designs, names = {"mass": np.linspace(0.5, 2.0, 5)}, ["a.angle", "b.omega", "h.ax", "lambda.A.x", "energy.balance"]
    options = {"method": method, "tolerance": 1e-6, "velocities": {"a.omega": 7.0}}
    for workers in (1, 2):
        runs = kp.run_many(m, designs, names, np.linspace(0.0, 1.0, 9), workers=workers, **options)
        for k, value in enumerate(designs["mass"]):
            one = m.simulate(np.linspace(0.0, 1.0, 9), parameters={"mass": value}, **options)
            assert len(passages(one)) >= 1
            assert all(np.array_equal(runs[name][k], one.array(name)) for name in names)


CRANKS = [("a", 1.0, (0, 0.5), np.pi / 2), ("b", 1.5, (2, 0.5), np.pi / 2), ("h", 0.7, (1, 1), 0.0)]


@pytest.mark.parametrize("method", kp.METHODS)
def test_a_run_is_continued_through_a_passage(method, tmp_path):
    """Stopped at many places before and behind it; the events of the part before are kept."""
    c = plain_chain(2, "bodies", False, end=0.9)
    options = {"method": method, "tolerance": 1e-5, "velocities": c.velocities}
    whole = c.build().simulate(c.end, **options)
    tries = whole.stats["steps"] + whole.stats["rejected"]
    for budget in np.unique(np.linspace(1, tries - 2, 5).astype(int)):
        machine, record = begun(c.build(), c.end, **options), Record()
        initial = machine.initial()
        if machine.advance(int(budget)) != co.PAUSE:
            continue
        record.collect(machine)
        write_checkpoint(machine, record, initial, tmp_path / "run.npz")
        result = kp.resume(c.build(), tmp_path / "run.npz")
        assert np.array_equal(result.q, whole.q) and np.array_equal(result.a, whole.a), budget
        assert [(e.kind, e.t) for e in result.events] == [(e.kind, e.t) for e in whole.events], budget
        assert result.stats == whole.stats
    assert len(passages(whole)) == len(c.flats)
    kept = pickle.loads(pickle.dumps(whole.events))
    assert [(e.t, e.joints, e.message) for e in kept] == [(e.t, e.joints, e.message) for e in whole.events]
    assert all(np.array_equal(one.q, other.q) for one, other in zip(kept, whole.events, strict=True))


@pytest.mark.parametrize("short", [0.3, 1e-1, 1e-2, 1e-3, -1e-3, -1e-2, -1e-1])
def test_a_motion_may_turn_back_before_or_behind_the_flat_position(short):
    """However near it comes, without passing there is no passage; where it just passes and turns back there are two."""
    c = plain_chain(2, "bodies", False, line=0.0, angle=np.pi / 2, gravity=(0.0, 9.81))
    # theta'^2 / 2 - p sin(theta) + q cos(theta) stays; at the angle pi - short there is no speed left
    c.speed = float(np.sqrt(2 * (c.p * (1.0 - np.sin(short)) + c.q * (0.0 + np.cos(short)))))
    end, c.solved = 2.0, None
    t = np.linspace(0.0, end, 20001)
    sol = c.solve(end)
    height = np.sin(sol(t)[0])
    flats = [brentq(lambda s: np.sin(sol(s)[0]), t[k], t[k + 1]) for k in np.flatnonzero(height[:-1] * height[1:] < 0)]
    speeds = np.array([abs(sol(s)[1]) for s in flats])
    for tolerance in (1e-6, 1e-10):
        result = c.simulate(end, tolerance=tolerance)
        theta, _, _, growth = c.exact(result.t)
        off = OFF["auto"] * tolerance * growth + ROUNDING
        assert np.abs(result.array("v0.angle") - theta).max() < off and c.apart(result) < 1e-8
        told = passages(result)
        assert len(told) == len(flats) or (len(flats) == 2 and len(told) == 1), tolerance
        for t in told:
            assert (np.abs(t - np.array(flats)) * speeds).min() < INSTANT + 10 * off.max()
