"""What a user holds in hand: the models, with every analysis as a method."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kempe import analysis, design, importing
from kempe.calling import explained, explained_methods
from kempe.errors import KempeError
from kempe.model import EquationsModel, MechanismModel, SpatialModel, files
from kempe.results import VIEWS, Result


def _view(name: str) -> Any:
    """A function of the view layer, imported when first called."""

    def call(*args: Any, **options: Any) -> Any:
        from kempe import view

        return explained(getattr(view, name))(*args, **options)

    return call


_PICTURES = ("plot", "draw", "animate", "show", "report", "modes_report", "pattern", "tornado")
_OPTIMA = ("optimum_report", "plot_history", "plot_changes")
_PORTRAITS = ("plot_orbit", "plot_phase", "plot_poincare", "plot_exponent", "plot_horizon")
VIEWS.update({name: _view(name) for name in (*_PICTURES, *_PORTRAITS, *_OPTIMA)})
VIEWS.update(
    poincare=analysis.poincare,
    periodicity=analysis.periodicity,
    statistics=analysis.statistics,
    response=analysis.response,
    contact_times=analysis.contact_times,
)


@explained_methods
class Analyses:
    """The analyses as methods; each is the plain function of the same name, with the model in hand as its first."""

    check = analysis.check
    mobility = analysis.mobility
    redundancy = analysis.redundancy
    assemble = analysis.assemble
    kinematics = analysis.kinematics
    accelerations = analysis.accelerations
    simulate = analysis.simulate
    run_many = analysis.run_many
    equilibrium = analysis.equilibrium
    inverse_dynamics = analysis.inverse_dynamics
    linearise = analysis.linearise
    modes = analysis.modes
    lyapunov = analysis.lyapunov
    horizon = analysis.horizon
    sparsity = analysis.sparsity
    ranks = analysis.ranks
    sensitivity = design.sensitivity
    optimise = design.optimise
    kinematic_sensitivity = design.kinematic_sensitivity
    inverse_dynamics_sensitivity = design.inverse_dynamics_sensitivity
    equilibrium_sensitivity = design.equilibrium_sensitivity
    modal_sensitivity = design.modal_sensitivity

    def draw(
        self,
        pose: analysis.Pose | None = None,
        *,
        names: bool = True,
        motion: Result | None = None,
        at: float | None = None,
        vectors: Sequence[str] | str = (),
        scale: Mapping[str, float] | None = None,
        title: str = "",
        view: Any = None,
    ) -> Any:
        """A drawing with names, in the pose assembled from the sketch or another; see :func:`kempe.view.draw`."""
        seen: dict[str, Any] = {"vectors": vectors, "scale": scale, "title": title, "view": view}
        return _view("draw")(self, pose, names, motion=motion, at=at, **seen)

    def _repr_html_(self) -> str:
        """A drawing for notebooks; the plain text where there is nothing to draw or it cannot be assembled."""
        from html import escape

        try:
            drawn = io.BytesIO()
            self.draw().savefig(drawn, format="svg")
        except KempeError as error:
            return f"<p>{escape(repr(self))}: {escape(str(error))}</p>"
        svg = drawn.getvalue().decode()
        return svg[svg.index("<svg") :]

    def save(self, path: str | Path, *, analyses: Any = None, outputs: Any = None) -> Path:
        """Write the model to a ``.kempe.yaml`` file that :func:`kempe.load` reads back.

        ``analyses`` and ``outputs`` may be given as they stand in files: ``analyses=[{"simulate": {"times": 2.0}}]``.
        """
        more = {"analyses": analyses, "outputs": outputs}
        given = {key: value for key, value in more.items() if value is not None}
        return files.save(self, path, **given)  # type: ignore[arg-type]


@explained
def load(path: str | Path, *, trust: str | Iterable[str] = ()) -> Any:
    """A model from a ``.kempe.yaml`` file; raises ModelError with all findings, each with file and line.

    A file runs no code, save for elements of one's own classes, added by ``m.add``, which need their module: ``trust``
    names the modules that may be imported for it.
    """
    return files.build(files.read(path), Mechanism, Equations, trust=trust)


@explained
def load_urdf(
    path: str | Path,
    *,
    fixed_base: bool = True,
    gravity: Any = (0.0, 0.0, -9.81),
    limits: bool = False,
    packages: Mapping[str, str | Path] | None = None,
) -> Any:
    """A mechanism in space from a URDF file, or from its text; see :doc:`/importing`.

    The root link is part of the ground, or with ``fixed_base=False`` a free body. With ``limits`` limits of joints are
    rigid stops. ``packages`` says where the packages of ``package://`` are. What is not represented is told by
    :class:`kempe.ModelWarning`.
    """
    tree = importing.read_urdf(path, fixed_base=fixed_base, packages=packages)
    return importing.build(tree, Mechanism, gravity=gravity, limits=limits)


@explained
def load_mjcf(path: str | Path, *, limits: bool = False) -> Any:
    """A mechanism in space from an MJCF file of MuJoCo's, or from its text; see :doc:`/importing`.

    Its drawn pose is that of the file (qpos0). With ``limits`` limits of joints are rigid stops. What is not
    represented is told by :class:`kempe.ModelWarning`.
    """
    return importing.build(importing.read_mjcf(path), Mechanism, limits=limits)


class Mechanism(Analyses, MechanismModel):
    """A mechanism: describe its parts and joints, then ask questions about it.

    It is planar, or with ``dim=3`` a :class:`kempe.SpatialMechanism`.
    """

    if not TYPE_CHECKING:  # to a type checker it is planar; kp.SpatialMechanism says what a spatial one has

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            """A spatial one where three dimensions are asked for."""
            if cls is Mechanism and kwargs.get("dim", 2) == 3:
                return SpatialMechanism(*args, **kwargs)
            return super().__new__(cls)


class SpatialMechanism(Analyses, SpatialModel):
    """A mechanism in space: describe its parts and joints, then ask questions about it."""


class Equations(Analyses, EquationsModel):
    """A system given as equations in coordinates of one's own; see :class:`kempe.model.EquationsModel`."""
