"""A function as a list of single operations: what back ends write out, and what functions are joined of.

Each step is an operation of CasADi's on the results of earlier steps, or reads or writes an entry of a vector. Vectors
are known by number: those of a CasADi function are its inputs, then its outputs. A vector may be read and written, in
the order of the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

#: Operations that CasADi has not: the value itself, of which nothing is known any more (products with it are products);
#: c - a b, rounded once where the processor can; the larger of two that are not negative, or what is no number.
#: (Sums and products of elements are rounded one by one: a gap is the same number whichever function it is in.)
PLAIN, LESS_PRODUCT, LARGER = -2, -3, -4


class Step(NamedTuple):
    """One operation, its arguments given by the steps that made them."""

    op: int
    args: tuple[int, ...] = ()
    place: tuple[int, int] = (0, 0)  # of what is read or written: which vector, and where in it
    constant: float = 0.0


Steps = Sequence[Step]


def steps_of(function: ca.Function) -> list[Step]:
    """The steps of an SX function whose inputs and outputs are dense vectors."""
    made: list[int] = [-1] * function.sz_w()  # the step that wrote each place of CasADi's work vector
    steps: list[Step] = []
    for k in range(function.n_instructions()):
        op, into, out = function.instruction_id(k), function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_OUTPUT:
            steps.append(Step(op, (made[into[0]],), (function.n_in() + out[0], out[1])))
            continue
        if op == ca.OP_INPUT:
            steps.append(Step(op, (), (into[0], into[1])))
        elif op == ca.OP_CONST:
            steps.append(Step(op, constant=function.instruction_constant(k)))
        else:
            steps.append(Step(op, tuple(made[i] for i in into)))
        made[out[0]] = k
    return steps


def places_read(steps: Steps, vector: int = 0) -> tuple[int, ...]:
    """The places of a vector that are read."""
    return tuple(sorted({step.place[1] for step in steps if step.op == ca.OP_INPUT and step.place[0] == vector}))


def vectors_of(steps: Steps, op: int) -> dict[int, int]:
    """How long the vectors are that are read (OP_INPUT) or written (OP_OUTPUT)."""
    found: dict[int, int] = {}
    for step in steps:
        if step.op == op:
            vector, place = step.place
            found[vector] = max(found.get(vector, 0), place + 1)
    return found


#: Operations whose result is known to vanish unless a condition holds, whatever it is of; and where an argument does.
_CHOSEN = {ca.OP_IF_ELSE_ZERO, ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR}
_PASSING = {ca.OP_MUL, ca.OP_DIV, ca.OP_NEG, ca.OP_TWICE, ca.OP_SQ}


def vanishes(step: Step, vanishing: set[int]) -> bool:
    """Whether a result is known to vanish unless a condition holds; ``vanishing`` are steps before of which it is."""
    return step.op in _CHOSEN or (step.op in _PASSING and not vanishing.isdisjoint(step.args))
