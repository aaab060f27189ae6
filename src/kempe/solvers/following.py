"""Elements followed while they are out of their first mode: largest values, and integrals of rates, step by step.

Contacts tell by it how large their force became and what energy they took, whatever the output grid is.
"""

from __future__ import annotations

from kempe.solvers.course import Course
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import Equations, Work, place
from kempe.solvers.output import between_ends, integral, within
from kempe.solvers.program import run


@compiled
def _out(eq, wk, e):
    """Whether an element is out of its first mode."""
    return int(wk.x[eq.follows.mode_at[e]]) != 0


@compiled
def _highest(s, c):
    """The maximum of the quartic through five samples, next to the largest of them."""
    top = 0
    for k in range(1, 5):
        if s[k, c] > s[top, c]:
            top = k
    a = s[0, c]
    d1, d2, d3 = s[1, c] - a, s[2, c] - 2.0 * s[1, c] + a, s[3, c] - 3.0 * s[2, c] + 3.0 * s[1, c] - a
    d4 = s[4, c] - 4.0 * s[3, c] + 6.0 * s[2, c] - 4.0 * s[1, c] + a
    # Newton's polynomial in powers of the place u
    c1 = d1 - d2 / 2.0 + d3 / 3.0 - d4 / 4.0
    c2 = d2 / 2.0 - d3 / 2.0 + 11.0 * d4 / 24.0
    c3, c4 = d3 / 6.0 - d4 / 4.0, d4 / 24.0
    low, high, u = max(0.0, top - 1.0), min(4.0, top + 1.0), float(top)
    for _ in range(8):
        slope, curve = c1 + u * (2.0 * c2 + u * (3.0 * c3 + u * 4.0 * c4)), 2.0 * c2 + u * (6.0 * c3 + u * 12.0 * c4)
        if not curve < 0.0:
            return s[top, c]
        u = min(max(u - slope / curve, low), high)
    return max(s[top, c], a + u * (c1 + u * (c2 + u * (c3 + u * c4))))


@piece
def follow(eq: Equations, wk: Work, course: Course, theta: float) -> int:
    """Follow what is out of its first mode through the last step up to a share of it; 0 where that failed."""
    follows, trail = eq.follows, course.trail
    count, somebody = follows.mode_at.shape[0], False
    for e in range(count):
        somebody |= _out(eq, wk, e)
    if not somebody:
        return 1
    h = theta * (course.now.t - course.before.t)
    for k in range(5):
        if theta == 1.0 and 0 < k < 4:
            between_ends(course, 0.25 * k)
        elif within(eq, wk, course, 0.25 * k * theta) != 0:
            return 0
        place(eq, wk, course.inside)
        run(eq.followed, wk.x, wk.y, trail.samples[k])
    for e in range(count):
        if _out(eq, wk, e):
            first = follows.at[e]
            for c in range(first, first + follows.largest[e]):
                trail.so_far[c] = max(trail.so_far[c], _highest(trail.samples, c))
            for c in range(first + follows.largest[e], follows.at[e + 1]):
                p = trail.samples
                trail.so_far[c] += integral(p[0, c], p[1, c], p[2, c], p[3, c], p[4, c], 1.0, h)
    return 1


@compiled
def tell_followed(eq, wk, course, c, k):
    """With event k, of switch c: what was followed, where the element is back in its first mode; it begins anew."""
    follows, trail, log = eq.follows, course.trail, course.log
    e = follows.follower[c]
    if e < 0:
        return
    first, back = follows.at[e], not _out(eq, wk, e)
    for i in range(follows.at[e + 1] - first):
        log.followed[k, i] = trail.so_far[first + i] if back else 0.0
        if back:
            trail.so_far[first + i] = 0.0
