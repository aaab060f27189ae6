"""Meshes: files that are read back, and simple solids whose volume and inertia are known."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import kempe as kp
from kempe.importing import inertias, meshes
from kempe.importing.meshes import Mesh, read_mesh

RNG = np.random.default_rng(4)
SOLIDS = {
    "box": (meshes.box(np.array([0.3, 0.5, 0.7])), inertias.box(np.array([0.3, 0.5, 0.7]))),
    "ellipsoid": (meshes.ellipsoid(np.array([0.3, 0.5, 0.7])), inertias.ellipsoid(np.array([0.3, 0.5, 0.7]))),
    "cylinder": (meshes.cylinder(0.3, 0.5), inertias.cylinder(0.3, 0.5)),
    "capsule": (meshes.capsule(0.3, 0.5), inertias.capsule(0.3, 0.5)),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_a_surface_encloses_what_its_solid_weighs(name, monkeypatch):
    mesh, solid = SOLIDS[name]
    found = inertias.enclosed(*mesh)
    near = 1e-12 if name == "box" else 0.06  # circles are cut into straight pieces
    assert found.mass == pytest.approx(solid.mass, rel=near) and found.mass <= solid.mass * (1 + 1e-12)
    np.testing.assert_allclose(found.centre, 0, atol=1e-12)
    np.testing.assert_allclose(np.diag(found.inertia), np.diag(solid.inertia), rtol=2 * near)


@pytest.mark.parametrize("name", SOLIDS)
def test_surfaces_are_closed_and_look_outwards(name):
    mesh, _ = SOLIDS[name]
    _, places = np.unique(np.round(mesh.vertices, 9), axis=0, return_inverse=True)
    ends = places.ravel()[mesh.triangles]
    edges = [(a, b) for t in ends for a, b in zip(t, np.roll(t, -1), strict=True)]
    assert len(set(edges)) == len(edges) and {(b, a) for a, b in edges} == set(edges)
    corners = mesh.vertices[mesh.triangles]
    assert (np.einsum("ki,ki->k", corners.mean(axis=1), inertias._normals(corners)) > 0).all()


def _binary(corners: np.ndarray, head: bytes = b"solid that is none") -> bytes:
    rows = b"".join(struct.pack("<12fH", *np.zeros(3), *triangle.ravel(), 0) for triangle in corners)
    return head.ljust(80, b" ") + struct.pack("<I", len(corners)) + rows


def _text(corners: np.ndarray) -> bytes:
    lines = ["solid a"]
    for triangle in corners:
        lines += ["facet normal 0 0 0", "outer loop", *(f"vertex {x!r} {y!r} {z!r}" for x, y, z in triangle.tolist())]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid a"]).encode()


@pytest.mark.parametrize("write", [_binary, _text])
def test_stl_comes_back(write, tmp_path):
    corners = RNG.normal(size=(20, 3, 3)).astype(np.float32).astype(float)
    path = tmp_path / "part.STL"
    path.write_bytes(write(corners))
    mesh = read_mesh(path)
    np.testing.assert_array_equal(mesh.vertices[mesh.triangles], corners)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.stl", b"solid", "neither binary nor text"),
        ("a.stl", _binary(RNG.normal(size=(3, 3, 3)))[:-20], "neither binary nor text"),
        ("a.stl", b"solid a\nfacet vertex 0 0 0 vertex 1 x 0", "damaged"),
        ("a.stl", _binary(np.full((1, 3, 3), np.nan)), "not finite"),
        ("a.obj", b"v 0 0 0\nf 1 2 3", "a vertex that is not there"),
        ("a.obj", b"v 0 0 0\n", "no triangles"),
        ("a.obj", b"v 0 zero 0\n", "damaged"),
        ("a.dae", b"", "meshes are read from .stl and .obj files"),
    ],
)
def test_a_mesh_that_cannot_be_read_says_why(name, content, words, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(kp.ModelError, match=words):
        read_mesh(tmp_path / name)


def test_a_mirrored_mesh_still_looks_outwards():
    mirrored = meshes.box(np.ones(3)).scaled(np.array([-2.0, 1.0, 1.0]))
    assert inertias.enclosed(*mirrored).mass == pytest.approx(16.0)
    assert inertias.enclosed(*Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]))) is None


def test_parts_of_a_body_are_the_body():
    """A box cut into two weighs what it did, wherever it is cut and however it is turned."""
    for _ in range(20):
        half, cut = RNG.uniform(0.1, 1.0, 3), RNG.uniform(-0.9, 0.9)
        whole = inertias.box(half)
        pieces = []
        for low, high in ((-1.0, cut), (cut, 1.0)):
            piece = inertias.box(half * [(high - low) / 2, 1, 1])
            pieces.append(inertias.Inertial(piece.mass, np.array([(high + low) / 2 * half[0], 0, 0]), piece.inertia))
        found = inertias.together(pieces)
        assert found.mass == pytest.approx(whole.mass)
        np.testing.assert_allclose(found.centre, 0, atol=1e-12)
        np.testing.assert_allclose(found.inertia, whole.inertia, atol=1e-12)
