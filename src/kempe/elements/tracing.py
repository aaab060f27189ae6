"""Equations written out as soon as an element is added, so that a mistake in them shows at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from kempe.elements.base import Element, Switch
from kempe.elements.sources import KernelSource
from kempe.errors import ModelError


def failed_on_symbols(error: Exception) -> str:
    """The end of a sentence that says why a user's function could not be traced."""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if "truth value" in reason:
        return (
            "asks whether something holds (if, and, or, max, min), which is not known while equations are written; "
            "use kp.if_else(condition, a, b), kp.logic_and, kp.fmax, kp.fmin"
        )
    if "Wrong number or type" in reason or "conversion" in reason.lower() or "not iterable by design" in reason:
        return "must return numbers made of its arguments and parameters, with kp.sin, kp.sqrt, kp.if_else and such"
    if isinstance(error, NameError):
        return f"cannot be called: {reason}"
    return f"failed on symbols ({reason}); write it with kp.sin, kp.sqrt, kp.if_else and such"


_traced: set[Hashable] = set()


def trace(element: Element) -> None:
    """Write an element's equations out, once per structure, so that a mistake in them shows when it is added."""
    key = element.structure()
    if key is not None and key in _traced:
        return
    view = element.view(KernelSource(element))
    if element.rows:
        element.phi(view)
    if element.has_inertia and element.mass(view) is None:
        element.kinetic(view)
    e = element
    for equation in (e.weight, e.potential, e.restoring, e.damping, e.force, e.outputs, e.switches, e.followed):
        equation(view)
    check_switches(element, element.switches(view))
    if key is not None:
        _traced.add(key)


def check_switches(element: Element, switches: Sequence[Switch]) -> None:
    """Modes, rows and kept values that switches name must be the element's own: a misspelt row would just not jump."""
    named = [("mode", element.modes, s.source) for s in switches] + [
        ("mode", element.modes, s.target) for s in switches
    ]
    named += [("mode", element.modes, s.limit) for s in switches if s.limit is not None]
    named += [("row", element.rows, row) for s in switches for row in s.jump]
    named += [("latch", element.latches, name) for s in switches for name in s.latch]
    named += [("row", element.rows, row) for row in element.row_modes]
    named += [("mode", element.modes, mode) for modes in element.row_modes.values() for mode in modes]
    for what, known, name in named:
        if name not in known:
            there = ", ".join(f"'{k}'" for k in known) or "none"
            raise ModelError(f"{element.kind} '{element.name}': its switches name a {what} '{name}'; it has {there}")
