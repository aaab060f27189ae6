"""A workbench on which mistakes are made: a slider-crank, the same with a motor, and results of both."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import kempe as kp


def slider_crank() -> kp.Mechanism:
    """A slider-crank with masses and a parameter, without a motor."""
    m = kp.Mechanism("press", gravity=(0, -9.81))
    L = m.parameter("rod length", 0.3)
    crank = m.body("crank", mass=0.4, inertia=1e-3, at=(0.05, 0))
    rod = m.body("rod", mass=0.6, inertia=5e-3, at=(0.1 + L / 2, 0))
    slider = m.body("slider", mass=0.9, inertia=1e-3, at=(0.1 + L, 0))
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, on_i=(0.05, 0), on_j=(-L / 2, 0))
    m.revolute("B", rod, slider, on_i=(L / 2, 0), on_j=(0, 0))
    m.translational("way", m.ground, slider, axis=(1, 0))
    return m


@cache
def results() -> tuple[Any, Any, Any]:
    """A simulation, driven kinematics, and an inverse dynamics."""
    driven = with_motor()
    return (
        slider_crank().simulate(0.01, steps=4, velocities={"crank.omega": 3.0}),
        driven.kinematics(0.1, steps=4),
        driven.inverse_dynamics(0.1, steps=4),
    )


def with_motor() -> kp.Mechanism:
    """The slider-crank with its crank turned at constant speed."""
    m = slider_crank()
    m.driver("motor", m["crank"].angle, kp.constant_speed(5.0))
    return m


def make(code: str, folder: Path) -> Exception | str:
    """What comes of a piece of code: the exception it raises, or what its last expression says of itself."""
    m = slider_crank()
    res, kin, inv = results()
    known: dict[str, Any] = {
        "kp": kp,
        "np": np,
        "m": m,
        "driven": with_motor(),
        "crank": m["crank"],
        "rod": m["rod"],
        "slider": m["slider"],
        "ground": m.ground,
        "O": m["O"],
        "L": m["rod length"],
        "res": res,
        "kin": kin,
        "inv": inv,
        "new": kp.Mechanism("new"),
        "folder": folder,
        "SimpleNamespace": SimpleNamespace,
    }
    *before, last = code.strip().splitlines()
    try:
        exec("\n".join(before), known)
        try:
            compiled = compile(last, "last line", "eval")
        except SyntaxError:
            exec(last, known)
            return ""
        return said(eval(compiled, known))
    except Exception as error:
        return error


def said(value: Any) -> str:
    """What a user reads of a value: findings line by line, the message of a result, else the text."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return str(getattr(value, "message", value))
