"""Arrays under names, handed to compiled code as one pointer.

Numba flattens a tuple of arrays into machine arguments, seven or nine to an array, at every call; with thirty arrays
that costs more than the arithmetic of a small mechanism, and most of the time it takes to compile it. A ``Frame`` is
a frozen dataclass whose fields are arrays or other frames. Compiled code gets the address of a table with the places
and lengths of its arrays, and reads from it what it uses. Arrays read from a frame are not counted: the caller keeps
the frame alive, and compiled code must not keep them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, get_args, get_type_hints

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, models, register_model, unbox

Floats = Annotated[np.ndarray, types.Array(types.float64, 1, "C")]
FloatRows = Annotated[np.ndarray, types.Array(types.float64, 2, "C")]
FloatBlocks = Annotated[np.ndarray, types.Array(types.float64, 3, "C")]
Ints = Annotated[np.ndarray, types.Array(types.int64, 1, "C")]
IntRows = Annotated[np.ndarray, types.Array(types.int64, 2, "C")]
Complexes = Annotated[np.ndarray, types.Array(types.complex128, 1, "C")]
ComplexRows = Annotated[np.ndarray, types.Array(types.complex128, 2, "C")]


class FrameType(types.Type):
    """The type of a frame in compiled code: that of its class."""

    def __init__(self, frame: type[Frame]) -> None:
        self.members: dict[str, Any] = {}
        self.places: dict[str, int] = {}
        at = 0
        for name, hint in get_type_hints(frame, include_extras=True).items():
            kind = _type_of(hint) if isinstance(hint, type) and issubclass(hint, Frame) else get_args(hint)[1]
            self.members[name], self.places[name] = kind, at
            at += 1 if isinstance(kind, FrameType) else 1 + kind.ndim
        super().__init__(f"{frame.__module__}.{frame.__qualname__}")


def _type_of(frame: type[Frame]) -> FrameType:
    if frame not in _types:
        _types[frame] = FrameType(frame)
    return _types[frame]


_types: dict[type[Frame], FrameType] = {}


@dataclass(frozen=True, eq=False)
class Frame:
    """Base class of frames."""

    def __post_init__(self) -> None:
        kind = _type_of(type(self))
        table: list[int] = []
        for name, member in kind.members.items():
            value = getattr(self, name)
            if isinstance(member, FrameType):
                table.append(value.address)
                continue
            if value.dtype != np.dtype(str(member.dtype)) or value.ndim != member.ndim or not value.flags.c_contiguous:
                raise TypeError(f"{type(self).__name__}.{name} must be a contiguous {member}")
            table += [value.ctypes.data, *value.shape]
        held = np.array(table, dtype=np.int64)
        object.__setattr__(self, "_table", held)
        object.__setattr__(self, "address", held.ctypes.data)
        object.__setattr__(self, "_numba_type_", kind)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, without those of frames within."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in named.items() if isinstance(value, np.ndarray)}


register_model(FrameType)(models.OpaqueModel)


@unbox(FrameType)
def _unbox(kind: Any, value: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(value, "address")
    pointer = c.builder.inttoptr(c.pyapi.long_as_longlong(address), cgutils.voidptr_t)
    c.pyapi.decref(address)
    return NativeValue(pointer, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _Members(AttributeTemplate):
    key = FrameType

    def generic_resolve(self, value: Any, attr: str) -> Any:  # type: ignore[override]
        return value.members.get(attr)


@lower_getattr_generic(FrameType)
def _member(context: Any, builder: Any, kind: Any, value: Any, attribute: str) -> Any:
    table = builder.bitcast(value, ir.IntType(64).as_pointer())
    constant = builder.module.add_metadata([])

    def entry(k: int) -> Any:
        number = builder.load(builder.gep(table, [ir.IntType(64)(kind.places[attribute] + k)]))
        number.set_metadata("invariant.load", constant)  # frozen: no store in between can have changed it
        return number

    member = kind.members[attribute]
    if isinstance(member, FrameType):
        return builder.inttoptr(entry(0), cgutils.voidptr_t)
    array = context.make_array(member)(context, builder)
    data = builder.inttoptr(entry(0), array.data.type)
    shape = [entry(1 + axis) for axis in range(member.ndim)]
    itemsize = context.get_abi_sizeof(context.get_data_type(member.dtype))
    strides, items = [ir.IntType(64)(itemsize)], shape[-1]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(length, strides[0]))
    for length in shape[:-1]:
        items = builder.mul(items, length)
    array.meminfo, array.parent = (cgutils.get_null_value(x.type) for x in (array.meminfo, array.parent))
    array.nitems, array.itemsize, array.data = items, ir.IntType(64)(itemsize), data
    array.shape, array.strides = cgutils.pack_array(builder, shape), cgutils.pack_array(builder, strides)
    return array._getvalue()
