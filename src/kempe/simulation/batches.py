"""A table of designs run side by side: each thread has a machine of its own and takes one design after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import local
from typing import TYPE_CHECKING, Any

import numpy as np

from kempe.calling import suggestion
from kempe.errors import ConvergenceError, KempeError, ModelError
from kempe.model import Model
from kempe.model.units import Units
from kempe.results import VIEWS, Result
from kempe.results.events import Event
from kempe.results.kinds import declared_kinds, kind_by_name
from kempe.results.open_reactions import unasked
from kempe.simulation.auditing import findings, warn
from kempe.simulation.machine import Machine
from kempe.simulation.patience import Patience
from kempe.simulation.progress import Report
from kempe.simulation.running import Record, energies, finished, go, result, unfinished, violated
from kempe.simulation.task import Task
from kempe.simulation.times import check_room
from kempe.solvers import course as co
from kempe.system import System, compiled

if TYPE_CHECKING:
    import xarray

#: So many designs are handed to a thread at a time.
BLOCK = 8
#: From so many designs on, compiling what they share begins at once.
MANY = 16


@dataclass(frozen=True, repr=False)
class Runs:
    """The histories of quantities for many designs: ``runs["slider.x"]`` has a row per design and a column per time.

    ``ok`` says which designs ran to the end, or to an event that stops (``stopped`` says by design number which); rows
    are NaN behind where a design ended, and ``reasons`` says by design number why others did not. ``findings`` says by
    design number what a run found about its own accuracy. ``events`` lists the switches met by each design. Of runs
    with ``quantities="all"``, :meth:`result` gives each design as a result of its own.
    """

    designs: dict[str, np.ndarray]
    t: np.ndarray
    values: dict[str, np.ndarray]
    ok: np.ndarray
    reasons: dict[int, str] = field(default_factory=dict)
    events: list[list[Event]] = field(default_factory=list)
    findings: dict[int, list[str]] = field(default_factory=dict)
    #: The event that ended a design before its time, by design number.
    stopped: dict[int, str] = field(default_factory=dict)
    model: Model | None = None
    #: The parameters that no design changed.
    standing: dict[str, float] = field(default_factory=dict)
    #: The mode in which each element that switches began, per design.
    first_modes: list[dict[str, str]] = field(default_factory=list)
    #: What contacts were up to that had not ended with the run, by design number.
    unfinished: dict[int, dict[str, dict[str, float]]] = field(default_factory=dict)
    #: What the quantities are, and the model's units, for labels.
    kinds: dict[str, str] = field(default_factory=dict)
    units: Units = field(default_factory=lambda: Units({}))

    def kind(self, name: str) -> str:
        """What a quantity is: "position", "angular velocity", "force" ...; "t" is the time."""
        return "time" if name == "t" and name not in self.values else self.kinds.get(name) or kind_by_name(name)

    def unit(self, name: str) -> str:
        """The unit of a quantity, as the mechanism's ``units`` say; empty where it is not known."""
        return self.units.label(self.kind(name))

    def plot(
        self,
        names: Sequence[str] | str,
        *,
        x: str | None = None,
        by: str | None = None,
        events: bool = False,
        degrees: bool = False,
        title: str = "",
        size: tuple[float, float] | None = None,
    ) -> Any:
        """All designs in one plot, coloured by the parameter ``by``; see :func:`kempe.view.plot`."""
        return VIEWS["plot"](self, names, x=x, by=by, events=events, degrees=degrees, title=title, size=size)

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self.values:
            return self.values[name]
        if name in self.designs:
            return self.designs[name]
        raise ModelError(f"there is no quantity '{name}' in these runs; there are {', '.join(self.values)}")

    def __contains__(self, name: object) -> bool:
        return name in self.values or name in self.designs

    def __iter__(self) -> Iterator[str]:
        return iter({**self.designs, **self.values})

    def __len__(self) -> int:
        return len(self.ok)

    def result(self, design: int) -> Result:
        """One design as a result of its own, as far as it ran: to be plotted, animated, asked for reactions."""
        if isinstance(design, bool) or not isinstance(design, (int, np.integer)) or not 0 <= design < len(self):
            raise ModelError(f"there is no design {design!r}: designs are numbered from 0 to {len(self) - 1}")
        if self.model is None:
            raise ModelError("these runs do not know their model")
        columns = list(compiled(self.model).names)
        if not all(name in self.values for triple in columns for name in triple):
            raise ModelError(
                "a design can be shown as a whole only when all was recorded: run_many(..., quantities='all')"
            )
        rows = np.isfinite(self.values[columns[0][0]][design])
        own = {name: self.values[name][design][rows] for name in self.values}
        q, v, a = (np.column_stack([own[triple[k]] for triple in columns]) for k in range(3))
        changed = {name: float(values[design]) for name, values in self.designs.items()}
        parameters = self.model.parameter_vector(self.standing | changed).tolist()
        told, still = self.findings.get(int(design), []), self.unfinished.get(int(design))
        ended = self.stopped.get(int(design), "the whole time span was covered")
        found = Result(
            t=self.t[rows],
            q=q,
            v=v,
            a=a,
            columns=columns,
            success=bool(self.ok[design]),
            status="failed" if not self.ok[design] else "stopped" if int(design) in self.stopped else "complete",
            message="; ".join([self.reasons.get(int(design), ended), *told]),
            stats={**({"audit": told} if told else {}), **({"unfinished": still} if still else {})},
            events=list(self.events[design]),
            provenance={
                "analysis": "simulate",
                "model": self.model.name,
                "design": int(design),
                "parameters": dict(zip(self.model.parameters, parameters, strict=True)),
            },
            model=self.model,
            series={name: values for name, values in own.items() if name.startswith(("lambda.", "energy."))},
            first_modes=self.first_modes[design] if self.first_modes else {},
        )
        found.series |= {name: values for name, values in own.items() if name not in found.names}
        return found

    def to_dataset(self) -> xarray.Dataset:
        """Everything as an xarray.Dataset over design and t."""
        import xarray

        taken = {"t", "ok", "design"}
        histories = {f"quantity {name}" if name in taken else name: values for name, values in self.values.items()}
        data: dict[str, Any] = {name: (("design", "t"), values) for name, values in histories.items()}
        named = {f"parameter {name}" if name in taken else name: values for name, values in self.designs.items()}
        data.update({name: ("design", values) for name, values in named.items()})
        data["ok"] = ("design", self.ok)
        return xarray.Dataset(data, coords={"t": self.t, "design": np.arange(len(self))})

    def __repr__(self) -> str:
        return f"Runs({len(self)} designs, {int(self.ok.sum())} complete; {', '.join(self.values)})"


class Batch:
    """The designs of a table and what is recorded of them."""

    def __init__(
        self, model: Model, task: Task, columns: dict[str, np.ndarray], quantities: list[str], everything: bool
    ) -> None:
        self.system, self.task, self.quantities = compiled(model), task, quantities
        #: Whether all was asked for, and so no reaction in particular.
        self.everything = everything
        size = len(next(iter(columns.values())))
        check_room(len(task.grid), size * len(quantities), f"{len(quantities)} quantities of {size} designs")
        #: Designs whose parameters make no sense, and why.
        self.senseless: dict[int, str] = {}
        self.vectors = [self._vector(model, i, {k: c[i] for k, c in columns.items()}) for i in range(size)]
        self.x, self.drawn, self.sound = self.system.inputs_of(np.array(self.vectors))
        self.places = [_place(self.system, name) for name in quantities]
        self.values = np.full((size, len(task.grid), len(quantities)), np.nan)
        self.ok = np.zeros(size, dtype=bool)
        self.reasons: dict[int, str] = dict.fromkeys(range(size), "not run")
        self.events: list[list[Event]] = [[] for _ in range(size)]
        self.findings: dict[int, list[str]] = {}
        self.stopped: dict[int, str] = {}
        self.first_modes: list[dict[str, str]] = [{} for _ in range(size)]
        self.unfinished: dict[int, dict[str, dict[str, float]]] = {}

    def _vector(self, model: Model, design: int, changes: dict[str, float]) -> np.ndarray:
        """The parameters of a design; NaN where some cannot follow from the others."""
        try:
            return model.parameter_vector(changes)
        except ModelError as error:
            self.senseless[design] = str(error)
            return np.full(len(model.parameters), np.nan)

    def run(self, machine: Machine, design: int) -> None:
        """Run one design and keep what is wanted of it."""
        record = Record()
        if design in self.senseless:
            self.reasons[design] = self.senseless[design]
            return
        try:
            known = (self.x[design], self.drawn[design]) if self.sound[design] else None
            machine.begin(self.vectors[design], known)
            self.first_modes[design] = machine.first_modes
            code = go(machine, record, Patience(None).look)
            if code not in (co.REACHED, co.STOPPED) or record.outside:
                finished(machine, record, code, None)
            if message := violated(machine):
                raise ConvergenceError(message)
            self.ok[design] = True
            del self.reasons[design]
            if code == co.STOPPED:
                self.stopped[design] = record.events[-1].message
            if still := unfinished(machine):
                self.unfinished[design] = still
            out = machine.course.outputs
            if told := findings(machine, out.t[: out.written], energies(machine)):
                self.findings[design] = told
        except KempeError as error:
            self.reasons[design] = str(error)
            if not isinstance(error, ConvergenceError):
                return
        self.events[design] = record.events
        self._keep(machine, record, design)

    def _keep(self, machine: Machine, record: Record, design: int) -> None:
        out = machine.course.outputs
        K = out.written
        if K and out.t[K - 1] != out.grid[K - 1]:
            K -= 1  # where an event stopped the run
        arrays = (out.q, out.v, out.al)
        wanted = [name for name, place in zip(self.quantities, self.places, strict=True) if place is None]
        derived: dict[str, np.ndarray] = energies(machine) if wanted and K else {}
        if K and not all(name in derived for name in wanted):
            whole = result(machine, record, "complete", "")
            with unasked():
                derived = {name: whole.array(name) for name in wanted}
            if not self.everything and (words := whole.open_among(wanted)):
                self.findings.setdefault(design, []).append(words)
        for j, (name, place) in enumerate(zip(self.quantities, self.places, strict=True)):
            if place is not None:
                self.values[design, :K, j] = arrays[place[0]][:K, place[1]]
            elif name in derived:
                self.values[design, :K, j] = derived[name][:K]


def _place(system: System, name: str) -> tuple[int, int] | None:
    """Which output array and column holds a quantity; None where it has to be derived."""
    for k, triple in enumerate(system.names):
        if name in triple:
            return triple.index(name), k
    labels = [f"lambda.{row.label}" for row in system.rows]
    return (2, system.n + labels.index(name)) if name in labels else None


def simulate_designs(
    model: Model,
    task: Task,
    columns: dict[str, np.ndarray],
    quantities: list[str] | None,
    workers: int | None,
    progress: Report | None,
) -> Runs:
    """Simulate a table of designs on several threads; without ``quantities`` all that a result has is recorded."""
    first = Machine(compiled(model), task)  # (compiles what is needed, before threads ask for it)
    everything = quantities is None
    if quantities is None:
        quantities = result(first, Record(), "complete", "").names
    batch = Batch(model, task, columns, quantities, everything)
    _check_names(batch, first)
    size = len(batch.vectors)
    if size >= MANY:
        first.compiling.expect_many(first.integrator.functions_fused)
    threads = max(1, min(workers or os.cpu_count() or 1, -(-size // BLOCK)))
    own, machines, stop = local(), iter([first]), False

    def block(begin: int) -> int:
        if not hasattr(own, "machine"):
            own.machine = next(machines, None) or Machine(batch.system, task)
        for design in range(begin, min(begin + BLOCK, size)):
            if stop:
                break
            batch.run(own.machine, design)
        return min(BLOCK, size - begin)

    done = 0
    pool = ThreadPoolExecutor(threads)
    try:
        waiting = {pool.submit(block, begin) for begin in range(0, size, BLOCK)}
        while waiting:
            finished_now, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in finished_now:
                done += future.result()
            if progress and finished_now:
                progress(done, size)
    except KeyboardInterrupt:
        stop = True
        for future in waiting:
            future.cancel()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    if batch.findings:
        design = min(batch.findings)
        several = f"{len(batch.findings)} of {size} designs ran less accurately than asked (see .findings), the first"
        warn([f"{several} being number {design}: {batch.findings[design][0]}"])
    histories = {name: batch.values[:, :, k] for k, name in enumerate(quantities)}
    kinds = declared_kinds(model)
    free = {name: p for name, p in model.parameters.items() if p.formula is None and name not in columns}
    return Runs(
        columns,
        task.grid,
        histories,
        batch.ok,
        batch.reasons,
        batch.events,
        batch.findings,
        batch.stopped,
        model=model.kept(),
        standing={name: float(p.value) for name, p in free.items()},
        first_modes=batch.first_modes,
        unfinished=batch.unfinished,
        kinds={name: kinds[name] for name in quantities if name in kinds},
        units=model.units or Units({}),
    )


def _check_names(batch: Batch, machine: Machine) -> None:
    """Every quantity must be one that a result has."""
    unknown = [name for name, place in zip(batch.quantities, batch.places, strict=True) if place is None]
    if not unknown:
        return
    known = result(machine, Record(), "complete", "").names
    for name in unknown:
        if name not in known:
            kinds = ": a result has coordinates, rates, multipliers, energies, reactions and outputs of elements"
            raise ModelError(f"there is no quantity '{name}' to record{suggestion(name, known) or kinds}")
