"""Work and precision of general-purpose integrators on mechanisms in absolute coordinates: SciPy, SUNDIALS, CasADi.

Each peer solves the same equations, ``M v' + Phi_q^T lambda = Q`` with ``Phi(q) = 0`` for bars and pins. Explicit and
multistep methods for ordinary equations get the accelerations from the constraints differentiated twice, without
stabilisation: over the few motions measured the drift stays of the size of the error. Everything a user would do once
(building expressions, derivatives, solver objects) is left out of the seconds.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from kempe.benchmarks.peers_problems import GROUND, PRECISION_PROBLEMS, Point, Problem, error
from kempe.benchmarks.timing import Contender, Run, again, interleaved

TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
BUDGET = 0.3
"""A sweep of tolerances ends with the first run that takes longer (s)."""
SCIPY_METHODS = ("DOP853", "RK45", "LSODA", "Radau", "BDF")
MAX_STEPS = 100_000

SIMILAR, CANDIDATES = 1.4, 3
"""So many settings of a peer, whose first times are within this factor, are timed with care."""

Prepare = Callable[[float], Run]
"""Makes ready a run for a tolerance, relative and absolute at once; it returns the coordinates at the end time."""


@dataclass(frozen=True)
class Curve:
    """One peer on one problem, over its tolerances."""

    peer: str
    points: list[tuple[float, float, float]]
    """``(tolerance, seconds, error)``, the error as ``peers_problems.error`` defines it."""
    violations: list[float]
    """The largest constraint error at the end, per point."""

    contenders: dict[float, Contender] = field(default_factory=dict)
    """What was timed, per tolerance."""

    def seconds_at(self, precision: float) -> float | None:
        """The least time that reaches a precision, between two points on the logarithmic line; None if out of reach."""
        return min((seconds for seconds, _ in self._ways_to(precision)), default=None)

    def deciding(self, precision: float) -> tuple[float, ...]:
        """The tolerances whose times decide what ``seconds_at`` returns."""
        return min(self._ways_to(precision), default=(np.inf, ()))[1]

    def _ways_to(self, precision: float) -> list[tuple[float, tuple[float, ...]]]:
        """Each way to reach a precision: its seconds and the tolerances of its one or two points."""
        ways: list[tuple[float, tuple[float, ...]]] = [
            (seconds, (tolerance,)) for tolerance, seconds, off in self.points if off <= precision
        ]
        for (first, seconds_1, off_1), (second, seconds_2, off_2) in pairwise(self.points):
            if off_2 < precision < off_1:
                share = np.log(off_1 / precision) / np.log(off_1 / off_2)
                ways.append((float(seconds_1 * (seconds_2 / seconds_1) ** share), (first, second)))
        return ways


def sweep(
    peer: str,
    problem: Problem,
    contender: Callable[[float], Contender],
    tolerances: Sequence[float] = TOLERANCES,
    budget: float = BUDGET,
) -> Curve:
    """First times and errors over the tolerances; those a peer refuses or fails at are left out."""
    curve = Curve(peer, [], [])
    for tolerance in tolerances:
        with warnings.catch_warnings(), contextlib.suppress(RuntimeError, ValueError):
            warnings.simplefilter("ignore")
            made = contender(tolerance)
            timed = interleaved({peer: made}, budget=budget / 10)[peer]
            curve.contenders[tolerance] = made
            curve.points.append((tolerance, timed.seconds, error(problem, timed.outcome)))
            curve.violations.append(problem.violation(timed.outcome))
            if timed.seconds > budget:
                break
    return curve


def timed_in_turn(curves: Sequence[Curve], precision: float) -> dict[str, float]:
    """Seconds to a precision, by curve: the points that decide it are timed again, those of all curves in turn."""
    points = {(curve.peer, tolerance): curve for curve in curves for tolerance in curve.deciding(precision)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times = interleaved({(peer, tol): curve.contenders[tol] for (peer, tol), curve in points.items()})
    seconds = {}
    for curve in curves:
        known = curve.deciding(precision)
        again_timed = [(tol, times[curve.peer, tol].seconds, off) for tol, _, off in curve.points if tol in known]
        reached = replace(curve, points=again_timed).seconds_at(precision)
        if reached is not None:
            seconds[curve.peer] = reached
    return seconds


def best_of(curves: Sequence[Curve], precision: float) -> list[Curve]:
    """Those curves that may be the fastest to a precision, judged by their first times."""
    reached = [(seconds, curve) for curve in curves if (seconds := curve.seconds_at(precision)) is not None]
    reached.sort(key=lambda pair: pair[0])
    return [curve for seconds, curve in reached[:CANDIDATES] if seconds <= SIMILAR * reached[0][0]]


def _curve(peer: str, problem: Problem, prepare: Prepare, tolerances: Sequence[float], budget: float) -> Curve:
    return sweep(peer, problem, lambda tolerance: again(prepare(tolerance)), tolerances, budget)


class NumpyEquations:
    """The index-1 equations as one writes them in numpy: assemble ``Phi_q`` and gamma, solve the whole system."""

    def __init__(self, problem: Problem) -> None:
        ends = [
            (row, sign, body, point)
            for row, pin in enumerate(problem.pins)
            for sign, body, point in ((1.0, pin.body_i, pin.on_i), (-1.0, pin.body_j, pin.on_j))
            if body != GROUND
        ]
        self.n, pins = 3 * len(problem.bars), 2 * len(problem.pins)
        rows = pins + (0 if problem.slider is None else 2)
        self.row = 2 * np.array([end[0] for end in ends])
        self.sign = np.array([end[1] for end in ends])
        self.angle = 3 * np.array([end[2] for end in ends]) + 2
        self.local_x, self.local_y = np.array([end[3] for end in ends]).T
        self.matrix = np.zeros((self.n + rows, self.n + rows))
        np.fill_diagonal(self.matrix[: self.n, : self.n], problem.masses)
        self.right = np.concatenate([problem.forces, np.zeros(rows)])
        self.Phi_q = self.matrix[self.n :, : self.n]
        self.Phi_q[self.row, self.angle - 2] = self.sign
        self.Phi_q[self.row + 1, self.angle - 1] = self.sign
        if problem.slider is not None:
            self.Phi_q[pins, 3 * problem.slider + 1] = self.Phi_q[pins + 1, 3 * problem.slider + 2] = 1.0

    def __call__(self, _: float, state: np.ndarray) -> np.ndarray:
        """``(v, v')`` from ``(q, v)``."""
        n, v = self.n, state[self.n :]
        cos, sin, omega = np.cos(state[self.angle]), np.sin(state[self.angle]), v[self.angle]
        x = self.sign * (cos * self.local_x - sin * self.local_y)
        y = self.sign * (sin * self.local_x + cos * self.local_y)
        self.Phi_q[self.row, self.angle] = -y
        self.Phi_q[self.row + 1, self.angle] = x
        self.matrix[:n, n:] = self.Phi_q.T
        gamma = self.right[n:]
        gamma[:] = 0.0
        np.add.at(gamma, self.row, omega**2 * x)
        np.add.at(gamma, self.row + 1, omega**2 * y)
        return np.concatenate([v, np.linalg.solve(self.matrix, self.right)[:n]])


class SymbolicEquations:
    """The same equations as CasADi expressions: compiled right-hand sides, residuals and exact Jacobians."""

    def __init__(self, problem: Problem) -> None:
        import casadi as ca

        self.problem = problem
        self.n = n = 3 * len(problem.bars)
        self.q, self.v = ca.SX.sym("q", n), ca.SX.sym("v", n)
        self.state = ca.vertcat(self.q, self.v)
        rows = [self._place(pin.body_i, pin.on_i) - self._place(pin.body_j, pin.on_j) for pin in problem.pins]
        if problem.slider is not None:
            rows.append(self.q[3 * problem.slider + 1 : 3 * problem.slider + 3])
        self.Phi = ca.vertcat(*rows)
        self.m = self.Phi.numel()
        self.Phi_q = ca.jacobian(self.Phi, self.q)
        self.curvature = ca.jacobian(self.Phi_q @ self.v, self.q) @ self.v
        self.masses, self.forces = ca.DM(problem.masses), ca.DM(problem.forces)
        # M is diagonal: eliminate the accelerations, factorise Phi_q M^-1 Phi_q^T, all written out without a loop
        schur = self.Phi_q @ ca.diag(1 / self.masses) @ self.Phi_q.T
        load = self.Phi_q @ (self.forces / self.masses) + self.curvature
        self.multipliers = ca.ldl_solve(load, *ca.ldl(schur, False))
        self.rate = ca.vertcat(self.v, (self.forces - self.Phi_q.T @ self.multipliers) / self.masses)
        self.start = np.concatenate([problem.start, np.zeros(n)])
        first = ca.Function("first", [self.state], [self.multipliers, self.rate])(self.start)
        self.start_multipliers, self.start_rate = (np.array(each).ravel() for each in first)

    def _place(self, body: int, point: Point) -> Any:
        import casadi as ca

        if body == GROUND:
            return ca.DM(list(point))
        x, y, angle = ca.vertsplit(self.q[3 * body : 3 * body + 3])
        cos, sin = ca.cos(angle), ca.sin(angle)
        return ca.vertcat(x + cos * point[0] - sin * point[1], y + sin * point[0] + cos * point[1])


def _compiled(inputs: Sequence[Any], output: Any) -> Callable[..., np.ndarray]:
    """A CasADi function called through its buffers (about a microsecond); the array it returns is its own."""
    import casadi as ca

    # CasADi counts down the columns, numpy along the rows: hence the transposed output
    function = ca.Function("compiled", list(inputs), [ca.densify(output.T)], {"cse": True})
    arguments = [np.zeros(each.numel()) for each in inputs]
    result = np.zeros(output.numel())
    buffer: Any
    buffer, evaluate = function.buffer()
    for k, argument in enumerate(arguments):
        buffer.set_arg(k, argument.data)
    buffer.set_res(0, result.data)
    shaped = result if output.is_vector() else result.reshape(output.shape)

    def call(*values: np.ndarray | float) -> np.ndarray:
        for argument, value in zip(arguments, values, strict=True):
            argument[:] = value
        evaluate()
        return shaped

    call.buffer = buffer  # type: ignore[attr-defined]  # keeps the memory alive
    return call


def scipy_curves(
    problem: str, compiled: bool, tolerances: Sequence[float] = TOLERANCES, budget: float = BUDGET
) -> Iterator[Curve]:
    """SciPy's integrators, the right-hand side in numpy or compiled by CasADi (then with exact Jacobians)."""
    from scipy.integrate import solve_ivp

    given = PRECISION_PROBLEMS[problem]()
    n, start = given.start.size, np.concatenate([given.start, np.zeros(given.start.size)])
    rate: Callable[[float, np.ndarray], np.ndarray] = NumpyEquations(given)
    exact_jacobian: dict[str, Any] = {}
    if compiled:
        import casadi as ca

        equations = SymbolicEquations(given)
        function = _compiled([equations.state], equations.rate)
        derivative = _compiled([equations.state], ca.jacobian(equations.rate, equations.state))
        rate = lambda _, state: function(state).copy()  # noqa: E731
        exact_jacobian = {"jac": lambda _, state: derivative(state).copy()}

    def prepare(method: str, tolerance: float) -> Run:
        options = {} if method in ("DOP853", "RK45") else exact_jacobian

        def run() -> np.ndarray:
            span = (0.0, given.end_time)
            solution = solve_ivp(rate, span, start, method=method, rtol=tolerance, atol=tolerance, **options)
            if not solution.success:
                raise RuntimeError(solution.message)
            return solution.y[:n, -1]

        return run

    for method in SCIPY_METHODS:
        peer = f"SciPy {method}, {'compiled' if compiled else 'numpy'}"
        yield _curve(peer, given, partial(prepare, method), tolerances, budget)


def sundae_curves(problem: str, tolerances: Sequence[float] = TOLERANCES, budget: float = BUDGET) -> Iterator[Curve]:
    """SUNDIALS through scikit-sundae: IDA on two forms of the constrained equations, CVODE on the accelerations."""
    from sksundae.cvode import CVODE
    from sksundae.ida import IDA

    equations = SymbolicEquations(PRECISION_PROBLEMS[problem]())
    given, n = equations.problem, equations.n
    times = np.array([0.0, given.end_time])

    def finish(solution: Any) -> np.ndarray:
        if not solution.success:
            raise RuntimeError(solution.message)
        return solution.y[-1, :n]

    def prepare_ida(form: Callable[[SymbolicEquations], _Residual], tolerance: float) -> Run:
        residual = form(equations)
        options = {
            "rtol": tolerance,
            "atol": tolerance + residual.ignored,
            "algebraic_idx": list(range(2 * n, residual.start.size)),
            "jacfn": residual.jacobian,
            "max_num_steps": MAX_STEPS,
        }
        solver = IDA(residual, **options)
        return lambda: finish(solver.solve(times, residual.start, residual.start_rate))

    def prepare_cvode(method: str, tolerance: float) -> Run:
        function = _compiled([equations.state], equations.rate)

        def rate(_: float, state: np.ndarray, out: np.ndarray) -> None:
            out[:] = function(state)

        solver = CVODE(rate, method=method, rtol=tolerance, atol=tolerance, max_num_steps=MAX_STEPS)
        return lambda: finish(solver.solve(times, equations.start))

    yield _curve("scikit-sundae IDA, index 1", given, partial(prepare_ida, _index_1), tolerances, budget)
    yield _curve("scikit-sundae IDA, GGL", given, partial(prepare_ida, _ggl), tolerances, budget)
    yield _curve("scikit-sundae CVODE, Adams", given, partial(prepare_cvode, "Adams"), tolerances, budget)
    yield _curve("scikit-sundae CVODE, BDF", given, partial(prepare_cvode, "BDF"), tolerances, budget)


class _Residual:
    """A fully implicit form ``F(y, y') = 0`` with its iteration matrix ``F_y + c F_y'``, as IDA asks for them."""

    def __init__(self, y: Any, rate: Any, residual: Any, start: np.ndarray, start_rate: np.ndarray) -> None:
        import casadi as ca

        c = ca.SX.sym("c")
        self._residual = _compiled([y, rate], residual)
        self._matrix = _compiled([y, rate, c], ca.jacobian(residual, y) + c * ca.jacobian(residual, rate))
        self.start, self.start_rate = start, start_rate
        self.ignored = np.zeros(start.size)  # added to the absolute tolerances

    def __call__(self, _: float, y: np.ndarray, rate: np.ndarray, out: np.ndarray) -> None:
        out[:] = self._residual(y, rate)

    def jacobian(
        self, _: float, y: np.ndarray, rate: np.ndarray, _residual: np.ndarray, c: float, out: np.ndarray
    ) -> None:
        """Fill in the iteration matrix."""
        out[:] = self._matrix(y, rate, c)


def _index_1(e: SymbolicEquations) -> _Residual:
    """Constraints differentiated twice, in ``(q, v, lambda)``."""
    import casadi as ca

    lambda_, rate = ca.SX.sym("lambda", e.m), ca.SX.sym("rate", 2 * e.n + e.m)
    v1 = rate[e.n : 2 * e.n]
    motion = e.masses * v1 + e.Phi_q.T @ lambda_ - e.forces
    residual = ca.vertcat(rate[: e.n] - e.v, motion, e.Phi_q @ v1 + e.curvature)
    start = np.concatenate([e.start, e.start_multipliers])
    start_rate = np.concatenate([e.start_rate, np.zeros(e.m)])
    return _Residual(ca.vertcat(e.state, lambda_), rate, residual, start, start_rate)


def _ggl(e: SymbolicEquations) -> _Residual:
    """Positions and velocities both constrained, in ``(q, v, lambda, mu)`` (Gear, Gupta and Leimkuhler, 1985).

    The multipliers are of index 2, so they are kept out of the error test.
    """
    import casadi as ca

    lambda_, mu, rate = ca.SX.sym("lambda", e.m), ca.SX.sym("mu", e.m), ca.SX.sym("rate", 2 * (e.n + e.m))
    motion = e.masses * rate[e.n : 2 * e.n] + e.Phi_q.T @ lambda_ - e.forces
    residual = ca.vertcat(rate[: e.n] - e.v - e.Phi_q.T @ mu, motion, e.Phi_q @ e.v, e.Phi)
    start = np.concatenate([e.start, e.start_multipliers, np.zeros(e.m)])
    start_rate = np.concatenate([e.start_rate, np.zeros(2 * e.m)])
    form = _Residual(ca.vertcat(e.state, lambda_, mu), rate, residual, start, start_rate)
    form.ignored[2 * e.n :] = 1e6
    return form


def casadi_curves(problem: str, tolerances: Sequence[float] = TOLERANCES, budget: float = BUDGET) -> Iterator[Curve]:
    """SUNDIALS as CasADi calls it, no Python inside: IDAS on the index-1 equations, CVODES on the accelerations."""
    import casadi as ca

    e = SymbolicEquations(PRECISION_PROBLEMS[problem]())
    lambda_ = ca.SX.sym("lambda", e.m)
    acceleration = (e.forces - e.Phi_q.T @ lambda_) / e.masses
    constrained = {
        "x": e.state,
        "z": lambda_,
        "ode": ca.vertcat(e.v, acceleration),
        "alg": e.Phi_q @ acceleration + e.curvature,
    }
    ordinary = {"x": e.state, "ode": e.rate}
    adams = {"linear_multistep_method": "adams", "nonlinear_solver_iteration": "functional"}

    def prepare(plugin: str, equations: dict[str, Any], options: dict[str, Any], tolerance: float) -> Run:
        all_options = {"reltol": tolerance, "abstol": tolerance, "max_num_steps": MAX_STEPS, **options}
        integrator = ca.integrator("peer", plugin, equations, 0.0, e.problem.end_time, all_options)
        start = {"x0": e.start} if "z" not in equations else {"x0": e.start, "z0": e.start_multipliers}
        return lambda: np.array(integrator(**start)["xf"]).ravel()[: e.n]

    for peer, plugin, equations, options in (
        ("CasADi IDAS, index 1", "idas", constrained, {"suppress_algebraic": True}),
        ("CasADi CVODES, Adams", "cvodes", ordinary, adams),
        ("CasADi CVODES, BDF", "cvodes", ordinary, {}),
    ):
        yield _curve(peer, e.problem, partial(prepare, plugin, equations, options), tolerances, budget)


def work_precision(problem: str, tolerances: Sequence[float] = TOLERANCES, budget: float = BUDGET) -> list[Curve]:
    """All peers that are installed on one of ``PRECISION_PROBLEMS``; SciPy and CasADi always are."""
    curves = [*scipy_curves(problem, False, tolerances, budget), *scipy_curves(problem, True, tolerances, budget)]
    with contextlib.suppress(ImportError):
        curves += sundae_curves(problem, tolerances, budget)
    return [*curves, *casadi_curves(problem, tolerances, budget)]
