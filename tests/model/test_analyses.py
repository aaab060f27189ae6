"""Entries under 'analyses' of model files: whatever can be said survives a round trip."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kempe as kp
from kempe.model import files
from kempe.model.analyses import ANALYSES

number = st.floats(-1e6, 1e6, allow_subnormal=False)
positive = st.floats(1e-6, 1e3)
count = st.integers(1, 50)
word = st.text(
    st.characters(codec="utf-8", categories=("L", "N"), include_characters=" .=_/'\"#:-"), min_size=1, max_size=12
)
numbers_by_name = st.dictionaries(word, number, max_size=3)
grid = st.fixed_dictionaries({"end": positive}, optional={"start": st.floats(-1e6, 0.0), "steps": count})
times = st.one_of(positive, st.lists(number, min_size=1, max_size=4, unique=True).map(sorted), grid)
span = st.fixed_dictionaries({"start": number, "end": number, "count": count})
flag = st.booleans()
words = st.lists(word, max_size=3)

COMMON = {"name": word, "parameters": numbers_by_name}
COMPILE = st.sampled_from(["auto", "never", "always"])
DRIVEN = {
    "compile": COMPILE,
    "steps": count,
    "on_singular": st.sampled_from(["raise", "stop", "cross"]),
    "branch": st.one_of(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=3)),
    "start": word,
}
MOTION = {
    "steps": count,
    "method": st.sampled_from(sorted(kp.METHODS)),
    "tolerance": positive,
    "step": positive,
    "max_step": positive,
    "start": word,
    "velocities": numbers_by_name,
    "audit": flag,
    "compile": COMPILE,
    "options": st.dictionaries(word, st.one_of(flag, st.integers(-9, 9), number), max_size=2),
}
REPEATED = {
    **{key: MOTION[key] for key in ("method", "tolerance", "max_step", "start", "velocities")},
    "periods": count,
    "skip": positive,
}
#: How redundant constraints share a load.
SHARED = {"reactions": st.sampled_from(("elastic", "minimum norm"))}
#: Analysis -> what an entry must have, and what it may have.
ENTRIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "kinematics": ({"times": times}, DRIVEN),
    "inverse_dynamics": ({"times": times}, {**DRIVEN, **SHARED}),
    "simulate": ({"times": times}, {**MOTION, "checkpoint": flag, **SHARED}),
    "equilibrium": ({}, {"time": number, "hold": words, "stable": flag, "tolerance": positive, "start": word}),
    "linearise": ({}, {"about": word, "velocities": numbers_by_name, "time": number, "coordinates": words}),
    "modes": ({}, {"about": word, "count": count, "time": number}),
    "sweep": (
        {
            "times": times,
            "designs": st.dictionaries(word, st.one_of(st.lists(number, max_size=3), span), min_size=1, max_size=2),
            "quantities": st.lists(word, min_size=1, max_size=3),
        },
        {**MOTION, **SHARED, "combine": flag, "workers": count},
    ),
    "response": ({"period": positive}, {**REPEATED, "steps": count}),
    "lyapunov": ({"period": positive}, {**REPEATED, "separation": positive}),
    "horizon": (
        {"times": times},
        {
            **{key: MOTION[key] for key in ("steps", "method", "max_step", "start", "velocities")},
            "quantities": words,
            "tolerances": st.lists(positive, min_size=2, max_size=4),
            "agreement": positive,
        },
    ),
    "optimise": (
        {"times": times, "minimise": word},
        {
            **{key: MOTION[key] for key in ("steps", "tolerance", "step", "max_step", "start", "velocities")},
            "compile": COMPILE,
            **dict.fromkeys(("subject_to", "by"), words),
            **dict.fromkeys(("method", "formulation"), word),
            **dict.fromkeys(("starts", "max_iterations", "workers"), count),
            "bounds": st.dictionaries(word, st.tuples(number, number), max_size=2),
            "scales": numbers_by_name,
            "accuracy": positive,
            "seed": st.integers(0, 5),
            "gradient": st.sampled_from(["auto", "adjoint", "direct"]),
        },
    ),
    "resume": ({"checkpoint": word.filter(lambda w: "/" not in w and w not in (".", ".."))}, {"compile": COMPILE}),
}


def entry(kind: str) -> Any:
    needed, optional = ENTRIES[kind]
    common = {"name": word} if kind == "resume" else COMMON
    return st.fixed_dictionaries(needed, optional={**optional, **common}).map(lambda said: {kind: said})


def test_every_analysis_and_every_key_is_drawn():
    assert set(ENTRIES) == set(ANALYSES)
    for kind, (needed, optional) in ENTRIES.items():
        drawn = {*needed, *optional, "name", *(() if kind == "resume" else ("parameters",))}
        assert drawn == set(ANALYSES[kind].model_fields)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(sorted(ENTRIES)).flatmap(entry), max_size=4))
def test_entries_survive_a_round_trip(entries):
    text = files.text_of({"kempe": 1, "name": "x", "analyses": entries})
    read = files.read_text(text).data.analyses
    assert [item.kind for item in read] == [next(iter(said)) for said in entries]
    for item, said in zip(read, entries, strict=True):
        given = said[item.kind]
        again = item.spec.model_dump(exclude_unset=True)
        assert again == given
        assert {key: type(value) for key, value in again.get("options", {}).items()} == {
            key: type(value) for key, value in given.get("options", {}).items()
        }
    dumped = [{item.kind: item.spec.model_dump(exclude_unset=True)} for item in read]
    assert files.read_text(files.text_of({"kempe": 1, "name": "x", "analyses": dumped})).data.analyses == read


def test_what_python_gives_is_saved_as_plain_data(tmp_path):
    m = kp.Mechanism("x")
    m.body("b", mass=1.0, inertia=1.0)
    grid = np.linspace(0, 1, 4)
    entry = {
        "simulate": {"times": grid, "tolerance": np.float64(1e-6), "steps": np.int64(7), "velocities": {"b.vx": 1}}
    }
    m.save(tmp_path / "x.kempe.yaml", analyses=(entry,), outputs={"plots": ("b.x",)})
    spec = files.read(tmp_path / "x.kempe.yaml").data.analyses[0].spec
    assert spec.times == grid.tolist() and spec.steps == 7 and spec.tolerance == 1e-6


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"analyses": [{"simulat": {"times": 1}}]}, "did you mean simulate"),
        ({"analyses": [{"simulate": {"time": 1}}]}, "did you mean times"),
        ({"analyses": [{"modes": {"count": 0}}]}, "whole number of at least 1"),
        ({"analyses": [{"sweep": {"times": 1, "designs": {}, "quantities": ["b.x"]}}]}, "designs"),
        ({"analyses": [{"resume": {"checkpoint": "../../x"}}]}, "without a path"),
        ({"output": {}}, "did you mean outputs"),
    ],
)
def test_what_could_not_be_read_is_not_saved(tmp_path, more, says):
    m = kp.Mechanism("x")
    m.body("b")
    with pytest.raises(kp.ModelError, match=says):
        m.save(tmp_path / "x.kempe.yaml", **more)
    assert list(tmp_path.iterdir()) == []
