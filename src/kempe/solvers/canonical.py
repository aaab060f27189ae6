"""Canonical momenta with an augmented Lagrangian: eq. 10.92 of Garcia de Jalon and Bayo.

Velocities follow from (M + Phi_q^T alpha Phi_q) v = p - ..., solved as the quasi-definite system whose multipliers
sigma are the momenta of the constraints.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers import quasi_definite as qd
from kempe.solvers.course import AL, DAMPING, OMEGA, REACHED, SIGMA, SINGULAR, SWEEPS, Q, T, V
from kempe.solvers.jit import compiled
from kempe.solvers.motion import CANONICAL, EXPLICIT, PLAN, accelerations, evaluate, explicit_values, place
from kempe.solvers.pack import part
from kempe.solvers.program import load_multipliers, load_rates, run
from kempe.solvers.vectors import copy


@compiled
def canonical_rates(eq, wk, course, t, y, f, al):
    """The rate of [q, p, work, integral of Phi]; velocities and the multipliers of the momenta go to ``al``."""
    s, n, m = course.s, eq.scale.shape[0], eq.row_scale.shape[0]
    q, p, total = y[:n], y[n : 2 * n], y[2 * n + 2 :]
    sol, rhs, r, d, w = wk.w[0], wk.w[1], wk.w[2], wk.w[3], wk.w[4]
    if not evaluate(eq, wk, q, p, t):
        return SINGULAR
    values, plan = explicit_values(eq, wk), part(eq.indices, PLAN)
    omega, damping = s[OMEGA], s[DAMPING]
    for i in range(n):
        rhs[i] = p[i]
        sol[i] = 0.0
    for k in range(m):
        rhs[n + k] = wk.out[n + m + k] - 2.0 * damping * omega * wk.out[n + k] - omega * omega * total[k]
        f[2 * n + 2 + k] = wk.out[n + k]
        sol[n + k] = course.x[SIGMA, n + k]
    last = np.inf
    for _ in range(int(s[SWEEPS]) + 1):
        copy(rhs, r)
        qd.subtract_product(plan, values, sol, r)
        qd.solve(plan, wk.lu, r, d, w)
        change, largest = 0.0, 1e-300
        for i in range(n):
            change = max(change, abs(d[i]) / eq.scale[i])
            largest = max(largest, abs(sol[i] + d[i]) / eq.scale[i])
        if not change < 0.5 * last:
            break
        for i in range(n + m):
            sol[i] += d[i]
        last = change
        if change < 1e-15 * largest:
            break
    load_rates(eq.layout, sol[:n], wk.x)
    load_multipliers(eq.layout, sol[n:], wk.x)
    run(part(eq.indices, CANONICAL), wk.x, wk.y, wk.out)
    for i in range(n):
        f[i] = sol[i]
        f[n + i] = wk.out[i]
    f[2 * n] = 0.0
    f[2 * n + 1] = 0.0
    copy(sol, al)
    return REACHED


@compiled
def momenta(eq, wk, course, y):
    """P = M v + Phi_q^T sigma with the sigma at hand."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    place(eq, wk, course.x[Q, :n], course.x[V, :n], course.s[T])
    run(part(eq.indices, EXPLICIT), wk.x, wk.y, wk.out)
    sol, r = wk.w[0], wk.w[1]
    for i in range(n):
        sol[i] = course.x[V, i]
        r[i] = 0.0
    for k in range(m):
        sol[n + k] = course.x[SIGMA, n + k]
        r[n + k] = 0.0
    qd.subtract_product(part(eq.indices, PLAN), explicit_values(eq, wk), sol, r)
    for i in range(n):
        y[n + i] = -r[i]


@compiled
def after_canonical(eq, wk, course):
    """Keep sigma for a warm start, and let AL hold true accelerations and multipliers."""
    n = eq.scale.shape[0]
    for k in range(n, course.x.shape[1]):
        course.x[SIGMA, k] = course.x[AL, k]
    place(eq, wk, course.x[Q, :n], course.x[V, :n], course.s[T])
    run(part(eq.indices, EXPLICIT), wk.x, wk.y, wk.out)
    accelerations(eq, wk, course.x[V, :n], 0.0, 1.0, int(course.s[SWEEPS]), course.x[AL])
