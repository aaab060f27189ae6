"""Gradients of all designs by differences, kept in ``gradient_references.json`` and ``random_references.json``.

``python tests/design/gradient_references.py [NAME...]`` makes the first anew, ``... random [SEED...]`` the second, with
``tests/references`` and ``tests/nonsmooth`` on the path.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from designs import Design
from differences import Motion, directional, gradients, scaled
from random_motions import FIRST_IMPACT, FIRST_RUBBING, direction, random_design
from smooth_designs import SMOOTH
from switching_designs import SWITCHING

import kempe as kp

FILE = Path(__file__).with_name("gradient_references.json")
RANDOM_FILE = Path(__file__).with_name("random_references.json")
DESIGNS: dict[str, Callable[[], Design]] = {build.__name__: build for build in (*SMOOTH, *SWITCHING)}
WORTH = 1e-8
#: Random designs that are left out: impacts in which sliding reverses, whose derivative is refused;
REFUSED = (2011, 2017, 2030, 2032)
#: loads of friction that change their sign, or surfaces that lose contact while they rub, where gradients have five
#: digits; functionals that are degenerate or that differences do not resolve; and motions with nearly dependent joints.
LESS_TRUE = (2005, 2012, 2019, 2033, 58, 61, 79, 85, 144)
SEEDS = (*range(160), *range(FIRST_RUBBING, FIRST_RUBBING + 45), *range(FIRST_IMPACT, FIRST_IMPACT + 45))


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


@dataclass(frozen=True)
class Along:
    """Values (F,), their derivatives in the direction of a seed, what those may be off, and what counts as one."""

    values: np.ndarray
    slopes: np.ndarray
    off: np.ndarray
    unit: np.ndarray

    @property
    def size(self) -> np.ndarray:
        """What errors of the derivatives are shares of: parameters are one as drawn."""
        return np.maximum(self.unit, np.abs(self.slopes))

    @property
    def known(self) -> np.ndarray:
        """Which derivatives are a measure for others."""
        return self.off <= WORTH * self.size


def random_reference(seed: int) -> Along:
    """What is kept for a random design."""
    return Along(*(np.array(part) for part in json.loads(RANDOM_FILE.read_text())[str(seed)]))


def known_seeds() -> list[int]:
    """Two hundred seeds with references worth their name: 135 of smooth motions and soft stops, 32 rub, 33 collide."""
    kept = {int(seed): Along(*map(np.array, parts)) for seed, parts in json.loads(RANDOM_FILE.read_text()).items()}
    good = [s for s, along in kept.items() if along.known.all() and s not in REFUSED + LESS_TRUE]
    groups = ((0, FIRST_RUBBING, 135), (FIRST_RUBBING, FIRST_IMPACT, 32), (FIRST_IMPACT, 2 * FIRST_IMPACT, 33))
    return [seed for low, high, count in groups for seed in [s for s in good if low <= s < high][:count]]


def units(design: Design) -> np.ndarray:
    """What counts as one in each functional of a design."""
    motion = Motion(design, design.parameters)
    return np.array([motion.unit(asked) for asked in design.asked])


def main(names: list[str]) -> None:
    """Compute all references, or those that are named, and keep them."""
    kept = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in names or DESIGNS:
        design = DESIGNS[name]()
        found = computed(design)
        kept[name] = {
            "parameters": list(design.parameters),
            "asked": [" ".join(map(str, asked)) for asked in design.asked],
            "values": found.values.tolist(),
            "gradients": found.gradients.tolist(),
            "off": found.off,
        }
        print(f"{name}: known to {found.off:.0e}", flush=True)
        FILE.write_text(json.dumps({name: kept[name] for name in DESIGNS if name in kept}, indent=1) + "\n")


def random_main(seeds: Sequence[int]) -> None:
    """Compute those of random designs, and keep them."""
    kept = json.loads(RANDOM_FILE.read_text()) if RANDOM_FILE.exists() else {}
    for seed in seeds or [seed for seed in SEEDS if str(seed) not in kept]:
        try:
            design = random_design(seed)
            found = Along(*directional(design, direction(seed, len(design.parameters))), units(design))
        except kp.KempeError as error:
            print(f"{seed}: {error}", flush=True)
            continue
        kept[str(seed)] = [part.tolist() for part in vars(found).values()]
        print(f"{seed}: known to {(found.off / found.size).max():.0e}", flush=True)
        RANDOM_FILE.write_text(json.dumps(kept) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["random"]:
        random_main([int(seed) for seed in sys.argv[2:]])
    else:
        main(sys.argv[1:])
