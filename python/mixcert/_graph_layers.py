# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Layers that join or reshape what others give, with no random numbers of their own (docs/model-format.md)."""

from __future__ import annotations

from typing import Any, Sequence

from . import _core
from ._arguments import whole_number
from ._layers import Layer, entry


def Add(*, inputs: Sequence[str], name: str = "") -> Layer:
    """The sum of the layers of these names, two or more, all of one shape."""
    return entry(_core.add(), name, inputs)


def Concat(*, inputs: Sequence[str], name: str = "") -> Layer:
    """The layers of these names one after the other: along channels of images of one size, or features."""
    return entry(_core.concat(), name, inputs)


def Affine(scale: Any = None, shift: Any = None, *, name: str = "", inputs: Sequence[str] = ()) -> Layer:
    """scale x + shift: one number each, one per channel of an image, or one per value (None: 1 and 0)."""
    return entry(_core.affine(name, {"scale": scale, "shift": shift}), "", inputs)


def Reshape(shape: Any, *, name: str = "", inputs: Sequence[str] = ()) -> Layer:
    """The same values as (n,) or n: a vector, or as (channels, height, width): an image."""
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    return entry(_core.reshape([whole_number(size, "shape", 1) for size in sizes]), name, inputs)


def Mean(*, name: str = "", inputs: Sequence[str] = ()) -> Layer:
    """The mean of all pixels of each channel: an image becomes a vector."""
    return entry(_core.mean(), name, inputs)


add, concat, affine, reshape, mean = Add, Concat, Affine, Reshape, Mean
