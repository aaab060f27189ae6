"""Damaged descriptions end in a sentence: whatever is cut, doubled or misspelt, no other error comes."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from robots import ARM_URDF, FOUR_BAR_MJCF, WALKER_MJCF

import kempe as kp

NUMBERS = ("0", "-1", "1e400", "nan", "inf", "1e-300", "x", "", "1 2", "0 0 0", "-3 2 1 0", "1e200 0 0")


def damaged(text: str, rng: np.random.Generator) -> str:
    """The text with one to three small things wrong."""
    for _ in range(int(rng.integers(1, 4))):
        values = list(re.finditer(r'"([^"<>]*)"', text))
        tags = list(re.finditer(r"<[^<>]*>", text))
        kind = rng.integers(6)
        if kind <= 2 and values:
            found = values[rng.integers(len(values))]
            other = values[rng.integers(len(values))][1] if kind == 0 else NUMBERS[rng.integers(len(NUMBERS))]
            text = f'{text[: found.start()]}"{other}"{text[found.end() :]}'
        elif kind == 3 and tags:
            found = tags[rng.integers(len(tags))]
            text = text[: found.start()] + text[found.end() :]
        elif kind == 4 and tags:
            one, other = (tags[rng.integers(len(tags))] for _ in range(2))
            text = text[: one.start()] + other[0] + text[one.start() :]
        else:
            words = list(re.finditer(r"\b[a-z]+\b", text))
            found = words[rng.integers(len(words))]
            text = text[: found.start()] + words[rng.integers(len(words))][0] + text[found.end() :]
    return text


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize(
    ("load", "text"),
    [(kp.load_urdf, ARM_URDF), (kp.load_mjcf, WALKER_MJCF), (kp.load_mjcf, FOUR_BAR_MJCF)],
    ids=["arm", "walker", "four bar"],
)
def test_a_damaged_description_is_read_or_refused_in_words(load, text, seed):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", kp.ModelWarning)
            try:
                load(damaged(text, rng))
            except kp.KempeError as error:
                assert str(error)
