"""Results on disk: NetCDF written whole or not at all, and read back with the model they came from."""

from __future__ import annotations

import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from kempe.disk import as_path, reason, write_whole
from kempe.errors import FileError, KempeError

FORMAT = 1
#: Up to so many histories are variables of their own in a file; more are gathered into one, for NetCDF takes
#: milliseconds for every variable, and more the more there are.
MOST_VARIABLES = 200
#: A file ends with this and a checksum of all before it, so that damage is noticed before HDF5 meets it.
_SEAL = b"\nkempe sha256 "
#: Names that can be variables of their own in every program that reads NetCDF.
_PLAIN = re.compile(r"\w[\w .+@()\-]{0,99}(?<! )", re.ASCII)


def gathered(dataset: Any) -> Any:
    """A dataset of many histories, or with names that no variable can have, as one variable ``histories``."""
    import xarray

    names = list(dataset.data_vars)
    plain = all(_PLAIN.fullmatch(name) for name in names) and not {"histories", "name"} & {*names}
    if len(names) <= MOST_VARIABLES and plain:
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
    """Write an xarray.Dataset whole or not at all.

    It is made in memory: HDF5 does not survive a disk that is full.
    """
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    image = io.BytesIO()
    store = H5NetCDFStore(h5netcdf.File(image, "w"))
    dataset.dump_to_store(store)
    store.close()
    content = image.getvalue()
    return write_whole(path, content + _SEAL + hashlib.sha256(content).hexdigest().encode())


def read_netcdf(path: str | Path) -> Any:
    """Read a dataset that ``write_netcdf`` wrote; anything else is an error."""
    import xarray

    _check_seal(path)
    try:
        with xarray.open_dataset(path, engine="h5netcdf") as opened:
            dataset = opened.load()
    except Exception as error:  # what HDF5 makes of a file of somebody else's can be anything
        raise KempeError(f"{path}: this is no result file, or not a whole one ({type(error).__name__})") from None
    if dataset.attrs.get("kempe_result") != FORMAT:
        raise KempeError(f"{path}: this NetCDF file was not written by Kempe")
    return dataset


def _check_seal(path: str | Path) -> None:
    """Refuse a file that has changed since it was written; one without a checksum may be somebody else's."""
    size = len(_SEAL) + 64
    try:
        with open(as_path(path), "rb") as file:
            length = file.seek(0, io.SEEK_END)
            file.seek(max(0, length - size))
            end = file.read()
            if not end.startswith(_SEAL):
                return
            file.seek(0)
            digest, left = hashlib.sha256(), length - size
            while left > 0:
                chunk = file.read(min(left, 1 << 20))
                left -= len(chunk) if chunk else left
                digest.update(chunk)
    except OSError as error:
        raise FileError(f"{path}: {reason(error)}") from None
    if digest.hexdigest().encode() != end[len(_SEAL) :]:
        raise KempeError(f"{path}: this result file is damaged (its checksum is another)")


def encoded(value: Any) -> str:
    """Plain data as text for an attribute."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)
