"""Which directional derivatives a system has, and where the outputs of each element go (``solvers.directions``)."""

from __future__ import annotations

import numpy as np

from kempe.solvers.directions import Directions, directions
from kempe.solvers.motion import TOUCH_VALUES
from kempe.system.system import System


def directions_of(system: System, name: str) -> Directions:
    """The derivatives of

    - ``motion``: f (n), Phi'' (m); ``residual``: f, Phi; ``stages``: f, Phi';
    - ``velocity``: Phi (m), Phi' (m);
    - ``inertia``: M a + Phi_q^T lambda (n);
    - ``guards``, ``jumps``, ``latches``: as the programs of these names;
    - ``touch``: per touching element gap, its rate, slip, friction, restitution (``TOUCH_VALUES`` each).
    """
    d, n, m = system.dynamics, system.n, system.m
    if name == "touch":
        using = [d.hybrid[i] for i in d.touching]
        size = TOUCH_VALUES * len(using)
        targets = [TOUCH_VALUES * i + np.arange(TOUCH_VALUES) for i in range(len(using))]
    elif name in ("guards", "jumps", "latches"):
        using, size = (
            d.hybrid,
            {"guards": len(d.switches), "jumps": d.jumps.size_out, "latches": d.latches.size_out}[name],
        )
        counts = [_outputs(system, k, name) for k in using]
        starts = np.cumsum([0, *counts])
        targets = [np.arange(starts[i], starts[i + 1]) for i in range(len(using))]
    else:
        using = [k for k, f in enumerate(system.families) if f.moves and (name != "velocity" or f.n_rows)]
        q, rows = system.q_of, system.rows_of
        size = {"velocity": 2 * m, "inertia": n}.get(name, n + m)
        if name == "velocity":
            targets = [np.concatenate([rows[k], m + rows[k]]) for k in using]
        elif name == "inertia":
            targets = [q[k] for k in using]
        else:
            targets = [np.concatenate([q[k], n + rows[k]]) for k in using]
    number = system.kernels.number
    calls = [
        (
            number(system._variant(k, f"push:{name}").kernel),
            number(system._variant(k, f"pull:{name}").kernel),
            system.inputs_at(k),
            target,
        )
        for k, target in zip(using, targets, strict=True)
    ]
    return directions(system.kernels, calls, size)


def _outputs(system: System, k: int, name: str) -> int:
    """How many values an element has of what belongs to switches."""
    f = system.families[k]
    if name == "guards":
        return len(f.switches)
    if name == "latches":
        return 1 + len(f.switches) * len(f.latches)
    return len(f.switches) * (len(f.row_names) + f.q.numel())
