"""
The demonstration that ``make demo`` runs
=========================================

A walking leg after Theo Jansen turns once: its mobility, a drawing with names, the paths of its joints, time plots, an
animation with the velocity of its foot, and an interactive report. Then an engine under its own gas pressure with the
loads of its bearings, a slider-crank that locks and one that can go on in two ways. Everything goes to ``out/``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import kempe as kp
from kempe import view

sys.path.insert(0, str(Path(__file__).parent))
import jansen_leg
import single_cylinder_engine

OUT = Path("out")


def leg() -> None:
    m = jansen_leg.build()
    print(m.mobility())
    result = m.kinematics(np.linspace(0.0, float(jansen_leg.TIMES[-1]), 721))
    print(f"largest error against intersected circles {jansen_leg.check(result):.1e}")
    view.save(view.draw(m, names=True), OUT / "leg.png")
    view.save(view.path(result, ["foot", "knee", "heel"], model=m), OUT / "leg_paths.png")
    view.save(view.plot(result, ["foot.x", "foot.y", "foot.vx", "foot.vy"]), OUT / "leg_foot.png")
    result.to_csv(OUT / "leg.csv")
    view.animate(m, result, OUT / "leg.gif", trace=["foot"], vectors=["foot"])
    result.report(OUT / "leg.html", traces=["foot"], plots=["foot.x", "foot.y", "foot.vy"])


def engine() -> None:
    single_cylinder_engine.main()
    m = single_cylinder_engine.build()
    result = m.simulate(0.12, steps=300, velocities={"crank.omega": 100.0})
    print(result.energy)
    view.animate(m, result, OUT / "engine.gif", trace=["rod"])
    result.report(OUT / "engine.html", plots=["crank.omega", "shaft.force", "cylinder.force", "energy.kinetic"])


def slider_crank(length: float) -> kp.Equations:
    return kp.Equations(
        f"slider-crank with a rod of {length}",
        {"x": 1.0 + length, "crank": 0.0, "rod": np.pi / 2},
        parameters={"l": length},
        constraints=lambda q, t, p: {
            "loop x": -q.x + kp.cos(q.crank) + p.l * kp.sin(q.rod),
            "loop y": kp.sin(q.crank) - p.l * kp.cos(q.rod),
            "motor": q.crank - kp.pi / 12 * t,
        },
    )


def singular_positions() -> None:
    locked = slider_crank(0.5).kinematics(np.arange(0, 4, 0.06), on_singular="stop")
    print(locked.message)
    short = slider_crank(1.0)
    for branch in (0, 1):
        motion = short.kinematics(np.arange(0, 12, 0.06), on_singular="cross", branch=branch)
        print(f"branch {branch}: {motion.events[0].message}")
        view.save(view.plot(motion, ["x", "x.v", "x.a"], title=f"branch {branch}"), OUT / f"bifurcation_{branch}.png")


def main() -> None:
    OUT.mkdir(exist_ok=True)
    print("(the very first run compiles the solvers, which takes about a minute)")
    leg()
    engine()
    singular_positions()
    print("written:", ", ".join(sorted(str(p) for p in OUT.iterdir())))


if __name__ == "__main__":
    main()
