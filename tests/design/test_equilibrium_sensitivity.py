"""Derivatives of equilibria: closed forms, differences of equilibria, and what has none."""

from __future__ import annotations

import numpy as np
import pytest
from resting_mechanisms import RESTING, G, Resting, mechanism
from richardson import agree, richardson

import kempe as kp


@pytest.mark.filterwarnings("ignore:.*does not determine the reactions.*:kempe.AccuracyWarning")  # (the smallest)
@pytest.mark.parametrize("name", RESTING)
def test_equilibria_have_the_derivatives_of_differences(name: str) -> None:
    given: Resting = RESTING[name]
    m = given.build()
    rest = m.equilibrium(**given.options)
    names = [*rest.pose.values, *given.quantities]
    sens = m.equilibrium_sensitivity(names, **given.options)
    pose = rest.pose if "hold" not in given.options else None  # (near it, the same equilibrium is found)
    for p in sens.parameters:
        value = m.parameters[p].value

        def run(x: float, p: str = p) -> np.ndarray:
            found = m.equilibrium(start=pose, parameters={p: x}, **given.options)
            result = found.result()
            values = [
                found.holding[n.removeprefix("holding.")]
                if n.startswith("holding.")
                else result.array(n)[0]
                if n in result
                else result.define("it", n).values[0]
                for n in names
            ]
            return np.array([values])

        true, doubt = richardson(run, value, 0.02 * abs(value))
        found = np.array([[sens[n][p] for n in names]])
        agree(found, true, doubt, np.abs(run(value))[0] / abs(value), f"{name} by {p}")


def test_a_weight_on_a_spring_sags_as_it_must() -> None:
    """It hangs at l + m g / k: derivatives -m g / k^2, g / k, 1; its force is the weight."""
    m, k, M, length = mechanism("weight", k=50.0, M=2.0, length=0.4)
    ball = m.body("ball", M, 0.1, at=(0, -0.6))
    m.translational("way", m.ground, ball, axis=(0, 1))
    m.spring("s", m.ground, ball, stiffness=k, length=length)
    sens = m.equilibrium_sensitivity(["ball.y", "s.force"])
    assert sens.gradient("ball.y") == pytest.approx([2 * G / 50**2, -G / 50, -1.0], rel=1e-11)
    assert sens.gradient("s.force") == pytest.approx([0.0, G, 0.0], abs=1e-11)
    assert sens.values["ball.y"] == pytest.approx(-0.4 - 2 * G / 50)


def test_holding_an_arm_takes_a_moment_whose_derivatives_are_known() -> None:
    """A moment m g l cos(turn), held where it is drawn; in a given pose it stays where that is."""
    m, turn, M, l = mechanism("lever", turn=0.3, M=3.0, l=2.0)
    arm = m.body("arm", M, 0.5, at=(l * kp.cos(turn), l * kp.sin(turn)), angle=turn)
    m.revolute("O", m.ground, arm, on_i=(0, 0), on_j=(-l, 0))
    sens = m.equilibrium_sensitivity("holding.arm.angle", hold="arm.angle")
    slopes = [-3 * G * 2 * np.sin(0.3), G * 2 * np.cos(0.3), 3 * G * np.cos(0.3)]
    assert sens.gradient("holding.arm.angle") == pytest.approx(slopes, rel=1e-12)
    drawn = m.assemble(hold=["arm.angle"])
    given = m.equilibrium_sensitivity("holding.arm.angle", hold="arm.angle", start=drawn)
    assert given["holding.arm.angle"]["turn"] == 0.0
    assert given["holding.arm.angle"]["M"] == pytest.approx(slopes[1], rel=1e-12)


def test_an_unstable_equilibrium_has_derivatives_too() -> None:
    m, k, M = mechanism("inverted", k=12.0, M=1.0)
    arm = m.body("arm", M, 0.1, at=(0.05, 1.0), angle=1.5)
    m.revolute("O", m.ground, arm, on_i=(0, 0), on_j=(-1, 0))
    m.torsion_spring("t", m.ground, arm, stiffness=0.5 * k, angle=1.4)
    rest = m.equilibrium(stable=False)
    assert not rest.stable
    sens = m.equilibrium_sensitivity("arm.angle", stable=False)
    angle = rest["arm.angle"]  # k/2 (angle - 1.4) + M g cos(angle) = 0
    stiffness = 6.0 - G * np.sin(angle)
    assert sens["arm.angle"]["k"] == pytest.approx(-0.5 * (angle - 1.4) / stiffness, rel=1e-9)
    assert sens["arm.angle"]["M"] == pytest.approx(-G * np.cos(angle) / stiffness, rel=1e-9)


def test_a_long_chain_has_the_derivatives_of_differences() -> None:
    """More coordinates than full matrices are taken for: a hanging chain of 150 links between two pins."""
    m = kp.Mechanism("chain", gravity=(0, -G))
    gap, M = m.parameter("gap", 1.0), m.parameter("M", 1.0)
    count, length, last = 150, 1.4 / 150, m.ground
    for k in range(count):
        along = (k + 0.5) / count
        link = m.body(f"l{k}", M / count, 1e-4, at=(along, -0.3 * np.sin(np.pi * along)))
        m.revolute(f"J{k}", last, link, on_i=(0 if k == 0 else length / 2, 0), on_j=(-length / 2, 0))
        last = link
    m.revolute("end", last, m.ground, on_i=(length / 2, 0), on_j=(gap, 0))
    sens = m.equilibrium_sensitivity(["l75.y", "J0.force", "l20.angle"])
    pose = m.equilibrium().pose

    def run(x: float) -> np.ndarray:
        rest = m.equilibrium(start=pose, parameters={"gap": x})
        return np.array([rest["l75.y"], rest["J0.force"], rest["l20.angle"]])

    true, doubt = richardson(run, 1.0, 0.01, rounds=4)
    assert sens.gradient("l75.y")[0] == pytest.approx(true[0], rel=1e-7)
    found = np.array([sens[name]["gap"] for name in sens.functionals])
    assert found == pytest.approx(true, abs=1e-6 * np.abs(true).max() + 2 * doubt.max())
    assert sens["J0.force"]["M"] == pytest.approx(sens.values["J0.force"], rel=1e-8)  # all forces grow with all masses
    assert sens["l75.y"]["M"] == pytest.approx(0.0, abs=1e-8)


def test_what_has_no_derivatives_is_told_in_words() -> None:
    m, M = mechanism("wheel", M=1.0)
    wheel = m.body("wheel", M, 0.1)
    m.revolute("O", m.ground, wheel, on_i=(0, 0), on_j=(0, 0))
    with pytest.raises(kp.ModelError, match=r"rests indifferently: nothing decides wheel\.angle"):
        m.equilibrium_sensitivity()

    m, M, mu = mechanism("block", M=1.0, mu=0.5)
    block = m.body("block", M, 0.1)
    m.translational("way", m.ground, block, axis=(1, 0.1), friction=mu)
    with pytest.raises(kp.ModelError, match="'way' is held by friction"):
        m.equilibrium_sensitivity()

    with pytest.raises(kp.ModelError, match=r"did you mean 'a\.angle'"):
        RESTING["hanging_chain"].build().equilibrium_sensitivity("a.angl")
    sens = RESTING["hanging_chain"].build().equilibrium_sensitivity("a.angle", "k")
    with pytest.raises(kp.ModelError, match=r"there is no functional 'b\.angle'"):
        sens.gradient("b.angle")
    assert "a.angle" in str(sens) and "% per %" in str(sens)


def test_redundant_supports_share_a_load_as_the_smallest_forces_do() -> None:
    """A beam on three springless pins is drawn so that they agree; its reactions stay the smallest that balance."""
    m, M, x = mechanism("beam", M=2.0, x=0.3)
    beam = m.body("beam", M, 0.1, at=(x, 0))
    for k, place in enumerate((-1.0, 0.0, 1.0)):
        m.pin_in_slot(f"p{k}", m.ground.on((place, 0)), beam.on((place - x, 0)), axis=(1, 0))
    m.spring("s", m.ground.on((-2, 0)), beam.on((-1 - x, 0)), stiffness=5.0, length=1.0)
    forces = [f"p{k}.force.y" for k in range(3)]
    sens = m.equilibrium_sensitivity(forces)
    weight, arms = 2 * G, np.array([-1.0, 0.0, 1.0])
    # the smallest with sum = weight and moment = weight x: an even share, and one in proportion to the arms
    assert np.array(list(sens.values.values())) == pytest.approx(weight / 3 + weight * 0.3 * arms / 2, rel=1e-9)
    assert [sens[f]["x"] for f in forces] == pytest.approx(weight * arms / 2, abs=1e-8)
    assert [sens[f]["M"] for f in forces] == pytest.approx(G / 3 + G * 0.3 * arms / 2, rel=1e-8)
