"""Arithmetic on LANES numbers that lie side by side in an array, for numba-compiled solvers.

Numba cannot know that the places a loop reads and writes do not overlap, and takes numbers one by one. These take
LANES of them at once: all are read before one is written. Numbers may be complex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kempe.kernels.llvm_ir import LANES

#: Rows and columns of a tile.
TILE = 4

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def subtract_product(array: np.ndarray, to: int, a: int, b: int) -> None:
        """array[to] -= array[a] * array[b], in all lanes."""
        array[to : to + LANES] -= array[a : a + LANES] * array[b : b + LANES]

    def put_product(array: np.ndarray, to: int, a: int, b: int) -> None:
        """array[to] = array[a] * array[b], in all lanes."""
        array[to : to + LANES] = array[a : a + LANES] * array[b : b + LANES]

    def put_reciprocal(array: np.ndarray, to: int, a: int) -> None:
        """array[to] = 1 / array[a], in all lanes."""
        array[to : to + LANES] = 1.0 / array[a : a + LANES]

    def put(array: np.ndarray, to: int, a: int) -> None:
        """array[to] = array[a], in all lanes."""
        array[to : to + LANES] = array[a : a + LANES]

    def subtract_tiles(array: np.ndarray, to: int, a: int, b: int, row: int) -> None:
        """C -= A B for tiles of a matrix whose rows are as long as ``row``, in all lanes."""
        for i in range(TILE):
            for j in range(TILE):
                for k in range(TILE):
                    target = to + i * row + LANES * j
                    subtract_product(array, target, a + i * row + LANES * k, b + k * row + LANES * j)

    def factor_tile(array: np.ndarray, at: int, row: int) -> None:
        """The factors of a tile in its place, the diagonal as reciprocals."""
        for i in range(TILE):
            own = at + i * row
            put_reciprocal(array, own + LANES * i, own + LANES * i)
            for j in range(i + 1, TILE):
                below = at + j * row
                put_product(array, below + LANES * i, below + LANES * i, own + LANES * i)
                for k in range(i + 1, TILE):
                    subtract_product(array, below + LANES * k, below + LANES * i, own + LANES * k)

    def divide_tile(array: np.ndarray, to: int, by: int, row: int) -> None:
        """A U^-1 in the place of A, with the factors of another tile."""
        for j in range(TILE):
            own = to + j * row
            for i in range(TILE):
                put_product(array, own + LANES * i, own + LANES * i, by + i * row + LANES * i)
                for k in range(i + 1, TILE):
                    subtract_product(array, own + LANES * k, own + LANES * i, by + i * row + LANES * k)

    def reduce_tile(array: np.ndarray, to: int, by: int, row: int) -> None:
        """L^-1 A in the place of A, with the factors of another tile."""
        for i in range(TILE):
            for j in range(i + 1, TILE):
                for k in range(TILE):
                    subtract_product(
                        array, to + j * row + LANES * k, by + j * row + LANES * i, to + i * row + LANES * k
                    )

else:
    _DOUBLE = ir.DoubleType()
    _WIDE = ir.VectorType(_DOUBLE, LANES)
    #: A number in all lanes: one register, or two where it is complex.
    _Parts = list[Any]

    class _Lanes:
        """Reads and writes LANES numbers of an array."""

        def __init__(self, context: Any, builder: Any, kind: Any, array: Any) -> None:
            self.builder = builder
            self.complex = kind.dtype == types.complex128
            data = cgutils.create_struct_proxy(kind)(context, builder, value=array).data
            self.data = builder.bitcast(data, _DOUBLE.as_pointer())
            self.many = ir.VectorType(_DOUBLE, 2 * LANES if self.complex else LANES)

        def _pointer(self, place: Any) -> Any:
            at = self.builder.mul(place, place.type(2)) if self.complex else place
            return self.builder.bitcast(self.builder.gep(self.data, [at]), self.many.as_pointer())

        def read(self, place: Any) -> _Parts:
            """The numbers at a place."""
            whole = self.builder.load(self._pointer(place), align=8)
            if not self.complex:
                return [whole]
            undefined = ir.Constant(self.many, ir.Undefined)
            return [self._shuffled(whole, undefined, range(k, 2 * LANES, 2)) for k in (0, 1)]

        def write(self, place: Any, parts: _Parts) -> None:
            """Put numbers at a place."""
            whole = parts[0]
            if self.complex:
                whole = self._shuffled(parts[0], parts[1], [k for lane in range(LANES) for k in (lane, LANES + lane)])
            self.builder.store(whole, self._pointer(place), align=8)

        def _shuffled(self, one: Any, other: Any, places: Any) -> Any:
            mask = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), [ir.IntType(32)(k) for k in places])
            return self.builder.shuffle_vector(one, other, mask)

    def _product(b: Any, x: _Parts, y: _Parts) -> _Parts:
        if len(x) == 1:
            return [b.fmul(x[0], y[0])]
        real = b.fsub(b.fmul(x[0], y[0]), b.fmul(x[1], y[1]))
        return [real, b.fadd(b.fmul(x[0], y[1]), b.fmul(x[1], y[0]))]

    def _reciprocal(b: Any, x: _Parts) -> _Parts:
        one = ir.Constant(_WIDE, [_DOUBLE(1.0)] * LANES)
        if len(x) == 1:
            return [b.fdiv(one, x[0])]
        square = b.fadd(b.fmul(x[0], x[0]), b.fmul(x[1], x[1]))
        return [b.fdiv(x[0], square), b.fneg(b.fdiv(x[1], square))]

    def _minus_product(b: Any, total: _Parts, x: _Parts, y: _Parts) -> _Parts:
        if len(x) == 1:
            return [_fused(b, b.fneg(x[0]), y[0], total[0])]
        real = _fused(b, x[1], y[1], _fused(b, b.fneg(x[0]), y[0], total[0]))
        return [real, _fused(b, b.fneg(x[1]), y[0], _fused(b, b.fneg(x[0]), y[1], total[1]))]

    def _fused(b: Any, x: Any, y: Any, z: Any) -> Any:
        """The sum x y + z."""
        kind = ir.FunctionType(_WIDE, [_WIDE] * 3)
        return b.call(cgutils.get_or_insert_function(b.module, kind, f"llvm.fmuladd.v{LANES}f64"), [x, y, z])

    def _written(formula: Callable[..., _Parts], array: Any, places: int) -> Any:
        """The signature and code of array[first place] = formula(the other places...)."""

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            lanes = _Lanes(context, builder, sig.args[0], args[0])
            lanes.write(args[1], formula(builder, lanes, *args[1:]))
            return context.get_dummy_value()

        return types.void(array, *[types.int64] * places), codegen

    @intrinsic
    def subtract_product(_: Any, array: Any, to: Any, a: Any, b: Any) -> Any:  # type: ignore[no-redef]
        """array[to] -= array[a] * array[b], in all lanes."""

        def formula(builder: Any, lanes: _Lanes, to: Any, a: Any, b: Any) -> _Parts:
            return _minus_product(builder, lanes.read(to), lanes.read(a), lanes.read(b))

        return _written(formula, array, 3)

    @intrinsic
    def put_product(_: Any, array: Any, to: Any, a: Any, b: Any) -> Any:  # type: ignore[no-redef]
        """array[to] = array[a] * array[b], in all lanes."""
        return _written(lambda builder, lanes, to, a, b: _product(builder, lanes.read(a), lanes.read(b)), array, 3)

    @intrinsic
    def put_reciprocal(_: Any, array: Any, to: Any, a: Any) -> Any:  # type: ignore[no-redef]
        """array[to] = 1 / array[a], in all lanes."""
        return _written(lambda builder, lanes, to, a: _reciprocal(builder, lanes.read(a)), array, 2)

    @intrinsic
    def put(_: Any, array: Any, to: Any, a: Any) -> Any:  # type: ignore[no-redef]
        """array[to] = array[a], in all lanes."""
        return _written(lambda builder, lanes, to, a: lanes.read(a), array, 2)

    class _Tile:
        """A tile of a matrix whose rows are as long as ``row``, in registers."""

        def __init__(self, lanes: _Lanes, at: Any, row: Any) -> None:
            self._lanes, self._at, self._row = lanes, at, row

        def _place(self, i: int, j: int) -> Any:
            b = self._lanes.builder
            return b.add(self._at, b.add(b.mul(self._row, self._row.type(i)), self._at.type(LANES * j)))

        def read(self) -> dict[tuple[int, int], _Parts]:
            """All its numbers."""
            return {(i, j): self._lanes.read(self._place(i, j)) for i in range(TILE) for j in range(TILE)}

        def write(self, numbers: dict[tuple[int, int], _Parts]) -> None:
            """Put all its numbers."""
            for at, parts in numbers.items():
                self._lanes.write(self._place(*at), parts)

    def _on_tiles(formula: Callable[..., None], array: Any, tiles: int) -> Any:
        """The signature and code of what is done to the first of some tiles."""

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            lanes = _Lanes(context, builder, sig.args[0], args[0])
            places = [_Tile(lanes, at, args[-1]) for at in args[1:-1]]
            numbers = [place.read() for place in places]
            formula(builder, *numbers)
            places[0].write(numbers[0])
            return context.get_dummy_value()

        return types.void(array, *[types.int64] * (tiles + 1)), codegen

    def _after(i: int) -> range:
        return range(i + 1, TILE)

    @intrinsic
    def subtract_tiles(_: Any, array: Any, to: Any, a: Any, b: Any, row: Any) -> Any:  # type: ignore[no-redef]
        """C -= A B for tiles of a matrix whose rows are as long as ``row``, in all lanes."""

        def formula(builder: Any, c: Any, a: Any, b: Any) -> None:
            for k in range(TILE):
                for i, j in c:
                    c[i, j] = _minus_product(builder, c[i, j], a[i, k], b[k, j])

        return _on_tiles(formula, array, 3)

    @intrinsic
    def factor_tile(_: Any, array: Any, at: Any, row: Any) -> Any:  # type: ignore[no-redef]
        """The factors of a tile in its place, the diagonal as reciprocals."""

        def formula(builder: Any, a: Any) -> None:
            for i in range(TILE):
                a[i, i] = _reciprocal(builder, a[i, i])
                for j in _after(i):
                    a[j, i] = _product(builder, a[j, i], a[i, i])
                    for k in _after(i):
                        a[j, k] = _minus_product(builder, a[j, k], a[j, i], a[i, k])

        return _on_tiles(formula, array, 1)

    @intrinsic
    def divide_tile(_: Any, array: Any, to: Any, by: Any, row: Any) -> Any:  # type: ignore[no-redef]
        """A U^-1 in the place of A, with the factors of another tile."""

        def formula(builder: Any, a: Any, lu: Any) -> None:
            for j in range(TILE):
                for i in range(TILE):
                    a[j, i] = _product(builder, a[j, i], lu[i, i])
                    for k in _after(i):
                        a[j, k] = _minus_product(builder, a[j, k], a[j, i], lu[i, k])

        return _on_tiles(formula, array, 2)

    @intrinsic
    def reduce_tile(_: Any, array: Any, to: Any, by: Any, row: Any) -> Any:  # type: ignore[no-redef]
        """L^-1 A in the place of A, with the factors of another tile."""

        def formula(builder: Any, a: Any, lu: Any) -> None:
            for i in range(TILE):
                for j in _after(i):
                    for k in range(TILE):
                        a[j, k] = _minus_product(builder, a[j, k], lu[j, i], a[i, k])

        return _on_tiles(formula, array, 2)
