"""Random mechanisms with random design parameters, each by its seed.

Seeds below ``FIRST_RUBBING`` draw those of ``tests/references`` (springs, drivers, soft stops, in units of any size),
seeds below ``FIRST_IMPACT`` those of ``tests/nonsmooth`` that rub, and from there on those that collide. Every
parameter is one as drawn: a share of a number, or a place in units of the size of the mechanism. Where there are
joints, one velocity at most is given: more of them would have to fit joints that move with the parameters.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import building
import drawing
import numpy as np
import random_touching
import touching_plans
from designs import Asked, Design
from planar import HOLD
from plans import Link

import kempe as kp

FIRST_RUBBING, FIRST_IMPACT = 1000, 2000
MOST = 6
"""Parameters of a design."""
SHARE, SHARE_OF_SWITCHING = 0.35, 0.6
"""Of the time that the mechanism was drawn for: errors grow with time, those of references too."""

#: Numbers of parts and elements that may be parameters, and places that may.
NUMBERS = {
    "mass", "inertia", "stiffness", "length", "damping", "force", "angle", "torque", "c", "k", "limit", "radius",
    "speed", "amplitude", "restitution", "normal",
}  # fmt: skip
PLACES = {"at", "a", "b"}
Site = tuple[int, tuple[str, ...], int]
"""Which part or element, its field (and a field of that), and which component of a pair."""


def _items(plan: Any) -> list[Any]:
    return [*(plan.parts if hasattr(plan, "parts") else plan.bodies), *plan.elements]


def _sites(plan: Any, places: bool) -> Iterator[Site]:
    """All numbers of a plan that can be varied without its drawing coming apart."""
    for k, item in enumerate(_items(plan)):
        kind = type(item).__name__
        for name, value in vars(item).items():
            if (kind, name) == ("Body", "angle") or (name == "radius" and kind != "Rack"):
                continue  # joints are fixed to bodies as drawn; a radius of zero means something else to a plan
            if name in NUMBERS and isinstance(value, float) and value:
                yield k, (name,), 0
            elif name == "force" and isinstance(value, tuple):
                yield from ((k, (name,), c) for c in (0, 1) if value[c])
            elif name == "friction" and value is not None:
                yield k, (name, "kinetic"), 0
                if value.static > 1.04 * value.kinetic:
                    yield k, (name, "static"), 0
            elif places and name in PLACES and kind in ("Joint", "Spring", "Body"):
                yield from ((k, (name,), c) for c in (0, 1))


def _varied(item: Any, fields: tuple[str, ...], component: int, p: Any, size: float) -> Any:
    """An element with a parameter in place of a number."""
    name, *inner = fields
    value = getattr(item, name)
    if inner:
        return replace(item, **{name: _varied(value, tuple(inner), component, p, size)})
    if isinstance(value, tuple):
        changed = list(value)
        changed[component] = value[component] * p if name == "force" else value[component] + 0.2 * size * (p - 1)
        return replace(item, **{name: tuple(changed)})
    if name == "kinetic":  # the static coefficient follows it
        return replace(item, kinetic=item.kinetic * p, static=item.static * p)
    return replace(item, **{name: value * p})


class _Varied:
    """Puts parameters into a plan, where they were drawn to be."""

    def __init__(self, sites: list[Site], size: float) -> None:
        self.sites, self.size = sites, size

    def __call__(self, m: kp.Mechanism, plan: Any) -> Any:
        items = _items(plan)
        for n, (k, fields, component) in enumerate(self.sites):
            items[k] = _varied(items[k], fields, component, m.parameter(f"design {n}", 1.0), self.size)
        first = "parts" if hasattr(plan, "parts") else "bodies"
        count = len(getattr(plan, first))
        return replace(plan, **{first: items[:count], "elements": items[count:]})


def _asked(design: Design, names: list[tuple[str, str]], rng: np.random.Generator) -> tuple[Asked, ...]:
    """An integral, an end value, an extreme, of coordinates that move, and the force of a joint."""
    m = design.model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.AccuracyWarning)
        glance = m.simulate(design.end, steps=50, tolerance=1e-6, progress=False, **design.options)
    rates = np.array([np.abs(glance.array(v)).max() for _, v in names])
    names = [pair for pair, rate in zip(names, rates, strict=True) if rate > 1e-3 * rates.max()] or names
    (x, _), (_, v), (y, _) = (names[k] for k in rng.integers(len(names), size=3))
    asked: list[Asked] = [("integral", f"{{{x}}}**2"), ("final", f"{{{v}}}"), ("maximum", f"{{{y}}}")]
    joints = [name for name, e in m.elements.items() if type(e).__name__ in ("Revolute", "Link", "Bar")]
    if joints:
        asked.append(("integral", f"{{{rng.choice(joints)}.force}}**2"))
    return tuple(asked)


def _velocities(plan: Any, given: dict[str, float], rng: np.random.Generator) -> dict[str, float]:
    """What of the start velocities of a plan is given: all of bodies that fly, one of a linkage that nobody drives."""
    kinds = {type(item).__name__ for item in plan.elements}
    if not kinds & {"Joint", "Link", "Slider", "Gear", "Rack"} and "Bar" not in {
        type(p).__name__ for p in _items(plan)
    }:
        return given
    moving = [name for name, v in given.items() if abs(v) > 1e-2 * max(map(abs, given.values()))]
    driven = kinds & {"Driver", "Slider", "Motor"} or any(isinstance(e, Link) and e.law != HOLD for e in plan.elements)
    return {} if driven or not moving else {(name := str(rng.choice(moving))): given[name]}


def direction(seed: int, count: int) -> np.ndarray:
    """In which a design is changed."""
    return np.random.default_rng([seed, 1]).uniform(-1.0, 1.0, count)


def random_design(seed: int) -> Design:
    """The design of a seed."""
    rng = np.random.default_rng(seed)
    if seed < FIRST_RUBBING:
        plan, reference = drawing.draw(seed)
        loose = reference.rank == reference.m  # constraints that say things twice fit as drawn only
        sites, size = list(_sites(plan, places=loose)), reference.size
        velocities, pairs = plan.velocities, [(q, v) for q, v, _, _ in reference.observed]
    else:
        plan = random_touching.draw(seed - FIRST_RUBBING)
        sites, size = list(_sites(plan, places=False)), plan.size
        rates = touching_plans.rates(plan)
        velocities = dict(zip(rates, np.ravel([plan.velocities[b.name] for b in plan.bodies]), strict=True))
        pairs = list(zip(touching_plans.coordinates(plan), rates, strict=True))
    chosen = [sites[k] for k in rng.permutation(len(sites))[:MOST]]
    build = building.mechanism if seed < FIRST_RUBBING else touching_plans.mechanism
    share = SHARE if seed < FIRST_RUBBING else SHARE_OF_SWITCHING
    options = {"velocities": _velocities(plan, velocities, rng)}
    design = Design(build(plan, _Varied(chosen, size)), share * plan.end, (), options)
    return replace(design, asked=_asked(design, pairs, rng))
