"""What a user holds in hand: the models, with every analysis as a method."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kempe import analysis
from kempe.errors import KempeError
from kempe.model import EquationsModel, MechanismModel, files
from kempe.results import VIEWS, Result


def _view(name: str) -> Any:
    """A function of the view layer, imported when first called."""

    def call(*args: Any, **options: Any) -> Any:
        from kempe import view

        return getattr(view, name)(*args, **options)

    return call


VIEWS.update({name: _view(name) for name in ("plot", "draw", "animate", "report", "modes_report", "pattern")})


class Analyses:
    """The analyses as methods; each is a plain function of the same name as well."""

    def check(self, **options: Any) -> list[analysis.Finding]:
        """Everything suspicious about the model at once; see :func:`kempe.check`."""
        return analysis.check(self, **options)  # type: ignore[arg-type]

    def mobility(self, **options: Any) -> analysis.Mobility:
        """Degrees of freedom and redundant constraints by name; see :func:`kempe.mobility`."""
        return analysis.mobility(self, **options)  # type: ignore[arg-type]

    def assemble(self, **options: Any) -> analysis.Pose:
        """The assembled pose nearest to the sketch; see :func:`kempe.assemble`."""
        return analysis.assemble(self, **options)  # type: ignore[arg-type]

    def kinematics(self, times: Any, **options: Any) -> Result:
        """Positions, velocities and accelerations on a time grid; see :func:`kempe.kinematics`."""
        return analysis.kinematics(self, times, **options)  # type: ignore[arg-type]

    def accelerations(self, velocities: Any = None, **options: Any) -> analysis.Accelerations:
        """Accelerations and multipliers in one state; see :func:`kempe.accelerations`."""
        return analysis.accelerations(self, velocities, **options)  # type: ignore[arg-type]

    def simulate(self, times: Any, **options: Any) -> Result:
        """The motion under forces, with reactions and an energy audit; see :func:`kempe.simulate`."""
        return analysis.simulate(self, times, **options)  # type: ignore[arg-type]

    def equilibrium(self, **options: Any) -> analysis.Equilibrium:
        """The pose in which all forces balance; see :func:`kempe.equilibrium`."""
        return analysis.equilibrium(self, **options)  # type: ignore[arg-type]

    def inverse_dynamics(self, times: Any, **options: Any) -> Result:
        """The efforts and reactions that a driven motion takes; see :func:`kempe.inverse_dynamics`."""
        return analysis.inverse_dynamics(self, times, **options)  # type: ignore[arg-type]

    def linearise(self, about: Any = None, **options: Any) -> analysis.Linearised:
        """Small motions about a state, in independent coordinates; see :func:`kempe.linearise`."""
        return analysis.linearise(self, about, **options)  # type: ignore[arg-type]

    def modes(self, pose: Any = None, **options: Any) -> analysis.Modes:
        """Natural frequencies, damping ratios and mode shapes; see :func:`kempe.modes`."""
        return analysis.modes(self, pose, **options)  # type: ignore[arg-type]

    def sparsity(self) -> analysis.Sparsity:
        """The pattern of the linear system of a step, and its fill; see :func:`kempe.sparsity`."""
        return analysis.sparsity(self)  # type: ignore[arg-type]

    def ranks(self, pose: Any, velocities: Any = None, **options: Any) -> tuple[int, int, int]:
        """Ranks of Phi_q, [Phi_q nu], [Phi_q gamma] in a pose; see :func:`kempe.ranks`."""
        return analysis.ranks(self, pose, velocities, **options)  # type: ignore[arg-type]

    def draw(self, pose: Any = None, **options: Any) -> Any:
        """A drawing with names; see :func:`kempe.view.draw`."""
        return _view("draw")(self, pose, **options)

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

    def save(self, path: str | Path, **more: Any) -> Path:
        """Write the model to a ``.kempe.yaml`` file that :func:`kempe.load` reads back.

        ``analyses`` and ``outputs`` may be given as they stand in files: ``analyses=[{"simulate": {"times": 2.0}}]``.
        """
        return files.save(self, path, **more)  # type: ignore[arg-type]


def load(path: str | Path, *, trust: str | Iterable[str] = ()) -> Any:
    """A model from a ``.kempe.yaml`` file; raises ModelError with all findings, each with file and line.

    A file runs no code, save for elements of one's own classes, added by ``m.add``, which need their module: ``trust``
    names the modules that may be imported for it.
    """
    return files.build(files.read(path), Mechanism, Equations, trust=trust)


class Mechanism(Analyses, MechanismModel):
    """A planar mechanism: describe its parts and joints, then ask questions about it."""


class Equations(Analyses, EquationsModel):
    """A system given as equations in coordinates of one's own; see :class:`kempe.model.EquationsModel`."""
