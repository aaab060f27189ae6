"""Sensitivities as tables: percent per percent are the exponents of a power law; ranks go by what a percent does."""

import csv
from pathlib import Path

import numpy as np
import pytest

import kempe as kp
from kempe.design.account import SHOWN
from kempe.errors import ModelError

VALUES = {"k": 300.0, "L": 0.5, "m": 2.0}
POWERS = {"k": 0.5, "L": -2.0, "m": 1.0}


def power_law(name: str = "cost", factor: float = 3.0, **options: object) -> kp.Sensitivity:
    """Cost = factor k^(1/2) L^-2 m: its relative sensitivities are the powers."""
    value = factor * np.prod([VALUES[p] ** power for p, power in POWERS.items()])
    slopes = {p: float(value * power / VALUES[p]) for p, power in POWERS.items()}
    return kp.Sensitivity({name: float(value)}, {name: slopes}, VALUES, **options)


@pytest.mark.parametrize("factor", [3.0, -3.0, 1e-9])
def test_percent_per_percent_are_the_powers(factor: float) -> None:
    table = power_law(factor=factor).sensitivity_table()
    assert [effect.parameter for effect in table] == ["L", "m", "k"]
    assert [effect.rank for effect in table] == [1, 2, 3]
    for effect in table:
        assert effect.relative == pytest.approx(np.sign(factor) * POWERS[effect.parameter], rel=1e-14)
        assert effect.percent == pytest.approx(0.01 * effect.derivative * VALUES[effect.parameter], rel=1e-15)


def test_a_parameter_that_is_zero_is_measured_by_its_bounds() -> None:
    slopes = {"offset": 2.0, "free": 5.0, "k": 1.0, "down": 1.0}
    parameters = {"offset": 0.0, "free": 0.0, "k": 1.0, "down": -3.0}
    found = kp.Sensitivity({"cost": 10.0}, {"cost": slopes}, parameters, bounds={"offset": (-1.0, 3.0)})
    by_name = {effect.parameter: effect for effect in found.sensitivity_table()}
    assert by_name["offset"].percent == pytest.approx(0.08) and by_name["offset"].rank == 1
    assert by_name["down"].percent == pytest.approx(0.03) and by_name["down"].rank == 2  # it grows, as all do
    assert np.isnan(by_name["free"].percent) and by_name["free"].rank == 0 and by_name["free"].derivative == 5.0
    assert [effect.parameter for effect in found.sensitivity_table()][-1] == "free"


@pytest.mark.parametrize("value", [0.0, 1e-17])
def test_a_functional_that_is_zero_has_no_percentages(value: float) -> None:
    found = kp.Sensitivity({"error": value}, {"error": {"k": 4.0}}, {"k": 2.0})
    (effect,) = found.sensitivity_table()
    assert np.isnan(effect.relative) and effect.percent == pytest.approx(0.08)
    assert str(found).splitlines()[-1].split() == ["1", "k", "2", "4", "0.08", "-"]


def test_the_table_reads_well() -> None:
    found = power_law(warnings=["'stop' is grazed at t = 0.3: derivatives jump there"])
    assert str(found).splitlines() == [
        "cost = 415.69219",
        "  rank  parameter  value  derivative   per 1 %  % per %",
        "     1  L            0.5    -1662.77  -8.31384       -2",
        "     2  m              2     207.846   4.15692        1",
        "     3  k            300     0.69282   2.07846      0.5",
        "",
        "warning: 'stop' is grazed at t = 0.3: derivatives jump there",
    ]
    assert "<td>415" not in found._repr_html_() and "<td>-1662.77</td>" in found._repr_html_()
    assert repr(found) == "Sensitivity(of cost by 3 parameters)"


def test_long_tables_are_cut_and_files_are_not(tmp_path: Path) -> None:
    parameters = {f"p{k}": 1.0 + k for k in range(100)}
    slopes = dict.fromkeys(parameters, 1.0 / 3.0)
    found = kp.Sensitivity({"a": 1.0, "b, c": 2.0}, {"a": slopes, "b, c": slopes}, parameters)
    assert str(found).count(f"and {100 - SHOWN} more") == 2
    with open(found.to_csv(tmp_path / "table.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 200 and rows[100]["functional"] == "b, c"
    assert all(float(row["derivative"]) == 1.0 / 3.0 for row in rows)
    assert [row["parameter"] for row in rows[:2]] == ["p99", "p98"]
    one = found.sensitivity_table("a").to_csv(tmp_path / "one.csv").read_text()
    assert "b, c" not in one and len(one.splitlines()) == 101


def test_gradients_are_asked_for_by_name_or_functional() -> None:
    found = power_law("final ball.y")
    expected = [found.gradients["final ball.y"][name] for name in VALUES]
    for which in ("final ball.y", kp.final("ball.y")):
        assert found.gradient(which).tolist() == expected
        assert found[which] == found.gradients["final ball.y"]
    with pytest.raises(ModelError, match=r"there is no functional 'finl ball\.y' .* did you mean 'final ball\.y'"):
        found.gradient("finl ball.y")
