"""What a disk may do: be full, forbid, forget; the old file and what is in memory stay whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kempe as kp
from kempe import disk


def pendulum(name: str = "b") -> kp.Mechanism:
    m = kp.Mechanism("pendulum", gravity=(0, -9.81))
    body = m.body(name, 1.0, 0.1, at=(0.5, 0))
    m.revolute("O", m.ground, body, at=(0, 0))
    return m


#: Writes everything that can be written, first with room on the disk and then without (a limit to the size of files).
FULL = """
import os, resource, signal
import kempe as kp
from pathlib import Path
from kempe import view
from kempe.simulation.checkpoints import write_checkpoint
from kempe.simulation.running import Record
from kempe.simulation.starting import begun

m = kp.Mechanism("pendulum", gravity=(0, -9.81))
body = m.body("b", 1.0, 0.1, at=(0.5, 0))
m.revolute("O", m.ground, body, at=(0, 0))
r = m.simulate(1.0, steps=500)
machine = begun(m, 1.0)
writers = {
    "r.nc": r.save, "r.csv": r.to_csv, "m.kempe.yaml": m.save, "r.html": lambda path: r.report(path),
    "r.gif": lambda path: r.animate(path, frames=2), "r.png": lambda path: view.save(m.draw(), path),
    "r.pdf": lambda path: view.save(m.draw(), path), "r.svg": lambda path: view.save(m.draw(), path),
    "c.npz": lambda path: write_checkpoint(machine, Record(), None, path),
    "frames": lambda path: r.animate(path, frames=2),
}
for path, write in writers.items():
    write(path)
files = [path for path in Path(".").rglob("*") if path.is_file()]
before = {path: path.read_bytes() for path in files}
assert len(before) == 11
angles = r.array("b.angle").copy()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
for path, write in writers.items():
    try:
        write(path)
    except kp.FileError as error:
        assert path in str(error) and "File too large" in str(error), error
    else:
        raise SystemExit(f"{path} was written on a full disk?")
assert (r.array("b.angle") == angles).all()
assert {path: path.read_bytes() for path in Path(".").rglob("*") if path.is_file()} == before
assert m.simulate(1.0, steps=7).success  # caches that cannot be written are no matter
print("whole")
"""


def test_a_full_disk_leaves_old_files_and_results_whole(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-c", FULL], cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert process.returncode == 0 and process.stdout.split() == ["whole"], process.stderr[-3000:]


def test_what_killed_processes_left_behind_goes_and_what_living_ones_write_stays(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left, young = (tmp_path / f"{disk._mine(dead.pid)}{k:08x}.part.nc" for k in (1, 2))
    living = tmp_path / f"{disk._mine(os.getpid())}00000003.part.nc"
    other = tmp_path / ".kempe-else.part"
    for path in (left, young, living, other):
        path.write_text("half")
    for path in (left, living, other):
        os.utime(path, (1.0, 1.0))
    pendulum().save(tmp_path / "m.kempe.yaml")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([young.name, living.name, other.name, "m.kempe.yaml"])


@pytest.mark.parametrize("path", ["", ".", "/dev/null", "a\0b", 5, None, "x" * 300, "file/below"])
def test_what_is_no_place_for_a_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: object) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("a file")
    m = pendulum()
    result = m.simulate(0.1, steps=2)
    for write in (m.save, result.save, result.to_csv, result.report):
        with pytest.raises(kp.FileError):
            write(path)
    if path is not None:
        with pytest.raises(kp.FileError):  # before the run, not after it
            m.simulate(1e6, checkpoint=path)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_file_keeps_its_permissions_and_folders_are_made(tmp_path: Path) -> None:
    path = pendulum().save(tmp_path / "new" / "folder" / "m.kempe.yaml")
    path.chmod(0o600)
    pendulum().save(path)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "zeros", "text", "without its checksum"])
def test_a_damaged_result_is_refused(tmp_path: Path, damage: str) -> None:
    result = pendulum().simulate(0.1, steps=5)
    path = result.save(tmp_path / "r.nc")
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 3] ^= 4
    contents = {
        "cut": whole[: len(whole) // 2], "flipped": bytes(flipped), "emptied": b"", "zeros": bytes(len(whole)),
        "text": b"t,x\n1,2\n", "without its checksum": whole[: -len(disk_seal())],
    }  # fmt: skip
    path.write_bytes(contents[damage])
    if damage == "without its checksum":  # as another program would write it
        assert np.array_equal(kp.Result.load(path).q, result.q)
        return
    with pytest.raises(kp.KempeError):
        kp.Result.load(path)


def disk_seal() -> bytes:
    from kempe.results.storage import _SEAL

    return _SEAL + bytes(64)


def test_a_checkpoint_that_cannot_be_written_does_not_end_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kempe.simulation import checkpoints

    def full(*_: object) -> None:
        raise kp.FileError("'c.npz' cannot be written: No space left on device")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints.running, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(checkpoints, "write_checkpoint", full)
    m = pendulum()
    assert m.simulate(20.0, checkpoint=tmp_path / "c.npz").success
    part = m.simulate(200.0, checkpoint=tmp_path / "c.npz", progress=interrupt)
    assert part.status == "interrupted" and "No space left" in part.message
