"""The response of a machine that runs on and on, in a page: contacts, losses, drivers, and whether it repeats."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

import numpy as np

from kempe.analysis.periodicity import Periodicity, periodicity
from kempe.analysis.sections import section_rows
from kempe.analysis.statistics import PerPeriod, Spread, lined_up, statistics
from kempe.calling import explained
from kempe.elements.pressing import Pressing
from kempe.results import Result

#: The histories of energy that went in and was lost.
ENERGIES = ("energy.supplied", "energy.dissipated")


@dataclass(frozen=True)
class ContactResponse:
    """What an element that presses does in each period.

    ``begins`` is how often its surfaces meet, ``force`` the largest force (followed along the steps of the run where a
    contact lies within the period, else that of output points), ``lost`` and ``rubbed`` the energy that damping and
    friction took (of a contact, spread evenly over its time), ``touching`` the share of time in contact.
    """

    begins: np.ndarray
    force: np.ndarray
    lost: np.ndarray
    rubbed: np.ndarray
    touching: np.ndarray


@dataclass(frozen=True, repr=False)
class Response:
    """What a machine does period by period, start-up left out; prints as a page.

    ``contacts`` is about each element that presses, ``drivers`` has the statistics of their efforts and powers,
    ``supplied`` and ``dissipated`` are the energies that went in and were lost in each period (empty for a run without
    audit), ``periodicity`` says whether the motion repeats itself, ``result`` is the motion.
    """

    period: float
    skip: float
    periods: int
    contacts: dict[str, ContactResponse]
    drivers: dict[str, PerPeriod]
    periodicity: Periodicity
    supplied: np.ndarray
    dissipated: np.ndarray
    result: Result = field(compare=False)

    def __str__(self) -> str:
        model = self.result.provenance.get("model", "")
        lines = [f"'{model}': {self.periods} periods of {self.period:.6g}, start-up of {self.skip:.6g} left out"]
        lines += [str(self.periodicity)]
        rows = [["", "each period", "median", "least", "largest"]]
        for name, found in self.contacts.items():
            rows.append([name, "contacts", *_three(found.begins)])
            rows.append(["", "largest force", *_three(found.force)])
            rows.append(["", "energy lost", *_three(found.lost)])
            rows += [["", "energy rubbed", *_three(found.rubbed)]] if found.rubbed.any() else []
            rows.append(["", "share of time touching", *_three(found.touching)])
        for name, each in self.drivers.items():
            for k, what in enumerate(("largest", "least")):
                rows.append([name if k == 0 else "", what, *_three(getattr(each, what))])
        if len(self.supplied):
            rows.append(["energy", "supplied", *_three(self.supplied)])
            rows.append(["", "dissipated", *_three(self.dissipated)])
        return "\n".join([*lines, *lined_up(rows)])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def __repr__(self) -> str:
        return f"Response({self.periods} periods of {self.period:.6g}; {self.periodicity})"


def _three(numbers: np.ndarray) -> list[str]:
    spread = Spread.of(numbers)
    return [f"{x:.5g}" for x in (spread.median, spread.least, spread.largest)]


@explained
def response(result: Result, period: float, *, skip: float | None = None, within: float | None = None) -> Response:
    """What a machine does period by period: contacts, forces, losses, efforts, powers, and whether it repeats itself.

    ``skip`` is the time at the start that is left out (default: half of the motion). Whole periods must be output
    times, and ``within`` is as for :func:`kempe.periodicity`.
    """
    verdict = periodicity(result, period, skip=skip, within=within)
    rows = section_rows(result, period, verdict.since - float(result.t[0]))
    edges = result.t[rows]
    model = result.model
    assert model is not None  # (periodicity needs it)
    driven = [f"{name}.{what}" for name, e in model.elements.items() if e.drives for what in ("effort", "power")]
    names = [name for name in driven if name in result.names]
    left_out = float(edges[0] - result.t[0])
    pressing = [name for name in result.first_modes if isinstance(model.elements.get(name), Pressing)]
    wanted = [*names, *(f"{name}.force" for name in pressing)]
    found = statistics(result, wanted, period, skip=left_out).values if wanted else {}
    supplied, dissipated = (
        np.diff(result.series[name][rows]) if name in result.series else np.zeros(0) for name in ENERGIES
    )
    return Response(
        float(period),
        left_out,
        len(edges) - 1,
        {name: _contact(result, name, edges, found[f"{name}.force"].largest[0]) for name in pressing},
        {name: found[name] for name in names},
        verdict,
        supplied,
        dissipated,
        result,
    )


def _contact(result: Result, name: str, edges: np.ndarray, shown: np.ndarray) -> ContactResponse:
    """What an element that presses does between edges; ``shown`` are its largest forces at output points."""
    contacts = result.contacts(name)
    begin, force, lost, rubbed = (contacts.array(column) for column in ("begin", "force", "lost", "rubbed"))
    last = contacts.array("end")
    end = np.where(np.isnan(last), result.t[-1], last)  # (nan where they still touch at the end of the run)
    low, high = edges[:-1, None], edges[1:, None]
    within = np.clip(np.minimum(end, high) - np.maximum(begin, low), 0.0, None)
    share = within / np.maximum(end - begin, 1e-300)
    whole = (begin >= low) & (end <= high)
    followed = np.where(whole, force, 0.0).max(axis=1, initial=0.0)
    return ContactResponse(
        ((begin >= low) & (begin < high)).sum(axis=1),
        np.maximum(shown, followed),
        (share * lost).sum(axis=1),
        (share * rubbed).sum(axis=1),
        within.sum(axis=1) / np.diff(edges),
    )
