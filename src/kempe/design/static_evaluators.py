"""Functionals of driven motions, equilibria and vibrations at any design, with gradients: what optimisers ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from kempe.analysis import Pose, equilibrium, inverse_dynamics, kinematics, modes
from kempe.analysis.statics import Equilibrium
from kempe.calling import explained_methods
from kempe.design.chain import Chain, asked_parameters
from kempe.design.equilibrium_sensitivity import AtRest
from kempe.design.functionals import Functionals, named
from kempe.design.kinematic_sensitivity import over_motion
from kempe.design.leaves import Extreme, Leaf, Point
from kempe.design.modal_sensitivity import ModalDerivatives, modal_definitions
from kempe.design.quantities import Quantities
from kempe.design.resting import rest
from kempe.elements import plain_array
from kempe.errors import ModelError
from kempe.model import Model
from kempe.simulation.posing import Posed
from kempe.simulation.times import time_grid
from kempe.system import compiled

#: Numbers by leaf, and their derivatives by parameters, a row for each leaf.
Supplied = tuple[np.ndarray, np.ndarray]


class StaticEvaluator:
    """Functionals at a design, and their gradients, with nothing integrated in time.

    ``names`` are those of the functionals, ``parameters`` those of the design; ``values(p)`` and ``gradients(p)`` take
    values of the parameters in that order, and all others are those of the model, or of ``parameters=``. Where a design
    cannot be assembled, locks or fails, both raise an error of Kempe's.
    """

    def __init__(
        self, model: Model, functionals: Any, by: Any = None, parameters: Mapping[str, float] | None = None
    ) -> None:
        self.model, self.parameters = model, asked_parameters(model, by)
        model.parameter_vector(parameters)
        #: Values of parameters that are not those of the model.
        self.given = dict(parameters or {})
        self.functionals = Functionals(named(functionals), compiled(model).parameters)
        self.names = self.functionals.names

    def values(self, p: Sequence[float] | np.ndarray) -> np.ndarray:
        """The functionals at a design."""
        design = self._design(p)
        leaves, _ = self._supplied(design, [])
        return self.functionals.values(leaves, self.model.parameter_vector(design))

    def gradients(self, p: Sequence[float] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The functionals at a design, and a row of derivatives of each."""
        design = self._design(p)
        vector = self.model.parameter_vector(design)
        leaves, slopes = self._supplied(design, self.parameters)
        values = self.functionals.values(leaves, vector)
        by_leaves, explicit = self.functionals.slopes(leaves, vector)
        found = by_leaves @ slopes + explicit @ self.model.parameter_slopes(vector, self.parameters)
        for name, row in zip(self.names, found, strict=True):
            if not np.isfinite(row).all():
                raise ModelError(f"'{name}' has no gradient at this design")
        return values, found

    def _design(self, p: Sequence[float] | np.ndarray) -> dict[str, float]:
        given = plain_array(p, "a design")
        if given.shape != (len(self.parameters),):
            raise ModelError(f"a design has {len(self.parameters)} numbers: {', '.join(self.parameters)}")
        return {**self.given, **dict(zip(self.parameters, given.tolist(), strict=True))}

    def _supplied(self, design: Mapping[str, float], names: list[str]) -> Supplied:
        """What the leaves are at a design, and their derivatives by some of its parameters."""
        raise NotImplementedError


@explained_methods
class KinematicEvaluator(StaticEvaluator):
    """Functionals of a driven motion: of positions, velocities and accelerations, of efforts and loads.

    ``times``, ``steps``, ``on_singular``, ``branch`` and ``start`` are as in :func:`kempe.kinematics`; where a
    functional needs forces, inverse dynamics finds them. Integrals are those of cubic splines through the values at
    these times; the largest and the least value are those of a parabola through three of them.
    """

    def __init__(
        self,
        model: Model,
        times: float | Sequence[float] | np.ndarray,
        functionals: Any,
        by: Any = None,
        *,
        steps: int = 200,
        on_singular: str = "raise",
        branch: Any = 0,
        start: Pose | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(model, functionals, by, parameters)
        self._options: dict[str, Any] = {"on_singular": on_singular, "branch": branch, "start": start}
        grid = time_grid(times, steps)
        self._watched = Quantities(compiled(model), {leaf.text: leaf for leaf in self.functionals.leaves})
        points = [leaf.at for leaf in self.functionals.leaves if isinstance(leaf, Point)]
        wanted = [at for at in points if not isinstance(at, str)]
        outside = [t for t in wanted if not grid[0] <= t <= grid[-1]]
        if outside:
            raise ModelError(f"t = {outside[0]:g} is not within the motion, from {grid[0]:g} to {grid[-1]:g}")
        self.times = np.union1d(grid, wanted)

    def _supplied(self, design: Mapping[str, float], names: list[str]) -> Supplied:
        analysis = inverse_dynamics if self._watched.loaded else kinematics
        motion = analysis(self.model, self.times, parameters=design, **self._options)
        if len(motion.t) < len(self.times):
            raise ModelError(f"the motion of '{self.model.name}' ends early: {motion.message}")
        posed = Posed(self.model, design)
        values, slopes = over_motion(posed, self._watched, motion, names, forces=self._watched.loaded)
        parts = [self._of(leaf, values[:, k], slopes[:, k]) for k, leaf in enumerate(self.functionals.leaves)]
        return np.array([value for value, _ in parts]), _rows([slope for _, slope in parts], len(names))

    def _of(self, leaf: Leaf, values: np.ndarray, slopes: np.ndarray) -> tuple[float, np.ndarray]:
        """A leaf from the history of its quantity: all of them are weighted sums of values."""
        t, both = self.times, np.column_stack([values, slopes])
        if isinstance(leaf, Extreme):
            found = _weights_of_extreme(t, values if leaf.largest else -values) @ both
        elif isinstance(leaf, Point):
            found = both[{"start": 0, "end": -1}[leaf.at] if isinstance(leaf.at, str) else np.searchsorted(t, leaf.at)]
        else:
            found = CubicSpline(t, both).integrate(t[0], t[-1]) if len(t) > 1 else 0.0 * both[0]
        return float(found[0]), found[1:]


def _weights_of_extreme(t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Per value its share in the top of the parabola through the largest and its neighbours.

    The top moves in time too, but there the parabola is level: its derivative is that of the sum.
    """
    weights, k = np.zeros(len(t)), int(np.argmax(values))
    weights[k] = 1.0
    if 0 < k < len(t) - 1:
        near = slice(k - 1, k + 2)
        s = t[near] - t[k]
        curve, slope, _ = np.polyfit(s, values[near], 2)
        if curve < 0:
            top = float(np.clip(-slope / (2 * curve), s[0], s[2]))
            for i in range(3):
                others = [s[j] for j in range(3) if j != i]
                weights[k - 1 + i] = np.prod([(top - o) / (s[i] - o) for o in others])
    return weights


@explained_methods
class EquilibriumEvaluator(StaticEvaluator):
    """Functionals of an equilibrium: ``kp.final("arm.angle")`` is a value at rest, as ``kp.initial`` is.

    Efforts on held coordinates are ``kp.final("holding.arm.angle")``. The options are those of
    :func:`kempe.equilibrium`.
    """

    def __init__(
        self,
        model: Model,
        functionals: Any,
        by: Any = None,
        *,
        start: Pose | None = None,
        time: float = 0.0,
        hold: Any = (),
        stable: bool = True,
        tolerance: float = 1e-12,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(model, functionals, by, parameters)
        self._options: dict[str, Any] = {"start": start, "time": time, "hold": hold, "stable": stable}
        self._options["tolerance"] = tolerance
        self._wanted = _at_rest(self.functionals.leaves, "an equilibrium")

    def _supplied(self, design: Mapping[str, float], names: list[str]) -> Supplied:
        found: Equilibrium = equilibrium(self.model, parameters=design, **self._options)
        posed = Posed(self.model, design)
        chain = Chain(posed.system, posed.parameters, names)
        drawn = chain.drawn if self._options["start"] is None else np.zeros_like(chain.drawn)
        values, slopes = AtRest(posed, found, self._wanted).at(rest(posed, chain, found, drawn))
        return values, _rows(slopes, len(names))


@explained_methods
class ModalEvaluator(StaticEvaluator):
    """Functionals of vibrations about an equilibrium, as ``kp.final("mode0.hertz")``.

    The names are those of :func:`kempe.modal_sensitivity`.
    """

    def __init__(
        self,
        model: Model,
        functionals: Any,
        by: Any = None,
        *,
        time: float = 0.0,
        start: Pose | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(model, functionals, by, parameters)
        self._time, self._start = time, start
        self._wanted = _at_rest(self.functionals.leaves, "a vibration")

    def _supplied(self, design: Mapping[str, float], names: list[str]) -> Supplied:
        found = equilibrium(self.model, parameters=design, time=self._time, start=self._start)
        shapes = modes(self.model, found)
        definitions = modal_definitions(self.model, self._wanted, len(shapes))
        values, slopes = ModalDerivatives(self.model, found, shapes, names).of(list(definitions.values()))
        return values, _rows(slopes, len(names))


def _at_rest(leaves: list[Leaf], what: str) -> dict[str, Any]:
    """What is wanted of something that does not move in time."""
    wrong = next((leaf for leaf in leaves if not isinstance(leaf, Point)), None)
    if wrong is not None:
        raise ModelError(f"{what} has no duration, so there is no {wrong.text}; its values are kp.final(...)")
    return {leaf.text: leaf.quantity for leaf in leaves}


def _rows(slopes: Any, count: int) -> np.ndarray:
    return np.array(slopes, dtype=float).reshape(len(slopes), count)
