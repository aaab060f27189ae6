"""Functionals of simulated motions without the engine of sensitivities, and their derivatives by differences.

A motion is computed at a tight tolerance, once to find its switches, and once more at Chebyshev points of panels
between them. Integrals, extremes and violations are those of the polynomials through these points, so nothing here
knows how Kempe adds up along steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np
from designs import Asked, Design
from numpy.polynomial import chebyshev
from richardson import richardson

import kempe as kp

POINTS = 12
"""In a panel."""
SHARES = (1e-2, 1e-3, 1e-4)
"""First steps of differences, in shares of a parameter; the best one counts."""
ROUNDS = 4
ENOUGH = 1e-10
HALVINGS, MOST_PANELS, ROUGH = 14, 600, 1e-12
"""Panels are halved so often at most, up to so many, where the last coefficients count more than this."""
TIGHT = 1e-12
NODES = chebyshev.chebpts1(POINTS)
VANDERMONDE = np.linalg.inv(chebyshev.chebvander(NODES, POINTS - 1))
GAUSS = np.polynomial.legendre.leggauss(POINTS)


def first_panels(edges: list[float], most: int) -> np.ndarray:
    """Where panels begin, and where the last one ends; at least two between switches."""
    whole, found = edges[-1] - edges[0], [edges[0]]
    for begin, end in pairwise(edges):
        count = max(2, int(np.ceil(most * (end - begin) / whole)))
        found += list(np.linspace(begin, end, count + 1)[1:])
    return np.array(found)


class Motion:
    """A simulated motion at Chebyshev points between its switches, of panels that all that is asked is smooth in."""

    def __init__(self, design: Design, parameters: Mapping[str, float], tolerance: float = TIGHT) -> None:
        def run(times: object) -> kp.Result:
            return design.model.simulate(
                times, tolerance=tolerance, parameters=parameters, progress=False, **design.options
            )

        met = sorted({0.0, design.end, *design.breaks, *(e.t for e in run([0.0, design.end]).events)})
        apart = [t for k, t in enumerate(met) if k == 0 or t - met[k - 1] > 1e-9 * design.end]
        self.edges = first_panels(apart, design.panels)
        for _ in range(HALVINGS + 1):
            self.half = np.diff(self.edges) / 2
            inner = self.edges[:-1, None] + self.half[:, None] * (1 + NODES)
            self.result = run([0.0, *inner.ravel(), design.end])
            if len(self.result) != inner.size + 2:
                raise kp.ConvergenceError(self.result.message, self.result)
            rough = np.any([self._rough(asked) for asked in design.asked], axis=0) if design.asked else []
            middle = self.edges[:-1][rough] + self.half[rough] if len(rough) else np.zeros(0)
            if not len(middle) or len(self.edges) + len(middle) > MOST_PANELS:
                break
            self.edges = np.sort(np.concatenate([self.edges, middle]))

    def polynomials(self, what: str) -> tuple[np.ndarray, np.ndarray]:
        """Of an expression: its values, and Chebyshev's coefficients in each panel, a row each."""
        name = f"asked {len(self.result.names)}"
        values = np.asarray(self.result.define(name, what))
        return values, values[1:-1].reshape(-1, POINTS) @ VANDERMONDE.T

    def _rough(self, asked: Asked) -> np.ndarray:
        """In which panels what is asked is no polynomial yet; for an integral their width counts, too."""
        kind, what, *_ = asked
        _, c = self.polynomials(what)
        share = np.abs(c[:, -2:]).max(axis=1)
        if kind in ("integral", "violation"):
            return np.asarray(share * self.half / self.half.sum() > ROUGH * max(np.abs(c[:, 0]).mean(), 1e-300))
        highest = np.abs(c).sum(axis=1) >= np.abs(c[:, 0]).max()
        return np.asarray(highest & (share > 100 * ROUGH * np.abs(c).max()) & (kind != "final"))

    def value(self, asked: Asked) -> float:
        """A functional of the motion."""
        kind, what, *bound = asked
        values, c = self.polynomials(what)
        if kind == "final":
            return float(values[-1])
        if kind == "integral":
            return float(sum(h * _integral(row) for h, row in zip(self.half, c, strict=True)))
        if kind == "violation":
            return float(sum(h * _beyond(row, bound[0]) for h, row in zip(self.half, c, strict=True)))
        sign = 1.0 if kind == "maximum" else -1.0
        return sign * max(_largest(sign * row) for row in c)

    def unit(self, asked: Asked) -> float:
        """What counts as one: the largest value on the way, of an integral its own with all values above zero."""
        kind, what, *_ = asked
        values, _ = self.polynomials(what)
        largest = float(np.abs(values).max())
        return largest * float(2 * self.half.sum()) if kind in ("integral", "violation") else largest


def _integral(c: np.ndarray) -> float:
    even = np.arange(0, len(c), 2)
    return float((2 * c[even] / (1 - even.astype(float) ** 2)).sum())


def _largest(c: np.ndarray) -> float:
    """The largest value of a polynomial in [-1, 1]."""
    return float(chebyshev.chebval(np.array([-1.0, 1.0, *_inner(chebyshev.chebder(c))]), c).max())


def _inner(c: np.ndarray) -> list[float]:
    """The zeros of a polynomial between -1 and 1."""
    significant = chebyshev.chebtrim(c, 1e-14 * max(np.abs(c).max(), 1e-300))
    if len(significant) < 2:
        return []
    roots = chebyshev.chebroots(significant)
    return sorted(float(r.real) for r in roots if abs(r.imag) < 1e-8 and -1 < r.real < 1)


def _beyond(c: np.ndarray, most: float) -> float:
    """The integral of the square of how far a polynomial is above a value."""
    shifted = c.copy()
    shifted[0] -= most
    ends = [-1.0, *_inner(shifted), 1.0]
    total = 0.0
    for begin, end in pairwise(ends):
        x = (begin + end) / 2 + (end - begin) / 2 * GAUSS[0]
        total += (end - begin) / 2 * float(GAUSS[1] @ np.maximum(chebyshev.chebval(x, shifted), 0.0) ** 2)
    return total


def slopes(f: Callable[[float], np.ndarray], size: float) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives of f at 0 and what they may be off, by the first steps that suit each best."""
    best, off = richardson(f, 0.0, SHARES[0] * size, ROUNDS)
    for share in SHARES[1:]:
        if (off <= ENOUGH * np.abs(best)).all():
            break
        more, error = richardson(f, 0.0, share * size, ROUNDS)
        best, off = np.where(error < off, more, best), np.minimum(error, off)
    return best, off


def values(design: Design, changed: Mapping[str, float], tolerance: float = TIGHT) -> np.ndarray:
    """All that is asked of a design, some of its parameters changed."""
    motion = Motion(design, {**design.parameters, **changed}, tolerance)
    return np.array([motion.value(asked) for asked in design.asked])


def gradients(design: Design) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values (F,), gradients (F, P) and what the gradients may be off (F, P)."""
    columns = [
        slopes(lambda d, n=name, p=p: values(design, {n: p + d}), abs(p) or 1.0)
        for name, p in design.parameters.items()
    ]
    return values(design, {}), np.column_stack([c for c, _ in columns]), np.column_stack([e for _, e in columns])


def directional(design: Design, along: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, their derivatives in one direction of the parameters, and what those may be off."""
    at = design.parameters

    def moved(d: float) -> np.ndarray:
        return values(design, {name: p + d * a for (name, p), a in zip(at.items(), along, strict=True)})

    return values(design, {}), *slopes(moved, 1.0)


def scaled(differences: np.ndarray, gradient: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Differences of gradients (F, P) in shares of a functional's largest change by a share of a parameter."""
    size = np.where(parameters == 0.0, 1.0, np.abs(parameters))
    largest = np.abs(gradient * size).max(axis=1, keepdims=True)
    return np.abs(differences) * size / np.where(largest == 0.0, 1.0, largest)
