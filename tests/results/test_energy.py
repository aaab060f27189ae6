"""Energies of a simulation: their parts, their balance, how they are told and shown."""

from __future__ import annotations

import numpy as np
import pytest

import kempe as kp
from kempe.results import Energies
from kempe.view.report import report_html

G = 9.81


def machine(damping: float = 0.3) -> kp.Mechanism:
    m = kp.Mechanism("swing", gravity=(0, -G))
    bob = m.body("bob", mass=0.8, inertia=0.05, at=(0.6, 0))
    m.revolute("pin", m.ground, bob, at=(0, 0))
    m.spring("coil", m.ground, bob, on_i=(0, 1), stiffness=30, length=0.7, damping=damping)
    m.torque("push", bob, lambda t: kp.sin(3 * t))
    return m


@pytest.fixture(scope="module")
def result() -> kp.Result:
    return machine().simulate(2.0, tolerance=1e-11)


def test_the_parts_are_what_they_are_by_hand(result):
    energy, r = result.energy, result
    kinetic = 0.4 * (r.array("bob.vx") ** 2 + r.array("bob.vy") ** 2) + 0.025 * r.array("bob.omega") ** 2
    length = r.array("coil.length")
    assert np.abs(energy.kinetic - kinetic).max() < 1e-12
    assert np.abs(energy.potential - 0.8 * G * r.array("bob.y")).max() < 1e-12
    assert np.abs(energy.elastic - 15 * (length - 0.7) ** 2).max() < 1e-12
    assert np.array_equal(energy.total, energy.kinetic + energy.potential + energy.elastic)
    assert np.array_equal(r.array("energy.total"), energy.total) and "energy.total" in r.names


def test_what_is_dissipated_and_supplied_is_the_integral_of_the_powers():
    """By Simpson's rule on a fine grid."""
    r = machine().simulate(np.linspace(0, 2, 4001), tolerance=1e-11)
    h = r.t[1] - r.t[0]
    for name, power in (
        ("dissipated", 0.3 * r.array("coil.rate") ** 2),
        ("supplied", np.sin(3 * r.t) * r.array("bob.omega")),
    ):
        pairs = h / 3 * (power[:-2:2] + 4 * power[1::2] + power[2::2])
        assert np.abs(np.cumsum(pairs) - getattr(r.energy, name)[2::2]).max() < 1e-8
    assert np.abs(r.energy.balance).max() < 1e-8


def test_the_balance_is_relative_to_what_moves(result):
    energy = result.energy
    assert energy.error == np.abs(energy.balance).max() / energy.largest < 1e-8
    lifted = Energies(*(getattr(energy, n) + (1e6 if n == "potential" else 0) for n in energy.__dataclass_fields__))
    assert lifted.error == pytest.approx(energy.error)  # height has no zero


def test_a_table_is_printed(result):
    lines = str(result.energy).splitlines()
    assert lines[0].split() == ["energy", "first", "last", "largest"]
    assert [line.split()[0] for line in lines[1:-1]] == [
        "kinetic", "potential", "elastic", "total", "dissipated", "supplied", "balance",
    ]  # fmt: skip
    assert "of the largest energy" in lines[-1]
    assert float(lines[1].split()[2]) == pytest.approx(result.energy.kinetic[-1], rel=1e-5)
    free = machine(damping=0.0).simulate(0.5).energy
    assert "dissipated" not in str(free) and "supplied" in str(free)


def test_a_file_keeps_energies(result, tmp_path):
    again = kp.Result.load(result.save(tmp_path / "r.nc"))
    assert str(again.energy) == str(result.energy)
    assert np.array_equal(again.energy.balance, result.energy.balance)


def test_all_energies_share_axes(result):
    figure = result.plot("energy")
    (axes,) = figure.axes
    shown = {line.get_label(): line for line in axes.get_lines()}
    assert list(shown) == [
        f"energy.{n}" for n in ("kinetic", "potential", "elastic", "dissipated", "supplied", "total")
    ]
    assert len({line.get_color() for line in shown.values()}) == 6
    assert np.array_equal(shown["energy.total"].get_ydata(), result.energy.total)
    both = result.plot(["bob.x", "pin.force.x", "coil.force", "energy", "energy.kinetic", "coil.length"])
    assert [a.get_ylabel() for a in both.axes] == ["bob.x", "force", "energy", "coil.length"]


def test_loads_do_not_share_axes_with_positions(result):
    from kempe.results.kinds import kind_by_name

    kinds = {"bob.x": "position", "pin.force.x": "force", "pin.force": "force", "coil.force": "force",
             "pin.moment": "moment", "lead.effort.y": "effort", "energy.elastic": "energy", "energy.balance": "balance",
             "lambda.pin.x": "multiplier", "s": "coordinate", "s.v": "rate"}  # fmt: skip
    assert {name: kind_by_name(name) for name in kinds} == kinds


def test_a_report_tells_energies_events_and_the_solver():
    m = kp.Mechanism("drop", gravity=(0, -G))
    ball = m.body("ball", mass=0.5, inertia=0.01, at=(0, 0.4))
    m.bump_stop("floor", ball.y, 0.0, 2000)
    res = m.simulate(1.0)
    page = report_html(m, res, plots=["ball.y", "floor.force", "energy"])
    for said in ("<h2>Energy</h2>", "<td>kinetic</td>", "out of balance by at most", "<h2>Solver</h2>", "rejected",
                 "touches", "lets go", "energy.total", "floor.force"):  # fmt: skip
        assert said in page.replace("&#x27;", "'"), said
    assert "<td>supplied</td>" not in page
    still = machine().simulate(0.1)
    assert "Nothing switched." in report_html(still.model, still)
    assert "energy.kinetic" in report_html(still.model, still)  # plotted by default
    driven = machine()
    driven.driver("motor", driven["bob"].angle, 1.0)
    told = report_html(driven, driven.kinematics(1.0))
    assert "<h2>Energy</h2>" not in told and "No singular position" in told
