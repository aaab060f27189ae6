"""Laws with numbers of their own: what rubs (``friction``) and what presses (``contact_laws``) share their making."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import casadi as ca

from kempe.calling import suggestion
from kempe.elements.base import Field
from kempe.elements.numbers import Number, shown, unit_hint
from kempe.elements.sources import Source
from kempe.errors import ModelError


class NumberedLaw(Field):
    """A law with its numbers; those that are None have no term in the equations."""

    #: The laws of its kind by the words that files have for them.
    words: ClassVar[Mapping[str, type[NumberedLaw]]] = {}

    def __init__(self, **numbers: Number | None) -> None:
        self.numbers = numbers

    @classmethod
    def word(cls) -> str:
        """What a file calls it."""
        return next(word for word, law in cls.words.items() if law is cls)

    @property
    def given(self) -> dict[str, Any]:
        """The arguments it is made with again."""
        return {key: value for key, value in self.numbers.items() if value is not None}

    def told(self) -> str:
        return f"the law kp.{type(self).__name__}"

    def data(self) -> Iterable[Number]:
        return [value for value in self.numbers.values() if value is not None]

    def structure(self) -> Hashable:
        return (type(self), tuple(key for key, value in self.numbers.items() if value is not None))

    def symbolic(self, source: Source) -> Any:
        names = [key for key, value in self.numbers.items() if value is not None]
        seen = source.numbers([value for value in self.numbers.values() if value is not None])
        return SimpleNamespace(**dict.fromkeys(self.numbers) | dict(zip(names, seen, strict=True)))


def refuse_other(value: Any, what: str, kind: type[NumberedLaw], plain: str = "") -> None:
    """Say what a law is where something else was given that cannot be a plain number either."""
    laws = ", ".join(f"kp.{law.__name__}" for law in kind.words.values())
    wanted = f"must be {plain}a law ({laws})"
    if isinstance(value, type) and issubclass(value, kind):
        takes = ", ".join(inspect.signature(value).parameters)
        raise ModelError(f"{what}: a law has numbers of its own: write kp.{value.__name__}({takes})")
    if isinstance(value, str):
        near = unit_hint(value) or suggestion(value, [*kind.words, *(law.__name__ for law in kind.words.values())])
        raise ModelError(f"{what} {wanted}, not {shown(value)}{near}")
    if isinstance(value, (list, tuple)) and plain:
        raise ModelError(f"{what} {wanted}, not {shown(value)}; two coefficients are kp.Coulomb(kinetic, static)")
    if isinstance(value, dict) or not plain or (callable(value) and not isinstance(value, ca.SX)):
        raise ModelError(f"{what} {wanted}, not {shown(value)}")
