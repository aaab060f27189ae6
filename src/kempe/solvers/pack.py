"""Several index arrays in one, with a table of contents in front.

Compiled functions take few arguments and pass them on cheaply; a struct of thirty arrays is flattened into some two
hundred machine arguments at every call, which costs more than the arithmetic of a small mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit


def pack(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """One int64 array: the places where the parts begin (and the last ends), then the parts."""
    starts = len(arrays) + 1 + np.cumsum([0, *(len(a) for a in arrays)])
    return np.concatenate([starts, *(np.asarray(a) for a in arrays)]).astype(np.int64)


@njit(cache=True, nogil=True, inline="always")
def part(packed, k):
    """The k-th part as a view."""
    return packed[packed[k] : packed[k + 1]]
