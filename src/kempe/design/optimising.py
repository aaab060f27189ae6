"""Optimal design of a mechanism: a functional of its motion made small, subject to requirements on others."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kempe.calling import explained
from kempe.design.evaluating import Evaluator, Gradient
from kempe.design.functionals import Functional, as_functional
from kempe.design.optimum import Optimum
from kempe.design.places import Place
from kempe.design.problem import DesignProblem
from kempe.design.reading import read_functional, read_requirement
from kempe.design.requirements import Requirement, as_requirement
from kempe.design.solving import solve_design
from kempe.elements import shown
from kempe.errors import AccuracyWarning, KempeError, ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.simulation.assembling import Pose
from kempe.simulation.progress import Progress


class Simulated(Evaluator):
    """An evaluator that differentiates the motion it has computed last."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._last: tuple[np.ndarray, tuple[list[Place], np.ndarray]] | None = None

    def _simulate(self, p: Any, ends: Sequence[float] = ()) -> tuple[list[Place], np.ndarray]:
        last, self._last = self._last, None
        if ends or last is None or not np.array_equal(last[0], p):
            last = np.array(p, dtype=float), super()._simulate(p, ends)
        self._last = last
        return last[1]

    def motion(self, design: Mapping[str, float]) -> Result | None:
        """The motion of a design; None where there is none."""
        try:
            self.values(np.array([design[name] for name in self.parameters]))
        except KempeError:
            return None
        return self.result


@explained
def optimise(
    model: Model,
    times: float | Sequence[float] | np.ndarray,
    minimise: Any,
    subject_to: Any = (),
    by: Sequence[Any] | str | None = None,
    *,
    method: str = "slsqp",
    starts: int = 1,
    max_iterations: int | None = None,
    accuracy: float = 1e-6,
    bounds: Mapping[str, tuple[float, float] | None] | None = None,
    scales: Mapping[str, float] | None = None,
    seed: int = 0,
    workers: int | None = None,
    parameters: Mapping[str, float] | None = None,
    gradient: Gradient = "auto",
    formulation: str = "auto",
    steps: int = 200,
    tolerance: float = 1e-10,
    step: float | None = None,
    max_step: float | None = None,
    start: Pose | None = None,
    velocities: Mapping[str, float] | None = None,
    radius: float | None = None,
    compile: str | None = None,
    progress: Progress = None,
) -> Optimum:
    """Find the design whose motion has the least value of a functional and meets the requirements.

    ``minimise`` is a functional (``kp.maximum("B.force")``, ``kp.integral("motor.power") + 3 * k``), ``subject_to`` a
    requirement or several (``kp.final("crank.omega") <= 0.3``); both may be text (``"final(crank.omega) <= 0.3"``).
    ``by`` are the design parameters to choose (default: those that have bounds, or all where none has). Their bounds
    are those of the model, unless ``bounds`` says otherwise, and the search begins at their values, or at those in
    ``parameters``: ``parameters=best.parameters`` goes on from an earlier optimum.

    ``method``, ``starts``, ``max_iterations``, ``accuracy``, ``seed``, ``workers`` and ``progress`` are those of
    :func:`kempe.solve_design`, ``scales`` that of :class:`kempe.DesignProblem`, ``gradient`` that of
    :func:`kempe.sensitivity`. ``formulation`` is the ``method`` of :func:`kempe.simulate`, and ``times``, ``steps``,
    ``tolerance``, ``step``, ``max_step``, ``start``, ``velocities``, ``radius`` and ``compile`` are as there; motions
    are computed more accurately than usual, so that what a search compares is no rounding.
    """
    objective = _functional(model, minimise)
    required = _requirements(model, subject_to)
    chosen = _parameters(model, by)
    values = model.parameter_vector(parameters)
    evaluator = Simulated(
        model,
        times,
        _by_name([objective, *(requirement.functional for requirement in required)]),
        chosen,
        gradient=gradient,
        parameters=parameters,
        method=formulation,
        steps=steps,
        tolerance=tolerance,
        step=step,
        max_step=max_step,
        start=start,
        velocities=velocities,
        radius=radius,
        compile=compile,
    )
    evaluator.expect_many()
    problem = DesignProblem(
        evaluator,
        str(objective),
        required,
        start={name: value for name, value in zip(model.parameters, values, strict=True) if name in chosen},
        bounds=_bounds(model, chosen, bounds),
        scales=scales,
    )
    with warnings.catch_warnings():  # (of the motions on the way nobody wants to hear)
        warnings.simplefilter("ignore", AccuracyWarning)
        found = solve_design(
            problem,
            method=method,
            starts=starts,
            max_iterations=max_iterations,
            accuracy=accuracy,
            seed=seed,
            workers=workers,
            progress=progress,
            name=model.name,
        )
        before = evaluator.motion(found.before)
    after = evaluator.motion(found.parameters)
    return found if before is None or after is None else replace(found, results=(before, after))


def _functional(model: Model, given: Any) -> Functional:
    if isinstance(given, str):
        return read_functional(given, model.parameters)
    return as_functional(given, "minimise")


def _requirements(model: Model, given: Any) -> list[Requirement]:
    several = given if isinstance(given, (list, tuple)) else [given]
    return [
        read_requirement(each, model.parameters) if isinstance(each, str) else as_requirement(each, "subject_to")
        for each in several
    ]


def _parameters(model: Model, by: Any) -> list[str]:
    """The names of the parameters to choose."""
    if by is None:
        free = [name for name, p in model.parameters.items() if p.formula is None]
        return [name for name in free if model.parameters[name].bounds is not None] or free
    several = [by] if isinstance(by, str) or hasattr(by, "label") else list(by)
    names = [getattr(each, "label", each) for each in several]
    model.check_parameters(names)
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise ModelError(f"by: '{twice[0]}' is there twice")
    return names


def _bounds(model: Model, chosen: Sequence[str], given: Any) -> dict[str, Any]:
    """The bounds of the parameters, some of them replaced."""
    if given is not None and not isinstance(given, Mapping):
        raise ModelError(f"bounds are given by parameter, as a mapping, not {shown(given)}")
    return {name: model.parameters[name].bounds for name in chosen} | dict(given or {})


def _by_name(functionals: Sequence[Functional]) -> list[Functional]:
    """Each functional once; two of one name must be one."""
    found: dict[str, Functional] = {}
    for each in functionals:
        known = found.setdefault(str(each), each)
        if known.text != each.text:
            raise ModelError(f"two functionals are called '{each}': {known.text} and {each.text}")
    return list(found.values())
