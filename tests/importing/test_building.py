"""Imported mechanisms in motion: against MuJoCo, which integrates joint angles of the same tree."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from robots import ARM_URDF, FOUR_BAR_MJCF, WALKER_MJCF

import kempe as kp
from kempe.importing import Tree, build, read_mjcf, read_urdf

mujoco = pytest.importorskip("mujoco")

UNFUSED = '<mujoco><compiler fusestatic="false" discardvisual="true" inertiafromgeom="false"/></mujoco>'


def quietly(load, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.ModelWarning)
        return load(*args, **options)


def motion(model, qvel: np.ndarray, rigid: bool = False) -> tuple:
    """Velocities and accelerations (angular, then of the frame's origin) of MuJoCo's bodies, by name.

    With ``rigid`` equalities hold exactly, by multipliers, in place of MuJoCo's soft ones.
    """
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(off.mjDSBL_LIMIT | off.mjDSBL_CONTACT | off.mjDSBL_FRICTIONLOSS)
    data = mujoco.MjData(model)
    data.qvel[:] = qvel
    mujoco.mj_forward(model, data)
    if rigid:
        J = data.efc_J.reshape(-1, model.nv)[: data.ne]
        M = np.zeros((model.nv, model.nv))
        for row, unit in zip(M, np.eye(model.nv), strict=True):
            mujoco.mj_mulM(model, data, row, unit)
        free, none = data.qfrc_passive - data.qfrc_bias, np.zeros((len(J), len(J)))
        matrix = np.block([[M, J.T], [J, none]])
        data.qacc[:] = np.linalg.lstsq(matrix, np.concatenate([free, none[0]]), rcond=None)[0][: model.nv]
    mujoco.mj_rnePostConstraint(model, data)
    velocity, acceleration = {}, {}
    for k in range(1, model.nbody):
        rate, second = np.zeros(6), np.zeros(6)
        kind = mujoco.mjtObj.mjOBJ_XBODY
        mujoco.mj_objectVelocity(model, data, kind, k, rate, 0)
        mujoco.mj_objectAcceleration(model, data, kind, k, second, 0)
        second[3:] += model.opt.gravity  # MuJoCo's accelerations are those of the ground that falls up
        velocity[model.body(k).name], acceleration[model.body(k).name] = rate, second
    return data, velocity, acceleration


def axes(m: kp.SpatialMechanism, name: str) -> tuple[np.ndarray, np.ndarray]:
    start = np.array(m.parts[name].start, dtype=float)
    return start[:3], start[3:].reshape(3, 3)


def check_accelerations(tree: Tree, m: kp.SpatialMechanism, model, qvel: np.ndarray, rigid: bool = False) -> None:
    """Accelerations of all bodies at the same velocities."""
    _, velocity, acceleration = motion(model, qvel, rigid)
    placed, rates = tree.placed(), {}
    moving = [name for name in m.parts if name in velocity]
    for name in moving:
        place, e = axes(m, name)
        omega, v = velocity[name][:3], velocity[name][3:]
        v = v + np.cross(omega, place - placed[name].position)
        rates |= {f"{name}.v{c}": v[k] for k, c in enumerate("xyz")}
        rates |= {f"{name}.e{i + 1}.v{c}": np.cross(omega, e[i])[k] for i in range(3) for k, c in enumerate("xyz")}
    found = m.accelerations(velocities=rates)
    for name in moving:
        place, e = axes(m, name)
        omega, alpha = velocity[name][:3], acceleration[name][:3]
        arm = place - placed[name].position
        linear = acceleration[name][3:] + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        ours = [found[f"{name}.a{c}"] for c in "xyz"]
        turning = sum(np.cross(e[i], [found[f"{name}.e{i + 1}.a{c}"] for c in "xyz"]) for i in range(3)) / 2
        size = 1 + np.abs(acceleration[name]).max()
        np.testing.assert_allclose(ours, linear, atol=2e-8 * size, err_msg=name)
        np.testing.assert_allclose(turning, alpha, atol=2e-8 * size, err_msg=name)


@pytest.mark.parametrize("seed", range(4))
def test_an_imported_urdf_accelerates_as_in_mujoco(seed):
    text = ARM_URDF.replace('<robot name="arm">', f'<robot name="arm">{UNFUSED}')
    model = mujoco.MjModel.from_xml_string(text)
    m = quietly(kp.load_urdf, ARM_URDF)
    assert m.mobility().dof == model.nv == 3
    check_accelerations(read_urdf(ARM_URDF), m, model, np.random.default_rng(seed).normal(size=3))


@pytest.mark.parametrize("seed", range(4))
def test_an_imported_mjcf_accelerates_as_in_mujoco(seed):
    """A free torso, armatures, springs, a leg in a frame, and three joints of one body with frames between them."""
    model = mujoco.MjModel.from_xml_string(WALKER_MJCF)
    m = quietly(kp.load_mjcf, WALKER_MJCF)
    assert m.mobility().dof == model.nv
    check_accelerations(read_mjcf(WALKER_MJCF), m, model, np.random.default_rng(seed).normal(size=model.nv))


def test_a_loop_that_mujoco_closes_by_a_soft_equality_is_closed_rigidly():
    model = mujoco.MjModel.from_xml_string(FOUR_BAR_MJCF)
    m = kp.load_mjcf(FOUR_BAR_MJCF)
    info = m.mobility()
    assert info.dof == 1 and info.redundant  # hinges and a ball hold a planar loop in its plane twice
    check_accelerations(read_mjcf(FOUR_BAR_MJCF), m, model, np.zeros(model.nv), rigid=True)


def _two(joints: str, body: str = "", tail: str = "") -> str:
    return f"""<mujoco><compiler angle="radian"/><worldbody><body name="a" pos="0.2 0.1 0.3" euler="0.3 0.2 -0.4">
    <joint name="base" axis="0 1 0"/><geom type="box" size="0.1 0.2 0.3" contype="0"/>
    <body name="b" pos="0.3 0 0.2">{joints}<geom type="box" size="0.05 0.1 0.4" pos="0.1 0 0.3" contype="0"/>{body}
    </body></body></worldbody>{tail}</mujoco>"""


HINGE = '<joint axis="{}" pos="0.1 0 0"/>'
SLIDE = '<joint type="slide" axis="{}"/>'
SEVERAL = {
    "universal": (HINGE.format("1 0 0") + HINGE.format("0 1 0"), 2),
    "spherical": (HINGE.format("1 0 0") + HINGE.format("0 1 1") + HINGE.format("0 0 1"), 3),
    "cylindrical": (HINGE.format("1 0 1") + SLIDE.format("1 0 1"), 2),
    "planar": (SLIDE.format("1 0 0") + SLIDE.format("0 0 1") + HINGE.format("0 1 0"), 3),
    "": ("".join(SLIDE.format(a) + HINGE.format(a) for a in ("1 0 0", "0 1 0", "0 0 1")), 6),
    "a frame": (HINGE.format("1 0 0") + HINGE.format("1 1 0"), 2),
    "frames": (SLIDE.format("1 0 0") + HINGE.format("1 0 0") + HINGE.format("0 1 0"), 3),
    "ball": ('<joint type="ball" pos="0 0.1 0"/>', 3),
}


@pytest.mark.parametrize("wanted", SEVERAL)
def test_several_joints_of_one_body_are_one_joint_where_there_is_such(wanted):
    joints, count = SEVERAL[wanted]
    text = _two(joints)
    m, model = kp.load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    assert m.mobility().dof == model.nv == 1 + count
    frames = [name for name in m.parts if "frame" in name]
    assert len(frames) == {"a frame": 1, "frames": 2}.get(wanted, 0)
    if not frames and wanted not in ("", "ball"):
        assert wanted in {verb for verb, _ in m.recipe}
    check_accelerations(read_mjcf(text), m, model, np.random.default_rng(3).normal(size=model.nv))


def test_what_acts_on_one_joint_of_several_keeps_its_frame():
    text = _two(
        '<joint name="u" axis="1 0 0" damping="0.3" stiffness="2" springref="0.1"/><joint name="v" axis="0 1 0"/>'
    )
    m, model = kp.load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    assert {"base", "u", "v", "u spring", "b frame 1"} <= {*m.parts, *m.elements}
    check_accelerations(read_mjcf(text), m, model, np.random.default_rng(3).normal(size=model.nv))


def test_an_imported_motion_is_mujocos():
    """Two seconds of a free motion, MuJoCo's by small steps of fourth order."""
    text = _two(HINGE.format("1 0 0") + HINGE.format("0 1 0"))
    model = mujoco.MjModel.from_xml_string(
        text.replace("<worldbody>", '<option integrator="RK4" timestep="0.0005"/><worldbody>', 1)
    )
    data = mujoco.MjData(model)
    m = kp.load_mjcf(text)
    result = m.simulate(1.0, steps=10, tolerance=1e-10)
    for k in range(11):
        while data.time < result.t[k] - 1e-9:
            mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        ours = [result.array(f"b.{c}")[k] for c in "xyz"]
        np.testing.assert_allclose(ours, data.xipos[2], atol=1e-7)


def test_couplings_hold():
    text = ARM_URDF.replace(
        '<axis xyz="0 0 2"/>', '<axis xyz="0 0 2"/><mimic joint="elbow" multiplier="0.1" offset="0.02"/>'
    )
    m = quietly(kp.load_urdf, text)
    pose = m.assemble()
    assert m.mobility().dof == 2
    result = m.simulate(0.3, steps=6)
    np.testing.assert_allclose(result["grip.displacement"], 0.02 + 0.1 * result["elbow.angle"], atol=1e-9)
    assert pose is not None


def test_polynomial_couplings_hold():
    tail = '<equality><joint joint1="u" joint2="base" polycoef="0.1 0.5 0.2 -0.3 0.1"/></equality>'
    m = kp.load_mjcf(_two('<joint name="u" axis="1 0 0"/>', tail=tail))
    result = m.simulate(0.5, steps=5)
    s = result["base.angle"]
    np.testing.assert_allclose(result["u.angle"], 0.1 + 0.5 * s + 0.2 * s**2 - 0.3 * s**3 + 0.1 * s**4, atol=1e-8)


def test_limits_become_stops_and_friction_holds():
    text = """<mujoco><compiler angle="degree"/><worldbody><body name="a"><joint name="J" axis="0 1 0" range="-20 30"/>
    <geom type="capsule" size="0.05" fromto="0 0 0 1 0 0" contype="0"/></body></worldbody></mujoco>"""
    m = kp.load_mjcf(text, limits=True)
    result = m.simulate(3.0, steps=300)
    assert result["J.angle"].max() == pytest.approx(np.radians(30), abs=1e-9)
    assert result["J.angle"][-1] == pytest.approx(np.radians(30), abs=1e-9)
    held = kp.load_mjcf(text.replace('range="-20 30"', 'frictionloss="1000"'))
    assert np.abs(held.simulate(1.0, steps=10)["J.angle"]).max() < 1e-9


def test_a_base_is_fixed_or_free():
    fixed, free = (quietly(kp.load_urdf, ARM_URDF, fixed_base=f) for f in (True, False))
    assert "base" not in fixed.parts and free.mobility().dof == fixed.mobility().dof + 6
    falling = free.accelerations()
    total = sum(link.inertial.mass for link in read_urdf(ARM_URDF).links.values() if link.inertial)
    weights = {"base": 4.0, "upper": 2.5, "fore": 1.5, "finger": 0.1}
    assert sum(weights.values()) == pytest.approx(total)
    for c, g in zip("xyz", (0, 0, -9.81), strict=True):
        assert sum(w * falling[f"{name}.a{c}"] for name, w in weights.items()) / total == pytest.approx(g, abs=1e-10)


def test_what_is_fixed_is_part_of_what_carries_it():
    m = quietly(kp.load_urdf, ARM_URDF)
    assert list(m.parts) == ["upper", "fore", "finger"]
    looks = m.parts["upper"].looks
    assert len(looks) == 1 and looks[0].colour == (0.4, 0.4, 0.4, 1.0)
    np.testing.assert_allclose(looks[0].position, np.array([0, 0, 0.2]) - [0.1, 0.02, 0.2], atol=1e-14)


def test_what_is_not_represented_is_told_once_for_each_kind():
    text = _two('<joint type="ball" damping="1"/>', tail='<actuator><motor joint="base"/></actuator>').replace(
        'contype="0"', ""
    )
    with pytest.warns(kp.ModelWarning) as told:
        kp.load_mjcf(text)
    said = [str(warning.message) for warning in told]
    assert len(said) == 3
    for words in ("actuators: base", "damping of ball joints: b ball", "contacts of geoms: a, b"):
        assert any(words in sentence for sentence in said), said


def test_links_without_mass_are_told_and_move_in_kinematics():
    text = """<robot name="r"><link name="a"/><link name="b"/>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
    with pytest.warns(kp.ModelWarning, match="masses of links that have none.*: b"):
        m = kp.load_urdf(text)
    m.driver("motor", m["j"].angle, kp.constant_speed(2.0))
    assert m.kinematics(1.0, steps=4)["j.angle"][-1] == pytest.approx(2.0)


def test_names_that_kempe_does_not_take_are_changed_and_stay_apart():
    text = _two(
        '<joint name="a.1" axis="1 0 0"/>',
        '<body name="a" pos="1 0 0"><joint name="b"/><geom size="0.1" contype="0"/></body>',
    )
    m = kp.load_mjcf(text.replace('<body name="a" pos="0.2', '<body name="x.y" pos="0.2'))
    assert {"x_y", "b", "a", "base", "a_1", "b 2"} <= {*m.parts, *m.elements}


def test_a_mechanism_that_was_imported_is_saved_and_read(tmp_path):
    m = quietly(kp.load_mjcf, WALKER_MJCF, limits=True)
    read = kp.load(m.save(tmp_path / "walker.kempe.yaml"))
    one, other = m.accelerations(), read.accelerations()
    assert one.values == other.values


def test_weight_that_is_compensated_is_lifted():
    text = _two(HINGE.format("1 0 0")).replace('<body name="b"', '<body name="b" gravcomp="0.7"')
    m, model = kp.load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    check_accelerations(read_mjcf(text), m, model, np.zeros(model.nv))


def test_a_link_without_mass_between_two_joints_is_carried_along():
    text = """<robot name="r"><link name="base"/><link name="cross"/><link name="bob"><inertial><origin xyz="0.3 0 0"/>
    <mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="u" type="continuous"><parent link="base"/><child link="cross"/><axis xyz="0 1 0"/></joint>
    <joint name="v" type="continuous"><parent link="cross"/><child link="bob"/><axis xyz="0 0 1"/></joint></robot>"""
    m = kp.load_urdf(text)
    assert m.mobility().dof == 2
    assert m.accelerations()["bob.az"] == pytest.approx(-9.81 * 2 * 0.3**2 / (2 * 0.3**2 + 0.1), rel=1e-7)


def test_a_point_mass_is_carried():
    text = """<robot name="pendulum"><link name="top"/><link name="bob">
    <inertial><origin xyz="0 0 -2"/><mass value="3"/></inertial></link>
    <joint name="pin" type="continuous"><parent link="top"/><child link="bob"/><axis xyz="0 1 0"/>
    </joint></robot>"""
    m = kp.load_urdf(text, gravity=(9.81, 0, 0))
    found = m.accelerations()
    np.testing.assert_allclose([found[f"bob.a{c}"] for c in "xyz"], [9.81, 0, 0], atol=1e-7)


def test_a_tree_may_be_built_with_any_class():
    m = build(read_mjcf(FOUR_BAR_MJCF), kp.Mechanism, gravity=(0, 0, 0))
    assert isinstance(m, kp.SpatialMechanism) and tuple(m.gravity) == (0, 0, 0)


def test_the_command_writes_a_model_file_and_says_what_it_leaves_out(tmp_path):
    from typer.testing import CliRunner

    from kempe.cli import app

    robot = tmp_path / "arm.urdf"
    robot.write_text(ARM_URDF)
    done = CliRunner().invoke(app, ["import", str(robot), "--free-base"])
    assert done.exit_code == 0 and "limits of joints" in done.output
    assert kp.load(tmp_path / "arm.kempe.yaml").mobility().dof == 9
    wrong = CliRunner().invoke(app, ["import", str(tmp_path / "nothing.xml")])
    assert wrong.exit_code == 2 and "No such file" in wrong.output
