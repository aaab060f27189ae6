"""How constraints that hold the same thing share it: of all multipliers with the same forces, one choice.

Rigid-body mechanics leaves the multipliers open where constraints depend on each other. In a real machine the members
give a little, and of all reactions that balance, those occur which store the least energy, sum F^2 / (2 k), F being the
force of a row and k its stiffness. Rows without a stiffness are rigid and store none. Without any stiffness the
reactions of least sum F^2 are as good as others (moments count by the mechanism's size).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kempe.elements import shown
from kempe.errors import ModelError
from kempe.system.dependence import NOTHING
from kempe.system.replay import Replay, States
from kempe.system.system import System
from kempe.system.wrenches import acts_on_carriers, pulls, second_part, touched

ELASTIC, SMALLEST = "elastic", "minimum norm"
#: Stiffnesses say nothing about a combination in which stiff rows have less than this share.
UNTOLD = 1e-9
#: In the linear system of a motion: what the compliances of rows that share a load should not fall below, by all of the
#: row in Phi_q M^-1 Phi_q^T, so that rounding leaves them alone; what they may be at most, by its stiffest share, for
#: refinement to converge; what they never fall below by that, and those of rigid rows.
SOUND, SOFTEST, STIFFEST, RIGID = 1e-9, 1e-3, 1e-12, 1e-11


def levers(system: System, parameters: np.ndarray, q: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Per row: the size of the force of a multiplier of one on the second part, or of the moment where it has no force.

    A row is a length, or an angle, times this number. NaN where a row acts on no body, point or bar. And which are
    moments.
    """
    one = np.atleast_2d(q)
    none = np.zeros_like(one)
    replay = Replay(system, parameters, States(np.array([t]), one, none, none, np.zeros((1, system.m))))
    found, turning = np.full(system.m, np.nan), np.zeros(system.m, dtype=bool)
    for k, element in enumerate(system.elements):
        rows, part = system.rows_of[k], second_part(element)
        if not len(rows) or part is None or not acts_on_carriers(element):
            continue
        exerted = pulls(replay, k)[0, list(touched(element)).index(part.name)]
        dim = 2 if len(exerted) == 3 else 3
        force, moment = (np.linalg.norm(part, axis=0) for part in (exerted[:dim], exerted[dim:]))
        turning[rows] = force <= NOTHING * moment
        found[rows] = np.where(turning[rows], moment, force)
    return np.where(found > 0.0, found, np.nan), turning


@dataclass(frozen=True)
class Sharing:
    """The choice between multipliers that do the same: least sum of weight lambda^2, then of plain lambda^2."""

    kind: str
    weight: np.ndarray  # zero for rigid rows
    plain: np.ndarray  # the square of the force of a multiplier of one, or of its moment by the mechanism's size

    def conditions(self, idle: np.ndarray) -> np.ndarray:
        """What the multipliers satisfy that are taken: a matrix B with B lambda = 0, for idle multipliers by column."""
        told, untold = self._split(idle)
        B = np.vstack([(told * self.weight[:, None]).T, (untold * self.plain[:, None]).T])
        return np.asarray(B / np.abs(B).max(axis=1, initial=1e-300, keepdims=True))

    def chosen(self, multipliers: np.ndarray, idle: np.ndarray) -> np.ndarray:
        """Of all multipliers + idle z those that are taken; ``idle`` has a column for each combination that is free."""
        B = self.conditions(idle)
        return np.asarray(multipliers - idle @ np.linalg.solve(B @ idle, B @ multipliers))

    def untold(self, idle: np.ndarray) -> np.ndarray:
        """Idle multipliers that the weights leave open."""
        return self._split(idle)[1]

    def _split(self, idle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Idle multipliers that the weights decide about, and those they leave open."""
        forces, mixed = np.linalg.qr(idle * np.sqrt(self.plain)[:, None])
        costs = np.divide(self.weight, self.plain, out=np.zeros_like(self.plain), where=self.plain > 0.0)
        _, s, Vt = np.linalg.svd(forces * np.sqrt(costs)[:, None])
        told = int((s > UNTOLD * np.sqrt(costs.max(initial=0.0))).sum())
        ways = idle @ np.linalg.solve(mixed, Vt.T)
        ways[(np.abs(forces @ Vt.T) < NOTHING) & (self.plain > 0.0)[:, None]] = 0.0
        return ways[:, :told], ways[:, told:]

    def compliance(self, flexible: np.ndarray, whole: np.ndarray, idle: np.ndarray | None, share: float) -> np.ndarray:
        """What stands in the multiplier block, near a share of the flexibilities, for refinement to end in this choice.

        Refinement from zero only ever adds C^-1 Phi_q y to the multipliers, so that idle^T C lambda = 0: of all that
        balance, those of least lambda^T C lambda. Rows without idle multipliers (None: nobody knows them) stay as they
        are. ``flexible`` and ``whole`` are the stiffest share and the sum of a row's Phi_q M^-1 Phi_q^T.
        """
        found = share * flexible
        involved = np.ones(len(flexible), dtype=bool) if idle is None else np.abs(idle).max(axis=1, initial=0.0) > 0.0
        told, rigid = involved & (self.weight > 0.0), involved & (self.weight == 0.0)
        if not told.any():
            return found
        own, weight = flexible[told], self.weight[told]
        weight = weight * share / np.exp(np.log(weight / own).mean())
        weight *= min(max(1.0, SOUND / (weight / whole[told]).min()), SOFTEST / (weight / own).max())
        found[told] = np.maximum(weight, STIFFEST * own)
        # none is as stiff as a rigid one, where that leaves every combination with something that gives
        found[rigid] = RIGID * flexible[rigid] if idle is None or self.untold(idle).shape[1] else 0.0
        return found


def reactions_named(kind: Any) -> str | None:
    """How reactions are chosen, as a user asks for it; None: as there are stiffnesses."""
    if kind not in (None, ELASTIC, SMALLEST):
        raise ModelError(f"reactions must be '{ELASTIC}' or '{SMALLEST}', not {shown(kind)}")
    return kind  # type: ignore[no-any-return]


def sharing(
    system: System,
    parameters: np.ndarray,
    state: tuple[np.ndarray, float],
    sizes: tuple[float, np.ndarray],
    kind: str | None = None,
    penalties: Mapping[int, float] | None = None,
) -> Sharing:
    """The choice at parameter values, seen in a position and time; ``sizes`` are those of the mechanism and its rows.

    ``penalties`` are given by row, in place of stiffnesses.
    """
    size, row_scale = sizes
    lever, turning = levers(system, parameters, *state)
    plain = np.where(np.isfinite(lever), lever / np.where(turning, size, 1.0), row_scale / size) ** 2
    plain[system.keeps_rigid] = 0.0
    stiffness = system.stiffnesses(parameters)
    weight = np.where(np.isfinite(stiffness), np.where(np.isfinite(lever), lever, 1.0) ** 2 / stiffness, 0.0)
    if penalties:
        weight = np.zeros(system.m)
        weight[list(penalties)] = 1.0 / np.array(list(penalties.values()))
    if kind is None:
        kind = ELASTIC if weight.any() else SMALLEST
    if kind == ELASTIC and not weight.any():
        raise ModelError(
            f"'{system.model.name}': reactions='elastic' needs to know how stiff joints are: give them stiffness="
        )
    return Sharing(kind, weight if kind == ELASTIC else plain, plain)
