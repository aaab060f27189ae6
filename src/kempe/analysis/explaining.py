"""Why a simulation could not go on, in the user's names, and what to try."""

from __future__ import annotations

from typing import Any

import numpy as np

from kempe.solvers import course as co


def explain(run: Any, code: int) -> str:
    """One sentence on what happened, one on what to try."""
    s, x, n = run.course.s, run.course.x, run.moving.n
    t = float(s[co.T])
    names = run.posed.system.names
    if code == co.RUNAWAY:
        k = int(np.argmax(np.abs(x[co.V, :n]) / run.posed.scale))
        if s[co.STEP] > 0:
            return (
                f"the motion runs away at t = {t:.10g}: '{names[k][1]}' = {x[co.V, k]:.4g}; "
                "the fixed step is likely too large for this method: try a smaller step, or an implicit method"
            )
        return (
            f"the velocities grow without bound at t = {t:.10g}: '{names[k][1]}' = {x[co.V, k]:.4g}; "
            "look for a force that pushes the way it moves (a negative damping or stiffness, a wrong sign)"
        )
    if code == co.CHATTERING:
        return (
            f"more than 100 switches at t = {t:.10g}, the last: {run.events[-1].message if run.events else '?'}; "
            "an element switches back and forth without moving: look at its guards"
        )
    undefined = not_finite(run)
    if undefined:
        listed = ", ".join(undefined[:4])
        return f"not finite at t = {t:.10g}; there or just beyond it, look at the laws of {listed}"
    loose = free_without_inertia(run)
    if loose:
        listed = ", ".join(f"'{name}'" for name in loose[:4])
        return (
            f"no inertia resists the motion of {listed} at t = {t:.10g}; "
            "give these parts mass and inertia, or hold them with a joint"
        )
    worst, violated = worst_row(run)
    where = f"; largest constraint violation {violated:.2g} in '{worst}'" if worst and violated > 1e-10 else ""
    held = ", ".join(f"'{name}'" for name in weakest_rows(run)[:3])
    near = f"; the constraints are nearly dependent there: {held}" if held else ""
    advice = (
        "try a smaller step"
        if s[co.STEP] > 0
        else "try a larger tolerance, method='radau', or look for a jump in a force or law"
    )
    return f"the motion could not be continued beyond t = {t:.10g}{where}{near}; {advice}"


def not_finite(run: Any) -> list[str]:
    """The elements whose forces or constraints are not finite at the present state or shortly after it."""
    posed, n, found = run.posed, run.moving.n, []
    q, v, t = run.course.x[co.Q, :n], run.course.x[co.V, :n], float(run.course.s[co.T])
    pace = 1.0 / max(float(run.course.s[co.RATE]), 1e-300)
    for ahead in (0.0, 1e-6 * pace, 1e-3 * pace, 1e-2 * pace):
        for element, values in zip(
            posed.system.elements, posed.system.each(q + ahead * v, v, t + ahead, run.wk.x), strict=True
        ):
            if not np.isfinite(values).all() and (name := f"{element.kind} '{element.name}'") not in found:
                found.append(name)
        if found:
            break
    return found


def free_without_inertia(run: Any) -> list[str]:
    """Coordinates that can move without any inertia to resist, for small systems."""
    if run.moving.n > 400:
        return []
    posed, n = run.posed, run.moving.n
    q, t = run.course.x[co.Q, :n], float(run.course.s[co.T])
    _, J, _ = posed.linear(q, t)
    scaled = J * posed.scale / posed.row_scale[:, None]
    _, sizes, Vt = np.linalg.svd(scaled) if len(J) else (None, np.zeros(0), np.eye(n))
    null = Vt[int((sizes > 1e-10 * sizes.max(initial=1e-300)).sum()) :].T
    if null.shape[1] == 0:
        return []
    M = posed.system.mass_matrix(posed.x, q, t) * np.outer(posed.scale, posed.scale)
    values, vectors = np.linalg.eigh(null.T @ M @ null)
    loose = null @ vectors[:, values < 1e-12 * max(float(np.abs(M).max()), 1e-300)]
    if loose.shape[1] == 0:
        return []
    weight = np.abs(loose).max(axis=1)
    order = np.argsort(-weight, kind="stable")
    return [posed.system.names[k][0] for k in order if weight[k] > 1e-3]


def worst_row(run: Any) -> tuple[str, float]:
    """The constraint that is violated most, and by how much."""
    posed, n = run.posed, run.moving.n
    if not run.moving.m:
        return "", 0.0
    sizes = np.abs(posed.Phi(run.course.x[co.Q, :n], float(run.course.s[co.T]))) / posed.row_scale
    k = int(np.argmax(np.nan_to_num(sizes, nan=np.inf)))
    return posed.system.rows[k].label, float(sizes[k])


def weakest_rows(run: Any) -> list[str]:
    """The rows that take part in a nearly vanishing combination of constraints, for small systems."""
    if run.moving.n > 400 or not run.moving.m:
        return []
    posed, n = run.posed, run.moving.n
    _, J, _ = posed.linear(run.course.x[co.Q, :n], float(run.course.s[co.T]))
    U, sizes, _ = np.linalg.svd(J * posed.scale / posed.row_scale[:, None], full_matrices=False)
    if not sizes[-1] < 1e-4 * sizes[0]:
        return []
    weight = np.abs(U[:, -1])
    owners = [posed.system.rows[k].owner for k in np.argsort(-weight) if weight[k] > 0.1]
    return list(dict.fromkeys(owners))
