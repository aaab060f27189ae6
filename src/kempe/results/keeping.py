"""Results in files: every history as it was, with events, start, and the model it was computed with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kempe.errors import KempeError, ModelError
from kempe.model import EquationsModel, files
from kempe.results.events import Event, retold, told
from kempe.results.storage import FORMAT, encoded, gathered, histories, read_netcdf, write_netcdf

if TYPE_CHECKING:
    import xarray

    from kempe.results.result import Result


@dataclass(frozen=True)
class StoredStart:
    """What a file keeps of the initial conditions: by how much they differ from what was asked for."""

    moved: dict[str, float]
    changed: dict[str, float]
    text: str

    def __str__(self) -> str:
        return self.text


def as_dataset(result: Result) -> xarray.Dataset:
    """All histories over t, with status and provenance as attributes."""
    import xarray

    data = {name: ("t", result.array(name), result.unit_attributes(name)) for name in result.names}
    attributes = {
        "kempe_result": FORMAT,
        "success": int(result.success),
        "status": result.status,
        "message": result.message,
        "columns": encoded(result.columns),
        "series": encoded(list(result.series)),
        "stats": encoded(result.stats),
        "provenance": encoded(result.provenance),
        "events": encoded([told(event) for event in result.events]),
        "first_modes": encoded(result.first_modes),
    }
    if result.initial is not None:
        start = {"moved": result.initial.moved, "changed": result.initial.changed, "text": str(result.initial)}
        attributes["initial"] = encoded(start)
    return xarray.Dataset(data, coords={"t": ("t", result.t, result.unit_attributes("t"))}, attrs=attributes)


def write_result(result: Result, path: str | Path) -> Path:
    """Write a result; the model goes with it where a file can describe it."""
    dataset = gathered(as_dataset(result))
    for name in ("q", "v"):
        states = [getattr(event, name) for event in result.events]
        if states and all(state is not None for state in states):
            dataset[f"events.{name}"] = (("event", "coordinate"), np.array(states))
    if result.model is not None:
        try:
            described = files.describe(result.model, result.provenance.get("parameters"))
            dataset.attrs["model"] = files.text_of(described)
        except ModelError as error:
            dataset.attrs["model_missing"] = str(error)
    return write_netcdf(dataset, path)


def read_result(path: str | Path, make: Callable[..., Result], trust: str | Iterable[str] = ()) -> Result:
    """Read a result that ``write_result`` wrote. What was derived with the model is as it was written.

    A model with elements of classes whose module is not trusted is left out.
    """
    dataset = read_netcdf(path)
    try:
        attributes = dataset.attrs
        columns = [(a, b, c) for a, b, c in json.loads(attributes["columns"])]
        named = histories(dataset)
        q, v, a = (np.column_stack([named[triple[k]] for triple in columns]) for k in range(3))
        text, start = attributes.get("model"), attributes.get("initial")
        own = {name for triple in columns for name in triple}
        series = json.loads(attributes.get("series", "[]"))
        found = make(
            t=dataset["t"].values,
            q=q,
            v=v,
            a=a,
            columns=columns,
            success=bool(attributes["success"]),
            status=attributes["status"],
            message=attributes["message"],
            events=_events(dataset, columns),
            stats=json.loads(attributes["stats"]),
            provenance=json.loads(attributes["provenance"]),
            model=text and _model(files.read_text(text, str(path)), trust),
            series={name: named[name] for name in series},
            initial=None if start is None else StoredStart(**json.loads(start)),
            first_modes=json.loads(attributes.get("first_modes", "{}")),
        )
        found.derived.update({name: values for name, values in named.items() if name not in own | set(series)})
        return found
    except KempeError:
        raise
    except Exception as error:  # a file of somebody else's can hold anything
        raise KempeError(f"{path}: this result file is incomplete ({error})") from None


def _model(document: files.Document, trust: str | Iterable[str]) -> Any:
    if not files.may_be_built(document, trust):
        return None
    return files.build(document, files.bare, EquationsModel, trust=trust)


def _events(dataset: Any, columns: list[tuple[str, str, str]]) -> list[Event]:
    plain = json.loads(dataset.attrs["events"])
    none = np.zeros(0)
    q = dataset["events.q"].values if "events.q" in dataset else [none] * len(plain)
    v = dataset["events.v"].values if "events.v" in dataset else [None] * len(plain)
    return [retold(event, columns, *state) for event, *state in zip(plain, q, v, strict=True)]
