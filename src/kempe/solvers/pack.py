"""Several index arrays in one, with a table of contents in front.

So a model of any structure is one argument of the same type to compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
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


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def window(array: np.ndarray, first: int, last: int) -> np.ndarray:
        """array[first:last]."""
        return array[first:last]

else:

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
