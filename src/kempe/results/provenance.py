"""With what a result was computed."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    found = []
    for name in ("kempe", "casadi", "numba", "llvmlite", "numpy", "scipy"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:  # run from a source tree that is not installed
            found.append((name, "unknown"))
    return tuple(found)


def versions() -> dict[str, Any]:
    """The versions of Kempe and of what it computes with."""
    return {"versions": dict(_versions())}
