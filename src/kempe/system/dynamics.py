"""The equations of motion of a system as compiled programs, with the fixed pattern of their linear system."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, get_type_hints

import numpy as np

from kempe.elements import Element
from kempe.elements.touching import BACKWARD, CLOSED, FORWARD, NORMAL, OPEN, STICK, STICKS
from kempe.solvers import quasi_definite as qd
from kempe.solvers.motion import AT_ITS_END, Follows, Hybrids, Touches, Whole
from kempe.solvers.program import Program, make_program
from kempe.system.system import System

_INT = np.int64
#: What counts as the ground among parts, which are numbered.
_GROUND = -1
#: The index arrays of ``Hybrids`` that are filled element by element.
_HYBRID_ARRAYS = [name for name in get_type_hints(Hybrids) if name != "tested"]
_TOUCH_ARRAYS = list(get_type_hints(Touches))


class DynamicPrograms:
    """Programs whose outputs are, one after the other,

    - ``residual``: f (n), Phi (m);
    - ``tangent``: f, Phi, then the values of the linear system;
    - ``explicit``: f without accelerations and Phi_q^T lambda (n), Phi (m), nu (m), gamma (m), then the values of the
      linear system, M in its upper block;
    - ``velocity``: Phi, Phi';
    - ``canonical``: the rate of the momenta (n);
    - ``energy``: kinetic, of gravity, elastic, power dissipated, power supplied;
    - ``guards``: one value per switch, then one rate and one second rate per switch;
    - ``latches``: per switching element its first mode, then per switch the values to keep;
    - ``jumps``: per switch the restitution of each row of its element, then a generalised impulse on its coordinates;
    - ``touch``: per touching element its gap, slip, friction and restitution;
    - ``followed``: per element that is followed while it is out of its first mode the values and rates that are.

    The values of the linear system are its upper block, then Phi_q. Where applied forces depend on multipliers the
    block to the right, Phi_q^T - Q_lambda, has values of its own behind these, and one that is always zero.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self._using = [k for k, f in enumerate(system.families) if f.moves]
        self._number_entries()

    def _number_entries(self) -> None:
        """Number the entries of the upper block (symmetric, with its diagonal), of Phi_q, and of Phi_q^T - Q_lambda."""
        system, n = self.system, self.system.n
        blocks: list[np.ndarray] = [np.arange(n) * (n + 1)]
        rows, columns, right = [], [], []
        for k in self._using:
            q = system.q_of[k]
            block = system.families[k].coupling
            jacobian, load = system._variant(k, "explicit").blocks[-2:]
            blocks.append(q[block.rows] * n + q[block.columns])
            blocks.append(q[block.columns] * n + q[block.rows])
            rows.append(system.rows_of[k][jacobian.rows])
            columns.append(q[jacobian.columns])
            right.append(q[load.rows] * system.m + system.lam_of[k][load.columns])
        self._keys = np.unique(np.concatenate(blocks))
        self.block_rows, self.block_columns = self._keys // n, self._keys % n
        self.jacobian_rows = np.concatenate([np.zeros(0, _INT), *rows]).astype(_INT)
        self.jacobian_columns = np.concatenate([np.zeros(0, _INT), *columns]).astype(_INT)
        loads = np.concatenate([np.zeros(0, _INT), *right])
        #: Whether applied forces depend on multipliers.
        self.loaded = len(loads) > 0
        mirrored = self.jacobian_columns * system.m + self.jacobian_rows
        self._right = np.unique(np.concatenate([mirrored, loads])) if self.loaded else np.zeros(0, _INT)
        self._mirror_of = np.searchsorted(self._right, mirrored)  # per entry of Phi_q: its mirror image to the right
        self.size_values = len(self._keys) + len(self.jacobian_rows) + len(self._right) + self.loaded

    @cached_property
    def diagonal(self) -> np.ndarray:
        """Where the diagonal of the upper block is among the values."""
        return np.flatnonzero(self.block_rows == self.block_columns).astype(_INT)

    @cached_property
    def right(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and constraint rows of the entries of the block to the right that has values of its own."""
        m = max(self.system.m, 1)
        return (self._right // m).astype(_INT), (self._right % m).astype(_INT)

    @cached_property
    def mirror(self) -> np.ndarray:
        """Per value of the block to the right: where its mirror image in Phi_q is, or where the zero is."""
        found = np.full(len(self._right), self.size_values - 1, dtype=_INT)
        if self.loaded:
            found[self._mirror_of] = len(self._keys) + np.arange(len(self.jacobian_rows))
        return found

    @cached_property
    def nothing(self) -> Program:
        """The program that does nothing, where a method does not need one."""
        none = np.zeros(0, dtype=_INT)
        return make_program(self.system.kernels, [], none, none, none, 0)

    def _program(self, variant: str, offsets: list[int], size: int) -> Program:
        """A program from the blocks of a variant; vectors go behind their offset, matrices behind the last one."""
        system, n, seen, before = self.system, self.system.n, 0, 0
        sources: list[np.ndarray] = []
        targets: list[np.ndarray] = []
        for k in self._using:
            made = system._variant(k, variant)
            blocks, q, rows = made.blocks, system.q_of[k], system.rows_of[k]
            places = [offsets[0] + q[blocks[0].rows]]
            places += [at + rows[b.rows] for at, b in zip(offsets[1:-1], blocks[1:], strict=False)]
            if len(blocks) > len(places):
                upper, jacobian, load = blocks[-3:]
                places.append(offsets[-1] + np.searchsorted(self._keys, q[upper.rows] * n + q[upper.columns]))
                own = seen + np.arange(len(jacobian.rows))
                seen += len(jacobian.rows)
                first = sum(len(p) for p in places)
                places.append(offsets[-1] + len(self._keys) + own)
                if self.loaded:
                    right = offsets[-1] + len(self._keys) + len(self.jacobian_rows)
                    key = q[load.rows] * system.m + system.lam_of[k][load.columns]
                    places.append(right + np.searchsorted(self._right, key))
                    sources.append(before + first + np.arange(len(own)))
                    targets.append(right + self._mirror_of[own])
            target = np.concatenate(places)
            sources.append(before + np.arange(len(target)))
            targets.append(target)
            before += made.kernel.n_out
        nothing = np.zeros(0, _INT)
        source, target = np.concatenate([nothing, *sources]), np.concatenate([nothing, *targets])
        return system.program_of(variant, self._using, source, target, size)

    @cached_property
    def residual(self) -> Program:
        """[f, Phi]."""
        n, m = self.system.n, self.system.m
        return self._program("residual", [0, n, n + m], n + m)

    @cached_property
    def tangent(self) -> Program:
        """[f, Phi, values]."""
        n, m = self.system.n, self.system.m
        return self._program("tangent", [0, n, n + m], n + m + self.size_values)

    @cached_property
    def explicit(self) -> Program:
        """[f without accelerations and multipliers, Phi, nu, gamma, values]."""
        n, m = self.system.n, self.system.m
        return self._program("explicit", [0, n, n + m, n + 2 * m, n + 3 * m], n + 3 * m + self.size_values)

    @cached_property
    def velocity(self) -> Program:
        """[Phi, Phi']."""
        system, m = self.system, self.system.m
        using = [k for k in self._using if len(system.rows_of[k])]
        outputs = []
        for k in using:
            phi, rate = system._variant(k, "velocity").blocks
            outputs.append([system.rows_of[k][phi.rows], m + system.rows_of[k][rate.rows]])
        return system._program("velocity", using, outputs, 2 * m)

    @cached_property
    def canonical(self) -> Program:
        """The rate of the momenta."""
        return self._program("canonical", [0, 0], self.system.n)

    @cached_property
    def energy(self) -> Program:
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
    def guards(self) -> Program:
        """One value per switch, positive as long as its mode lasts; then its rate and second rate."""
        counts = np.cumsum([0, *(len(self.system.families[k].switches) for k in self.hybrid)])
        G, outputs = int(counts[-1]), []
        for i, k in enumerate(self.hybrid):
            blocks = self.system._variant(k, "guards").blocks
            outputs.append([which * G + counts[i] + block.rows for which, block in enumerate(blocks)])
        return self.system._program("guards", self.hybrid, outputs, 3 * G)

    @cached_property
    def latches(self) -> Program:
        """Per switching element its first mode, then per switch the values to keep."""
        return self._of_switches("latches", self._latch_sizes)

    @cached_property
    def jumps(self) -> Program:
        """Per switch the restitution of each row of its element, then a generalised impulse on its coordinates."""
        return self._of_switches("jumps", self._jump_sizes)

    @cached_property
    def touching(self) -> list[int]:
        """The elements that touch, by their number among those that switch."""
        return [i for i, k in enumerate(self.hybrid) if self.system.families[k].touch is not None]

    @cached_property
    def touch(self) -> Program:
        """Per touching element its gap, slip, friction and restitution (see ``solvers.motion``)."""
        families = [self.system.families[self.hybrid[i]] for i in self.touching]
        starts = np.cumsum([0, *(f.touching.numel() for f in families)])
        using = [self.hybrid[i] for i in self.touching]
        outputs = [[starts[j] + self.system._variant(k, "touch").blocks[0].rows] for j, k in enumerate(using)]
        return self.system._program("touch", using, outputs, int(starts[-1]))

    @cached_property
    def touches(self) -> Touches:
        """The touching elements as index arrays."""
        system, place_of = self.system, dict(zip(self.system.conditions[0], self.system.conditions[1], strict=True))
        found: dict[str, list[int]] = {name: [] for name in _TOUCH_ARRAYS}
        at = 0
        for i in self.touching:
            k = self.hybrid[i]
            f = system.families[k]
            row = {name: int(r) for name, r in zip(f.row_names, system.rows_of[k], strict=True)}
            mode = {name: number for number, name in enumerate(f.modes)}
            normal = row[NORMAL] if OPEN in mode else -1
            stick = row[STICK] if STICKS in mode else -1
            values = {
                "element": i,
                "mode_at": system.x_at[k] + f.at["z"],
                "open": mode.get(OPEN, -1),
                "closed": mode.get(STICKS, mode.get(CLOSED, -1)),
                "forward": mode.get(FORWARD, -1),
                "backward": mode.get(BACKWARD, -1),
                "normal": normal,
                "stick": stick,
                "normal_at": place_of.get(normal, -1),
                "stick_at": place_of.get(stick, -1),
                "gap_guard": self._guard(i, OPEN),
                "forward_guard": self._guard(i, FORWARD, STICKS),
                "backward_guard": self._guard(i, BACKWARD, STICKS),
                "at": at,
                "first_lam": len(found["lam_row"]),
            }
            for name, value in values.items():
                found[name].append(int(value))
            found["lam_row"] += [int(r) for r in system.lam_of[k]]
            at += f.touching.numel()
        found["first_lam"].append(len(found["lam_row"]))
        return Touches(**{name: np.array(values, dtype=_INT) for name, values in found.items()})

    @cached_property
    def following(self) -> list[int]:
        """The elements that are followed while out of their first mode, by their number among those that switch."""
        return [i for i, k in enumerate(self.hybrid) if self.system.families[k].following.numel()]

    @cached_property
    def followed(self) -> Program:
        """Per element that is followed its values, then its rates."""
        using = [self.hybrid[i] for i in self.following]
        at = self.follows.at
        outputs = [[at[j] + self.system._variant(k, "followed").blocks[0].rows] for j, k in enumerate(using)]
        return self.system._program("followed", using, outputs, int(at[-1]))

    @cached_property
    def follows(self) -> Follows:
        """The elements that are followed as index arrays."""
        system, using = self.system, [self.hybrid[i] for i in self.following]
        families = [system.families[k] for k in using]
        owner = [i for i, k in enumerate(self.hybrid) for _ in system.families[k].switches]
        arrays = {
            "mode_at": [system.x_at[k] + f.at["z"] for k, f in zip(using, families, strict=True)],
            "at": np.cumsum([0, *(f.following.numel() for f in families)]),
            "largest": [len(f.followed.largest) for f in families],
            "follower": [self.following.index(i) if i in self.following else -1 for i in owner],
        }
        return Follows(**{name: np.array(values, dtype=_INT) for name, values in arrays.items()})

    def _guard(self, i: int, source: str, target: str | None = None) -> int:
        """The first switch of an element (by its number among those that switch) out of a mode, or -1."""
        first = sum(len(self.system.families[k].switches) for k in self.hybrid[:i])
        for number, s in enumerate(self.system.families[self.hybrid[i]].switches):
            if s.source == source and target in (None, s.target):
                return first + number
        return -1

    @property
    def _latch_sizes(self) -> list[int]:
        return [1 + len(f.switches) * len(f.latches) for f in (self.system.families[k] for k in self.hybrid)]

    @property
    def _jump_sizes(self) -> list[int]:
        system = self.system
        return [len(system.families[k].switches) * (len(system.rows_of[k]) + len(system.q_of[k])) for k in self.hybrid]

    def _of_switches(self, variant: str, sizes: list[int]) -> Program:
        starts = np.cumsum([0, *sizes])
        outputs = [[starts[i] + self.system._variant(k, variant).blocks[0].rows] for i, k in enumerate(self.hybrid)]
        return self.system._program(variant, self.hybrid, outputs, int(starts[-1]))

    @cached_property
    def hybrids(self) -> Hybrids:
        """The switching elements and their switches as index arrays."""
        system = self.system
        found: dict[str, list[int]] = {name: [] for name in _HYBRID_ARRAYS}

        def enter(**values: int) -> None:
            for name, value in values.items():
                found[name].append(int(value))

        condition = {int(row): c for c, row in enumerate(system.conditions[0])}
        latch_at = jump_at = number = 0
        for i, k in enumerate(self.hybrid):
            f, rows, q = system.families[k], system.rows_of[k], system.q_of[k]
            enter(mode_at=system.x_at[k] + f.at["z"], first_mode_at=latch_at, kept=len(f.latches))
            enter(first_switch=number, end_switch=number + len(f.switches))
            latch_at += 1
            for s, solved, swift in zip(f.switches, f.solved_guards, f.swift_guards, strict=True):
                limit = -1 if s.limit is None else f.modes.index(s.limit)
                enter(owner=i, source=f.modes.index(s.source), target=f.modes.index(s.target), limit=limit)
                enter(
                    stops=AT_ITS_END if s.leaves_data else s.stops,
                    jumps=bool(s.jump) or s.kick is not None,
                    solved=solved,
                    swift=swift,
                    kept_at=latch_at,
                    toucher=self.touching.index(i) if i in self.touching else -1,
                )
                for r, name in enumerate(f.row_names):
                    if name in s.jump:
                        enter(impulse_switch=number, impulse_row=rows[r], restitution_at=jump_at + r)
                        enter(impulse_condition=condition.get(int(rows[r]), -1))
                if s.kick is not None:
                    for c, coordinate in enumerate(q):
                        enter(kick_switch=number, kick_coordinate=coordinate, kick_at=jump_at + len(rows) + c)
                latch_at, jump_at, number = latch_at + len(f.latches), jump_at + len(rows) + len(q), number + 1
        touched = {int(c) for k in self.hybrid for c in system.q_of[k] if system.is_angle[c]}
        for name, row in zip(("row", "row_at", "row_mode_at", "row_modes"), system.conditions, strict=True):
            found[name] = row.tolist()
        arrays = {name: np.array(values, dtype=_INT) for name, values in found.items()}
        return Hybrids(**arrays, tested=np.array(sorted(touched), dtype=_INT))

    def put_first_modes(self, x: np.ndarray, q: Any, t: float, v: Any) -> None:
        """Put every switching element into the mode in which a motion from this state would begin, in x."""
        if not self.hybrid:
            return
        h = self.hybrids
        latched = self.system.evaluate(self.latches, x, q, t, v)
        x[h.mode_at] = latched[h.first_mode_at]
        for e, at in enumerate(h.mode_at):
            into = [s for s in range(h.first_switch[e], h.end_switch[e]) if h.target[s] == int(x[at])]
            if into and h.kept[e]:
                x[at + 1 : at + 1 + h.kept[e]] = latched[h.kept_at[into[0]] :][: h.kept[e]]
        x[h.row_at] = (h.row_modes >> x[h.row_mode_at].astype(_INT)) & 1

    @cached_property
    def renewal(self) -> float:
        """What a new matrix of an implicit step costs, in iterations of Newton's method with a known one."""
        tangent, residual = (
            sum(len(program.kernels.held[number].steps) for number in program.kernel.tolist()) // program.side_by_side
            for program in (self.tangent, self.residual)
        )
        factoring, solving = self.plan.work
        return (tangent + factoring) / (residual + solving)

    @cached_property
    def whole(self) -> Whole:
        """The functions that do several things at once, those there are so far."""
        return Whole()

    # --- the linear system ---------------------------------------------------------------------------------------

    @cached_property
    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, columns and value places of the whole matrix."""
        n, upper = self.system.n, len(self._keys)
        r, c = self.jacobian_rows + n, self.jacobian_columns
        own = upper + np.arange(len(r))
        rows, columns, places = [self.block_rows, r], [self.block_columns, c], [np.arange(upper), own]
        if self.loaded:
            i, k = self._right // self.system.m, self._right % self.system.m + n
            only = np.ones(len(self._right), dtype=bool)  # nothing opposite in Phi_q: a zero, for the pattern's sake
            only[self._mirror_of] = False
            rows += [i, k[only]]
            columns += [k, i[only]]
            places += [upper + len(r) + np.arange(len(i)), np.full(int(only.sum()), self.size_values - 1)]
        else:
            rows.append(c)
            columns.append(r)
            places.append(own)
        found = [np.concatenate(parts).astype(_INT) for parts in (rows, columns, places)]
        return found[0], found[1], found[2]

    @cached_property
    def plan(self) -> qd.Plan:
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
        pushed: dict[int, set[int]] = {}  # per row: the parts that its multiplier acts on by an applied force
        for key in self._right.tolist():
            pushed.setdefault(key % system.m, set()).add(int(part_of[key // system.m]))
        for k in self._using:
            if len(system.rows_of[k]) == 0:
                continue
            row, touched = len(groups), set(part_of[system.q_of[k]].tolist())
            for number in system.rows_of[k].tolist():
                touched |= pushed.get(number, set())
            groups.append(n + system.rows_of[k])
            links.append(touched)
            waits.append({j for j in touched if heavy[j]})
            for j in touched:
                links[j].add(row)
                if not heavy[j]:
                    waits[j].add(row)
        joined = [links[k] for k in range(len(system.parts), len(groups))]
        return qd.planned(groups, links, waits, self.entries, system.kernels, _is_tree(joined))


def _is_tree(joined: Iterable[set[int]]) -> bool:
    """Whether nothing closes a loop; what is joined to a single part is joined to the ground."""
    head: dict[int, int] = {}

    def top(k: int) -> int:
        while k in head:
            k = head[k]
        return k

    for parts in joined:
        first, *others = [*parts, _GROUND] if len(parts) == 1 else [*parts]
        for other in others:
            one, two = top(first), top(other)
            if one == two:
                return False
            head[two] = one
    return True
