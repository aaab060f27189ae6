"""What belongs to a model stays as it was described: a change that the equations would not see is refused.

Elements, parts, markers, laws and tables are free until they are added to a model. From then on equations, numbers and
names of them are in compiled systems, files and results, so that an assignment raises a ModelError that says what to do
instead. Design parameters are the numbers that change.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from kempe.calling import explained
from kempe.errors import ModelError


def _refuse(what: str, why: str) -> NoReturn:
    raise ModelError(f"{what} {why}")


class Sealed:
    """Something whose attributes cannot be changed any more once it belongs to a model."""

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
            what = f"'{attribute}' of {_called(self)}"
            _refuse(
                what,
                f"cannot be changed: it is part of '{self._owner}' as that was described. "
                "Make a number that changes a parameter (m.parameter, m.set), or build the model anew",
            )


def _called(thing: Any) -> str:
    name = vars(thing).get("name")
    kind = type(thing).__name__
    return f"{kind} '{name}'" if isinstance(name, str) else f"a {kind}"


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
