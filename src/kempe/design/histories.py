"""Derivatives of a motion by design parameters, as histories under the user's names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kempe.calling import explained_methods, suggestion
from kempe.disk import as_path, replacing
from kempe.errors import ModelError
from kempe.results import VIEWS, Result

if TYPE_CHECKING:
    import xarray


@explained_methods
@dataclass(frozen=True, repr=False)
class SensitivityHistory:
    """How quantities of a driven motion change with design parameters, position by position.

    ``sens["slider.x"]`` is a labelled array over t and parameter, ``sens.derivative("slider.x", "L")`` one history.
    ``values`` are the quantities themselves, ``derivatives`` has an array (times, parameters) of each, ``parameters``
    the values the derivatives are taken at, ``result`` is the motion.
    """

    t: np.ndarray
    values: dict[str, np.ndarray]
    derivatives: dict[str, np.ndarray]
    parameters: dict[str, float]
    result: Result

    @property
    def names(self) -> list[str]:
        """The quantities."""
        return list(self.values)

    def derivative(self, name: str, by: Any) -> np.ndarray:
        """The derivative of a quantity by a parameter, over time."""
        parameter = getattr(by, "label", by)
        names = list(self.parameters)
        if parameter not in names:
            raise ModelError(f"there is no derivative by '{parameter}'{suggestion(str(parameter), names)}")
        return self._of(name)[:, names.index(parameter)]

    def _of(self, name: str) -> np.ndarray:
        if name not in self.derivatives:
            raise ModelError(f"'{name}' was not asked for{suggestion(str(name), self.names)}")
        return self.derivatives[name]

    def __getitem__(self, name: str) -> xarray.DataArray:
        import xarray

        coords = {"t": self.t, "parameter": list(self.parameters)}
        return xarray.DataArray(self._of(name), coords=coords, dims=("t", "parameter"), name=name)

    def __contains__(self, name: object) -> bool:
        return name in self.derivatives

    def to_dataset(self) -> xarray.Dataset:
        """All derivatives over t and parameter."""
        import xarray

        return xarray.Dataset(
            {name: self[name] for name in self.names}, attrs={"model": self.result.provenance["model"]}
        )

    def with_motion(self) -> Result:
        """The motion with all derivatives among its histories ("slider.x by L"): for plots, reports and files."""
        more = {f"{n} by {p}": self.derivative(n, p) for n in self.names for p in self.parameters}
        return replace(self.result, series={**self.result.series, **more})

    def plot(
        self, names: Sequence[str] | str | None = None, *, title: str = "", size: tuple[float, float] | None = None
    ) -> Any:
        """The derivatives of some quantities, or of all, over time, each by every parameter in axes of its own."""
        wanted = self.names if names is None else [names] if isinstance(names, str) else list(names)
        histories = [f"{n} by {p}" for n in wanted for p in self.parameters if len(self._of(n))]
        return VIEWS["plot"](self.with_motion(), histories, title=title, size=size)

    def to_csv(self, path: str | Path) -> Path:
        """Write a column for each quantity and one for each of its derivatives, every digit kept."""
        columns, header = [self.t], ["t"]
        for name in self.names:
            columns += [self.values[name], *self.derivatives[name].T]
            header += [name, *(f"d({name})/d({p})" for p in self.parameters)]
        with replacing(path) as fresh:
            quoted = ",".join('"' + c.replace('"', '""') + '"' if "," in c or '"' in c else c for c in header)
            np.savetxt(
                fresh,
                np.column_stack(columns),
                delimiter=",",
                header=quoted,
                comments="",
                fmt="%.17g",
                encoding="utf-8",
            )
        return as_path(path)

    def table(self) -> str:
        """Per quantity and parameter the largest derivative, when it occurs, and the mean size, as text."""
        rows = [("quantity", "by", "largest", "at t", "rms")]
        for name in self.names:
            for p, over in zip(self.parameters, self.derivatives[name].T, strict=True):
                k = int(np.abs(over).argmax())
                rms = float(np.sqrt(np.mean(over**2)))
                rows.append((name, p, f"{over[k] + 0.0:.6g}", f"{self.t[k]:.6g}", f"{rms:.6g}"))
        return "\n".join(_columns(rows, {2, 3, 4}))

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.table())}</pre>"

    def __repr__(self) -> str:
        return (
            f"SensitivityHistory({len(self.names)} quantities by {', '.join(map(repr, self.parameters))}, "
            f"{len(self.t)} points)"
        )


def _columns(rows: Sequence[Sequence[str]], right: set[int]) -> list[str]:
    """Rows of words as lines, in columns; some of them have their words to the right."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    padded = [
        [cell.rjust(w) if c in right else cell.ljust(w) for c, (cell, w) in enumerate(zip(row, widths, strict=True))]
        for row in rows
    ]
    return ["  ".join(cells).rstrip() for cells in padded]
