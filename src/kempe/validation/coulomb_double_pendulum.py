"""A double pendulum on a slider with dry friction in all three joints (Garcia de Jalon and Bayo, Example 10.2).

The book shows curves and prints no numbers. It leaves out the pin radii, the slider's mass, where the masses are and
the static coefficients, and eq. (iii) of Example 10.1 lacks a division by |F_N|. Settled: point masses of 10 kg, one
the slider, which cannot tip, and one at the far end of each link; guide friction 0.25 |N|; pin torques mu R |F| with
the total pin force F, R = 1 m; static coefficients equal to the kinetic ones; links along +x and at rest at first.

A link is a body without mass, and its mass a point hinged to its end, so that nothing but the book's three masses has
inertia. The truths come from an event-driven integration in the three joint coordinates with more than twelve digits,
which shares nothing with Kempe.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import kempe as kp
from kempe.validation.case import Row, compare, match

CASE = "coulomb-double-pendulum"
TOLERANCE = 1e-7
LENGTH, MASS, GRAVITY, RADIUS = 1.0, 10.0, 9.81, 1.0
FRICTION = {"P": 0.25, "pin 1": 0.14, "pin 2": 0.11}
END = 5.0
MISSING = "not in the book: the slider's mass, where the masses are, pin radii, static coefficients, any number"

#: When each joint sticks; the last interval of each is for good.
STICKS = {
    "P": ((0.0, 0.09821510925973193), (0.7736248769486274, 0.9496334890241865), (2.0963880021723025, END)),
    "pin 1": ((2.6569217961500624, 3.020114405965296), (3.927360632050064, END)),
    "pin 2": (
        (1.2328377696845505, 1.3167502028365805),
        (2.1362932543879802, 2.6569217961500624),
        (3.36041893603343, 3.927360632050064),
        (4.927554346299459, END),
    ),
}
#: t: s, psi1, psi2, s', psi1', psi2', the energy. psi1 is absolute, psi2 relative to the first link.
TABLE = {
    0.25: (0.01201710021455841, -0.2893743430511351, 0.264990137141686, 0.2500483254891117, -2.2208150687644257,
           1.8569087225281091, -2.849622978531251),
    0.5: (0.22736652866518256, -1.0049488824642285, 0.6010331526504157, 1.4842943215301951, -3.011996681803437,
          -0.32901734519979314, -36.566228326696915),
    0.75: (0.5465425144158704, -1.4541364457585422, -0.199974306418967, 0.253506376146912, -0.4796235995416341,
           -4.788220386868515, -141.57177925185437),
    1.0: (0.5483540762708405, -1.8141103546427133, -0.6600392618346937, -0.06395750301161308, -2.012275837945083,
          0.36811934402044916, -167.78752109926876),
    1.5: (0.13958350365702593, -2.1058907670902554, -0.49945351971474905, -1.2105141467437923, 0.37508310025703534,
          0.8491009458660282, -199.36774972231007),
    2.0: (-0.45693026724866376, -1.7640325319330616, 0.22329194163897462, -0.6288250693196823, 0.9142110700229136,
          0.7802755009600367, -268.78597542193177),
    2.5: (-0.4882941032611502, -1.4390354851413691, 0.2846189226738649, 0.0, 0.30916710507166023, 0.0,
          -281.86645552994895),
    3.0: (-0.4882941032611502, -1.4145113123834385, 0.11392805289885523, 0.0, 0.0, -0.8946521693637419,
          -284.3471150898871),
    4.0: (-0.4882941032611502, -1.616681910633617, -0.119917554977361, 0.0, 0.0, 0.04052771095173913,
          -292.73994385817053),
    5.0: (-0.4882941032611502, -1.616681910633617, -0.007755440235604131, 0.0, 0.0, 0.0, -293.9523873386257),
}  # fmt: skip
QUANTITIES = {"s": "slider.x", "psi1": "first.angle", "psi2": "psi2", "s'": "slider.vx", "psi1'": "first.omega"}
#: How each joint goes on behind each instant at which any of them changes: P, pin 1, pin 2.
MODES = {
    0.0: ("stick", "backward", "forward"),
    0.09821510925973193: ("forward", "backward", "forward"),
    0.47643927279345905: ("forward", "backward", "backward"),
    0.7736248769486274: ("stick", "backward", "backward"),
    0.9496334890241865: ("backward", "backward", "forward"),
    1.2328377696845505: ("backward", "backward", "stick"),
    1.3167502028365805: ("backward", "forward", "forward"),
    2.0963880021723025: ("stick", "forward", "forward"),
    2.1362932543879802: ("stick", "forward", "stick"),
    2.6569217961500624: ("stick", "stick", "backward"),
    3.020114405965296: ("stick", "backward", "backward"),
    3.36041893603343: ("stick", "backward", "stick"),
    3.927360632050064: ("stick", "stick", "forward"),
    4.927554346299459: ("stick", "stick", "stick"),
}
#: Methods that carry forces that depend on multipliers, beside "auto", and what each of them is asked for.
METHODS = {"augmented": 1e-9, "independent": 1e-9, "radau": 1e-9, "bdf": 1e-9}


def double_pendulum() -> kp.Mechanism:
    """The mechanism of Figure 10.5."""
    m = kp.Mechanism("double pendulum on a slider", gravity=(0, -GRAVITY), units="m, kg, s")
    slider = m.body("slider", mass=MASS, inertia=1.0, at=(0, 0))  # (it does not turn: any inertia will do)
    first, second = m.body("first", at=(0, 0)), m.body("second", at=(LENGTH, 0))
    for k, link in enumerate((first, second), start=2):
        mass = m.point(f"mass {k}", at=((k - 1) * LENGTH, 0), mass=MASS)
        m.revolute(f"end of {link.name}", link, mass, on_i=(LENGTH, 0))
    m.translational("P", m.ground, slider, axis=(1, 0), at=(0, 0), friction=FRICTION["P"])
    m.revolute("pin 1", slider, first, at=(0, 0), friction=FRICTION["pin 1"], radius=RADIUS)
    pin = m.revolute("pin 2", first, second, at=(LENGTH, 0), friction=FRICTION["pin 2"], radius=RADIUS)
    m.measure("psi2", pin.angle)
    return m


def rows() -> Iterator[Row]:
    """Every value of the case."""
    m = double_pendulum()
    result = m.simulate([0.0, *TABLE], tolerance=1e-11)
    yield from _sticks(result)
    yield from _modes(result)
    yield from _table(result)
    yield from _torques(result)
    for method, tolerance in METHODS.items():
        yield _method(m.simulate([0.0, END], method=method, tolerance=tolerance), method)


def _sticks(result: kp.Result) -> Iterator[Row]:
    for joint, truths in STICKS.items():
        found = result.intervals(joint, "stick")
        yield match(CASE, f"{joint}: stick intervals", str(len(truths)), str(len(found)), note=MISSING)
        for k, (truth, computed) in enumerate(zip(truths, found, strict=False), start=1):
            for word, true, ours in zip(("sticks", "slips"), truth, computed, strict=True):
                if true != END:
                    yield compare(CASE, f"{joint} {word}, interval {k}", true, ours, TOLERANCE)
        lasts = "sticks to the end"
        yield match(CASE, f"{joint} at the end", lasts, lasts if found and found[-1][1] == END else "slides")


def _modes(result: kp.Result) -> Iterator[Row]:
    """Several joints may change at one instant: which go on how is chosen for all of them together."""
    for t, truth in MODES.items():
        found = [_mode(result, joint, t + 1e-6) for joint in FRICTION]
        yield match(CASE, f"P, pin 1, pin 2 behind t = {t:.9g}", ", ".join(truth), ", ".join(found))


def _mode(result: kp.Result, joint: str, t: float) -> str:
    modes = ("stick", "forward", "backward")
    return next((m for m in modes if any(a <= t < b for a, b in result.intervals(joint, m))), "unknown")


def _table(result: kp.Result) -> Iterator[Row]:
    energy = result.energy.kinetic + result.energy.potential
    for k, (t, truths) in enumerate(TABLE.items(), start=1):
        relative = float(result.array("second.omega")[k] - result.array("first.omega")[k])
        found = {name: float(result.array(history)[k]) for name, history in QUANTITIES.items()}
        found |= {"psi2'": relative, "energy": float(energy[k] - energy[0])}
        for (name, computed), truth in zip(found.items(), truths, strict=True):
            yield compare(CASE, f"{name} at t = {t:g}", truth, computed, TOLERANCE)


def _torques(result: kp.Result) -> Iterator[Row]:
    """Sliding at t = 0.5: the torque over the pin force is mu R, not mu R |F| as eq. (iii) is printed."""
    k = 1 + list(TABLE).index(0.5)
    note = "eq. (iii) of Example 10.1 lacks a division by |F_N|"
    for pin in ("pin 1", "pin 2"):
        force = math.hypot(*(float(result.array(f"lambda.{pin}.{row}")[k]) for row in ("x", "y")))
        ratio = abs(float(result.array(f"{pin}.friction")[k])) / force
        yield compare(CASE, f"torque over force, {pin}", FRICTION[pin] * RADIUS, ratio, 1e-9, note=note)


def _method(result: kp.Result, method: str) -> Row:
    """The largest error of all instants at which a joint sticks or slips, with another method."""
    found = {joint: result.intervals(joint) for joint in STICKS}
    same = all(len(found[joint]) == len(truths) for joint, truths in STICKS.items())
    apart = [
        abs(ours - true)
        for joint, truths in STICKS.items()
        for truth, computed in zip(truths, found[joint], strict=False)
        for true, ours in zip(truth, computed, strict=True)
    ]
    return compare(CASE, f"{method}: largest error of all instants", 0.0, max(apart) if same else math.inf, TOLERANCE)
