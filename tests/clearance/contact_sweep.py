"""Does any contact go by unseen? Random machines, looked at as finely as one likes.

``python tests/clearance/contact_sweep.py [first] [last]`` goes through designs by number. Each is simulated over one
turn or, if that is shorter, over about twenty flights.

- Between contacts no output point, of very many, may lie inside the other surface.
- A run with steps a hundred times shorter has the same contacts, as long as both runs are the same motion: the first
  contact at which they differ must be one that hardly touches.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from loose_designs import Design, drawn

import kempe as kp

#: Output points; what counts as inside there, in metres: errors of positions are below it.
POINTS, INSIDE = 20_000, 3e-8
#: How far contacts may differ, in spans, to be the same; what a contact that hardly touches does, in metres per second.
SAME, HARDLY = 1e-4, 2e-3
#: Errors grow from contact to contact: one that is later by as many spans, and begins alike, is the same.
LATE, ALIKE = 1e-2, 0.05


def unseen(res: kp.Result) -> list[str]:
    """Output points inside a surface while no contact is told."""
    found = []
    for name in res.first_modes:
        touching = np.zeros(len(res.t), dtype=bool)
        for contact in res.contacts(name):
            end = res.t[-1] if np.isnan(contact.end) else contact.end
            touching |= (res.t >= contact.begin) & (res.t <= end)
        inside = (res.array(f"{name}.penetration") > INSIDE) & ~touching
        if inside.any():
            depth = res.array(f"{name}.penetration")[inside].max()
            found.append(f"'{name}' is {depth:.2g} m inside at t = {res.t[inside][0]:.9g}, {inside.sum()} points")
    return found


def different(design: Design, coarse: kp.Result, fine: kp.Result) -> list[str]:
    """Contacts that one run has and the other has not, up to where the motions part."""
    found = []
    for name in coarse.first_modes:
        one, other = coarse.contacts(name), fine.contacts(name)
        for a, b in zip(one, other, strict=False):
            apart = abs(a.begin - b.begin) / design.span
            if apart > SAME:
                early = a if a.begin < b.begin else b
                late = apart < LATE and abs(a.approach / b.approach - 1) < ALIKE  # the same one, after a long flight
                if not late and early.approach > HARDLY and _followed(one, other, early.begin, design.span):
                    whose = "short steps only" if early is b else "long steps only"
                    found.append(f"'{name}' at t = {early.begin:.9g} with {early.approach:.3g} m/s, {whose}")
                break
    return found


def _followed(one: kp.results.contacts.Contacts, other: kp.results.contacts.Contacts, t: float, span: float) -> bool:
    """Whether the runs were still the same motion: the contacts before agree well."""
    before = [(a, b) for a, b in zip(one, other, strict=False) if max(a.begin, b.begin) < t]
    return all(abs(a.begin - b.begin) < 1e-6 * span and abs(a.approach / b.approach - 1) < 1e-3 for a, b in before[-2:])


def verdict(seed: int) -> tuple[list[str], dict[str, float]]:
    """What there is to complain about in a design, and what it took."""
    design = drawn(seed)
    begun = time.perf_counter()
    coarse = design.run(times=design.span, steps=POINTS, tolerance=1e-9)
    took = time.perf_counter() - begun
    step = design.span / max(coarse.stats["steps"], 100)
    fine = design.run(times=design.span, steps=10, tolerance=1e-9, max_step=step / 100)
    told = unseen(coarse) + different(design, coarse, fine)
    return told, {"steps": coarse.stats["steps"], "contacts": len(coarse.contacts()), "seconds": took}


def main() -> None:
    first, last = (int(word) for word in [*sys.argv[1:], "0", "100"][:2])
    wrong = failed = contacts = 0
    for seed in range(first, last):
        try:
            told, counts = verdict(seed)
        except kp.KempeError as error:
            failed += 1
            print(f"{seed}: FAILED {drawn(seed)} {str(error)[:200]}", flush=True)
            continue
        contacts += int(counts["contacts"])
        if told:
            wrong += 1
            print(f"{seed}: {drawn(seed)} {told}", flush=True)
        if counts["seconds"] > 5.0:
            print(f"{seed}: slow {counts} {drawn(seed)}", flush=True)
    print(f"{last - first} designs, {contacts} contacts: {wrong} with contacts unseen, {failed} failed", flush=True)


if __name__ == "__main__":
    main()
