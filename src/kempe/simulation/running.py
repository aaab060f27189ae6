"""Running a machine to the end: looking up for Ctrl-C, progress and checkpoints, collecting events, making a result."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np

from kempe.elements import Impulse
from kempe.errors import ConvergenceError
from kempe.results import Result
from kempe.results.events import Event, SingularEvent, SwitchEvent
from kempe.results.provenance import versions
from kempe.simulation.auditing import findings, warn
from kempe.simulation.explaining import explain, worst_row
from kempe.simulation.jumps import CRAWLING, jumping, jumps_met
from kempe.simulation.machine import InitialConditions, Machine
from kempe.solvers import course as co
from kempe.system.sharing import ELASTIC, SMALLEST

#: Compiled code looks up (for Ctrl-C, progress and checkpoints) about this often, in seconds; at first after so many
#: steps. Checkpoints are written about so often.
LOOK_UP, FIRST_CHUNK, SAVE_EVERY = 0.3, 200, 30.0
LARGEST_CHUNK = 10**9
#: Steps that are this fraction of the run, so many in a row, are a crawl.
SLOW, CROWD = 1e-6, 10_000
#: A run in which constraints were violated by more than this, in mechanism sizes, was no success.
VIOLATED = 1e-3


def _outside(machine: Machine, name: str, t: float) -> str:
    """What there is to say where an element reads a table beyond its data: of both sides of the end, the one beyond."""
    system, now, n = machine.system, machine.course.now, machine.eq.n
    state = (now.q, t, now.v, now.al[:n], now.al[n:])
    found = [words for words in system.outside_data(machine.wk.x.copy(), *state, slack=0.0) if f"'{name}'" in words]
    what = found[0] if found else f"'{name}' leaves the data of a table"
    return f"{what}, and the motion leaves them at t = {t:.10g}"


def _followed(machine: Machine, switch: int, values: np.ndarray) -> dict[str, float]:
    """What was followed of the element of a switch, by its names."""
    d = machine.system.dynamics
    e = int(d.follows.follower[switch])
    if e < 0:
        return {}
    told = machine.system.families[d.hybrid[d.following[e]]].followed
    return {name: float(value) for name, value in zip((*told.largest, *told.total), values, strict=False)}


def unfinished(machine: Machine) -> dict[str, dict[str, float]]:
    """What was followed so far of elements that are still out of their first mode, by their names."""
    d, found = machine.system.dynamics, {}
    for e, i in enumerate(d.following):
        if int(machine.wk.x[d.follows.mode_at[e]]) != 0:
            values, switch = machine.course.trail.so_far[d.follows.at[e] :], int(d.hybrids.first_switch[i])
            found[machine.system.elements[d.hybrid[i]].name] = _followed(machine, switch, values)
    return found


class Record:
    """What happened in a run, taken out of compiled memory as it goes on."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    @property
    def outside(self) -> str:
        """What there is to say where a table ended the run."""
        return next((event.message for event in self.events if event.kind == "outside"), "")

    def collect(self, machine: Machine) -> None:
        """Take the events out."""
        log, system = machine.course.log, machine.system
        n, switches = machine.eq.n, system.dynamics.switches
        for k in range(log.count):
            element, switch = switches[log.switch[k]]
            if not switch.told:
                continue
            t, state = float(log.t[k]), log.state[k]
            mode = switch.source if switch.leaves_data else element.modes[log.mode[k]]
            note = switch.note or f"{switch.source} -> {switch.target}"
            if mode != switch.target:
                note += f", at last: {mode}"
            over = log.followed[k] if element.modes[:1] == (mode,) else log.followed[k, :0]
            impulses = {row.label: float(p) for row, p in zip(system.rows, log.impulse[k], strict=False) if p != 0.0}
            self.events.append(
                SwitchEvent(
                    kind="outside" if switch.leaves_data else "switch",
                    t=t,
                    message=_outside(machine, element.name, t)
                    if switch.leaves_data
                    else f"'{element.name}' at t = {t:.10g}: {note}",
                    element=element.name,
                    mode=mode,
                    impulses=impulses,
                    lost=float(log.lost[k]),
                    struck=bool(impulses) or switch.kick is not None,
                    followed=_followed(machine, int(log.switch[k]), over),
                    columns=system.names,
                    q=state[:n].copy(),
                    v=state[n : 2 * n].copy(),
                )
            )
        log.count = 0
        passage = machine.course.passage
        for k in range(passage.met):
            t, joint = float(passage.met_t[k]), system.rows[passage.met_row[k]].owner
            message = (
                f"singular position at t = {t:.10g}: the constraints of the loops through '{joint}' lose rank, other "
                "branches begin here; the motion went on along its own"
            )
            q, v = passage.met_q[k].copy(), passage.met_v[k].copy()
            self.events.append(SingularEvent(t=t, message=message, joints=[joint], columns=system.names, q=q, v=v))
        if passage.met:
            self.events.sort(key=lambda event: event.t)
            passage.met = 0


def go(
    machine: Machine,
    record: Record,
    look_up: Callable[[Machine, Record], None] | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> int:
    """Run a machine that has begun until it ends; the code of its end. Now and then somebody looks up."""
    course, chunk, looks = machine.course, FIRST_CHUNK, 0
    began, rate = course.now.t, course.rate
    at, steps = course.now.t, course.steps
    while True:
        begun = monotonic()
        code = machine.advance(chunk)
        course = machine.course
        now, looks = monotonic(), looks + 1
        record.collect(machine)
        if code not in (co.PAUSE, co.EVENTS_FULL):
            machine.compiling.ran_on(now - begun)
            return code
        expected = (now - begun) * (course.end - course.now.t) / max(course.now.t - at, 1e-300)
        machine.compiling.ran(now - begun, machine.integrator.functions_fused, course.steps, expected)
        if _crawls(machine, course.now.t - at, course.steps - steps):
            return co.CRAWLS
        at, steps = course.now.t, course.steps
        if looks > 2 and course.rate > 1e6 * rate and course.now.t - began < 0.05 * (course.end - began):
            return co.RUNAWAY
        if looks > 6:
            began, looks, rate = course.now.t, 0, min(rate, course.rate)
        if code == co.PAUSE:
            chunk = min(max(1, int(chunk * min(10.0, LOOK_UP / max(now - begun, 1e-3)))), LARGEST_CHUNK)
        if progress:
            progress(course.now.t, course.end)
        if look_up:
            look_up(machine, record)


def _crawls(machine: Machine, advanced: float, steps: int) -> bool:
    """Whether a motion makes hardly any headway because an element jumps right where it is."""
    course = machine.course
    if steps < CROWD or advanced > SLOW * steps * (course.end - course.begun):
        return False
    return bool(jumping(machine, course.now.q, course.now.v, course.now.t, CRAWLING))


def violated(machine: Machine) -> str:
    """What there is to say where constraints did not hold."""
    if not machine.course.violation > VIOLATED:
        return ""
    name, _ = worst_row(machine)
    return (
        f"joints were violated by up to {machine.course.violation:.2g} mechanism sizes on the way, at the end most of "
        f"all '{name}': constraints that contradict each other cannot all be met; do not trust this motion"
    )


def finished(machine: Machine, record: Record, code: int, initial: InitialConditions | None) -> Result:
    """The result of a run that ended with a code; raises where that is a failure."""
    if code == co.REACHED and (message := violated(machine)):
        warn([message])
        return result(machine, record, "violated", message, initial)
    if code == co.REACHED:
        return _audited(result(machine, record, "complete", "the whole time span was covered", initial), machine)
    if record.outside:
        raise ConvergenceError(record.outside, result(machine, record, "failed", record.outside, initial))
    if code == co.STOPPED:
        return _audited(result(machine, record, "stopped", record.events[-1].message, initial), machine)
    reason = explain(machine, code)
    raise ConvergenceError(reason, result(machine, record, "failed", reason, initial))


def _audited(found: Result, machine: Machine) -> Result:
    """A result with what it has to say about its own accuracy."""
    told = findings(machine, found.t, found.series)
    met = jumps_met(machine)
    if met:
        found.stats["jumps"] = {name: t for name, (t, _) in met.items()}
        listed = ", ".join(f"'{name}' at t = {t:.6g} (with the {what})" for name, (t, what) in list(met.items())[:4])
        found.message += f"; steps had to be short where a force or law jumps: {listed}"
    if told:
        found.message += "; " + "; ".join(told)
        found.stats["audit"] = told
        warn(told)
    return found


def energies(machine: Machine) -> dict[str, np.ndarray]:
    """The histories of energy, as far as they are known."""
    e = machine.course.outputs.e[: machine.course.outputs.written]
    account = e[:, :3].sum(axis=1) + e[:, 3] - e[:, 4]
    balance = account - account[:1].sum()  # (an impact at the start is over when it is first written)
    names = ("kinetic", "potential", "elastic", "dissipated", "supplied")
    series = {f"energy.{name}": e[:, k].copy() for k, name in enumerate(names)}
    series["energy.balance"] = balance
    if not machine.task.audit and machine.system.dynamics.has_power:  # without audit, nobody knows the work done
        for name in ("dissipated", "supplied", "balance"):
            del series[f"energy.{name}"]
    return series


def result(
    machine: Machine, record: Record, status: str, message: str, initial: InitialConditions | None = None
) -> Result:
    """What a run has written down so far."""
    course, n, system, task = machine.course, machine.eq.n, machine.system, machine.task
    out = course.outputs
    K = out.written
    labels = system.row_labels
    series = energies(machine)
    multipliers = out.al[:K, n:].T.copy()
    series.update({f"lambda.{label}": multipliers[k] for k, label in enumerate(labels)})
    stats: dict[str, Any] = {
        name: int(getattr(course, name)) for name in ("steps", "rejected", "evaluations", "factorisations")
    }
    stats["largest violation"] = course.violation
    stats["method"] = machine.integrator.name
    if still := unfinished(machine):
        stats["unfinished"] = still
    always, at_first = machine.always_redundant()
    if always:
        stats["redundant constraints"] = always
        stats["reactions"] = SMALLEST if machine.sharing is None else machine.sharing.kind
        if machine.penalties:
            stats["penalties"] = {labels[k]: value for k, value in machine.penalties.items()}
        listed = ", ".join(f"'{label}'" for label in always[:6])
        more = f" and {len(always) - 6} more" if len(always) > 6 else ""
        elastic = stats["reactions"] == ELASTIC
        shared = "shared by the stiffnesses of joints" if elastic else "not unique, those of minimum norm are given"
        message += f"; redundant: {listed}{more} (the motion is the same without; reactions are {shared})"
    if at_first:
        listed = ", ".join(f"'{label}'" for label in at_first[:6])
        message += f"; the start was a singular position, in which {listed} depended on others"
    late = [e.name for e in system.elements if isinstance(e, Impulse) and machine.first_modes.get(e.name) == "after"]
    if late:
        listed = ", ".join(f"'{name}'" for name in late[:6])
        message += f"; before the start, so that it did not act: impulse {listed}"
    return Result(
        t=out.t[:K].copy(),
        q=out.q[:K].copy(),
        v=out.v[:K].copy(),
        a=out.al[:K, :n].copy(),
        columns=list(system.names),
        success=status in ("complete", "stopped"),
        status=status,
        message=message,
        events=list(record.events),
        stats=stats,
        provenance={
            "analysis": "simulate",
            "model": system.model.name,
            "method": task.method.name,
            "tolerance": task.tolerance,
            **machine.compiling.told(machine.integrator.functions_fused),
            **({"step": task.step} if task.step else {}),
            "parameters": dict(zip(system.model.parameters, machine.parameters.tolist(), strict=True)),
            **versions(),
        },
        model=system.model,
        series=series,
        initial=initial,
        first_modes=machine.first_modes,
    )
