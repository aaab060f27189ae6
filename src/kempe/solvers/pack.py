"""Several index arrays in one, with a table of contents in front.

So a model of any structure is one argument of the same type to compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from kempe.solvers.jit import pasted


def pack(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """One int64 array: the places where the parts begin (and the last ends), then the parts."""
    starts = len(arrays) + 1 + np.cumsum([0, *(len(a) for a in arrays)])
    return np.concatenate([starts, *(np.asarray(a) for a in arrays)]).astype(np.int64)


def unpacked(packed: np.ndarray) -> list[np.ndarray]:
    """The parts, as views."""
    starts = packed[: int(packed[0])]
    return [packed[first:last] for first, last in pairwise(starts)]


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def window(array: np.ndarray, first: int, last: int) -> np.ndarray:
        """array[first:last]."""
        return array[first:last]

    def place_of(array: np.ndarray) -> Any:
        """Where a vector is, as a number that a piece takes (without numba: the vector itself)."""
        return array

    def floats_at(place: Any, length: int) -> np.ndarray:
        """The vector of real numbers that is at a place."""
        return place[:length]

else:

    @intrinsic
    def place_of(_: Any, array: Any) -> Any:  # type: ignore[no-redef]
        """Where a vector is, as a number that a piece takes."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, value=args[0]).data
            return builder.ptrtoint(data, cgutils.intp_t)

        return types.int64(array), codegen

    @intrinsic
    def floats_at(_: Any, place: Any, length: Any) -> Any:  # type: ignore[no-redef]
        """The vector of real numbers that is at a place."""
        kind = types.Array(types.float64, 1, "C")

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            view, size = context.make_array(kind)(context, builder), cgutils.intp_t(8)
            view.meminfo, view.parent = (cgutils.get_null_value(x.type) for x in (view.meminfo, view.parent))
            view.nitems, view.shape = args[1], cgutils.pack_array(builder, [args[1]])
            view.itemsize, view.strides = size, cgutils.pack_array(builder, [size])
            view.data = builder.inttoptr(args[0], view.data.type)
            return view._getvalue()

        return kind(types.int64, types.int64), codegen

    @intrinsic
    def window(_: Any, array: Any, first: Any, last: Any) -> Any:
        """array[first:last] of a contiguous vector, for 0 <= first <= last <= its length.

        A slice can do more (count from the end, stop at the end), which is most of the code it compiles to.
        """

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            whole = context.make_array(signature.args[0])(context, builder, value=args[0])
            view = context.make_array(signature.args[0])(context, builder)
            start, end = (context.cast(builder, args[k], signature.args[k], types.intp) for k in (1, 2))
            length = builder.sub(end, start)
            view.meminfo, view.parent, view.itemsize, view.strides = (
                whole.meminfo,
                whole.parent,
                whole.itemsize,
                whole.strides,
            )
            view.nitems, view.shape = length, cgutils.pack_array(builder, [length])
            view.data = builder.gep(whole.data, [start])
            # a function that counts references counts this one too; all others are not asked to
            return impl_ret_borrowed(context, builder, signature.return_type, view._getvalue())

        return array(array, first, last), codegen


@pasted
def part(packed, k):
    """The k-th part as a view."""
    return window(packed, packed[k], packed[k + 1])
