"""Calling machine code by its address from numba-compiled solvers.

With ``NUMBA_DISABLE_JIT=1`` the same call goes through ctypes, slowly, so that solvers can be stepped through.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kempe.kernels.compiler import call_address

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def call_kernel(address: int, x: np.ndarray, x_at: int, y: np.ndarray, y_at: int) -> None:
        """Call ``void f(double* x, double* y)`` on ``x[x_at:]`` and ``y[y_at:]``."""
        call_address(int(address), x.ctypes.data + 8 * int(x_at), y.ctypes.data + 8 * int(y_at))

else:

    @intrinsic
    def call_kernel(typingctx: Any, address: Any, x: Any, x_at: Any, y: Any, y_at: Any) -> Any:  # type: ignore[no-redef]
        """Call ``void f(double* x, double* y)`` on ``x[x_at:]`` and ``y[y_at:]``."""
        signature = types.void(types.int64, x, types.int64, y, types.int64)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = ir.PointerType(ir.DoubleType())
            function = ir.PointerType(ir.FunctionType(ir.VoidType(), [pointer, pointer]))
            where = []
            for array_type, array, offset in ((sig.args[1], args[1], args[2]), (sig.args[3], args[3], args[4])):
                data = cgutils.create_struct_proxy(array_type)(context, builder, value=array).data
                where.append(builder.gep(data, [offset]))
            builder.call(builder.inttoptr(args[0], function), where)
            return context.get_dummy_value()

        return signature, codegen
