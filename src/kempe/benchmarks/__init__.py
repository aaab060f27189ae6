"""Side-by-side runs against peers; peers are imported only here, from the ``bench`` extra."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kempe.benchmarks import accuracy, clearance, dynamics, fusing, kinematics, nonsmooth, sensitivity, spatial
from kempe.benchmarks.record import Record
from kempe.errors import ModelError

BENCHES: dict[str, Callable[[], Iterator[Record]]] = {
    kinematics.BENCH: kinematics.records,
    dynamics.BENCH: dynamics.records,
    accuracy.BENCH: accuracy.records,
    nonsmooth.BENCH: nonsmooth.records,
    clearance.BENCH: clearance.records,
    sensitivity.BENCH: sensitivity.records,
    spatial.BENCH: spatial.records,
    fusing.BENCH: fusing.records,
}
#: Tables for the documentation, of benchmarks that have their own; the others are listed record by record.
TABLES: dict[str, Callable[[], str]] = {accuracy.BENCH: accuracy.markdown, fusing.BENCH: fusing.markdown}


def bench(names: Iterable[str] = ()) -> list[Record]:
    """Run the named benchmarks (all when none is named)."""
    return [record for name in _known(names) for record in BENCHES[name]()]


def markdown(names: Iterable[str] = ()) -> str:
    """Run the named benchmarks (all when none is named) and write them as tables in Markdown."""
    return "\n\n".join(TABLES[name]() if name in TABLES else _listed(BENCHES[name]()) for name in _known(names))


def _known(names: Iterable[str]) -> list[str]:
    chosen = list(names) or list(BENCHES)
    unknown = [name for name in chosen if name not in BENCHES]
    if unknown:
        raise ModelError(f"unknown benchmark '{unknown[0]}'; the benchmarks are {', '.join(BENCHES)}")
    return chosen


def _listed(records: Iterable[Record]) -> str:
    """One line for each record."""
    lines = ["| quantity | Kempe | peer | its figure | unit | ratio |", "|---|---|---|---|---|---|"]
    for r in records:
        peer, ratio = ("-" if value is None else f"{value:.4g}" for value in (r.peer_value, r.ratio))
        lines.append(f"| {r.quantity} | {r.kempe:.4g} | {r.peer} | {peer} | {r.unit} | {ratio} |")
    return "\n".join(lines)


__all__ = ["BENCHES", "TABLES", "Record", "bench", "markdown"]
