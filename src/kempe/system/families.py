"""The compiled equations of one kind of element, with all their derivatives, built when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

import casadi as ca
import numpy as np

from kempe.elements import Element, KernelSource, Switch, Table
from kempe.elements.functions import digest
from kempe.elements.readings import SLACK, pieces_of, places_of, readings_in
from kempe.elements.touching import Touch
from kempe.kernels import Columns, Kernel, compile_columns, compile_function
from kempe.solvers.motion import TOUCH_VALUES
from kempe.system.walking import chooses, conditions_in

#: Forward differentiation only: it never multiplies a derivative that is undefined on an untaken side.
_FORWARD = {"allow_reverse": False}

#: A tangent of more instructions than this is computed column by column instead of being written out.
LONG = 5000


class Block(NamedTuple):
    """One output of a kernel: a vector or the non-zeros of a matrix, with their places in it."""

    rows: np.ndarray
    columns: np.ndarray


class Variant(NamedTuple):
    """A kernel and the blocks its outputs consist of, in order."""

    kernel: Kernel
    blocks: tuple[Block, ...]


#: The parts of a kernel's input, in order. ``c`` are the weights of acceleration, velocity and position tangents,
#: ``lam`` the multipliers of its own rows and of those whose load it uses, ``z`` the mode, the latched values and the
#: rows in force of an element that switches.
INPUTS = ("q", "v", "a", "t", "c", "p", "pieces", "lam", "z")


class Family:
    """The equations shared by all elements of one structure; a kernel's input is INPUTS, whichever variant it is.

    The equations of motion of a whole model are, with the sums over its elements,

        f = d/dt(T_v) - T_q + (weight + potential)_q - damping - force + Phi_q^T lambda = 0,    Phi = 0.

    A row that is not in force is zero with all its derivatives.
    """

    def __init__(self, element: Element, source: KernelSource | None = None) -> None:
        source = KernelSource(element) if source is None else source
        view = element.view(source)
        self.q, self.v, self.a, self.t, self.z = source.q, source.v, source.a, source.t, source.z
        self.lam, self.c = source.lam, ca.SX.sym("c", 3)
        result = element.phi(view) if element.rows else []
        rows = _column(result if isinstance(result, (list, tuple)) else [result])
        self.phi = rows * _column(source.active(element)) if element.conditional_rows() else rows
        self._inertia(element, view)
        self.weight, self.potential = ca.SX(element.weight(view)), ca.SX(element.potential(view))
        self.damping, self.force = (self._on_coordinates(f(view)) for f in (element.damping, element.force))
        stated = element.restoring(view)
        #: The force of the elastic energy, where the element states it.
        self.restoring = None if stated is None else self._on_coordinates(stated)
        self.switches: list[Switch] = element.switches(view)
        self.first_mode = ca.SX(element.first_mode(view))
        self.touch: Touch | None = element.touch(view)
        self.followed = element.followed(view)
        self.outputs = {name: ca.SX(value) for name, value in element.outputs(view).items()}
        self.modes, self.latches, self.newtonian = element.modes, element.latches, element.newtonian
        self.p = source.p
        self._readings()
        self.n_rows = self.phi.numel()
        #: The multipliers of its own rows.
        self.own = _column([self.lam[k] for k in range(self.n_rows)])
        self.row_names = element.rows
        parts = [getattr(self, name) for name in INPUTS]
        self.x = ca.vertcat(*parts)
        self.at = dict(zip(INPUTS, np.cumsum([0, *(s.numel() for s in parts)]), strict=False))

    def _readings(self) -> None:
        """The tables that are read: their pieces are inputs, and their ends are guarded where they must not be left."""
        stated: list[ca.SX] = []
        _words([getattr(self, name) for name in STATED if hasattr(self, name)], stated)
        if self.states_mass:
            stated.append(self.mass)
        readings = readings_in(stated)
        self.pieces, self.arguments = pieces_of(readings), places_of(readings)
        #: The tables of the element it was made of; equal families may belong to elements with other tables.
        self.tables: list[Table] = [reading.table for reading in readings]
        #: The tables of elements that share it, by their structure.
        self.tables_of: dict[Hashable, list[Table]] = {}
        #: How many tables are read one within the other.
        self.levels = max((reading.level for reading in readings), default=0)
        margins = [margin for reading in readings if reading.table.watched for margin in reading.margins]
        if margins:
            self.modes = self.modes or ("inside",)
            self.z = self.z if self.z.numel() else ca.SX.sym("z", 1)
            self.switches = [
                *self.switches,
                *(
                    Switch(mode, margin + SLACK, mode, note="leaves the data of a table", stops=True, leaves_data=True)
                    for mode in self.modes
                    for margin in margins
                ),
            ]

    def _inertia(self, element: Element, view: Any) -> None:
        """The kinetic energy, and the mass matrix where the element gives it."""
        self.kinetic: ca.SX | None = None
        given = element.mass(view) if element.has_inertia else None
        #: Whether the element states its mass matrix, instead of the energy that it follows from.
        self.states_mass = given is not None
        if given is not None:
            # one triangle mirrored: half the work, and no gap by rounding
            self.mass = ca.triu2symm(ca.triu(ca.cse(_matrix(given))))
            self.momentum = self.mass @ self.v
            self.kinetic = ca.dot(self.v, self.momentum) / 2
        elif element.has_inertia:
            self.kinetic = ca.SX(element.kinetic(view))

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
        return self._derivative(self.momentum, self.v)

    @cached_property
    def momentum(self) -> ca.SX:
        """T_v."""
        return self._derivative(ca.SX(0) if self.kinetic is None else self.kinetic, self.v).T

    @cached_property
    def applied(self) -> ca.SX:
        """Q: all applied forces, those of potential energies included."""
        derived = self.weight + (self.potential if self.restoring is None else 0.0)
        applied = self.damping + self.force - self._derivative(derived, self.q).T
        return applied if self.restoring is None else applied + self.restoring

    @cached_property
    def centrifugal(self) -> ca.SX:
        """The part of d/dt(T_v) - T_q that has no accelerations in it."""
        if self.kinetic is None or self.newtonian:
            return ca.SX(self.q.numel(), 1)
        turning = ca.jtimes(self.momentum, self.q, self.v) + self._derivative(self.momentum, self.t)
        return turning - self._derivative(self.kinetic, self.q).T

    @cached_property
    def carried(self) -> ca.SX:
        """The power that carries a support which the kinetic energy takes as given: d/dt(2 T - T_v v) - T_t.

        By Lagrange's equations T_v v - T changes by Q v - T_t; where T is quadratic in the rates, T_v v = 2 T.
        """
        if self.kinetic is None:
            return ca.SX(0)
        at_rest = ca.substitute([self.kinetic, self.momentum], [self.v], [ca.SX.zeros(self.v.numel())])
        power = -self._derivative(self.kinetic, self.t)
        if not all(e.is_zero() for e in at_rest):
            excess = 2 * self.kinetic - ca.dot(self.momentum, self.v)
            power += ca.jtimes(excess, self.q, self.v) + ca.jtimes(excess, self.v, self.a)
            power += self._derivative(excess, self.t)
        return power

    @cached_property
    def energies(self) -> list[ca.SX]:
        """Kinetic, of gravity, elastic; power dissipated, power supplied."""
        kinetic = ca.SX(0) if self.kinetic is None else self.kinetic
        supplied = ca.dot(self.force, self.v) + self._derivative(self.weight + self.potential, self.t)
        supplied += ca.dot(self.own, self.Phi_t) if self.n_rows else 0.0
        if self.newtonian and self.kinetic is not None:  # what the varying mass takes is in Q already
            supplied += ca.jtimes(self.kinetic, self.q, self.v) + self._derivative(self.kinetic, self.t)
        else:
            supplied += self.carried
        return [kinetic, self.weight, self.potential, -ca.dot(self.damping, self.v), supplied]

    @cached_property
    def balance(self) -> ca.SX:
        """f: what must vanish on each coordinate."""
        return self.mass @ self.a + self.centrifugal - self.applied + self.Phi_q.T @ self.own

    @cached_property
    def gamma(self) -> ca.SX:
        """-(Phi_q v)_q v - 2 Phi_qt v - Phi_tt, so that Phi_q a = gamma."""
        along = ca.jtimes(self.phi, self.q, self.v) + self.Phi_t
        return -ca.jtimes(along, self.q, self.v) - self._derivative(along, self.t)

    @cached_property
    def coupling(self) -> Block:
        """Which coordinates the balance of which others may depend on, by value, rate or acceleration."""
        by = [ca.jacobian_sparsity(self.balance, each) for each in (self.q, self.v, self.a)]
        return _block(by[0] + by[1] + by[2])

    @cached_property
    def tangent(self) -> ca.SX:
        """c0 f_a + c1 f_v + c2 f_q."""
        f_v, f_q = self._derivative(self.balance, self.v), self._derivative(self.balance, self.q)
        return self.c[0] * self.mass + self.c[1] * f_v + self.c[2] * f_q

    @cached_property
    def applied_lam(self) -> ca.SX:
        """Q_lambda: how the applied forces depend on multipliers."""
        return self._derivative(self.applied, self.lam)

    @cached_property
    def loaded(self) -> bool:
        """Whether applied forces depend on multipliers."""
        return bool(ca.sparsify(self.applied_lam).nnz())

    @cached_property
    def felt_outputs(self) -> frozenset[str]:
        """The outputs that depend on multipliers."""
        return frozenset(name for name, value in self.outputs.items() if ca.depends_on(value, self.lam))

    @cached_property
    def guards(self) -> ca.SX:
        """One value per switch: its guard in its own mode, 1 in any other."""
        inside = [self.z[0] == self.modes.index(s.source) for s in self.switches]
        return _column([ca.if_else(here, s.guard, 1.0) for here, s in zip(inside, self.switches, strict=True)])

    @cached_property
    def guard_rates(self) -> ca.SX:
        """How fast the guards change along the motion (what changes with multipliers and accelerations left out)."""
        along = ca.jtimes(self.guards, self.q, self.v) + ca.jtimes(self.guards, self.v, self.a)
        return along + self._derivative(self.guards, self.t)

    @cached_property
    def guard_second_rates(self) -> ca.SX:
        """The rates of the rates, for accelerations that stay as they are."""
        along = ca.jtimes(self.guard_rates, self.q, self.v) + ca.jtimes(self.guard_rates, self.v, self.a)
        return along + self._derivative(self.guard_rates, self.t)

    @cached_property
    def solved_guards(self) -> list[bool]:
        """Per switch: whether its guard depends on multipliers or accelerations, which have to be solved for."""
        unknown = ca.vertcat(self.lam, self.a)
        return [bool(ca.depends_on(ca.SX(s.guard), unknown)) for s in self.switches]

    @cached_property
    def jumps(self) -> ca.SX:
        """Per switch: the restitution of each row (0 where it does not jump), then the generalised impulse."""
        found: list[Any] = []
        for s in self.switches:
            found += [s.jump.get(row, 0.0) for row in self.row_names]
            found.append(ca.SX(self.q.numel(), 1) if s.kick is None else self._on_coordinates(s.kick))
        return _column(found)

    @cached_property
    def swift_guards(self) -> list[bool]:
        """Per switch: whether its guard depends on rates, so that its second rate has jerks in it."""
        return [bool(ca.depends_on(ca.SX(s.guard), self.v)) for s in self.switches]

    @cached_property
    def touching(self) -> ca.SX:
        """Gap, its rate, slip, largest friction of sticking and sliding, restitution, law; both by multipliers."""
        if self.touch is None:
            return ca.SX(0, 1)
        t = self.touch
        gap, most, sliding = ca.SX(t.gap), ca.SX(t.most), ca.SX(t.sliding)
        approach = ca.jtimes(gap, self.q, self.v) + self._derivative(gap, self.t)
        by_lam = [self._derivative(e, self.lam).T for e in (most, sliding)]
        return _column([gap, approach, t.slip, most, sliding, t.restitution, float(t.poisson), *by_lam])

    @cached_property
    def following(self) -> ca.SX:
        """What is followed while it is out of its first mode: values of which the largest counts, then rates."""
        return _column([*self.followed.largest.values(), *self.followed.total.values()])

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
            return [self.balance, self.phi, self.tangent, self.Phi_q, -self.applied_lam]
        if variant == "explicit":
            applied = self.centrifugal - self.applied
            return [applied, self.phi, -self.Phi_t, self.gamma, self.mass, self.Phi_q, -self.applied_lam]
        if variant == "canonical":
            turned = self.Phi_q.T @ self.own
            turning = ca.jtimes(turned, self.q, self.v) + self._derivative(turned, self.t)
            inert = self.mass @ self.v
            changing = ca.jtimes(inert, self.q, self.v) + self._derivative(inert, self.t)  # M' v
            return [self.applied - self.centrifugal + changing + turning]
        if variant == "energy":
            return self.energies
        if variant == "curvature":
            gradient = ca.mtimes(self.Phi_q.T, self.own)
            speed = ca.mtimes(self.Phi_t.T, self.own)
            return [
                self._derivative(gradient, self.q),
                self._derivative(gradient, self.t),
                self._derivative(speed, self.t),
            ]
        if variant == "drift":
            rate = ca.jtimes(self.phi, self.q, self.v) + self.Phi_t
            return [self._derivative(rate, self.q), self._derivative(self._second, self.q)]
        if variant == "parameter":
            return [self._derivative(self.phi, self.p)]
        if variant == "arguments":
            return [self.arguments]
        if variant in ("residual_p", "guards_p", "jumps_p", "velocity_p", "momentum_p"):
            return [self._derivative(e, self.p) for e in self._before_differentiation(variant[:-2])]
        if variant == "guards":
            return [self.guards, self.guard_rates, self.guard_second_rates]
        if variant == "jumps":
            return [self.jumps]
        if variant == "touch":
            return [self.touching]
        if variant == "followed":
            return [self.following]
        if variant == "latches":
            rows = [[s.latch.get(name, self.z[1 + k]) for k, name in enumerate(self.latches)] for s in self.switches]
            return [_column([self.first_mode, *(value for row in rows for value in row)])]
        raise KeyError(variant)

    @cached_property
    def kinks(self) -> list[ca.SX]:
        """What passes zero where the balance of forces is not smooth within a mode: the arguments of |x| and such."""
        moving = ca.vertcat(self.q, self.v, self.a, self.t, self.lam)
        return [e for e in conditions_in(self.balance) if ca.depends_on(e, moving)]

    @cached_property
    def _second(self) -> ca.SX:
        """Phi'' = Phi_q a - gamma."""
        return ca.jtimes(self.phi, self.q, self.a) - self.gamma

    def _directional(self, name: str) -> list[ca.SX]:
        """What is differentiated along directions of all inputs."""
        rate = ca.jtimes(self.phi, self.q, self.v) + self.Phi_t
        return {
            "motion": lambda: [self.balance, self._second],
            "residual": lambda: [self.balance, self.phi],
            "stages": lambda: [self.balance, rate],
            "velocity": lambda: [self.phi, rate],
            "inertia": lambda: [self.mass @ self.a + self.Phi_q.T @ self.own],
            "guards": lambda: [self.guards],
            "jumps": lambda: [self.jumps],
            "latches": lambda: self._expressions("latches"),
            "touch": lambda: [self.touching[:TOUCH_VALUES]],
        }[name]()

    def _along(self, name: str) -> Variant:
        """The derivative of outputs along a direction: of [x, dx], linear in dx."""
        y = _column(self._directional(name))
        dx = ca.SX.sym("dx", self.x.numel())
        return Variant(compile_function(ca.vertcat(self.x, dx), ca.jtimes(y, self.x, dx)), ())

    def _against(self, name: str) -> Variant:
        """The derivative of weighted outputs by all inputs: of [x, weights].

        Reverse mode multiplies by derivatives of untaken sides; where something is chosen, the Jacobian is written out.
        """
        y = _column(self._directional(name))
        weights = ca.SX.sym("w", y.numel())
        if chooses(y):
            found = ca.densify(self._derivative(y, self.x).T @ weights)
        else:
            found = ca.jtimes(y, self.x, weights, True)
        return Variant(compile_function(ca.vertcat(self.x, weights), found), ())

    def _before_differentiation(self, name: str) -> list[ca.SX]:
        """What is differentiated by the element's numbers."""
        rate = ca.jtimes(self.phi, self.q, self.v) + self.Phi_t
        return {
            "residual": [self.balance, self.phi],
            "velocity": [self.phi, rate],
            "momentum": [self.momentum],
            "guards": [self.guards],
            "jumps": [self.jumps],
        }[name]

    def variant(self, name: str) -> Variant:
        """The kernel of a variant, compiled when first needed.

        - ``value``: Phi;
        - ``position``: Phi, Phi_q, nu = -Phi_t;
        - ``acceleration``: gamma = -(Phi_q v)_q v - 2 Phi_qt v - Phi_tt;
        - ``residual``: f, Phi;
        - ``velocity``: Phi, Phi';
        - ``tangent``: f, Phi, c0 f_a + c1 f_v + c2 f_q, Phi_q, -Q_lambda;
        - ``explicit``: f without accelerations and Phi_q^T lambda, Phi, nu, gamma, M, Phi_q, -Q_lambda;
        - ``canonical``: the rate of the momenta M v + Phi_q^T sigma, sigma in the place of lambda;
        - ``energy``: kinetic, of gravity, elastic; power dissipated, power supplied;
        - ``curvature``: (Phi_q^T lambda)_q, (Phi_q^T lambda)_t, (Phi_t^T lambda)_t;
        - ``drift``: (Phi')_q, (Phi'')_q;
        - ``parameter``: Phi_p by the element's own numbers;
        - ``residual_p``, ``velocity_p``, ``momentum_p``, ``guards_p``, ``jumps_p``: the same for f and Phi, Phi and
          Phi', M v, guards and jumps;
        - ``arguments``: where its tables are read;
        - ``guards``: positive while the mode lasts, one per switch; their rates and second rates;
        - ``jumps``: per switch the restitution of each row and a generalised impulse;
        - ``touch``: of what touches gap, rate, slip, friction, restitution, law; friction by multipliers;
        - ``followed``: what is followed while it is out of its first mode;
        - ``latches``: the first mode, and the values to keep;
        - ``push:X``, ``pull:X``: derivatives of X along a direction of all inputs, and transposed (``_directional``).
        """
        known = self.__dict__.setdefault("_variants", {})
        if name not in known:
            known[name] = self._build(name)
        return known[name]

    def _build(self, name: str) -> Variant:
        if name == "tangent" and self._long:
            return self._tangent_by_columns()
        if name.startswith("push:"):
            return self._along(name[5:])
        if name.startswith("pull:"):
            return self._against(name[5:])
        blocks, values = _stacked(self._expressions(name))
        return Variant(compile_function(self.x, values), tuple(blocks))

    @cached_property
    def _long(self) -> bool:
        """Whether the tangent would be too long written out: about as long as the balance, once for each coordinate."""
        n = self.q.numel()
        return n > 1 and n * ca.Function("f", [self.x], [ca.cse(self.balance)]).n_instructions() > LONG

    def _tangent_by_columns(self) -> Variant:
        """The variant ``tangent``, its matrix column by column: c0 f_a s + c1 f_v s + c2 f_q s for directions s."""
        blocks, values = _stacked([self.balance, self.phi, self.Phi_q, -self.applied_lam])
        s = ca.SX.sym("s", self.q.numel())
        moved = ca.vertcat(self.c[2] * s, self.c[1] * s, self.c[0] * s)
        derivative = ca.jtimes(self.balance, ca.vertcat(self.q, self.v, self.a), moved)
        at = len(blocks[0].rows) + len(blocks[1].rows)
        columns = Columns(*self.coupling, _colours(self.coupling, self.q.numel()), at)
        kernel = compile_columns(self.x, values, s, derivative, columns)
        return Variant(kernel, (*blocks[:2], self.coupling, *blocks[2:]))


F = TypeVar("F", bound=Family)


def _matrix(rows: Any) -> ca.SX:
    """A matrix, or a list of its rows."""
    return ca.SX(ca.vertcat(*[ca.horzcat(*row) for row in rows]) if isinstance(rows, (list, tuple)) else rows)


def _block(pattern: ca.Sparsity) -> Block:
    rows, columns = pattern.get_triplet()
    return Block(np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64))


def _stacked(expressions: Iterable[Any]) -> tuple[list[Block], ca.SX]:
    """The non-zeros of expressions, one after the other, and where they belong."""
    sparse = [ca.sparsify(ca.SX(e)) for e in expressions]
    return [_block(e.sparsity()) for e in sparse], _column([value for e in sparse for value in e.nonzeros()])


def _colours(pattern: Block, n: int) -> np.ndarray:
    """Per coordinate the number of the direction that moves it; no row depends on two that move together."""
    sparsity = ca.Sparsity.triplet(n, n, pattern.rows.tolist(), pattern.columns.tolist())
    members, colours = sparsity.uni_coloring().get_triplet()
    found = np.zeros(n, dtype=np.int64)
    found[members] = colours
    return found


def _column(values: Iterable[Any]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *[ca.vec(ca.SX(value)) for value in values])


#: What an element states about itself; everything else in a family is derived from it.
STATED = (
    "phi",
    "kinetic",
    "weight",
    "potential",
    "damping",
    "force",
    "switches",
    "first_mode",
    "touch",
    "followed",
    "restoring",
    "outputs",
    "arguments",
    "modes",
    "latches",
    "newtonian",
)


def mathematics(family: Family) -> Hashable:
    """What a family's equations say: equal for two families exactly when they are the same, whatever wrote them."""
    expressions: list[ca.SX] = []
    words = _words([getattr(family, name) for name in STATED], expressions)
    function = ca.Function("f", [family.x], expressions, {"allow_free": True})
    return (words, family.states_mass, tuple(sorted(family.at.items())), digest(function))


def _words(stated: Any, expressions: list[ca.SX]) -> Hashable:
    """The words, truth values and order in a statement; its expressions are collected."""
    if stated is None or isinstance(stated, (str, bool, np.bool_)):
        return stated
    if isinstance(stated, Mapping):
        return tuple((key, _words(value, expressions)) for key, value in stated.items())
    if isinstance(stated, (list, tuple)):
        return tuple(_words(item, expressions) for item in stated)
    if is_dataclass(stated):
        return _words(vars(stated), expressions)
    expressions.append(ca.SX(stated))
    return len(expressions)


# Systems hold their families, and families their kernels; nothing else does, but for the families used last, so that
# one model after the other is built without compiling the same again.
_families: WeakValueDictionary[Hashable, Family] = WeakValueDictionary()
_shortcuts: WeakValueDictionary[Hashable, Family] = WeakValueDictionary()
_recent: dict[int, Family] = {}

#: How many families are kept although no system has them.
RECENT = 64


def family_of(element: Element) -> Family:
    """The equations of an element, shared with all elements of equal equations."""
    return family_with_tables(element)[0]


def family_with_tables(element: Element) -> tuple[Family, list[Table]]:
    """The same, and the tables that this element reads."""
    return shared(element.structure(), lambda: Family(element))


def shared(shortcut: Hashable | None, build: Callable[[], F]) -> tuple[F, list[Table]]:
    """A family as it is shared: known by its structure, if that tells all, or else by its equations; and the tables."""
    known = _shortcuts.get(shortcut) if shortcut is not None else None
    if known is not None:
        return known, known.tables_of[shortcut]  # type: ignore[return-value]
    built = build()
    known = _families.setdefault((type(built), mathematics(built)), built)
    if shortcut is not None:
        _shortcuts[shortcut] = known
        known.tables_of[shortcut] = built.tables
    _recent[id(known)] = known
    while len(_recent) > RECENT:
        del _recent[next(iter(_recent))]
    return known, built.tables  # type: ignore[return-value]
