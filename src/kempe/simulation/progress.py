"""Progress of long work: shown by itself in a terminal and in a notebook, told to a function, or left out."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kempe.elements import shown
from kempe.errors import ModelError

#: What ``progress=`` may be: None shows it where somebody looks on, True and False always and never.
Progress = bool | Callable[[float, float], Any] | None
#: What tells how far the work has come: the amount done, the amount wanted and, if need be, what there is to say.
Report = Callable[..., Any]

#: Work that is over sooner than this, in seconds, shows nothing.
PATIENCE = 1.0

_at_work = threading.Lock()


@contextmanager
def reporting(progress: Progress, what: str, begin: float = 0.0) -> Iterator[Report | None]:
    """Where to report to while some work is done; None where nobody wants to know. ``begin`` counts as nothing done."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise ModelError(
            f"progress must be None, True, False or a function of what is done and wanted, not {shown(progress)}"
        )
    if callable(progress):
        yield lambda done, wanted, said="": progress(done, wanted)
    elif progress is False or (progress is None and not _watched()) or not _at_work.acquire(blocking=False):
        yield None
    else:
        bar = _Bar(what, begin)
        try:
            yield bar.report
        finally:
            bar.close()
            _at_work.release()


def _watched() -> bool:
    """Whether somebody looks on: in the main thread of a first process, at a terminal or in a notebook."""
    if threading.current_thread() is not threading.main_thread() or multiprocessing.parent_process() is not None:
        return False
    return _in_notebook() or (sys.stderr.isatty() and os.environ.get("TERM") != "dumb")


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


class _Bar:
    """A bar that appears once the work has taken a while, also where it does not report yet (while it compiles)."""

    def __init__(self, what: str, begin: float) -> None:
        self.begin, self.done, self.wanted = begin, 0.0, 0.0
        self.what = self.said = what
        self.face: _InTerminal | _InNotebook | None = None
        self.closed = False
        self.lock = threading.Lock()
        self.timer = threading.Timer(PATIENCE, self._appear)
        self.timer.daemon = True
        self.timer.start()

    def _appear(self) -> None:
        with self.lock:
            if not self.closed:
                self.face = _InNotebook(self.what) if _in_notebook() else _InTerminal(self.what)
                self.face.show(self.done, self.wanted, self.said)

    def report(self, done: float, wanted: float, said: str = "") -> None:
        with self.lock:
            self.done, self.wanted = done - self.begin, wanted - self.begin
            self.said = f"{self.what}, {said}" if said else self.what
            if self.face is not None:
                self.face.show(self.done, self.wanted, self.said)

    def close(self) -> None:
        self.timer.cancel()
        with self.lock:
            self.closed = True
            if self.face is not None:
                self.face.close()


class _InTerminal:
    """A line on the standard error stream, which goes away at the end."""

    def __init__(self, what: str) -> None:
        from rich import progress
        from rich.console import Console

        columns = (progress.TextColumn("{task.description}", markup=False), progress.BarColumn())
        more = (progress.TaskProgressColumn(), progress.TimeRemainingColumn())
        self.bar = progress.Progress(*columns, *more, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(what, total=None)
        self.bar.start()

    def show(self, done: float, wanted: float, said: str) -> None:
        self.bar.update(self.task, description=said, completed=done, total=wanted or None)

    def close(self) -> None:
        self.bar.stop()


class _InNotebook:
    """A bar below the cell, which goes away at the end."""

    def __init__(self, what: str) -> None:
        from IPython.display import display

        self.display = display(self._page(0.0, 0.0, what), raw=True, display_id=True)

    def _page(self, done: float, wanted: float, what: str) -> dict[str, str]:
        from html import escape

        share = f'value="{done / wanted:.4f}"' if wanted else ""  # without a value it shows that something goes on
        said = f"{what}: {done / wanted:.0%}" if wanted else what
        return {"text/plain": said, "text/html": f"<progress {share}></progress> {escape(said)}"}

    def show(self, done: float, wanted: float, said: str) -> None:
        self.display.update(self._page(done, wanted, said), raw=True)

    def close(self) -> None:
        self.display.update({"text/plain": "", "text/html": ""}, raw=True)
