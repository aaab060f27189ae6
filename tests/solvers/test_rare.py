"""Pieces that are compiled when they are first called, from compiled code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kempe.solvers import jit
from kempe.solvers.frames import Floats, Frame, Real
from kempe.solvers.jit import address_of, piece, rare

pytestmark = pytest.mark.skipif(jit.PLAIN, reason="nothing is compiled")


class Row(Frame):
    """Some numbers."""

    numbers: Floats
    total: Real


@rare
def _sum_up(row: Row, factor: float, times: int) -> float:
    for _ in range(times):
        for k in range(row.numbers.shape[0]):
            row.total += factor * row.numbers[k]
    return row.total


@rare
def _other(row: Row) -> int:
    return row.numbers.shape[0]


@piece
def choose(row: Row, which: int) -> float:
    """The one or the other."""
    if which == 1:
        return _sum_up(row, 2.0, 3)
    if which == 2:
        return float(_other(row))
    return -1.0


@rare
def _doubled(row: Row) -> int:
    return 2 * row.numbers.shape[0]


@piece
def double(row: Row) -> int:
    """Twice as many."""
    return _doubled(row)


def row() -> Row:
    return Row(numbers=np.array([1.0, 2.0, 4.0]))


def is_compiled(made: Any) -> bool:
    return made._callback is not None


def test_compiled_when_called_and_not_before() -> None:
    assert choose(row(), 0) == -1.0
    assert not is_compiled(_sum_up) and not is_compiled(_other)
    given = row()
    assert choose(given, 1) == given.total == 42.0
    assert is_compiled(_sum_up) and not is_compiled(_other)
    assert choose(row(), 1) == 42.0
    assert choose(row(), 2) == _other(row()) == 3.0
    assert address_of(_other) == address_of(_other) != 0


def test_many_threads_may_call_it_first() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: double(row()), range(32))) == [6] * 32


INTERRUPTED = """
import os, signal, sys, threading
sys.path.insert(0, {folder!r})
import test_rare
code = type(test_rare._sum_up).code
def slowly(made):
    threading.Event().wait(0.5)
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(0.5)
    return code(made)
test_rare.choose(test_rare.row(), 0)
type(test_rare._sum_up).code = slowly
given = test_rare.row()
try:
    test_rare.choose(given, 1)
    print("not interrupted")
except KeyboardInterrupt:
    print(given.total, test_rare.choose(test_rare.row(), 1))
"""


@pytest.mark.skipif(sys.platform == "win32" or not hasattr(signal, "SIGINT"), reason="no such signal")
def test_an_interruption_waits_until_compiled_code_is_back() -> None:
    code = INTERRUPTED.format(folder=str(Path(__file__).parent))
    process = subprocess.run(
        [sys.executable, "-c", code], env=dict(os.environ), capture_output=True, text=True, timeout=300
    )
    assert process.stdout.split() == ["42.0", "42.0"], process.stderr
