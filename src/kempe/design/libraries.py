"""SciPy's and CasADi's methods on a program: SLSQP, trust-constr and Ipopt, each with a way to live with walls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from scipy.optimize import BFGS, Bounds, NonlinearConstraint, minimize

from kempe.design.conditions import reached
from kempe.design.problem import Wall
from kempe.design.program import Program, Slopes

#: A design behind a wall looks so much worse than the last good one, in scales of the objective.
BEHIND = 1e3
#: A method may ask so often in a row for a design that cannot be evaluated.
STUBBORN = 30
#: A wall at this distance from a design, in scales of the parameters, is next to it.
CLOSE = 1e-5


class Jammed(Exception):
    """Every shorter step met a wall."""


class Enough(Exception):
    """A method has come as far as it was to go."""


class Guard:
    """A program as a library sees it: behind a wall are finite numbers that lead no search on.

    SciPy's methods know no failed evaluation. There a design behind a wall has the requirements and the slopes of the
    last good design, and an objective that no decrease promised from it outweighs, so that the step is cut (by SLSQP,
    to a tenth) or the trust region shrinks. A method that goes on asking behind the wall is ended.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.z = program.start
        self.good = program.slopes(self.z)
        self.behind = 0

    def values(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and the rows, or what stands for them behind a wall."""
        try:
            found = self.program.values(z)
        except Wall:
            self.shut(z)
            return self.good.f + BEHIND * (1.0 + abs(self.good.f)), self.good.c
        self.behind = 0
        return found

    def slopes(self, z: np.ndarray) -> Slopes:
        """The gradients, or what stands for them behind a wall."""
        try:
            self.good, self.z, self.behind = self.program.slopes(z), z.copy(), 0
        except Wall:
            self.shut(z)
        return self.good

    def shut(self, z: np.ndarray) -> None:
        """A design is behind a wall; that is the end where it is next to the last good one, or the latest of many."""
        self.behind += 1
        if self.behind > STUBBORN or np.abs(z - self.z).max() <= CLOSE:
            raise Jammed

    def note(self, z: np.ndarray, *_: Any) -> None:
        """An iteration is over."""
        self.program.note(z)
        if self.program.enough(z):
            self.z = z.copy()
            raise Enough


def slsqp(program: Program, most: int, accuracy: float) -> tuple[np.ndarray, str]:
    """Sequential quadratic programming (Kraft, 1988), in SciPy."""
    guard, equal = Guard(program), program.equal

    def slopes(z: np.ndarray) -> Slopes:
        """Gradients are asked for once an iteration is over."""
        if not np.array_equal(z, guard.z):
            guard.note(z)
        return guard.slopes(z)

    rows = []
    flat = equal & ~guard.good.dc.any(axis=1)  # (as an equation of no slope one would be singular; as two limits, not)
    for kind, which, sign in (("eq", equal & ~flat, 1.0), ("ineq", ~equal | flat, -1.0), ("ineq", flat, 1.0)):
        if which.any():
            value = _picked(lambda z: guard.values(z)[1], which, sign)
            slope = _picked(lambda z: slopes(z).dc, which, sign)
            rows.append({"type": kind, "fun": value, "jac": slope})

    def run() -> tuple[np.ndarray, str]:
        found = minimize(
            lambda z: guard.values(z)[0],
            program.start,
            jac=lambda z: slopes(z).df,
            bounds=Bounds(program.lower, program.upper),
            constraints=rows,
            method="SLSQP",
            options={"maxiter": most, "ftol": accuracy**2},
        )
        return found.x, found.message

    return _guarded(guard, run)


def _picked(function: Callable[[np.ndarray], np.ndarray], which: np.ndarray, sign: float) -> Any:
    return lambda z: sign * function(z)[which]


def _guarded(guard: Guard, run: Callable[[], tuple[np.ndarray, str]]) -> tuple[np.ndarray, str]:
    """What a method ends with; the last good design where it insists on one behind a wall."""
    guard.note(guard.z)
    try:
        return run()
    except Jammed:
        return guard.z, str(Jammed.__doc__)
    except Enough:
        return guard.z, "The first-order conditions hold."


class _Curvature(BFGS):
    """Curvature by the formula of Broyden, Fletcher, Goldfarb and Shanno; what is linear has none, no warning given."""

    def update(self, delta_x: np.ndarray, delta_grad: np.ndarray) -> None:
        if np.any(delta_x) and np.any(delta_grad):
            super().update(delta_x, delta_grad)


def trust_constr(program: Program, most: int, accuracy: float) -> tuple[np.ndarray, str]:
    """An interior-point method with trust regions (Byrd, Hribar and Nocedal, 1999), in SciPy."""
    guard = Guard(program)
    start = _inside(program)
    last = program.start

    def look(z: np.ndarray, _: Any) -> None:
        nonlocal last
        if not np.array_equal(z, last):
            last = z.copy()
            guard.note(z)
            if reached(program, z, guard.slopes(z), 0.1 * accuracy):
                raise Enough

    rows = []
    if len(program.equal):
        low = np.where(program.equal, 0.0, -np.inf)
        high = np.zeros(len(program.equal))
        values, slopes = (lambda z: guard.values(z)[1]), (lambda z: guard.slopes(z).dc)
        rows.append(NonlinearConstraint(values, low, high, jac=slopes, hess=_Curvature()))

    def run() -> tuple[np.ndarray, str]:
        found = minimize(
            lambda z: guard.values(z)[0],
            start,
            jac=lambda z: guard.slopes(z).df,
            hess=_Curvature(),
            bounds=Bounds(program.lower, program.upper),
            constraints=rows,
            method="trust-constr",
            callback=look,
            options={
                "maxiter": most,
                "gtol": 1e-14,  # (SciPy would stop at a stationary point of the barrier)
                "xtol": 1e-10,
                "barrier_tol": 0.01 * accuracy,
                "initial_tr_radius": 0.1,
                "initial_barrier_parameter": 1e-3,
                "initial_barrier_tolerance": 1e-3,
                "sparse_jacobian": False,
                "factorization_method": "SVDFactorization",
            },
        )
        return np.clip(found.x, program.lower, program.upper), found.message

    return _guarded(guard, run)


def _inside(program: Program) -> np.ndarray:
    """The start, moved off the bounds: a method with barriers cannot begin on one."""
    width = program.upper - program.lower
    room = np.where(np.isfinite(width), 1e-3 * width, 1e-3)
    return np.clip(program.start, program.lower + room, program.upper - room)


#: So many iterations that move less than this, in scales of the parameters, are no progress.
STANDING, MOVED = 5, 1e-10


class _Asked(ca.Callback):
    """A function of the design for CasADi; what it raises is kept, since it cannot pass through compiled code.

    NaN is CasADi's word for a function that cannot be evaluated: it tells Ipopt so, which cuts the step. No NaN takes
    part in a computation.
    """

    def __init__(self, guard: Guard, inputs: list[int], outputs: list[tuple[int, int]]) -> None:
        super().__init__()
        self.guard, self.program, self.inputs, self.outputs = guard, guard.program, inputs, outputs
        self.raised: list[BaseException] = []

    def get_n_in(self) -> int:
        return len(self.inputs)

    def get_n_out(self) -> int:
        return len(self.outputs)

    def get_sparsity_in(self, k: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self.inputs[k], 1)

    def get_sparsity_out(self, k: int) -> ca.Sparsity:
        return ca.Sparsity.dense(*self.outputs[k])

    def eval(self, given: Sequence[ca.DM]) -> list[ca.DM]:
        z = np.array(given[0]).ravel()
        try:
            if not self.raised:
                return [ca.DM(each) for each in self._asked(z)]
        except BaseException as error:
            self.raised.append(error)
        return [ca.DM.nan(*shape) for shape in self.outputs]

    def _asked(self, z: np.ndarray) -> tuple[Any, ...]:
        try:
            return self.answer(z)
        except Wall:
            self.guard.shut(z)
        return tuple(ca.DM.nan(*shape) for shape in self.outputs)

    def answer(self, z: np.ndarray) -> tuple[Any, ...]:
        """What it is at a design."""
        raise NotImplementedError


class _Gradients(_Asked):
    """The gradients of f and c."""

    def __init__(self, guard: Guard) -> None:
        n, m = len(guard.program.start), len(guard.program.equal)
        super().__init__(guard, [n, 1, m], [(1, n), (m, n)])
        self.construct("slopes")

    def answer(self, z: np.ndarray) -> tuple[Any, ...]:
        found = self.program.slopes(z)
        self.guard.good, self.guard.z, self.guard.behind = found, z, 0
        return found.df[None, :], found.dc


class _Functions(_Asked):
    """f and c."""

    def __init__(self, guard: Guard) -> None:
        n, m = len(guard.program.start), len(guard.program.equal)
        super().__init__(guard, [n], [(1, 1), (m, 1)])
        self.gradients = _Gradients(guard)
        self.gradients.raised = self.raised
        self.construct("functions")

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(self, *_: Any) -> ca.Callback:
        return self.gradients

    def answer(self, z: np.ndarray) -> tuple[Any, ...]:
        f, c = self.program.values(z)
        self.guard.behind = 0
        return f, c


class _Iterations(_Asked):
    """Looks on after each iteration; ends the method where it stands still or has come far enough."""

    def __init__(self, guard: Guard, raised: list[BaseException]) -> None:
        n, m = len(guard.program.start), len(guard.program.equal)
        sizes = {"x": n, "lam_x": n, "f": 1, "g": m, "lam_g": m, "lam_p": 0}
        super().__init__(guard, [sizes[name] for name in ca.nlpsol_out()], [(1, 1)])
        self.raised = raised
        self.z = guard.z
        self.still = 0
        self.met = False
        self.construct("iterations")

    def eval(self, given: Sequence[ca.DM]) -> list[ca.DM]:
        found = super().eval(given)
        return [ca.DM(1)] if self.raised else found

    def answer(self, z: np.ndarray) -> tuple[Any, ...]:
        self.still = self.still + 1 if np.abs(z - self.z).max() <= MOVED else 0
        self.z = z
        self.program.note(z)
        self.met = self.program.enough(z)
        return (int(self.met or self.still > STANDING),)


def ipopt(program: Program, most: int, accuracy: float) -> tuple[np.ndarray, str]:
    """An interior-point method with a filter (Wächter and Biegler, 2006), by CasADi."""
    guard = Guard(program)
    functions = _Functions(guard)
    iterations = _Iterations(guard, functions.raised)
    z = ca.MX.sym("z", len(program.start))
    f, c = functions(z)
    settings: dict[str, Any] = {
        "ipopt.hessian_approximation": "limited-memory",
        "ipopt.tol": 0.1 * accuracy,
        "ipopt.constr_viol_tol": 0.1 * accuracy * max(float(program.weights.min(initial=1.0)), 1e-4),
        "ipopt.bound_relax_factor": 0.0,
        "ipopt.honor_original_bounds": "yes",
        "ipopt.max_iter": most,
        "ipopt.print_level": 0,
        "ipopt.sb": "yes",
        "print_time": False,
        "show_eval_warnings": False,
        "error_on_fail": False,
        "iteration_callback": iterations,
    }
    asked: dict[str, Any] = {"x": z, "f": f, "g": c}
    solver = ca.nlpsol("solver", "ipopt", asked, settings)
    low = np.where(program.equal, 0.0, -np.inf)
    found = solver(x0=program.start, lbx=program.lower, ubx=program.upper, lbg=low, ubg=np.zeros(len(low)))
    if functions.raised and isinstance(functions.raised[0], Jammed):
        return guard.z, str(Jammed.__doc__)
    if functions.raised:
        raise functions.raised[0]
    if iterations.met:
        return iterations.z, "The requirements are met."
    if iterations.still > STANDING:
        return iterations.z, "No shorter step leads on."
    end = np.clip(np.array(found["x"]).ravel(), program.lower, program.upper)
    return end, str(solver.stats()["return_status"]).replace("_", " ").lower()
