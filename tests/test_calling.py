"""Signatures are spelled out, for editors and for those who misspell."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kempe as kp
from kempe.calling import SYNONYMS, meant
from kempe.elements import motions
from kempe.model.mechanism import MechanismModel
from kempe.model.schema import verbs

ANALYSES = [
    "check",
    "mobility",
    "assemble",
    "kinematics",
    "accelerations",
    "simulate",
    "run_many",
    "equilibrium",
    "inverse_dynamics",
    "linearise",
    "modes",
    "sparsity",
    "ranks",
]
BUILDERS = [name for name, method in vars(MechanismModel).items() if getattr(method, "recorded", False)]


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", [*ANALYSES, *BUILDERS, "save", "parameter"])
def test_methods_name_all_they_take(name: str) -> None:
    method = getattr(kp.Mechanism("m"), name)
    known = parameters(method)
    assert not any(p.kind is p.VAR_KEYWORD for p in known.values())
    assert "self" not in known and "model" not in known
    assert (inspect.getdoc(method) or "").strip()


@pytest.mark.parametrize("name", ANALYSES)
def test_a_method_takes_what_the_function_takes(name: str) -> None:
    function = parameters(getattr(kp, name))
    assert next(iter(function)) == "model"
    assert parameters(getattr(kp.Mechanism("m"), name)) == {k: p for k, p in function.items() if k != "model"}


@pytest.mark.parametrize("verb", sorted(set(BUILDERS) - {"bar", "plate", "constraint", "user_force"}))
def test_a_file_takes_what_a_method_takes(verb: str) -> None:
    assert set(verbs()[verb].model_fields) == set(parameters(getattr(kp.Mechanism("m"), verb)))


def test_every_option_of_every_method_is_a_keyword_of_simulate() -> None:
    for method in kp.METHODS.values():
        assert set(method.options) <= set(parameters(kp.simulate)) & set(parameters(kp.run_many))


@pytest.mark.parametrize("name", [*ANALYSES, *BUILDERS])
def test_every_keyword_is_suggested_when_two_letters_are_swapped(name: str) -> None:
    """Any keyword of five letters or more of any method, misspelt, is found again; the model is left as it was."""
    m = kp.Mechanism("m")
    method = getattr(m, name)
    known = parameters(method)
    for keyword in [k for k, p in known.items() if len(k) > 4 and p.kind is not p.VAR_POSITIONAL]:
        wrong = keyword[:-3] + keyword[-2] + keyword[-3] + keyword[-1]
        if wrong in known:
            continue
        with pytest.raises(kp.ModelError, match=rf"there is no {wrong}=; did you mean {keyword}=\?"):
            method(**{wrong: 1})
    assert not m.parts and not m.elements and not m.recipe


@pytest.mark.parametrize(
    "law", [law for law in vars(motions).values() if inspect.isclass(law) and law is not motions.Law]
)
def test_laws_are_explained_too(law: Any) -> None:
    if not issubclass(law, motions.Law) or law.__name__[0].isupper():
        return
    with pytest.raises(kp.ModelError, match=f"{law.__name__}: there is no wrongly="):
        law(wrongly=1)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: m.body(), "^body: name must be given; it takes name, mass, inertia, at, angle$"),
        (
            lambda m: m.body("a", 1, 1, (0, 0), 0, 7),
            "^body 'a': too many values: it takes name, mass, inertia, at, angle$",
        ),
        (lambda m: m.body("a", 1, mass=2, inertia=1), "^body 'a': mass= is given twice$"),
        (lambda m: m.revolute("A", m.ground), "^revolute 'A': j must be given"),
        (lambda m: m.revolute("A", m.ground, m.body("b"), (0, 0)), "by name at=, on_i=, on_j=, friction="),
        (lambda m: m.spring("s", m.ground, m.body("b"), at=(0, 0)), "no at=: it has two ends; give on_i= and on_j="),
        (lambda m: m.simulate(), "^simulate: times must be given"),
        (lambda m: m.simulate(times=1, tol=1e-3, dt=0.1), "tolerance=(.|\n)*dt=; did you mean step="),
        (lambda m: m.torque(m.body("b"), 1.0, on=m.ground), "^torque 'torque on b': there is no on=; it takes"),
        (lambda m: kp.Mechanism("m", g=9.81), "^mechanism 'm': there is no g=; did you mean gravity="),
        (lambda m: m.ground.at_world(), "^at world: point must be given"),
        (lambda m: kp.Equations("e", ["x"], forces=1), "^equations 'e': there is no forces=; did you mean force="),
    ],
)
def test_a_call_that_does_not_fit_is_refused_in_words(call: Any, says: str) -> None:
    with pytest.raises(kp.ModelError, match=says):
        call(kp.Mechanism("m"))


def test_other_mistakes_in_a_function_of_the_users_stay_what_they_are() -> None:
    class Mine(kp.Element):
        def __init__(self, name: str, part: Any) -> None:
            super().__init__(name, part=part)
            len(3)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len"):
        Mine("e", kp.Mechanism("m").body("b"))


def test_what_is_meant() -> None:
    assert meant("Tolerance", ["times", "tolerance"]) == "tolerance"
    assert meant("rtol", ["times", "tolerance"]) == "tolerance"
    assert meant("zebra", ["times", "tolerance"]) is None
    assert all(
        word not in others for word, others in SYNONYMS.items() if word not in ("direction", "fixed", "function")
    )


TYPED = """
import kempe as kp

m = kp.Mechanism("m")
b = m.body("b")
reveal_type(m.simulate(1.0))
reveal_type(m.force(b, (0, 1)))
reveal_type(m.force("F", b, (0, 1), at=(1, 2)))
reveal_type(m.spring("s", m.ground, b, stiffness=1))
m.simulate(1.0, tolernace=1)
m.spring("s", m.ground, b, lenght=2)
m.torque(b, 1.0, reacton=b)
"""


def test_a_type_checker_sees_the_same(tmp_path: Path) -> None:
    (tmp_path / "typed.py").write_text(TYPED)
    root = Path(kp.__file__).parents[2]
    command = [sys.executable, "-m", "mypy", "--config-file", str(root / "pyproject.toml"), str(tmp_path / "typed.py")]
    said = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False).stdout
    for kind in ("result.Result", "forces.Force", "forces.Spring"):
        assert f'Revealed type is "kempe.{"results" if "Result" in kind else "elements"}.{kind}"' in said, said
    for wrong in ("tolernace", "lenght", "reacton"):
        assert f'Unexpected keyword argument "{wrong}"' in said, said
    assert said.count("error:") == said.count("typed.py:10: error") + said.count("typed.py:11: error") + said.count(
        "typed.py:12: error"
    )
