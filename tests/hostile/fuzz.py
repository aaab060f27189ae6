"""``make fuzz``: hostile inputs by the hundred thousand, tried in processes of their own.

A process that dies (a segmentation fault, say) or that takes too long for one input is counted, told, and replaced by
another, which goes on with the next input. Ends with 1 where there was an offender.

    python tests/hostile/fuzz.py --count 100000 --seed 1 --workers 2
"""

from __future__ import annotations

import argparse
import os
import resource
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import IO

HERE = Path(__file__).parent
#: Of a hundred inputs so many are of each kind.
SHARES = {"expressions": 30, "model files": 30, "calls": 22, "command lines": 12, "result files": 3, "checkpoints": 3}
#: A process may have so much memory, in bytes; and so many inputs, for what it keeps of them grows.
MEMORY, LIFE = 8 << 30, 4000


def work(kind: str, seed: int, first: int, last: int) -> None:
    """Try inputs one after the other, telling of each when it begins and what came of it."""
    told = os.fdopen(os.dup(1), "w", buffering=1)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path.insert(0, str(HERE))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        import inputs

        for number in range(first, last):
            told.write(f"begin {number}\n")
            try:
                outcome = inputs.one(kind, seed, number)
            except BaseException as error:
                outcome = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            told.write(f"end {number} {outcome}\n")


class Watch:
    """Goes through the inputs of one kind, a process at a time."""

    def __init__(self, kind: str, seed: int, count: int, limit: float) -> None:
        self.kind, self.seed, self.count, self.limit = kind, seed, count, limit
        self.outcomes: Counter[str] = Counter()
        self.next = 0

    def run(self) -> None:
        """All of them."""
        while self.next < self.count:
            self._process(min(self.count, self.next + LIFE))

    def _process(self, last: int) -> None:
        command = [sys.executable, __file__, "--work", self.kind, str(self.seed), str(self.next), str(last)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            begun = self._listen(process.stdout)
            if begun is not None and process.poll() is None:
                process.kill()
                process.wait()
                self._offence(begun, f"no answer in {self.limit:g} s")
                return
        if begun is not None:
            self._offence(begun, f"the process died with {process.returncode}")
        elif process.returncode and self.next < last:
            raise SystemExit(f"a process for {self.kind} ended with {process.returncode} before it began")

    def _listen(self, stream: IO[str]) -> int | None:
        """Count outcomes; the number of an input that began and did not end."""
        begun: int | None = None
        left = ""
        while True:
            patience = self.limit if begun is not None else 120.0 + self.limit
            if not select.select([stream], [], [], patience)[0]:
                return begun if begun is not None else self.next
            chunk = os.read(stream.fileno(), 1 << 16).decode(errors="replace")
            if not chunk:
                return begun
            *lines, left = (left + chunk).split("\n")
            for line in lines:
                word, number, *rest = line.split(" ", 2)
                if word == "begin":
                    begun = int(number)
                    continue
                begun, self.next = None, int(number) + 1
                outcome = rest[0] if rest else ""
                if outcome in ("fine", "refused"):
                    self.outcomes[outcome] += 1
                else:
                    self._offence(int(number), outcome)

    def _offence(self, number: int, what: str) -> None:
        self.outcomes["OFFENCE"] += 1
        self.next = number + 1
        print(f"  '{self.kind}' {self.seed} {number}: {what}", flush=True)


def main() -> int:
    """Try so many inputs; print counts per kind and every offender."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="inputs of all kinds together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for one input")
    parser.add_argument("--kind", choices=[*SHARES], help="only this one")
    given = parser.parse_args()
    shares = {given.kind: 100} if given.kind else SHARES
    watches = []
    for kind, share in shares.items():
        whole = given.count * share // 100
        parts = given.workers if whole > LIFE else 1
        watches += [Watch(kind, given.seed * 1000 + k, whole // parts, given.limit) for k in range(parts)]
    waiting, begun = list(watches), time.monotonic()

    def take() -> None:
        while waiting:
            waiting.pop(0).run()

    threads = [threading.Thread(target=take) for _ in range(given.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total: Counter[str] = Counter()
    for kind in shares:
        found = sum((w.outcomes for w in watches if w.kind == kind), Counter())
        total += found
        print(f"{kind}: {found['fine']} fine, {found['refused']} refused, {found['OFFENCE']} offences")
    print(f"{sum(total.values())} inputs in {time.monotonic() - begun:.0f} s: {total['OFFENCE']} offences")
    if total["OFFENCE"]:
        print("to have one again: python tests/hostile/inputs.py KIND SEED NUMBER")
    missing = sum(watch.count for watch in watches) - sum(total.values())
    if missing:
        print(f"{missing} inputs were not tried: their processes did not begin")
    return 1 if total["OFFENCE"] or missing else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], *map(int, sys.argv[3:6]))
    else:
        raise SystemExit(main())
