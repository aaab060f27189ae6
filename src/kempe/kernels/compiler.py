"""LLVM IR to machine code, with a cache in memory and on disk.

Machine code lives as long as a ``Kernel`` that refers to it: whoever keeps an address keeps the kernel. A kernel can
be pickled; it travels as IR, and is compiled or read from the disk cache where it arrives.

The disk cache is keyed by the content of the IR, the LLVM version and the processor, so it never needs to be
invalidated. A file is written under a temporary name and renamed, and carries a checksum: processes may share the
directory, a killed one leaves no half file that is taken for a whole one, and a directory that cannot be written is
simply not used. Set ``KEMPE_CACHE`` to place it (an empty value switches it off).
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
import zlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import llvmlite.binding as llvm
import numpy as np
from llvmlite.binding import ffi

from kempe.kernels.emitting import Columns, emit

log = logging.getLogger(__name__)

_LOCK = threading.RLock()
_SYMBOL = "kernel"


@dataclass(frozen=True, eq=False)
class Code:
    """Machine code in memory; it goes when the last kernel that refers to it goes."""

    address: int
    ir: bytes = field(repr=False)  # compressed, so that a kernel can be compiled again elsewhere
    engine: Any = field(repr=False)


@dataclass(frozen=True)
class Kernel:
    """Machine code of ``y = f(x)`` on flat vectors; ``address`` is what compiled solvers call while this is kept."""

    code: Code
    n_in: int
    n_out: int

    @property
    def address(self) -> int:
        """Where the machine code is, in this process."""
        return self.code.address

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.code.ir, self.n_in, self.n_out)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Evaluate once from Python (for tests and one-off questions)."""
        x = np.ascontiguousarray(x, dtype=float)
        if x.shape != (self.n_in,):
            raise ValueError(f"kernel expects {self.n_in} numbers, got an array of shape {x.shape}")
        y = np.zeros(self.n_out)
        call_address(self.address, x.ctypes.data, y.ctypes.data)
        return y


_PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def call_address(address: int, x: int, y: int) -> None:
    """Call ``void f(double* x, double* y)`` at an address, on raw pointers."""
    _PROTOTYPE(address)(x, y)


#: From so many lines on LLVM only turns IR into machine code, and from so many on it does that in the simplest way.
#: Long kernels are arithmetic written out once already: what passes do to them costs much and brings nothing. The
#: simplest code of 54,000 instructions is made in 0.2 s instead of 3 s and runs 11 us instead of 10.
UNCHANGED, SIMPLEST = 4_000, 20_000


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


def _machine_code(ir: str) -> bytes:
    lines = ir.count("\n")
    module = llvm.parse_assembly(ir, llvm.create_context())  # a context of its own, which goes with it
    module.verify()
    machine = _target(0 if lines > SIMPLEST else 2)
    if lines <= UNCHANGED:
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


def _load(ir: str) -> Code:
    """The machine code of an IR text: from memory, from the disk cache, or compiled."""
    key = hashlib.sha256(f"{_processor()}\n{ir}".encode()).hexdigest()
    with _LOCK:
        known = _loaded.get(key)
        if known is None:
            code = _read_cached(key)
            if code is None:
                code = _machine_code(ir)
                _write_cached(key, code)
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
            known = Code(engine.get_function_address(_SYMBOL), zlib.compress(ir.encode(), 1), engine)
            _loaded[key] = known
        return known


def _unpickled(ir: bytes, n_in: int, n_out: int) -> Kernel:
    return Kernel(_load(zlib.decompress(ir).decode()), n_in, n_out)


def compile_function(x: ca.SX, y: ca.SX) -> Kernel:
    """Compile ``y(x)``, both column vectors; entries of ``y`` that are structurally zero must not occur."""
    function = _function([x], [ca.densify(y)])
    return Kernel(_load(emit(function, _SYMBOL)), x.numel(), y.numel())


def compile_columns(x: ca.SX, y: ca.SX, direction: ca.SX, derivative: ca.SX, columns: Columns) -> Kernel:
    """Compile ``y(x)`` with the non-zeros of a Jacobian put in at ``columns.at``.

    ``derivative`` is an expression of x, linear in the ``direction``: the Jacobian's product with it.
    """
    function = _function([x, direction], [ca.densify(y), ca.densify(derivative)])
    return Kernel(_load(emit(function, _SYMBOL, columns)), x.numel(), y.numel() + len(columns.rows))


def _function(inputs: list[ca.SX], outputs: list[ca.SX]) -> ca.Function:
    """A CasADi function in which nothing is computed twice."""
    everything = ca.cse(ca.vertcat(*outputs))
    known = {s.element_hash() for s in ca.symvar(ca.vertcat(*inputs))}
    free = [s.name() for s in ca.symvar(everything) if s.element_hash() not in known]
    if free:
        raise ValueError(f"the expression contains symbols that are not among its inputs: {', '.join(free)}")
    ends = np.cumsum([0, *(y.numel() for y in outputs)]).tolist()
    return ca.Function("f", inputs, ca.vertsplit(everything, ends))
