"""LuGre's friction in contacts that open: bristles as stiff as they are pressed, straight where surfaces meet."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kempe as kp

MU, STATIC, SPEED, S0, S1, S2 = 0.2, 0.3, 0.05, 2e3, 3.0, 0.7
LUGRE = kp.LuGre(MU, STATIC, SPEED, S0, damping=S1, viscous=S2, per_load=True)
MASS, K, DAMPING = 2.0, 1e5, 50.0


def block(friction: Any, **contact: Any) -> kp.Mechanism:
    """A block that falls on a line and is pushed along it."""
    m = kp.Mechanism("block", gravity=(0.0, -10.0))
    body = m.body("block", MASS, 1.0, at=(0.0, 0.01))
    m.force("push", body, (3.0, 0.0))
    m.driver("upright", kp.angle(m.ground, body), 0.0)
    m.point_line_contact("c", m.ground, body, friction=friction, **contact)
    return m


def reference(end: float, height: float, speed: float) -> list[np.ndarray]:
    """Its motion phase by phase, from the equations of LuGre with a spring and damper below: [x, y, vx, vy, z]."""

    def touching(_: float, s: np.ndarray) -> list[float]:
        _, y, vx, vy, z = s
        load = max(-K * y - DAMPING * vy, 0.0)
        g = MU + (STATIC - MU) * np.exp(-((vx / SPEED) ** 2))
        dz = vx - S0 * abs(vx) * z / g
        rubbed = load * (S0 * z + S1 * dz) + (S2 * vx if load > 0 else 0.0)
        return [vx, vy, (3.0 - rubbed) / MASS, -10.0 + load / MASS, dz]

    def flying(_: float, s: np.ndarray) -> list[float]:
        return [s[2], s[3], 3.0 / MASS, -10.0, 0.0]

    def ground(_: float, s: np.ndarray) -> float:
        return float(s[1])

    ground.terminal, ground.direction = True, -1.0  # type: ignore[attr-defined]
    state, t, phases = np.array([0.0, height, speed, 0.0, 0.0]), 0.0, []
    options = {"rtol": 1e-11, "atol": 1e-13, "method": "LSODA"}
    while t < end:
        down = state[1] > 0 or state[3] > 0
        ground.direction = -1.0 if down else 1.0  # type: ignore[attr-defined]
        found = solve_ivp(flying if down else touching, (t, end), state, events=ground, **options)
        t, state = float(found.t[-1]), found.y[:, -1].copy()
        phases.append(state.copy())
        state[1] = 0.0 if t < end else state[1]
        if down:
            state[4] = 0.0  # straight
    return phases


def test_bristles_against_an_integration_of_their_own_equations() -> None:
    """Two landings: bristles that were bent when the block left the ground are straight when it comes back."""
    m = block(LUGRE, contact=kp.KelvinVoigt(K, DAMPING))
    end = 0.2
    res = m.simulate(end, velocities={"block.vx": -0.3}, tolerance=1e-11, steps=20)
    assert [e.mode for e in res.events].count("contact") >= 2
    x, y, vx, _, _ = reference(end, 0.01, -0.3)[-1]
    assert float(res["block.x"][-1]) == pytest.approx(x, abs=2e-8)
    assert float(res["block.vx"][-1]) == pytest.approx(vx, abs=1e-7)
    assert float(res["block.y"][-1]) == pytest.approx(y, abs=1e-8)


def test_bristles_stick_and_slide() -> None:
    """Pushed less than they bear they bend by F/(N s0) and hold; pushed more, friction settles at N g(v) + s2 v."""
    m = block(LUGRE, contact=kp.KelvinVoigt(K, 300.0))
    res = m.simulate(3.0, steps=30)
    load = MASS * 10.0
    assert float(res["block.vx"][-1]) == pytest.approx(0.0, abs=1e-5)
    assert float(res["c.friction"][-1]) == pytest.approx(-3.0, rel=1e-3)
    m.driver("drag", m["block"].x, kp.constant_speed(0.4))
    res = m.simulate(1.0, steps=30)
    g = MU + (STATIC - MU) * np.exp(-((0.4 / SPEED) ** 2))
    assert float(res["c.friction"][-1]) == pytest.approx(-(load * g + S2 * 0.4), rel=1e-6)


@pytest.mark.parametrize("contact", [{"contact": kp.LankaraniNikravesh(0.6, 1e6)}, {"restitution": 0.4}, {}])
def test_the_energy_balance_closes(contact: Any) -> None:
    """For contacts with a law and for rigid ones; the bristles themselves hold no energy that is counted."""
    m = block(LUGRE, **contact)
    res = m.simulate(0.4, velocities={"block.vx": -0.3}, tolerance=1e-10, steps=400)
    assert abs(res.energy.balance).max() < 1e-7 * res.energy.dissipated[-1]
    own = MASS / 2 * (res["block.vx"].values ** 2 + res["block.vy"].values ** 2)
    np.testing.assert_allclose(res.energy.kinetic, own, atol=1e-8)


def test_rigid_and_pressing_contacts_agree_where_they_stay_closed() -> None:
    """A stiff spring below a block that lies there, and a rigid line: the same friction."""
    found = []
    for contact in ({}, {"contact": kp.KelvinVoigt(1e7, 1e4)}):
        m = kp.Mechanism("lying", gravity=(0.0, -10.0))
        body = m.body("block", MASS, 1.0, at=(0.0, -MASS * 10.0 / 1e7 if contact else 0.0))
        m.driver("upright", kp.angle(m.ground, body), 0.0)
        m.point_line_contact("c", m.ground, body, friction=LUGRE, **contact)
        res = m.simulate(0.5, velocities={"block.vx": 0.8}, tolerance=1e-10, steps=50)
        found.append(np.array([res["block.x"], res["block.vx"], res["c.friction"]]))
    np.testing.assert_allclose(found[0][:2], found[1][:2], rtol=0, atol=1e-6)
    np.testing.assert_allclose(found[0][2, 1:], found[1][2, 1:], rtol=1e-4)


def test_mistakes_and_files(tmp_path: Any) -> None:
    unloaded = kp.LuGre(MU, STATIC, SPEED, 1e4)
    for contact in ({}, {"contact": kp.Hertz(1e5)}):
        with pytest.raises(kp.ModelError, match=r"'c': friction: LuGre's bristles .* give kp.LuGre per_load=True"):
            block(unloaded, **contact)
    with pytest.raises(kp.ModelError, match="LuGre friction: per_load must be True or False, not 1"):
        kp.LuGre(MU, STATIC, SPEED, 1e4, per_load=1)
    m = block(LUGRE, contact=kp.KelvinVoigt(K, DAMPING))
    m.save(tmp_path / "block.kempe.yaml")
    again = kp.load(tmp_path / "block.kempe.yaml")
    first, second = (x.simulate(0.1, velocities={"block.vx": -0.3}, steps=10)["block.x"] for x in (m, again))
    np.testing.assert_array_equal(first, second)
