"""In a notebook a mechanism, a figure and a result show themselves, without a screen and without set-up."""

from __future__ import annotations

import kempe as kp


def pendulum() -> kp.Mechanism:
    m = kp.Mechanism("<pendulum>")
    rod = m.body("rod", at=(0.5, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0))
    m.driver("motor", rod.angle, kp.constant_speed(1.0))
    return m


def test_a_mechanism_is_a_drawing():
    html = pendulum()._repr_html_()
    assert html.startswith("<svg") and "</svg>" in html


def test_what_cannot_be_drawn_is_text():
    assert "&lt;empty&gt;" in kp.Mechanism("<empty>")._repr_html_()


def test_a_figure_is_a_picture():
    result = pendulum().kinematics(1.0)
    assert result.plot("rod.angle")._repr_png_().startswith(b"\x89PNG")
    assert "rod.angle" in result._repr_html_()
