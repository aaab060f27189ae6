"""Results: points and quantities after the fact, export, and files that are whole or not at all."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import kempe as kp


@pytest.fixture(scope="module")
def mechanism() -> kp.Mechanism:
    m = kp.Mechanism("slider-crank")
    L = m.parameter("rod length", 2.0)
    crank, rod, slider = m.body("crank", at=(0.5, 0)), m.body("rod", at=(2.0, 0)), m.body("slider", at=(3, 0))
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-0.5, 0))
    m.revolute("A", crank, rod, on_i=(0.5, 0), on_j=(-L / 2, 0))
    m.revolute("B", rod, slider, on_i=(L / 2, 0), on_j=(0, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0), at=(0, 0))
    m.driver("motor", crank.angle, kp.constant_speed(2.0))
    return m


@pytest.fixture(scope="module")
def result(mechanism) -> kp.Result:
    return mechanism.kinematics(np.linspace(0, 3, 301), parameters={"rod length": 2.5})


def test_a_point_of_the_rod_moves_as_geometry_says(result):
    crank = 2.0 * result.t
    rod = -np.arcsin(np.sin(crank) / 2.5)
    motion = result.point("rod", (0.4, 0.1))
    s = 1.25 + 0.4  # from the crank pin
    x = np.cos(crank) + s * np.cos(rod) - 0.1 * np.sin(rod)
    y = np.sin(crank) + s * np.sin(rod) + 0.1 * np.cos(rod)
    assert np.abs(motion.x - x).max() < 1e-12 and np.abs(motion.y - y).max() < 1e-12
    rate = -2.0 * np.cos(crank) / np.sqrt(2.5**2 - np.sin(crank) ** 2)
    vx = -2 * np.sin(crank) + rate * (-s * np.sin(rod) - 0.1 * np.cos(rod))
    assert np.abs(motion.velocity[:, 0] - vx).max() < 1e-12
    assert np.abs(np.gradient(motion.velocity, result.t, axis=0)[2:-2] - motion.acceleration[2:-2]).max() < 5e-3


def test_quantities_of_joints_are_measured(mechanism, result):
    angle = result.measure(mechanism["A"].angle)
    rod = -np.arcsin(np.sin(2 * result.t) / 2.5)
    assert np.abs(angle.x - (rod - 2 * result.t)).max() < 1e-12
    slide = result.measure(mechanism["guide"].displacement)
    assert np.abs(slide.x - result.array("slider.x")).max() < 1e-12
    assert np.abs(slide.velocity[:, 0] - result.array("slider.vx")).max() < 1e-12


def test_names_are_helpful(result):
    assert result["slider.x"].name == "slider.x" and result["slider.x"].dims == ("t",)
    with pytest.raises(kp.ModelError, match=r"did you mean 'slider\.x'"):
        result["slidr.x"]
    with pytest.raises(kp.ModelError, match="did you mean 'slider'"):
        result.point("slidr")
    assert "complete" in repr(result) and "<table>" in result._repr_html_()


def test_a_netcdf_file_holds_everything(result, tmp_path):
    path = result.save(tmp_path / "result.nc")
    again = kp.Result.load(path)
    assert np.array_equal(again.q, result.q) and np.array_equal(again.a, result.a)
    assert again.columns == result.columns and again.provenance == result.provenance and again.status == "complete"
    assert again.provenance["parameters"] == {"rod length": 2.5}
    assert np.array_equal(again.point("rod", (0.4, 0.1)).acceleration, result.point("rod", (0.4, 0.1)).acceleration)
    assert [p.name for p in tmp_path.iterdir()] == ["result.nc"]


def test_events_are_kept_with_their_times(tmp_path):
    system = kp.Equations(
        "slider",
        {"x": 2.0, "f": 0.0, "g": 1.5},
        constraints=lambda q, t, p: [-q.x + kp.cos(q.f) + kp.sin(q.g), kp.sin(q.f) - kp.cos(q.g), q.f - kp.pi * t / 12],
    )
    result = system.kinematics(8.0, on_singular="cross")
    again = kp.Result.load(result.save(tmp_path / "r.nc"))
    assert [(e.kind, e.t, e.message) for e in again.events] == [(e.kind, e.t, e.message) for e in result.events]
    assert again.events[0].t == pytest.approx(6.0, abs=1e-12)


def test_it_opens_in_xarray_and_pandas(result, tmp_path):
    import xarray

    with xarray.open_dataset(result.save(tmp_path / "r.nc"), engine="h5netcdf") as dataset:
        assert np.array_equal(dataset["slider.ax"].values, result.array("slider.ax"))
    frame = result.to_dataset().to_dataframe()
    assert frame["rod.angle"].iloc[-1] == result.array("rod.angle")[-1]


def test_a_table_keeps_every_digit(result, tmp_path):
    path = result.to_csv(tmp_path / "r.csv", ["slider.x", "rod.omega"])
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert [float(r["rod.omega"]) for r in rows] == result.array("rod.omega").tolist()
    assert [float(r["t"]) for r in rows] == result.t.tolist()


def test_what_is_no_result_is_refused(tmp_path, result):
    import xarray

    (tmp_path / "noise.nc").write_bytes(os.urandom(2000))
    whole = result.save(tmp_path / "whole.nc").read_bytes()
    (tmp_path / "half.nc").write_bytes(whole[: len(whole) // 2])
    xarray.Dataset({"x": ("t", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    for name in ("noise.nc", "half.nc", "other.nc", "missing.nc"):
        with pytest.raises(kp.KempeError, match=name):
            kp.Result.load(tmp_path / name)


KILLED = """
import numpy as np, sys
import kempe as kp
from kempe.results import storage
m = kp.Mechanism("m")
s = m.body("s")
m.translational("g", m.ground, s)
m.driver("d", s.x, kp.constant_speed(1.0))
result = m.kinematics(np.linspace(0, 1, 400_001))
print("ready", flush=True)
while True:
    result.save(sys.argv[1])
"""


def test_a_killed_process_leaves_a_whole_file_or_none(tmp_path):
    path = tmp_path / "r.nc"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "ready"
    time.sleep(0.7)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    if path.exists():
        assert len(kp.Result.load(path)) == 400_001


INTERRUPTED = """
import os, signal
import numpy as np
import kempe as kp
signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background are started to ignore it
m = kp.Mechanism("m")
s = m.body("s")
m.translational("g", m.ground, s)
m.driver("d", s.x, kp.constant_speed(1.0))
m.kinematics(1.0)
def progress(done, wanted):
    if done > 100_000:
        os.kill(os.getpid(), signal.SIGINT)
result = m.kinematics(np.linspace(0, 1, 2_000_001), progress=progress)
assert result.status == "interrupted" and not result.success, result
assert 100_000 < len(result) < 2_000_001
assert np.abs(result.array("s.x") - result.t).max() < 1e-12
"""


def test_ctrl_c_returns_what_exists():
    run = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
