"""Every program of every element, fused: the digits of its kernels one by one."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from test_every_element import EXAMPLES, Drawing

from kempe.solvers.program import Program
from kempe.system import compiled

PROGRAMS = (
    *("value", "explicit", "residual", "tangent", "velocity", "canonical", "energy"),
    *("guards", "latches", "jumps", "touch", "followed", "arguments"),
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_programs_of_every_element_fused_and_not(name: str) -> None:
    model, _ = EXAMPLES[name].build(Drawing(1.3, 0.4, (0.2, -0.1)))
    system = compiled(model)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    x, q = system.inputs(model.parameter_vector(None))
    state = [
        (q + 0.1 * rng.normal(size=system.n), rng.normal(size=system.n), rng.normal(size=system.m)) for _ in range(3)
    ]
    system.fusion.make(PROGRAMS)
    for which in PROGRAMS:
        program: Program = system.fusion.program(which)
        if system.fusion.job(which) is None:
            assert len(program.kernel) == 0 or any(k.columns for k in system.kernels.held if hasattr(k, "columns"))
            continue
        assert program.fused > 0
        for at, v, lam in state:
            given = (at, 0.3, v, lam, v[::-1].copy(), [1.0, 0.3, -0.2])
            fused, apart = (system.evaluate(p, x.copy(), *given) for p in (program, program.changed(fused=0)))
            assert np.array_equal(fused, apart, equal_nan=True), which
