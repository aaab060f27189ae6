"""Modes over time: when an element stuck, slid or touched, from the mode it began in and its switches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kempe.calling import suggestion
from kempe.errors import ModelError

if TYPE_CHECKING:
    from kempe.results.result import Result


def intervals(result: Result, element: Any, mode: str | Sequence[str]) -> list[tuple[float, float]]:
    """When an element was in a mode, or in any of some: beginnings and ends in order, the last at the end of the run.

    What lasts no time at all is left out, and what is interrupted for no time at all is one interval.
    """
    name = switching(result, element)
    wanted = [mode] if isinstance(mode, str) else list(mode)
    _check_modes(result, name, wanted)
    if not len(result):
        return []
    found: list[tuple[float, float]] = []
    passed = [(event.t, event.mode) for event in result.events if getattr(event, "element", None) == name]  # type: ignore[attr-defined]
    begun, present = float(result.t[0]), result.first_modes[name]
    for t, entered in [*passed, (run_end(result), "")]:
        if present in wanted and t > begun:
            joined = found and found[-1][1] == begun
            found[-1:] = [(found[-1][0], t)] if joined else [*found[-1:], (begun, t)]
        begun, present = t, entered
    return found


def run_end(result: Result) -> float:
    """Until when a run is known: its last point, or a switch behind it."""
    return max([float(result.t[-1]), *(event.t for event in result.events[-1:])])


def modes_of(result: Result, name: str) -> list[str]:
    """The modes an element has, as its model says, or those it was in where the result has no model."""
    known = None if result.model is None else result.model.elements.get(name)
    if known is not None:
        return list(known.modes)
    met = [event.mode for event in result.events if getattr(event, "element", None) == name]  # type: ignore[attr-defined]
    return list(dict.fromkeys([result.first_modes[name], *met]))


def switching(result: Result, element: Any) -> str:
    """The name of an element of this result that switches."""
    name = getattr(element, "name", element)
    if not result.first_modes:
        simulated = result.provenance.get("analysis") == "simulate"
        words = "nothing in it switches" if simulated else "it is no simulation"
        raise ModelError(f"this result has no intervals: {words}")
    if name in result.first_modes:
        return str(name)
    listed = ", ".join(f"'{other}'" for other in result.first_modes)
    there = result.model is not None and name in result.model.elements
    words = f"'{name}' does not switch" if there else f"there is no element {name!r} in this result"
    raise ModelError(f"{words}{suggestion(str(name), result.first_modes) or f'; what switches is {listed}'}")


def _check_modes(result: Result, name: str, wanted: Sequence[str]) -> None:
    known = modes_of(result, name)
    for mode in wanted or [""]:
        if mode not in known:
            listed = ", ".join(repr(other) for other in known)
            raise ModelError(
                f"'{name}' has no mode {mode!r}; its modes are {listed} (several may be asked for at once)"
            )
