"""Bristles: the state of LuGre's friction, carried by an element that rubs."""

from __future__ import annotations

from typing import Any

from kempe.elements.base import Element
from kempe.elements.friction import FrictionLaw
from kempe.elements.parts import Coordinate

#: What is kept from where surfaces that open meet: their bristles are straight there.
BENT = "bent"


class Bristled(Element):
    """An element whose friction may have bristles: the rate of a coordinate of theirs is how far they are bent."""

    def _bristles(self, name: str, friction: FrictionLaw | None) -> Coordinate | None:
        """The coordinate of its bristles, where the law has any."""
        bristly = friction is not None and friction.bristles
        return Coordinate(f"{name} bristles", 0.0, owner=self) if bristly else None

    @property
    def has_inertia(self) -> bool:
        """Bristles have energy in the place of inertia."""
        return "bristles" in self.fields and bool(list(self.fields["bristles"].parts()))

    def kinetic(self, x: Any) -> Any:
        return x.friction.inertia * x.d(x.bristles) ** 2 / 2

    def bent(self, x: Any, pressed: Any) -> tuple[Any, Any]:
        """The force of bent bristles, and how fast they bend further."""
        straight = x.kept[BENT] if BENT in self.latches else 0.0
        return x.friction.bristling(x.slip, pressed, x.d(x.bristles) - straight)  # type: ignore[no-any-return]

    def straightened(self, x: Any) -> dict[str, Any]:
        """What is kept where surfaces meet."""
        return {BENT: x.d(x.bristles)} if BENT in self.latches else {}
