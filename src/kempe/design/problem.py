"""A design problem: what is minimised over which parameters, and what is required of the design."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from kempe.calling import suggestion
from kempe.design.requirements import Requirement, as_requirement
from kempe.elements import plain_array, plain_number, shown
from kempe.errors import KempeError, ModelError

#: A requirement is measured in units of its limit, or of this share of the size of what it limits if that is more.
SHARE = 1e-3


class Evaluator(Protocol):
    """What a design problem needs of a mechanism: functionals and their gradients at a design.

    Both functions raise an error of Kempe's where a design cannot be assembled, locks or fails. With a method
    ``twin()``, which gives another one for another thread, searches from several starts go side by side.
    """

    names: list[str]
    parameters: list[str]

    def values(self, p: np.ndarray) -> np.ndarray:
        """The functionals at a design."""

    def gradients(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The functionals at a design, and a row of derivatives of each."""


class Wall(Exception):
    """A design that cannot be evaluated: something to step back from."""


class Halted(Exception):
    """The search was asked to end."""


@dataclass(frozen=True)
class Point:
    """A design and what was found there."""

    parameters: np.ndarray
    values: np.ndarray
    gradients: np.ndarray | None = None


@dataclass(frozen=True)
class MetWall:
    """A design that could not be evaluated, and why."""

    parameters: dict[str, float]
    reason: str


@dataclass(frozen=True)
class Limit:
    """One side of a requirement: a functional is to be at most, at least (``sense`` -1) or equal to (0) a limit."""

    words: str
    functional: str
    place: int
    limit: float
    sense: int

    def excess(self, values: np.ndarray) -> float:
        """By how much it is not met; negative where there is room to spare."""
        return float((self.sense or 1) * (values[self.place] - self.limit))

    def slope(self, gradients: np.ndarray) -> np.ndarray:
        """The gradient of the excess."""
        return (self.sense or 1) * gradients[self.place]

    def violation(self, values: np.ndarray) -> float:
        """By how much it is not met; zero where it is."""
        excess = self.excess(values)
        return max(excess, 0.0) if self.sense else abs(excess)


class DesignProblem:
    """Minimise a functional over design parameters, subject to requirements: one object for every method.

    ``evaluator`` gives functionals and gradients at a design (:class:`Evaluator`); ``minimise`` and the functionals of
    ``subject_to`` (:class:`Requirement`, or triples of a name, the least and the largest value) are among its
    ``names``. ``bounds`` maps parameters to their least and largest value, ``start`` to the values to begin with, and
    ``scales`` maps parameters and functionals to what counts as a large change of them.

    It counts what was evaluated, keeps the last point, so that values and gradients of one design cost one run, and
    notes designs that cannot be evaluated as walls.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        minimise: str,
        subject_to: Sequence[Any] = (),
        *,
        start: Mapping[str, float],
        bounds: Mapping[str, tuple[float, float] | None] | None = None,
        scales: Mapping[str, float] | None = None,
    ) -> None:
        self.evaluator = evaluator
        self.parameters = list(evaluator.parameters)
        self.functionals = list(evaluator.names)
        self.objective = self._place(minimise, "minimise")
        self.limits = [limit for requirement in subject_to for limit in self._sides(requirement)]
        self.lower, self.upper = self._bounds(bounds or {})
        self.start = self._start(start)
        self.scales = self._given_scales(scales or {})
        self.halt = threading.Event()
        self.runs = 0
        self.gradient_runs = 0
        self.walls: list[MetWall] = []
        self._last: Point | None = None

    # --- what was asked for --------------------------------------------------------------------------------------

    @property
    def minimise(self) -> str:
        """The name of what is minimised."""
        return self.functionals[self.objective]

    def _place(self, name: Any, what: str) -> int:
        """Where a functional stands."""
        wanted = name if isinstance(name, str) else str(name)
        if wanted not in self.functionals:
            hint = suggestion(str(wanted), self.functionals) or f"; there are {', '.join(self.functionals)}"
            raise ModelError(f"{what}: there is no functional {shown(wanted)}{hint}")
        return self.functionals.index(wanted)

    def _sides(self, requirement: Any) -> list[Limit]:
        """A requirement as one limit or two."""
        name, low, high, text = _parts(requirement)
        place = self._place(name, "subject_to")
        known = self.functionals[place]
        given = {sense: limit for sense, limit in ((-1, low), (1, high)) if np.isfinite(limit)}
        if not given:
            raise ModelError(f"the requirement on '{known}' has no limit")
        if low > high:
            raise ModelError(f"'{known}' cannot be at least {low:g} and at most {high:g}")
        if low == high:
            return [Limit(text or f"{known} = {high:.10g}", known, place, high, 0)]
        signs, one = {-1: ">=", 1: "<="}, text if len(given) == 1 else ""
        return [Limit(one or f"{known} {signs[s]} {x:.10g}", known, place, x, s) for s, x in given.items()]

    def _of_parameters(self, values: Mapping[str, Any], what: str) -> None:
        if not isinstance(values, Mapping):
            raise ModelError(f"{what} are given by parameter, as a mapping, not {shown(values)}")
        for name in values:
            if name not in self.parameters:
                hint = suggestion(str(name), self.parameters) or f"; there are {', '.join(self.parameters)}"
                raise ModelError(f"{what}: there is no design parameter {shown(name)}{hint}")

    def _bounds(self, bounds: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        self._of_parameters(bounds, "bounds")
        lower = np.full(len(self.parameters), -np.inf)
        upper = np.full(len(self.parameters), np.inf)
        for k, name in enumerate(self.parameters):
            if bounds.get(name) is None:
                continue
            try:
                low, high = (float(x) for x in bounds[name])
            except (TypeError, ValueError):
                raise ModelError(f"the bounds of '{name}' are two numbers, not {shown(bounds[name])}") from None
            if not low <= high:
                raise ModelError(f"the bounds of '{name}' must not cross: {low:g} is not below {high:g}")
            lower[k], upper[k] = low, high
        return lower, upper

    def _start(self, start: Mapping[str, float]) -> np.ndarray:
        self._of_parameters(start, "start")
        absent = [name for name in self.parameters if name not in start]
        if absent:
            raise ModelError(f"start: '{absent[0]}' has no value to begin with")
        values = np.array([plain_number(start[n], f"the start of '{n}'") for n in self.parameters])
        inside = np.clip(values, self.lower, self.upper)
        for name, value, near, low, high in zip(self.parameters, values, inside, self.lower, self.upper, strict=True):
            if abs(value - near) > 1e-9 * max(abs(value), abs(near)):  # (rounding is brought back)
                raise ModelError(f"'{name}' begins at {value:.6g}, outside its bounds {low:.6g} .. {high:.6g}")
        return inside

    def _given_scales(self, scales: Mapping[str, float]) -> dict[str, float]:
        known = [*self.parameters, *self.functionals]
        if not isinstance(scales, Mapping):
            raise ModelError(f"scales are given by parameter or functional, as a mapping, not {shown(scales)}")
        for name, value in scales.items():
            if name not in known:
                raise ModelError(f"scales: there is no '{name}'{suggestion(str(name), known)}")
            if not plain_number(value, f"the scale of '{name}'") > 0:
                raise ModelError(f"the scale of '{name}' must be above zero, not {shown(value)}")
        return {name: float(value) for name, value in scales.items()}

    def named(self, p: np.ndarray) -> dict[str, float]:
        """A design by parameter."""
        return dict(zip(self.parameters, map(float, p), strict=True))

    def twin(self) -> DesignProblem:
        """The same problem with counts of its own, for another thread."""
        made: DesignProblem = object.__new__(type(self))
        vars(made).update(vars(self), runs=0, gradient_runs=0, walls=[], _last=None)
        if hasattr(self.evaluator, "twin"):
            made.evaluator = self.evaluator.twin()
        return made

    # --- evaluating ----------------------------------------------------------------------------------------------

    def at(self, p: np.ndarray) -> Point:
        """The functionals at a design; raises Wall where it cannot be evaluated."""
        if self._last is None or not np.array_equal(self._last.parameters, p):
            self.runs += 1
            self._last = Point(p.copy(), self._checked(p, lambda: (self.evaluator.values(p), None))[0])
        return self._last

    def slopes(self, p: np.ndarray) -> Point:
        """The functionals and their gradients at a design; raises Wall where it cannot be evaluated."""
        last = self._last
        if last is None or last.gradients is None or not np.array_equal(last.parameters, p):
            self.gradient_runs += 1
            values, gradients = self._checked(p, lambda: self.evaluator.gradients(p))
            self._last = last = Point(p.copy(), values, gradients)
        return last

    def _checked(self, p: np.ndarray, evaluate: Any) -> tuple[np.ndarray, Any]:
        """What an evaluation gives, as finite numbers; a wall where it gives none."""
        if self.halt.is_set():
            raise Halted
        try:
            values, gradients = evaluate()
            values = plain_array(values, "functionals")
            gradients = None if gradients is None else np.atleast_2d(np.asarray(gradients, dtype=float))
            self._check_shapes(values, gradients)
        except KempeError as error:
            raise self._wall(p, str(error)) from error
        unknown = [n for n, value in zip(self.functionals, values, strict=True) if not np.isfinite(value)]
        if unknown:
            raise self._wall(p, f"'{unknown[0]}' is not finite")
        if gradients is not None and not np.isfinite(gradients).all():
            row = int(np.flatnonzero(~np.isfinite(gradients).all(axis=1))[0])
            raise self._wall(p, f"the gradient of '{self.functionals[row]}' is not finite")
        return values, gradients

    def _check_shapes(self, values: np.ndarray, gradients: np.ndarray | None) -> None:
        count, size = len(self.functionals), len(self.parameters)
        if values.shape != (count,) or (gradients is not None and gradients.shape != (count, size)):
            raise ModelError(f"an evaluator gives {count} values, and gradients of {count} rows and {size} columns")

    def _wall(self, p: np.ndarray, reason: str) -> Wall:
        self._last = None
        self.walls.append(MetWall(self.named(p), reason))
        return Wall(reason)


def _parts(requirement: Any) -> tuple[str, float, float, str]:
    """The functional of a requirement by name, its bounds, and what it is called."""
    if isinstance(requirement, Requirement):
        return requirement.name, requirement.low, requirement.high, requirement.text
    try:
        name, low, high = requirement
        return str(name), -np.inf if low is None else float(low), np.inf if high is None else float(high), ""
    except (TypeError, ValueError):
        return as_requirement(requirement, "subject_to").name, 0.0, 0.0, ""  # (explains what it is not)


@dataclass(frozen=True)
class Scales:
    """What counts as a large change: of each parameter, of the objective, and of what each limit is about.

    A parameter's is the width of its bounds, or its size at the start. The objective's is how much it changes at the
    start over that much of a parameter. A limit's ``unit`` is its own size, or a thousandth of the size of the
    functional at the start or of its change, whichever is largest: "met" means within a tolerance times it. Methods see
    limits times ``weight`` besides, which is below one where a limit is much steeper than the objective.
    """

    parameters: np.ndarray
    objective: float
    units: np.ndarray
    weights: np.ndarray = field(repr=False)

    @staticmethod
    def at(problem: DesignProblem, start: Point) -> Scales:
        """The scales of a problem, from its start."""
        assert start.gradients is not None
        parameters = np.array([_scale(problem, k, start.parameters[k]) for k in range(len(problem.parameters))])
        steepness = np.abs(start.gradients * parameters).max(axis=1, initial=0.0)
        objective = problem.scales.get(problem.minimise) or steepness[problem.objective]
        objective = objective or abs(start.values[problem.objective]) or 1.0
        units = np.array([_unit(problem, limit, start.values, steepness) for limit in problem.limits])
        return Scales(parameters, float(objective), units, np.ones(len(units))).reweighted(problem, start)

    def reweighted(self, problem: DesignProblem, point: Point) -> Scales:
        """The same with weights that fit another design."""
        assert point.gradients is not None
        steepness = np.abs(point.gradients * self.parameters).max(axis=1, initial=0.0)
        steep = np.array([steepness[limit.place] for limit in problem.limits]) / self.units
        return replace(self, weights=1.0 / np.maximum(1.0, steep))


def _scale(problem: DesignProblem, k: int, start: float) -> float:
    width = problem.upper[k] - problem.lower[k]
    natural = width if np.isfinite(width) and width > 0 else abs(start) or 1.0
    return problem.scales.get(problem.parameters[k], natural)


def _unit(problem: DesignProblem, limit: Limit, values: np.ndarray, steepness: np.ndarray) -> float:
    if limit.functional in problem.scales:
        return problem.scales[limit.functional]
    size = max(abs(values[limit.place]), steepness[limit.place])
    return max(abs(limit.limit), SHARE * size) or 1.0
