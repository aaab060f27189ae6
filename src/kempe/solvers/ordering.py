"""In which order groups of unknowns are eliminated: for little fill, or so that many do not depend on each other."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np


def safe_order(groups: Sequence[np.ndarray], neighbours: Sequence[set[int]], after: Sequence[set[int]]) -> np.ndarray:
    """Minimum degree on groups of unknowns, where a group waits until those in ``after`` have been eliminated.

    A multiplier that waits for the coordinates it acts on has the pivot -(Phi_q M^-1 Phi_q^T), which is safe however
    small the shift; a coordinate without inertia waits for its multipliers in turn.
    """
    size = np.array([len(g) for g in groups])
    links = [set(s) for s in neighbours]
    waiting = [set(s) for s in after]
    blocks: list[list[int]] = [[] for _ in groups]
    for k, s in enumerate(waiting):
        for j in s:
            blocks[j].append(k)
    done = np.zeros(len(groups), dtype=bool)

    def entry(k: int) -> tuple[int, int]:
        return int(sum(size[j] for j in links[k])), k

    heap = [entry(k) for k in range(len(groups)) if not waiting[k]]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        tried = heapq.heappop(heap)
        k = tried[1]
        if done[k]:
            continue
        if entry(k) > tried:
            heapq.heappush(heap, entry(k))
            continue
        done[k] = True
        order.append(k)
        around = links[k]
        for j in around:
            links[j] |= around
            links[j] -= {j, k}
            if not waiting[j]:
                heapq.heappush(heap, entry(j))
        for j in blocks[k]:
            waiting[j].discard(k)
            if not waiting[j] and not done[j]:
                heapq.heappush(heap, entry(j))
        links[k] = set()
    rest = [k for k in range(len(groups)) if not done[k]]
    return np.concatenate([np.zeros(0, np.int64), *(groups[k] for k in [*order, *rest])]).astype(np.int64)


def wide_order(
    groups: Sequence[np.ndarray], neighbours: Sequence[set[int]], after: Sequence[set[int]], slack: float
) -> tuple[np.ndarray, np.ndarray]:
    """An order in which many groups do not depend on each other, and where its blocks end.

    In rounds: of the groups that wait for nothing, those whose degree is at most ``slack`` times the least, as long as
    none is a neighbour of another. A group that follows as the only one on another, with the same later neighbours,
    makes one block with it.
    """
    size = [len(g) for g in groups]
    links, waiting = [set(s) for s in neighbours], [set(s) for s in after]
    held: list[list[int]] = [[] for _ in groups]
    for k, s in enumerate(waiting):
        for j in s:
            held[j].append(k)
    place = [len(groups)] * len(groups)
    border: list[set[int]] = [set() for _ in groups]
    order: list[int] = []
    degree = [sum(size[j] for j in s) for s in links]
    free = {k for k in range(len(groups)) if not waiting[k]}
    while free:
        most = slack * min(degree[k] for k in free)
        taken: set[int] = set()
        for k in sorted((k for k in free if degree[k] <= most), key=lambda k: (degree[k], k)):
            if not links[k] & taken:
                taken.add(k)
                place[k] = len(order)
                order.append(k)
        touched: set[int] = set()
        for k in taken:
            around = border[k] = links[k]
            for j in around:
                links[j] |= around
                links[j] -= {j, k}
            touched |= around
            for j in held[k]:
                waiting[j].discard(k)
                if not waiting[j]:
                    free.add(j)
        free -= taken
        for j in touched:
            degree[j] = sum(size[i] for i in links[j])
    rest = [k for k in range(len(groups)) if place[k] == len(groups)]
    blocks = [*_joined(order, border, place), *([k] for k in rest)]
    unknowns = [groups[k] for block in blocks for k in block]
    ends = np.cumsum([0, *(sum(size[k] for k in block) for block in blocks)])
    return np.concatenate([np.zeros(0, np.int64), *unknowns]).astype(np.int64), ends.astype(np.int64)


def _joined(order: Sequence[int], border: Sequence[set[int]], place: Sequence[int]) -> list[list[int]]:
    """Groups in their order, each followed by the one that can be eliminated with it."""
    parent = {k: min(border[k], key=lambda j: place[j]) for k in order if border[k]}
    children: dict[int, int] = {}
    for j in parent.values():
        children[j] = children.get(j, 0) + 1
    heads: dict[int, list[int]] = {}
    block_of: dict[int, list[int]] = {}
    for k in order:
        block = block_of.get(k)
        if block is None:
            block = heads[k] = block_of[k] = [k]
        follower = parent.get(k, -1)
        if follower >= 0 and children[follower] == 1 and border[k] - {follower} == border[follower]:
            block.append(follower)
            block_of[follower] = block
    return list(heads.values())
