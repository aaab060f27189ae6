"""Linearisation against differences of the accelerations, and natural frequencies against exact ones."""

import linkages
import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.linalg import eigh

import kempe as kp
from kempe.simulation.posing import Posed

G = 9.81

# --- mechanisms ---------------------------------------------------------------------------------------------------


def pendulum(angle=0.3, length=2.0, mass=3.0, inertia=0.5):
    m = kp.Mechanism("pendulum", gravity=(0, -G))
    rod = m.body("rod", mass=mass, inertia=inertia, at=length * np.array([np.cos(angle), np.sin(angle)]), angle=angle)
    m.revolute("O", m.ground, rod, on_i=(0, 0), on_j=(-length, 0))
    return m


def double_pendulum(*, damping=0.0, stiffness=0.0, follower=0.0, base=None):
    """Two rods, hanging a little aside; the pivot may be led along a law."""
    m = kp.Mechanism("double pendulum", gravity=(0, -G))
    hub = m.ground
    if base is not None:
        hub = m.body("hub", mass=0.7, inertia=0.1)
        m.translational("guide", m.ground, hub)
        m.driver("shaker", hub.x, base)
    first = m.body("first", mass=2.0, inertia=0.3, at=(0.5 * np.sin(0.2), -0.5 * np.cos(0.2)), angle=-np.pi / 2 + 0.2)
    joint = np.array([np.sin(0.2), -np.cos(0.2)])
    at = joint + 0.4 * np.array([np.sin(0.6), -np.cos(0.6)])
    second = m.body("second", mass=1.0, inertia=0.1, at=at, angle=-np.pi / 2 + 0.6)
    m.revolute("A", hub, first, on_i=(0, 0), on_j=(-0.5, 0))
    m.revolute("B", first, second, on_i=(0.5, 0), on_j=(-0.4, 0))
    if damping or stiffness:
        m.torsion_spring("knee", first, second, stiffness=stiffness, angle=0.1, damping=damping)
    if follower:
        m.force("thrust", second, (follower, 0.3 * follower), on=(0.4, 0), frame="body")
    return m


def four_bar(theta=1.0, spring=40.0, damping=0.3):
    a, b, c, d = 1.0, 3.0, 2.5, 3.2
    drawn = linkages.four_bar(a, b, c, d, theta).assemble()
    m = kp.Mechanism("four-bar", gravity=(0, -G))
    bodies = {
        name: m.body(
            name, mass=mass, inertia=0.4, at=(drawn[f"{name}.x"], drawn[f"{name}.y"]), angle=drawn[f"{name}.angle"]
        )
        for name, mass in (("crank", 1.0), ("coupler", 2.0), ("rocker", 1.5))
    }
    crank, coupler, rocker = bodies.values()
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-a / 2, 0))
    m.revolute("A", crank, coupler, on_i=(a / 2, 0), on_j=(-b / 2, 0))
    m.revolute("B", coupler, rocker, on_i=(b / 2, 0), on_j=(c / 2, 0))
    m.revolute("C", m.ground, rocker, on_i=(d, 0), on_j=(-c / 2, 0))
    if spring:
        m.spring("spring", m.ground, coupler, on_i=(1.0, 4.0), stiffness=spring, length=1.0, damping=damping)
    return m


def points_and_bars():
    m = kp.Mechanism("points and bars", gravity=(0, -G))
    O, P = m.point("O", at=(0, 0), fixed="xy"), m.point("P", at=(0.9, -0.4))
    Q = m.point("Q", at=(1.4, -1.2), mass=0.5)
    m.bar("first", O, P, mass=2.0)
    m.bar("second", P, Q, mass=1.0)
    m.spring("spring", O, Q, stiffness=7.0, length=1.0, damping=0.2)
    return m


def equations():
    """A particle on a rotating parabola, in polar-like coordinates with a mass matrix that varies."""
    return kp.Equations(
        "bead",
        {"r": 0.7, "phi": 0.4},
        mass=lambda q, p: [[2.0, 0.0], [0.0, 2.0 * q.r**2]],
        force=lambda q, v, t, p: [
            2.0 * q.r * v.phi**2 - 5.0 * (q.r - 0.5) - 0.3 * v.r,
            -4.0 * q.r * v.r * v.phi - 3.0 * kp.sin(q.phi) + kp.sin(2.0 * t) * q.r,
        ],
    )


def parallelogram():
    """Three equal cranks: one of them is redundant."""
    m = kp.Mechanism("parallelogram", gravity=(0.3, -G))
    tip = np.array([np.cos(0.7), np.sin(0.7)])
    coupler = m.body("coupler", mass=2.0, inertia=0.2, at=tip + np.array([1.0, 0.0]))
    for k, x in enumerate((0.0, 2.0, 1.0), start=1):
        crank = m.body(f"crank {k}", mass=1.0, inertia=0.1, at=np.array([x, 0]) + tip / 2, angle=0.7)
        m.revolute(f"O{k}", m.ground, crank, on_i=(x, 0), on_j=(-0.5, 0))
        m.revolute(f"A{k}", crank, coupler, on_i=(0.5, 0), on_j=(x - 1, 0))
    m.spring("spring", m.ground, coupler, on_i=(0, 2), stiffness=50.0, length=0.5)
    return m


# --- linearisation ------------------------------------------------------------------------------------------------

MOVING = {
    "pendulum": (pendulum, {"rod.omega": 1.7}, 0.0),
    "double pendulum": (
        lambda: double_pendulum(damping=0.4, stiffness=3.0),
        {"first.omega": -1.0, "second.omega": 2.0},
        0.0,
    ),
    "follower force": (lambda: double_pendulum(follower=4.0), {"first.omega": 0.5}, 0.0),
    "led pivot": (
        lambda: double_pendulum(damping=0.1, base=lambda t: 0.2 * kp.sin(3.0 * t)),
        {"second.omega": 1.0},
        0.3,
    ),
    "four-bar": (four_bar, {"crank.omega": 2.0}, 0.0),
    "points and bars": (points_and_bars, {"P.vy": 1.0, "Q.vx": -0.5}, 0.0),
    "equations": (equations, {"r.v": 0.3, "phi.v": -0.8}, 0.4),
    "redundant": (parallelogram, {"crank 1.omega": 1.1}, 0.0),
}


def accelerations(m, linear, pose, time, z, rate):
    """The accelerations of the independent coordinates from given values and rates of them."""
    rates = {triple[0]: triple[1] for triple in m.compiled.names}
    second = {triple[0]: triple[2] for triple in m.compiled.names}
    near = {
        **pose.values,
        **dict(zip(pose.values, pose.q + linear.basis @ (z - [pose[n] for n in linear.names]), strict=True)),
    }
    near.update(zip(linear.names, z, strict=True))
    there = m.assemble(start=kp.Pose(near), hold=linear.names, time=time)
    wanted = dict(zip([rates[n] for n in linear.names], rate, strict=True))
    found = m.accelerations(wanted, start=kp.Pose(there.values), time=time)
    return np.array([found[second[n]] for n in linear.names])


@pytest.mark.parametrize("name", MOVING)
def test_the_state_matrix_is_the_derivative_of_the_accelerations(name):
    build, velocities, time = MOVING[name]
    m = build()
    pose = m.assemble(time=time, velocities=velocities)
    linear = m.linearise(pose, time=time)
    rates = {triple[0]: triple[1] for triple in m.compiled.names}
    z = np.array([pose[n] for n in linear.names])
    rate = np.array([pose[rates[n]] for n in linear.names])
    f, h = len(z), 2e-3
    weights = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}

    def slope(by_z, by_rate):
        return (
            sum(
                w * accelerations(m, linear, pose, time, z + k * h * by_z, rate + k * h * by_rate)
                for k, w in weights.items()
            )
            / h
        )

    zero = np.zeros(f)
    by_z = np.column_stack([slope(e, zero) for e in np.eye(f)])
    by_rate = np.column_stack([slope(zero, e) for e in np.eye(f)])
    expected = np.hstack([by_z, by_rate])
    assert linear.A[f:] == pytest.approx(expected, rel=1e-7, abs=1e-7 * np.abs(expected).max())
    assert linear.A[:f] == pytest.approx(np.eye(2 * f)[f:])
    names = [triple[2] for triple in m.compiled.names]
    known = m.accelerations({n: pose.rates[n] for n in pose.rates}, start=kp.Pose(pose.values), time=time)
    assert linear.a == pytest.approx([known[n] for n in names], rel=1e-9, abs=1e-9)


def test_independent_coordinates_of_choice_have_the_same_eigenvalues():
    m = four_bar()
    rest = m.equilibrium()
    found = [m.linearise(rest, coordinates=c).eigenvalues for c in ((), "crank.angle", "coupler.y", ["rocker.x"])]
    for other in found[1:]:
        assert other == pytest.approx(found[0], rel=1e-9)


def test_held_coordinates_stay_held():
    m = double_pendulum(stiffness=3.0)
    rest = m.equilibrium(hold="first.angle")
    linear = m.linearise(rest)
    assert linear.names == ["second.angle"]
    omega2 = (3.0 + 0.4 * G * np.sin(-rest["second.angle"])) / (0.1 + 0.4**2)
    assert abs(linear.eigenvalues[0]) == pytest.approx(np.sqrt(omega2), rel=1e-9)


def test_bad_input_is_named():
    m = double_pendulum()
    with pytest.raises(kp.ModelError, match="2 degrees of freedom"):
        m.linearise(coordinates="first.angle")
    with pytest.raises(kp.ModelError, match="no coordinate 'third"):
        m.linearise(coordinates=["first.angle", "third.angle"])
    with pytest.raises(kp.ModelError, match="does not follow from"):
        m.linearise(coordinates=["first.angle", "first.x"])
    with pytest.raises(kp.ModelError, match="at rest"):
        m.linearise(m.equilibrium(), velocities={"first.omega": 1.0})
    driven = pendulum()
    driven.driver("motor", driven["rod"].angle, kp.constant_speed(1.0))
    with pytest.raises(kp.ModelError, match="no degree of freedom"):
        driven.linearise()
    light = kp.Mechanism("light")
    rod = light.body("rod")
    light.revolute("O", light.ground, rod, at=(0, 0))
    light.torsion_spring("spring", light.ground, rod, stiffness=2.0)
    assert light.equilibrium().stable
    with pytest.raises(kp.ModelError, match=r"no inertia resists.*'rod.angle'"):
        light.modes()


def test_a_singular_position_is_refused():
    m = kp.Mechanism("folded", gravity=(0, -G))
    for k in range(2):
        m.body(f"bar {k}", mass=1.0, inertia=0.1, at=(0, 0.5), angle=np.pi / 2 + k * np.pi)
    m.revolute("O", m.ground, m["bar 0"], at=(0, 0))
    m.revolute("A", m["bar 0"], m["bar 1"], at=(0, 1))
    block = m.body("block", mass=1.0, inertia=0.1)
    m.revolute("B", m["bar 1"], block, at=(0, 0))
    m.translational("guide", m.ground, block)
    with pytest.raises(kp.ModelError, match="singular position"):
        m.linearise(m.assemble())


# --- natural frequencies --------------------------------------------------------------------------------------------


def test_a_pendulum():
    for length, mass, inertia in ((2.0, 3.0, 0.5), (0.01, 40.0, 1e-3), (300.0, 1e-3, 5.0)):
        modes = pendulum(1.0, length, mass, inertia).modes()
        assert modes.frequencies == pytest.approx(
            [np.sqrt(mass * G * length / (inertia + mass * length**2))], rel=1e-12
        )
        assert modes.kinds == ["oscillation"]


def test_a_double_pendulum_of_point_masses():
    """Equal masses and lengths: omega^2 = (2 -+ sqrt 2) g / l."""
    l = 0.8
    m = kp.Mechanism("double pendulum", gravity=(0, -G))
    O, P = m.point("O", at=(0, 0), fixed="xy"), m.point("P", at=(0.3 * l, -0.9 * l), mass=1.3)
    Q = m.point("Q", at=(0.4 * l, -1.8 * l), mass=1.3)
    m.bar("first", O, P, length=l)
    m.bar("second", P, Q, length=l)
    modes = m.modes()
    assert modes.frequencies**2 == pytest.approx((2 + np.array([-1, 1]) * np.sqrt(2)) * G / l, rel=1e-12)
    shape = modes.shape(0)
    assert shape["Q.x"] / shape["P.x"] == pytest.approx(1 + np.sqrt(2), rel=1e-9)
    assert modes.hertz == pytest.approx(modes.frequencies / (2 * np.pi))


def chain(count, ends, damping=0.0, k=100.0, mass=2.0):
    m = kp.Mechanism("chain")
    bodies = [m.body(f"m{i}", mass=mass, inertia=1.0, at=(i + 1.0, 0.0)) for i in range(count)]
    for i, body in enumerate(bodies):
        m.translational(f"rail {i}", m.ground, body)
    if ends:
        m.spring("left", m.ground, bodies[0], stiffness=k, damping=damping)
        m.spring("right", bodies[-1], m.ground, on_j=(count + 1.0, 0), stiffness=k, damping=damping)
    for i in range(count - 1):
        m.spring(f"s{i}", bodies[i], bodies[i + 1], stiffness=k, damping=damping)
    return m


def test_chains_of_masses_and_springs():
    base = 2 * np.sqrt(100.0 / 2.0)
    count = 7
    fixed = chain(count, True).modes()
    assert fixed.frequencies == pytest.approx(
        base * np.sin(np.arange(1, count + 1) * np.pi / (2 * count + 2)), rel=1e-12
    )
    shape = np.sin(2 * np.pi * np.arange(1, count + 1) / (count + 1))
    moved = np.array([fixed.shape(1)[f"m{i}.x"] for i in range(count)])
    assert moved * shape[0] / moved[0] == pytest.approx(shape, abs=1e-10)
    free = chain(count, False).modes()
    assert free.kinds == ["rigid body"] + ["oscillation"] * (count - 1)
    assert free.frequencies[0] == 0
    assert free.frequencies == pytest.approx(base * np.sin(np.arange(count) * np.pi / (2 * count)), rel=1e-12)
    assert np.ptp([free.shape(0)[f"m{i}.x"] for i in range(count)]) < 1e-9
    assert len(chain(count, True).modes(count=3)) == 3


@pytest.mark.parametrize("damping", [1.0, 10.0, 60.0])
def test_proportional_damping(damping):
    """With C = (c/k) K each mode keeps its shape: ratio c omega / (2 k); beyond one, two real eigenvalues."""
    modes = chain(4, True, damping).modes()
    ratio = damping * modes.frequencies / 200.0
    assert modes.damping == pytest.approx(ratio, rel=1e-9)
    assert modes.kinds == ["overdamped" if r > 1 else "oscillation" for r in ratio]
    for s, omega, r in zip(modes.eigenvalues, modes.frequencies, ratio, strict=True):
        root = np.sqrt(complex(r * r - 1))
        assert sorted(s, key=lambda x: (x.real, x.imag)) == pytest.approx(
            sorted(omega * np.array([-r + root, -r - root]), key=lambda x: (x.real, x.imag)), rel=1e-8
        )
    loose = chain(4, False, damping).modes()
    assert loose.kinds[0] == "rigid body"
    assert (loose.eigenvalues[0] == 0).all()


def test_free_bodies_and_unstable_poses_are_named():
    m = kp.Mechanism("afloat")
    m.body("raft", mass=2.0, inertia=1.0)
    assert m.modes().kinds == ["rigid body"] * 3
    top = pendulum(1.4)
    modes = top.modes(top.equilibrium(stable=False))
    assert modes.kinds == ["unstable"]
    assert modes.frequencies == [0]
    growth = np.sqrt(3 * G * 2 / 12.5)
    assert sorted(modes.eigenvalues[0].real) == pytest.approx([-growth, growth], rel=1e-12)
    assert "unstable" in modes.table()
    with pytest.raises(kp.ModelError, match=r"no equilibrium.*'rod.angle'"):
        top.modes(top.assemble())
    with pytest.raises(kp.ModelError, match="no mode 1"):
        modes.shape(1)
    with pytest.raises(kp.ModelError, match="count"):
        top.modes(count=0)
    fed = pendulum()
    fed.user_force("drive", lambda rod: (0, 0, 0.5 * rod.omega), fed["rod"])
    swing = fed.modes()
    assert swing.kinds == ["unstable"]
    assert swing.damping == pytest.approx([-0.5 / (2 * 12.5 * swing.frequencies[0])], rel=1e-9)


def test_a_counterweight_takes_the_stiffness_away():
    m = kp.Mechanism("balance", gravity=(0, -G))
    pivot, along = np.array([0.3, 0.4]), np.array([np.cos(0.2), np.sin(0.2)])
    beam = m.body("beam", mass=1.0, inertia=2.0, at=pivot, angle=0.2)
    m.revolute("O", m.ground, beam, at=pivot)
    for name, place, mass in (("left", -2.0, 1.5), ("right", 1.0, 3.0)):
        m.weld(f"{name} end", beam, m.body(name, mass=mass, inertia=0.1, at=pivot + place * along))
    assert m.equilibrium().stiffness == 0
    assert m.modes().kinds == ["rigid body"]


def ziegler(load, damping=0.0):
    """Two upright rods with elastic hinges, masses 2 and 1 at their ends, and a force that follows the upper one."""
    m = kp.Mechanism("Ziegler's column")
    lower = m.body("lower", mass=2.0, inertia=1e-12, at=(0, 1), angle=np.pi / 2)
    upper = m.body("upper", mass=1.0, inertia=1e-12, at=(0, 2), angle=np.pi / 2)
    m.revolute("O", m.ground, lower, at=(0, 0))
    m.revolute("A", lower, upper, at=(0, 1))
    m.torsion_spring("s1", m.ground, lower, stiffness=1.0, damping=damping)
    m.torsion_spring("s2", lower, upper, stiffness=1.0, damping=damping)
    m.force("load", upper, (-load, 0.0), frame="body")
    return m


def test_zieglers_column_flutters():
    """Without damping at P = (7/2 - sqrt 2) k/l, with the damping b in each hinge at 41/28 k/l + b^2 / (2 m l^3)."""
    critical = 3.5 - np.sqrt(2)
    below, above = (ziegler(p).modes() for p in (critical - 1e-5, critical + 1e-5))
    assert below.kinds == ["oscillation"] * 2
    assert "unstable" in above.kinds
    b = 0.1
    critical = 41 / 28 + b * b / 2
    below, above = (ziegler(p, b).linearise().eigenvalues.real.max() for p in (critical - 1e-6, critical + 1e-6))
    assert below < 0 < above


def test_modes_of_many_bodies_agree_with_the_reduced_matrices_of_a_textbook():
    """Uniform rods in a row, k of them below rod i or j: M_ij = m l^2 (k + 1/2, or 1/3 on the diagonal)."""
    count, l, mass = 12, 0.3, 0.7
    m = kp.Mechanism("rods", gravity=(0, -G))
    previous = m.ground
    for i in range(count):
        rod = m.body(f"rod {i}", mass=mass, inertia=mass * l**2 / 12, at=(0, -(i + 0.5) * l), angle=-np.pi / 2)
        m.revolute(f"J{i}", previous, rod, at=(0, -i * l))
        previous = rod
    i, j = np.indices((count, count))
    beyond = count - 1 - np.maximum(i, j)  # rods that hang from the later one
    M = mass * l**2 * (beyond + np.where(i == j, 1 / 3, 1 / 2))
    K = np.diag(mass * G * l * (count - 1 - np.arange(count) + 0.5))
    assert m.modes().frequencies ** 2 == pytest.approx(eigh(K, M, eigvals_only=True), rel=1e-10)


def test_a_four_bar_swings_as_its_mode_says():
    """The period of small swings about the equilibrium, from simulations, extrapolated to none."""
    m = four_bar(damping=0.0)
    rest = m.equilibrium()
    (omega,) = m.modes(rest).frequencies
    periods = []
    for amplitude in (0.02, 0.01):
        pushed = {"crank.omega": amplitude * omega}
        times = np.linspace(0, 5.5 * np.pi / omega, 4001)
        run = m.simulate(times, start=rest.pose, velocities=pushed, tolerance=1e-12)
        swing = CubicHermiteSpline(run.t, run.array("crank.angle") - rest["crank.angle"], run.array("crank.omega"))
        through = swing.roots(extrapolate=False)
        first, _, second, _, third = through[through > 1.0 / omega]  # the start left out
        periods.append((third - first) / 2)
        assert third - second == pytest.approx(second - first, rel=1e-8)
    limit = (4 * periods[1] - periods[0]) / 3  # the period grows with the square of the amplitude
    assert limit == pytest.approx(2 * np.pi / omega, rel=1e-6)


def test_a_mode_can_be_shown(tmp_path):
    m = four_bar()
    modes = m.modes()
    motion = modes.motion(0, amplitude=0.3)
    posed = Posed(m)
    assert max(np.abs(posed.Phi(q, 0.0)).max() for q in motion.q) < 1e-10  # links keep their lengths
    assert np.ptp(motion.array("crank.angle")) > 0.1
    assert modes.animate(0, tmp_path / "mode.gif", frames=6).stat().st_size > 1000
    assert len(modes.table().splitlines()) == 2
