"""LLVM IR to machine code, with a cache in memory and on disk.

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
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import llvmlite.binding as llvm
import numpy as np

from kempe.kernels.llvm_ir import emit

log = logging.getLogger(__name__)

_LOCK = threading.RLock()
_SYMBOL = "kernel"


@dataclass(frozen=True)
class Kernel:
    """Machine code of ``y = f(x)`` on flat vectors; ``address`` is what compiled solvers call."""

    address: int
    n_in: int
    n_out: int
    engine: Any = field(repr=False, compare=False)  # keeps the machine code alive

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


def _target() -> Any:
    """A target machine; each execution engine takes one over for good."""
    _initialise()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True
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
    module = llvm.parse_assembly(ir)
    module.verify()
    machine = _target()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)


_loaded: dict[str, tuple[Any, int]] = {}


def _load(ir: str) -> tuple[Any, int]:
    """The engine that holds the machine code of an IR text, and the function's address."""
    key = hashlib.sha256(f"{_processor()}\n{ir}".encode()).hexdigest()
    with _LOCK:
        if key not in _loaded:
            code = _read_cached(key)
            if code is None:
                code = _machine_code(ir)
                _write_cached(key, code)
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
            _loaded[key] = (engine, engine.get_function_address(_SYMBOL))
        return _loaded[key]


def compile_function(x: ca.SX, y: ca.SX) -> Kernel:
    """Compile ``y(x)``, both column vectors; entries of ``y`` that are structurally zero must not occur."""
    y = ca.cse(ca.densify(y))
    free = [s.name() for s in ca.symvar(y) if not ca.depends_on(x, s)]
    if free:
        raise ValueError(f"the expression contains symbols that are not among its inputs: {', '.join(free)}")
    function = ca.Function("f", [x], [y])
    engine, address = _load(emit(function, _SYMBOL))
    return Kernel(address, x.numel(), y.numel(), engine)
