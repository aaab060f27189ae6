"""Surfaces, frames and cameras of scenes in space, and the painting of hidden surfaces, against plain geometry."""

import numpy as np
import pytest

from kempe.errors import ModelError
from kempe.view.camera import VIEWS, angles_of, camera, level
from kempe.view.meshes import ball, bow, box, coarser, cone, creased, cylinder, faceted, helix, moved, placed, prism
from kempe.view.raster import Canvas
from kempe.view.scene import Scene, along, between

SOLIDS = {
    "cylinder": (cylinder(96), np.pi),
    "cone": (cone(96), np.pi / 3),
    "ball": (ball(96), 4 * np.pi / 3),
    "box": (box(), 1.0),
    "prism": (prism(np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)]), 0.5), 1.0),
}
rng = np.random.default_rng(4)


def volume(mesh):
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    return np.einsum("ni,ni->", a, np.cross(b, c)) / 6


@pytest.mark.parametrize("name", SOLIDS)
def test_a_surface_encloses_its_solid_and_looks_outward(name):
    mesh, exact = SOLIDS[name]
    assert volume(mesh) == pytest.approx(exact, rel=3e-3)


@pytest.mark.parametrize("mesh", [*(mesh for mesh, _ in SOLIDS.values()), helix(5, 0.2, 4.0), bow()])
def test_normals_point_to_the_outer_side_of_their_triangles(mesh):
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    out = np.cross(b - a, c - a)
    there = np.linalg.norm(out, axis=1) > 1e-9
    for k in range(3):
        assert (np.einsum("ni,ni->n", out, mesh.normals[mesh.triangles[:, k]])[there] > 0).all()
    assert np.linalg.norm(mesh.normals, axis=1) == pytest.approx(1.0)


def test_normals_stay_normal_however_a_surface_is_stretched():
    place = rng.normal(size=(3, 4))
    place[:, 0] *= np.sign(np.linalg.det(place[:, :3]))  # no mirror
    mesh = placed(box(), place)
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    exact = np.cross(b - a, c - a)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    assert mesh.normals[mesh.triangles[:, 0]] == pytest.approx(exact)


def test_a_triangle_without_area_shows_nothing():
    mesh = faceted(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0]], float), np.array([[0, 1, 2], [0, 1, 3]]))
    assert len(mesh.triangles) == 1


def test_imported_surfaces_are_smooth_but_for_their_edges():
    round_ = creased(ball(64).vertices, ball(64).triangles)
    out = round_.vertices / np.linalg.norm(round_.vertices, axis=1, keepdims=True)
    assert np.einsum("ni,ni->n", round_.normals, out).min() > 0.99
    square = creased(box().vertices, box().triangles)
    assert np.abs(square.normals).max(axis=1) == pytest.approx(1.0)
    assert len(square.vertices) == 24 and volume(square) == pytest.approx(1.0)


def test_a_coarser_surface_is_nearly_the_same_solid():
    fine = ball(256)
    vertices, triangles = coarser(fine.vertices, fine.triangles, 3000)
    assert 500 < len(triangles) <= 3000
    assert volume(creased(vertices, triangles)) == pytest.approx(4 * np.pi / 3, rel=0.05)
    kept = coarser(fine.vertices, fine.triangles, 10**6)
    assert len(kept[1]) == len(fine.triangles)


# --- frames ---------------------------------------------------------------------------------------------------------


def test_a_rod_reaches_from_one_place_to_the_other():
    a, b = rng.normal(size=(2, 3))
    vertices, _ = moved(cylinder(), along(a, b, 0.1)[None])
    far = (vertices[0] - a) @ (b - a) / ((b - a) @ (b - a))
    off = vertices[0] - a - far[:, None] * (b - a)
    assert far.min() == pytest.approx(0.0, abs=1e-12) and far.max() == pytest.approx(1.0)
    assert np.linalg.norm(off, axis=1).max() == pytest.approx(0.1)


def test_frames_between_moving_places_are_carried_along():
    turn = np.linspace(0.0, 4 * np.pi, 400)
    a, b = np.zeros((400, 3)), np.column_stack([np.cos(turn), np.sin(turn), np.sin(3 * turn)])
    frames = between(a, b)
    axes = frames[:, :, :3]
    assert np.einsum("tij,tik->tjk", axes, axes) == pytest.approx(np.tile(np.eye(3), (400, 1, 1)), abs=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert np.cross(axes[:, :, 2], b) == pytest.approx(0.0, abs=1e-12)
    assert np.abs(np.diff(axes, axis=0)).max() < 0.2  # nothing jumps
    assert between(a, b, stretched=True)[:, :, 2] == pytest.approx(b)


def test_everything_lies_between_the_corners_of_a_scene():
    scene = Scene(np.tile(np.eye(3, 4), (3, 1, 1, 1)))
    moving = np.tile(np.eye(3, 4), (3, 1, 1))
    moving[:, 0, 3] = [0.0, 1.0, 2.0]
    frame = scene.frame(moving)
    scene.globe(frame, np.array([0.0, 1.0, 0.0]), 0.25, "0.5", "ball")
    low, high = scene.extent.min(axis=0), scene.extent.max(axis=0)
    assert low == pytest.approx([-0.25, 0.75, -0.25]) and high == pytest.approx([2.25, 1.25, 0.25])


# --- cameras --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("up", np.concatenate([np.eye(3), -np.eye(3)]))
@pytest.mark.parametrize("view", [*VIEWS, (12.0, -40.0)])
def test_a_picture_is_upright_and_not_mirrored(up, view):
    axes = camera(view, up, np.zeros(3)).axes
    assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert axes[1] @ up >= -1e-12  # what is up is not below
    assert axes[0] @ up == pytest.approx(0.0, abs=1e-12)


def test_in_front_x_is_to_the_right_and_gravity_points_down():
    for up in ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0)):
        axes = camera("front", np.array(up), np.zeros(3)).axes
        assert axes[0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12) and axes[1] == pytest.approx(up, abs=1e-12)
    assert camera("top", np.array([0.0, 0.0, 1.0]), np.zeros(3)).axes == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(level(np.array([0.6, 0.0, 0.8]))) == pytest.approx(1.0)


def test_a_wrong_view_is_told_with_the_nearest_name():
    with pytest.raises(ModelError, match="did you mean 'front'"):
        angles_of("frnt")
    for wrong in ((1.0,), (1.0, 100.0), ("a", "b"), (np.nan, 0.0), 3.0):
        with pytest.raises(ModelError, match="azimuth and elevation"):
            angles_of(wrong)


# --- painting -------------------------------------------------------------------------------------------------------


def painted(corners, triangles, colours, owners=None, alphas=None, size=(60, 40), fine=1):
    canvas = Canvas(*size, fine)
    corners = np.asarray(corners, float)
    count = len(triangles)
    canvas.paint(
        corners,
        np.zeros_like(corners),
        np.asarray(triangles, np.int64),
        np.asarray(colours, float),
        np.zeros(count, np.int32) if owners is None else np.asarray(owners, np.int32),
        np.ones(count) if alphas is None else np.asarray(alphas, float),
    )
    return canvas


def test_the_nearer_of_two_crossing_triangles_is_seen_in_any_order():
    red = [(0, 0, 0), (60, 0, 10), (0, 40, 0)]
    blue = [(0, 0, 10), (60, 0, 0), (0, 40, 10)]
    one = painted(red + blue, [(0, 1, 2), (3, 4, 5)], [(1, 0, 0), (0, 0, 1)]).picture()
    other = painted(red + blue, [(3, 4, 5), (0, 1, 2)], [(0, 0, 1), (1, 0, 0)]).picture()
    assert (one == other).all()
    assert tuple(one[2, 5]) == (0, 0, 255) and tuple(one[2, 50]) == (255, 0, 0)  # they cross at x = 30


def test_triangles_cover_their_area_once():
    corners = rng.uniform((5, 5, 0), (55, 35, 1), size=(3, 3))
    (ax, ay), (bx, by), (cx, cy) = corners[:, :2]
    area = abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) / 2
    seen = painted(corners, [(0, 1, 2)], [(0, 0, 0)], fine=8).picture()
    assert (255 - seen[..., 0].astype(float)).sum() / 255 == pytest.approx(area, rel=0.02)
    # the halves of a square, translucent: no pixel twice, none left out
    square = [(10.2, 10.31, 0), (40.2, 10.31, 0), (40.2, 30.31, 0), (10.2, 30.31, 0)]
    half = painted(square, [(0, 2, 1), (0, 3, 2)], [(0, 0, 0)] * 2, alphas=[0.5, 0.5]).colour[..., 0]
    assert set(np.unique(half)) == {0.5, 1.0} and (half < 1).sum() == 30 * 20


def test_what_is_outside_of_the_picture_does_no_harm():
    corners = [(-500, -400, 0), (700, 20, 0), (-300, 900, 0), (1e5, 1e5, 0), (2e5, 1e5, 0), (1e5, 2e5, 0)]
    seen = painted(corners, [(0, 1, 2), (3, 4, 5)], [(0, 0, 0)] * 2).picture()
    assert (seen == 0).any()


@pytest.mark.parametrize("thin", [0.0, 1e-300, 1e-16, 1e-12, 1e-9, 1e-6])
def test_what_is_seen_from_its_edge_takes_no_time(thin):
    for corners in ([(5, 5, 0), (50, 5, 9), (20, 5 + thin, 3)], [(5, 5, 0), (5, 30, 9), (5 + thin, 20, 3)]):
        assert (painted(corners, [(0, 1, 2)], [(0, 0, 0)]).picture() == 255).all()


def test_an_owner_is_outlined_where_another_begins():
    square = [(10, 10, 0), (30, 10, 0), (30, 30, 0), (10, 30, 0)]
    colour = painted(square, [(0, 1, 2), (0, 2, 3)], [(1, 1, 1)] * 2, owners=[3, 3]).colour[..., 0]
    assert (colour < 1).sum() == 4 * 20 - 4  # its rim alone
