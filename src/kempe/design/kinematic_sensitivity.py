"""How driven motions, and the efforts they take, change with design parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kempe.analysis import Pose, inverse_dynamics, kinematics
from kempe.analysis.inverse import before_its_end
from kempe.calling import explained
from kempe.design.chain import Chain, asked_parameters
from kempe.design.driven import driven_instants
from kempe.design.histories import SensitivityHistory
from kempe.design.quantities import Quantities, named_quantities
from kempe.errors import ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.simulation.posing import Posed
from kempe.system import compiled


@explained
def kinematic_sensitivity(
    model: Model,
    times: float | Sequence[float] | np.ndarray,
    of: Any = None,
    by: Any = None,
    *,
    steps: int = 200,
    on_singular: str = "raise",
    branch: Any = 0,
    start: Pose | None = None,
    parameters: Mapping[str, float] | None = None,
) -> SensitivityHistory:
    """Derivatives of a driven motion by design parameters, exactly, at each of its positions.

    ``of`` are the quantities asked about: names ("slider.x", "crank.omega", measures), expressions of them, quantities
    of parts, or a mapping of names to such (default: all coordinates, velocities and accelerations). ``by`` are design
    parameters (default: all that have values of their own). The rest is as in :func:`kempe.kinematics`.

    The time stays, so a driver's law that depends on parameters is differentiated too. Redundant constraints do no
    harm as long as they agree for other values of the parameters as well. In a singular position there are no
    derivatives, and a ModelError says so.
    """
    options = {"steps": steps, "on_singular": on_singular, "branch": branch, "start": start}
    names = asked_parameters(model, by)
    wanted = named_quantities(_motions(model) if of is None else of)
    posed = Posed(model, parameters)
    measured = Quantities(posed.system, wanted)
    if measured.loaded:
        raise ModelError(
            "kinematics knows no forces: m.inverse_dynamics_sensitivity(...) has the derivatives of loads and efforts"
        )
    motion = before_its_end(kinematics(model, times, parameters=parameters, **options))  # type: ignore[arg-type]
    return _history(posed, measured, motion, names, forces=False)


@explained
def inverse_dynamics_sensitivity(
    model: Model,
    times: float | Sequence[float] | np.ndarray,
    of: Any = None,
    by: Any = None,
    *,
    steps: int = 200,
    on_singular: str = "raise",
    branch: Any = 0,
    start: Pose | None = None,
    parameters: Mapping[str, float] | None = None,
) -> SensitivityHistory:
    """Derivatives of the efforts and reactions that a driven motion takes, by design parameters, exactly.

    As :func:`kempe.kinematic_sensitivity`, with efforts of drivers, loads of joints, energies and powers among the
    quantities (default: the efforts of all drivers). Where reactions are not unique, the smallest are meant, small
    being measured in the units that the mechanism has at these values.
    """
    options = {"steps": steps, "on_singular": on_singular, "branch": branch, "start": start}
    names = asked_parameters(model, by)
    wanted = named_quantities(_efforts(model) if of is None else of)
    posed = Posed(model, parameters)
    measured = Quantities(posed.system, wanted)
    motion = inverse_dynamics(model, times, parameters=parameters, **options)  # type: ignore[arg-type]
    return _history(posed, measured, motion, names, forces=True)


def _motions(model: Model) -> list[str]:
    return [name for triple in compiled(model).names for name in triple]


def _efforts(model: Model) -> list[str]:
    found = []
    for element in compiled(model).elements:
        if element.drives:
            ends = [""] if len(element.rows) == 1 else [f".{row}" for row in element.rows]
            found += [f"{element.name}.effort{end}" for end in ends]
    return found


def _history(
    posed: Posed, measured: Quantities, motion: Result, names: list[str], *, forces: bool
) -> SensitivityHistory:
    """Quantities over a motion with their derivatives."""
    values, slopes = over_motion(posed, measured, motion, names, forces=forces)
    known = dict(zip(posed.model.parameters, posed.parameters.tolist(), strict=True))
    return SensitivityHistory(
        motion.t,
        {name: values[:, k] for k, name in enumerate(measured.names)},
        {name: slopes[:, k] for k, name in enumerate(measured.names)},
        {name: known[name] for name in names},
        motion,
    )


def over_motion(
    posed: Posed, measured: Quantities, motion: Result, names: list[str], *, forces: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Quantities over a driven motion (times, quantities), and derivatives (times, quantities, parameters)."""
    chain = Chain(posed.system, posed.parameters, names)
    found = [measured.at(here, posed.parameters) for here in driven_instants(posed, chain, motion, forces)]
    values = np.array([value for value, _ in found]).reshape(len(motion.t), len(measured.names))
    slopes = np.array([slope for _, slope in found]).reshape(len(motion.t), len(measured.names), len(names))
    _finite(measured.names, motion.t, slopes)
    return values, slopes


def _finite(names: list[str], t: np.ndarray, slopes: np.ndarray) -> None:
    """A quantity with a kink (the size of a force that vanishes) has no derivative there."""
    wrong = np.argwhere(~np.isfinite(slopes))
    if len(wrong):
        k, name = int(wrong[0][0]), names[int(wrong[0][1])]
        raise ModelError(f"'{name}' has no derivative at t = {t[k]:.10g}; leave this time out")
