# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Long work: announced with how to lower it, shown while it goes on, and stopped."""

import io
import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import mixcert
from conftest import random_network
from mixcert._progress import Progress, duration


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(scope="module")
def wide():
    return random_network([2, 600, 600, 3])


def test_estimates_grow_with_the_work(wide):
    one = mixcert.estimate_work(wide, np.zeros((1, 2)), threads=1)
    many = mixcert.estimate_work(wide, np.zeros((100, 2)), threads=1)
    assert many.seconds > 20 * one.seconds and many.multiplications > one.multiplications
    assert mixcert.estimate_work(wide, np.zeros((100, 2)), threads=4).seconds < many.seconds
    assert mixcert.estimate_work(wide, np.zeros((8, 2)), joint=True).gib > one.gib
    assert one.method == "the moment method"
    assert mixcert.estimate_work(wide, np.zeros((1, 2)), method="signature").method == "signatures"
    with pytest.raises(TypeError, match="did you mean 'threads'"):
        mixcert.estimate_work(wide, np.zeros((1, 2)), thread=1)


def test_announcements_say_what_helps(wide):
    text = mixcert.estimate_work(wide, np.zeros((1000, 2)), pieces=8).announcement
    assert "\n" not in text and "GiB are expected (an estimate from sizes)" in text
    assert "fewer pieces" in text and "fewer inputs" in text
    drawn = mixcert.estimate_work(wide, np.zeros((2, 2)), simulate=True, draws=10**6).announcement
    assert "fewer draws" in drawn
    assert "or more" in mixcert.estimate_work(wide, np.zeros((2, 2)), epsilon=0.1).announcement


def test_long_work_is_announced_and_stopped(wide):
    inputs = np.random.default_rng(0).normal(size=(2000, 2))
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.warns(mixcert.LongWorkWarning, match="certify: about .* are expected"), pytest.raises(KeyboardInterrupt):
        mixcert.certify(wide, inputs)
    timer.join()


def test_short_work_and_silence(wide):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mixcert.certify(random_network([2, 8, 1]), np.zeros((3, 2)))
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            mixcert.certify(wide, np.zeros((2000, 2)), progress=False)
        timer.join()


def test_lines_on_a_terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    with Progress("certify", 10, None) as shown:
        shown.tick(4)
        time.sleep(1.0)
    text = stream.getvalue()
    assert "\rcertify: 4 of 10 done, 1 s, about " in text and " left\033[K" in text
    assert text.endswith("\r\033[K")


def test_no_lines_elsewhere_unless_asked(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("mixcert._progress._LINE_INTERVAL", 0.05)
    with Progress("certify", 10, None) as quiet:
        time.sleep(0.2)
    assert quiet.tick is None and stream.getvalue() == ""
    with Progress("certify", 10, True):
        time.sleep(0.2)
    assert stream.getvalue().startswith("certify: 0 of 10 done, 1 s\n")


def test_words_before_anything_is_done():
    shown = Progress("certify", 2, False)
    shown.expected = 600.0
    assert shown.line(30.0) == "certify: 0 of 2 done, 30 s, about 10 min left (estimate)"
    assert shown.line(700.0) == "certify: 0 of 2 done, 12 min, longer than the estimated 10 min"
    assert [duration(s) for s in (0.2, 8.4, 600, 9000)] == ["1 s", "8 s", "10 min", "2.5 h"]
