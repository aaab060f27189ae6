"""The sparse structure of the linear system that every step of a simulation solves, and what elimination adds to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kempe.calling import explained
from kempe.model import Model
from kempe.results import VIEWS
from kempe.simulation.posing import Posed

#: Up to this many unknowns the text picture is drawn.
SMALL = 120


@dataclass(frozen=True, repr=False)
class Sparsity:
    """The pattern of [Mhat, Phi_q^T; Phi_q, -C] for n coordinates and m constraint rows.

    ``rows`` and ``columns`` are the places of its nonzeros, ``fill_rows`` and ``fill_columns`` those that elimination
    in the chosen ``order`` adds. ``nonzeros`` counts the former, ``fill`` all entries of the factors L + U, ``density``
    is the share of nonzeros in the whole matrix.
    """

    model: str
    n: int
    m: int
    names: list[str]
    rows: np.ndarray
    columns: np.ndarray
    fill_rows: np.ndarray
    fill_columns: np.ndarray
    order: np.ndarray

    @property
    def nonzeros(self) -> int:
        """Entries of the matrix that are not always zero."""
        return len(self.rows)

    @property
    def fill(self) -> int:
        """Entries of the factors L + U."""
        return len(self.rows) + len(self.fill_rows)

    @property
    def density(self) -> float:
        """The share of nonzeros in the matrix."""
        return self.nonzeros / (self.n + self.m) ** 2

    @property
    def summary(self) -> str:
        """The figures in one sentence."""
        size = self.n + self.m
        return (
            f"'{self.model}': {self.n} coordinates and {self.m} constraints; {self.nonzeros} of {size * size} entries "
            f"({100 * self.density:.3g} %) are nonzero, elimination adds {len(self.fill_rows)}"
        )

    def places(self, elimination: bool = False) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Nonzeros and fill as pairs of row and column, and the names, as modelled or in the order of elimination."""
        order = self.order if elimination else np.arange(self.n + self.m)
        back = np.argsort(order)
        nonzero = np.column_stack([back[self.rows], back[self.columns]])
        added = np.column_stack([back[self.fill_rows], back[self.fill_columns]])
        return nonzero, added, [self.names[k] for k in order]

    def text(self, elimination: bool = False) -> str:
        """A picture in letters: x a nonzero, + what elimination adds; columns are numbered as the rows are."""
        nonzero, added, names = self.places(elimination)
        picture = np.full((len(names), len(names)), ".")
        picture[nonzero[:, 0], nonzero[:, 1]] = "x"
        picture[added[:, 0], added[:, 1]] = "+"
        digits, width = len(str(len(names))), max(map(len, names), default=0)
        numbers = [str(k).rjust(digits) for k in range(1, len(names) + 1)]
        lines = [" " * (width + digits + 2) + " ".join(number[d] for number in numbers) for d in range(digits)]
        lines += [
            f"{name.ljust(width)} {number} {' '.join(row)}"
            for name, number, row in zip(names, numbers, picture, strict=True)
        ]
        return "\n".join([self.summary, *(line.rstrip() for line in lines)])

    def plot(self, *, elimination: bool = False, title: str = "") -> Any:
        """A picture of the pattern and its fill; see :func:`kempe.view.pattern`."""
        return VIEWS["pattern"](self, elimination=elimination, title=title)

    def __str__(self) -> str:
        return self.text() if self.n + self.m <= SMALL else self.summary

    def __repr__(self) -> str:
        return f"Sparsity({self.summary})"


@explained
def sparsity(model: Model) -> Sparsity:
    """Find where the linear system of a step has its nonzeros, and what elimination adds.

    Figure 6.2 of Haug, Wehage and Barman (1981) shows such a pattern for their slider-crank.
    The order is chosen once per model so that little is added, and each multiplier comes behind the coordinates that
    it acts on; see ``kempe.solvers.quasi_definite``.
    """
    system = Posed(model).system
    d, n, m = system.dynamics, system.n, system.m
    size = n + m
    rows, columns, _ = d.entries
    on_diagonal = np.arange(n, size)  # -C, the compliance of the constraints
    keys = np.unique(np.concatenate([rows * size + columns, on_diagonal * (size + 1)]))
    order, start, column = d.plan.order, d.plan.start, d.plan.column
    factor_rows = order[np.repeat(np.arange(size), np.diff(start))]
    added = np.setdiff1d(factor_rows * size + order[column], keys)
    return Sparsity(
        model=model.name,
        n=n,
        m=m,
        names=[*(name[0] for name in system.names), *(row.label for row in system.rows)],
        rows=keys // size,
        columns=keys % size,
        fill_rows=added // size,
        fill_columns=added % size,
        order=order,
    )
