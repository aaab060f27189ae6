"""When the programs of a run are fused, as its task says, and what there is to tell about it afterwards."""

from __future__ import annotations

from typing import Any

from kempe.solvers.directions import Directions
from kempe.solvers.motion import Equations
from kempe.system import System


class Compiling:
    """The choice of a task ("auto", "never" or "always"), and how far it has come in a run."""

    def __init__(self, system: System, choice: str) -> None:
        self._fusion, self.choice = system.fusion, choice
        self._begun, self._complete = 0.0, -1
        #: Functions that were all found in use: they stay so.
        self._ready: tuple[str, ...] | None = None

    def of(self, eq: Equations) -> Equations:
        """Equations as they are to be run."""
        return self._fusion.without(eq) if self.choice == "never" else eq

    def directions(self, name: str) -> Directions:
        """Directional derivatives as they are to be run, with memory of their own."""
        return self._fusion.directions(name, self.choice != "never")  # type: ignore[no-any-return]

    def begin(self, names: tuple[str, ...]) -> None:
        """A run begins that is best done with these functions."""
        self._begun, self._complete = self._fusion.seconds, -1
        self.ran(0.0, names, 0)

    def expect_many(self, names: tuple[str, ...]) -> None:
        """Many runs are to come: let compiling begin at once."""
        if self.choice == "always":
            self._fusion.make(names)
        elif self.choice == "auto":
            self._fusion.make_beside(names)

    def ran(self, seconds: float, names: tuple[str, ...], steps: int, expected: float = 0.0) -> None:
        """The run went on for so long and will for longer, as it seems: what is worth it is compiled beside it."""
        if self._ready == names:
            self.ran_on(seconds)
        elif self.choice == "auto":
            self._fusion.spend(seconds, names, expected)
        elif self.choice == "always":
            self._fusion.make(names)  # (another integrator may have taken over)
        self.look(names, steps)

    def about_to_run(self, names: tuple[str, ...]) -> None:
        """These functions are run next, outside of a motion: after all that was computed they may be worth it."""
        if self.choice == "auto":
            self._fusion.spend(0.0, names)
        elif self.choice == "always":
            self._fusion.make(names)

    def ran_on(self, seconds: float) -> None:
        """The run went on for so long, and is over: nothing is begun now, but later runs know."""
        if self.choice == "auto":
            self._fusion.spent += seconds

    def look(self, names: tuple[str, ...], steps: int) -> None:
        """Note from which step on everything is fused."""
        if self._complete >= 0 or self.choice == "never":
            return
        if self._ready != names and self._fusion.missing(names) == 0:
            self._ready = names
        if self._ready == names:
            self._complete = steps

    def told(self, names: tuple[str, ...]) -> dict[str, Any]:
        """What ran fused, in words, and how long compiling it took during the run."""
        if self.choice == "never":
            return {"compiled": "nothing"}
        there, seconds = len(self._fusion.worth(names)), self._fusion.seconds - self._begun
        ready = there - self._fusion.missing(names)
        words = "everything" if self._complete == 0 else f"everything from step {self._complete:,} on"
        if self._complete < 0:
            words = f"{ready} of {there} functions" if ready else "nothing"
        return {"compiled": words} | ({"compile seconds": round(seconds, 3)} if seconds > 0 else {})
