"""Expressions walked through operation by operation: rebuilt with some of them changed, and searched for kinks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca

from kempe.elements.planar import length_of

#: Operations that have a kink, or jump, where their first operand less their second (if there is one) is zero.
_BREAK_AT_ZERO = (ca.OP_FABS, ca.OP_SIGN, ca.OP_FMIN, ca.OP_FMAX, ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE)


def rebuilt(expression: ca.SX, changed: Callable[[int, Sequence[ca.SX]], ca.SX | None]) -> ca.SX:
    """A scalar expression made again; ``changed`` says what an operation on operands becomes, None if it stays."""
    symbols = ca.vertcat(ca.SX(0, 1), *ca.symvar(expression))
    function = ca.Function("f", [symbols], [ca.densify(expression)])
    made: dict[int, ca.SX] = {}
    last = ca.SX(0)
    for k in range(function.n_instructions()):
        op, into, out = function.instruction_id(k), function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_OUTPUT:
            last = made[into[0]]
        elif op == ca.OP_CONST:
            made[out[0]] = ca.SX(function.instruction_constant(k))
        elif op == ca.OP_INPUT:
            made[out[0]] = symbols[into[1]]
        else:
            operands = [made[i] for i in into]
            new = changed(op, operands)
            plain = ca.SX.unary if len(operands) == 1 else ca.SX.binary
            made[out[0]] = plain(op, *operands) if new is None else new
    return last


def with_lengths(expression: ca.SX) -> ca.SX:
    """The same expression, in which ``hypot`` of two zeros has derivatives, which are zero."""
    return rebuilt(expression, lambda op, operands: length_of(*operands) if op == ca.OP_HYPOT else None)


def kinks_in(expression: ca.SX) -> list[ca.SX]:
    """What passes through zero where an expression has a kink or jumps: of absolute values, conditions and so on."""
    found: list[ca.SX] = []

    def note(op: int, operands: Sequence[ca.SX]) -> None:
        if op in _BREAK_AT_ZERO:
            found.append(operands[0] - operands[1] if len(operands) == 2 else operands[0])
        elif op == ca.OP_COPYSIGN:
            found.append(operands[1])
        elif op in (ca.OP_FLOOR, ca.OP_CEIL):
            found.append(ca.sin(ca.pi * operands[0]))
        elif op == ca.OP_FMOD:
            found.append(ca.sin(ca.pi * operands[0] / operands[1]))
        elif op == ca.OP_REMAINDER:
            found.append(ca.cos(ca.pi * operands[0] / operands[1]))

    rebuilt(expression, note)
    return [ca.SX(e) for e in found]
