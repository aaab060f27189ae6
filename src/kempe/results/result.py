"""What an analysis returns: time histories under the user's names, with status and events beside them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kempe.errors import ModelError

if TYPE_CHECKING:
    import xarray


@dataclass(repr=False)
class Result:
    """Time histories ``t``, ``q``, ``v``, ``a`` (one row per time) with names, and how the analysis ended.

    ``res["slider.x"]`` is a labelled array; ``res.names`` lists what there is. ``success`` says whether the whole
    time span was covered, ``status`` is a word ("complete", "lock-up", ...), ``message`` a sentence, ``events`` the
    singular positions met, ``stats`` counts, ``provenance`` says from what it was computed.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    columns: list[tuple[str, str, str]] = field(repr=False)
    success: bool = True
    status: str = "complete"
    message: str = ""
    events: list[Any] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> list[str]:
        """Every quantity that can be asked for."""
        return [name for triple in self.columns for name in triple]

    def array(self, name: str) -> np.ndarray:
        """One history as a plain array."""
        for k, triple in enumerate(self.columns):
            if name in triple:
                return (self.q, self.v, self.a)[triple.index(name)][:, k]
        near = difflib.get_close_matches(name, self.names, n=3)
        hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
        raise ModelError(f"there is no quantity '{name}' in this result{hint}")

    def __getitem__(self, name: str) -> xarray.DataArray:
        import xarray

        return xarray.DataArray(self.array(name), coords={"t": self.t}, dims="t", name=name)

    def to_dataset(self) -> xarray.Dataset:
        """All histories as an xarray.Dataset over t."""
        import xarray

        data = {name: ("t", self.array(name)) for name in self.names}
        attributes = {"status": self.status, "message": self.message, **{k: str(v) for k, v in self.provenance.items()}}
        return xarray.Dataset(data, coords={"t": self.t}, attrs=attributes)

    def to_csv(self, path: str | Path, names: Sequence[str] | None = None) -> Path:
        """Write histories (all, or the named ones) with a header line, every digit kept."""
        chosen = list(names) if names is not None else self.names
        table = np.column_stack([self.t, *(self.array(name) for name in chosen)])
        target = Path(path)
        header = ",".join(f'"{c}"' if "," in c else c for c in ["t", *chosen])
        np.savetxt(target, table, delimiter=",", header=header, comments="", fmt="%.17g")
        return target

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:.6g} .. {self.t[-1]:.6g}" if len(self.t) else "no time"
        return f"Result({self.status}: {len(self.t)} points, {span}, {len(self.columns)} coordinates; {self.message})"
