"""Functionals of simulated motions with their gradients, at any design: what sensitivities and optimisers ask for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from kempe.design.differentiating import Differentiated, Watched, functions_swept
from kempe.design.functionals import Functionals, named
from kempe.design.leaves import Extreme, Integral, Point
from kempe.design.places import Place, Places
from kempe.elements import shown
from kempe.errors import ConvergenceError, KempeError, ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.simulation.batches import MANY
from kempe.simulation.methods import given_options
from kempe.simulation.task import new_task
from kempe.simulation.velocities import Velocities
from kempe.system import compiled
from kempe.system.expressing import Expressions, gauge

#: The methods whose steps can be differentiated.
METHODS = ("auto", "projection", "alpha", "radau")
#: So often a run is repeated until steps end where they have to; so near, as a share of the run, is there.
ROUNDS, NEAR = 8, 1e-11
#: Where a direction is off by more than this share of it in a step, gradients are called rough.
ROUGH = 1e-2

Gradient = Literal["auto", "adjoint", "direct"]
_SETTINGS = (
    "gradient",
    "parameters",
    "method",
    "steps",
    "tolerance",
    "step",
    "max_step",
    "start",
    "velocities",
    "radius",
    "compile",
)


@dataclass(frozen=True)
class Many:
    """Functionals of many designs: values (designs, functionals), gradients (designs, functionals, parameters)."""

    values: np.ndarray
    gradients: np.ndarray
    failures: dict[int, str]


class Evaluator:
    """Functionals of a model's simulated motion as functions of its design parameters.

    ``values`` and ``gradients`` take design values in the order of ``parameters``; both raise a
    :class:`kempe.KempeError` where a design cannot be assembled, locks or fails on the way.
    """

    def __init__(
        self,
        model: Model,
        times: Any,
        functionals: Any,
        by: Sequence[str] | str | None = None,
        *,
        gradient: Gradient = "auto",
        parameters: Mapping[str, float] | None = None,
        method: str = "auto",
        steps: int = 200,
        tolerance: float = 1e-8,
        step: float | None = None,
        max_step: float | None = None,
        start: Any = None,
        velocities: Mapping[str, Any] | None = None,
        radius: float | None = None,
        compile: str | None = None,
    ) -> None:
        settings = (gradient, parameters, method, steps, tolerance, step, max_step, start, velocities, radius, compile)
        self._made = (model, times, functionals, by), dict(zip(_SETTINGS, settings, strict=True))
        if method not in METHODS:
            raise ModelError(f"gradients are known for the methods {', '.join(METHODS)}, not for {shown(method)}")
        if gradient not in ("auto", "adjoint", "direct"):
            raise ModelError(f"a gradient is 'adjoint', 'direct' or 'auto', not {shown(gradient)}")
        self.model, self.gradient = model, gradient
        self.system = compiled(model)
        self.base = model.parameter_vector(parameters)
        self.parameters = self._chosen(by)
        self.functionals = Functionals(named(functionals), self.system.parameters)
        self.names = self.functionals.names
        self.velocities = Velocities(self.system, velocities)
        task = new_task(
            times,
            method=method,
            steps=steps,
            tolerance=tolerance,
            step=step,
            max_step=max_step,
            start=start,
            velocities=self.velocities.at(self.base),
            audit=False,
            options=given_options(radius=radius),
            compile=compile,
        )
        self._watch(task)
        self.run = Differentiated(self.system, task, self._watched, self.parameters, self.velocities)
        self._ran = False
        #: How the last gradient was found.
        self.used = ""
        #: What there is to say about derivatives of the last run.
        self.warnings: list[str] = []

    def _chosen(self, by: Sequence[str] | str | None) -> list[str]:
        known = self.model.parameters
        if by is None:
            found = [name for name, p in known.items() if p.formula is None]
        else:
            one = isinstance(by, str) or hasattr(by, "label") or not isinstance(by, Iterable)
            given: list[Any] = [by] if one else list(by)
            found = [str(getattr(item, "label", item)) for item in given]
            self.model.parameter_slopes(self.base, found)  # (refuses what is no free choice)
            twice = [name for name in found if found.count(name) > 1]
            if twice or not found:
                raise ModelError(f"by: '{twice[0]}' is there twice" if twice else "by: there must be at least one")
        if not found:
            raise ModelError(f"'{self.model.name}' has no design parameter: m.parameter(...) makes one")
        return found

    def _watch(self, task: Any) -> None:
        """Compile what has to be watched along a run."""
        expressions = Expressions(self.system, self.model.measures)
        leaves = self.functionals.leaves
        self._integrals = [k for k, leaf in enumerate(leaves) if isinstance(leaf, Integral)]
        self._points = [k for k, leaf in enumerate(leaves) if not isinstance(leaf, Integral)]
        self._extremes = [k for k in self._points if isinstance(leaves[k], Extreme)]
        made = {
            k: leaf.integrand(expressions) if isinstance(leaf, Integral) else leaf.expression(expressions)
            for k, leaf in enumerate(leaves)
        }
        self._felt = expressions.symbols.rows_in([*made.values()])
        sides, kinks = expressions.sides, [*expressions.sides, *expressions.kinks()]
        integrand, point = ([made[k] for k in which] for which in (self._integrals, self._points))
        asked = gauge([*point, *sides], expressions.symbols)
        self._watched = Watched(gauge(integrand, expressions.symbols), asked, len(sides))
        seen = [made[k] for k in self._extremes]
        largest = [leaves[k].largest for k in self._extremes]  # type: ignore[attr-defined]
        self._places = Places(gauge([*seen, *kinks], expressions.symbols), largest, len(kinks), len(sides))
        self.first, self.last = first, last = task.begun, float(task.grid[-1])
        self._fixed: dict[int, Place] = {}
        for k in self._points:
            leaf = leaves[k]
            if isinstance(leaf, Point):
                at = {"start": first, "end": last}.get(leaf.at, leaf.at) if isinstance(leaf.at, str) else leaf.at
                if not first <= at <= last:
                    raise ModelError(f"{leaf.text}: the run goes from {first:g} to {last:g}")
                self._fixed[k] = Place(float(at), "start" if at <= first else "end" if at >= last else "within")

    def expect_many(self) -> None:
        """Many designs are to come: what their motions share is compiled at once, unless it is not to be."""
        machine, ways = self.run.machine, ["push"] if self._directly else ["push", "pull"]
        swept = functions_swept([machine.integrator.taped], ways)
        machine.compiling.expect_many((*machine.integrator.functions_fused, *swept))

    @property
    def result(self) -> Result | None:
        """The motion of the design evaluated last; None before the first."""
        return self.run.result if self._ran else None

    # --- at a design -------------------------------------------------------------------------------------------------

    def vector(self, p: Any) -> np.ndarray:
        """All parameters of the model at design values."""
        values = np.asarray(p, dtype=float).ravel()
        if values.shape != (len(self.parameters),):
            raise ModelError(f"a design has {len(self.parameters)} values ({', '.join(self.parameters)})")
        free = dict(zip(self.model.parameters, self.base.tolist(), strict=True))
        chosen = {name: value for name, value in free.items() if self.model.parameters[name].formula is None}
        return self.model.parameter_vector(chosen | dict(zip(self.parameters, values.tolist(), strict=True)))

    def _simulate(self, p: Any, ends: Sequence[float] = ()) -> tuple[list[Place], np.ndarray]:
        """Run at a design, with steps that end where something is asked for; the places of all points, and the leaves.

        Steps have to end at extremes, where forces or integrands have kinks, and where an integral is not as accurate
        as the motion: such times are looked for along a run, which is then repeated with them.
        """
        vector = self.vector(p)
        fixed = [place.t for place in self._fixed.values() if place.side == "within"]
        near = NEAR * (self.last - self.first)
        stops: list[float] = list(fixed)
        finer = list(ends)
        for look in range(ROUNDS):
            self.run.run(vector, [*stops, *finer])
            self._ran = True
            extremes, kinks, bent = self._places.look(self.run) if self._places.any else ([], [], [])
            wanted = [*kinks, *bent, *(place.t for place in extremes if place.side == "within")]
            settled = all(any(abs(t - stop) <= near for stop in stops) for t in wanted)
            if not settled and look < ROUNDS - 1:
                stops = [*fixed, *wanted]
                continue
            self.run.sides = self._places.sides(self.run)
            self.run.kinks = [_nearest(t, stops) for t in bent]
            places = self._all_places([_snapped(place, stops) for place in extremes])
            integrals, points, more = self.run.values(places)
            if not more:
                break
            finer += more
        if not settled:
            words = "where the motion is extreme, or a force has a kink, moves with every look: the gradient is rough"
            self.warnings.append(words)
        elif more:
            self.warnings.append("integrals are less accurate than the tolerance: they change too fast in places")
        return places, self._leaves(integrals, points)

    def _all_places(self, extremes: Sequence[Place]) -> list[Place]:
        """The place of each point."""
        of_extremes = dict(zip(self._extremes, extremes, strict=True))
        found = [of_extremes.get(k) or self._fixed[k] for k in self._points]
        ended = float(self.run.tape.t[-1, 1])
        late = [place.t for place in found if place.side == "within" and place.t > ended]
        if late:
            raise ConvergenceError(f"the run ended at t = {ended:.6g}, before t = {late[0]:g}", self.result)
        return found

    def values(self, p: Any) -> np.ndarray:
        """The functionals at a design."""
        self.warnings = []
        _, leaves = self._simulate(p)
        return self.functionals.values(leaves, self.run.parameters)

    @property
    def _directly(self) -> bool:
        """Whether gradients are found by directions, one for each parameter: steps are judged by these anyway."""
        return self.gradient == "direct" or (self.gradient == "auto" and len(self.names) >= len(self.parameters))

    def gradients(self, p: Any) -> tuple[np.ndarray, np.ndarray]:
        """The functionals at a design, and a row of derivatives for each."""
        direct = self._directly
        self.used, finer = "direct" if direct else "adjoint", list[float]()
        for _ in range(ROUNDS):
            self.warnings = []
            places, leaves = self._simulate(p, finer)
            self._refuse_shared()
            *found, more = self.run.direct(places) if direct else [self.run.too_long()]
            if not more:
                break
            finer += more
        if self.run.strayed > ROUGH:
            self.warnings.append("the gradient is rough: steps stay too long for it; give a max_step")
        at = self.run.parameters
        by = self.model.parameter_slopes(at, self.parameters)
        values, explicit = self.functionals.gradients(leaves, np.zeros((len(leaves), len(at))), at)
        weights = self.functionals.weights(leaves, at)
        if direct:
            by_run = weights @ self._leaves(*found)
        else:
            by_run = self.run.adjoint(weights[:, self._integrals], weights[:, self._points], places)
        return values, self._finite(explicit @ by + by_run)

    def _refuse_shared(self) -> None:
        """How redundant constraints share a load changes with parameters in a way that runs do not follow."""
        machine = self.run.machine
        shared = machine.shared_rows()
        felt = [self.system.rows[k].owner for k in self._felt if shared[k]] + machine.felt_and_shared()
        if felt:
            raise ModelError(
                f"constraints of '{self.model.name}' are redundant, and they share the load of '{felt[0]}': "
                "its derivatives are not known for simulations (they are for inverse_dynamics and equilibrium)"
            )

    def _finite(self, gradients: np.ndarray) -> np.ndarray:
        """Gradients, all of which have to be numbers."""
        if np.isfinite(gradients).all():
            return gradients
        f, k = (int(i[0]) for i in np.nonzero(~np.isfinite(gradients)))
        raise ConvergenceError(
            f"'{self.names[f]}' has no derivative by '{self.parameters[k]}': {self.run.blame()}", self.result
        )

    def twin(self) -> Self:
        """Another one like it, for another thread."""
        args, options = self._made
        return type(self)(*args, **options)

    def many(self, designs: Any, workers: int | None = None) -> Many:
        """Values and gradients of many designs, side by side; a row of design values each.

        Where a design fails its row is NaN and ``failures`` has the reason.
        """
        table = np.atleast_2d(np.asarray(designs, dtype=float))
        if table.shape[1:] != (len(self.parameters),):
            raise ModelError(f"a design has {len(self.parameters)} values ({', '.join(self.parameters)})")
        count = max(1, min(workers or os.cpu_count() or 1, len(table)))
        if len(table) >= MANY:
            self.expect_many()
        values = np.full((len(table), len(self.names)), np.nan)
        slopes = np.full((len(table), len(self.names), len(self.parameters)), np.nan)
        failures: dict[int, str] = {}

        def work(own: Evaluator, first: int) -> None:
            for k in range(first, len(table), count):
                try:
                    values[k], slopes[k] = own.gradients(table[k])
                except KempeError as error:
                    failures[k] = str(error)

        with ThreadPoolExecutor(count) as pool:
            jobs = [pool.submit(work, self if k == 0 else self.twin(), k) for k in range(count)]
            for job in jobs:
                job.result()
        return Many(values, slopes, dict(sorted(failures.items())))

    def _leaves(self, integrals: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Numbers, or rows, of integrals and points in the order of the leaves."""
        found = np.zeros((len(self.functionals.leaves), *integrals.shape[1:]))
        found[self._integrals], found[self._points] = integrals, points
        return found


def _snapped(place: Place, stops: Sequence[float]) -> Place:
    """A place within, at the end of the step that it is next to."""
    if place.side != "within":
        return place
    return replace(place, t=_nearest(place.t, stops))


def _nearest(t: float, stops: Sequence[float]) -> float:
    """The stop next to a time."""
    return min(stops, key=lambda stop: abs(stop - t))
