"""How times are taken: in turn, without the set-up, the best of each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kempe.benchmarks import timing


class Clock:
    """A clock that only the contenders move, on a machine that also does something else."""

    now, waited = 0.0, 0.0

    def perf_counter(self) -> float:
        return self.now + self.waited

    def process_time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timing, "time", clock)
    return clock


def test_waiting_for_other_programs_does_not_count(clock: Clock) -> None:
    def run() -> None:
        clock.now += 1
        clock.waited += 2

    assert timing.interleaved({"a": timing.again(run)})["a"].seconds == 1
    assert timing.interleaved({"a": timing.again(run)}, elsewhere=True)["a"].seconds == 3


def contender(clock: Clock, name: str, seconds: list[float], log: list[str], setup: float = 0.0) -> timing.Contender:
    durations: Iterator[float] = iter(seconds)

    def ready() -> timing.Run:
        clock.now += setup
        log.append(f"{name} made ready")

        def run() -> int:
            clock.now += next(durations)
            log.append(name)
            return log.count(name)

        return run

    return ready


def test_contenders_run_in_turn_and_their_set_up_does_not_count(clock: Clock) -> None:
    log: list[str] = []
    times = timing.interleaved(
        {"a": contender(clock, "a", [3, 2, 2, 2, 4], log, setup=50), "b": contender(clock, "b", [7] * 5, log)},
        budget=1e9,
    )
    assert log == ["a made ready", "a", "b made ready", "b"] * 5
    assert (times["a"].seconds, times["b"].seconds) == (2, 7)
    assert times["a"].outcome == 5


def test_rounds_go_on_until_the_best_times_are_confirmed(clock: Clock) -> None:
    log: list[str] = []
    noisy = [9, 8, 7, 6, 5, 2, 3, 2, 4, 2, 1]
    times = timing.interleaved({"a": contender(clock, "a", noisy, log)}, budget=1e9)
    assert times["a"].seconds == 2
    assert times["a"].outcome == 10


def test_no_round_begins_after_the_budget(clock: Clock) -> None:
    log: list[str] = []
    times = timing.interleaved({"a": contender(clock, "a", [4, 3, 2, 1], log)}, budget=6)
    assert times["a"].outcome == 2
    assert timing.interleaved({"b": contender(clock, "b", [4, 3], log)}, budget=0)["b"].outcome == 1
    assert timing.interleaved({}) == {}


def test_turns_are_of_equal_length(clock: Clock) -> None:
    log: list[str] = []
    short, long = contender(clock, "short", [timing.TURN / 3.5] * 400, log), contender(clock, "long", [1.0] * 10, log)
    timing.interleaved({"short": short, "long": long})
    assert log.count("long") == timing.ROUNDS
    assert log.count("short") == 4 * timing.ROUNDS
