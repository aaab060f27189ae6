"""Checkpoints: what is continued by another run is, digit for digit, what would have come anyway."""

from __future__ import annotations

import json
import os
import subprocess
import sys

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


def pendulum(mass: float = 1.0, stiffness: float = 3.0, cubic: bool = False, width: float = 1.0) -> kp.Mechanism:
    m = kp.Mechanism("pendulum", gravity=(0.0, -9.81))
    L = m.parameter("L", 0.5)
    rod = m.body("rod", mass, 0.1, at=(L, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0))
    m.spring("S", m.ground, rod, on_i=(1, 1), law=lambda s, r: stiffness * (s**3 if cubic else s))
    m.torsion_spring("table", m.ground, rod, law=kp.spline([-4, 0, 4], [-width, 0, width]))
    return m


def half_way(tmp_path):
    machine = begun(pendulum(), 1.0, parameters={"L": 0.4})
    machine.advance(5)
    return write_checkpoint(machine, Record(), machine.initial(), tmp_path / "run.npz")


@pytest.mark.parametrize("other", [{"mass": 5.0}, {"stiffness": 4.0}, {"cubic": True}, {"width": 2.0}], ids=str)
def test_another_model_with_the_same_names_is_refused(other, tmp_path):
    """The checkpoint knows the mathematics and the data; values of parameters are its own."""
    path = half_way(tmp_path)
    with pytest.raises(kp.ModelError, match="its equations or numbers are not"):
        kp.resume(pendulum(**other), path)
    m = pendulum()
    m.set(L=0.7)
    assert np.array_equal(kp.resume(m, path).q, pendulum().simulate(1.0, parameters={"L": 0.4}).q)


def test_a_model_is_the_same_in_every_process(tmp_path):
    path = half_way(tmp_path)
    program = (
        "import sys; sys.path[:0] = sys.argv[2:]; import kempe as kp, test_checkpoints as t; "
        "kp.Mechanism('x').body('other'); print(kp.resume(t.pendulum(), sys.argv[1]).q[-1].tolist())"
    )
    folders = [os.path.dirname(__file__)]
    process = subprocess.run(
        [sys.executable, "-c", program, str(path), *folders], capture_output=True, text=True, timeout=300
    )
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout) == kp.resume(pendulum(), path).q[-1].tolist()


@pytest.mark.parametrize("damage", ["cut", "flipped", "random", "empty", "pickled", "an array", "words", "lacking"])
def test_a_damaged_checkpoint_is_refused(damage, tmp_path):
    path = half_way(tmp_path)
    whole = path.read_bytes()
    with np.load(path) as stored:
        data = dict(stored)
    if damage == "flipped":  # within an array, its checksum in the archive put right again
        name = next(key for key in data if key.endswith("q"))
        data[name] = data[name] + 1e-9
    elif damage == "pickled":
        data["grid"] = np.array([print], dtype=object)
    elif damage == "an array":
        data["grid"] = np.zeros((3, 3))
    elif damage == "words":
        data["about"] = np.array("[[")
    elif damage == "lacking":
        del data["work x"]
    contents = {"cut": whole[:-300], "random": np.random.default_rng(1).bytes(5000), "empty": b""}
    if damage in contents:
        path.write_bytes(contents[damage])
    else:
        np.savez(path, **data)
    with pytest.raises(kp.KempeError, match="checkpoint"):
        kp.resume(pendulum(), path)


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
