"""Many simulations at once are the same simulations, digit for digit, in any company; what fails disturbs nobody."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import kempe as kp

G = 9.81
METHODS = list(kp.METHODS)
TIMES = np.linspace(0.0, 0.4, 6)
#: Few steps are enough: the digits are compared, not the motion.
TOLERANCE = dict.fromkeys(METHODS, 1e-6)


# --- random mechanisms ------------------------------------------------------------------------------------------------


class Drawn:
    """A random mechanism with joints, springs, dampers, stops, now and then a driver and a loop, roughly sketched.

    Its parameters are in lengths, masses and stiffnesses; the sketch fits none of the designs.
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.model = m = kp.Mechanism(f"random {seed}", gravity=(0.0, -G))
        length, mass, stiffness = m.parameter("length", 0.5), m.parameter("mass", 1.0), m.parameter("stiffness", 50.0)
        count = int(rng.integers(2, 5))
        noise = rng.uniform(0.0, 0.1)
        bodies: list[Any] = []
        tips: list[np.ndarray] = []
        for k in range(count):
            parent = int(rng.integers(k)) if k and rng.uniform() < 0.3 else k - 1
            base = tips[parent] if parent >= 0 else np.zeros(2)
            angle = rng.uniform(-1.2, 1.2)
            way = np.array([np.cos(angle), np.sin(angle)])
            tips.append(base + way)
            share = rng.uniform(0.6, 1.4)
            body = m.body(
                f"b{k}",
                mass * share,
                mass * share * length**2 / 3 * rng.uniform(0.5, 1.0),
                at=base + way / 2 + rng.normal(0.0, noise, 2),
                angle=angle + rng.normal(0.0, noise),
            )
            held = {"on_i": (0.0, 0.0)} if parent < 0 else {"on_i": (length, 0.0)}
            m.revolute(f"J{k}", m.ground if parent < 0 else bodies[parent], body, on_j=(-length, 0.0), **held)
            bodies.append(body)
        rigid = rng.uniform() < 0.3 and count > 2
        if rigid:  # a loop: the last tip on a bar from the ground, longer than the design's changes
            anchor = tips[-1] + rng.uniform(-0.5, 0.5, 2) + np.array([0.0, -1.2])
            m.link("loop", m.ground.on(anchor), bodies[-1].on((length, 0.0)), length=1.2 + 0.2 * length)
        slider = rng.uniform() < 0.4
        if slider:
            box = m.body("box", mass * 2.0, 0.1, at=1.0 + rng.normal(0.0, noise, 2), angle=rng.normal(0.0, noise))
            m.translational("rail", m.ground, box, axis=(1.0, 0.2), at=(1.0, 1.0))
            m.spring("tie", box, bodies[-1], on_j=(length / 2, 0.0), stiffness=stiffness, length=0.3, damping=2.0)
            m.bump_stop("buffer", box.x, rng.uniform(0.9, 1.1), stiffness=30 * stiffness, side=str(rng.choice(SIDES)))
        for k in range(int(rng.integers(1, 3))):
            one = int(rng.integers(count))
            m.spring(
                f"S{k}",
                m.ground,
                bodies[one],
                on_i=rng.uniform(-1.0, 2.0, 2),
                on_j=(length * rng.uniform(0.2, 1.0), 0.1),
                stiffness=stiffness * rng.uniform(0.5, 2.0),
                damping=rng.uniform(0.0, 2.0) if rng.uniform() < 0.7 else 0.0,
                length=0.5 * length,
            )
        damped: dict[str, Any] = {"damping": 0.1 * stiffness} if rng.uniform() < 0.5 else {}
        m.bump_stop("angle", bodies[0].angle, rng.uniform(-1.0, 0.5), 20 * stiffness, **damped)
        if rng.uniform() < 0.5:
            m.bump_stop("floor", bodies[-1].y, rng.uniform(-0.5, 0.5), 40 * stiffness)
        if rng.uniform() < 0.3 and not rigid:
            m.driver("motor", bodies[0].angle, kp.constant_speed(rng.uniform(-2.0, 2.0)))
        elif rng.uniform() < 0.3:
            m.torsion_spring("clock", m.ground, bodies[0], stiffness=stiffness / 5, damping=0.1)
        self.velocities = {f"b{k}.omega": float(rng.uniform(-2.0, 2.0)) for k in range(1, count)}
        if rng.uniform() < 0.3:
            self.velocities = {}
        designs = 4
        self.designs = {
            "length": rng.uniform(0.4, 0.6, designs),
            "mass": rng.uniform(0.5, 2.0, designs),
            "stiffness": 10 ** rng.uniform(1.0, 3.0, designs),
        }
        self.quantities = ["b0.angle", "b1.x", "b1.vy", "b0.omega", "b1.alpha", "lambda.J1.x", "energy.kinetic"]
        self.quantities += ["energy.elastic", "energy.dissipated", "energy.supplied", "energy.balance"]


SIDES = ("above", "below")


def row(designs: dict[str, Any], k: int) -> dict[str, float]:
    return {name: float(values[k]) for name, values in designs.items()}


def differences(runs: kp.Runs, model: Any, designs: dict[str, Any], quantities: list[str], **options: Any) -> list[str]:
    """In what the runs differ from simulations one by one."""
    wrong = []
    for k in range(len(runs)):
        try:
            one = model.simulate(TIMES, parameters=row(designs, k), **options)
        except kp.KempeError as error:
            if runs.ok[k] or not runs.reasons.get(k):
                wrong.append(f"design {k}: fails alone ({str(error)[:80]}), ok = {runs.ok[k]} among many")
            continue
        if not runs.ok[k] or k in runs.reasons:
            wrong.append(f"design {k}: runs alone, fails among many: {runs.reasons.get(k)}")
            continue
        for name in quantities:
            if not np.array_equal(runs[name][k], one.array(name)):
                off = np.abs(runs[name][k] - one.array(name)).max()
                wrong.append(f"design {k}: '{name}' differs by {off:.1e}")
                break
    return wrong


@pytest.mark.filterwarnings("ignore::kempe.errors.AccuracyWarning")
@pytest.mark.parametrize("seed", range(100))
def test_random_mechanisms(seed):
    """Each by the default, and by one of the other methods: eight of them or more by every one."""
    drawn, found = Drawn(seed), []
    for method in dict.fromkeys(("auto", METHODS[seed % len(METHODS)])):
        options: dict[str, Any] = {"method": method, "tolerance": TOLERANCE[method], "velocities": drawn.velocities}
        runs = kp.run_many(drawn.model, drawn.designs, drawn.quantities, TIMES, **options)
        wrong = differences(runs, drawn.model, drawn.designs, drawn.quantities, **options)
        found += [f"{method}: {what}" for what in wrong]
        assert runs.ok.all() and not runs.reasons  # every one of them can be assembled and runs
    assert not found, "\n".join(found)


# --- a pendulum on a cart between buffers, sketched roughly -----------------------------------------------------------


@cache
def cart() -> kp.Mechanism:
    m = kp.Mechanism("cart", gravity=(0.0, -G))
    length, mass, stiffness = m.parameter("length", 0.5), m.parameter("mass", 1.0), m.parameter("stiffness", 1e3)
    box = m.body("cart", 2.0 * mass, 0.1, at=(0.03, -0.02), angle=0.05)
    rod = m.body("rod", mass, mass * length**2 / 12, at=(0.3, 0.1), angle=0.4)
    m.translational("rail", m.ground, box, axis=(1.0, 0.0), at=(0.0, 0.0))
    m.revolute("pin", box, rod, on_i=(0.0, 0.0), on_j=(-length / 2, 0.0))
    m.spring("spring", m.ground, box, on_i=(-1.0, 0.0), stiffness=0.04 * stiffness, damping=0.5)
    m.bump_stop("right", box.x, 0.05, stiffness, damping=3.0, side="above")
    m.bump_stop("left", box.x, -0.02, stiffness)
    m.bump_stop("swing", rod.angle, -2.0, stiffness)
    return m


QUANTITIES = ["cart.x", "rod.angle", "rod.omega", "cart.ax", "lambda.pin.x", "energy.balance"]
START = {"cart.vx": 0.8, "rod.omega": -1.0}


def table(count: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "length": rng.uniform(0.3, 0.8, count),
        "mass": rng.uniform(0.3, 2.0, count),
        "stiffness": 10 ** rng.uniform(2.0, 5.0, count),
    }


def many(method: str, designs: dict[str, Any], **more: Any) -> kp.Runs:
    options: dict[str, Any] = {"method": method, "tolerance": TOLERANCE[method], "velocities": START, **more}
    return kp.run_many(cart(), designs, QUANTITIES, TIMES, **options)


def same(one: kp.Runs, other: kp.Runs) -> bool:
    """Equal in every digit, and where they stopped."""
    return np.array_equal(one.ok, other.ok) and all(
        np.array_equal(one[name], other[name], equal_nan=True) for name in QUANTITIES
    )


@cache
def hundred(method: str) -> kp.Runs:
    return many(method, table(100))


@pytest.mark.parametrize("method", METHODS)
def test_a_hundred_designs_are_a_hundred_simulations(method):
    runs, designs = hundred(method), table(100)
    assert runs.ok.all() and not runs.reasons
    wrong = differences(runs, cart(), designs, QUANTITIES, method=method, tolerance=TOLERANCE[method], velocities=START)
    assert not wrong, f"{len(wrong)} of 100: " + "; ".join(wrong[:5])


@pytest.mark.parametrize("method", METHODS)
def test_any_order(method):
    order = np.random.default_rng(1).permutation(100)
    shuffled = many(method, {name: values[order] for name, values in table(100).items()})
    assert np.array_equal(shuffled.ok, hundred(method).ok[order])
    for name in QUANTITIES:
        assert np.array_equal(shuffled[name], hundred(method)[name][order])


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_any_number_of_workers(method, workers):
    assert same(many(method, table(100), workers=workers), hundred(method))


@pytest.mark.parametrize("method", METHODS)
def test_one_design_or_some_or_a_hundred(method):
    whole = hundred(method)
    for first, last in ((0, 1), (41, 42), (99, 100), (7, 20)):
        some = many(method, {name: values[first:last] for name, values in table(100).items()})
        for name in QUANTITIES:
            assert np.array_equal(some[name], whole[name][first:last])
    listed = many(method, [row(table(100), k) for k in range(3)])
    for name in QUANTITIES:
        assert np.array_equal(listed[name], whole[name][:3])


@pytest.mark.parametrize("method", ["auto", "radau", "alpha"])
def test_again_is_the_same(method):
    """Nothing is left behind by a run, neither by one of many nor by one alone."""
    before = cart().simulate(TIMES, method=method, velocities=START).q
    first = many(method, table(30, seed=5))
    again = many(method, table(30, seed=5))
    assert same(first, again)
    assert np.array_equal(before, cart().simulate(TIMES, method=method, velocities=START).q)


@pytest.mark.parametrize("method", METHODS)
def test_the_values_of_the_model_do_not_matter(method):
    """The designs say what the parameters are; what the model has for them is another design."""
    other = cart.__wrapped__()
    other.set({"length": 0.77, "mass": 0.4, "stiffness": 3e4})
    designs = table(6, seed=2)
    options: dict[str, Any] = {"method": method, "tolerance": TOLERANCE[method], "velocities": START}
    runs = kp.run_many(other, designs, QUANTITIES, TIMES, **options)
    assert same(runs, many(method, designs))


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8, 1e-11])
@pytest.mark.parametrize("method", ["auto", "projection", "radau", "bdf"])
def test_every_tolerance(method, tolerance):
    designs = table(6, seed=3)
    options: dict[str, Any] = {"method": method, "tolerance": tolerance, "velocities": START}
    wrong = differences(
        kp.run_many(cart(), designs, QUANTITIES, TIMES, **options), cart(), designs, QUANTITIES, **options
    )
    assert not wrong, "; ".join(wrong)


# --- what fails -------------------------------------------------------------------------------------------------------


@cache
def four_bar() -> kp.Mechanism:
    """Cannot be closed where the coupler is too long or too short; one mass is what is left of another."""
    m = kp.Mechanism("four-bar", gravity=(0.0, -G))
    coupler, taken = m.parameter("coupler", 2.0), m.parameter("taken", 0.5)
    crank = m.body("crank", 1.0, 0.1, at=(0.3, 0.4), angle=1.0)
    rod = m.body("rod", 1.5 - taken, 0.3, at=(1.5, 1.2), angle=0.2)
    rocker = m.body("rocker", 1.0, 0.4, at=(2.2, 0.8), angle=1.4)
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-0.5, 0))
    m.revolute("A", crank, rod, on_i=(0.5, 0), on_j=(-coupler / 2, 0))
    m.revolute("B", rod, rocker, on_i=(coupler / 2, 0), on_j=(0.75, 0))
    m.revolute("C", m.ground, rocker, on_i=(2, 0), on_j=(-0.75, 0))
    m.bump_stop("stop", crank.angle, 0.6, 5e3)
    return m


@pytest.mark.parametrize("method", METHODS)
def test_failing_designs_are_told_and_disturb_nobody(method):
    """Good designs between some that cannot be assembled (a coupler of 9 m) and some with a mass below zero."""
    rng = np.random.default_rng(4)
    good = {"coupler": rng.uniform(1.8, 2.2, 20), "taken": rng.uniform(0.0, 1.0, 20)}
    mixed = {name: np.insert(values, [0, 3, 3, 11, 20], 0.0) for name, values in good.items()}
    bad = np.flatnonzero(mixed["coupler"] == 0.0)
    mixed["coupler"][bad], mixed["taken"][bad] = [9.0, 2.0, 9.5, 2.0, 12.0], [0.5, 2.0, 0.5, 1.5 + 1e-9, 3.0]
    options: dict[str, Any] = {"method": method, "tolerance": TOLERANCE[method]}
    names = ["crank.angle", "rod.vx", "lambda.B.y"]
    alone = kp.run_many(four_bar(), good, names, TIMES, **options)
    among = kp.run_many(four_bar(), mixed, names, TIMES, **options)
    assert alone.ok.all() and not alone.reasons
    assert sorted(among.reasons) == sorted(bad) == sorted(np.flatnonzero(~among.ok))
    rest = np.setdiff1d(np.arange(25), bad)
    for name in names:
        assert np.array_equal(among[name][rest], alone[name])
        assert np.isnan(among[name][bad]).all()
    for k in bad:
        says = among.reasons[int(k)]
        assert "rod" in says if mixed["taken"][k] > 1.4 else "assemble" in says, says
    assert not differences(among, four_bar(), mixed, names, **options)


@pytest.mark.parametrize("method", ["auto", "radau", "bdf", "alpha", "independent"])
def test_a_table_of_failures_only(method):
    """Not even the first has to be possible, nor what the model itself has for its parameters."""
    m = four_bar.__wrapped__()
    m.set({"coupler": 9.0})
    runs = kp.run_many(m, {"coupler": [9.0, 10.0]}, ["crank.angle"], TIMES, method=method)
    assert not runs.ok.any() and sorted(runs.reasons) == [0, 1] and np.isnan(runs["crank.angle"]).all()
    runs = kp.run_many(m, {"coupler": [9.0, 2.0]}, ["crank.angle"], TIMES, method=method)
    assert runs.ok.tolist() == [False, True] and list(runs.reasons) == [0]
    one = four_bar().simulate(TIMES, parameters={"coupler": 2.0}, method=method)
    assert np.array_equal(runs["crank.angle"][1], one.array("crank.angle"))


@pytest.mark.parametrize("method", METHODS)
def test_an_event_that_stops_some(method):
    """Up to the output points they reached, they are what simulate says; behind those there is nothing."""
    m = kp.Mechanism("stone", gravity=(0.0, -G))
    height = m.parameter("height", 0.5)
    body = m.body("stone", 1.0, 0.1, at=(0.0, height))
    m.event("landing", body.y, direction="falling", stop=True)
    heights = [0.1, 3.0, 0.5, 0.2]
    options: dict[str, Any] = {"method": method, "tolerance": TOLERANCE[method], "velocities": {"stone.vx": 1.0}}
    runs = kp.run_many(m, {"height": heights}, ["stone.y", "stone.x"], TIMES, **options)
    assert runs.ok.all()
    for k, start in enumerate(heights):
        one = m.simulate(TIMES, parameters={"height": start}, **options)
        reached = np.sqrt(2 * start / G) > TIMES
        for name in ("stone.y", "stone.x"):
            assert np.array_equal(runs[name][k][reached], one.array(name)[: reached.sum()])
            assert np.isnan(runs[name][k][~reached]).all()


def test_ctrl_c_keeps_what_exists():
    m = kp.Mechanism("pendulum", gravity=(0, -9.81))
    length = m.parameter("length", 0.5)
    body = m.body("b", 1.0, 0.1, at=(length, 0))
    m.revolute("O", m.ground, body, on_i=(0, 0), on_j=(-length, 0))

    def interrupt(done: int, of: int) -> None:
        assert 0 < done <= of == 200
        raise KeyboardInterrupt

    designs = {"length": np.linspace(0.3, 0.8, 200)}
    runs = kp.run_many(m, designs, ["b.angle", "O.force", "energy.balance"], 20.0, workers=1, progress=interrupt)
    assert 0 < runs.ok.sum() < 200
    assert all(runs.reasons[int(k)] == "not run" for k in np.flatnonzero(~runs.ok))
    first = int(np.flatnonzero(runs.ok)[0])
    alone = m.simulate(20.0, parameters={"length": designs["length"][first]})
    for name in ("b.angle", "O.force", "energy.balance"):
        assert np.array_equal(runs[name][first], alone.array(name))


def test_designs_say_what_they_found_about_their_accuracy():
    """The same as a run by itself does; a step that is too long for some of them is told by number."""
    m = kp.Mechanism("swing", gravity=(0, -9.81))
    k = m.parameter("k", 10.0)
    arm = m.body("arm", 1.0, 0.1, at=(0.5, 0))
    m.revolute("O", m.ground, arm, at=(0, 0))
    m.torsion_spring("twist", m.ground, arm, stiffness=k)
    options = {"method": "alpha", "step": 0.02}
    with pytest.warns(kp.AccuracyWarning, match=r"1 of 2 designs ran less accurately .* number 1: the energy"):
        runs = kp.run_many(m, {"k": [1.0, 2000.0]}, "all", 3.0, **options)
    assert runs.ok.all() and list(runs.findings) == [1]
    with pytest.warns(kp.AccuracyWarning) as told:
        m.simulate(3.0, parameters={"k": 2000.0}, **options)
    assert [str(w.message) for w in told] == runs.findings[1] == runs.result(1).stats["audit"]
