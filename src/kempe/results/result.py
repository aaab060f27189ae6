"""What an analysis returns: time histories under the user's names, with status and events beside them."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from kempe.calling import explained_methods, suggestion
from kempe.disk import as_path, replacing
from kempe.elements import Carrier, Marker, RigidLink, check_name, plain_array, shown
from kempe.elements.kinds import KINDS
from kempe.elements.quantities import as_quantity
from kempe.elements.rotations import check_convention
from kempe.errors import AccuracyWarning, ModelError, NoAttribute
from kempe.model import Model
from kempe.model.measures import Definition, written
from kempe.model.units import Units
from kempe.results.contacts import Contacts, contacts
from kempe.results.energy import PARTS, Energies
from kempe.results.events import Event, Events, Impact, impacts
from kempe.results.keeping import as_dataset, read_result, write_result
from kempe.results.kinds import declared_kinds, kind_by_name
from kempe.results.modes import intervals
from kempe.results.reactions import Loads, Reaction
from kempe.system import System, compiled
from kempe.system.measures import frames, motion
from kempe.system.replay import Replay, States

if TYPE_CHECKING:
    import xarray

#: Ways to look at a result (plot, animate, ...), put here by the layer that has them.
VIEWS: dict[str, Callable[..., Any]] = {}


@dataclass(frozen=True)
class Motion:
    """Position, velocity and acceleration of a point (two columns), or of a quantity (one), over time."""

    t: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray

    x = property(lambda self: self.position[:, 0], doc="The x coordinate, or the quantity itself.")
    y = property(lambda self: self.position[:, 1], doc="The y coordinate.")


@explained_methods
@dataclass(repr=False)
class Result:
    """Time histories ``t``, ``q``, ``v``, ``a`` (one row per time) with names, and how the analysis ended.

    ``res["slider.x"]`` is a labelled array; ``res.names`` lists what there is, ``in`` and ``for`` go by names. Besides
    coordinates these are outputs of elements ("coil.force"), measures of the model, what :meth:`define` added, the
    shaking force of the moving masses ("ground.shaking.x") and, of a simulation, the loads of joints ("B.force",
    "guide.moment") and the efforts of drivers ("motor.effort"), computed when asked for; see :meth:`reaction` and
    :attr:`energy`.

    ``success`` says whether the whole time span was covered, ``status`` is a word ("complete", "lock-up", ...),
    ``message`` a sentence, ``events`` the singular positions and switches met, ``stats`` counts, ``provenance`` says
    from what it was computed, ``initial`` by how much the start of a simulation differs from what was asked for.

    A result is a snapshot: ``model`` is the model as it was then, whatever is added to it or changed later.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    columns: list[tuple[str, str, str]]
    success: bool = True
    status: str = "complete"
    message: str = ""
    events: list[Event] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    model: Model | None = None
    #: Further histories by name: energies, multipliers, what was defined.
    series: dict[str, np.ndarray] = field(default_factory=dict)
    initial: Any = None
    #: The mode in which each element that switches began.
    first_modes: dict[str, str] = field(default_factory=dict)
    #: Histories that were computed from these when first asked for.
    derived: dict[str, np.ndarray] = field(default_factory=dict, init=False, compare=False)
    _kept: Loads | None = field(default=None, init=False, compare=False)
    _system: System | None = field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        self.events = Events(self.events)
        if self.model is not None:
            self.model = self.model.kept(self.provenance.get("parameters"))
            if self.model.units is not None:
                self.provenance.setdefault("units", self.model.units.given)

    def __getstate__(self) -> dict[str, Any]:
        """All but compiled things."""
        return {**vars(self), "_kept": None, "_system": None}

    if not TYPE_CHECKING:  # to a type checker it has the attributes it has

        def __getattr__(self, name: str) -> NoReturn:
            """What a result does not have; histories are asked for in brackets."""
            if name.startswith("_"):
                raise AttributeError(name)
            own = next((full for full in self.names if full.startswith(f"{name}.")), None)
            known = (n for n in dir(type(self)) if not n.startswith("_"))
            hint = f"; histories are asked for by name: res[{own!r}]" if own else suggestion(name, known)
            raise NoAttribute(f"a result has no '{name}'{hint}")

    @property
    def names(self) -> list[str]:
        """Every quantity that can be asked for."""
        coordinates = [name for triple in self.columns for name in triple]
        total = ["energy.total"] if "energy.kinetic" in self.series else []
        loads = self._loads()
        found = dict.fromkeys([*coordinates, *self.series, *total, *(loads.names if loads else ()), *self.derived])
        for name, measure in self._measures().items():
            if all(need in found for need in measure.needs):
                found[name] = None
        return list(found)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def keys(self) -> list[str]:
        """The names, so that ``dict(res)`` has everything."""
        return self.names

    def array(self, name: str) -> np.ndarray:
        """One history as a plain array."""
        for k, triple in enumerate(self.columns):
            if name in triple:
                return (self.q, self.v, self.a)[triple.index(name)][:, k]
        if name in self.series:
            return self.series[name]
        if name not in self.derived:
            self.derived[name] = self._derived(name)
        return self.derived[name]

    def _derived(self, name: str) -> np.ndarray:
        """A history that is computed from others."""
        if name == "energy.total" and "energy.kinetic" in self.series:
            return self.energy.total
        loads = self._loads()
        if loads and name in loads.names:
            return loads.history(name) if len(self.t) else np.zeros(0)
        measure = self._measures().get(name)
        if measure is not None:
            return self._over(measure)
        raise ModelError(f"there is no quantity '{name}' in this result{self._instead(str(name))}")

    def _instead(self, name: str) -> str:
        """The end of a sentence about a quantity that is not there: how to get it, or what was likely meant."""
        owner = name.partition(".")[0]
        system = None if self.model is None else self._compiled()
        of_constraint = system is not None and any(row.owner == owner for row in system.rows)
        if of_constraint and not any(key.startswith("lambda.") for key in self.series):
            return ": kinematics knows no forces; simulate and inverse_dynamics find them"
        near = difflib.get_close_matches(name, self.names, n=3)
        return f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""

    def __getitem__(self, name: str) -> xarray.DataArray:
        import xarray

        return xarray.DataArray(
            self.array(name), coords={"t": self.t}, dims="t", name=name, attrs=self.unit_attributes(name)
        )

    # --- what its numbers mean ------------------------------------------------------------------------------------

    def kind(self, name: str) -> str:
        """What a quantity is: "position", "angular velocity", "force" ...; "t" is the time."""
        if name == "t" and name not in self.names:
            return "time"
        if name not in self._kinds and name not in self.names:
            self.array(name)  # says what there is instead
        measure = self._measures().get(name)
        if measure is not None:
            return self.kind(measure.alias) if measure.alias else measure.kind or _of_its_own(name)
        defined = "." not in name and all(name not in triple for triple in self.columns)
        return self._kinds.get(name) or (_of_its_own(name) if defined else kind_by_name(name))

    def unit(self, name: str) -> str:
        """The unit of a quantity, "N" or "m/s^2", as the mechanism's ``units`` say; empty where it is not known."""
        return self.units.label(self.kind(name))

    @cached_property
    def units(self) -> Units:
        """The units of the mechanism when this was computed."""
        return Units(self.provenance.get("units", {}))

    @cached_property
    def _kinds(self) -> dict[str, str]:
        return {} if self.model is None else declared_kinds(self.model)

    def unit_attributes(self, name: str) -> dict[str, str]:
        """The unit as an attribute of an array, where it is known."""
        unit = self.unit(name)
        return {"units": unit} if unit else {}

    # --- quantities of one's own ---------------------------------------------------------------------------------

    def define(self, name: str, what: Any) -> xarray.DataArray:
        """A further quantity, from then on one like any other: in plots, tables, files and reports.

        ``what`` is a text in the names of this result ("output.force / input.force", parameters and ``t`` included),
        a function that gets this result and returns one number per time, or such numbers.
        """
        check_name(name, "quantity")
        parameters = {} if self.model is None else self.model.parameters
        if name in self or name in parameters:
            raise ModelError(f"there is a '{name}' already; choose another name")
        if isinstance(what, str):
            there = self.names
            self.series[name] = self._over(written(name, what, parameters, there.__contains__, there))
        else:
            values = plain_array(what(self) if callable(what) else what, f"quantity '{name}'")
            if values.shape != self.t.shape:
                raise ModelError(f"quantity '{name}' needs one number for each of the {len(self.t)} times")
            self.series[name] = self._told_finite(name, values)
        return self[name]

    def _measures(self) -> dict[str, Definition]:
        return {} if self.model is None else self.model.measures

    def _over(self, measure: Definition) -> np.ndarray:
        there = self.names
        missing = [need for need in measure.needs if need not in there]
        if missing:
            raise ModelError(f"'{measure.name}' is made of '{missing[0]}', which this result does not have")
        values = measure.over(self.t, self.array, self.provenance.get("parameters", {}))
        return self._told_finite(measure.name, values)

    def _told_finite(self, name: str, values: np.ndarray) -> np.ndarray:
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            when = f"{len(wrong)} of {len(values)} times, first at t = {self.t[wrong[0]]:.6g}"
            warnings.warn(f"'{name}' is not finite at {when}", AccuracyWarning, stacklevel=4)
        return values

    # --- what happened on the way ----------------------------------------------------------------------------------

    def intervals(self, element: Any, mode: str | Sequence[str] = "stick") -> list[tuple[float, float]]:
        """When an element was in a mode: ``res.intervals("pin")`` are the (begin, end) in which the pin stuck.

        Any mode of any element that switches can be asked for ("open", "closed", "forward", "contact", ...), or several
        at once. An interval that lasts to the end of the run ends there.
        """
        return intervals(self, element, mode)

    def contacts(self, element: Any = None) -> Contacts:
        """Every contact of surfaces with a contact law, as a table: begin, end, approach, departure, force, energies.

        Of one element (``res.contacts("B")``) or of all. How large the force became and what energy it took is followed
        along the steps of the run, whatever the output grid is.
        """
        return contacts(self, element)

    @property
    def impacts(self) -> list[Impact]:
        """Every instant at which velocities jumped, with the impulses of all constraint rows and the energy lost."""
        return impacts(self.events)

    # --- a motion that comes back again and again -------------------------------------------------------------------

    def poincare(self, names: Sequence[str] | str, period: float, *, skip: float = 0.0, phase: float = 0.0) -> Any:
        """Quantities once every period: the Poincaré map; see :func:`kempe.poincare`."""
        return VIEWS["poincare"](self, names, period, skip=skip, phase=phase)

    def periodicity(
        self, period: float, *, skip: float | None = None, most: int = 16, within: float | None = None
    ) -> Any:
        """Whether the motion repeats itself after some periods; see :func:`kempe.periodicity`."""
        return VIEWS["periodicity"](self, period, skip=skip, most=most, within=within)

    def statistics(self, names: Sequence[str] | str, period: float, *, skip: float = 0.0) -> Any:
        """The largest, least, mean and rms value of quantities in each period; see :func:`kempe.statistics`."""
        return VIEWS["statistics"](self, names, period, skip=skip)

    def response(self, period: float, *, skip: float | None = None, within: float | None = None) -> Any:
        """What the machine does period by period, in a page; see :func:`kempe.response`."""
        return VIEWS["response"](self, period, skip=skip, within=within)

    def contact_times(self, points: int = 50) -> np.ndarray:
        """Output times with so many points within each contact; see :func:`kempe.contact_times`."""
        return VIEWS["contact_times"](self, points)

    # --- loads and energies --------------------------------------------------------------------------------------

    def reaction(self, joint: Any, on: Any = None, axes: Any = "global") -> Reaction:
        """The force and moment that a joint (or driver, spring, bar, ...) exerts on a part, over time.

        ``on`` is a part the element acts on, the ground included (default: the second, or the only one that moves).
        The moment is about the element's point on that part. Components are along the axes of the world, or with
        ``axes="body"`` of the part, with ``"joint"`` of the joint's marker on it, or of a part or marker given as
        ``axes``. A bar acts on its points: what it does there includes its own weight and inertia,
        but not what other elements do to the bar, which act on its points themselves.
        An equation of one's own is known in coordinates only: where it acts on a point with a fixed coordinate, the
        component along that coordinate is zero here.
        """
        loads = self._loads()
        if loads is None:
            self._known_model()
            raise ModelError("the model of this result has other coordinates than the result")
        return loads.reaction(joint, on, axes)

    @property
    def energy(self) -> Energies:
        """The energies of a simulation: kinetic, potential, elastic, dissipated, supplied, total and their balance."""
        if "energy.kinetic" not in self.series:
            raise ModelError("this result has no energies: they come from simulate")
        named = {name: self.series.get(f"energy.{name}") for name in (*PARTS, "balance")}
        return Energies(self.t, **named)  # type: ignore[arg-type]

    def _loads(self) -> Loads | None:
        """What can be derived with the model; None where there is none, or one with other coordinates."""
        if self.model is None:
            return None
        system = self._compiled()
        if self._kept is None or self._kept.replay.system is not system:
            if system.names != self.columns:
                return None
            rows = [self.series.get(f"lambda.{row.label}") for row in system.rows]
            known = {row.label for row, values in zip(system.rows, rows, strict=True) if values is not None}
            zero = np.zeros(len(self.t))
            multipliers = [zero if values is None else values for values in rows]
            states = np.column_stack(multipliers) if rows else np.zeros((len(self.t), 0))
            course = States(self.t, self.q, self.v, self.a, states)
            replay = Replay(system, self._parameters(), course, self.events, self.first_modes)
            self._kept = Loads(replay, known, self.stats)
        return self._kept

    def open_among(self, names: Iterable[str]) -> str:
        """What there is to say about reactions among these names that nothing determines; see ``kempe.redundancy``."""
        loads = self._loads()
        return loads.open_among(names) if loads else ""

    def _parameters(self) -> np.ndarray:
        vector = self._known_model().parameter_vector(self.provenance.get("parameters"))
        return vector[: len(self._compiled().parameters)]

    def _compiled(self) -> System:
        """The equations this was computed with (what is added to the model of a result later is not in them)."""
        if self._system is None:
            self._system = compiled(self._known_model())
        return self._system

    # --- anything else that moves --------------------------------------------------------------------------------

    def rotation(self, part: Any) -> np.ndarray:
        """The axes of a body or marker in space over time, as columns of matrices (times, 3, 3)."""
        carrier = self._carrier(part) if isinstance(part, str) else part
        marker = carrier if isinstance(carrier, Marker) else getattr(carrier, "on", lambda: None)()
        if not isinstance(marker, Marker) or marker.carrier.space.dim != 3:
            raise ModelError(f"a rotation is that of a body or marker in space, or of one by name, not {shown(part)}")
        return frames(self._compiled(), [marker], self._parameters(), self.q)[:, 0]

    def euler(self, part: Any, convention: str) -> np.ndarray:
        """The Euler angles of a body or marker in space over time (times, 3), without jumps of a turn.

        ``convention`` names the axes in order, as :meth:`kempe.Rotation.euler` takes them: "ZXZ" (precession, nutation,
        spin), "XYZ", or in small letters about fixed axes. Where two of the axes are parallel the angles are not
        unique: the third is then zero.
        """
        from scipy.spatial.transform import Rotation as Turns

        letters = check_convention(convention)
        if len(letters) != 3:
            raise ModelError(f"three axes name Euler angles, as in 'ZXZ', not {convention!r}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # (said above)
            angles = Turns.from_matrix(self.rotation(part)).as_euler(letters)
        return np.asarray(np.unwrap(angles, axis=0))

    def point(self, part: Any, on: Any = None) -> Motion:
        """The motion of a material point, given by a part (or its name) and a place in the part's own axes."""
        carrier = self._carrier(part) if isinstance(part, str) else part
        if not isinstance(carrier, (Carrier, Marker)):
            raise ModelError(f"a point needs a body, point or bar, or the name of one, not {shown(part)}")
        return self._motion(carrier if isinstance(carrier, Marker) else carrier.on(on))

    def measure(self, quantity: Any) -> Motion:
        """The history of a quantity such as ``joint.angle`` or ``kp.distance(a, b)``."""
        return self._motion(as_quantity(quantity, "what is measured"))

    def _motion(self, what: Any) -> Motion:
        system = self._compiled()
        return Motion(self.t, *motion(system, what, self._parameters(), self.q, self.v, self.a))

    def _carrier(self, name: str) -> Any:
        model = self._known_model()
        if name == "ground":
            return getattr(model, "ground", None)
        found = model.parts.get(name) or model.elements.get(name)
        if isinstance(found, RigidLink):
            return found.carrier
        if not isinstance(found, Carrier):
            near = difflib.get_close_matches(name, [*model.parts, *model.elements], n=3)
            hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
            raise ModelError(f"there is no part '{name}' in '{model.name}'{hint}")
        return found

    def _known_model(self) -> Model:
        if self.model is None:
            raise ModelError("this result does not know its model any more: the model could not be written to the file")
        return self.model

    # --- export --------------------------------------------------------------------------------------------------

    def to_dataset(self) -> xarray.Dataset:
        """All histories as an xarray.Dataset over t, with status and provenance as attributes."""
        return as_dataset(self)

    def to_csv(self, path: str | Path, names: Sequence[str] | None = None) -> Path:
        """Write histories (all, or the named ones) with a header line, every digit kept."""
        chosen = self.names if names is None else [names] if isinstance(names, str) else list(names)
        table = np.column_stack([self.t, *(self.array(name) for name in chosen)])
        header = ",".join(_in_csv(c) for c in ["t", *chosen])
        with replacing(path) as fresh:
            np.savetxt(fresh, table, delimiter=",", header=header, comments="", fmt="%.17g", encoding="utf-8")
        return as_path(path)

    def save(self, path: str | Path) -> Path:
        """Write everything to a NetCDF file; the model goes with it where a file can describe it.

        Each history is a variable; more than 200 are gathered into one, ``histories`` over t and ``name``.
        """
        return write_result(self, path)

    @classmethod
    def load(cls, path: str | Path, *, trust: str | Iterable[str] = ()) -> Result:
        """Read what ``save`` wrote: every quantity has the same numbers, events and start are as they were.

        Where the model could not be written, what was derived with it is still there by name. So it is where the model
        has elements of classes whose module is not named in ``trust``; see :func:`kempe.load`.
        """
        return read_result(path, cls, trust)

    # --- looking at it -------------------------------------------------------------------------------------------

    def plot(
        self,
        names: Sequence[str] | str,
        *,
        x: str | None = None,
        twin: Sequence[str] | str = (),
        beside: Mapping[str, Result] | None = None,
        label: str = "",
        events: bool | None = None,
        degrees: bool = False,
        title: str = "",
        size: tuple[float, float] | None = None,
    ) -> Any:
        """Quantities over time or over another one (``x``), with others on a second scale (``twin``).

        ``beside`` lays other results over this one, by what they are called; ``label`` is what this one is called then.
        See :func:`kempe.view.plot` for the rest.
        """
        options: dict[str, Any] = {"x": x, "twin": twin, "events": events, "degrees": degrees}
        if not beside:
            return VIEWS["plot"](self, names, title=title, size=size, **options)
        if not isinstance(beside, Mapping):
            raise ModelError("plot: beside= maps what another result is called to that result")
        labels = [label or str(self.provenance.get("model", "this result")), *beside]
        return VIEWS["plot"]([self, *beside.values()], names, labels=labels, title=title, size=size, **options)

    def plot_orbit(
        self, joint: Any, *, skip: float = 0.0, title: str = "", size: tuple[float, float] | None = None
    ) -> Any:
        """The path of a journal's centre within its clearance; see :func:`kempe.view.plot_orbit`."""
        return VIEWS["plot_orbit"](self, joint, skip=skip, title=title, size=size)

    def plot_phase(
        self,
        names: Sequence[str] | str,
        *,
        skip: float = 0.0,
        period: float | None = None,
        degrees: bool = False,
        title: str = "",
        size: tuple[float, float] | None = None,
    ) -> Any:
        """The phase portrait: a coordinate and its rate, or any two quantities; see :func:`kempe.view.plot_phase`."""
        options: dict[str, Any] = {"skip": skip, "period": period, "degrees": degrees, "title": title, "size": size}
        return VIEWS["plot_phase"](self, names, **options)

    def animate(
        self,
        path: str | Path,
        *,
        trace: Sequence[str] | str = (),
        vectors: Sequence[str] | str = (),
        scale: Mapping[str, float] | None = None,
        frames: int = 90,
        seconds: float = 3.0,
        dpi: float = 96,
        title: str = "",
        view: Any = None,
    ) -> Path:
        """An animation of the motion, with paths of points and arrows of forces; see :func:`kempe.view.animate`."""
        options: dict[str, Any] = {"trace": trace, "vectors": vectors, "scale": scale, "frames": frames, "view": view}
        return VIEWS["animate"](self._known_model(), self, path, seconds=seconds, dpi=dpi, title=title, **options)

    def draw(
        self,
        at: float | None = None,
        *,
        names: bool = True,
        vectors: Sequence[str] | str = (),
        scale: Mapping[str, float] | None = None,
        title: str = "",
        view: Any = None,
    ) -> Any:
        """The mechanism at a time of the motion, with arrows of forces; see :func:`kempe.view.draw`."""
        options: dict[str, Any] = {"names": names, "vectors": vectors, "scale": scale, "title": title, "view": view}
        return VIEWS["draw"](self._known_model(), motion=self, at=at, **options)

    def show(self, *, trace: Sequence[str] | str = (), view: Any = None, seconds: float = 6.0, port: int = 8080) -> Any:
        """A motion in space live in a browser, by the package viser; see :func:`kempe.view.show`."""
        return VIEWS["show"](self._known_model(), self, trace=trace, view=view, seconds=seconds, port=port)

    def report(
        self,
        path: str | Path,
        *,
        traces: Sequence[str] = (),
        plots: Sequence[str] = (),
        title: str = "",
        family: Any = None,
    ) -> Path:
        """One HTML file with an interactive animation, plots and a summary; see :func:`kempe.view.report`."""
        shown = {"traces": traces, "plots": plots, "title": title, "family": family}
        return VIEWS["report"](self._known_model(), self, path, **shown)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:.6g} .. {self.t[-1]:.6g}" if len(self.t) else "no time"
        return f"Result({self.status}: {len(self.t)} points, {span}, {len(self.columns)} coordinates; {self.message})"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(n[0])}</td>"
            + "".join(f"<td>{x:.6g}</td>" for x in (self.q[0, k], self.q[-1, k]))
            + "</tr>"
            for k, n in enumerate(self.columns[:30])
            if len(self.t)
        )
        head = "<tr><th>coordinate</th><th>first</th><th>last</th></tr>"
        return f"<p>{escape(repr(self))}</p><table>{head}{rows}</table>"


def _of_its_own(name: str) -> str:
    """The kind of a quantity of which nothing is known but what it is called."""
    return f"'{name}'" if name in KINDS else name


def _in_csv(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name
