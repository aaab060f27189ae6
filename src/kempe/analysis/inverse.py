"""Inverse dynamics: the efforts of drivers and the reactions of joints that a given motion takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from kempe.analysis.kinematics import BranchChoice, kinematics
from kempe.analysis.tangents import LOAD_ITERATIONS, State, settle
from kempe.calling import explained
from kempe.errors import ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.results.provenance import versions
from kempe.simulation.assembling import Pose
from kempe.simulation.posing import Posed
from kempe.simulation.progress import Progress, Report, reporting
from kempe.solvers.least_squares import DENSE
from kempe.system.dependence import combinations, constraint_rank, idle_multipliers
from kempe.system.sharing import ELASTIC, Sharing, reactions_named, sharing

#: A motion is one of the mechanism's own when no larger part of the forces than this is left unbalanced.
BALANCED = 1e-7


@explained
def inverse_dynamics(
    model: Model,
    times: float | Sequence[float] | np.ndarray | Result,
    *,
    steps: int | None = None,
    on_singular: str | None = None,
    branch: BranchChoice | Sequence[BranchChoice] | None = None,
    start: Pose | None = None,
    parameters: Mapping[str, float] | None = None,
    reactions: str | None = None,
    compile: str | None = None,
    progress: Progress = None,
) -> Result:
    """Find what a driven motion takes: Phi_q^T lambda = Q - h - M a, solved for the multipliers at every time.

    ``times`` is a time grid or an end time, for which the kinematics of the driven mechanism is run (``steps``,
    ``on_singular``, ``branch``, ``start`` and ``compile`` are those of :func:`kempe.kinematics`), or a Result whose
    motion is taken as it is. The multipliers of drivers are (less) the efforts they exert, those of joints the
    reactions. With redundant constraints some reactions are not unique: those are returned that the stiffnesses of
    joints tell, or else the smallest (``reactions`` is as in :func:`kempe.simulate`), and the message says so; efforts
    of drivers that no joint repeats are unique all the same.
    ``progress`` is as in :func:`kempe.simulate`, and a function is told how many times are done and wanted.

    The result has the motion and, as series, "lambda.<row>" for every constraint row, "energy.kinetic",
    "energy.potential" (of gravity), "energy.elastic", and the powers "power.dissipated" and "power.supplied".
    """
    asked = {"steps": steps, "on_singular": on_singular, "branch": branch, "start": start, "compile": compile}
    options: dict[str, Any] = {key: value for key, value in asked.items() if value is not None}
    if isinstance(times, Result):
        if options:
            raise ModelError(f"a motion is given, so there is nothing to compute with {', '.join(options)}")
        motion = times
        if parameters is None:
            parameters = motion.provenance.get("parameters")
    else:
        motion = kinematics(model, times, parameters=parameters, progress=progress, **options)
    motion = before_its_end(motion)
    posed = Posed(model, parameters)
    system = posed.system
    if [tuple(c) for c in motion.columns] != system.names:
        raise ModelError(f"this result is no motion of '{model.name}': its coordinates are others")
    choice = _Choice(posed, motion, reactions)
    with reporting(progress, f"'{model.name}': inverse dynamics") as report:
        lam, repeated = _multipliers(posed, motion, choice, report)
    note, stats = "", dict(motion.stats)
    if repeated.all() and len(repeated):
        stats |= {"redundant constraints": choice.blamed(), "reactions": choice.sharing.kind}
        elastic = choice.sharing.kind == ELASTIC
        which = "those that the stiffnesses of joints tell are" if elastic else "the smallest are"
        note = f"; constraints are redundant, so of all reactions that fit {which} given"
    elif repeated.any():
        t = float(motion.t[repeated.argmax()])
        note = f"; in singular positions (t = {t:.6g}) reactions are not unique, and the smallest that fit are given"
    energies = np.zeros((len(motion.t), 5))
    for k, t in enumerate(motion.t):
        settle(posed, at := State(motion.q[k], motion.v[k], float(t)))
        posed.within_data(at.q, at.t, at.v)
        energies[k] = system.evaluate(system.dynamics.energy, posed.x, at.q, at.t, at.v, lam[k])
    series = {f"lambda.{row.label}": lam[:, k] for k, row in enumerate(system.rows)}
    names = ("energy.kinetic", "energy.potential", "energy.elastic", "power.dissipated", "power.supplied")
    series.update({name: energies[:, k] for k, name in enumerate(names)})
    return Result(
        t=motion.t,
        q=motion.q,
        v=motion.v,
        a=motion.a,
        columns=system.names,
        success=motion.success,
        status=motion.status,
        message=motion.message + note,
        events=list(motion.events),
        stats=stats,
        provenance={
            "model": model.name,
            "analysis": "inverse dynamics",
            "method": "multipliers from Phi_q^T lambda = Q - h - M a at every time",
            "motion": dict(motion.provenance),
            "parameters": dict(zip(model.parameters, posed.parameters.tolist(), strict=True)),
            "versions": versions(),
        },
        model=model,
        series=series,
    )


def before_its_end(motion: Result) -> Result:
    """A motion that stopped in a singular position without that position, where no forces are determined."""
    ended = motion.events[-1].t if motion.events else None
    if motion.success or ended is None or not len(motion.t) or motion.t[-1] != ended:
        return motion
    words = motion.events[-1].message
    return replace(motion, t=motion.t[:-1], q=motion.q[:-1], v=motion.v[:-1], a=motion.a[:-1], message=words)


class _Choice:
    """Which multipliers are taken where many balance."""

    def __init__(self, posed: Posed, motion: Result, reactions: str | None) -> None:
        self.posed, self.motion, self.kind = posed, motion, reactions_named(reactions)

    def _idle(self, k: int) -> np.ndarray:
        """Multipliers, in row sizes, that exert nothing at the k-th time."""
        posed, t, q = self.posed, float(self.motion.t[k]), self.motion.q[k]
        settle(posed, State(q, self.motion.v[k], t))
        posed.x[posed.system.giving] = 0.0
        on = posed.system.in_force(posed.x)
        found = idle_multipliers(posed.linear(q, t)[1][on], posed.scale, posed.row_scale[on])
        idle = np.zeros((posed.system.m, found.shape[1]))
        idle[on] = found
        return idle

    @cached_property
    def sharing(self) -> Sharing:
        """How joints share loads, seen at the first time."""
        posed, first = self.posed, (self.motion.q[0], float(self.motion.t[0]))
        return sharing(posed.system, posed.parameters, first, (posed.size, posed.row_scale), self.kind)

    def blamed(self) -> list[str]:
        """The rows that others imply."""
        system = self.posed.system
        return [system.rows[one.row].label for one in combinations(self._idle(0), system.blame_order)]

    def solved(self, k: int, G: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """The multipliers, in row sizes, that are taken at the k-th time of those with G lambda = wanted."""
        idle, rows = self._idle(k), self.posed.row_scale
        if not idle.shape[1]:
            return np.asarray(np.linalg.lstsq(G, wanted, rcond=1e-11)[0])
        B = self.sharing.conditions(idle / rows[:, None]) / rows
        both = np.vstack([G, B * (np.abs(G).max() / np.abs(B).max(initial=1e-300))])
        return np.asarray(np.linalg.lstsq(both, np.concatenate([wanted, np.zeros(len(B))]), rcond=1e-11)[0])


def _multipliers(posed: Posed, motion: Result, choice: _Choice, report: Report | None) -> tuple[np.ndarray, np.ndarray]:
    """The multipliers that balance the forces at every time, and whether others would do so too then."""
    n, m = posed.system.n, posed.system.m
    lam, repeated = np.zeros((len(motion.t), m)), np.zeros(len(motion.t), dtype=bool)
    share = max(1, min(512, 2_000_000 // max(1, n * m))) if n <= DENSE else 1
    for first in range(0, len(motion.t), share):
        some = slice(first, first + share)
        found = np.zeros((len(motion.t[some]), m))
        for _ in range(LOAD_ITERATIONS):
            last = found
            wanted, size, right = _taken(posed, motion, some, last / posed.row_scale)
            found, left, more = _balancing(posed, wanted, right, first, choice)
            change = np.abs(found - last).max(axis=1, initial=0.0) <= 1e-13 * np.abs(found).max(axis=1, initial=0.0)
            if not posed.system.dynamics.loaded or change.all():
                break
        else:
            t = float(motion.t[first + int(np.argmin(change))])
            raise ModelError(
                f"'{posed.model.name}': forces that depend on loads, and the loads, do not settle at t = {t:.10g}"
            )
        repeated[some] = more
        _complete(posed, motion, first, np.abs(left), BALANCED * size)
        lam[some] = found / posed.row_scale
        if report:
            report(first + len(found), len(lam))
    return lam, repeated


def _balancing(
    posed: Posed, wanted: np.ndarray, right: np.ndarray, first: int, choice: _Choice
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Multipliers for what is wanted at some times, what is left of it, and when others would do."""
    n, m, places = posed.system.n, posed.system.m, _right_places(posed)
    if n > DENSE and m == n:
        G = csc_matrix((right[0], places), shape=(n, m))
        found = splu(G).solve(wanted[0])[None]
        return found, (G @ found[0] - wanted[0])[None], np.zeros(1, dtype=bool)
    G = np.zeros((len(wanted), n, m))
    G[:, places[0], places[1]] = right
    found, more = _smallest(G, wanted, posed.system.conditions[0])
    for k in np.flatnonzero(more):
        found[k] = choice.solved(first + int(k), G[k], wanted[k])
    return found, (G @ found[..., None])[..., 0] - wanted, more


def _right_places(posed: Posed) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and rows of the entries of Phi_q^T - Q_lambda."""
    d = posed.system.dynamics
    return d.right if d.loaded else (d.jacobian_columns, d.jacobian_rows)


def _taken(posed: Posed, motion: Result, some: slice, lam: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Q - h - M a, how large its parts are, and the entries of Phi_q^T - Q_lambda, at some of the times, scaled.

    Forces that depend on multipliers feel the given ones; what is linear in them is on the other side.
    """
    system, n, m = posed.system, posed.system.n, posed.system.m
    d, upper = system.dynamics, len(system.dynamics.block_rows)
    steep = upper + len(d.jacobian_rows)
    rows, columns = _right_places(posed)
    wanted, size, entries = [], [], []
    states = zip(motion.t[some], motion.q[some], motion.v[some], motion.a[some], lam, strict=True)
    for t, q, v, a, now in states:
        settle(posed, State(q, v, float(t)))
        posed.x[system.giving] = 0.0  # what is driven is not held by friction, whose force is not determined at rest
        out = system.evaluate(d.explicit, posed.x, q, t, v, now)
        values = out[n + 3 * m :]
        inertia = posed.scale * np.bincount(d.block_rows, values[:upper] * a[d.block_columns], n)
        others, right = posed.scale * out[:n], values[upper:steep]
        wanted.append(-(inertia + others))
        size.append(np.abs(inertia).max() + np.abs(others).max())
        if d.loaded:
            right = values[steep:-1]
            carried = np.bincount(d.jacobian_columns, values[upper:steep] * now[d.jacobian_rows], n)
            wanted[-1] -= posed.scale * (carried - np.bincount(rows, right * now[columns], n))
        entries.append(right)
    units = posed.scale[rows] / posed.row_scale[columns]
    return np.array(wanted), np.array(size), np.array(entries) * units


def _smallest(A: np.ndarray, b: np.ndarray, conditional: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The smallest solutions of many systems A x = b, and which of them are not the only ones.

    Of the rows that are not always in force those that are not have nothing to decide.
    """
    n, m = A.shape[1:]
    if m == 0:
        return np.zeros((len(b), 0)), np.zeros(len(b), dtype=bool)
    if m == n:
        try:
            x = np.linalg.solve(A, b[..., None])[..., 0]
            x += np.linalg.solve(A, (b - (A @ x[..., None])[..., 0])[..., None])[..., 0]
            if np.abs(A).max() * np.abs(x).max() < 1e8 * max(float(np.abs(b).max()), 1e-300):
                return x, np.zeros(len(b), dtype=bool)
        except np.linalg.LinAlgError:
            pass  # a singular position
    solved = [np.linalg.lstsq(matrix, side, rcond=1e-11) for matrix, side in zip(A, b, strict=True)]
    idle = (~A[:, :, conditional].any(axis=1)).sum(axis=1)
    return np.array([s[0] for s in solved]), np.array([s[2] for s in solved]) < m - idle


def _complete(posed: Posed, motion: Result, first: int, left: np.ndarray, limit: np.ndarray) -> None:
    """Joints and drivers must be able to supply the forces that the motion takes."""
    beyond = np.flatnonzero(left.max(axis=1) > limit)
    if len(beyond) == 0:
        return
    k, i = int(beyond[0]), int(left[beyond[0]].argmax())
    t = float(motion.t[first + k])
    force = f"{left[k, i] / posed.scale[i]:.4g} on '{posed.system.names[i][0]}'"
    J = posed.linear(motion.q[first + k], t)[1]
    if posed.system.m >= posed.system.n > constraint_rank(J, posed.scale, posed.row_scale)[0]:
        raise ModelError(
            f"'{posed.model.name}' is in a singular position at t = {t:.10g}, where no drivers and joints can supply "
            f"{force}; leave this time out"
        )
    raise ModelError(
        f"'{posed.model.name}' does not move like this by itself: at t = {t:.10g} a force of {force} is missing; "
        "drive every degree of freedom, or give a motion that m.simulate found"
    )
