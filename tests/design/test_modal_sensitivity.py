"""Derivatives of natural frequencies and damping: closed forms, differences, and eigenvalues that are equal."""

from __future__ import annotations

import numpy as np
import pytest
from resting_mechanisms import RESTING, G, chain_of_masses, mechanism, repeated
from richardson import agree, richardson

import kempe as kp


@pytest.mark.parametrize("name", [name for name, given in RESTING.items() if given.modes])
def test_frequencies_and_damping_have_the_derivatives_of_differences(name: str) -> None:
    """Through the equilibrium that they are about, which moves with the parameters."""
    given = RESTING[name]
    m = given.build()
    rest = m.equilibrium(**given.options)
    shapes = m.modes(rest)
    ends = ("frequency", "hertz", "damping", "real", "imaginary")
    names = [f"mode{k}.{end}" for k in range(len(shapes)) for end in ends]
    sens = m.modal_sensitivity(names, about=rest)
    for p in sens.parameters:
        value = m.parameters[p].value

        def run(x: float, p: str = p) -> np.ndarray:
            found = m.modes(m.equilibrium(start=rest.pose, parameters={p: x}, **given.options))
            s = found.eigenvalues[:, 0]
            values = [found.frequencies, found.hertz, found.damping, s.real, np.abs(s.imag)]
            return np.array(values).T.reshape(1, -1)

        true, doubt = richardson(run, value, 0.02 * abs(value))
        found = np.array([[sens[n][p] for n in names]])
        agree(found, true, doubt, np.abs(run(value))[0] / abs(value), f"{name} by {p}")


@pytest.mark.parametrize("count", [1, 3, 8])
def test_a_chain_of_masses_has_the_derivatives_of_its_formula(count: int) -> None:
    """omega_j = 2 sqrt(k/M) sin(j pi / 2 (n + 1)), damping c omega_j / 2 k: derivatives by powers."""
    m = chain_of_masses(count)
    omega = 2 * np.sqrt(50.0) * np.sin(np.arange(1, count + 1) * np.pi / (2 * (count + 1)))
    sens = m.modal_sensitivity()
    for j in range(count):
        slopes = omega[j] * np.array([1 / 200, -1 / 4, 0.0])
        assert sens.gradient(f"mode{j}.frequency") == pytest.approx(slopes, rel=1e-9, abs=1e-12)
        ratio = 0.3 * omega[j] / 200
        expected = ratio * np.array([-1 / 200, -1 / 4, 1 / 0.3])
        assert sens.values[f"mode{j}.damping"] == pytest.approx(ratio, rel=1e-9)
        assert sens.gradient(f"mode{j}.damping") == pytest.approx(expected, rel=1e-8)


def test_damping_may_begin_at_zero() -> None:
    m = chain_of_masses(3)
    sens = m.modal_sensitivity("mode1.damping", "c", parameters={"c": 0.0})
    omega = 2 * np.sqrt(50.0) * np.sin(np.pi / 4)
    assert sens.values["mode1.damping"] == 0.0
    assert sens["mode1.damping"]["c"] == pytest.approx(omega / 200, rel=1e-10)


def test_a_pendulum_slows_with_its_length() -> None:
    """omega^2 = m g L / (I + m L^2); the mass of the rod's length moves its equilibrium not at all."""
    m, L, M = mechanism("pendulum", L=0.5, M=2.0)
    bob = m.body("bob", M, 0.1, at=(0.1, -L), angle=-1.4)
    m.revolute("O", m.ground, bob, on_i=(0, 0), on_j=(-L, 0))
    sens = m.modal_sensitivity("mode0.frequency")
    J = 0.1 + 2 * 0.25
    omega = np.sqrt(2 * G * 0.5 / J)
    by_length = (2 * G / J - 2 * G * 0.5 * 2 * 2 * 0.5 / J**2) / (2 * omega)
    by_mass = (G * 0.5 / J - 2 * G * 0.5 * 0.25 / J**2) / (2 * omega)
    assert sens.gradient("mode0.frequency") == pytest.approx([by_length, by_mass], rel=1e-10)


def test_the_frequency_of_a_sliding_equilibrium_counts_how_it_slides() -> None:
    """A hardening spring: omega^2 = (k1 + 3 k3 x^2) / M about x with k1 x + k3 x^3 = F."""
    m = kp.Equations(
        "duffing",
        {"x": 0.5},
        mass=lambda q, p: [[p.M]],
        force=lambda q, v, t, p: [p.F - p.k1 * q.x - p.k3 * q.x**3],
        parameters={"M": 2.0, "k1": 3.0, "k3": 5.0, "F": 4.0},
    )
    sens = m.modal_sensitivity("mode0.frequency")
    x = float(np.roots([5.0, 0.0, 3.0, -4.0])[-1].real)
    stiffness = 3 + 15 * x**2
    omega, slide = np.sqrt(stiffness / 2), np.array([0.0, -x, -(x**3), 1.0]) / stiffness
    squared = np.array([-stiffness / 4, 0.5, 1.5 * x**2, 0.0]) + 15 * x * slide
    assert sens.gradient("mode0.frequency") == pytest.approx(squared / (2 * omega), rel=1e-10)


@pytest.mark.parametrize("stiff", [1e2, 1e5, 1e8])
def test_a_soft_mode_beside_a_very_stiff_one(stiff: float) -> None:
    """Two masses on a soft spring, tied by a stiff one: 2 x^2 - (2 k + 3 K) x + k K = 0 for x = omega^2."""
    m = kp.Mechanism("tied masses")
    k, K = m.parameter("k", 3.0), m.parameter("K", stiff)
    one, two = m.body("one", 1.0, 1.0, at=(1, 0)), m.body("two", 2.0, 1.0, at=(2, 0))
    for name, body in (("first", one), ("second", two)):
        m.translational(name, m.ground, body, axis=(1, 0))
    m.spring("soft", m.ground.on((0, 0)), one, stiffness=k, length=1.0)
    m.spring("tie", one, two, stiffness=K, length=1.0)
    sens = m.modal_sensitivity("mode0.frequency")
    b = 6.0 + 3 * stiff
    x = 6.0 * stiff / (b + np.sqrt(b * b - 24.0 * stiff))
    slope = np.array([2 * x - stiff, 3 * x - 3.0]) / (4 * x - b)  # by k and K
    assert sens.gradient("mode0.frequency") == pytest.approx(slope / (2 * np.sqrt(x)), rel=1e-15 * stiff + 1e-10)


def test_expressions_of_frequencies_and_parameters() -> None:
    m = chain_of_masses(2)
    sens = m.modal_sensitivity(
        {"off": "(mode1.hertz - mode0.hertz - 0.1 * k)**2", "f": "mode0.hertz", "g": "mode1.hertz"}
    )
    gap = sens.values["g"] - sens.values["f"] - 10.0
    slopes = sens.gradient("g") - sens.gradient("f") - np.array([0.1, 0.0, 0.0])
    assert sens.values["off"] == pytest.approx(gap**2)
    assert sens.gradient("off") == pytest.approx(2 * gap * slopes, rel=1e-10)


def test_equal_frequencies_have_no_derivatives_and_are_named() -> None:
    m = repeated(2)
    sens = m.modal_sensitivity()
    assert not sens.values and len(sens.warnings) == 4
    assert all("modes 0 and 1 are equal" in words for words in sens.warnings)
    assert "mode1.damping is left out" in str(sens)
    with pytest.raises(kp.ModelError, match="modes 0 and 1 are equal"):
        m.modal_sensitivity("mode1.hertz")
    three = chain_of_masses(3)
    with pytest.raises(kp.ModelError, match="modes are numbered from 0 to 2"):
        three.modal_sensitivity("mode3.hertz")
    with pytest.raises(kp.ModelError, match="damping ratio"):
        m = kp.Equations(
            "unstable", {"x": 0.0}, mass=lambda q, p: [[1]], force=lambda q, v, t, p: [p.k * q.x], parameters={"k": 2.0}
        )
        m.modal_sensitivity("mode0.damping", about=m.assemble())
