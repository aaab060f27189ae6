"""Generalised steepest descent: reduce the objective along the requirements, and correct what they miss.

Equations 4.15 to 4.23 of Haug, Wehage and Barman, 1981. The objective, linearised with slope L0, is minimised over the
change d of the parameters subject to the linearised requirements, c + L d = 0 or <= 0, and to d W d <= xi^2. With a
multiplier g0 of the step's length, and a = 1/(2 g0), the solution has two parts at right angles in W:

    d  = -a d1 + d2              d1 = W^-1 (L0 + L' g1)         d2 = -W^-1 L' g2
    M g1 = -L W^-1 L0            M g2 = c                       M = L W^-1 L'

where L has the rows of the requirements that are active. d1 reduces the objective along them, d2 corrects what they
miss. (The report prints M g2 = -c; with its d2 = -W^-1 L' g2 that would double every violation.) W is the unit matrix
in the scales of the parameters. Bounds of parameters are rows like any other.

A requirement is active where its multiplier g1 + g2/a is positive, which the report leaves open: that is the solution
of the quadratic problem with the inequalities as they are, found here by its dual. The first step lowers the objective
by a share, as in the report ("reduction ratio"); from then on the length a is that of Barzilai and Borwein, 1988, for
the Lagrangian. A step is shortened until the objective plus weighted violations is below the highest of the last
designs.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from kempe.design.libraries import CLOSE, Jammed
from kempe.design.problem import Wall
from kempe.design.program import Program, Slopes

#: The first step lowers the objective by this share, to first order.
REDUCTION = 0.03
#: No step is longer than this, in scales of the parameters: xi.
LONGEST = 0.5
#: By so much of its multiplier a row may give in the choice of active ones, so that rows that contradict each other
#: are corrected as far as they go.
GIVING = 1e-8
#: A step may raise the merit above that of the last design, not above the highest of so many.
MEMORY = 6
#: A step this short, in scales of the parameters, leads nowhere.
SHORTEST = 1e-12
#: The largest factor a of a step.
FARTHEST = 1e10


@dataclass(frozen=True)
class Account:
    """One iteration of generalised steepest descent, in scales of the parameters.

    ``active`` maps requirements and bounds that hold the step to their multipliers, ``violated`` lists those that the
    design misses. ``reduction`` is the length of d1, ``correction`` that of d2, ``length`` the factor a = 1/(2 g0), and
    ``share`` how much of the step was taken, after ``walls`` times that it met a design that cannot be evaluated.
    """

    active: dict[str, float]
    violated: list[str]
    reduction: float
    correction: float
    length: float
    share: float
    walls: int

    def __str__(self) -> str:
        held = ", ".join(f"{name} ({value:.3g})" for name, value in self.active.items()) or "nothing"
        missed = f"; misses {', '.join(self.violated)}" if self.violated else ""
        cut = f", {self.share:.3g} of the step taken" if self.share < 1 else ""
        times = "once" if self.walls == 1 else f"{self.walls} times"
        walls = f", cut {times} at a wall" if self.walls else ""
        return f"reduction {self.reduction:.3g}, correction {self.correction:.3g}, held by {held}{missed}{cut}{walls}"


@dataclass(frozen=True)
class Change:
    """The two parts of a change of the design, and the multipliers of rows and bounds."""

    reduction: np.ndarray
    correction: np.ndarray
    multipliers: np.ndarray
    step: np.ndarray


class Rows:
    """Linearised requirements and bounds together: c + L d <= 0, or = 0."""

    def __init__(self, program: Program, z: np.ndarray, found: Slopes) -> None:
        unit = np.eye(len(z))
        low, high = np.isfinite(program.lower), np.isfinite(program.upper)
        self.L = np.vstack([found.dc, -unit[low], unit[high]])
        self.c = np.concatenate([found.c, (program.lower - z)[low], (z - program.upper)[high]])
        self.equal = np.concatenate([program.equal, np.zeros(int(low.sum() + high.sum()), dtype=bool)])

    def active(self, L0: np.ndarray, a: float) -> np.ndarray:
        """Which rows hold the step of length a: those with multipliers in the solution of the quadratic problem.

        The least distance problem of Lawson and Hanson, 1974 (chapter 23): with y = d / sqrt(a) + sqrt(a) L0, least
        |y| subject to G y >= h is a problem of nonnegative least squares.
        """
        sign = np.concatenate([np.ones(len(self.c)), -np.ones(int(self.equal.sum()))])
        rows = np.concatenate([np.arange(len(self.c)), np.flatnonzero(self.equal)])
        L, c = sign[:, None] * self.L[rows], sign * self.c[rows]
        G, h = -np.sqrt(a) * L, c - a * (L @ L0)
        E = np.vstack([G.T, np.sqrt(GIVING * a) * np.eye(len(rows)), h])
        goal = np.zeros(len(E))
        goal[-1] = 1.0
        u = nnls(E, goal)[0] if len(rows) else np.zeros(0)
        return np.unique(rows[u > 0])

    def change(self, L0: np.ndarray, a: float) -> Change:
        """The two parts of the change, eqs. 4.18 to 4.23."""
        held = self.active(L0, a)
        L = self.L[held]
        inverse = np.linalg.pinv(L)  # (M^-1 L is its transpose; rows that depend on each other are no matter)
        g1 = -inverse.T @ L0
        d1, d2 = L0 + L.T @ g1, -inverse @ self.c[held]
        g2 = -inverse.T @ d2
        multipliers = np.zeros(len(self.c))
        multipliers[held] = g1 + g2 / a
        return Change(d1, d2, multipliers, -a * d1 + d2)


class Descent:
    """Where a descent is: a design, its slopes, the length of its steps and the merits of the last designs."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.z = program.start
        self.found = program.slopes(self.z)
        self.rows = Rows(program, self.z, self.found)
        self.penalty = 0.0
        self.last: deque[tuple[float, float]] = deque([self._merits(self.found.f, self.found.c)], maxlen=MEMORY)
        slope = max(float(np.linalg.norm(self.found.df)), 1e-100)
        d1 = self.rows.change(self.found.df, 1e-3 / slope).reduction
        slope = max(float(np.linalg.norm(d1)), 1e-12 * slope)  # (what is less is rounding: nothing can be reduced)
        self.a = min(max(REDUCTION * abs(self.found.f) / slope**2, 1e-4 / slope), FARTHEST)

    def change(self) -> Change:
        """The change of the design that the present length gives, within the longest one."""
        change = self.rows.change(self.found.df, self.a)
        self.a = min(self.a, LONGEST / max(float(np.linalg.norm(change.reduction)), 1e-300))
        return self.rows.change(self.found.df, self.a)

    def missed(self) -> np.ndarray:
        """By how much each row is violated, in units of its limit."""
        return self._violations(self.found.c) / self.program.weights

    def over(self, change: Change, accuracy: float) -> bool:
        """Whether the requirements are met, and the reduced slope and the correction vanish."""
        size = max(float(np.abs(self.found.df).max()), self.program.steepness)
        flat = np.abs(change.reduction).max() <= accuracy * size and np.abs(change.correction).max() <= accuracy
        return bool(flat and self.missed().max(initial=0.0) <= accuracy)

    def take(self, change: Change) -> tuple[float, int]:
        """Take the step, shortened as need be: how much of it was taken, and how often it met a wall."""
        self.penalty = max(1.5 * float(np.abs(change.multipliers).max(initial=0.0)), 0.8 * self.penalty)
        ahead = self.found.c + self.found.dc @ change.step
        gained = self._merits(0.0, ahead)[1] - self._merits(0.0, self.found.c)[1]
        promised = float(self.found.df @ change.step) + self.penalty * gained
        highest = max(f + self.penalty * missed for f, missed in self.last)
        share, walls = 1.0, 0
        while share * np.abs(change.step).max() > (CLOSE if walls else SHORTEST):
            z = np.clip(self.z + share * change.step, self.program.lower, self.program.upper)
            try:
                f, missed = self._merits(*self.program.values(z))
                if f + self.penalty * missed <= highest + 1e-4 * share * min(promised, 0.0):
                    self._arrive(z, change)
                    return share, walls
                share /= 2
            except Wall:
                walls += 1
                share /= 4  # (to look behind a wall may take long)
        return 0.0, walls

    def _arrive(self, z: np.ndarray, change: Change) -> None:
        """Go on from a new design; the step length follows from how the slope of the Lagrangian has changed."""
        found = self.program.slopes(z)
        rows = Rows(self.program, z, found)
        turned = (found.df - self.found.df) + (rows.L - self.rows.L).T @ change.multipliers
        moved = z - self.z
        curved, length = float(moved @ turned), float(moved @ moved)
        self.a = min(length / curved if curved > 1e-12 * length else 4 * self.a, FARTHEST)
        self.z, self.found, self.rows = z, found, rows
        self.last.append(self._merits(found.f, found.c))

    def _violations(self, c: np.ndarray) -> np.ndarray:
        return np.where(self.program.equal, np.abs(c), np.maximum(c, 0.0))

    def _merits(self, f: float, c: np.ndarray) -> tuple[float, float]:
        return f, float(self._violations(c).sum())

    def account(self, change: Change, share: float, walls: int, missed: np.ndarray, a: float) -> Account:
        """What is told of a step."""
        names = self.program.names()
        held = {n: float(g) for n, g in zip(names, change.multipliers, strict=True) if g != 0.0}
        violated = [n for n, by in zip(names, missed, strict=False) if by > self.program.trail.accuracy]
        reduction, correction = (float(np.linalg.norm(part)) for part in (change.reduction, change.correction))
        return Account(held, violated, reduction, correction, a, share, walls)


def steepest_descent(program: Program, most: int, accuracy: float) -> tuple[np.ndarray, str]:
    """The last design and why it is the last."""
    descent = Descent(program)
    for _ in range(most):
        change = descent.change()
        if descent.over(change, accuracy):
            program.note(descent.z, descent.account(change, 1.0, 0, descent.missed(), descent.a))
            return descent.z, "The reduced slope and the correction vanish."
        z, missed, a = descent.z, descent.missed(), descent.a
        share, walls = descent.take(change)
        program.note(z, descent.account(change, share, walls, missed, a))
        if share == 0.0:
            return z, str(Jammed.__doc__) if walls else "No shorter step leads on."
        if program.enough(descent.z):
            break
    program.note(descent.z)
    return descent.z, "The limit of iterations was reached."
