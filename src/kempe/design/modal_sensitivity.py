"""How natural frequencies and damping change with design parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from kempe.analysis import Equilibrium, Modes, Pose, equilibrium, modes
from kempe.calling import explained
from kempe.design.account import Sensitivity
from kempe.design.chain import Chain, asked_parameters
from kempe.design.resting import Rest, rest
from kempe.design.static_account import static_account
from kempe.design.vibrating import Vibrations, pencil
from kempe.errors import ModelError
from kempe.model import Model
from kempe.model.measures import Definition, written
from kempe.simulation.assembling import pose_array
from kempe.simulation.posing import Posed

#: What is known of a mode: "mode0.hertz".
ENDS = ("frequency", "hertz", "damping", "real", "imaginary")


@explained
def modal_sensitivity(
    model: Model,
    of: Any = None,
    by: Any = None,
    *,
    about: Pose | Equilibrium | None = None,
    count: int | None = None,
    time: float | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Sensitivity:
    """Derivatives of natural frequencies and damping ratios by design parameters, exactly.

    ``of`` are names, "mode0.hertz", "mode0.frequency" (in radians per time, without damping), "mode0.damping" (the
    ratio), "mode0.real" and "mode0.imaginary" (of its first eigenvalue, damping included), or expressions of them
    and of parameters, "(mode0.hertz - 5)**2" (default: frequency and damping of all modes, or of the ``count``
    slowest). ``by`` are design parameters. ``about`` is an equilibrium, or a pose that is one (default: the stable one
    near the sketch); as parameters change, it moves along with them.

    Frequencies that are equal have no derivatives: they part, each way of changing the design parting them otherwise.
    Neither has a frequency of zero. By default these are left out, and ``warnings`` say why; asked for, they raise a
    ModelError.
    """
    names = asked_parameters(model, by)
    found = _standing(model, about, time, parameters)
    shapes = modes(model, found, count=count)
    chain = ModalDerivatives(model, found, shapes, names)
    if of is None:
        return static_account(model, found, names, *_all_that_exist(chain, shapes))
    definitions = modal_definitions(model, of, len(shapes))
    values, slopes = chain.of(list(definitions.values()))
    return static_account(model, found, names, dict(zip(definitions, zip(values, slopes, strict=True), strict=True)))


def _standing(model: Model, about: Any, time: float | None, parameters: Mapping[str, float] | None) -> Equilibrium:
    """The equilibrium that is vibrated about."""
    if isinstance(about, Equilibrium):
        if parameters is not None and dict(zip(model.parameters, model.parameter_vector(parameters), strict=True)) != (
            about.parameters
        ):
            raise ModelError("this equilibrium was found with other values of the parameters")
        if time is not None and time != about.time:
            raise ModelError(f"this equilibrium is one at t = {about.time:g}")
        return about
    options: dict[str, Any] = {"time": time or 0.0, "parameters": parameters}
    if about is None:
        return equilibrium(model, **options)
    return equilibrium(model, start=about, stable=False, **options)


def _all_that_exist(chain: ModalDerivatives, shapes: Modes) -> tuple[dict[str, tuple[float, np.ndarray]], list[str]]:
    """Frequency and damping of all modes, as far as they have derivatives, and in words why others have none."""
    there, why = {}, []
    for k in range(len(shapes)):
        for end in ("frequency", "damping") if not np.isnan(shapes.damping[k]) else ("frequency",):
            try:
                there[f"mode{k}.{end}"] = chain.named(f"mode{k}.{end}")
            except ModelError as error:
                why.append(f"mode{k}.{end} is left out: {error}")
    return there, why


def modal_definitions(model: Model, of: Any, count: int) -> dict[str, Definition]:
    """What was asked for as expressions of quantities of modes."""
    given = dict(of) if isinstance(of, Mapping) else {w: w for w in ([of] if isinstance(of, str) else _listed(of))}
    known = [f"mode{k}.{end}" for k in range(count) for end in ENDS]
    found = {}
    for name, text in given.items():
        what = f"quantity '{name}'"
        if not isinstance(text, str):
            raise ModelError(f"{what}: vibrations are asked about by names, 'mode0.hertz', or expressions of them")
        if re.fullmatch(r"mode\d*\.\w+", text) and text not in known:
            last = f"modes are numbered from 0 to {count - 1}; known of each are {', '.join(ENDS)}"
            raise ModelError(f"there is no '{text}': {last}")
        found[name] = written(name, text, model.parameters, known.__contains__, known, what=what)
    return found


def _listed(of: Any) -> list[Any]:
    if not isinstance(of, Iterable):
        raise ModelError("of= names quantities of modes: 'mode0.hertz'")
    return list(of)


def value_of(shapes: Modes, name: str) -> float:
    """A quantity of a mode by its name."""
    mode, _, end = name.partition(".")
    k = int(mode.removeprefix("mode"))
    first = shapes.eigenvalues[k, 0]
    table = {
        "frequency": shapes.frequencies[k],
        "hertz": shapes.hertz[k],
        "damping": shapes.damping[k],
        "real": first.real,
        "imaginary": first.imag,
    }
    return float(table[end])


class ModalDerivatives:
    """Quantities of modes with their derivatives."""

    def __init__(self, model: Model, found: Equilibrium, shapes: Modes, names: list[str]) -> None:
        self.model, self.shapes = model, shapes
        self.posed = Posed(model, found.parameters)
        self.found, self.links = found, Chain(self.posed.system, self.posed.parameters, names)
        self._kept: dict[bool, Vibrations] = {}

    @cached_property
    def _rest(self) -> Rest:
        """The equilibrium with its derivatives."""
        q = pose_array(self.posed.system, self.found.pose)
        as_drawn = np.abs(q - self.posed.drawn) <= 1e-9 * self.posed.scale  # (held elsewhere, they stay there)
        return rest(self.posed, self.links, self.found, self.links.drawn * as_drawn)

    def of(self, definitions: Sequence[Definition]) -> tuple[np.ndarray, np.ndarray]:
        """Expressions of such quantities and of parameters: values, and derivatives by the chain rule."""
        values, slopes = [], []
        for definition in definitions:
            parts = [self.named(name) for name in definition.needs]
            p = ca.vertcat(ca.SX(0, 1), *map(ca.SX, self.posed.system.parameters))
            symbols = [ca.vertcat(ca.SX(0, 1), *definition.symbols.values()), p]
            by = [ca.densify(ca.jacobian(definition.expression, s)) for s in symbols]
            function = ca.Function("f", symbols, [definition.expression, *by])
            value, inner, outer = function(np.array([v for v, _ in parts]), self.posed.parameters)
            moved = np.array([s for _, s in parts]).reshape(len(parts), len(self.links))
            values.append(float(value))
            slopes.append(np.array(inner).ravel() @ moved + np.array(outer).ravel() @ self.links.parameters.T)
        return np.array(values), np.array(slopes).reshape(len(values), len(self.links))

    def named(self, name: str) -> tuple[float, np.ndarray]:
        """One of them by its name."""
        mode, _, end = name.partition(".")
        k, value = int(mode.removeprefix("mode")), value_of(self.shapes, name)
        if not self.links.names:
            return value, np.zeros(0)
        if end in ("frequency", "hertz"):
            slope = self._squared(k) / (2 * self.shapes.frequencies[k])
            return value, slope / (2 * np.pi) if end == "hertz" else slope
        s = self.shapes.eigenvalues[k]
        if end == "damping":
            return value, self._damping(k, s)
        slope = self._eigenvalue(s[0], k)
        return value, slope.real if end == "real" else slope.imag

    def _squared(self, k: int) -> np.ndarray:
        """How a squared frequency changes."""
        omega = float(self.shapes.frequencies[k])
        if omega == 0.0:
            raise ModelError(
                f"the frequency of mode {k} is zero ({self.shapes.kinds[k]}): its square root has no slope"
            )
        return self._slopes(False, omega**2, k).real

    def _damping(self, k: int, s: np.ndarray) -> np.ndarray:
        """How -(s1 + s2) / (2 sqrt(s1 s2)) changes."""
        if np.isnan(self.shapes.damping[k]):
            raise ModelError(f"mode {k} does not oscillate and has no damping ratio")
        first = self._eigenvalue(s[0], k)
        second = first.conj() if s[0].imag else self._eigenvalue(s[1], k)
        total, product = s.sum(), s.prod()
        change = -(first + second) / (2 * np.sqrt(product))
        return (change + total * (first * s[1] + second * s[0]) / (4 * product**1.5)).real

    def _eigenvalue(self, s: complex, k: int) -> np.ndarray:
        return self._slopes(True, s, k)

    def _slopes(self, damped: bool, value: complex, k: int) -> np.ndarray:
        """The derivatives of an eigenvalue of mode k, which must be a simple one."""
        if damped not in self._kept:
            self._kept[damped] = Vibrations(self.posed, self._rest, pencil(self.posed, self._rest), damped)
        found = self._kept[damped]
        number = found.nearest(value)
        if not found.simple(number):
            own = self.shapes.eigenvalues if damped else self.shapes.frequencies[:, None] ** 2
            equal = [j for j, values in enumerate(own) if any(found.like(value, v) for v in values)]
            listed = " and ".join(map(str, equal)) if len(equal) > 1 else f"{k} and of another motion"
            raise ModelError(
                f"the eigenvalues of modes {listed} are equal, and part in another way for each change of the design: "
                "they have no derivatives"
            )
        return found.slopes(number)
