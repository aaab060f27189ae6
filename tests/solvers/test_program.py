"""Programs: what kernels give goes where it belongs, tables are read where they should be, kernels travel by number."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numba
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from kempe.elements.tables import Axis, Table
from kempe.kernels import Kernel, compile_function, compiler
from kempe.solvers.pack import pack, part, window
from kempe.solvers.program import STATE, Kernels, Layout, Program, load, make_program, run, size_arguments, size_head

NOTHING = np.zeros(0, dtype=np.int64)


def two_kernels() -> tuple[Kernel, Kernel]:
    """(x0 + x1, x0 x1, sin x0) of two numbers, and (x0^2) of one."""
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y", 1)
    return compile_function(x, ca.vertcat(x[0] + x[1], x[0] * x[1], ca.sin(x[0]))), compile_function(y, y**2)


def program_of_four_calls(kernels: Kernels) -> Program:
    """Four calls with 8 outputs; some are added to one place, one goes to two places, one nowhere."""
    f, g = two_kernels()
    source, target = [0, 1, 3, 4, 6, 7, 7, 2], [0, 3, 0, 3, 0, 2, 5, 4]
    return make_program(kernels, [f, f, g, g], np.array([0, 2, 1, 4]), np.array(source), np.array(target), 6)


X = np.array([0.5, -2.0, 3.0, 0.25, 1.5])


def outputs_of(program: Program) -> np.ndarray:
    out = np.full(program.size_out + 2, 77.0)
    run(program, X.copy(), np.zeros(program.size_y), out)
    assert (out[program.size_out :] == 77.0).all()  # nothing is written beyond
    return out[: program.size_out]


def test_outputs_are_added_where_they_belong() -> None:
    program = program_of_four_calls(Kernels(4))
    assert (program.size_y, program.size_out) == (8, 6)
    a, b, c, d, e = X
    # outputs side by side: a + b, a b, sin a | c + d, c d, sin c | b^2 | e^2
    expected = [(a + b) + (c + d) + b**2, a * b + c * d, e**2, np.sin(a), e**2]
    out = outputs_of(program)
    assert out[1] == 0.0  # a place that nothing goes to
    np.testing.assert_allclose(out[[0, 3, 2, 4, 5]], expected, rtol=1e-15)


def test_running_again_begins_from_zero() -> None:
    program = program_of_four_calls(Kernels(4))
    x, y, out = X.copy(), np.zeros(8), np.zeros(6)
    run(program, x, y, out)
    first = out.copy()
    run(program, x, y, out)
    assert np.array_equal(out, first) and np.array_equal(x, X)


def test_a_program_without_calls_gives_zeros() -> None:
    program = make_program(Kernels(0), [], NOTHING, NOTHING, NOTHING, 3)
    assert np.array_equal(outputs_of(program), np.zeros(3))


# --- the table of kernels ---------------------------------------------------------------------------------------------


def test_a_kernel_has_one_number_and_a_full_table_says_so() -> None:
    f, g = two_kernels()
    kernels = Kernels(2)
    assert [kernels.number(k) for k in (f, g, f, g, two_kernels()[0])] == [0, 1, 0, 1, 0]
    assert kernels.address_of.tolist() == [f.address, g.address]
    x = ca.SX.sym("x")
    with pytest.raises(RuntimeError, match="the table of kernels is full"):
        kernels.number(compile_function(x, ca.cosh(x)))
    assert [kernels.number(k) for k in (f, g)] == [0, 1]  # and keeps what it has


def test_pickled_kernels_keep_their_numbers_at_other_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = Kernels(5)
    program = program_of_four_calls(kernels)
    sent = pickle.dumps((kernels, program))
    assert all(address.to_bytes(8, "little") not in sent for address in kernels.address_of[:2].tolist())
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "_loaded", {})  # as another process: nothing is known there
        again, moved = pickle.loads(sent)
        assert moved.kernels is again and len(again.address_of) == 5
        assert not set(again.address_of[:2].tolist()) & set(kernels.address_of[:2].tolist())
        assert again.number(again.held[1]) == 1  # known already
        assert again.address_of[:2].tolist() == [k.address for k in again.held]
        assert np.array_equal(outputs_of(moved), outputs_of(program))


def test_a_program_runs_in_another_process(tmp_path: Path) -> None:
    program = program_of_four_calls(Kernels(4))
    sent = tmp_path / "program"
    sent.write_bytes(pickle.dumps(program))
    there = """
import pickle, sys
import numpy as np
from kempe.solvers.program import run
with open(sys.argv[1], "rb") as file:
    program = pickle.load(file)
out = np.zeros(program.size_out)
run(program, np.array([float.fromhex(x) for x in sys.argv[2:]]), np.zeros(program.size_y), out)
print(*(value.hex() for value in out.tolist()))
"""
    process = subprocess.run(
        [sys.executable, "-c", there, str(sent), *(x.hex() for x in X.tolist())],
        env={**os.environ, "KEMPE_CACHE": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout.split() == [value.hex() for value in outputs_of(program).tolist()]


# --- tables ---------------------------------------------------------------------------------------------------------


def table_of(curve: CubicSpline, period: float = 0.0) -> Table:
    return Table([Axis(curve.x, period)], curve.c[::-1].T)


#: Numbers of a piece: where it begins, where the data begin and end, four coefficients.
WIDTH = 7
HEAD = size_head(1, 0)


def layout_of(tables: list[Table], slots: list[int], factor: float) -> Layout:
    """Slot k reads a table at factor * (k + 1) * q; x is [head, q, the numbers of a piece per slot]."""
    x = ca.SX.sym("x")
    arguments = compile_function(x, ca.vertcat(*[factor * (k + 1) * x for k in range(len(slots))]))
    places, found_at = np.arange(len(slots)), np.arange(HEAD + 1)
    found_at[HEAD] = STATE
    return Layout(
        n=1,
        m=0,
        slot_table=np.array(slots),
        slot_at=HEAD + 1 + WIDTH * places,
        slot_argument=places,
        first_axis=np.arange(len(tables) + 1),
        first_break=np.cumsum([0, *(len(t.axes[0].breaks) for t in tables)]).astype(np.int64),
        first_number=np.cumsum([0, *(t.coefficients.size for t in tables)]).astype(np.int64),
        breaks=np.concatenate([t.axes[0].breaks for t in tables]),
        limits=np.vstack([t.ends() for t in tables]),
        coefficients=np.concatenate([t.coefficients.ravel() for t in tables]),
        levels=1,
        late=0,
        arguments=make_program(Kernels(1), [arguments], np.array([HEAD]), places, places, len(slots), found_at),
        periods=np.array([t.axes[0].period for t in tables]),
    )


def pieces_at(layout: Layout, s: float) -> np.ndarray:
    """The pieces that are put into x for q = s, one row per slot."""
    slots = len(layout.slot_at)
    x = np.zeros(HEAD + 1 + WIDTH * slots)
    load(layout, np.array([s]), 0.0, x, np.zeros(size_arguments(layout)))
    return x[HEAD + 1 :].reshape(slots, WIDTH)


def value_of(piece: np.ndarray, s: float) -> float:
    d = s - piece[0]
    return piece[3] + d * (piece[4] + d * (piece[5] + d * piece[6]))


KNOTS = np.array([-0.5, 0.25, 0.375, 2.0, 3.5])
OPEN = CubicSpline(KNOTS, [1.0, -2.0, 0.5, 4.0, 3.0])
CLOSED = CubicSpline(KNOTS, [1.0, -2.0, 0.5, 4.0, 1.0], bc_type="periodic")


def test_a_table_is_a_spline_inside_and_its_end_pieces_outside() -> None:
    layout = layout_of([table_of(OPEN)], [0], 1.0)
    for s in [*np.linspace(-3.0, 6.0, 91), *KNOTS, *np.nextafter(KNOTS, -9), *np.nextafter(KNOTS, 9)]:
        (piece,) = pieces_at(layout, s)
        assert value_of(piece, s) == pytest.approx(float(OPEN(s)), rel=1e-13, abs=1e-13)
        assert np.array_equal(piece, table_of(OPEN).pieces(s)[0])


def test_at_a_break_the_piece_to_its_right_holds() -> None:
    layout = layout_of([table_of(OPEN)], [0], 1.0)
    for k, s in enumerate(KNOTS):
        assert pieces_at(layout, s)[0, 0] == KNOTS[min(k, len(KNOTS) - 2)]  # of the last one, to its left
        assert pieces_at(layout, np.nextafter(s, -9))[0, 0] == KNOTS[max(k - 1, 0)]


def test_a_periodic_table_repeats_itself() -> None:
    period = KNOTS[-1] - KNOTS[0]
    layout = layout_of([table_of(CLOSED, period)], [0], 1.0)
    grid = [*np.linspace(-0.4, 3.4, 20), *KNOTS]
    for turns in (-1000, -3, -1, 0, 1, 2, 1000):
        for s in grid:
            there = s + turns * period
            (piece,) = pieces_at(layout, there)
            assert value_of(piece, there) == pytest.approx(float(CLOSED(s)), abs=1e-11)
            assert 0.0 <= there - piece[0] <= 1.7  # within a piece, not outside the table
            assert np.array_equal(piece, table_of(CLOSED, period).pieces(there)[0])


def test_slots_read_tables_of_their_own_where_they_say() -> None:
    other = CubicSpline([0.0, 1.0, 2.0], [5.0, 6.0, 9.0])
    period = KNOTS[-1] - KNOTS[0]
    layout = layout_of([table_of(OPEN), table_of(other), table_of(CLOSED, period)], [1, 2, 0, 1], 0.5)
    for s in np.linspace(-6, 9, 31):
        found = pieces_at(layout, s)
        for k, curve in enumerate((other, CLOSED, OPEN, other)):
            at = 0.5 * (k + 1) * s
            exact = float(curve((at + 0.5) % period - 0.5 if curve is CLOSED else at))
            assert value_of(found[k], at) == pytest.approx(exact, rel=1e-12, abs=1e-11)


# --- windows and packed arrays --------------------------------------------------------------------------------------


@numba.njit(nogil=True)
def sum_and_mark(array, first, last):
    """The sum of a window, whose entries are then doubled."""
    seen = window(array, first, last)
    total = 0.0
    for k in range(seen.shape[0]):
        total += seen[k]
        seen[k] *= 2.0
    inner = window(seen, min(1, last - first), last - first)
    return total, seen.shape[0], inner.shape[0]


@numba.njit(nogil=True)
def sums(packed, parts):
    """The sum and the length of each part."""
    found = np.zeros((parts, 2), dtype=np.int64)
    for k in range(parts):
        one = part(packed, k)
        found[k, 0], found[k, 1] = one.sum(), one.shape[0]
    return found


@pytest.mark.parametrize(("first", "last"), [(0, 6), (2, 5), (0, 0), (6, 6), (5, 6)])
def test_a_window_is_a_slice(first: int, last: int) -> None:
    array = np.arange(6.0)
    expected = array.copy()
    expected[first:last] *= 2.0
    total, length, inner = sum_and_mark(array, first, last)
    assert (total, length, inner) == (np.arange(6.0)[first:last].sum(), last - first, max(last - first - 1, 0))
    assert np.array_equal(array, expected)


def test_parts_of_a_packed_array() -> None:
    parts = [np.array([3, 4]), np.zeros(0, dtype=np.int64), np.array([7]), np.arange(5, dtype=np.int32)]
    packed = pack(parts)
    assert packed.dtype == np.int64 and len(packed) == 5 + 8
    assert sums(packed, 4).tolist() == [[7, 2], [0, 0], [7, 1], [10, 5]]
    assert pack([]).tolist() == [1]
