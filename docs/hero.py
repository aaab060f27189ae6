"""Draws the moving mechanism of README and front page, ``_static/walker.gif``: ``python docs/hero.py``.

Two legs after Theo Jansen (``examples/jansen_leg.py``) on one crank, the second the mirror image of the first.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import kempe as kp

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from jansen_leg import LENGTH, build

LEG = dict(j="pin top", k="pin heel", b="pivot top", c="pivot heel", d="pivot hip", e="top hip", f="hip knee")
LEG |= dict(g="heel knee", h="knee foot", i="heel foot")


def walker() -> kp.Mechanism:
    """The leg of the example, and its mirror image where that leg is half a turn later."""
    half_a_turn_later = build().kinematics([0.0, np.pi])
    m = build()
    m.name = ""
    joints = ("top", "heel", "hip", "knee", "foot")
    there = {name: half_a_turn_later.point(name).position[-1] * (-1, 1) for name in joints}
    points = {name: m.point(f"{name}'", at) for name, at in there.items()}
    points |= {"pivot": m.point("pivot'", (38.0, -7.8), fixed="xy"), "pin": m.parts["pin"]}
    for name, (first, second) in ((name, ends.split()) for name, ends in LEG.items()):
        m.bar(f"{name}'", points[first], points[second], length=LENGTH[name])
    return m


if __name__ == "__main__":
    motion = walker().kinematics(np.linspace(0.0, 2 * np.pi, 37))
    motion.animate(Path(__file__).parent / "_static" / "walker.gif", trace=["foot", "foot'"], seconds=2.2, dpi=72)
