"""Programs written out whole give the digits of the loops over their calls: random programs, plans and pieces."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from test_quasi_definite import order_of, random_matrix

from kempe.kernels import Kernel, compile_function, emitting
from kempe.kernels.compiler import call_address, compile_sheet
from kempe.kernels.linear import factor_sheet, solve_sheet
from kempe.kernels.sheet import Sheet
from kempe.solvers import fusing
from kempe.solvers import quasi_definite as qd
from kempe.solvers.directions import Directions, directions, pulled, pushed
from kempe.solvers.program import ROW_WEIGHT, STATE, WEIGHTS, Kernels, Program, make_program, run, size_head
from kempe.solvers.vectors import largest

#: The head of x in these programs.
HEAD = 12
SEEDS = st.integers(0, 2**31 - 1)
#: Values at which conditions change sides, and others.
TOUCHY = [0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, 0.5]

#: What expressions are made of, conditions and what is undefined on one of their sides among it.
OPERATIONS: list[Callable[[ca.SX, ca.SX, ca.SX], ca.SX]] = [
    lambda a, b, c: a + b * c,
    lambda a, b, c: a - b,
    lambda a, b, c: a * b,
    lambda a, b, c: ca.sin(a) * ca.cos(b),
    lambda a, b, c: ca.if_else(a < b, c * a, b - c),
    lambda a, b, c: ca.if_else(a > 0, ca.sqrt(ca.fmax(a, 0)), 0) * b,
    lambda a, b, c: ca.if_else(ca.logic_and(a >= 0, b != c), a**1.5, c),
    lambda a, b, c: ca.sign(a) * b + ca.fabs(c),
    lambda a, b, c: ca.fmin(a, b) + ca.fmax(b, c),
    lambda a, b, c: ca.tanh(a) / (1 + b * b),
    lambda a, b, c: ca.atan2(a, b) + ca.exp(-c * c),
    lambda a, b, c: a + b * (c + b * (a + b * c)),  # a piece of a table
    lambda a, b, c: (a < b) * c,
    lambda a, b, c: ca.logic_not(a < 0) * ca.floor(b),
]


def random_function(rng: np.random.Generator) -> tuple[ca.SX, ca.SX]:
    """A function of a few numbers, in which much is used twice."""
    x = ca.SX.sym("x", int(rng.integers(1, 7)))
    pool = [x[k] for k in range(x.numel())] + [ca.SX(value) for value in (0.5, 2.0)]
    for _ in range(int(rng.integers(2, 14))):
        a, b, c = (pool[k] for k in rng.integers(0, len(pool), 3))
        pool.append(OPERATIONS[rng.integers(len(OPERATIONS))](a, b, c))
    return x, ca.vertcat(*(pool[k] for k in rng.integers(0, len(pool), int(rng.integers(1, 6)))))


def random_kernel(rng: np.random.Generator) -> Kernel:
    """Such a function with its derivatives."""
    x, y = random_function(rng)
    return compile_function(x, ca.vertcat(y, ca.jtimes(y, x, ca.SX.ones(x.numel()))))


def random_program(seed: int, size_out: int | None = None, head: int = HEAD) -> tuple[Program, np.ndarray]:
    """Several calls of several kernels whose inputs are in the head or of their own, and inputs to run it with."""
    rng = np.random.default_rng(seed)
    kinds = [random_kernel(rng) for _ in range(int(rng.integers(1, 4)))]
    calls = [kinds[k] for k in rng.integers(0, len(kinds), int(rng.integers(1, 8)))]
    ends = np.cumsum([head, *(kernel.n_in for kernel in calls)])
    found_at = np.arange(ends[-1])
    shared = (rng.random(ends[-1]) < 0.6) & (found_at >= head)
    found_at[shared] = rng.integers(0, head, int(shared.sum()))
    outputs = sum(kernel.n_out for kernel in calls)
    source = rng.integers(0, outputs, int(rng.integers(1, 3 * outputs)))  # (some more than once, some not at all)
    size = int(rng.integers(1, outputs + 3)) if size_out is None else size_out
    target = rng.integers(0, size, len(source))
    program = make_program(Kernels(64), calls, ends[:-1], source, target, size, found_at)
    x = np.where(rng.random(ends[-1]) < 0.3, rng.choice(TOUCHY, ends[-1]), rng.normal(size=ends[-1]))
    return program, x


def outputs_of(program: Program, x: np.ndarray) -> np.ndarray:
    out = np.full(program.size_out + 1, 77.0)
    run(program, x.copy(), np.zeros(max(program.size_y, 1)), out)
    assert out[-1] == 77.0
    return out[:-1]


def written(sheet: Sheet, *given: np.ndarray, sizes: tuple[int, ...]) -> list[np.ndarray]:
    """What a sheet writes, of what it is given."""
    kernel = compile_sheet(sheet)
    made = [np.full(max(size, 1), np.nan) for size in sizes]
    call_address(
        kernel.address,
        *(np.ascontiguousarray(v, dtype=float).ctypes.data for v in given),
        *(v.ctypes.data for v in made),
    )
    return [vector[:size] for vector, size in zip(made, sizes, strict=True)]


def assert_same_digits(a: np.ndarray, b: np.ndarray) -> None:
    """Every bit, but for the sign of zeros."""
    assert np.array_equal(a, b, equal_nan=True), (a, b)


@given(SEEDS)
@settings(max_examples=150)
def test_a_fused_program_gives_the_digits_of_its_calls(seed: int) -> None:
    program, x = random_program(seed)
    apart = outputs_of(program, x)
    assert fusing.can_be_fused(program)
    program.fused = program.kernels.number(compile_sheet(fusing.whole(program))) + 1
    assert_same_digits(outputs_of(program, x), apart)


@given(SEEDS, st.sampled_from([(3, 2), (10, 5), (40, 7)]))
@settings(max_examples=50)
def test_a_program_cut_into_pieces_gives_the_same_digits(seed: int, cut: tuple[int, int]) -> None:
    program, x = random_program(seed)
    apart, kept = outputs_of(program, x), (emitting.WHOLE, emitting.PIECE)
    try:
        emitting.WHOLE, emitting.PIECE = cut
        program.fused = program.kernels.number(compile_sheet(fusing.whole(program))) + 1
    finally:
        emitting.WHOLE, emitting.PIECE = kept
    assert_same_digits(outputs_of(program, x), apart)


def random_directions(seed: int) -> tuple[Directions, list[np.ndarray]]:
    """Derivatives of several functions that share places; inputs, a direction, weights, and what is added to."""
    rng = np.random.default_rng(seed)
    calls, table, size_x, size = [], Kernels(64), int(rng.integers(3, 12)), int(rng.integers(1, 9))
    for _ in range(int(rng.integers(1, 6))):
        x, y = random_function(rng)
        d, w = ca.SX.sym("d", x.numel()), ca.SX.sym("w", y.numel())
        push = compile_function(ca.vertcat(x, d), ca.densify(ca.jtimes(y, x, d)))
        pull = compile_function(ca.vertcat(x, w), ca.densify(ca.jtimes(y, x, w, True)))
        found_at, target = (rng.integers(0, high, count) for high, count in ((size_x, x.numel()), (size, y.numel())))
        calls.append((table.number(push), table.number(pull), found_at, target))
    vectors = [
        np.where(rng.random(count) < 0.4, rng.choice(TOUCHY, count), rng.normal(size=count))
        for count in (size_x, size_x, size, size_x)
    ]
    vectors[2][rng.random(size) < 0.5] = 0.0
    return directions(table, calls, size), vectors


@given(SEEDS, st.sampled_from([None, (3, 2), (40, 7)]))
@settings(max_examples=150)
def test_fused_directions_give_the_digits_of_their_calls(seed: int, cut: tuple[int, int] | None) -> None:
    d, (x, dx, weights, xbar) = random_directions(seed)
    found, kept = [], (emitting.WHOLE, emitting.PIECE)
    for fused in (False, True):
        try:
            emitting.WHOLE, emitting.PIECE = cut or kept
            if fused:
                d.fused.push = d.kernels.number(compile_sheet(fusing.pushing(d))) + 1
                d.fused.pull = d.kernels.number(compile_sheet(fusing.pulling(d))) + 1
        finally:
            emitting.WHOLE, emitting.PIECE = kept
        out, bar = np.full(d.size + 1, 77.0), xbar.copy()
        pushed(d, x, dx, out)
        pulled(d, x, weights, bar)
        found.append((out, bar))
    for apart, together in zip(*found, strict=True):
        assert_same_digits(together, apart)


def test_an_infinite_derivative_without_a_weight_never_shows() -> None:
    x, w = ca.SX.sym("x", 1), ca.SX.sym("w", 1)
    y, table = ca.sqrt(x), Kernels(4)
    push = compile_function(ca.vertcat(x, w), ca.jtimes(y, x, w))
    pull = compile_function(ca.vertcat(x, w), ca.jtimes(y, x, w, True))
    d = directions(table, [(table.number(push), table.number(pull), np.array([0]), np.array([0]))], 1)
    d.fused.pull = table.number(compile_sheet(fusing.pulling(d))) + 1
    for weight, expected in ((0.0, 3.0), (1.0, np.inf)):
        bar = np.array([3.0])
        pulled(d, np.zeros(1), np.array([weight]), bar)
        assert bar[0] == expected


class Linear:
    """A random plan with values, a shift and a right-hand side; the factors and the solution in loops."""

    def __init__(self, size: int, seed: int, symmetric: bool) -> None:
        rng = np.random.default_rng(seed)
        self.a = a = random_matrix(size, seed, symmetric, repeated=bool(seed % 2))
        self.plan = qd.plan(a.n + a.m, a.rows, a.columns, a.places, order_of(a), Kernels(8))
        self.pattern = qd.pattern_of(self.plan)
        self.n, self.m = a.n, a.m
        self.shift = np.concatenate([np.zeros(a.n), np.full(a.m, -1e-9)])
        self.right = np.where(rng.random(a.n + a.m) < 0.2, 0.0, rng.normal(size=a.n + a.m))
        self.work = np.zeros(a.n + a.m)
        self.entries = (self.plan.e_row, self.plan.e_column, self.plan.e_place)

    def factors(self, values: np.ndarray) -> np.ndarray:
        lu = np.zeros(qd.size(self.plan))
        assert qd.factor_in_loops(self.plan, values, self.shift, lu, self.work)
        return lu

    def solution(self, lu: np.ndarray, right: np.ndarray) -> np.ndarray:
        found = np.zeros_like(right)
        qd.solve_in_loops(self.plan, lu, right, found, self.work)
        return found

    def transposed_solution(self, lu: np.ndarray, right: np.ndarray) -> np.ndarray:
        found = np.zeros_like(right)
        qd.solve_transposed(self.plan, lu, right, found, self.work)
        return found


SIZES = st.sampled_from([1, 2, 3, 7, 20])


@given(SIZES, SEEDS, st.booleans())
@settings(max_examples=40)
def test_factors_and_solutions_written_out_are_those_of_the_loops(size: int, seed: int, symmetric: bool) -> None:
    s = Linear(size, seed, symmetric)
    lu = s.factors(s.a.values)
    (out,) = written(factor_sheet(s.pattern), s.a.values, s.shift, sizes=(len(lu),))
    assert_same_digits(out, lu)
    (found,) = written(solve_sheet(s.pattern), lu, s.right, sizes=(len(s.right),))
    assert_same_digits(found, s.solution(lu, s.right))
    (found,) = written(solve_sheet(s.pattern, transposed=True), lu, s.right, sizes=(len(s.right),))
    assert_same_digits(found, s.transposed_solution(lu, s.right))


@given(SIZES, SEEDS, st.booleans())
@settings(max_examples=30)
def test_a_refinement_written_out_is_that_of_the_loops(size: int, seed: int, symmetric: bool) -> None:
    s = Linear(size, seed, symmetric)
    lu = s.factors(s.a.values)
    found = s.solution(lu, s.right)
    left = s.right.copy()
    qd.subtract_product(s.plan, s.a.values, found, left)
    sheet = fusing.refining(s.pattern, s.entries, s.plan.size_values)
    (change,) = written(sheet, s.a.values, lu, s.right, found, sizes=(len(found),))
    assert_same_digits(change, s.solution(lu, left))
    left = s.right.copy()
    qd.subtract_transposed_product(s.plan, s.a.values, found, left)
    sheet = fusing.refining(s.pattern, s.entries, s.plan.size_values, transposed=True)
    (change,) = written(sheet, s.a.values, lu, s.right, found, sizes=(len(found),))
    assert_same_digits(change, s.transposed_solution(lu, left))


def program_with_a_matrix(s: Linear, first: int, seed: int) -> tuple[Program, np.ndarray]:
    """A program whose outputs from ``first`` on are the values of a matrix that can be factored."""
    rng, size = np.random.default_rng(seed), s.plan.size_values
    front, x = random_program(seed, max(first, 1))
    matrix = ca.SX.sym("x", size)
    other = compile_function(matrix, matrix * 1.0 + 0.0 * ca.sin(matrix))
    calls = [*(front.kernels.held[k] for k in front.kernel.tolist()), other]
    at, outputs = len(x), front.size_y
    found_at = np.arange(at + size)
    found_at[front.gather_to] = front.gather_from
    source = np.concatenate([front.source[front.target < first], outputs + np.arange(size)])
    target = np.concatenate([front.target[front.target < first], first + np.arange(size)])
    x_at = np.concatenate([front.x_at, [at]])
    program = make_program(front.kernels, calls, x_at, source, target, first + size, found_at)
    x = np.concatenate([x, s.a.values[:size]])
    x[ROW_WEIGHT] = rng.uniform(0.1, 10)
    return program, x


@given(SIZES, SEEDS)
@settings(max_examples=30)
def test_what_does_several_things_at_once_does_what_they_do_one_by_one(size: int, seed: int) -> None:
    s = Linear(size, seed, False)
    n, m = s.n, s.m
    program, x = program_with_a_matrix(s, n + 3 * m, seed)
    out = outputs_of(program, x)
    lu = s.factors(out[n + 3 * m :])
    sizes = (len(out), len(lu))
    for made, expected in zip(
        written(fusing.with_factors(program, n + 3 * m, s.pattern), x, s.shift, sizes=sizes), (out, lu), strict=True
    ):
        assert_same_digits(made, expected)
    right = np.concatenate([-out[:n], out[n + 2 * m : n + 3 * m]])
    found = s.solution(lu, right)
    sheet = fusing.accelerating(program, n, m, s.pattern)
    made, told = written(sheet, x, s.shift, sizes=(n + m, 1))
    assert_same_digits(made, found)
    assert np.isfinite(told[0])


@given(SIZES, SEEDS)
@settings(max_examples=60)
@np.errstate(all="ignore")
def test_an_iteration_of_newtons_method_is_a_residual_a_solution_and_a_correction(size: int, seed: int) -> None:
    s = Linear(size, seed, True)
    n, m, rng = s.n, s.m, np.random.default_rng(seed)
    lu, units = s.factors(s.a.values), rng.uniform(0.1, 10, n + m)
    program, x = random_program(seed, n + m, size_head(n, m))
    out = outputs_of(program, x)
    step = s.solution(lu, np.concatenate([-out[:n], -(x[ROW_WEIGHT] * out[n:])]))
    after = x.copy()
    after[STATE : STATE + n] += x[WEIGHTS + 2] * step[:n]
    after[STATE + n : STATE + 2 * n] += x[WEIGHTS + 1] * step[:n]
    after[STATE + 2 * n : STATE + 3 * n + m] += step
    moved, off = x[WEIGHTS + 2] * largest(step[:n], units[:n]), largest(out[n:], units[n:])
    (told,) = written(fusing.iterating(program, n, m, s.pattern), x, lu, units, sizes=(2,))
    assert_same_digits(x, after)
    assert_same_digits(told, np.array([moved, off]))


@given(SIZES.filter(lambda size: size > 2), SEEDS)
@settings(max_examples=30)
def test_a_projection_is_a_value_and_a_solution(size: int, seed: int) -> None:
    s = Linear(size, seed, True)
    n, m = s.n, s.m
    lu = s.factors(s.a.values)
    program, x = random_program(seed, m)
    phi = outputs_of(program, x)
    back = s.solution(lu, np.concatenate([np.zeros(n), -phi]))
    found = written(fusing.projecting(program, n, m, s.pattern), x, lu, sizes=(m, n + m))
    for made, expected in zip(found, (phi, back), strict=True):
        assert_same_digits(made, expected)


def test_a_kernel_with_a_loop_over_columns_is_not_fused() -> None:
    from kempe.kernels.compiler import compile_columns
    from kempe.kernels.emitting import Columns

    x, d = ca.SX.sym("x", 2), ca.SX.sym("d", 2)
    y = ca.vertcat(ca.sin(x[0]), x[0] * x[1])
    columns = Columns(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([0, 1]), 2)
    kernel = compile_columns(x, y, d, ca.jtimes(y, x, d), columns)
    program = make_program(Kernels(4), [kernel], np.array([0]), np.arange(5), np.arange(5), 5)
    assert not fusing.can_be_fused(program)


def test_what_several_calls_need_is_computed_once() -> None:
    x = ca.SX.sym("x", 2)
    kernel = compile_function(x, ca.sin(x[0]) * x[1])
    found_at = np.array([0, 1, 0, 3, 0, 5, 0, 7])  # one angle, a factor each
    program = make_program(Kernels(4), [kernel] * 3, np.array([2, 4, 6]), np.arange(3), np.arange(3), 3, found_at)
    assert sum(step.op == ca.OP_SIN for step in fusing.whole(program).steps) == 1
