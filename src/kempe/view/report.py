"""One HTML file that tells a run: the moving mechanism beside plots of anything, forces, events, model and settings.

It opens from disk without a network. Whatever a user named reaches the page as escaped text or as data. The page itself
is in ``page/``: a frame, a style and scripts, without anything from outside.
"""

from __future__ import annotations

import base64
import difflib
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from kempe.analysis.modes import Modes
from kempe.disk import write_whole
from kempe.elements import Carrier
from kempe.errors import ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.results.energy import PARTS
from kempe.results.open_reactions import unasked
from kempe.simulation.batches import Runs
from kempe.system import compiled
from kempe.view import report_sections as told
from kempe.view.camera import View, angles_of
from kempe.view.labels import label_of, unit_of
from kempe.view.plots import channel_of, energy_colour, spelled_out
from kempe.view.report_data import Block, Take, as_script, family_of, parameters_of, quantities_of, thinned
from kempe.view.report_scene import meshes_told
from kempe.view.scene import Scene
from kempe.view.shown import ShownFile
from kempe.view.space_pictures import still
from kempe.view.style import COLOURS

#: Without a choice of the user: curves in a panel, and panels.
CURVES, PANELS = 5, 6
#: Nothing may be fetched; scripts and styles are those written into the page.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
SCRIPTS = (
    *("basics", "player", "mechanism", "names", "arrows", "light", "eye", "space", "space_arrows"),
    *("plots", "search", "saving", "report"),
)


def report(
    model: Model,
    result: Result,
    path: str | Path,
    *,
    traces: Sequence[str] = (),
    plots: Sequence[str] = (),
    title: str = "",
    family: Runs | Sequence[Result] | None = None,
) -> Path:
    """Write the report of a result into one HTML file.

    ``traces`` names points, bodies and joints whose paths are shown, ``plots`` the quantities plotted at first (by
    default the coordinates that move most and their rates; the efforts of an inverse dynamics); quantities of one kind
    share a panel. Whoever reads the page can choose others. ``family`` are runs of other designs (from
    ``run_many(..., quantities="all")``, or a list of results): sliders over their parameters choose among them.
    The file is there whole or not at all.
    """
    text = report_html(model, result, traces=traces, plots=plots, title=title, family=family)
    return ShownFile(write_whole(path, text.encode("utf-8", "replace")))


def report_html(
    model: Model,
    result: Result,
    *,
    traces: Sequence[str] = (),
    plots: Sequence[str] = (),
    title: str = "",
    family: Runs | Sequence[Result] | None = None,
) -> str:
    """The report of a result as the text of an HTML page; see :func:`report`."""
    _one_word("traces", traces)
    _one_word("plots", plots)
    others = family_of(family)
    for one in (result, *others):
        if one.columns != compiled(model).names:
            raise ModelError(f"a result with other coordinates than '{model.name}' has is not a result of this model")
    with np.errstate(invalid="ignore", over="ignore"):  # a motion may hold what is no number; the page leaves it out
        return _of_results(model, result, others, traces, plots, title)


def _of_results(
    model: Model, result: Result, others: list[Result], traces: Sequence[str], plots: Sequence[str], title: str
) -> str:
    wanted = spelled_out(result, list(plots) or default_plots(model, result, traces))
    for name in wanted:
        result.array(name)  # an unknown name is an error before anything is drawn
    _known_traces(model, traces)
    takes = [Take(model, one) for one in (result, *others)]
    if others:
        for take, values in zip(takes, parameters_of(model, [result, *others]), strict=True):
            take.parameters = values
        if not takes[0].parameters:
            raise ModelError("the results of this family have all the same parameters: there is nothing to choose by")
    with unasked():  # (the page says in words which reactions are not determined)
        return Page(title or model.name, takes, wanted, traces=traces, chooser="parameters" if others else "").html()


def motion_page(
    model: Model,
    result: Result,
    path: Path,
    *,
    traces: Sequence[str] = (),
    forces: bool = False,
    seconds: float = 3.0,
    title: str = "",
    view: View = None,
) -> Path:
    """Write a page with the moving mechanism alone, at first with the arrows of ``forces`` or without."""
    _known_traces(model, traces)
    take = Take(model, result, quantities=False)
    shown: dict[str, Any] = {"bare": True, "forces": forces, "view": view, "seconds": seconds, "traces": traces}
    page = Page(title or model.name, [take], [], **shown)
    with np.errstate(invalid="ignore", over="ignore"):
        return ShownFile(write_whole(path, page.html().encode("utf-8", "replace")))


def modes_report(modes: Modes, path: str | Path, *, amplitude: float = 0.15, title: str = "") -> Path:
    """Write the modes of a mechanism into one HTML file: each as a motion, chosen from a list."""
    motions = [modes.motion(k, amplitude=amplitude, frames=90) for k in range(len(modes))]
    if not motions:
        raise ModelError(f"'{modes.model.name}' has no modes: nothing can move")
    coordinates = {triple[0] for triple in motions[0].columns}
    page = Page(
        title or f"{modes.model.name}: modes",
        [Take(modes.model, motion, _mode_label(modes, k), forces=False) for k, motion in enumerate(motions)],
        [name for name in default_plots(modes.model, motions[0], ()) if name in coordinates],
        chooser="modes",
        facts=f"{len(modes)} mode{'s' * (len(modes) > 1)} of vibration, shown much larger than they are",
        before=told.modes(modes),
        seconds=1.6,
    )
    return ShownFile(write_whole(path, page.html().encode("utf-8", "replace")))


def _mode_label(modes: Modes, k: int) -> str:
    still = modes.kinds[k] in ("rigid body", "unstable")
    return f"mode {k}: {modes.kinds[k] if still else f'{modes.hertz[k]:.4g} Hz'}"


@dataclass(frozen=True)
class Page:
    """What a page is made of: its runs, the first of which is told, and what is seen of them at first.

    ``chooser`` says how another run is chosen ("parameters", "modes"), or that the second is drawn behind the first
    ("beside", with ``words`` that say which is which). ``status`` is a word and whether it is a good one, where it is
    not that of the first run; ``facts`` stands beside it, ``before`` in front of all sections; ``seconds`` is how long
    a run takes at the usual speed. A ``bare`` page has the moving mechanism alone, which begins to play.
    With ``forces`` arrows are seen at first; ``view`` is the first view of a mechanism in space.
    """

    title: str
    takes: list[Take]
    plotted: list[str]
    traces: Sequence[str] = ()
    chooser: str = ""
    words: str = ""
    status: tuple[str, bool] | None = None
    facts: str = ""
    before: str = ""
    seconds: float = 6.0
    bare: bool = False
    forces: bool = False
    view: View = None

    def html(self) -> str:
        """The frame filled in: what is read as HTML, what moves as data."""
        page, block, result = files("kempe.view") / "page", Block(), self.takes[0].result
        content = as_script(self._content(block))
        return Template((page / "report.html").read_text(encoding="utf-8")).substitute(
            policy=POLICY,
            title=escape(self.title),
            style=(page / "report.css").read_text(encoding="utf-8"),
            head=told.head(self.title, result, self.facts, self.status),
            aside=told.values(result),
            sections=self._sections(),
            content=content,
            numbers=block.packed(),
            script="\n".join((page / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS),
        )

    def _content(self, block: Block) -> dict[str, Any]:
        """What the scripts are told; numbers go into the block."""
        thinned(self.takes, self.plotted)
        result = self.takes[0].result
        pictures: list[dict[str, Any]] = []
        return {
            "title": self.title,
            "runs": [take.told(block, pictures) for take in self.takes],
            "pictures": pictures,
            "quantities": quantities_of(result) if not self.bare else [],
            "time": label_of(result, "t"),
            "units": {kind: unit_of(result, kind) for kind in ("force", "moment", "length")},
            **self._space(block),
            "panels": _panels(self.plotted) if len(result) > 1 else [],
            "traces": list(self.traces),
            "chooser": self._chooser() if self.chooser else None,
            "behind": 1 if self.chooser == "beside" else None,
            "forces": self.forces or result.provenance.get("analysis") == "equilibrium",
            "palette": list(COLOURS),
            "energies": {f"energy.{part}": energy_colour(f"energy.{part}") for part in (*PARTS, "total")},
            "seconds": self.seconds,
            "bare": self.bare,
        }

    def _space(self, block: Block) -> dict[str, Any]:
        """For a mechanism in space its surfaces, and a still of it for browsers that cannot draw them."""
        scenes = [take.drawing for take in self.takes if isinstance(take.drawing, Scene)]
        if not scenes:
            return {}
        image = io.BytesIO()
        still(self.takes[0].model, scenes[0], "", self.view, names=False).savefig(image, format="png", dpi=80)
        picture = base64.b64encode(image.getvalue()).decode("ascii")
        told = {"meshes": meshes_told(scenes, block), "still": f"data:image/png;base64,{picture}"}
        return {**told, "view": angles_of(self.view)}

    def _chooser(self) -> dict[str, Any]:
        told = {"names": list(self.takes[0].parameters)} if self.chooser != "beside" else {"words": self.words}
        return {"kind": self.chooser, **told}

    def _sections(self) -> str:
        if self.bare:
            return ""
        model, result = self.takes[0].model, self.takes[0].result
        parts = [
            self.before,
            told.events(result),
            told.energy(result),
            told.freedom(model, result),
            told.solver(result),
            told.description(model, result),
            told.provenance(result),
        ]
        return "\n".join(part for part in parts if part)


def _one_word(what: str, names: Sequence[str]) -> None:
    if isinstance(names, str):
        raise ModelError(f"{what} must be a list of names, not the single word {names!r}")


def _known_traces(model: Model, traces: Sequence[str]) -> None:
    """Only what moves has a path."""
    known = {name: p for name, p in model.parts.items() if isinstance(p, Carrier) and p.channels}
    for name in traces:
        if name not in known and name not in model.elements:
            near = difflib.get_close_matches(str(name), [*known, *model.elements], n=3) or list(known)
            raise ModelError(f"there is no moving point or body '{name}' to trace; there are {_quoted(near)}")


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"


# --- what is plotted at first -----------------------------------------------------------------------------------------


def _panels(names: Sequence[str]) -> list[dict[str, Any]]:
    """Quantities of one kind share a panel."""
    panels: dict[str, list[str]] = {}
    for name in names:
        panels.setdefault(channel_of(name) or name, []).append(name)
    return [{"x": "t", "names": members} for members in panels.values()]


def default_plots(model: Model, result: Result, traces: Sequence[str]) -> list[str]:
    """Efforts where they were asked for; what is traced, or moves most, with its rates; energies if they are known."""
    if len(result) == 0:
        return []
    spread = {triple: _spread(result.array(triple[0])) for triple in result.columns}
    own = {p.name for e in model.elements.values() for p in e.auxiliary}
    kinds: dict[str, list[tuple[str, str, str]]] = {}
    for triple in sorted(spread, key=lambda names: -spread[names]):
        owner = triple[0].rsplit(".", 1)[0]
        wanted = owner in traces if traces else owner not in own
        wanted = wanted and result.kind(triple[0]) != "direction"  # (of a body's axes its angular velocity tells more)
        if wanted and spread[triple] > 1e-9 * max(1.0, max(spread.values())):
            kinds.setdefault(channel_of(triple[0]) or triple[0], []).append(triple)
    kinds = {kind: members[:CURVES] for kind, members in list(kinds.items())[: PANELS // 2]}
    first = ("x", "y", "z", "angle")
    order = sorted(kinds, key=lambda kind: first.index(kind) if kind in first else len(first))
    turning = [name for name in result.names if re.search(r"\.omega\.[xyz]$", name)] if model.space.dim == 3 else []
    most = sorted(turning, key=lambda name: -_spread(result.array(name)))[:CURVES]
    efforts = [name for name in result.names if channel_of(name) == "effort"][:CURVES]
    inverse = result.provenance.get("analysis") == "inverse dynamics"
    energy = ["energy"] if "energy.kinetic" in result.series else []
    return [
        *(efforts if inverse else ()),
        *(triple[k] for k in (0, 1) for kind in order for triple in kinds[kind]),
        *(name for name in turning if name in most and _spread(result.array(name)) > 0.0),
        *energy,
    ]


def _spread(values: np.ndarray) -> float:
    """How far a quantity moves, rounded so that what moves alike stays in the order of the model."""
    finite = values[np.isfinite(values)]
    return float(f"{np.ptp(finite):.6e}") if len(finite) else 0.0
