"""A slider-crank with a loose piston pin (Zhang, Xu, Flores and Lankarani, 2014, section 3, Tables 1 to 6).

The crank turns at a constant speed, and the crank pin is ideal: two degrees of freedom are left, and the journal flies,
strikes and slides in its bearing under Lankarani and Nikravesh's law. Settled: crank and rod in line at first, the
slider at rest and the journal in the middle of its bearing without relative velocity; the rod's centre of mass at
mid-length; n = 1.5; no gravity, no friction.

Without them a speed is a stiffness: in the time of the crank, a run at another speed is the one at 5000 rpm with the
stiffness times (5000 / rpm)^2. So all designs of Table 6 are runs of one model.

From c = 0.25 mm on the motion at 5000 rpm is chaotic: nothing but statistics compares there, and they carry the spread
of their starts as tolerance. Truths come from an integration in two coordinates that shares nothing with Kempe.

Misprints: rows 2, 4, 12 and 26 of Table 6; the upper limit of Table 3 (1.7e10 is meant) and the optimum (3.4e9);
"diametric" for radial; eq. (10) is a covariance where eq. (16) needs correlations, and the last term of eq. (12) has
1/sigma^2. Left open: gravity, which decides at 50 rpm; the window of the maxima; clipped forces; the damping of the
commercial contact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import kempe as kp
from kempe.validation.case import Row, compare, match
from kempe.validation.extremes import crest, extremes
from kempe.validation.isolated_impact import isolated_impact

CASE = "clearance-slider-crank"
CRANK, ROD, BEARING = 0.05, 0.12, 10e-3
MASSES, INERTIAS = (0.30, 0.21, 0.14), (1e-4, 2.5e-4, 1e-4)
YOUNGS, POISSON, RESTITUTION = 207e9, 0.3, 0.9
RPM = 5000.0
OMEGA = RPM * np.pi / 30.0
TURN = 2 * np.pi / OMEGA

#: Eq. (5) for steel on steel: K by the clearance in mm.
STIFFNESSES = {
    0.05: 213926325845.48,
    0.1: 150888204748.04,
    0.2: 106153846153.85,
    0.25: 94704365250.437,
    0.5: 66101983978.968,
    1.0: 45494505494.505,
}
#: What impacts between free bodies have, by what eq. (7) is told, whatever the stiffness, mass, exponent and speed.
RESTITUTIONS = {0.9: 0.913176677805581, 0.5: 0.7252411140101973, 0.46: 0.714993699530114}
#: mass, speed, stiffness, exponent of such impacts.
IMPACTS = ((0.14, 4.0, 9.4e9, 1.5), (1.0, 1.0, 6.6e10, 1.5), (0.2, 2.0, 1e13, 2.0))
#: The ideal joint at 5000 rpm.
IDEAL = {"slider.ax": 19419.36, "B.force": 2718.71, "motor.effort": 72529.8 / OMEGA}
#: c = 0.5 mm: when the journal strikes, how fast it approaches, how fast it departs, by the stiffness.
FIRST_IMPACTS = {
    9.4e9: (
        (2.27286032e-4, 4.38578315, 3.75845056),
        (6.73989305e-4, 2.46343808, 2.35867851),
        (1.34083367e-3, 3.06896359, 2.50442275),
    ),
    6.610198e10: ((2.27286032e-4, 4.38578315, 3.91149258), (6.37056430e-4, 2.75694915, 1.76488033)),
}
#: c = 0.18 mm, K = 1e10: largest acceleration, force, power.
LIMIT_CYCLE = {"slider.ax": 29461.0, "B.force": 5421.5, "motor.effort": 1.2386e5 / OMEGA}
#: Table 4: clearance in mm, stiffness, and the largest acceleration as printed and in truth, with its tolerance.
TABLE_4 = (
    (0.5, 9.4e9, 1.1e5, 9.9e4, 0.1),
    (0.45, 3.4e9, 1.0e5, 5.7e4, 0.1),
    (0.05, 1.5e10, 2.0e4, 2.06e4, 3e-3),
    (0.3, 1.1e10, 8.5e4, 6.1e4, 0.1),
    (0.15, 1.2e10, 2.7e4, 2.3e4, 0.2),
    (0.35, 6.4e9, 9.3e4, 5.4e4, 0.1),
    (0.25, 1.7e10, 6.8e4, 6.6e4, 0.1),
    (0.1, 7.9e9, 2.0e4, 2.20e4, 3e-3),
    (0.2, 4.9e9, 4.5e4, 3.09e4, 3e-3),
    (0.4, 1.4e10, 9.1e4, 9.4e4, 0.1),
)
#: Table 6: rpm, stiffness, clearance in mm, force, acceleration, power; None where the print cannot be right.
TABLE_6 = (
    (733, 2.16e11, 0.76, 9.03e2, 6.45e3, 4.30e3),
    (50, 2.31e10, 0.39, 1.32e1, 9.40e1, None),
    (3800, 2.62e11, 0.63, 9.24e3, 6.60e4, 2.18e5),
    (3120, 9.13e10, 0.8, 8.45e3, None, 1.61e5),
    (3300, 1.59e11, 0.05, 1.19e3, 8.48e3, 2.09e4),
    (1070, 1.94e11, 0.19, 5.00e2, 3.57e3, 5.30e3),
    (2620, 3.30e8, 0.49, 5.03e3, 3.59e4, 8.58e4),
    (903, 1.17e10, 0.7, 1.11e3, 7.92e3, 5.06e3),
    (2780, 2.96e11, 0.09, 9.26e2, 6.61e3, 1.34e4),
    (562, 3.07e11, 0.56, 6.79e2, 4.80e3, 1.80e3),
    (2430, 2.39e11, 0.53, 4.80e3, 3.43e4, 6.30e4),
    (1250, 1.37e11, 0.97, 1.83e3, None, 1.50e4),
    (4150, 1.48e11, 0.59, 9.05e3, 6.46e4, 2.52e5),
    (4830, 3.44e10, 0.12, 2.89e3, 2.06e4, 7.28e4),
    (2950, 3.19e11, 0.9, 8.83e3, 6.30e4, 1.82e5),
    (3980, 1.03e11, 0.22, 5.02e3, 3.58e4, 1.28e5),
    (3470, 1.71e11, 0.93, 1.14e4, 8.11e4, 2.76e5),
    (1750, 1.25e11, 0.46, 2.40e3, 1.71e4, 2.38e4),
    (4670, 3.30e11, 0.29, 1.11e4, 7.94e4, 3.14e5),
    (4480, 2.85e11, 0.86, 1.73e4, 1.23e5, 4.90e5),
    (1420, 1.14e11, 0.02, 2.22e2, 1.58e3, 2.10e3),
    (3630, 2.50e11, 0.26, 5.85e3, 4.17e4, 1.32e5),
    (2100, 5.72e10, 1.0, 5.29e3, 3.77e4, 7.70e4),
    (2270, 6.85e10, 0.16, 9.47e2, 6.76e3, 1.45e4),
    (220, 2.28e11, 0.43, 3.50e2, 2.50e3, 4.58e2),
    (392, 7.99e10, 0.83, 4.16e2, 2.97e3, None),
    (1590, 2.73e11, 0.32, 2.24e3, 1.59e4, 3.37e4),
    (5000, 2.05e11, 0.36, 1.39e4, 9.90e4, 4.05e5),
    (1930, 1.82e11, 0.66, 4.09e3, 2.92e4, 3.85e4),
    (4320, 4.58e10, 0.73, 1.36e4, 9.68e4, 3.64e5),
)
#: Clearances in mm at 2000 rpm, and speeds in rpm at 0.1 mm, of Figures 6 to 11.
CLEARANCES, SPEEDS = (0.05, 0.1, 0.2, 0.5), (200, 1000, 2000, 5000)
#: Rows of Table 6 with powers of ten or digits that the other columns do not allow.
MISPRINTS = {"slider.ax": "4 and 12", "motor.effort": "2 and 26"}
WORDS = {"slider.ax": "slider acceleration", "B.force": "pin force", "motor.effort": "crank power"}


def slider_crank(*, loose: bool = True, rpm: float = RPM) -> kp.Mechanism:
    """The mechanism of Figure 2; ``shift`` moves the slider a little at the start."""
    m = kp.Mechanism("slider-crank with a loose pin", units="m, kg, s")
    clearance, stiffness = m.parameter("clearance", 0.5e-3), m.parameter("stiffness", 9.4e9)
    shift = m.parameter("shift", 0.0)
    centres = (CRANK / 2, CRANK + ROD / 2, CRANK + ROD + (shift if loose else 0.0))
    crank, rod, slider = (
        m.body(name, mass=mass, inertia=inertia, at=(x, 0))
        for name, mass, inertia, x in zip(("crank", "rod", "slider"), MASSES, INERTIAS, centres, strict=True)
    )
    shaft = m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, at=(CRANK, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0))
    m.driver("motor", shaft.angle, kp.constant_speed(rpm * np.pi / 30.0))
    law = kp.LankaraniNikravesh(RESTITUTION, stiffness)
    pin: dict[str, Any] = {"clearance": clearance, "bearing_radius": BEARING, "contact": law} if loose else {}
    m.revolute("B", rod, slider, on_i=(ROD / 2, 0), on_j=(0, 0), **pin)
    return m


def at_rest(rpm: float = RPM) -> dict[str, float]:
    """The slider at rest, and the rod turning such that the journal is at rest in its bearing."""
    return {"slider.vx": 0.0, "rod.omega": -CRANK / ROD * rpm * np.pi / 30.0}


def rows() -> Iterator[Row]:
    """Every value of the case."""
    m = slider_crank()
    yield from _stiffness()
    yield from _restitution()
    yield from _ideal()
    yield from _first_impacts(m)
    yield _speed_is_stiffness(m)
    yield from _limit_cycle(m)
    yield from _table_4(m)
    yield from _trends(m)
    yield from _table_6(m)


def _stiffness() -> Iterator[Row]:
    note = "Tables 4 and 6 have stiffnesses of their own"
    for c, truth in STIFFNESSES.items():
        computed = kp.hertz_stiffness(YOUNGS, POISSON, (BEARING, BEARING - c * 1e-3), inside=True)
        yield compare(CASE, f"K of eq. (5), c = {c:g} mm", truth, float(computed), 1e-12, note=note)


def _restitution() -> Iterator[Row]:
    """By impacts as they are simulated, not by the relation that they obey."""
    for told, truth in RESTITUTIONS.items():
        for mass, speed, stiffness, exponent in IMPACTS:
            law = kp.LankaraniNikravesh(told, stiffness, exponent=exponent)
            impact = isolated_impact(law, mass=mass, speed=speed)
            where = f"c_e = {told:g}, K = {stiffness:g}, n = {exponent:g}, {mass:g} kg, {speed:g} m/s"
            note = "eq. (7) is made for c_e near 1"
            yield compare(CASE, f"restitution, {where}", truth, impact.restitution, 1e-9, printed=told, note=note)
            lost = mass * speed**2 / 2 * (1 - truth**2)
            yield compare(CASE, f"area of the hysteresis loop, {where}", lost, impact.lost, 1e-9)


def _ideal() -> Iterator[Row]:
    yield from _peaks(slider_crank(loose=False), {"shift": [0.0]}, {}, (1, 2), IDEAL, 1e-6, "ideal joint")


def _first_impacts(m: kp.Mechanism) -> Iterator[Row]:
    for stiffness, truths in FIRST_IMPACTS.items():
        result = m.simulate([0.0, 1.6e-3], velocities=at_rest(), parameters={"stiffness": stiffness}, tolerance=1e-13)
        for k, (truth, contact) in enumerate(zip(truths, result.contacts("B"), strict=False), start=1):
            found = (contact.begin, contact.approach, contact.departure)
            for word, true, ours in zip(("time", "approach", "departure"), truth, found, strict=True):
                yield compare(CASE, f"c = 0.5 mm, K = {stiffness:.7g}: {word} of impact {k}", true, ours, 1e-7)


def _speed_is_stiffness(m: kp.Mechanism) -> Row:
    """The second impact at 2000 rpm, found as it is and as one at 5000 rpm."""
    slow, share = slider_crank(rpm=2000.0), 2000.0 / RPM
    real = slow.simulate([0.0, 2e-3], velocities=at_rest(2000.0), tolerance=1e-13)
    scaled = m.simulate(
        [0.0, 2e-3 * share], velocities=at_rest(), parameters={"stiffness": 9.4e9 / share**2}, tolerance=1e-13
    )
    times = (real.contacts("B")[1].begin, scaled.contacts("B")[1].begin / share)
    return compare(CASE, "impact 2 at 2000 rpm, by a run at 5000 rpm with K (5000 / 2000)^2", *times, 1e-9)


def _limit_cycle(m: kp.Mechanism) -> Iterator[Row]:
    design = {"clearance": [0.18e-3], "stiffness": [1e10]}
    yield from _peaks(m, design, at_rest(), (40, 44), LIMIT_CYCLE, 1e-4, "limit cycle, c = 0.18 mm, K = 1e10")


def _peaks(
    m: kp.Mechanism,
    design: dict[str, list[float]],
    velocities: dict[str, float],
    turns: tuple[int, int],
    truths: dict[str, float],
    tolerance: float,
    what: str,
) -> Iterator[Row]:
    """The largest values of one design between two turns of the crank."""

    def sample(times: np.ndarray) -> dict[str, np.ndarray]:
        runs = m.run_many(design, list(truths), [0.0, *times], velocities=velocities, tolerance=1e-10)
        return {name: runs[name][:, 1:] for name in truths}

    found = extremes(sample, turns[0] * TURN, turns[1] * TURN, 2000 * (turns[1] - turns[0]))
    for name, truth in truths.items():
        least, largest = (float(value[0]) for value in found[name])
        unit = OMEGA if name == "motor.effort" else 1.0
        yield compare(CASE, f"{what}: largest {WORDS[name]}", truth * unit, max(-least, largest) * unit, tolerance)


def _largest(
    m: kp.Mechanism,
    designs: Sequence[tuple[float, float, float]],
    names: Sequence[str],
    turns: tuple[int, int],
    starts: int,
    points: int = 1000,
) -> dict[str, np.ndarray]:
    """The largest values between two turns of the crank: a row per design (rpm, K, c in mm), a column per start.

    The starts differ in where the journal is: by hundredths of the clearance where the motion is chaotic, and by
    millionths below 0.25 mm. There the journal may stay on the wall for good, and as the law keeps the approach of its
    last impact, every start has a limit cycle of its own.
    """
    rpm, stiffness, clearance = np.repeat(np.array(designs, dtype=float), starts, axis=0).T
    shifts = np.tile(np.arange(starts) - starts // 2, len(designs)) * np.where(clearance < 0.25, 1e-6, 1e-2)
    share = rpm / RPM
    runs = m.run_many(
        {"clearance": clearance * 1e-3, "stiffness": stiffness / share**2, "shift": shifts * clearance * 1e-3},
        names,
        [0.0, *np.linspace(turns[0] * TURN, turns[1] * TURN, (turns[1] - turns[0]) * points + 1)],
        velocities=at_rest(),
        method="projection",
    )
    return {name: (crest(np.abs(runs[name][:, 1:])) * share**2).reshape(-1, starts) for name in names}


def _table_4(m: kp.Mechanism) -> Iterator[Row]:
    designs = [(RPM, stiffness, c) for c, stiffness, *_ in TABLE_4]
    found = _largest(m, designs, ["slider.ax", "motor.effort"], (3, 20), 9)
    medians = np.median(found["slider.ax"], axis=1)
    for (c, stiffness, printed, truth, tolerance), starts, ours in zip(
        TABLE_4, found["slider.ax"], medians, strict=True
    ):
        quantity = (
            f"Table 4, c = {c:g} mm, K = {stiffness:g}: largest acceleration, turns 4 to 20, median of nine starts"
        )
        note = f"the starts give {starts.min():.3g} to {starts.max():.3g}; the print leaves the first turn out"
        if c == 0.15:
            note += (
                "; beside the limit cycle with flights, 2.55e4, every last impact leads to one without, 2.2e4 to 2.5e4"
            )
        yield compare(CASE, quantity, truth, float(ours), tolerance, printed=printed, note=note)
    paper = np.array([row[2] for row in TABLE_4])
    rank = float(spearmanr(medians, paper).statistic)
    note = "what the truths above give; 0.85 is quoted with them"
    yield compare(CASE, "Table 4: rank correlation with the print", 0.80, rank, 0.07, note=note)
    ratio = float(np.exp(np.log(medians / paper).mean()))
    yield compare(CASE, "Table 4: geometric mean of the ratio to the print", 0.83, ratio, 0.03)
    quiet = float(np.median(found["motor.effort"][2])) * OMEGA
    note = f"c = 0.05 mm: {quiet:.4g} W here, 1.9e4 printed: Table 4's power column cannot be the largest |T omega|"
    above = "above" if quiet > IDEAL["motor.effort"] * OMEGA else "below"
    yield match(CASE, "Table 4: power against the ideal joint's 72530 W", "above", above, printed="below", note=note)


def _trends(m: kp.Mechanism) -> Iterator[Row]:
    """What Figures 6 to 11 are said to show; K of eq. (5)."""
    names = list(WORDS)
    found = _largest(m, [(2000.0, STIFFNESSES[c], c) for c in CLEARANCES], names, (3, 10), 5)
    for name in names:
        over = np.median(found[name], axis=1) / (IDEAL[name] * (2000.0 / RPM) ** 2)
        word = "crank moment" if name == "motor.effort" else WORDS[name]
        quantity = f"2000 rpm: {word} over the ideal joint's, c = 0.05, 0.1, 0.2, 0.5 mm"
        yield match(CASE, quantity, "rises", _way(over), printed="rises", note=_listed(over))
    peaks = _largest(m, [(float(rpm), STIFFNESSES[0.1], 0.1) for rpm in SPEEDS], ["slider.ax"], (3, 10), 5)["slider.ax"]
    over = np.median(peaks, axis=1) / (IDEAL["slider.ax"] * (np.array(SPEEDS) / RPM) ** 2)
    quantity = "c = 0.1 mm: slider acceleration over the ideal joint's, 200, 1000, 2000, 5000 rpm"
    note = f"{_listed(over)}; the text's 'higher peaks' at lower speeds are true of this ratio"
    yield match(CASE, quantity, "falls", _way(over), printed="falls", note=note)


def _way(values: np.ndarray) -> str:
    steps = np.diff(values)
    return "rises" if (steps > 0).all() else "falls" if (steps < 0).all() else "neither"


def _listed(values: np.ndarray) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _table_6(m: kp.Mechanism) -> Iterator[Row]:
    names = ["B.force", "slider.ax", "motor.effort"]
    found = _largest(m, [row[:3] for row in TABLE_6], names, (3, 10), 1, points=2000)
    rpm = np.array([row[0] for row in TABLE_6])
    for k, name in enumerate(names):
        ours = found[name][:, 0] * (rpm * np.pi / 30.0 if name == "motor.effort" else 1.0)
        printed = np.array([row[3 + k] or np.nan for row in TABLE_6])
        legible = np.isfinite(printed)
        rank = float(spearmanr(ours[legible], printed[legible]).statistic)
        over = float(np.exp(np.log(ours[legible] / printed[legible]).mean()))
        note = f"rows {MISPRINTS[name]} are misprints" if name in MISPRINTS else ""
        yield compare(CASE, f"Table 6, {WORDS[name]}: rank correlation with the print", 0.88, rank, 0.1, note=note)
        if name != "motor.effort":
            note = "the stiffness column seems not to have acted in the paper's runs"
            quantity = f"Table 6, {WORDS[name]}: geometric mean of the ratio to the print"
            yield compare(CASE, quantity, 3.6, over, 0.3, note=note)
