"""Work done beside whatever runs, piece after piece, in one thread of the process.

A process that ends waits for the piece in hand and for no other (a thread that dies within LLVM would take the process
with it), and so does one that forks, for its child has no such thread.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable


class Beside:
    """Pieces of work in the order in which they were given, and the thread that does them."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._pause = False

    def do(self, pieces: Iterable[Callable[[], None]] = ()) -> None:
        """Do these pieces too, after those that are waiting."""
        with self._lock:
            self._waiting.extend(pieces)
            if self._waiting and not self._pause and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._work, name="kempe compiles")
                self._thread.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if self._pause or not self._waiting or not threading.main_thread().is_alive():
                    self._thread = None  # (under the lock: what comes later gets a thread of its own)
                    return
                piece = self._waiting.popleft()
            piece()

    def pause(self) -> None:
        """Finish the piece in hand, and do nothing more for the time being."""
        with self._lock:
            self._pause, thread = True, self._thread
        if thread is not None:
            thread.join()

    def go_on(self) -> None:
        """After a pause: what waits is done from the next call of ``do`` on."""
        self._pause = False

    def finish(self) -> None:
        """Wait until nothing is left to do."""
        while (thread := self._thread) is not None:
            thread.join()

    def begin_anew(self) -> None:
        """In a child process: what waits is done from the next call of ``do`` on, by a thread of its own."""
        self._thread, self._lock, self._pause = None, threading.Lock(), False


BESIDE = Beside()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=BESIDE.pause, after_in_parent=BESIDE.go_on, after_in_child=BESIDE.begin_anew)
