"""Elements of one's own classes in files: what is saved is loaded, and no code runs that was not allowed."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import kempe as kp
from kempe.model import files
from kempe.simulation.posing import Posed

MODULE = '''
import kempe as kp

print("the module runs")

class Leaf(kp.Element):
    """A stiff spring along x with a preload in time, between two parts."""

    def __init__(self, name, part, stiffness, *more, load=None, law=None, side="left", offsets=(), table=None, **rest):
        from kempe.elements.motions import as_law

        super().__init__(name, part=part, stiffness=stiffness, law=as_law(law or 0.0, name), side=side, more=list(more))
        self.offset = sum(offsets) + sum((table or {}).values()) + rest.get("extra", 0.0)

    def potential(self, x):
        sign = 1 if x.side == "left" else -1
        return x.stiffness * (x.part.x - sign * self.offset - x.law) ** 2 / 2 + sum(x.more) * x.part.y

class Wire(kp.Element):
    """A bead on y = c x^2, rubbing as hard as a joint is loaded."""

    rows = ("y",)

    def __init__(self, name, bead, c, pin):
        super().__init__(name, bead=bead, c=c, pin=kp.Load(pin))

    def phi(self, x):
        return x.bead.r[1] - x.c * x.bead.r[0] ** 2

    def force(self, x):
        return x.push(x.bead.r[0], -0.1 * x.pin["x"])

class Unnamed(kp.Element):
    """Chooses its name itself."""

    def __init__(self, part):
        super().__init__("chosen", part=part)

    def potential(self, x):
        return getattr(x.part, "x", x.part) ** 2

class Hook(kp.Element):
    """Takes a function."""

    def __init__(self, name, part, function):
        super().__init__(name, part=part)
        self.function = function

    def potential(self, x):
        return self.function(x.part.x)

class Bad(kp.Element):
    """Cannot be made."""

    def __init__(self, name, part):
        raise ValueError("no such luck")

number = 5
'''


@pytest.fixture
def springs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "own_springs.py").write_text(textwrap.dedent(MODULE))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    import importlib

    yield importlib.import_module("own_springs")
    sys.modules.pop("own_springs", None)


def machine(springs) -> kp.Mechanism:
    m = kp.Mechanism("own", gravity=(0, -1.0))
    k = m.parameter("rate of it", 3.0)
    a = m.body("a", mass=1.0, inertia=2.0, at=(0.4, 0.2))
    bead = m.point("bead", at=(1, 2), mass=0.5)
    pin = m.revolute("pin", m.ground, a, at=(0, 0))
    more = (0.5, 2 * k)
    m.add(
        springs.Leaf(
            "leaf", a, k**2, *more, law=kp.harmonic(0.1, k, start=0.0), offsets=[1.0, 2], table={"u": 0.25}, extra=1
        )
    )
    m.add(springs.Leaf("plain", a, 2.0, side="right"))
    m.add(springs.Wire("wire", bead, c=k / 3, pin=pin))
    m.add(springs.Unnamed(a))
    m.add(kp.elements.TorsionSpring("twist", m.ground, a, stiffness=k))  # one of Kempe's is the entry it would be
    return m


def equations(m: kp.Mechanism, change: dict[str, float]) -> list[np.ndarray]:
    posed, rng = Posed(m, change), np.random.default_rng(1)
    q, v, lam = rng.normal(size=posed.system.n), rng.normal(size=posed.system.n), rng.normal(size=posed.system.m)
    d = posed.system.dynamics
    return [posed.Phi(q, 0.3), posed.system.evaluate(d.explicit, posed.x, q, 0.3, v, lam)]


def test_what_is_saved_is_loaded(springs, tmp_path):
    m = machine(springs)
    m.save(tmp_path / "own.kempe.yaml")
    again = kp.load(tmp_path / "own.kempe.yaml", trust="own_springs")
    assert list(again.elements) == list(m.elements)
    assert type(again["leaf"]) is springs.Leaf and again["leaf"].offset == m["leaf"].offset == 4.25
    for change in ({}, {"rate of it": 1.7}):
        for one, two in zip(equations(m, change), equations(again, change), strict=True):
            assert np.array_equal(one, two)
    assert files.describe(again) == files.describe(m)
    assert files.describe(kp.load(tmp_path / "own.kempe.yaml", trust=["own_springs"])) == files.describe(m)
    assert "torsion_spring" in (tmp_path / "own.kempe.yaml").read_text()


def test_a_copy_and_what_travelled_are_saved_alike(springs):
    import copy
    import pickle

    m = machine(springs)
    for other in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert files.describe(other) == files.describe(m)


def test_no_code_runs_that_was_not_allowed(springs, tmp_path, capsys):
    machine(springs).save(tmp_path / "own.kempe.yaml")
    del sys.modules["own_springs"]
    capsys.readouterr()
    line = (tmp_path / "own.kempe.yaml").read_text().splitlines().index("- add:") + 1
    for trust in ((), ["own"], "own_spring", ["own_springs.Leaf.x"], ["os"]):
        with pytest.raises(kp.ModelError, match=r"trust=\[\"own_springs\"\]") as caught:
            kp.load(tmp_path / "own.kempe.yaml", trust=trust)
        assert f"own.kempe.yaml:{line}" in str(caught.value)
    for trust in (True, 5, [None]):
        with pytest.raises(kp.ModelError, match="trust names modules"):
            kp.load(tmp_path / "own.kempe.yaml", trust=trust)
    assert capsys.readouterr().out == "" and "own_springs" not in sys.modules
    kp.load(tmp_path / "own.kempe.yaml", trust=["own_springs"])
    assert capsys.readouterr().out == "the module runs\n"


def test_a_result_is_read_with_its_model_where_that_is_trusted(springs, tmp_path):
    m = machine(springs)
    result = m.simulate(0.2, steps=4)
    result.save(tmp_path / "r.nc")
    del sys.modules["own_springs"]
    alone = kp.Result.load(tmp_path / "r.nc")
    assert alone.model is None and "own_springs" not in sys.modules
    whole = kp.Result.load(tmp_path / "r.nc", trust="own_springs")
    assert type(whole.model["leaf"]).__name__ == "Leaf"
    for name in result.names:
        for other in (alone, whole):
            assert np.array_equal(other.array(name), result.array(name)), name


ENTRY = """kempe: 1
name: x
model:
- body: {name: a, mass: 1, inertia: 1}
- add: {element: %s, name: leaf, arguments: {%s}}
"""


@pytest.mark.parametrize(
    ("element", "arguments", "says"),
    [
        ("own_springs.Leaf", "part: {part: a}, stiffnes: 1", "no argument 'stiffnes'; did you mean stiffness?"),
        ("own_springs.Leaf", "part: {part: a}", "stiffness must be given"),
        ("own_springs.Leaf", "part: {part: b}, stiffness: 1", "there is no part 'b'"),
        ("own_springs.Leaf", "part: {prat: a}, stiffness: 1", "say what they are by one of part, expression"),
        ("own_springs.Leaf", "part: {part: a}, stiffness: {expression: k*2}", "unknown name 'k'"),
        ("own_springs.Leaf", "part: {part: [a]}, stiffness: 1", "."),
        ("own_springs.Wire", "bead: {part: a}, c: 1, pin: {element: none}", "there is no joint or force 'none'"),
        ("own_springs.Unnamed", "part: {part: a}", "calls itself 'chosen'"),
        ("own_springs.Bad", "part: {part: a}", "no such luck"),
        ("own_springs.number", "", "no class of elements number"),
        ("own_springs.kp", "", "no class of elements kp"),
        ("own_springs.nothing.Leaf", "", "cannot be imported"),
        ("Leaf", "", "a module and a class, like my_joints.LeafSpring"),
        ("os.system", "", "runs the code of that module"),
        ("kempe.elements.joints.attach", "", "no class of elements attach"),
        ("kempe.elements.Joint", "", "."),
    ],
)
def test_mistakes_are_told_with_their_line(springs, tmp_path, element, arguments, says):
    (tmp_path / "x.kempe.yaml").write_text(ENTRY % (element, arguments))
    with pytest.raises(kp.ModelError, match=says) as caught:
        kp.load(tmp_path / "x.kempe.yaml", trust=["own_springs"])
    assert "Error" not in str(caught.value)
    assert "x.kempe.yaml:5: " in str(caught.value)


def refused(m: kp.Mechanism, tmp_path: Path, says: str) -> None:
    with pytest.raises(kp.ModelError, match=says):
        m.save(tmp_path / "x.kempe.yaml")
    assert not (tmp_path / "x.kempe.yaml").exists()


def test_what_a_file_cannot_say_is_refused(springs, tmp_path):
    class Local(kp.Element):
        def potential(self, x):
            return x.part.x**2

    m = kp.Mechanism("local")
    m.add(Local("here", part=m.body("a", 1.0, 1.0)))
    refused(m, tmp_path, "'here' cannot be written to a file: its class .*Local belongs to the program that runs")

    m = kp.Mechanism("function")
    m.add(springs.Hook("hook", m.body("a", 1.0, 1.0), lambda x: x**2))
    refused(m, tmp_path, "'hook' cannot be written to a file: its argument 'function' is a function")

    m = kp.Mechanism("changed")
    leaf = springs.Leaf("leaf", m.body("a", 1.0, 1.0), 2.0)
    leaf.offset = 7.0
    m.add(leaf)
    refused(m, tmp_path, "'leaf' cannot be written to a file: it was changed after it was made")

    e = kp.Equations("e", {"x": 1.0}, mass=lambda q, p: [[1.0]], force=lambda q, v, t, p: [-q[0]])
    e.add(springs.Unnamed(e.parts["x"]))
    refused(e, tmp_path, "'chosen' was added to a system of equations")
