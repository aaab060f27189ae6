"""What joints, springs and drivers do to the parts, and what elements show of themselves, from a finished motion."""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements import Carrier, Marker, Point, shown
from kempe.errors import ModelError
from kempe.results.open_reactions import OpenReactions
from kempe.system.derived import derived_names, lengths, load_values, shaking_names
from kempe.system.measures import frames, positions
from kempe.system.replay import Replay
from kempe.system.wrenches import second_part, shaking, touched, wrench


@dataclass(frozen=True, repr=False)
class Reaction:
    """The force and the moment that an element exerts on the part ``on``, over time.

    The moment is about ``point``, the element's point on that part. In the plane the force has two columns and the
    moment is one number per time; in space both have three columns.
    """

    t: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    point: np.ndarray
    on: str

    x = property(lambda self: self.force[:, 0], doc="The first component of the force.")
    y = property(lambda self: self.force[:, 1], doc="The second component of the force.")

    @property
    def z(self) -> np.ndarray:
        """The third component of the force, in space."""
        if self.force.shape[1] < 3:
            raise ModelError("a force in the plane has no third component")
        return np.asarray(self.force[:, 2])

    @property
    def magnitude(self) -> np.ndarray:
        """How large the force is."""
        return lengths(self.force)

    def __repr__(self) -> str:
        largest = [float(np.abs(values).max(initial=0.0)) for values in (self.magnitude, self.moment)]
        force, moment = (f"{value:.6g}" for value in largest)
        return f"Reaction(on {self.on!r}: {len(self.t)} points, force up to {force}, moment up to {moment})"


class Loads:
    """Derived histories of one result, by name; what was computed for an element is kept."""

    def __init__(self, replay: Replay, known: Container[str], stats: Mapping[str, Any] | None = None) -> None:
        self.replay, self.known = replay, known
        self._open = OpenReactions(replay, stats or {})
        self.names = derived_names(replay.system, known)
        self._kept: dict[tuple[str, int], Any] = {}

    def history(self, name: str) -> np.ndarray:
        """One derived history."""
        kind, k, which = self.names[name]
        self._open.warn(kind, k, which)
        if kind == "effort":
            return -self.replay.states.multipliers[:, self.replay.system.rows_of[k][which]]
        if kind == "power":  # of what moves the rows along: lambda . Phi_t
            family, rows = self.replay.system.families[k], self.replay.system.rows_of[k]
            moved = self.replay.evaluate(k, family, kind, family.Phi_t)
            return (self.replay.states.multipliers[:, rows] * moved).sum(axis=1)
        if kind == "output":
            family = self.replay.system.families[k]
            return self._once(kind, k, self._outputs)[:, list(family.outputs).index(which)]
        if kind == "shaking":
            force, moment = self._once(kind, k, lambda _: shaking(self.replay))
            named = (lengths(force), *force.T, *moment.T)
            return named[shaking_names(self.replay.system).index(which)]
        force, moment = self._once(kind, k, self._wrench)
        return load_values(self.replay.system.space, which, force, moment)

    def open_among(self, names: Iterable[str]) -> str:
        """What there is to say about histories that nothing determines; nothing where all are."""
        asked = (self.names[name] for name in names if name in self.names)
        return next(filter(None, (self._open.words(*quantity) for quantity in asked)), "")

    def _once(self, kind: str, k: int, compute: Any) -> Any:
        if (kind, k) not in self._kept:
            self._kept[kind, k] = compute(k)
        return self._kept[kind, k]

    def _outputs(self, k: int) -> np.ndarray:
        family = self.replay.system.families[k]
        return self.replay.evaluate(k, family, "outputs", ca.vertcat(*family.outputs.values()))

    def _wrench(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        part = second_part(self.replay.system.elements[k])
        assert part is not None
        return wrench(self.replay, k, part.name)

    def reaction(self, joint: Any, on: Any, axes: Any) -> Reaction:
        """What an element exerts on a part."""
        system, states = self.replay.system, self.replay.states
        elements = {element.name: k for k, element in enumerate(system.elements)}
        named = {name: k for name, k in elements.items() if "." not in name}  # (inertias have no name of the user's)
        name = _known(joint, named, f"there is no joint, force or driver '{_name(joint)}' in '{system.model.name}'")
        element = system.elements[elements[name]]
        if not all(element.row_label(row) in self.known for row in element.rows):
            raise ModelError(
                f"the load of '{name}' is not known: simulate and inverse_dynamics find the forces of constraints"
            )
        parts = touched(element)
        marker: Marker | None = second_part(element)
        if on is not None:
            marker = parts[_known(on, parts, f"{element.kind} '{name}' does not act on '{_name(on)}'")]
        if marker is None:
            raise ModelError(f"{element.kind} '{name}' acts on no body, point or bar")
        self._open.warn("force", elements[name], "", marker.name)
        force, moment = wrench(self.replay, elements[name], marker.name)
        point = positions(system, [marker], self.replay.parameters, states.q)[:, 0]
        own = {"body": marker.carrier.on(), "joint": marker}
        if not isinstance(axes, (Carrier, Marker)) and axes not in ("global", *own):
            raise ModelError(f"axes must be 'global', 'body', 'joint', or a part or marker, not {shown(axes)}")
        if axes != "global":
            turned = self._axes(own[axes] if isinstance(axes, str) else axes if isinstance(axes, Marker) else axes.on())
            force = np.einsum("tik,ti->tk", turned, force)
            moment = moment if moment.shape[1] == 1 else np.einsum("tik,ti->tk", turned, moment)
        return Reaction(states.t, force, moment[:, 0] if moment.shape[1] == 1 else moment, point, marker.name)

    def _axes(self, marker: Marker) -> np.ndarray:
        """The axes of a marker over time, as columns."""
        if isinstance(marker.carrier, Point):
            raise ModelError(f"'{marker.name}' is a point and has no axes of its own; use axes='global'")
        return frames(self.replay.system, [marker], self.replay.parameters, self.replay.states.q)[:, 0]


def _name(thing: Any) -> str:
    return thing if isinstance(thing, str) else getattr(thing, "name", repr(thing))


def _known(thing: Any, known: Mapping[str, Any], otherwise: str) -> str:
    """The name of something known, or an error that says what there is."""
    name = _name(thing)
    if name in known:
        return name
    near = difflib.get_close_matches(name, list(known), n=3) or list(known)[:6]
    raise ModelError(otherwise + (f"; there is {', '.join(repr(n) for n in near)}" if near else ""))
