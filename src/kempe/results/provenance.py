"""With what a result was computed."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    found = [("kempe", str(getattr(sys.modules.get("kempe"), "__version__", "unknown")))]
    for name in ("casadi", "numba", "llvmlite", "numpy", "scipy"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "unknown"))
    return tuple(found)


def versions() -> dict[str, Any]:
    """The versions of Kempe and of what it computes with."""
    return {"versions": dict(_versions())}
