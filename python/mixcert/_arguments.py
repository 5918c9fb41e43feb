# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Checks of plain arguments, so that a mistake is one clear line."""

from __future__ import annotations

import operator
from typing import Any


def whole_number(value: Any, name: str, low: int, high: int = 2**63 - 1) -> int:
    """`value` as an int in low..high; ValueError otherwise."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not low <= number <= high:
        raise ValueError(f"{name}: expected an integer in {low}..{high}, got {value!r}")
    return number


def seed_number(value: Any) -> int:
    return whole_number(value, "seed", 0, 2**64 - 1)


def pair(value: Any, name: str) -> tuple[int, int]:
    """An integer for both axes, or (height, width)."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(values) != 2:
        raise ValueError(f"{name}: expected an integer or (height, width), got {value!r}")
    first, second = (whole_number(v, name, 0, 2**31 - 1) for v in values)
    return first, second
