"""How each family of compiled integrators is set up, started and continued by a machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kempe.errors import ModelError
from kempe.simulation.equations import IMPLICIT, with_programs
from kempe.simulation.task import Task
from kempe.solvers import bdf as bd
from kempe.solvers import canonical, crossing, independent, lagrangian, radau, selection, switching, tape
from kempe.solvers import course as co
from kempe.solvers import motion as mo
from kempe.solvers import newmark as nm
from kempe.solvers import runge_kutta as rk
from kempe.solvers.frames import Frame, put_back
from kempe.solvers.jit import address_of
from kempe.solvers.output import accumulate, hermite_within

if TYPE_CHECKING:
    from kempe.simulation.machine import Machine


def connect_switching(course: co.Course) -> None:
    """Put the addresses of what looks for switches into a course, where something switches."""
    if len(course.watch.taken):
        course.after_step_at = address_of(switching.after_step)
        course.settle_at = address_of(switching.settle_first)
    if len(course.choice.involved):
        course.touch_at = address_of(selection.touch_down)


#: What is run at every step, whatever the integrator.
EVERY_STEP = ("guards", "arguments", "energy", "followed")


class Integrator:
    """What a machine asks of an integrator."""

    needs: tuple[str, ...] = ()
    #: What it runs most, in the order of what it gains by being fused (``system.fusion``).
    fuses: ClassVar[tuple[str, ...]] = ()
    #: Whether its accelerations are less accurate than its motion.
    rough: ClassVar[bool] = False
    #: Whether it integrates the work of forces itself.
    adds_up_work: ClassVar[bool] = False
    #: Whether it leaves the factors of the linear system at the new state behind.
    leaves_factors: ClassVar[bool] = False
    #: What its steps are called on a tape.
    taped: ClassVar[int] = tape.OTHER
    #: Its compiled functions: begin, step, close, inside.
    functions: ClassVar[tuple] = ()

    def __init__(self, task: Task) -> None:
        self.task = task
        self.memory: Frame | None = None

    @property
    def name(self) -> str:
        """The method as statistics report it."""
        return self.task.method.name

    def prepare(self, machine: Machine) -> None:
        """Change shifts before the motion begins."""

    def new_memory(self, machine: Machine) -> Frame:
        """Memory of its own."""
        raise NotImplementedError

    def begin(self, machine: Machine) -> None:
        """Get ready to go on from the consistent state in the course."""
        self.memory = self.new_memory(machine)
        course = machine.course
        course.own_work = int(course.audit > 0 and self.adds_up_work)
        course.rough = self.rough and len(course.watch.taken) > 0
        course.fresh = 1
        course.passage.own_factors = int(self.leaves_factors)
        course.passage.rough = int(self.leaves_constraints)
        # (without projection the book's methods are to be seen as they are)
        course.passage.off = int(self.task.options.get("project") is False and self.name in ("augmented", "canonical"))
        self.connect(course, self.memory)

    @property
    def functions_fused(self) -> tuple[str, ...]:
        """What is worth fusing for it as it runs now, with what every integrator runs."""
        return (*self.fuses, *EVERY_STEP)

    @property
    def leaves_constraints(self) -> bool:
        """Whether its states violate constraints, or their rates, by more than the tolerance explains."""
        return not self.leaves_factors

    @classmethod
    def connect(cls, course: co.Course, memory: Frame) -> None:
        """Put the addresses that compiled functions have in this process into a course and its integrator's memory."""
        course.begin_at, course.step_at, course.close_at, course.inside_at = (address_of(f) for f in cls.functions)
        course.memory_at = co.remember(memory)
        course.tape.method = cls.taped
        connect_switching(course)
        watches = len(course.passage.row) > 0 and course.passage.off == 0
        if course.audit > 0 and (course.own_work == 0 or watches):
            course.accumulate_at = address_of(accumulate)
        if watches:
            functions = (crossing.keep, crossing.cross, crossing.inside, crossing.tell, crossing.find)
            addresses = [address_of(f) for f in functions]
            course.keep_at, course.cross_at, course.along_at, course.tell_at, course.find_at = addresses

    def resumes(self, machine: Machine, code: int) -> bool:
        """Whether a code that is not an end has been dealt with."""
        return False

    def catch_up(self, machine: Machine, name: str, kept: Mapping[str, np.ndarray]) -> None:
        """Become the integrator that a checkpoint was written by, with memory of the size that was ``kept``."""


class RungeKutta(Integrator):
    """Explicit Runge-Kutta on one of its forms."""

    adds_up_work = leaves_factors = True
    taped = tape.STEP
    fuses: ClassVar[tuple[str, ...]] = ("accelerating", "evaluating", "refining", "projecting")
    functions = (rk.begin, rk.step, rk.close, rk.inside)
    form: ClassVar[tuple] = (lagrangian.start, lagrangian.rates, lagrangian.finish)

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        #: Memory with its single numbers and arrays as they were when it was new.
        self._as_new: tuple[rk.Memory, Any, Any] | None = None

    def prepare(self, machine: Machine) -> None:
        if "penalty" in self.task.options:
            machine.eq.compliance[:] = machine.inverse_penalty()
            machine.shift_rows()

    def new_memory(self, machine: Machine) -> rk.Memory:
        basis = self.basis(machine)
        if self._as_new is not None and basis is None:  # that of the run before, as if it were new
            put_back(self._as_new[1])
            for array, content in self._as_new[2]:
                array[...] = content
            return self._as_new[0]
        memory = self._set_up(rk.new_memory(machine.eq.n, machine.eq.m, basis))
        self._as_new = memory, memory.snapshot(), [(array, array.copy()) for array in memory.arrays()]
        return memory

    def _set_up(self, memory: rk.Memory) -> rk.Memory:
        """Put the options in."""
        options = self.task.options
        memory.project = options.get("project", self.task.method.name == "auto")
        memory.omega, memory.damping = options.get("omega", 0.0), options.get("damping", 1.0)
        memory.own_refinements = "iterations" in options  # then the user decides how often to refine
        return memory

    @classmethod
    def connect(cls, course: co.Course, memory: Frame) -> None:
        super().connect(course, memory)
        assert isinstance(memory, rk.Memory)
        memory.start_at, memory.rates_at, memory.finish_at = (address_of(f) for f in cls.form)

    @property
    def leaves_constraints(self) -> bool:
        return self.task.method.name == "penalty"

    def basis(self, machine: Machine) -> rk.Basis | None:
        """A choice of independent coordinates, for the form that has them."""
        return None


class Canonical(RungeKutta):
    """Canonical momenta."""

    needs = ("canonical",)
    fuses = ("canonical", "evaluating", "refining", "projecting")
    adds_up_work = False
    taped = tape.OTHER
    form = (canonical.start, canonical.rates, canonical.finish)

    def begin(self, machine: Machine) -> None:
        super().begin(machine)
        memory, mass, scale = self.memory, machine.start.mass, machine.sketch.scale
        assert isinstance(memory, rk.Memory)
        memory.momenta = 1
        memory.integrated = len(memory.y)
        heavy = float(np.max(mass * scale**2)) / scale**2
        memory.unit[:] = np.where(mass > 0, mass, 1e-3 * heavy)


class Independent(RungeKutta):
    """Independent coordinates, chosen again when needed."""

    leaves_factors = False
    taped = tape.OTHER
    fuses = ("explicit", "factoring", "solving", "value")
    form = (independent.start, independent.rates, independent.finish)

    def basis(self, machine: Machine) -> rk.Basis:
        from kempe.simulation.choosing import choose_basis

        felt = machine.felt_and_shared()
        if felt:
            raise ModelError(
                f"method 'independent' leaves redundant constraints without a load, and '{felt[0]}' feels one that "
                "they share: use another method ('projection', 'radau')"
            )
        return choose_basis(machine)

    def resumes(self, machine: Machine, code: int) -> bool:
        if code != co.RESELECT:
            return False
        self.begin(machine)
        return True

    def catch_up(self, machine: Machine, name: str, kept: Mapping[str, np.ndarray]) -> None:
        """Take the basis that was chosen last: how large it is follows from the rows that were in force then."""
        arrays = {field: kept.get(f"basis.{field}") for field, value in rk.no_basis().contents() if np.ndim(value)}
        if all(isinstance(array, np.ndarray) for array in arrays.values()):
            memory = rk.new_memory(machine.eq.n, machine.eq.m, rk.Basis(**arrays))
            self.memory = self._set_up(memory)
            self.connect(machine.course, memory)


class Newmark(Integrator):
    """Generalised-alpha and ALI3-P."""

    needs = IMPLICIT
    rough = True
    taped = tape.NEWMARK
    fuses = ("iterating", "stepping", "evaluating", "refining")
    functions = (nm.begin, nm.step, nm.close, hermite_within)
    TRAPEZOIDAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.25, 0.5)

    def new_memory(self, machine: Machine) -> nm.Memory:
        memory = nm.new_memory(machine.eq, machine.wk)
        constants = nm.constants(self.task.options["radius"]) if self.name == "alpha" else self.TRAPEZOIDAL
        memory.alpha_m, memory.alpha_f, memory.beta, memory.gamma = constants
        if self.name == "ali3p":
            memory.project = 1
            memory.compliance[:] = machine.inverse_penalty()
            memory.penalty = 1 if self.task.options["penalty"] is None else 2
        return memory


class Bdf(Integrator):
    """Backward differentiation."""

    needs = IMPLICIT
    fuses = ("residual", "velocity", "tangent", "factoring", "solving", "refining")
    functions = (bd.begin, bd.step, bd.close, bd.inside)

    def new_memory(self, machine: Machine) -> bd.Memory:
        memory = bd.new_memory(machine.eq.n, machine.eq.m)
        memory.highest = self.task.options["order"]
        memory.stabilised = self.task.method.name == "bdf"
        return memory


class Radau(Integrator):
    """Radau IIA of order 5."""

    needs = IMPLICIT
    taped = tape.RADAU
    fuses = ("residual", "velocity", "tangent", "factoring", "solving", "refining")
    functions = (radau.begin, radau.step, radau.close, radau.inside)

    def new_memory(self, machine: Machine) -> radau.Memory:
        return radau.new_memory(machine.eq)


class Auto(RungeKutta):
    """Runge-Kutta with projection; Radau from where the motion turns out to be stiff."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.stiff: Radau | None = None

    @property
    def functions_fused(self) -> tuple[str, ...]:
        return super().functions_fused if self.stiff is None else self.stiff.functions_fused

    @property
    def name(self) -> str:
        return "auto: projection" if self.stiff is None else "auto: radau"

    def begin(self, machine: Machine) -> None:
        self.stiff = None
        super().begin(machine)
        machine.course.stiff = 0.0

    def resumes(self, machine: Machine, code: int) -> bool:
        if self.stiff is not None or code not in (co.STIFFNESS, co.FAILED, co.SINGULAR):
            return False
        self._become_radau(machine)
        return True

    def catch_up(self, machine: Machine, name: str, kept: Mapping[str, np.ndarray]) -> None:
        if name == "auto: radau":
            self._become_radau(machine)

    def _become_radau(self, machine: Machine) -> None:
        machine.eq = machine.compiling.of(with_programs(machine.eq, machine.system, Radau.needs))
        machine.wk = mo.new_work(machine.eq, machine.wk.x)
        machine.course = machine.course.changed(beside=mo.beside(machine.wk))
        machine.course.stiff = -1.0
        self.stiff = Radau(self.task)
        self.stiff.begin(machine)
        self.memory = self.stiff.memory


INTEGRATORS: dict[str, type[Integrator]] = {
    "auto": Auto,
    "runge-kutta": RungeKutta,
    "canonical": Canonical,
    "independent": Independent,
    "newmark": Newmark,
    "bdf": Bdf,
    "radau": Radau,
}
