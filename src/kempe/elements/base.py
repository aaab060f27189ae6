"""What an element is: named fields (its data) and equations on the symbolic view of those fields.

A field says which coordinates it needs (``parts``), which numbers (``data``), what it looks like to the equations
(``symbolic``), and what makes two fields give the same equations (``structure``). Elements with equal equations share
one compiled kernel; only their coordinates and numbers differ. What is equal is decided by the equations themselves; an
equal structure is a shortcut that saves writing them out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kempe.elements.numbers import Number, number, positive, shown
from kempe.elements.sealing import Sealed
from kempe.elements.sources import Source
from kempe.elements.stiffness import row_stiffness
from kempe.errors import ModelError


@dataclass(frozen=True)
class Switch:
    """A way out of a mode: when ``guard`` falls from positive to zero, the element enters the mode ``target``.

    The guard may be made of coordinates, rates, time, latched values, multipliers (``x.lam``) and accelerations
    (``x.dd``). ``latch`` gives values to keep from that instant on (the approach speed of a contact), by the names in
    ``latches``. ``note`` says in words what happens, for the list of events.

    ``jump`` makes velocities jump: it maps constraint rows of the element to a restitution e. At that instant these
    rows act impulsively, so that their rate becomes -e times what it was, and all rows in force hold behind it; e = 0
    is plastic. ``kick`` is a generalised impulse of known size (made by ``x.push``). All jumps of one instant are found
    together. ``limit`` names the mode to enter when such switches follow each other ever faster (a ball that bounces
    to rest): it is entered with a plastic jump where what is left of the sequence is too short to matter, and at once
    where the restitution is zero.
    """

    source: str
    guard: Any
    target: str
    latch: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    #: Whether the run ends here.
    stops: bool = False
    #: Whether it ends there because a table's data do.
    leaves_data: bool = False
    #: False for switches that nobody needs to hear of.
    told: bool = True
    jump: Mapping[str, Any] = field(default_factory=dict)
    kick: Any = None
    limit: str | None = None


@dataclass(frozen=True)
class Followed:
    """What is followed along a motion while an element is out of its first mode, and told where it comes back to it.

    ``largest`` are values of which the largest is told, ``total`` rates of which the integral is.
    """

    largest: Mapping[str, Any] = field(default_factory=dict)
    total: Mapping[str, Any] = field(default_factory=dict)


class Limit(NamedTuple):
    """What must not fall below zero, whatever the parameters become; and what is said, and shown, where it does."""

    margin: Number
    words: str
    shown: Number
    #: Whether zero is too little.
    strict: bool = False


class Field(Sealed):
    """A datum of an element; see the module text. The default is a field without coordinates or numbers."""

    def parts(self) -> Iterable[Part]:
        """The parts whose coordinates are used."""
        return ()

    def data(self) -> Iterable[Number]:
        """The numbers used, in the order in which ``symbolic`` asks for them."""
        return ()

    def loads(self) -> Iterable[Element]:
        """The elements whose multipliers are used."""
        return ()

    def limits(self) -> Iterable[Limit]:
        """What its numbers must not become."""
        return ()

    def structure(self) -> Hashable:
        """Equal structures give equal equations."""
        return (type(self),)

    def symbolic(self, source: Source) -> Any:
        """The field as the equations see it."""
        raise NotImplementedError


class Scalar(Field):
    """One number."""

    def __init__(self, value: Number) -> None:
        self.value = value

    def data(self) -> Iterable[Number]:
        return (self.value,)

    def symbolic(self, source: Source) -> Any:
        return source.numbers([self.value])[0]


class Positive(Scalar):
    """A number that must be above zero, whatever the parameters become."""

    def __init__(self, value: Any, what: str) -> None:
        super().__init__(positive(value, what))
        self.what = what

    def limits(self) -> Iterable[Limit]:
        return (Limit(self.value, f"{self.what} must be above zero", self.value, strict=True),)


class Static(Field):
    """A fixed choice that is part of the equations (a word, an integer, None)."""

    def __init__(self, value: Hashable) -> None:
        self.value = value

    def structure(self) -> Hashable:
        return self.value

    def symbolic(self, source: Source) -> Any:
        return self.value


class Load(Field):
    """The multipliers of another element's rows, for forces and guards that depend on what a joint carries.

    The equations see a mapping from row name to multiplier. The joint exerts -Phi_q^T lambda: a revolute joint's
    multipliers "x" and "y" are the force on its second part.
    """

    def __init__(self, element: Element) -> None:
        if not isinstance(element, Element) or not element.rows:
            raise ModelError(f"a load is that of a joint or another element with constraints, not {element!r}")
        self.element = element

    def loads(self) -> Iterable[Element]:
        return (self.element,)

    def structure(self) -> Hashable:
        return (Load, self.element.rows)

    def symbolic(self, source: Source) -> Any:
        return source.multipliers(self.element)


class Group(Field):
    """Several fields in a fixed order, seen as a list."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self.fields = tuple(fields)

    def parts(self) -> Iterable[Part]:
        return [part for f in self.fields for part in f.parts()]

    def data(self) -> Iterable[Number]:
        return [value for f in self.fields for value in f.data()]

    def loads(self) -> Iterable[Element]:
        return [element for f in self.fields for element in f.loads()]

    def limits(self) -> Iterable[Limit]:
        return [limit for f in self.fields for limit in f.limits()]

    def structure(self) -> Hashable:
        return tuple(f.structure() for f in self.fields)

    def symbolic(self, source: Source) -> list[Any]:
        return [f.symbolic(source) for f in self.fields]


class Part(Field):
    """Something that owns coordinates: a body, a point, a scalar coordinate.

    ``channels`` names, for each coordinate, its value, its rate and its acceleration in results.
    """

    channels: ClassVar[tuple[tuple[str, str, str], ...]] = ()

    def __init__(self, name: str, start: Sequence[Number]) -> None:
        self.name = name
        self.start = tuple(start)

    def names(self) -> list[tuple[str, str, str]]:
        """The full names of value, rate and acceleration of each coordinate."""
        return [tuple(f"{self.name}.{c}" for c in channel) for channel in self.channels]  # type: ignore[misc]

    def is_angle(self) -> list[bool]:
        """Which coordinates are angles: whole turns of them are no movement."""
        return [channel[0] == "angle" for channel in self.channels]

    def spins(self) -> dict[str, tuple[int, bool, int]]:
        """Angular velocities by name, of a part whose axes are coordinates: a motion may start with them.

        Each is given by the first coordinate of the axes, whether it is along the part's own axes, and along which.
        """
        return {}

    def kinds(self) -> list[str]:
        """What each coordinate is: a kind that ``kinds`` knows, or any other word."""
        return ["angle" if angle else "position" for angle in self.is_angle()]

    def natural_scale(self) -> list[float]:
        """What counts as a movement of size one: 1 for an angle, NaN for a length (the mechanism's size decides)."""
        return [1.0 if angle else float("nan") for angle in self.is_angle()]

    def parts(self) -> Iterable[Part]:
        return (self,) if self.channels else ()

    def structure(self) -> Hashable:
        return (type(self),)

    def symbolic(self, source: Source) -> Any:
        return SimpleNamespace(**dict(zip([c[0] for c in self.channels], source.coordinates(self), strict=True)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def _remembering(init: Any) -> Any:
    """The constructor of an element, which keeps what it was given until the element is added: a file says it."""

    @functools.wraps(init)
    def wrapper(self: Element, *args: Any, **kwargs: Any) -> None:
        vars(self).setdefault("_given", (args, kwargs))
        init(self, *args, **kwargs)

    return wrapper


class Element(Sealed):
    """A joint, driver, bar or force: named fields, and equations on their symbolic view.

    A subclass passes its fields to ``super().__init__`` and defines any of

    - ``phi(x)``: constraint equations, named one by one in ``rows``;
    - ``kinetic(x)``: kinetic energy, or ``mass(x)``: the mass matrix M on the coordinates of ``parts()``, in their
      order, where it is known and large (the kinetic energy is then v^T M v / 2);
    - ``weight(x)`` and ``potential(x)``: potential energy, of gravity and elastic; their forces are derived, unless
      ``restoring(x)`` states that of the elastic energy;
    - ``damping(x)`` and ``force(x)``: generalised forces on its coordinates, those that dissipate and all others;
    - ``outputs(x)``: what results show under the element's name (the length and the tension of a spring).

    ``x`` has each field by its name, seen symbolically; ``x.t`` is the time, ``x.d(e)`` the rate of an expression e of
    the coordinates, and ``x.push(e, effort)`` the generalised force of an effort that does work on the change of e.

    ``x.lam[row]`` is the multiplier of one of its own rows (those of another element come with a ``Load`` field); it
    may stand in ``force``, ``damping`` and guards. ``x.dd(e)`` is the second derivative of e in time, for guards.

    Numbers that may differ from element to element belong into fields: then they are inputs of one compiled kernel, and
    may be design parameters. Any other attribute that the equations use (``self.size = 5``) is part of the mathematics:
    elements whose attributes differ get kernels of their own. Plain attributes (numbers, words, True and False, None,
    tuples of these), and parts and markers that are fields as well, cost nothing; with anything else (a list, an
    array, a function) the equations are written out for each element to see whether they are new. Name in ``aside``
    what the equations do not use.

    An element that switches names its ``modes`` and defines ``switches(x)`` and ``first_mode(x)``; ``x.mode(name, e)``
    is e in that mode and zero in any other, ``x.kept[name]`` a value latched when its mode began (at the start of a
    motion: what the first switch into that mode latches). ``row_modes`` names, for rows that are not always in force,
    the modes in which they are.
    """

    #: What a user calls it, where that is not the name of its class.
    called: ClassVar[str] = ""
    rows: tuple[str, ...] = ()
    #: For rows that are not always in force: the modes in which they are.
    row_modes: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    #: Of these the rows that hold in kinematics, where no force can open them.
    closed_rows: ClassVar[tuple[str, ...]] = ()
    #: Rows that give way to a load, because friction holds them: they are no joints.
    giving_rows: ClassVar[tuple[str, ...]] = ()
    #: True where the equations are M a = Q as written, the velocity terms of a varying M included in Q by the user.
    newtonian: ClassVar[bool] = False
    #: The modes of an element that switches; the mode is part of the state.
    modes: ClassVar[tuple[str, ...]] = ()
    #: Names of the values it latches.
    latches: ClassVar[tuple[str, ...]] = ()
    #: How stiff rows are, by name; the others are rigid (``elements.stiffness``).
    stiffnesses: Mapping[str, Number] = {}
    #: True where the rows keep one part rigid, in coordinates that could tear it: they carry nothing between parts.
    keeps_rigid: ClassVar[bool] = False
    #: True for elements that prescribe a motion; they are left out of the mobility count.
    drives: ClassVar[bool] = False
    #: Attributes the equations do not use (for drawings, say).
    aside: ClassVar[frozenset[str]] = frozenset(
        {"name", "rows", "fields", "auxiliary", "stiffnesses", "_owner", "_given"}
    )

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "__init__" in vars(cls):
            cls.__init__ = _remembering(cls.__init__)  # type: ignore[method-assign]

    def __init__(self, name: str, **fields: Any) -> None:
        vars(self).setdefault("_given", ((name,), fields))
        self.name = name
        self.fields: dict[str, Field] = {key: as_field(value, f"'{name}': {key}") for key, value in fields.items()}
        #: Coordinates that exist for this element only (a curve parameter, say); added to the model with it.
        self.auxiliary: list[Part] = []
        for f in self.fields.values():
            self.auxiliary += [p for p in f.parts() if getattr(p, "owner", None) is self]

    def stiffen(self, given: Any) -> None:
        """Say how stiff the rows are that are always in force: a number, a mapping by row, or a member."""
        if given is None:
            return
        what = f"{self.kind} '{self.name}'"
        rows = [row for row in self.rows if row not in self.row_modes]
        if not rows:
            raise ModelError(f"{what} has no constraint that a stiffness= could belong to")
        length = self.fields.get("length")
        span = length.value if isinstance(length, Scalar) else None
        self.stiffnesses = row_stiffness(what, given, rows, self.row_kinds(), span)

    def _open(self) -> frozenset[str]:
        return self.aside - Element.aside

    def phi(self, x: Any) -> Any:
        """The constraint equations, one for each of ``rows``."""
        raise NotImplementedError(f"{type(self).__name__} has no constraint equations")

    def kinetic(self, x: Any) -> Any:
        """The kinetic energy."""
        raise NotImplementedError(f"{type(self).__name__} has no inertia")

    def mass(self, x: Any) -> Any:
        """The mass matrix, symmetric; None where it is to be derived from the kinetic energy."""
        return None

    def weight(self, x: Any) -> Any:
        """The potential energy of gravity."""
        return 0.0

    def potential(self, x: Any) -> Any:
        """The elastic energy."""
        return 0.0

    def restoring(self, x: Any) -> Any:
        """The generalised force of the elastic energy, where it is better said than derived; None: it is derived."""
        return None

    def damping(self, x: Any) -> Any:
        """The generalised force that dissipates, on the coordinates of ``parts()``, in their order."""
        return 0.0

    def force(self, x: Any) -> Any:
        """The generalised force on the coordinates of ``parts()``, in their order."""
        return 0.0

    def outputs(self, x: Any) -> dict[str, Any]:
        """Histories that results have of the element, by name, as expressions of coordinates, rates and time."""
        return {}

    def output_kinds(self) -> Mapping[str, str]:
        """What its outputs are ("force", "length", see ``kinds``), by name; those left out are told by their names."""
        return {}

    def row_kinds(self) -> Mapping[str, str]:
        """What its constraint rows measure, by name: multipliers of lengths are forces, those of angles moments."""
        return {}

    def switches(self, x: Any) -> list[Switch]:
        """The ways out of each mode."""
        return []

    def first_mode(self, x: Any) -> Any:
        """The number of the mode at the start of a motion."""
        return 0.0

    def followed(self, x: Any) -> Followed:
        """What is followed along a motion while it is out of its first mode."""
        return Followed()

    def touch(self, x: Any) -> Any:
        """How it touches, for an element whose modes are chosen together with others (``elements.touching``)."""
        return None

    @property
    def has_inertia(self) -> bool:
        """Whether the element contributes kinetic energy."""
        return type(self).kinetic is not Element.kinetic or type(self).mass is not Element.mass

    def parts(self) -> list[Part]:
        """The parts whose coordinates the element touches, each once."""
        return list(dict.fromkeys(part for f in self.fields.values() for part in f.parts()))

    def data(self) -> list[Number]:
        """The element's numbers in the order in which its kernels read them."""
        return [value for f in self.fields.values() for value in f.data()]

    def limits(self) -> list[Limit]:
        """What its numbers must not become."""
        return [limit for f in self.fields.values() for limit in f.limits()]

    def loads(self) -> list[Element]:
        """The other elements whose multipliers it uses, each once."""
        return list(dict.fromkeys(element for f in self.fields.values() for element in f.loads()))

    def conditional_rows(self) -> list[str]:
        """The rows that are in force in some modes only, in order."""
        return [row for row in self.rows if row in self.row_modes]

    def structure(self) -> Hashable | None:
        """Elements of equal structure have equal equations; None where only the equations themselves can tell."""
        places = {part: k for k, part in enumerate(self.parts())}
        shared = tuple(places[part] for f in self.fields.values() for part in f.parts())
        known = _within(self.fields.values())
        if not all(map(_says_its_structure, map(type, known))):
            return None
        number = {id(f): k for k, f in enumerate(known)}
        own = []
        for key in sorted(vars(self).keys() - self.aside):
            plain = _plain(getattr(self, key), number)
            if plain is None:
                return None
            own.append((key, plain))
        fields = tuple((key, f.structure()) for key, f in self.fields.items())
        return (type(self), len(self.rows), shared, tuple(own), *fields)

    def view(self, source: Source) -> SimpleNamespace:
        """The fields as the equations see them."""
        x = SimpleNamespace(t=source.t, d=source.rate, dd=source.second_rate, push=source.push)
        x.lam = source.multipliers(self)
        for key, f in self.fields.items():
            setattr(x, key, f.symbolic(source))
        if self.modes:
            x.mode, x.kept = source.hybrid(self)
        return x

    def drives_rows(self) -> list[bool]:
        """Which rows prescribe a motion."""
        return [self.drives] * len(self.rows)

    def row_label(self, row: str) -> str:
        """A row as a user reads it."""
        return f"{self.name}.{row}"

    def row_owner(self, row: str) -> str:
        """Whom to name when a row is the trouble."""
        return self.name

    @property
    def shown_as(self) -> str:
        """Under whose name results have its outputs."""
        return self.name

    @property
    def kind(self) -> str:
        """The element's type as a user would call it."""
        return kind_of(type(self))

    def told(self) -> str:
        return f"{self.kind} '{vars(self).get('name', '')}'"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def _within(fields: Iterable[Any]) -> list[Field]:
    """Fields, and the fields they are made of (the points of a group, the carrier of a marker), each once, in order."""
    found: dict[int, Field] = {}

    def look(value: Any) -> None:
        if isinstance(value, (list, tuple)):
            for item in value:
                look(item)
        elif isinstance(value, Field) and id(value) not in found:
            found[id(value)] = value
            if not isinstance(value, (Scalar, Static, Part)):
                look(list(vars(value).values()))

    look(list(fields))
    return list(found.values())


@cache
def _says_its_structure(kind: type[Field]) -> bool:
    """Whether the structure of a kind of field can be relied on: of a class from elsewhere only if it is its own."""
    return kind.__module__.startswith("kempe.") or "structure" in vars(kind)


def _plain(value: Any, number: Mapping[int, int]) -> Hashable | None:
    """An attribute as part of a key: a plain value with its type, a known field by its number; None for all else."""
    if isinstance(value, Field):
        return ("field", number[id(value)]) if id(value) in number else None
    if isinstance(value, tuple):
        items = tuple(_plain(item, number) for item in value)
        return None if None in items else ("tuple", *items)
    if isinstance(value, dict):
        items = tuple(_plain(item, number) for pair in value.items() for item in pair)
        return None if None in items else ("dict", *items)
    simple = value is None or isinstance(value, np.generic) or type(value) in (bool, int, float, str)
    return (type(value), value) if simple else None


def as_field(value: Any, what: str) -> Field:
    """A value given to an element as a field: fields as they are, words and None as fixed choices, else a number."""
    if isinstance(value, Field):
        return value
    if value is None or isinstance(value, (str, bool)):
        return Static(value)
    if isinstance(value, (list, tuple)):
        return Group(as_field(item, f"{what}[{k}]") for k, item in enumerate(value))
    return Scalar(number(value, what))


def kind_of(element: Any) -> str:
    """An element class as a user would call it: its name in words."""
    if vars(element).get("called"):
        return str(element.called)
    return re.sub(r"(?<!^)(?=[A-Z])", " ", element.__name__).lower()


#: The longest name, in characters.
LONGEST_NAME = 200


def check_name(name: Any, what: str) -> str:
    """A usable name: a short line of text without dots, which separate names in results, and without braces."""
    if not isinstance(name, str) or not name.strip():
        raise ModelError(f"a {what} needs a name: a non-empty string, not {shown(name)}")
    if len(name) > LONGEST_NAME:
        raise ModelError(f"the name {shown(name)} is too long (at most {LONGEST_NAME} characters)")
    if "." in name:
        raise ModelError(f"the name '{name}' contains a dot, which separates part and quantity in results")
    if not name.isprintable() or name != name.strip():
        raise ModelError(f"the name {name!r} begins or ends with a space, or has characters that cannot be shown")
    if "{" in name or "}" in name:
        raise ModelError(f"the name '{name}' contains a brace; braces enclose names in expressions")
    if name == "t" and what in ("parameter", "coordinate", "angle coordinate", "measure", "quantity"):
        raise ModelError(f"a {what} cannot be called 't', which is the time in results and expressions")
    return str(name)
