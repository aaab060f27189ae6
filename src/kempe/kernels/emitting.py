"""Steps written out as LLVM IR: the one back end there is.

The IR defines ``void NAME(double* x, double* y, ...)`` with all vectors in order. No vector may overlap another.

A compiler takes more than its share of time over a long function, so one of more than ``WHOLE`` instructions is cut
into several that are called in turn; what one piece needs of another goes through scratch memory.

A full Jacobian of a long function would be far longer than the function. With ``Columns`` its columns are directional
derivatives instead: the steps are those of a function with the direction as its second input and the derivative along
it as its second output. What does not depend on the direction is computed once, the rest in a loop over the directions,
``LANES`` of them at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from kempe.kernels.llvm_ir import DECLARATIONS, DOUBLE, LANES, WIDE, Emitter, literal
from kempe.kernels.steps import Steps, vectors_of

#: A function of more steps than this is cut, into pieces of so many. (Pieces this short run as fast when LLVM only
#: translates them, and longer ones do not: what they keep on the stack no longer fits the nearest cache.)
WHOLE, PIECE = 2000, 300


#: The vectors of a function with directions: x, a direction, y, the derivative along it.
_X, _DIRECTION, _Y, _ALONG = range(4)


def _depends(steps: Steps) -> list[bool]:
    """Per step whether it depends on the direction, or belongs to the derivative."""
    wide: list[bool] = []
    for step in steps:
        if step.op in (ca.OP_INPUT, ca.OP_OUTPUT):
            wide.append(step.place[0] in (_DIRECTION, _ALONG))
        else:
            wide.append(any(wide[a] for a in step.args))
    return wide


@dataclass(frozen=True)
class Columns:
    """The pattern of a Jacobian whose columns are computed by directional derivatives.

    ``rows`` and ``columns`` are the places of its non-zeros, ``colours`` the direction in which each column's variable
    is moved (two variables may share one when no row depends on both), ``at`` where the non-zeros begin in ``y``.
    """

    rows: np.ndarray
    columns: np.ndarray
    colours: np.ndarray
    at: int

    @property
    def rounds(self) -> int:
        """How many times LANES directions are taken."""
        return -(-(int(self.colours.max(initial=-1)) + 1) // LANES)

    def directions(self) -> np.ndarray:
        """Per round and variable: by how much each direction moves it."""
        n = len(self.colours)
        found = np.zeros((self.rounds, n, LANES))
        found[self.colours // LANES, np.arange(n), self.colours % LANES] = 1.0
        return found

    def moves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where non-zeros are found among the derivatives of a round, where they go, and the first of each round."""
        colour = self.colours[self.columns]
        order = np.argsort(colour // LANES, kind="stable")
        starts = np.searchsorted((colour // LANES)[order], np.arange(self.rounds + 1))
        return (self.rows * LANES + colour % LANES)[order], self.at + order, starts


class _Pieces:
    """The steps of a function as a sequence of IR functions of bounded length."""

    def __init__(self, steps: Steps, wide: Sequence[bool], names: Sequence[str], shift: Callable[[int], int]) -> None:
        self.steps, self.wide, self._names, self._shift = steps, wide, names, shift
        once = [k for k, s in enumerate(steps) if not wide[k] and s.op not in (ca.OP_INPUT, ca.OP_CONST)]
        once.sort(key=lambda k: not self._turns(k))  # sines of inputs first, to be computed side by side
        again = [k for k, s in enumerate(steps) if wide[k] and s.op not in (ca.OP_INPUT, ca.OP_CONST)]
        self.once, self.again = _cut(once), _cut(again)
        self._home = {k: piece for piece, numbers in enumerate([*self.once, *self.again]) for k in numbers}
        #: Per step that other pieces need: the last of them. What the loop needs from outside is needed to its end.
        self._last: dict[int, int] = {}
        for piece, numbers in enumerate([*self.once, *self.again]):
            for a in {a for k in numbers for a in steps[k].args} & self._home.keys():
                if self._home[a] != piece:
                    self._last[a] = piece if piece < len(self.once) or wide[a] else len(self._home)
        self._places: dict[tuple[str, int], int] = {}
        self._ending: dict[int, list[tuple[tuple[str, int], str]]] = {}  # per piece: what nobody needs after it
        self._free: dict[str, list[int]] = {DOUBLE: [], WIDE: []}
        self.sizes = {DOUBLE: 0, WIDE: 0}

    def bodies(self) -> list[str]:
        """The text of each piece in turn, those of the loop last."""
        found = []
        for piece, numbers in enumerate([*self.once, *self.again]):
            found.append(self._body(numbers))
            for key, kind in self._ending.pop(piece, ()):
                self._free[kind].append(self._places.pop(key))
        return found

    def _turns(self, k: int) -> bool:
        """Whether a step is the sine or cosine of an input."""
        step = self.steps[k]
        return step.op in (ca.OP_SIN, ca.OP_COS) and self.steps[step.args[0]].op == ca.OP_INPUT and not self.wide[k]

    def _body(self, numbers: Sequence[int]) -> str:
        out, known = Emitter(), dict[int, str]()
        out.turn(list(dict.fromkeys(self._value(self.steps[k].args[0], out, known) for k in numbers if self._turns(k))))
        for k in numbers:
            step, wide = self.steps[k], self.wide[k]
            kind = WIDE if wide else DOUBLE
            args = [self._value(a, out, known) for a in step.args]
            if wide:  # a condition stays one truth for all lanes
                first = 1 if step.op == ca.OP_IF_ELSE_ZERO else 0
                pairs = list(zip(args, step.args, strict=True))
                args = args[:first] + [a if self.wide[n] else out.spread(a) for a, n in pairs[first:]]
            if step.op == ca.OP_OUTPUT:
                vector, place = step.place
                out.store(kind, args[0], self._names[vector], place if wide else self._shift(place))
                continue
            known[k] = out.operation(step.op, args, kind)
            if k in self._last:
                self._keep(k, kind, out, known[k])
        return "\n".join(out.lines)

    def _value(self, k: int, out: Emitter, known: dict[int, str]) -> str:
        """The register of a step in the piece being written."""
        step = self.steps[k]
        if step.op == ca.OP_CONST:
            return literal(step.constant)
        if k not in known:
            kind, scratch = (WIDE, "%v") if self.wide[k] else (DOUBLE, "%w")
            if step.op == ca.OP_INPUT:
                known[k] = out.load(kind, self._names[step.place[0]], step.place[1])
            else:
                known[k] = out.load(kind, scratch, self._places["value", k])
                if ("guard", k) in self._places:
                    out.guards[known[k]] = out.truth_of(out.load(DOUBLE, "%w", self._places["guard", k]))
        return known[k]

    def _keep(self, k: int, kind: str, out: Emitter, value: str) -> None:
        """Write a value for later pieces to scratch memory, and the condition without which it is zero."""
        out.store(kind, value, "%v" if kind == WIDE else "%w", self._new(("value", k), kind))
        if value in out.guards:
            truth = out.register(f"uitofp i1 {out.guards[value]} to double")
            out.store(DOUBLE, truth, "%w", self._new(("guard", k), DOUBLE))

    def _new(self, key: tuple[str, int], kind: str) -> int:
        """A place in scratch memory until the last piece that needs what is kept there."""
        if not self._free[kind]:
            self._free[kind].append(self.sizes[kind])
            self.sizes[kind] += 1
        self._places[key] = self._free[kind].pop()
        self._ending.setdefault(self._last[key[1]], []).append((key, kind))
        return self._places[key]


def _cut(numbers: list[int]) -> list[list[int]]:
    size = PIECE if len(numbers) > WHOLE else WHOLE
    return [numbers[k : k + size] for k in range(0, len(numbers), size)]


_PLAIN_SIGNATURE = "ptr noalias nocapture readonly %x, ptr noalias nocapture writeonly %y"
_SCRATCH = "ptr noalias nocapture %w, ptr noalias nocapture %v"


def _signature(names: Sequence[str], steps: Steps) -> str:
    """The parameters of a function: its vectors, with what is done to them."""
    read, written = vectors_of(steps, ca.OP_INPUT), vectors_of(steps, ca.OP_OUTPUT)
    only = [
        "" if k in read and k in written else " writeonly" if k in written else " readonly" for k in range(len(names))
    ]
    return ", ".join(f"ptr noalias nocapture{word} {name}" for word, name in zip(only, names, strict=True))


def emit(steps: Steps, name: str = "kernel", columns: Columns | None = None) -> str:
    """The LLVM IR of steps; with ``columns`` they are those of a function with directions."""
    added, at = (0, 0) if columns is None else (len(columns.rows), columns.at)
    wide = [False] * len(steps) if columns is None else _depends(steps)
    count = 1 + max((s.place[0] for s in steps if s.op in (ca.OP_INPUT, ca.OP_OUTPUT)), default=1)
    names = [f"%x{k}" for k in range(count)] if columns is None else ["%x", "%s", "%y", "%r"]
    signature = _signature(names, steps)
    pieces = _Pieces(steps, wide, names, lambda place: place if place < at else place + added)
    bodies = pieces.bodies()
    if columns is None and len(bodies) <= 1:
        body = "\n".join(bodies)
        return f"{DECLARATIONS}\ndefine void @{name}({signature}) nounwind {{\nentry:\n{body}\n  ret void\n}}\n"
    text = [DECLARATIONS]
    for k, body in enumerate(bodies):
        text.append(
            f"define internal void @{name}.{k}({signature}, {_SCRATCH}) nounwind noinline "
            f"{{\nentry:\n{body}\n  ret void\n}}"
        )
    if columns is None:
        text.append(_main(name, pieces, signature, names))
    else:
        rows = vectors_of(steps, ca.OP_OUTPUT).get(_ALONG, 0)
        text += [*_tables(columns), _main(name, pieces, _PLAIN_SIGNATURE, names, columns, rows)]
    return "\n".join(text) + "\n"


def _tables(columns: Columns) -> list[str]:
    """What the loop over the directions reads, as constants."""
    numbers = ", ".join(f"double {literal(value)}" for value in columns.directions().ravel().tolist())
    size = columns.rounds * len(columns.colours) * LANES
    text = [f"@directions = internal constant [{size} x double] [{numbers}], align 64"]
    for label, values in zip(("sources", "targets", "starts"), columns.moves(), strict=True):
        listed = ", ".join(f"i64 {value}" for value in values.tolist())
        text.append(f"@{label} = internal constant [{len(values)} x i64] [{listed}]")
    return text


def _main(
    name: str, pieces: _Pieces, signature: str, names: Sequence[str], columns: Columns | None = None, rows: int = 0
) -> str:
    """The function that calls the pieces, and those of the loop once for each round of directions.

    All ``rows`` of the derivative along a direction are written, those without non-zeros as well.
    """

    def calls(first: int, count: int, directions: str) -> list[str]:
        given = ", ".join(f"ptr {directions if k == '%s' else k}" for k in names)
        return [f"  call void @{name}.{k}({given}, ptr %w, ptr %v)" for k in range(first, first + count)]

    lines = [
        f"define void @{name}({signature}) nounwind {{",
        "entry:",
        f"  %w = alloca double, i64 {max(pieces.sizes[DOUBLE], 1)}, align 64",
        f"  %v = alloca {WIDE}, i64 {max(pieces.sizes[WIDE], 1)}, align 64",
        f"  %r = alloca {WIDE}, i64 {max(rows, 1)}, align 64",
        *calls(0, len(pieces.once), "null"),
    ]
    if columns is None or columns.rounds == 0:
        return "\n".join([*lines, "  ret void", "}"])
    step = len(columns.colours) * LANES
    lines += [
        "  br label %round",
        "round:",
        "  %k = phi i64 [0, %entry], [%k.next, %moved]",
        f"  %offset = mul i64 %k, {step}",
        "  %d = getelementptr double, ptr @directions, i64 %offset",
        *calls(len(pieces.once), len(pieces.again), "%d"),
        "  %k.next = add i64 %k, 1",
        "  %first.at = getelementptr i64, ptr @starts, i64 %k",
        "  %last.at = getelementptr i64, ptr @starts, i64 %k.next",
        "  %first = load i64, ptr %first.at",
        "  %last = load i64, ptr %last.at",
        "  br label %move",
        "move:",
        "  %i = phi i64 [%first, %round], [%i.next, %moving]",
        "  %more = icmp slt i64 %i, %last",
        "  br i1 %more, label %moving, label %moved",
        "moving:",
        "  %source.at = getelementptr i64, ptr @sources, i64 %i",
        "  %target.at = getelementptr i64, ptr @targets, i64 %i",
        "  %source = load i64, ptr %source.at",
        "  %target = load i64, ptr %target.at",
        "  %from = getelementptr double, ptr %r, i64 %source",
        "  %to = getelementptr double, ptr %y, i64 %target",
        "  %moved.value = load double, ptr %from",
        "  store double %moved.value, ptr %to",
        "  %i.next = add i64 %i, 1",
        "  br label %move",
        "moved:",
        f"  %again = icmp slt i64 %k.next, {columns.rounds}",
        "  br i1 %again, label %round, label %done",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)
