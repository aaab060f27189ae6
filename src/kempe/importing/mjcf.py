"""MJCF: the format in which models are described for MuJoCo."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kempe.calling import suggestion
from kempe.importing.inertias import Inertial, together
from kempe.importing.mjcf_geoms import Geoms
from kempe.importing.mjcf_settings import Compiler, Defaults, read_whole_model
from kempe.importing.placing import Placement, along, quaternion
from kempe.importing.tree import WORLD, Coupling, Joint, Link, Loop, Tree
from kempe.importing.xml_reading import Node, is_text

#: Sections whose elements act on the model in ways that Kempe does not represent.
SECTIONS = {"actuator": "actuators", "tendon": "tendons", "deformable": "deformable parts", "extension": "plugins"}
KINDS = ("hinge", "slide", "ball", "free")


def read_mjcf(source: str | Path) -> Tree:
    """The tree that an MJCF file, or its text, describes."""
    folder = None if is_text(source) else Path(source).resolve().parent
    return _Reader(read_whole_model(source, folder), folder).tree()


class _Reader:
    """Reads the elements of an MJCF file."""

    def __init__(self, root: Node, folder: Path | None) -> None:
        self.root = root
        self.made = Tree(root.text("model", "MuJoCo model"), np.array([0.0, 0.0, -9.81]))
        self.compiler, self.defaults = Compiler(root), Defaults(root)
        self.geoms = Geoms(root, self.compiler, self.defaults, folder, self.made.leave_out)
        self.sites: dict[str, tuple[str, Placement]] = {}
        self.joints: dict[str, Joint] = {}
        self.contacts = True

    def tree(self) -> Tree:
        """The tree, with what closes its loops."""
        for node in self.root.all("option"):
            self._option(node)
        bodies = [node for section in self.root.all("worldbody") for node in section.children]
        self._content(bodies, Link(WORLD, "", Placement.none()), Placement.none(), None)
        if self.compiler.total_mass > 0:
            self._set_total_mass()
        for section in self.root.all("equality"):
            for number, node in enumerate(section.children):
                self._equality(self.defaults.fill(node, None), number)
        for tag, words in SECTIONS.items():
            for section in self.root.all(tag):
                for node in section.children:
                    self.made.leave_out(words, node.given.get("name") or node.given.get("joint") or f"<{node.tag}>")
        return self.made

    def _option(self, node: Node) -> None:
        self.made.gravity = node.numbers("gravity", 3, self.made.gravity)
        for key, words in (("density", "the density"), ("viscosity", "the viscosity")):
            if node.number(key, 0.0) != 0:
                self.made.leave_out("forces of the air", f"{words} of the medium")
        flag = node.child("flag")
        if flag is not None and flag.given.get("gravity") == "disable":
            self.made.gravity = np.zeros(3)
        if flag is not None and flag.given.get("contact") == "disable":
            self.contacts = False

    # --- bodies -------------------------------------------------------------------------------------------------

    def _content(self, nodes: list[Node], link: Link, frame: Placement, around: str | None) -> list[Node]:
        """Read what stands in a body, or in a frame within it; returns its geoms, whose places are the frame's."""
        geoms: list[Node] = []
        inner: list[Node] = []
        for node in nodes:
            if node.tag == "frame":
                class_ = node.given.get("childclass", around)
                geoms += self._content(node.children, link, frame @ self.compiler.placement(node), class_)
            elif node.tag == "body":
                inner.append(node)
            elif node.tag in ("joint", "freejoint"):
                self._joint(node, link, frame, around)
            elif node.tag == "site":
                site = self.defaults.fill(node, around)
                self.sites[site.given.get("name", "")] = (link.name, frame @ self._site(site))
            elif node.tag == "geom":
                geoms.append(self._geom(self.defaults.fill(node, around), link, frame))
            elif node.tag == "plugin":
                self.made.leave_out("plugins", link.name)
        for node in inner:
            self._body(node, link, frame, node.given.get("childclass", around))
        return geoms

    def _site(self, site: Node) -> Placement:
        """Where a site is in its body; with fromto it is where that lies."""
        if "fromto" not in site.given:
            return self.compiler.placement(site)
        ends = site.numbers("fromto", 6)
        return Placement((ends[:3] + ends[3:]) / 2, along(ends[:3] - ends[3:]))

    def _geom(self, geom: Node, link: Link, frame: Placement) -> Node:
        look = self.geoms.look(geom)
        if look is not None:
            place = frame @ Placement(look.position, look.rotation)
            link.looks.append(type(look)(look.vertices, look.triangles, look.colour, place.position, place.rotation))
        touching = geom.number("contype", 1.0) and geom.number("conaffinity", 1.0)
        if self.contacts and touching and link.name != WORLD:
            self.made.leave_out("contacts of geoms", link.name)
        return geom

    def _body(self, node: Node, parent: Link, frame: Placement, around: str | None) -> None:
        name = node.given.get("name") or f"body {len(self.made.links) + 1}"
        if name == WORLD or name in self.made.links:
            node.wrong("the name is taken already")
        link = Link(name, parent.name, frame @ self.compiler.placement(node), lift=node.number("gravcomp", 0.0))
        self.made.links[name] = link
        children = [child for child in node.children if child.tag != "inertial"]
        link.inertial = self._inertial(node, around)
        self._content(children, link, Placement.none(), around)
        self._complete(link, node)

    def _complete(self, link: Link, node: Node) -> None:
        """Check what is known only when all joints of a body are."""
        kinds = [joint.kind for joint in link.joints]
        if "free" in kinds and (len(kinds) > 1 or link.parent != WORLD):
            node.wrong("a body with a free joint stands in the world itself, and has no other joint")

    def _inertial(self, node: Node, around: str | None) -> Inertial | None:
        said = node.child("inertial")
        way = self.compiler.from_geoms
        found = None
        if said is not None and way != "true":
            found = self._said(said)
        elif way != "false":
            found = together(self._of_geoms(node.children, Placement.none(), around))
        return self._bounded(found, node)

    def _said(self, node: Node) -> Inertial | None:
        mass = node.positive("mass")
        if "fullinertia" in node.given:
            xx, yy, zz, xy, xz, yz = node.numbers("fullinertia", 6)
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            tensor = np.diag(node.numbers("diaginertia", 3, (0.0, 0.0, 0.0)))
        return Inertial(mass, np.zeros(3), tensor).seen_from(self.compiler.placement(node)) if mass > 0 else None

    def _of_geoms(self, nodes: list[Node], frame: Placement, around: str | None) -> list[Inertial]:
        """What the geoms of a body weigh, those in its frames too."""
        found: list[Inertial] = []
        for node in nodes:
            if node.tag == "frame":
                class_ = node.given.get("childclass", around)
                found += self._of_geoms(node.children, frame @ self.compiler.placement(node), class_)
            elif node.tag == "geom":
                own = self.geoms.inertial(self.defaults.fill(node, around))
                found += [] if own is None else [own.seen_from(frame)]
        return found

    def _bounded(self, found: Inertial | None, node: Node) -> Inertial | None:
        """The inertia with the least values that the compiler may ask for."""
        least, moment = self.compiler.least_mass, self.compiler.least_inertia
        if found is None and not (least and moment):
            return None
        found = found or Inertial(0.0, np.zeros(3), np.zeros((3, 3)))
        moments, axes = np.linalg.eigh(found.inertia)
        moments = np.maximum(moments, moment)
        if moments[0] + moments[1] < moments[2] * (1 - 1e-9):
            if not self.compiler.balanced:
                node.wrong("no body has this inertia: the sum of two of its principal moments is below the third")
            moments = np.full(3, moments.mean())
        return Inertial(max(found.mass, least), found.centre, axes @ np.diag(moments) @ axes.T)

    def _set_total_mass(self) -> None:
        moving = [link for link in self.made.links.values() if link.inertial is not None]
        total = sum(link.inertial.mass for link in moving if link.inertial is not None)
        for link in moving:
            if link.inertial is not None:
                link.inertial = link.inertial.scaled(self.compiler.total_mass / total)

    # --- joints -------------------------------------------------------------------------------------------------

    def _joint(self, node: Node, link: Link, frame: Placement, around: str | None) -> None:
        if link.name == WORLD:
            node.wrong("a joint stands in the body that it moves, not in the world")
        node = node if node.tag == "freejoint" else self.defaults.fill(node, around)
        kind = "free" if node.tag == "freejoint" else node.choice("type", KINDS, "hinge")
        name = node.given.get("name") or self._free_name(f"{link.name} {kind}")
        if name in self.joints:
            node.wrong("the name is taken already")
        joint = Joint(name, kind, frame.point(node.numbers("pos", 3, (0.0, 0.0, 0.0))))
        self.joints[name] = joint
        link.joints.append(joint)
        axis = node.numbers("axis", 3, (0.0, 0.0, 1.0))
        if not np.linalg.norm(axis) > 0:
            node.wrong(f"axis has no direction: '{node.given['axis']}'")
        joint.axis = frame.rotation @ axis / np.linalg.norm(axis)
        if kind in ("hinge", "slide"):
            self._one_way(node, joint)
        else:
            said = [k for k in ("stiffness", "damping", "frictionloss", "armature") if node.numbers(k, None, [0]).any()]
            for key in said:
                self.made.leave_out(f"{key} of {kind} joints", name)
            if self._limited(node):
                self.made.leave_out("limits of ball joints", name)

    def _free_name(self, name: str) -> str:
        count, free = 1, name
        while free in self.joints:
            count += 1
            free = f"{name} {count}"
        return free

    def _limited(self, node: Node) -> bool:
        said = node.choice("limited", ("true", "false", "auto"), "auto")
        ranged = bool(node.numbers("range", 2, (0.0, 0.0)).any())
        return ranged and (said == "true" or (said == "auto" and self._auto(node)))

    def _auto(self, node: Node) -> bool:
        if not self.compiler.autolimits:
            node.wrong("it has a range and does not say limited=, which needs autolimits")
        return True

    def _one_way(self, node: Node, joint: Joint) -> None:
        """Numbers of hinges and slides; angles and displacements of Kempe count from the drawn pose."""
        unit = self.compiler.unit if joint.kind == "hinge" else 1.0
        drawn = node.number("ref", 0.0)
        if self._limited(node):
            low, high = (node.numbers("range", 2) - drawn) * unit
            if not low < high:
                node.wrong("range begins above its end")
            joint.limits = (float(low), float(high))
        joint.rest = (node.number("springref", 0.0) - drawn) * unit
        joint.stiffness, joint.damping = (self._linear(node, key) for key in ("stiffness", "damping"))
        joint.friction, joint.armature = node.positive("frictionloss", 0.0), node.positive("armature", 0.0)
        if node.numbers("springdamper", 2, (0.0, 0.0)).any():
            self.made.leave_out("springs given by springdamper", joint.name)

    def _linear(self, node: Node, key: str) -> float:
        """The linear one of up to three coefficients."""
        values = node.numbers(key, None, (0.0,))
        if values[1:].any():
            self.made.leave_out(f"nonlinear {key}", node.given.get("name", node.tag))
        return float(values[0])

    # --- what closes loops --------------------------------------------------------------------------------------

    def _equality(self, node: Node, number: int) -> None:
        if not node.flag("active", True):
            return
        name = node.given.get("name") or f"{node.tag} {number + 1}"
        if node.tag in ("connect", "weld"):
            self.made.loops.append(self._loop(node, name))
        elif node.tag == "joint":
            self._coupling(node, name)
        else:
            self.made.leave_out(f"equality of {node.tag}s", name)

    def _loop(self, node: Node, name: str) -> Loop:
        turned = node.tag == "weld"
        if "site1" in node.given:
            ends = [self._known(node, key, self.sites, "site") for key in ("site1", "site2")]
            (first, on_first), (second, on_second) = (self.sites[end] for end in ends)
            return Loop(name, first, second, on_first, on_second, turned)
        bodies: dict[str, object] = {WORLD: None, **self.made.links}
        first = self._known(node, "body1", bodies, "body")
        second = self._known(node, "body2", bodies, "body") if "body2" in node.given else WORLD
        placed = self.made.placed()
        on_first = Placement.none()
        if not turned:
            on_first = Placement(node.numbers("anchor", 3), np.eye(3))
        else:
            pose = node.numbers("relpose", 7, (0.0,) * 7)
            if pose[3:].any():  # where body2 is to be seen from body1, which need not be as drawn
                return Loop(name, first, second, Placement(pose[:3], quaternion(pose[3:])), Placement.none(), True)
        return Loop(name, first, second, on_first, placed[second].inverse() @ placed[first] @ on_first, turned)

    def _known(self, node: Node, key: str, known: Mapping[str, object], kind: str) -> str:
        name = node.text(key)
        if name not in known:
            node.wrong(f"there is no {kind} '{name}'{suggestion(name, known)}")
        return name

    def _coupling(self, node: Node, name: str) -> None:
        first = self._known(node, "joint1", self.joints, "joint")
        other = self._known(node, "joint2", self.joints, "joint") if "joint2" in node.given else None
        for joint in (first, *([other] if other else [])):
            if self.joints[joint].kind not in ("hinge", "slide"):
                node.wrong(f"'{joint}' must be a hinge or a slide")
        given = [float(c) for c in node.numbers("polycoef", None, (0.0, 1.0, 0.0, 0.0, 0.0))]
        coefficients = [*given, *(0.0, 1.0, 0.0, 0.0, 0.0)[len(given) :]]
        self.made.couplings.append(Coupling(name, first, other, tuple(coefficients if other else coefficients[:1])))
