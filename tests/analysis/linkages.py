"""Mechanisms shared by the tests of analyses."""

from __future__ import annotations

import numpy as np

import kempe as kp


def parallelogram(cranks: int = 2, theta: float = 0.7, side: float = 0.0) -> kp.Mechanism:
    """Parallel cranks of length 1 that carry one coupler; the third sits off the line of the others by ``side``."""
    m = kp.Mechanism("parallelogram")
    pivots = [(0.0, 0.0), (2.0, 0.0), (1.0, side)][:cranks]
    tip = np.array([np.cos(theta), np.sin(theta)])
    coupler = m.body("coupler", at=tip + np.array([1.0, 0.0]))
    for k, pivot in enumerate(pivots, start=1):
        crank = m.body(f"crank {k}", at=pivot + tip / 2, angle=theta)
        m.revolute(f"O{k}", m.ground, crank, on_i=pivot, on_j=(-0.5, 0))
        m.revolute(f"A{k}", crank, coupler, on_i=(0.5, 0), on_j=(pivot[0] - 1, pivot[1]))
    return m


def coupled_parallelograms(loops: int, theta: float = 0.7) -> kp.Mechanism:
    """One crank that drives several parallelograms, all flat at the same instants."""
    m = kp.Mechanism("coupled parallelograms")
    tip = np.array([np.cos(theta), np.sin(theta)])
    crank = m.body("crank", at=tip / 2, angle=theta)
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-0.5, 0))
    for k in range(loops):
        d = 2.0 + k
        rocker = m.body(f"rocker {k}", at=(d, 0) + tip / 2, angle=theta)
        coupler = m.body(f"coupler {k}", at=tip + np.array([d / 2, 0]))
        m.revolute(f"A{k}", crank, coupler, on_i=(0.5, 0), on_j=(-d / 2, 0))
        m.revolute(f"B{k}", coupler, rocker, on_i=(d / 2, 0), on_j=(0.5, 0))
        m.revolute(f"C{k}", m.ground, rocker, on_i=(d, 0), on_j=(-0.5, 0))
    m.driver("motor", crank.angle, kp.constant_speed(1.0))
    return m


def four_bar(a: float, b: float, c: float, d: float, theta: float = 0.7, law: object = None) -> kp.Mechanism:
    """A four-bar drawn exactly, coupler joint above the line from crank pin to fixed pivot."""
    A, D = a * np.array([np.cos(theta), np.sin(theta)]), np.array([d, 0.0])
    way = D - A
    length = np.hypot(*way)
    along = (b * b - c * c + length**2) / (2 * length)
    B = A + (along * way + np.sqrt(max(b * b - along**2, 0.0)) * np.array([-way[1], way[0]])) / length
    m = kp.Mechanism("four-bar")
    bodies = []
    for name, start, end in (("crank", A * 0, A), ("coupler", A, B), ("rocker", D, B)):
        bodies.append(m.body(name, at=(start + end) / 2, angle=np.arctan2(*(end - start)[::-1])))
    crank, coupler, rocker = bodies
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-a / 2, 0))
    m.revolute("A", crank, coupler, on_i=(a / 2, 0), on_j=(-b / 2, 0))
    m.revolute("B", coupler, rocker, on_i=(b / 2, 0), on_j=(c / 2, 0))
    m.revolute("C", m.ground, rocker, on_i=(d, 0), on_j=(-c / 2, 0))
    m.driver("motor", crank.angle, kp.constant_speed(1.0) if law is None else law)
    return m
