"""What fusing costs and what it brings: how long functions are, how long they take to compile, and when that is earned.

The peer is Kempe itself, with the same model and method, that calls the kernels of its elements one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import kempe as kp
from kempe.benchmarks import clearance_problems, dynamics, peers, spatial, spatial_problems
from kempe.benchmarks.ours import Shares, WrittenOut, shares, simulating, written_out
from kempe.benchmarks.record import Record, less_is_better
from kempe.benchmarks.timing import interleaved

BENCH = "fusing"
FUSED, APART = "always", "never"
CHAINS = (10, 30, 100)
#: Seconds for which the two run in turn, per case.
BUDGET = 4.0
PICTURE = Path("out") / "bench_fusing.png"


@dataclass(frozen=True)
class Case:
    """A model with the run by which it is timed."""

    name: str
    build: Callable[[], Any]
    end: float
    options: dict[str, Any]


@dataclass(frozen=True)
class Row:
    """What was measured of a case; times in seconds."""

    case: Case
    written: WrittenOut
    apart: float  # per step, without
    fused: float  # per step, with
    before: Shares  # where they go
    after: Shares

    @property
    def pays_after(self) -> float:
        """The number of steps in which compiling is earned back, to two digits."""
        return float(f"{self.written.seconds / max(self.apart - self.fused, 1e-12):.2g}")


def cases() -> list[Case]:
    """Small and large, in the plane and in space, with and without contacts."""
    found = []
    for name, problem in (("slider-crank", peers.slider_crank()), ("four-bar", peers.four_bar())):
        found += [
            Case(f"{name}, alpha", _planar(problem), 0.5, {"method": "alpha", "step": 1e-4}),
            Case(f"{name}, auto", _planar(problem), 2.0, {}),
        ]
    for bodies in CHAINS:
        count = max(20, 20_000 // bodies)
        stepping = {"method": "alpha", "step": 1e-3}
        found.append(Case(f"chain of {bodies}, alpha", _planar(peers.chain(bodies)), count * 1e-3, stepping))
    for machine in (spatial_problems.slider_crank(), spatial_problems.stewart_platform()):
        given = {"method": "alpha", "step": machine.step, "velocities": spatial.start_velocities(machine)}
        found.append(Case(f"{machine.name}, alpha", _in_space(machine), machine.end_time, given))
    loose = {"velocities": clearance_problems.SPEEDS, "tolerance": 1e-8}
    found.append(Case("loose pin, auto", clearance_problems.remembered, 2 * clearance_problems.END, loose))
    return found


def _planar(problem: peers.Problem) -> Callable[[], kp.Mechanism]:
    return lambda: dynamics.build(problem)


def _in_space(problem: spatial_problems.Problem) -> Callable[[], kp.SpatialMechanism]:
    return lambda: spatial.build(problem)


def measured() -> Iterator[Row]:
    """All cases, one by one."""
    for case in cases():
        model, times = case.build(), [0.0, case.end]
        options = {"audit": False, **case.options}
        contenders = {choice: simulating(model, times, compile=choice, **options) for choice in (APART, FUSED)}
        timed = interleaved(contenders, budget=BUDGET)
        steps = timed[APART].outcome.stats["steps"]
        apart, fused = (timed[choice].seconds / steps for choice in (APART, FUSED))
        before = shares(model, timed[APART].outcome, apart, compile=APART, **options)
        after = shares(model, timed[FUSED].outcome, fused, compile=FUSED, **options)
        yield Row(case, written_out(model, times, **options), apart, fused, before, after)


def _picture(rows: list[Row]) -> None:
    """Where the time of a step goes, per case before and after, by the time before."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8.2, 0.62 * len(rows) + 1.3), layout="constrained")
    parts = {
        "equations": ("equations (after: fused with what belongs to them)", "#1b6ca8"),
        "elimination": ("factors and solutions", "#7fb3d5"),
        "rest": ("the method: prediction, error, projection, output", "0.78"),
    }
    for k, row in enumerate(rows):
        for place, found in ((k - 0.19, row.before), (k + 0.19, row.after)):
            left = 0.0
            for name, (_, colour) in parts.items():
                share = getattr(found, name) / row.before.total
                axes.barh(place, share, 0.34, left, color=colour)
                left += share
            axes.text(left + 0.01, place, f"{found.total * 1e6:.3g} us", va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [row.case.name for row in rows])
    axes.set(xlim=(0, 1.12), xlabel="time of a step; above call by call, below fused")
    axes.invert_yaxis()
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for _, colour in parts.values()]
    labels = [words for words, _ in parts.values()]
    figure.legend(handles, labels, loc="outside upper center", ncols=1, fontsize=9, frameon=False)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=150)
    plt.close(figure)


@cache
def _rows() -> tuple[Row, ...]:
    """Everything measured, once, and drawn."""
    found = list(measured())
    _picture(found)
    return tuple(found)


def records() -> Iterator[Record]:
    """The time of a step, fused and not."""
    for row in _rows():
        w = row.written
        about = (
            f"{w.functions} functions of {w.steps} steps, {w.lines} lines of IR, {w.size} bytes of machine code, "
            f"compiled in {w.seconds:.2f} s, earned back in {row.pays_after:,.0f} steps"
        )
        name = f"{row.case.name}: time per step"
        yield less_is_better(BENCH, name, row.fused * 1e6, "Kempe, not fused", row.apart * 1e6, "us", about)


def markdown() -> str:
    """The table of the documentation."""
    heads = ("functions", "steps", "lines of IR", "machine code", "compiled in", "a step before")
    lines = ["| | " + " | ".join((*heads, "fused", "pays after")) + " |", "|---" * 9 + "|"]
    for row in _rows():
        w = row.written
        size = f"{w.functions} | {w.steps:,} | {w.lines:,} | {w.size / 1e3:.0f} kB | {w.seconds:.2f} s"
        times = f"{row.apart * 1e6:.2f} us | {row.fused * 1e6:.2f} us, {row.apart / row.fused:.1f}x"
        lines.append(f"| {row.case.name} | {size} | {times} | {row.pays_after:,.0f} steps |")
    return "\n".join(lines)
