"""Links of shared points and vectors against bodies with joints, and what holds of bodies in any orientation."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Turns

import kempe as kp

INERTIA = [[0.1, 0.01, 0.0], [0.01, 0.2, 0.02], [0.0, 0.02, 0.25]]
TIMES = np.linspace(0, 1.5, 16)


def solids() -> kp.SpatialMechanism:
    m = kp.SpatialMechanism("solids", gravity=(0, 0, -9.81))
    O, n = m.point("O", fixed="xyz"), m.vector("n", (0, 1, 0), fixed=True)
    A, k = m.point("A", (1, 0, 0)), m.vector("k", (0, 1, 0.5))
    m.solid("one", O, n, A, k, mass=2.0, centre=(0.5, 0.1, 0), inertia=INERTIA)
    m.solid("two", A, k, mass=1.0, centre=(0.4, 0, 0.3), inertia=(0.05, 0.06, 0.07))
    return m


def bodies() -> kp.SpatialMechanism:
    m = kp.SpatialMechanism("bodies", gravity=(0, 0, -9.81))
    one = m.body("one", 2.0, INERTIA, at=(0.5, 0.1, 0))
    two = m.body("two", 1.0, (0.05, 0.06, 0.07), at=(1.4, 0, 0.3))
    m.revolute("O", m.ground, one, at=(0, 0, 0), axis=(0, 1, 0))
    m.revolute("A", one, two, at=(1, 0, 0), axis=(0, 1, 0.5))
    return m


def test_shared_points_and_vectors_are_hinges():
    shared, joined = (m.simulate(TIMES, tolerance=1e-10) for m in (solids(), bodies()))
    assert solids().mobility().dof == bodies().mobility().dof == 2
    A = joined.point("one", (0.5, -0.1, 0)).position
    assert np.abs(A - np.column_stack([shared.array(f"A.{c}") for c in "xyz"])).max() < 1e-8
    hinge = joined.reaction("A", on="one")
    assert np.abs(shared.reaction("two", on="A").force - hinge.force).max() < 1e-6
    assert np.abs(shared.reaction("two", on="k").moment - hinge.moment).max() < 1e-6
    assert np.abs(shared.reaction("one", on="n").moment - joined.reaction("O", on="ground").moment).max() < 1e-6


def test_a_condition_between_shared_points_is_stated_once():
    m = kp.SpatialMechanism("door and leaf")
    P, Q, R, S = (m.point(name, at) for name, at in zip("PQRS", np.vstack([np.zeros(3), np.eye(3)]), strict=True))
    m.solid("one", P, Q, R)
    m.solid("two", P, Q, S)
    assert not m.mobility().redundant and m.mobility().dof == 7  # two bodies, less five for the hinge


@pytest.mark.parametrize("convention", ["ZXZ", "XYZ", "ZYX", "xyz", "zyx", "YXY"])
def test_conventions_are_those_of_scipy(convention):
    angles = (0.3, 0.7, -0.4)
    made = np.array(kp.Rotation.euler(convention, angles).matrix, dtype=float)
    assert made == pytest.approx(Turns.from_euler(convention, angles).as_matrix(), abs=1e-15)
    m = kp.Mechanism("one", dim=3)
    m.body("b", 1.0, (1, 1, 1), rotation=kp.Rotation.euler(convention, angles))
    assert m.simulate([0, 1]).euler("b", convention) == pytest.approx(np.array([angles, angles]), abs=1e-12)


def test_rotations_say_the_same_in_every_form():
    turn = Turns.from_rotvec(0.8 * np.array([1, 2, -0.5]) / np.linalg.norm([1, 2, -0.5]))
    w = np.roll(turn.as_quat(), 1)
    forms = [
        kp.Rotation.about((1, 2, -0.5), 0.8),
        kp.Rotation.quaternion(3 * w),
        kp.Rotation(turn.as_matrix()),
        kp.Rotation.euler("ZYX", turn.as_euler("ZYX")),
    ]
    for form in forms:
        assert np.array(form.matrix, dtype=float) == pytest.approx(turn.as_matrix(), abs=1e-14)
    both = forms[0] @ kp.Rotation.about("z", 0.3)
    expected = turn * Turns.from_rotvec([0, 0, 0.3])
    assert np.array(both.matrix, dtype=float) == pytest.approx(expected.as_matrix(), abs=1e-14)


@pytest.mark.parametrize("inertia", [(0.02, 0.01, 0.01), (1e-9, 0.01, 0.01)])
def test_flat_and_thin_bodies_keep_energy_and_spin(inertia):
    """A disc and a rod, whose axes alone have no inertia: free, their momentum and energy stay."""
    m = kp.Mechanism("free", dim=3)
    m.body("b", 1.0, inertia)
    start = {"b.omega.1": 0.0 if inertia[0] < 1e-6 else 20.0, "b.omega.2": 3.0, "b.omega.3": 1.0}
    res = m.simulate(np.linspace(0, 3, 61), velocities=start, tolerance=1e-10)
    own = np.column_stack([inertia[k] * res[f"b.omega.{k + 1}"].values for k in range(3)])
    momentum = np.einsum("tik,tk->ti", res.rotation("b"), own)
    assert np.abs(momentum - momentum[0]).max() < 1e-8 * np.abs(momentum).max()
    assert np.ptp(res["energy.kinetic"].values) < 1e-8 * res["energy.kinetic"].values[0]


def test_angular_velocities_at_the_start_are_differentiated():
    m = kp.SpatialMechanism("spun", gravity=(0, 0, -9.81))
    w, tilt = m.parameter("w", 3.0), m.parameter("tilt", 0.3)
    b = m.body("b", 2.0, (0.1, 0.2, 0.25), at=(0.5, 0, 0.1), rotation=kp.Rotation.about((0, 1, 1), tilt))
    m.spherical("S", m.ground, b, at=(0, 0, 0))
    goals = [kp.final("b.z"), kp.final("b.omega.x"), kp.final("S.force.x")]
    settings = {"velocities": {"b.omega.3": w}, "tolerance": 1e-10}

    def values(**design: float) -> np.ndarray:
        m.set(design)
        found = m.sensitivity(0.5, goals, by=["w"], gradient="adjoint", **settings).values
        return np.array(list(found.values()))

    base = {"w": 3.0, "tilt": 0.3}
    expected = []
    for name, h in (("w", 1e-2), ("tilt", 1e-3)):
        steps = [(values(**{**base, name: base[name] + s}) - values(**{**base, name: base[name] - s})) / (2 * s)
                 for s in (h, h / 2)]  # fmt: skip
        expected.append((4 * steps[1] - steps[0]) / 3)
    m.set(base)
    for gradient in ("direct", "adjoint"):
        found = m.sensitivity(0.5, goals, by=["w", "tilt"], gradient=gradient, **settings).gradients
        got = np.array([[row["w"], row["tilt"]] for row in found.values()])
        assert np.abs(got - np.array(expected).T).max() < 1e-7 * np.abs(got).max()


def test_bodies_in_series_without_inertia():
    """Light frames and none at all give the same first acceleration."""

    def made(light: bool) -> kp.SpatialMechanism:
        m = kp.SpatialMechanism("series", gravity=(0, 0, -9.81))
        frames = [m.body(f"f{k}", *((1e-9, (1e-9,) * 3) if light else ()), at=(0.3, 0, 0.2)) for k in range(2)]
        b = m.body("b", 1.0, (0.1, 0.2, 0.15), at=(0.4, 0.1, 0.5), rotation=kp.Rotation.euler("XYZ", (0.3, 0.2, -0.4)))
        m.revolute("A", m.ground, frames[0], at=(0.3, 0, 0.2), axis=(0.2, 0, 1))
        m.revolute("B", frames[0], frames[1], at=(0.3, 0, 0.2), axis=(0, 1, 0.3))
        m.prismatic("C", frames[1], b, axis=(1, 0.1, 0))
        return m

    light, none = (made(which).accelerations() for which in (True, False))
    assert [none[f"b.a{c}"] for c in "xyz"] == pytest.approx([light[f"b.a{c}"] for c in "xyz"], rel=1e-7)


def test_a_load_in_the_axes_of_any_marker():
    m = bodies()
    res = m.simulate(TIMES)
    load, turn = res.reaction("A", on="two"), kp.Rotation.euler("ZYX", (0.3, 0.5, -0.2))
    seen = res.reaction("A", on="two", axes=m["one"].on(rotation=turn))
    axes = res.rotation("one") @ np.array(turn.matrix, dtype=float)
    for got, there in ((seen.force, load.force), (seen.moment, load.moment)):
        assert got == pytest.approx(np.einsum("tik,ti->tk", axes, there), abs=1e-12)
    with pytest.raises(kp.ModelError, match="axes must be 'global', 'body', 'joint', or a part or marker"):
        res.reaction("A", axes="bodies")
