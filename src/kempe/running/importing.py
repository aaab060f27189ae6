"""Robots described in other formats, written as model files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from kempe.api import load_mjcf, load_urdf
from kempe.errors import ModelWarning
from kempe.importing import read_xml


def robot_from(path: Path, *, fixed_base: bool = True, limits: bool = False) -> Any:
    """The mechanism of a URDF or MJCF file, whichever it is."""
    if read_xml(path).tag == "robot":
        return load_urdf(path, fixed_base=fixed_base, limits=limits)
    return load_mjcf(path, limits=limits)


def import_file(path: Path, out: Path, *, fixed_base: bool = True, limits: bool = False) -> tuple[Path, list[str]]:
    """Write the mechanism of a URDF or MJCF file as a model file; what it does not represent, in sentences."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        model = robot_from(path, fixed_base=fixed_base, limits=limits)
    return model.save(out), [str(warning.message) for warning in caught]
