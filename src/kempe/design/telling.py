"""An optimisation in words: how it ended, what holds the optimum, and which requirements block."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kempe.design.conditions import Conditions
from kempe.design.optimum import Active
from kempe.design.problem import DesignProblem, Limit, Point, Scales
from kempe.design.trail import beside_wall
from kempe.simulation.wording import listed

if TYPE_CHECKING:
    from kempe.design.searching import Found

#: Multipliers below this share of the largest are rounding.
ROUNDING = 1e-6


def active_requirements(problem: DesignProblem, scales: Scales, held: Conditions, point: Point) -> list[Active]:
    """What holds a design, with multipliers in the user's units and in words."""
    told = [
        _requirement(problem, limit, float(g * scales.objective * weight / unit), unit, point)
        for limit, g, unit, weight in zip(problem.limits, held.multipliers, scales.units, scales.weights, strict=True)
        if g
    ]
    for k, name in enumerate(problem.parameters):
        for g, bound, sign in ((held.at_lower[k], problem.lower[k], ">="), (held.at_upper[k], problem.upper[k], "<=")):
            if g:
                rate = float(g * scales.objective / scales.parameters[k])
                told.append(_bound(problem, f"{name} {sign} {bound:.6g}", float(bound), rate, point))
    largest = max((_effect(active) for active in told), default=0.0)
    return sorted((a for a in told if _effect(a) > ROUNDING * largest), key=lambda a: -_effect(a))


def _effect(active: Active) -> float:
    return abs(active.multiplier) * (abs(active.limit) or 1.0)


def _requirement(problem: DesignProblem, limit: Limit, rate: float, unit: float, point: Point) -> Active:
    by, how_much = _little(limit.limit, unit)
    if limit.sense:
        words = f"'{limit.words}': relaxing it by {how_much} lowers {_change(problem, rate * by, point)}"
        return Active(limit.words, limit.limit, rate, words)
    falls = "lowers" if rate > 0 else "raises"
    words = f"'{limit.words}': raising it by {how_much} {falls} {_change(problem, abs(rate) * by, point)}"
    return Active(limit.words, limit.limit, rate, words)


def _bound(problem: DesignProblem, words: str, bound: float, rate: float, point: Point) -> Active:
    by, how_much = _little(bound, 1.0)
    said = f"the bound '{words}': relaxing it by {how_much} lowers {_change(problem, rate * by, point)}"
    return Active(words, bound, rate, said)


def _little(limit: float, unit: float) -> tuple[float, str]:
    """A small change of a limit, and what to call it."""
    if limit:
        return 0.01 * abs(limit), "1 %"
    by = 10.0 ** math.floor(math.log10(unit))
    return by, f"{by:g}"


def _change(problem: DesignProblem, by: float, point: Point) -> str:
    value = abs(float(point.values[problem.objective]))
    share = f" ({100 * by / value:.2g} %)" if value and by < 100 * value else ""
    return f"'{problem.minimise}' by about {by:.3g}{share}"


def worst(problem: DesignProblem, scales: Scales, point: Point) -> str:
    """The requirement that is missed most, in words."""
    missed = [limit.violation(point.values) / unit for limit, unit in zip(problem.limits, scales.units, strict=True)]
    limit = problem.limits[int(np.argmax(missed))]
    share = f" (by {100 * max(missed):.3g} %)" if abs(limit.limit) == scales.units[int(np.argmax(missed))] else ""
    return f"'{limit.words}' is missed by {limit.violation(point.values):.4g}{share}"


def blocking(problem: DesignProblem, held: Conditions, blocks: dict[str, float]) -> str:
    """What holds the least violation up."""
    tight = held.at_lower, held.at_upper
    low = [f"{n} >= {x:.6g}" for n, x, g in zip(problem.parameters, problem.lower, tight[0]) if g > ROUNDING]
    high = [f"{n} <= {x:.6g}" for n, x, g in zip(problem.parameters, problem.upper, tight[1]) if g > ROUNDING]
    names = listed(list(blocks))
    together = f"{names} cannot be met together" if len(blocks) > 1 else f"{names} cannot be met"
    bounds = [*low, *high]
    return together + (f" within the bound{'s' * (len(bounds) > 1)} {listed(bounds)}" if bounds else "")


def told_walls(problem: DesignProblem) -> str:
    """How often a search met designs that cannot be evaluated."""
    if not problem.walls:
        return ""
    first = problem.walls[0]
    where = ", ".join(f"{name} = {value:.6g}" for name, value in first.parameters.items())
    times = "once" if len(problem.walls) == 1 else f"{len(problem.walls)} times"
    return f"a wall was met {times}, first at {where}: {first.reason}"


def message(found: Found, status: str, method: str, counts: dict[str, int], starts: int) -> str:
    """How a search ended."""
    problem, scales, point = found.problem, found.trail.scales, found.point
    done = f"{counts['iterations']} iterations, {counts['runs']} runs and {counts['gradients']} gradients"
    effort = f"by {method}, {done}" + (f" from {starts} starts" if starts > 1 else "")
    met = found.trail.met(point.values)
    state = "all requirements are met" if problem.limits else "nothing is required"
    state = state if met else worst(problem, scales, point)
    if status == "optimal":
        assert found.conditions is not None
        said = f"optimal ({effort}): {state}, and first-order conditions hold to {found.conditions.residual:.1e}"
    elif status == "infeasible":
        assert found.conditions is not None
        reach = "near the one returned" if starts == 1 else f"reached from {starts} starts"
        said = f"infeasible ({effort}): no design {reach} meets all requirements. The least violation found is that "
        said += f"{state}; {blocking(problem, found.conditions, found.blocks)}"
    elif status == "interrupted":
        said = f"interrupted ({effort}); this is the best design so far: {state}"
    else:
        said = f"stopped, not shown to be optimal ({effort}): {_stopped(found, state)}"
    walls = told_walls(problem)
    return said + (f"; {walls}" if walls else "")


def _stopped(found: Found, state: str) -> str:
    """Why a search ended that shows nothing."""
    wall = beside_wall(found.trail, found.point)
    left = "" if found.conditions is None else f"; first-order conditions hold to {found.conditions.residual:.1e} only"
    if wall:
        return f"designs beside this one cannot be evaluated ({wall}), and what lies behind is not known; {state}{left}"
    return f"{found.ending.rstrip('.').lower()}; {state}{left}"
