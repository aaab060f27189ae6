"""Where something sticks, behind the curves that belong to it; and impulses, where velocities jump."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from kempe.elements.base import Element
from kempe.results import Result
from kempe.results.events import Impact
from kempe.view.style import FORCE, plain, tint

STICK = "stick"
#: What moves by less than this share of its whole way stands still.
STILL = 1e-7
#: How high the mark of the largest impulse is, and how much lower that of the smallest, as shares of the axes.
STEM, LEAST = 0.16, 0.03


def sticking(result: Result) -> dict[str, list[tuple[float, float]]]:
    """The intervals of every element that ever sticks."""
    if result.model is None:
        return {}
    can = [name for name in result.first_modes if STICK in result.model.elements[name].modes]
    found = {name: result.intervals(name, STICK) for name in can}
    return {name: when for name, when in found.items() if when}


def held_by(result: Result, name: str, sticks: Mapping[str, Sequence[tuple[float, float]]]) -> list[str]:
    """The elements whose sticking a quantity shows: its own, those that act on it, and those that hold it still."""
    elements = {} if result.model is None else result.model.elements
    triple = next((names for names in result.columns if name in names), (name,))
    return [
        owner
        for owner, when in sticks.items()
        if name.startswith(f"{owner}.") or triple[0] in _acted_on(elements[owner]) or _still(result, triple[0], when)
    ]


def _acted_on(element: Element) -> list[str]:
    """The coordinates that are fields of an element."""
    return [str(getattr(field, "name", "")) for field in element.fields.values()]


def _still(result: Result, name: str, when: Sequence[tuple[float, float]]) -> bool:
    """Whether a coordinate, or a measure of lengths or angles, moves, but never while something sticks."""
    moving = any(name == names[0] for names in result.columns)
    if not moving and not (name in _measures(result) and result.kind(name) in ("position", "length", "angle")):
        return False
    values, t = result.array(name), result.t
    whole, most = float(np.ptp(values)), float(np.ptp(result.q, axis=0).max())
    within = [values[(t >= begin) & (t <= end)] for begin, end in when]
    seen = [part for part in within if len(part) > 1]
    return bool(seen) and whole > STILL * most and all(np.ptp(part) <= STILL * whole for part in seen)


def _measures(result: Result) -> Mapping[str, object]:
    return {} if result.model is None else result.model.measures


def shade(axes: Axes, result: Result, hues: Mapping[str, str]) -> list[str]:
    """Shade where what holds the curves of some axes sticks, in the colours of the curves; the elements shown."""
    sticks = sticking(result)
    shown: dict[str, str] = {}
    for name, hue in hues.items():
        for owner in held_by(result, name, sticks):
            shown.setdefault(owner, hue)
    for owner, hue in shown.items():
        look: dict[str, Any] = {"color": tint(hue, 0.16), "linewidth": 0, "zorder": 0.4, "alpha": 0.75}
        for k, (begin, end) in enumerate(sticks[owner]):
            axes.axvspan(begin, end, label=plain(f"{owner} sticks") if k == 0 else None, **look)
    return list(shown)


def sizes(impacts: Sequence[Impact]) -> np.ndarray:
    """How large impacts are beside the largest: by the impulses of what collided, or by all where it has none.

    A known impulse that no joint feels counts as large.
    """
    found = []
    for impact in impacts:
        own = [p for row, p in impact.impulses.items() if any(row.startswith(f"{e}.") for e in impact.elements)]
        found.append(max((abs(p) for p in own or impact.impulses.values()), default=np.nan))
    largest = np.nanmax([*found, 0.0]) or 1.0
    return np.nan_to_num(np.array(found) / largest, nan=1.0)


def mark_impulses(axes: Axes, impacts: Sequence[Impact]) -> None:
    """A stem on the time axis for each impact, as high as it is large."""
    if not impacts:
        return
    t, high = np.array([impact.t for impact in impacts]), LEAST + (STEM - LEAST) * sizes(impacts)
    place = axes.get_xaxis_transform()
    axes.vlines(t, 0.0, high, color=FORCE, linewidth=1.1, transform=place, zorder=4)
    axes.plot(t, high, ".", color=FORCE, markersize=3.5, transform=place, zorder=4, label="impulses", clip_on=False)
