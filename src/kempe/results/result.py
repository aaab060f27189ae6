"""What an analysis returns: time histories under the user's names, with status and events beside them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kempe.elements import Carrier, Marker, RigidLink
from kempe.elements.quantities import as_quantity
from kempe.errors import KempeError, ModelError
from kempe.model import EquationsModel, MechanismModel, Model, files
from kempe.results.storage import FORMAT, encoded, read_netcdf, write_netcdf
from kempe.system import compiled
from kempe.system.measures import motion

if TYPE_CHECKING:
    import xarray

#: Ways to look at a result (plot, animate, ...), put here by the layer that has them.
VIEWS: dict[str, Callable[..., Any]] = {}


@dataclass(frozen=True)
class Motion:
    """Position, velocity and acceleration of a point (two columns), or of a quantity (one), over time."""

    t: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray

    x = property(lambda self: self.position[:, 0], doc="The x coordinate, or the quantity itself.")
    y = property(lambda self: self.position[:, 1], doc="The y coordinate.")


@dataclass(frozen=True)
class StoredEvent:
    """What a file keeps of an event."""

    kind: str
    t: float
    message: str


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
    columns: list[tuple[str, str, str]]
    success: bool = True
    status: str = "complete"
    message: str = ""
    events: list[Any] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    model: Model | None = None
    #: Further histories by name: energies, multipliers.
    series: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Every quantity that can be asked for."""
        return [*(name for triple in self.columns for name in triple), *self.series]

    def array(self, name: str) -> np.ndarray:
        """One history as a plain array."""
        for k, triple in enumerate(self.columns):
            if name in triple:
                return (self.q, self.v, self.a)[triple.index(name)][:, k]
        if name in self.series:
            return self.series[name]
        near = difflib.get_close_matches(str(name), self.names, n=3)
        hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
        raise ModelError(f"there is no quantity '{name}' in this result{hint}")

    def __getitem__(self, name: str) -> xarray.DataArray:
        import xarray

        return xarray.DataArray(self.array(name), coords={"t": self.t}, dims="t", name=name)

    # --- anything else that moves --------------------------------------------------------------------------------

    def point(self, part: Any, at: Any = (0.0, 0.0)) -> Motion:
        """The motion of a material point, given by a part (or its name) and a place in the part's own axes."""
        carrier = self._carrier(part) if isinstance(part, str) else part
        if not isinstance(carrier, (Carrier, Marker)):
            raise ModelError(f"a point needs a body, point or bar, or the name of one, not {part!r}")
        return self._motion(carrier if isinstance(carrier, Marker) else carrier.at(at))

    def measure(self, quantity: Any) -> Motion:
        """The history of a quantity such as ``joint.angle`` or ``kp.distance(a, b)``."""
        return self._motion(as_quantity(quantity, "what is measured"))

    def _motion(self, what: Any) -> Motion:
        system = compiled(self._known_model())
        parameters = np.array(list(self.provenance.get("parameters", {}).values()), dtype=float)
        return Motion(self.t, *motion(system, what, parameters, self.q, self.v, self.a))

    def _carrier(self, name: str) -> Any:
        model = self._known_model()
        if name == "ground":
            return getattr(model, "ground", None)
        found = model.parts.get(name) or model.elements.get(name)
        if isinstance(found, RigidLink):
            return found.carrier
        if not isinstance(found, Carrier):
            near = difflib.get_close_matches(name, [*model.parts, *model.elements], n=3)
            hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
            raise ModelError(f"there is no part '{name}' in '{model.name}'{hint}")
        return found

    def _known_model(self) -> Model:
        if self.model is None:
            raise ModelError("this result does not know its model any more: the model could not be written to the file")
        return self.model

    # --- export --------------------------------------------------------------------------------------------------

    def to_dataset(self) -> xarray.Dataset:
        """All histories as an xarray.Dataset over t, with status and provenance as attributes."""
        import xarray

        data = {name: ("t", self.array(name)) for name in self.names}
        attributes = {
            "kempe_result": FORMAT,
            "success": int(self.success),
            "status": self.status,
            "message": self.message,
            "columns": encoded(self.columns),
            "stats": encoded(self.stats),
            "provenance": encoded(self.provenance),
            "events": encoded([{"kind": e.kind, "t": e.t, "message": e.message} for e in self.events]),
        }
        return xarray.Dataset(data, coords={"t": self.t}, attrs=attributes)

    def to_csv(self, path: str | Path, names: Sequence[str] | None = None) -> Path:
        """Write histories (all, or the named ones) with a header line, every digit kept."""
        import os

        chosen = list(names) if names is not None else self.names
        table = np.column_stack([self.t, *(self.array(name) for name in chosen)])
        target = Path(path)
        header = ",".join(f'"{c}"' if "," in c else c for c in ["t", *chosen])
        temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
        np.savetxt(temporary, table, delimiter=",", header=header, comments="", fmt="%.17g")
        os.replace(temporary, target)
        return target

    def save(self, path: str | Path) -> Path:
        """Write everything to a NetCDF file; the model goes with it where a file can describe it."""
        dataset = self.to_dataset()
        if self.model is not None:
            try:
                dataset.attrs["model"] = files.text_of(files.describe(self.model))
            except ModelError as error:
                dataset.attrs["model_missing"] = str(error)
        return write_netcdf(dataset, path)

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read what ``save`` wrote. Of events, kind, time and message come back."""
        dataset = read_netcdf(path)
        try:
            attributes = dataset.attrs
            columns = [(a, b, c) for a, b, c in json.loads(attributes["columns"])]
            q, v, a = (np.column_stack([dataset[triple[k]].values for triple in columns]) for k in range(3))
            text = attributes.get("model")
            model = None
            if text is not None:
                model = files.build(files.read_text(text, str(path)), MechanismModel, EquationsModel)
            return cls(
                t=dataset["t"].values,
                q=q,
                v=v,
                a=a,
                columns=columns,
                success=bool(attributes["success"]),
                status=attributes["status"],
                message=attributes["message"],
                events=[StoredEvent(**event) for event in json.loads(attributes["events"])],
                stats=json.loads(attributes["stats"]),
                provenance=json.loads(attributes["provenance"]),
                model=model,
            )
        except (KeyError, ValueError, TypeError) as error:
            raise KempeError(f"{path}: this result file is incomplete ({error})") from None

    # --- looking at it -------------------------------------------------------------------------------------------

    def plot(self, names: Any, **options: Any) -> Any:
        """Time plots of quantities; see :func:`kempe.view.plot`."""
        return VIEWS["plot"](self, names, **options)

    def animate(self, path: str | Path, **options: Any) -> Path:
        """An animation of the motion; see :func:`kempe.view.animate`."""
        return VIEWS["animate"](self._known_model(), self, path, **options)

    def report(self, path: str | Path, **options: Any) -> Path:
        """One HTML file with an interactive animation, plots and a summary; see :func:`kempe.view.report`."""
        return VIEWS["report"](self._known_model(), self, path, **options)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:.6g} .. {self.t[-1]:.6g}" if len(self.t) else "no time"
        return f"Result({self.status}: {len(self.t)} points, {span}, {len(self.columns)} coordinates; {self.message})"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(n[0])}</td>"
            + "".join(f"<td>{x:.6g}</td>" for x in (self.q[0, k], self.q[-1, k]))
            + "</tr>"
            for k, n in enumerate(self.columns[:30])
            if len(self.t)
        )
        head = "<tr><th>coordinate</th><th>first</th><th>last</th></tr>"
        return f"<p>{escape(repr(self))}</p><table>{head}{rows}</table>"
