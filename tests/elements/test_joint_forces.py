"""Springs and armatures along quantities of joints: against what they stand for."""

from __future__ import annotations

import numpy as np
import pytest

import kempe as kp


def _pendulum() -> tuple[kp.Mechanism, object]:
    m = kp.Mechanism("pendulum", gravity=(0, -9.81))
    arm = m.body("arm", mass=2.0, inertia=0.1, at=(0.6, 0), angle=0.0)
    return m, m.revolute("pin", m.ground, arm, at=(0, 0))


def test_an_armature_is_a_rotor_behind_a_gearbox():
    """A wheel of inertia J that turns n times as fast is felt as n^2 J."""
    ratio, J = 7.0, 0.02
    m, pin = _pendulum()
    m.armature("rotor", pin.angle, ratio**2 * J)
    geared, axle = _pendulum()
    wheel = geared.body("wheel", mass=1.0, inertia=J, at=(0, 0))
    bearing = geared.revolute("bearing", geared.ground, wheel, at=(0, 0))
    geared.coupler("gearbox", [(1.0, bearing.angle), (-ratio, axle.angle)])
    one, other = (model.simulate(1.5, steps=30, tolerance=1e-10) for model in (m, geared))
    np.testing.assert_allclose(one["arm.angle"], other["arm.angle"], atol=1e-8)
    np.testing.assert_allclose(one["energy.kinetic"], other["energy.kinetic"], atol=1e-7)


def test_a_joint_spring_is_a_torsion_spring_at_an_angle():
    m, pin = _pendulum()
    m.joint_spring("coil", pin.angle, stiffness=20.0, rest=0.3, damping=0.4)
    twin, _ = _pendulum()
    twin.torsion_spring("coil", twin.ground, twin["arm"], stiffness=20.0, angle=0.3, damping=0.4)
    one, other = (model.simulate(1.5, steps=30) for model in (m, twin))
    np.testing.assert_allclose(one["arm.angle"], other["arm.angle"], atol=1e-12)
    np.testing.assert_allclose(one["coil.effort"], -other["coil.torque"], atol=1e-10)
    np.testing.assert_allclose(one["energy.elastic"], other["energy.elastic"], atol=1e-12)


def test_along_a_guide():
    m = kp.Mechanism("slider")
    block = m.body("block", mass=2.0, inertia=0.1, at=(0.5, 0))
    guide = m.translational("guide", m.ground, block, axis=(1, 0), at=(0, 0))
    m.joint_spring("spring", guide.displacement, stiffness=30.0)
    m.armature("motor", guide.displacement, 1.0)
    motion = m.simulate(2.0, steps=40, tolerance=1e-10)
    np.testing.assert_allclose(motion["block.x"], 0.5 * np.cos(np.sqrt(30.0 / 3.0) * motion.t), atol=1e-8)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda m, pin: m.joint_spring("s", pin.angle), "joint spring 's' does nothing"),
        (lambda m, pin: m.joint_spring("s", pin, stiffness=1.0), "the quantity it acts along must be one number"),
        (lambda m, pin: m.joint_spring("s", pin.angle, stiffness=-1.0), "stiffness must"),
        (lambda m, pin: m.armature("a", pin.angle, 0.0), "armature 'a': inertia must be above zero"),
        (lambda m, pin: m.armature("a", "pin.angle", 1.0), "a part is asked of its model by name"),
    ],
)
def test_what_is_wrong_is_told(make, words):
    with pytest.raises(kp.ModelError, match=words):
        make(*_pendulum())
