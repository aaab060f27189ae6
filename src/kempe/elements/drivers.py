"""Drivers: quantities made to follow a law of motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kempe.elements.base import Element
from kempe.elements.motions import as_law
from kempe.elements.parts import Point, as_carrier
from kempe.elements.quantities import as_marker, as_quantity, drawn_value
from kempe.elements.sources import DrawnSource
from kempe.errors import ModelError


class Driver(Element):
    """A quantity (coordinate, angle, distance, displacement) that follows a law of motion."""

    rows = ("motion",)
    drives = True

    def __init__(self, name: str, quantity: Any, motion: Any) -> None:
        what = f"driver '{name}'"
        driven = as_quantity(quantity, f"{what}: what it drives")
        super().__init__(name, quantity=driven, motion=as_law(motion, what).starting(drawn_value(driven)))

    def phi(self, x: Any) -> Any:
        return x.quantity.beyond(x.motion)

    def row_kinds(self) -> Mapping[str, str]:
        return {"motion": self.fields["quantity"].kind}  # type: ignore[attr-defined]


class PointDriver(Element):
    """A point of a part led along a path: laws of motion for x and y, and in space for z."""

    drives = True

    def __init__(self, name: str, point: Any, x: Any, y: Any, z: Any = None) -> None:
        what = f"driver '{name}'"
        marker = point if isinstance(point, Point) else as_marker(point, f"{what}: the point it leads")
        if not list(marker.parts()):
            raise ModelError(f"{what}: '{marker.name}' is fixed and cannot be led")
        drawn = marker.symbolic(DrawnSource()).r
        letters = as_carrier(point, f"{what}: the point it leads").space.letters
        if (z is not None) != (letters == "xyz"):
            raise ModelError(f"{what}: give a law of motion for each of {', '.join(letters)}")
        laws = [as_law(law, what).starting(drawn[k]) for k, law in enumerate((x, y, z)[: len(letters)])]
        self.rows = tuple(letters)
        super().__init__(name, point=marker, path=laws)

    def row_kinds(self) -> Mapping[str, str]:
        return dict.fromkeys(self.rows, "position")

    def phi(self, x: Any) -> list[Any]:
        return [x.point.r[k] - law for k, law in enumerate(x.path)]
