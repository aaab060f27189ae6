"""The catalogue: parts, joints, drivers, forces. One class per element, its data and its equations."""

from kempe.elements.base import Element, Field, KernelSource, Load, Part, Switch, Table, check_name, trace
from kempe.elements.curves import CamFlat, CamRoller, Curve, PointOnCurve, curve, curve_through, polar
from kempe.elements.drivers import Driver, PointDriver
from kempe.elements.equations import SystemEquations
from kempe.elements.events import Event
from kempe.elements.forces import Bushing, Force, Spring, SpringDamper, Torque, TorsionSpring
from kempe.elements.joints import (
    Belt,
    Coupler,
    Gear,
    Joint,
    Link,
    PinInSlot,
    RackAndPinion,
    Revolute,
    Translational,
    Weld,
)
from kempe.elements.links import Bar, RigidLink
from kempe.elements.motions import (
    Law,
    constant_acceleration,
    constant_speed,
    cycloidal,
    harmonic,
    harmonic_rise,
    polynomial345,
    spline,
)
from kempe.elements.numbers import Number, Parameter, evaluate, number, parameters_in, plain_number, positive, vector
from kempe.elements.parts import Body, Carrier, Component, Coordinate, Ground, Inertia, Marker, Point, PointMass
from kempe.elements.quantities import Quantity, angle, distance
from kempe.elements.stops import BumpStop
from kempe.elements.user import AngleCoordinate, UserConstraint, UserForce

__all__ = [
    "AngleCoordinate",
    "Bar",
    "Belt",
    "Body",
    "BumpStop",
    "Bushing",
    "CamFlat",
    "CamRoller",
    "Carrier",
    "Component",
    "Coordinate",
    "Coupler",
    "Curve",
    "Driver",
    "Element",
    "Event",
    "Field",
    "Force",
    "Gear",
    "Ground",
    "Inertia",
    "Joint",
    "KernelSource",
    "Law",
    "Link",
    "Load",
    "Marker",
    "Number",
    "Parameter",
    "Part",
    "PinInSlot",
    "Point",
    "PointDriver",
    "PointMass",
    "PointOnCurve",
    "Quantity",
    "RackAndPinion",
    "Revolute",
    "RigidLink",
    "Spring",
    "SpringDamper",
    "Switch",
    "SystemEquations",
    "Table",
    "Torque",
    "TorsionSpring",
    "Translational",
    "UserConstraint",
    "UserForce",
    "Weld",
    "angle",
    "check_name",
    "constant_acceleration",
    "constant_speed",
    "curve",
    "curve_through",
    "cycloidal",
    "distance",
    "evaluate",
    "harmonic",
    "harmonic_rise",
    "number",
    "parameters_in",
    "plain_number",
    "polar",
    "polynomial345",
    "positive",
    "spline",
    "trace",
    "vector",
]
