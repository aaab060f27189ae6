"""Without numba everything works too, slowly: for stepping through with a debugger."""

from __future__ import annotations

import os
import subprocess
import sys

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


def test_results_are_the_same_without_compilation():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "1"
