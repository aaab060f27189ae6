"""A model's elements laid out as one sparse system: which coordinates, rows and matrix places belong to whom."""

from __future__ import annotations

import copy
import hashlib
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix

from kempe.elements import Element, Table, parameters_in
from kempe.elements.geometry import Geometry
from kempe.elements.numbers import LARGEST
from kempe.elements.readings import SLACK, Staged, outside_data
from kempe.errors import ModelError
from kempe.kernels import UnsupportedOperation
from kempe.kernels.compiler import call_address
from kempe.model import Model
from kempe.solvers.program import (
    STATE,
    TIME,
    WEIGHTS,
    Kernels,
    Layout,
    Program,
    evaluated,
    make_program,
    size_arguments,
    size_head,
)
from kempe.system.families import Family, Variant, family_with_tables, mathematics

_INT = np.int64
_NONE = np.zeros(0)
#: At least as many as a family has variants.
VARIANTS = 48
#: Programs of these variants and of so many calls are evaluated several calls at a time.
OFTEN_RUN, MANY_CALLS = {"residual", "tangent", "explicit", "value", "canonical"}, 160


class Row:
    """A scalar constraint equation: the element it belongs to, its own name there, and whether it drives."""

    __slots__ = ("drives", "element", "name")

    def __init__(self, element: Element, name: str, drives: bool) -> None:
        self.element, self.name, self.drives = element, name, drives

    @property
    def label(self) -> str:
        """The row as a user reads it."""
        return self.element.row_label(self.name)

    @property
    def owner(self) -> str:
        """Whom to name when this row is the trouble."""
        return self.element.row_owner(self.name)

    def __repr__(self) -> str:
        return self.label


class System:
    """Index arrays and compiled programs of a model. It holds no state: every call takes q, v, t and inputs x."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.version = model.version
        #: The plane, or space.
        self.space: Geometry = model.space
        #: The parameters it was laid out with.
        self.parameters = list(model.parameters.values())
        self.parts = [part for part in model.parts.values() if part.channels]
        self.first = {}
        self.names: list[tuple[str, str, str]] = []
        angles: list[bool] = []
        natural: list[float] = []
        for part in self.parts:
            self.first[part.name] = len(self.names)
            self.names += part.names()
            angles += part.is_angle()
            natural += part.natural_scale()
        self.is_angle = np.array(angles, dtype=bool)
        #: Angular velocities by name: the first coordinate of a part's axes, whether along these, and along which.
        self.spins = {
            name: (self.first[part.name] + at, own, k)
            for part in self.parts
            for name, (at, own, k) in part.spins().items()
        }
        #: Per coordinate: what counts as a movement of one; NaN where the mechanism's size decides.
        self.natural_scale = np.array(natural, dtype=float)
        self.n = len(self.names)
        self.elements = list(model.elements.values())
        # held here, for their kernels are called by address as long as this system lives
        families = [family_with_tables(e) for e in self.elements]
        self.families: list[Family] = [family for family, _ in families]
        #: Per element: the tables it reads.
        self.tables_of = [tables for _, tables in families]
        #: Whether some table must not be read beyond its data.
        self.watches = any(table.watched for tables in self.tables_of for table in tables)
        #: Families with virtual displacements, by element, made when a reaction is asked for.
        self.virtual: dict[int, tuple[Family, list[Table]]] = {}
        self.rows = [
            Row(element, name, drives)
            for element in self.elements
            if element.rows
            for name, drives in zip(element.rows, element.drives_rows(), strict=True)
        ]
        self.m = len(self.rows)
        self.drives = np.array([row.drives for row in self.rows], dtype=bool)
        #: The rows that keep a part rigid, which are no joints.
        self.keeps_rigid = np.array([row.element.keeps_rigid for row in self.rows], dtype=bool)
        #: The one table of addresses: room for every variant of every family, and for what is written out.
        self.kernels = Kernels(VARIANTS * len(set(self.families)) + 128)
        self._place_inputs()
        self._place_numbers()

    # --- inputs ------------------------------------------------------------------------------------------------

    def _place_inputs(self) -> None:
        head = size_head(self.n, self.m)
        self.x_at = np.cumsum([head, *(f.x.numel() for f in self.families)]).astype(_INT)
        row_at = np.cumsum([0, *(f.n_rows for f in self.families)])
        self.q_of = [
            np.array([self.first[p.name] + k for p in e.parts() for k in range(len(p.channels))], dtype=_INT)
            for e in self.elements
        ]
        self.rows_of = [np.arange(row_at[k], row_at[k + 1], dtype=_INT) for k in range(len(self.elements))]
        place = {element: k for k, element in enumerate(self.elements)}
        #: Per element: the rows whose multipliers it sees, its own first.
        self.lam_of = [
            _join([self.rows_of[k], *(self.rows_of[place[other]] for other in self._loads(e, place))])
            for k, e in enumerate(self.elements)
        ]
        self._place_conditions()
        #: For every place of x: where its value is found, there or in the head.
        self.found_at = np.arange(self.x_at[-1])
        for k, f in enumerate(self.families):
            self.found_at[self.x_at[k] : self.x_at[k + 1]] = self._found_at(k, f)
        self.layout = Layout(n=self.n, m=self.m, **self._tables())

    def _found_at(self, k: int, family: Family) -> np.ndarray:
        """Where the inputs of an element's kernels are found in x."""
        at, q, n = family.at, self.q_of[k], self.n
        found = self.x_at[k] + np.arange(family.x.numel())
        found[at["q"] : at["q"] + 3 * len(q)] = STATE + np.concatenate([q, n + q, 2 * n + q])
        found[at["t"]] = TIME
        found[at["c"] : at["c"] + 3] = WEIGHTS + np.arange(3)
        found[at["lam"] : at["lam"] + len(self.lam_of[k])] = STATE + 3 * n + self.lam_of[k]
        return found

    def inputs_at(self, k: int) -> np.ndarray:
        """The places of x in which the inputs of element k's kernels are found."""
        return self.found_at[self.x_at[k] : self.x_at[k + 1]]

    @staticmethod
    def _loads(element: Element, place: dict[Element, int]) -> list[Element]:
        """The elements whose load an element uses, which must be in the model."""
        for other in element.loads():
            if other not in place:
                raise ModelError(f"'{element.name}' uses the load of '{other.name}', which is not in this model")
        return element.loads()

    def _place_conditions(self) -> None:
        """Rows that are not always in force: where x says whether they are, and in which modes they are."""
        rows, places, modes, masks, closed, giving = [], [], [], [], [], []
        for k, (element, family) in enumerate(zip(self.elements, self.families, strict=True)):
            z = int(self.x_at[k] + family.at["z"])
            for number, row in enumerate(element.conditional_rows()):
                rows.append(self.rows_of[k][element.rows.index(row)])
                places.append(z + 1 + len(element.latches) + number)
                closed += places[-1:] if row in element.closed_rows else []
                giving += places[-1:] if row in element.giving_rows else []
                modes.append(z)
                masks.append(sum(1 << element.modes.index(mode) for mode in element.row_modes[row]))
        #: Where x says of the rows that hold in kinematics that they do.
        self.closed = np.array(closed, dtype=_INT)
        #: Where it says so of those that friction holds.
        self.giving = np.array(giving, dtype=_INT)
        #: Per row that is not always in force: the row, where x says so, where x has the mode, the modes as bits.
        self.conditions = np.array([rows, places, modes, masks], dtype=_INT).reshape(4, -1)

    def in_force(self, x: np.ndarray) -> np.ndarray:
        """Which rows are in force, as x says."""
        found = np.ones(self.m, dtype=bool)
        found[self.conditions[0]] = x[self.conditions[1]] != 0.0
        return found

    def _tables(self) -> dict[str, Any]:
        """Which tables are read where: a slot is one reading, with its arguments and the place of its piece in x."""
        known: dict[int, int] = {}
        tables: list[Table] = []
        slots: list[tuple[int, int, int]] = []
        using = [k for k, found in enumerate(self.tables_of) if found]
        counts = [0]
        for k in using:
            at, argument = int(self.x_at[k] + self.families[k].at["pieces"]), counts[-1]
            for table in self.tables_of[k]:
                if id(table) not in known:
                    known[id(table)] = len(tables)
                    tables.append(table)
                slots.append((known[id(table)], at, argument))
                at, argument = at + table.width, argument + table.dim
            counts.append(argument)
        outputs = [[np.arange(counts[i], counts[i + 1])] for i in range(len(using))]
        axes = [axis for table in tables for axis in table.axes]
        by_slot = np.array(slots, dtype=_INT).reshape(-1, 3)
        late = [ca.vertcat(f.v, f.a, f.lam) for f in self.families]
        return {
            "slot_table": by_slot[:, 0].copy(),
            "slot_at": by_slot[:, 1].copy(),
            "slot_argument": by_slot[:, 2].copy(),
            "first_axis": np.cumsum([0, *(t.dim for t in tables)]).astype(_INT),
            "first_break": np.cumsum([0, *(len(axis.breaks) for axis in axes)]).astype(_INT),
            "first_number": np.cumsum([0, *(t.coefficients.size for t in tables)]).astype(_INT),
            "breaks": np.concatenate([_NONE, *(axis.breaks for axis in axes)]),
            "periods": np.array([axis.period for axis in axes], dtype=float),
            "limits": np.vstack([np.zeros((0, 2)), *(t.ends() for t in tables)]),
            "coefficients": np.concatenate([_NONE, *(t.coefficients.ravel() for t in tables)]),
            "arguments": self._program("arguments", using, outputs, counts[-1]),
            "levels": max((self.families[k].levels for k in using), default=0),
            "late": int(any(ca.depends_on(self.families[k].arguments, late[k]) for k in using)),
        }

    def outside_data(
        self, x: np.ndarray, q: Any, t: float, v: Any = None, a: Any = None, lam: Any = None, slack: float = SLACK
    ) -> list[str]:
        """Which tables a state is beyond the data of though they do not allow it, in words."""
        if not self.watches:
            return []
        arguments = self.evaluate(self.layout.arguments, x, q, t, v, lam, a)
        found, at = [], 0
        for element, tables in zip(self.elements, self.tables_of, strict=True):
            size = sum(table.dim for table in tables)
            wrong = outside_data(tables, arguments[at : at + size], slack)
            found += [f"{element.kind} '{element.name}': {words}" for words in wrong]
            at += size
        return found

    def _place_numbers(self) -> None:
        """Constant numbers are stored; those that depend on parameters are one CasADi function of them."""
        places = [self.x_at[k] + f.at["p"] + np.arange(f.p.numel()) for k, f in enumerate(self.families)]
        values = [value for e in self.elements for value in e.data()]
        starts = [s for part in self.parts for s in part.start]
        where = _join(places)
        self.template = np.zeros(self.x_at[-1])
        self._start = np.zeros(self.n)
        self._number_at, self._start_at, moving = [], [], []
        #: What must not fall below zero.
        self.limits = [limit for e in self.elements for limit in e.limits() if isinstance(limit.margin, ca.SX)]
        for k, value in zip(where, values, strict=True):
            if isinstance(value, ca.SX):
                self._number_at.append(k)
                moving.append(value)
            else:
                self.template[k] = value
        for k, value in enumerate(starts):
            if isinstance(value, ca.SX):
                self._start_at.append(k)
                moving.append(value)
            else:
                self._start[k] = value
        parameters_in(moving)
        symbols = [ca.SX(p) for p in self.parameters]
        everything = ca.vertcat(ca.SX(0, 1), *symbols)
        self.numbers_of_parameters = Staged([everything], [_stack(moving)])
        self._place_stiffnesses(everything)
        margins, shown = [limit.margin for limit in self.limits], [limit.shown for limit in self.limits]
        self.limits_of_parameters = Staged([everything], [_stack(margins), _stack(shown)])

    def _place_stiffnesses(self, parameters: ca.SX) -> None:
        """How stiff rows are, as one function of the parameters."""
        stiff = {
            self.rows_of[k][e.rows.index(row)]: s
            for k, e in enumerate(self.elements)
            for row, s in e.stiffnesses.items()
        }
        self._stiff_rows = np.array(list(stiff), dtype=_INT)
        self._stiffness_of_parameters = Staged([parameters], [_stack(list(stiff.values()))])

    def stiffnesses(self, parameters: np.ndarray) -> np.ndarray:
        """Per row its stiffness, infinite where it is rigid."""
        found = np.full(self.m, np.inf)
        found[self._stiff_rows] = self._stiffness_of_parameters(parameters)[0].ravel()
        wrong = [k for k in self._stiff_rows if not 0.0 < found[k] < np.inf]
        if wrong:
            raise ModelError(
                [f"the stiffness of '{self.rows[k].label}' must be above zero, not {found[k]:.6g}" for k in wrong]
            )
        return found

    @cached_property
    def blame_order(self) -> np.ndarray:
        """The rows, those last that are the first to be called redundant: drivers, then the latest joints."""
        return np.lexsort((np.arange(self.m), self.drives, ~self.keeps_rigid))

    @cached_property
    def digest(self) -> str:
        """What the model says, in few letters: its names, its equations and its data, but for values of parameters."""
        functions = [self.numbers_of_parameters.said, self.limits_of_parameters.said]
        functions.append(self._stiffness_of_parameters.said)
        said = [self.names, [p.label for p in self.parameters], [row.label for row in self.rows], functions]
        said += [(e.name, mathematics(f)) for e, f in zip(self.elements, self.families, strict=True)]
        numbers = [self.template, self._start, self.natural_scale, *self.q_of, *self.lam_of, self.conditions]
        numbers += [self.layout.breaks, self.layout.periods, self.layout.coefficients, self.layout.slot_table]
        found = hashlib.sha256(repr(said).encode(errors="replace"))
        for array in numbers:
            found.update(repr(array.shape).encode() + array.tobytes())
        return found.hexdigest()

    def beyond_limits(self, parameters: np.ndarray) -> list[str]:
        """What numbers are at parameter values that they must not be."""
        if not self.limits:
            return []
        margins, shown = (values.ravel() for values in self.limits_of_parameters(parameters))
        return [
            f"{limit.words}, not {value:.6g}"
            for limit, margin, value in zip(self.limits, margins, shown, strict=True)
            if not (margin > 0 or (margin == 0 and not limit.strict))
        ]

    def inputs(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The input vector x with all numbers in place, and the drawn coordinates, for parameter values."""
        x, start = self.template.copy(), self._start.copy()
        if self._number_at or self._start_at:
            wrong = self.numbers_of_parameters.outside(parameters)
            if wrong:
                raise ModelError(wrong)
            values = self.numbers_of_parameters(parameters)[0].ravel()
            split = len(self._number_at)
            x[self._number_at] = values[:split]
            start[self._start_at] = values[split:]
        return x, start

    def number_slopes(self, parameters: np.ndarray) -> tuple[csc_matrix, csc_matrix]:
        """How the input vector x and the drawn coordinates change with the parameters."""
        split, P = len(self._number_at), len(self.parameters)
        if P == 0:
            return csc_matrix((len(self.template), 0)), csc_matrix((self.n, 0))
        slopes = self.numbers_of_parameters.slopes(parameters).tocoo()
        to_x, place = slopes.row < split, np.concatenate([self._number_at, self._start_at]).astype(np.int64)

        def placed(own: np.ndarray, size: int) -> csc_matrix:
            return csc_matrix((slopes.data[own], (place[slopes.row[own]], slopes.col[own])), shape=(size, P))

        return placed(to_x, len(self.template)), placed(~to_x, self.n)

    def inputs_of(self, designs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same for a table of parameter values, a row per design; and which designs are finite and positive."""
        x, start = (np.repeat(one[None], len(designs), axis=0) for one in (self.template, self._start))
        if self._number_at or self._start_at:
            values = self.numbers_of_parameters(designs.T)[0].T
            split = len(self._number_at)
            x[:, self._number_at] = values[:, :split]
            start[:, self._start_at] = values[:, split:]
        sound = (np.abs(x) <= LARGEST).all(axis=1) & (np.abs(start) <= LARGEST).all(axis=1)
        if self.limits:
            strict = np.array([[limit.strict] for limit in self.limits])
            margins = self.limits_of_parameters(designs.T)[0]
            sound &= ((margins > 0) | ((margins == 0) & ~strict)).all(axis=0)
        if self.numbers_of_parameters.readings:
            sound &= np.array([not self.numbers_of_parameters.outside(design) for design in designs])
        return x, start, sound

    # --- programs ----------------------------------------------------------------------------------------------

    def _variant(self, k: int, name: str) -> Variant:
        """A compiled variant of an element's equations; a failure names the element."""
        try:
            return self.families[k].variant(name)
        except UnsupportedOperation as error:
            raise ModelError(f"{self.elements[k].kind} '{self.elements[k].name}': {error}") from error

    def _program(self, variant: str, using: list[int], outputs: list[list[np.ndarray]], size: int) -> Program:
        """Calls of a variant for some elements; ``outputs`` gives for each the result places of its blocks."""
        target = _join([place for blocks in outputs for place in blocks])
        return self.program_of(variant, using, np.arange(len(target)), target, size)

    def program_of(self, variant: str, using: list[int], source: np.ndarray, target: np.ndarray, size: int) -> Program:
        """Calls of a variant for some elements, whose outputs side by side are ``source``, added at ``target``."""
        kernels = [self._variant(k, variant).kernel for k in using]
        x_at = self.x_at[:-1][np.array(using, dtype=_INT)]
        large = variant in OFTEN_RUN and len(using) >= MANY_CALLS
        return make_program(self.kernels, kernels, x_at, source, target, size, self.found_at, large)

    @property
    def _constrained(self) -> list[int]:
        return [k for k, f in enumerate(self.families) if f.n_rows]

    @cached_property
    def row_labels(self) -> list[str]:
        """The constraint rows as a user reads them."""
        return [row.label for row in self.rows]

    @cached_property
    def has_loops(self) -> bool:
        """Whether parts (and the ground) are connected in a circle, so that constraints can lose rank on the way."""
        leader: dict[str, str] = {}

        def find(name: str) -> str:
            while leader.setdefault(name, name) != name:
                name = leader[name]
            return name

        for part in self.parts:
            if getattr(part, "fixed", ""):  # a point that is held in one direction
                leader[find(part.name)] = find("")
        for k in self._constrained:
            parts = list(dict.fromkeys(p.name for p in self.elements[k].parts() if p.channels))
            if len(parts) == 1 and self.elements[k].keeps_rigid:
                continue  # a body's own axes tie it to nothing
            first = find(parts[0]) if len(parts) > 1 else find("")  # ("" is the ground, which no part is called)
            for name in parts[1:] if len(parts) > 1 else parts:
                other = find(name)
                if other == first:
                    return True
                leader[other] = first
        return False

    @cached_property
    def value(self) -> Program:
        """Phi."""
        using = self._constrained
        outputs = [[self.rows_of[k][self._variant(k, "value").blocks[0].rows]] for k in using]
        return self._program("value", using, outputs, self.m)

    @cached_property
    def jacobian_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Row and column of every structural non-zero of Phi_q, column by column."""
        rows, columns = [], []
        for k in self._constrained:
            block = self._variant(k, "position").blocks[1]
            rows.append(self.rows_of[k][block.rows])
            columns.append(self.q_of[k][block.columns])
        r, c = _join(rows), _join(columns)
        order = np.lexsort((r, c))
        self._jacobian_order = np.argsort(order, kind="stable")
        return r[order], c[order]

    @cached_property
    def position(self) -> Program:
        """[Phi, non-zeros of Phi_q in the order of ``jacobian_places``, nu = -Phi_t]."""
        nnz = len(self.jacobian_places[0])
        outputs, seen = [], 0
        for k in self._constrained:
            phi, jac, nu = self._variant(k, "position").blocks
            places = self.m + self._jacobian_order[seen : seen + len(jac.rows)]
            seen += len(jac.rows)
            outputs.append([self.rows_of[k][phi.rows], places, self.m + nnz + self.rows_of[k][nu.rows]])
        return self._program("position", self._constrained, outputs, 2 * self.m + nnz)

    @cached_property
    def acceleration(self) -> Program:
        """Gamma."""
        using = self._constrained
        outputs = [[self.rows_of[k][self._variant(k, "acceleration").blocks[0].rows]] for k in using]
        return self._program("acceleration", using, outputs, self.m)

    @cached_property
    def curvature(self) -> Program:
        """[(Phi_q^T lambda)_q as a full n x n array, (Phi_q^T lambda)_t, (Phi_t^T lambda)_t]: for small systems."""
        using = self._constrained
        n, outputs = self.n, []
        for k in using:
            by_q, by_t, by_tt = self._variant(k, "curvature").blocks
            q = self.q_of[k]
            outputs.append([q[by_q.rows] * n + q[by_q.columns], n * n + q[by_t.rows], n * n + n + 0 * by_tt.rows])
        return self._program("curvature", using, outputs, n * n + n + 1)

    @cached_property
    def drift(self) -> Program:
        """[(Phi')_q, (Phi'')_q], both as full m x n arrays: for small systems."""
        n, m, outputs = self.n, self.m, []
        for k in self._constrained:
            rate, second = self._variant(k, "drift").blocks
            rows, q = self.rows_of[k], self.q_of[k]
            places = [rows[b.rows] * n + q[b.columns] for b in (rate, second)]
            outputs.append([places[0], m * n + places[1]])
        return self._program("drift", self._constrained, outputs, 2 * m * n)

    @cached_property
    def dynamics(self) -> Any:
        """The programs of the equations of motion."""
        from kempe.system.dynamics import DynamicPrograms

        return DynamicPrograms(self)

    @cached_property
    def fusion(self) -> Any:
        """What is written out of these programs."""
        from kempe.system.fusion import Fusion

        return Fusion(self)

    @cached_property
    def driven(self) -> Any:
        """What is written out of instants of driven motions."""
        from kempe.system.driven import Driven

        return Driven()

    # --- one-off evaluations from Python -----------------------------------------------------------------------

    def evaluate(
        self,
        program: Program,
        x: np.ndarray,
        q: Any,
        t: float,
        v: Any = None,
        lam: Any = None,
        a: Any = None,
        weights: Any = None,
    ) -> np.ndarray:
        """Run one program once; x is changed only in its coordinate, rate, time, weight and multiplier places."""
        y = np.zeros(max(program.size_y, size_arguments(self.layout), 1))
        out = np.zeros(program.size_out)
        given = [_NONE if part is None else np.ascontiguousarray(part, dtype=float) for part in (q, v, a, lam, weights)]
        evaluated(self.layout, program, *given, float(t), x, y, out)
        return out

    def each(self, q: Any, v: Any, t: float, inputs: np.ndarray) -> list[np.ndarray]:
        """What the explicit kernels of each element give on their own (empty for those that have none)."""
        x = inputs.copy()
        self.evaluate(self.layout.arguments, x, q, t, v)
        found = []
        for k, family in enumerate(self.families):
            if not family.moves:
                found.append(np.zeros(0))
                continue
            kernel = self._variant(k, "explicit").kernel
            out = np.zeros(max(kernel.n_out, 1))
            own = x[self.inputs_at(k)]
            call_address(kernel.address, own.ctypes.data, out.ctypes.data)
            found.append(out)
        return found

    def Phi(self, x: np.ndarray, q: Any, t: float) -> np.ndarray:
        """The constraint residuals."""
        return self.evaluate(self.value, x, q, t)

    def jacobian(self, x: np.ndarray, q: Any, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, columns and values of Phi_q."""
        rows, columns = self.jacobian_places
        out = self.evaluate(self.position, x, q, t)
        return rows, columns, out[self.m : self.m + len(rows)]

    def linear(self, x: np.ndarray, q: Any, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Phi, Phi_q as a full matrix, and nu = -Phi_t."""
        out = self.evaluate(self.position, x, q, t)
        rows, columns = self.jacobian_places
        J = np.zeros((self.m, self.n))
        J[rows, columns] = out[self.m : self.m + len(rows)]
        return out[: self.m], J, out[self.m + len(rows) :]

    def gamma(self, x: np.ndarray, q: Any, t: float, v: Any) -> np.ndarray:
        """gamma, so that Phi_q a = gamma."""
        return self.evaluate(self.acceleration, x, q, t, v)

    def curvatures(self, x: np.ndarray, q: Any, t: float, lam: Any) -> tuple[np.ndarray, np.ndarray, float]:
        """(Phi_q^T lambda)_q, (Phi_q^T lambda)_t and (Phi_t^T lambda)_t."""
        out = self.evaluate(self.curvature, x, q, t, lam=lam)
        n = self.n
        return out[: n * n].reshape(n, n), out[n * n : n * n + n], float(out[-1])

    def mass_matrix(self, x: np.ndarray, q: Any, t: float = 0.0) -> np.ndarray:
        """M(q) as a full matrix."""
        d = self.dynamics
        out = self.evaluate(d.explicit, x, q, t, np.zeros(self.n))
        M = np.zeros((self.n, self.n))
        M[d.block_rows, d.block_columns] = out[self.n + 3 * self.m :][: len(d.block_rows)]
        return M

    def generalised_force(self, x: np.ndarray, q: Any, t: float, v: Any) -> np.ndarray:
        """Q(q, v, t) less the centrifugal terms of a mass matrix that varies."""
        return -self.evaluate(self.dynamics.explicit, x, q, t, v)[: self.n]

    def of(self, model: Model) -> System:
        """The same system for a model that has the same parts and elements."""
        made = copy.copy(self)
        made.model = model
        return made

    def index(self, name: str) -> int:
        """The place in q of a coordinate by its full name; KeyError if there is none."""
        for k, names in enumerate(self.names):
            if names[0] == name:
                return k
        raise KeyError(name)


def _join(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(arrays).astype(_INT) if arrays else np.zeros(0, dtype=_INT)


def _stack(values: list[Any]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *values)


def compiled(model: Model) -> System:
    """The system of a model, laid out again only when something was added since."""
    if not isinstance(model.compiled, System) or model.compiled.version != model.version:
        model.compiled = System(model)
    return model.compiled
