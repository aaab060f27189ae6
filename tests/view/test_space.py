"""What is drawn of a mechanism in space is where the solution says it is; pictures and animations of it."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from PIL import Image

import kempe as kp
from kempe import view
from kempe.elements import Look
from kempe.errors import ModelError
from kempe.view.meshes import moved
from kempe.view.space_loads import add_space_vectors
from kempe.view.space_pictures import Print
from kempe.view.space_stage import SpaceStage
from kempe.view.spatial import scene_of
from kempe.view.vectors import vectors_of


def platform(gravity=(0, 0, -9.81)):
    """A plate on a hinge, a rod on a ball, a slider: with a spring, a driver and loads."""
    m = kp.Mechanism("bench", dim=3, gravity=gravity, units="m, kg, s")
    plate = m.body("plate", mass=2.0, inertia=(0.1, 0.2, 0.3), at=(0.5, 0.0, 0.5))
    rod = m.body("rod", mass=1.0, inertia=(0.05, 0.05, 0.01), at=(1.5, 0.0, 0.5))
    bob = m.body("bob", mass=1.0, inertia=(0.02, 0.02, 0.02), at=(2.0, 0.0, 0.0))
    m.revolute("O", m.ground, plate, at=(0, 0, 0.5), axis=(0, 1, 0))
    m.spherical("A", plate, rod, at=(1, 0, 0.5))
    m.spherical("B", rod, bob, at=(2, 0, 0.5))
    m.spring("coil", m.ground.on((1, 1, 0.5)), rod.on((0, 0, 0)), stiffness=50.0)
    m.force("push", plate.on((0.1, 0.2, 0.0)), (0.0, 1.0, 0.0))
    return m


@pytest.fixture(scope="module")
def swing():
    m = platform()
    return m, m.simulate(np.linspace(0.0, 0.5, 41))


def ends(scene, owner, row):
    """The two ends of the axes of all cylinders of an owner, in space."""
    found = [k for k, piece in enumerate(scene.pieces) if piece.owner == owner and piece.mesh == "cylinder"]
    places = scene.places(row)[found]
    return np.concatenate([places[:, :, 3], places[:, :, 3] + places[:, :, 2]])


def test_frames_of_bodies_are_those_of_the_result(swing):
    m, result = swing
    scene = scene_of(m, result.q)
    stage = SpaceStage(m, result.q)
    for name in ("plate", "rod", "bob"):
        frame = scene.frames[:, stage.frame(m[name])]
        assert frame[:, :, 3] == pytest.approx(np.column_stack([result.array(f"{name}.{c}") for c in "xyz"]))
        axes = [[result.array(f"{name}.{e}.{c}") for e in ("e1", "e2", "e3")] for c in "xyz"]
        assert frame[:, :, :3] == pytest.approx(np.moveaxis(np.array(axes), 2, 0))


def test_rods_of_bodies_meet_at_their_joints_in_every_frame(swing):
    m, result = swing
    scene, stage = scene_of(m, result.q), SpaceStage(m, result.q)
    for joint, bodies in (("A", ("rod",)), ("B", ("rod", "bob"))):
        where = stage.where(m[joint].markers[1])
        for body in bodies:
            for row in (0, 20, 40):
                assert np.linalg.norm(ends(scene, body, row) - where[row], axis=1).min() < 1e-9


def test_a_spring_reaches_from_end_to_end_however_it_stretches(swing):
    m, result = swing
    scene, stage = scene_of(m, result.q), SpaceStage(m, result.q)
    k = next(k for k, piece in enumerate(scene.pieces) if piece.owner == "coil")
    for row in (0, 17, 40):
        place = scene.places(row)[k]
        rod = stage.where(m["rod"].on())[row]
        assert place[:, 3] == pytest.approx([1, 1, 0.5]) and place[:, 2] == pytest.approx(rod - (1, 1, 0.5))


@pytest.mark.parametrize("moments", [(0.4, 0.4, 0.4), (0.1, 0.4, 0.4), (0.6, 0.5, 0.3), (0.4, 0.4, 0.1)])
def test_a_free_body_is_a_solid_with_its_inertia(moments):
    turned = kp.Rotation.euler("ZXZ", (0.3, 0.8, -0.5))
    m = kp.Mechanism("free", dim=3)
    m.body("stone", mass=3.0, inertia=moments, rotation=turned)
    scene = scene_of(m, m.assemble().q)
    solid = next(piece for piece in scene.pieces if piece.alpha < 1)
    vertices, _ = moved(scene.meshes[solid.mesh], solid.place[None])
    corners = vertices[0][scene.meshes[solid.mesh].triangles]
    parts = np.einsum("ni,ni->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6  # tetrahedra to the origin
    total = corners.sum(axis=1)
    second = np.einsum("n,nki,nkj->ij", parts, corners, corners) + np.einsum("n,ni,nj->ij", parts, total, total)
    second *= 3.0 / 20.0 / parts.sum()
    found = np.trace(second) * np.eye(3) - second
    assert found == pytest.approx(np.diag(moments), abs=0.03 * max(moments))  # of facets, in the body's axes


def test_up_is_against_gravity():
    for gravity, up in (((0, -9.81, 0), (0, 1, 0)), ((0, 0, 0), (0, 0, 1)), ((3.0, 0, -4.0), (-0.6, 0, 0.8))):
        m = platform(gravity)
        assert scene_of(m, m.assemble().q).up == pytest.approx(up)


def test_what_was_imported_is_shown_instead_of_rods():
    m = kp.Mechanism("imported", dim=3)
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
    faces = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    body = m.body("shell", mass=1.0, inertia=(1, 1, 1))
    object.__setattr__(body, "looks", (Look(corners, faces, (1.0, 0.0, 0.0, 1.0), np.array([0.0, 0.0, 2.0])),))
    m.revolute("O", m.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    scene = scene_of(m, m.assemble().q)
    (shown,) = [piece for piece in scene.pieces if piece.owner == "shell"]
    assert shown.colour == "#ff0000" and len(scene.meshes[shown.mesh].triangles) == 4
    assert scene.extent.min(axis=0) == pytest.approx([0, 0, 2]) and scene.extent.max(axis=0) == pytest.approx([1, 1, 3])


# --- pictures -------------------------------------------------------------------------------------------------------


def pixels(figure, dpi=80):
    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(int)


@pytest.mark.parametrize("view_", [None, "front", "top", "right", "isometric", (30.0, -20.0)])
def test_a_picture_shows_everything_whole(swing, view_):
    m, _ = swing
    image = pixels(m.draw(view=view_, names=False))
    inside = image[30:-2, 2:-2]
    ink = np.argwhere((inside < 200).any(axis=2))
    assert len(ink) > 500
    low, high = ink.min(axis=0), ink.max(axis=0)
    assert (low > 0).all() and (high < np.array(inside.shape[:2]) - 1).all()  # nothing is cut off


def test_the_nearer_of_two_balls_is_seen():
    m = kp.Mechanism("balls", dim=3)
    for name, y in (("first", -3.0), ("second", 3.0)):
        m.body(name, mass=1.0, inertia=(0.4, 0.4, 0.4), at=(0.0, y, 0.0))
    scene = scene_of(m, m.assemble().q)
    scene.pieces = [replace(piece, alpha=1.0) for piece in scene.pieces]
    for view_, name in (("front", "first"), ("back", "second")):
        printed = Print(m, scene, "", view_)
        printed.show(0)
        image = np.asarray(printed.image.get_array()).astype(float)
        middle = image[image.shape[0] // 2, image.shape[1] // 2 + image.shape[1] // 20]
        hue = np.array(to_rgb(scene.colours[name]))
        assert middle / middle.max() == pytest.approx(hue / hue.max(), abs=0.2)


def test_a_path_in_a_film_and_numbers_of_frames(swing, tmp_path):
    _, result = swing
    path = result.animate(tmp_path / "swing.gif", trace=["bob"], frames=5, vectors=["A.force", "O.moment"])
    with Image.open(path) as film:
        assert film.n_frames == 5
    folder = result.animate(tmp_path / "frames", frames=3, view="front")
    assert len(list(folder.iterdir())) == 3


def test_vectors_are_drawn_from_their_feet_as_long_as_their_scale_says(swing):
    m, result = swing
    scene = scene_of(m, result.q)
    vectors = vectors_of(m, result, ["A.force", "bob.velocity"])
    add_space_vectors(scene, vectors, {"force": 0.01})
    load = result.reaction("A")
    shaft, cone = [k for k, piece in enumerate(scene.pieces) if piece.owner == "A.force"]
    for row in (0, 30):
        places = scene.places(row)
        assert places[shaft, :, 3] == pytest.approx(load.point[row])
        tip = places[cone, :, 3] + places[cone, :, 2]
        assert tip == pytest.approx(load.point[row] + 0.01 * load.force[row])


def test_the_plane_has_no_views_and_nothing_live():
    m = kp.Mechanism("flat")
    m.revolute("O", m.ground, m.body("bar", mass=1.0, inertia=1.0, at=(1, 0)), at=(0, 0))
    with pytest.raises(ModelError, match="in the plane"):
        m.draw(view="front")
    with pytest.raises(ModelError, match="in the plane"):
        view.show(m, m.simulate(0.1))


def test_wrong_names_are_told(swing):
    m, result = swing
    with pytest.raises(ModelError, match="there is no view 'frnt'; did you mean 'front'"):
        m.draw(view="frnt")
    with pytest.raises(ModelError, match=r"B\.force"):
        result.draw(0.1, vectors=["B.forc"])
    with pytest.raises(ModelError, match="no moving part"):
        kp.Mechanism("empty", dim=3).draw()


def test_a_missing_viser_is_told(swing, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ModelError, match=r"pip install kempe\[viser\]"):
        swing[1].show()


def test_paths_are_the_motion_of_their_points(swing):
    m, result = swing
    printed = view.path(result, ["bob", "A"], view="front")
    assert [text.get_text() for text in printed.axes[0].get_legend().get_texts()] == ["bob", "A"]
    moving = view.pictures.history(result, "A", m)
    plate = np.column_stack([result.array(f"plate.{c}") for c in "xyz"])
    assert np.linalg.norm(moving - plate, axis=1) == pytest.approx(0.5)
    with pytest.raises(ModelError):
        view.path(result, ["bbo"])


def test_modes_and_equilibria_in_space_have_pages(tmp_path):
    m = kp.Mechanism("hung", dim=3, gravity=(0, 0, -9.81))
    bob = m.body("bob", mass=1.0, inertia=(0.1, 0.2, 0.3), at=(0.0, 0.0, -1.0))
    m.spherical("O", m.ground, bob, at=(0, 0, 0))
    m.torsion_spring("wound", m.ground, bob, axis=(0, 0, 1), stiffness=1.0)
    assert "WebGL" in m.equilibrium().report(tmp_path / "rest.html").read_text()
    assert "WebGL" in m.modes().report(tmp_path / "modes.html").read_text()
