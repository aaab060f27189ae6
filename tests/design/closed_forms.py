"""Design problems whose optima are known: Hock and Schittkowski, 1981; convex ones that were made from theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kempe import DesignProblem
from kempe.errors import AssemblyError

Function = Callable[[np.ndarray], tuple[float, Any]]
Wall = Callable[[np.ndarray], bool]
METHODS = ("slsqp", "trust-constr", "ipopt", "steepest-descent")


class ClosedForm:
    """An evaluator of functions with gradients; raises where ``wall`` says so, as one of a mechanism does."""

    def __init__(self, size: int, functions: Sequence[Function], wall: Wall | None = None) -> None:
        self.parameters = [f"x{k}" for k in range(size)]
        self.names = ["f", *(f"g{k}" for k in range(1, len(functions)))]
        self.functions, self.wall = functions, wall
        self.asked: list[np.ndarray] = []

    def twin(self) -> ClosedForm:
        return self  # (it may be asked by several threads)

    def values(self, p: np.ndarray) -> np.ndarray:
        return self.gradients(p)[0]

    def gradients(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.asked.append(p.copy())
        if self.wall is not None and self.wall(p):
            raise AssemblyError("joints 'A' and 'B' stay 0.1 apart", None, {})
        found = [function(p) for function in self.functions]
        return np.array([value for value, _ in found]), np.array([slope for _, slope in found], dtype=float)


class Scaled(ClosedForm):
    """The same functions of other units: parameters times ``sizes``, functionals times ``units``."""

    def __init__(self, inner: ClosedForm, sizes: np.ndarray, units: np.ndarray) -> None:
        self.inner, self.sizes, self.units = inner, sizes, units
        self.parameters, self.names = inner.parameters, inner.names

    def gradients(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, slopes = self.inner.gradients(p / self.sizes)
        return self.units * values, self.units[:, None] * slopes / self.sizes


@dataclass
class Known:
    """A problem with its optimum; multipliers are by how much f falls when a limit is relaxed by one."""

    evaluator: ClosedForm
    limits: list[tuple[str, float | None, float | None]]
    start: list[float]
    bounds: list[tuple[float, float] | None]
    objective: float
    design: list[float]
    multipliers: dict[str, float] = field(default_factory=dict)

    def problem(self, **options: Any) -> DesignProblem:
        names = self.evaluator.parameters
        start, bounds = dict(zip(names, map(float, self.start))), dict(zip(names, self.bounds))
        return DesignProblem(self.evaluator, "f", self.limits, start=start, bounds=bounds, **options)

    def scaled(self, seed: int) -> tuple[DesignProblem, np.ndarray, np.ndarray]:
        """The problem in random units, and the units of parameters and functionals."""
        rng = np.random.default_rng(seed)
        sizes = 10.0 ** rng.uniform(-4, 4, len(self.start))
        units = 10.0 ** rng.uniform(-4, 4, len(self.evaluator.names))
        by_name = dict(zip(self.evaluator.names, units))
        names = self.evaluator.parameters
        limits = [(n, *(None if x is None else x * by_name[n] for x in (low, high))) for n, low, high in self.limits]
        bounds = {n: None if b is None else (b[0] * s, b[1] * s) for n, b, s in zip(names, self.bounds, sizes)}
        start = dict(zip(names, np.array(self.start, dtype=float) * sizes))
        evaluator = Scaled(self.evaluator, sizes, units)
        scales = {n: 10 * s for n, b, s in zip(names, self.bounds, sizes) if b is None}  # (nothing else would tell)
        return DesignProblem(evaluator, "f", limits, start=start, bounds=bounds, scales=scales), sizes, units


def rosenbrock(x: np.ndarray) -> tuple[float, Any]:
    a, b = x[1] - x[0] ** 2, 1 - x[0]
    return 100 * a**2 + b**2, [-400 * x[0] * a - 2 * b, 200 * a]


ROOT3 = np.sqrt(3.0)

HOCK_SCHITTKOWSKI: dict[str, Known] = {
    "1": Known(ClosedForm(2, [rosenbrock]), [], [-2, 1], [(-10, 10), (-1.5, 10)], 0.0, [1, 1]),
    "6": Known(
        ClosedForm(
            2,
            [
                lambda x: ((1 - x[0]) ** 2, [-2 * (1 - x[0]), 0]),
                lambda x: (10 * (x[1] - x[0] ** 2), [-20 * x[0], 10]),
            ],
        ),
        [("g1", 0.0, 0.0)],
        [-1.2, 1],
        [None, None],
        0.0,
        [1, 1],
    ),
    "10": Known(
        ClosedForm(
            2,
            [
                lambda x: (x[0] - x[1], [1, -1]),
                lambda x: (
                    -3 * x[0] ** 2 + 2 * x[0] * x[1] - x[1] ** 2 + 1,
                    [-6 * x[0] + 2 * x[1], 2 * x[0] - 2 * x[1]],
                ),
            ],
        ),
        [("g1", 0.0, None)],
        [-10, 10],
        [None, None],
        -1.0,
        [0, 1],
        {"g1 >= 0": 0.5},
    ),
    "24": Known(
        ClosedForm(
            2,
            [
                lambda x: (
                    ((x[0] - 3) ** 2 - 9) * x[1] ** 3 / (27 * ROOT3),
                    [2 * (x[0] - 3) * x[1] ** 3 / (27 * ROOT3), ((x[0] - 3) ** 2 - 9) * x[1] ** 2 / (9 * ROOT3)],
                ),
                lambda x: (x[0] / ROOT3 - x[1], [1 / ROOT3, -1]),
                lambda x: (x[0] + ROOT3 * x[1], [1, ROOT3]),
            ],
        ),
        [("g1", 0.0, None), ("g2", 0.0, 6.0)],
        [1, 0.5],
        [(0, 10), (0, 10)],
        -1.0,
        [3, ROOT3],
        {"g1 >= 0": ROOT3 / 2, "g2 <= 6": 0.5},
    ),
    "35": Known(
        ClosedForm(
            3,
            [
                lambda x: (
                    9 - 8 * x[0] - 6 * x[1] - 4 * x[2] + 2 * x[0] ** 2 + 2 * x[1] ** 2 + x[2] ** 2
                    + 2 * x[0] * x[1] + 2 * x[0] * x[2],
                    [-8 + 4 * x[0] + 2 * x[1] + 2 * x[2], -6 + 4 * x[1] + 2 * x[0], -4 + 2 * x[2] + 2 * x[0]],
                ),
                lambda x: (x[0] + x[1] + 2 * x[2], [1, 1, 2]),
            ],
        ),
        [("g1", None, 3.0)],
        [0.5, 0.5, 0.5],
        [(0, 10)] * 3,
        1 / 9,
        [4 / 3, 7 / 9, 4 / 9],
        {"g1 <= 3": 2 / 9},
    ),
    "43": Known(
        ClosedForm(
            4,
            [
                lambda x: (
                    x @ (x * [1, 1, 2, 1]) + x @ [-5, -5, -21, 7],
                    2 * x * [1, 1, 2, 1] + [-5, -5, -21, 7],
                ),
                lambda x: (x @ x + x @ [1, -1, 1, -1], 2 * x + [1, -1, 1, -1]),
                lambda x: (x @ (x * [1, 2, 1, 2]) + x @ [-1, 0, 0, -1], 2 * x * [1, 2, 1, 2] + [-1, 0, 0, -1]),
                lambda x: (x @ (x * [2, 1, 1, 0]) + x @ [2, -1, 0, -1], 2 * x * [2, 1, 1, 0] + [2, -1, 0, -1]),
            ],
        ),
        [("g1", None, 8.0), ("g2", None, 10.0), ("g3", None, 5.0)],
        [0, 0, 0, 0],
        [None] * 4,
        -44.0,
        [0, 1, 2, -1],
        {"g1 <= 8": 1.0, "g3 <= 5": 2.0},
    ),
    "71": Known(
        ClosedForm(
            4,
            [
                lambda x: (
                    x[0] * x[3] * x[:3].sum() + x[2],
                    [x[3] * (x[0] + x[:3].sum()), x[0] * x[3], x[0] * x[3] + 1, x[0] * x[:3].sum()],
                ),
                lambda x: (np.prod(x), np.prod(x) / x),
                lambda x: (x @ x, 2 * x),
            ],
        ),
        [("g1", 25.0, None), ("g2", 40.0, 40.0)],
        [1, 5, 5, 1],
        [(1, 5)] * 4,
        17.0140172891563,
        [1.0, 4.74299963, 3.82114998, 1.37940829],
        {"g1 >= 25": 0.55229366, "g2 = 40": 0.16146857, "x0 >= 1": 1.08787121},
    ),
}  # fmt: skip


def convex(seed: int) -> Known:
    """A random convex quadratic problem that was made from its optimum and multipliers, which are unique."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    m = int(rng.integers(1, n))
    held = int(rng.integers(0, min(m, n - 1) + 1))
    frame, _ = np.linalg.qr(rng.normal(size=(n, n)))
    Q = frame @ np.diag(10 ** rng.uniform(0, 1.5, n)) @ frame.T
    A = rng.normal(size=(m, n))
    x = rng.normal(size=n)
    kinds = rng.choice(["most", "least", "equal"], m)
    rate = np.where(np.arange(m) < held, rng.uniform(0.5, 2.0, m), 0.0)
    sign = np.where(kinds == "least", -1.0, 1.0)
    kinds[held:] = np.where(kinds[held:] == "equal", "most", kinds[held:])  # (equations always hold)
    slope = -Q @ x - A.T @ (sign * rate)
    room = np.where(rate > 0, 0.0, rng.uniform(0.5, 2.0, m))
    functions: list[Function] = [lambda p: (0.5 * p @ Q @ p + slope @ p, Q @ p + slope)]
    limits, multipliers = [], {}
    for k in range(m):
        functions.append(lambda p, a=A[k]: (a @ p, a))
        limit = float(A[k] @ x + sign[k] * room[k])
        limits.append((f"g{k + 1}", limit if kinds[k] != "most" else None, limit if kinds[k] != "least" else None))
        if rate[k] > 0:
            word = {"most": "<=", "least": ">=", "equal": "="}[kinds[k]]
            multipliers[f"g{k + 1} {word} {limit:.10g}"] = float(rate[k])
    objective = float(0.5 * x @ Q @ x + slope @ x)
    start = (x + rng.normal(size=n)).tolist()
    return Known(ClosedForm(n, functions), limits, start, [(-10, 10)] * n, objective, x.tolist(), multipliers)
