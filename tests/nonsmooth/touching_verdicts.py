"""What Kempe makes of a random mechanism with friction and impacts, held to the reference.

**The reference** runs with steps h, h/2, h/4, and finer ones where these disagree. How far they are apart, the coarser
ones by halves and the most up to a time, is its *bound*. A case is judged up to the time at which the bound passes
``BLUR``: beyond, motions from nearly the same start have nothing to do with each other.

**Kempe agrees** where at all output times all positions are within ``TIMES`` bounds of the finest run, where it has the
modes that all runs of the reference have (away from instants at which they change), and where what must hold for any
motion does: no penetration, no energy from nothing, a closed balance.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from moreau import Bodies, Motion, Stepper
from random_touching import draw
from rigid import Pose
from touching_plans import Plan, coordinates, mechanism, rates, reference

import kempe as kp

OUTPUTS = 60
FIRST = 8 * OUTPUTS
"""Steps of the coarsest run of the reference."""
BLUR = 0.03
"""In sizes of the mechanism, or radians."""
SHARP = 4e-3
"""Where the first runs of the reference are further apart, finer ones follow."""
TIMES = 4.0
FLOOR = 1e-5
DEEP = 1e-9
SLOW = 2e-3
"""What slides so slowly is about to stick, or has just begun to slide, or rests while others of its loop hold it."""
VERDICTS = ("agrees", "no reference", "gave up", "DEEP", "ENERGY", "MOMENTUM", "MODES", "WRONG", "CRASH", "HANG")
BAD = ("gave up", "DEEP", "ENERGY", "MOMENTUM", "MODES", "WRONG", "CRASH", "HANG")


@dataclass(frozen=True)
class Verdict:
    """What became of one case."""

    seed: int
    family: str
    verdict: str
    words: str = ""
    error: float = 0.0
    bound: float = 0.0
    until: float = 1.0
    """The share of the motion that could be compared."""
    falls: float = 0.0
    """The error against the finest run of the reference by that against the coarsest."""
    events: int = 0
    impacts: int = 0
    rubbing: int = 0
    seconds: float = 0.0
    reference_seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Truth:
    """The runs of the reference from coarse to fine, at the output times."""

    runs: list[Motion]
    unit: np.ndarray
    seconds: float = 0.0
    bound: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def best(self) -> Motion:
        return self.runs[-1]

    def apart(self, q: np.ndarray, run: Motion) -> np.ndarray:
        """The largest distance of positions per output time."""
        return np.asarray((np.abs(q - run.q) / self.unit).max(axis=1))

    def refine(self, m: Bodies, end: float) -> None:
        """One more run with half the step."""
        begin = time.perf_counter()
        steps = FIRST * 2 ** len(self.runs)
        self.runs.append(m.run(end, steps, steps // OUTPUTS))
        self.seconds += time.perf_counter() - begin
        if len(self.runs) > 2:
            apart = [self.apart(run.q, self.best) * 0.5**k for k, run in enumerate(reversed(self.runs[-4:-1]))]
            self.bound = np.maximum.accumulate(np.max(apart, axis=0))


def truth(plan: Plan, most: int = 5) -> Truth:
    """The reference of a plan, refined until it is sharp, by at most so many runs."""
    found = Truth([], np.tile([plan.size, plan.size, 1.0], len(plan.bodies)))
    m = reference(plan)
    while len(found.runs) < 3 or (found.bound[-1] > SHARP and len(found.runs) < most):
        found.refine(m, plan.end)
    return found


def simulated(plan: Plan, method: str = "auto", tolerance: float = 1e-8) -> kp.Result:
    """Kempe's motion at the output times."""
    times = np.linspace(0.0, plan.end, OUTPUTS + 1)
    return mechanism(plan).simulate(times, method=method, tolerance=tolerance, velocities=plan.start_names())


def judged(
    seed: int, plan: Plan | None = None, true: Truth | None = None, method: str = "auto", more: int = 2
) -> Verdict:
    """Run Kempe and compare; where it disagrees, with so many finer runs of the reference."""
    plan = plan or draw(seed)
    true = true or truth(plan)
    begin = time.perf_counter()

    def verdict(kind: str, words: str = "", **more: Any) -> Verdict:
        spent = time.perf_counter() - begin
        about = {"rubbing": len(plan.rubbing), "seconds": spent, "reference_seconds": true.seconds}
        return Verdict(seed, plan.family, kind, words, **about, **more)

    try:
        result = simulated(plan, method)
    except kp.KempeError as error:
        return verdict("gave up", str(error))
    except Exception as error:  # whatever it is: a user should never see it
        return verdict("CRASH", f"{type(error).__name__}: {error}")
    q = np.column_stack([result.array(name) for name in coordinates(plan)])
    off, last = compared(q, true)
    if plan.open_ended:
        last = 1
    most = len(true.runs) + more
    while (off > allowed(true))[:last].any() and len(true.runs) < most:
        true.refine(reference(plan), plan.end)  # all coarse runs may be off to the same side
        off, last = compared(q, true)
    coarse = true.apart(q, true.runs[0])[:last].max(initial=0.0)
    figures = {
        "error": float(off[:last].max(initial=0.0)),
        "bound": float(true.bound[:last].max(initial=0.0)),
        "until": (last - 1) / OUTPUTS,
        "falls": float(off[:last].max(initial=0.0) / max(coarse, FLOOR)),
        "events": len(result.events),
        "impacts": sum(bool(getattr(event, "lost", 0.0)) for event in result.events),
    }
    if not np.isfinite(q).all():
        return verdict("WRONG", "not finite", **figures)
    depth = deepest(plan, q)
    if depth > DEEP * plan.size:
        return verdict("DEEP", f"penetration {depth:.2e}", **figures)
    for kind, trouble in (("ENERGY", energy_trouble(result)), ("MOMENTUM", momentum_trouble(plan, result))):
        if trouble:
            return verdict(kind, trouble, **figures)
    if (off > allowed(true))[:last].any():
        k = int(np.argmax((off > allowed(true))[:last]))
        words = f"at t = {result.t[k]:.4f} off by {off[k]:.2e}, allowed {allowed(true)[k]:.2e}"
        return verdict("WRONG", words, **figures)
    if last < OUTPUTS // 10:
        return verdict(
            "no reference", "open when it lets go" if plan.open_ended else "its runs part at once", **figures
        )
    odd = odd_modes(plan, result, true, min(last, int((true.bound < SHARP).sum())))
    if odd:
        return verdict("MODES", "; ".join(odd[:4]), **figures)
    return verdict("agrees", **figures)


def allowed(true: Truth) -> np.ndarray:
    """How far from the finest run a motion may be, per output time."""
    return TIMES * true.bound + FLOOR


def compared(q: np.ndarray, true: Truth) -> tuple[np.ndarray, int]:
    """How far positions are from the finest run, and how many output times can be compared."""
    blurred = true.bound > BLUR
    return true.apart(q, true.best), int(np.argmax(blurred)) if blurred.any() else len(blurred)


def deepest(plan: Plan, q: np.ndarray) -> float:
    """The largest penetration of any contact at any output time, by the geometry of the reference."""
    contacts = reference(plan).contacts
    return max((-c.look(Pose(row))[0] for row in q for c in contacts), default=0.0)


def energy_trouble(result: kp.Result) -> str:
    """What is wrong with the energies of a motion; nothing if all is well."""
    balance, lost = result.array("energy.balance"), result.array("energy.dissipated")
    size = float(np.abs(result.array("energy.kinetic")).max() + np.abs(lost).max()) + 1e-3
    if np.abs(balance).max() > 1e-5 * size:
        return f"the balance of energy lacks {np.abs(balance).max():.2e} of {size:.2e}"
    if np.diff(lost).min() < -1e-7 * size:
        return f"dissipation falls by {-np.diff(lost).min():.2e} of {size:.2e}"
    least = min((getattr(event, "lost", 0.0) for event in result.events), default=0.0)
    return f"an impact makes energy: {-least:.2e} of {size:.2e}" if least < -1e-10 * size else ""


def momentum_trouble(plan: Plan, result: kp.Result) -> str:
    """Bodies that fly freely between impacts: what each gains in momentum and spin is what its contacts say."""
    if len(plan.contacts) < len(plan.elements) or any(plan.gravity):
        return ""
    m = reference(plan)
    stepper, before = Stepper(m, 1.0), np.array(m.moving)
    normals, tangents = stepper.normals, {unit.contact: unit.row for unit in stepper.touching}
    for t in sorted({event.t for event in result.events if event.impulses}):
        hit = next(event for event in result.events if event.t == t)
        q, v = (np.array([hit[name] for name in names(plan)]) for names in (coordinates, rates))
        W = stepper.directions(Pose(q))
        pushed = np.zeros_like(v)
        for k, contact in enumerate(m.contacts):
            pushed -= W[normals[k]] * hit.impulses.get(f"{contact.name}.normal", 0.0)
            if k in tangents:
                pushed -= W[tangents[k]] * hit.impulses.get(f"{contact.name}.stick", 0.0)
        off = float(np.abs(stepper.masses * (v - before) - pushed).max())
        if off > 3e-12 * float(np.abs(stepper.masses * before).sum()):
            return f"at t = {t:.6f} momentum is off by {off:.1e}"
        before = v
    return ""


def odd_modes(plan: Plan, result: kp.Result, true: Truth, last: int) -> list[str]:
    """Where Kempe has another mode than all runs of the reference, away from changes."""
    found = []
    near = 6 * plan.end / FIRST
    for name in true.best.modes:
        changes = [(e.t, e.mode) for e in result.events if getattr(e, "element", None) == name]
        slips = result.array(f"{name}.slip") if name in plan.rubbing else np.full(len(result.t), np.inf)
        for k in range(1, last - 1):
            t, theirs = float(result.t[k]), {run.modes[name][k + side] for run in true.runs[-3:] for side in (-1, 0, 1)}
            ours = [mode for change, mode in changes if change <= t]
            sure = len(theirs) == 1 and ours and not any(abs(t - change) < near for change, _ in changes)
            slow = ours and ours[-1] in ("forward", "backward") and abs(slips[k]) < SLOW
            if sure and not slow and ours[-1] not in theirs:
                found.append(f"'{name}' at t = {t:.4f}: {ours[-1]}, and in the reference {theirs.pop()}")
    return found
