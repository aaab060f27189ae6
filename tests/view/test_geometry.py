"""What is drawn is where the solution says it is, and as large as the motion needs."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import kempe as kp
from kempe.view.drawing import around
from kempe.view.geometry import drawing_of

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXTS = {p.stem: p.read_text() for p in EXAMPLES.glob("*.py")}
NAMES = sorted(name for name, text in TEXTS.items() if "\nTIMES = " in text and "dim=3" not in text)  # driven linkages


def example(name):
    spec = importlib.util.spec_from_file_location(f"drawn_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.build()
    return model, model.kinematics(module.TIMES, **module.OPTIONS)


@pytest.fixture(scope="module")
def examples():
    known = {}

    def get(name):
        if name not in known:
            model, result = example(name)
            known[name] = (model, result, drawing_of(model, result.q))
        return known[name]

    return get


def xy(result, name):
    return np.column_stack([result.array(f"{name}.x"), result.array(f"{name}.y")])


def off_segment(points, start, end):
    """How far points are from a segment, frame by frame."""
    d = end - start
    share = np.clip(((points - start) * d).sum(axis=1) / (d * d).sum(axis=1), 0.0, 1.0)
    return np.linalg.norm(points - start - share[:, None] * d, axis=1)


@pytest.mark.parametrize("name", NAMES)
def test_every_link_is_rigid_and_every_index_exists(name, examples):
    _, result, drawing = examples(name)
    frames, count, _ = drawing.points.shape
    assert frames == len(result)
    assert np.isfinite(drawing.points).all()
    used = [k for group in (*drawing.links.values(), *drawing.curves.values(), *drawing.guides) for k in group]
    used += [*drawing.pins, *drawing.anchors, *drawing.dots, *drawing.labels.values(), *drawing.joints.values()]
    assert used and min(used) >= 0 and max(used) < count
    for indices in [*drawing.links.values(), *drawing.curves.values()]:
        corners = drawing.points[:, indices]
        lengths = np.linalg.norm(corners - corners[:, :1], axis=2)
        assert np.abs(lengths - lengths[0]).max() < 1e-9 * drawing.size
    assert np.ptp(drawing.points[:, drawing.anchors], axis=0).max(initial=0.0) < 1e-12 * drawing.size


@pytest.mark.parametrize("name", NAMES)
def test_bodies_and_points_are_drawn_where_the_solution_has_them(name, examples):
    _, result, drawing = examples(name)
    moving = [part for part in drawing.labels if {f"{part}.x", f"{part}.y"} <= set(result.names)]
    assert moving
    for part in moving:
        np.testing.assert_array_equal(drawing.points[:, drawing.labels[part]], xy(result, part))


@pytest.mark.parametrize("name", NAMES)
def test_a_guide_holds_its_slider_in_every_frame(name, examples):
    _, _, drawing = examples(name)
    for rider, number in drawing.sliders:
        start, end = (drawing.points[:, k] for k in drawing.guides[number])
        assert off_segment(drawing.points[:, rider], start, end).max() < 1e-9 * drawing.size


def test_a_guide_is_no_longer_than_the_motion_needs(examples):
    _, result, drawing = examples("scotch_yoke")
    first, last = drawing.guides[next(n for n in range(len(drawing.guides)) if n not in drawing.slots)]
    length = np.linalg.norm(drawing.points[0, last] - drawing.points[0, first])
    assert np.ptp(result.array("yoke.x")) < length < np.ptp(result.array("yoke.x")) + 0.15 * drawing.size


def test_a_slot_moves_with_its_body(examples):
    _, result, drawing = examples("quick_return")
    (number,) = drawing.slots
    first, last = drawing.guides[number]
    d = drawing.points[:, last] - drawing.points[:, first]
    assert np.abs(np.exp(1j * result.array("arm.angle")) - (d[:, 0] + 1j * d[:, 1]) / np.hypot(*d.T)).max() < 1e-12
    assert drawing.owner[number] == "arm"


@pytest.mark.parametrize("name", ["planetary_gear", "cardan_gear"])
def test_pitch_circles_touch(name, examples):
    _, _, drawing = examples(name)
    circles = {c.owner: c for c in drawing.circles}
    pairs = {"planetary_gear": [("sun", "planet"), ("planet", "ring")], "cardan_gear": [("wheel", "ring")]}[name]
    for first, second in pairs:
        a, b = circles[first], circles[second]
        apart = np.linalg.norm(drawing.points[:, b.centre] - drawing.points[:, a.centre], axis=1)
        touching = abs(a.radius - b.radius) if "ring" in (first, second) else a.radius + b.radius
        assert np.abs(apart - touching).max() < 1e-12
    assert circles["ring"].fixed


def test_pitch_radii_are_those_of_the_teeth(examples):
    radii = {c.owner: c.radius for c in examples("planetary_gear")[2].circles}
    assert radii == pytest.approx({"sun": 0.12, "planet": 0.12, "ring": 0.36})
    radii = {c.owner: c.radius for c in examples("cardan_gear")[2].circles}
    assert radii == pytest.approx({"wheel": 0.3, "ring": 0.6})


@pytest.mark.parametrize("crossed", [False, True])
def test_belt_strands_are_tangent_to_both_pulleys(crossed):
    m = kp.Mechanism("belt")
    first, second = m.body("first"), m.body("second", at=(3.0, 1.0))
    m.revolute("A", m.ground, first, at=(0, 0))
    m.revolute("B", m.ground, second, at=(3.0, 1.0))
    m.belt("belt", first, second, radii=(0.4, 0.8), crossed=crossed)
    m.driver("motor", first.angle, kp.constant_speed(1.0))
    drawing = drawing_of(m, m.assemble().q)
    assert drawing.circles[1].radius == pytest.approx(2.0 * drawing.circles[0].radius)
    sides = []
    for start, end in drawing.points[0][drawing.belts]:
        along = end - start
        for circle in drawing.circles:
            to_centre = drawing.points[0, circle.centre] - start
            across = (along[0] * to_centre[1] - along[1] * to_centre[0]) / np.hypot(*along)
            assert abs(across) == pytest.approx(circle.radius, rel=1e-12)
            sides.append(np.sign(across))
    assert len(drawing.belts) == 2
    assert (sides[0] != sides[1]) == crossed


def test_a_rack_rolls_on_its_pinion_without_slip():
    m = kp.Mechanism("rack")
    pinion, rack = m.body("pinion", at=(0.5, 1.0)), m.body("rack", at=(0.2, 0.5))
    m.revolute("shaft", m.ground, pinion, at=(0.5, 1.0))
    m.translational("slide", m.ground, rack, axis=(1.0, 0.0))
    m.rack_and_pinion("teeth", pinion, rack, radius=0.3)
    m.driver("motor", pinion.angle, kp.harmonic(2.0, 1.0))
    result = m.kinematics(6.0)
    drawing = drawing_of(m, result.q)
    (circle,) = drawing.circles
    first, last = (drawing.points[:, k] for k in drawing.racks["teeth"])
    contact = drawing.points[:, circle.centre] - (0.0, 0.3)
    assert off_segment(contact, first, last).max() < 1e-12
    np.testing.assert_allclose(np.ptp(first[:, 0]), 0.3 * np.ptp(result.array("pinion.angle")), rtol=1e-9)


def test_cam_followers_touch_their_profiles(examples):
    _, result, drawing = examples("disk_cam")
    roller = next(c for c in drawing.circles if c.kind == "roller")
    profile = drawing.points[:, drawing.curves["roller"]]
    gap = np.linalg.norm(profile - drawing.points[:, roller.centre][:, None], axis=2).min(axis=1)
    assert np.abs(gap - roller.radius).max() < 1e-4  # the profile is a polygon of 121 corners
    first, last = drawing.faces["flat face face"]
    np.testing.assert_allclose(drawing.points[:, first, 1], result.array("tappet.y"), atol=1e-12)
    highest = drawing.points[:, drawing.curves["flat face"]]
    top = highest[np.arange(len(result)), highest[:, :, 1].argmax(axis=1)]
    np.testing.assert_allclose(top[:, 1], result.array("tappet.y"), atol=2e-5)
    assert off_segment(top, drawing.points[:, first], drawing.points[:, last]).max() < 2e-5


def test_a_curve_on_a_turned_marker_is_drawn_turned():
    m = kp.Mechanism("wire")
    plate = m.body("plate", at=(1.0, 2.0), angle=0.3)
    bead = m.point("bead", at=(1.3, 2.5))
    m.weld("nail", m.ground, plate)
    base = plate.at((0.2, 0.1), angle=0.5)
    m.point_on_curve("wire", base, bead, curve=kp.curve(lambda s: (s, s**2), span=(0.0, 2.0)))
    m.driver("pull", bead.y, kp.constant_speed(0.5))
    result = m.kinematics(1.0)
    drawing = drawing_of(m, result.q)
    wire, path = drawing.points[0, drawing.curves["wire"]], xy(result, "bead")
    assert max(np.linalg.norm(wire - p, axis=1).min() for p in path) < 0.02
    ends = np.array([[0.0, 0.0], [2.0, 4.0]]) @ np.array([[np.cos(0.8), np.sin(0.8)], [-np.sin(0.8), np.cos(0.8)]])
    corner = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]]) @ (0.2, 0.1) + (1.0, 2.0)
    np.testing.assert_allclose(wire[[0, -1]], corner + ends, atol=1e-12)


def test_parameter_values_of_the_result_are_drawn(examples):
    model, _, _ = examples("slider_crank")
    result = model.kinematics(0.5, parameters={"rod length": 0.45})
    drawing = drawing_of(model, result.q, result.provenance["parameters"])
    rod = drawing.points[:, drawing.outlines["rod"]]
    np.testing.assert_allclose(np.linalg.norm(rod[:, 1] - rod[:, 0], axis=1), 0.45, rtol=1e-12)


def test_a_distance_driver_is_an_actuator_that_telescopes(examples):
    _, _, drawing = examples("toggle_press")
    foot, barrel, tip = (drawing.points[:, k] for k in drawing.actuators["cylinder"])
    length, inner = np.linalg.norm(tip - foot, axis=1), np.linalg.norm(barrel - foot, axis=1)
    np.testing.assert_allclose(length[[0, -1]], [0.36, 0.48], rtol=1e-9)
    assert np.ptp(inner) < 1e-12 and inner[0] < length.min()


def test_a_point_free_in_one_direction_runs_in_a_guide(examples):
    _, result, drawing = examples("toggle_press")
    rider, number = drawing.sliders[0]
    first, last = drawing.points[0, list(drawing.guides[number])]
    assert rider == drawing.labels["ram"]
    assert abs(first[0]) < 1e-15 and abs(last[0]) < 1e-15
    assert first[1] < result.array("ram.y").min() and last[1] > result.array("ram.y").max()


def test_massless_links_are_rods_of_their_length(examples):
    _, _, drawing = examples("quick_return")
    i, j = drawing.rods["rod"]
    length = np.linalg.norm(drawing.points[:, j] - drawing.points[:, i], axis=1)
    np.testing.assert_allclose(length, 0.15, rtol=1e-10)


def test_points_without_bars_are_dots():
    m = kp.Mechanism("bead")
    bead = m.point("bead", at=(1.0, 1.0))
    m.constraint("wire", lambda p: p.r[1] - p.r[0] ** 2, bead)
    m.driver("pull", bead.x, lambda t: 1 + kp.sin(t) / 2)
    drawing = drawing_of(m, m.assemble().q)
    assert drawing.dots == [drawing.labels["bead"]]
    low, high = drawing.box
    assert (low < 1.0).all() and (high > 1.0).all()


def test_a_motor_starts_in_the_sense_of_its_law():
    for speed in (2.0, -2.0):
        m = kp.Mechanism("wheel")
        wheel = m.body("wheel")
        m.revolute("shaft", m.ground, wheel, at=(0.3, 0.4))
        m.driver("motor", wheel.angle, kp.constant_speed(speed))
        drawing = drawing_of(m, m.assemble().q)
        index, sense = drawing.motors["motor"]
        assert sense == np.sign(speed)
        np.testing.assert_allclose(drawing.points[0, index], [0.3, 0.4], atol=1e-12)


def test_outlines_are_hulls_strokes_or_points():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5]])
    assert sorted(around(square, range(5))) == [0, 1, 2, 3]
    line = np.array([[1.0, 1.0], [3.0, 3.0], [2.0, 2.0]])
    assert sorted(around(line, range(3))) == [0, 1]
    assert around(line, [2, 2]) == [2]


# --- what touches ---------------------------------------------------------------------------------------------------


def touching():
    """Balls and a rod on one floor, a ring, a stop and pads."""
    m = kp.Mechanism("floor", gravity=(0, -9.81))
    balls = [m.body(f"ball {k}", mass=1.0, inertia=0.005, at=(0.3 * k, 0.1)) for k in range(3)]
    for k, ball in enumerate(balls):
        m.circle_line_contact(f"floor {k}", m.ground, ball, radius=0.1)
    m.circle_contact("pair", balls[0], balls[1], radii=(0.1, 0.1))
    m.circle_contact("ring", m.ground, balls[2], radii=(2.0, 0.1), inside=True)
    rod = m.body("rod", mass=1.0, inertia=0.1, at=(1.4, 0.5), angle=0.6)
    m.point_line_contact("tip", m.ground, rod, on_j=(-0.4, 0))
    m.point_line_contact("wall", m.ground, balls[0], axis=(0, -1), at=(-0.3, 0))
    cart = m.body("cart", mass=1.0, inertia=0.1, at=(0, -1))
    guide = m.translational("way", m.ground, cart, friction=0.2, length=0.5)
    m.stop("buffer", guide.displacement, 0.5, side="above")
    return m


def test_one_wall_for_all_that_touch_a_line_and_one_disc_for_all_contacts():
    m = touching()
    drawing = drawing_of(m, m.assemble().q)
    assert set(drawing.walls) == {"floor 0", "wall", "buffer"}
    floor = drawing.points[0][list(drawing.walls["floor 0"])]
    assert np.abs(floor[:, 1]).max() < 1e-12 and floor[0, 0] < -0.1 and floor[1, 0] > 1.4 - 0.4 * np.cos(0.6)
    assert sorted(c.radius for c in drawing.circles) == [0.1, 0.1, 0.1, 2.0]
    assert [c.fixed for c in drawing.circles if c.radius == 2.0] == [True]
    wall = drawing.points[0][list(drawing.walls["wall"])]
    assert np.ptp(wall[:, 0]) < 1e-12 and wall[0, 1] > wall[1, 1]  # hatched on its right: the balls are on the left
    pads = np.array([drawing.points[0][list(ends)].mean(axis=0) for ends in drawing.faces.values()])
    assert pads == pytest.approx(np.array([[-0.25, -1.0], [0.25, -1.0]]))


def test_a_journal_is_drawn_to_scale_in_its_bearing():
    """Where the radii are known: the bearing about the point of i, the journal about that of j, with their play."""
    laws = [{"contact": kp.Hertz(1e9), "clearance": 0.02}, {"contact": kp.ShortBearing(0.1, 0.1), "clearance": 0.02}]
    for given in [*laws, {"backlash": 0.02, "friction": 0.1, "radius": 0.08}]:
        m = kp.Mechanism("journal")
        shaft = m.body("shaft", at=(0.01, 0.0))
        size = {"bearing_radius": 0.1} if "contact" in given else {}
        m.revolute("B", m.ground, shaft, on_i=(0, 0), on_j=(0, 0), **given, **size)
        drawing = drawing_of(m, m.assemble().q)
        circles = {round(c.radius, 9): drawing.points[0, c.centre].tolist() for c in drawing.circles}
        assert circles == {0.1: [0.0, 0.0], 0.08: [0.01, 0.0]}
        assert len(drawing.pins) == 1 and not drawing.spokes


def test_loose_joints_are_drawn_as_the_joints_they_are():
    drawings = []
    for backlash in (None, 1e-3):
        m = kp.Mechanism("loose")
        rod, slider = m.body("rod", at=(0.5, 0)), m.body("slider", at=(1, 0))
        more = {} if backlash is None else {"backlash": backlash}
        m.revolute("pin", rod, slider, at=(1, 0), **more)
        m.translational("guide", m.ground, slider, **more, **({"length": 0.1} if more else {}))
        drawings.append(drawing_of(m, m.assemble().q))
    tight, loose = drawings
    assert not loose.walls and not loose.circles
    assert len(loose.pins) == len(tight.pins) == 1 and len(loose.guides) == len(tight.guides) == 1
    assert set(loose.joints) == set(tight.joints) == {"pin", "guide"}
