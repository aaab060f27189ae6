"""Results on disk: NetCDF written whole or not at all, and read back with the model they came from."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from kempe.errors import KempeError

FORMAT = 1
#: Up to so many histories are variables of their own in a file; more are gathered into one, for NetCDF takes
#: milliseconds for every variable, and more the more there are.
MOST_VARIABLES = 200


def gathered(dataset: Any) -> Any:
    """A dataset of many histories as one variable ``histories`` over t and ``name``."""
    import xarray

    names = list(dataset.data_vars)
    if len(names) <= MOST_VARIABLES:
        return dataset
    table = np.column_stack([dataset.variables[name].values for name in names])
    coordinates = {"t": dataset["t"].values, "name": np.array(names, dtype=object)}
    return xarray.Dataset({"histories": (("t", "name"), table)}, coords=coordinates, attrs=dataset.attrs)


def histories(dataset: Any) -> dict[str, np.ndarray]:
    """All histories of a file by name, however they are kept."""
    if "histories" in dataset:
        names = [str(name) for name in dataset["name"].values]
        return dict(zip(names, np.ascontiguousarray(dataset["histories"].values.T), strict=True))
    found = {str(name): variable for name, variable in dataset.variables.items() if name not in dataset.coords}
    return {name: variable.values for name, variable in found.items() if variable.dims == ("t",)}


def write_netcdf(dataset: Any, path: str | Path) -> Path:
    """Write an xarray.Dataset under a temporary name, then rename it: a killed process leaves no half file."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        dataset.to_netcdf(temporary, engine="h5netcdf")
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def read_netcdf(path: str | Path) -> Any:
    """Read a dataset that ``write_netcdf`` wrote; anything else is an error."""
    import xarray

    try:
        with xarray.open_dataset(path, engine="h5netcdf") as opened:
            dataset = opened.load()
    except (OSError, ValueError, KeyError) as error:
        raise KempeError(f"{path}: this is no result file, or not a whole one ({type(error).__name__})") from None
    if dataset.attrs.get("kempe_result") != FORMAT:
        raise KempeError(f"{path}: this NetCDF file was not written by Kempe")
    return dataset


def encoded(value: Any) -> str:
    """Plain data as text for an attribute."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)
