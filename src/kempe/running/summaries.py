"""What an analysis found, as plain data for programs and as lines for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from kempe.analysis import Equilibrium, Horizon, Linearised, Lyapunov, Modes, Response, Runs
from kempe.design import Optimum
from kempe.results import Result
from kempe.results.modes import modes_of
from kempe.running.entries import Run

#: So many quantities of a motion are told where none were asked for.
TOLD = 12
#: And so many of its events.
EVENTS = 30
#: What is told of an exponent and of a horizon.
EXPONENT = ("verdict", "per_period", "per_period_error", "per_time", "per_time_error", "growth", "lost", "far")
#: What is told of an optimum.
OPTIMUM = [
    *("message", "feasible", "violation", "residual", "method", "minimise", "objective", "parameters", "values"),
    *("before", "values_before", "bounds", "blocks", "counts"),
]
HORIZON = ("t", "horizons", "until", "chaotic", "again", "tolerances", "agreement")


def row_of(run: Run) -> dict[str, Any]:
    """A run as JSON: what it is, how it ended, what it found, what was written."""
    found = {"analysis": run.name, "kind": run.kind, "status": status_of(run), "message": run.error}
    return {**found, **data_of(run.result), "files": [str(path) for path in run.files]}


def status_of(run: Run) -> str:
    """In a word, how an analysis ended."""
    if isinstance(run.result, Result):
        return run.result.status
    if isinstance(run.result, Equilibrium):
        return _kind(run.result)
    if isinstance(run.result, Optimum):
        return run.result.status
    return "failed" if run.error else "complete"


def _kind(found: Equilibrium) -> str:
    return "stable" if found.stable else "indifferent" if found.stiffness == 0 else "unstable"


def data_of(found: Any) -> dict[str, Any]:
    """What was found, as plain data; what is not finite is None."""
    if isinstance(found, Result):
        told: dict[str, Any] = {
            "message": found.message,
            "points": len(found),
            "events": [event.message for event in found.events],
            "impacts": [vars(impact) for impact in found.impacts],
            "sticks": {name: found.intervals(name) for name in found.first_modes if "stick" in modes_of(found, name)},
            "start": start_of(found),
            "energy_error": imbalance(found),
            "stats": found.stats,
        }
    elif isinstance(found, Equilibrium):
        told = {"pose": found.pose.values, "multipliers": found.multipliers, "holding": found.holding}
        told |= {"kind of equilibrium": _kind(found), "stiffness": found.stiffness, "residual": found.residual}
        told |= {"time": found.time, "parameters": found.parameters}
    elif isinstance(found, Linearised):
        told = _linearised(found)
    elif isinstance(found, Modes):
        told = {"modes": [_mode(found, k) for k in range(len(found))], "linearised": _linearised(found.linearised)}
    elif isinstance(found, Response):
        told = _response(found)
    elif isinstance(found, Lyapunov):
        told = {"said": str(found), **{name: getattr(found, name) for name in EXPONENT}}
    elif isinstance(found, Horizon):
        told = {"said": str(found), **{name: getattr(found, name) for name in HORIZON}}
    elif isinstance(found, Optimum):
        told = {name: getattr(found, name) for name in OPTIMUM}
        told |= {name: [asdict(each) for each in getattr(found, name)] for name in ("demands", "active", "starts")}
        told["walls"] = [asdict(wall) for wall in found.walls]
        told["history"] = [{**asdict(replace(it, account=None)), "account": _said(it.account)} for it in found.history]
    elif isinstance(found, Runs):
        told = {"designs": found.designs, "complete": found.ok, "failed": {str(k): r for k, r in found.reasons.items()}}
        told["at the end"] = {name: values[:, -1] for name, values in found.values.items()}
    else:
        told = {}
    plain: dict[str, Any] = _plain(told)
    return plain


def _said(account: Any) -> str | None:
    return None if account is None else str(account)


def _linearised(found: Linearised) -> dict[str, Any]:
    told: dict[str, Any] = {name: getattr(found, name) for name in ("names", "M", "C", "K", "eigenvalues")}
    told |= {"pose": found.pose.values, "multipliers": found.multipliers}
    return {**told, "time": found.time, "parameters": found.parameters}


def _response(found: Response) -> dict[str, Any]:
    verdict = found.periodicity
    told: dict[str, Any] = {"said": str(verdict), "verdict": verdict.verdict, "periods": verdict.periods}
    told |= {"widths": verdict.widths, "limit": verdict.limit}
    told["contacts"] = {name: vars(each) for name, each in found.contacts.items()}
    told["drivers"] = {
        name: {"largest": each.largest[0], "least": each.least[0]} for name, each in found.drivers.items()
    }
    return {**told, "supplied": found.supplied, "dissipated": found.dissipated}


def _mode(found: Modes, k: int) -> dict[str, Any]:
    return {
        "kind": found.kinds[k],
        "rad/s": found.frequencies[k],
        "Hz": found.hertz[k],
        "damping": found.damping[k],
        "eigenvalues": found.eigenvalues[k],
        "shape": found.shape(k),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def lines_of(run: Run, plots: Sequence[str] = ()) -> list[str]:
    """What an analysis found, for people; ``plots`` are the quantities they asked for."""
    found = run.result
    if isinstance(found, Result):
        first = f"{run.name}: {found.status}, {len(found)} points; {found.message}"
        start = [f"  at the start: {start_of(found)}"] if start_of(found) else []
        events = [f"  {event.message}" for event in found.events[:EVENTS]]
        more = len(found.events) - len(events)
        events += [f"  and {more} more events (--json has them all)"] if more else []
        error = imbalance(found)
        energy = [] if error is None else [f"  energy: out of balance by at most {error:.2g} of the largest energy"]
        lines = [first, *start, *events, *energy, *_ranges(found, plots)]
    elif isinstance(found, Equilibrium):
        lines = [f"{run.name}: {_kind(found)} equilibrium, smallest stiffness {found.stiffness:.6g}"]
        lines += _columns([[name, f"{value:.10g}"] for name, value in found.pose.values.items()])
        if found.holding:
            lines += ["  held by", *_columns([[name, f"{value:.10g}"] for name, value in found.holding.items()])]
    elif isinstance(found, Modes):
        lines = [
            f"{run.name}: {len(found)} mode{'s' if len(found) > 1 else ''}",
            *(f"  {line}" for line in found.table().splitlines()),
        ]
    elif isinstance(found, Linearised):
        lines = [f"{run.name}: small motions in {', '.join(found.names)}; eigenvalues"]
        lines += [f"  {_complex(value)}" for value in found.eigenvalues]
    elif isinstance(found, Response | Lyapunov | Horizon | Optimum):
        first, *rest = str(found).splitlines()
        lines = [f"{run.name}: {first}", *(f"  {line}".rstrip() for line in rest)]
    elif isinstance(found, Runs):
        lines = [f"{run.name}: {int(found.ok.sum())} of {len(found)} designs complete", *_design_rows(found)]
    else:
        lines = []
    return [*lines, *(f"  {path}" for path in run.files)]


def _complex(value: complex) -> str:
    return f"{value.real + 0.0:.6g}" + (f" {value.imag:+.6g}i" if value.imag else "")


def _ranges(found: Result, plots: Sequence[str]) -> list[str]:
    """The quantities asked for (or the coordinates): where they begin and end, and how far they go."""
    names = [name for name in plots if name in found.names] or [triple[0] for triple in found.columns[:TOLD]]
    if len(found) == 0:
        return []
    rows = [["", "start", "end", "smallest", "largest"]]
    noise = 1e-13 * float(np.abs(found.q).max(initial=0.0))
    coordinates = {triple[0] for triple in found.columns}
    for name in names:
        values = found.array(name)
        if name in coordinates:
            values = np.where(np.abs(values) < noise, 0.0, values)
        rows.append([name, *(f"{x:.6g}" for x in (values[0], values[-1], values.min(), values.max()))])
    return _columns(rows)


def _design_rows(found: Runs) -> list[str]:
    """Each design with its quantities at the end."""
    rows = [["design", *found.designs, *(f"{name} at the end" for name in found.values)]]
    for k in range(min(len(found), 40)):
        numbers = [values[k] for values in found.designs.values()]
        numbers += [values[k, -1] for values in found.values.values()]
        rows.append([str(k), *("-" if np.isnan(x) else f"{x:.6g}" for x in numbers)])
    return [*_columns(rows), *([f"  and {len(found) - 40} more"] if len(found) > 40 else [])]


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    padded = [
        [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))] for row in rows
    ]
    return [f"  {'  '.join(cells)}".rstrip() for cells in padded]


def start_of(result: Any) -> str:
    """By how much the start of a motion differs from what was asked for; nothing if it does not."""
    start = result.initial
    return str(start) if start is not None and (start.moved or start.changed) else ""


def imbalance(result: Any) -> float | None:
    """By how much the energies of a motion do not balance."""
    return result.energy.error if "energy.balance" in result.series else None
