"""Planar mechanisms: the container a user fills with bodies, points, bars, joints, drivers, forces."""

from __future__ import annotations

from typing import Any

from kempe import elements as el
from kempe.calling import explained_methods
from kempe.errors import ModelError
from kempe.model.building import Builder, adds, adds_touching, adds_unnamed, either, loose, named, recorded, tight
from kempe.model.model import Model


def _bouncing(backlash: Any, **given: Any) -> dict[str, Any]:
    """What was said of the contacts of a joint with backlash; a joint without has none."""
    said = {key: value for key, value in given.items() if value is not None}
    if said and backlash is None:
        raise ModelError(f"{' and '.join(f'{key}=' for key in said)} is for joints with backlash: give backlash= too")
    return said


@explained_methods
class MechanismModel(Builder):
    """A planar mechanism: parts and the joints and drivers between them.

    ``units`` label what results show: "m, kg, s", "mm, N, s", or a mapping from kinds of quantities ("length", "force",
    ...) to units. No number is changed by them.
    """

    def __init__(self, name: str = "mechanism", *, gravity: Any = (0.0, 0.0), units: Any = None, dim: int = 2) -> None:
        if dim != 2:
            raise ModelError(f"mechanism '{name}': dim must be 2, for a planar mechanism, or 3, not {dim!r}")
        super().__init__(name, gravity=gravity, units=units)

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
        stiffness: Any = None,
    ) -> el.Bar:
        """A rigid bar between two points, as long as drawn unless ``length`` is given.

        With a ``mass`` it is uniform, unless ``centre`` (of mass, in the bar's axes) or ``inertia`` about it is given.
        A ``stiffness``, a number or ``kp.Member(E=..., A=...)``, says how it shares a load with others; it stays rigid.
        """
        link = el.RigidLink(
            name,
            (first, second),
            length=length,
            mass=mass,
            centre=centre,
            inertia=inertia,
            gravity=self._gravity,
            stiffness=stiffness,
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
        stiffness: Any = None,
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
            stiffness=stiffness,
        )
        return Model.add(self, link).carrier

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
        stiffness: Any = None,
    ) -> el.Revolute | el.LooseRevolute | el.ClearanceRevolute | el.LubricatedRevolute:
        """A pin: a point of i and a point of j coincide, or with ``backlash`` or ``clearance`` stay as near as that.

        With ``friction``, a coefficient or a law, a torque mu R F resists turning: R is the pin's ``radius`` and F what
        it bears. With ``backlash``, by which the hole's radius is larger, the pin flies, touches with an impact
        (plastic unless there is a ``restitution``, by ``law`` "newton" or "poisson"), rolls and slides.

        With ``clearance`` instead, the journal of j presses against the bearing of i where it touches, by a contact law
        (``contact=kp.LankaraniNikravesh(...)``) and with a smooth law of friction; ``bearing_radius`` is needed for
        friction and for stiffnesses from materials. See :class:`kempe.elements.ClearanceRevolute`. With
        ``contact=kp.ShortBearing(...)`` or ``kp.LongBearing(...)`` a film of lubricant keeps them apart.

        A ``stiffness`` says how a tight pin shares a load with others that hold the same; it stays rigid.
        """
        place: dict[str, Any] = {"at": at, "on_i": on_i, "on_j": on_j, "friction": friction}
        with named("revolute", name):
            tight(stiffness, backlash=backlash, clearance=clearance)
            if loose(clearance, contact=contact, bearing_radius=bearing_radius):
                either("clearance=", backlash=backlash, radius=radius, restitution=restitution, law=law)
                pressing = {"clearance": clearance, "contact": contact, "bearing_radius": bearing_radius}
                if isinstance(contact, el.Film):
                    either("a film", friction=place.pop("friction"))
                    return Model.add(self, el.LubricatedRevolute(name, i, j, **place, **pressing))
                return Model.add(self, el.ClearanceRevolute(name, i, j, **place, **pressing))
            bouncing = _bouncing(backlash, restitution=restitution, law=law)
            place["radius"] = radius
            if backlash is None:
                return Model.add(self, el.Revolute(name, i, j, **place, stiffness=stiffness))
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
        stiffness: Any = None,
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

        A ``stiffness`` says how a tight guide shares a load with others that hold the same; it stays rigid.
        """
        place: dict[str, Any] = {"axis": axis, "at": at, "on_i": on_i, "on_j": on_j, "friction": friction}
        with named("translational", name):
            tight(stiffness, backlash=backlash, clearance=clearance)
            if loose(clearance, contact):
                either("clearance=", backlash=backlash, restitution=restitution, law=law)
                size = {"length": length, "width": width, "clearance": clearance, "contact": contact}
                return self._guided(el.clearance_guide(name, i, j, **place, **size), angle)
            bouncing = _bouncing(backlash, width=width, restitution=restitution, law=law)
            if backlash is None:
                snug = {"angle": angle, "length": length, "stiffness": stiffness}
                return Model.add(self, el.Translational(name, i, j, **place, **snug))
            return self._guided(
                el.loose_guide(name, i, j, **place, length=length, backlash=backlash, **bouncing), angle
            )

    def _guided(self, guide: el.LooseTranslational, angle: Any) -> el.LooseTranslational:
        """Add a guide with play and its corners, all or none."""
        if angle is not None:
            raise ModelError("a slider with play is free to turn: leave angle= out, and draw it as it is")
        return self._together(*guide.corners, guide)

    revolute.makes, translational.makes = el.Revolute, el.Translational  # type: ignore[attr-defined]

    # --- joints and drivers: one line each, the class is the documentation ----------------------------------------

    weld = adds(el.Weld)
    pin_in_slot = adds(el.PinInSlot)
    gear = adds(el.Gear)
    belt = adds(el.Belt)
    point_on_curve = adds(el.PointOnCurve)
    cam_roller = adds(el.CamRoller)
    cam_flat = adds(el.CamFlat)
    rack_and_pinion = adds(el.RackAndPinion)

    # --- contacts and friction ---------------------------------------------------------------------------------------

    point_line_contact = adds_touching(el.PointLineContact, el.PressingPointLineContact)
    circle_line_contact = adds_touching(el.CircleLineContact, el.PressingCircleLineContact)
    circle_contact = adds_touching(el.CircleContact, el.PressingCircleContact)
    impulse = adds(el.Impulse)

    # --- forces ----------------------------------------------------------------------------------------------------

    torsion_spring = adds(el.TorsionSpring)
    bushing = adds(el.Bushing)
    curve_contact = adds(el.CurveContact)
    torque = adds_unnamed(el.Torque)
