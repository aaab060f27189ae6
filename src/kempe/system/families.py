"""The compiled equations of one kind of element, with all their derivatives, built when first asked for."""

from __future__ import annotations

from collections.abc import Hashable
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


class Family:
    """The equations shared by all elements of one structure.

    A kernel's input is [q, v, t, p, table pieces, lambda], whichever variant it is.
    """

    def __init__(self, element: Element) -> None:
        source = KernelSource(element)
        view = element.view(source)
        self.q, self.v, self.t = source.q, source.v, source.t
        result = element.phi(view) if element.rows else []
        rows = result if isinstance(result, (list, tuple)) else [result]
        self.phi = ca.vertcat(ca.SX(0, 1), *[ca.vec(ca.SX(row)) for row in rows])
        self.energy = ca.SX(element.kinetic(view)) if element.has_inertia else None
        pushed = element.force(view) if element.has_force else []
        self.force = ca.vertcat(
            ca.SX(0, 1), *[ca.vec(ca.SX(e)) for e in (pushed if isinstance(pushed, list) else [pushed])]
        )
        self.p, self.pieces = source.p, source.pieces
        self.arguments = ca.vertcat(ca.SX(0, 1), *source.arguments)
        self.n_rows = self.phi.numel()
        self.lam = ca.SX.sym("lam", self.n_rows)
        self.x = ca.vertcat(self.q, self.v, self.t, self.p, self.pieces, self.lam)
        sizes = [s.numel() for s in (self.q, self.v, self.t, self.p, self.pieces, self.lam)]
        self.at = dict(zip(("q", "v", "t", "p", "pieces", "lam"), np.cumsum([0, *sizes[:-1]]), strict=True))

    def _derivative(self, expression: Any, by: Any) -> ca.SX:
        return ca.jacobian(expression, by, _FORWARD)

    @cached_property
    def Phi_q(self) -> ca.SX:
        """The constraint Jacobian."""
        return self._derivative(self.phi, self.q)

    def _expressions(self, variant: str) -> list[ca.SX]:
        if variant == "value":
            return [self.phi]
        if variant == "position":
            return [self.phi, self.Phi_q, -self._derivative(self.phi, self.t)]
        if variant == "acceleration":
            along = ca.jtimes(self.phi, self.q, self.v) + self._derivative(self.phi, self.t)
            return [-ca.jtimes(along, self.q, self.v) - self._derivative(along, self.t)]
        if variant == "curvature":
            gradient = ca.mtimes(self.Phi_q.T, self.lam)
            speed = ca.mtimes(self._derivative(self.phi, self.t).T, self.lam)
            return [
                self._derivative(gradient, self.q),
                self._derivative(gradient, self.t),
                self._derivative(speed, self.t),
            ]
        if variant == "parameter":
            return [self._derivative(self.phi, self.p)]
        if variant == "mass":
            momentum = self._derivative(self.energy, self.v).T
            return [self._derivative(momentum, self.v)]
        if variant == "force":
            return [self.force, self._derivative(self.force, self.q), self._derivative(self.force, self.v)]
        if variant == "arguments":
            return [self.arguments]
        raise KeyError(variant)

    def variant(self, name: str) -> Variant:
        """The kernel of a variant, compiled when first needed.

        - ``value``: Phi;
        - ``position``: Phi, Phi_q, nu = -Phi_t;
        - ``acceleration``: gamma = -(Phi_q v)_q v - 2 Phi_qt v - Phi_tt;
        - ``curvature``: (Phi_q^T lambda)_q, (Phi_q^T lambda)_t, (Phi_t^T lambda)_t;
        - ``parameter``: Phi_p by the element's own numbers;
        - ``mass``: M = d2T/dv2;
        - ``force``: Q, Q_q, Q_v;
        - ``arguments``: where its tables are read.
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


_families: dict[Hashable, Family] = {}


def family_of(element: Element) -> Family:
    """The shared equations of an element's kind."""
    key = element.structure()
    if key not in _families:
        _families[key] = Family(element)
    return _families[key]
