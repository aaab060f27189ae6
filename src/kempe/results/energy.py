"""The energies of a simulated motion and their balance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: The parts of the balance: kinetic + potential + elastic + dissipated - supplied stays what it was at the start.
PARTS = ("kinetic", "potential", "elastic", "dissipated", "supplied")


@dataclass(frozen=True, repr=False)
class Energies:
    """Energies over time: of motion, of gravity, of springs; and what was dissipated and supplied since the start.

    ``balance`` is what the parts fail to add up by: total - total at the start + dissipated - supplied. It measures
    the error of the integration. Where these three were not followed (inverse dynamics), they are None.
    """

    t: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray
    elastic: np.ndarray
    dissipated: np.ndarray | None = None
    supplied: np.ndarray | None = None
    balance: np.ndarray | None = None

    @property
    def total(self) -> np.ndarray:
        """Kinetic, potential and elastic energy together."""
        return self.kinetic + self.potential + self.elastic

    @property
    def largest(self) -> float:
        """The largest energy in the motion; that of gravity is counted from the start, for its zero is arbitrary."""
        gained = self.potential - self.potential[:1].sum()
        parts = (self.kinetic, gained, self.elastic, self.dissipated, self.supplied)
        return max(float(np.abs(part).max(initial=0.0)) for part in parts if part is not None)

    @property
    def error(self) -> float | None:
        """The largest imbalance as a fraction of the largest energy; None where it is not known."""
        if self.balance is None:
            return None
        worst = float(np.abs(self.balance).max(initial=0.0))
        return worst / self.largest if self.largest > 0 else worst

    def table(self) -> list[tuple[str, float, float, float]]:
        """Name, first, last and largest value of each part that is not always zero, of the total and the balance."""
        if not len(self.t):
            return []
        used = [name for name in PARTS[:3] if np.any(getattr(self, name))]
        used += ["total", *(name for name in PARTS[3:] if np.any(getattr(self, name)))]
        used += [] if self.balance is None else ["balance"]
        found = []
        for name in used:
            values = getattr(self, name)
            found.append((name, float(values[0]), float(values[-1]), float(values[np.argmax(np.abs(values))])))
        return found

    def __str__(self) -> str:
        lines = [f"{'energy':<12}{'first':>14}{'last':>14}{'largest':>14}"]
        lines += [f"{name:<12}" + "".join(f"{value:14.6g}" for value in row) for name, *row in self.table()]
        if self.error is not None:
            lines.append(f"largest imbalance: {self.error:.2g} of the largest energy")
        return "\n".join(lines)

    __repr__ = __str__
