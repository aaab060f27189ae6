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


# Compiled functions allocate nothing, so they do without reference counting (_nrt): it would be a third of their code.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_INNER = {**_OPTIONS, "no_cfunc_wrapper": True}


def entry(function: Callable[..., Any]) -> Any:
    """Compile what Python calls: no interpreter lock, no exceptions on division, kept on disk."""
    return _versioned(numba.njit(cache=True, **_OPTIONS)(function))


def compiled(function: Callable[..., Any]) -> Any:
    """Compile what compiled functions call; the entry that calls it keeps it on disk."""
    return numba.njit(**_INNER)(function)


def pasted(function: Callable[..., Any]) -> Any:
    """Compile into every caller: for functions that return a view, which compiled functions cannot."""
    return numba.njit(inline="always", **_OPTIONS)(function)


def allocating(function: Callable[..., Any]) -> Any:
    """As ``entry``, for functions that allocate."""
    return _versioned(numba.njit(cache=True, nogil=True, error_model="numpy")(function))
