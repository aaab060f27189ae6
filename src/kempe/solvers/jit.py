"""The decorator of every compiled solver: machine code without the interpreter lock, kept between processes.

Numba checks only the file a function stands in before it trusts a cached copy, although code of other files is
compiled into it. Here the cache's version is a digest of all solver sources, so an edit anywhere makes all stale.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@cache
def _digest() -> str:
    here = Path(__file__).parent
    sources = [*sorted(here.glob("*.py")), here.parent / "kernels" / "call.py"]
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


def _versioned(dispatcher: Any) -> Any:
    index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if index is not None and hasattr(index, "_version"):
        index._version = f"{numba.__version__} {_digest()}"
    return dispatcher


def is_kept(dispatcher: Any) -> bool:
    """Whether a compiled function is in the cache already (if that cannot be told: yes)."""
    index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    load = getattr(index, "_load_index", None)
    return True if load is None else bool(load())


def compiled(function: Callable[..., Any]) -> Any:
    """Compile with numba: no interpreter lock, no exceptions on division, cached on disk."""
    return _versioned(numba.njit(nogil=True, cache=True, error_model="numpy")(function))


def inlined(function: Callable[..., Any]) -> Any:
    """As ``compiled``, and always inlined in its compiled caller: for a large function with one caller."""
    return _versioned(numba.njit(nogil=True, cache=True, error_model="numpy", forceinline=True)(function))


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def borrow(value: Any) -> Any:
        """The value itself."""
        return value

else:

    @intrinsic
    def borrow(typingctx: Any, value: Any) -> Any:
        """The same arrays without reference counting; the caller keeps them alive.

        Every view of a counted array costs two atomic operations, which add up to more than the arithmetic of a
        small mechanism. Entry points borrow their arguments once.
        """

        def uncounted(context: Any, builder: Any, kind: Any, item: Any) -> Any:
            if isinstance(kind, types.Array):
                array = cgutils.create_struct_proxy(kind)(context, builder, value=item)
                array.meminfo = cgutils.get_null_value(array.meminfo.type)
                array.parent = cgutils.get_null_value(array.parent.type)
                return array._getvalue()
            if isinstance(kind, types.BaseTuple):
                members: Any = kind
                parts = cgutils.unpack_tuple(builder, item)
                return context.make_tuple(
                    builder, kind, [uncounted(context, builder, k, v) for k, v in zip(members, parts, strict=True)]
                )
            return item

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return uncounted(context, builder, signature.args[0], args[0])

        return value(value), codegen
