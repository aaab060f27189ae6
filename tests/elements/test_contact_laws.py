"""Contact laws: their numbers, what they store and lose, parameters in them, files, designs and mistakes."""

import copy
import math
import pickle
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad

import kempe as kp
from kempe import elements as el

STEEL = {"youngs": 207e9, "poisson": 0.3}
LOSSY = [kp.LankaraniNikravesh, kp.HuntCrossley, kp.Flores, kp.Gonthier]


def journal(contact: Any, c: Any = 0.5e-3, friction: Any = None, radius: Any = 10e-3) -> tuple[kp.Mechanism, Any]:
    """A journal that is loose in a bearing of the ground."""
    m = kp.Mechanism("journal")
    shaft = m.body("shaft", 0.2, 1e-4)
    options = {"clearance": c, "bearing_radius": radius, "contact": contact, "friction": friction}
    return m, m.revolute("B", m.ground, shaft, at=(0, 0), **options)


def law_of(element: Any) -> Any:
    return element.fields["contact"]


def evaluated(element: Any, depth: float, rate: float, speed: float) -> tuple[float, float, float]:
    """Elastic force, energy and damper of an element's law, as the equations have them."""
    source = el.KernelSource(element)
    law = element.view(source).contact
    d, r, v = (ca.SX.sym(name) for name in "drv")
    damper = law.damper(d, r, v)
    outputs = [law.elastic(d), law.stored(d), 0.0 if damper is None else damper]
    numbers = [float(np.squeeze(el.evaluate([n])[0])) for n in element.data()]
    f = ca.Function("law", [d, r, v, source.p], [ca.SX(e) for e in outputs])
    return tuple(float(e) for e in f(depth, rate, speed, numbers))  # type: ignore[return-value]


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("c", "stiffness"),
    [
        (0.05e-3, 2.139263e11),
        (0.1e-3, 1.508882e11),
        (0.2e-3, 1.061538e11),
        (0.25e-3, 9.470437e10),
        (0.5e-3, 6.610198e10),
        (1e-3, 4.549451e10),
    ],
)
def test_stiffness_of_a_bearing_from_its_materials(c: float, stiffness: float) -> None:
    """Eq. (5) of Zhang and others, with R_B = 10 mm, as it is in the joint itself."""
    _, joint = journal(kp.LankaraniNikravesh(0.9, **STEEL), c)
    assert float(el.evaluate([law_of(joint).numbers["stiffness"]])[0]) == pytest.approx(stiffness, rel=5e-7)


def test_numbers_of_the_hybrid_contact() -> None:
    """Eqs. (13), (15) and (18) of Bai and Zhao at c = 0.5 mm and d = 1e-5 m."""
    material = {"youngs": 2.07e11, "poisson": 0.3}
    modulus = kp.contact_modulus(**material)
    assert modulus == pytest.approx(1.137363e11, rel=1e-6)
    d = 1e-5
    width = 0.02
    foundation, energy, _ = evaluated(journal(kp.ElasticFoundation(**material, width=width))[1], d, 0.0, 1.0)
    assert foundation / width == pytest.approx(1.768963e5, rel=1e-6)
    printed, _, _ = evaluated(journal(kp.PrintedHybrid(0.9, **material))[1], d, 0.0, 1.0)
    assert printed == pytest.approx(833.609, rel=1e-6)
    assert printed / d**1.5 == pytest.approx(2.636102e10, rel=1e-6)
    h = 1e-9
    beside = [
        evaluated(journal(kp.ElasticFoundation(**material, width=width))[1], d + s * h, 0.0, 1.0)[0] for s in (-1, 1)
    ]
    assert (beside[1] - beside[0]) / (2 * h) / width == pytest.approx(
        2.636102e10, rel=1e-6
    )  # (15) is the slope of (13)
    assert energy > 0.0


def test_true_restitutions_of_the_case_file() -> None:
    for law, told, true in (
        (kp.LankaraniNikravesh, 0.9, 0.9131767),
        (kp.LankaraniNikravesh, 0.5, 0.72524),
        (kp.LankaraniNikravesh, 0.46, 0.71499),
    ):
        assert law(told, 1e6).true_restitution == pytest.approx(true, abs=6e-6 if told < 0.9 else 6e-8)
    for told, true in ((0.46, 0.447754), (0.9, 0.895918), (0.5, 0.482608), (0.1, 0.2175)):
        assert kp.Hybrid(told, **STEEL, width=0.1).true_restitution == pytest.approx(
            true, abs=5e-5 if told == 0.1 else 5e-7
        )


@pytest.mark.parametrize("e", np.linspace(0.01, 1.0, 34))
def test_loss_and_restitution_are_inverse_and_solve_the_relation(e: float) -> None:
    a = kp.loss_of(e)
    assert kp.restitution_of(a) == pytest.approx(e, rel=1e-13)
    if 0.1 < e < 1.0:  # below that this form of it has no digits
        assert a - math.log1p(a) == pytest.approx(-a * e - math.log1p(-a * e), rel=1e-10)


def test_extreme_losses_and_restitutions_are_inverse_too() -> None:
    rng = np.random.default_rng(3)
    for e in [*10.0 ** -np.arange(0.01, 300, 1.7), *(1 - 10.0 ** -np.arange(0.1, 16, 0.3)), *rng.uniform(0, 1, 300)]:
        assert kp.restitution_of(kp.loss_of(e)) == pytest.approx(e, rel=1e-14)
    assert [kp.restitution_of(a) for a in (0.0, 1e-300, 1e-12)] == pytest.approx([1, 1, 1 - 2e-12 / 3], rel=1e-15)
    assert kp.restitution_of(1e300) == pytest.approx(1e-300, rel=1e-12)


@pytest.mark.parametrize("law", [*LOSSY, kp.Hybrid])
def test_nominal_for_gives_what_is_wanted(law: Any) -> None:
    more = {**STEEL, "width": 0.1} if law is kp.Hybrid else {"stiffness": 1e6}
    for wanted in (0.67, 0.8, 0.95, 1.0):
        assert law(law.nominal_for(wanted), **more).true_restitution == pytest.approx(wanted, abs=1e-12)
    if law is kp.LankaraniNikravesh:
        with pytest.raises(kp.ModelError, match=r"has no restitution below 0\.6.* kp\.Gonthier is exact"):
            law.nominal_for(0.3)


@pytest.mark.parametrize(
    "contact",
    [
        kp.KelvinVoigt(1e7, exponent=1.3),
        kp.Hertz(1e9, exponent=2.1),
        kp.LankaraniNikravesh(0.8, 1e9),
        kp.ElasticFoundation(**STEEL, width=0.02),
        kp.Hybrid(0.5, **STEEL, width=0.02),
        kp.PrintedHybrid(0.5, **STEEL),
        kp.contact_law(lambda d: 1e9 * d**1.5 + 1e12 * d**3),
    ],
)
def test_what_is_stored_is_the_integral_of_the_elastic_force(contact: Any) -> None:
    _, joint = journal(contact)
    for depth in (1e-7, 1e-5, 3e-4, 2e-3):
        stored = evaluated(joint, depth, 0.0, 1.0)[1]
        work = quad(lambda w, d=depth: 4 * w**3 * d * evaluated(joint, d * w**4, 0.0, 1.0)[0], 0, 1, epsrel=1e-11)[0]
        # (the closed forms of conformal laws cancel where the depth is a small share of the clearance)
        assert stored == pytest.approx(work, rel=1e-9, abs=1e-11 * evaluated(joint, 5e-4, 0.0, 1.0)[1])


# --- parameters ------------------------------------------------------------------------------------------------------


def test_parameters_in_laws_are_what_numbers_are() -> None:
    """Restitution, E and the clearance as parameters give what plain numbers give, and follow their values."""
    ends = {}
    for told, modulus, play in ((0.7, 207e9, 0.5e-3), (0.4, 70e9, 0.8e-3)):
        for by_parameter in (False, True):
            m = kp.Mechanism("designs")
            first = (0.9, 1e11, 1e-3)
            values = (
                [m.parameter(n, x) for n, x in zip("eEc", first, strict=True)]
                if by_parameter
                else (told, modulus, play)
            )
            shaft = m.body("shaft", 0.2, 1e-4)
            law = kp.Gonthier(values[0], youngs=values[1], poisson=0.3)
            m.revolute("B", m.ground, shaft, at=(0, 0), clearance=values[2], bearing_radius=10e-3, contact=law)
            given = dict(zip("eEc", (told, modulus, play), strict=True)) if by_parameter else {}
            res = m.simulate(2e-3, velocities={"shaft.vx": 1.0, "shaft.vy": 0.3}, parameters=given, steps=10)
            assert len(res.events) >= 2
            ends[told, by_parameter] = [float(res[name][-1]) for name in ("shaft.x", "shaft.y", "shaft.vx", "shaft.vy")]
        np.testing.assert_allclose(ends[told, True], ends[told, False], rtol=1e-9)
    assert ends[0.7, True] != ends[0.4, True]


def test_run_many_is_simulate_over_designs() -> None:
    m = kp.Mechanism("designs")
    e, c = m.parameter("e", 0.9), m.parameter("c", 1e-3)
    shaft = m.body("shaft", 0.2, 1e-4)
    law = kp.HuntCrossley(e, **STEEL)
    m.revolute("B", m.ground, shaft, at=(0, 0), clearance=c, bearing_radius=10e-3, contact=law)
    rates = {"shaft.vx": 1.0, "shaft.vy": 0.3}
    designs = [{"e": 0.5, "c": 5e-4}, {"e": 0.9, "c": 7e-4}]
    runs = kp.run_many(m, designs, ["shaft.x", "B.force"], 2e-3, velocities=rates, steps=20)
    for k, design in enumerate(designs):
        alone = m.simulate(2e-3, velocities=rates, parameters=design, steps=20)
        np.testing.assert_array_equal(np.asarray(runs["shaft.x"])[k], alone["shaft.x"])
    bad = kp.run_many(m, [{"e": 0.5, "c": 0.02}], ["shaft.x"], 1e-4, velocities=rates)
    assert "the clearance must be smaller than the bearing's radius" in bad.reasons[0]


# --- one's own -------------------------------------------------------------------------------------------------------


def test_a_law_of_ones_own_is_the_named_one() -> None:
    """Gonthier's law written down, with and without its energy: the same impact, and parameters follow."""
    a = kp.loss_of(0.4)
    found = []
    for own in (None, False, True):
        m = kp.Mechanism("impact")
        k = m.parameter("k", 1e5)
        one, two = m.body("one", 2.0, 1.0), m.body("two", 0.5, 1.0, at=(1.001, 0.0))
        law: Any = kp.Gonthier(0.4, k)
        if own is not None:
            stored = (lambda d, k=k: k * d**2.5 / 2.5) if own else None
            law = kp.contact_law(lambda d, rate, speed, k=k: k * d**1.5 * (1 + a * rate / speed), stored=stored)
        m.circle_contact("c", one, two, radii=(0.5, 0.5), contact=law)
        res = m.simulate(0.2, velocities={"one.vx": 0.3}, parameters={"k": 1e6}, tolerance=1e-11, steps=400)
        assert [e.mode for e in res.events] == ["contact", "free"]
        assert abs(res.energy.balance).max() < 1e-8 * res.energy.total[0]
        found.append([*(e.t for e in res.events), float(res["two.vx"][-1]), float(res.energy.elastic.max())])
    np.testing.assert_allclose(found[1:], [found[0], found[0]], rtol=1e-7)


def test_a_law_of_ones_own_is_released_where_it_would_pull() -> None:
    """A spring and damper written down parts as the named one does."""
    found = []
    for law in (kp.KelvinVoigt(1e3, 40.0), kp.contact_law(lambda d, rate: 1e3 * d + 40.0 * rate)):
        m = kp.Mechanism("stop")
        ball = m.body("ball", 0.4, 1.0, at=(0.001, 0.0))
        m.bump_stop("s", ball.x, 0.0, contact=law)
        res = m.simulate(0.2, velocities={"ball.vx": -0.3}, tolerance=1e-11, steps=40)
        assert [e.mode for e in res.events] == ["contact", "released", "free"]
        found.append([*(e.t for e in res.events), float(res["ball.vx"][-1])])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_tables_in_a_law_of_ones_own(tmp_path: Any) -> None:
    """Measured forces: as the formula they were made of, in files too, and an end where the data end."""
    depths = np.linspace(0.0, 0.02, 21)
    crush = kp.table(depths, 1e4 * depths + 1e7 * depths**3, name="crush")
    found = []
    for law in (kp.contact_law(lambda d: crush(d)), kp.contact_law(lambda d: 1e4 * d + 1e7 * d**3)):
        m = kp.Mechanism("ball")
        ball = m.body("ball", 0.5, 1.0, at=(0.0, 0.11))
        m.circle_line_contact("c", m.ground, ball, radius=0.1, contact=law)
        res = m.simulate(0.1, velocities={"ball.vy": -1.0}, tolerance=1e-10, steps=50)
        assert np.abs(res.energy.balance).max() < 1e-8
        found.append(res.array("ball.y"))
        if not found[1:]:
            again = kp.load(m.save(tmp_path / "crush.kempe.yaml"))
            same = again.simulate(0.1, velocities={"ball.vy": -1.0}, tolerance=1e-10, steps=50)
            np.testing.assert_array_equal(same["ball.y"], res["ball.y"])
            with pytest.raises(kp.KempeError, match="contact 'c': table 'crush' is read at"):
                m.simulate(0.1, velocities={"ball.vy": -100.0})
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: kp.contact_law(3.0), "contact_law needs a function, .* not 3.0"),
        (
            lambda: kp.contact_law(lambda d: -d),
            "the force is positive where it pushes, and at the depth 1e-6 it is -1e-06",
        ),
        (lambda: kp.contact_law(lambda d: 1 + d), "the elastic force must be zero at the depth 0, and is 1"),
        (lambda: kp.contact_law(lambda d, r, v: d * v), "the elastic one and must not depend on the speed"),
        (lambda: kp.contact_law(lambda a, b, c, d: a), r"is called with \(depth, rate, speed\); yours takes"),
        (lambda: kp.contact_law(lambda d: d if d > 0 else 0), "asks whether something holds"),
        (lambda: kp.contact_law(lambda d: None), "must return one number, not nothing"),
        (lambda: kp.contact_law(lambda d: d, stored=2.0), "stored must be a function of the depth, not 2.0"),
        (lambda: kp.contact_law(lambda d: kp.log(d)), "must be zero at the depth 0, and is -inf"),
    ],
)
def test_mistakes_in_a_law_of_ones_own(make: Any, words: str) -> None:
    with pytest.raises(kp.ModelError, match=words):
        make()


# --- files, copies, mistakes -----------------------------------------------------------------------------------------


def every_law(k: Any) -> list[Any]:
    return [
        kp.KelvinVoigt(k, 10.0),
        kp.Hertz(k, exponent=2.0),
        kp.LankaraniNikravesh(0.7, k, slowest=1e-4),
        kp.HuntCrossley(0.7, **STEEL),
        kp.Flores(0.7, youngs=(2e11, 1e11), poisson=(0.3, 0.35)),
        kp.Gonthier(0.7, k),
        kp.ElasticFoundation(**STEEL, width=0.02),
        kp.Hybrid(0.7, **STEEL, width=0.02),
        kp.PrintedHybrid(0.7, **STEEL),
        kp.contact_law(lambda d, rate, speed: k * d**1.5 * (1 + 0.4 * rate / speed)),
        kp.contact_law(lambda d: k * d, stored=lambda d: k * d**2 / 3),
        kp.ShortBearing(0.02, 0.03),
        kp.LongBearing(0.02, 0.03, film="full"),
    ]


@pytest.mark.parametrize("which", range(len(every_law(1.0))))
def test_laws_come_back_from_files_and_copies(which: int, tmp_path: Any) -> None:
    m = kp.Mechanism("laws")
    k = m.parameter("k", 1e9)
    shaft = m.body("shaft", 0.2, 1e-4)
    law = every_law(k)[which]
    m.revolute("B", m.ground, shaft, at=(0, 0), clearance=5e-4, bearing_radius=10e-3, contact=law)
    path = tmp_path / "laws.kempe.yaml"
    m.save(path)
    again = kp.load(path)
    assert again.save(tmp_path / "again.kempe.yaml").read_text() == path.read_text()
    others = [again, copy.deepcopy(m), pickle.loads(pickle.dumps(m))]
    runs = [x.simulate(1e-3, velocities={"shaft.vx": 1.0, "shaft.vy": 0.2}, steps=20) for x in (m, *others)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run["shaft.x"], runs[0]["shaft.x"])
    assert which >= len(every_law(1.0)) - 2 or runs[0].events


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"clearance": 0.0}, "clearance must be above zero"),
        ({"clearance": -1e-3}, "clearance must be above zero"),
        ({"clearance": 0.02}, "the clearance must be smaller than the bearing's radius"),
        ({"bearing_radius": -1.0}, "bearing_radius must be above zero"),
        ({"bearing_radius": None}, "needs a stiffness= here, where there are no radii"),
        (
            {"contact": kp.Hertz},
            r"a law has numbers of its own: write kp\.Hertz\(stiffness, youngs, poisson, exponent\)",
        ),
        ({"contact": "hertz"}, "contact must be a law .*not 'hertz'"),
        ({"contact": "hertzz"}, "did you mean 'hertz'"),
        ({"contact": 1e9}, "contact must be a law"),
        ({"contact": {"hertz": {}}}, "contact must be a law"),
        ({"friction": 0.1}, "a contact with a law has smooth friction"),
        ({"friction": kp.Coulomb(0.1)}, "a contact with a law has smooth friction"),
        ({"friction": kp.LuGre(0.1, 0.2, 0.1, 1e5)}, "per_load=True"),
        ({"backlash": 1e-3}, "backlash= does not go with clearance="),
        ({"radius": 1e-3}, "radius= does not go with clearance="),
        ({"contact": None}, "a joint with clearance= has a contact law"),
        ({"clearance": None}, "contact= and bearing_radius= is for joints with clearance"),
    ],
)
def test_mistakes_with_a_clearance(change: Any, words: str) -> None:
    m = kp.Mechanism()
    shaft = m.body("shaft")
    given = {"clearance": 5e-4, "bearing_radius": 10e-3, "contact": kp.Hertz(**STEEL), **change}
    with pytest.raises(kp.ModelError, match=words) as error:
        m.revolute("B", m.ground, shaft, at=(0, 0), **given)
    assert "'B'" in str(error.value) and not m.elements


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: kp.LankaraniNikravesh(1.5, 1e9), "its restitution is from 0 to 1, not 1.5"),
        (lambda: kp.LankaraniNikravesh(-0.5, 1e9), "restitution must not be below zero"),
        (lambda: kp.Flores(0.0, 1e9), "its restitution is above 0 to 1, not 0"),
        (lambda: kp.Gonthier(0.0, 1e9), "a restitution is above 0|its restitution is above 0"),
        (lambda: kp.Hertz(0.0), "stiffness must be above zero"),
        (lambda: kp.Hertz(), "give its stiffness=, or youngs= and poisson="),
        (lambda: kp.Hertz(1e9, **STEEL), "give its stiffness=, or youngs= and poisson="),
        (lambda: kp.Hertz(youngs=2e11), "give its stiffness=, or youngs= and poisson="),
        (lambda: kp.Hertz(1e9, exponent=0.0), "exponent must be above zero"),
        (lambda: kp.Hertz(**STEEL, exponent=2.0), "is that of the exponent 1.5: leave exponent= out"),
        (lambda: kp.Hertz(youngs=(1e9, 1e9, 1e9), poisson=0.3), "or a pair of numbers for the two surfaces"),
        (lambda: kp.Hertz(youngs=2e11, poisson=0.7), "Poisson's ratio is above -1 and at most 0.5, not 0.7"),
        (lambda: kp.KelvinVoigt(1e9, -1.0), "damping must not be below zero"),
        (lambda: kp.Hybrid(0.9, **STEEL, width=0.0), "width must be above zero"),
        (lambda: kp.LankaraniNikravesh(0.9, 1e9, slowest=0.0), "slowest must be above zero"),
        (lambda: kp.LankaraniNikravesh(float("nan"), 1e9), "restitution"),
        (lambda: kp.hertz_stiffness(2e11, 0.3, (0.01, 0.02), inside=True), "must be larger than the one inside"),
        (lambda: kp.restitution_of(-1.0), "a loss is a number that is not below zero"),
        (lambda: kp.loss_of(1.2), "a restitution is above 0 and at most 1"),
    ],
)
def test_mistakes_in_laws(make: Any, words: str) -> None:
    with pytest.raises(kp.ModelError, match=words):
        make()


def test_a_journal_drawn_outside_of_its_bearing_is_asked_about() -> None:
    for contact, asked in ((kp.Hertz(1e9), True), (kp.ShortBearing(0.02, 0.02), True), (kp.Hertz(1e9), False)):
        m = kp.Mechanism(gravity=(0, -9.81))
        shaft = m.body("shaft", 1.0, 0.1, at=(0.1 if asked else 4e-4, 0.0))
        place = {"on_i": (0, 0), "on_j": (0, 0), "clearance": 5e-4, "bearing_radius": 0.01}
        m.revolute("B", m.ground, shaft, contact=contact, **place)
        found = [str(finding) for finding in m.check()]
        words = "the journal of 'B' is drawn 0.1 away from the centre of its bearing, and its clearance is 0.0005"
        assert any(words in finding for finding in found) is asked


@pytest.mark.parametrize("method", ["projection", "radau", "bdf", "alpha"])
def test_roots_in_a_law_of_ones_own_have_derivatives_where_surfaces_meet(method: str) -> None:
    """The law d sqrt(d) has none at d = 0, which implicit methods would ask for."""
    m, _ = journal(kp.contact_law(lambda d: 1e9 * d * kp.sqrt(d)))
    res = m.simulate(2e-3, method=method, velocities={"shaft.vx": 1.0}, tolerance=1e-8, steps=10)
    reference, _ = journal(kp.Hertz(1e9))
    other = reference.simulate(2e-3, velocities={"shaft.vx": 1.0}, tolerance=1e-11, steps=10)
    assert len(res.events) == len(other.events) >= 2
    assert float(res["shaft.x"][-1]) == pytest.approx(float(other["shaft.x"][-1]), abs=2e-5)
