"""Large mechanisms, for which no full matrix is looked at, are told and shared as small ones are."""

from __future__ import annotations

import numpy as np

import kempe as kp
from kempe.simulation import machine


def cranks(count: int) -> kp.Mechanism:
    """A heavy coupler on parallel cranks of different stiffness, of which two would do."""
    m = kp.Mechanism("cranks", gravity=(0.0, -9.81))
    coupler = m.body("coupler", mass=50.0, inertia=5.0, at=(0.0, -1.0))
    for k, x in enumerate(np.linspace(-1.0, 1.0, count)):
        crank = m.body(f"crank {k}", mass=0.2, inertia=0.01, at=(x, -0.5))
        m.revolute(f"O{k}", m.ground, crank, at=(x, 0.0), stiffness=1e8)
        m.revolute(f"A{k}", crank, coupler, at=(x, -1.0), stiffness=1e7 * (1.0 + k % 3))
    return m


def test_a_large_one_is_told_and_shared_as_by_full_matrices(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    m = cranks(12)
    options = {"velocities": {"coupler.vx": 1.0}, "steps": 3, "tolerance": 1e-10}
    one = m.simulate(0.3, **options)
    monkeypatch.setattr(machine, "DENSE", 10)
    other = m.simulate(0.3, **options)
    assert other.stats["redundant constraints"] == one.stats["redundant constraints"]
    assert other.stats["redundant constraints"] == [d.row for d in m.mobility().redundant if d.permanent]
    for k in range(12):
        assert np.allclose(one[f"A{k}.force"], other[f"A{k}.force"], rtol=1e-5, atol=1e-3)


def test_eight_hundred_coordinates() -> None:
    m = cranks(270)
    found = m.simulate(0.02, velocities={"coupler.vx": 1.0}, steps=2)
    assert len(found.stats["redundant constraints"]) == len(m.mobility().redundant)
    carried = sum(float(found.array(f"lambda.A{k}.y")[0]) for k in range(270))
    assert np.isclose(carried, 50.0 * (9.81 + 1.0), rtol=1e-5)  # (it begins on circles of one)
