"""A run under way is plain data: pickled as one object, it goes on in another process, digit for digit."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kempe as kp
from kempe.simulation.machine import Machine
from kempe.simulation.starting import begun
from kempe.solvers import course as co

#: Goes on with runs whose frames are in a file, and writes down where they end.
ELSEWHERE = """
import pickle, sys
from kempe.simulation.integrators import INTEGRATORS
from kempe.simulation.methods import METHODS
from kempe.solvers.driver import advance

with open(sys.argv[1], "rb") as file:
    runs = pickle.load(file)
ends = {}
for name, (eq, wk, course, memory) in runs.items():
    INTEGRATORS[METHODS[name].solver].connect(course, memory)
    course.budget = 10**9
    code = advance(eq, wk, course)
    ends[name] = code, dict(course.contents()), dict(memory.contents())
with open(sys.argv[2], "wb") as file:
    pickle.dump(ends, file)
"""


def machine(method: str) -> Machine:
    """A driven slider-crank that runs against a stop, with a force read from a table."""
    m = kp.Mechanism("press", gravity=(0, -9.81))
    O, A, B = m.point("O", fixed="xy"), m.point("A", at=(0.3, 0.1)), m.point("B", at=(1.0, 0), fixed="y", mass=0.4)
    crank = m.bar("crank", O, A, mass=1.0)
    m.bar("rod", A, B, mass=0.5)
    turned = kp.angle(m.ground, crank)
    m.bump_stop("stop", B.x, 0.85, 400.0, damping=2.0)
    m.torsion_spring("spring", m.ground, crank, law=kp.spline([-3, -1, 0, 1, 3], [-4, -2, 0, 2, 5]))
    m.event("dead centre", turned, np.pi)
    return begun(m, np.linspace(0, 0.6, 31), method=method, tolerance=1e-6, velocities={"A.vy": 1.5})


def frames(machine: Machine) -> tuple[Any, ...]:
    return machine.eq, machine.wk, machine.course, machine.integrator.memory


@pytest.fixture(scope="module")
def journeys(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Machine], dict[str, Any]]:
    """Runs of all methods, interrupted on the way, and how they end in another process."""
    folder: Path = tmp_path_factory.mktemp("journey")
    machines = {name: machine(name) for name in kp.METHODS}
    for here in machines.values():
        assert here.advance(12) == co.PAUSE
    (folder / "sent").write_bytes(pickle.dumps({name: frames(m) for name, m in machines.items()}))
    process = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(folder / "sent"), str(folder / "back")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr
    with open(folder / "back", "rb") as file:
        return machines, pickle.load(file)


@pytest.mark.parametrize("method", kp.METHODS)
def test_a_run_goes_on_in_another_process(journeys: Any, method: str) -> None:
    machines, ends = journeys
    here, (code, *there) = machines[method], ends[method]
    assert here.advance(10**9) == code == co.REACHED
    course, memory = here.course, here.integrator.memory
    assert course.log.count >= 2 and course.outputs.written == 31  # it met the stop, and wrote everything down
    assert memory is not None
    found_at = here.system.found_at
    own = found_at == np.arange(len(found_at))  # (inputs that kernels are handed from the head are scratch)
    for frame, other in zip((course, memory), there, strict=True):
        for name, value in frame.contents():
            if name == "beside.x":
                assert np.array_equal(value[own], other[name][own])
            elif not name.endswith("_at") and (not name.startswith("beside.") or name == "beside.lu"):
                assert np.array_equal(value, other[name], equal_nan=True), name


def test_pickled_frames_hold_no_addresses_of_memory_but_those_to_be_set_anew() -> None:
    """Whatever points into this process is named ``..._at``, or is rebuilt."""
    here = machine("projection")
    eq, wk, course, memory = pickle.loads(pickle.dumps(frames(here)))
    assert eq.plan.kernels is eq.explicit.kernels is eq.layout.arguments.kernels
    assert course.beside.x is wk.x and course.edge_now.q is course.now.q  # what was shared still is
    memory.trial[0] = 17.0
    assert memory.at.q[0] == 17.0
    for frame in (eq, wk, course, memory):
        for name, value in frame.contents():
            if isinstance(value, int) and value > 2**40:
                assert name.endswith("_at"), name
