"""Programs evaluated several calls at a time: bit for bit what the calls one by one give."""

from __future__ import annotations

import pickle

import casadi as ca
import numpy as np
import pytest

import kempe as kp
from kempe.kernels import Kernel, compile_function
from kempe.simulation.methods import METHODS
from kempe.solvers.program import Kernels, Program, make_program, run
from kempe.system import system
from kempe.system.dynamics import DynamicPrograms

ONE = [
    ca.sin, ca.cos, ca.tan, ca.asin, ca.acos, ca.atan, ca.sinh, ca.cosh, ca.tanh, ca.exp, ca.expm1, ca.log, ca.log1p,
    ca.sqrt, ca.fabs, ca.floor, ca.ceil, ca.sign, ca.erf, ca.logic_not, lambda a: -a, lambda a: a**2, lambda a: 1 / a,
    lambda a: 2 * a, lambda a: a**1.5, lambda a: a,
]  # fmt: skip
TWO = [
    ca.fmin, ca.fmax, ca.atan2, ca.hypot, ca.fmod, ca.copysign, ca.logic_and, ca.logic_or, ca.power,
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: a < b,
    lambda a, b: a <= b, lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a - 3 * b, lambda a, b: 0.1 + a * b,
    lambda a, b: ca.if_else(a > 0, ca.sqrt(a) * b, b), lambda a, b: ca.if_else(a < b, b / a, -0.0),
]  # fmt: skip


def random_kernel(rng: np.random.Generator, size: int, count: int, outputs: int) -> Kernel:
    """A function of ``size`` numbers made of random operations."""
    x = ca.SX.sym("x", size)
    made = [x[k] for k in range(size)] + [ca.SX(float(rng.normal()))]
    for _ in range(count):
        a, b = (made[k] for k in rng.integers(0, len(made), 2))
        one = rng.random() < 0.4
        made.append(ONE[rng.integers(len(ONE))](a) if one else TWO[rng.integers(len(TWO))](a, b))
    chosen = [made[k] for k in rng.integers(size, len(made), outputs)]
    return compile_function(x, ca.vertcat(*(ca.densify(c) for c in chosen)))


def random_program(seed: int, large: bool) -> tuple[Program, int]:
    """Calls of several kernels in any order, whose inputs are partly in the head of x, and the length of x."""
    rng = np.random.default_rng(seed)
    kernels = [
        random_kernel(rng, int(rng.integers(1, 7)), int(rng.integers(1, 40)), int(rng.integers(1, 6))) for _ in range(3)
    ]
    calls = [kernels[k] for k in rng.permutation(np.repeat(np.arange(3), [21, 8, 3]))]
    head = 30
    x_at = head + np.cumsum([0, *(kernel.n_in for kernel in calls)])
    found_at = np.arange(x_at[-1])
    moved = head + np.flatnonzero(rng.random(x_at[-1] - head) < 0.6)
    found_at[moved] = rng.integers(0, head, len(moved))
    size = sum(kernel.n_out for kernel in calls)
    source = rng.permutation(size)[: size - 2]
    target = rng.integers(0, size // 3, len(source))
    made = make_program(Kernels(9), calls, x_at[:-1], source, target, size // 3 + 2, found_at, large)
    return made, int(x_at[-1])


def outputs_of(program: Program, x: np.ndarray) -> np.ndarray:
    out = np.full(program.size_out, np.nan)
    run(program, x.copy(), np.full(program.size_y, np.nan), out)
    return out


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal in every bit, where they are numbers at all."""
    return bool(((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))).all())


@pytest.mark.parametrize("seed", range(24))
def test_digits_are_those_of_the_calls_one_by_one(seed: int) -> None:
    (wide, size), (single, _) = (random_program(seed, large) for large in (True, False))
    assert len(wide.wide.kernel) == 3 and len(wide.wide.alone) == 8  # 21 and 8 of the calls fill lanes, 3 do not
    assert single.wide.kernel.size == 0
    rng = np.random.default_rng(seed)
    for scale in (1.0, 3.0, 1e3):
        x = scale * rng.normal(size=size)
        odd = rng.random(size) < 0.1
        x[odd] = rng.choice([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310], odd.sum())
        assert same(outputs_of(wide, x), outputs_of(single, x))


def test_a_program_travels() -> None:
    program, size = random_program(5, True)
    x = np.random.default_rng(5).normal(size=size)
    assert same(outputs_of(pickle.loads(pickle.dumps(program)), x), outputs_of(program, x))


def row(count: int) -> kp.Mechanism:
    """Pendulums in a row with springs and dampers between them."""
    m = kp.Mechanism("row", gravity=(0, -9.81))
    bodies = [m.body(f"b{k}", mass=1.0 + 0.1 * k, inertia=0.05, at=(k, -0.5)) for k in range(count)]
    for k, body in enumerate(bodies):
        m.revolute(f"r{k}", m.ground, body, at=(k, 0.0))
        if k:
            ends = bodies[k - 1].at_world((k - 1, -1.0)), body.at_world((k, -1.0))
            m.spring(f"s{k}", *ends, stiffness=90.0, damping=0.5)
    m.torque("motor", bodies[0], 8.0)
    return m


@pytest.mark.parametrize("method", METHODS)
def test_motions_are_the_same_in_every_digit(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    monkeypatch.setattr(DynamicPrograms, "renewal", 2.0)  # (what a matrix costs decides how often there is a new one)
    for many in (8, 10**9):
        monkeypatch.setattr(system, "MANY_CALLS", many)
        found.append(row(11).simulate([0.0, 0.1, 0.3], method=method, tolerance=1e-7))
    assert found[0].stats["evaluations"] == found[1].stats["evaluations"] > 0
    for name in ("q", "v", "a"):
        assert np.array_equal(*(getattr(each, name) for each in found))
