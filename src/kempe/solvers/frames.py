"""Numbers and arrays under names, handed to compiled code as one pointer.

Numba flattens a tuple of arrays into machine arguments, seven or nine to an array, at every call; with thirty arrays
that costs more than the arithmetic of a small mechanism, and most of the time it takes to compile it. A ``Frame`` has
named fields: arrays, single numbers (``Real``, ``Count``) and other frames. Compiled code gets the address of a table
with the places and lengths of its arrays and with the single numbers themselves, and reads from it what it uses;
single numbers can be assigned to. Arrays read from a frame are not counted: the caller keeps the frame alive, and
compiled code must not keep them.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, models, register_model, unbox

Floats = Annotated[np.ndarray, types.Array(types.float64, 1, "C")]
FloatRows = Annotated[np.ndarray, types.Array(types.float64, 2, "C")]
FloatBlocks = Annotated[np.ndarray, types.Array(types.float64, 3, "C")]
Ints = Annotated[np.ndarray, types.Array(types.int64, 1, "C")]
IntRows = Annotated[np.ndarray, types.Array(types.int64, 2, "C")]
Complexes = Annotated[np.ndarray, types.Array(types.complex128, 1, "C")]
ComplexRows = Annotated[np.ndarray, types.Array(types.complex128, 2, "C")]
#: Single numbers: they live in the frame itself.
Real = Annotated[float, types.float64]
Count = Annotated[int, types.int64]


class FrameType(types.Type):
    """The type of a frame in compiled code: that of its class."""

    def __init__(self, frame: type[Frame]) -> None:
        self.members: dict[str, Any] = {}
        self.places: dict[str, int] = {}
        at = 0
        for name, hint in get_type_hints(frame, include_extras=True).items():
            kind = frame_type(hint) if isinstance(hint, type) and issubclass(hint, Frame) else get_args(hint)[1]
            self.members[name], self.places[name] = kind, at
            at += 1 + kind.ndim if isinstance(kind, types.Array) else 1
        self.size = at
        super().__init__(f"{frame.__module__}.{frame.__qualname__}")


class _Form:
    """How frames of a class are filled."""

    def __init__(self, kind: FrameType) -> None:
        self.members = kind.members
        #: Single numbers.
        self.numbers = frozenset(name for name, member in kind.members.items() if isinstance(member, types.Number))
        #: Fields whose place compiled code knows: they cannot be exchanged.
        self.fixed = frozenset(kind.members) - self.numbers
        placed = [(name, kind.places[name], member) for name, member in kind.members.items()]
        #: Of these the frames and the arrays, each with where its entries in the table begin.
        self.frames = [entry for entry in placed if isinstance(entry[2], FrameType)]
        self.arrays = [
            (name, at, at + 1 + member.ndim, np.dtype(str(member.dtype)))
            for name, at, member in placed
            if isinstance(member, types.Array)
        ]
        self.size = kind.size
        self.table = struct.Struct(f"{kind.size}q")


def frame_type(frame: type[Frame]) -> FrameType:
    """The type of a class of frames in compiled code."""
    if frame not in _types:
        kind = FrameType(frame)
        frame._form, frame._numba_type_ = _Form(kind), kind
        _types[frame] = kind
        for name, member in kind.members.items():
            if isinstance(member, types.Number):
                setattr(frame, name, _number(kind.places[name], member is types.int64))
    return _types[frame]


_types: dict[type[Frame], FrameType] = {}
F = TypeVar("F", bound="Frame")


def _number(place: int, whole: bool) -> property:
    """A single number of a frame as Python sees it: it lives in the table that compiled code reads."""

    def read_count(self: Frame) -> int:
        return self._table.item(place)  # type: ignore[no-any-return]

    def write_count(self: Frame, value: int) -> None:
        self._table[place] = value

    def read(self: Frame) -> float:
        return self._reals.item(place)  # type: ignore[no-any-return]

    def write(self: Frame, value: float) -> None:
        self._reals[place] = value

    return property(read_count, write_count) if whole else property(read, write)


class Frame:
    """Base class of frames: subclasses only name their fields, with types."""

    if TYPE_CHECKING:  # (what is annotated here would be a field)
        _form: ClassVar[_Form]
        _numba_type_: ClassVar[FrameType]
        _table: np.ndarray
        _reals: np.ndarray
        address: int

    def __init__(self, *given: Any, **named: Any) -> None:
        frame_type(type(self))  # (made with the first of its frames)
        form = self._form
        if len(given) > len(form.members):
            raise TypeError(f"{type(self).__name__} has {len(form.members)} fields, not {len(given)}")
        values = dict(zip(form.members, given, strict=False))
        if not values.keys().isdisjoint(named):
            twice = [name for name in named if name in values]
            raise TypeError(f"{type(self).__name__}: {twice[0]!r} is given twice")
        values |= named
        if not form.members.keys() >= values.keys():
            unknown = [name for name in values if name not in form.members]
            raise TypeError(f"{type(self).__name__} has no field {unknown[0]!r}")
        if not values.keys() >= form.fixed:
            lacking = [name for name in form.members if name in form.fixed and name not in values]
            raise TypeError(f"{type(self).__name__} lacks {lacking[0]!r}")
        own, entries = self.__dict__, [0] * form.size
        for name, at, member in form.frames:
            value = own[name] = values[name]
            if not isinstance(value, Frame) or value._numba_type_ is not member:
                raise TypeError(f"{type(self).__name__}.{name} must be a {member}")
            entries[at] = value.address
        for name, at, end, dtype in form.arrays:
            value = own[name] = values[name]
            shape = value.shape if isinstance(value, np.ndarray) and value.dtype == dtype else ()
            if at + 1 + len(shape) != end or (place := _address(value)) is None:
                raise TypeError(f"{type(self).__name__}.{name} must be a contiguous {form.members[name]}")
            entries[at:end] = place, *shape
        table: Any = np.zeros(form.size, dtype=np.int64)
        form.table.pack_into(table, 0, *entries)
        own["_table"], own["_reals"], own["address"] = table, table.view(np.float64), _placed(table)
        for name in form.numbers & values.keys():
            setattr(self, name, values[name])

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._form.fixed:
            raise TypeError(f"{type(self).__name__}.{name} cannot be assigned to: fill it, or use changed()")
        object.__setattr__(self, name, value)

    def fields(self) -> dict[str, Any]:
        """All fields by name."""
        return {name: getattr(self, name) for name in self._form.members}

    def frames(self) -> list[Frame]:
        """The frame itself and those within, each once."""
        found = [self]
        for name, _, _ in self._form.frames:
            found += [frame for frame in self.__dict__[name].frames() if frame not in found]
        return found

    def snapshot(self) -> list[tuple[Frame, np.ndarray]]:
        """The single numbers of the frame and of those within, to be put back by ``put_back``."""
        return [(frame, frame._table.copy()) for frame in self.frames()]

    def arrays(self) -> list[np.ndarray]:
        """The arrays of the frame and of those within."""
        own = self.__dict__
        found = [own[name] for name, _, _, _ in self._form.arrays]
        for name, _, _ in self._form.frames:
            found += own[name].arrays()
        return found

    def changed(self: F, **changes: Any) -> F:
        """The same frame with some fields in place of its own; arrays are shared."""
        return type(self)(**{**self.fields(), **changes})

    def contents(self) -> Iterator[tuple[str, Any]]:
        """Arrays and single numbers by dotted name, those of frames within included."""
        for name, value in self.fields().items():
            if isinstance(value, Frame):
                yield from ((f"{name}.{inner}", kept) for inner, kept in value.contents())
            else:
                yield name, value

    def restore(self, values: dict[str, Any]) -> None:
        """Take over arrays and single numbers that ``contents`` gave."""
        for name, member in self._form.members.items():
            if isinstance(member, FrameType):
                inner = {key[len(name) + 1 :]: value for key, value in values.items() if key.startswith(f"{name}.")}
                getattr(self, name).restore(inner)
            elif name in values and isinstance(member, types.Number):
                setattr(self, name, values[name][()] if isinstance(values[name], np.ndarray) else values[name])
            elif name in values:
                getattr(self, name)[...] = values[name]

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), {name: _View.of(value) for name, value in self.fields().items()})


def _address(array: np.ndarray) -> int | None:
    """Where the numbers of an array are, if side by side: ``array.ctypes.data`` at a tenth of its time."""
    try:
        return _placed(array)
    except (TypeError, ValueError, BufferError):  # not side by side, or not to be written to
        return int(array.ctypes.data) if array.flags.c_contiguous else None


_NO_BYTES = ctypes.c_char * 0


def _placed(array: Any) -> int:
    """Where the numbers of an array begin that lie side by side and may be written to."""
    return ctypes.addressof(_NO_BYTES.from_buffer(array))


class _View(NamedTuple):
    """A part of an array as it is pickled, so that memory that two fields share is shared where it arrives."""

    whole: np.ndarray
    at: int
    shape: tuple[int, ...]

    @classmethod
    def of(cls, value: Any) -> Any:
        """A view of a whole array of the same type as such; anything else as it is."""
        whole = value.base if isinstance(value, np.ndarray) else None
        if not isinstance(whole, np.ndarray) or whole.dtype != value.dtype or not whole.flags.c_contiguous:
            return value
        return cls(whole, (value.ctypes.data - whole.ctypes.data) // value.itemsize, value.shape)

    def taken(self) -> np.ndarray:
        """The part."""
        return self.whole.reshape(-1)[self.at : self.at + int(np.prod(self.shape))].reshape(self.shape)


def put_back(snapshot: list[tuple[Frame, np.ndarray]]) -> None:
    """Give frames the single numbers that they had at a snapshot; their arrays stay as they are."""
    for frame, table in snapshot:
        frame._table[:] = table


def _rebuilt(kind: type[Frame], values: dict[str, Any]) -> Frame:
    return kind(**{name: value.taken() if isinstance(value, _View) else value for name, value in values.items()})


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


def _slot(context: Any, builder: Any, kind: Any, value: Any, place: int) -> Any:
    table = builder.bitcast(value, ir.IntType(64).as_pointer())
    return builder.gep(table, [ir.IntType(64)(place)])


@lower_getattr_generic(FrameType)
def _member(context: Any, builder: Any, kind: Any, value: Any, attribute: str) -> Any:
    constant = builder.module.add_metadata([])

    def entry(k: int) -> Any:
        number = builder.load(_slot(context, builder, kind, value, kind.places[attribute] + k))
        number.set_metadata("invariant.load", constant)  # frozen: no store in between can have changed it
        return number

    member = kind.members[attribute]
    if isinstance(member, types.Number):
        slot = _slot(context, builder, kind, value, kind.places[attribute])
        return builder.load(builder.bitcast(slot, context.get_value_type(member).as_pointer()))
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


@lower_setattr_generic(FrameType)
def _assign(context: Any, builder: Any, sig: Any, args: Any, attribute: str) -> None:
    kind, given = sig.args
    member = kind.members[attribute]
    if not isinstance(member, types.Number):
        raise TypeError(f"only single numbers of a frame can be assigned to, not '{attribute}'")
    slot = _slot(context, builder, kind, args[0], kind.places[attribute])
    value = context.cast(builder, args[1], given, member)
    builder.store(value, builder.bitcast(slot, context.get_value_type(member).as_pointer()))
