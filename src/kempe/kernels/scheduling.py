"""The order of steps: those that most depends on come first, and nothing waits for what was begun just before it.

A processor looks ahead a few hundred instructions. Written in the order in which a person derives them, factors,
solutions and checks of a small mechanism are one long chain to it; in this order a quarter of the time is saved.
"""

from __future__ import annotations

import heapq

import casadi as ca

from kempe.kernels.steps import Step, Steps

#: After how many cycles a result is there, where that is not as after an addition; and how many begin in a cycle.
_LATE = {ca.OP_DIV: 13, ca.OP_SQRT: 20, ca.OP_SIN: 40, ca.OP_COS: 40, ca.OP_NEG: 1, ca.OP_FABS: 1, ca.OP_COPYSIGN: 1}
_LATE |= {ca.OP_INPUT: 0, ca.OP_CONST: 0, ca.OP_OUTPUT: 0}
_USUAL, _AT_ONCE = 4, 3


def scheduled(steps: Steps) -> list[Step]:
    """The same steps, in an order in which many are under way at a time."""
    needs = _needs(steps)
    users: list[list[int]] = [[] for _ in steps]
    for k, needed in enumerate(needs):
        for a in needed:
            users[a].append(k)
    late = [_LATE.get(step.op, _USUAL) for step in steps]
    to_come = [0] * len(steps)  # the longest way from a step to the end
    for k in reversed(range(len(steps))):
        to_come[k] = late[k] + max((to_come[u] for u in users[k]), default=0)
    missing, ready_at = [len(needed) for needed in needs], [0] * len(steps)
    waiting = [(0, k) for k in range(len(steps)) if not missing[k]]
    ready: list[tuple[int, int]] = []
    order: list[int] = []
    cycle = begun = 0
    while waiting or ready:
        while waiting and waiting[0][0] <= cycle:
            k = heapq.heappop(waiting)[1]
            heapq.heappush(ready, (-to_come[k], k))
        if not ready:
            cycle, begun = waiting[0][0], 0
            continue
        k = heapq.heappop(ready)[1]
        order.append(k)
        for u in users[k]:
            ready_at[u], missing[u] = max(ready_at[u], cycle + late[k]), missing[u] - 1
            if not missing[u]:
                heapq.heappush(waiting, (ready_at[u], u))
        begun += steps[k].op not in (ca.OP_INPUT, ca.OP_CONST)
        if begun == _AT_ONCE:
            cycle, begun = cycle + 1, 0
    number = {k: place for place, k in enumerate(order)}
    return [steps[k]._replace(args=tuple(number[a] for a in steps[k].args)) for k in order]


def _needs(steps: Steps) -> list[set[int]]:
    """Per step those that must come before it: its arguments, and what reads a place before it is written."""
    read: dict[tuple[int, int], set[int]] = {}
    found = []
    for k, step in enumerate(steps):
        found.append(set(step.args))
        if step.op == ca.OP_INPUT:
            read.setdefault(step.place, set()).add(k)
        elif step.op == ca.OP_OUTPUT:
            found[k] |= read.get(step.place, set())
    return found
