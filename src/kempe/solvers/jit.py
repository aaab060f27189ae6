"""The decorators of compiled solvers: machine code without the interpreter lock, kept between processes.

- ``piece``: compiled once from its annotations, kept on disk, called by its symbol from other compiled functions (so
  that it is never optimised again inside a caller) and from Python. Its arguments are frames and single numbers.
- ``rare``: a piece that is compiled only when it is first called: for what most runs do without.
- ``compiled``: compiled into whatever calls it.
- ``pasted``: the same, for functions that return a view.
- ``entry``: called from Python, with arrays.

Numba checks only the file a function stands in before it trusts a cached copy, although code of other files is
compiled into it. Here the cache's version is a digest of all solver sources, so an edit anywhere makes all stale, and a
file that cannot be read for whatever reason is compiled again.
"""

from __future__ import annotations

import ctypes
import dis
import hashlib
import inspect
import logging
import os
import pickle
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, get_args, get_type_hints

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba import types
from numba.core import caching, ccallback
from numba.extending import typeof_impl

from kempe.errors import KempeError
from kempe.kernels.compiler import loaded, machine_code
from kempe.solvers.frames import Frame, frame_type

log = logging.getLogger("kempe")

#: Without numba (NUMBA_DISABLE_JIT=1) everything runs as plain Python, slowly.
PLAIN = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
#: Compiling that takes longer than this is announced, in seconds.
PATIENCE = 2.0


def _check_numba() -> None:
    """The hooks of numba that are used here and that it does not document must be there."""
    wanted = [
        (caching, "FunctionCache"),
        (caching, "IndexDataCacheFile"),
        (ccallback, "CFunc"),
        (types, "ExternalFunction"),
    ]
    missing = [name for module, name in wanted if not hasattr(module, name)]
    if not missing:
        missing = [
            f"FunctionCache.{name}"
            for name in ("load_overload", "save_overload", "_load_overload", "_save_overload")
            if not hasattr(caching.FunctionCache, name)
        ]
    if missing:
        raise KempeError(
            f"this version of numba ({numba.__version__}) cannot be used: it lacks {', '.join(missing)}; "
            "install a version that pyproject.toml allows"
        )


_check_numba()


@cache
def _digest() -> str:
    here = Path(__file__).parent
    kernels = here.parent / "kernels"  # (what is compiled into solvers)
    sources = [*sorted(here.glob("*.py")), kernels / "call.py", kernels / "lanes.py", kernels / "llvm_ir.py"]
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


class _CheckedFile(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Files that begin with a checksum: machine code that was damaged would be run, and garbage be unpickled."""

    def _load_index(self) -> Any:
        try:
            version, stamp, overloads = pickle.loads(self._read(self._index_path))
        except FileNotFoundError:
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: Any) -> None:
        self._write(self._index_path, self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        return pickle.loads(self._read(self._data_path(name)))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), self._dump(data))

    def _read(self, path: str) -> bytes:
        content = Path(path).read_bytes()
        if hashlib.sha256(content[32:]).digest() != content[:32]:
            raise ValueError(f"{path} is damaged")
        return content[32:]

    def _write(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(content).digest() + content)


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache on disk, stale when any solver changed; what cannot be read or written is not there."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        plain = self._cache_file
        base = plain._index_name.removesuffix(".nbi")
        self._cache_file = _CheckedFile(plain._cache_path, base, plain._source_stamp)
        self._cache_file._version = f"{numba.__version__} {_digest()}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        for needed in _pieces_in(self._py_func):
            needed.ready()
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # a damaged file can raise anything
            log.debug("cached machine code of %s cannot be read (%s) and is compiled again", self._name, error)
            try:
                self.flush()
            except Exception:
                self.disable()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:
            log.debug("machine code of %s cannot be kept (%s)", self._name, error)

    def holds(self) -> bool:
        """Whether something is kept for this function."""
        try:
            return bool(self._cache_file._load_index())
        except Exception:
            return False


def _with_cache(thing: Any, function: Any) -> Any:
    """Give a compiled function its cache; where no folder can be written to, it has none."""
    try:
        thing._cache = _Cache(function)
    except Exception as error:
        log.debug("no cache for compiled functions: %s", error)
    return thing


def _pieces_in(function: Any, seen: set[Any] | None = None) -> Iterator[Piece]:
    """The pieces that a function calls, directly or in what is compiled into it."""
    seen = set() if seen is None else seen
    if function in seen:
        return
    seen.add(function)
    for value in _globals_of(function):
        if isinstance(value, Piece):
            yield value
        elif hasattr(value, "py_func"):
            yield from _pieces_in(value.py_func, seen)


def _globals_of(function: Any) -> Iterator[Any]:
    """The global values that a function names, those of other modules (``qd.solve``) included."""
    module = None
    for instruction in dis.get_instructions(function):
        value = None
        if instruction.opname == "LOAD_GLOBAL":
            value = function.__globals__.get(instruction.argval)
        elif module is not None and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            value = getattr(module, instruction.argval, None)
        module = value if inspect.ismodule(value) else None
        if value is not None and module is None:
            yield value


# Compiled functions allocate nothing, so they do without reference counting (_nrt): it would be a third of their code.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_INNER = {**_OPTIONS, "no_cfunc_wrapper": True}
_LOCK = threading.RLock()


def compiled(function: Callable[..., Any]) -> Any:
    """Compile what compiled functions call; the piece that calls it keeps it on disk."""
    return numba.njit(**_INNER)(function)


def pasted(function: Callable[..., Any]) -> Any:
    """Compile into every caller: for functions that return a view, which compiled functions cannot."""
    return numba.njit(inline="always", **_OPTIONS)(function)


def entry(function: Callable[..., Any]) -> Any:
    """Compile what Python calls with arrays: no interpreter lock, no exceptions on division, kept on disk."""
    made = numba.njit(**_OPTIONS)(function)
    return made if PLAIN else _with_cache(made, function)


_C_TYPES: dict[Any, Any] = {types.float64: ctypes.c_double, types.int64: ctypes.c_int64}


class Piece:
    """A function that is compiled once and called by its symbol, from compiled code and from Python."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        hints = get_type_hints(function, include_extras=True)
        kinds = [_machine_type(hints[name], function) for name in inspect.signature(function).parameters]
        self.sig = _machine_type(hints["return"], function)(*kinds)
        self.symbol = f"{function.__module__}.{function.__qualname__}"
        self.external = types.ExternalFunction(self.symbol, self.sig)
        self._callback: Any = None
        self._call: Any = None
        #: Where compiled code calls it, once it is ready.
        self.address = 0

    def ready(self) -> int:
        """Compile it or read it from disk, with all pieces it calls; the address by which compiled code calls it."""
        if not self.address:
            with _LOCK:
                self.address = self.address or self._known_as(self.code())
        return self.address

    def code(self) -> int:
        """Compile it or read it from disk; where its machine code begins."""
        with _LOCK:
            if self._callback is None:
                with _announced():
                    made = ccallback.CFunc(self.function, (self.sig.args, self.sig.return_type), {}, dict(_OPTIONS))
                    _with_cache(made, self.function)
                    for needed in _pieces_in(self.function):
                        if needed is not self:
                            needed.ready()
                    made.compile()
                self._call = self.prototype(made.address)
                self._callback = made
        return int(self._callback.address)

    def _known_as(self, address: int) -> int:
        """Let compiled code find it at an address."""
        llvm.add_symbol(self.symbol, address)
        return address

    @property
    def prototype(self) -> Any:
        """What it looks like to ctypes."""
        kinds = [_C_TYPES.get(kind, ctypes.c_void_p) for kind in self.sig.args]
        return ctypes.CFUNCTYPE(_C_TYPES[self.sig.return_type], *kinds)

    def __call__(self, *arguments: Any) -> Any:  # noqa: D102
        if self._call is None:
            self.code()
        found = self._call(*[a.address if isinstance(a, Frame) else a for a in arguments])
        if Rare.interrupted:
            Rare.interrupted = False
            raise KeyboardInterrupt
        return found

    @property
    def is_kept(self) -> bool:
        """Whether it is compiled already, here or on disk, with all pieces it calls."""
        if self._callback is not None:
            return True
        made = _with_cache(ccallback.CFunc(self.function, (self.sig.args, self.sig.return_type), {}, {}), self.function)
        holds = getattr(made._cache, "holds", None)
        return holds is not None and holds() and all(p.is_kept for p in _pieces_in(self.function) if p is not self)


class Rare(Piece):
    """A piece that is compiled only when it is first called.

    Compiled code finds a jump at its symbol, to the address in a cell of memory. While that is zero the jump asks
    Python to have it compiled, and looks again.
    """

    waiting: ClassVar[list[Rare]] = []
    #: Whether Ctrl-C was pressed meanwhile: nothing can be raised through compiled code.
    interrupted: ClassVar[bool] = False

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self.cell = ctypes.c_int64(0)
        self.asked = ctypes.CFUNCTYPE(None)(self._asked)
        Rare.waiting.append(self)

    def code(self) -> int:
        """Compile it or read it from disk, so that jumps go there."""
        self.cell.value = super().code()
        return self.cell.value

    def _asked(self) -> None:
        """Have it compiled, by another thread: Ctrl-C would be raised in this one."""
        worker = threading.Thread(target=self._compiled_or_never)
        worker.start()
        while worker.is_alive():
            try:
                worker.join()
            except KeyboardInterrupt:
                Rare.interrupted = True

    def _compiled_or_never(self) -> None:
        try:
            self.code()
        except BaseException:  # whatever it is: there is nothing to go on with, and nobody to tell
            traceback.print_exc()
            os.abort()

    def ready(self) -> int:
        """Let compiled code know where to jump; the address of the jump."""
        if not self.address:
            with _LOCK:
                if not self.address:
                    _write_jumps()
        return self.address

    @property
    def is_kept(self) -> bool:
        """Whether nothing has to be compiled before it can be called."""
        return True


#: The jumps to rare pieces, as long as this process lives.
_jumps: list[Any] = []


def _write_jumps() -> None:
    """The jumps to all rare pieces that have none yet, written at once."""
    kinds = {types.float64: ir.DoubleType(), types.int64: ir.IntType(64)}
    module, written = ir.Module(), list(Rare.waiting)
    for k, made in enumerate(written):
        frame = ir.IntType(8).as_pointer()
        form = ir.FunctionType(kinds[made.sig.return_type], [kinds.get(kind, frame) for kind in made.sig.args])
        jump = ir.Function(module, form, f"jump{k}")
        first, look, ask, go = (jump.append_basic_block(name) for name in ("first", "look", "ask", "go"))
        ir.IRBuilder(first).branch(look)
        builder = ir.IRBuilder(look)
        cell = ir.IntType(64)(ctypes.addressof(made.cell)).inttoptr(ir.IntType(64).as_pointer())
        address = builder.load_atomic(cell, "acquire", 8)
        builder.cbranch(builder.icmp_unsigned("==", address, ir.IntType(64)(0)), ask, go)
        builder = ir.IRBuilder(ask)
        asked = ir.IntType(64)(ctypes.cast(made.asked, ctypes.c_void_p).value)
        builder.call(builder.inttoptr(asked, ir.FunctionType(ir.VoidType(), []).as_pointer()), [])
        builder.branch(look)
        builder = ir.IRBuilder(go)
        builder.ret(builder.call(builder.inttoptr(address, form.as_pointer()), jump.args, tail=True))
    engine = loaded(machine_code(str(module), changed=False))
    _jumps.append(engine)
    for k, made in enumerate(written):
        made.address = made._known_as(engine.get_function_address(f"jump{k}"))
        Rare.waiting.remove(made)


@typeof_impl.register(Piece)
def _type_of_piece(value: Piece, _: Any) -> Any:
    value.ready()
    return value.external


def _machine_type(hint: Any, function: Any) -> Any:
    if isinstance(hint, type) and issubclass(hint, Frame):
        return frame_type(hint)
    if hint in (float, int):
        return types.float64 if hint is float else types.int64
    if get_args(hint) and get_args(hint)[1] in _C_TYPES:
        return get_args(hint)[1]
    raise TypeError(f"piece {function.__name__}: an argument must be a frame, a float or an int, not {hint}")


def piece(function: Callable[..., Any]) -> Any:
    """Compile once, from the annotations; call by symbol."""
    return function if PLAIN else Piece(function)


def rare(function: Callable[..., Any]) -> Any:
    """Compile as a piece, but only when it is first called."""
    return function if PLAIN else Rare(function)


#: In plain Python: functions that are called by number, by the number.
_numbers: dict[int, Any] = {}


def address_of(made: Any) -> int:
    """The number by which compiled code calls a piece that is chosen at run time."""
    if PLAIN:
        _numbers[id(made)] = made
        return id(made)
    return int(made.address or made.ready())


def kept_in(made: Any) -> str | None:
    """The folder in which a compiled piece is kept for later processes; None where it is not."""
    cache_ = getattr(getattr(made, "_callback", None), "_cache", None)
    return str(cache_.cache_path) if isinstance(cache_, _Cache) and cache_.holds() else None


_depth = 0
_said = False


@contextmanager
def _announced() -> Iterator[None]:
    """Say in one line that solvers are compiled, when that takes long."""
    global _depth, _said
    timer = None
    if _depth == 0 and not _said:
        timer = threading.Timer(PATIENCE, _announce)
        timer.daemon = True
        timer.start()
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if timer is not None:
            timer.cancel()


def _announce() -> None:
    global _said
    _said = True
    text = "kempe: compiling solvers for first use on this machine (some seconds, once)"
    if sys.stderr.isatty() and os.environ.get("KEMPE_QUIET", "") in ("", "0"):
        print(text, file=sys.stderr, flush=True)
    log.info(text)
