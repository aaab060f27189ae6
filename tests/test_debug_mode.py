"""Without numba everything works too, slowly: for stepping through with a debugger."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

import kempe as kp

SCRIPT = """
import numpy as np
import kempe as kp
m = kp.Mechanism("slider-crank")
O, A, B = m.point("O", fixed="xy"), m.point("A", at=(1, 0)), m.point("B", at=(3, 0), fixed="y")
crank = m.bar("crank", O, A)
m.bar("rod", A, B)
m.driver("motor", kp.angle(m.ground, crank), kp.spline([0, 1, 2, 3], [0, 1, 2, 3]))
result = m.kinematics([0.0, 0.5, 1.5, 2.5])
exact = np.cos(result.t) + np.sqrt(4 - np.sin(result.t) ** 2)
assert np.abs(result.array("B.x") - exact).max() < 1e-12
print(m.mobility().dof)
"""

#: A pendulum swings against a stop, with friction that depends on the load of its pin; a ball bounces to rest.
MOTIONS = '''
import kempe as kp
from kempe.elements import Element
from kempe.elements.base import Load, Switch
from kempe.solvers.jit import PLAIN


class PinFriction(Element):
    """A torque against the motion that grows with the force in the pin."""

    def __init__(self, name, body, pin):
        super().__init__(name, body=body, load=Load(pin), size=0.01)

    def damping(self, x):
        force = kp.sqrt(x.load["x"] ** 2 + x.load["y"] ** 2 + 1.0)
        return x.push(x.body.angle, -x.size * force * kp.tanh(x.d(x.body.angle) / 0.1))


class Floor(Element):
    """A floor to bounce on, and at last to rest on."""

    rows = ("gap",)
    modes = ("free", "rest")
    row_modes = {"gap": ("rest",)}

    def __init__(self, name, point):
        super().__init__(name, point=point, restitution=0.4)

    def phi(self, x):
        return [x.point.r[1]]

    def switches(self, x):
        return [
            Switch("free", x.point.r[1], "free", jump={"gap": x.restitution}, limit="rest"),
            Switch("rest", 1.0 - x.lam["gap"], "free"),
        ]


def pendulum(method):
    m = kp.Mechanism("pendulum", gravity=(0, -9.81))
    body = m.body("body", mass=1.0, inertia=0.1, at=(1, 0))
    pin = m.revolute("O", m.ground, body, at=(0, 0))
    m.bump_stop("stop", body.angle, -0.02, 4000.0, damping=40.0)
    if kp.METHODS[method].multipliers:
        m.add(PinFriction("friction", body, pin))
    return m.simulate(0.2, steps=5, method=method, tolerance=1e-3)


def ball(method):
    m = kp.Mechanism("ball", gravity=(0, -9.81))
    point = m.point("ball", (0, 0.01), mass=2.0)
    m.add(Floor("floor", point))
    return m.simulate(0.25, steps=5, method=method, tolerance=1e-3)


def numbers(method):
    found = {}
    for build in (pendulum, ball):
        result = build(method)
        found[build.__name__] = {
            "q": result.q.tolist(),
            "v": result.v.tolist(),
            "a": result.a.tolist(),
            "series": {name: values.tolist() for name, values in result.series.items()},
            "events": [[e.t, e.element, e.mode, e.lost] for e in result.events],
            "steps": [result.stats[name] for name in ("steps", "rejected")],
        }
    return found
'''


def without_compilation(script: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_results_are_the_same_without_compilation():
    assert without_compilation(SCRIPT) == "1"


BLOCKS = """
import numpy as np
from kempe.solvers import quasi_definite as qd
from kempe.solvers.program import Kernels
qd.LARGE, qd.SIDE_BY_SIDE, n = 5, 0.0, 20
rows, columns = np.array([(i, j) for i in range(n) for j in (i - 1, i, i + 1) if 0 <= j < n]).T
links = [{j for j in (k - 1, k + 1) if 0 <= j < n} for k in range(n)]
groups = [np.array([k]) for k in range(n)]
plan = qd.planned(groups, links, [set() for _ in groups], (rows, columns, np.arange(len(rows))), Kernels(4))
values, x = np.where(rows == columns, 3.0, -1.0 + 0.01 * rows), np.arange(1.0, n + 1.0)
K = np.zeros((n, n))
K[rows, columns] = values
lu, work = np.zeros(qd.size(plan)), np.zeros(n)
assert plan.large == 1 and qd.factor(plan, values, np.zeros(n), lu, work)
left = []
for solve, matrix in ((qd.solve, K), (qd.solve_transposed, K.T), (qd.solve_in_loops, K)):
    solve(plan, lu, matrix @ x, work, work)
    left.append(np.abs(work - x).max())
print(max(left) < 1e-12)
"""


def test_blocks_are_eliminated_without_compilation():
    assert without_compilation(BLOCKS) == "True"


@cache
def motions_without_compilation() -> dict[str, Any]:
    script = "import json\nassert PLAIN\nprint(json.dumps({method: numbers(method) for method in kp.METHODS}))"
    return json.loads(without_compilation(MOTIONS + script))


def close(plain: Any, compiled: Any, where: str) -> None:
    if isinstance(compiled, dict):
        assert plain.keys() == compiled.keys()
        for key, value in compiled.items():
            close(plain[key], value, f"{where} {key}")
    elif where.endswith("events"):
        assert [event[1:3] for event in plain] == [event[1:3] for event in compiled]
        times = np.array([[event[0], event[3]] for event in compiled])
        np.testing.assert_allclose([[event[0], event[3]] for event in plain], times, rtol=0, atol=1e-12)
    else:
        size = max(1.0, np.abs(compiled).max(initial=0.0))
        np.testing.assert_allclose(plain, compiled, rtol=0, atol=1e-12 * size, err_msg=where)


@pytest.mark.parametrize("method", kp.METHODS)
def test_every_method_moves_the_same_without_compilation(method):
    here: dict[str, Any] = {}
    exec(MOTIONS, here)
    compiled = json.loads(json.dumps(here["numbers"](method)))
    assert compiled["pendulum"]["events"][0][2] == "contact" and compiled["ball"]["events"][-1][2] == "rest"
    close(motions_without_compilation()[method], compiled, method)
