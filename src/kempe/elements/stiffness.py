"""How stiff the rows of a joint are: what decides how constraints that hold the same thing share it.

A stiffness never moves anything: the parts stay rigid. It belongs to the force of a row (or to its moment) and the
small stretch (or turn) that the force would make; what that means for the row's multiplier follows from derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kempe.calling import suggestion
from kempe.elements.numbers import Number, positive, shown
from kempe.errors import ModelError

#: What is known of a member.
MEMBER = ("E", "A", "L", "I")


class Member(dict[str, Any]):
    """A straight elastic member: modulus ``E``, section ``A``, length ``L`` and second moment of area ``I``.

    As the ``stiffness`` of a link or a bar it is E A / L; ``L`` is the link's own length unless given.
    """

    def __init__(self, *, E: Any, A: Any = None, L: Any = None, I: Any = None) -> None:
        given = dict(zip(MEMBER, (E, A, L, I), strict=True))
        super().__init__({key: positive(value, f"member: {key}") for key, value in given.items() if value is not None})

    def _number(self, *keys: str) -> list[Number]:
        missing = [key for key in keys if key not in self]
        if missing:
            raise ModelError(f"a member's stiffness needs {' and '.join(f'{key}=' for key in missing)} too")
        return [self[key] for key in keys]

    @property
    def axial(self) -> Number:
        """E A / L: the force along it by the stretch."""
        E, A, L = self._number("E", "A", "L")
        return E * A / L

    @property
    def bending(self) -> Number:
        """3 E I / L^3: the force across its free end by the deflection there, its other end clamped."""
        E, I, L = self._number("E", "I", "L")
        return 3 * E * I / L**3

    @property
    def turning(self) -> Number:
        """E I / L: the moment at its free end by the turn there, its other end clamped."""
        E, I, L = self._number("E", "I", "L")
        return E * I / L


def rod(E: Any, A: Any, L: Any) -> Number:
    """E A / L: the stiffness of a rod, for ``stiffness=``."""
    return Member(E=E, A=A, L=L).axial


def row_stiffness(
    what: str, given: Any, rows: Iterable[str], kinds: Mapping[str, str], length: Number | None = None
) -> dict[str, Number]:
    """The stiffnesses of an element's rows by name, from what a user gave; rows that are left out are rigid.

    A number is that of all rows that hold lengths, or of all rows where none does. A mapping names rows, or all that
    hold a "length" or an "angle". A member (or a mapping of its numbers) is for a rod, of the given ``length``.
    """
    rows = list(rows)
    if isinstance(given, Mapping):
        if set(given) <= set(MEMBER) and "E" in given:
            member = Member(**{"L": length, **given})
            return dict.fromkeys([row for row in rows if row == "length"] or rows, member.axial)
        found: dict[str, Number] = {}
        for key, value in given.items():
            named = [key] if key in rows else [row for row in rows if kinds.get(row) == key]
            if not named:
                known = [*rows, *{kinds[row]: None for row in rows if row in kinds}]
                hint = suggestion(str(key), known) or f"; its rows: {', '.join(rows)}"
                raise ModelError(f"{what}: stiffness: there is no row {shown(key)}{hint}")
            found |= dict.fromkeys(named, positive(value, f"{what}: stiffness of {key}"))
        return found
    straight = [row for row in rows if kinds.get(row) != "angle"] or rows
    return dict.fromkeys(straight, positive(given, f"{what}: stiffness"))
