"""What a description of a robot says, whatever its format: links, the joints to their parents, loops and couplings."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kempe.elements.looks import Look
from kempe.importing.inertias import Inertial
from kempe.importing.placing import Placement

#: The name of what does not move.
WORLD = "world"


@dataclass
class Joint:
    """What lets a link move against its parent; place and axis are as the link has them in the drawn pose."""

    name: str
    kind: str  # hinge, slide, ball, free or planar
    place: np.ndarray = field(default_factory=lambda: np.zeros(3))
    axis: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    limits: tuple[float, float] | None = None  # counted from the drawn pose, as all that follows
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0

    @property
    def plain(self) -> bool:
        """Whether nothing but its geometry is said of it."""
        return not (self.stiffness or self.damping or self.friction or self.armature)


@dataclass
class Link:
    """A rigid body: where it is in its parent's frame in the drawn pose, and how it may move there, from the parent on.

    Without joints it is part of its parent.
    """

    name: str
    parent: str
    place: Placement
    joints: list[Joint] = field(default_factory=list)
    inertial: Inertial | None = None
    looks: list[Look] = field(default_factory=list)
    lift: float = 0.0  # the share of its weight that a force on its centre of mass compensates


@dataclass
class Loop:
    """What closes a loop: a place on one link that stays at a place on another, turned with it or not."""

    name: str
    first: str
    second: str
    on_first: Placement
    on_second: Placement
    turned: bool


@dataclass
class Coupling:
    """The motion of a joint as a polynomial of that of another (or none), both counted from the drawn pose."""

    name: str
    joint: str
    other: str | None
    coefficients: tuple[float, ...]


@dataclass
class Tree:
    """A robot: parents stand before their children."""

    name: str
    gravity: np.ndarray
    links: dict[str, Link] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def leave_out(self, what: str, name: str) -> None:
        """Note something that Kempe does not represent, and of what."""
        names = self.left_out.setdefault(what, [])
        if name not in names:
            names.append(name)

    def placed(self) -> dict[str, Placement]:
        """Where the frames of all links are in the drawn pose."""
        found = {WORLD: Placement.none()}
        for link in self.links.values():
            found[link.name] = found[link.parent] @ link.place
        return found
