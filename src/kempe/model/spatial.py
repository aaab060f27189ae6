"""Spatial mechanisms: the container a user fills with bodies, points, vectors, joints, drivers, forces in space."""

from __future__ import annotations

from typing import Any

from kempe import elements as el
from kempe.calling import explained_methods
from kempe.elements.spatial import SPACE
from kempe.errors import ModelError
from kempe.model.building import Builder, adds, adds_unnamed, either, loose, named, recorded, tight
from kempe.model.model import Model


@explained_methods
class SpatialModel(Builder):
    """A mechanism in space: parts and the joints and drivers between them.

    ``units`` label what results show, as for a planar mechanism.
    """

    space = SPACE

    def __init__(
        self, name: str = "mechanism", *, gravity: Any = (0.0, 0.0, 0.0), units: Any = None, dim: int = 3
    ) -> None:
        if dim != 3:
            raise ModelError(f"mechanism '{name}': a spatial mechanism has dim=3, not {dim!r}")
        super().__init__(name, gravity=gravity, units=units)

    # --- parts -------------------------------------------------------------------------------------------------

    @recorded
    def body(
        self, name: str, mass: Any = None, inertia: Any = None, at: Any = (0.0, 0.0, 0.0), rotation: Any = None
    ) -> el.SpatialBody:
        """A rigid body; ``at`` and ``rotation`` sketch the pose of its frame, which sits at its centre of mass.

        ``inertia`` is about the centre of mass in the body's axes: three moments, or a symmetric matrix. ``rotation``
        is a :class:`kempe.Rotation`, or a matrix. Without mass the body serves for kinematics only.
        """
        body = el.SpatialBody(name, at, rotation)
        if (mass is None) != (inertia is None):
            raise ModelError(f"body '{name}': give both mass and inertia, or neither")
        return self._with_inertia(body, "body", el.RigidBody(f"{name}.rigid", body, mass, inertia, self._gravity))

    @recorded
    def point(self, name: str, at: Any = (0.0, 0.0, 0.0), *, fixed: str = "", mass: Any = None) -> el.Point:
        """A point in natural coordinates, shared by the links that meet there; ``fixed="xyz"`` nails it down."""
        point = el.Point(name, at, fixed, SPACE)
        inertial = None if mass is None else el.PointMass(f"{name}.mass", point, mass, self._gravity)
        return self._with_inertia(point, "point", inertial)

    @recorded
    def vector(self, name: str, along: Any, *, fixed: bool = False) -> el.Vector:
        """A unit vector in natural coordinates, shared by solids that have it in common: the axis of a hinge, say."""
        return self.add_part(el.Vector(name, along, fixed), "vector")

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

        With a ``mass`` it is uniform, unless ``centre`` (its distance from the first point) or ``inertia`` about it,
        across the bar, is given. A bar has no inertia about its own axis. A ``stiffness``, a number or
        ``kp.Member(E=..., A=...)``, says how it shares a load with others; it stays rigid.
        """
        link = el.Rod(
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
    def solid(self, name: str, *items: Any, mass: Any = None, centre: Any = None, inertia: Any = None) -> el.Solid:
        """A rigid link of points and unit vectors, which neighbours may share; its own axes are the world's as drawn.

        ``centre`` of mass (from the first point) and ``inertia`` about it are in its own axes.
        """
        stated = (
            e.conditions[pair] for e in self.elements.values() if isinstance(e, el.RigidSolid) for pair in e.stated
        )
        link = el.RigidSolid(
            name, items, mass=mass, centre=centre, inertia=inertia, gravity=self._gravity, known=frozenset(stated)
        )
        return Model.add(self, link).carrier  # type: ignore[return-value]

    @recorded
    def angle(self, name: str, joint: Any) -> el.Coordinate:
        """A coordinate that counts the angle of a revolute or cylindrical joint over full turns."""
        markers = getattr(joint, "markers", None)
        if not isinstance(joint, el.SpatialJoint) or not hasattr(type(joint), "angle") or markers is None:
            raise ModelError(
                f"angle '{name}' counts the turns of a revolute or cylindrical joint, not {el.shown(joint)}"
            )
        return Model.add(self, el.AngleCoordinate(name, *markers)).coordinate

    # --- joints that may have clearance ----------------------------------------------------------------------------

    @recorded
    def spherical(
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
        clearance: Any = None,
        contact: Any = None,
        socket_radius: Any = None,
        stiffness: Any = None,
    ) -> el.Spherical | el.SphericalClearance:
        """A ball and socket: a point of i and a point of j coincide, or with ``clearance`` stay as near as that.

        With ``friction``, a smooth law, a torque mu R F opposes turning: R is the ball's ``radius``, F what it bears.
        With ``clearance`` the ball of j presses against the socket of i where it touches, by a contact law,
        ``contact=kp.LankaraniNikravesh(...)``; see :class:`kempe.elements.SphericalClearance`.
        """
        place: dict[str, Any] = {"at": at, "on_i": on_i, "on_j": on_j, "friction": friction}
        with named("spherical", name):
            tight(stiffness, clearance=clearance)
            if loose(clearance, contact=contact, socket_radius=socket_radius):
                either("clearance=", radius=radius)
                play = {"clearance": clearance, "contact": contact, "socket_radius": socket_radius}
                return Model.add(self, el.SphericalClearance(name, i, j, **place, **play))
            return Model.add(self, el.Spherical(name, i, j, **place, radius=radius, stiffness=stiffness))

    @recorded
    def cylindrical(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        axis: Any = None,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        friction: Any = None,
        radius: Any = None,
        length: Any = None,
        clearance: Any = None,
        contact: Any = None,
        bearing_radius: Any = None,
        stiffness: Any = None,
    ) -> el.Cylindrical | el.CylindricalClearance:
        """A shaft in a sleeve: j turns about an axis of i and slides along it; with ``clearance`` it has play there.

        With ``friction``, a smooth law, and the shaft's ``radius``, turning and sliding are opposed together; with a
        ``length`` the sleeve bears on both its ends. With ``clearance`` the journal, ``length`` long, presses with both
        its ends by a contact law; see :class:`kempe.elements.CylindricalClearance`.
        """
        place: dict[str, Any] = {"axis": axis, "at": at, "on_i": on_i, "on_j": on_j, "friction": friction}
        with named("cylindrical", name):
            tight(stiffness, clearance=clearance)
            if loose(clearance, contact=contact, bearing_radius=bearing_radius):
                either("clearance=", radius=radius)
                play = {"clearance": clearance, "contact": contact, "bearing_radius": bearing_radius, "length": length}
                journal = el.loose_journal(name, i, j, **place, **play)
                return self._together(*journal.rims, journal)
            return Model.add(
                self, el.Cylindrical(name, i, j, **place, radius=radius, length=length, stiffness=stiffness)
            )

    spherical.makes, cylindrical.makes = el.Spherical, el.Cylindrical  # type: ignore[attr-defined]

    # --- joints: one line each, the class is the documentation -----------------------------------------------------

    revolute = adds(el.SpatialRevolute)
    prismatic = adds(el.Prismatic)
    universal = adds(el.Universal)
    planar = adds(el.Planar)
    weld = adds(el.SpatialWeld)
    screw = adds(el.Screw)
    point_on_line = adds(el.PointOnLine)
    point_on_plane = adds(el.PointOnPlane)
    gear = adds(el.SpatialGear)

    # --- forces ----------------------------------------------------------------------------------------------------

    impulse = adds(el.Impulse)
    torsion_spring = adds(el.SpatialTorsionSpring)
    bushing = adds(el.SpatialBushing)
    torque = adds_unnamed(el.SpatialTorque)
