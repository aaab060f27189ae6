"""Inertia of bodies, points, bars and plates: mass matrices against the kinetic energy of rigid bodies."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kempe as kp
from kempe.simulation.posing import Posed


def mass_matrix(m: kp.Mechanism, q: Any = None, **parameters: float) -> np.ndarray:
    posed = Posed(m, parameters)
    return posed.system.mass_matrix(posed.x, posed.drawn if q is None else q)


def rigid_velocities(points: np.ndarray, v: Any, omega: float) -> np.ndarray:
    """Velocities of points of a body that moves with v at the origin and turns with omega."""
    return np.asarray(v) + omega * np.column_stack([-points[:, 1], points[:, 0]])


def test_mass_matrix_of_a_uniform_bar() -> None:
    mass = 3.0
    m = kp.Mechanism("bar")
    m.bar("bar", m.point("A", (0.1, 0.2)), m.point("B", (1.3, -0.7)), mass=mass)
    per_direction = mass / 6 * np.array([[2, 1], [1, 2]])
    np.testing.assert_allclose(mass_matrix(m), np.kron(per_direction, np.eye(2)), rtol=1e-14, atol=1e-15)


def test_example_10_5_of_garcia_de_jalon_and_bayo() -> None:
    """Two bars of 1 m and 1 kg; the first point is fixed and the last moves along x: q = (x1, y1, x2)."""
    m = kp.Mechanism("two bars")
    places = [(0, 0), (np.sqrt(0.5), np.sqrt(0.5)), (np.sqrt(2), 0)]
    points = [m.point(str(k), at, fixed=f) for k, (at, f) in enumerate(zip(places, ("xy", "", "y"), strict=True))]
    m.bar("first", points[0], points[1], mass=1.0)
    m.bar("second", points[1], points[2], mass=1.0)
    assert [names[0] for names in Posed(m).system.names] == ["1.x", "1.y", "2.x"]
    expected = np.array([[4, 0, 1], [0, 4, 0], [1, 0, 2]]) / 6
    np.testing.assert_allclose(mass_matrix(m), expected, rtol=1e-14, atol=1e-15)
    x1, y1, x2 = q = np.array([0.3, 0.9, 1.2])
    np.testing.assert_allclose(mass_matrix(m, q), expected, rtol=1e-14, atol=1e-15)
    printed = np.array([x1**2 + y1**2 - 1, (x2 - x1) ** 2 + y1**2 - 1]) / 2
    np.testing.assert_allclose(Posed(m).Phi(q, 0.0), printed, rtol=1e-14)


def test_mass_matrices_of_body_and_particle() -> None:
    m = kp.Mechanism("parts")
    m.body("body", mass=2.0, inertia=0.3, at=(1, 2), angle=0.7)
    m.point("particle", (3, 4), mass=0.5)
    m.point("guided particle", (3, 4), fixed="x", mass=0.25)
    m.body("massless")
    np.testing.assert_allclose(mass_matrix(m), np.diag([2, 2, 0.3, 0.5, 0.5, 0.25, 0, 0, 0]), atol=1e-16)


numbers = st.floats(-2, 2).map(lambda x: round(x, 6))
positive = st.floats(0.1, 3).map(lambda x: round(x, 6))
pair = st.tuples(numbers, numbers)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(places=st.lists(pair, min_size=2, max_size=4), mass=positive, radius=positive, centre=pair, v=pair, w=numbers)
def test_plate_has_the_kinetic_energy_of_the_rigid_body(
    places: list, mass: float, radius: float, centre: tuple, v: tuple, w: float
) -> None:
    points = np.array(places)
    if np.hypot(*(points[1] - points[0])) < 0.1:
        points[1] += [1.0, 0.5]
    inertia = mass * radius**2
    m = kp.Mechanism("plate")
    m.plate("plate", *(m.point(f"P{k}", p) for k, p in enumerate(points)), mass=mass, centre=centre, inertia=inertia)
    axis = (points[1] - points[0]) / np.hypot(*(points[1] - points[0]))
    com = points[0] + centre[0] * axis + centre[1] * np.array([-axis[1], axis[0]])
    v_com = rigid_velocities(com[None, :], v, w)[0]
    rates = rigid_velocities(points, v, w).ravel()
    energy = rates @ mass_matrix(m) @ rates / 2
    assert energy == pytest.approx(mass * v_com @ v_com / 2 + inertia * w**2 / 2, rel=1e-12, abs=1e-12)


def test_bar_with_given_centre_and_inertia_has_the_kinetic_energy_of_the_rigid_body() -> None:
    a, b = np.array([0.2, -0.3]), np.array([1.4, 0.6])  # 1.5 apart
    mass, inertia, share = 1.7, 0.4, 0.3
    m = kp.Mechanism("bar")
    m.bar("bar", m.point("A", a), m.point("B", b), mass=mass, centre=(share * 1.5, 0), inertia=inertia)
    rates = rigid_velocities(np.array([a, b]), (0.7, -1.1), 2.3)
    v_com = (1 - share) * rates[0] + share * rates[1]
    energy = rates.ravel() @ mass_matrix(m) @ rates.ravel() / 2
    assert energy == pytest.approx(mass * v_com @ v_com / 2 + inertia * 2.3**2 / 2, rel=1e-13)


def test_a_bar_and_a_body_hold_the_same_energy() -> None:
    """A uniform bar as two points, and as a body with m L^2 / 12."""
    length, mass, angle, omega, v = 1.5, 2.0, 0.6, -1.3, np.array([0.4, 0.9])
    u = np.array([np.cos(angle), np.sin(angle)])
    n = np.array([-u[1], u[0]])
    bar = kp.Mechanism("bar")
    bar.bar("bar", bar.point("A", -length / 2 * u), bar.point("B", length / 2 * u), mass=mass)
    body = kp.Mechanism("body")
    body.body("bar", mass=mass, inertia=mass * length**2 / 12, angle=angle)
    ends = np.concatenate([v - omega * length / 2 * n, v + omega * length / 2 * n])
    rates = np.array([*v, omega])
    assert ends @ mass_matrix(bar) @ ends == pytest.approx(rates @ mass_matrix(body) @ rates, rel=1e-14)


def test_mass_follows_the_parameters() -> None:
    m = kp.Mechanism("bar")
    length, density = m.parameter("length", 2.0), m.parameter("density", 0.5)
    m.bar("bar", m.point("A", fixed="xy"), m.point("B", (length, 0)), length=length, mass=density * length)
    np.testing.assert_allclose(mass_matrix(m), np.eye(2) / 3, rtol=1e-14)
    np.testing.assert_allclose(mass_matrix(m, length=3.0, density=2.0), np.eye(2) * 2, rtol=1e-14)


def test_a_sketch_that_is_off_the_true_length_does_not_change_the_mass() -> None:
    m = kp.Mechanism("bar")
    m.bar("bar", m.point("A", (0, 0)), m.point("B", (1.2, 0)), length=1.0, mass=6.0)
    np.testing.assert_allclose(mass_matrix(m)[::2, ::2], [[2, 1], [1, 2]], rtol=1e-14)


def test_mass_matrix_of_equations_is_the_given_one() -> None:
    m = kp.Equations(
        "cart and pendulum",
        {"x": 0.0, "theta": 0.4},
        mass=lambda q, p: [
            [p.cart + p.bob, p.bob * p.l * kp.cos(q.theta)],
            [p.bob * p.l * kp.cos(q.theta), p.bob * p.l**2],
        ],
        parameters={"cart": 2.0, "bob": 0.5, "l": 1.5},
    )
    c = 0.75 * np.cos(0.4)
    np.testing.assert_allclose(mass_matrix(m), [[2.5, c], [c, 1.125]], rtol=1e-14)
