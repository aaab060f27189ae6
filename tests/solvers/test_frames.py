"""Frames: one memory, seen from compiled code and from Python, that cannot be filled wrongly."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
from numba.core.errors import NumbaError

from kempe.solvers.frames import ComplexRows, Count, FloatBlocks, FloatRows, Floats, Frame, Ints, Real, frame_type
from kempe.solvers.jit import compiled, piece


class Inner(Frame):
    """A frame within another."""

    values: Floats
    weight: Real
    seen: Count


class Outer(Frame):
    """Every kind of field."""

    first: Real
    inner: Inner
    rows: FloatRows
    blocks: FloatBlocks
    numbers: Ints
    turned: ComplexRows
    count: Count
    last: Real


class Other(Frame):
    """The same fields as ``Inner``, but another class."""

    values: Floats
    weight: Real
    seen: Count


def inner(**changes: Any) -> Inner:
    return Inner(**{"values": np.array([1.0, 2.0, 3.0]), "weight": 0.5, "seen": 7, **changes})


def outer(**changes: Any) -> Outer:
    given = {
        "first": -1.5,
        "inner": inner(),
        "rows": np.arange(6.0).reshape(2, 3),
        "blocks": np.arange(24.0).reshape(2, 3, 4),
        "numbers": np.array([4, 5], dtype=np.int64),
        "turned": np.array([[1j, 2.0], [3.0, 4j], [5.0, 6.0]]),
        "count": 3,
        "last": 2.5,
    }
    return Outer(**{**given, **changes})


@piece
def turn_over(frame: Outer, factor: float, times: int) -> float:
    """Change everything, and add up what was there."""
    total = frame.first + frame.last + frame.count
    for i in range(frame.rows.shape[0]):
        for j in range(frame.rows.shape[1]):
            total += frame.rows[i, j]
            frame.rows[i, j] *= factor
    total += frame.blocks[1, 2, 3] + frame.blocks[0, 1, 2] + frame.turned[1, 1].imag + frame.numbers[1]
    frame.turned[2, 0] = 7.0 - 1j
    frame.numbers[0] = frame.blocks.shape[0] * 100 + frame.blocks.shape[1] * 10 + frame.blocks.shape[2]
    frame.first = factor * frame.last
    frame.last += 1.0
    for _ in range(times):
        frame.count += 2
    within = frame.inner
    within.weight = within.values[2]
    within.seen = within.values.shape[0]
    within.values[0] = -frame.first
    return total


@piece
def seen_through(frame: Outer) -> int:
    """Call another piece on a frame within this one."""
    return 10 * _count_up(frame.inner) + frame.inner.seen


@piece
def _count_up(frame: Inner) -> int:
    frame.seen += 1
    return frame.seen


def test_both_sides_see_the_same_memory() -> None:
    frame = outer()
    rows, values = frame.rows, frame.inner.values
    total = turn_over(frame, 3.0, 4)
    assert total == -1.5 + 2.5 + 3 + 15.0 + 23.0 + 6.0 + 4.0 + 5
    assert (frame.first, frame.last, frame.count) == (7.5, 3.5, 11)
    assert isinstance(frame.count, int) and isinstance(frame.first, float)
    assert np.array_equal(rows, 3.0 * np.arange(6.0).reshape(2, 3)) and frame.rows is rows
    assert frame.turned[2, 0] == 7.0 - 1j and frame.numbers[0] == 234
    assert (frame.inner.weight, frame.inner.seen) == (3.0, 3)
    assert values[0] == -7.5
    frame.first, frame.count, frame.inner.values[2] = 0.25, -5, 8.0  # and now from Python
    assert turn_over(frame, 1.0, 0) == 0.25 + 3.5 - 5 + 45.0 + 23.0 + 6.0 + 4.0 + 5
    assert frame.inner.weight == 8.0


def test_a_frame_within_is_the_frame_itself() -> None:
    shared = inner()
    one, two = outer(inner=shared), outer(inner=shared)
    assert seen_through(one) == 10 * 8 + 8
    assert seen_through(two) == 10 * 9 + 9
    assert shared.seen == 9


def test_single_numbers_are_kept_whole() -> None:
    frame = inner(weight=-0.0, seen=-(2**63))
    assert str(frame.weight) == "-0.0" and frame.seen == -(2**63)
    frame.weight, frame.seen = np.inf, 2**63 - 1
    assert frame.weight == np.inf and frame.seen == 2**63 - 1
    frame.weight = 5e-324
    assert frame.weight == 5e-324
    assert Inner(values=np.zeros(0)).fields() == {"values": pytest.approx([]), "weight": 0.0, "seen": 0}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"values": np.zeros(3, dtype=np.float32)}, r"Inner\.values must be a contiguous array\(float64, 1d, C\)"),
        ({"values": np.zeros(3, dtype=np.int64)}, r"Inner\.values must be"),
        ({"values": np.zeros((3, 1))}, r"Inner\.values must be"),
        ({"values": np.zeros(6)[::2]}, r"Inner\.values must be a contiguous"),
        ({"values": [1.0, 2.0]}, r"Inner\.values must be"),
        ({"value": 1.0}, r"Inner has no field 'value'"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        inner(**wrong)


def test_missing_fields_too_many_and_other_frames_are_refused() -> None:
    with pytest.raises(TypeError, match="Inner lacks 'values'"):
        Inner(weight=1.0)
    with pytest.raises(TypeError, match="Inner has 3 fields, not 4"):
        Inner(np.zeros(2), 1.0, 2, 3)
    with pytest.raises(TypeError, match="'weight' is given twice"):
        Inner(np.zeros(2), 1.0, weight=2.0)
    for other in (Other(np.zeros(2)), np.zeros(2), None):
        with pytest.raises(TypeError, match=r"Outer\.inner must be a .*Inner"):
            outer(inner=other)
    with pytest.raises(TypeError, match=r"Outer\.rows must be"):
        outer(rows=np.asfortranarray(np.zeros((2, 3))))


def test_an_array_cannot_be_exchanged_behind_the_back_of_compiled_code() -> None:
    frame = outer()
    for name, value in (("rows", np.zeros((2, 3))), ("inner", inner())):
        with pytest.raises(TypeError, match=f"Outer.{name} cannot be assigned to"):
            setattr(frame, name, value)
    frame.rows[...] = 1.0  # but filled
    assert turn_over(frame, 1.0, 0) == pytest.approx(-1.5 + 2.5 + 3 + 6.0 + 23.0 + 6.0 + 4.0 + 5)


def test_compiled_code_cannot_exchange_an_array_either() -> None:
    @compiled
    def exchange(frame):
        frame.rows = frame.rows

    with pytest.raises(TypeError, match="only single numbers of a frame can be assigned to, not 'rows'"):
        exchange(outer())


def test_unknown_fields_are_refused_in_compiled_code() -> None:
    @compiled
    def look(frame):
        return frame.nothing

    with pytest.raises(NumbaError, match="nothing"):
        look(outer())


def test_a_changed_frame_shares_all_other_memory_but_not_its_numbers() -> None:
    frame = outer()
    rows = np.ones((4, 3))
    other = frame.changed(rows=rows, count=12)
    assert other.rows is rows and frame.rows is not rows
    for name in ("inner", "blocks", "numbers", "turned"):
        assert getattr(other, name) is getattr(frame, name)
    assert (other.first, other.last, other.count, frame.count) == (-1.5, 2.5, 12, 3)
    turn_over(other, 2.0, 1)
    assert (frame.first, frame.count, frame.inner.seen) == (-1.5, 3, 3)  # its own numbers; the frame within is shared
    assert np.array_equal(frame.rows, np.arange(6.0).reshape(2, 3))


def test_contents_can_be_put_back() -> None:
    frame = outer()
    kept = {name: np.copy(value) if isinstance(value, np.ndarray) else value for name, value in frame.contents()}
    assert set(kept) == {
        "first",
        "inner.values",
        "inner.weight",
        "inner.seen",
        "rows",
        "blocks",
        "numbers",
        "turned",
        "count",
        "last",
    }
    turn_over(frame, 3.0, 4)
    arrays = {name: value for name, value in frame.contents() if isinstance(value, np.ndarray)}
    frame.restore({name: np.array(value) for name, value in kept.items()})  # as a file gives them: arrays all
    for name, value in frame.contents():
        assert np.array_equal(value, kept[name]), name
        assert name not in arrays or value is arrays[name]  # in the same memory
    frame.restore({"inner.weight": 4.0})  # what is not given stays
    assert frame.inner.weight == 4.0 and frame.inner.seen == 7


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_frame_can_be_pickled(protocol: int) -> None:
    frame = outer()
    turn_over(frame, 3.0, 4)
    again = pickle.loads(pickle.dumps(frame, protocol))
    assert type(again) is Outer and again.address != frame.address
    for (name, value), (_, other) in zip(frame.contents(), again.contents(), strict=True):
        assert np.array_equal(value, other), name
    assert turn_over(again, 2.0, 1) == turn_over(frame, 2.0, 1)
    assert [str(v) for _, v in again.contents()] == [str(v) for _, v in frame.contents()]
    assert str(frame.address).encode() not in pickle.dumps(frame, 2)


class Vector(Frame):
    """A vector, and a part of it under another name."""

    whole: Floats
    table: FloatRows
    half: Floats
    row: Floats


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_memory_that_was_shared_is_shared_behind_the_journey(protocol: int) -> None:
    whole, table = np.arange(6.0), np.arange(12.0).reshape(3, 4)
    one = Vector(whole, table, whole[2:5], table[1])
    two = one.changed(half=whole[:3])
    for _ in range(2):  # and again behind a second one
        one, two = pickle.loads(pickle.dumps((one, two), protocol))
    assert np.shares_memory(one.whole, two.whole)
    one.whole[2], one.table[1, 3] = -1.0, -2.0
    assert np.array_equal(one.half, [-1.0, 3.0, 4.0]) and np.array_equal(two.half, [0.0, 1.0, -1.0])
    assert np.array_equal(one.row, [4.0, 5.0, 6.0, -2.0])


def test_arrays_live_as_long_as_the_frame_that_holds_them() -> None:
    frame = outer()
    watched = [weakref.ref(frame.rows), weakref.ref(frame.inner), weakref.ref(frame.inner.values)]
    gc.collect()
    np.full((2000, 3), 9.0)  # what might take their place
    assert all(ref() is not None for ref in watched)
    assert turn_over(frame, 1.0, 0) == -1.5 + 2.5 + 3 + 15.0 + 23.0 + 6.0 + 4.0 + 5
    within = frame.inner
    del frame
    gc.collect()
    assert watched[0]() is None and watched[1]() is within  # and no longer
    other = frame_type(Inner)
    assert within._numba_type_ is other
