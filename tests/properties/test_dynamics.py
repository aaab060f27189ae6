"""Random trees and loops of bodies in motion: energy, momentum, other places and directions, and the way back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

import kempe as kp

SEED = st.integers(0, 2**31)
METHOD = st.sampled_from(["auto", "augmented", "radau", "canonical", "bdf", "bdf3", "alpha", "ali3p"])
ACCURATE = st.sampled_from(["auto", "augmented", "radau"])


def turned(angle: float, v: Any) -> np.ndarray:
    """A vector, or rows of vectors, turned by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(v) @ np.array([[c, s], [-s, c]])


@dataclass
class Plan:
    """A random mechanism as numbers, so that it can be built again in another place."""

    count: int
    loops: int
    springs: int
    damped: bool
    floating: bool
    gravity: tuple[float, float]
    rng: np.random.Generator
    bodies: list[tuple[float, float, np.ndarray, float]] = field(default_factory=list)
    joints: list[tuple[int, int, np.ndarray]] = field(default_factory=list)
    ties: list[tuple[int, int, np.ndarray, np.ndarray]] = field(default_factory=list)
    pulls: list[tuple[int, int, np.ndarray, np.ndarray, float, float, float]] = field(default_factory=list)
    speeds: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        rng = self.rng
        for k in range(self.count):
            mass = rng.uniform(0.3, 2.0)
            parent = int(rng.integers(k)) if k else -1
            near = self.bodies[parent][2] if parent >= 0 else np.zeros(2)
            at = near + rng.uniform(-1, 1, 2)
            self.bodies.append((mass, mass * rng.uniform(0.05, 0.3), at, rng.uniform(-3, 3)))
            if k or not self.floating:
                self.joints.append((parent, k, (near + at) / 2 + rng.uniform(-0.3, 0.3, 2)))
        for _ in range(self.loops):
            i, j = rng.choice(self.count, 2, replace=False)
            ends = [self.bodies[b][2] + rng.uniform(-0.5, 0.5, 2) for b in (i, j)]
            if np.hypot(*(ends[1] - ends[0])) > 0.3:
                self.ties.append((int(i), int(j), *ends))
        for _ in range(self.springs):
            i, j = rng.choice(self.count, 2, replace=False)
            ends = [self.bodies[b][2] + rng.uniform(-0.5, 0.5, 2) for b in (i, j)]
            length = np.hypot(*(ends[1] - ends[0]))
            if length > 0.3:
                damping = rng.uniform(0.0, 0.5) if self.damped else 0.0
                self.pulls.append((int(i), int(j), *ends, rng.uniform(1, 20), length * rng.uniform(0.2, 0.9), damping))
        self.speeds = rng.uniform(-1.0, 1.0, self.count)

    def build(self, angle: float = 0.0, shift: Any = (0.0, 0.0)) -> kp.Mechanism:
        """The mechanism, turned about the origin and shifted."""

        def placed(r: np.ndarray) -> np.ndarray:
            return turned(angle, r) + np.asarray(shift)

        m = kp.Mechanism("random", gravity=tuple(turned(angle, self.gravity)))
        bodies = [
            m.body(f"b{k}", mass, inertia, at=placed(at), angle=turn + angle)
            for k, (mass, inertia, at, turn) in enumerate(self.bodies)
        ]
        for n, (i, j, at) in enumerate(self.joints):
            m.revolute(f"J{n}", m.ground if i < 0 else bodies[i], bodies[j], at=placed(at))
        for n, (i, j, a, b) in enumerate(self.ties):
            m.link(f"L{n}", bodies[i].at_world(placed(a)), bodies[j].at_world(placed(b)))
        for n, (i, j, a, b, k, length, c) in enumerate(self.pulls):
            ends = bodies[i].at_world(placed(a)), bodies[j].at_world(placed(b))
            m.spring(f"S{n}", *ends, stiffness=k, length=length, damping=c)
        return m

    def start(self) -> dict[str, float]:
        """Angular velocities; the others follow from the joints."""
        return {f"b{k}.omega": float(w) for k, w in enumerate(self.speeds)}

    def states(self, result: kp.Result) -> tuple[np.ndarray, ...]:
        """Positions, angles, velocities and angular velocities by time and body."""
        q, v = (x.reshape(len(result), self.count, 3) for x in (result.q, result.v))
        return q[:, :, :2], q[:, :, 2], v[:, :, :2], v[:, :, 2]

    def momenta(self, result: kp.Result) -> tuple[np.ndarray, np.ndarray]:
        """Linear and angular momentum about the origin over time."""
        r, _, v, w = self.states(result)
        mass = np.array([b[0] for b in self.bodies])
        inertia = np.array([b[1] for b in self.bodies])
        spin = (mass * (r[:, :, 0] * v[:, :, 1] - r[:, :, 1] * v[:, :, 0]) + inertia * w).sum(axis=1)
        return (mass[:, None] * v).sum(axis=1), spin


def plan(seed: int, count: int, **given: Any) -> Plan:
    """A random tree, with loops where they leave it movable, springs and dampers."""
    rng = np.random.default_rng(seed)
    options = {"loops": int(rng.integers(0, count // 2 + 1)), "springs": int(rng.integers(1, count + 1))}
    return Plan(count, **{**options, "damped": True, "floating": False, "gravity": (0.0, -9.81), **given}, rng=rng)


def size_of_energy(result: kp.Result) -> float:
    return 1.0 + sum(float(np.ptp(result.array(f"energy.{part}"))) for part in ("kinetic", "potential", "elastic"))


@settings(max_examples=60)
@given(SEED, st.integers(2, 30), METHOD)
@example(2750714, 2, "canonical")  # hardly a power for a while: work within long steps must not fall
def test_energy_is_balanced(seed, count, method):
    p = plan(seed, count)
    tolerance, close = {"auto": (1e-9, 1e-5), "augmented": (1e-9, 1e-5), "radau": (1e-8, 1e-5)}.get(
        method, (1e-8, 1e-2)
    )
    result = p.build().simulate(0.5, steps=20, velocities=p.start(), method=method, tolerance=tolerance)
    assert result.success
    assert np.abs(result.array("energy.balance")).max() < close * size_of_energy(result)
    assert (np.diff(result.array("energy.dissipated")) > -1e-9).all()


@settings(max_examples=40)
@given(SEED, st.integers(2, 20), ACCURATE)
@example(16514505, 14, "radau")  # a curved redundant constraint beside a weak one
def test_momentum_of_what_floats_is_kept(seed, count, method):
    """Joints, springs and dampers between the bodies only: they cannot push the whole."""
    p = plan(seed, count, floating=True, gravity=(0.0, 0.0))
    push = {**p.start(), "b0.vx": 0.7, "b0.vy": -0.4}
    result = p.build().simulate(0.5, steps=20, velocities=push, method=method, tolerance=1e-9)
    linear, spin = p.momenta(result)
    size = 1.0 + np.abs(linear).max() + np.abs(spin).max()
    assert np.abs(linear - linear[0]).max() < 1e-7 * size
    assert np.abs(spin - spin[0]).max() < 1e-7 * size


@settings(max_examples=20)
@given(SEED, st.integers(2, 12))
@example(2**31 - 1, 9)  # the velocities given are next to impossible together
def test_weight_changes_momentum_at_its_own_rate(seed, count):
    """The centre of mass of what floats falls like a stone, and its weight turns nothing about it."""
    p = plan(seed, count, floating=True, gravity=(1.5, -3.0))
    result = p.build().simulate(0.5, steps=20, velocities=p.start(), tolerance=1e-10)
    linear, spin = p.momenta(result)
    mass = sum(b[0] for b in p.bodies)
    assert np.abs(linear - linear[0] - mass * np.outer(result.t, p.gravity)).max() < 1e-7 * (1 + np.abs(linear).max())
    r, _, _, _ = p.states(result)
    weights = np.array([b[0] for b in p.bodies])
    centre = (weights[:, None] * r).sum(axis=1) / mass
    about = spin - (centre[:, 0] * linear[:, 1] - centre[:, 1] * linear[:, 0])
    assert np.abs(about - about[0]).max() < 1e-7 * (1 + np.abs(spin).max())


@settings(max_examples=30)
@given(SEED, st.integers(2, 15), st.floats(-3.0, 3.0), st.floats(-2.0, 2.0), st.floats(-2.0, 2.0), ACCURATE)
def test_the_same_elsewhere_and_turned(seed, count, angle, x, y, method):
    """Model, weight and start moved together: the motion moves with them."""
    p = plan(seed, count)
    options: dict[str, Any] = {"steps": 10, "velocities": p.start(), "method": method, "tolerance": 1e-10}
    here, there = p.build().simulate(0.4, **options), p.build(angle, (x, y)).simulate(0.4, **options)
    (r0, a0, v0, w0), (r1, a1, v1, w1) = p.states(here), p.states(there)
    speed = 1.0 + np.abs(v0).max() + np.abs(w0).max()
    assert np.abs(turned(angle, r0) + np.array([x, y]) - r1).max() < 1e-6
    assert np.abs(a0 + angle - a1).max() < 1e-6
    assert np.abs(turned(angle, v0) - v1).max() < 1e-6 * speed
    assert np.abs(w0 - w1).max() < 1e-6 * speed
    for name in ("kinetic", "elastic", "dissipated", "balance"):
        change = here.array(f"energy.{name}") - there.array(f"energy.{name}")
        assert np.abs(change).max() < 1e-5 * size_of_energy(here)


@settings(max_examples=30)
@given(SEED, st.integers(2, 15), ACCURATE)
def test_without_losses_the_way_back_is_the_way(seed, count, method):
    p = plan(seed, count, damped=False)
    m = p.build()
    out = m.simulate(0.4, steps=10, velocities=p.start(), method=method, tolerance=1e-11)
    names = [triple[0] for triple in out.columns]
    end = kp.Pose(dict(zip(names, out.q[-1].tolist(), strict=True)))
    reversed_ = {triple[1]: -float(v) for triple, v in zip(out.columns, out.v[-1], strict=True)}
    back = m.simulate(0.4, steps=10, start=end, velocities=reversed_, method=method, tolerance=1e-11)
    assert np.abs(back.q[::-1] - out.q).max() < 1e-6
    assert np.abs(back.v[::-1] + out.v).max() < 1e-6 * (1.0 + np.abs(out.v).max())


@settings(max_examples=6)
@given(SEED, st.integers(25, 30))
def test_many_bodies_by_two_methods(seed, count):
    """Explicit with all coordinates; implicit."""
    p = plan(seed, count)
    one, other = (
        p.build().simulate(0.3, steps=10, velocities=p.start(), method=method, tolerance=1e-9)
        for method in ("auto", "radau")
    )
    assert np.abs(one.q - other.q).max() < 1e-6
