"""Many simulations: a table of designs, in compiled code, on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import local
from typing import TYPE_CHECKING, Any

import numpy as np

from kempe.analysis.dynamics import REDUNDANT_SHIFT, Simulation
from kempe.analysis.moving import MASSLESS
from kempe.elements import plain_number
from kempe.errors import KempeError, ModelError
from kempe.model import Model
from kempe.solvers import course as co
from kempe.solvers import motion as mo
from kempe.solvers.designs import Table, simulate_designs

if TYPE_CHECKING:
    import xarray

#: So many designs are handed to a core at a time.
BLOCK = 8
ENERGIES = ("kinetic", "potential", "elastic", "dissipated", "supplied", "balance")


@dataclass(frozen=True, repr=False)
class Runs:
    """The histories of quantities for many designs: ``runs["slider.x"]`` has a row per design and a column per time.

    ``ok`` says which designs ran to the end; the rows of the others are NaN from where they stopped, and ``reasons``
    says by design number why.
    """

    designs: dict[str, np.ndarray]
    t: np.ndarray
    values: dict[str, np.ndarray]
    ok: np.ndarray
    reasons: dict[int, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self.values:
            return self.values[name]
        if name in self.designs:
            return self.designs[name]
        raise ModelError(f"there is no quantity '{name}' in these runs; there are {', '.join(self.values)}")

    def __len__(self) -> int:
        return len(self.ok)

    def to_dataset(self) -> xarray.Dataset:
        """Everything as an xarray.Dataset over design and t."""
        import xarray

        data: dict[str, Any] = {name: (("design", "t"), values) for name, values in self.values.items()}
        data.update({name: ("design", values) for name, values in self.designs.items()})
        data["ok"] = ("design", self.ok)
        return xarray.Dataset(data, coords={"t": self.t, "design": np.arange(len(self))})

    def __repr__(self) -> str:
        return f"Runs({len(self)} designs, {int(self.ok.sum())} complete; {', '.join(self.values)})"


def run_many(
    model: Model,
    designs: Mapping[str, Any] | Sequence[Mapping[str, float]],
    quantities: Sequence[str],
    times: float | Sequence[float] | np.ndarray,
    *,
    steps: int = 200,
    tolerance: float = 1e-8,
    method: str = "auto",
    velocities: Mapping[str, float] | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Runs:
    """Simulate a table of designs; assembly and initial conditions follow the parameters of each.

    ``designs`` maps parameter names to equally long columns, or is a list of mappings. ``quantities`` are names of
    coordinates, velocities, accelerations, multipliers ("lambda.B.x") and energies. Everything else is as in
    :func:`kempe.simulate`. Designs run side by side on ``workers`` cores (default: all). A design that cannot be
    assembled or simulated is reported in ``reasons`` and does not stop the others.

    With the methods "auto" and "projection" a design never leaves compiled code; one that fails there is tried once
    more by ``simulate``. Other methods run one by one through ``simulate``.
    """
    columns = _columns(model, designs)
    count = len(next(iter(columns.values())))
    settings: dict[str, Any] = {"tolerance": tolerance, "method": method, "velocities": velocities, "options": options}
    nominal = Simulation(model, times, steps=steps, **settings)
    pick = np.array([_place(nominal, name) for name in quantities], dtype=np.int64).reshape(-1, 2)
    values = np.full((count, len(nominal.grid), len(pick)), np.nan)
    status = np.zeros(count, dtype=np.int64)
    reasons: dict[int, str] = {}
    vectors = np.array([model.parameter_vector({k: c[i] for k, c in columns.items()}) for i in range(count)])
    if method in ("auto", "projection") and not options:
        table = _table(nominal, vectors, pick, values, status, velocities)
        for i in np.flatnonzero(status < 0):
            reasons[int(i)] = "; ".join(nominal.posed.system.not_positive(vectors[i])) or "a number is not finite"
        _run(nominal, table, workers, progress)
    else:
        status[:] = co.FAILED
    for i in np.flatnonzero((status != co.REACHED) & (status != co.STOPPED)):
        if int(i) in reasons:
            continue
        try:
            design = {k: float(c[i]) for k, c in columns.items()}
            result = Simulation(model, nominal.grid, parameters=design, **settings).run()
            values[i] = np.nan
            values[i, : len(result)] = np.column_stack([result.array(name) for name in quantities])
            status[i] = co.REACHED if result.success else co.FAILED
            if not result.success:
                reasons[int(i)] = result.message
        except KempeError as error:
            reasons[int(i)] = str(error)
    ok = (status == co.REACHED) | (status == co.STOPPED)
    histories = {name: values[:, :, k] for k, name in enumerate(quantities)}
    return Runs(columns, nominal.grid, histories, ok, reasons)


def _columns(model: Model, designs: Any) -> dict[str, np.ndarray]:
    """The table by parameter."""
    if not isinstance(designs, Mapping):
        rows = list(designs)
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
        try:
            columns[name] = np.atleast_1d(np.asarray(values, dtype=float))
        except (TypeError, ValueError):
            raise ModelError(f"the values of parameter '{name}' must be numbers") from None
    model.parameter_vector(dict.fromkeys(columns, 1.0))  # all of them must exist
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1 or any(values.ndim != 1 for values in columns.values()) or lengths == {0}:
        raise ModelError("the columns of designs must be equally long lists of numbers")
    wrong = [name for name, values in columns.items() if not np.isfinite(values).all()]
    if wrong:
        raise ModelError(f"the values of parameter '{wrong[0]}' must be finite")
    return columns


def _place(run: Simulation, name: str) -> tuple[int, int]:
    """Which output array and column holds a quantity."""
    for k, triple in enumerate(run.posed.system.names):
        if name in triple:
            return triple.index(name), k
    if name.startswith("energy.") and name[7:] in ENERGIES:
        return 3, ENERGIES.index(name[7:])
    labels = [f"lambda.{row.label}" for row in run.posed.system.rows]
    if name in labels:
        return 2, run.moving.n + labels.index(name)
    raise ModelError(
        f"there is no quantity '{name}' to record: it must be a coordinate, its rate, a multiplier or an energy"
    )


def _table(
    run: Simulation,
    vectors: np.ndarray,
    pick: np.ndarray,
    values: np.ndarray,
    status: np.ndarray,
    velocities: Mapping[str, float] | None,
) -> Table:
    system, posed, n = run.posed.system, run.posed, run.moving.n
    inputs = [system.inputs(vector) for vector in vectors]
    x, drawn = np.array([i[0] for i in inputs]), np.array([i[1] for i in inputs])
    finite = np.isfinite(x).all(axis=1) & np.isfinite(drawn).all(axis=1)
    status[~finite] = -1
    if system.positives:
        status[[bool(system.not_positive(vector)) for vector in vectors]] = -1
    settings = np.zeros(co.SCALARS)
    for key in (
        co.ENERGY,
        co.END,
        co.TOLERANCE,
        co.STEP,
        co.LARGEST,
        co.SWEEPS,
        co.PROJECT,
        co.DAMPING,
        co.AUDIT,
        co.SMALLEST,
    ):
        settings[key] = run.course.s[key]
    settings[co.T], settings[co.LAST_EVENT] = run.grid[0], -np.inf
    given, heavy = np.zeros(n), 1.0 / posed.scale**2
    rates = {names[1]: k for k, names in enumerate(system.names)}
    for name, value in (velocities or {}).items():
        k = rates[name]
        given[k], heavy[k] = plain_number(value, f"velocity '{name}'"), 1e8 * heavy[k]
    d = run.moving.programs
    return Table(
        x=x,
        drawn=drawn,
        settings=settings,
        stiffness=1.0 / posed.scale**2,
        given=given,
        heavy=heavy,
        diagonal=np.flatnonzero(d.block_rows == d.block_columns).astype(np.int64),
        mass_shift=np.array([MASSLESS, REDUNDANT_SHIFT if run.redundant else mo.SHIFT]),
        pick=pick,
        values=values,
        status=status,
    )


def _run(run: Simulation, table: Table, workers: int | None, progress: Callable[[int, int], None] | None) -> None:
    """Hand blocks of designs to threads, each with memory of its own."""
    count, n, m = len(table.status), run.moving.n, run.moving.m
    threads = max(1, min(workers or os.cpu_count() or 1, -(-count // BLOCK)))
    size = run.moving.programs.size_values
    own = local()

    def block(first: int) -> int:
        if not hasattr(own, "memory"):
            eq = replace(run.eq, shift=np.zeros(n + m))
            wk = mo.new_work(eq, run.posed.x)
            own.memory = eq, wk, run.new_course(wk), np.zeros(size)
        eq, wk, course, scratch = own.memory
        simulate_designs(eq, wk, course, table, first, min(first + BLOCK, count), scratch)
        return min(first + BLOCK, count)

    done = 0
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(block, range(0, count, BLOCK)):
            done = min(done + BLOCK, count)
            if progress:
                progress(done, count)
