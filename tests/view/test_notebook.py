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


def test_mobility_is_a_table():
    html = pendulum().mobility()._repr_html_()
    assert "<td>degrees of freedom</td><td>1</td>" in html and "<td>driven</td><td>1</td>" in html


def test_an_equilibrium_is_a_table():
    m = kp.Mechanism("hanging", gravity=(0, -9.81))
    m.revolute("pin <1>", m.ground, m.body("rod <1>", mass=1, inertia=1, at=(0.3, -0.9)), at=(0, 0))
    html = m.equilibrium()._repr_html_()
    assert "stable equilibrium" in html and "<td>rod &lt;1&gt;.y</td><td>-0.948683</td>" in html  # straight down


def test_modes_are_a_table():
    m = kp.Mechanism("pendulum", gravity=(0, -9.81))
    m.revolute("pin", m.ground, m.body("rod", mass=1, inertia=0.5, at=(0, -1)), at=(0, 0))
    assert f"{(9.81 / 1.5) ** 0.5:.6g}" in m.modes()._repr_html_()


def test_events_are_a_table():
    m = kp.Mechanism("drop", gravity=(0, -9.81))
    m.bump_stop("floor", m.body("ball", mass=1, inertia=1, at=(0, 1)).y, 0.0, 1e4)
    events = m.simulate(0.6).events
    html = events._repr_html_()
    assert html.count("<tr>") == 1 + len(events) and f"<td>{(2 / 9.81) ** 0.5:.6g}</td>" in html and "touches" in html
    assert "no events" in pendulum().kinematics(1.0).events._repr_html_()


def test_an_animation_and_a_report_show_themselves(tmp_path):
    result = pendulum().kinematics(1.0)
    film = result.animate(tmp_path / "film.gif", frames=3)
    assert film == tmp_path / "film.gif" and film._repr_html_().startswith('<img src="data:image/gif;base64,R0lGOD')
    page = result.report(tmp_path / "page.html")
    shown = page._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;') and shown.count('"') == 4  # nothing ends it early
    frames = result.animate(tmp_path / "frames", frames=2)
    assert frames._repr_html_() == f"<code>{tmp_path / 'frames'}</code>"
