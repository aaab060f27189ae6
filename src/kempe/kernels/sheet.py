"""Functions written one after the other on one sheet, on which nothing is computed twice.

What is asked for again, by whichever function that is put in, is there already: the sine of an angle that ten functions
need is one step. Operations are neither reordered nor contracted, so the digits are those of the functions one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import casadi as ca

from kempe.kernels.steps import LARGER, LESS_PRODUCT, PLAIN, Step, Steps, vanishes

#: Operations whose arguments may be exchanged.
_SYMMETRIC = {ca.OP_ADD, ca.OP_MUL, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR}


class Sheet:
    """Steps of a function that is being put together; a value is known by the number of its step."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._known: dict[tuple, int] = {}
        self._vanishing: set[int] = set()
        self._wanted: list[int] = []

    def _enter(self, key: tuple, step: Step) -> int:
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(self.steps)
            self.steps.append(step)
        return known

    def read(self, vector: int, place: int) -> int:
        """An entry of a vector as it was given."""
        return self._enter((ca.OP_INPUT, vector, place), Step(ca.OP_INPUT, (), (vector, place)))

    def constant(self, value: float) -> int:
        """A number."""
        return self._enter((ca.OP_CONST, value.hex()), Step(ca.OP_CONST, constant=value))

    def apply(self, op: int, *args: int) -> int:
        """The result of an operation."""
        if op in _SYMMETRIC and args[0] > args[1]:
            args = args[::-1]
        step = Step(op, args)
        made = self._enter((op, *args), step)
        if vanishes(step, self._vanishing):
            self._vanishing.add(made)
        return made

    def add(self, a: int, b: int) -> int:
        """A + b."""
        return self.apply(ca.OP_ADD, a, b)

    def subtract(self, a: int, b: int) -> int:
        """A - b."""
        return self.apply(ca.OP_SUB, a, b)

    def multiply(self, a: int, b: int) -> int:
        """A b."""
        return self.apply(ca.OP_MUL, a, b)

    def reduce(self, c: int, a: int, b: int) -> int:
        """C - a b, rounded once where the processor can."""
        return self.apply(LESS_PRODUCT, *sorted((a, b)), c)

    def size(self, a: int) -> int:
        """|a|."""
        return self.apply(ca.OP_FABS, a)

    def largest(self, values: Sequence[int]) -> int:
        """The largest of numbers that are not negative; what is no number stays."""
        found = list(values) or [self.constant(0.0)]
        while len(found) > 1:
            pairs = [self.apply(LARGER, *found[k : k + 2]) for k in range(0, len(found) - 1, 2)]
            found = pairs + found[2 * len(pairs) :]
        return found[0]

    def total(self, values: Sequence[int]) -> int:
        """The sum of numbers, in pairs."""
        found = list(values) or [self.constant(0.0)]
        while len(found) > 1:
            pairs = [self.add(*found[k : k + 2]) for k in range(0, len(found) - 1, 2)]
            found = pairs + found[2 * len(pairs) :]
        return found[0]

    def negate(self, a: int) -> int:
        """Minus a."""
        return self.apply(ca.OP_NEG, a)

    def write(self, vector: int, place: int, value: int) -> None:
        """Let a value become an entry of a vector."""
        self.steps.append(Step(ca.OP_OUTPUT, (value,), (vector, place)))

    def want(self, value: int) -> int:
        """Let a value be computed before those wanted later, and what it is made of shortly before it."""
        self._wanted.append(value)
        return value

    def ordered(self) -> list[Step]:
        """The steps in the order of what is wanted; an entry is written at once unless its old value is read later."""
        steps = self.steps
        read = {step.place: k for k, step in enumerate(steps) if step.op == ca.OP_INPUT}
        writes = [k for k, step in enumerate(steps) if step.op == ca.OP_OUTPUT]
        of_value: dict[int, list[int]] = {}
        for k in writes:
            of_value.setdefault(steps[k].args[0], []).append(k)
        to_come = Counter(a for step in steps for a in step.args)  # (how often a value is asked for from here on)
        number, found = [-1] * len(steps), list[Step]()

        def enter(k: int) -> None:
            number[k] = len(found)
            found.append(steps[k]._replace(args=tuple(number[a] for a in steps[k].args)))
            to_come.subtract(steps[k].args)
            for write in of_value.get(k, ()):
                if not to_come[read.get(steps[write].place, -1)]:
                    enter(write)

        for wanted in [*self._wanted, *writes]:
            pending = [wanted]
            while pending:
                k = pending[-1]
                if number[k] >= 0:
                    pending.pop()
                    continue
                missing = [a for a in steps[k].args if number[a] < 0]
                if missing:
                    pending += reversed(missing)
                else:
                    enter(k)
                    pending.pop()
        return found

    def put_in(self, steps: Steps, read: Callable[[int], int], count: int) -> list[int]:
        """The ``count`` outputs of a function of one vector, whose entries ``read`` gives."""
        made, found = [-1] * len(steps), [-1] * count
        for k, (op, args, place, value) in enumerate(steps):
            if op == ca.OP_OUTPUT:
                found[place[1]] = self.plain(made[args[0]])
            elif op == ca.OP_INPUT:
                made[k] = read(place[1])
            elif op == ca.OP_CONST:
                made[k] = self.constant(value)
            elif op == ca.OP_ASSIGN:
                made[k] = made[args[0]]
            else:
                made[k] = self.apply(op, *(made[a] for a in args))
        return found

    def plain(self, a: int) -> int:
        """The same value, of which nothing is known: it may be multiplied by anything."""
        return self.apply(PLAIN, a) if a in self._vanishing else a

    def sum_at(self, count: int, values: Sequence[int], targets: Sequence[int]) -> list[int]:
        """So many sums, of the values that go to each target in turn; nothing is zero."""
        found = [-1] * count
        for value, target in zip(values, targets, strict=True):
            found[target] = value if found[target] < 0 else self.add(found[target], value)
        zero = -1
        for k in range(count):
            if found[k] < 0:
                zero = self.constant(0.0) if zero < 0 else zero
                found[k] = zero
        return found
