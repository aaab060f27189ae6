"""What mechanisms in the plane and in space have in common as containers that a user fills."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

import casadi as ca
import numpy as np

from kempe import elements as el
from kempe.calling import explained_methods
from kempe.elements.base import kind_of
from kempe.elements.forces import characteristic
from kempe.elements.sealing import seal
from kempe.errors import ModelError
from kempe.model.model import Model
from kempe.model.own_elements import made_with

P = ParamSpec("P")
E = TypeVar("E", bound=el.Element)
F = TypeVar("F", bound=el.Element)
E_co = TypeVar("E_co", bound=el.Element, covariant=True)
P_ = TypeVar("P_", bound=el.Part)
R = TypeVar("R")
B = TypeVar("B", bound="Builder")


def recorded(method: Callable[Concatenate[B, P], R]) -> Callable[Concatenate[B, P], R]:
    """A builder method whose successful calls are remembered, so that the model can be saved as it was described."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def wrapper(self: B, /, *args: P.args, **kwargs: P.kwargs) -> R:
        result = method(self, *args, **kwargs)
        arguments = dict(signature.bind(self, *args, **kwargs).arguments)
        arguments.pop("self", None)
        self._record(method.__name__, {key: value for key, value in arguments.items() if value is not None})
        return result

    wrapper.recorded = True  # type: ignore[attr-defined]
    return wrapper


@contextmanager
def named(kind: str, name: Any) -> Iterator[None]:
    """What is wrong with an element is said with its name."""
    try:
        yield
    except ModelError as error:
        if not isinstance(name, str) or f"'{name}'" in str(error):
            raise
        raise ModelError([f"{kind} '{name}': {finding}" for finding in error.findings]) from error


def adds(element: Callable[P, E]) -> Callable[Concatenate[Builder, P], E]:
    """A method that makes an element of the given class and adds it to the mechanism."""

    def method(self: Builder, /, *args: P.args, **kwargs: P.kwargs) -> E:
        with named(kind_of(element), args[0] if args else kwargs.get("name")):
            return Model.add(self, element(*args, **kwargs))

    def remembering(self: Builder, /, *args: P.args, **kwargs: P.kwargs) -> E:
        result = method(self, *args, **kwargs)
        self._record(verb_of(element), _named_arguments(element, args, kwargs))
        return result

    own = inspect.signature(element)
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    shown: Any = remembering  # with the class's text and arguments, for help() and editors
    shown.__doc__, shown.__name__ = element.__doc__, verb_of(element)
    shown.__signature__ = own.replace(parameters=[this, *own.parameters.values()], return_annotation=element)
    shown.recorded, shown.makes = True, element
    return remembering


class MayBeUnnamed(Protocol[P, E_co]):
    """A builder method whose name may be left out; it is then made of the method's and the part's."""

    @overload
    def __call__(self, name: str, /, *args: P.args, **kwargs: P.kwargs) -> E_co: ...

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> E_co: ...


def adds_unnamed(element: Callable[Concatenate[str, P], E]) -> MayBeUnnamed[P, E]:
    """A method that makes an element of the given class, finds it a name if it has none, and adds it."""
    method: Callable[..., E] = adds(element)

    @functools.wraps(method)
    def wrapper(self: Builder, /, *args: Any, **kwargs: Any) -> E:
        if "name" not in kwargs and (not args or isinstance(args[0], el.Field)):
            part = args[0] if args else kwargs.get("part")
            owner = getattr(part, "name", "nothing").partition(".")[0]
            args = (self.free_name(f"{method.__name__} on {owner}"), *args)
        return method(self, *args, **kwargs)

    return wrapper  # type: ignore[return-value]  # (a function of the class is bound; a protocol cannot say so)


def adds_touching(rigid: Callable[..., E], pressing: Callable[..., F]) -> Callable[..., E | F]:
    """A method that adds a rigid contact, or one that presses where a contact law is given."""

    def method(self: Builder, /, *args: Any, contact: Any = None, **kwargs: Any) -> E | F:
        signature.bind(self, *args, **kwargs)  # what does not fit is told with all that there is
        with named(kind_of(rigid), args[0] if args else kwargs.get("name")):
            if contact is None:
                found: E | F = Model.add(self, rigid(*args, **kwargs))
            else:
                either("contact=", restitution=kwargs.get("restitution"), law=kwargs.get("law"))
                found = Model.add(self, pressing(*args, contact=contact, **kwargs))
        law = {} if contact is None else {"contact": contact}
        self._record(verb_of(rigid), {**dict(own.bind_partial(*args, **kwargs).arguments), **law})
        return found

    own, keyword = inspect.signature(rigid), inspect.Parameter.KEYWORD_ONLY
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    law = inspect.Parameter("contact", keyword, default=None, annotation=Any)
    shown: Any = method
    shown.__name__ = verb_of(rigid)
    shown.__doc__ = f"""{inspect.getdoc(rigid)}

With ``contact``, a contact law, the surfaces press into each other instead, and friction is a smooth law; see
:class:`kempe.elements.{pressing.__name__}`."""
    signature = own.replace(parameters=[this, *own.parameters.values(), law], return_annotation=rigid)
    shown.__signature__, shown.recorded, shown.makes = signature, True, rigid
    return method


def either(word: str, **given: Any) -> None:
    """What does not go together with clearance, or with a contact law."""
    for key, value in given.items():
        if value is not None:
            raise ModelError(f"{key}= does not go with {word}, where a contact law says how it touches")


def loose(clearance: Any, contact: Any, **given: Any) -> bool:
    """Whether a joint has clearance with contact forces; what was said of those needs both."""
    said = [f"{key}=" for key, value in {"contact": contact, **given}.items() if value is not None]
    if clearance is None and said:
        raise ModelError(f"{' and '.join(said)} is for joints with clearance: give clearance= too")
    if clearance is not None and contact is None:
        raise ModelError("a joint with clearance= has a contact law: give contact=kp.LankaraniNikravesh(...), say")
    return clearance is not None


def tight(stiffness: Any, **play: Any) -> None:
    """A stiffness is that of a constraint, which a joint with play has none of."""
    for key, value in play.items():
        if stiffness is not None and value is not None:
            raise ModelError(f"stiffness= does not go with {key}=: a joint with play holds nothing for good")


def verb_of(element: Any) -> str:
    """The builder method of an element class: its name in words, joined by underscores."""
    return kind_of(element).replace(" ", "_")


def _as_given(key: str, value: Any) -> Any:
    """An argument as it is now: what the user does to lists and arrays afterwards is not what was said.

    Functions are kept as the expressions they return, which can be written and sent to other processes.
    """
    if isinstance(value, (list, tuple)):
        return [_as_given(key, item) for item in value]
    if isinstance(value, dict):
        return {name: _as_given(key, item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.copy() if value.ndim else value.item()
    if not callable(value) or isinstance(value, (ca.SX, el.Field)):
        return value
    return characteristic(value, "", key)[1] if key == "law" else el.motions.traced(value, key)


def _named_arguments(element: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    return dict(inspect.signature(element).bind(*args, **kwargs).arguments)


@explained_methods
class Builder(Model):
    """A mechanism, planar or spatial: parts and the joints and drivers between them."""

    ground: el.Ground

    def __init__(self, name: str = "mechanism", *, gravity: Any = None, units: Any = None) -> None:
        super().__init__(name)
        self.units = units
        acting = self.space.origin if gravity is None else self.space.vector(gravity, f"mechanism '{name}': gravity")
        self._gravity = el.Gravity(acting)
        vars(self)["ground"] = seal(el.Ground(self.space), self.name)
        self._recipe: list[tuple[str, dict[str, Any]]] = []

    @property
    def gravity(self) -> tuple[el.Number, ...]:
        """The acceleration of gravity of all parts, those that are there and those to come; it may be assigned to."""
        return tuple(self._gravity.data())

    @gravity.setter
    def gravity(self, gravity: Any) -> None:
        values = self.space.vector(gravity, f"mechanism '{self.name}': gravity")
        self._own_parameters(values, "gravity")
        self._let_go()  # (the bodies of results have this gravity)
        self._gravity.change(values)
        self._changed()

    @property
    def recipe(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        """The builder calls in order: what a file has to say."""
        return tuple(self._recipe)

    def _record(self, verb: str, arguments: dict[str, Any]) -> None:
        self._recipe.append((verb, {k: _as_given(k, value) for k, value in arguments.items() if k != "function"}))

    def __getitem__(self, name: str) -> Any:
        """A part, element or parameter by its name; of a bar or plate what its method returned."""
        found = super().__getitem__(name)
        return found.carrier if isinstance(found, el.RigidLink) else found

    def add(self, element: E) -> E:
        """Add an element of one's own class, or one that was made before; its name must be new.

        A file describes it by its class, if that can be imported, and by what it was made with.
        """
        given = vars(element).get("_given") if isinstance(element, el.Element) else None
        super().add(element)
        if given is None:
            return element
        verb = verb_of(type(element))
        if getattr(getattr(type(self), verb, None), "makes", None) is type(element):
            self._record(verb, _named_arguments(type(element), *given))
        else:
            self._record("add", {"name": element.name, "arguments": made_with(element, given)})
        return element

    def _with_inertia(self, part: P_, kind: str, inertial: el.Element | None) -> P_:
        """Add a part and, if it has one, its inertia: both or neither."""
        if inertial is not None:
            self._own_parameters(inertial.data(), f"{kind} '{part.name}'")
        self.add_part(part, kind)
        if inertial is not None:
            self._put("elements", inertial.name, inertial)
        return part

    @recorded
    def coordinate(self, name: str, start: Any = 0.0) -> el.Coordinate:
        """A scalar coordinate of one's own, for couplers and constraints."""
        return self.add_part(el.Coordinate(name, start), "coordinate")

    def _together(self, *elements: Any) -> Any:
        """Add several elements that are one joint, all or none; the last is the joint."""
        for element in elements:
            self._claim(element.name, element.kind)
        for element in elements:
            Model.add(self, element)
        return elements[-1]

    # --- the same in the plane and in space: one line each, the class is the documentation ------------------------

    link = adds(el.Link)
    coupler = adds(el.Coupler)
    constraint = adds(el.UserConstraint)
    driver = adds(el.Driver)
    event = adds(el.Event)
    point_driver = adds(el.PointDriver)
    stop = adds(el.Stop)
    friction = adds(el.Friction)
    spring = adds(el.Spring)
    bump_stop = adds(el.BumpStop)
    joint_spring = adds(el.JointSpring)
    armature = adds(el.Armature)
    force = adds_unnamed(el.Force)
    user_force = adds(el.UserForce)
