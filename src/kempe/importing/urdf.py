"""URDF: the format in which robots are described for ROS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kempe.calling import suggestion
from kempe.elements.looks import Look
from kempe.errors import ModelError
from kempe.importing import meshes
from kempe.importing.inertias import Inertial
from kempe.importing.meshes import Mesh, read_mesh
from kempe.importing.placing import Placement, euler
from kempe.importing.tree import WORLD, Coupling, Joint, Link, Tree
from kempe.importing.xml_reading import Node, is_text, read_xml

#: URDF's joints as those of a tree; a fixed one is none.
KINDS = {
    "revolute": "hinge",
    "continuous": "hinge",
    "prismatic": "slide",
    "floating": "free",
    "planar": "planar",
    "fixed": "",
}
#: What stands beside links and joints that says something about forces.
LEFT_OUT = {"transmission": "transmissions"}


def read_urdf(source: str | Path, *, fixed_base: bool = True, packages: Mapping[str, str | Path] | None = None) -> Tree:
    """The tree that a URDF file, or its text, describes."""
    robot = read_xml(source)
    for node in robot.everything():
        if node.tag.startswith("xacro:") or any("${" in value for value in node.given.values()):
            node.wrong("xacro is a language that makes URDF; write the URDF first: xacro FILE > robot.urdf")
    if robot.tag != "robot":
        robot.wrong("a URDF file begins with <robot>")
    folder = None if is_text(source) else Path(source).resolve().parent
    return _Reader(robot, folder, dict(packages or {})).tree(fixed_base)


class _Reader:
    """Reads the elements of a URDF file."""

    def __init__(self, robot: Node, folder: Path | None, packages: Mapping[str, str | Path]) -> None:
        self.robot, self.folder, self.packages = robot, folder, packages
        self.links = _by_name(robot, "link")
        self.joints = _by_name(robot, "joint")
        self.colours = {node.given.get("name", ""): _colour(node) for node in robot.all("material")}
        self.made = Tree(robot.text("name", "robot"), np.array([0.0, 0.0, -9.81]))

    def tree(self, fixed_base: bool) -> Tree:
        """The tree, from its root on."""
        ends = self._ends()
        children: dict[str, list[str]] = {}
        for joint, (parent, _) in ends.items():
            children.setdefault(parent, []).append(joint)
        root = self._root({child for _, child in ends.values()})
        if root != WORLD:
            joints = [] if fixed_base else [Joint(f"{root} free", "free")]
            self._add(Link(root, WORLD, Placement.none(), joints))
        reached = [root]
        for parent in reached:
            for joint in children.get(parent, []):
                child = ends[joint][1]
                self._add(Link(child, parent, _origin(self.joints[joint]), self._moving(self.joints[joint])))
                reached.append(child)
        lost = [name for name in self.links if name not in reached]
        if lost:
            self.links[lost[0]].wrong("it hangs in a ring of joints, and not on the root")
        for tag, words in LEFT_OUT.items():
            for node in self.robot.all(tag):
                self.made.leave_out(words, node.given.get("name", tag))
        return self.made

    def _ends(self) -> dict[str, tuple[str, str]]:
        """Joint -> its parent and its child, which must be there and hang on no other joint."""
        found: dict[str, tuple[str, str]] = {}
        above: dict[str, str] = {}
        for name, joint in self.joints.items():
            parent, child = (self._end(joint, end) for end in ("parent", "child"))
            if child in above:
                joint.wrong(f"link '{child}' hangs on joint '{above[child]}' already; loops cannot be said in URDF")
            above[child], found[name] = name, (parent, child)
        return found

    def _end(self, joint: Node, end: str) -> str:
        node = joint.child(end)
        if node is None:
            joint.wrong(f"{end} is missing")
        name = node.text("link")
        if name not in self.links:
            joint.wrong(f"{end}: there is no link '{name}'{suggestion(name, self.links)}")
        return name

    def _root(self, below: set[str]) -> str:
        roots = [name for name in self.links if name not in below]
        if len(roots) != 1:
            words = f"here {', '.join(roots)} hang on nothing" if roots else "here every link hangs on another one"
            self.robot.wrong(f"one link is the root, on which all others hang; {words}")
        return roots[0]

    def _add(self, link: Link) -> None:
        node = self.links[link.name]
        link.inertial = _inertial(node)
        link.looks = [look for visual in node.all("visual") for look in self._looks(visual)]
        self.made.links[link.name] = link
        if node.child("collision") is not None:
            self.made.leave_out("contacts of collision shapes", link.name)

    def _moving(self, node: Node) -> list[Joint]:
        kind = KINDS[node.choice("type", tuple(KINDS))]
        if not kind:
            return []
        name = node.text("name")
        joint = Joint(name, kind)
        axis = node.child("axis")
        if axis is not None and kind != "free":
            joint.axis = _direction(axis, "xyz")
        elif kind != "free":
            joint.axis = np.array([1.0, 0.0, 0.0])  # as URDF has it where nothing is said
        limit, dynamics, mimic = node.child("limit"), node.child("dynamics"), node.child("mimic")
        if limit is not None and node.text("type") in ("revolute", "prismatic"):
            joint.limits = (limit.number("lower", 0.0), limit.number("upper", 0.0))
            if joint.limits[0] > joint.limits[1]:
                limit.wrong(f"joint '{name}': its lower limit is above its upper one")
        if dynamics is not None and kind in ("hinge", "slide"):
            joint.damping = dynamics.positive("damping", 0.0)
            joint.friction = dynamics.positive("friction", 0.0)
        if mimic is not None:
            other = mimic.text("joint")
            if other not in self.joints:
                mimic.wrong(f"joint '{name}' copies '{other}', which is not there{suggestion(other, self.joints)}")
            if kind not in ("hinge", "slide") or KINDS.get(self.joints[other].text("type")) not in ("hinge", "slide"):
                mimic.wrong(f"joint '{name}' and '{other}' must be revolute, continuous or prismatic")
            factors = (mimic.number("offset", 0.0), mimic.number("multiplier", 1.0))
            self.made.couplings.append(Coupling(f"{name} mimic", name, other, factors))
        return [joint]

    def _looks(self, visual: Node) -> list[Look]:
        mesh = self._geometry(visual)
        if mesh is None:
            return []
        place = _origin(visual)
        material = visual.child("material")
        colour = None
        if material is not None:
            colour = _colour(material) or self.colours.get(material.given.get("name", ""))
        return [Look(*mesh, colour or (0.7, 0.7, 0.7, 1.0), place.position, place.rotation)]

    def _geometry(self, visual: Node) -> Mesh | None:
        geometry = visual.child("geometry")
        if geometry is None or not geometry.children:
            visual.wrong("geometry is missing")
        shape = geometry.children[0]
        if shape.tag == "box":
            return meshes.box(shape.numbers("size", 3) / 2)
        if shape.tag == "sphere":
            return meshes.ellipsoid(np.full(3, shape.number("radius")))
        if shape.tag in ("cylinder", "capsule"):
            make = meshes.cylinder if shape.tag == "cylinder" else meshes.capsule
            return make(shape.number("radius"), shape.number("length") / 2)
        if shape.tag != "mesh":
            shape.wrong("must be a box, sphere, cylinder, capsule or mesh")
        return self._mesh(shape.text("filename"), shape.numbers("scale", 3, (1.0, 1.0, 1.0)))

    def _mesh(self, name: str, scale: np.ndarray) -> Mesh | None:
        """A mesh by the name it has in the file; one that cannot be read is noted."""
        try:
            return read_mesh(self._path(name)).scaled(scale)
        except ModelError as error:
            self.made.leave_out("meshes that cannot be shown", str(error))
            return None

    def _path(self, name: str) -> Path:
        """Where a mesh is; package://NAME/... is looked for around the file unless it is said where NAME is."""
        kind, _, rest = name.rpartition("://")
        if kind in ("package", "model"):
            package, _, inner = rest.partition("/")
            if package in self.packages:
                return Path(self.packages[package], inner)
            around = [] if self.folder is None else [self.folder, *self.folder.parents]
            places = [place for folder in around for place in (folder / rest, folder / inner)]
            return next((place for place in places if place.is_file()), Path(name))
        path = Path(rest)
        return path if path.is_absolute() or self.folder is None else self.folder / path


def _by_name(robot: Node, tag: str) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for node in robot.all(tag):
        if found.setdefault(node.text("name"), node) is not node:
            node.wrong("the name is taken already")
    if not found and tag == "link":
        robot.wrong("there are no links")
    return found


def _origin(node: Node) -> Placement:
    """Where something is: roll, pitch and yaw are turns about fixed axes, one after the other."""
    origin = node.child("origin")
    if origin is None:
        return Placement.none()
    zero = (0.0, 0.0, 0.0)
    return Placement(origin.numbers("xyz", 3, zero), euler("XYZ", origin.numbers("rpy", 3, zero)))


def _direction(node: Node, key: str) -> np.ndarray:
    axis = node.numbers(key, 3)
    length = float(np.linalg.norm(axis))
    if not length > 0:
        node.wrong(f"{key} has no direction")
    return axis / length


def _inertial(link: Node) -> Inertial | None:
    node = link.child("inertial")
    if node is None:
        return None
    mass, inertia = node.child("mass"), node.child("inertia")
    if mass is None:
        link.wrong("inertial: mass is missing")
    entries = {
        k: 0.0 if inertia is None else inertia.number(k, 0.0) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    }
    xx, xy, xz, yy, yz, zz = entries.values()
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    size = mass.positive("value")
    if size == 0:
        return None
    return Inertial(size, np.zeros(3), tensor).seen_from(_origin(node))


def _colour(material: Node) -> tuple[float, float, float, float] | None:
    node = material.child("color")
    if node is None:
        return None
    r, g, b, a = (float(value) for value in node.numbers("rgba", 4))
    return r, g, b, a
