"""All random mechanisms against the reference: ``make nightly``; single ones by ``nightly.py --seeds 7 12``.

Two processes work, each case has a limit of time, references are kept in ``out/references`` and computed again only
where the code that makes them has changed. A case that hangs takes its process with it, and only that.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import pickle
import resource
import signal
import sys
import time
from collections import Counter
from multiprocessing.connection import Connection, wait
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import numpy as np  # noqa: E402
from comparing import VERDICTS, Verdict, drawn, judged, methods_of  # noqa: E402
from truths import Truth, glance, truth  # noqa: E402

KEPT = Path("out") / "references"
WORKERS = 2
LIMIT, REFERENCE_LIMIT = 20, 60
"""Seconds of processor time for one run of Kempe, and for one reference."""
BAD = ("WRONG", "CRASH", "HANG")


def digest() -> str:
    """Of all code that a reference depends on."""
    sources = b"".join((HERE / name).read_bytes() for name in ("planar.py", "plans.py", "drawing.py", "truths.py"))
    return hashlib.sha256(sources).hexdigest()[:12]


def kept_truth(seed: int, folder: Path, quick: bool = False) -> Truth:
    """The reference of a seed, from disk if it is there; if it is to be quick, without a bound of its own."""
    file, rough = folder / f"{seed}.pickle", folder / f"{seed}.quick.pickle"
    for each in (file, rough) if quick else (file,):
        if each.exists():
            return pickle.loads(each.read_bytes())
    plan, reference, _ = drawn(seed)
    found = glance(plan, reference) if quick else truth(plan, reference, seed)
    unfinished = folder / f"{seed}.unfinished"
    unfinished.write_bytes(pickle.dumps(found))
    unfinished.rename(rough if quick else file)
    return found


def work(connection: Connection, folder: Path, given: argparse.Namespace) -> None:
    """Answer seeds with verdicts, and say before each run which one it is."""
    np.seterr(all="ignore")
    while (seed := connection.recv()) is not None:
        plan, _, names = drawn(seed)
        for method in (given.method,) if given.method else methods_of(seed):
            verdict = None
            for quick in (True, False) if given.quick else (False,):
                _within(REFERENCE_LIMIT)
                connection.send(("begins", "reference", plan.family))
                true = kept_truth(seed, folder, quick)
                _within(LIMIT)
                connection.send(("begins", method, plan.family))
                verdict = judged(seed, plan, true, method, names, given.tolerance)
                if verdict.verdict == "agrees":
                    break
            connection.send(("verdict", verdict))
        connection.send(("done",))


def _within(seconds: int) -> None:
    """Let this process end (by the signal SIGXCPU) when it has worked for so many seconds more."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, most))


class Worker:
    """A process, and what it is doing."""

    def __init__(self, folder: Path, given: argparse.Namespace) -> None:
        self.ours, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=work, args=(theirs, folder, given), daemon=True)
        self.process.start()
        theirs.close()
        self.seed: int | None = None
        self.doing, self.family = "", ""

    def give(self, seed: int | None) -> None:
        self.seed, self.doing = seed, ""
        self.ours.send(seed)

    def ended(self) -> Verdict:
        """The verdict on what the process was doing when it ended."""
        self.process.join()
        late = self.process.exitcode == -signal.SIGXCPU
        words = "takes longer than its limit" if late else f"the process ended with {self.process.exitcode}"
        if self.doing in ("", "reference"):
            return Verdict(self.seed or 0, self.family, "reference", "no reference", words=words)
        return Verdict(self.seed or 0, self.family, self.doing, "HANG" if late else "CRASH", words=words)


def judge_all(seeds: list[int], folder: Path, given: argparse.Namespace) -> list[Verdict]:
    """The verdicts on all seeds, by two processes."""
    waiting, found = list(seeds), []
    workers = [Worker(folder, given) for _ in range(min(WORKERS, len(seeds)))]

    def note(verdict: Verdict) -> None:
        found.append(verdict)
        if verdict.verdict != "agrees":
            print(told(verdict), flush=True)

    for worker in workers:
        worker.give(waiting.pop(0))
    while workers:
        for connection in wait([w.ours for w in workers]):
            worker = next(w for w in workers if w.ours is connection)
            try:
                kind, *rest = worker.ours.recv()
            except EOFError:
                note(worker.ended())
                workers[workers.index(worker)] = worker = Worker(folder, given)
                kind = "done"
            if kind == "begins":
                worker.doing, worker.family = rest
            elif kind == "verdict":
                note(rest[0])
            elif waiting:
                worker.give(waiting.pop(0))
            else:
                worker.give(None)
                workers.remove(worker)
    return found


def told(v: Verdict) -> str:
    """One line on a run."""
    figures = f"error {v.error:.1e}, {v.tolerances:.3g} tolerances, balance {v.balance:.3g}, " if v.error else ""
    return (
        f"{v.verdict:>13}  seed {v.seed:<5} {v.method:<12} {v.family:<16} {figures}{v.seconds:.1f} s  {v.words[:300]}"
    )


def summary(verdicts: list[Verdict]) -> str:
    """Verdicts per method, with the errors of those that agree."""
    shown = [kind for kind in VERDICTS if any(v.verdict == kind for v in verdicts)]
    lines = ["", f"{'method':<13}{'runs':>6}" + "".join(f"{kind:>14}" for kind in shown) + "   error in tolerances"]
    for method in dict.fromkeys(v.method for v in verdicts):
        mine = [v for v in verdicts if v.method == method]
        count = Counter(v.verdict for v in mine)
        off = [v.tolerances for v in mine if v.verdict in ("agrees", "loose")]
        lacking = max((v.balance for v in mine if v.verdict in ("agrees", "loose")), default=0.0)
        spread = f"   median {np.median(off):.2g}, 95% {np.quantile(off, 0.95):.2g}, most {max(off):.3g}" if off else ""
        spread += f"; of energy, most {lacking:.3g}" if off else ""
        lines.append(f"{method:<13}{len(mine):>6}" + "".join(f"{count[kind]:>14}" for kind in shown) + spread)
    return "\n".join(lines)


def main() -> int:
    """Judge, print, and fail where something is wrong, crashes or hangs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1100, help="how many seeds")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--quick", action="store_true", help="the full reference only where a single run disagrees")
    parser.add_argument("--seeds", type=int, nargs="*", help="these seeds only")
    parser.add_argument("--method", default="", help="this method only, for every seed")
    parser.add_argument("--tolerance", type=float, help="this tolerance, for every method")
    parser.add_argument("--json", type=Path, help="write all verdicts to this file")
    given = parser.parse_args()
    folder = KEPT / digest()
    folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    verdicts = judge_all(given.seeds or list(range(given.start, given.start + given.count)), folder, given)
    verdicts.sort(key=lambda v: (v.seed, v.method))
    if given.json:
        given.json.write_text(json.dumps([v.as_dict() for v in verdicts], indent=1))
    print(summary(verdicts))
    offenders = [v for v in verdicts if v.verdict in BAD]
    if offenders:
        print("\nto be looked into (one alone: python tests/references/nightly.py --seeds SEED):")
        print("\n".join(told(v) for v in offenders))
    print(f"\n{len(verdicts)} runs, {len(offenders)} of them bad, {time.monotonic() - begin:.0f} s")
    return 1 if offenders else 0


if __name__ == "__main__":
    sys.exit(main())
