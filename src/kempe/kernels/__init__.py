"""Equations to machine code: CasADi expression -> LLVM IR -> callable address. Knows nothing of mechanics."""

from kempe.kernels.compiler import Kernel, compile_columns, compile_function
from kempe.kernels.emitting import Columns, emit
from kempe.kernels.llvm_ir import UnsupportedOperation

__all__ = ["Columns", "Kernel", "UnsupportedOperation", "compile_columns", "compile_function", "emit"]
