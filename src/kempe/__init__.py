"""Kempe: dynamic analysis and design of constrained mechanical systems."""

from casadi import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    ceil,
    cos,
    cosh,
    erf,
    exp,
    fabs,
    floor,
    fmax,
    fmin,
    if_else,
    log,
    logic_and,
    logic_not,
    logic_or,
    pi,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)

from kempe import elements
from kempe.analysis import Branch, Mobility, Pose, SingularPosition, assemble, kinematics, mobility, ranks
from kempe.api import Equations, Mechanism
from kempe.elements import (
    Parameter,
    angle,
    constant_acceleration,
    constant_speed,
    curve,
    curve_through,
    cycloidal,
    distance,
    harmonic,
    harmonic_rise,
    polar,
    polynomial345,
    spline,
)
from kempe.errors import AssemblyError, ConvergenceError, KempeError, ModelError, SingularPositionError
from kempe.results import Result

__version__ = "0.1.0"
