"""Runs that would never end: noticed after some seconds, not waited for."""

from __future__ import annotations

from kempe.errors import ConvergenceError
from kempe.simulation.machine import InitialConditions, Machine
from kempe.simulation.running import Record, result

#: A run whose last ``WINDOW`` steps went so slowly that the rest would take ``HOPELESS`` steps (weeks, for the smallest
#: mechanism) is given up. Transients and impacts are over in thousands of steps.
WINDOW, HOPELESS = 1_000_000, 1e13


class Patience:
    """Looks at a run now and then; raises when it is hopeless."""

    def __init__(self, initial: InitialConditions | None) -> None:
        self.initial = initial
        self._steps = self._t = 0.0
        self._begun = False

    def look(self, machine: Machine, record: Record) -> None:
        """Compare with what was seen a window ago."""
        course = machine.course
        steps, t = float(course.steps + course.rejected), float(course.now.t)
        if not self._begun:
            self._begun, self._steps, self._t = True, steps, t
        if steps - self._steps < WINDOW:
            return
        gained, left = (t - self._t) / (steps - self._steps), float(course.end) - t
        if left > gained * HOPELESS:
            reason = (
                f"the motion is too fast for this time span: {steps:.0f} steps led to t = {t:.6g}, and to go on to "
                f"{course.end:.6g} like that would never end; look for a stiffness, mass or speed that is far too "
                "large or small, or ask for a shorter time"
            )
            raise ConvergenceError(reason, result(machine, record, "failed", reason, self.initial))
        self._steps, self._t = steps, t
