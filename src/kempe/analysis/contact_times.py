"""Output times for which no peak of a contact is missed."""

from __future__ import annotations

import numpy as np

from kempe.calling import explained
from kempe.elements import shown
from kempe.elements.pressing import CONTACT, RELEASED, Pressing
from kempe.errors import ModelError
from kempe.results import Result

#: A long contact gets at most so many times the points of others.
LONGEST = 20.0


@explained
def contact_times(result: Result, points: int = 50) -> np.ndarray:
    """The times of a motion, with so many ``points`` within each contact besides, its ends included.

    A contact that lasts longer than most gets more of them, as close to each other, up to twenty times as many.

    A second run for these times is the same motion (output times have no influence on steps), and shows forces and
    accelerations while parts touch: ``m.simulate(kp.contact_times(res), ...)``.
    """
    if isinstance(points, bool) or not isinstance(points, (int, np.integer)) or points < 2:
        raise ModelError(f"points must be a whole number of at least 2, not {shown(points)}")
    if not isinstance(result, Result) or result.model is None:
        raise ModelError("contact times are those of a motion that knows its model, as simulate returns it")
    elements = result.model.elements
    pressing = [name for name in result.first_modes if isinstance(elements.get(name), Pressing)]
    if not pressing:
        raise ModelError("nothing in this result presses: contact times are those of contacts with a contact law")
    end = float(result.t[-1])
    contacts = [span for name in pressing for span in result.intervals(name, (CONTACT, RELEASED)) if span[0] < end]
    typical = float(np.median([b - a for a, b in contacts])) if contacts else 0.0
    found = [result.t]
    for begin, last in contacts:
        longer = min(max(1.0, np.ceil((last - begin) / typical)), LONGEST)
        found.append(np.linspace(begin, min(last, end), int(points * longer)))
    times = np.unique(np.concatenate(found))
    apart = np.diff(times) > 1e-12 * (end - float(times[0]))  # (an instant may be the end of several contacts)
    kept = np.isin(times, result.t) | np.concatenate([[True], apart])
    return times[kept]
