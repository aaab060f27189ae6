"""Elements of the user's own classes in files: the class by module and name, and the arguments it was made with.

To read such an entry runs code of that module, which only the user can allow: by naming the module as trusted. The
arguments say what they are, as no builder method does it for them: ``{part: crank}``, ``{expression: 2 * L}``.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from kempe import elements as el
from kempe.elements.curves import curve
from kempe.elements.motions import Law, as_law
from kempe.elements.quantities import Measure, Quantity
from kempe.errors import ModelError


class Unsaid:
    """What stands in a record for an argument that no file can say; a function, say, which could not travel either."""

    def __init__(self, what: str) -> None:
        self.what = what


def made_with(element: el.Element, given: tuple[tuple[Any, ...], dict[str, Any]]) -> dict[str, Any]:
    """The arguments of an element's class by name, as they are now: what becomes of lists afterwards was not said."""
    try:
        bound = inspect.signature(type(element)).bind(*given[0], **given[1]).arguments
    except TypeError:  # the class decided about its arguments in a way of its own
        return {"": Unsaid("arguments that its signature does not have")}
    return {name: _as_given(value) for name, value in bound.items()}


def _as_given(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_as_given(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _as_given(item) for key, item in value.items()}
    known = (str, bool, int, float, np.number, ca.SX, el.Field, el.Element)
    if value is None or isinstance(value, known):
        return value
    return Unsaid("a function" if callable(value) else f"a {type(value).__name__}")


# --- writing -------------------------------------------------------------------------------------------------------


def described(writer: Any, element: el.Element, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """An element as an entry of a file."""
    what = f"'{element.name}' cannot be written to a file"
    said = {name: _said(writer, value, f"{what}: its argument '{name}'") for name, value in arguments.items()}
    if said.get("name") == element.name:
        del said["name"]
    path = _importable(type(element), what)
    if not _alike(element, _remade(type(element), arguments)):
        raise ModelError(f"{what}: it was changed after it was made, and a file can say how it is made only")
    return {"element": path, "name": element.name, **({"arguments": said} if said else {})}


def _importable(kind: type, what: str) -> str:
    """Where a class is found by another program."""
    module = sys.modules.get(kind.__module__)
    if kind.__module__ == "__main__" or getattr(module, kind.__qualname__, None) is not kind:
        raise ModelError(
            f"{what}: its class {kind.__qualname__} belongs to the program that runs; put it into a module of its own, "
            "where another program can import it"
        )
    return f"{kind.__module__}.{kind.__qualname__}"


def _said(writer: Any, value: Any, what: str) -> Any:
    """An argument with what it is."""
    if value is None or isinstance(value, (str, bool, int, float, np.number)):
        return writer.value(value)
    if isinstance(value, ca.SX):
        written = writer.value(value)
        return {"expression": written} if isinstance(written, str) else written
    if isinstance(value, list):
        return [_said(writer, item, what) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"mapping": {key: _said(writer, item, what) for key, item in value.items()}}
    if isinstance(value, el.Element):
        return {"element": value.name}
    if isinstance(value, el.Load):
        return {"load": value.element.name}
    kinds: dict[str, Any] = {
        "measure": Measure,
        "quantity": (Quantity, el.Component),
        "law": Law,
        "friction": el.FrictionLaw,
        "contact": el.ContactLaw,
        "curve": curve,
        "part": (el.Carrier, el.Part, el.Marker),
    }
    for kind, classes in kinds.items():
        if isinstance(value, classes):
            return {kind: writer.value(value)}
    words = value.what if isinstance(value, Unsaid) else f"a {type(value).__name__}"
    raise ModelError(f"{what} is {words}; a file can say numbers, text, parts, quantities, laws, curves")


def _remade(kind: type, arguments: Mapping[str, Any]) -> Any:
    """Another element, made with the same arguments."""
    signature = inspect.signature(kind)
    unknown = [name for name in arguments if name not in signature.parameters]
    if unknown:
        near = difflib.get_close_matches(unknown[0], list(signature.parameters), n=1)
        raise ModelError(
            f"{kind.__name__} takes no argument '{unknown[0]}'{f'; did you mean {near[0]}?' if near else ''}"
        )
    bound = inspect.BoundArguments(signature, OrderedDict(arguments))
    return kind(*bound.args, **bound.kwargs)


def _alike(one: Any, two: Any, seen: tuple[int, ...] = ()) -> bool:
    """Whether two things hold the same; those that belong to the model must be the same themselves."""
    if one is two or id(one) in seen:
        return True
    if isinstance(one, ca.SX) or isinstance(two, ca.SX):
        one, two = ca.SX(one), ca.SX(two)
        return one.shape == two.shape and bool(ca.is_equal(one, two, 10**6))
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        return np.array_equal(one, two)
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)):
        return len(one) == len(two) and all(_alike(a, b, seen) for a, b in zip(one, two, strict=True))
    if isinstance(one, (set, frozenset)):
        return bool(one == two)
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return list(one) == list(two) and all(_alike(one[key], two[key], seen) for key in one)
    if callable(one) or type(one) is not type(two) or not hasattr(one, "__dict__"):
        return bool(one == two)
    mine, other = (
        {key: value for key, value in vars(thing).items() if key not in ("_owner", "_given")} for thing in (one, two)
    )
    return _alike(mine, other, (*seen, id(one)))


# --- reading -------------------------------------------------------------------------------------------------------


def built(builder: Any, trust: str | Iterable[str], element: str, name: str, arguments: Mapping[str, Any]) -> Any:
    """The element of an entry, added to the model."""
    kind = _class(element, name, trust)
    given = {key: _read(builder, value) for key, value in arguments.items()}
    if "name" in inspect.signature(kind).parameters:
        given = {"name": name, **given}
    try:
        made = _remade(kind, given)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"'{name}': {element} cannot be made of these arguments: {error}") from None
    if made.name != name:
        raise ModelError(f"'{name}': {element} calls itself '{made.name}' with these arguments")
    return builder.model.add(made)


def trusted(path: str, trust: str | Iterable[str]) -> bool:
    """Whether the module of a class, or a package around it, is among the trusted ones; Kempe's own elements are."""
    names = [trust] if isinstance(trust, str) else list(trust) if isinstance(trust, Iterable) else [None]
    if not all(isinstance(name, str) for name in names):
        raise ModelError(f'trust names modules, as in trust=["my_springs"], not {el.shown(trust)}')
    return any(path.startswith(f"{one}.") for one in ("kempe.elements", *names))


def _class(path: str, name: str, trust: str | Iterable[str]) -> type:
    """The class of an entry; its module is imported only where it is trusted, or Kempe's own."""
    module, _, short = path.rpartition(".")
    if not module:
        raise ModelError(f"'{name}': element must be a module and a class, like my_joints.LeafSpring, not '{path}'")
    if not trusted(path, trust):
        raise ModelError(
            f"'{name}' is a {short} of the module {module}; to read it runs the code of that module. If you trust it: "
            f'kp.load(..., trust=["{module}"]), or --allow {module} on the command line'
        )
    try:
        kind = getattr(importlib.import_module(module), short, None)
    except Exception as error:
        raise ModelError(f"'{name}': the module {module} cannot be imported ({error})") from None
    if not (inspect.isclass(kind) and issubclass(kind, el.Element)):
        raise ModelError(f"'{name}': there is no class of elements {short} in {module}")
    return kind


def _read(builder: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_read(builder, item) for item in value]
    if not isinstance(value, dict):
        return value
    kind, said = next(iter(value.items()))
    return _READERS[kind](builder, said)


def _element(builder: Any, name: Any) -> el.Element:
    found = builder.model.elements.get(name)
    if found is None:
        raise ModelError(f"there is no joint or force '{name}' before this entry")
    return found


_READERS = {
    "part": lambda builder, said: builder._part(said),
    "expression": lambda builder, said: builder._number(said),
    "quantity": lambda builder, said: builder._quantity(said),
    "measure": lambda builder, said: Measure(builder._quantity(said)),
    "law": lambda builder, said: as_law(builder._law(said), "law"),
    "friction": lambda builder, said: builder._friction(said),
    "contact": lambda builder, said: builder._contact(said),
    "curve": lambda builder, said: builder._curve(said),
    "element": _element,
    "load": lambda builder, said: el.Load(_element(builder, said)),
    "mapping": lambda builder, said: {key: _read(builder, item) for key, item in said.items()},
}
