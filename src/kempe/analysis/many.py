"""Many simulations: a table of designs, in compiled code, on all cores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kempe.calling import explained
from kempe.elements import plain_array, shown
from kempe.errors import ModelError
from kempe.model import Model
from kempe.simulation.assembling import Pose
from kempe.simulation.batches import Runs, simulate_designs
from kempe.simulation.methods import given_options
from kempe.simulation.progress import Progress, reporting
from kempe.simulation.task import new_task


@explained
def run_many(
    model: Model,
    designs: Mapping[str, Any] | Sequence[Mapping[str, float]],
    quantities: Sequence[str] | str,
    times: float | Sequence[float] | np.ndarray,
    *,
    steps: int = 200,
    tolerance: float = 1e-8,
    method: str = "auto",
    step: float | None = None,
    max_step: float | None = None,
    start: Pose | None = None,
    velocities: Mapping[str, float] | None = None,
    audit: bool = True,
    reactions: str | None = None,
    compile: str | None = None,
    workers: int | None = None,
    progress: Progress = None,
    project: bool | None = None,
    omega: float | None = None,
    damping: float | None = None,
    penalty: float | Mapping[str, float] | None = None,
    iterations: int | None = None,
    radius: float | None = None,
    order: int | None = None,
) -> Runs:
    """Simulate a table of designs; assembly and initial conditions follow the parameters of each.

    ``designs`` maps parameter names to equally long columns, or is a list of mappings. ``quantities`` are any names
    that a result has: coordinates, velocities, accelerations, multipliers ("lambda.B.x"), energies, reactions
    ("B.force"), outputs of elements; ``"all"`` stands for all of them, and then every design is a result of its own,
    ``runs.result(3)``, and all of them together a report with sliders, ``res.report(path, family=runs)``. Everything
    else is as in :func:`kempe.simulate`, and a design gives the same digits as there. Designs run side by side on
    ``workers`` cores (default: all). A design that cannot be assembled or simulated is reported in ``reasons`` and does
    not stop the others. Ctrl-C returns what exists. ``progress`` is as in :func:`kempe.simulate`, and a function is
    told how many designs are done and wanted.
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ModelError(f"workers must be a whole number of at least 1, not {shown(workers)}")
    columns = _columns(model, designs)
    task = new_task(
        times,
        steps=steps,
        tolerance=tolerance,
        method=method,
        step=step,
        max_step=max_step,
        start=start,
        velocities=velocities,
        audit=audit,
        reactions=reactions,
        compile=compile,
        options=given_options(
            project=project,
            omega=omega,
            damping=damping,
            penalty=penalty,
            iterations=iterations,
            radius=radius,
            order=order,
        ),
    )
    with reporting(progress, f"'{model.name}': designs") as report:
        return simulate_designs(model, task, columns, _names(model, quantities), workers, report)


def _names(model: Model, quantities: Any) -> list[str] | None:
    """The names of what is recorded; None for all there is."""
    if isinstance(quantities, str) and quantities == "all" and "all" not in model.parts:
        return None
    if isinstance(quantities, str):
        return [quantities]
    names = list(quantities) if isinstance(quantities, Iterable) else [quantities]
    if not all(isinstance(name, str) for name in names):
        raise ModelError(f"quantities must be a list of names, not {shown(quantities)}")
    return names


def _columns(model: Model, designs: Any) -> dict[str, np.ndarray]:
    """The table by parameter."""
    if not isinstance(designs, Mapping):
        rows = list(designs) if isinstance(designs, Iterable) else []
        if not rows or not all(isinstance(row, Mapping) for row in rows):
            raise ModelError("designs must map parameter names to columns of values, or be a list of such mappings")
        names = list(rows[0])
        if any(set(row) != set(names) for row in rows):
            raise ModelError("every design must give the same parameters")
        designs = {name: [row[name] for row in rows] for name in names}
    if not designs:
        raise ModelError("designs must name at least one parameter")
    columns: dict[str, np.ndarray] = {}
    for name, values in designs.items():
        columns[name] = np.atleast_1d(plain_array(values, f"the values of parameter '{name}'"))
    model.check_parameters(columns)
    for parameter in (model.parameters[name] for name in columns):
        if parameter.formula is not None:
            raise ModelError(f"parameter '{parameter.label}' {parameter.follows}")
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1 or any(values.ndim != 1 for values in columns.values()) or lengths == {0}:
        raise ModelError("the columns of designs must be equally long lists of numbers")
    wrong = [name for name, values in columns.items() if not np.isfinite(values).all()]
    if wrong:
        raise ModelError(f"the values of parameter '{wrong[0]}' must be finite")
    return columns
