"""How CasADi's IDAS is given the chain: the same equations in the same coordinates, differentiated to index 1.

x = [q, v], z = [a, lambda]: q' = v, v' = a, 0 = M a + Phi_q^T lambda - Q, 0 = Phi''. IDAS integrates forward
sensitivities beside the motion, or the adjoint equations backward from checkpoints; CasADi derives both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from kempe.benchmarks.sensitivity_problems import END, GRAVITY, KINDS, LEAN, OMEGA

Evaluation = Callable[[np.ndarray], np.ndarray]


def _chain(links: int) -> tuple[dict[str, ca.SX], ca.Function]:
    """The DAE with the integral as quadrature; the start, and the linear equations of z there, by the parameters."""
    n = 3 * links
    q, v, a, lam = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("a", n), ca.SX.sym("lam", 2 * links)
    p, t = ca.SX.sym("p", links * len(KINDS)), ca.SX.sym("t")
    turn, far = LEAN - np.pi / 2, ca.SX(0)
    mass, effort, phi, start = [], ca.SX.zeros(n), [], []
    for k in range(links):
        m, inertia, above, after, stiffness, angle, damping, fx, fy, torque = (
            p[k * len(KINDS) + i] for i in range(len(KINDS))
        )
        at, theta = q[3 * k : 3 * k + 2], q[3 * k + 2]
        u = ca.vertcat(ca.cos(theta), ca.sin(theta))
        pin, before, rate, free = ca.SX.zeros(2), ca.SX(0), ca.SX(0), angle + turn
        if k:
            before, rate, free = q[3 * k - 1], v[3 * k - 1], angle
            above_it = p[(k - 1) * len(KINDS) + 3]
            pin = q[3 * k - 3 : 3 * k - 1] + above_it * ca.vertcat(ca.cos(before), ca.sin(before))
        phi.append(pin - (at - above * u))
        twist = stiffness * (theta - before - free) + damping * (v[3 * k + 2] - rate)
        effort[3 * k] += fx
        effort[3 * k + 1] += fy - m * GRAVITY
        effort[3 * k + 2] += torque * ca.sin(OMEGA * t) - twist
        if k:
            effort[3 * k - 1] += twist
        mass += [m, m, inertia]
        centre = far + above
        start += [centre * np.cos(turn), centre * np.sin(turn), turn]
        far = centre + after
    Phi = ca.vertcat(*phi)
    drift = ca.jtimes(ca.jtimes(Phi, q, v), q, v) + ca.jtimes(Phi, q, a)
    balance = ca.vertcat(*mass) * a + ca.jtimes(Phi, q, lam, True) - effort
    dae = {
        "x": ca.vertcat(q, v),
        "z": ca.vertcat(a, lam),
        "p": p,
        "t": t,
        "ode": ca.vertcat(v, a),
        "alg": ca.vertcat(balance, drift),
        "quad": q[3 * links - 3] ** 2,
    }
    begin = ca.vertcat(*start, ca.SX.zeros(n))
    at_rest = ca.substitute(ca.vertcat(balance, drift), ca.vertcat(q, v, t), ca.vertcat(begin, 0))
    linear = [
        ca.substitute(e, dae["z"], ca.SX.zeros(dae["z"].shape)) for e in (ca.jacobian(at_rest, dae["z"]), at_rest)
    ]
    return dae, ca.Function("start", [p], [begin, *linear])


class Idas:
    """The chain in IDAS at a tolerance: its integral, and the gradient of that by the first so many parameters."""

    def __init__(self, links: int, tolerance: float) -> None:
        dae, self.start = _chain(links)
        options = {"abstol": tolerance, "reltol": tolerance, "max_num_steps": 1_000_000}
        self.motion = ca.integrator("motion", "idas", dae, 0.0, END, options)
        self.p = ca.MX.sym("p", links * len(KINDS))

    def _integral(self, p: ca.MX) -> ca.MX:
        begin, matrix, rest = self.start(p)
        return self.motion(x0=begin, z0=-ca.solve(matrix, rest, "csparse"), p=p)["qf"]

    def simulation(self) -> Evaluation:
        """The integral alone."""
        return _called(ca.Function("simulation", [self.p], [self._integral(self.p)]))

    def forward(self, count: int) -> Evaluation:
        """By forward sensitivities, all directions at once."""
        directions = ca.DM.eye(self.p.numel())[:, :count]
        gradient = ca.jtimes(self._integral(self.p), self.p, directions)
        return _called(ca.Function("forward", [self.p], [gradient]))

    def adjoint(self) -> Evaluation:
        """By the adjoint equations."""
        gradient = ca.gradient(self._integral(self.p), self.p)
        return _called(ca.Function("adjoint", [self.p], [gradient]))


def _called(function: Any) -> Evaluation:
    return lambda p: np.asarray(function(p)).ravel()
