"""Geoms of MJCF: what they weigh where a body says nothing of that, and how they look."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kempe.calling import suggestion
from kempe.elements.looks import Look
from kempe.errors import ModelError
from kempe.importing import inertias, meshes
from kempe.importing.inertias import Inertial, enclosed, hull
from kempe.importing.meshes import Mesh, read_mesh
from kempe.importing.mjcf_settings import Compiler, Defaults
from kempe.importing.placing import Placement, along, quaternion
from kempe.importing.xml_reading import Node

#: Type -> how many sizes it has.
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
TYPES = (*SIZES, "plane", "hfield", "mesh", "sdf")
#: Geoms of this group and beyond are not shown, by the custom of MuJoCo's viewers.
HIDDEN = 3


class Geoms:
    """Reads geoms, and the meshes and materials that they are made of."""

    def __init__(
        self,
        root: Node,
        compiler: Compiler,
        defaults: Defaults,
        folder: Path | None,
        leave_out: Callable[[str, str], None],
    ) -> None:
        self.compiler, self.folder, self.leave_out = compiler, folder, leave_out
        assets = [defaults.fill(node, None) for section in root.all("asset") for node in section.children]
        self.materials = {node.given.get("name", ""): node for node in assets if node.tag == "material"}
        self.assets = {_mesh_name(node): node for node in assets if node.tag == "mesh"}
        self._meshes: dict[str, Mesh | None] = {}

    def inertial(self, geom: Node) -> Inertial | None:
        """What a geom weighs, in the frame of its body; None for one without mass."""
        group = geom.number("group", 0.0)
        if not self.compiler.groups[0] <= group <= self.compiler.groups[1]:
            return None
        mass, density = geom.positive("mass") if "mass" in geom.given else None, geom.positive("density", 1000.0)
        if mass == 0 or (mass is None and density == 0):
            return None
        body = self._body(geom)
        if body is None:
            return None
        if not body.mass > 0:
            geom.wrong("it has no volume")
        factor = density if mass is None else mass / body.mass
        return body.scaled(factor).seen_from(self.placement(geom))

    def _body(self, geom: Node) -> Inertial | None:
        """A geom of density one in its own frame."""
        kind = self.kind(geom)
        if kind in ("plane", "hfield"):
            return None
        if kind not in SIZES:
            return self._of_mesh(geom, kind)
        if geom.flag("shellinertia", False):
            geom.wrong("shellinertia is not represented for simple solids; give the body's inertial")
        size, place = self._fitted(geom) if "mesh" in geom.given else (self.size(geom), Placement.none())
        return _solid(inertias, kind, size).seen_from(place)

    def _of_mesh(self, geom: Node, kind: str) -> Inertial:
        """What a mesh encloses, in the way that the mesh asks for."""
        if kind == "sdf":
            geom.wrong("the mass of a shape given by distances is not represented; give the body's inertial")
        name = self._asset(geom)
        mesh = self._mesh(name)
        if mesh is None:
            geom.wrong(f"its mass needs mesh '{name}', which cannot be read; give the body's inertial instead")
        way = self.assets[name].choice("inertia", ("convex", "exact", "legacy", "shell"), "legacy")
        body = enclosed(*mesh, way)
        if body is None:
            geom.wrong(f"mesh '{name}' encloses no volume; give the body's inertial, or the mesh inertia=\"shell\"")
        return body

    def _fitted(self, geom: Node) -> tuple[np.ndarray, Placement]:
        """The sizes and the place of a simple solid that is as long as the box that has the inertia of a mesh."""
        if self.compiler.fits_bounds:
            geom.wrong("solids that are fitted by fitaabb are not represented; give the body's inertial")
        body = self._of_mesh(geom, "mesh")
        moments, axes = np.linalg.eigh(body.inertia)
        moments, axes = moments[::-1], axes[:, ::-1] * [1.0, 1.0, np.linalg.det(axes[:, ::-1])]
        half = np.sqrt(np.maximum(1.5 * (moments.sum() - 2 * moments) / body.mass, 0.0))
        across = float(half[:2].mean())
        kind = self.kind(geom)
        sizes = {
            "sphere": [half.mean()],
            "capsule": [across, max(half[2] - across / 2, 0.0)],
            "cylinder": [across, half[2]],
        }.get(kind, list(half))
        return np.array(sizes) * geom.number("fitscale", 1.0), Placement(body.centre, axes)

    def kind(self, geom: Node) -> str:
        """The type of a geom."""
        return geom.choice("type", TYPES, "mesh" if "mesh" in geom.given and "type" not in geom.given else "sphere")

    def size(self, geom: Node) -> np.ndarray:
        """The sizes of a simple solid; its length may follow from where it begins and ends."""
        kind = self.kind(geom)
        given = geom.numbers("size", None, ())
        if "fromto" in geom.given:
            half = float(np.linalg.norm(self._ends(geom)[0] - self._ends(geom)[1])) / 2
            given = np.array([*given[:1], *([half] if SIZES[kind] == 2 else [*given[:1], half])])
        if len(given) < SIZES[kind] or not (given[: SIZES[kind]] > 0).all():
            geom.wrong(f"a {kind} has {SIZES[kind]} sizes above zero, not '{geom.given.get('size', '')}'")
        return given[: SIZES[kind]]

    def _ends(self, geom: Node) -> tuple[np.ndarray, np.ndarray]:
        if self.kind(geom) not in ("capsule", "cylinder", "ellipsoid", "box"):
            geom.wrong("fromto is for capsules, cylinders, ellipsoids and boxes")
        ends = geom.numbers("fromto", 6)
        return ends[:3], ends[3:]

    def placement(self, geom: Node) -> Placement:
        """Where a geom is in its body."""
        if "fromto" not in geom.given:
            return self.compiler.placement(geom)
        start, end = self._ends(geom)
        if not np.linalg.norm(start - end) > 0:
            geom.wrong("fromto begins where it ends")
        return Placement((start + end) / 2, along(start - end))

    # --- looks --------------------------------------------------------------------------------------------------

    def look(self, geom: Node) -> Look | None:
        """How a geom looks, if it is to be seen and has an end."""
        if geom.number("group", 0.0) >= HIDDEN:
            return None
        mesh = self._surface(geom)
        if mesh is None:
            return None
        place = self.placement(geom)
        return Look(*mesh, self._colour(geom), place.position, place.rotation)

    def _surface(self, geom: Node) -> Mesh | None:
        kind = self.kind(geom)
        if kind == "mesh":
            return self._mesh(self._asset(geom))
        if kind not in SIZES or "mesh" in geom.given:
            return None
        return _solid(meshes, kind, self.size(geom))

    def _colour(self, geom: Node) -> tuple[float, float, float, float]:
        material = self.materials.get(geom.given.get("material", ""))
        source = geom if "rgba" in geom.given or material is None else material
        default = (0.5, 0.5, 0.5, 1.0) if source is geom else (1.0, 1.0, 1.0, 1.0)
        r, g, b, a = (float(value) for value in source.numbers("rgba", 4, default))
        return r, g, b, a

    def _asset(self, geom: Node) -> str:
        name = geom.text("mesh")
        if name not in self.assets:
            geom.wrong(f"there is no mesh '{name}'{suggestion(name, self.assets)}")
        return name

    def _mesh(self, name: str) -> Mesh | None:
        """A mesh as it lies in its geom; None, and a note, where it cannot be read."""
        if name not in self._meshes:
            try:
                self._meshes[name] = self._read(self.assets[name])
            except ModelError as error:
                self.leave_out("meshes that cannot be shown", str(error))
                self._meshes[name] = None
        return self._meshes[name]

    def _read(self, node: Node) -> Mesh:
        if "file" in node.given:
            path = Path(self.compiler.meshes, node.text("file"))
            mesh = read_mesh(path if self.folder is None else self.folder / path)
        elif "vertex" in node.given:
            mesh = _said(node)
        else:
            node.wrong("it has neither a file nor vertices")
        mesh = mesh.scaled(node.numbers("scale", 3, (1.0, 1.0, 1.0)))
        turn = quaternion(node.numbers("refquat", 4, (1.0, 0.0, 0.0, 0.0)))
        return Mesh((mesh.vertices - node.numbers("refpos", 3, (0.0, 0.0, 0.0))) @ turn, mesh.triangles)


def _solid(maker: Any, kind: str, size: np.ndarray) -> Any:
    """A simple solid by its sizes: what it weighs, or its surface."""
    if kind == "sphere":
        return maker.ellipsoid(np.full(3, size[0]))
    if kind in ("capsule", "cylinder"):
        return getattr(maker, kind)(float(size[0]), float(size[1]))
    return getattr(maker, kind)(size)


def _mesh_name(node: Node) -> str:
    """The name of a mesh: that of its file where it has none of its own."""
    return node.given.get("name") or Path(node.given.get("file", "")).stem


def _said(node: Node) -> Mesh:
    """A mesh whose vertices stand in the file itself; without faces it is their hull."""
    values = node.numbers("vertex")
    if len(values) % 3:
        node.wrong("vertex has three numbers for each vertex")
    vertices = values.reshape(-1, 3)
    triangles = node.numbers("face").astype(int) if "face" in node.given else hull(vertices).ravel()
    if len(triangles) % 3 or (len(triangles) and not 0 <= triangles.min() <= triangles.max() < len(vertices)):
        node.wrong("face has three numbers of vertices for each triangle")
    if not len(triangles):
        node.wrong("there are no triangles in this mesh")
    return Mesh(vertices, triangles.reshape(-1, 3))
