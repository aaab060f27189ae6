"""Equations to machine code: CasADi expression -> LLVM IR -> callable address. Knows nothing of mechanics."""

from kempe.kernels.compiler import Kernel, compile_function
from kempe.kernels.llvm_ir import UnsupportedOperation, emit

__all__ = ["Kernel", "UnsupportedOperation", "compile_function", "emit"]
