"""LLVM IR to machine code, with a cache in memory and on disk.

Machine code lives as long as a ``Kernel`` that refers to it: whoever keeps an address keeps the kernel. A kernel can
be pickled; it travels as steps, and is compiled or read from the disk cache where it arrives.

The disk cache is keyed by the content of the IR (or of what a function is written out from, so that it is found
without writing it), the LLVM version and the processor, so it never needs to be invalidated. A file is written under a
temporary name and renamed, and carries a checksum: processes may share the directory, a killed one leaves no half file
that is taken for a whole one, and a directory that cannot be written is simply not used. Set
``KEMPE_CACHE`` to place it (an empty value switches it off).
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import logging
import os
import tempfile
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import casadi as ca
import llvmlite.binding as llvm
import numpy as np
from llvmlite.binding import ffi

from kempe.kernels.emitting import WHOLE, Columns, emit
from kempe.kernels.scheduling import scheduled
from kempe.kernels.sheet import Sheet
from kempe.kernels.steps import Steps, places_read, steps_of, vectors_of

log = logging.getLogger(__name__)

_LOCK = threading.RLock()
_SYMBOL = "kernel"


@dataclass(frozen=True, eq=False)
class Code:
    """Machine code in memory; it goes when the last kernel that refers to it goes."""

    address: int
    #: What it was made from, in few letters.
    key: str
    engine: Any = field(repr=False)


@dataclass(frozen=True)
class Kernel:
    """Machine code of ``y = f(x)`` on flat vectors; ``address`` is what compiled solvers call while this is kept."""

    code: Code
    n_in: int
    n_out: int
    #: What is computed (with derivatives by columns, what they are made of), for joining it with others.
    steps: Steps = field(repr=False, compare=False)
    columns: Columns | None = field(default=None, repr=False, compare=False)

    @cached_property
    def reads(self) -> tuple[int, ...]:
        """The inputs that it depends on."""
        return places_read(self.steps)

    @property
    def address(self) -> int:
        """Where the machine code is, in this process."""
        return self.code.address

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (list(self.steps), self.n_in, self.n_out, self.columns)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Evaluate once from Python (for tests and one-off questions)."""
        x = np.ascontiguousarray(x, dtype=float)
        if x.shape != (self.n_in,):
            raise ValueError(f"kernel expects {self.n_in} numbers, got an array of shape {x.shape}")
        y = np.zeros(self.n_out)
        call_address(self.address, x.ctypes.data, y.ctypes.data)
        return y


@cache
def _prototype(vectors: int) -> Any:
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * vectors)


def call_address(address: int, *vectors: int) -> None:
    """Call ``void f(double* x, ..., double* y, ...)`` at an address, on raw pointers."""
    _prototype(len(vectors))(address)(*vectors)


#: From so many lines on LLVM only turns IR into machine code, and from so many on it does that in the simplest way.
#: Long kernels are arithmetic written out once already: what passes do to them costs much and brings nothing. The
#: simplest code of 54,000 instructions is made in 0.2 s instead of 3 s and runs 11 us instead of 10.
UNCHANGED, SIMPLEST = 4_000, 200_000


def _target(opt: int = 2) -> Any:
    """A target machine; each execution engine takes one over for good."""
    _initialise()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=opt, jit=True
    )


@cache
def _initialise() -> None:
    # Newer llvmlite initialises LLVM itself, and calling initialize() there is an error.
    with contextlib.suppress(RuntimeError):
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def _processor() -> str:
    version = ".".join(map(str, llvm.llvm_version_info))
    return f"{version} {llvm.get_default_triple()} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


def cache_directory() -> Path | None:
    """Where machine code is kept between processes; None when switched off."""
    given = os.environ.get("KEMPE_CACHE")
    if given is not None:
        return Path(given) if given else None
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(root) / "kempe" / "kernels"


def _read_cached(key: str) -> bytes | None:
    folder = cache_directory()
    if folder is None:
        return None
    try:
        content = (folder / f"{key}.o").read_bytes()
    except OSError:
        return None
    digest, code = content[:32], content[32:]
    if hashlib.sha256(code).digest() != digest:
        log.warning("kernel cache file %s.o is damaged and is compiled again", key)
        return None
    return code


def _write_cached(key: str, code: bytes) -> None:
    folder = cache_directory()
    if folder is None:
        return
    temporary = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        os.replace(temporary, folder / f"{key}.o")
    except OSError as error:
        log.debug("kernel cache not written: %s", error)
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)


def machine_code(ir: str, changed: bool = True) -> bytes:
    """Compile IR to an object file; a short one is ``changed`` to a better one before."""
    lines = ir.count("\n")
    module = llvm.parse_assembly(ir, llvm.create_context())  # a context of its own, which goes with it
    module.verify()
    machine = _target(0 if lines > SIMPLEST else 2)
    if changed and lines <= UNCHANGED:
        passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
        manager = passes.getModulePassManager()
        manager.run(module, passes)
        _dispose(manager)
    return machine.emit_object(module)


def _dispose(manager: Any) -> None:
    """Free a pass manager, over 100 kB (llvmlite means to, but its class inherits a method that does nothing first)."""
    with contextlib.suppress(AttributeError):
        ffi.lib.LLVMPY_DisposeNewModulePassManger(manager)
        manager.detach()


_loaded: weakref.WeakValueDictionary[str, Code] = weakref.WeakValueDictionary()


def key_of(*content: str | bytes) -> str:
    """What machine code for this processor is made from, in few letters."""
    found = hashlib.sha256(_processor().encode())
    for part in content:
        found.update(b"\n" + (part.encode() if isinstance(part, str) else part))
    return found.hexdigest()


def code_for(key: str, ir: Callable[[], str], changed: bool = True) -> Code:
    """The machine code for a key: from memory, from the disk cache, or compiled from the IR."""
    known = known_code(key)
    if known is None:
        code = machine_code(ir(), changed)  # (without the lock: others load theirs meanwhile)
        _write_cached(key, code)
        known = _loaded_from(key, code)
    return known


def code_of(ir: str) -> Code:
    """The machine code of an IR text that defines ``@kernel``."""
    return code_for(key_of(ir), lambda: ir)


def known_code(key: str) -> Code | None:
    """The machine code for a key, where it is in memory or on disk."""
    known = _loaded.get(key)
    if known is None and (code := _read_cached(key)) is not None:
        known = _loaded_from(key, code)
    return known


def _loaded_from(key: str, code: bytes) -> Code:
    """Machine code put into memory, once."""
    with _LOCK:
        known = _loaded.get(key)
        if known is None:
            engine = loaded(code)
            known = _loaded[key] = Code(engine.get_function_address(_SYMBOL), key, engine)
        return known


def loaded(code: bytes) -> Any:
    """An object file put into memory; it goes when nobody refers to it any more."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def sheet_code(key: str, sheet: Callable[[], Sheet]) -> Code:
    """The machine code of a sheet that is known by the key of what it is written from."""
    return code_for(key, lambda: emit(in_order(sheet()), _SYMBOL), changed=False)


def in_order(sheet: Sheet) -> Steps:
    """The steps of a sheet as they are written: to keep the processor busy, or where that is too much to keep few."""
    steps = sheet.ordered()
    return scheduled(steps) if len(steps) <= WHOLE else steps


def _made(steps: Steps, n_in: int, n_out: int, columns: Columns | None = None) -> Kernel:
    return Kernel(code_of(emit(steps, _SYMBOL, columns)), n_in, n_out, steps, columns)


def compile_function(x: ca.SX, y: ca.SX) -> Kernel:
    """Compile ``y(x)``, both column vectors; entries of ``y`` that are structurally zero must not occur."""
    function = _function([x], [ca.densify(y)])
    return _made(steps_of(function), x.numel(), y.numel())


def compile_sheet(sheet: Sheet) -> Kernel:
    """Compile what stands on a sheet, a function of several vectors; its sizes are those of the first and the last."""
    steps = in_order(sheet)
    read, written = (vectors_of(steps, op) for op in (ca.OP_INPUT, ca.OP_OUTPUT))
    return _made(steps, read.get(0, 0), written.get(max(written, default=0), 0))


def compile_columns(x: ca.SX, y: ca.SX, direction: ca.SX, derivative: ca.SX, columns: Columns) -> Kernel:
    """Compile ``y(x)`` with the non-zeros of a Jacobian put in at ``columns.at``.

    ``derivative`` is an expression of x, linear in the ``direction``: the Jacobian's product with it.
    """
    function = _function([x, direction], [ca.densify(y), ca.densify(derivative)])
    return _made(steps_of(function), x.numel(), y.numel() + len(columns.rows), columns)


def _function(inputs: list[ca.SX], outputs: list[ca.SX]) -> ca.Function:
    """A CasADi function in which nothing is computed twice."""
    everything = ca.cse(ca.vertcat(*outputs))
    known = {s.element_hash() for s in ca.symvar(ca.vertcat(*inputs))}
    free = [s.name() for s in ca.symvar(everything) if s.element_hash() not in known]
    if free:
        raise ValueError(f"the expression contains symbols that are not among its inputs: {', '.join(free)}")
    ends = np.cumsum([0, *(y.numel() for y in outputs)]).tolist()
    return ca.Function("f", inputs, ca.vertsplit(everything, ends))
