"""Random trains of gears and belts: every bearing force from Newton's laws and the tooth force at the pitch point.

Nothing here comes from multipliers or from the equations of the meshes: torques follow from the last wheel to the
first, from accelerations alone, and each is put on the wheels as a textbook draws it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import kempe as kp

ALPHA = np.radians(20.0)


class Mesh(NamedTuple):
    kind: str  # external, internal (the second wheel is the ring), open, crossed
    radii: tuple[float, float]
    preload: float


class Train(NamedTuple):
    model: kp.Mechanism
    masses: dict[str, tuple[float, float]]
    places: dict[str, np.ndarray]  # per wheel: its centre in its own axes
    meshes: list[Mesh]
    torques: dict[str, float]
    carried: bool
    gravity: np.ndarray


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def random_train(seed: int) -> Train:
    """Unbalanced wheels on bearings in the ground, or on an arm that swings; torques on all of them."""
    rng = np.random.default_rng([11, seed])
    gravity, carried = rng.uniform(-5, 5, 2), bool(seed % 2)
    m = kp.Mechanism("train", gravity=gravity)
    masses, places, torques, meshes = {}, {}, {}, []
    base: Any = m.ground
    if carried:
        base = m.body("arm", 1.5, 0.3, at=(0.2, 0.1), angle=0.3)
        masses["arm"] = (1.5, 0.3)
        m.revolute("pivot", m.ground, base, at=(-0.3, 0.2))
        m.torsion_spring("drag", m.ground, base, stiffness=4.0, damping=0.3)
    centre, radius = rng.uniform(-0.2, 0.2, 2), rng.uniform(0.05, 0.2)
    for k in range(int(rng.integers(2, 5))):
        if k:
            kind = str(rng.choice(["external", "internal", "open", "crossed"]))
            following = radius + rng.uniform(0.1, 0.2) if kind == "internal" else rng.uniform(0.05, 0.2)
            apart = {"external": radius + following, "internal": following - radius}.get(kind, rng.uniform(0.5, 0.8))
            turn = rng.uniform(0, 2 * np.pi)
            centre = centre + apart * np.array([np.cos(turn), np.sin(turn)])
            preload = float(rng.choice([0.0, rng.uniform(1, 20)])) if kind in ("open", "crossed") else 0.0
            meshes.append(Mesh(kind, (radius, following), preload))
            radius = following
        name, off, angle = f"w{k}", rng.uniform(-0.03, 0.03, 2), rng.uniform(-3, 3)
        mass, inertia = rng.uniform(0.3, 2), rng.uniform(0.01, 0.1)
        wheel = m.body(name, mass, inertia, at=centre, angle=angle)
        m.revolute(f"bearing {k}", base, wheel, on_i=base.at_world(centre).point, on_j=off)
        masses[name], places[name], torques[name] = (mass, inertia), off, rng.uniform(-3, 3)
        m.torque(f"torque {k}", wheel, torques[name])
    m = _with_meshes(m, meshes, places, base if carried else None)
    return Train(m, masses, places, meshes, torques, carried, gravity)


def _with_meshes(m: kp.Mechanism, meshes: list[Mesh], places: dict[str, np.ndarray], carrier: Any) -> kp.Mechanism:
    for k, mesh in enumerate(meshes):
        a, b = m[f"w{k}"], m[f"w{k + 1}"]
        options = {"on_i": places[f"w{k}"], "on_j": places[f"w{k + 1}"], "carrier": carrier, "radii": mesh.radii}
        if mesh.kind in ("open", "crossed"):
            m.belt(f"mesh {k}", a, b, crossed=mesh.kind == "crossed", preload=mesh.preload, **options)
        else:
            m.gear(f"mesh {k}", a, b, internal=mesh.kind == "internal", **options)
    return m


def forces(mesh: Mesh, A: np.ndarray, B: np.ndarray, T: float) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Forces on the second wheel with the points on second and first wheel where they act; T turns the second one."""
    (r, R), apart = mesh.radii, np.hypot(*(B - A))
    e = (B - A) / apart
    t = np.array([-e[1], e[0]])
    if mesh.kind in ("external", "internal"):
        side = 1.0 if mesh.kind == "external" else -1.0
        pitch = B - R * e
        assert pitch == pytest.approx(A + side * r * e, abs=1e-9)
        W = -T / R
        return [(W * t + side * abs(W) * np.tan(ALPHA) * e, pitch, pitch)]
    side = 1.0 if mesh.kind == "open" else -1.0
    lean = (r - side * R) / apart
    total = max(2 * mesh.preload, abs(T) / R)
    found = []
    for which in (1.0, -1.0):
        n = lean * e + which * np.sqrt(1 - lean**2) * t
        on_a, on_b = A + r * n, B + side * R * n
        strand = (on_b - on_a) / np.hypot(*(on_b - on_a))
        tight = cross(on_b - B, -strand) * T > 0
        found.append((-(total + (1 if tight else -1) * abs(T) / R) / 2 * strand, on_b, on_a))
    return found


@pytest.mark.parametrize("seed", range(16))
def test_bearings_carry_what_newton_and_the_textbook_say(seed):
    train = random_train(seed)
    res = train.model.simulate(0.4, steps=8, tolerance=1e-10)
    names = list(train.places)
    place = {n: np.column_stack([res.array(f"{n}.{c}") for c in "xy"]) for n in train.masses}
    needed = {n: mass * (np.column_stack([res.array(f"{n}.a{c}") for c in "xy"]) - train.gravity)
              for n, (mass, _) in train.masses.items()}  # fmt: skip
    centre = {n: res.point(n, train.places[n]).position for n in names}
    largest, meshing = 0.0, 0.0
    for i in range(len(res)):
        taken = {n: np.zeros(2) for n in names}
        turning = dict(train.torques)
        for k in reversed(range(len(names))):
            n = names[k]
            about = cross(place[n][i] - centre[n][i], needed[n][i])
            missing = train.masses[n][1] * res.array(f"{n}.alpha")[i] + about - turning[n]
            if k == 0:  # what is left for the first wheel is nothing
                assert abs(missing) < 1e-7
                break
            first, A, B = names[k - 1], centre[names[k - 1]][i], centre[n][i]
            passed = forces(train.meshes[k - 1], A, B, missing)
            assert sum(cross(on_b - B, force) for force, on_b, _ in passed) == pytest.approx(missing, abs=1e-9)
            for force, _, on_a in passed:
                taken[n] = taken[n] + force
                taken[first] = taken[first] - force
                turning[first] = turning[first] - cross(on_a - A, force)
                meshing = max(meshing, float(np.hypot(*force)))
        for k, n in enumerate(names):
            bearing = res.reaction(f"bearing {k}", on=n).force[i]
            largest = max(largest, float(np.hypot(*bearing)))
            assert bearing == pytest.approx(needed[n][i] - taken[n], abs=1e-6 * max(1.0, largest))
    assert meshing > 0.1


@pytest.mark.parametrize("seed", range(16))
def test_the_ground_carries_the_whole_train_and_meshes_do_no_work(seed):
    """Forces and moments on the ground are those of gravity less the rate of momentum; teeth and belts are inside."""
    train = random_train(seed)
    res = train.model.simulate(0.4, steps=8, tolerance=1e-10)
    force, moment = np.zeros((len(res), 2)), np.zeros(len(res))
    for n, (mass, inertia) in train.masses.items():
        at = np.column_stack([res.array(f"{n}.{c}") for c in "xy"])
        lost = mass * (train.gravity - np.column_stack([res.array(f"{n}.a{c}") for c in "xy"]))
        force += lost
        moment += cross(at, lost) - inertia * res.array(f"{n}.alpha") + train.torques.get(n, 0.0)
    for name in ["pivot", "drag"] if train.carried else [f"bearing {k}" for k in range(len(train.places))]:
        load = res.reaction(name, on="ground")
        force -= load.force
        moment -= load.moment + cross(load.point, load.force)
    assert np.abs(force).max() < 1e-7 and np.abs(moment).max() < 1e-7
    if train.carried:  # the arm carries the bearings, and nothing of the meshes touches it
        n, (mass, inertia) = "arm", train.masses["arm"]
        at = np.column_stack([res.array(f"{n}.{c}") for c in "xy"])
        force = mass * (train.gravity - np.column_stack([res.array(f"{n}.a{c}") for c in "xy"]))
        moment = -inertia * res.array(f"{n}.alpha")
        for name in ["pivot", "drag", *(f"bearing {k}" for k in range(len(train.places)))]:
            load = res.reaction(name, on=n)
            force = force + load.force
            moment = moment + load.moment + cross(load.point - at, load.force)
        assert np.abs(force).max() < 1e-6 and np.abs(moment).max() < 1e-6
    work = sum(torque * (res.array(f"{n}.angle") - res.array(f"{n}.angle")[0]) for n, torque in train.torques.items())
    assert res.array("energy.supplied") == pytest.approx(work, abs=1e-7)
    assert np.abs(res.energy.balance).max() < 1e-6
