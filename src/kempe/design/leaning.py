"""A state with directions: how the equations of motion change when everything they depend on does.

A direction is a change of the long input vector x of all kernels (numbers, coordinates, rates, accelerations,
multipliers; see ``docs/architecture.md``), one for each design parameter.
"""

from __future__ import annotations

import copy
from typing import Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from kempe.design.chain import Chain
from kempe.kernels import Kernel, compile_function
from kempe.simulation.posing import Posed
from kempe.solvers.directions import pushed
from kempe.system.families import Family

_second: WeakKeyDictionary[Family, Kernel] = WeakKeyDictionary()


class Leaning:
    """A state of a system with one direction per design parameter.

    ``x`` are the inputs of all kernels, ``dx`` their directions, one row each. Directions begin with what numbers
    change by; ``lean`` adds that coordinates and the rest change too.
    """

    def __init__(self, posed: Posed, chain: Chain) -> None:
        self.system, self.chain = posed.system, chain
        self.x = posed.x.copy()
        self.dx = chain.x.copy()
        #: Where it stands.
        self.q, self.t = posed.drawn, 0.0

    def stand(self, q: np.ndarray, t: float, v: np.ndarray, a: np.ndarray, lam: np.ndarray) -> None:
        """Put a state in, with the table pieces that hold there, and begin with numbers alone."""
        self.q, self.t = q, t
        self.system.evaluate(self.system.value, self.x, q, t, v, lam, a)
        self.dx[:] = self.chain.x

    def lean(self, dq: Any = None, dv: Any = None, da: Any = None, dlam: Any = None) -> None:
        """Let coordinates, rates, accelerations or multipliers change, a row per direction."""
        to = self.system.layout
        for given, places in ((dq, to.q), (dv, to.v), (da, to.a), (dlam, to.lam)):
            if given is not None:
                self.dx[:, places] = given

    def keep(self) -> None:
        """Let the values that elements keep change as they would be kept in this state."""
        system = self.system
        if not any(family.latches for family in system.families):
            return
        hybrids, changes = system.dynamics.hybrids, self._along("latches")
        for e, at in enumerate(hybrids.mode_at):
            switches = range(hybrids.first_switch[e], hybrids.end_switch[e])
            into = [s for s in switches if hybrids.target[s] == int(self.x[at])]
            if into and hybrids.kept[e]:
                first = hybrids.kept_at[into[0]]
                self.dx[:, at + 1 : at + 1 + hybrids.kept[e]] = changes[:, first : first + hybrids.kept[e]]

    def positions(self) -> tuple[np.ndarray, np.ndarray]:
        """What Phi and Phi' change by, a row per direction."""
        found = self._along("velocity")
        return found[:, : self.system.m], found[:, self.system.m :]

    def accelerations(self) -> np.ndarray:
        """What Phi'' changes by, a row per direction."""
        return self._along("motion")[:, self.system.n :]

    def balance(self) -> np.ndarray:
        """What f, which must vanish on each coordinate, changes by, a row per direction."""
        return self._along("motion")[:, : self.system.n]

    def steepened(self, u: np.ndarray) -> np.ndarray:
        """Per direction, what Phi_q u changes by for a constant u: an array (directions, m)."""
        found = []
        for v in (u, np.zeros_like(u)):  # Phi' = Phi_q v + Phi_t
            other = copy.copy(self)
            other.x, other.dx = self.x.copy(), self.dx.copy()
            other.x[self.system.layout.v] = v
            other.dx[:, self.system.layout.v] = 0.0
            found.append(other.positions()[1])
        return found[0] - found[1]

    def steepness(self, moved: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Per direction dx, how weights^T [f, Phi]_x moved changes: the second derivative of the equations.

        ``moved`` is a vector like x, ``weights`` are those of f (n) and Phi (m). Both may be complex.
        """
        system, n = self.system, self.system.n
        found = np.zeros(len(self.dx), dtype=np.result_type(moved, weights))
        for k, family in enumerate(system.families):
            if not family.moves:
                continue
            own, q, rows = system.inputs_at(k), system.q_of[k], system.rows_of[k]
            w, kernel = np.concatenate([weights[q], weights[n + rows]]), _twice(family)
            for number in np.flatnonzero(self.dx[:, own].any(axis=1)):
                for unit, side in _parts(moved[own]):
                    for other, weight in _parts(w):
                        given = np.concatenate([self.x[own], side, weight, self.dx[number, own]])
                        found[number] += unit * other * kernel(given)[0]
        return found

    def _along(self, what: str) -> np.ndarray:
        """Outputs of all elements differentiated along every direction."""
        push = self.chain.directions(what)
        out = np.zeros((len(self.dx), push.size))
        for dx, row in zip(self.dx, out, strict=True):
            pushed(push, self.x, dx, row)
        return out


def _parts(values: np.ndarray) -> list[tuple[complex, np.ndarray]]:
    """The real and the imaginary part with their units, as far as there are any."""
    parts = [(1.0 + 0.0j, values.real), (1.0j, values.imag)] if np.iscomplexobj(values) else [(1.0, values)]
    return [(unit, part) for unit, part in parts if part.any()]


def _twice(family: Family) -> Kernel:
    """Of [x, s, w, d]: w^T [f, Phi] differentiated along s and then along d.

    All forward: what is undefined on the untaken side of a condition never leaks.
    """
    if family not in _second:
        x, equations = family.x, ca.vertcat(family.balance, family.phi)
        s, d, w = ca.SX.sym("s", x.numel()), ca.SX.sym("d", x.numel()), ca.SX.sym("w", equations.numel())
        along = ca.dot(w, ca.jtimes(equations, x, s))
        _second[family] = compile_function(ca.vertcat(x, s, w, d), ca.densify(ca.jtimes(along, x, d)))
    return _second[family]
