"""The container a user fills: bodies, points, bars, joints, drivers, forces."""

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


def recorded(method: Callable[Concatenate[MechanismModel, P], R]) -> Callable[Concatenate[MechanismModel, P], R]:
    """A builder method whose successful calls are remembered, so that the model can be saved as it was described."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def wrapper(self: MechanismModel, /, *args: P.args, **kwargs: P.kwargs) -> R:
        result = method(self, *args, **kwargs)
        arguments = dict(signature.bind(self, *args, **kwargs).arguments)
        arguments.pop("self", None)
        self._record(method.__name__, {key: value for key, value in arguments.items() if value is not None})
        return result

    wrapper.recorded = True  # type: ignore[attr-defined]
    return wrapper


@contextmanager
def _named(kind: str, name: Any) -> Iterator[None]:
    """What is wrong with an element is said with its name."""
    try:
        yield
    except ModelError as error:
        if not isinstance(name, str) or f"'{name}'" in str(error):
            raise
        raise ModelError([f"{kind} '{name}': {finding}" for finding in error.findings]) from error


def _adds(element: Callable[P, E]) -> Callable[Concatenate[MechanismModel, P], E]:
    """A method that makes an element of the given class and adds it to the mechanism."""

    def method(self: MechanismModel, /, *args: P.args, **kwargs: P.kwargs) -> E:
        with _named(kind_of(element), args[0] if args else kwargs.get("name")):
            return Model.add(self, element(*args, **kwargs))

    def remembering(self: MechanismModel, /, *args: P.args, **kwargs: P.kwargs) -> E:
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


def _adds_unnamed(element: Callable[Concatenate[str, P], E]) -> MayBeUnnamed[P, E]:
    """A method that makes an element of the given class, finds it a name if it has none, and adds it."""
    method: Callable[..., E] = _adds(element)

    @functools.wraps(method)
    def wrapper(self: MechanismModel, /, *args: Any, **kwargs: Any) -> E:
        if "name" not in kwargs and (not args or isinstance(args[0], el.Field)):
            part = args[0] if args else kwargs.get("part")
            owner = getattr(part, "name", "nothing").partition(".")[0]
            args = (self.free_name(f"{method.__name__} on {owner}"), *args)
        return method(self, *args, **kwargs)

    return wrapper  # type: ignore[return-value]  # (a function of the class is bound; a protocol cannot say so)


def _adds_touching(rigid: Callable[..., E], pressing: Callable[..., F]) -> Callable[..., E | F]:
    """A method that adds a rigid contact, or one that presses where a contact law is given."""

    def method(self: MechanismModel, /, *args: Any, contact: Any = None, **kwargs: Any) -> E | F:
        signature.bind(self, *args, **kwargs)  # what does not fit is told with all that there is
        with _named(kind_of(rigid), args[0] if args else kwargs.get("name")):
            if contact is None:
                found: E | F = Model.add(self, rigid(*args, **kwargs))
            else:
                _either("contact=", restitution=kwargs.get("restitution"), law=kwargs.get("law"))
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


def _bouncing(backlash: Any, **given: Any) -> dict[str, Any]:
    """What was said of the contacts of a joint with backlash; a joint without has none."""
    said = {key: value for key, value in given.items() if value is not None}
    if said and backlash is None:
        raise ModelError(f"{' and '.join(f'{key}=' for key in said)} is for joints with backlash: give backlash= too")
    return said


def _pressing(clearance: Any, contact: Any, **given: Any) -> bool:
    """Whether a joint has clearance with contact forces; what was said of those needs both."""
    said = [f"{key}=" for key, value in {"contact": contact, **given}.items() if value is not None]
    if clearance is None and said:
        raise ModelError(f"{' and '.join(said)} is for joints with clearance: give clearance= too")
    if clearance is not None and contact is None:
        raise ModelError("a joint with clearance= has a contact law: give contact=kp.LankaraniNikravesh(...), say")
    return clearance is not None


def _either(word: str, **given: Any) -> None:
    """What does not go together with clearance, or with a contact law."""
    for key, value in given.items():
        if value is not None:
            raise ModelError(f"{key}= does not go with {word}, where a contact law says how it touches")


def verb_of(element: Any) -> str:
    """The builder method of an element class: its name in words, joined by underscores."""
    return kind_of(element).replace(" ", "_")


def _as_given(key: str, value: Any) -> Any:
    """An argument as it is now: what the user does to lists and arrays afterwards is not what was said.

    Functions are kept as the expressions they return, which can be written and sent to other processes.
    """
    if isinstance(value, (list, tuple)):
        return [_as_given(key, item) for item in value]
    if isinstance(value, np.ndarray):
        return value.copy() if value.ndim else value.item()
    if not callable(value) or isinstance(value, (ca.SX, el.Field)):
        return value
    return characteristic(value, "", key)[1] if key == "law" else el.motions.traced(value, key)


def _named_arguments(element: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    return dict(inspect.signature(element).bind(*args, **kwargs).arguments)


@explained_methods
class MechanismModel(Model):
    """A planar mechanism: parts and the joints and drivers between them.

    ``units`` label what results show: "m, kg, s", "mm, N, s", or a mapping from kinds of quantities ("length", "force",
    ...) to units. No number is changed by them.
    """

    ground: el.Ground

    def __init__(self, name: str = "mechanism", *, gravity: Any = (0.0, 0.0), units: Any = None, dim: int = 2) -> None:
        if dim != 2:
            raise ModelError(f"mechanism '{name}': only planar mechanisms (dim=2) exist so far, not dim={dim!r}")
        super().__init__(name)
        self.units = units
        self._gravity = el.Gravity(el.vector(gravity, f"mechanism '{name}': gravity"))
        vars(self)["ground"] = seal(el.Ground(), self.name)
        self._recipe: list[tuple[str, dict[str, Any]]] = []

    @property
    def gravity(self) -> tuple[el.Number, ...]:
        """The acceleration of gravity of all parts, those that are there and those to come; it may be assigned to."""
        return tuple(self._gravity.data())

    @gravity.setter
    def gravity(self, gravity: Any) -> None:
        values = el.vector(gravity, f"mechanism '{self.name}': gravity")
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

    # --- parts -------------------------------------------------------------------------------------------------

    @recorded
    def body(self, name: str, mass: Any = None, inertia: Any = None, at: Any = (0.0, 0.0), angle: Any = 0.0) -> el.Body:
        """A rigid body; ``at`` and ``angle`` sketch the pose of its frame, which sits at its centre of mass.

        ``inertia`` is about the centre of mass. Without mass the body serves for kinematics only.
        """
        body = el.Body(name, at, angle)
        inertial = None
        if mass is not None or inertia is not None:
            if mass is None or inertia is None:
                raise ModelError(f"body '{name}': give both mass and inertia, or neither")
            inertial = el.Inertia(f"{name}.inertia", body, mass, inertia, self._gravity)
        return self._with_inertia(body, "body", inertial)

    def _with_inertia(self, part: P_, kind: str, inertial: el.Element | None) -> P_:
        """Add a part and, if it has one, its inertia: both or neither."""
        if inertial is not None:
            self._own_parameters(inertial.data(), f"{kind} '{part.name}'")
        self.add_part(part, kind)
        if inertial is not None:
            self._put("elements", inertial.name, inertial)
        return part

    @recorded
    def point(self, name: str, at: Any = (0.0, 0.0), *, fixed: str = "", mass: Any = None) -> el.Point:
        """A point in natural coordinates, shared by the bars that meet there; ``fixed="xy"`` nails it down."""
        point = el.Point(name, at, fixed)
        inertial = None if mass is None else el.PointMass(f"{name}.mass", point, mass, self._gravity)
        return self._with_inertia(point, "point", inertial)

    @recorded
    def bar(
        self,
        name: str,
        first: el.Point,
        second: el.Point,
        *,
        length: Any = None,
        mass: Any = None,
        centre: Any = None,
        inertia: Any = None,
    ) -> el.Bar:
        """A rigid bar between two points, as long as drawn unless ``length`` is given.

        With a ``mass`` it is uniform, unless ``centre`` (of mass, in the bar's axes) or ``inertia`` about it is given.
        """
        link = el.RigidLink(
            name, (first, second), length=length, mass=mass, centre=centre, inertia=inertia, gravity=self._gravity
        )
        return Model.add(self, link).carrier

    @recorded
    def plate(
        self,
        name: str,
        *points: el.Point,
        length: Any = None,
        places: Any = None,
        mass: Any = None,
        centre: Any = None,
        inertia: Any = None,
    ) -> el.Bar:
        """A rigid link through three or more points; ``places`` gives those after the second in the link's axes.

        The axes are those of the first two points, ``length`` apart. With a ``mass``, ``centre`` and ``inertia`` are as
        for a bar.
        """
        link = el.RigidLink(
            name,
            points,
            length=length,
            places=places,
            mass=mass,
            centre=centre,
            inertia=inertia,
            gravity=self._gravity,
        )
        return Model.add(self, link).carrier

    @recorded
    def coordinate(self, name: str, start: Any = 0.0) -> el.Coordinate:
        """A scalar coordinate of one's own, for couplers and constraints."""
        return self.add_part(el.Coordinate(name, start), "coordinate")

    @recorded
    def angle(self, name: str, i: Any, j: Any) -> el.Coordinate:
        """A coordinate that counts the angle of j as seen from i over full turns (bars have none of their own)."""
        return Model.add(self, el.AngleCoordinate(name, i, j)).coordinate

    # --- joints that may have backlash ---------------------------------------------------------------------------

    @recorded
    def revolute(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        friction: Any = None,
        radius: Any = None,
        backlash: Any = None,
        restitution: Any = None,
        law: str | None = None,
        clearance: Any = None,
        contact: Any = None,
        bearing_radius: Any = None,
    ) -> el.Revolute | el.LooseRevolute | el.ClearanceRevolute | el.LubricatedRevolute:
        """A pin: a point of i and a point of j coincide, or with ``backlash`` or ``clearance`` stay as near as that.

        With ``friction``, a coefficient or a law, a torque mu R F resists turning: R is the pin's ``radius`` and F what
        it bears. With ``backlash``, by which the hole's radius is larger, the pin flies, touches with an impact
        (plastic unless there is a ``restitution``, by ``law`` "newton" or "poisson"), rolls and slides.

        With ``clearance`` instead, the journal of j presses against the bearing of i where it touches, by a contact law
        (``contact=kp.LankaraniNikravesh(...)``) and with a smooth law of friction; ``bearing_radius`` is needed for
        friction and for stiffnesses from materials. See :class:`kempe.elements.ClearanceRevolute`. With
        ``contact=kp.ShortBearing(...)`` or ``kp.LongBearing(...)`` a film of lubricant keeps them apart.
        """
        place: dict[str, Any] = {"at": at, "on_i": on_i, "on_j": on_j, "friction": friction}
        with _named("revolute", name):
            if _pressing(clearance, contact=contact, bearing_radius=bearing_radius):
                _either("clearance=", backlash=backlash, radius=radius, restitution=restitution, law=law)
                pressing = {"clearance": clearance, "contact": contact, "bearing_radius": bearing_radius}
                if isinstance(contact, el.Film):
                    _either("a film", friction=place.pop("friction"))
                    return Model.add(self, el.LubricatedRevolute(name, i, j, **place, **pressing))
                return Model.add(self, el.ClearanceRevolute(name, i, j, **place, **pressing))
            bouncing = _bouncing(backlash, restitution=restitution, law=law)
            place["radius"] = radius
            if backlash is None:
                return Model.add(self, el.Revolute(name, i, j, **place))
            return Model.add(self, el.LooseRevolute(name, i, j, **place, backlash=backlash, **bouncing))

    @recorded
    def translational(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        axis: Any = (1.0, 0.0),
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        angle: Any = None,
        friction: Any = None,
        length: Any = None,
        width: Any = None,
        backlash: Any = None,
        restitution: Any = None,
        law: str | None = None,
        clearance: Any = None,
        contact: Any = None,
    ) -> el.Translational | el.LooseTranslational:
        """A prismatic guide: j slides along an axis of i and does not turn in it, or with play in it hardly.

        ``axis`` is a world direction in the drawn pose, ``at`` a world point of the guide line (where j is drawn if not
        given; ``on_i`` gives it in the axes of i), ``on_j`` the point of j that stays on it (its origin if not given).
        The relative angle stays as drawn unless ``angle`` gives it.

        With ``friction``, a coefficient or a law, mu N resists sliding; with a ``length`` the guide bears on two pads,
        half of it to either side of the point of j, which both rub. With ``backlash`` on either side the slider, of
        ``length`` and ``width``, touches with its four corners, each with an impact (plastic unless there is a
        ``restitution``, by ``law`` "newton" or "poisson"); see :class:`kempe.elements.LooseTranslational`. With
        ``clearance`` instead the corners press by a contact law, ``contact``, and rub by a smooth law of friction.
        """
        place: dict[str, Any] = {"axis": axis, "at": at, "on_i": on_i, "on_j": on_j, "friction": friction}
        with _named("translational", name):
            if _pressing(clearance, contact):
                _either("clearance=", backlash=backlash, restitution=restitution, law=law)
                size = {"length": length, "width": width, "clearance": clearance, "contact": contact}
                return self._guided(el.clearance_guide(name, i, j, **place, **size), angle)
            bouncing = _bouncing(backlash, width=width, restitution=restitution, law=law)
            if backlash is None:
                return Model.add(self, el.Translational(name, i, j, **place, angle=angle, length=length))
            return self._guided(
                el.loose_guide(name, i, j, **place, length=length, backlash=backlash, **bouncing), angle
            )

    def _guided(self, guide: el.LooseTranslational, angle: Any) -> el.LooseTranslational:
        """Add a guide with play and its corners, all or none."""
        if angle is not None:
            raise ModelError("a slider with play is free to turn: leave angle= out, and draw it as it is")
        for element in (*guide.corners, guide):
            self._claim(element.name, element.kind)
        for element in (*guide.corners, guide):
            Model.add(self, element)
        return guide

    revolute.makes, translational.makes = el.Revolute, el.Translational  # type: ignore[attr-defined]

    # --- joints and drivers: one line each, the class is the documentation ----------------------------------------

    weld = _adds(el.Weld)
    pin_in_slot = _adds(el.PinInSlot)
    link = _adds(el.Link)
    gear = _adds(el.Gear)
    belt = _adds(el.Belt)
    coupler = _adds(el.Coupler)
    point_on_curve = _adds(el.PointOnCurve)
    cam_roller = _adds(el.CamRoller)
    cam_flat = _adds(el.CamFlat)
    constraint = _adds(el.UserConstraint)
    driver = _adds(el.Driver)
    event = _adds(el.Event)
    point_driver = _adds(el.PointDriver)
    rack_and_pinion = _adds(el.RackAndPinion)

    # --- contacts and friction ---------------------------------------------------------------------------------------

    point_line_contact = _adds_touching(el.PointLineContact, el.PressingPointLineContact)
    circle_line_contact = _adds_touching(el.CircleLineContact, el.PressingCircleLineContact)
    circle_contact = _adds_touching(el.CircleContact, el.PressingCircleContact)
    stop = _adds(el.Stop)
    friction = _adds(el.Friction)
    impulse = _adds(el.Impulse)

    # --- forces ----------------------------------------------------------------------------------------------------

    spring = _adds(el.Spring)
    torsion_spring = _adds(el.TorsionSpring)
    bushing = _adds(el.Bushing)
    joint_spring = _adds(el.JointSpring)
    armature = _adds(el.Armature)
    bump_stop = _adds(el.BumpStop)
    curve_contact = _adds(el.CurveContact)
    force = _adds_unnamed(el.Force)
    torque = _adds_unnamed(el.Torque)
    user_force = _adds(el.UserForce)
