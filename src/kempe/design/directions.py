"""How the equations of motion change when everything they depend on changes: states, multipliers and numbers.

With the long input vector x of all kernels (numbers, coordinates, rates, accelerations, multipliers; see
``docs/architecture.md``) and a direction dx in it, all of this is one directional derivative by element, from kernels
that are compiled for each family as they are asked for.
"""

from __future__ import annotations

import copy
from typing import Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from kempe.design.chain import Chain
from kempe.kernels import Kernel, compile_function
from kempe.kernels.compiler import call_address
from kempe.simulation.posing import Posed
from kempe.system.families import Family

_kernels: WeakKeyDictionary[Family, dict[str, Kernel]] = WeakKeyDictionary()


class Directions:
    """A state of a system with one direction per design parameter.

    ``x`` are the inputs of all kernels, ``dx`` their directions, one row each. Directions begin with what numbers
    change by; ``lean`` adds that coordinates and the rest change too.
    """

    def __init__(self, posed: Posed, chain: Chain) -> None:
        self.system, self.chain = posed.system, chain
        self.x = posed.x.copy()
        self.dx = chain.x.copy()

    def stand(self, q: np.ndarray, t: float, v: np.ndarray, a: np.ndarray, lam: np.ndarray) -> None:
        """Put a state in, with the table pieces that hold there, and begin with numbers alone."""
        self.system.evaluate(self.system.value, self.x, q, t, v, lam, a)
        self.dx[:] = self.chain.x

    def lean(self, dq: Any = None, dv: Any = None, da: Any = None, dlam: Any = None) -> None:
        """Let coordinates, rates, accelerations or multipliers change, a row per direction."""
        to = self.system.layout
        for given, places, source in ((dq, to.q_to, to.q_from), (dv, to.v_to, to.q_from), (da, to.a_to, to.q_from)):
            if given is not None:
                self.dx[:, places] = given[:, source]
        if dlam is not None:
            self.dx[:, to.lam_to] = dlam[:, to.lam_from]

    def keep(self) -> None:
        """Let the values that elements keep change as they would be kept in this state."""
        system = self.system
        for k, family in enumerate(system.families):
            kept = slice(*(system.x_at[k] + family.at["z"] + 1 + np.array([0, len(family.latches)])))
            mode = int(self.x[system.x_at[k] + family.at["z"]]) if family.latches else -1
            into = [i for i, s in enumerate(family.switches) if mode >= 0 and s.target == family.modes[mode]]
            if into:
                self.dx[:, kept] = 0.0
                self.dx[:, kept] = self._along(k, f"latch {into[0]}")

    def constraints(self) -> np.ndarray:
        """What Phi, Phi' and Phi'' change by: an array (3, directions, m)."""
        system, m = self.system, self.system.m
        out = np.zeros((len(self.dx), 3, m))
        for k, family in enumerate(system.families):
            if family.n_rows:
                out[:, :, system.rows_of[k]] += self._along(k, "constraints").reshape(-1, 3, family.n_rows)
        return out.transpose(1, 0, 2)

    def balance(self) -> np.ndarray:
        """What f, which must vanish on each coordinate, changes by: an array (directions, n)."""
        system = self.system
        out = np.zeros((len(self.dx), system.n))
        for k, family in enumerate(system.families):
            if family.moves:
                out[:, system.q_of[k]] += self._along(k, "balance")
        return out

    def steepened(self, u: np.ndarray) -> np.ndarray:
        """Per direction, what Phi_q u changes by for a constant u: an array (directions, m)."""
        found = []
        for v in (u, np.zeros_like(u)):  # Phi' = Phi_q v + Phi_t
            other = copy.copy(self)
            other.x, other.dx = self.x.copy(), self.dx.copy()
            other.x[self.system.layout.v_to] = v[self.system.layout.q_from]
            other.dx[:, self.system.layout.v_to] = 0.0
            found.append(other.constraints()[1])
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
            own, q, rows = self._inputs(k), system.q_of[k], system.rows_of[k]
            w, kernel = np.concatenate([weights[q], weights[n + rows]]), _kernel(family, "steepness")
            for number in np.flatnonzero(self.dx[:, own].any(axis=1)):
                for unit, side in _parts(moved[own]):
                    for other, weight in _parts(w):
                        given = np.concatenate([self.x[own], side, weight, self.dx[number, own]])
                        found[number] += unit * other * kernel(given)[0]
        return found

    def _inputs(self, k: int) -> slice:
        return slice(int(self.system.x_at[k]), int(self.system.x_at[k + 1]))

    def _along(self, k: int, what: str) -> np.ndarray:
        """An expression of an element's differentiated along all directions that it notices, a row for each."""
        kernel, own = _kernel(self.system.families[k], what), self._inputs(k)
        size = own.stop - own.start
        given, out = np.zeros(max(2 * size, 1)), np.zeros((len(self.dx), max(kernel.n_out, 1)))
        given[:size] = self.x[own]
        for number in np.flatnonzero(self.dx[:, own].any(axis=1)):
            given[size:] = self.dx[number, own]
            call_address(kernel.address, given.ctypes.data, out[number].ctypes.data)
        return out[:, : kernel.n_out]


def _parts(values: np.ndarray) -> list[tuple[complex, np.ndarray]]:
    """The real and the imaginary part with their units, as far as there are any."""
    parts = [(1.0 + 0.0j, values.real), (1.0j, values.imag)] if np.iscomplexobj(values) else [(1.0, values)]
    return [(unit, part) for unit, part in parts if part.any()]


def _kernel(family: Family, what: str) -> Kernel:
    """The directional derivative of an expression of a family, or ("steepness") that of one, differentiated again.

    All forward: what is undefined on the untaken side of a condition never leaks.
    """
    known = _kernels.setdefault(family, {})
    if what not in known:
        x, s = family.x, ca.SX.sym("s", family.x.numel())
        if what == "steepness":
            equations, d = ca.vertcat(family.balance, family.phi), ca.SX.sym("d", x.numel())
            w = ca.SX.sym("w", equations.numel())
            along = ca.dot(w, ca.jtimes(equations, x, s))
            known[what] = compile_function(ca.vertcat(x, s, w, d), ca.densify(ca.jtimes(along, x, d)))
        else:
            known[what] = compile_function(ca.vertcat(x, s), ca.densify(ca.jtimes(_expression(family, what), x, s)))
    return known[what]


def _expression(family: Family, what: str) -> ca.SX:
    if what == "balance":
        return family.balance
    if what == "constraints":
        rate = ca.jtimes(family.phi, family.q, family.v) + family.Phi_t
        second = ca.jtimes(family.phi, family.q, family.a) - family.gamma
        return ca.vertcat(family.phi, rate, second)
    latch = family.switches[int(what.removeprefix("latch "))].latch
    return ca.vertcat(*(ca.SX(latch.get(name, family.z[1 + i])) for i, name in enumerate(family.latches)))
