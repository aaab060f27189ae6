"""Many random plates, frames and doors beside elastic structures worked out apart.

    python tests/redundancy/sweep.py 0 300

prints what is off, and the largest errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from elastic import random_hung
from hinged import random_door


def plate(seed: int) -> float:
    """The largest error of the rods along a swing, by the largest pull."""
    hung = random_hung(np.random.default_rng(seed))
    found = hung.mechanism().simulate(np.linspace(0.0, 0.5, 6))
    exact = hung.forces(found.array("plate.x"), found.array("plate.vx"))
    pulled = np.column_stack([found.array(f"lambda.rod {k}.length") for k in range(len(hung.places))])
    return float(np.abs(pulled - exact).max() / np.abs(exact).max())


def door(seed: int) -> float:
    """The largest error of the hinges when a door is let go, by the largest force."""
    made = random_door(np.random.default_rng(seed))
    found = made.mechanism().simulate([0.0, 1e-3])
    forces, moments = made.reactions()
    size, off = max(np.abs(forces).max(), np.abs(moments).max()), 0.0
    for k in range(len(made.places)):
        reaction = found.reaction(f"hinge {k}", on="door")
        off = max(off, np.abs(reaction.force[0] - forces[k]).max(), np.abs(reaction.moment[0] - moments[k]).max())
    return float(off / size)


#: What is tried, and the error from which it is said.
TRIED: dict[str, tuple[Callable[[int], float], float]] = {"plate": (plate, 1e-5), "door": (door, 1e-4)}


def main(first: int, last: int) -> int:
    """Try all seeds; how many are off."""
    wrong = 0
    for what, (error, limit) in TRIED.items():
        errors = np.array([error(seed) for seed in range(first, last)])
        beyond = np.flatnonzero(~(errors < limit))
        wrong += len(beyond)
        for k in beyond:
            print(f"{what} {first + k}: {errors[k]:.2e}")
        print(f"{what}: {len(errors)} tried, {len(beyond)} beyond {limit:g}, the largest error {errors.max():.2e}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])) > 0)
