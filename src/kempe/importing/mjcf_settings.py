"""What an MJCF file says once for all: included files, the compiler's settings, defaults by class."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kempe.calling import suggestion
from kempe.errors import ModelError
from kempe.importing.placing import Placement, about, along, axes, euler, quaternion
from kempe.importing.xml_reading import Node, read_xml

#: Elements that make others, which only MuJoCo itself can write out.
MAKERS = ("replicate", "attach", "composite", "flexcomp")


def read_whole_model(source: str | Path, folder: Path | None) -> Node:
    """The outermost element of a model with all included files in place."""
    root = read_xml(source)
    if root.tag == "robot":
        root.wrong("this is URDF: kp.load_urdf reads it")
    if root.tag != "mujoco":
        root.wrong("an MJCF file begins with <mujoco>")
    _include(root, folder, set())
    for node in root.everything():
        if node.tag in MAKERS:
            node.wrong(
                f"<{node.tag}> makes elements of others, which is not read here; let MuJoCo write them out: "
                "mujoco.mj_saveLastXML after loading"
            )
    return root


def _include(node: Node, folder: Path | None, seen: set[Path]) -> None:
    """Put the contents of included files where they are included; their places are counted from the main file."""
    found: list[Node] = []
    for child in node.children:
        if child.tag != "include":
            _include(child, folder, seen)
            found.append(child)
            continue
        path = Path(child.text("file"))
        path = path if path.is_absolute() or folder is None else folder / path
        if path in seen:
            child.wrong(f"{path} is included twice")
        seen.add(path)
        try:
            inner = read_xml(path)
        except ModelError as error:
            child.wrong(str(error))
        _include(inner, folder, seen)
        found += inner.children
    node.children = found


class Defaults:
    """Attributes that elements have by their class: those of the class, of the classes around it, of "main"."""

    def __init__(self, root: Node) -> None:
        self._classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for node in root.all("default"):
            self._add(node, "main", node.given.get("class", "main"))

    def _add(self, node: Node, above: str, name: str) -> None:
        own = self._classes.setdefault(name, {tag: dict(given) for tag, given in self._classes[above].items()})
        for child in node.children:
            if child.tag != "default":
                own.setdefault(child.tag, {}).update({k: v for k, v in child.given.items() if k != "class"})
        for child in node.all("default"):
            self._add(child, name, child.text("class"))

    def fill(self, node: Node, around: str | None) -> Node:
        """An element with the attributes it does not say itself; ``around`` is the class of the bodies it is in."""
        name = node.given.get("class", around or "main")
        if name not in self._classes:
            node.wrong(f"there is no class '{name}'{suggestion(name, self._classes)}")
        given = {**self._classes[name].get(node.tag, {}), **node.given}
        return Node(node.tag, given, node.where, node.line, node.children)


class Compiler:
    """How numbers are to be read."""

    def __init__(self, root: Node) -> None:
        said: dict[str, str] = {}
        for node in root.all("compiler"):
            said.update(node.given)
        node = Node("compiler", said, root.where, next(root.all("compiler"), root).line)
        self.unit = np.pi / 180 if node.choice("angle", ("radian", "degree"), "degree") == "degree" else 1.0
        self.sequence = node.text("eulerseq", "xyz")
        if len(self.sequence) != 3 or not set(self.sequence.lower()) <= set("xyz"):
            node.wrong(f"eulerseq has three letters of x, y and z, not '{self.sequence}'")
        if node.text("coordinate", "local") != "local":
            node.wrong("global coordinates are of old versions; save the model with a new MuJoCo first")
        self.autolimits = node.flag("autolimits", True)
        self.from_geoms = node.choice("inertiafromgeom", ("auto", "true", "false"), "auto")
        self.groups = node.numbers("inertiagrouprange", 2, (0, 5))
        self.least_mass, self.least_inertia = node.positive("boundmass", 0.0), node.positive("boundinertia", 0.0)
        self.balanced = node.flag("balanceinertia", False)
        self.fits_bounds = node.flag("fitaabb", False)
        self.total_mass = node.number("settotalmass", -1.0)
        self.meshes = node.text("meshdir", node.text("assetdir", ""))

    def placement(self, node: Node) -> Placement:
        """Where an element is, by pos and one of the ways in which a turn may be written."""
        return Placement(node.numbers("pos", 3, (0.0, 0.0, 0.0)), self.rotation(node.given, node))

    def rotation(self, given: Mapping[str, str], node: Node) -> np.ndarray:
        """The turn of an element; no turn where nothing is said."""
        ways = [way for way in ("axisangle", "euler", "xyaxes", "zaxis") if way in given]
        if len(ways) > 1:
            node.wrong(f"its turn is given by {ways[0]} and by {ways[1]}")
        way = ways[0] if ways else "quat"
        count = {"axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3, "quat": 4}[way]
        values = node.numbers(way, count, (1.0, 0.0, 0.0, 0.0))
        if not np.linalg.norm(values[:3] if way != "quat" else values) > 0 and way != "euler":
            node.wrong(f"{way} has no direction: '{given[way]}'")
        if way == "quat":
            return quaternion(values)
        if way == "axisangle":
            return about(values[:3], float(values[3]) * self.unit)
        if way == "euler":
            return euler(self.sequence, values * self.unit)
        if way == "zaxis":
            return along(values)
        if not np.linalg.norm(np.cross(values[:3], values[3:])) > 0:
            node.wrong(f"the axes of xyaxes are parallel: '{given[way]}'")
        return axes(values[:3], values[3:])
