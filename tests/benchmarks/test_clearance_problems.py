"""The problem of the benchmark ``clearance``: its end is right, and Kempe and its peers are given the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kempe.benchmarks import clearance, clearance_peers
from kempe.benchmarks import clearance_problems as given


def rate(t: float, y: np.ndarray) -> np.ndarray:
    """Rod's angle and slider's place, by Newton's laws."""
    r, L, w, m, J = given.CRANK, given.ROD, given.OMEGA, given.MASSES[1], given.INERTIAS[1]
    f, x, df, dx = y
    apart = np.array([x - r * np.cos(w * t) - L * np.cos(f), -r * np.sin(w * t) - L * np.sin(f)])
    moving = np.array([dx + r * w * np.sin(w * t) + L * df * np.sin(f), -r * w * np.cos(w * t) - L * df * np.cos(f)])
    e = np.linalg.norm(apart)
    depth, force = max(e - given.CLEARANCE, 0.0), np.zeros(2)
    if depth:
        force = given.STIFFNESS * depth**1.5 * (1 + given.DAMPING * apart @ moving / e) * apart / e
    carried = -r * w**2 * np.array([np.cos(w * t), np.sin(w * t)])
    across = np.array([-np.sin(f), np.cos(f)])
    turning = (L * across @ force - m * L / 2 * across @ carried) / (m * L**2 / 4 + J)
    return np.array([df, dx, turning, -force[0] / given.MASSES[2]])


def test_the_end_is_what_scipy_says() -> None:
    start = [0.0, given.CRANK + given.ROD, -given.CRANK * given.OMEGA / given.ROD, 0.0]
    found = solve_ivp(rate, (0.0, given.END), start, method="DOP853", rtol=1e-12, atol=1e-14, max_step=2e-7)
    assert found.y[1, -1] == pytest.approx(given.ENDS[0], abs=1e-10)
    assert found.y[0, -1] == pytest.approx(given.ENDS[1], abs=1e-10)


def test_kempe_ends_there() -> None:
    res = given.plain().simulate([0.0, given.END], velocities=given.SPEEDS, tolerance=1e-12)
    assert clearance._error(np.array([res.array("slider.x")[-1], res.array("rod.angle")[-1]])) < 1e-10
    assert len(res.contacts("B")) == 3


def test_exudyn_is_given_the_same() -> None:
    exudyn = pytest.importorskip("exudyn")
    found = clearance_peers.exudyn_run(exudyn, given.END, 3000)()()()
    assert clearance._error(found) < 1e-7


def test_mujoco_flies_the_same_way_until_the_first_contact() -> None:
    pytest.importorskip("mujoco")
    end = 2.2e-4
    found = clearance_peers.mujoco_run(end, 20_000, 3e4, 0.03)()()()
    res = given.plain().simulate([0.0, end], velocities=given.SPEEDS)
    assert found == pytest.approx([res.array("slider.x")[-1], res.array("rod.angle")[-1]], abs=1e-6)
