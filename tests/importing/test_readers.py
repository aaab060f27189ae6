"""URDF and MJCF as they are read: against MuJoCo's own compiler, which shares nothing with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robots import ARM_URDF, FOUR_BAR_MJCF, WALKER_MJCF

import kempe as kp
from kempe.importing import Tree, read_mjcf, read_urdf
from kempe.importing.inertias import Inertial

mujoco = pytest.importorskip("mujoco")


def compiled(text: str) -> tuple:
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return model, data


def in_the_world(tree: Tree, name: str) -> Inertial:
    return tree.links[name].inertial.seen_from(tree.placed()[name])


def check_links(tree: Tree, model, data) -> None:
    """Frames, masses, centres and inertias of all links."""
    placed = tree.placed()
    assert list(tree.links) == [model.body(k).name for k in range(1, model.nbody)]
    for k, name in enumerate(tree.links, start=1):
        np.testing.assert_allclose(placed[name].position, data.xpos[k], atol=1e-14)
        np.testing.assert_allclose(placed[name].rotation.ravel(), data.xmat[k], atol=1e-14)
        if tree.links[name].inertial is None:
            assert model.body_mass[k] == 0
            continue
        whole, axes = in_the_world(tree, name), data.ximat[k].reshape(3, 3)
        assert whole.mass == pytest.approx(model.body_mass[k], rel=1e-13)
        np.testing.assert_allclose(whole.centre, data.xipos[k], atol=1e-14)
        np.testing.assert_allclose(whole.inertia, axes @ np.diag(model.body_inertia[k]) @ axes.T, rtol=0, atol=1e-13)


def check_joints(tree: Tree, model, data) -> None:
    """Kinds, axes, anchors and the numbers of all joints."""
    joints = [(link, joint) for link in tree.links.values() for joint in link.joints]
    assert [joint.name for _, joint in joints] == [model.joint(k).name for k in range(model.njnt)]
    placed = tree.placed()
    for k, (link, joint) in enumerate(joints):
        assert joint.kind == ("free", "ball", "slide", "hinge")[model.jnt_type[k]]
        if joint.kind not in ("hinge", "slide"):
            continue
        frame, dof, drawn = placed[link.name], model.jnt_dofadr[k], model.qpos0[model.jnt_qposadr[k]]
        np.testing.assert_allclose(frame.rotation @ joint.axis, data.xaxis[k], atol=1e-14)
        np.testing.assert_allclose(frame.point(joint.place), data.xanchor[k], atol=1e-14)
        assert (joint.limits is not None) == bool(model.jnt_limited[k])
        if joint.limits is not None:
            np.testing.assert_allclose(joint.limits, model.jnt_range[k] - drawn, atol=1e-14)
        spring = model.qpos_spring[model.jnt_qposadr[k]]
        numbers = [joint.stiffness, joint.rest, joint.damping, joint.friction, joint.armature]
        theirs = [np.ravel(model.jnt_stiffness[k])[0], spring - drawn, np.ravel(model.dof_damping[dof])[0]]
        theirs += [model.dof_frictionloss[dof], model.dof_armature[dof]]
        np.testing.assert_allclose(numbers, theirs, atol=1e-14)


def test_a_urdf_is_what_mujoco_makes_of_it():
    kept = (
        '<robot name="arm"><mujoco><compiler fusestatic="false" discardvisual="true" inertiafromgeom="false"/></mujoco>'
    )
    model, data = compiled(ARM_URDF.replace('<robot name="arm">', kept))
    tree = read_urdf(ARM_URDF)
    check_links(tree, model, data)
    check_joints(tree, model, data)


@pytest.mark.parametrize("text", [WALKER_MJCF, FOUR_BAR_MJCF], ids=["walker", "four bar"])
def test_an_mjcf_is_what_mujoco_makes_of_it(text):
    model, data = compiled(text)
    tree = read_mjcf(text)
    check_links(tree, model, data)
    check_joints(tree, model, data)
    np.testing.assert_array_equal(tree.gravity, model.opt.gravity)


TURNS = [
    'quat="1 2 -3 0.5"',
    'axisangle="1 0.2 0 40"',
    'euler="20 -30 75"',
    'xyaxes="1 0.2 0 0.3 1 0.1"',
    'zaxis="1 2 -3"',
]
SEQUENCES = ["xyz", "zxz", "ZYX", "xYz", "ZXz"]


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("sequence", SEQUENCES)
def test_every_way_to_write_a_turn(turn, sequence):
    text = f"""<mujoco><compiler eulerseq="{sequence}"/><worldbody><body name="b" {turn} pos="1 2 3"><freejoint/>
    <geom size="0.1"/></body></worldbody></mujoco>"""
    model, data = compiled(text.replace("<compiler", '<compiler alignfree="false"'))
    check_links(read_mjcf(text), model, data)


CUBE = "0 0 0  1 0 0  0 2 0  1 2 0  0 0 3  1 0 3  0 2 3  1 2 3"
#: A cup: not convex, so that every way to find its volume finds another one.
CUP = ("-1 -1 0  1 -1 0  1 1 0  -1 1 0  -1 -1 1  1 -1 1  1 1 1  -1 1 1  0 0 0.2",
       "0 2 1  0 3 2  0 1 5  0 5 4  1 2 6  1 6 5  2 3 7  2 7 6  3 0 4  3 4 7  4 5 8  5 6 8  6 7 8  7 4 8")  # fmt: skip


@pytest.mark.parametrize("way", ["convex", "exact", "legacy", "shell"])
@pytest.mark.parametrize("scale", ["1 1 1", "-0.5 1 2"])
def test_what_a_mesh_encloses(way, scale):
    faces = "".join(f'<mesh name="cup" vertex="{CUP[0]}" face="{CUP[1]}" inertia="{way}" scale="{scale}"/>')
    text = f"""<mujoco><asset>{faces}</asset><worldbody><body name="b" pos="0.3 0 0"><joint axis="1 0 0"/>
    <geom type="mesh" mesh="cup" pos="0.1 0.2 0.3" euler="10 20 30" density="7"/></body></worldbody></mujoco>"""
    model, data = compiled(text)
    ours, axes = in_the_world(read_mjcf(text), "b"), data.ximat[1].reshape(3, 3)
    theirs = axes @ np.diag(model.body_inertia[1]) @ axes.T
    assert ours.mass == pytest.approx(model.body_mass[1], rel=1e-6)  # MuJoCo's vertices are single numbers
    np.testing.assert_allclose(ours.centre, data.xipos[1], atol=1e-6)
    np.testing.assert_allclose(ours.inertia, theirs, atol=1e-6 * np.abs(theirs).max())


def test_a_mesh_without_faces_is_the_hull_of_its_vertices():
    text = f"""<mujoco><asset><mesh name="box" vertex="{CUBE}"/></asset><worldbody><body name="b"><joint/>
    <geom type="mesh" mesh="box" density="2"/></body></worldbody></mujoco>"""
    box = in_the_world(read_mjcf(text), "b")
    assert box.mass == pytest.approx(12.0)
    np.testing.assert_allclose(box.centre, [0.5, 1.0, 1.5])
    np.testing.assert_allclose(box.inertia, np.diag([13.0, 10.0, 5.0]), atol=1e-12)


def test_compiler_settings_that_change_masses():
    text = """<mujoco><compiler settotalmass="5" boundmass="0.2" boundinertia="0.01" balanceinertia="true"/><worldbody>
    <body name="a"><freejoint/><inertial pos="0 0 0" mass="0.1" diaginertia="1 1 5"/>
    <body name="b"><joint/><geom size="0.1" group="3"/><geom size="0.2"/></body></body></worldbody></mujoco>"""
    model, data = compiled(text)
    check_links(read_mjcf(text), model, data)


def test_included_files_and_meshes_are_found_from_the_main_file(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(
        '<mujoco><body name="arm"><joint/><geom type="mesh" mesh="tip"/></body></mujoco>'
    )
    (tmp_path / "shapes").mkdir()
    corners = ["0 0 0", "1 0 0", "0 1 0", "0 0 1"]
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    text = "".join(f"facet outer loop {' '.join(f'vertex {corners[k]}' for k in f)} endloop endfacet\n" for f in faces)
    (tmp_path / "shapes" / "tip.stl").write_text(f"solid tip\n{text}endsolid")
    main = tmp_path / "main.xml"
    main.write_text("""<mujoco><compiler meshdir="shapes"/><asset><mesh file="tip.stl"/></asset>
    <worldbody><include file="parts/arm.xml"/></worldbody></mujoco>""")
    tree = read_mjcf(main)
    assert in_the_world(tree, "arm").mass == pytest.approx(1000 / 6)
    assert [look.vertices.shape for look in tree.links["arm"].looks] == [(4, 3)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<mujoco><worldbody><body><joint type='hing'/></body></worldbody></mujoco>", "did you mean 'hinge'?"),
        ("<mujoco><worldbody><body><geom class='leg'/></body></worldbody></mujoco>", "there is no class 'leg'"),
        ("<mujoco><worldbody><body pos='1 2'/></worldbody></mujoco>", "pos has 3 numbers, not 2"),
        ("<mujoco><worldbody><body pos='1 2 x'/></worldbody></mujoco>", "pos is not made of numbers: '1 2 x'"),
        ("<mujoco><worldbody><body pos='1 2 nan'/></worldbody></mujoco>", "pos is not finite"),
        ("<mujoco><worldbody><body><replicate count='3'/></body></worldbody></mujoco>", "mj_saveLastXML"),
        ("<mujoco><worldbody><body><geom type='mesh' mesh='m'/></body></worldbody></mujoco>", "there is no mesh 'm'"),
        ("<mujoco><worldbody><joint/></worldbody></mujoco>", "not in the world"),
        ("<robot name='r'><link name='a'/></robot>", "kp.load_urdf reads it"),
        ("<mujoco><include file='nowhere.xml'/></mujoco>", "nowhere.xml"),
        ("<mujoco><worldbody></mujoco>", "this is not XML"),
        ("<!DOCTYPE m [<!ENTITY a 'b'>]><mujoco/>", "document types and entities are not read"),
    ],
)
def test_mistakes_in_mjcf_are_told_with_their_line(text, words):
    with pytest.raises(kp.ModelError, match=r"text:1: ") as error:
        read_mjcf(text)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<robot name="r"/>', "there are no links"),
        ('<robot name="r"><link name="a"/><link name="b"/></robot>', "here a, b hang on nothing"),
        ('<robot name="r"><link name="a"/><link name="a"/></robot>', "the name is taken already"),
        ('<robot name="r" xmlns:xacro="x"><xacro:arm/></robot>', "xacro FILE > robot.urdf"),
        ("<mujoco/>", "a URDF file begins with <robot>"),
        (ARM_URDF.replace('child link="fore"', 'child link="for"'), "did you mean 'fore'?"),
        (ARM_URDF.replace('parent link="upper"', 'parent link="fore"'), "it hangs in a ring of joints"),
        (ARM_URDF.replace('child link="fore"', 'child link="upper"'), "loops cannot be said in URDF"),
        (ARM_URDF.replace('type="continuous"', 'type="continous"'), "did you mean 'continuous'?"),
        (ARM_URDF.replace('xyz="1 1 0"', 'xyz="0 0 0"'), "xyz has no direction"),
        (ARM_URDF.replace('mass value="2.5"', 'mass value="-2.5"'), "must not be below zero"),
    ],
)
def test_mistakes_in_urdf_are_told_with_their_line(text, words):
    with pytest.raises(kp.ModelError, match=r"text:\d+: ") as error:
        read_urdf(text)
    assert words in str(error.value)


def test_a_bomb_of_entities_is_refused_at_once():
    bomb = "<!DOCTYPE a [<!ENTITY x '" + "y" * 1000 + "'>]>" + "<a>" + "&x;" * 1000 + "</a>"
    with pytest.raises(kp.ModelError, match="entities"):
        read_urdf(bomb)
    with pytest.raises(kp.ModelError, match="deep"):
        read_urdf("<a>" * 100_000)


def test_files_that_are_not_there_or_no_text(tmp_path):
    with pytest.raises(kp.ModelError, match="No such file"):
        read_urdf(tmp_path / "nothing.urdf")
    (tmp_path / "raw.urdf").write_bytes(bytes(range(256)))
    with pytest.raises(kp.ModelError, match="not XML"):
        read_urdf(tmp_path / "raw.urdf")


def test_packages_are_found_around_the_file_or_where_it_is_said(tmp_path):
    robot = tmp_path / "arm_description" / "urdf" / "arm.urdf"
    mesh = tmp_path / "arm_description" / "meshes" / "base.obj"
    for path in (robot, mesh):
        path.parent.mkdir(parents=True, exist_ok=True)
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1/1/1 2/2/2 3 -1\n")
    shape = '<mesh filename="package://arm_description/meshes/base.obj" scale="2 1 1"/>'
    text = f'<robot name="r"><link name="a"><visual><geometry>{shape}</geometry></visual></link></robot>'
    robot.write_text(text)
    look = read_urdf(robot).links["a"].looks[0]
    assert look.triangles.tolist() == [[0, 1, 2], [0, 2, 3]] and look.vertices[:, 0].max() == 2
    elsewhere = tmp_path / "elsewhere.urdf"
    elsewhere.write_text(text.replace("arm_description/meshes", "other"))
    found = read_urdf(elsewhere, packages={"other": mesh.parent}).links["a"].looks
    assert len(found) == 1
    missing = read_urdf(Path(elsewhere))
    assert not missing.links["a"].looks and "meshes that cannot be shown" in missing.left_out
