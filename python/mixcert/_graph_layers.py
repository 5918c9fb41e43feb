# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Layers that join or reshape what others give, with no random numbers of their own (docs/model-format.md)."""

from __future__ import annotations

from typing import Any, Sequence

from . import _core
from ._arguments import whole_number
from ._layers import Layer


class Add(Layer):
    """The sum of the layers of these names, two or more, all of one shape."""

    __slots__ = ()
    _type = "add"

    def __init__(self, *, inputs: Sequence[str], name: str = "") -> None:
        self._become(_core.add(), name, inputs)


class Concat(Layer):
    """The layers of these names one after the other: along channels of images of one size, or features."""

    __slots__ = ()
    _type = "concat"

    def __init__(self, *, inputs: Sequence[str], name: str = "") -> None:
        self._become(_core.concat(), name, inputs)


class Affine(Layer):
    """scale x + shift: one number each, one per channel of an image, or one per value (None: 1 and 0)."""

    __slots__ = ()
    _type = "affine"

    def __init__(self, scale: Any = None, shift: Any = None, *, name: str = "", inputs: Sequence[str] = ()) -> None:
        self._become(_core.affine(name, {"scale": scale, "shift": shift}), inputs=inputs)


class Reshape(Layer):
    """The same values as (n,) or n: a vector, or as (channels, height, width): an image."""

    __slots__ = ()
    _type = "reshape"

    def __init__(self, shape: Any, *, name: str = "", inputs: Sequence[str] = ()) -> None:
        sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
        self._become(_core.reshape([whole_number(size, "shape", 1) for size in sizes]), name, inputs)


class Mean(Layer):
    """The mean of all pixels of each channel: an image becomes a vector."""

    __slots__ = ()
    _type = "mean"

    def __init__(self, *, name: str = "", inputs: Sequence[str] = ()) -> None:
        self._become(_core.mean(), name, inputs)
