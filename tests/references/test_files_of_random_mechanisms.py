"""Random mechanisms with every kind of analysis: saved, loaded and run, they are the same, digit for digit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from building import mechanism
from drawing import draw

import kempe as kp
from kempe import running
from kempe.model import files

SEEDS = (0, 3, 8, 12, 15, 20, 24, 27, 202, 205, 207, 211, 215, 219, 226, 232)


def entries(plan, rng: np.random.Generator, coordinates: list[str]) -> list[dict]:
    """An entry of every kind, with names of this mechanism."""
    times = {"start": 0.0, "end": plan.end * float(rng.uniform(0.01, 0.05)), "steps": int(rng.integers(2, 9))}
    coordinate = str(rng.choice(coordinates))
    drawn = [
        {
            "simulate": {
                "times": times,
                "velocities": dict(plan.velocities),
                "tolerance": float(10 ** rng.uniform(-9, -5)),
            }
        },
        {"modes": {"about": "rest", "count": int(rng.integers(1, 5))}},
        {"linearise": {"velocities": dict(plan.velocities)}},
        {"kinematics": {"times": times, "on_singular": "stop"}},
        {"inverse_dynamics": {"times": times["end"], "steps": 3}},
        {"resume": {"checkpoint": "simulate.npz"}},
    ]
    rest = {"equilibrium": {"name": "rest", "hold": [coordinate], "stable": bool(rng.integers(2))}}
    return [rest, *(drawn[k] for k in rng.permutation(len(drawn)))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_mechanism_is_the_same_from_a_file(seed, tmp_path: Path):
    plan, _ = draw(seed)
    m, rng = mechanism(plan), np.random.default_rng(seed)
    m.parameter("factor", 1.0)
    wanted = entries(plan, rng, [names[0] for part in m.parts.values() for names in part.names()])
    wanted.append(
        {"sweep": {"times": plan.end / 50, "designs": {"factor": [1.0, 2.0]}, "quantities": ["energy.kinetic"]}}
    )
    path = m.save(tmp_path / "m.kempe.yaml", analyses=wanted, outputs={"animation": False, "report": False})
    read = files.read(path).data.analyses
    assert [{item.kind: item.spec.model_dump(exclude_unset=True)} for item in read] == wanted
    again = kp.load(path)
    assert files.describe(again) == files.describe(m)

    given = next(entry["simulate"] for entry in wanted if "simulate" in entry)
    grid = np.linspace(given["times"]["start"], given["times"]["end"], given["times"]["steps"] + 1)
    options = {key: given[key] for key in ("velocities", "tolerance")}
    run = running.run_one(path, "simulate", {})
    here, there = m.simulate(grid, **options), run.result
    assert here.names == there.names
    for name in here.names:
        assert np.array_equal(here.array(name), there.array(name)), name
