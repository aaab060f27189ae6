"""Machine code on disk: shared between processes, never wrong, never in the way."""

import copy
import gc
import json
import os
import pickle
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from kempe.kernels import compile_function, compiler

AT = np.array([0.5, -1.25])  # (what is made of these is exact)

#: Compiles a few kernels and prints their values.
WORKER = """
import json, sys
import casadi as ca, numpy as np
from kempe.kernels import compile_function
x = ca.SX.sym("x", 2)
kernels = [compile_function(x, ca.vertcat(ca.sin(k * x[0]) + x[1] ** k, x[0] * x[1])) for k in range(1, 6)]
print(json.dumps([list(kernel(np.array([0.3, -1.2]))) for kernel in kernels]))
"""

EXPECTED = [[np.sin(k * 0.3) + (-1.2) ** k, 0.3 * -1.2] for k in range(1, 6)]


def start(folder: Path | str) -> subprocess.Popen:
    environment = {**os.environ, "KEMPE_CACHE": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def answer(process: subprocess.Popen) -> list[list[float]]:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return json.loads(output)


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.iterdir()}


def forget() -> None:
    """Remember no kernel in memory."""
    compiler._loaded.clear()


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory, and nothing remembered in memory."""
    forget()
    folder = tmp_path / "cache"
    monkeypatch.setenv("KEMPE_CACHE", str(folder))
    return folder


def quadratic(factor: float) -> tuple[ca.SX, ca.SX]:
    x = ca.SX.sym("x", 2)
    return x, factor * x[0] ** 2 + x[1]


def test_a_second_process_uses_the_first_ones_machine_code(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "cache"  # made when needed, with its parents
    first = answer(start(folder))
    np.testing.assert_allclose(first, EXPECTED, rtol=1e-15)
    kept = snapshot(folder)
    assert len(kept) == 5 and all(name.endswith(".o") for name in kept)
    assert answer(start(folder)) == first
    assert snapshot(folder) == kept


def test_four_processes_share_an_empty_directory(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    answers = [answer(p) for p in [start(folder) for _ in range(4)]]
    for given in answers:
        np.testing.assert_allclose(given, EXPECTED, rtol=1e-15)
    assert len(list(folder.iterdir())) == len(list(folder.glob("*.o"))) == 5
    kept = snapshot(folder)
    assert answer(start(folder)) == answers[0]  # each file is whole: none is compiled again
    assert snapshot(folder) == kept


def test_a_directory_that_cannot_exist_is_harmless(tmp_path: Path) -> None:
    wall = tmp_path / "file"
    wall.write_text("not a directory")
    np.testing.assert_allclose(answer(start(wall / "cache")), EXPECTED, rtol=1e-15)
    np.testing.assert_allclose(answer(start(wall)), EXPECTED, rtol=1e-15)
    assert list(tmp_path.iterdir()) == [wall] and wall.read_text() == "not a directory"


def test_the_key_is_the_content(fresh: Path) -> None:
    kernels = [compile_function(*quadratic(2.0)) for _ in range(3)]
    assert len({k.address for k in kernels}) == 1 and len(list(fresh.iterdir())) == 1
    other = compile_function(*quadratic(3.0))
    assert other.address != kernels[0].address and len(list(fresh.iterdir())) == 2
    assert kernels[0](AT)[0] == 2.0 * 0.5**2 - 1.25 and other(AT)[0] == 3.0 * 0.5**2 - 1.25


@pytest.mark.parametrize("damage", ["emptied", "cut", "bit flipped", "checksum only", "not machine code"])
def test_a_damaged_file_is_compiled_again(fresh: Path, damage: str) -> None:
    kernel = compile_function(*quadratic(5.0))
    (file,) = fresh.iterdir()
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    file.write_bytes(
        {
            "emptied": b"",
            "cut": whole[:-7],
            "bit flipped": bytes(flipped),
            "checksum only": whole[:32],
            "not machine code": b"x" * len(whole),
        }[damage]
    )
    forget()
    again = compile_function(*quadratic(5.0))
    assert again.address != kernel.address
    assert again(AT)[0] == kernel(AT)[0] == 5.0 * 0.5**2 - 1.25
    assert file.read_bytes() == whole and list(fresh.iterdir()) == [file]


def test_a_file_whose_place_is_taken_by_a_directory_is_harmless(fresh: Path) -> None:
    compile_function(*quadratic(7.0))
    (file,) = fresh.iterdir()
    file.unlink()
    file.mkdir()
    forget()
    assert compile_function(*quadratic(7.0))(AT)[0] == 7.0 * 0.5**2 - 1.25
    assert list(fresh.iterdir()) == [file]  # and no half file stays


def test_an_empty_setting_switches_the_disk_cache_off(
    tmp_path: Path, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEMPE_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert compiler.cache_directory() is None
    assert compile_function(*quadratic(11.0))(AT)[0] == 11.0 * 0.5**2 - 1.25
    assert list(tmp_path.iterdir()) == []


def test_without_a_setting_the_users_cache_directory_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEMPE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert compiler.cache_directory() == tmp_path / "kempe" / "kernels"


def test_threads_compile_the_same_kernel_once(fresh: Path) -> None:
    expressions = [quadratic(13.0) for _ in range(8)]
    kernels: list = [None] * 8

    def work(k: int) -> None:
        kernels[k] = compile_function(*expressions[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({kernel.address for kernel in kernels}) == 1
    assert kernels[0](AT)[0] == 13.0 * 0.5**2 - 1.25


def test_machine_code_that_is_let_go_harms_no_other(tmp_path: Path) -> None:
    """Each engine is freed on its own (in another process, because the failure would be a crash)."""
    let_go = """
import gc
from kempe.kernels import compiler
kept = kernels.pop()
del kernels
gc.collect()
assert len(compiler._loaded) == 1
print(json.dumps([list(kept(np.array([0.3, -1.2]))), list(compile_function(x, x)(np.array([1.0, 2.0])))]))
"""
    process = subprocess.run(
        [sys.executable, "-c", WORKER + let_go],
        env={**os.environ, "KEMPE_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 0, process.stderr
    np.testing.assert_allclose(json.loads(process.stdout.splitlines()[-1]), [EXPECTED[-1], [1.0, 2.0]], rtol=1e-15)


def test_machine_code_lives_as_long_as_a_kernel_refers_to_it(fresh: Path) -> None:
    before = len(compiler._loaded)
    first, second = compile_function(*quadratic(17.0)), compile_function(*quadratic(17.0))
    other = compile_function(*quadratic(19.0))
    assert len(compiler._loaded) == before + 2 and first == second != other
    engine = weakref.ref(first.code.engine)
    del first
    assert second(AT)[0] == 17.0 * 0.5**2 - 1.25 and engine() is not None
    del second
    gc.collect()
    assert engine() is None and len(compiler._loaded) == before + 1
    assert other(AT)[0] == 19.0 * 0.5**2 - 1.25


def test_memory_does_not_grow_with_kernels_that_are_let_go(tmp_path: Path) -> None:
    """A hundred kernels more, one after the other, take no more memory than the first twenty (kept: 7 MB)."""
    program = """
import resource, sys
import casadi as ca, numpy as np
from kempe.kernels import compile_function, compiler
x = ca.SX.sym("x", 2)
def one(k):
    y = x[0] * k
    for i in range(60):
        y = y * x[1] + ca.sin(x[0] + i)
    assert np.isfinite(compile_function(x, y)(np.array([0.3, 0.5]))).all()
for k in range(20): one(k)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for k in range(20, 120): one(k)
print(len(compiler._loaded), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    process = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "KEMPE_CACHE": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr
    loaded, grown = map(int, process.stdout.split())
    assert loaded == 0
    assert grown < 3_000  # kB


@pytest.mark.parametrize("cache", ["the same", "another", "none"])
def test_a_kernel_can_be_sent_to_another_process(fresh: Path, tmp_path: Path, cache: str) -> None:
    kernel = compile_function(*quadratic(23.0))
    sent = tmp_path / "kernel"
    sent.write_bytes(pickle.dumps(kernel))
    program = """
import pickle, sys
import numpy as np
kernel = pickle.load(open(sys.argv[1], "rb"))
print(kernel(np.array([0.5, -1.25]))[0].hex(), kernel.n_in, kernel.n_out)
"""
    folder = {"the same": str(fresh), "another": str(tmp_path / "elsewhere"), "none": ""}[cache]
    process = subprocess.run(
        [sys.executable, "-c", program, str(sent)],
        env={**os.environ, "KEMPE_CACHE": folder},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout.split() == [kernel(AT)[0].hex(), "2", "1"]
    assert len(list(fresh.iterdir())) == 1
    assert str(kernel.address).encode() not in pickle.dumps(kernel)


def test_a_kernel_that_comes_back_is_the_one_at_hand(fresh: Path) -> None:
    kernel = compile_function(*quadratic(29.0))
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert copy.deepcopy(kernel).address == kernel.address
