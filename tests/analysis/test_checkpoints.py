"""Checkpoints: what is continued by another run is, digit for digit, what would have come anyway."""

from __future__ import annotations

import json

import numpy as np
import pytest
from machines import MACHINES, link

import kempe as kp
from kempe.simulation.checkpoints import write_checkpoint
from kempe.simulation.running import Record
from kempe.simulation.starting import begun
from kempe.solvers import course as co


def hopper() -> kp.Mechanism:
    """A mass that falls on a stop again and again, with a joint given twice."""
    m = kp.Mechanism("hopper", gravity=(0.0, -9.81))
    body = link(m, "body", (0.0, 1.0), (1.0, 1.0))
    m.translational("guide", m.ground, body, axis=(0, 1), at=(0.5, 0.0))
    m.translational("second guide", m.ground, body, axis=(0, 1), at=(0.7, 0.0), on_j=(0.2, 0.0))
    m.bump_stop("stop", body.y, 0.2, stiffness=5e3, damping=2.0, side="below")
    return m


def stiff() -> kp.Mechanism:
    """A strong damper: 'auto' goes over to Radau."""
    m = kp.Mechanism("stiff", gravity=(0.0, -9.81))
    rod = link(m, "rod", (0.0, 0.0), (1.0, 0.0))
    m.revolute("pin", m.ground, rod, at=(0, 0))
    m.torsion_spring("damper", m.ground, rod, stiffness=10.0, damping=1e4)
    return m


CASES = [("hopper", hopper, method) for method in kp.METHODS if method != "penalty"]
CASES += [("four-bar", lambda: MACHINES["four_bar_of_bodies"]().model, method) for method in kp.METHODS]
CASES += [("stiff", stiff, "auto")]


@pytest.mark.parametrize(("name", "build", "method"), CASES, ids=[f"{c[0]}-{c[2]}" for c in CASES])
def test_a_run_is_continued_digit_for_digit(name, build, method, tmp_path):
    path = tmp_path / "run.npz"
    options = {"method": method, "tolerance": 1e-6}
    whole = build().simulate(2.0, **options)
    machine, record = begun(build(), 2.0, **options), Record()
    initial = machine.initial()
    code = machine.advance((whole.stats["steps"] + whole.stats["rejected"]) // 2)
    record.collect(machine)
    assert code == co.PAUSE and machine.course.now.t < 2.0  # on its way
    write_checkpoint(machine, record, initial, path)
    result = kp.resume(build(), path)
    assert result.stats == whole.stats and result.message == whole.message
    for one, other in ((result.t, whole.t), (result.q, whole.q), (result.v, whole.v), (result.a, whole.a)):
        assert np.array_equal(one, other)
    assert [(e.t, e.message) for e in result.events] == [(e.t, e.message) for e in whole.events]
    for series in ("energy.dissipated", "energy.balance"):
        assert np.array_equal(result.array(series), whole.array(series))


def test_a_pose_and_velocities_of_the_start_are_not_needed_again(tmp_path):
    path = tmp_path / "run.npz"
    m = stiff()
    start = {"start": m.equilibrium().pose, "velocities": {"rod.omega": 2.0}}
    machine = begun(m, 1.0, method="radau", **start)
    initial = machine.initial()
    machine.advance(5)
    write_checkpoint(machine, Record(), initial, path)
    assert np.array_equal(kp.resume(stiff(), path).q, m.simulate(1.0, method="radau", **start).q)


def test_wrong_files_are_told(tmp_path):
    with pytest.raises(kp.KempeError, match="there is no checkpoint file"):
        kp.resume(hopper(), tmp_path / "none.npz")
    text = tmp_path / "text.npz"
    text.write_text("not a checkpoint")
    with pytest.raises(kp.KempeError, match="is not a checkpoint file"):
        kp.resume(hopper(), text)
    path = write_checkpoint(begun(hopper(), 1.0), Record(), None, tmp_path / "run.npz")
    with pytest.raises(kp.ModelError, match="another model \\('hopper'\\)"):
        kp.resume(stiff(), path)
    with np.load(path) as stored:
        data = dict(stored)
    data["about"] = np.array(json.dumps({**json.loads(str(data["about"])), "format": 1}))
    np.savez(path, **data)
    with pytest.raises(kp.KempeError, match="another version of Kempe"):
        kp.resume(hopper(), path)


def test_ctrl_c_returns_what_exists_and_the_rest_can_follow(tmp_path):
    path, m = tmp_path / "run.npz", MACHINES["double_pendulum"]().model
    times = np.linspace(0.0, 200.0, 2001)

    def interrupt(done: float, end: float) -> None:
        assert 0.0 < done < end
        raise KeyboardInterrupt

    part = m.simulate(times, progress=interrupt, checkpoint=path)
    whole = m.simulate(times)
    assert part.status == "interrupted" and not part.success and 1 < len(part) < len(times)
    assert np.array_equal(part.q, whole.q[: len(part)])
    assert np.array_equal(kp.resume(m, path).q, whole.q)
