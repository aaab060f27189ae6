"""What to say of names that are not there and of speeds that nothing can have."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kempe.calling import meant, suggestion
from kempe.elements import Field, shown
from kempe.elements.quantities import either
from kempe.system import System
from kempe.system.dependence import most_first


def held_names(hold: Any) -> list[Any]:
    """The coordinates that are to stay, by name; a quantity (``crank.angle``) is as good as its name."""
    several = isinstance(hold, Iterable) and not isinstance(hold, (str, Field))
    return [getattr(thing, "name", thing) for thing in (hold if several else [hold])]


def no_coordinate(system: System, name: Any) -> str:
    """A coordinate that is not there: did its part, or its rate, stand for it?"""
    return f"there is no coordinate {shown(name)}{_instead(system, name, 0)}"


def no_velocity(system: System, name: Any) -> str:
    """A velocity that is not there: did its part, or its coordinate, stand for it?"""
    return f"there is no velocity {shown(name)}{_instead(system, name, 1)}"


def _instead(system: System, name: Any, which: int) -> str:
    """The end of a sentence that says what to write: of the same part, of the same coordinate, or spelled alike."""
    known = [names[which] for names in system.names] + (list(system.spins) if which == 1 else [])
    own = [n for n in known if n.startswith(f"{name}.")]
    if own:
        return f"; choose {either(own)}"
    same = [names[which] for names in system.names if name in names]
    if same:
        return f"; did you mean '{same[0]}'?"
    if isinstance(name, str) and difflib.get_close_matches(name, known, n=1, cutoff=0.85):
        return suggestion(name, known)
    near = [n for n in known if isinstance(name, str) and n.startswith(name.partition(".")[0] + ".")]
    if near:
        return f"; choose {either(near)}"
    if isinstance(name, str) and meant(name, known):
        return suggestion(name, known)
    return f"; there are {', '.join(known[:9])}" + (", ..." if len(known) > 9 else "")


def unfollowed(system: System, J: np.ndarray, nu: np.ndarray, t: float) -> str:
    """Why no velocity satisfies J v = nu: which drivers and joints contradict each other there (all in sizes)."""
    U, sizes, _ = np.linalg.svd(J)
    left = U[:, int((sizes > 1e-10 * sizes.max(initial=1e-300)).sum()) :]
    weight = np.abs(left @ (left.T @ nu))
    rows = [system.rows[k] for k in most_first(weight) if weight[k] > 1e-3 * weight.max()]
    drivers = list(dict.fromkeys(row.owner for row in rows if row.drives))
    joints = list(dict.fromkeys(row.owner for row in rows if not row.drives))
    if len(drivers) > 1:
        through = f" (through {listed(joints)})" if joints else ""
        return f"drivers {listed(drivers)} contradict each other: they ask one thing for two speeds{through}; keep one"
    if drivers:
        return (
            f"lock-up at t = {t:.10g}: driver '{drivers[0]}' asks for a speed that the joints {listed(joints)} "
            "cannot follow in this position; start beside the dead centre, or drive another part"
        )
    return f"no velocity satisfies all constraints in this position: {listed(joints)} contradict each other"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: 'a', 'b' and 'c'."""
    quoted = [f"'{name}'" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
