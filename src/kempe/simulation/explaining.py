"""Why a simulation could not go on, in the user's names, and what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kempe.simulation.jumps import CRAWLING, jumping, told_jumps
from kempe.simulation.wording import listed
from kempe.solvers import course as co
from kempe.solvers.least_squares import levenberg_marquardt
from kempe.solvers.selection import undetermined
from kempe.system.dependence import most_first

if TYPE_CHECKING:
    from kempe.simulation.machine import Machine


def explain(machine: Machine, code: int) -> str:
    """One sentence on what happened, one on what to try."""
    course, names = machine.course, machine.system.names
    t, v = course.now.t, course.now.v
    if code == co.RUNAWAY:
        k = int(np.argmax(np.abs(v) / machine.eq.scale))
        if course.fixed > 0:
            return (
                f"the motion runs away at t = {t:.10g}: '{names[k][1]}' = {v[k]:.4g}; "
                "the fixed step is likely too large for this method: try a smaller step, or an implicit method"
            )
        return (
            f"the velocities grow without bound at t = {t:.10g}: '{names[k][1]}' = {v[k]:.4g}; "
            "look for a force that pushes the way it moves (a negative damping or stiffness, a wrong sign)"
        )
    if code == co.CRAWLS:
        found = jumping(machine, course.now.q, v, t, CRAWLING)
        return f"the motion makes no headway: {told_jumps(found, t)}"
    if code in (co.CHATTERING, co.UNSETTLED):
        return _restless(machine, code, t)
    if code == co.INADMISSIBLE:
        return _inadmissible(machine, t)
    undefined = not_finite(machine)
    if undefined:
        listed = ", ".join(undefined[:4])
        return f"not finite at t = {t:.10g}; there or just beyond it, look at the laws of {listed}"
    loose = free_without_inertia(machine)
    if loose:
        listed = ", ".join(f"'{name}'" for name in loose[:4])
        return (
            f"no inertia resists the motion of {listed} at t = {t:.10g}; "
            "give these parts mass and inertia, or hold them with a joint"
        )
    pressing = _self_pressing(machine, t)
    if pressing:
        return pressing
    worst, violated = worst_row(machine)
    where = f"; largest constraint violation {violated:.2g} in '{worst}'" if worst and violated > 1e-10 else ""
    locked = _lock_up(machine)
    if locked:
        return (
            f"lock-up at t = {t:.10g}: {locked}{where}; beyond this position there is none, "
            "or the driver's speed would have to be unbounded"
        )
    weakest = weakest_rows(machine)
    held = ", ".join(f"'{name}'" for name in weakest[:3])
    near = f"; the constraints are nearly dependent there: {held}" if held else ""
    met = jumping(machine, course.now.q, v, t, CRAWLING)
    if met:
        return f"the motion could not be continued beyond t = {t:.10g}{where}: {told_jumps(met, t)}"
    other = "" if machine.integrator.name.endswith("radau") else "method='radau', "
    advice = (
        "try a smaller step"
        if course.fixed > 0
        else f"try a larger tolerance, {other}or look for a jump in a force or law"
    )
    return f"the motion could not be continued beyond t = {t:.10g}{where}{near}; {advice}"


def _touching(machine: Machine, e: int) -> tuple[str, str]:
    """The name of a touching element, and where its parts are."""
    system, now = machine.system, machine.course.now
    k = system.dynamics.hybrid[machine.eq.touches.element[e]]
    where = ", ".join(f"{system.names[c][0]} = {now.q[c]:.6g}" for c in system.q_of[k])
    return system.elements[k].name, where


def _inadmissible(machine: Machine, t: float) -> str:
    """Which contacts and rubbing joints have no forces that all their conditions allow."""
    choice = machine.course.choice
    found = [_touching(machine, int(e)) for e in np.flatnonzero(choice.involved)]
    return (
        f"no forces of {listed([name for name, _ in found])} at t = {t:.10g} are such that what is closed is pressed, "
        "what sticks holds and what slides is slowed down, whichever of them open, stick or slide: with this much "
        f"friction rigid bodies have no motion from here (Painleve's paradox; {found[0][1]}); use less friction, or "
        "a contact that gives way"
    )


def _self_pressing(machine: Machine, t: float) -> str:
    """The contact or joint whose friction makes its own force grow without bound, if that is why the motion ends."""
    if not len(machine.course.choice.involved):
        return ""
    e = int(undetermined(machine.eq, machine.course.beside, machine.course))
    if e < 0:
        return ""
    name, where = _touching(machine, e)
    return (
        f"the motion could not be continued beyond t = {t:.10g}: the friction of '{name}' presses it the harder the "
        f"more it is pressed, and no force is determined there (Painleve's paradox; {where}); use less friction, or a "
        "contact that gives way"
    )


def _lock_up(machine: Machine) -> str:
    """The driver that asks for what its joints cannot follow, if that is why the motion ends."""
    if not machine.system.drives.any() or machine.eq.n > 400:
        return ""
    weakest = weakest_rows(machine, 1e-4)
    if not weakest and not _reaches(machine):
        weakest = weakest_rows(machine, 0.1)
    driving = {row.owner for row in machine.system.rows if row.drives}
    drivers = [name for name in weakest if name in driving]
    if not drivers:
        return ""
    joints = listed([name for name in weakest if name != drivers[0]])
    return f"driver '{drivers[0]}' asks for a motion that the joints {joints} cannot follow"


def _reaches(machine: Machine) -> bool:
    """Whether there is a position near the present one in which the joints close a little later."""
    course, scale, row_scale, x = machine.course, machine.eq.scale, machine.eq.row_scale, machine.wk.x.copy()
    later = course.now.t + 1e-3 * machine.task.span

    def residual(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        Phi, J, _ = machine.system.linear(x, q, later)
        return Phi / row_scale, J / row_scale[:, None]

    found = levenberg_marquardt(residual, course.now.q.copy(), scale**2, 0.5 * scale, iterations=50)
    return bool(found.residual <= 1e-9)


def _restless(machine: Machine, code: int, t: float) -> str:
    """A switch that does not come to rest."""
    element, switch = machine.system.dynamics.switches[machine.course.culprit]
    what = f"'{element.name}' ({switch.source} -> {switch.target})"
    if code == co.UNSETTLED:
        return (
            f"no set of modes is consistent at t = {t:.10g}: {what} is due again and again; "
            "in the mode it enters, another of its guards must not be below zero at once"
        )
    return (
        f"switches follow each other without progress at t = {t:.10g}, the last: {what}; look at its guards, "
        "or name the mode in which such a sequence ends (limit=)"
    )


def not_finite(machine: Machine) -> list[str]:
    """The elements whose forces or constraints are not finite at the present state or shortly after it."""
    system, course, found = machine.system, machine.course, []
    q, v, t = course.now.q, course.now.v, course.now.t
    pace = 1.0 / max(course.rate, 1e-300)
    for ahead in (0.0, 1e-6 * pace, 1e-3 * pace, 1e-2 * pace):
        for element, values in zip(
            system.elements, system.each(q + ahead * v, v, t + ahead, machine.wk.x), strict=True
        ):
            if not np.isfinite(values).all() and (name := f"{element.kind} '{element.name}'") not in found:
                found.append(name)
        if found:
            break
    return found


def free_without_inertia(machine: Machine) -> list[str]:
    """Coordinates that can move without any inertia to resist, for small systems."""
    n, system, scale, now = machine.eq.n, machine.system, machine.eq.scale, machine.course.now
    if n > 400:
        return []
    J = machine.scaled_jacobian()
    _, sizes, Vt = np.linalg.svd(J) if len(J) else (None, np.zeros(0), np.eye(n))
    null = Vt[int((sizes > 1e-10 * sizes.max(initial=1e-300)).sum()) :].T
    if null.shape[1] == 0:
        return []
    M = system.mass_matrix(machine.wk.x.copy(), now.q, now.t) * np.outer(scale, scale)
    values, vectors = np.linalg.eigh(null.T @ M @ null)
    loose = null @ vectors[:, values < 1e-12 * max(float(np.abs(M).max()), 1e-300)]
    if loose.shape[1] == 0:
        return []
    weight = np.abs(loose).max(axis=1)
    order = most_first(weight)
    return [system.names[k][0] for k in order if weight[k] > 1e-3]


def worst_row(machine: Machine) -> tuple[str, float]:
    """The constraint that is violated most, and by how much."""
    if not machine.eq.m:
        return "", 0.0
    now = machine.course.now
    sizes = np.abs(machine.system.Phi(machine.wk.x.copy(), now.q, now.t)) / machine.eq.row_scale
    k = int(np.argmax(np.nan_to_num(sizes, nan=np.inf)))
    return machine.system.rows[k].label, float(sizes[k])


def weakest_rows(machine: Machine, limit: float = 1e-4) -> list[str]:
    """The rows that take part in a nearly vanishing combination of constraints, for small systems."""
    if machine.eq.n > 400 or not machine.eq.m:
        return []
    U, sizes, _ = np.linalg.svd(machine.scaled_jacobian(), full_matrices=False)
    if not sizes[-1] < limit * sizes[0]:
        return []
    weight = np.abs(U[:, -1])
    owners = [machine.system.rows[k].owner for k in most_first(weight) if weight[k] > 0.1]
    return list(dict.fromkeys(owners))
