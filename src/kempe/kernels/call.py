"""Calling machine code by its address from numba-compiled solvers.

With ``NUMBA_DISABLE_JIT=1`` the same call goes through ctypes, slowly, so that solvers can be stepped through.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from kempe.kernels.compiler import call_address
from kempe.kernels.llvm_ir import FUSES


def less_product(c: float, a: float, b: float) -> float:
    """C - a b, as kernels have it: of real numbers rounded once where the processor can."""
    real = not any(isinstance(each, (complex, np.complexfloating)) for each in (c, a, b))
    return float(_c_library_fma()(-a, b, c)) if real and FUSES else c - a * b


@cache
def _c_library_fma() -> Any:
    """The sum of a product and a number, rounded once: for running without compilation."""
    found = ctypes.CDLL(None).fma
    found.restype, found.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    return found


@overload(less_product, inline="always")
def _less_product(c, a, b):  # type: ignore[no-untyped-def] # (numba compares annotations)
    if all(kind == types.float64 for kind in (c, a, b)) and FUSES:
        return lambda c, a, b: _fused(-a, b, c)  # type: ignore[call-arg]
    return lambda c, a, b: c - a * b


@intrinsic
def _fused(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """A b + c, rounded once."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float64(a, b, c), codegen


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def as_bits(x: float) -> int:
        """The digits of a number, as a whole number."""
        return int(np.float64(x).view(np.int64))

    def as_number(bits: int) -> float:
        """The number that has these digits."""
        return float(np.int64(bits).view(np.float64))

    def call_kernel(address: int, x: np.ndarray, x_at: int, y: np.ndarray, y_at: int) -> None:
        """Call ``void f(double* x, double* y)`` on ``x[x_at:]`` and ``y[y_at:]``."""
        call_address(int(address), x.ctypes.data + 8 * int(x_at), y.ctypes.data + 8 * int(y_at))

    def call_indexed(
        address: int, x: np.ndarray, x_at: int, y: np.ndarray, y_at: int, index: np.ndarray, index_at: int
    ) -> None:
        """Call ``void f(double* x, double* y, int64* index)`` on arrays from their places on."""
        where = [array.ctypes.data + 8 * int(at) for array, at in ((x, x_at), (y, y_at), (index, index_at))]
        call_address(int(address), *where)

    def call_vectors(address: int, vectors: tuple[np.ndarray, ...]) -> None:
        """Call a function of several vectors, ``void f(double*, double*, ...)``."""
        call_address(int(address), *(vector.ctypes.data for vector in vectors))

else:

    @intrinsic
    def as_bits(typingctx: Any, x: Any) -> Any:  # type: ignore[no-redef]
        """The digits of a number, as a whole number."""
        return types.int64(types.float64), lambda context, builder, sig, args: builder.bitcast(args[0], ir.IntType(64))

    @intrinsic
    def as_number(typingctx: Any, bits: Any) -> Any:  # type: ignore[no-redef]
        """The number that has these digits."""
        return types.float64(types.int64), lambda context, builder, sig, args: builder.bitcast(args[0], ir.DoubleType())

    @intrinsic
    def call_kernel(typingctx: Any, address: Any, x: Any, x_at: Any, y: Any, y_at: Any) -> Any:  # type: ignore[no-redef]
        """Call ``void f(double* x, double* y)`` on ``x[x_at:]`` and ``y[y_at:]``."""
        signature = types.void(types.int64, x, types.int64, y, types.int64)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _called(context, builder, sig, args)

        return signature, codegen

    @intrinsic
    def call_indexed(  # type: ignore[no-redef]
        typingctx: Any, address: Any, x: Any, x_at: Any, y: Any, y_at: Any, index: Any, index_at: Any
    ) -> Any:
        """Call ``void f(double* x, double* y, int64* index)`` on arrays from their places on."""
        signature = types.void(types.int64, x, types.int64, y, types.int64, index, types.int64)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _called(context, builder, sig, args)

        return signature, codegen

    def _called(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        """A call at an address, on pairs of an array and a place in it."""
        where = []
        for k in range(1, len(args), 2):
            data = cgutils.create_struct_proxy(sig.args[k])(context, builder, value=args[k]).data
            where.append(builder.gep(data, [args[k + 1]]))
        function = ir.PointerType(ir.FunctionType(ir.VoidType(), [pointer.type for pointer in where]))
        builder.call(builder.inttoptr(args[0], function), where)
        return context.get_dummy_value()

    @intrinsic
    def call_vectors(typingctx: Any, address: Any, vectors: Any) -> Any:  # type: ignore[no-redef]
        """Call a function of several vectors, ``void f(double*, double*, ...)``."""
        signature = types.void(types.int64, vectors)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = ir.PointerType(ir.DoubleType())
            where = []
            for k, kind in enumerate(sig.args[1].types):
                vector = builder.extract_value(args[1], k)
                where.append(cgutils.create_struct_proxy(kind)(context, builder, value=vector).data)
            function = ir.PointerType(ir.FunctionType(ir.VoidType(), [pointer] * len(where)))
            builder.call(builder.inttoptr(args[0], function), where)
            return context.get_dummy_value()

        return signature, codegen
