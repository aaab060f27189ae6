"""Tornado plots: the lengths of the bars are changes to first order, the strongest on top, all words in the picture."""

from __future__ import annotations

import numpy as np
import pytest
from test_orbits import inside

import kempe as kp
from kempe import view


def sensitivity(parameters: dict[str, float], slopes: dict[str, float], value: float = 8.0) -> kp.Sensitivity:
    return kp.Sensitivity({"largest B.force": value}, {"largest B.force": slopes}, parameters)


TWO = sensitivity({"k": 300.0, "rod length": 0.5, "zero": 0.0}, {"k": 0.01, "rod length": -20.0, "zero": 1.0})


def bars(axes):
    return [sorted((bar.get_x(), bar.get_x() + bar.get_width())) for bar in axes.patches]


@pytest.mark.parametrize("change", [0.1, 0.25])
def test_bars_are_changes_in_percent(change):
    figure = inside(TWO.plot(change=change))
    (axes,) = figure.axes
    up = [100 * change * slope * at / 8.0 for slope, at in ((-20.0, 0.5), (0.01, 300.0))]
    expected = [sorted((0.0, by)) for by in (*up, *(-by for by in up))]
    np.testing.assert_allclose(bars(axes), expected, rtol=1e-12)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["rod length = 0.5", "k = 300"]
    assert axes.get_xlabel() == "change, in %; 1 more parameter not shown"
    assert axes.get_legend().get_texts()[0].get_text() == f"parameter +{100 * change:g} %"


def test_a_functional_that_is_zero_changes_by_amounts():
    figure = inside(sensitivity({"k": 2.0}, {"k": 3.0}, value=0.0).plot())
    np.testing.assert_allclose(bars(figure.axes[0]), [[0.0, 0.6], [-0.6, 0.0]], rtol=1e-12)
    assert figure.axes[0].get_xlabel() == "change"


def test_many_parameters_and_long_names_stay_in_the_picture():
    names = [f"a parameter of a name as long as nobody would like to read it, number {k}" for k in range(40)]
    found = sensitivity(dict.fromkeys(names, 2.0), {name: (-1.0) ** k * k for k, name in enumerate(names)})
    both = kp.Sensitivity(
        {**found.values, "b" * 150: 1.0}, {**found.gradients, "b" * 150: found["largest B.force"]}, found.parameters
    )
    figure = inside(both.plot(most=12, title="a long chain"))
    assert len(figure.axes) == 2 and all(len(axes.patches) == 24 for axes in figure.axes)
    one = inside(view.tornado(both, "largest B.force", most=40, size=(5.0, 12.0)))
    assert len(one.axes[0].patches) == 80 and tuple(one.get_size_inches()) == (5.0, 12.0)


def test_parameters_without_effect_are_bars_of_no_length():
    figure = inside(sensitivity({"k": 2.0, "c": 1.0}, {"k": 0.0, "c": 0.0}).plot())
    assert all(low == high == 0.0 for low, high in bars(figure.axes[0]))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"change": 0.0}, "share above zero"),
        ({"change": "ten"}, "must be a number"),
        ({"most": 0}, "at least one"),
        ({"functionals": "largest A.force"}, "did you mean 'largest B.force'"),
        ({"size": (0.1, 2)}, "inches"),
    ],
)
def test_slips_are_explained(options, says):
    with pytest.raises(kp.ModelError, match=says):
        TWO.plot(**options)


def test_nothing_to_compare_is_said():
    with pytest.raises(kp.ModelError, match="nobody knows what a large change is"):
        sensitivity({"k": 0.0}, {"k": 1.0}).plot()
