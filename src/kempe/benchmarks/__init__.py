"""Side-by-side runs against peers; peers are imported only here, from the ``bench`` extra."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kempe.benchmarks import dynamics, kinematics
from kempe.benchmarks.record import Record
from kempe.errors import ModelError

BENCHES: dict[str, Callable[[], Iterator[Record]]] = {
    kinematics.BENCH: kinematics.records,
    dynamics.BENCH: dynamics.records,
}


def bench(names: Iterable[str] = ()) -> list[Record]:
    """Run the named benchmarks (all when none is named)."""
    chosen = list(names) or list(BENCHES)
    unknown = [name for name in chosen if name not in BENCHES]
    if unknown:
        raise ModelError(f"unknown benchmark '{unknown[0]}'; the benchmarks are {', '.join(BENCHES)}")
    return [record for name in chosen for record in BENCHES[name]()]


__all__ = ["BENCHES", "Record", "bench"]
