"""What belongs to a model stays as it was described: a change that the equations would not see is refused.

Elements, parts, markers, laws and tables are free until they are added to a model. From then on equations, numbers and
names of them are in compiled systems, files and results, so that an assignment raises a ModelError that says what to do
instead. Design parameters are the numbers that change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from kempe.calling import explained, suggestion
from kempe.elements.numbers import Told, shown
from kempe.errors import ModelError, NoAttribute


def _refuse(what: str, why: str) -> NoReturn:
    raise ModelError(f"{what} {why}")


#: What only a result knows, and what is measured or driven instead.
_RATES = ("vx", "vy", "v", "omega", "ax", "ay", "a", "alpha", "speed", "velocity", "acceleration", "rate")


class Absent(NoAttribute):
    """What a part or element does not have; what it has instead is only looked for when somebody reads it."""

    def __init__(self, thing: Any, name: str) -> None:
        self.thing, self.wanted = thing, name
        super().__init__([])

    def __str__(self) -> str:
        what = shown(self.thing)
        known = [n for n in dir(type(self.thing)) if not n.startswith("_")]
        if self.wanted in _RATES:
            return (
                f"{what} has no '{self.wanted}': rates are asked of a result, by name; to prescribe one, drive the "
                "coordinate by a law such as kp.constant_speed(2.0); to watch one, m.event(..., rate=True)"
            )
        quantities = [n for n in ("x", "y", "z", "angle", "displacement", "distance") if n in known]
        has = f"; it has {', '.join(quantities)}" if quantities else ""
        return f"{what} has no '{self.wanted}'{suggestion(self.wanted, known) or has}"


class Sealed(Told):
    """Something whose attributes cannot be changed any more once it belongs to a model."""

    if not TYPE_CHECKING:  # to a type checker it has the attributes it has

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(name) if name.startswith("_") else Absent(self, name)

    def __init_subclass__(cls, **options: Any) -> None:
        """Whatever is made with arguments that do not fit says so in the user's words."""
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = explained(cls.__init__)  # type: ignore[method-assign]

    #: The model it belongs to; None while it is free.
    _owner: str | None = None

    def _open(self) -> frozenset[str]:
        """Attributes that may be assigned to at any time, because no equation uses them."""
        return frozenset()

    def __setattr__(self, name: str, value: Any) -> None:
        self._check_open(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._check_open(name)
        object.__delattr__(self, name)

    def _check_open(self, attribute: str) -> None:
        if self._owner is not None and attribute not in self._open():
            what = f"'{attribute}' of {self.told()}"
            _refuse(
                what,
                f"cannot be changed: it is part of '{self._owner}' as that was described. "
                "Make a number that changes a parameter (m.parameter, m.set), or build the model anew",
            )


class Shelf(dict[str, Any]):
    """Things of a model by name: read like a dictionary, filled by the model alone."""

    def __init__(self, items: Any = (), *, what: str = "entries") -> None:
        super().__init__(items)
        self.what = what

    def put(self, name: str, value: Any) -> None:
        """Add something (for the model itself)."""
        super().__setitem__(name, value)

    def _fixed(self, *_: Any, **__: Any) -> NoReturn:
        _refuse(self.what, "cannot be exchanged or taken away: build the model anew without what is not wanted")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _fixed  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return _shelf, (dict(self), self.what)


def _shelf(items: dict[str, Any], what: str) -> Shelf:
    return Shelf(items, what=what)


class Row(list[Any]):
    """A list of something that belongs to a model."""

    def _fixed(self, *_: Any, **__: Any) -> NoReturn:
        _refuse("a list", "that belongs to a model cannot be changed: build the model anew")

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _fixed  # type: ignore[assignment]
    append = clear = extend = insert = pop = remove = reverse = sort = _fixed  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return Row, (list(self),)


def seal(thing: Any, owner: str) -> Any:
    """Close something, with all it is made of, to changes; returns what is to stand in its place."""
    if isinstance(thing, Sealed):
        if thing._owner is None:
            own, free = vars(thing), thing._open()
            own["_owner"] = owner  # first: things refer to each other
            for key, value in list(own.items()):
                if key not in free and key != "_owner":
                    own[key] = seal(value, owner)
        return thing
    if type(thing) is dict:
        return Shelf({key: seal(value, owner) for key, value in thing.items()}, what=f"fields of '{owner}'")
    if type(thing) is list:
        return Row(seal(item, owner) for item in thing)
    if type(thing) is set:
        return frozenset(thing)
    if type(thing) is tuple:
        return tuple(seal(item, owner) for item in thing)
    if type(thing) is np.ndarray:
        kept = thing if thing.flags.owndata and not thing.flags.writeable else thing.copy()
        kept.flags.writeable = False
        return kept
    return thing
