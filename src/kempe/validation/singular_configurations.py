"""Lock-up and bifurcation of a slider-crank (ME451 lecture notes of 27 October 2011, Example 3.7.5).

Phi = (-x2 + cos f1 + l sin f2, sin f1 - l cos f2, f1 - pi t/12). With l = 0.5 the mechanism locks at t = 2; with l = 1
it can go on in two ways at t = 6. The truths were computed with 40 digits from the closed form
f2 = acos(sin f1 / l); they share nothing with Kempe.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, sin
from typing import Any

import kempe as kp
from kempe.validation.case import Row, compare, match

CASE = "singular-configurations"
GRIDS = (0.05, 0.06, 0.07, 0.5)

#: t: x2, f2, x2', f2', x2'', f2'' on the branch f2 > 0 for l = 0.5.
LOCK_UP = {
    1.80: (1.1005121951050200555, 0.43235619278858603113, -0.62433037958236969793, -1.1134064368613808328,
           -1.4729258568096062388, -2.5378031528681865096),
    1.85: (1.06720486623797526, 0.37302542327716976875, -0.71392649808689466124, -1.2715000840223081754,
           -2.1972218565835300647, -3.9560039795186629601),
    1.90: (1.0282142930487234808, 0.30342905142754337448, -0.85975114686537606368, -1.5400142190549091351,
           -3.9244692537696393727, -7.3558728770350890971),
    1.95: (0.97855864119987521669, 0.21374920879994797299, -1.1802266499882505145, -2.1536229265735784679,
           -10.837952113805064566, -21.051528428583748427),
}  # fmt: skip
#: What the notes print: t: x2', f2', x2'', f2''.
PRINTED = {
    1.80: (None, None, -1.47292585680960, -2.53780315286818),
    1.85: (-0.71392649808689, -1.27150008402231, -2.19722185658353, -3.95600397951865),
    1.90: (-0.85975114686538, -1.54001421905491, -3.92446925376964, -7.35587287703508),
    1.95: (-1.18022664998825, -2.15362292657357, -10.83795211380501, -21.05152842858363),
}
#: Slider branch, printed for steps of 0.06 and 0.05: t: x2', x2''.
PRINTED_SLIDER = {
    5.80: (-0.52288120167379, -0.00717409977873),
    5.85: (-0.52319509991791, -0.00538165069997),
    5.86: (-0.52324712340312, -0.00502304039889),
    5.90: (-0.52341935137507, -0.00358827950303),
    5.92: (-0.52348394173427, -0.00287074165928),
    5.95: (-0.52355391762090, -0.00179429347120),
    5.98: (-0.52359159823540, -0.71773456266700e-3),
}
#: Rotating branch, where both are zero and the print shows round-off: t: x2', x2''.
PRINTED_ROTATING = {
    6.04: (2e-15, -0.99659190644620e-12),
    6.05: (-5e-15, 0.21214905163374e-11),
    6.10: (-1e-15, 0.22531501249805e-12),
    6.15: (-1e-15, 0.10145027567015e-12),
    6.16: (0.0, -0.43745210091874e-13),
    6.20: (None, 0.49056387941139e-13),
}


def slider_crank(length: float) -> kp.Equations:
    """The mechanism in the coordinates of the notes."""
    return kp.Equations(
        "slider-crank",
        {"x2": 1.0 + length, "f1": 0.0, "f2": pi / 2},
        parameters={"l": length},
        constraints=lambda q, t, p: {
            "loop x": -q.x2 + kp.cos(q.f1) + p.l * kp.sin(q.f2),
            "loop y": kp.sin(q.f1) - p.l * kp.cos(q.f2),
            "crank": q.f1 - kp.pi / 12 * t,
        },
    )


def rows() -> Iterator[Row]:
    """Every value of the case."""
    yield from _lock_up()
    yield from _bifurcation()


def _lock_up() -> Iterator[Row]:
    system = slider_crank(0.5)
    result = system.kinematics([0.0, *LOCK_UP])
    names = ("x2", "f2", "x2.v", "f2.v", "x2.a", "f2.a")
    for k, (t, truths) in enumerate(LOCK_UP.items(), start=1):
        for name, truth, printed in zip(names, truths, (None, None, *PRINTED[t]), strict=True):
            computed = float(result.array(name)[k])
            yield compare(CASE, f"l = 0.5: {name} at t = {t}", truth, computed, 1e-12, printed=printed)
    for step in GRIDS:
        event = _event(system, step)
        note = "print shows velocities of 1e7 and accelerations of 1e22, which are round-off" if step == 0.05 else ""
        yield match(CASE, f"l = 0.5, grid {step}: verdict", "lock-up", event.kind, printed="lock-up", note=note)
        yield compare(CASE, f"l = 0.5, grid {step}: time", 2.0, event.t, 1e-12, printed=2.0)
        ranks = f"{event.ranks[0]}, {event.ranks[1]}"
        yield match(CASE, f"l = 0.5, grid {step}: ranks of Phi_q, [Phi_q nu]", "2, 3", ranks, printed="2, 3")
        for name, truth in (("x2", 3**0.5 / 2), ("f1", pi / 6), ("f2", 0.0)):
            yield compare(
                CASE, f"l = 0.5, grid {step}: {name} at the lock-up", truth, event.pose[name], 1e-12, printed=truth
            )


def _event(system: kp.Equations, step: float) -> Any:
    """The first singular position met on a grid that runs beyond it."""
    grid = [k * step for k in range(int(8 / step) + 1)]
    return system.kinematics(grid, on_singular="stop").events[0]


def _bifurcation() -> Iterator[Row]:
    system = slider_crank(1.0)
    for step in GRIDS:
        event = _event(system, step)
        note = "print steps over it unnoticed" if step == 0.06 else "print gives NaN there" if step == 0.05 else ""
        yield match(CASE, f"l = 1, grid {step}: verdict", "bifurcation", event.kind, printed="bifurcation", note=note)
        yield compare(CASE, f"l = 1, grid {step}: time", 6.0, event.t, 1e-12, printed=6.0)
        for k, truth in enumerate((-pi / 12, pi / 12)):
            computed = event.branches[k].velocity["f2"]
            yield compare(CASE, f"l = 1, grid {step}: f2' of branch {k}", truth, computed, 1e-12)
        yield from _beyond(system, step)
    yield from _ranks(system)
    yield from _printed_times(system)


def _ranks(system: kp.Equations) -> Iterator[Row]:
    """The ranks at t = 6 for the velocities of the two branches and for one that no branch has."""
    pose = {"x2": 0.0, "f1": pi / 2, "f2": 0.0}
    for speed, truth in ((-pi / 12, "2, 2, 2"), (pi / 12, "2, 2, 2"), (0.1, "2, 2, 3")):
        slide = -pi / 12 + speed
        found = system.ranks(pose, {"x2.v": slide, "f1.v": pi / 12, "f2.v": speed}, time=6.0)
        yield match(
            CASE,
            f"l = 1: ranks of Phi_q, [Phi_q nu], [Phi_q gamma] at f2' = {speed:.4f}",
            truth,
            ", ".join(map(str, found)),
            printed="2, 2, 2" if truth == "2, 2, 2" else None,
            note="" if truth == "2, 2, 2" else "no branch has this velocity, which the last rank shows",
        )


def _closed_form(t: float, branch: int) -> dict[str, float]:
    """The two motions for l = 1, exactly."""
    f1, w = pi * t / 12, pi / 12
    if branch == 0:
        return {
            "x2": 2 * cos(f1),
            "f2": pi / 2 - f1,
            "x2.v": -2 * w * sin(f1),
            "f2.v": -w,
            "x2.a": -2 * w * w * cos(f1),
            "f2.a": 0.0,
        }
    return {"x2": 0.0, "f2": f1 - pi / 2, "x2.v": 0.0, "f2.v": w, "x2.a": 0.0, "f2.a": 0.0}


def _beyond(system: kp.Equations, step: float) -> Iterator[Row]:
    """Both branches continued past the bifurcation, compared at the last grid point before t = 8."""
    grid = [k * step for k in range(int(8 / step) + 1)]
    for branch, name in ((0, "slider"), (1, "rotating bar")):
        result = system.kinematics(grid, on_singular="cross", branch=branch)
        t = float(result.t[-1])
        for quantity, truth in _closed_form(t, branch).items():
            computed = float(result.array(quantity)[-1])
            yield compare(CASE, f"l = 1, grid {step}, {name}: {quantity} at t = {t:.2f}", truth, computed, 1e-12)


def _printed_times(system: kp.Equations) -> Iterator[Row]:
    """The printed times.

    Solved directly, one rounding error in the loop equations grows by 1/f2^2 in the velocities and 1/f2^3 in the
    accelerations, f2 being the angle to the bifurcation; the tolerance allows for that.
    """
    times = [*PRINTED_SLIDER, *PRINTED_ROTATING]
    eps = 2.2e-16
    for branch, name in ((0, "slider"), (1, "rotating bar")):
        result = system.kinematics([0.0, *times], on_singular="cross", branch=branch)
        for k, t in enumerate(times, start=1):
            if t < 6 and branch == 1:
                continue
            near = abs(pi / 2 - pi * t / 12)
            printed = (PRINTED_SLIDER if branch == 0 else PRINTED_ROTATING).get(t, (None, None))
            note = "print shows round-off" if branch == 1 else ""
            for quantity, digits, lost in (("x2.v", printed[0], 2), ("x2.a", printed[1], 3)):
                truth = _closed_form(t, branch)[quantity]
                tolerance = max(1e-12, eps / near**lost / (abs(truth) or 1.0))
                yield compare(
                    CASE,
                    f"l = 1, {name}: {quantity} at t = {t}",
                    truth,
                    float(result.array(quantity)[k]),
                    tolerance,
                    printed=digits,
                    note=note,
                )
