"""The compiled equations of motion of a system: its programs in one frame, with arrays for scales and shifts."""

from __future__ import annotations

import numpy as np

from kempe.errors import ModelError
from kempe.solvers.motion import Equations
from kempe.solvers.program import Program
from kempe.system import System

#: Programs that only some methods need.
IMPLICIT = ("residual", "tangent", "velocity")


def equations(system: System, needs: tuple[str, ...], scale: np.ndarray, row_scale: np.ndarray) -> Equations:
    """The equations with the programs that a method ``needs`` besides those that all do."""
    if not any(f.kinetic is not None for f in system.families):
        raise ModelError(f"'{system.model.name}' has no mass: give its bodies mass and inertia (kinematics needs none)")
    d, n, m = system.dynamics, system.n, system.m
    chosen: dict[str, Program] = {
        name: getattr(d, name) if name in needs else d.nothing for name in (*IMPLICIT, "canonical")
    }
    right = d.right
    return Equations(
        layout=system.layout,
        plan=d.plan,
        whole=d.whole,
        explicit=d.explicit,
        value=system.value,
        energy=d.energy,
        guards=d.guards,
        latches=d.latches,
        jumps=d.jumps,
        touch=d.touch,
        followed=d.followed,
        hybrids=d.hybrids,
        touches=d.touches,
        follows=d.follows,
        jacobian_row=d.jacobian_rows,
        jacobian_column=d.jacobian_columns,
        right_row=right[0],
        right_column=right[1],
        mirror=d.mirror,
        diagonal=d.diagonal,
        n=n,
        m=m,
        upper=len(d.block_rows),
        renewal=d.renewal if "tangent" in needs else 0.0,
        loaded=d.loaded,
        scale=scale,
        row_scale=row_scale,
        **{name: np.zeros(m) for name in ("compliance", "step_compliance", "flexible")},
        share=np.ones(m),
        units=np.zeros(n + m),
        shift=np.zeros(n + m),
        step_shift=np.zeros(n + m),
        **chosen,
    )


def with_programs(eq: Equations, system: System, needs: tuple[str, ...]) -> Equations:
    """The same equations, arrays shared, with further programs."""
    return eq.changed(**{name: getattr(system.dynamics, name) for name in needs})
