"""Bai and Zhao's hybrid contact (2013): its numbers, a four-bar and a slider-crank with one loose joint.

The improved elastic foundation (13) is a force per metre of width, and (15) is its exact derivative, so that K_n d^n of
(18) is no force: ``kp.PrintedHybrid`` has it as printed, with n = 1.5, for comparison, ``kp.Hybrid`` with the width. In
(19) and (20) a sign stands twice, and the middle branch of (20) runs backwards: ``kp.ModifiedCoulomb`` mends both.

Settled for the four-bar, a drag-link in which both cranks turn fully: 600 rpm, the crank at 90 degrees at first, the
velocities of the ideal joint, the bearing (10 mm) on the follower, mu = 0.1 with v_s = 1 mm/s and v_d = 2 mm/s, no
gravity. For the slider-crank: the bearing (10 mm) on the slider, the same speeds, and gravity, which is not given and
decides the result; without it the motion is chaotic.

The truths come from an integration in two coordinates that shares nothing with Kempe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import kempe as kp
from kempe.validation.case import Row, compare, match
from kempe.validation.extremes import extremes
from kempe.validation.isolated_impact import isolated_impact

CASE = "hybrid-contact"
STEEL = {"youngs": 207e9, "poisson": 0.3}
BEARING, CLEARANCE, DEPTH = 10e-3, 0.5e-3, 1e-5
#: At c = 0.5 mm and a depth of 0.01 mm: eq. (13), eq. (15), and the first term of eq. (18).
FOUNDATION, SLOPE, PRINTED_FORCE = 176896.29975989, 26361017219.121, 833.6085585134
#: What impacts between free bodies have, by what eq. (16) is told.
RESTITUTIONS = {0.46: 0.447753985859587, 0.9: 0.8959181863937899, 0.5: 0.4826080205612302, 0.1: 0.2174693406137646}
#: Eq. (20) with mu_s = 0.2, mu_d = 0.1, v_s = 1 mm/s, v_d = 2 mm/s, by the velocity in mm/s.
FRICTION = {0.25: 0.0734375, 0.5: 0.1375, 1.0: 0.2, 1.25: 0.184375, 1.5: 0.15, 1.75: 0.115625, 2.0: 0.1, 5.0: 0.1}

#: crank, coupler, follower: length, mass, inertia (Table 3); the frame is 0.21 m.
FOUR_BAR = ((0.55, 3.6235, 0.10214), (0.36, 2.4394, 0.031428), (0.64, 4.1894, 0.15796))
FRAME = 0.21
FOUR_BAR_SPEED = 600 * np.pi / 30.0
#: Follower acceleration, crank moment and pin force of the ideal joint: least and largest.
IDEAL = {"follower.alpha": (-4113.931, 3848.105), "motor.effort": (-6168.51, 5918.39), "B.force": (None, 20542.22)}
#: When the journal strikes first, and how fast.
FIRST_IMPACTS = ((5.87251532e-4, 1.70414648), (1.32130579e-3, 0.767762415), (1.87332556e-3, 0.832222286))
#: c = 0.5 mm, mu = 0.1: the same with clearance, with their tolerances.
LOOSE = {
    "largest |follower acceleration|": (8996.0, 2e-4),
    "largest pin force": (2.580e4, 8e-4),
    "least crank moment": (-8372.0, 5e-4),
    "largest crank moment": (6102.4, 2e-5),
}
#: Largest |follower acceleration| by the friction at 0.5 mm, and by the clearance in mm at mu = 0.1.
BY_FRICTION = {0.05: 13466.0, 0.1: 8996.0, 0.15: 7296.0, 0.2: 5673.0}
BY_CLEARANCE = {0.25: 4682.0, 0.2: 4466.0, 0.1: 5009.0, 0.01: 4553.0}

#: crank, rod, slider: length, mass, inertia (Table 1).
SLIDER_CRANK = ((0.05, 17.9, 0.460327), (0.3, 1.13, 0.0153), (0.0, 1.013, 0.000772))
SLIDER_CRANK_SPEED, GRAVITY = 200 * np.pi / 30.0, 9.81
IDEAL_SLIDER = 25.59
#: Largest |slider acceleration| in the ninth and tenth turn, by the clearance in mm.
SLIDER = {0.1: 33.01, 0.25: 56.50, 0.5: 45.30, 1.0: 131.4}


def _law(restitution: float) -> kp.PrintedHybrid:
    return kp.PrintedHybrid(restitution, **STEEL)


def _joint(m: kp.Mechanism, loosely: bool, ends: Any, restitution: float, friction: Any) -> None:
    """The joint B of a mechanism with a parameter "clearance", or the ideal one."""
    (i, on_i), (j, on_j) = ends
    loose: dict[str, Any] = {
        "clearance": m.parameter("clearance", CLEARANCE),
        "bearing_radius": BEARING,
        "contact": _law(restitution),
        "friction": kp.ModifiedCoulomb(friction, friction, speeds=(1e-3, 2e-3)),
    }
    m.revolute("B", i, j, on_i=on_i, on_j=on_j, **(loose if loosely else {}))


def _angles() -> tuple[float, float, float]:
    """Of crank, coupler and follower at first: the open branch, closed to the last digit."""
    (crank, _, _), (coupler, _, _), (follower, _, _) = FOUR_BAR
    apart, toward = np.hypot(FRAME, crank), np.arctan2(-crank, FRAME)  # from the crank's end to the follower's bearing
    opened = np.arccos((coupler**2 + apart**2 - follower**2) / (2 * coupler * apart))
    angle = toward + opened
    return np.pi / 2, angle, np.arctan2(crank + coupler * np.sin(angle), coupler * np.cos(angle) - FRAME)


def four_bar(loosely: bool = True) -> kp.Mechanism:
    """Figure 12: the coupler's journal in the follower's bearing, or the ideal joint."""
    m = kp.Mechanism("four-bar with a loose joint", units="m, kg, s")
    lengths, angles = [length for length, _, _ in FOUR_BAR], _angles()
    reach = [np.array([np.cos(angle), np.sin(angle)]) * length for angle, length in zip(angles, lengths, strict=True)]
    centres = (reach[0] / 2, reach[0] + reach[1] / 2, np.array([FRAME, 0.0]) + reach[2] / 2)
    crank, coupler, follower = (
        m.body(name, mass=mass, inertia=inertia, at=tuple(at), angle=angle)
        for name, (_, mass, inertia), at, angle in zip(
            ("crank", "coupler", "follower"), FOUR_BAR, centres, angles, strict=True
        )
    )
    shaft = m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-lengths[0] / 2, 0))
    m.revolute("A", crank, coupler, on_i=(lengths[0] / 2, 0), on_j=(-lengths[1] / 2, 0))
    m.revolute("C", m.ground, follower, on_i=(FRAME, 0), on_j=(-lengths[2] / 2, 0))
    m.driver("motor", shaft.angle, kp.constant_speed(FOUR_BAR_SPEED))
    ends = ((follower, (lengths[2] / 2, 0)), (coupler, (lengths[1] / 2, 0)))
    _joint(m, loosely, ends, 0.9, m.parameter("friction", 0.1))
    return m


def four_bar_velocities() -> dict[str, float]:
    """Those of the ideal joint."""
    drawn = four_bar(loosely=False).kinematics([0.0])
    return {name: float(drawn.array(name)[0]) for name in ("coupler.omega", "follower.omega")}


def slider_crank(loosely: bool = True) -> kp.Mechanism:
    """Figure 6: the rod's journal in the slider's bearing, or the ideal joint."""
    m = kp.Mechanism("slider-crank with a loose pin", units="m, kg, s", gravity=(0, -GRAVITY))
    (r, *_), (length, *_), _ = SLIDER_CRANK
    crank, rod, slider = (
        m.body(name, mass=mass, inertia=inertia, at=(x, 0))
        for name, (_, mass, inertia), x in zip(
            ("crank", "rod", "slider"), SLIDER_CRANK, (r / 2, r + length / 2, r + length), strict=True
        )
    )
    shaft = m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, at=(r, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0))
    m.driver("motor", shaft.angle, kp.constant_speed(SLIDER_CRANK_SPEED))
    _joint(m, loosely, ((slider, (0, 0)), (rod, (length / 2, 0))), 0.46, 0.01)
    return m


def rows() -> Iterator[Row]:
    """Every value of the case."""
    yield from _laws()
    yield from _restitution()
    yield from _friction()
    yield from _ideal_four_bar()
    yield from _first_impacts()
    yield from _loose_four_bar()
    yield from _loose_slider()


def _held(law: Any, depth: float = DEPTH, friction: Any = None, sliding: float = 0.0) -> kp.Result:
    """A journal held at a depth in the wall of its bearing, its surface sliding along it."""
    m = kp.Mechanism("a journal held in its bearing")
    journal = m.body("journal", mass=1.0, inertia=1.0, at=(CLEARANCE + depth, 0))
    pivot = m.revolute("pivot", m.ground, journal, at=(CLEARANCE + depth, 0))
    m.driver("turning", pivot.angle, kp.constant_speed(sliding / (BEARING - CLEARANCE)))
    loose = {"clearance": CLEARANCE, "bearing_radius": BEARING, "contact": law, "friction": friction}
    m.revolute("B", m.ground, journal, on_i=(0, 0), on_j=(0, 0), **loose)
    return m.kinematics([0.0])


def _laws() -> Iterator[Row]:
    foundation = kp.ElasticFoundation(**STEEL, width=1.0)
    force = float(_held(foundation).array("B.force")[0])
    printed = float(_held(_law(0.9)).array("B.force")[0])
    note = "a force per metre of width"
    yield compare(CASE, "eq. (13), c = 0.5 mm, d = 0.01 mm", FOUNDATION, force, 1e-12, note=note)
    ends = [float(_held(foundation, DEPTH * share).array("B.force")[0]) for share in (1 - 1e-4, 1 + 1e-4)]
    slope = (ends[1] - ends[0]) / (2e-4 * DEPTH)
    yield compare(CASE, "slope of eq. (13)", SLOPE, slope, 1e-8, note="eq. (15) is its exact derivative")
    yield compare(CASE, "K_n of eq. (15), from eq. (18)", SLOPE, printed / DEPTH**1.5, 1e-12)
    note = "K_n d^1.5 is no force: its unit is N/m times m^0.5"
    yield compare(CASE, "K_n d^1.5 of eq. (18)", PRINTED_FORCE, printed, 1e-12, note=note)
    hybrid = float(_held(kp.Hybrid(0.9, **STEEL, width=0.04)).array("B.force")[0])
    yield compare(CASE, "the hybrid law as a force, width 40 mm", 0.04 * FOUNDATION, hybrid, 1e-12)


def _restitution() -> Iterator[Row]:
    """By impacts as they are simulated, not by the relation that they obey."""
    for told, truth in RESTITUTIONS.items():
        laws = {"as printed": _law(told), "with a width of 40 mm": kp.Hybrid(told, **STEEL, width=0.04)}
        for which, law in laws.items():
            computed = isolated_impact(law).restitution
            note = "'not restricted' fails for low c_e; kp.Gonthier is exact for every one" if told < 0.4 else ""
            quantity = f"restitution, c_e = {told:g}, {which}"
            yield compare(CASE, quantity, truth, computed, 1e-9, printed=told, note=note)


def _friction() -> Iterator[Row]:
    law = kp.ModifiedCoulomb(0.1, 0.2, speeds=(1e-3, 2e-3))
    for speed, truth in FRICTION.items():
        for way in (1, -1):
            held = _held(_law(0.9), friction=law, sliding=way * speed * 1e-3)
            computed = -float(held.array("B.friction")[0] / held.array("B.force")[0])
            note = "(19) and (20) have one sign too many, and the middle branch runs backwards"
            yield compare(CASE, f"friction at {way * speed:g} mm/s", way * truth, computed, 1e-12, note=note)


def _sampler(m: kp.Mechanism, designs: dict[str, Any], names: Sequence[str], velocities: Any, tolerance: float) -> Any:
    def sample(times: np.ndarray) -> dict[str, np.ndarray]:
        runs = m.run_many(designs, names, [0.0, *times], velocities=velocities, tolerance=tolerance)
        return {name: runs[name][:, 1:] for name in names}

    return sample


def _ideal_four_bar() -> Iterator[Row]:
    turn = 2 * np.pi / FOUR_BAR_SPEED
    found = extremes(
        _sampler(four_bar(loosely=False), {"friction": [0.1]}, list(IDEAL), {}, 1e-12), turn, 2 * turn, 2000
    )
    for name, truths in IDEAL.items():
        for word, truth, computed in zip(("least", "largest"), truths, found[name], strict=True):
            if truth is not None:
                yield compare(CASE, f"four-bar, ideal joint: {word} {name}", truth, float(computed[0]), 1e-6)


def _first_impacts() -> Iterator[Row]:
    met = four_bar().simulate([0.0, 2.2e-3], velocities=four_bar_velocities(), tolerance=1e-13).contacts("B")
    for k, (truth, contact) in enumerate(zip(FIRST_IMPACTS, met, strict=False), start=1):
        yield compare(CASE, f"four-bar: time of impact {k}", truth[0], contact.begin, 1e-7)
        yield compare(CASE, f"four-bar: approach of impact {k}", truth[1], contact.approach, 1e-7)


def _loose_four_bar() -> Iterator[Row]:
    """All designs at once, in the sixth turn: each is periodic by then."""
    mus = np.array([*BY_FRICTION, *(0.1 for _ in BY_CLEARANCE)])
    clearances = np.array([*(0.5 for _ in BY_FRICTION), *BY_CLEARANCE])
    turn, velocities = 2 * np.pi / FOUR_BAR_SPEED, four_bar_velocities()
    names = ["follower.alpha", "B.force", "motor.effort"]

    designs = {"friction": mus, "clearance": clearances * 1e-3}
    found = extremes(_sampler(four_bar(), designs, names, velocities, 1e-10), 5 * turn, 6 * turn, 8000)
    peaks = np.maximum(-found["follower.alpha"][0], found["follower.alpha"][1])
    main = list(BY_FRICTION).index(0.1)
    values = [peaks[main], found["B.force"][1][main], *(found["motor.effort"][way][main] for way in (0, 1))]
    for (word, (value, tolerance)), computed in zip(LOOSE.items(), values, strict=True):
        yield compare(CASE, f"four-bar, c = 0.5 mm, mu = 0.1: {word}", value, float(computed), tolerance)
    least = float(found["B.force"][0][main])
    touching = "always touching" if least > 0.0 else "flies"
    note = f"the least force of a turn is {least:.4g} N"
    yield match(CASE, "four-bar: the journal", "always touching", touching, printed="always touching", note=note)
    both = {f"mu = {mu:g}": value for mu, value in BY_FRICTION.items()}
    both |= {f"c = {c:g} mm": value for c, value in BY_CLEARANCE.items()}
    for k, (word, value) in enumerate(both.items()):
        quantity = f"four-bar, {word}: largest |follower acceleration|"
        yield compare(CASE, quantity, value, float(peaks[k]), 1e-3)
    falls = "falls" if (np.diff(peaks[: len(BY_FRICTION)]) < 0).all() else "does not"
    yield match(CASE, "four-bar: shaking with more friction", "falls", falls, printed="falls")
    wider = np.array([*peaks[:-5:-1], peaks[main]])  # 0.01, 0.1, 0.2, 0.25, 0.5 mm
    rises = "rises" if (np.diff(wider) > 0).all() else "least at 0.2 mm" if wider.argmin() == 2 else "neither"
    yield match(CASE, "four-bar: shaking with more clearance", "least at 0.2 mm", rises, printed="rises")


def _loose_slider() -> Iterator[Row]:
    turn = 2 * np.pi / SLIDER_CRANK_SPEED
    (r, *_), (length, *_), _ = SLIDER_CRANK
    ideal = slider_crank(loosely=False).simulate([0.0, turn / 2])
    quantity, peak = "slider-crank, ideal joint: largest acceleration", float(abs(ideal.array("slider.ax")[0]))
    yield compare(CASE, quantity, IDEAL_SLIDER, peak, 1e-4)
    velocities = {"slider.vx": 0.0, "rod.omega": -r / length * SLIDER_CRANK_SPEED}
    designs = {"clearance": np.array(list(SLIDER)) * 1e-3}
    sample = _sampler(slider_crank(), designs, ["slider.ax"], velocities, 1e-12)
    found = extremes(sample, 8 * turn, 10 * turn, 8000)["slider.ax"]
    peaks = np.maximum(-found[0], found[1])
    for (c, truth), computed in zip(SLIDER.items(), peaks, strict=True):
        quantity = f"slider-crank with gravity, c = {c:g} mm: largest acceleration, turns 9 and 10"
        note = "gravity is not given, and decides; without it the motion is chaotic"
        yield compare(CASE, quantity, truth, float(computed), 2e-3, note=note)
