"""Signs of forces: where they act, along what they act, and moving with what they act on."""

import numpy as np
import pytest

import kempe as kp
from kempe.view.geometry import drawing_of
from kempe.view.painter import Painter, canvas
from kempe.view.pictures import draw


def press() -> tuple[kp.Mechanism, np.ndarray]:
    """A slider-crank with every kind of force, over a turn."""
    m = kp.Mechanism("press")
    crank, rod, ram = m.body("crank", at=(0.1, 0)), m.body("rod", at=(0.4, 0)), m.body("ram", at=(0.65, 0))
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, on_i=(0.1, 0), on_j=(-0.2, 0))
    m.revolute("B", rod, ram, on_i=(0.25, 0), on_j=(0, 0))
    guide = m.translational("guide", m.ground, ram, axis=(1, 0), at=(0, 0))
    m.driver("motor", crank.angle, kp.constant_speed(2 * np.pi))
    m.spring("coil", m.ground.at((1.0, 0.3)), ram, stiffness=1.0)
    m.spring("both", m.ground.at((0.1, 0.5)), rod, on_j=(0.1, 0), stiffness=1.0, damping=1.0)
    m.spring("dashpot", crank, ram, damping=1.0)
    m.spring("jack", m.ground.at((0.9, -0.4)), rod, force=3.0)
    m.torsion_spring("knee", crank, rod, stiffness=1.0)
    m.bushing("rubber", crank, rod, stiffness=1.0, on_i=(0.1, 0.05))
    m.force("gas", ram, (-2.0, 0.0), on=(0.03, 0.0))
    m.force("late", ram, (0.0, kp.harmonic(-1.0, 1.0)))
    m.force("follower", rod, (0.0, 2.0), frame="body")
    m.force("none", ram, (0.0, 0.0))
    m.torque("load", crank, lambda t: -t)
    m.bump_stop("near", ram.x, 0.2, 1.0)
    m.bump_stop("far", guide.displacement, 0.7, 1.0, side="above")
    m.bump_stop("turned", crank.angle, 7.0, 1.0, side="above")
    return m, m.kinematics(1.0, steps=16).q


@pytest.fixture(scope="module")
def pressed():
    m, q = press()
    return m, drawing_of(m, q)


def test_springs_reach_from_end_to_end_in_every_frame(pressed) -> None:
    _, drawing = pressed
    assert set(drawing.springs) == {"coil", "both", "dashpot"}
    for name, ends in drawing.springs.items():
        start, end = (drawing.points[:, k] for k in ends)
        first, last = drawing.strokes[name][:2]
        np.testing.assert_allclose(drawing.points[:, first[0]], start, atol=1e-12)
        np.testing.assert_allclose(drawing.points[:, last[1]], end, atol=1e-12)
        along = (end - start) / np.linalg.norm(end - start, axis=1)[:, None]
        for k in {k for stroke in drawing.strokes[name] for k in stroke}:
            d = drawing.points[:, k] - start
            share = (d * along).sum(axis=1)
            across = np.abs(d[:, 0] * along[:, 1] - d[:, 1] * along[:, 0])
            assert (share > -1e-12).all() and (share < np.linalg.norm(end - start, axis=1) + 1e-12).all()
            assert across.max() < 0.05 * drawing.size
    np.testing.assert_allclose(drawing.points[0, drawing.springs["coil"][0]], (1.0, 0.3), atol=1e-12)


def test_what_is_drawn_of_a_spring_follows_from_what_it_has(pressed) -> None:
    _, drawing = pressed
    assert len(drawing.strokes["coil"]) == 3  # two leads and the coil
    assert len(drawing.strokes["dashpot"]) == 6  # two leads, cup, bottom, rod and piston
    assert len(drawing.strokes["both"]) == 9  # and two bars that hold them together
    assert "jack" in drawing.actuators and "jack" not in drawing.strokes


def test_a_piston_stays_in_its_cup(pressed) -> None:
    _, drawing = pressed
    ends = [drawing.points[:, k] for k in drawing.springs["dashpot"]]
    cup, _, rod, _ = drawing.strokes["dashpot"][2:]
    mouth, bottom, piston = (np.linalg.norm(drawing.points[:, k] - ends[0], axis=1) for k in (cup[0], cup[1], rod[1]))
    assert (piston < bottom + 1e-12).all() and (piston > mouth - 0.03 * drawing.size).all()


def test_arrows_begin_where_forces_act_and_point_along_them(pressed) -> None:
    _, drawing = pressed
    rod = drawing.points[:, drawing.outlines["rod"]]
    u = (rod[:, 1] - rod[:, 0]) / np.linalg.norm(rod[:, 1] - rod[:, 0], axis=1)[:, None]
    u = u if u[0, 0] > 0 else -u
    expected = {
        "gas": np.array([-1.0, 0.0]),
        "late": np.array([0.0, -1.0]),
        "follower": np.column_stack([-u[:, 1], u[:, 0]]),
    }
    for name, direction in expected.items():
        foot, tip = drawing.points[:, drawing.arrows[name][0]], drawing.points[:, drawing.heads[name][0]]
        length = np.linalg.norm(tip - foot, axis=1)
        np.testing.assert_allclose((tip - foot) / length[:, None], np.broadcast_to(direction, tip.shape), atol=1e-9)
        assert np.ptp(length) < 1e-12 and 0.05 < length[0] / drawing.size < 0.15
    ram = drawing.points[:, drawing.labels["ram"]]
    np.testing.assert_allclose(drawing.points[:, drawing.arrows["gas"][0]], ram + np.array([0.03, 0.0]), atol=1e-12)
    assert "none" not in drawing.arrows


def test_torques_turn_about_the_pin_in_their_sense(pressed) -> None:
    _, drawing = pressed
    arc = drawing.points[0, drawing.arrows["load"]]
    np.testing.assert_allclose(np.ptp(np.hypot(*arc.T)), 0.0, atol=1e-12)  # about O, the origin
    assert (np.diff(np.unwrap(np.arctan2(arc[:, 1], arc[:, 0]))) < 0).all()  # clockwise
    (spiral,) = drawing.strokes["knee"]
    distances = np.linalg.norm(drawing.points[:, spiral] - drawing.points[:, [drawing.joints["A"]]], axis=2)
    assert distances.max() < 0.05 * drawing.size


def test_walls_stand_at_the_limits_and_are_hatched_behind(pressed) -> None:
    _, drawing = pressed
    block = 11.0 / 385.0 * drawing.size
    for name, x, behind in (("near", 0.2 - block, -1.0), ("far", 0.7 + block, 1.0)):
        start, end = drawing.points[0, list(drawing.walls[name])]
        np.testing.assert_allclose([start[0], end[0]], x, atol=1e-9)
        assert start[1] == pytest.approx(-end[1])
        assert np.sign((end - start)[1]) == behind  # so that behind is on the right
    assert "turned" not in drawing.walls


def test_a_spring_on_the_ground_has_a_foot(pressed) -> None:
    _, drawing = pressed
    start, end = drawing.points[:, list(drawing.walls["coil foot"])].transpose(1, 0, 2)
    np.testing.assert_allclose((start + end) / 2, np.broadcast_to((1.0, 0.3), start.shape), atol=1e-12)
    assert np.ptp(start, axis=0).max() < 1e-12


def test_everything_is_painted_and_named(pressed) -> None:
    m, drawing = pressed
    figure = draw(m)
    texts = {t.get_text() for t in figure.axes[0].texts}
    assert {"coil", "both", "dashpot", "jack", "gas", "load", "rubber", "knee"} <= texts
    _, axes, unit = canvas(drawing, "press")
    painter = Painter(axes, drawing, unit)
    for frame in range(len(drawing.points)):
        painter.show(frame)
    assert np.isfinite(drawing.points).all()


def test_a_spring_without_length_can_be_drawn() -> None:
    m = kp.Mechanism("ball")
    m.spring("S", m.ground.at((0.5, 0.5)), m.point("P", (0.5, 0.5)), stiffness=1.0)
    drawing = drawing_of(m, m.assemble().q)
    assert np.isfinite(drawing.points).all()


def test_torsion_springs_of_bars_sit_where_the_bars_meet() -> None:
    m = kp.Mechanism("bars")
    o, a, b = m.point("O", (0, 0), fixed="xy"), m.point("A", (1, 1)), m.point("B", (2, 0.5))
    first, second = m.bar("OA", o, a), m.bar("AB", a, b)
    m.torsion_spring("hip", m.ground, first, stiffness=1.0)
    m.torsion_spring("knee", first, second, stiffness=1.0)
    drawing = drawing_of(m, m.assemble().q)
    for name, at in (("hip", (0, 0)), ("knee", (1, 1))):
        np.testing.assert_allclose(drawing.points[0, drawing.joints[name]], at, atol=1e-12)
