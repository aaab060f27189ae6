"""Models sent to other processes, and copied: symbols cannot be pickled one by one, so a model is packed as a whole.

All expressions of a model go through one of CasADi's serialisers together, so that what shared a symbol still does; the
rest is a pickle in which they are numbered. A copy has symbols, and so parameters, of its own.
"""

from __future__ import annotations

import io
import pickle
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import casadi as ca

from kempe.elements import Parameter
from kempe.elements.readings import readings_in
from kempe.errors import ModelError

#: What a copy shares with its original: code, which has no state of its own.
_CODE = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, type)


class Packed:
    """The contents of a model, ready to travel; ``code`` is what a copy in the same process refers to."""

    def __init__(self, content: bytes, expressions: str, code: list[Any]) -> None:
        self.content, self.expressions, self.code = content, expressions, code


class _Packer(pickle.Pickler):
    """Numbers expressions (and, for a copy, code) instead of pickling them."""

    def __init__(self, stream: io.BytesIO, stays: bool) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.stays = stays
        self.expressions: list[ca.SX] = []
        self.code: list[Any] = []
        self._seen: dict[int, Any] = {}

    def persistent_id(self, thing: Any) -> Any:
        if isinstance(thing, Parameter):
            value: Any = thing.value
            if thing.formula is not None:
                value = self._numbered(thing.formula, "expression", self.expressions)
            return self._numbered(thing, "parameter", self.expressions, thing.label, value, thing.bounds)
        if isinstance(thing, ca.SX):
            return self._numbered(thing, "expression", self.expressions)
        if self.stays and isinstance(thing, _CODE):
            return self._numbered(thing, "code", self.code)
        return None

    def _numbered(self, thing: Any, kind: str, shelf: list[Any], *more: Any) -> Any:
        known = self._seen.get(id(thing))
        if known is None:
            known = self._seen[id(thing)] = (kind, len(shelf), *more)
            shelf.append(thing)
        return known

    def dump_readings(self) -> None:
        """Behind the rest: which symbols in its expressions are pieces of which tables."""
        self.dump(readings_in(list(self.expressions)))


class _Unpacker(pickle.Unpickler):
    def __init__(self, packed: Packed) -> None:
        super().__init__(io.BytesIO(packed.content))
        self.expressions = ca.StringDeserializer(packed.expressions).unpack() if packed.expressions else []
        self.code = packed.code
        self._parameters: dict[int, Parameter] = {}

    def persistent_load(self, key: Any) -> Any:
        kind, number, *more = key
        if kind == "code":
            return self.code[number]
        if kind == "expression":
            return self.expressions[number]
        if number not in self._parameters:
            label, value, bounds = more
            self._parameters[number] = Parameter(label, 0.0, bounds, symbol=self.expressions[number])
            if isinstance(value, tuple):  # (parameters it follows may not have arrived yet)
                self._parameters[number]._formula = self.expressions[value[1]]
            else:
                self._parameters[number].value = value
        return self._parameters[number]


def packed(contents: dict[str, Any], what: str) -> Packed:
    """Contents that another process can unpack; functions and classes travel by their names."""
    return _packed(contents, what, stays=False)


def copied(contents: dict[str, Any], what: str) -> Packed:
    """Contents to be unpacked in this process; functions and classes are shared."""
    return _packed(contents, what, stays=True)


def _packed(contents: dict[str, Any], what: str, *, stays: bool) -> Packed:
    stream = io.BytesIO()
    packer = _Packer(stream, stays)
    try:
        packer.dump(contents)
        packer.dump_readings()
    except ModelError:
        raise
    except Exception as error:
        how = "copied" if stays else "pickled"
        raise ModelError(
            f"{what} cannot be {how}: it holds something that cannot travel ({str(error).partition(chr(10))[0]}). "
            "Functions and classes that another process shall find are defined in a module, not within a function"
        ) from error
    text = ""
    if packer.expressions:
        serialiser = ca.StringSerializer()
        serialiser.pack([ca.SX(e) for e in packer.expressions])
        text = serialiser.encode()
    return Packed(stream.getvalue(), text, packer.code)


def unpacked(kind: type, packed: Packed) -> Any:
    """The model itself."""
    model: Any = object.__new__(kind)
    unpacker = _Unpacker(packed)
    vars(model).update(unpacker.load())
    unpacker.load()  # readings of tables, which make themselves known
    return model
