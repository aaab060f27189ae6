"""The equations of motion of a system as compiled programs, with the fixed pattern of their linear system."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from kempe.elements import Element
from kempe.solvers import quasi_definite as qd
from kempe.system.system import System

_INT = np.int64


class DynamicPrograms:
    """Programs whose outputs are, one after the other,

    - ``residual``: f (n), Phi (m);
    - ``tangent``: f, Phi, then the values of the linear system: its upper block, then Phi_q;
    - ``explicit``: f without accelerations and multipliers (n), Phi (m), nu (m), gamma (m), then M and Phi_q as values;
    - ``velocity``: Phi, Phi';
    - ``canonical``: the rate of the momenta (n);
    - ``energy``: kinetic, of gravity, elastic, power dissipated, power supplied;
    - ``guards``: one value per switch; ``latches``: per switching element its first mode, then the values to keep.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self._using = [k for k, f in enumerate(system.families) if f.moves]
        self._number_entries()

    def _number_entries(self) -> None:
        """Number the entries of the upper block (symmetric, with its diagonal) and of Phi_q."""
        system, n = self.system, self.system.n
        blocks: list[np.ndarray] = [np.arange(n) * (n + 1)]
        rows, columns = [], []
        for k in self._using:
            q = system.q_of[k]
            block, jacobian = system._variant(k, "tangent").blocks[2:]
            blocks.append(q[block.rows] * n + q[block.columns])
            blocks.append(q[block.columns] * n + q[block.rows])
            rows.append(system.rows_of[k][jacobian.rows])
            columns.append(q[jacobian.columns])
        self._keys = np.unique(np.concatenate(blocks))
        self.block_rows, self.block_columns = self._keys // n, self._keys % n
        self.jacobian_rows = np.concatenate([np.zeros(0, _INT), *rows]).astype(_INT)
        self.jacobian_columns = np.concatenate([np.zeros(0, _INT), *columns]).astype(_INT)
        self.size_values = len(self._keys) + len(self.jacobian_rows)

    def _program(self, variant: str, offsets: list[int], size: int) -> np.ndarray:
        """A program from the blocks of a variant; vectors go behind their offset, matrices behind the last one."""
        system, n, seen = self.system, self.system.n, 0
        outputs: list[list[np.ndarray]] = []
        for k in self._using:
            blocks, q, rows = system._variant(k, variant).blocks, system.q_of[k], system.rows_of[k]
            places = [offsets[0] + q[blocks[0].rows]]
            places += [at + rows[b.rows] for at, b in zip(offsets[1:-1], blocks[1:], strict=False)]
            if len(blocks) > len(places):
                upper, jacobian = blocks[-2:]
                places.append(offsets[-1] + np.searchsorted(self._keys, q[upper.rows] * n + q[upper.columns]))
                places.append(offsets[-1] + len(self._keys) + seen + np.arange(len(jacobian.rows)))
                seen += len(jacobian.rows)
            outputs.append(places)
        return system._program(variant, self._using, outputs, size)

    @cached_property
    def residual(self) -> np.ndarray:
        """[f, Phi]."""
        n, m = self.system.n, self.system.m
        return self._program("residual", [0, n, n + m], n + m)

    @cached_property
    def tangent(self) -> np.ndarray:
        """[f, Phi, values]."""
        n, m = self.system.n, self.system.m
        return self._program("tangent", [0, n, n + m], n + m + self.size_values)

    @cached_property
    def explicit(self) -> np.ndarray:
        """[f without accelerations and multipliers, Phi, nu, gamma, values]."""
        n, m = self.system.n, self.system.m
        return self._program("explicit", [0, n, n + m, n + 2 * m, n + 3 * m], n + 3 * m + self.size_values)

    @cached_property
    def velocity(self) -> np.ndarray:
        """[Phi, Phi']."""
        system, m = self.system, self.system.m
        using = [k for k in self._using if len(system.rows_of[k])]
        outputs = []
        for k in using:
            phi, rate = system._variant(k, "velocity").blocks
            outputs.append([system.rows_of[k][phi.rows], m + system.rows_of[k][rate.rows]])
        return system._program("velocity", using, outputs, 2 * m)

    @cached_property
    def canonical(self) -> np.ndarray:
        """The rate of the momenta."""
        return self._program("canonical", [0, 0], self.system.n)

    @cached_property
    def energy(self) -> np.ndarray:
        """Kinetic, of gravity, elastic; power dissipated, power supplied."""
        outputs = []
        for k in self._using:
            blocks = self.system._variant(k, "energy").blocks
            outputs.append([np.full(len(block.rows), which, dtype=_INT) for which, block in enumerate(blocks)])
        return self.system._program("energy", self._using, outputs, 5)

    @cached_property
    def has_power(self) -> bool:
        """Whether anything can dissipate or supply energy."""
        variants = [self.system._variant(k, "energy").blocks for k in self._using]
        return any(len(blocks[3].rows) or len(blocks[4].rows) for blocks in variants)

    @cached_property
    def rheonomic(self) -> bool:
        """Whether constraints move with time (then they can do work)."""
        return any(len(self.system._variant(k, "position").blocks[2].rows) for k in self._using)

    # --- switching elements --------------------------------------------------------------------------------------

    @cached_property
    def hybrid(self) -> list[int]:
        """The elements that switch."""
        return [k for k, f in enumerate(self.system.families) if f.modes]

    @cached_property
    def switches(self) -> list[tuple[Element, Any]]:
        """Every switch with its element, in the order of the guards."""
        return [(self.system.elements[k], s) for k in self.hybrid for s in self.system.families[k].switches]

    @cached_property
    def guards(self) -> np.ndarray:
        """One value per switch, positive as long as its mode lasts."""
        counts = np.cumsum([0, *(len(self.system.families[k].switches) for k in self.hybrid)])
        outputs = [[counts[i] + self.system._variant(k, "guards").blocks[0].rows] for i, k in enumerate(self.hybrid)]
        return self.system._program("guards", self.hybrid, outputs, int(counts[-1]))

    @cached_property
    def latches(self) -> np.ndarray:
        """Per switching element its first mode, then per switch the values to keep."""
        sizes = [1 + len(f.switches) * len(f.latches) for f in (self.system.families[k] for k in self.hybrid)]
        starts = np.cumsum([0, *sizes])
        outputs = [[starts[i] + self.system._variant(k, "latches").blocks[0].rows] for i, k in enumerate(self.hybrid)]
        return self.system._program("latches", self.hybrid, outputs, int(starts[-1]))

    @cached_property
    def switch_table(self) -> np.ndarray:
        """Per switch: place of the mode in x, mode entered, number of kept values, their place among the latches."""
        table, at = [], 0
        for k in self.hybrid:
            f = self.system.families[k]
            mode_at = int(self.system.x_at[k] + f.at["z"])
            for number, switch in enumerate(f.switches):
                first = at + 1 + number * len(f.latches)
                table.append([mode_at, f.modes.index(switch.target), len(f.latches), first])
            at += 1 + len(f.switches) * len(f.latches)
        return np.array(table, dtype=_INT).reshape(-1, 4)

    @cached_property
    def mode_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Per switching element: the place of its mode in x, and of its first mode among the latches."""
        at, places, firsts = 0, [], []
        for k in self.hybrid:
            f = self.system.families[k]
            places.append(int(self.system.x_at[k] + f.at["z"]))
            firsts.append(at)
            at += 1 + len(f.switches) * len(f.latches)
        return np.array(places, dtype=_INT), np.array(firsts, dtype=_INT)

    # --- the linear system ---------------------------------------------------------------------------------------

    @cached_property
    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, columns and value places of the whole matrix."""
        n, upper = self.system.n, len(self._keys)
        r, c = self.jacobian_rows + n, self.jacobian_columns
        places = np.concatenate([np.arange(upper), upper + np.arange(len(r)), upper + np.arange(len(r))])
        rows = np.concatenate([self.block_rows, r, c])
        columns = np.concatenate([self.block_columns, c, r])
        return rows.astype(_INT), columns.astype(_INT), places.astype(_INT)

    @cached_property
    def plan(self) -> np.ndarray:
        """The order and the fill: by parts and elements, each element's multipliers behind the parts with inertia."""
        system, n = self.system, self.system.n
        groups = [system.first[p.name] + np.arange(len(p.channels)) for p in system.parts]
        part_of = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
        heavy = np.zeros(len(groups), dtype=bool)
        links: list[set[int]] = [set() for _ in groups]
        for k in self._using:
            masses = system._variant(k, "explicit").blocks[4]
            heavy[part_of[system.q_of[k][masses.rows]]] = True
        for i, j in zip(part_of[self.block_rows].tolist(), part_of[self.block_columns].tolist(), strict=True):
            if i != j:
                links[i].add(j)
        waits: list[set[int]] = [set() for _ in groups]
        for k in self._using:
            if len(system.rows_of[k]) == 0:
                continue
            row, touched = len(groups), set(part_of[system.q_of[k]].tolist())
            groups.append(n + system.rows_of[k])
            links.append(touched)
            waits.append({j for j in touched if heavy[j]})
            for j in touched:
                links[j].add(row)
                if not heavy[j]:
                    waits[j].add(row)
        rows, columns, places = self.entries
        order = qd.safe_order(groups, links, waits)
        return qd.plan(n + system.m, rows, columns, places, order)
