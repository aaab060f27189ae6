"""Gradients of two hundred random mechanisms: springs, drivers, soft stops, dry friction, impacts.

    python tests/design/gradient_sweep.py [SEED...]

looks at all of them, with ``tests/references`` and ``tests/nonsmooth`` on the path; ``make test`` takes a share.
"""

from __future__ import annotations

import sys

import numpy as np
from agreeing import EQUAL, TRUE, differentiated
from gradient_references import known_seeds, random_reference
from random_motions import direction, random_design


def compare(seed: int) -> None:
    """Direct, adjoint and kept differences agree."""
    design, true = random_design(seed), random_reference(seed)
    along = direction(seed, len(design.parameters))
    values, direct = differentiated(design, "direct")
    _, adjoint = differentiated(design, "adjoint")
    assert (np.abs(values - true.values) <= TRUE * true.size).all(), seed
    assert (np.abs((direct - adjoint) @ along) <= EQUAL * true.size).all(), seed
    assert (np.abs(direct @ along - true.slopes) <= TRUE * true.size).all(), seed


if __name__ == "__main__":
    for seed in [int(word) for word in sys.argv[1:]] or known_seeds():
        compare(seed)
        print(seed, flush=True)
