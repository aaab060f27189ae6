"""How each family of compiled integrators is set up, started and continued by a simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from kempe.analysis.choosing import choose_basis
from kempe.analysis.moving import Moving
from kempe.solvers import bdf, newmark, radau
from kempe.solvers import course as co
from kempe.solvers import motion as mo
from kempe.solvers import runge_kutta as rk


class Integrator:
    """What a simulation asks of an integrator."""

    needs: tuple[str, ...] = ()

    def __init__(self, simulation: Any) -> None:
        self.simulation = simulation

    @property
    def name(self) -> str:
        """The method as statistics report it."""
        return str(self.simulation.method.name)

    def memory(self, n: int, m: int) -> tuple[int, int]:
        """Rows and columns of the memory it wants in the course."""
        raise NotImplementedError

    def begin(self) -> None:
        """Start from the consistent state in the course."""
        raise NotImplementedError

    def advance(self) -> int:
        """Go on; returns a code of ``solvers.course``."""
        raise NotImplementedError

    def resumes(self, code: int) -> bool:
        """Whether a code that is not an end has been dealt with."""
        return False

    def arrays(self) -> dict[str, np.ndarray]:
        """Its memory besides the course, for checkpoints."""
        run = self.simulation
        return {"x": run.wk.x, "lu": run.wk.lu, "shift": run.eq.shift, "step shift": run.eq.step_shift}

    def catch_up(self, name: str) -> None:
        """Become the integrator that a checkpoint was written by."""


class RungeKutta(Integrator):
    """Explicit Runge-Kutta on the forms of ``solvers.runge_kutta``."""

    def __init__(self, simulation: Any) -> None:
        super().__init__(simulation)
        if simulation.method.kind == rk.CANONICAL_FORM:
            self.needs = ("canonical",)

    def memory(self, n: int, m: int) -> tuple[int, int]:
        return rk.ROWS, rk.size(n, m)

    def begin(self) -> None:
        run = self.simulation
        self.basis = choose_basis(run) if run.method.kind == rk.INDEPENDENT else None
        run.course.s[co.ALPHA] = "iterations" in run.options  # then the user decides how often to refine
        run.course.s[co.SWITCHED] = 1.0

    def advance(self) -> int:
        run = self.simulation
        return int(rk.advance(run.eq, run.wk, self.basis, run.course))

    def resumes(self, code: int) -> bool:
        if code != co.RESELECT:
            return False
        self.begin()
        self.simulation.course.s[co.FRESH] = 1.0
        return True


class Newmark(Integrator):
    """Generalised-alpha and ALI3-P."""

    needs = ("implicit",)
    TRAPEZOIDAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.25, 0.5)

    def memory(self, n: int, m: int) -> tuple[int, int]:
        return 2, max(4, m)

    def begin(self) -> None:
        run = self.simulation
        course, m = run.course, run.moving.m
        if run.method.name == "alpha":
            course.f[0, :4] = newmark.constants(run.options["radius"])
        else:
            course.f[0, :4] = self.TRAPEZOIDAL
            course.f[newmark.COMPLIANCE, :m] = run.inverse_penalty()
            course.s[co.ALPHA] = 1.0 if run.options["penalty"] is None else 2.0

    def advance(self) -> int:
        run = self.simulation
        return int(newmark.advance(run.eq, run.wk, run.course))


class Bdf(Integrator):
    """Backward differentiation."""

    needs = ("implicit",)

    def memory(self, n: int, m: int) -> tuple[int, int]:
        return bdf.ROWS, bdf.columns(n)

    def begin(self) -> None:
        run = self.simulation
        run.course.s[co.ALPHA] = run.options["order"]
        run.course.s[co.H] = run.step or 0.1 * run.course.s[co.H]

    def advance(self) -> int:
        run = self.simulation
        return int(bdf.advance(run.eq, run.wk, run.course))


class Radau(Integrator):
    """Radau IIA of order 5."""

    needs = ("implicit",)

    def memory(self, n: int, m: int) -> tuple[int, int]:
        return 1, 1

    def begin(self) -> None:
        run = self.simulation
        self.stages = radau.new_stages(run.eq)
        run.course.s[co.SWITCHED] = 1.0

    def advance(self) -> int:
        run = self.simulation
        return int(radau.advance(run.eq, run.wk, self.stages, run.course))

    def arrays(self) -> dict[str, np.ndarray]:
        return {**super().arrays(), **self.stages.arrays()}


class Auto(Integrator):
    """Runge-Kutta with projection; Radau from where the motion turns out to be stiff."""

    def __init__(self, simulation: Any) -> None:
        super().__init__(simulation)
        self.inner: Integrator = RungeKutta(simulation)

    @property
    def name(self) -> str:
        return "auto: radau" if isinstance(self.inner, Radau) else "auto: projection"

    def memory(self, n: int, m: int) -> tuple[int, int]:
        return self.inner.memory(n, m)

    def begin(self) -> None:
        self.simulation.course.s[co.STIFF] = 0.0
        self.inner.begin()

    def advance(self) -> int:
        return self.inner.advance()

    def resumes(self, code: int) -> bool:
        stuck = code in (co.FAILED, co.SINGULAR) and isinstance(self.inner, RungeKutta)
        if code != co.STIFFNESS and not stuck:
            return False
        self._become_radau()
        return True

    def arrays(self) -> dict[str, np.ndarray]:
        return self.inner.arrays()

    def catch_up(self, name: str) -> None:
        if name == "auto: radau":
            self._become_radau()

    def _become_radau(self) -> None:
        run = self.simulation
        before = run.eq
        run.moving = Moving(run.posed, Radau.needs, run.moving.massless)
        run.eq = run.moving.equations(-before.shift[run.moving.n :])
        run.eq.step_shift[:] = before.step_shift
        run.wk = mo.new_work(run.eq, run.wk.x)
        run.course = replace(run.course, beside=mo.beside(run.wk))
        self.inner = Radau(run)
        run.course.s[co.STIFF] = -1.0
        self.inner.begin()


INTEGRATORS: dict[str, type[Integrator]] = {
    "auto": Auto,
    "runge-kutta": RungeKutta,
    "newmark": Newmark,
    "bdf": Bdf,
    "radau": Radau,
}
