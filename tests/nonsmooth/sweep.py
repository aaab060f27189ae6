"""All 600 random mechanisms with friction and impacts against the reference; single ones: ``sweep.py --seeds 7 1012``.

A case that hangs or crashes takes its process with it, and only that. With ``--json FILE`` verdicts are added to a file
as they come, and what stands there is not done again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
import warnings
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from random_touching import FIRST_IMPACT
from touching_verdicts import BAD, VERDICTS, Verdict, judged

LIMIT = 300
"""Seconds for one case; the first of a process compiles."""


def work(connection: Connection, method: str) -> None:
    """Answer seeds with verdicts."""
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    while (seed := connection.recv()) is not None:
        connection.send(judged(seed, method=method))


class Worker:
    """A process that judges."""

    def __init__(self, method: str) -> None:
        self.ours, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=work, args=(theirs, method), daemon=True)
        self.process.start()
        theirs.close()

    def judge(self, seed: int) -> Verdict:
        """A verdict; where there is none in time the process is ended."""
        self.ours.send(seed)
        try:
            if self.ours.poll(LIMIT):
                return self.ours.recv()
        except EOFError:
            self.process.join()
            return Verdict(seed, "", "CRASH", f"the process ended with {self.process.exitcode}")
        self.process.kill()
        self.process.join()
        return Verdict(seed, "", "HANG", f"took longer than {LIMIT} s")


def told(v: Verdict) -> str:
    """A verdict in a line."""
    return (
        f"{v.seed:5d} {v.family:16s} {v.verdict:12s} error {v.error:.1e} bound {v.bound:.1e} until {v.until:.2f} "
        f"falls {v.falls:.2f} events {v.events} impacts {v.impacts} rubbing {v.rubbing} "
        f"{v.seconds:.1f} s, reference {v.reference_seconds:.1f} s  {v.words}"
    )


def summary(verdicts: list[Verdict]) -> str:
    """How many of each family got which verdict."""
    lines = [f"{'':18s}" + "".join(f"{kind:>14s}" for kind in VERDICTS)]
    for family in sorted({v.family for v in verdicts}):
        count = Counter(v.verdict for v in verdicts if v.family == family)
        lines.append(f"{family:18s}" + "".join(f"{count[kind]:14d}" for kind in VERDICTS))
    count = Counter(v.verdict for v in verdicts)
    return "\n".join([*lines, f"{'all':18s}" + "".join(f"{count[kind]:14d}" for kind in VERDICTS)])


def main() -> int:
    """Judge what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", help="these seeds only")
    parser.add_argument("--first", type=int, default=0, help="the first of each kind")
    parser.add_argument("--count", type=int, default=300, help="how many of each kind")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--json", type=Path, help="add verdicts to this file, a line each")
    given = parser.parse_args()
    several = range(given.first, given.first + given.count)
    seeds = given.seeds or [*several, *(FIRST_IMPACT + k for k in several)]
    found = []
    if given.json and given.json.exists():
        found = [Verdict(**json.loads(line)) for line in given.json.read_text().splitlines()]
    known, worker, begin = {v.seed for v in found}, Worker(given.method), time.monotonic()
    for seed in seeds:
        if seed in known:
            continue
        verdict = worker.judge(seed)
        if not worker.process.is_alive():
            worker = Worker(given.method)
        found.append(verdict)
        if verdict.verdict != "agrees" or given.seeds:
            print(told(verdict), flush=True)
        if given.json:
            with given.json.open("a") as file:
                file.write(json.dumps(verdict.as_dict()) + "\n")
    print(summary(found))
    offenders = [v for v in found if v.verdict in BAD]
    print(f"\n{len(found)} cases, {len(offenders)} of them bad, {time.monotonic() - begin:.0f} s")
    return 1 if offenders else 0


if __name__ == "__main__":
    sys.exit(main())
