"""Random mechanisms with design parameters: those of ``tests/references`` with some of their numbers made parameters.

Places are given as points of the drawn pose, so that a design is assembled whatever its parameters are, redundant or
not. To be driven, a mechanism gets a driver on each coordinate that is free; to rest, springs towards its drawn pose.
"""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import qr

import kempe as kp
from kempe.simulation.posing import Posed

sys.path.insert(0, str(Path(__file__).parent.parent / "references"))

from building import _Builder
from drawing import FAMILIES, Pen, loads, springs, stops, torsions
from plans import Plan

#: What may be a parameter, of parts and elements.
NUMBERS = ("mass", "inertia", "at", "a", "b", "stiffness", "length", "damping", "force", "limit", "c", "k", "radius")


class _Designed(_Builder):
    """A plan built with some of its numbers as parameters."""

    def __init__(self, plan: Plan, rng: np.random.Generator, count: int) -> None:
        places = [
            (kind, k, f.name, i)
            for kind, items in (("parts", plan.parts), ("elements", plan.elements))
            for k, item in enumerate(items)
            for f in fields(item)
            if f.name in NUMBERS
            for i in _places(getattr(item, f.name))
        ]
        self.chosen = [places[k] for k in rng.permutation(len(places))[:count]]
        self.plan = plan
        super().__init__(plan)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "m":  # the model exists: numbers become its parameters
            for number, (kind, k, field, i) in enumerate(self.chosen):
                items = getattr(self.plan, kind)
                given = getattr(items[k], field)
                old = given if i is None else given[i]
                made = value.parameter(f"design {number}", old)
                new = made if i is None else tuple(made if j == i else x for j, x in enumerate(given))
                items[k] = replace(items[k], **{field: new})


def _places(value: Any) -> list[int | None]:
    """The numbers in a field, those that are zero left alone."""
    if isinstance(value, tuple):
        return [i for i, x in enumerate(value) if x]
    return [None] if isinstance(value, float) and value else []


def drawn(seed: int) -> tuple[kp.Mechanism, np.random.Generator]:
    """A mechanism of any family, with forces, and three parameters."""
    rng = np.random.default_rng(seed)
    names = list(FAMILIES)
    pen = Pen(rng, str(rng.choice(names, p=[FAMILIES[name][1] for name in names])))
    pen.spread = min(pen.spread, 0.5)
    FAMILIES[pen.plan.family][0](pen)
    for dress in (springs, torsions, loads, stops):
        dress(pen)
    return _Designed(pen.plan, rng, 3).m, rng


def free_coordinates(m: kp.Mechanism) -> list[str]:
    """Coordinates that describe the motion that joints leave open, angles before lengths."""
    posed = Posed(m)
    J = posed.linear(posed.drawn, 0.0)[1] * posed.scale / posed.row_scale[:, None]
    _, s, Vt = np.linalg.svd(J)
    free = Vt[int((s > 1e-8).sum()) :]
    if not len(free):
        return []
    order = qr(free * np.where(posed.system.is_angle, 2.0, 1.0), pivoting=True, mode="r")[1]
    return [posed.system.names[k][0] for k in sorted(order[: len(free)])]


def driven_design(seed: int) -> kp.Mechanism:
    """A random mechanism that is driven wherever it is free."""
    m, rng = drawn(seed)
    speed, posed = m.parameter("speed", 0.5), Posed(m)
    for k, name in enumerate(free_coordinates(m)):
        part, _, channel = name.rpartition(".")
        quantity = getattr(m[part], channel)
        begin, rate = float(posed.drawn[posed.system.index(name)]), float(rng.uniform(-1, 1))
        m.driver(f"driver {k}", quantity, lambda t, b=begin, r=rate: b + r * speed * t + 0.1 * kp.sin(speed * t))
    return m


def resting_design(seed: int) -> kp.Mechanism:
    """A random mechanism that rests near where it is drawn."""
    m, rng = drawn(seed)
    k = m.parameter("well", 30.0)
    posed = Posed(m)
    for (name, *_), value in zip(posed.system.names, posed.drawn, strict=True):
        part, _, channel = name.rpartition(".")
        about, share = float(value) + 0.05 * float(rng.normal()), float(rng.uniform(0.5, 2.0))
        channels = [c for c, *_ in m[part].channels]

        def well(
            b: Any, channel: str = channel, about: float = about, share: float = share, all_: Any = channels
        ) -> Any:
            push = -share * k * (getattr(b, channel) - about)
            return tuple(push if c == channel else 0.0 for c in all_)

        m.user_force(f"well {name.replace('.', ' ')}", well, m[part])
    return m
