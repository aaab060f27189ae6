"""CasADi operations as LLVM IR, one line or two each.

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
import llvmlite.binding as llvm

from kempe.kernels.steps import LARGER, LESS_PRODUCT, PLAIN
from kempe.kernels.trigonometry import FAR, Arithmetic, sine_and_cosine

#: How many directional derivatives, or sines, are computed side by side; and fewer of the latter.
LANES = 8
_WIDTHS = (1, 2, 4, 8)


#: Whether the processor rounds a product and a sum once, in one instruction.
FUSES = "x86" not in llvm.get_process_triple() or llvm.get_host_cpu_features().get("fma", False)


class UnsupportedOperation(Exception):
    """An operation of the expression has no machine code (the message names it)."""


#: The type of a number, and of LANES of them side by side.
DOUBLE, WIDE = "double", f"<{LANES} x double>"


def _binary(instruction: str) -> Callable[..., str]:
    return lambda a, b, kind=DOUBLE: f"{instruction} {kind} {a}, {b}"


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
    ca.OP_NEG: lambda a, kind=DOUBLE: f"fneg {kind} {a}",
    ca.OP_SQ: lambda a: f"fmul double {a}, {a}",
    ca.OP_TWICE: lambda a, kind=DOUBLE: f"fadd {kind} {a}, {a}",
    ca.OP_INV: lambda a: f"fdiv double 1.0, {a}",
    ca.OP_SQRT: _call("llvm.sqrt.f64"),
    ca.OP_FABS: _call("llvm.fabs.f64"),
    ca.OP_FLOOR: _call("llvm.floor.f64"),
    ca.OP_CEIL: _call("llvm.ceil.f64"),
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

#: What a derivative does with the derivatives of its arguments; these take several directions side by side.
_LINEAR = {ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_NEG, ca.OP_TWICE}

#: CasADi comparison -> LLVM floating-point predicate (``une`` so that NaN differs from everything, as in C).
COMPARISONS: dict[int, str] = {ca.OP_LT: "olt", ca.OP_LE: "ole", ca.OP_EQ: "oeq", ca.OP_NE: "une"}

_NAMES = {getattr(ca, n): n[3:].lower() for n in dir(ca) if n.startswith("OP_")}


def _declared(lanes: int) -> list[str]:
    """What is called on several numbers side by side."""
    kind = f"<{lanes} x double>"
    return [
        f"declare {kind} @llvm.fma.v{lanes}f64({kind}, {kind}, {kind})",
        f"declare {kind} @llvm.fabs.v{lanes}f64({kind})",
        f"declare {kind} @llvm.copysign.v{lanes}f64({kind}, {kind})",
        f"declare i1 @llvm.vector.reduce.and.v{lanes}i1(<{lanes} x i1>)",
    ]


_LIBM_UNARY = [
    "sin",
    "cos",
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
_INTRINSICS_UNARY = ["sqrt", "fabs", "floor", "ceil"]
DECLARATIONS = "\n".join(
    [f"declare double @{n}(double) nounwind readnone" for n in _LIBM_UNARY]
    + [f"declare double @{n}(double, double) nounwind readnone" for n in _LIBM_BINARY]
    + [f"declare double @llvm.{n}.f64(double)" for n in _INTRINSICS_UNARY]
    + ["declare double @llvm.copysign.f64(double, double)", "declare double @llvm.fma.f64(double, double, double)"]
    + [line for n in _WIDTHS[1:] for line in _declared(n)]
)


def literal(value: float) -> str:
    """A double as LLVM's exact hexadecimal literal."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


_ZERO = literal(0.0)


class Emitter:
    """Keeps the lines of one function and the truth values seen so far."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.truths: dict[str, str] = {}  # double register holding 0 or 1 -> its i1 register
        self.guards: dict[str, str] = {}  # register -> the i1 register without which it is zero
        self._spread: dict[str, str] = {}  # double register -> the same in all lanes
        self._turned: dict[str, tuple[str, str]] = {}  # double register -> its sine and cosine
        self._count = 0
        self._block = "entry"  # the label of the lines being written

    def register(self, right_hand_side: str) -> str:
        """A new register with a value."""
        self._count += 1
        name = f"%r{self._count}"
        self.lines.append(f"  {name} = {right_hand_side}")
        return name

    def load(self, kind: str, array: str, place: int) -> str:
        """A number from an array."""
        pointer = self.register(f"getelementptr {kind}, ptr {array}, i64 {place}")
        return self.register(f"load {kind}, ptr {pointer}")

    def store(self, kind: str, value: str, array: str, place: int) -> None:
        """Put a number into an array."""
        pointer = self.register(f"getelementptr {kind}, ptr {array}, i64 {place}")
        self.lines.append(f"  store {kind} {value}, ptr {pointer}")

    def truth_of(self, value: str) -> str:
        """The i1 register that says whether a double is non-zero."""
        return self.truths.get(value) or self.register(f"fcmp une double {value}, {_ZERO}")

    def from_truth(self, bit: str) -> str:
        """A truth as 0 or 1."""
        value = self.register(f"uitofp i1 {bit} to double")
        self.truths[value] = self.guards[value] = bit
        return value

    def guarded(self, bit: str, value: str, kind: str = DOUBLE) -> str:
        """A value that is zero unless a condition holds."""
        result = self.select(bit, value, _ZERO if kind == DOUBLE else "zeroinitializer", kind)
        self.guards[result] = bit
        return result

    def select(self, bit: str, yes: str, no: str, kind: str = DOUBLE) -> str:
        """One of two values."""
        return self.register(f"select i1 {bit}, {kind} {yes}, {kind} {no}")

    def spread(self, value: str) -> str:
        """A double in all lanes."""
        if value not in self._spread:
            first = self.register(f"insertelement {WIDE} poison, double {value}, i32 0")
            copied = f"shufflevector {WIDE} {first}, {WIDE} poison, <{LANES} x i32> zeroinitializer"
            self._spread[value] = self.register(copied)
            if value in self.guards:
                self.guards[self._spread[value]] = self.guards[value]
        return self._spread[value]

    def operation(self, op: int, args: list[str], kind: str = DOUBLE) -> str:
        """The result of a CasADi operation."""
        if op == ca.OP_ASSIGN or op == ca.OP_LIFT:
            return args[0]
        if op == PLAIN:  # (adding this zero changes no number, not even a zero)
            return self.register(f"fadd double {args[0]}, {literal(-0.0)}")
        if op == ca.OP_IF_ELSE_ZERO:
            return self.guarded(self.truth_of(args[0]), args[1], kind)
        if kind != DOUBLE and op not in _LINEAR:
            raise UnsupportedOperation(f"the operation '{_NAMES.get(op, op)}' is not linear")
        if op == LESS_PRODUCT:
            return self._less_product(*args)
        if op == LARGER:
            # (numbers that are not negative are in the order of their digits, and what is no number comes last)
            digits = [self.register(f"bitcast double {a} to i64") for a in args]
            return self.select(self.register(f"icmp sgt i64 {digits[1]}, {digits[0]}"), args[1], args[0])
        if op in (ca.OP_SIN, ca.OP_COS):
            return self._sine_and_cosine(args[0])[op == ca.OP_COS]
        if op in COMPARISONS:
            return self.from_truth(self.register(f"fcmp {COMPARISONS[op]} double {args[0]}, {args[1]}"))
        if op == ca.OP_NOT:
            return self.from_truth(self.register(f"xor i1 {self.truth_of(args[0])}, true"))
        if op in (ca.OP_AND, ca.OP_OR):
            word = "and" if op == ca.OP_AND else "or"
            bits = [self.truth_of(a) for a in args]
            return self.from_truth(self.register(f"{word} i1 {bits[0]}, {bits[1]}"))
        if op == ca.OP_SIGN:
            positive = self.register(f"fcmp ogt double {args[0]}, {_ZERO}")
            negative = self.register(f"fcmp olt double {args[0]}, {_ZERO}")
            # a zero and a NaN are returned as they are
            return self.select(positive, literal(1.0), self.select(negative, literal(-1.0), args[0]))
        if op in ARITHMETIC:
            return self._arithmetic(op, args, kind)
        raise UnsupportedOperation(f"the operation '{_NAMES.get(op, op)}' has no machine code")

    def _less_product(self, a: str, b: str, c: str) -> str:
        """C - a b, rounded once where the processor can."""
        if FUSES:
            negative = self.register(f"fneg double {a}")
            return self.register(f"call double @llvm.fma.f64(double {negative}, double {b}, double {c})")
        return self.register(f"fsub double {c}, {self.register(f'fmul double {a}, {b}')}")

    def turn(self, angles: list[str]) -> None:
        """Compute the sines and cosines of several numbers side by side."""
        for first in range(0, len(angles), LANES):
            some = angles[first : first + LANES]
            lanes = next(n for n in _WIDTHS if n >= len(some))
            if lanes == 1:
                continue
            kind, packed = f"<{lanes} x double>", "poison"
            for k in range(lanes):
                packed = self.register(f"insertelement {kind} {packed}, double {some[min(k, len(some) - 1)]}, i32 {k}")
            both = self._near_or_far(Arithmetic(self.register, lanes, literal), packed)
            for k, angle in enumerate(some):
                sine, cosine = (self.register(f"extractelement {kind} {each}, i32 {k}") for each in both)
                self._turned[angle] = (sine, cosine)

    def _sine_and_cosine(self, a: str, lanes: int = 1) -> tuple[str, str]:
        """Both, however many ask for one of them."""
        if a not in self._turned:
            self._turned[a] = self._near_or_far(Arithmetic(self.register, lanes, literal), a)
        return self._turned[a]

    def _near_or_far(self, do: Arithmetic, x: str) -> tuple[str, str]:
        """Sine and cosine; of numbers too large to be reduced here as the C library has them."""
        near = sine_and_cosine(do, x)
        small = do.compared("olt", do.unary("fabs", x), do.number(FAR))
        done, far, before = f"done{self._count}", f"far{self._count}", self._block
        self.lines.append(f"  br i1 {do.all_of(small)}, label %{done}, label %{far}")
        self.lines.append(f"{far}:")
        distant = [
            do.chosen(small, each, do.one_by_one(name, x)) for name, each in zip(("sin", "cos"), near, strict=True)
        ]
        self.lines += [f"  br label %{done}", f"{done}:"]
        self._block = done
        sine, cosine = (
            self.register(f"phi {do.kind} [{each}, %{before}], [{other}, %{far}]")
            for each, other in zip(near, distant, strict=True)
        )
        return sine, cosine

    def _arithmetic(self, op: int, args: list[str], kind: str) -> str:
        result = self.register(ARITHMETIC[op](*args) if kind == DOUBLE else ARITHMETIC[op](*args, kind=kind))
        bits = [self.guards[a] for a in args if a in self.guards]
        if op == ca.OP_MUL and bits:
            both = bits[0] if len(bits) == 1 else self.register(f"and i1 {bits[0]}, {bits[1]}")
            return self.guarded(both, result, kind)
        if op == ca.OP_DIV and args[0] in self.guards:
            return self.guarded(self.guards[args[0]], result, kind)
        if op in (ca.OP_NEG, ca.OP_TWICE, ca.OP_SQ) and bits:
            self.guards[result] = bits[0]
        return result
