"""The first ten contacts of the slider-crank with a loose piston pin against a computation that shares no code."""

from __future__ import annotations

import numpy as np
import pytest
from clearance_reference import SliderCrank, first_contacts

import kempe as kp

OMEGA = 5000 * np.pi / 30


def slider_crank(clearance: float, stiffness: float) -> kp.Mechanism:
    r, L = 0.05, 0.12
    m = kp.Mechanism("slider crank")
    crank = m.body("crank", 0.3, 1e-4, at=(r / 2, 0.0))
    rod = m.body("rod", 0.21, 2.5e-4, at=(r + L / 2, 0.0))
    slider = m.body("slider", 0.14, 1e-4, at=(r + L, 0.0))
    main = m.revolute("O", m.ground, crank, at=(0.0, 0.0))
    m.revolute("A", crank, rod, at=(r, 0.0))
    m.translational("guide", m.ground, slider)
    m.driver("motor", main.angle, kp.constant_speed(OMEGA))
    law = kp.LankaraniNikravesh(0.9, stiffness)
    m.revolute("B", rod, slider, at=(r + L, 0.0), clearance=clearance, contact=law)
    return m


@pytest.mark.parametrize(("clearance", "stiffness"), [(0.5e-3, 9.4e9), (0.5e-3, 6.610198e10)])
def test_ten_contacts_agree_to_the_ninth_digit(clearance: float, stiffness: float) -> None:
    """Errors grow by ten to a hundred times from contact to contact: velocities of the last have a digit less."""
    truth = np.array(first_contacts(SliderCrank(OMEGA, clearance, stiffness), 10, 1e-16))
    start = {"slider.vx": 0.0, "rod.omega": -0.05 * OMEGA / 0.12}
    for method in ("projection", "independent"):
        m = slider_crank(clearance, stiffness)
        res = m.simulate(1.2 * 2 * np.pi / OMEGA, steps=2, velocities=start, tolerance=1.1e-14, method=method)
        found = np.array([[c.begin, c.approach, c.end, c.departure] for c in res.contacts("B")[:10]])
        apart = np.abs(found / truth - 1.0)
        assert apart[:, [0, 2]].max() < 1e-9
        assert apart[:, [1, 3]].max() < 1e-7
