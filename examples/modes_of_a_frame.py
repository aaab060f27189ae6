"""
Modes of a frame
================

A portal frame, two columns clamped to the ground and a beam between them, is cut into rigid segments that are joined by
pins and torsion springs: EI/h between two segments of length h, 2 EI/h at a clamp (finite segments). The frame sways in
its slowest mode and bends symmetrically in the next. Its frequencies are compared with those of Euler-Bernoulli beams,
from which they differ by the square of the segment length.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np

import kempe as kp
from kempe import view

WIDTH, HEIGHT = 2.0, 2.0
STIFFNESS, DENSITY = 900.0, 4.0  # EI, and mass per length
SEGMENTS = 6  # of each column and of the beam
CORNERS = np.array([[0.0, 0.0], [0.0, HEIGHT], [WIDTH, HEIGHT], [WIDTH, 0.0]])
TOLERANCE = 1e-3
OUT = Path("out")


def build(segments: int = SEGMENTS, damping: float = 0.0) -> kp.Mechanism:
    m = kp.Mechanism("portal frame")
    previous = m.ground
    for member, (start, end) in zip(("left", "beam", "right"), pairwise(CORNERS), strict=True):
        length = np.hypot(*(end - start)) / segments
        mass = DENSITY * length
        for k in range(segments):
            near, far = start + k / segments * (end - start), start + (k + 1) / segments * (end - start)
            angle = np.arctan2(*(end - start)[::-1])
            name = f"{member} {k + 1}"
            segment = m.body(name, mass=mass, inertia=mass * length**2 / 12, at=(near + far) / 2, angle=angle)
            clamp = 2 if previous is m.ground else 1
            m.revolute(f"pin of {name}", previous, segment, at=near)
            m.torsion_spring(
                f"spring of {name}", previous, segment, stiffness=clamp * STIFFNESS / length, damping=damping
            )
            previous = segment
    m.revolute("last pin", previous, m.ground, at=CORNERS[-1])
    m.torsion_spring("last spring", previous, m.ground, stiffness=2 * STIFFNESS / length, damping=damping)
    return m


def beams(elements: int = 8) -> np.ndarray:
    """The frequencies of the same frame made of beam finite elements, practically inextensible."""
    nodes = [a + k / elements * (b - a) for a, b in pairwise(CORNERS) for k in range(elements)] + [CORNERS[-1]]
    K, M = np.zeros((2, 3 * len(nodes), 3 * len(nodes)))
    for i, (start, end) in enumerate(pairwise(nodes)):
        h = np.hypot(*(end - start))
        c, s = (end - start) / h
        turn = np.kron(np.eye(2), [[c, s, 0], [-s, c, 0], [0, 0, 1]])
        bending = [[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2]]
        bending += [[-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]]
        inertia = [[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2]]
        inertia += [[54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]]
        along, across = np.ix_([0, 3], [0, 3]), np.ix_([1, 2, 4, 5], [1, 2, 4, 5])
        k, m = np.zeros((2, 6, 6))
        k[along], m[along] = 1e7 * STIFFNESS / h * np.array([[1, -1], [-1, 1]]), np.array([[2, 1], [1, 2]]) / 6
        k[across], m[across] = STIFFNESS / h**3 * np.array(bending), np.array(inertia) / 420
        here = slice(3 * i, 3 * i + 6)
        K[here, here] += turn.T @ k @ turn
        M[here, here] += DENSITY * h * turn.T @ m @ turn
    free = slice(3, -3)
    squared = np.linalg.eigvals(np.linalg.solve(M[free, free], K[free, free]))
    return np.sqrt(np.sort(squared.real))


def check() -> float:
    """The error of the three slowest frequencies, extrapolated to segments of no length."""
    coarse, fine = (build(n).modes(count=3).frequencies for n in (SEGMENTS, 2 * SEGMENTS))
    return float(np.abs((4 * fine - coarse) / 3 / beams()[:3] - 1).max())


def main() -> None:
    m = build(damping=0.5)
    modes = m.modes(count=6)
    print(modes.table())
    print(f"beam theory: {', '.join(f'{f:.4f}' for f in beams()[:3])} rad/s; extrapolated error {check():.1e}")
    print(m.sparsity().summary)
    view.save(m.sparsity().plot(elimination=True), OUT / "frame_pattern.png")
    for k in range(3):
        modes.animate(k, OUT / f"frame_mode_{k}.gif", frames=40)
    print(f"written: {OUT}/frame_pattern.png, {OUT}/frame_mode_0.gif to frame_mode_2.gif")


if __name__ == "__main__":
    main()
