"""Expressions walked through operation by operation: lengths made safe, and kinks taken apart.

An expression that has a kink (``abs``, ``max``, a condition) is smooth on either side of it. ``split`` puts a symbol
for the side there, 1 or 0, so that whoever follows a motion across the kink can say on which side it is;
``conditions_in`` says what to look at for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import casadi as ca

from kempe.elements.geometry import length_of
from kempe.errors import ModelError

#: Operations that jump at more than one value of their operand.
_STAIRS = {ca.OP_FLOOR: "floor", ca.OP_CEIL: "ceil", ca.OP_FMOD: "mod", ca.OP_REMAINDER: "remainder"}
#: What gives the symbol of the side of a kink: 1 where the given expression is above zero; None where it never moves.
Side = Callable[[ca.SX], "ca.SX | None"]


def _walked(expression: ca.SX) -> Iterator[tuple[int, Sequence[int], int, ca.SX | None]]:
    """Operation, places of its operands, place of what it makes, and what that is where it is a symbol or a number."""
    symbols = ca.vertcat(ca.SX(0, 1), *ca.symvar(expression))
    function = ca.Function("f", [symbols], [ca.densify(expression)])
    for k in range(function.n_instructions()):
        op, into, out = function.instruction_id(k), function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_CONST:
            yield op, (), out[0], ca.SX(function.instruction_constant(k))
        elif op == ca.OP_INPUT:
            yield op, (), out[0], symbols[into[1]]
        else:
            yield op, into, out[0], None


def _applied(op: int, operands: Sequence[ca.SX]) -> ca.SX:
    if op == ca.OP_HYPOT:
        return length_of(*operands)
    return ca.SX.unary(op, *operands) if len(operands) == 1 else ca.SX.binary(op, *operands)


def with_lengths(expression: ca.SX) -> ca.SX:
    """The same expression, in which ``hypot`` of two zeros has derivatives, which are zero."""
    return split(expression, lambda kink: None)


def split(expression: ca.SX, side: Side) -> ca.SX:
    """A scalar expression with the sides of its kinks as symbols, and with lengths made safe."""
    plain: dict[int, ca.SX] = {}
    smooth: dict[int, ca.SX] = {}
    for op, into, out, known in _walked(expression):
        if op == ca.OP_OUTPUT:
            return smooth[into[0]]
        if known is not None:
            plain[out] = smooth[out] = known
            continue
        whole, parts = [plain[i] for i in into], [smooth[i] for i in into]
        taken = _on_a_side(op, whole, parts, side)
        plain[out], smooth[out] = _applied(op, whole), _applied(op, parts) if taken is None else taken
    raise AssertionError("an expression without an end")


def conditions_in(expression: ca.SX) -> list[ca.SX]:
    """What decides on which side of its kinks an expression is, each once: it passes zero there."""
    plain: dict[int, ca.SX] = {}
    found: dict[tuple[int, ...], ca.SX] = {}
    for op, into, out, known in _walked(expression):
        if op == ca.OP_OUTPUT:
            continue
        operands = [plain[i] for i in into]
        kink = _kink(op, operands)
        if kink is not None:
            found.setdefault(tuple(each.element_hash() for each in operands), kink)
        plain[out] = _applied(op, operands) if known is None else known
    return list(found.values())


def chooses(expression: ca.SX) -> bool:
    """Whether an expression takes one side or the other of a condition."""
    return any(op == ca.OP_IF_ELSE_ZERO for op, *_ in _walked(expression))


def _kink(op: int, operands: Sequence[ca.SX]) -> ca.SX | None:
    """What passes zero where an operation has a kink; None for one that has none."""
    if op in (ca.OP_FABS, ca.OP_SIGN):
        return operands[0]
    return operands[0] - operands[1] if op in (ca.OP_FMIN, ca.OP_FMAX, ca.OP_LT, ca.OP_LE) else None


def _on_a_side(op: int, whole: Sequence[ca.SX], parts: Sequence[ca.SX], side: Side) -> ca.SX | None:
    """What an operation with a kink is on one side of it; None for any other."""
    kink = _kink(op, whole)
    s = None if kink is None else side(kink)
    if s is not None:
        if op in (ca.OP_FABS, ca.OP_SIGN):
            return (2 * s - 1) * (parts[0] if op == ca.OP_FABS else 1)
        if op in (ca.OP_LT, ca.OP_LE):
            return 1 - s
        larger, less = (parts[0], parts[1]) if op == ca.OP_FMAX else (parts[1], parts[0])
        return s * larger + (1 - s) * less
    if op == ca.OP_COPYSIGN:
        s, size = side(whole[1]), _on_a_side(ca.OP_FABS, whole, parts, side)
        return None if s is None else (2 * s - 1) * (ca.fabs(parts[0]) if size is None else size)
    if op in _STAIRS and any(side(each) is not None for each in whole):
        raise ModelError(f"'{_STAIRS[op]}' jumps again and again, at instants that are not looked for")
    return None
