"""The motion between two stiff walls that the benchmark measures events on."""

from __future__ import annotations

import numpy as np
import pytest

from kempe.benchmarks import walls


def test_the_exact_motion_keeps_its_energy_and_its_velocity_is_its_rate() -> None:
    h = 1e-7
    for t in np.linspace(h, walls.END, 997):
        x, v = walls.exact(t)
        depth = max(abs(x) - walls.HALF_GAP, 0.0)
        energy = walls.MASS * v**2 / 2 + walls.STIFFNESS * depth**2 / 2
        assert energy == pytest.approx(walls.MASS * walls.SPEED**2 / 2, rel=1e-9)
        rate = (walls.exact(t + h)[0] - walls.exact(t - h)[0]) / (2 * h)
        assert rate == pytest.approx(v, abs=1e-4)


def test_the_mass_meets_every_wall_on_time() -> None:
    result = walls.build().simulate([0.0, walls.END], tolerance=1e-10, velocities={"mass.vx": walls.SPEED})
    assert len(result.events) == walls.EVENTS
    half = walls.FLIGHT + walls.CONTACT
    touches = (np.arange(walls.IMPACTS) * half + walls.HALF_GAP / walls.SPEED).tolist()
    exact = np.ravel([(t, t + walls.CONTACT) for t in touches])
    assert np.allclose([event.t for event in result.events], exact, rtol=0, atol=1e-7)
    assert walls.error(float(result["mass.x"][-1]), float(result["mass.vx"][-1])) < 1e-7
