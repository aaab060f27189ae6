"""The analyses and outputs of model files: each entry under ``analyses`` gives what the function of its name takes."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, create_model, model_validator


class Strict(BaseModel):
    """No unknown keys."""

    model_config = ConfigDict(extra="forbid")


class TimesSpec(Strict):
    """An even grid from ``start`` to ``end``."""

    start: float = 0.0
    end: float
    steps: int = Field(200, ge=1, le=10_000_000)

    @model_validator(mode="after")
    def _forward(self) -> TimesSpec:
        if not self.end > self.start:
            raise ValueError(f"must end after they start, which is at {self.start:g}, not at {self.end:g}")
        return self


def _times(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not value > 0:
        raise ValueError("must be above zero")
    if isinstance(value, list):
        numbers = [v for v in value if isinstance(v, (int, float))]
        back = next(((a, b) for a, b in pairwise(numbers) if not b > a), None)
        if back is not None:
            raise ValueError(f"must increase, but {back[1]:g} follows {back[0]:g}")
    return value


#: An end time, a list of times, or an even grid.
Times = Annotated[float | list[float] | TimesSpec, BeforeValidator(_times)]
Steps = Annotated[int, Field(ge=1, le=10_000_000)]


def _whole(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("must be a whole number of at least 1")
    return value


_POSITIVE: dict[str, Any] = {"type": "integer", "minimum": 1}
Count = Annotated[int, BeforeValidator(_whole), WithJsonSchema(_POSITIVE)]


#: When the equations of a model are compiled into single functions; None stands for what the environment says.
Compile = Literal["auto", "never", "always"] | None


class Entry(Strict):
    """What every analysis has: what it is called in files and messages, and parameters that are others for it."""

    name: str = ""
    parameters: dict[str, float] = Field(default_factory=dict)


class KinematicsSpec(Entry):
    """A driven motion: what ``kinematics`` takes. ``start`` is the name of an earlier equilibrium."""

    name: str = "kinematics"
    times: Times
    steps: Steps = 200
    on_singular: Literal["raise", "stop", "cross"] = "raise"
    branch: int | list[int] = 0
    start: str | None = None
    compile: Compile = None


class InverseDynamicsSpec(KinematicsSpec):
    """The efforts that a driven motion takes: what ``inverse_dynamics`` takes."""

    name: str = "inverse_dynamics"
    reactions: Literal["elastic", "minimum norm"] | None = None


class MotionSpec(Entry):
    """How a motion under forces is computed. ``options`` are those of the method."""

    times: Times
    steps: Steps = 200
    method: str = "auto"
    tolerance: float = 1e-8
    step: float | None = None
    max_step: float | None = None
    start: str | None = None
    velocities: dict[str, float] = Field(default_factory=dict)
    audit: bool = True
    reactions: Literal["elastic", "minimum norm"] | None = None
    compile: Compile = None
    options: dict[str, bool | int | float | dict[str, float]] = Field(default_factory=dict)


class SimulateSpec(MotionSpec):
    """A motion under forces: what ``simulate`` takes. With ``checkpoint`` it can be resumed."""

    name: str = "simulate"
    checkpoint: bool = False


class RangeSpec(Strict):
    """Evenly spaced values from ``start`` to ``end``, both included."""

    start: float
    end: float
    count: int = Field(ge=1, le=1_000_000)


class SweepSpec(MotionSpec):
    """Many designs: what ``run_many`` takes. ``combine`` takes every value with every other."""

    name: str = "sweep"
    designs: dict[str, list[float] | RangeSpec] = Field(min_length=1)
    quantities: list[str] = Field(min_length=1)
    combine: bool = False
    workers: Count | None = None


class EquilibriumSpec(Entry):
    """A pose at rest: what ``equilibrium`` takes."""

    name: str = "equilibrium"
    time: float = 0.0
    hold: list[str] = Field(default_factory=list)
    stable: bool = True
    tolerance: float = 1e-12
    start: str | None = None


class LineariseSpec(Entry):
    """Small motions about a state: what ``linearise`` takes. ``about`` is the name of an earlier equilibrium."""

    name: str = "linearise"
    about: str | None = None
    velocities: dict[str, float] = Field(default_factory=dict)
    time: float | None = None
    coordinates: list[str] = Field(default_factory=list)


class ModesSpec(Entry):
    """Natural frequencies: what ``modes`` takes. ``about`` is the name of an earlier equilibrium."""

    name: str = "modes"
    about: str | None = None
    count: Count | None = None
    time: float | None = None


class RepeatedSpec(Entry):
    """How a machine that runs on and on is computed; ``skip`` is the start-up that is left out."""

    period: float = Field(gt=0)
    skip: float | None = Field(None, ge=0)
    method: str = "auto"
    max_step: float | None = None
    start: str | None = None
    velocities: dict[str, float] = Field(default_factory=dict)


class ResponseSpec(RepeatedSpec):
    """A motion over so many ``periods``, with so many ``steps`` of output in each, and what ``response`` says of it."""

    name: str = "response"
    periods: Count = 40
    steps: Steps = 400
    tolerance: float = 1e-10


class LyapunovSpec(RepeatedSpec):
    """The largest Lyapunov exponent: what ``lyapunov`` takes."""

    name: str = "lyapunov"
    periods: Count = 200
    tolerance: float = 1e-11
    separation: float | None = None


class HorizonSpec(Entry):
    """Until when a motion is known: what ``horizon`` takes."""

    name: str = "horizon"
    times: Times
    steps: Steps = 200
    quantities: list[str] = Field(default_factory=list)
    tolerances: list[float] = Field([1e-8, 1e-10, 1e-12], min_length=2)
    agreement: float = 1e-3
    method: str = "auto"
    max_step: float | None = None
    start: str | None = None
    velocities: dict[str, float] = Field(default_factory=dict)


class OptimiseSpec(Entry):
    """An optimal design: what ``optimise`` takes, functionals and requirements as text."""

    name: str = "optimise"
    times: Times
    steps: Steps = 200
    minimise: str
    subject_to: list[str] = Field(default_factory=list)
    by: list[str] = Field(default_factory=list)
    bounds: dict[str, tuple[float, float]] = Field(default_factory=dict)
    scales: dict[str, float] = Field(default_factory=dict)
    method: str = "slsqp"
    starts: Count = 1
    max_iterations: Count | None = None
    accuracy: float = 1e-6
    seed: int = 0
    workers: Count | None = None
    formulation: str = "auto"
    gradient: Literal["auto", "adjoint", "direct"] = "auto"
    tolerance: float = 1e-10
    step: float | None = None
    max_step: float | None = None
    start: str | None = None
    velocities: dict[str, float] = Field(default_factory=dict)
    compile: Compile = None


def _file_name(value: Any) -> Any:
    if not isinstance(value, str) or value in ("", ".", "..") or any(c in value for c in "/\\\0"):
        raise ValueError("must be the name of a file in the folder of outputs, without a path")
    return value


class ResumeSpec(Strict):
    """A simulation to go on with, from its checkpoint in the folder of outputs."""

    name: str = "resume"
    checkpoint: Annotated[str, BeforeValidator(_file_name), WithJsonSchema({"type": "string"})]
    compile: Compile = None


#: Analysis -> the model of its arguments.
ANALYSES: dict[str, type[BaseModel]] = {
    "kinematics": KinematicsSpec,
    "simulate": SimulateSpec,
    "equilibrium": EquilibriumSpec,
    "inverse_dynamics": InverseDynamicsSpec,
    "linearise": LineariseSpec,
    "modes": ModesSpec,
    "sweep": SweepSpec,
    "response": ResponseSpec,
    "lyapunov": LyapunovSpec,
    "horizon": HorizonSpec,
    "optimise": OptimiseSpec,
    "resume": ResumeSpec,
}


class _OneAnalysis(Strict):
    """One analysis to run: exactly one key."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    @model_validator(mode="after")
    def _one(self) -> _OneAnalysis:
        if len([key for key in ANALYSES if getattr(self, key) is not None]) != 1:
            *most, last = ANALYSES
            raise ValueError(f"must have exactly one key: {', '.join(most)} or {last}")
        return self

    @property
    def kind(self) -> str:
        """Which analysis it is."""
        return next(key for key in ANALYSES if getattr(self, key) is not None)

    @property
    def spec(self) -> Any:
        """What it is given."""
        return getattr(self, self.kind)


_keys: dict[str, Any] = {key: (spec | None, None) for key, spec in ANALYSES.items()}
AnalysisSpec = create_model("AnalysisSpec", __base__=_OneAnalysis, __doc__=_OneAnalysis.__doc__, **_keys)


class OutputsSpec(Strict):
    """What ``kempe run`` writes besides results."""

    plots: list[str] = Field(default_factory=list)
    traces: list[str] = Field(default_factory=list)
    animation: bool = True
    report: bool = True
