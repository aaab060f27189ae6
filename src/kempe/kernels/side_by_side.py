"""Kernels that evaluate LANES instances of a function side by side in vector registers.

Each instance has the digits that the function alone would give it: operations are the same, in the same order, and what
has no vector instruction is called lane by lane. Conditions are one truth per lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from kempe.kernels.compiler import Code, Kernel, code_of
from kempe.kernels.emitting import WHOLE
from kempe.kernels.llvm_ir import (
    ARITHMETIC,
    COMPARISONS,
    DECLARATIONS,
    LANES,
    WIDE,
    Emitter,
    UnsupportedOperation,
    literal,
)
from kempe.kernels.steps import PLAIN

_BITS = f"<{LANES} x i1>"
_ZERO, _ALL = "zeroinitializer", f"<{', '.join(['i1 true'] * LANES)}>"
#: Operations of one instruction, and of an intrinsic function that rounds as the instruction of single numbers does.
_INSTRUCTIONS = {ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_NEG, ca.OP_TWICE}
_INTRINSICS = {ca.OP_SQRT: "sqrt", ca.OP_FABS: "fabs", ca.OP_FLOOR: "floor", ca.OP_CEIL: "ceil"}
_DECLARED = "\n".join(
    [DECLARATIONS]
    + [f"declare {WIDE} @llvm.{name}.v{LANES}f64({WIDE})" for name in _INTRINSICS.values() if name != "fabs"]
)


def _everywhere(value: float) -> str:
    """A number in all lanes."""
    return f"<{', '.join([f'double {literal(value)}'] * LANES)}>"


class _Lanes(Emitter):
    """The lines of a function in which every number is LANES numbers, and every truth LANES truths."""

    def gathered(self, number: int) -> str:
        """What is found in x at the places that the index has under a number (single loads beat a gather)."""
        result = "poison"
        for lane in range(LANES):
            at = self.register(f"getelementptr i64, ptr %index, i64 {LANES * number + lane}")
            place = self.register(f"load i64, ptr {at}")
            where = self.register(f"getelementptr double, ptr %x, i64 {place}")
            value = self.register(f"load double, ptr {where}")
            result = self.register(f"insertelement {WIDE} {result}, double {value}, i32 {lane}")
        return result

    def written(self, value: str, number: int) -> None:
        """Put an output of all instances side by side."""
        at = self.register(f"getelementptr {WIDE}, ptr %y, i64 {number}")
        self.lines.append(f"  store {WIDE} {value}, ptr {at}, align 8")

    def truth_of(self, value: str) -> str:
        """Where a number is not zero."""
        return self.truths.get(value) or self.register(f"fcmp une {WIDE} {value}, {_ZERO}")

    def from_truth(self, bit: str) -> str:
        """Truths as zeros and ones."""
        value = self.register(f"uitofp {_BITS} {bit} to {WIDE}")
        self.truths[value] = self.guards[value] = bit
        return value

    def select(self, bit: str, yes: str, no: str, kind: str = WIDE) -> str:
        """One of two values, lane by lane."""
        return self.register(f"select {_BITS} {bit}, {kind} {yes}, {kind} {no}")

    def operation(self, op: int, args: list[str], kind: str = WIDE) -> str:
        """The result of an operation."""
        if op in (ca.OP_ASSIGN, ca.OP_LIFT):
            return args[0]
        if op == PLAIN:
            return self.register(f"fadd {WIDE} {args[0]}, {_everywhere(-0.0)}")
        if op in (ca.OP_SIN, ca.OP_COS):
            return self._sine_and_cosine(args[0], LANES)[op == ca.OP_COS]
        if op == ca.OP_IF_ELSE_ZERO:
            return self.guarded(self.truth_of(args[0]), args[1], kind)
        if op in COMPARISONS:
            return self.from_truth(self.register(f"fcmp {COMPARISONS[op]} {WIDE} {args[0]}, {args[1]}"))
        if op == ca.OP_NOT:
            return self.from_truth(self.register(f"xor {_BITS} {self.truth_of(args[0])}, {_ALL}"))
        if op in (ca.OP_AND, ca.OP_OR):
            word = "and" if op == ca.OP_AND else "or"
            bits = [self.truth_of(a) for a in args]
            return self.from_truth(self.register(f"{word} {_BITS} {bits[0]}, {bits[1]}"))
        if op == ca.OP_SIGN:
            positive, negative = (self.register(f"fcmp {word} {WIDE} {args[0]}, {_ZERO}") for word in ("ogt", "olt"))
            return self.select(positive, _everywhere(1.0), self.select(negative, _everywhere(-1.0), args[0]))
        if op in ARITHMETIC:
            return self._vanishing(op, args, self._computed(op, args))
        raise UnsupportedOperation(f"the operation {op} has no machine code")

    def _computed(self, op: int, args: list[str]) -> str:
        """By one instruction for all lanes where there is one."""
        if op in _INSTRUCTIONS:
            return self.register(ARITHMETIC[op](*args, kind=WIDE))
        if op == ca.OP_SQ:
            return self.register(f"fmul {WIDE} {args[0]}, {args[0]}")
        if op == ca.OP_INV:
            return self.register(f"fdiv {WIDE} {_everywhere(1.0)}, {args[0]}")
        if op in _INTRINSICS:
            return self.register(f"call {WIDE} @llvm.{_INTRINSICS[op]}.v{LANES}f64({WIDE} {args[0]})")
        result = "poison"
        for lane in range(LANES):
            single = [self.register(f"extractelement {WIDE} {a}, i32 {lane}") for a in args]
            value = self.register(ARITHMETIC[op](*single))
            result = self.register(f"insertelement {WIDE} {result}, double {value}, i32 {lane}")
        return result

    def _vanishing(self, op: int, args: list[str], result: str) -> str:
        """A product with what vanishes unless a condition holds, and a quotient of it, vanish likewise."""
        bits = [self.guards[a] for a in args if a in self.guards]
        if op == ca.OP_MUL and bits:
            both = bits[0] if len(bits) == 1 else self.register(f"and {_BITS} {bits[0]}, {bits[1]}")
            return self.guarded(both, result, WIDE)
        if op == ca.OP_DIV and args[0] in self.guards:
            return self.guarded(self.guards[args[0]], result, WIDE)
        if op in (ca.OP_NEG, ca.OP_TWICE, ca.OP_SQ) and bits:
            self.guards[result] = bits[0]
        return result


@dataclass(frozen=True)
class WideKernel:
    """Machine code of ``void f(double* x, double* y, int64* index)`` for LANES instances of a kernel.

    The index has, for each input that the kernel reads, its places in x; y gets each output of all instances.
    """

    code: Code
    kernel: Kernel

    @property
    def address(self) -> int:
        """Where the machine code is, in this process."""
        return self.code.address

    def __reduce__(self) -> Any:
        return side_by_side, (self.kernel,)


def can_be_wide(kernel: Kernel) -> bool:
    """Whether a kernel is short enough, and without a loop over columns."""
    return kernel.columns is None and len(kernel.steps) <= WHOLE


def side_by_side(kernel: Kernel) -> WideKernel:
    """The kernel for LANES instances."""
    out, made = _Lanes(), list[str]()
    number = {place: k for k, place in enumerate(kernel.reads)}
    known: dict[int, str] = {}
    for op, args, (_, place), value in kernel.steps:
        result = ""
        if op == ca.OP_CONST:
            result = _everywhere(value)
        elif op == ca.OP_INPUT:
            result = known.get(place) or out.gathered(number[place])
            known[place] = result
        elif op == ca.OP_OUTPUT:
            out.written(made[args[0]], place)
        else:
            result = out.operation(op, [made[a] for a in args])
        made.append(result)
    given = (
        "ptr noalias nocapture readonly %x, ptr noalias nocapture writeonly %y, ptr noalias nocapture readonly %index"
    )
    body = "\n".join(out.lines)
    text = f"{_DECLARED}\ndefine void @kernel({given}) nounwind {{\nentry:\n{body}\n  ret void\n}}\n"
    return WideKernel(code_of(text), kernel)
