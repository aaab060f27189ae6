"""When an instant of a driven motion is written out as one function: in memory, on disk, or compiled beside the motion.

There is one function for each order of pivots that a motion was followed with. Its digits are those of the loops, so it
is put in whenever it is there.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path as File

from kempe.kernels.beside import BESIDE
from kempe.kernels.compiler import Code, key_of, known_code, sheet_code
from kempe.kernels.linear import count_operations
from kempe.solvers import continuation, instant, sparse_lu
from kempe.solvers.fusing import can_be_fused
from kempe.solvers.pack import unpacked
from kempe.system.fusion import LONGEST, READING, content_of, size_of, sources

log = logging.getLogger("kempe")

#: From so many seconds on, spent and expected, compiling beside a motion is worth it.
COMPILING = 0.1


@cache
def _written_by() -> bytes:
    modules = (instant, continuation, sparse_lu)
    return sources() + b"".join(File(str(module.__file__)).read_bytes() for module in modules)


@dataclass
class _Function:
    """The function for one order of pivots, and what was done to have it."""

    code: Code | None = None
    spent: float = 0.0
    looked_for: bool = False
    asked_for: bool = False


class Driven:
    """The functions of a system's instants."""

    def __init__(self) -> None:
        self._functions: dict[bytes, _Function] = {}
        self._lock = threading.Lock()

    def put_in(self, path: continuation.Path) -> None:
        """Let a path use its function if that is in memory."""
        function = self._of(path)
        path.instant = function.code.address if function.code is not None else 0

    def spend(self, path: continuation.Path, seconds: float, expected: float) -> None:
        """Note that a motion was followed for so long and is for so much longer: do what is worth it by now."""
        function = self._of(path)
        function.spent += seconds
        if function.code is None and function.spent + expected > READING and not function.looked_for:
            function.looked_for = True
            function.code = known_code(_key(path)) if _short(path) else None
        if function.code is None and function.spent + expected > COMPILING and not function.asked_for:
            function.asked_for = True
            if _short(path):
                BESIDE.do([lambda: self._try(path)])
        self.put_in(path)

    def make(self, path: continuation.Path) -> None:
        """Have the function of a path now, unless it would be too long."""
        function = self._of(path)
        if function.code is None and _short(path):
            function.code = sheet_code(_key(path), lambda: instant.instant(path))
        self.put_in(path)

    def _try(self, path: continuation.Path) -> None:
        try:
            code = sheet_code(_key(path), lambda: instant.instant(path))
        except Exception as error:  # the motion goes on without it
            log.warning("an instant of a driven motion is not compiled: %s", error)
        else:
            self._of(path).code = code

    def _of(self, path: continuation.Path) -> _Function:
        with self._lock:
            return self._functions.setdefault(path.plan.tobytes() + path.active.tobytes(), _Function())

    def __reduce__(self) -> tuple[type[Driven], tuple[()]]:
        return Driven, ()  # (machine code stays in its process)


def _key(path: continuation.Path) -> str:
    contents = [*content_of(path.position), *content_of(path.acceleration)]
    return key_of("instant", _written_by(), *contents, path.plan.tobytes(), path.active.tobytes())


def _short(path: continuation.Path) -> bool:
    """Whether an instant can be written out, and in how many steps."""
    if not (can_be_fused(path.position) and can_be_fused(path.acceleration)):
        return False
    _, _, start, column, diagonal, *_ = unpacked(path.plan)
    factors = 2 * count_operations(start, diagonal, column) + 12 * len(column)  # (five solutions)
    return size_of(path.position) + size_of(path.acceleration) + factors <= LONGEST
