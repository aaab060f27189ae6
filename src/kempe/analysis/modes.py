"""Natural frequencies and mode shapes: the small free vibrations about an equilibrium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import eig, eigh
from scipy.optimize import linear_sum_assignment

from kempe.analysis.linear import Linearised, small_motions
from kempe.analysis.statics import Equilibrium, equilibrium
from kempe.analysis.tangents import State, explicit
from kempe.calling import explained
from kempe.elements import plain_number
from kempe.errors import ModelError
from kempe.model import Model
from kempe.results import VIEWS, Result
from kempe.simulation.assembling import Pose, close, coordinate_index, pose_array
from kempe.simulation.posing import Posed
from kempe.system.dependence import most_first

#: A squared frequency below this fraction of what the stiffnesses at work would give counts as zero.
ZERO = 1e-12
#: A force below this fraction of those at work counts as none.
AT_REST = 1e-6
#: The same as a fraction of the largest work in the mechanism, for directions in which nothing is at work.
ROUNDING = 1e-12


@dataclass(frozen=True, repr=False)
class Modes:
    """The modes of vibration, slowest first, numbered from 0.

    ``frequencies`` (rad/s) and ``hertz`` are those without damping, from K and M; ``shapes`` has one column per mode
    with the movement of every coordinate, the largest being one mechanism size or one radian. ``eigenvalues`` are the
    two of the state matrix that belong to a mode, damping included, and ``damping`` its ratio to the critical
    damping (NaN where nothing oscillates). ``kinds`` says of each whether it is an "oscillation", "overdamped", a
    "rigid body" motion that nothing resists, or "unstable".
    """

    frequencies: np.ndarray
    damping: np.ndarray
    eigenvalues: np.ndarray
    kinds: list[str]
    shapes: np.ndarray
    names: list[str]
    linearised: Linearised
    model: Model

    @property
    def hertz(self) -> np.ndarray:
        """The frequencies in cycles per time."""
        return self.frequencies / (2 * np.pi)

    def __len__(self) -> int:
        return len(self.frequencies)

    def shape(self, k: int) -> dict[str, float]:
        """How mode k moves each coordinate, by name."""
        return dict(zip(self.names, self.shapes[:, self._number(k)].tolist(), strict=True))

    def _number(self, k: Any) -> int:
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 0 <= k < len(self):
            raise ModelError(f"there is no mode {k!r}: modes are numbered from 0 to {len(self) - 1}")
        return int(k)

    def table(self) -> str:
        """All modes as text, with the coordinates that move most."""
        posed = Posed(self.model, self.linearised.parameters)
        head = ("mode", "kind", "rad/s", "Hz", "damping", "eigenvalue", "moves")
        rows = [head]
        for k, kind in enumerate(self.kinds):
            moved = np.abs(self.shapes[:, k]) / posed.scale
            most = [i for i in most_first(moved) if moved[i] > 0.05][:3]
            frequency, hertz = (
                f"{x[k]:.6g}" if kind != "unstable" or x[k] else "-" for x in (self.frequencies, self.hertz)
            )
            ratio = "-" if np.isnan(self.damping[k]) else f"{self.damping[k]:.4g}"
            moves = ", ".join(self.names[i] for i in most)
            rows.append((str(k), kind, frequency, hertz, ratio, _pair(self.eigenvalues[k]), moves))
        widths = [max(len(row[c]) for row in rows) for c in range(len(head))]
        right = {0, 2, 3, 4}
        lines = [
            "  ".join(
                cell.rjust(w) if c in right else cell.ljust(w)
                for c, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        return "\n".join(line.rstrip() for line in lines)

    def motion(self, k: int, *, amplitude: float = 0.15, frames: int = 60) -> Result:
        """One cycle of mode k about its pose as a motion, so large that it can be seen, with closed joints.

        ``amplitude`` is the largest movement, in mechanism sizes or radians. The time runs over one period (over one
        unit where there is none).
        """
        k = self._number(k)
        size = plain_number(amplitude, "amplitude")
        if not size > 0 or frames < 2:
            raise ModelError("amplitude must be above zero, and frames at least 2")
        posed = Posed(self.model, self.linearised.parameters)
        rest, time = pose_array(posed.system, self.linearised.pose), self.linearised.time
        phase = 2 * np.pi * np.arange(frames) / frames
        for _ in range(6):
            shown = [close(posed, rest + size * np.sin(p) * self.shapes[:, k], time) for p in phase]
            if all(q is not None for q in shown):
                break
            size /= 2
        q = np.array(
            [rest + size * np.sin(p) * self.shapes[:, k] if s is None else s for p, s in zip(phase, shown, strict=True)]
        )
        rate = float(self.frequencies[k]) or 2 * np.pi
        v = rate * size * np.outer(np.cos(phase), self.shapes[:, k])
        return Result(
            t=phase / rate,
            q=q,
            v=v,
            a=-(rate**2) * (q - rest),
            columns=posed.system.names,
            message=f"mode {k} ({self.kinds[k]}, {self.hertz[k]:.4g} Hz), amplitude {size:.3g}",
            provenance={"model": self.model.name, "analysis": "mode", "parameters": self.linearised.parameters},
            model=self.model,
        )

    def animate(
        self,
        k: int,
        path: str | Path,
        *,
        amplitude: float = 0.15,
        trace: Sequence[str] | str = (),
        frames: int = 60,
        seconds: float = 1.5,
        dpi: float = 96,
        title: str = "",
    ) -> Path:
        """Mode k as an animation, one cycle that repeats; the rest is as for :func:`kempe.view.animate`."""
        motion = self.motion(k, amplitude=amplitude, frames=frames)
        known = self.kinds[k] if self.kinds[k] in ("rigid body", "unstable") else f"{self.hertz[k]:.4g} Hz"
        title = title or f"{self.model.name}: mode {k}, {known}"
        return motion.animate(path, trace=trace, frames=frames, seconds=seconds, dpi=dpi, title=title)

    def report(self, path: str | Path, *, amplitude: float = 0.15, title: str = "") -> Path:
        """All modes in one HTML file, each moving, chosen from a list; see :func:`kempe.view.report`."""
        return VIEWS["modes_report"](self, path, amplitude=amplitude, title=title)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.table())}</pre>"

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"Modes of '{self.model.name}': {', '.join(f'{h:.4g}' for h in self.hertz[:8])} Hz"


def _pair(s: np.ndarray) -> str:
    if abs(s[0].imag) > 0:
        return f"{s[0].real + 0.0:.4g} ± {abs(s[0].imag):.6g}i"
    return f"{s[0].real + 0.0:.4g}, {s[1].real + 0.0:.4g}"


@explained
def modes(
    model: Model,
    pose: Pose | Equilibrium | None = None,
    *,
    count: int | None = None,
    time: float | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Modes:
    """Find natural frequencies, damping ratios and mode shapes about an equilibrium.

    ``pose`` must be an equilibrium; without it, the stable one near the sketch is sought. Drivers hold. ``count``
    limits how many modes are returned, the slowest first. In the independent coordinates, (K - omega^2 M) y = 0 gives
    frequencies and shapes, and the eigenvalues of [0, 1; -M^-1 K, -M^-1 C] the damped motion.
    """
    if count is not None and (isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1):
        raise ModelError(f"count must be a whole number of at least 1, not {count!r}")
    if pose is None:
        pose = equilibrium(model, time=time or 0.0, parameters=parameters)
    if isinstance(pose, Equilibrium):
        parameters = pose.parameters if parameters is None else parameters
        time = pose.time if time is None else time
    posed = Posed(model, parameters)
    held = [coordinate_index(posed, name) for name in pose.holding] if isinstance(pose, Equilibrium) else []
    q = pose_array(posed.system, pose.pose if isinstance(pose, Equilibrium) else pose)
    t = 0.0 if time is None else plain_number(time, "the time")
    closed = close(posed, q, t)
    if closed is None:
        raise ModelError(
            f"this pose of '{model.name}' is not assembled: give one that m.assemble() or m.equilibrium() found"
        )
    at = State(closed, np.zeros(len(q)), t)
    linear = small_motions(posed, at, held=held, standing=True)
    _balanced(posed, linear)
    return _modes_of(posed, linear, count)


def _balanced(posed: Posed, linear: Linearised) -> None:
    """Vibrations are about a pose at rest."""
    at = State(pose_array(posed.system, linear.pose), np.zeros(posed.system.n), linear.time)
    here = explicit(posed, at, np.array(list(linear.multipliers.values())))
    size = posed.scale[[posed.system.index(name) for name in linear.names]]
    left = linear.basis.T @ here.f
    at_work = np.abs(linear.basis).T @ np.abs(here.f) + 0.1 * np.abs(linear.K) @ size
    energy = float((at_work * size).max(initial=0.0))  # rounding of what others do is no push
    beyond = np.abs(left) - np.maximum(AT_REST * at_work, ROUNDING * energy / size)
    worst = int(np.argmax(beyond))
    if beyond[worst] > 0:
        raise ModelError(
            f"this pose of '{posed.model.name}' is no equilibrium: {-left[worst]:.4g} pushes '{linear.names[worst]}'; "
            "m.equilibrium(start=pose) finds one, m.linearise(pose) linearises about a motion"
        )


def _modes_of(posed: Posed, linear: Linearised, count: int | None) -> Modes:
    """Undamped modes in order, each with the two eigenvalues of the damped motion that resemble it most."""
    M, K = linear.M, linear.K
    squared, Y = _undamped(M, K)
    gross = np.einsum("ik,ij,jk->k", np.abs(Y), linear.gross, np.abs(Y))
    squared = np.where(np.abs(squared) <= ZERO * (gross + float(np.abs(squared).max())), 0.0, squared)
    order = np.lexsort((squared.imag, squared.real))
    squared, Y = squared[order], Y[:, order]
    eigenvalues = _matched(linear, Y, squared)
    shapes = (linear.basis @ Y).real
    sizes = shapes / posed.scale[:, None]
    largest = sizes[np.argmax(np.round(np.abs(sizes), 9), axis=0), np.arange(len(squared))]
    kinds, damping = _kinds(squared, eigenvalues)
    frequencies = np.where(squared.real > 0, np.sqrt(squared.astype(complex)).real, 0.0)
    some = slice(None, count)
    return Modes(
        frequencies=frequencies[some],
        damping=damping[some],
        eigenvalues=eigenvalues[some],
        kinds=kinds[some],
        shapes=(shapes / largest)[:, some],
        names=[n[0] for n in posed.system.names],
        linearised=linear,
        model=posed.model,
    )


def _undamped(M: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared frequencies, and the motions they belong to, of unit kinetic energy."""
    if all(np.abs(A - A.T).max() <= 1e-9 * max(float(np.abs(A).max()), 1e-300) for A in (M, K)):
        return eigh((K + K.T) / 2, (M + M.T) / 2)
    squared, Y = eig(K, M)  # forces that no potential has
    if np.abs(squared.imag).max() <= 1e-9 * np.abs(squared).max():
        squared = squared.real
    return squared, Y / np.sqrt(np.einsum("ik,ij,jk->k", Y.conj(), M, Y).real)


def _matched(linear: Linearised, Y: np.ndarray, squared: np.ndarray) -> np.ndarray:
    """For each undamped mode two eigenvalues of the state matrix, conjugate ones together, by likeness of shape."""
    f = len(squared)
    if np.abs(linear.C).max(initial=0.0) == 0.0:
        root = np.sqrt(-squared.astype(complex))
        return np.column_stack([root, -root])
    found, vectors = np.linalg.eig(linear.A)
    largest = float(np.abs(found).max())
    found = np.where(np.abs(found.imag) <= 1e-12 * largest, found.real, found)
    share = np.abs(np.linalg.solve(Y, vectors[:f]))
    share /= np.fmax(np.linalg.norm(share, axis=0), 1e-300)
    upper, real = np.flatnonzero(found.imag > 0), np.flatnonzero(found.imag == 0)
    result = np.zeros((f, 2), dtype=complex)
    taken, pairs = linear_sum_assignment(-share[:, upper])
    for mode, k in zip(taken, pairs, strict=True):
        result[mode] = found[upper[k]], found[upper[k]].conj()
    rest = np.repeat(np.setdiff1d(np.arange(f), taken), 2)
    slots, which = linear_sum_assignment(-share[np.ix_(rest, real)])
    for number, (slot, k) in enumerate(zip(slots, which, strict=True)):
        result[rest[slot], number % 2] = found[real[k]]
    result[rest] = -np.sort(-result[rest].real, axis=1)  # of a pair that does not oscillate the slower one first
    # a double eigenvalue is found no better than to the root of the rounding error
    return np.where((squared == 0)[:, None] & (np.abs(result) <= 1e-6 * largest), 0.0, result)


def _kinds(squared: np.ndarray, eigenvalues: np.ndarray) -> tuple[list[str], np.ndarray]:
    """What each mode is, and its damping ratio -(s1 + s2) / (2 sqrt(s1 s2))."""
    product, total = (eigenvalues.prod(axis=1)).real, eigenvalues.sum(axis=1).real
    kinds = []
    for k, pair in enumerate(eigenvalues):
        noise = 1e-12 * np.abs(eigenvalues).max()
        if pair.real.max() > noise or np.real(squared[k]) < 0:
            kinds.append("unstable")
        elif squared[k] == 0:
            kinds.append("rigid body")
        else:
            kinds.append("oscillation" if abs(pair[0].imag) > 0 else "overdamped")
    oscillates = product > 0
    damping = np.where(oscillates, -total / (2 * np.sqrt(np.where(oscillates, product, 1.0))), np.nan)
    return kinds, damping + 0.0
