"""Equilibrium: forces balance, energy is least, unstable poses are left; inverse dynamics: powers balance."""

import linkages
import numpy as np
import pytest
from scipy.optimize import brentq, minimize

import kempe as kp
from kempe.analysis import saddles
from kempe.simulation.posing import Posed

G = 9.81


def pendulum(angle, length=2.0):
    m = kp.Mechanism("pendulum", gravity=(0, -G))
    at = length * np.array([np.cos(angle), np.sin(angle)])
    rod = m.body("rod", mass=3.0, inertia=0.5, at=at, angle=angle)
    m.revolute("O", m.ground, rod, on_i=(0, 0), on_j=(-length, 0))
    return m


@pytest.mark.parametrize("angle", [-np.pi / 2, -1.0, 0.0, 0.3, 1.5, np.pi / 2, 3.0])
def test_a_pendulum_hangs_down_from_wherever_it_is_drawn(angle):
    rest = pendulum(angle).equilibrium()
    assert np.cos(rest["rod.angle"]) == pytest.approx(0.0, abs=1e-12)
    assert rest["rod.y"] == pytest.approx(-2.0, rel=1e-12)
    assert rest["O.y"] == pytest.approx(3.0 * G)  # Phi = ground - rod: the multiplier lifts
    assert rest["O.x"] == pytest.approx(0.0, abs=1e-10)
    assert rest.stable and rest.stiffness > 0 and rest.residual < 1e-14
    assert abs(rest["rod.angle"] - angle) < np.pi + 1e-9  # it does not go round


def test_the_nearest_equilibrium_may_be_unstable():
    up = pendulum(1.3).equilibrium(stable=False)
    assert up["rod.angle"] == pytest.approx(np.pi / 2, abs=1e-12)
    assert not up.stable and up.stiffness < 0
    assert "unstable" in str(up)


def test_holding_takes_what_a_lever_takes():
    rest = pendulum(0.3).equilibrium(hold="rod.angle")
    assert rest.pose["rod.angle"] == 0.3
    assert rest.holding == pytest.approx({"rod.angle": 3.0 * G * 2.0 * np.cos(0.3)})


def truss(load):
    """Two springs of free length sqrt(1.09) that meet above the line of their feet."""
    m = kp.Mechanism("shallow truss")
    apex = m.point("apex", at=(0, 0.3))
    feet = [m.point(name, at=(x, 0), fixed="xy") for name, x in (("left", -1), ("right", 1))]
    for foot in feet:
        m.spring(f"{foot.name} spring", foot, apex, stiffness=1000.0)
    m.force(apex, (0, -load))
    return m


def test_a_shallow_truss_snaps_through():
    """The load 2 k y (l0 / l - 1), with l^2 = 1 + y^2, has a maximum where l^3 = l0, at which the truss gives way."""
    free = np.hypot(1, 0.3)

    def beyond(y, load):
        return 2000.0 * y * (free / np.hypot(1, y) - 1) - load

    top = np.sqrt(free ** (2 / 3) - 1)
    most = beyond(top, 0.0)
    for share in (0.3, 0.9, 0.999):
        held = truss(share * most).equilibrium()
        assert held["apex.y"] == pytest.approx(brentq(beyond, top, 0.3, share * most), rel=1e-9)
    through = truss(1.001 * most).equilibrium()
    assert through["apex.y"] == pytest.approx(brentq(beyond, -0.8, -0.3, 1.001 * most), rel=1e-9)
    flat = truss(0.0).equilibrium(start=kp.Pose({"apex.x": 0.0, "apex.y": 0.02}), stable=False)
    assert flat["apex.y"] == pytest.approx(0.0, abs=1e-12) and not flat.stable
    left = truss(0.0).equilibrium(start=kp.Pose({"apex.x": 0.0, "apex.y": 0.0}))
    assert abs(left["apex.y"]) == pytest.approx(0.3, rel=1e-12)


def test_a_hanging_chain_has_one_horizontal_force():
    """Every joint carries the same horizontal force; vertically one carries a rod's weight less than the one before."""
    count, weight = 12, 0.1 * G
    m = kp.Mechanism("chain", gravity=(0, -G))
    previous = m.ground
    for k in range(count):
        rod = m.body(f"rod {k}", mass=0.1, inertia=1e-4, at=(0.1 * k + 0.05, 0.0))
        m.revolute(f"J{k}", previous, rod, at=(0.1 * k, 0))
        previous = rod
    m.revolute("end", previous, m.ground, on_i=(0.05, 0), on_j=(0.08 * count, 0))
    rest = m.equilibrium()
    joints = [f"J{k}" for k in range(count)] + ["end"]
    forces = np.array([[rest[f"{j}.x"], rest[f"{j}.y"]] for j in joints])
    assert np.ptp(forces[:, 0]) < 1e-10 * weight
    assert np.diff(forces[:, 1]) == pytest.approx(-weight, rel=1e-10)
    assert forces[0, 1] == pytest.approx(-forces[-1, 1], rel=1e-9)
    assert rest.stable
    # each rod hangs along the mean of the forces on its two ends
    for k in range(count):
        fx, fy = (forces[k] + forces[k + 1]) / 2
        assert np.tan(rest[f"rod {k}.angle"]) == pytest.approx(fy / fx, rel=1e-9)


def rough_chain(count, both, seed=1, gravity=-G):
    """Links of a chain drawn in a rough line from a pin: its end is free, or pinned nearer than the chain is long."""
    rng = np.random.default_rng(seed)
    m = kp.Mechanism("chain", gravity=(0, gravity))
    length, previous = 1.4 / count, m.ground
    for k in range(count):
        along = (k + 0.5) / count
        at = (along, -0.3 * np.sin(np.pi * along)) if both else (1.4 * along, 0.0)
        link = m.body(f"link {k}", 1 / count, length**2 / count / 12, at=at, angle=0.2 * rng.normal())
        m.revolute(f"J{k}", previous, link, on_i=(0 if k == 0 else length / 2, 0), on_j=(-length / 2, 0))
        previous = link
    if both:
        m.revolute("end", previous, m.ground, on_i=(length / 2, 0), on_j=(1, 0))
    return m


@pytest.mark.parametrize("count", [20, 150])
def test_a_long_chain_hangs_down_from_a_rough_start(count):
    """Link k carries all links below it; none of them is left standing on its head."""
    rest = rough_chain(count, both=False).equilibrium()
    angles = np.array([rest[f"link {k}.angle"] for k in range(count)])
    assert np.sin(angles) == pytest.approx(-1.0, abs=1e-12)
    assert [rest[f"J{k}.y"] for k in range(count)] == pytest.approx(G * (1 - np.arange(count) / count), rel=1e-9)
    assert rest.stable and rest.stiffness > 0 and rest.residual < 1e-12


@pytest.mark.parametrize("count", [20, 150])
def test_a_long_chain_between_two_pins_is_a_funicular(count):
    rest = rough_chain(count, both=True).equilibrium()
    forces = np.array([[rest[f"{j}.x"], rest[f"{j}.y"]] for j in [*(f"J{k}" for k in range(count)), "end"]])
    assert np.ptp(forces[:, 0]) < 1e-10 * G and np.diff(forces[:, 1]) == pytest.approx(-G / count, rel=1e-8)
    for k in range(count):
        fx, fy = (forces[k] + forces[k + 1]) / 2
        assert np.tan(rest[f"link {k}.angle"]) == pytest.approx(fy / fx, rel=1e-7)
    assert rest.stable and rest.residual < 1e-12


def test_no_full_matrix_is_decomposed_for_a_long_chain(monkeypatch):
    """Full decompositions are what makes a search wait for threads of the linear algebra."""

    def small_only(function):
        def checked(a, *args, **kwargs):
            assert min(np.shape(a)) <= 20, f"{function.__name__} of {np.shape(a)}"
            return function(a, *args, **kwargs)

        return checked

    for name in ("svd", "lstsq", "eigh", "eig", "pinv", "solve", "inv"):
        monkeypatch.setattr(np.linalg, name, small_only(getattr(np.linalg, name)))
    assert rough_chain(25, both=False).equilibrium().stable
    assert rough_chain(25, both=True).equilibrium().stable


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("upright", [True, False])
def test_the_lowest_stiffness_of_many_links_is_that_of_the_full_matrix(both, upright):
    """Iterated for on the sparse pattern, and from a full basis of all free motions; standing and hanging."""
    q = rough_chain(30, both).equilibrium().pose
    posed = Posed(rough_chain(30, both, gravity=G if upright else -G))
    saddle = saddles.Saddle(posed, 0.0, np.arange(posed.system.n))
    at = saddle.look(q.q, np.zeros(saddle.m))
    lam = saddle.factors(None, at, 1.0).solve(-at.f)[1]
    K = saddle.stiffness(q.q, lam)
    few, ways = saddles.lowest_stiffness(saddle, K, at)
    every, _ = saddles._all(saddle, K, at)
    assert few[0] == pytest.approx(every[0], rel=1e-9) and (few[0] < 0) == upright
    assert few[1] == pytest.approx(every[1], rel=1e-4)
    J = saddle.jacobian(at)
    assert np.abs(J @ ways[:, 0]).max() < 1e-9 * np.abs(ways[:, 0]).max()


def random_web(seed):
    """Points in a net of springs, some of them short, between nails: no joints, no symmetry."""
    rng = np.random.default_rng(seed)
    m = kp.Mechanism("web", gravity=(0, -1.0))
    places = [rng.uniform(-2, 2, 2) for _ in range(4)]
    nails = [m.point(f"nail {k}", at=at, fixed="xy") for k, at in enumerate(places)]
    masses = rng.uniform(0.1, 1, 4)
    knots = [m.point(f"knot {k}", at=rng.uniform(-1, 1, 2), mass=mass) for k, mass in enumerate(masses)]
    springs = []
    for k in range(4):
        for other in [-1 - k, -1 - (k + 1) % 4, *range(k)]:  # below zero: a nail
            stiffness, length = rng.uniform(0.5, 10), rng.choice([0.0, rng.uniform(0, 1)])
            end = nails[-1 - other] if other < 0 else knots[other]
            m.spring(f"s{len(springs)}", knots[k], end, stiffness=stiffness, length=length)
            springs.append((k, other, stiffness, length))

    def energy(q):
        at = [*q.reshape(4, 2), *places[::-1]]  # nail 0 is the last
        elastic = sum(k * (np.hypot(*(at[i] - at[j])) - l) ** 2 / 2 for i, j, k, l in springs)
        return elastic + masses @ q[1::2]

    return m, energy


@pytest.mark.parametrize("seed", range(6))
def test_energy_is_least_at_a_stable_equilibrium(seed):
    m, energy = random_web(seed)
    rest = m.equilibrium()
    assert rest.stable
    found = minimize(energy, rest.pose.q, method="BFGS", options={"gtol": 1e-9})
    assert energy(rest.pose.q) <= found.fun + 1e-12
    assert rest.pose.q == pytest.approx(found.x, abs=1e-5)


def test_springs_without_length_give_no_nonsense():
    m = kp.Mechanism("pressed")
    box = m.body("box", mass=1.0, inertia=1.0)
    m.translational("rail", m.ground, box)
    m.spring("spring", m.ground, box, stiffness=100.0, length=0.5)  # drawn at length zero, a cusp of its energy
    assert abs(m.equilibrium()["box.x"]) == pytest.approx(0.5, rel=1e-12)
    drawn = kp.Mechanism("drawn")
    puck = drawn.point("puck", at=(0.3, 0.2))
    drawn.spring("spring", drawn.point("nail", at=(0, 0), fixed="xy"), puck, stiffness=2.0, length=0.0)
    rest = drawn.equilibrium()
    assert [rest["puck.x"], rest["puck.y"]] == pytest.approx([0, 0], abs=1e-12)
    assert rest.stable


def test_a_stop_carries_what_falls_on_it():
    for height in (5.0, 1.0, 0.2):
        m = kp.Mechanism("stop", gravity=(0, -10.0))
        box = m.body("box", mass=2.0, inertia=1.0, at=(0, height))
        m.translational("rail", m.ground, box, axis=(0, 1))
        m.bump_stop("stop", box.y, 1.0, 1e4, exponent=1.5, damping=30.0)
        rest = m.equilibrium()
        assert rest["box.y"] == pytest.approx(1.0 - (20.0 / 1e4) ** (1 / 1.5), rel=1e-12)


def test_a_soft_spring_lets_it_sink_far():
    m = kp.Mechanism("soft", gravity=(0, -10.0))
    box = m.body("box", mass=1.0, inertia=1.0, at=(0, -0.5))
    m.translational("rail", m.ground, box, axis=(0, 1))
    m.spring("spring", m.ground, box, stiffness=0.01)
    assert m.equilibrium()["box.y"] == pytest.approx(-1000.5, rel=1e-12)


def test_a_damped_motion_ends_there():
    m = kp.Mechanism("four-bar", gravity=(0, -G))
    drawn = linkages.four_bar(1.0, 3.0, 2.5, 3.2, 1.0).assemble()
    bodies = [
        m.body(n, mass=1.0, inertia=0.4, at=(drawn[f"{n}.x"], drawn[f"{n}.y"]), angle=drawn[f"{n}.angle"])
        for n in ("crank", "coupler", "rocker")
    ]
    crank, coupler, rocker = bodies
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-0.5, 0))
    m.revolute("A", crank, coupler, on_i=(0.5, 0), on_j=(-1.5, 0))
    m.revolute("B", coupler, rocker, on_i=(1.5, 0), on_j=(1.25, 0))
    m.revolute("C", m.ground, rocker, on_i=(3.2, 0), on_j=(-1.25, 0))
    m.torsion_spring("spring", m.ground, rocker, stiffness=20.0, angle=1.2, damping=60.0)
    rest = m.equilibrium()
    run = m.simulate(np.linspace(0, 60, 3), tolerance=1e-10)
    assert run.q[-1] == pytest.approx(rest.pose.q, abs=1e-7)


def test_where_nothing_holds_there_is_no_equilibrium():
    m = kp.Mechanism("loose")
    box = m.body("box", mass=1.0, inertia=1.0)
    m.force(box, (3.0, 0.0))
    with pytest.raises(kp.ConvergenceError, match=r"'loose'.*nothing stops the motion.*3 on 'box.x'"):
        m.equilibrium()
    wheel = pendulum(0.0)
    wheel.torque(wheel["rod"], 100.0)  # more than the weight's moment anywhere
    with pytest.raises(kp.ConvergenceError, match=r"still unbalanced.*'rod"):
        wheel.equilibrium()
    with pytest.raises(kp.ConvergenceError, match=r"still unbalanced.*'rod"):
        wheel.equilibrium(stable=False)


def test_bad_input_is_named():
    m = pendulum(0.0)
    with pytest.raises(kp.ModelError, match=r"no coordinate 'rod\.z'"):
        m.equilibrium(hold="rod.z")
    with pytest.raises(kp.ModelError, match="tolerance"):
        m.equilibrium(tolerance=0.0)
    with pytest.raises(kp.ModelError, match="must be a pose"):
        m.equilibrium(start={"rod.angle": 1.0})
    with pytest.raises(kp.ModelError, match=r"no quantity 'rod\.mood'"):
        m.equilibrium()["rod.mood"]


def test_indifferent_and_driven_mechanisms():
    m = kp.Mechanism("sledge")
    m.translational("rail", m.ground, m.body("box", mass=1.0, inertia=1.0, at=(0.4, 0)))
    rest = m.equilibrium()
    assert rest.stiffness == 0 and not rest.stable
    assert rest["box.x"] == 0.4
    driven = pendulum(0.3)
    driven.driver("motor", driven["rod"].angle, lambda t: 0.3 + t)
    rest = driven.equilibrium(time=0.5)
    assert rest["rod.angle"] == pytest.approx(0.8)
    assert rest.stable and rest.stiffness == np.inf
    (effort,) = [v for k, v in rest.multipliers.items() if k.startswith("motor")]
    assert -effort == pytest.approx(3.0 * G * 2.0 * np.cos(0.8))


# --- inverse dynamics -----------------------------------------------------------------------------------------------


def slider_crank(omega=3.0, law=None, gravity=(0, -G)):
    m = kp.Mechanism("slider-crank", gravity=gravity)
    crank = m.body("crank", mass=1.5, inertia=0.05, at=(0.1, 0))
    rod = m.body("rod", mass=0.9, inertia=0.03, at=(0.35, 0.0))
    slider = m.body("slider", mass=2.0, inertia=0.1, at=(0.9, 0))
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-0.1, 0))
    m.revolute("A", crank, rod, on_i=(0.2, 0), on_j=(-0.25, 0))
    m.revolute("B", rod, slider, on_i=(0.35, 0), on_j=(0, 0))
    m.translational("guide", m.ground, slider, at=(0, 0.05))
    m.spring("spring", m.ground, slider, on_i=(1.5, 0.3), stiffness=80.0, length=0.4, damping=6.0)
    m.driver("motor", crank.angle, kp.constant_speed(omega) if law is None else law)
    return m


def row(result, name):
    (found,) = [s for s in result.series if s.startswith(f"lambda.{name}")]
    return result.series[found]


def test_the_motor_supplies_what_energy_and_damper_take():
    """Moment times speed = d(T + V)/dt + dissipated power; one turn is periodic, so its spectrum differentiates it."""
    omega, count = 3.0, 256
    t = 2 * np.pi / omega * np.arange(count) / count
    result = slider_crank(omega).inverse_dynamics(t)
    stored = sum(result.series[f"energy.{name}"] for name in ("kinetic", "potential", "elastic"))
    k = np.fft.fftfreq(count, 1 / count)
    rate = np.fft.ifft(1j * omega * k * np.fft.fft(stored)).real
    moment = -row(result, "motor")
    power = rate + result.series["power.dissipated"]
    assert moment * omega == pytest.approx(power, abs=1e-9 * np.abs(power).max())
    assert result.series["power.supplied"] == pytest.approx(moment * omega, rel=1e-12)
    assert result.array("motor.effort") == pytest.approx(moment, rel=1e-12)
    # the damper by hand: c (dl/dt)^2
    x, vx = result.array("slider.x"), result.array("slider.vx")
    d = np.column_stack([x - 1.5, np.full_like(x, 0.05 - 0.3)])
    shrink = d[:, 0] * vx / np.hypot(*d.T)
    assert result.series["power.dissipated"] == pytest.approx(6.0 * shrink**2, abs=1e-9)


def test_it_agrees_with_a_simulation():
    m = slider_crank(law=lambda t: 2.0 * t + 0.7 * kp.sin(3.0 * t))
    times = np.linspace(0, 2, 41)
    inverse, forward = m.inverse_dynamics(times), m.simulate(times, tolerance=1e-11)
    for name in [s for s in inverse.series if s.startswith("lambda.")]:
        size = np.abs(inverse.series[name]).max()
        assert forward.series[name] == pytest.approx(inverse.series[name], abs=1e-7 * max(size, 1.0))
    for name in ("energy.kinetic", "energy.potential", "energy.elastic"):
        assert forward.series[name] == pytest.approx(inverse.series[name], abs=1e-8)


def test_a_simulated_motion_gives_back_its_reactions():
    m = pendulum(0.3)
    run = m.simulate(np.linspace(0, 3, 31), tolerance=1e-12)
    again = m.inverse_dynamics(run)
    for name in ("lambda.O.x", "lambda.O.y"):
        assert again.series[name] == pytest.approx(run.series[name], abs=1e-7)


def parallelogram(cranks, massive):
    m = kp.Mechanism("parallelogram", gravity=(0, -G))
    tip = np.array([np.cos(0.7), np.sin(0.7)])
    coupler = m.body("coupler", mass=2.0, inertia=0.2, at=tip + np.array([1.0, 0.0]))
    for k, x in enumerate((0.0, 2.0, 1.0)[:cranks], start=1):
        mass = {"mass": 1.0, "inertia": 0.1} if k <= massive else {}
        crank = m.body(f"crank {k}", at=np.array([x, 0]) + tip / 2, angle=0.7, **mass)
        m.revolute(f"O{k}", m.ground, crank, on_i=(x, 0), on_j=(-0.5, 0))
        m.revolute(f"A{k}", crank, coupler, on_i=(0.5, 0), on_j=(x - 1, 0))
    m.driver("motor", m["crank 1"].angle, lambda t: 0.7 + 0.5 * kp.sin(2.0 * t))
    return m


def test_redundant_reactions_are_said_to_be_so_and_the_motor_is_not():
    times = np.linspace(0, 2, 21)
    plain, redundant = (parallelogram(k, 2).inverse_dynamics(times) for k in (2, 3))
    assert "redundant" in redundant.message and "redundant" not in plain.message
    assert row(redundant, "motor") == pytest.approx(row(plain, "motor"), rel=1e-10)


def test_motions_that_nothing_drives_are_refused():
    with pytest.raises(kp.ModelError, match="not fully driven"):
        pendulum(0.3).inverse_dynamics(1.0)
    motion = pendulum(0.3).simulate(1.0)
    with pytest.raises(kp.ModelError, match="coordinates are others"):
        slider_crank().inverse_dynamics(motion)
    with pytest.raises(kp.ModelError, match="nothing to compute with steps"):
        pendulum(0.3).inverse_dynamics(motion, steps=3)
    heavier = pendulum(0.3)
    heavier.torque(heavier["rod"], 5.0)
    with pytest.raises(kp.ModelError, match=r"does not move like this.*t = 0 .*on 'rod"):
        heavier.inverse_dynamics(motion)


def test_a_singular_position_is_no_redundancy():
    """A parallelogram drawn in line: only there its reactions are not unique."""
    m = kp.Mechanism("flat", gravity=(0, -G))
    O, C = m.point("O", (0, 0), fixed="xy"), m.point("C", (2, 0), fixed="xy")
    A, B = m.point("A", (1, 0)), m.point("B", (3, 0))
    for name, ends in {"OA": (O, A), "AB": (A, B), "CB": (C, B)}.items():
        m.bar(name, *ends, mass=1.0)
    taken = m.inverse_dynamics(m.simulate(np.linspace(0, 0.5, 6)))
    assert "in singular positions (t = 0)" in taken.message and "constraints are redundant" not in taken.message


def test_a_singular_position_is_named():
    """A slider-crank with equal lengths folds where its crank is upright; there is no force from crank to slider."""
    m = kp.Mechanism("equal lengths", gravity=(0, -G))
    crank = m.body("crank", mass=1.0, inertia=0.1, at=(0.5, 0))
    rod = m.body("rod", mass=1.0, inertia=0.1, at=(1.5, 0))
    slider = m.body("slider", mass=1.0, inertia=0.1, at=(2.0, 0))
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, at=(1, 0))
    m.revolute("B", rod, slider, at=(2, 0))
    m.translational("guide", m.ground, slider)
    m.force(slider, (5.0, 0.0))
    m.driver("motor", crank.angle, kp.constant_speed(np.pi / 2))
    with pytest.raises(kp.ModelError, match="singular position at t = 1,"):
        m.inverse_dynamics([0.0, 0.5, 1.0, 1.5], on_singular="cross")
    assert m.inverse_dynamics([0.0, 0.5, 0.9, 1.1, 1.5], on_singular="cross").success
