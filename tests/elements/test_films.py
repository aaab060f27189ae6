"""Films of journal bearings: Reynolds's equation integrated anew, closed forms of the literature, power balance."""

import math
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad

import kempe as kp
from kempe import elements as el

MU, R, L, C = 0.02, 0.025, 0.02, 40e-6
LAWS = [kp.ShortBearing, kp.LongBearing]


def journal(law: Any, **more: Any) -> tuple[kp.Mechanism, Any]:
    """A journal in a bearing that may move as well."""
    m = kp.Mechanism("journal")
    bearing = m.body("bearing", 3.0, 0.1)
    shaft = m.body("shaft", 1.0, 0.02)
    return m, m.revolute("B", bearing, shaft, at=(0, 0), clearance=C, bearing_radius=R, contact=law, **more)


def wrench(law: Any, d: Any, v: Any, turning: Any) -> np.ndarray:
    """What the film exerts: force on the shaft, moments on shaft and bearing, as compiled equations have them."""
    _, joint = journal(law)
    source = el.KernelSource(joint)
    x = joint.view(source)
    effort = joint.damping(x)
    q = np.array([0.0, 0.0, 0.0, *d, 0.0])
    rates = np.array([0.0, 0.0, turning[0], *v, turning[1]])
    values = [float(n) for n in joint.data()]
    found = ca.Function("f", [source.q, source.v, source.p], [effort])(q, rates, values)
    bearing, shaft = np.array(found).ravel().reshape(2, 3)
    np.testing.assert_allclose(bearing[:2], -shaft[:2])
    return np.array([*shaft, bearing[2]])


def reynolds(law: Any, film: str, d: Any, v: Any, turning: Any) -> np.ndarray:
    """The same from Reynolds's equation in axes at rest, by quadrature: an independent computation.

    The right side is 12 mu (w dh/dtheta + dh/dt), h = c - d . n. A short bearing has the pressure of a parabola along
    its axis. A long one has h^3 p' = the integral of the right side, with a constant that makes the pressure the same
    at both ends. Half films have pressure where the right side is negative.
    """
    w = (turning[0] + turning[1]) / 2
    beta = math.atan2(v[1] - w * d[0], v[0] + w * d[1])  # where it is squeezed

    half = math.pi / 2 if film == "half" else math.pi
    edges = np.linspace(beta - half, beta + half, 401)
    nodes, weights = np.polynomial.legendre.leggauss(16)
    a = (edges[:-1, None] + (1 + nodes) / 2 * np.diff(edges)[:, None]).ravel()
    da = (weights / 2 * np.diff(edges)[:, None]).ravel()
    cos, sin = np.cos(a), np.sin(a)
    h, dh_da = C - d[0] * cos - d[1] * sin, d[0] * sin - d[1] * cos
    if law is kp.ShortBearing:
        line = -MU * (w * dh_da - v[0] * cos - v[1] * sin) * L**3 / h**3  # pressure over the width
        force = -R * np.array([(line * cos) @ da, (line * sin) @ da])
        around = -(line * dh_da) @ da
    else:
        flow = 12 * MU * R**2 * (w * h - v[0] * sin + v[1] * cos)  # the integral of the right side
        slope = (flow - (flow / h**3) @ da / (1 / h**3 @ da)) / h**3
        force = R * L * np.array([(slope * sin) @ da, -(slope * cos) @ da])  # by parts
        around = L * (slope * h) @ da
    # the journal's surface is held back by mu times the shear and by h/2 p', the bearing's is taken along and held back
    drag = MU * R**3 * L * (turning[1] - turning[0]) * (1 / h @ da)
    return np.array([*force, -drag - R / 2 * around, drag - R / 2 * around])


STATES = [
    ((0.3, 0.2), (0.4, -0.7), (20.0, 150.0)),
    ((-0.5, 0.6), (0.0, 0.0), (0.0, 300.0)),
    ((0.1, -0.05), (-2.0, 1.0), (0.0, 0.0)),
    ((0.6, -0.7), (0.01, 0.3), (-40.0, 100.0)),
    ((0.0, 0.99), (-0.1, 0.05), (0.0, 50.0)),
    ((1e-6, 0.0), (0.0, 0.5), (0.0, 50.0)),
]


@pytest.mark.parametrize("film", ["half", "full"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("state", STATES, ids=range(len(STATES)))
def test_films_solve_reynolds_equation(law: Any, film: str, state: Any) -> None:
    ratio, speed, turning = state
    d, v = C * np.array(ratio), 1e-3 * np.array(speed)
    found = wrench(law(MU, L, film=film), d, v, turning)
    expected = reynolds(law, film, d, v, turning)
    np.testing.assert_allclose(found[:2], expected[:2], rtol=0, atol=1e-9 * np.hypot(*expected[:2]))
    np.testing.assert_allclose(found[2:], expected[2:], rtol=0, atol=1e-8 * C * np.hypot(*expected[:2]))


@pytest.mark.parametrize("e", [0.05, 0.4, 0.8, 0.95, 0.999])
def test_steady_load_in_closed_form(e: float) -> None:
    """Force along and across the line of centres of a steady journal; Ocvirk's and Sommerfeld's formulas."""
    w = 200.0
    rest = 1 - e**2
    short, long = MU * R * L**3 * w / C**2, MU * w * R**3 * L / C**2
    wanted = {
        (kp.ShortBearing, "half"): (-short * e**2 / rest**2, short * math.pi * e / (4 * rest**1.5)),
        (kp.ShortBearing, "full"): (0.0, short * math.pi * e / (2 * rest**1.5)),
        (kp.LongBearing, "half"): (
            -long * 12 * e**2 / ((2 + e**2) * rest),
            long * 6 * math.pi * e / ((2 + e**2) * math.sqrt(rest)),
        ),
        (kp.LongBearing, "full"): (0.0, long * 12 * math.pi * e / ((2 + e**2) * math.sqrt(rest))),
    }
    for (law, film), force in wanted.items():
        found = wrench(law(MU, L, film=film), (C * e, 0.0), (0.0, 0.0), (0.0, w))
        np.testing.assert_allclose(found[:2], force, rtol=0, atol=1e-10 * np.hypot(*force))


def test_sommerfeld_number_of_a_short_bearing() -> None:
    """S (L/D)^2 = (1 - e^2)^2 / (pi e sqrt(pi^2 (1 - e^2) + 16 e^2)), at the equilibrium that a simulation finds."""
    e, w = 0.6, 200.0
    load = float(np.hypot(*wrench(kp.ShortBearing(MU, L), (C * e, 0.0), (0.0, 0.0), (0.0, w))[:2]))
    number = MU * w / (2 * math.pi) * (2 * R) * L / load * (R / C) ** 2
    wanted = (1 - e**2) ** 2 / (math.pi * e * math.sqrt(math.pi**2 * (1 - e**2) + 16 * e**2))
    assert number * (L / (2 * R)) ** 2 == pytest.approx(wanted, rel=1e-12)
    m = kp.Mechanism("loaded shaft")
    shaft = m.body("shaft", 0.5, 0.01)
    m.revolute("B", m.ground, shaft, at=(0, 0), clearance=C, bearing_radius=R, contact=kp.ShortBearing(MU, L))
    m.driver("motor", kp.angle(m.ground, shaft), kp.constant_speed(w))
    m.force("load", shaft, (0.0, -load))
    res = m.simulate(0.6, steps=20, method="radau", tolerance=1e-10)
    assert float(res["B.eccentricity"][-1]) == pytest.approx(C * e, rel=1e-6)
    attitude = math.atan2(float(res["B.x"][-1]), -float(res["B.y"][-1]))
    assert math.tan(attitude) == pytest.approx(math.pi / 4 * math.sqrt(1 - e**2) / e, rel=1e-5)


@pytest.mark.parametrize("law", LAWS)
def test_squeeze_film_in_closed_form(law: Any) -> None:
    """The time in which a force W presses a journal that does not turn to an eccentricity e, in a full film.

    Long: 12 pi mu R^3 L/(W c^2) e/sqrt(1 - e^2); short: pi mu R L^3/(W c^2) times the integral of
    (1 + 2 e^2)/(1 - e^2)^2.5.
    """
    mass, load = 1e-3, 50.0
    m = kp.Mechanism("squeeze")
    shaft = m.body("shaft", mass, 1.0)
    contact = law(MU, L, film="full")
    m.revolute("B", m.ground, shaft, at=(0, 0), clearance=C, bearing_radius=R, contact=contact)
    m.force("load", shaft, (load, 0.0))
    end = 0.9
    if law is kp.LongBearing:
        lasts = 12 * math.pi * MU * R**3 * L / (load * C**2) * end / math.sqrt(1 - end**2)
    else:
        lasts = (
            math.pi * MU * R * L**3 / (load * C**2) * quad(lambda e: (1 + 2 * e * e) / (1 - e * e) ** 2.5, 0, end)[0]
        )
    res = m.simulate(lasts, steps=10, method="radau", tolerance=1e-10)
    # (the journal's mass, which these formulas leave out, matters little)
    assert float(res["B.eccentricity"][-1]) / C == pytest.approx(end, rel=2e-4)


@pytest.mark.parametrize("film", ["half", "full"])
@pytest.mark.parametrize("law", LAWS)
def test_films_keep_momentum_and_close_the_power_balance(law: Any, film: str) -> None:
    m, _ = journal(law(MU, L, film=film))
    rates = {"bearing.vx": 0.1, "bearing.omega": 4.0, "shaft.vx": 0.05, "shaft.vy": 0.04, "shaft.omega": 200.0}
    res = m.simulate(0.05, velocities=rates, steps=40, tolerance=1e-11)
    total = np.zeros((3, len(res.t)))
    for name, mass, inertia in (("bearing", 3.0, 0.1), ("shaft", 1.0, 0.02)):
        x, y, vx, vy, w = (res[f"{name}.{c}"].values for c in ("x", "y", "vx", "vy", "omega"))
        total += [mass * vx, mass * vy, mass * (x * vy - y * vx) + inertia * w]
    np.testing.assert_allclose(total, total[:, :1] @ np.ones((1, len(res.t))), rtol=0, atol=1e-10)
    assert abs(res.energy.balance).max() < 1e-8 * res.energy.total[0]
    assert (np.diff(res.energy.dissipated) > 0).all()
    assert float(res["B.eccentricity"].max()) < C


def test_a_film_at_its_end_and_its_mistakes(tmp_path: Any) -> None:
    """A journal without rotation under load comes ever nearer to the wall, and the run ends where no film is left."""
    m = kp.Mechanism("crushed")
    shaft = m.body("shaft", 1.0, 0.01)
    law = kp.LongBearing(MU, L, film="full")
    m.revolute("B", m.ground, shaft, at=(0, 0), clearance=C, bearing_radius=R, contact=law)
    m.force("load", shaft, (1e5, 0.0))
    res = m.simulate(1.0, steps=5, method="radau", tolerance=1e-12)
    assert res.status == "stopped" and "has no film left" in res.events[-1].message
    assert float(res["B.film"][-1]) == pytest.approx(1e-4 * C, rel=1e-6)
    path = tmp_path / "film.kempe.yaml"
    m.save(path)
    assert "film: full" in path.read_text()
    np.testing.assert_array_equal(kp.load(path).simulate(1e-3, steps=5)["B.x"], m.simulate(1e-3, steps=5)["B.x"])
    place = {"at": (0, 0), "clearance": C, "bearing_radius": R}
    for change, words in (
        ({"bearing_radius": None}, "a film lies around the journal: give bearing_radius= too"),
        ({"friction": 0.1}, "friction= does not go with a film"),
        ({"clearance": 0.1}, "the clearance must be smaller than the bearing's radius"),
        ({"contact": kp.ShortBearing}, r"write kp\.ShortBearing\(viscosity, width, film\)"),
    ):
        with pytest.raises(kp.ModelError, match=words):
            m.revolute("D", m.ground, shaft, **{**place, "contact": law, **change})
    with pytest.raises(kp.ModelError, match="is a film between a journal and its bearing"):
        m.circle_contact("D", m.ground, shaft, radii=(R, R - C), inside=True, contact=law)
    with pytest.raises(kp.ModelError, match="a short bearing: film must be 'half' or 'full', not 'quarter'"):
        kp.ShortBearing(MU, L, film="quarter")
    with pytest.raises(kp.ModelError, match="a long bearing: viscosity must be above zero"):
        kp.LongBearing(0.0, L)
