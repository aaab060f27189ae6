"""Motions in space that are known exactly: free bodies and tops by elliptic functions, pendulums, Hooke's joint.

Turns are matrices whose columns are the body's axes. What elliptic functions leave, angles whose rates are periodic, is
integrated by Gauss's rule within a period and by the trapezoidal rule, which is exact there, over whole ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk, ellipkinc

from kempe.benchmarks.spatial_problems import CRANK, HUB, ROD, Problem

GRAVITY = 9.81
NODES = 200


def about_x(a: np.ndarray) -> np.ndarray:
    c, s, o = np.cos(a), np.sin(a), np.zeros_like(a)
    return np.moveaxis(np.array([[o + 1, o, o], [o, c, -s], [o, s, c]]), (0, 1), (-2, -1))


def about_z(a: np.ndarray) -> np.ndarray:
    c, s, o = np.cos(a), np.sin(a), np.zeros_like(a)
    return np.moveaxis(np.array([[c, -s, o], [s, c, o], [o, o, o + 1]]), (0, 1), (-2, -1))


def integral(rate: Callable[[np.ndarray], np.ndarray], period: float, t: np.ndarray) -> np.ndarray:
    """The integral from zero of a smooth periodic function, at many times."""
    whole = period * rate(np.arange(NODES) * period / NODES).mean()
    turns = np.floor(t / period)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    rest = t - turns * period
    return turns * whole + rest / 2 * (rate(rest[:, None] / 2 * (nodes + 1)) @ weights)


@dataclass(frozen=True)
class FreeBody:
    """A body that turns freely: Euler's equations by Jacobi's functions (Landau and Lifshitz, Mechanics, section 37).

    The moments of inertia rise, the world's z axis is that of the angular momentum, and with ``2 E I2 < L^2`` the body
    turns about its third axis (otherwise about its first, which this class leaves out).
    """

    inertia: tuple[float, float, float]
    omega_1: float
    omega_3: float
    """The angular velocities about the first and third axes at the start; that about the second is zero."""

    @property
    def momentum(self) -> float:
        I1, _, I3 = self.inertia
        return float(np.hypot(I1 * self.omega_1, I3 * self.omega_3))

    @cached_property
    def _elliptic(self) -> tuple[float, float]:
        """The rate of Jacobi's argument, and the parameter m = k^2."""
        I1, I2, I3 = self.inertia
        twice, L2 = I1 * self.omega_1**2 + I3 * self.omega_3**2, self.momentum**2
        assert I1 < I2 < I3
        assert twice * I2 < L2
        rate = np.sqrt((I3 - I2) * (L2 - twice * I1) / (I1 * I2 * I3))
        return rate, (I2 - I1) * (twice * I3 - L2) / ((I3 - I2) * (L2 - twice * I1))

    @property
    def period(self) -> float:
        """Of the angular velocities in the body's axes."""
        rate, m = self._elliptic
        return float(4 * ellipk(m) / rate)

    def omega(self, t: np.ndarray) -> np.ndarray:
        """Angular velocities in the body's axes."""
        I1, I2, I3 = self.inertia
        rate, m = self._elliptic
        sn, cn, dn, _ = ellipj(np.mod(rate * t, 4 * ellipk(m)), m)
        second = self.omega_1 * np.sqrt(I1 * (I3 - I1) / (I2 * (I3 - I2)))
        return np.stack([self.omega_1 * cn, second * sn, self.omega_3 * dn], axis=-1)

    def rotation(self, t: np.ndarray) -> np.ndarray:
        """The turn: precession about the momentum, nutation, and the turn about the third axis."""
        I1, I2, I3 = self.inertia
        L = self.momentum

        def precession(t: np.ndarray) -> np.ndarray:
            o = self.omega(t)
            energy, square = I1 * o[..., 0] ** 2 + I2 * o[..., 1] ** 2, (I1 * o[..., 0]) ** 2 + (I2 * o[..., 1]) ** 2
            return L * energy / square

        o = self.omega(t)
        psi = integral(precession, self.period, t)
        theta, phi = np.arccos(I3 * o[..., 2] / L), np.arctan2(I1 * o[..., 0], I2 * o[..., 1])
        return about_z(psi) @ about_x(theta) @ about_z(phi)


@dataclass(frozen=True)
class HeavyTop:
    """Lagrange's top on a fixed point (Goldstein, Classical Mechanics, section 5.7): nutation by Jacobi's functions."""

    mass: float
    height: float
    """Of the centre of mass above the fixed point, along the top's axis."""
    across: float
    along: float
    """Moments of inertia about the fixed point, across and along the axis."""
    spin: float
    """The angular velocity about the axis."""
    tilt: float
    precession: float
    """The angle of the axis to the vertical and its rate around that at the start, where the tilt is at rest."""

    def steady(self) -> tuple[float, float]:
        """The slow and the fast precession that keep the tilt."""
        a = [self.across * np.cos(self.tilt), -self.along * self.spin, self.mass * GRAVITY * self.height]
        slow, fast = sorted(np.roots(a).real, key=abs)
        return float(slow), float(fast)

    @cached_property
    def _roots(self) -> tuple[float, float, np.ndarray]:
        """Goldstein's a and b, and the roots of the cubic of which cos(tilt) takes values."""
        u0, beta = np.cos(self.tilt), 2 * self.mass * GRAVITY * self.height / self.across
        a = self.along * self.spin / self.across
        b = a * u0 + self.precession * (1 - u0**2)
        alpha = self.precession**2 * (1 - u0**2) + beta * u0
        # (1 - u^2)(alpha - beta u) - (b - a u)^2, of which u0 is a root: what is left is a parabola
        cubic = np.array([beta, -(alpha + a * a), 2 * a * b - beta, alpha - b * b])
        left = np.polydiv(cubic, np.array([1.0, -u0]))[0]
        return a, b, np.sort(np.concatenate([[u0], np.roots(left).real]))

    @property
    def period(self) -> float:
        """Of the nutation."""
        rate, m = self._argument
        return float(2 * ellipk(m) / rate)

    @cached_property
    def _argument(self) -> tuple[float, float]:
        beta, (u1, u2, u3) = 2 * self.mass * GRAVITY * self.height / self.across, self._roots[2]
        return float(np.sqrt(beta * (u3 - u1)) / 2), float((u2 - u1) / (u3 - u1))

    def cosine(self, t: np.ndarray) -> np.ndarray:
        """Of the tilt."""
        (u1, u2, _), (rate, m) = self._roots[2], self._argument
        begin = 0.0 if abs(np.cos(self.tilt) - u1) < abs(np.cos(self.tilt) - u2) else ellipk(m)
        sn = ellipj(np.mod(rate * t, 2 * ellipk(m)) + begin, m)[0]
        return u1 + (u2 - u1) * sn**2

    def rotation(self, t: np.ndarray) -> np.ndarray:
        a, b, _ = self._roots

        def precession(t: np.ndarray) -> np.ndarray:
            u = self.cosine(t)
            return (b - a * u) / (1 - u**2)

        def own(t: np.ndarray) -> np.ndarray:
            return self.spin - precession(t) * self.cosine(t)

        phi, psi = (integral(rate, self.period, t) for rate in (precession, own))
        return about_z(phi) @ about_x(np.arccos(self.cosine(t))) @ about_z(psi)

    def omega(self) -> np.ndarray:
        """The angular velocity at the start, in world axes: the first turn is about z, the tilt about x."""
        axis = np.array([0.0, -np.sin(self.tilt), np.cos(self.tilt)])
        own = self.spin - self.precession * np.cos(self.tilt)
        return np.array([0.0, 0.0, self.precession]) + own * axis


def swing(t: np.ndarray, amplitude: float, rate: float) -> np.ndarray:
    """The angle of a pendulum let go at an amplitude; ``rate`` is that of small swings."""
    m = np.sin(amplitude / 2) ** 2
    K = float(ellipkinc(np.pi / 2, m))
    cd = ellipj(np.mod(rate * t + K, 4 * K), m)[0]
    return 2 * np.arcsin(np.sqrt(m) * cd)


def ripple(angle: np.ndarray, bend: float) -> np.ndarray:
    """Hooke's joint: the output's angle over the input's, whose arm begins square to the plane of the two shafts."""
    turns = np.round(angle / np.pi)
    return np.arctan(np.tan(angle - turns * np.pi) * np.cos(bend)) + turns * np.pi


class CrankPath:
    """The spatial slider-crank of ``kempe bench spatial`` as a path over the crank's angle, by trigonometry.

    Every formula is analytic, so that a complex step in the angle differentiates it to the last digit. The equation of
    motion is Lagrange's on a path, ``J theta'' + J' theta'^2 / 2 = Q`` with ``J`` the inertia seen from the crank.
    """

    STEP = 1e-30

    def __init__(self, problem: Problem) -> None:
        self.crank, self.rod, self.slider = problem.bodies
        self.start = problem.start()
        self.hub, self.length, self.reach = np.array(HUB), CRANK, ROD
        self.spin = problem.spin

    def pose(self, theta: complex) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rod's centre of mass, its axes as columns, and the slider's place."""
        pin = self.hub + self.length * np.array([0.0, -np.sin(theta), np.cos(theta)])
        x = np.sqrt(self.reach**2 - pin[1] ** 2 - pin[2] ** 2)
        end = np.array([x, 0.0, 0.0])
        along = (end - pin) / self.reach
        across = np.array([along[2], 0.0, -along[0]])  # y cross along: square to the slider's axis of the cross
        across = across / np.sqrt(across @ across)
        return (pin + end) / 2, np.column_stack([along, np.cross(across, along), across]), end

    def _rates(self, theta: complex) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By the angle: the rod's velocity, its angular velocity, the slider's velocity."""
        sin, cos = np.sin(theta), np.cos(theta)
        pin = self.hub + self.length * np.array([0.0, -sin, cos])
        dpin = self.length * np.array([0.0, -cos, -sin])
        x = np.sqrt(self.reach**2 - pin[1] ** 2 - pin[2] ** 2)
        dend = np.array([-(pin[1] * dpin[1] + pin[2] * dpin[2]) / x, 0.0, 0.0])
        along = (np.array([x, 0.0, 0.0]) - pin) / self.reach
        dalong = (dend - dpin) / self.reach
        n, dn = np.array([along[2], 0.0, -along[0]]), np.array([dalong[2], 0.0, -dalong[0]])
        size = np.sqrt(n @ n)
        across, dacross = n / size, dn / size - n * (n @ dn) / size**3
        third, dthird = np.cross(across, along), np.cross(dacross, along) + np.cross(across, dalong)
        turning = (np.cross(along, dalong) + np.cross(third, dthird) + np.cross(across, dacross)) / 2
        return (dpin + dend) / 2, turning, dend

    def inertia(self, theta: complex) -> complex:
        """Twice the kinetic energy at a rate of one."""
        v, omega, end = self._rates(theta)
        own = self.pose(theta)[1].T @ omega
        rod = self.rod.mass * (v @ v) + own @ (np.array(self.rod.inertia) * own)
        return self.crank.inertia[0] + rod + self.slider.mass * (end @ end)

    def rate(self, _: float, state: np.ndarray) -> np.ndarray:
        theta, speed = state
        J = self.inertia(theta + 1j * self.STEP)
        weight = -self.rod.mass * GRAVITY * self._rates(theta)[0][2]
        return np.array([speed, (weight - J.imag / self.STEP * speed**2 / 2) / J.real])

    def poses(self, time: float) -> np.ndarray:
        """Of rod and slider, 3 by 4 each; the rod's axes are turned to those it is drawn with."""
        given = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13}
        theta = solve_ivp(self.rate, (0.0, time), [0.0, self.spin], **given).y[0, -1]
        drawn = self.pose(0.0)[1].T @ self.rod.rotation
        r, R, end = self.pose(theta)
        return np.array([np.column_stack([r, R @ drawn]), np.column_stack([end, np.eye(3)])])
