"""A CasADi function written out as LLVM IR, one line or two per CasADi instruction.

The function must have one dense input vector ``x`` and one dense output vector ``y``; the IR defines
``void NAME(double* x, double* y)``. CasADi's work vector is turned into single-assignment registers on the fly.

Two rules keep a quantity that is undefined on the untaken side of an if-else (a square root of a negative
penetration, say) from leaking NaN into the result:

- ``if_else_zero(c, a)`` is a ``select``, not a product;
- a value known to vanish unless a condition holds (a truth value, the result of an ``if_else_zero``, and what is made
  of such by negation or multiplication) makes every product with it, and every quotient of it, vanish likewise, by a
  ``select``. CasADi's derivatives of ``if_else``, ``fmin``, ``fmax`` and comparisons consist of such products.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import casadi as ca


class UnsupportedOperation(Exception):
    """An operation of the expression has no machine code (the message names it)."""


def _binary(instruction: str) -> Callable[[str, str], str]:
    return lambda a, b: f"{instruction} double {a}, {b}"


def _call(name: str) -> Callable[..., str]:
    return lambda *args: f"call double @{name}({', '.join('double ' + a for a in args)})"


#: CasADi operation -> right-hand side of an LLVM instruction that yields a double.
ARITHMETIC: dict[int, Callable[..., str]] = {
    ca.OP_ADD: _binary("fadd"),
    ca.OP_SUB: _binary("fsub"),
    ca.OP_MUL: _binary("fmul"),
    ca.OP_DIV: _binary("fdiv"),
    ca.OP_FMOD: _call("fmod"),
    ca.OP_REMAINDER: _call("remainder"),
    ca.OP_NEG: lambda a: f"fneg double {a}",
    ca.OP_SQ: lambda a: f"fmul double {a}, {a}",
    ca.OP_TWICE: lambda a: f"fadd double {a}, {a}",
    ca.OP_INV: lambda a: f"fdiv double 1.0, {a}",
    ca.OP_SQRT: _call("llvm.sqrt.f64"),
    ca.OP_FABS: _call("llvm.fabs.f64"),
    ca.OP_FLOOR: _call("llvm.floor.f64"),
    ca.OP_CEIL: _call("llvm.ceil.f64"),
    ca.OP_SIN: _call("llvm.sin.f64"),
    ca.OP_COS: _call("llvm.cos.f64"),
    ca.OP_COPYSIGN: _call("llvm.copysign.f64"),
    ca.OP_EXP: _call("exp"),
    ca.OP_LOG: _call("log"),
    ca.OP_POW: _call("pow"),
    ca.OP_CONSTPOW: _call("pow"),
    ca.OP_TAN: _call("tan"),
    ca.OP_ASIN: _call("asin"),
    ca.OP_ACOS: _call("acos"),
    ca.OP_ATAN: _call("atan"),
    ca.OP_ATAN2: _call("atan2"),
    ca.OP_SINH: _call("sinh"),
    ca.OP_COSH: _call("cosh"),
    ca.OP_TANH: _call("tanh"),
    ca.OP_ASINH: _call("asinh"),
    ca.OP_ACOSH: _call("acosh"),
    ca.OP_ATANH: _call("atanh"),
    ca.OP_ERF: _call("erf"),
    ca.OP_LOG1P: _call("log1p"),
    ca.OP_EXPM1: _call("expm1"),
    ca.OP_HYPOT: _call("hypot"),
    ca.OP_FMIN: _call("fmin"),
    ca.OP_FMAX: _call("fmax"),
}

#: CasADi comparison -> LLVM floating-point predicate (``une`` so that NaN differs from everything, as in C).
COMPARISONS: dict[int, str] = {ca.OP_LT: "olt", ca.OP_LE: "ole", ca.OP_EQ: "oeq", ca.OP_NE: "une"}

_NAMES = {getattr(ca, n): n[3:].lower() for n in dir(ca) if n.startswith("OP_")}
_LIBM_UNARY = [
    "exp",
    "log",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "log1p",
    "expm1",
]
_LIBM_BINARY = ["pow", "atan2", "fmod", "remainder", "hypot", "fmin", "fmax"]
_INTRINSICS_UNARY = ["sqrt", "fabs", "floor", "ceil", "sin", "cos"]
_DECLARATIONS = "\n".join(
    [f"declare double @{n}(double) nounwind readnone" for n in _LIBM_UNARY]
    + [f"declare double @{n}(double, double) nounwind readnone" for n in _LIBM_BINARY]
    + [f"declare double @llvm.{n}.f64(double)" for n in _INTRINSICS_UNARY]
    + ["declare double @llvm.copysign.f64(double, double)"]
)


def _literal(value: float) -> str:
    """A double as LLVM's exact hexadecimal literal."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class _Emitter:
    """Keeps the lines, the register of each work slot and the truth values seen so far."""

    def __init__(self, n_work: int) -> None:
        self.lines: list[str] = []
        self.work: list[str] = [_literal(0.0)] * n_work
        self.truths: dict[str, str] = {}  # double register holding 0 or 1 -> its i1 register
        self.guards: dict[str, str] = {}  # double register -> the i1 register without which it is zero
        self._count = 0

    def register(self, right_hand_side: str) -> str:
        self._count += 1
        name = f"%r{self._count}"
        self.lines.append(f"  {name} = {right_hand_side}")
        return name

    def truth_of(self, value: str) -> str:
        """The i1 register that says whether a double is non-zero."""
        return self.truths.get(value) or self.register(f"fcmp une double {value}, {_literal(0.0)}")

    def from_truth(self, bit: str) -> str:
        value = self.register(f"uitofp i1 {bit} to double")
        self.truths[value] = self.guards[value] = bit
        return value

    def guarded(self, bit: str, value: str) -> str:
        """A value that is zero unless a condition holds."""
        result = self.select(bit, value, _literal(0.0))
        self.guards[result] = bit
        return result

    def select(self, bit: str, yes: str, no: str) -> str:
        return self.register(f"select i1 {bit}, double {yes}, double {no}")

    def operation(self, op: int, args: list[str]) -> str:
        zero = _literal(0.0)
        if op == ca.OP_ASSIGN or op == ca.OP_LIFT:
            return args[0]
        if op in COMPARISONS:
            return self.from_truth(self.register(f"fcmp {COMPARISONS[op]} double {args[0]}, {args[1]}"))
        if op == ca.OP_NOT:
            return self.from_truth(self.register(f"xor i1 {self.truth_of(args[0])}, true"))
        if op in (ca.OP_AND, ca.OP_OR):
            word = "and" if op == ca.OP_AND else "or"
            bits = [self.truth_of(a) for a in args]
            return self.from_truth(self.register(f"{word} i1 {bits[0]}, {bits[1]}"))
        if op == ca.OP_IF_ELSE_ZERO:
            return self.guarded(self.truth_of(args[0]), args[1])
        if op == ca.OP_SIGN:
            positive = self.register(f"fcmp ogt double {args[0]}, {zero}")
            negative = self.register(f"fcmp olt double {args[0]}, {zero}")
            # a zero and a NaN are returned as they are
            return self.select(positive, _literal(1.0), self.select(negative, _literal(-1.0), args[0]))
        if op in ARITHMETIC:
            result = self.register(ARITHMETIC[op](*args))
            bits = [self.guards[a] for a in args if a in self.guards]
            if op == ca.OP_MUL and bits:
                both = bits[0] if len(bits) == 1 else self.register(f"and i1 {bits[0]}, {bits[1]}")
                return self.guarded(both, result)
            if op == ca.OP_DIV and args[0] in self.guards:
                return self.guarded(self.guards[args[0]], result)
            if op in (ca.OP_NEG, ca.OP_TWICE, ca.OP_SQ) and bits:
                self.guards[result] = bits[0]
            return result
        raise UnsupportedOperation(f"the operation '{_NAMES.get(op, op)}' has no machine code")


def emit(function: ca.Function, name: str = "kernel") -> str:
    """The LLVM IR of an SX function with one dense input vector and one dense output vector."""
    out = _Emitter(function.sz_w())
    for k in range(function.n_instructions()):
        op = function.instruction_id(k)
        where_in, where_out = function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_INPUT:
            pointer = out.register(f"getelementptr double, ptr %x, i64 {where_in[1]}")
            out.work[where_out[0]] = out.register(f"load double, ptr {pointer}")
        elif op == ca.OP_OUTPUT:
            pointer = out.register(f"getelementptr double, ptr %y, i64 {where_out[1]}")
            out.lines.append(f"  store double {out.work[where_in[0]]}, ptr {pointer}")
        elif op == ca.OP_CONST:
            out.work[where_out[0]] = _literal(function.instruction_constant(k))
        else:
            out.work[where_out[0]] = out.operation(op, [out.work[i] for i in where_in])
    body = "\n".join(out.lines)
    signature = f"define void @{name}(ptr noalias nocapture readonly %x, ptr noalias nocapture writeonly %y) nounwind"
    return f"{_DECLARATIONS}\n{signature} {{\nentry:\n{body}\n  ret void\n}}\n"
