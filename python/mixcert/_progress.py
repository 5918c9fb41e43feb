# Licensed under the Apache License, Version 2.0; see LICENSE.
"""How far long work is: a line on standard error, rewritten on a terminal and repeated elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, Callable, Optional

_DELAY, _TERMINAL_INTERVAL, _LINE_INTERVAL = 0.5, 0.2, 10.0


def duration(seconds: float) -> str:
    """In words: "8 s", "3 min", "2.5 h"."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Progress:
    """While it is entered, a line shows how much of `total` is done and how long the rest will take: by the time so
    far, or, before anything is done, by `expected` seconds, an estimate. `wanted`: True, False, or None for where
    standard error is a terminal. What takes less than half a second shows nothing.

    A thread of its own draws the line: the work may say nothing for a minute."""

    def __init__(self, label: str, total: Optional[int], wanted: Optional[bool]) -> None:
        stream: Any = sys.stderr
        self._terminal = bool(stream is not None and hasattr(stream, "isatty") and stream.isatty())
        self._stream, self._label = stream, label
        self._wanted = stream is not None and (wanted or (wanted is None and self._terminal))
        self._done, self._stop = 0, threading.Event()
        self._thread: Optional[threading.Thread] = None
        self.total, self.expected = total, None
        #: What the C++ library calls with the number of finished pieces; None where nothing is to be shown.
        self.tick: Optional[Callable[[int], None]] = self._count if self._wanted else None

    def __enter__(self) -> Progress:
        if self._wanted:
            self._thread = threading.Thread(target=self._draw, args=(time.monotonic(),), daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._thread is not None:
            self._stop.set()
            self._thread.join()

    def line(self, seconds: float) -> str:
        """After so many seconds."""
        done, total = self._done, self.total
        parts = [f"{done} of {total} done" if total else f"{done} done", duration(seconds)]
        if done and total:
            parts.append(f"about {duration(seconds * (total - done) / done)} left")
        elif self.expected and self.expected > seconds:
            parts.append(f"about {duration(self.expected - seconds)} left (estimate)")
        elif self.expected:
            parts.append(f"longer than the estimated {duration(self.expected)}")
        return f"{self._label}: " + ", ".join(parts)

    def _count(self, done: int) -> None:
        self._done = done

    def _draw(self, start: float) -> None:
        shown = False
        pause = _DELAY if self._terminal else _LINE_INTERVAL
        while not self._stop.wait(pause):
            pause = _TERMINAL_INTERVAL if self._terminal else _LINE_INTERVAL
            text = self.line(time.monotonic() - start)
            self._stream.write(f"\r{text}\033[K" if self._terminal else f"{text}\n")
            self._stream.flush()
            shown = True
        if shown and self._terminal:
            self._stream.write("\r\033[K")
            self._stream.flush()
