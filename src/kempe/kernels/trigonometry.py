"""Sine and cosine as straight arithmetic, for one number or several side by side.

A call of the C library costs more than the whole rest of a small mechanism's equations, and cannot be done for eight
angles at once. Here an angle is reduced by multiples of a right angle (held in 106 bits), and both functions are
polynomials of what is left. They are within 0.7 units of the last digit (next to their zeros within 1e-28), and the
same for one number and for several.
"""

from __future__ import annotations

from collections.abc import Callable

#: Up to here an angle can be reduced without loss.
FAR = 1e12
#: Right angles in a radian; a right angle, and what its nearest number leaves.
_PER_RADIAN, _RIGHT, _LEFT = 0.6366197723675814, 1.5707963267948966, 6.123233995736766e-17
#: Adding this leaves a whole number in the last digits.
_WHOLE = 6755399441055744.0
#: sin r = r + r^3 (S0 + S1 r^2 + ...), cos r = 1 - r^2 / 2 + r^4 (C0 + C1 r^2 + ...), to 2e-17 for |r| < 0.79.
_SINE = (
    -0.16666666666666666,
    0.008333333333330827,
    -0.0001984126983657571,
    2.755731600817155e-06,
    -2.5051112272573243e-08,
    1.5916726193889336e-10,
)
_COSINE = (
    0.041666666666666664,
    -0.0013888888888887322,
    2.4801587298651292e-05,
    -2.755731721268659e-07,
    2.0876134024090145e-09,
    -1.1381754653662937e-11,
)


class Arithmetic:
    """Lines of LLVM IR on numbers of one kind: double, or several side by side."""

    def __init__(self, register: Callable[[str], str], lanes: int, literal: Callable[[float], str]) -> None:
        self._register, self._lanes, self._literal = register, lanes, literal
        self.kind = "double" if lanes == 1 else f"<{lanes} x double>"
        self.whole = "i64" if lanes == 1 else f"<{lanes} x i64>"
        self.bit = "i1" if lanes == 1 else f"<{lanes} x i1>"
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"

    def number(self, value: float) -> str:
        """A constant."""
        return self._spread("double", self._literal(value))

    def integer(self, value: int) -> str:
        """A whole constant."""
        return self._spread("i64", str(value))

    def _spread(self, kind: str, value: str) -> str:
        return value if self._lanes == 1 else "<" + ", ".join([f"{kind} {value}"] * self._lanes) + ">"

    def binary(self, word: str, a: str, b: str) -> str:
        """An instruction on two numbers."""
        return self._register(f"{word} {self.kind} {a}, {b}")

    def on_integers(self, word: str, a: str, b: str) -> str:
        """An instruction on two whole numbers."""
        return self._register(f"{word} {self.whole} {a}, {b}")

    def fused(self, a: str, b: str, c: str) -> str:
        """A b + c, rounded once."""
        given = f"{self.kind} {a}, {self.kind} {b}, {self.kind} {c}"
        return self._register(f"call {self.kind} @llvm.fma.{self.suffix}({given})")

    def negative(self, a: str) -> str:
        """Minus a."""
        return self._register(f"fneg {self.kind} {a}")

    def polynomial(self, z: str, coefficients: tuple[float, ...]) -> str:
        """Horner's scheme."""
        found = self.number(coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            found = self.fused(found, z, self.number(coefficient))
        return found

    def chosen(self, bit: str, yes: str, no: str) -> str:
        """One of two numbers."""
        return self._register(f"select {self.bit} {bit}, {self.kind} {yes}, {self.kind} {no}")

    def compared(self, word: str, a: str, b: str) -> str:
        """Whether a comparison holds."""
        return self._register(f"fcmp {word} {self.kind} {a}, {b}")

    def bits(self, a: str) -> str:
        """The digits of a number as a whole number."""
        return self._register(f"bitcast {self.kind} {a} to {self.whole}")

    def with_sign(self, a: str, sign: str) -> str:
        """A number whose sign changes where the first bit of a whole number is set."""
        turned = self.on_integers("xor", self.bits(a), sign)
        return self._register(f"bitcast {self.whole} {turned} to {self.kind}")

    def unary(self, name: str, a: str) -> str:
        """An intrinsic function of one number."""
        return self._register(f"call {self.kind} @llvm.{name}.{self.suffix}({self.kind} {a})")

    def with_sign_of(self, a: str, b: str) -> str:
        """|a| with the sign of b."""
        return self._register(f"call {self.kind} @llvm.copysign.{self.suffix}({self.kind} {a}, {self.kind} {b})")

    def all_of(self, bits: str) -> str:
        """Whether all hold."""
        if self._lanes == 1:
            return bits
        return self._register(f"call i1 @llvm.vector.reduce.and.v{self._lanes}i1({self.bit} {bits})")

    def one_by_one(self, name: str, a: str) -> str:
        """A function of the C library."""
        if self._lanes == 1:
            return self._register(f"call double @{name}(double {a})")
        found = "poison"
        for k in range(self._lanes):
            given = self._register(f"extractelement {self.kind} {a}, i32 {k}")
            value = self._register(f"call double @{name}(double {given})")
            found = self._register(f"insertelement {self.kind} {found}, double {value}, i32 {k}")
        return found

    def is_odd(self, whole: str) -> str:
        """Whether the last bit is set."""
        last = self.on_integers("and", whole, self.integer(1))
        return self._register(f"icmp ne {self.whole} {last}, {self.integer(0)}")


def sine_and_cosine(do: Arithmetic, x: str) -> tuple[str, str]:
    """The registers of both."""
    shifted = do.fused(x, do.number(_PER_RADIAN), do.number(_WHOLE))
    k = do.binary("fsub", shifted, do.number(_WHOLE))
    quadrant = do.bits(shifted)
    # r + left = x - k right angles: the product as a sum of two numbers, of which the first cancels with x exactly
    product = do.binary("fmul", k, do.number(_RIGHT))
    missed = do.fused(k, do.number(_RIGHT), do.negative(product))
    less, most = do.fused(k, do.number(_LEFT), missed), do.binary("fsub", x, product)
    r = do.binary("fsub", most, less)
    left = do.binary("fsub", do.binary("fsub", most, r), less)
    # the square and the cube with what they were rounded by
    z = do.binary("fmul", r, r)
    z_rest = do.fused(r, r, do.negative(z))
    cube = do.binary("fmul", z, r)
    cube_rest = do.fused(z_rest, r, do.fused(z, r, do.negative(cube)))
    # sine: r + (left (1 - z / 2) + r^3 S)
    tail = do.fused(do.binary("fmul", cube, z), do.polynomial(z, _SINE[1:]), left)
    tail = do.fused(do.binary("fmul", z, left), do.number(-0.5), tail)
    tail = do.fused(cube_rest, do.number(_SINE[0]), tail)
    first = do.fused(cube, do.number(_SINE[0]), tail)
    sine = do.binary("fadd", r, first)
    sine = do.with_sign_of(sine, r)  # (of a zero)
    # cosine: 1 - z / 2 + (what that was rounded by + z^2 C - r left)
    half = do.binary("fmul", z, do.number(0.5))
    near = do.binary("fsub", do.number(1.0), half)
    rounded = do.binary("fsub", do.binary("fsub", do.number(1.0), near), half)
    rounded = do.fused(z_rest, do.number(-0.5), rounded)
    rest = do.fused(do.binary("fmul", z, z), do.polynomial(z, _COSINE), rounded)
    cosine = do.binary("fadd", near, do.fused(r, do.negative(left), rest))
    odd = do.is_odd(quadrant)
    first, second = do.chosen(odd, cosine, sine), do.chosen(odd, sine, cosine)
    # the second bit of the quadrant is the sign of the sine, that of the next quadrant the sign of the cosine
    next_one = do.on_integers("add", quadrant, do.integer(1))
    signs = [
        do.on_integers("shl", do.on_integers("and", which, do.integer(2)), do.integer(62))
        for which in (quadrant, next_one)
    ]
    return do.with_sign(first, signs[0]), do.with_sign(second, signs[1])
