"""The problem of one step of the reference (``moreau.py``): impulses that fit joints, contacts and friction at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from rigid import Friction
from scipy.optimize import lsq_linear

CONVERGED = 1e-11


class Unsolved(Exception):
    """The impulses of a step could not be found."""


@dataclass
class Unit:
    """Friction as the one-step problem sees it: its row, and what presses it, as linear forms of impulses."""

    row: int
    forms: list[list[tuple[int, float]]]
    scale: float
    friction: Friction
    given: float = 0.0
    speed: float = 0.0
    contact: int = -1
    """Its contact's number; -1 for a joint."""

    def pressed(self, P: np.ndarray) -> tuple[float, list[tuple[int, float]]]:
        """What presses, and its derivatives by impulses."""
        values = [sum(w * P[r] for r, w in form) for form in self.forms]
        if self.contact >= 0:
            return (values[0], [(self.forms[0][0][0], 1.0)]) if values[0] > 0 else (0.0, [])
        if len(values) == 2 and self.friction.pads == 0.0:
            size = math.hypot(*values)
            if size == 0.0:
                return 0.0, []
            slopes = [v / size for v in values]
        else:
            size, slopes = sum(map(abs, values)), [math.copysign(1.0, v) for v in values]
        by = [(r, self.scale * s * w) for form, s in zip(self.forms, slopes, strict=True) for r, w in form]
        return self.given + self.scale * size, by


@dataclass
class Problem:
    """u = free + G P, with what each row asks for."""

    G: np.ndarray
    free: np.ndarray
    rates: np.ndarray
    """Of joints the prescribed rate, of contacts the least velocity."""
    joints: int
    contacts: list[int]
    units: list[Unit]
    mu: list[float]

    def __post_init__(self) -> None:
        diagonal = np.maximum(np.diag(self.G), 1e-300)
        self.weight = 1.0 / diagonal
        self.speed = float(np.abs(self.free).max(initial=0.0) + np.abs(self.rates).max(initial=0.0)) + 1e-9

    def newton(self, P: np.ndarray, most: int = 40, share: float = 1.0) -> np.ndarray | None:
        """Newton's method on the projected equations; None where it does not get there."""
        m, nb = len(P), self.joints
        eye = np.eye(m)
        before: list[int] | None = None
        for _ in range(most):
            u = self.free + self.G @ P
            J, F = eye.copy(), P.copy()
            J[:nb], F[:nb] = self.G[:nb], u[:nb] - self.rates[:nb]
            scale = np.ones(m)
            scale[:nb] = self.weight[:nb]
            chosen = []
            for r in self.contacts:
                closed = P[r] - self.weight[r] * (u[r] - self.rates[r]) > 0
                chosen.append(int(closed))
                if closed:
                    J[r], F[r], scale[r] = self.G[r], u[r] - self.rates[r], self.weight[r]
            for unit, mu in zip(self.units, self.mu, strict=True):
                r = unit.row
                z = P[r] - self.weight[r] * (u[r] - unit.speed)
                size, slopes = unit.pressed(P)
                bound = share * mu * size
                if abs(z) <= bound and size > 0:
                    chosen.append(0)
                    J[r], F[r], scale[r] = self.G[r], u[r] - unit.speed, self.weight[r]
                else:
                    sign = 1.0 if z > 0 else -1.0
                    chosen.append(int(sign))
                    F[r] = P[r] - sign * bound
                    for k, w in slopes:
                        J[r, k] -= sign * share * mu * w
            off = np.abs(F * scale).max(initial=0.0)
            if chosen == before and off <= CONVERGED * (np.abs(P).max(initial=0.0) + self.speed * self.weight.min()):
                return P
            before = chosen
            try:
                P = P - np.linalg.solve(J, F)
            except np.linalg.LinAlgError:
                P = P - np.linalg.lstsq(J, F, rcond=1e-12)[0]
        return None

    def sweeps(self, P: np.ndarray, most: int = 300) -> np.ndarray:
        """Projected Gauss-Seidel."""
        P = P.copy()
        for _ in range(most):
            for r in range(self.joints):
                P[r] -= self.weight[r] * (self.free[r] + self.G[r] @ P - self.rates[r])
            for r in self.contacts:
                P[r] = max(P[r] - self.weight[r] * (self.free[r] + self.G[r] @ P - self.rates[r]), 0.0)
            for unit, mu in zip(self.units, self.mu, strict=True):
                r, bound = unit.row, mu * unit.pressed(P)[0]
                z = P[r] - self.weight[r] * (self.free[r] + self.G[r] @ P - unit.speed)
                P[r] = min(max(z, -bound), bound)
        return P

    def bounded(self, P: np.ndarray, most: int = 60) -> np.ndarray | None:
        """With friction's bounds held, impulses are a least-squares problem with bounds: until the bounds agree."""
        nb = self.joints
        inner = self.contacts + [unit.row for unit in self.units]
        B, C = self.G[:nb, :nb], self.G[np.ix_(inner, range(nb))]
        back = np.linalg.solve(B, np.column_stack([self.G[np.ix_(range(nb), inner)], self.free[:nb] - self.rates[:nb]]))
        A = self.G[np.ix_(inner, inner)] - C @ back[:, :-1]
        A = 0.5 * (A + A.T)
        asked = np.array([*(self.rates[r] for r in self.contacts), *(unit.speed for unit in self.units)])
        c = self.free[inner] - C @ back[:, -1] - asked
        size = np.sqrt(np.maximum(np.diag(A), 1e-9 / self.weight[inner]))  # a joint that a motor turns has no mobility
        values, vectors = np.linalg.eigh(A / np.outer(size, size))
        root = np.sqrt(np.maximum(values, 1e-11))
        L = (root[:, None] * vectors.T) * size
        target = -(vectors.T @ (c / size)) / root
        k = len(self.contacts)
        for _ in range(most):
            limit = np.array([mu * unit.pressed(P)[0] + 1e-30 for unit, mu in zip(self.units, self.mu, strict=True)])
            low, high = np.r_[np.zeros(k), -limit], np.r_[np.full(k, np.inf), limit]
            x = lsq_linear(L, target, (low, high), method="bvls").x
            new = np.zeros_like(P)
            new[inner], new[:nb] = x, -back[:, -1] - back[:, :-1] @ x
            if np.abs(new - P).max() <= 1e-9 * np.abs(new).max():
                return new
            P = new
        return None

    def solved(self, guess: np.ndarray) -> np.ndarray:
        """The impulses, by one means after the other."""
        for start in (guess, np.zeros_like(guess)):
            found = self.newton(start)
            if found is not None:
                return found
        found = np.zeros_like(guess)
        for share in np.linspace(0.0, 1.0, 11):
            nearer = self.newton(found, share=share)
            if nearer is None:
                break
            found = nearer
        else:
            return found
        bounded = self.bounded(guess)
        if bounded is not None:
            return bounded
        for most in (30, 300):
            found = self.sweeps(guess, most)
            polished = self.newton(found)
            if polished is not None:
                return polished
        raise Unsolved


def renumbered(unit: Unit, small: np.ndarray) -> Unit:
    """The same friction in a smaller problem."""
    forms = [[(int(small[r]), w) for r, w in form] for form in unit.forms]
    return Unit(int(small[unit.row]), forms, unit.scale, unit.friction, unit.given, unit.speed, unit.contact)
