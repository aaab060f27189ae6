"""Random cams and followers that may lift off: nothing goes through, nothing pulls, and the energy adds up."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import kempe as kp


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**31),
    kind=st.sampled_from(["point", "roller", "flat"]),
    restitution=st.sampled_from([0.0, 0.3, 0.7]),
)
def test_a_follower_never_goes_through_and_is_never_pulled(seed: int, kind: str, restitution: float) -> None:
    rng = np.random.default_rng(seed)
    waves = rng.uniform(-1, 1, 3) * [0.15, 0.03, 0.01]  # convex: a flat face needs a profile without hollows
    profile = kp.polar(lambda s: 1 + sum(waves[k] * kp.cos((k + 1) * s + k) for k in range(3)))
    m = kp.Mechanism("cam", gravity=(0, -9.81))
    disk = m.body("disk", mass=1.0, inertia=1e-2)
    m.revolute("O", m.ground, disk, at=(0, 0))
    m.driver("motor", disk.angle, kp.constant_speed(rng.uniform(3, 40)))
    follower = m.body("follower", mass=1.0, inertia=1e-2, at=(0.0, 1.9))
    m.translational("guide", m.ground, follower, axis=(0, 1), at=(0.0, 1.9))
    stiffness = rng.uniform(0, 300)
    m.user_force("spring", lambda b: (0, -stiffness * b.y, 0), follower)
    bounce = {"lift_off": True, "restitution": restitution}
    if kind == "flat":
        m.cam_flat("cam", disk, follower, profile=profile, axis=(1, 0), start=np.pi / 2, **bounce)
    elif kind == "roller":
        m.cam_roller("cam", disk, follower, profile=profile, radius=0.3, **bounce)
    else:
        m.point_on_curve("cam", disk, follower, curve=profile, **bounce)
    result = m.simulate(1.0, tolerance=1e-9)
    assert result.events and result.events[0].mode in ("free", "touching")  # it is drawn above the cam, and lands
    assert result.array("cam.gap").min() > -1e-7
    force = -result.array("lambda.cam.contact")
    assert force.min() > -1e-6 * max(1.0, force.max())
    assert np.abs(result.array("energy.balance")).max() < 1e-6 * max(1.0, result.array("energy.kinetic").max())
