"""A share of the hostile inputs of ``make fuzz``, the same every time; and those who watch over them watched."""

from __future__ import annotations

import random
import signal
from collections import Counter
from pathlib import Path

import fuzz
import inputs
import pytest

SHARES = {
    "expressions": 2000, "model files": 300, "calls": 150, "command lines": 80, "result files": 80, "checkpoints": 40,
}  # fmt: skip


@pytest.mark.parametrize("kind", SHARES)
def test_hostile_inputs_are_fine_or_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcomes: Counter[str] = Counter()
    for number in range(SHARES[kind]):
        signal.alarm(120)  # a hang ends the test
        try:
            outcomes[inputs.one(kind, 0, number)] += 1
        except BaseException as error:
            raise AssertionError(f"'{kind}' 0 {number}: {error!r}") from error
        finally:
            signal.alarm(0)
    assert set(outcomes) <= {"fine", "refused"} and outcomes["refused"] > 0
    assert outcomes["fine"] > 0 or kind == "result files"  # whose checksum notices everything


def test_deaths_and_hangs_are_counted_and_the_rest_goes_on() -> None:
    watch = fuzz.Watch("deaths", 0, 8, limit=2.0)
    watch.run()
    drawn = Counter(random.Random(f"deaths 0 {number}").randrange(4) for number in range(8))
    assert all(drawn[which] for which in range(4))
    assert watch.outcomes == {"fine": drawn[3], "OFFENCE": 8 - drawn[3]}
