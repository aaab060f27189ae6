"""A motion in space live: what viser is told, by a server that only listens, and by the real one if it is there."""

import sys
import time
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from test_space import platform


class Listening:
    """A server that keeps what it is told."""

    def __init__(self, **given):
        self.given, self.things, self.stopped = given, {}, False
        self.scene = self.gui = self
        self.initial_camera = SimpleNamespace()

    def __getattr__(self, name):
        if not name.startswith("add_"):
            raise AttributeError(name)

        def add(title, *args, initial_value=None, **options):
            thing = SimpleNamespace(**{"kind": name, "args": args, "value": initial_value, "visible": True, **options})
            thing.on_update = lambda act: setattr(thing, "act", act)
            self.things[title] = thing
            return thing

        return add

    def set_up_direction(self, up):
        self.up = up

    def atomic(self):
        return nullcontext()

    def get_port(self):
        return self.given["port"]

    def stop(self):
        self.stopped = True


@pytest.fixture(scope="module")
def result():
    return platform().simulate(np.linspace(0.0, 0.5, 41))


@pytest.fixture
def live(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", SimpleNamespace(ViserServer=Listening))
    shown = result.show(trace="bob", port=8765, seconds=0.3)
    yield shown
    shown.stop()
    assert shown.server.stopped


def test_solids_are_told_once_and_moved_by_their_frames(live, result):
    live._playing.value = False
    time.sleep(0.1)
    for row in (0, 25, 40):
        live.go(row)
        frames = {tuple(np.round(f.position, 9)) for k, f in live.server.things.items() if f.kind == "add_frame" and k}
        for name in ("plate", "rod", "bob"):
            assert tuple(np.round([result.array(f"{name}.{c}")[row] for c in "xyz"], 9)) in frames
    assert live.server.things["t"].value == f"{result.t[40]:.6g}"
    assert live.server.up == pytest.approx([0, 0, 1])
    assert live.url == "http://localhost:8765"


def test_a_spring_is_made_anew_at_every_instant(live, result):
    live._playing.value = False
    time.sleep(0.1)
    (handle, _), *_ = [(h, p) for h, p in live._soft if p.owner == "coil"]
    for row in (3, 30):
        live.go(row)
        end = np.array([result.array(f"rod.{c}")[row] for c in "xyz"])
        assert np.linalg.norm(handle.vertices - end, axis=1).min() < 0.1


def test_it_plays_until_somebody_takes_the_slider(live):
    end = time.monotonic() + 10.0
    while live.row == 0:
        assert time.monotonic() < end
        time.sleep(0.02)
    live._slider.value = 7
    live._slider.act(SimpleNamespace(client=object()))
    time.sleep(0.2)
    assert live.row == 7 and not live._playing.value


def test_names_are_switched(live):
    things = live.server.things
    things["joints"].value = True
    things["joints"].act(None)
    assert all(thing.visible for thing, _, kind in live._names if kind != "part")
    things["names"].value = False
    things["names"].act(None)
    assert not any(thing.visible for thing, _, kind in live._names if kind == "part")


def test_the_real_server_answers(result):
    pytest.importorskip("viser")
    from urllib.request import urlopen

    live = result.show(port=8766)
    try:
        with urlopen(live.url, timeout=10) as answer:
            assert answer.status == 200
        live.go(12)
        assert live.row == 12 or live._playing.value
    finally:
        live.stop()
