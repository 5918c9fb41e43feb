# Licensed under the Apache License, Version 2.0; see LICENSE.
"""How far long work is: a line on standard error, rewritten on a terminal and repeated elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Optional

_TERMINAL_INTERVAL, _LINE_INTERVAL, _DELAY = 0.2, 10.0, 0.5


def duration(seconds: float) -> str:
    """In words: "8 s", "3 min", "2.5 h"."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Progress:
    """While it is entered, `tick(done)` shows how much of `total` is done and how long the rest will take: by the
    time so far, or, before anything is done, by `expected` seconds, an estimate. `wanted`: True, False, or None for
    where standard error is a terminal. What takes less than half a second shows nothing."""

    def __init__(
        self, label: str, total: Optional[int], wanted: Optional[bool], expected: Optional[float] = None
    ) -> None:
        stream: Any = sys.stderr
        terminal = stream is not None and hasattr(stream, "isatty") and stream.isatty()
        self._stream, self._terminal = stream, terminal
        self._label, self._total, self._expected = label, total, expected
        self._interval = _TERMINAL_INTERVAL if terminal else _LINE_INTERVAL
        self._shown = False
        #: What the C++ library calls, at most every 20 ms; None where nothing is to be shown.
        self.tick: Optional[Callable[[int], None]] = None
        if stream is not None and (wanted or (wanted is None and terminal)):
            self.tick = self._show

    def __enter__(self) -> Progress:
        self._start = time.monotonic()
        self._next = self._start + (_DELAY if self._terminal else self._interval)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._shown and self._terminal:
            self._stream.write("\r\033[K")
            self._stream.flush()

    def line(self, done: int, seconds: float) -> str:
        """Of this much done after so many seconds."""
        parts = [f"{done} of {self._total} done" if self._total else f"{done} done", duration(seconds)]
        if done and self._total:
            left = seconds * (self._total - done) / done
            parts.append(f"about {duration(left)} left")
        elif self._expected and self._expected > seconds:
            parts.append(f"about {duration(self._expected - seconds)} left, estimated")
        elif self._expected:
            parts.append(f"longer than the estimated {duration(self._expected)}")
        return f"{self._label}: " + ", ".join(parts)

    def _show(self, done: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._interval
        text = self.line(done, now - self._start)
        self._stream.write(f"\r{text}\033[K" if self._terminal else f"{text}\n")
        self._stream.flush()
        self._shown = True
