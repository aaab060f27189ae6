"""Grazes: instants at which a guard only just reaches zero, or only just does not, so that a derivative jumps there."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BPoly
from scipy.optimize import brentq

from kempe.design.differentiating import Differentiated
from kempe.solvers.tape import INSTANT, TAKE

#: A guard grazes where it would have to be pushed for less than this share of the time since the last switch.
GRAZE = 1e-3


def grazes(run: Differentiated) -> list[str]:
    """What there is to say about guards that grazed zero in a run."""
    d = run.system.dynamics
    if not d.switches:
        return []
    tape, h, n = run.tape, d.hybrids, run.system.n
    modes = run.modes_of_rows()
    G, x = len(d.switches), run.x.copy()
    watched = (h.solved == 0) & (h.swift == 0)
    found: list[str] = []
    last, since = np.full((3, G), np.nan), float(tape.t[0, 0]) if len(tape.kind) else 0.0
    for row in range(len(tape.kind)):
        if modes is not None:
            x[tape.z_at] = modes[row]
        t, state = float(tape.t[row, 1]), tape.end[row] if tape.kind[row] != INSTANT else tape.start[row]
        inside = watched & (x[h.mode_at[h.owner]].astype(int) == h.source)
        values = run.system.evaluate(
            d.guards, x, state[:n], t, state[n : 2 * n], state[3 * n :], state[2 * n : 3 * n]
        ).reshape(3, G)
        if tape.kind[row] == INSTANT and tape.switch[row] >= 0 and inside[tape.switch[row]]:
            c = int(tape.switch[row])
            if abs(values[1, c]) < GRAZE * abs(values[2, c]) * (t - since):
                found.append(_told(run, c, t, "only just reaches its limit"))
        elif tape.kind[row] not in (INSTANT, TAKE):
            turned = inside & (last[1] < 0.0) & (values[1] >= 0.0)
            for c in np.flatnonzero(turned).tolist():
                at, lowest, bend = _lowest(float(tape.t[row, 0]), t, last[:, c], values[:, c])
                if lowest < 0.5 * bend * (GRAZE * (at - since)) ** 2:
                    found.append(_told(run, c, at, "only just misses its limit"))
        last = values
        if tape.kind[row] == TAKE:
            since, last = t, np.full((3, G), np.nan)
    return found


def _lowest(first: float, last: float, start: np.ndarray, end: np.ndarray) -> tuple[float, float, float]:
    """Where a guard is lowest within a step, how low, and how fast its rate grows: by the quintic of both ends."""
    guard = BPoly.from_derivatives([first, last], [start.tolist(), end.tolist()])
    at = float(brentq(guard.derivative(), first, last))
    return at, float(guard(at)), float(guard.derivative(2)(at))


def _told(run: Differentiated, c: int, t: float, what: str) -> str:
    element, switch = run.system.dynamics.switches[c]
    return (
        f"'{element.name}' {what} near t = {t:.6g} ({switch.source} -> {switch.target}): the derivative jumps where it "
        "grazes, and is large beside that"
    )
