"""The report of an optimum: before and after overlaid in motion, the way there, and what holds it."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from kempe.design.optimum import Optimum
from kempe.disk import write_whole
from kempe.errors import ModelError
from kempe.results import Result
from kempe.view import report_sections as told
from kempe.view.optimum_plots import plot_changes, plot_history
from kempe.view.plots import spelled_out
from kempe.view.report import Page, default_plots
from kempe.view.report_data import Take
from kempe.view.shown import ShownFile


def optimum_report(
    optimum: Optimum,
    path: str | Path,
    *,
    results: tuple[Result, Result] | None = None,
    traces: Sequence[str] = (),
    plots: Sequence[str] = (),
    title: str = "",
) -> Path:
    """Write the report of an optimum into one HTML file.

    The motion of the optimum is drawn over that of the design it began with; curves of both share their plots.
    ``results`` are these two motions, where the optimum does not know them; ``traces``, ``plots`` and ``title`` are as
    in :func:`kempe.view.report`.
    """
    return ShownFile(write_whole(path, optimum_html(optimum, results, traces, plots, title).encode("utf-8", "replace")))


def optimum_html(
    optimum: Optimum,
    results: tuple[Result, Result] | None = None,
    traces: Sequence[str] = (),
    plots: Sequence[str] = (),
    title: str = "",
) -> str:
    """The report of an optimum as the text of an HTML page."""
    motions = results or optimum.results
    if motions is None or any(result.model is None for result in motions):
        raise ModelError("a report shows two motions, before and after: give results=(before, after)")
    before, after = motions
    if before.columns != after.columns:
        raise ModelError("the motions before and after are not of one mechanism: their coordinates differ")
    assert before.model is not None and after.model is not None
    wanted = spelled_out(after, list(plots) or default_plots(after.model, after, traces))
    for name in wanted:
        after.array(name)
    page = Page(
        title or f"{optimum.name or after.model.name}: optimal design",
        [Take(after.model, after, "after"), Take(before.model, before, "before")],
        wanted,
        traces=traces,
        chooser="beside",
        words="Full colours: the design that was found. Pale, and dashed in plots: the design it began with.",
        facts=optimum.message.removeprefix(optimum.status).lstrip(" ,;:"),
        status=(optimum.status, optimum.success),
        before=sections(optimum),
    )
    with np.errstate(invalid="ignore", over="ignore"):
        return page.html()


def sections(optimum: Optimum) -> str:
    """What is read of an optimum, as HTML."""
    parts = [_changes(optimum), _held(optimum), _picture("Before and after", plot_changes(optimum))]
    parts += [_picture("History", plot_history(optimum))] if optimum.history else []
    parts += [_iterations(optimum), _starts(optimum), _walls(optimum), _counts(optimum)]
    return "\n".join(part for part in parts if part)


def _changes(optimum: Optimum) -> str:
    rows = [(optimum.minimise, optimum.values_before[optimum.minimise], optimum.objective, "made small")]
    for name, value in optimum.parameters.items():
        low, high = optimum.bounds[name]
        rows.append((name, optimum.before[name], value, f"{low:.6g} … {high:.6g}" if np.isfinite(high - low) else ""))
    for demand in optimum.demands:
        verdict = "met" if demand.missed_after <= 0 else f"missed by {abs(demand.after - demand.limit):.4g}"
        rows.append((demand.words, demand.before, demand.after, verdict))
    said = [(n, f"{a:.7g}", f"{b:.7g}", words) for n, a, b, words in rows]
    return told.section("Design", told.table(("", "before", "after", ""), said))


def _held(optimum: Optimum) -> str:
    if optimum.active:
        lines = "".join(f"<li>{escape(active.words)}</li>" for active in optimum.active)
        return told.section("What holds the optimum", f"<ul>{lines}</ul>")
    if optimum.blocks:
        rows = [(words, f"{share:.0%}") for words, share in optimum.blocks.items()]
        return told.section("What blocks", told.table(("requirement", "share"), rows))
    free = "Nothing: neither a requirement nor a bound is active." if optimum.success else ""
    return told.section("What holds the optimum", f'<p class="soft">{free}</p>') if free else ""


def _picture(title: str, figure: Figure) -> str:
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg")
    data = base64.b64encode(drawn.getvalue()).decode("ascii")
    return told.section(title, f'<img class="shown" alt="{escape(title)}" src="data:image/svg+xml;base64,{data}">')


def _iterations(optimum: Optimum) -> str:
    rows = [
        (it.number, it.phase, f"{it.objective:.7g}", f"{it.violation:.2g}", "" if it.account is None else it.account)
        for it in optimum.history
    ]
    names = ("", "phase", "objective", "violation", "what the method did")
    return told.section("Iterations", told.folded("Designs on the way", names, rows)) if rows else ""


def _starts(optimum: Optimum) -> str:
    if len(optimum.starts) < 2:
        return ""
    values = ["" if start.objective is None else f"{start.objective:.7g}" for start in optimum.starts]
    rows = [(k, s.status, value, s.parameters) for k, (s, value) in enumerate(zip(optimum.starts, values, strict=True))]
    return told.section("Starts", told.table(("", "ended", optimum.minimise, "from"), rows))


def _walls(optimum: Optimum) -> str:
    if not optimum.walls:
        return ""
    rows = [(wall.parameters, wall.reason) for wall in optimum.walls[:20]]
    more = f'<p class="soft">and {len(optimum.walls) - 20} more</p>' if len(optimum.walls) > 20 else ""
    return told.section("Designs that could not be evaluated", told.table(("design", "why"), rows) + more)


def _counts(optimum: Optimum) -> str:
    return told.section("Effort", told.tiles({"method": optimum.method, **optimum.counts}))
