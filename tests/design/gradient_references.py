"""Gradients of all designs by differences, kept in ``gradient_references.json``.

``python tests/design/gradient_references.py`` makes it anew, a name behind it one entry.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from designs import Design
from differences import gradients, scaled
from smooth_designs import SMOOTH
from switching_designs import SWITCHING

FILE = Path(__file__).with_name("gradient_references.json")
DESIGNS: dict[str, Callable[[], Design]] = {build.__name__: build for build in (*SMOOTH, *SWITCHING)}


@dataclass(frozen=True)
class Reference:
    """Values (F,), gradients (F, P) and how far the latter may be off, in shares as ``scaled`` has them."""

    values: np.ndarray
    gradients: np.ndarray
    off: float


def reference(name: str) -> Reference:
    """What is kept for a design."""
    kept = json.loads(FILE.read_text())[name]
    return Reference(np.array(kept["values"]), np.array(kept["gradients"]), kept["off"])


def computed(design: Design) -> Reference:
    """The same, computed now."""
    values, slopes, errors = gradients(design)
    return Reference(values, slopes, float(scaled(errors, slopes, np.array([*design.parameters.values()])).max()))


def main() -> None:
    """Compute all, or those that are named, and keep them."""
    kept = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in sys.argv[1:] or DESIGNS:
        design = DESIGNS[name]()
        found = computed(design)
        kept[name] = {
            "parameters": list(design.parameters),
            "asked": [" ".join(map(str, asked)) for asked in design.asked],
            "values": found.values.tolist(),
            "gradients": found.gradients.tolist(),
            "off": found.off,
        }
        print(f"{name}: known to {found.off:.0e}")
    FILE.write_text(json.dumps({name: kept[name] for name in DESIGNS}, indent=1) + "\n")


if __name__ == "__main__":
    main()
