"""What is called determined does not change with the stiffnesses, and what is not does: brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from elastic import GRAVITY, random_hung

import kempe as kp


def bars(seed: int, stiffness: np.ndarray | None) -> kp.Mechanism:
    """A frame of random points, every two of them joined by a bar or not, some bars too many, and an arm on it."""
    rng = np.random.default_rng(seed)
    m = kp.Mechanism(f"frame {seed}", gravity=(0.0, -GRAVITY))
    count = int(rng.integers(4, 7))
    at = rng.uniform(-1.0, 1.0, (count, 2)) + np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0, 6, count)])
    points = [
        m.point(f"P{k}", at=p, fixed="xy" if k < 2 else "", mass=1.0 if k > 1 else None) for k, p in enumerate(at)
    ]
    pairs = [(i, j) for j in range(2, count) for i in range(j)]
    stays = rng.uniform(size=len(pairs)) < 0.75
    for number, ((i, j), stay) in enumerate(zip(pairs, stays, strict=True)):
        if stay:
            more = {} if stiffness is None else {"stiffness": float(stiffness[number])}
            m.link(f"{i}-{j}", points[i], points[j], **more)
    arm = m.body("arm", 0.3, 0.05, at=at[-1] + np.array([0.2, 0.1]))
    m.revolute("pin", points[-1], arm, on_i=(0.0, 0.0))
    m.spring("spring", m.ground, arm, on_i=(2.0, 2.0), stiffness=20.0, length=0.5)
    return m


def reactions(m: kp.Mechanism) -> dict[str, np.ndarray]:
    """Force and moment of every joint at the start of a motion."""
    found = m.simulate([0.0, 1e-3])
    return {
        name: np.array([*(r := found.reaction(name)).force[0], r.moment[0]])
        for name, element in m.elements.items()
        if element.rows
    }


@pytest.mark.parametrize("seed", range(30))
def test_what_other_stiffnesses_change_is_undetermined_and_nothing_else(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    said = bars(seed, None).redundancy()
    assert bars(seed, None).mobility().redundant != [] or not said.undetermined
    found = [reactions(bars(seed, 10.0 ** rng.uniform(5, 7, 40))) for _ in range(3)]
    size = max(np.abs(values).max() for values in found[0].values())
    changed: dict[str, set[str]] = {}
    for name in found[0]:
        spread = np.ptp([one[name] for one in found], axis=0)
        open_ = {c for c, s in zip(("force.x", "force.y", "moment"), spread, strict=True) if s > 1e-5 * size}
        if open_:
            changed[name] = open_
    assert {name: set(components) for name, components in said.undetermined.items()} == changed
    assert set(said.unique) | set(said.undetermined) == set(found[0])


def test_a_slider_that_is_guided_twice() -> None:
    """A slider that is guided twice along the same line: forces and moments are open, and stiffnesses tell some."""
    m = kp.Mechanism("press", gravity=(0.0, -GRAVITY))
    ram = m.body("ram", 2.0, 0.1, at=(0.0, 0.0))
    m.translational("left", m.ground, ram, at=(0.0, -0.1), on_j=(0.0, -0.1), axis=(0, 1), stiffness=1e8)
    m.translational("right", m.ground, ram, at=(0.0, 0.3), on_j=(0.0, 0.3), axis=(0, 1), stiffness=1e8)
    m.spring("spring", m.ground, ram, on_i=(1.0, 1.0), on_j=(0.0, 0.3), stiffness=100.0)
    said = m.redundancy()
    assert said.degree == 2 and said.unique == []
    assert said.undetermined == {"left": ["force.x", "moment"], "right": ["force.x", "moment"]}
    # the guides give sideways, and rigid in turning they share the moment as nothing tells
    assert set(said.left) == {"left", "right"} and all(what == ["moment"] for what in said.left.values())
    found = m.simulate([0.0, 0.1])
    with pytest.warns(kp.AccuracyWarning):
        assert np.isfinite(found["left.moment"]).all()


def test_sums_of_what_is_open_are_determined() -> None:
    rng = np.random.default_rng(3)
    for seed in range(20, 30):
        hung = random_hung(np.random.default_rng(seed))
        stiffer = type(hung)(hung.places, 10.0 ** rng.uniform(5, 8, len(hung.places)), hung.drop, angle=hung.angle)
        totals = []
        for one in (hung, stiffer):
            found = one.mechanism().simulate([0.0, 0.1])
            pulled = [found.array(f"lambda.rod {k}.length") for k in range(len(hung.places))]
            totals.append([sum(pulled), sum(p * x for p, x in zip(pulled, hung.places, strict=True))])
        assert np.allclose(totals[0], totals[1], rtol=1e-7, atol=1e-5)


def test_drivers_hold_as_joints_do() -> None:
    """Two motors on one crank share its effort; one of them alone has it all."""
    m = kp.Mechanism("two motors", gravity=(0.0, -GRAVITY))
    crank = m.body("crank", 1.0, 0.1, at=(0.5, 0.0))
    m.revolute("O", m.ground, crank, at=(0.0, 0.0))
    m.driver("left", crank.angle, lambda t: 2.0 * t)
    assert m.redundancy().unique == ["O", "left"]
    m.driver("right", crank.angle, lambda t: 2.0 * t)
    said = m.redundancy()
    assert said.undetermined == {"left": ["effort"], "right": ["effort"]} and said.unique == ["O"]
    found = m.simulate([0.0, 0.1])
    assert found.stats["redundant constraints"] == ["right.motion"]
    with pytest.warns(kp.AccuracyWarning, match="'left', 'right'"):
        efforts = found["left.effort"], found["right.effort"]
    assert np.allclose(*efforts, rtol=1e-6)


SIZES: dict[str, Any] = {"mass": 1.0, "inertia": 0.1}


def test_mobility_and_simulate_name_the_same_rows_with_drivers_too() -> None:
    m = kp.Mechanism("cranks")
    coupler = m.body("coupler", at=(1.0, 1.0), **SIZES)
    for k, x in enumerate((0.0, 1.0, 2.0)):
        crank = m.body(f"crank {k}", at=(x, 0.5), angle=np.pi / 2, **SIZES)
        m.revolute(f"O{k}", m.ground, crank, at=(x, 0.0))
        m.revolute(f"A{k}", crank, coupler, at=(x, 1.0))
    named = [d.row for d in m.mobility().redundant if d.permanent]
    assert m.simulate(0.1, velocities={"crank 0.omega": 1.0}).stats["redundant constraints"] == named
    m.driver("motor", m["crank 0"].angle, lambda t: np.pi / 2 + t)
    assert [d.row for d in m.mobility().redundant if d.permanent] == named
    assert m.simulate(0.1).stats["redundant constraints"] == named


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stiffness": -1.0}, "above zero"),
        ({"stiffness": {"lenght": 1e7}}, "length"),
        ({"stiffness": {"E": 2e11}}, "A="),
        ({"stiffness": "stiff"}, "must be a number"),
    ],
)
def test_bad_stiffnesses_are_refused_by_name(given: dict[str, Any], words: str) -> None:
    m = kp.Mechanism("one rod")
    body = m.body("body", at=(0.0, -1.0), **SIZES)
    with pytest.raises(kp.ModelError, match=words):
        m.link("rod", m.ground, body, on_i=(0.0, 0.0), **given)


def test_bad_penalties_and_reactions_are_refused_by_name() -> None:
    m = random_hung(np.random.default_rng(1)).mechanism(stiff=False)
    with pytest.raises(kp.ModelError, match="rod 1"):
        m.simulate(0.1, method="ali3p", penalty={"rod1": 1e7})
    with pytest.raises(kp.ModelError, match="above 0"):
        m.simulate(0.1, method="ali3p", penalty={"rod 1": 0.0})
    with pytest.raises(kp.ModelError, match="minimum norm"):
        m.simulate(0.1, reactions="smallest")
    with pytest.raises(kp.ModelError, match="stiffness="):
        m.simulate(0.1, reactions="elastic")


def test_stiffnesses_are_saved_and_are_parameters(tmp_path: Any) -> None:
    m = kp.Mechanism("plate", gravity=(0.0, -GRAVITY))
    A = m.parameter("area", 1e-4)
    plate = m.body("plate", 20.0, 2.0, at=(0.2, -1.0))
    m.link("a", m.ground, plate, on_i=(-0.5, 0.0), on_j=(-0.7, 0.0), stiffness=kp.Member(E=2.1e11, A=A))
    m.link("b", m.ground, plate, on_i=(0.0, 0.0), on_j=(-0.2, 0.0), stiffness=kp.rod(2.1e11, 1e-4, 1.0))
    m.link("c", m.ground, plate, on_i=(0.5, 0.0), on_j=(0.3, 0.0), stiffness={"length": 2.1e7 * (A / 1e-4) ** 2})
    path = m.save(tmp_path / "plate.kempe.yaml")
    again = kp.load(path)
    for area in (1e-4, 3e-4):
        one, other = (x.simulate([0.0, 0.2], parameters={"area": area}) for x in (m, again))
        for name in "abc":
            assert np.array_equal(one.array(f"lambda.{name}.length"), other.array(f"lambda.{name}.length"))
    few, many = (m.simulate([0.0, 0.2], parameters={"area": area})["b.force"][0] for area in (1e-4, 1.0))
    assert many < 1e-3 * few


def test_many_runs_say_it_once_and_give_the_digits_of_one() -> None:
    m = kp.Mechanism("plate", gravity=(0.0, -GRAVITY))
    mass = m.parameter("mass", 20.0)
    plate = m.body("plate", mass, 2.0, at=(0.2, -1.0))
    for name, x in zip("abc", (-0.5, 0.0, 0.5), strict=True):
        m.link(name, m.ground, plate, on_i=(x, 0.0), on_j=(x - 0.2, 0.0))
    designs = {"mass": [10.0, 20.0, 40.0]}
    with pytest.warns(kp.AccuracyWarning, match="3 of 3 designs .*'a', 'b', 'c'"):
        runs = kp.run_many(m, designs, ["b.force", "plate.x"], 0.2, steps=4)
    one = m.simulate(0.2, steps=4, parameters={"mass": 40.0})
    with pytest.warns(kp.AccuracyWarning):
        assert np.array_equal(runs["b.force"][2], one["b.force"].values)
    kp.run_many(m, designs, "all", 0.2, steps=4)  # nobody asked for a reaction
    kp.run_many(m, designs, ["plate.x"], 0.2, steps=4, reactions="minimum norm")
