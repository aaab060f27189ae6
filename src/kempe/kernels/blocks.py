"""Elimination of a block of unknowns as straight machine code, for LANES equal blocks side by side in vector registers.

A large mechanism has many parts of the same kind, and the matrix of its linear system many blocks with the same
pattern. A ``Shape`` is such a pattern: some unknowns that are eliminated (pivots), the later ones they are coupled
with (the border), and which of them meet. Numbers of LANES blocks lie beside each other: the k-th number of the first
block, of the second, and so on, then the next number of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kempe.kernels.compiler import Code, code_of
from kempe.kernels.lanes import TILE
from kempe.kernels.llvm_ir import LANES, WIDE

_ONES = f"<{', '.join(['double 1.0'] * LANES)}>"
_DECLARATIONS = f"declare {WIDE} @llvm.fmuladd.v{LANES}f64({WIDE}, {WIDE}, {WIDE})\n"


@dataclass(frozen=True)
class Shape:
    """The pattern of one step of elimination.

    ``above`` says, per pivot and then per unknown of the border, which of the pivots before it meet it, as bits. The
    pattern contains its own fill and is that of the transposed matrix too.
    """

    pivots: int
    above: tuple[int, ...]

    @property
    def border(self) -> int:
        """How many unknowns are in the border."""
        return len(self.above) - self.pivots

    @cached_property
    def upper(self) -> list[tuple[int, int]]:
        """The entries above the diagonal, column by column: the order in which the factors hold them."""
        return [(i, j) for j, bits in enumerate(self.above) for i in range(self.pivots) if bits >> i & 1]

    @cached_property
    def meetings(self) -> list[tuple[int, int]]:
        """The pairs of unknowns in the border that some pivot couples, counted from its beginning."""
        bits = self.above[self.pivots :]
        return [(j, k) for j, one in enumerate(bits) for k, other in enumerate(bits) if one & other]

    def row(self, i: int) -> list[int]:
        """The columns of a row above the diagonal."""
        return [j for j in range(i + 1, len(self.above)) if self.above[j] >> i & 1]

    @property
    def entries(self) -> int:
        """How many numbers the factors have: the pivots' reciprocals, U, and the transpose of L."""
        return self.pivots + 2 * len(self.upper)

    @cached_property
    def operations(self) -> int:
        """How many multiplications a factorisation takes."""
        counts = [len(self.row(i)) for i in range(self.pivots)]
        return sum(count * (count + 1) for count in counts)

    @property
    def front(self) -> tuple[int, int]:
        """Pivots and border in whole tiles."""
        return -(-self.pivots // TILE) * TILE, -(-self.border // TILE) * TILE


class _Text:
    """The lines of a function on LANES numbers at a time."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def value(self, right_hand_side: str) -> str:
        """A new register."""
        name = f"%r{len(self.lines)}"
        self.lines.append(f"  {name} = {right_hand_side}")
        return name

    def at(self, array: str, place: int, kind: str = WIDE) -> str:
        """The address of the k-th LANES numbers."""
        return self.value(f"getelementptr {kind}, ptr {array}, i64 {place}")

    def load(self, array: str, place: int, kind: str = WIDE) -> str:
        """LANES numbers (they begin anywhere)."""
        return self.value(f"load {kind}, ptr {self.at(array, place, kind)}, align 8")

    def store(self, value: str, array: str, place: int) -> None:
        """Put LANES numbers."""
        self.lines.append(f"  store {WIDE} {value}, ptr {self.at(array, place)}, align 8")

    def minus_product(self, a: str, b: str, c: str) -> str:
        """A - b c; with nothing to begin with, -b c."""
        minus = self.value(f"fneg {WIDE} {b}")
        if not a:
            return self.value(f"fmul {WIDE} {minus}, {c}")
        return self.value(f"call {WIDE} @llvm.fmuladd.v{LANES}f64({WIDE} {minus}, {WIDE} {c}, {WIDE} {a})")

    def gather(self, array: str, place: int) -> str:
        """The numbers whose places, counted from an array, are the k-th LANES of the index."""
        result = "poison"
        for lane in range(LANES):
            where = self.value(f"load i64, ptr {self.at('%index', LANES * place + lane, 'i64')}")
            source = self.value(f"getelementptr double, ptr {array}, i64 {where}")
            value = self.value(f"load double, ptr {source}")
            result = self.value(f"insertelement {WIDE} {result}, double {value}, i32 {lane}")
        return result

    def add_at(self, value: str, array: str, place: int) -> None:
        """Add numbers where the index says, one after the other: two may go to the same place."""
        for lane in range(LANES):
            where = self.value(f"load i64, ptr {self.at('%index', LANES * place + lane, 'i64')}")
            target = self.value(f"getelementptr double, ptr {array}, i64 {where}")
            part = self.value(f"extractelement {WIDE} {value}, i32 {lane}")
            total = self.value(f"fadd double {self.value(f'load double, ptr {target}')}, {part}")
            self.lines.append(f"  store double {total}, ptr {target}")


_GIVEN = "ptr noalias nocapture %lu, ptr noalias nocapture %w, ptr noalias nocapture readonly %index"
#: Pieces end when they have so many lines.
PIECE = 2000


@dataclass(frozen=True)
class BlockKernel:
    """Machine code of ``void f(double* factors, double* vector, int64* index)`` for LANES blocks of a shape."""

    code: Code
    make: Callable[[Shape], BlockKernel]
    shape: Shape

    @property
    def address(self) -> int:
        """Where the machine code is, in this process."""
        return self.code.address

    def __reduce__(self) -> Any:
        return self.make, (self.shape,)


def _compiled(pieces: Sequence[_Text]) -> Code:
    """Functions that are called in turn (a compiler takes more than its share of time over a long one)."""
    text = [_DECLARATIONS]
    for k, piece in enumerate(pieces):
        body = "\n".join(piece.lines)
        text.append(f"define internal void @kernel.{k}({_GIVEN}) nounwind noinline {{\nentry:\n{body}\n  ret void\n}}")
    calls = "\n".join(f"  call void @kernel.{k}(ptr %lu, ptr %w, ptr %index)" for k in range(len(pieces)))
    text.append(f"define void @kernel({_GIVEN}) nounwind {{\nentry:\n{calls}\n  ret void\n}}")
    return code_of("\n".join(text) + "\n")


def factor_kernel(shape: Shape) -> BlockKernel:
    """Machine code that turns the numbers of LANES blocks into their factors.

    The vector gets what is to be added to the later unknowns of each block: border times border numbers.
    """
    return BlockKernel(_compiled(_Elimination(shape).pieces), factor_kernel, shape)


def forward_kernel(shape: Shape) -> BlockKernel:
    """Machine code for L y = b: the pivots of the vector in place; the index says where the border is."""
    return BlockKernel(_compiled([_forward(shape)]), forward_kernel, shape)


def backward_kernel(shape: Shape) -> BlockKernel:
    """Machine code for U x = y: the pivots of the vector in place; the index says where the border is."""
    return BlockKernel(_compiled([_backward(shape)]), backward_kernel, shape)


class _Elimination:
    """The factorisation of a block, tile by tile: what a tile needs of those before fits into the registers."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.pieces = [_Text()]
        p, n = shape.pivots, len(shape.above)
        tiles = [range(k, min(k + TILE, p)) for k in range(0, p, TILE)]
        border = [range(k, min(k + TILE, n)) for k in range(p, n, TILE)]
        self._upper_at = {pair: p + k for k, pair in enumerate(shape.upper)}
        for number, tile in enumerate(tiles):
            self._eliminate(tile, tile)
            for other in [*tiles[number + 1 :], *border]:
                self._eliminate(tile, other)
        for one in border:
            for other in border:
                self._pass_on(one, other)

    def _meets(self, i: int, j: int) -> bool:
        return bool(self.shape.above[max(i, j)] >> min(i, j) & 1)

    def _place(self, i: int, j: int) -> tuple[str, int]:
        p = self.shape.pivots
        if min(i, j) >= p:
            return "%w", (i - p) * self.shape.border + j - p
        if i == j:
            return "%lu", i
        return "%lu", self._upper_at[i, j] if i < j else self._upper_at[j, i] + len(self.shape.upper)

    def _load(self, text: _Text, i: int, j: int) -> str:
        return text.load(*self._place(i, j))

    def _text(self) -> _Text:
        if len(self.pieces[-1].lines) > PIECE:
            self.pieces.append(_Text())
        return self.pieces[-1]

    def _reduce(self, text: _Text, value: dict[tuple[int, int], str], pivots: Iterable[int]) -> None:
        """Subtract from values what pivots eliminated before add to them."""
        rows, columns = sorted({i for i, _ in value}), sorted({j for _, j in value})
        for k in pivots:
            lower = {i: self._load(text, i, k) for i in rows if self._meets(i, k)}
            upper = {j: self._load(text, k, j) for j in columns if self._meets(k, j)}
            for i, j in value:
                if i in lower and j in upper:
                    value[i, j] = text.minus_product(value[i, j], lower[i], upper[j])

    def _eliminate(self, tile: range, other: range) -> None:
        """The rows and columns of a tile of pivots, as far as they meet another tile."""
        text = self._text()
        right = {(i, j): self._load(text, i, j) for i in tile for j in other if i < j and self._meets(i, j)}
        below = {(j, i): self._load(text, j, i) for i in tile for j in other if i < j and self._meets(i, j)}
        on = {(i, i): self._load(text, i, i) for i in tile if tile == other}
        for value in (right, below, on):
            self._reduce(text, value, range(tile.start))
        known = right | below | on
        for i in tile:
            if tile == other:
                reciprocal = text.value(f"fdiv {WIDE} {_ONES}, {known[i, i]}")
                text.store(reciprocal, "%lu", i)
            else:
                reciprocal = text.load("%lu", i)
            row = [j for j in other if j > i and self._meets(i, j)]
            for j in row:
                known[j, i] = text.value(f"fmul {WIDE} {known[j, i]}, {reciprocal}")
                text.store(known[i, j], *self._place(i, j))
                text.store(known[j, i], *self._place(j, i))
            for k in (k for k in tile if k > i and self._meets(i, k)):
                lower, upper = (known.get(at) or self._load(text, *at) for at in ((k, i), (i, k)))
                for j in row:
                    if j > k:
                        known[k, j] = text.minus_product(known[k, j], lower, known[i, j])
                        known[j, k] = text.minus_product(known[j, k], known[j, i], upper)
                if tile == other:
                    known[k, k] = text.minus_product(known[k, k], lower, upper)

    def _pass_on(self, one: range, other: range) -> None:
        """What the block adds to the later unknowns."""
        text = self._text()
        p, above = self.shape.pivots, self.shape.above
        value = {(i, j): "" for i in one for j in other if above[i] & above[j]}
        self._reduce(text, value, range(p))
        for at, register in value.items():
            text.store(register, *self._place(*at))


def _forward(shape: Shape) -> _Text:
    text, p, above = _Text(), shape.pivots, shape.above
    lower_at = {pair: p + len(shape.upper) + k for k, pair in enumerate(shape.upper)}
    y = [text.load("%w", i) for i in range(p)] + [""] * shape.border
    for i in range(p):
        for j in range(i + 1, len(above)):
            if above[j] >> i & 1:
                y[j] = text.minus_product(y[j], text.load("%lu", lower_at[i, j]), y[i])
        text.store(y[i], "%w", i)
    for j in range(shape.border):
        text.add_at(y[p + j], "%w", j)
    return text


def _backward(shape: Shape) -> _Text:
    text, p = _Text(), shape.pivots
    upper_at = {pair: p + k for k, pair in enumerate(shape.upper)}
    x = [text.load("%w", i) for i in range(p)] + [text.gather("%w", j) for j in range(shape.border)]
    for j in reversed(range(len(shape.above))):
        if j < p:
            x[j] = text.value(f"fmul {WIDE} {x[j]}, {text.load('%lu', j)}")
            text.store(x[j], "%w", j)
        for i in reversed(range(min(j, p))):
            if shape.above[j] >> i & 1:
                x[i] = text.minus_product(x[i], text.load("%lu", upper_at[i, j]), x[j])
    return text
