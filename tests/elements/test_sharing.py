"""Who shares machine code: elements whose equations are the same, and nobody else."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import kempe as kp
from kempe.elements import Element
from kempe.elements.motions import Law
from kempe.simulation.posing import Posed
from kempe.system import families
from kempe.system.families import family_of


class Pull(Element):
    """A force along x whose size is an attribute."""

    def __init__(self, name: str, body: Any, size: Any) -> None:
        super().__init__(name, body=body)
        self.size = size

    def force(self, x: Any) -> Any:
        return [self.size if np.isscalar(self.size) else self.size[0], 0.0, 0.0]


def two_bodies() -> tuple[kp.Mechanism, Any, Any]:
    m = kp.Mechanism("two")
    return m, m.body("a", 1.0, 1.0), m.body("b", 1.0, 1.0, at=(0, 1))


@pytest.mark.parametrize("as_given", [float, int, np.float64, lambda s: (s,), lambda s: [s], lambda s: np.array([s])])
def test_attributes_are_part_of_the_equations(as_given):
    m, a, b = two_bodies()
    small, large = m.add(Pull("small", a, as_given(1))), m.add(Pull("large", b, as_given(5)))
    assert family_of(small) is not family_of(large)
    result = m.simulate(1.0)
    assert result.array("a.ax")[-1] == pytest.approx(1.0)
    assert result.array("b.ax")[-1] == pytest.approx(5.0)
    assert result.array("b.x")[-1] == pytest.approx(2.5)


@pytest.mark.parametrize("as_given", [float, lambda s: [s], lambda s: np.array([s])])
def test_equal_attributes_share(as_given):
    _, a, b = two_bodies()
    assert family_of(Pull("one", a, as_given(2))) is family_of(Pull("other", b, as_given(2)))


def test_an_attribute_counts_as_it_is_when_the_element_is_added():
    m, a, b = two_bodies()
    m.add(Pull("first", a, 1.0))
    second = Pull("second", b, 1.0)
    second.size = 3.0
    m.add(second)
    with pytest.raises(kp.ModelError, match="'size' of pull 'second' cannot be changed"):
        second.size = 5.0
    assert m.simulate(1.0).array("b.ax")[-1] == pytest.approx(3.0)


def test_a_mistake_that_depends_on_an_attribute_is_found_when_the_element_is_added():
    m, a, b = two_bodies()
    m.add(Pull("right", a, 1.0))
    with pytest.raises(TypeError):
        m.add(Pull("wrong", b, None))


def test_a_part_kept_as_an_attribute_is_known_by_its_field():
    class Between(Element):
        def __init__(self, name, i, j, pushed):
            super().__init__(name, i=i, j=j)
            self.pushed = pushed

        def force(self, x):
            return [1.0, 0, 0, 0, 0, 0] if self.pushed is self.fields["i"] else [0, 0, 0, 1.0, 0, 0]

    _, a, b = two_bodies()
    first, second, third = Between("1", a, b, a), Between("2", b, a, b), Between("3", a, b, b)
    assert first.structure() == second.structure() != third.structure()
    assert family_of(first) is family_of(second) and family_of(first) is not family_of(third)


def test_a_law_of_ones_own_is_looked_at_itself():
    class step(Law):
        def __init__(self, height):
            super().__init__()
            self.height = height

        def at(self, t):
            return self.height * t

    m, a, b = two_bodies()
    m.force("f", a, (step(1.0), 0.0))
    m.force("g", b, (step(4.0), 0.0))
    result = m.simulate(1.0)
    assert result.array("a.ax")[-1] == pytest.approx(1.0)
    assert result.array("b.ax")[-1] == pytest.approx(4.0)


def test_equal_plates_are_one_family_whatever_their_points_are_called():
    m = kp.Mechanism("plates")
    plates = []
    for k in range(10):
        points = [
            m.point(f"{corner} of {k}", at=(k + dx, dy)) for corner, dx, dy in (("a", 0, 0), ("b", 1, 0), ("c", 0, 2))
        ]
        plates.append(m.plate(f"plate {k}", *points, mass=1.0 + k))
    elements = [m.elements[f"plate {k}"] for k in range(10)]
    assert len({id(family_of(e)) for e in elements}) == 1
    assert len({e.rows for e in elements}) == 10


def test_equal_equations_share_whatever_their_names():
    def spring(names, rows):
        return kp.Equations(
            "spring",
            dict.fromkeys(names, 1.0),
            parameters={"k": 2.0},
            mass=lambda q, p: [[1.0, 0.0], [0.0, 1.0]],
            force=lambda q, v, t, p: [-p.k * q[0], 0.0],
            constraints=lambda q, t, p: {rows: q[0] - q[1]},
        ).elements["equations"]

    assert family_of(spring("xy", "same")) is family_of(spring("uv", "alike"))


def test_equations_written_in_two_classes_share_when_they_are_the_same():
    class Push(Pull):
        """The same mathematics under another name."""

    _, a, b = two_bodies()
    pull, push = Pull("one", a, 2.5), Push("other", b, 2.5)
    assert pull.structure() != push.structure()
    assert family_of(pull) is family_of(push)


def test_equal_elements_are_written_out_once(monkeypatch):
    built = []
    init = families.Family.__init__
    monkeypatch.setattr(families.Family, "__init__", lambda self, *rest: built.append(1) or init(self, *rest))
    _, a, b = two_bodies()
    kept = [family_of(Pull(str(k), a if k % 2 else b, 0.75)) for k in range(20)]
    assert len(built) == 1 and len({id(f) for f in kept}) == 1


def test_events_that_differ_in_what_is_told_do_not_share():
    _, a, _ = two_bodies()
    quiet, loud = kp.elements.Event("q", a.x, 1.0, direction="rising"), kp.elements.Event("l", a.x, 1.0)
    assert family_of(quiet) is not family_of(loud)


# --- what nobody has any more is let go -------------------------------------------------------------------------------


def test_families_and_their_kernels_go_with_the_last_system(monkeypatch):
    monkeypatch.setattr(families, "RECENT", 0)
    m, a, _ = two_bodies()
    m.add(Pull("unheard of", a, 0.123456789))
    result = m.simulate(0.1)
    assert result.array("a.ax")[-1] == pytest.approx(0.123456789)
    family = m.compiled.families[-1]
    # (kernels that do nothing are the same text in other families)
    code = [weakref.ref(family._variants[name].kernel.code) for name in ("explicit", "energy")]
    family = weakref.ref(family)
    del m, a, result, _
    gc.collect()
    assert family() is None
    assert all(reference() is None for reference in code)


def test_a_system_keeps_what_it_calls_when_the_model_is_changed(monkeypatch):
    """A pose made before a change goes on calling the kernels of its own system."""
    monkeypatch.setattr(families, "RECENT", 0)
    m, a, b = two_bodies()
    m.add(Pull("first", a, 0.987654321))
    posed = Posed(m)
    before = posed.system.generalised_force(posed.x, posed.drawn, 0.0, np.zeros(6))
    m.add(Pull("second", b, 2.0))
    m.simulate(0.1)
    gc.collect()
    assert np.array_equal(posed.system.generalised_force(posed.x, posed.drawn, 0.0, np.zeros(6)), before)


def test_families_used_last_are_kept_but_not_all_of_them(monkeypatch):
    monkeypatch.setattr(families, "RECENT", 3)
    families._recent.clear()
    _, a, _ = two_bodies()
    made = [weakref.ref(family_of(Pull("p", a, 100.5 + k))) for k in range(6)]
    gc.collect()
    assert [family() is not None for family in made] == [False] * 3 + [True] * 3
