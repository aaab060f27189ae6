"""The units of a model: labels for what its numbers mean. No number is ever changed by them."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from typing import Any

from kempe.elements import shown
from kempe.elements.kinds import ALIKE, ANGULAR, KINDS
from kempe.errors import ModelError

#: Unit -> how large it is in m, kg and s, and the powers of length, mass and time in it.
_KNOWN: dict[str, tuple[float, tuple[int, int, int]]] = {
    **{name: (size, (1, 0, 0)) for name, size in {
        "m": 1.0, "mm": 1e-3, "cm": 1e-2, "dm": 0.1, "km": 1e3, "um": 1e-6, "µm": 1e-6, "nm": 1e-9,
        "in": 0.0254, "ft": 0.3048, "yd": 0.9144,
    }.items()},
    **{name: (size, (0, 1, 0)) for name, size in {
        "kg": 1.0, "g": 1e-3, "mg": 1e-6, "t": 1e3, "lb": 0.45359237, "lbm": 0.45359237, "slug": 14.593902937206,
    }.items()},
    **{name: (size, (0, 0, 1)) for name, size in {
        "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0, "h": 3600.0,
    }.items()},
    **{name: (size, KINDS["force"]) for name, size in {
        "N": 1.0, "kN": 1e3, "MN": 1e6, "mN": 1e-3, "lbf": 4.4482216152605, "kgf": 9.80665,
    }.items()},
    **{name: (size, KINDS["energy"]) for name, size in {"J": 1.0, "kJ": 1e3, "MJ": 1e6, "mJ": 1e-3, "Nm": 1.0}.items()},
    **{name: (size, KINDS["power"]) for name, size in {"W": 1.0, "kW": 1e3, "MW": 1e6, "mW": 1e-3}.items()},
    "rad": (1.0, (0, 0, 0)),
}  # fmt: skip
#: The names that a product of base units may get by itself.
_NAMES = {
    "mass": ("kg", "t", "g", "slug"),
    "force": ("N", "kN", "MN", "lbf"),
    "energy": ("J", "kJ", "MJ"),
    "power": ("W", "kW", "MW"),
}
_BASE = ("length", "mass", "time")


class Units:
    """A label for every kind of quantity, made of those that were given.

    ``given`` is a text with units of length, mass (or force) and time in any order, "mm, t, s", or a mapping from kinds
    to units. What follows from them gets its usual name, or is a product: with "m, kg, s" a force is in N and a moment
    in N m, with "mm, kg, s" a force is in kg mm/s^2. Units that contradict each other are refused.
    """

    def __init__(self, given: str | Mapping[str, str]) -> None:
        self.given: str | dict[str, str] = given if isinstance(given, str) else dict(given)
        self._said = _listed(given) if isinstance(given, str) else _mapped(given)
        self._labels = dict(self._said)
        self._complete()
        _agree(self._said, self._labels)

    def label(self, kind: str) -> str:
        """The unit of a kind of quantity; empty where it is not known."""
        if kind in self._said:
            return self._said[kind]
        if kind in ANGULAR:
            return _angular(kind, self._labels.get("time", ""), "rad")
        if kind not in self._labels and kind in KINDS:
            self._labels[kind] = self.label(ALIKE[kind]) if kind in ALIKE else self._derived(kind)
        return self._labels.get(kind, "")

    def degrees(self, kind: str) -> str:
        """The unit of an angle or its rates when they are shown in degrees."""
        return _angular(kind, self._labels.get("time", "") or "time", "°")

    def _complete(self) -> None:
        """The unit of mass where that of force is given instead: N s^2/mm, which is a tonne."""
        has = self._labels
        if "mass" not in has and {"length", "force", "time"} <= has.keys():
            product = _product({has["force"]: 1, has["time"]: 2, has["length"]: -1})
            has["mass"] = _named("mass", product) or product

    def _derived(self, kind: str) -> str:
        """A kind's unit as a product, through the unit of force where that is one word."""
        length, mass, time = KINDS[kind]
        force = self.label("force") if mass and kind not in ("mass", "force") else ""
        if force and not re.search(r"[ /^*·]", force):
            powers = {"force": 1, "length": length - 1, "time": time + 2}
        else:
            powers = {"mass": mass, "length": length, "time": time}
        if any(power and not self._labels.get(base) for base, power in powers.items()):
            return ""
        product = _product({self._labels[base]: power for base, power in powers.items() if power})
        return _named(kind, product) or product

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Units) and other.given == self.given

    def __hash__(self) -> int:
        return hash(str(self.given))

    def __repr__(self) -> str:
        return f"Units({self.given!r})"


def as_units(given: Any, what: str) -> Units | None:
    """Units as a user gives them: None, a text, or a mapping."""
    if given is None or isinstance(given, Units):
        return given
    words = f"{what}: units are like 'm, kg, s', or a mapping such as {{'length': 'mm', 'force': 'N'}}"
    if not isinstance(given, (str, Mapping)) or not given:
        raise ModelError(f"{words}, not {shown(given)}")
    entries = [given] if isinstance(given, str) else [*given, *given.values()]
    wrong = [e for e in entries if not isinstance(e, str) or not e.strip() or not e.isprintable() or len(e) > 60]
    if wrong:
        raise ModelError(f"{words}, not {shown(wrong[0])}")
    try:
        return Units(given)
    except ModelError as error:
        raise ModelError(f"{what}: units: {error}") from None


def _listed(text: str) -> dict[str, str]:
    """The kinds of the units in a text."""
    found: dict[str, str] = {}
    for word in (part.strip() for part in text.split(",")):
        kinds = [kind for kind in (*_BASE, "force") if _KNOWN.get(word, (0.0, None))[1] == KINDS[kind]]
        if not kinds:
            near = difflib.get_close_matches(word, list(_KNOWN), n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise ModelError(
                f"'{word}' is no unit of length, mass, force or time that is known here{hint} "
                "(a mapping such as {'length': 'furlong'} takes any word)"
            )
        if kinds[0] in found:
            raise ModelError(f"'{found[kinds[0]]}' and '{word}' are both units of {kinds[0]}")
        found[kinds[0]] = word
    return found


def _mapped(given: Mapping[str, str]) -> dict[str, str]:
    """The units of a mapping, each for a kind that exists."""
    found: dict[str, str] = {}
    for kind, unit in given.items():
        if kind not in KINDS:
            near = difflib.get_close_matches(kind, list(KINDS), n=1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(KINDS)}"
            raise ModelError(f"there is no kind of quantity '{kind}'{hint}")
        if kind == "angle" and unit.strip() != "rad":
            raise ModelError("angles are in radians everywhere; degrees=True shows them in degrees in a plot")
        found[kind] = unit.strip()
    return found


def _agree(said: Mapping[str, str], base: Mapping[str, str]) -> None:
    """Refuse units that contradict each other, as far as they are known: 1 kg mm/s^2 is not 1 N."""
    sizes = {kind: size for kind in (*_BASE, "force") if kind in base and (size := _parsed(base[kind]))}
    for kind, unit in said.items():
        size = _parsed(unit)
        if size is None:
            continue
        if size[1] != KINDS[kind]:
            raise ModelError(f"'{unit}' is no unit of {kind}")
        length, mass, time = KINDS[kind]
        powers = {"mass": mass, "length": length, "time": time}
        if "mass" not in sizes and kind != "force":
            powers = {"force": mass, "length": length - mass, "time": time + 2 * mass}
        used = {name: power for name, power in powers.items() if power}
        if kind in used or not used.keys() <= sizes.keys():
            continue
        coherent = math.prod(sizes[name][0] ** power for name, power in used.items())
        if not math.isclose(coherent, size[0], rel_tol=1e-6):
            made = _product({base[name]: power for name, power in used.items()})
            raise ModelError(
                f"with {' and '.join(f'{name} in {base[name]}' for name in used)} {kind} comes out in {made}, which is "
                f"{coherent / size[0]:.6g} {unit}; numbers are never converted, so units must fit together"
            )


def _parsed(unit: str) -> tuple[float, tuple[int, ...]] | None:
    """How large a unit such as "kg mm/s^2" is, and the powers of length, mass and time in it; None if unknown."""
    size, powers = 1.0, [0, 0, 0]
    for k, group in enumerate(unit.split("/")):
        for word in re.split(r"[\s*·]+", group.strip().strip("()")):
            match = re.fullmatch(r"([^\d^]+)\^?(-?\d+)?", word.replace("²", "^2").replace("³", "^3"))
            if match is None or match[1] not in _KNOWN:
                return None
            power = int(match[2] or 1) * (-1 if k else 1)
            size *= _KNOWN[match[1]][0] ** power
            powers = [p + power * own for p, own in zip(powers, _KNOWN[match[1]][1], strict=True)]
    return size, tuple(powers)


def _named(kind: str, product: str) -> str:
    """The usual name of a product of units, if it has one."""
    size = _parsed(product)
    for name in _NAMES.get(kind, ()):
        if size is not None and math.isclose(_KNOWN[name][0], size[0], rel_tol=1e-6):
            return name
    return ""


def _product(*factors: Mapping[str, int]) -> str:
    """Units multiplied: "kg mm/s^2"."""
    over = [(unit, p) for group in factors for unit, p in group.items() if p > 0]
    under = [(unit, -p) for group in factors for unit, p in group.items() if p < 0]
    above, below = (" ".join(u if p == 1 else f"{u}^{p}" for u, p in some) for some in (over, under))
    return (above or "1") + (f"/({below})" if len(under) > 1 else f"/{below}" if under else "")


def _angular(kind: str, time: str, unit: str) -> str:
    power = -KINDS[kind][2]
    return unit if power == 0 else "" if not time else _product({unit: 1}, {time: -power})
