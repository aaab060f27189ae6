"""The part of a report that is read: status, energies, mobility, events, the model, the solver's counts, as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from kempe.analysis.mobility import mobility
from kempe.analysis.modes import Modes
from kempe.analysis.redundancy import redundancy
from kempe.elements import Carrier, Element, Marker, Part
from kempe.elements.base import Field, Group, Scalar
from kempe.errors import KempeError
from kempe.model import Model
from kempe.results import Result
from kempe.results.events import hit_of
from kempe.view.report_data import EVENTS


def head(title: str, result: Result, facts: str = "", status: tuple[str, bool] | None = None) -> str:
    """Title, status and, where something is to be said, the message and what the run found about its own accuracy."""
    span = f"t = {result.t[0]:.6g} … {result.t[-1]:.6g}" if len(result) > 1 else ""
    analysis = result.provenance.get("analysis", "result")
    counted = f"{len(result)} point{'s' * (len(result) != 1)}" if len(result) != 1 else ""
    doubts = [str(found) for found in result.stats.get("audit") or ()]
    message = _without(result.message, doubts)
    said = "" if result.success else f'<p class="short">{escape(message)}</p>'
    facts = facts or ", ".join(fact for fact in (analysis, counted, span) if fact) + (
        f": {message}" if not said else ""
    )
    word, good = status or (result.status, result.success)
    look = "pill" if good else "pill short"
    audit = "".join(f'<p class="short audit">{escape(doubt)}</p>' for doubt in doubts)
    return (
        f'<div class="title"><h1>{escape(title)}</h1><p><span class="{look}">{escape(word)}</span>'
        f'<span class="soft">{escape(facts)}</span></p></div><div class="said">{said}{audit}</div>'
    )


def _without(message: str, doubts: Sequence[str]) -> str:
    """A message less what is said elsewhere."""
    for doubt in doubts:
        message = message.replace(f"; {doubt}", "")
    return message


def modes(found: Modes) -> str:
    """The modes with their frequencies."""
    rows = [(k, kind, _finite(found.hertz[k]), _finite(found.damping[k])) for k, kind in enumerate(found.kinds)]
    return section("Modes", table(("mode", "kind", "Hz", "damping ratio"), rows))


def _finite(value: float) -> str:
    return f"{value:.6g}" if np.isfinite(value) else "–"


def energy(result: Result) -> str:
    """First, last and largest value of each energy, and how well they balance."""
    if "energy.kinetic" not in result.series or len(result) < 2:
        return ""
    energies = result.energy
    rows = [(name, *(f"{value:.6g}" for value in values)) for name, *values in energies.table()]
    said = "" if energies.error is None else f"out of balance by at most {energies.error:.2g} of the largest energy"
    return section("Energy", table(("", "first", "last", "largest"), rows) + f'<p class="soft">{said}</p>')


def values(result: Result) -> str:
    """Every quantity of a single instant, to stand beside the mechanism."""
    if len(result) != 1:
        return ""
    known = {name: float(result.array(name)[0]) for name in result.names if not name.startswith("lambda.")}
    rows = [(name, f"{value:.6g}") for name, value in known.items() if value != 0.0]
    content = table(("quantity", "value"), rows) if rows else '<p class="soft">All are zero.</p>'
    return f'<div class="aside">{section("Values that are not zero", content)}</div>'


def freedom(model: Model, result: Result) -> str:
    """The mobility as tiles, and in words."""
    time = float(result.t[0]) if len(result) else 0.0
    try:
        info = mobility(model, time=time, parameters=result.provenance.get("parameters"))
    except (KempeError, np.linalg.LinAlgError) as error:
        return section("Mobility", f'<p class="said">{escape(str(error))}</p>')
    facts = {
        "degrees of freedom": info.dof,
        "driven": info.drivers,
        "coordinates": info.coordinates,
        "constraints": info.constraints,
        "Gruebler count": info.gruebler,
        "redundant": sum(d.permanent for d in info.redundant),
    }
    words = [str(info)]
    if facts["redundant"] and "reactions" in result.stats:
        words.append(str(redundancy(model, time=time, parameters=result.provenance.get("parameters"))))
    return section("Mobility", tiles(facts) + "".join(f'<p class="said soft">{escape(said)}</p>' for said in words))


def events(result: Result) -> str:
    """What happened on the way; a click goes there."""
    if not result.events:
        if len(result) < 2:
            return ""
        simulated = result.provenance.get("analysis") == "simulate"
        none = "Nothing switched." if simulated else "No singular position was met."
        return section("Events", f'<p class="soft">{none}</p>')
    heads, hit = ["t", "what happens"], bool(result.impacts)
    heads += ["impulses", "energy lost"] * hit
    rows = [(_go_to(e.t), e.message, *(hit_of(e) if hit else ())) for e in result.events[:EVENTS]]
    more = len(result.events) - len(rows)
    note = f'<p class="soft">and {more} more</p>' if more > 0 else ""
    return section("Events", table(heads, rows) + note)


def _go_to(t: float) -> Markup:
    return Markup(f'<button class="at" type="button" data-t="{float(t)!r}">{t:.6g}</button>')


def description(model: Model, result: Result) -> str:
    """Parameters, parts, joints and forces with their numbers."""
    given = result.provenance.get("parameters") or {n: p.value for n, p in model.parameters.items()}
    parameters = [(n, given.get(n, p.value), _bounds(p.bounds)) for n, p in model.parameters.items()]
    parts = [(name, type(p).__name__.lower(), _coordinates(p)) for name, p in model.parts.items()]
    elements = [(name, e.kind, _connected(e), _numbers(e)) for name, e in model.elements.items()]
    lists = [
        folded("Parameters", ("name", "value", "bounds"), parameters),
        folded("Parts", ("name", "kind", "coordinates"), parts),
        folded("Joints, forces and drivers", ("name", "kind", "connects", "numbers"), elements),
    ]
    return section("Model", "".join(lists) or '<p class="soft">empty</p>')


def _bounds(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f"{bounds[0]:.6g} … {bounds[1]:.6g}"


def _coordinates(part: Part) -> str:
    names = [triple[0] for triple in part.names()]
    return ", ".join(name.removeprefix(f"{part.name}.") for name in names) or "fixed"


def _connected(element: Element) -> str:
    names = [name for f in element.fields.values() for name in _named(f)]
    return ", ".join(name for name in dict.fromkeys(names) if name not in {p.name for p in element.auxiliary})


def _named(f: Field) -> list[str]:
    """The names of the parts in a field, those that stand still too."""
    if isinstance(f, Group):
        return [name for item in f.fields for name in _named(item)]
    return [f.name] if isinstance(f, (Marker, Carrier)) else [part.name for part in f.parts()]


def _numbers(element: Element) -> str:
    """The plain numbers of an element; those made of parameters as their expression."""
    return ", ".join(f"{key} = {_text(f.value)}" for key, f in element.fields.items() if isinstance(f, Scalar))


def solver(result: Result) -> str:
    """What the solver counted."""
    counted = {name: _count(value) for name, value in result.stats.items() if name != "audit"}
    return section("Solver", tiles(counted)) if counted else ""


def _count(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else _text(value)


def provenance(result: Result) -> str:
    """From what it was computed, and how it ended."""
    shown: dict[str, Any] = {"status": result.status, "points": len(result)}
    shown |= {k: v for k, v in result.provenance.items() if k != "parameters"}
    if result.initial is not None:
        shown["start"] = str(result.initial)
    return section("Run", table(("", ""), [(k, v) for k, v in shown.items() if v not in ("", None)]))


# --- HTML -------------------------------------------------------------------------------------------------------------


class Markup(str):
    """Text that is HTML already."""


def section(title: str, content: str) -> str:
    """A card of the page."""
    return f'<section class="card"><h2>{escape(title)}</h2>{content}</section>'


def tiles(facts: Mapping[str, Any]) -> str:
    """Numbers with what they count."""
    shown = "".join(f"<div><b>{escape(str(value))}</b>{escape(name)}</div>" for name, value in facts.items())
    return f'<div class="tiles">{shown}</div>'


def folded(title: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table that can be folded away; long ones are at first. A column without entries is left out."""
    if not rows:
        return ""
    used = [k for k in range(len(names)) if any(row[k] != "" for row in rows)]
    names, rows = [names[k] for k in used], [[row[k] for k in used] for row in rows]
    opened = " open" if len(rows) <= 40 else ""
    return f"<details{opened}><summary>{escape(title)} ({len(rows)})</summary>{table(names, rows)}</details>"


def table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Rows under their names."""
    top = f"<thead><tr>{''.join(f'<th>{escape(h)}</th>' for h in names)}</tr></thead>" if any(names) else ""
    lines = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    return f'<div class="wide"><table>{top}<tbody>{lines}</tbody></table></div>'


def _cell(value: Any) -> str:
    return str(value) if isinstance(value, Markup) else escape(_text(value))


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.10g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{k}: {_text(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(v) for v in value)
    text = str(value)
    return text if len(text) <= 600 else text[:599] + "…"
