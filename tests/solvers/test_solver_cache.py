"""Compiled solvers kept on disk: damage of any kind costs a compilation, never a run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import caching

from kempe.errors import KempeError
from kempe.solvers import jit, motion
from kempe.solvers.driver import advance
from kempe.solvers.frames import Floats, Frame

#: A run whose digits are compared.
RUN = """
import json
import kempe as kp
m = kp.Mechanism("pendulum", gravity=(0, -9.81))
body = m.body("body", mass=1.0, inertia=0.1, at=(1, 0))
m.revolute("O", m.ground, body, at=(0, 0))
result = m.simulate(0.3, steps=5, method="projection", tolerance=1e-6)
digits = [x.hex() for name in ("body.x", "body.vy", "body.angle") for x in result.array(name).tolist()]
"""


def digits_elsewhere(**settings: str) -> list[str]:
    process = subprocess.run(
        [sys.executable, "-c", RUN + "print(json.dumps(digits))"],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def digits_here() -> list[str]:
    found: dict[str, Any] = {}
    exec(RUN, found)
    return found["digits"]


def kept_files(made: Any) -> tuple[Path, Path]:
    """Where the index and the machine code of a piece are kept."""
    made.ready()
    cache = made._callback._cache
    (code,) = cache._cache_file._load_index().values()
    return Path(cache._cache_path, cache._cache_file._index_name), Path(cache._cache_path, code)


def cut(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def fill_with_garbage(file: Path) -> None:
    file.write_bytes(bytes((7 * k * k + 13) % 251 for k in range(len(file.read_bytes()))))


def flip_bits(file: Path) -> None:
    """Machine code that would be run, if nobody looked: what is around it in the file is whole."""
    content = bytearray(file.read_bytes())
    for k in range(len(content) // 3, 2 * len(content) // 3, 16):
        content[k] ^= 0x15
    file.write_bytes(bytes(content))


def wipe(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def replace_by_a_directory(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "in the way").write_text("x")


@pytest.mark.skipif(jit.PLAIN, reason="nothing is compiled")
def test_damaged_and_inaccessible_files_are_never_fatal(tmp_path: Path) -> None:
    numba_cache, kernels = tmp_path / "numba", tmp_path / "kernels"
    folder = numba_cache / caching._CacheLocator.get_suitable_cache_subpath(motion.__file__)
    folder.mkdir(parents=True)
    damages = {
        motion.place: (cut, None),
        motion.place_all: (None, cut),
        motion.run_program: (empty, None),
        motion.add_rates: (None, empty),
        motion.factor: (fill_with_garbage, None),
        motion.solve: (None, fill_with_garbage),
        motion.explicit_at: (replace_by_a_directory, None),
        motion.violation_at: (None, replace_by_a_directory),
        advance: (None, flip_bits),
        motion.first_modes: (flip_bits, wipe),
    }
    expected = digits_here()
    for made in damages:
        made.code()  # (compiled and kept, whether anything has called it or not)
    for file in kept_files(advance)[0].parent.glob("*.nb?"):
        shutil.copy2(file, folder)
    settings = {"NUMBA_CACHE_DIR": str(numba_cache), "KEMPE_CACHE": str(kernels)}
    assert digits_elsewhere(**settings) == expected
    for made, harm in damages.items():
        for do, file in zip(harm, kept_files(made), strict=True):
            if do is not None:
                do(folder / file.name)
    objects = sorted(kernels.glob("*.o"))
    assert len(objects) > 4
    kinds = (cut, empty, fill_with_garbage, replace_by_a_directory, flip_bits, wipe)
    for file, do in zip(objects, kinds * len(objects), strict=False):
        do(file)
    assert digits_elsewhere(**settings) == expected
    for made in (motion.place, motion.run_program, motion.factor):
        assert (folder / kept_files(made)[0].name).stat().st_size > 200  # written anew
    assert (folder / kept_files(motion.explicit_at)[0].name).is_dir()


@pytest.mark.skipif(jit.PLAIN, reason="nothing is compiled")
def test_a_file_in_the_place_of_the_folders_is_harmless(tmp_path: Path) -> None:
    wall = tmp_path / "wall"
    wall.write_text("not a directory")
    assert digits_elsewhere(NUMBA_CACHE_DIR=str(wall / "below"), KEMPE_CACHE=str(wall)) == digits_here()
    assert list(tmp_path.iterdir()) == [wall]


class Numbers(Frame):
    """Something to count."""

    values: Floats


@pytest.mark.skipif(jit.PLAIN, reason="nothing is compiled")
def test_where_no_folder_can_be_written_to_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(function: Any) -> Any:
        raise RuntimeError(f"cannot cache function {function}: no locator available")

    monkeypatch.setattr(jit, "_Cache", nowhere)

    def total(numbers: Numbers) -> float:
        found = 0.0
        for k in range(numbers.values.shape[0]):
            found += numbers.values[k]
        return found

    total.__annotations__ = {"numbers": Numbers, "return": float}
    made = jit.piece(total)
    assert not made.is_kept
    assert made(Numbers(np.array([1.0, 2.5]))) == 3.5
    assert not made.is_kept or not hasattr(made._callback._cache, "holds")
    doubled = jit.entry(lambda x: 2.0 * x)
    assert doubled(1.5) == 3.0


@pytest.mark.parametrize(
    ("owner", "name", "says"),
    [
        (caching, "FunctionCache", "FunctionCache"),
        (caching, "IndexDataCacheFile", "IndexDataCacheFile"),
        (jit.ccallback, "CFunc", "CFunc"),
        (caching.FunctionCache, "_save_overload", r"FunctionCache\._save_overload"),
        (numba.types, "ExternalFunction", "ExternalFunction"),
    ],
)
def test_a_numba_that_lacks_a_hook_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, says: str
) -> None:
    jit._check_numba()
    holder = owner
    if isinstance(owner, type):  # the class that defines it, which may be a base
        holder = next(c for c in owner.__mro__ if name in vars(c))
    monkeypatch.delattr(holder, name)
    with pytest.raises(
        KempeError, match=f"this version of numba .* cannot be used: it lacks {says}; install a version"
    ):
        jit._check_numba()


@pytest.mark.skipif(jit.PLAIN, reason="nothing is compiled")
def test_the_cache_is_stale_when_any_solver_changes() -> None:
    """Code of one file is compiled into functions of others, so the version covers them all."""
    advance.ready()
    cache = advance._callback._cache
    assert jit._digest() in cache._cache_file._version
    assert cache.holds()
    cache._cache_file._version += "x"
    assert not cache.holds()
    cache._cache_file._version = cache._cache_file._version[:-1]
