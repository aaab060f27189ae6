"""What is watched along a motion: quantities at an instant, with their derivatives forward and backward."""

from __future__ import annotations

from kempe.solvers.frames import Count, Floats, Frame, Ints
from kempe.solvers.program import Kernels


class Gauge(Frame):
    """Quantities y of an instant as kernels of w, entries of X = [x | q | v | a | lambda | t | parameters].

    ``value`` takes w to y, ``push`` takes [w, dw] to dy = y_w dw, and ``pull`` takes [w, y'] to w' = y_w^T y'.
    """

    kernels: Kernels
    value: Count  # kernels by their numbers
    push: Count
    pull: Count
    place: Ints  # per input: where it is in X
    size: Count  # how many quantities
    inputs: Floats  # scratch
    outputs: Floats
