"""The compiled equations of one kind of element, with all their derivatives, built when first asked for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from kempe.elements import Element, KernelSource
from kempe.kernels import Kernel, compile_function

#: Forward differentiation only: it never multiplies a derivative that is undefined on an untaken side.
_FORWARD = {"allow_reverse": False}


class Block(NamedTuple):
    """One output of a kernel: a vector or the non-zeros of a matrix, with their places in it."""

    rows: np.ndarray
    columns: np.ndarray


class Variant(NamedTuple):
    """A kernel and the blocks its outputs consist of, in order."""

    kernel: Kernel
    blocks: tuple[Block, ...]


#: The parts of a kernel's input, in order. ``c`` are the weights of acceleration, velocity and position tangents,
#: ``z`` the mode and the latched values of an element that switches.
INPUTS = ("q", "v", "a", "t", "c", "p", "pieces", "lam", "z")


class Family:
    """The equations shared by all elements of one structure; a kernel's input is INPUTS, whichever variant it is.

    The equations of motion of a whole model are, with the sums over its elements,

        f = d/dt(T_v) - T_q + (weight + potential)_q - damping - force + Phi_q^T lambda = 0,    Phi = 0.
    """

    def __init__(self, element: Element, source: KernelSource | None = None) -> None:
        source = KernelSource(element) if source is None else source
        view = element.view(source)
        self.q, self.v, self.t, self.z = source.q, source.v, source.t, source.z
        self.a, self.c = ca.SX.sym("a", self.q.numel()), ca.SX.sym("c", 3)
        result = element.phi(view) if element.rows else []
        self.phi = _column(result if isinstance(result, (list, tuple)) else [result])
        self.kinetic = ca.SX(element.kinetic(view)) if element.has_inertia else None
        self.weight, self.potential = ca.SX(element.weight(view)), ca.SX(element.potential(view))
        self.damping, self.force = (self._on_coordinates(f(view)) for f in (element.damping, element.force))
        self.switches = element.switches(view)
        self.first_mode = ca.SX(element.first_mode(view))
        self.outputs = {name: ca.SX(value) for name, value in element.outputs(view).items()}
        self.modes, self.latches, self.newtonian = element.modes, element.latches, element.newtonian
        self.p, self.pieces = source.p, source.pieces
        self.arguments = ca.vertcat(ca.SX(0, 1), *source.arguments)
        self.n_rows = self.phi.numel()
        self.lam = ca.SX.sym("lam", self.n_rows)
        parts = [getattr(self, name) for name in INPUTS]
        self.x = ca.vertcat(*parts)
        self.at = dict(zip(INPUTS, np.cumsum([0, *(s.numel() for s in parts)]), strict=False))

    def _on_coordinates(self, pushed: Any) -> ca.SX:
        """A generalised force as one column; a plain zero means none."""
        column = _column(pushed if isinstance(pushed, list) else [pushed])
        return column if column.numel() == self.q.numel() else ca.SX(self.q.numel(), 1) + column

    def _derivative(self, expression: Any, by: Any) -> ca.SX:
        return ca.jacobian(expression, by, _FORWARD)

    @cached_property
    def Phi_q(self) -> ca.SX:
        """The constraint Jacobian."""
        return self._derivative(self.phi, self.q)

    @cached_property
    def Phi_t(self) -> ca.SX:
        """The rate of the constraints at rest."""
        return self._derivative(self.phi, self.t)

    @cached_property
    def mass(self) -> ca.SX:
        """M = d2T/dv2."""
        n = self.q.numel()
        if self.kinetic is None:
            return ca.SX(n, n)
        return self._derivative(self._derivative(self.kinetic, self.v).T, self.v)

    @cached_property
    def applied(self) -> ca.SX:
        """Q: all applied forces, those of potential energies included."""
        stored = self._derivative(self.weight + self.potential, self.q).T
        return self.damping + self.force - stored

    @cached_property
    def centrifugal(self) -> ca.SX:
        """The part of d/dt(T_v) - T_q that has no accelerations in it."""
        if self.kinetic is None or self.newtonian:
            return ca.SX(self.q.numel(), 1)
        momentum = self._derivative(self.kinetic, self.v).T
        return ca.jtimes(momentum, self.q, self.v) - self._derivative(self.kinetic, self.q).T

    @cached_property
    def balance(self) -> ca.SX:
        """f: what must vanish on each coordinate."""
        return self.mass @ self.a + self.centrifugal - self.applied + self.Phi_q.T @ self.lam

    @cached_property
    def gamma(self) -> ca.SX:
        """-(Phi_q v)_q v - 2 Phi_qt v - Phi_tt, so that Phi_q a = gamma."""
        along = ca.jtimes(self.phi, self.q, self.v) + self.Phi_t
        return -ca.jtimes(along, self.q, self.v) - self._derivative(along, self.t)

    @cached_property
    def tangent(self) -> ca.SX:
        """c0 f_a + c1 f_v + c2 f_q."""
        f_v, f_q = self._derivative(self.balance, self.v), self._derivative(self.balance, self.q)
        return self.c[0] * self.mass + self.c[1] * f_v + self.c[2] * f_q

    @cached_property
    def swift(self) -> bool:
        """Whether the balance of forces depends on rates or accelerations."""
        return bool(ca.depends_on(self.balance, ca.vertcat(self.v, self.a)))

    @cached_property
    def timed(self) -> bool:
        """Whether anything depends on the time."""
        guards = [ca.SX(s.guard) for s in self.switches]
        stored = [self.weight, self.potential, self.damping, self.force, self.phi, self.arguments, *guards]
        return bool(ca.depends_on(_column(stored), self.t))

    @cached_property
    def moves(self) -> bool:
        """Whether the element has constraints, inertia or a force."""
        return bool(self.n_rows) or self.kinetic is not None or ca.sparsify(self.applied).nnz() != 0

    def _expressions(self, variant: str) -> list[ca.SX]:
        if variant == "value":
            return [self.phi]
        if variant == "position":
            return [self.phi, self.Phi_q, -self.Phi_t]
        if variant == "acceleration":
            return [self.gamma]
        if variant == "residual":
            return [self.balance, self.phi]
        if variant == "velocity":
            return [self.phi, ca.jtimes(self.phi, self.q, self.v) + self.Phi_t]
        if variant == "tangent":
            return [self.balance, self.phi, self.tangent, self.Phi_q]
        if variant == "explicit":
            return [self.centrifugal - self.applied, self.phi, -self.Phi_t, self.gamma, self.mass, self.Phi_q]
        if variant == "canonical":
            turned = self.Phi_q.T @ self.lam
            turning = ca.jtimes(turned, self.q, self.v) + self._derivative(turned, self.t)
            changing = ca.jtimes(self.mass @ self.v, self.q, self.v)  # M' v
            return [self.applied - self.centrifugal + changing + turning]
        if variant == "energy":
            kinetic = ca.SX(0) if self.kinetic is None else self.kinetic
            supplied = ca.dot(self.force, self.v) + self._derivative(self.weight + self.potential, self.t)
            supplied += ca.dot(self.lam, self.Phi_t) if self.n_rows else 0.0
            if self.newtonian and self.kinetic is not None:  # what the varying mass takes is in Q already
                supplied += ca.dot(ca.jtimes(self.mass @ self.v, self.q, self.v), self.v) / 2
            return [kinetic, self.weight, self.potential, -ca.dot(self.damping, self.v), supplied]
        if variant == "curvature":
            gradient = ca.mtimes(self.Phi_q.T, self.lam)
            speed = ca.mtimes(self.Phi_t.T, self.lam)
            return [
                self._derivative(gradient, self.q),
                self._derivative(gradient, self.t),
                self._derivative(speed, self.t),
            ]
        if variant == "drift":
            rate = ca.jtimes(self.phi, self.q, self.v) + self.Phi_t
            second = ca.jtimes(self.phi, self.q, self.a) - self.gamma
            return [self._derivative(rate, self.q), self._derivative(second, self.q)]
        if variant == "parameter":
            return [self._derivative(self.phi, self.p)]
        if variant == "arguments":
            return [self.arguments]
        if variant == "guards":
            inside = [self.z[0] == self.modes.index(s.source) for s in self.switches]
            return [_column([ca.if_else(here, s.guard, 1.0) for here, s in zip(inside, self.switches, strict=True)])]
        if variant == "latches":
            rows = [[s.latch.get(name, self.z[1 + k]) for k, name in enumerate(self.latches)] for s in self.switches]
            return [_column([self.first_mode, *(value for row in rows for value in row)])]
        raise KeyError(variant)

    def variant(self, name: str) -> Variant:
        """The kernel of a variant, compiled when first needed.

        - ``value``: Phi;
        - ``position``: Phi, Phi_q, nu = -Phi_t;
        - ``acceleration``: gamma = -(Phi_q v)_q v - 2 Phi_qt v - Phi_tt;
        - ``residual``: f, Phi;
        - ``velocity``: Phi, Phi';
        - ``tangent``: f, Phi, c0 f_a + c1 f_v + c2 f_q, Phi_q;
        - ``explicit``: f without accelerations and multipliers, Phi, nu, gamma, M, Phi_q;
        - ``canonical``: the rate of the momenta M v + Phi_q^T sigma, sigma in the place of lambda;
        - ``energy``: kinetic, of gravity, elastic; power dissipated, power supplied;
        - ``curvature``: (Phi_q^T lambda)_q, (Phi_q^T lambda)_t, (Phi_t^T lambda)_t;
        - ``drift``: (Phi')_q, (Phi'')_q;
        - ``parameter``: Phi_p by the element's own numbers;
        - ``arguments``: where its tables are read;
        - ``guards``: positive while the mode lasts, one per switch;
        - ``latches``: the first mode, and the values to keep.
        """
        known = self.__dict__.setdefault("_variants", {})
        if name not in known:
            known[name] = self._build(name)
        return known[name]

    def _build(self, name: str) -> Variant:
        expressions = self._expressions(name)
        blocks: list[Block] = []
        values: list[Any] = []
        for expression in expressions:
            expression = ca.sparsify(ca.SX(expression))
            rows, columns = expression.sparsity().get_triplet()
            blocks.append(Block(np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)))
            values += expression.nonzeros()
        return Variant(compile_function(self.x, ca.vertcat(ca.SX(0, 1), *values)), tuple(blocks))


def _column(values: Iterable[Any]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *[ca.vec(ca.SX(value)) for value in values])


_families: dict[Hashable, Family] = {}


def family_of(element: Element) -> Family:
    """The shared equations of an element's kind."""
    key = element.structure()
    if key not in _families:
        _families[key] = Family(element)
    return _families[key]
