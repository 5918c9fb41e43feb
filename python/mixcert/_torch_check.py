# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The network that was read from a module against the module's own forward, both without noise and with all noise at
one standard deviation: a step or a deviation that was misread would give a certificate of another network."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Set, Tuple

import numpy as np
import torch
from torch import nn

from . import _torch_layers as layers
from ._torch_noise_free import NoMeans, forward
from ._torch_record import first_line
from ._torch_trace import Reading

# Sizes of the inputs: thresholds of activations lie at 6 and 20.
_SCALES = (0.0, 0.1, 1.0, 1.0, 1.0, 10.0, 100.0)
_COUNT = len(_SCALES)


def _inputs(features: int) -> np.ndarray:
    """Fixed; the caller's generators are not touched."""
    draws = np.random.default_rng(20).normal(size=(len(_SCALES), features))
    return draws * np.array(_SCALES)[:, None]


def _difference(ours: np.ndarray, theirs: np.ndarray, precision: float) -> Optional[str]:
    """One line where they differ beyond rounding: by half of the digits, of the largest value of each input."""
    if theirs.shape[:1] != ours.shape[:1] or theirs.size != ours.size:
        return f"gives {ours.shape[1]} outputs for each of {len(ours)} inputs, the module shape {theirs.shape}"
    theirs = theirs.reshape(ours.shape)
    size = np.maximum(np.abs(ours), np.abs(theirs)).max(axis=1, keepdims=True)
    gaps = np.abs(ours - theirs)
    if np.all(gaps <= np.sqrt(precision) * size):
        return None
    worst = float(np.max(np.where(np.isfinite(gaps), gaps, np.inf)))
    return f"differs by up to {worst:.3g} at outputs of up to {float(np.max(size)):.3g}"


def _own_precision(module: nn.Module) -> float:
    kinds = [t.dtype for t in (*module.parameters(), *module.buffers()) if t.is_floating_point()]
    return max((float(torch.finfo(kind).eps) for kind in kinds), default=2.0**-23)


class Misread(ValueError):
    """The network is not the module."""


def _require_same(ours: np.ndarray, theirs: np.ndarray, precision: float, where: str) -> None:
    words = _difference(ours, theirs, precision)
    if words is not None:
        raise Misread(
            f"from_torch: {where} the network read from forward {words}: a step was misread, or forward does more than its "
            "layers"
        )


def _weight_shapes(module: nn.Module) -> Set[Tuple[int, ...]]:
    """Of what is drawn where every random weight is one number."""
    return {
        tuple(value.shape)
        for part in module.modules()
        if layers.random_weight(part) is not None
        for value in part.parameters()
    }


def _said_of_draws(drawn: Set[Any], module: nn.Module) -> Optional[str]:
    """None where all draws are those of weights. Noise on the outputs of a dense layer (local reparametrisation,
    flipout) has the law of random weights at one input, and that is said; on those of a convolution it differs from
    position to position, which is another law than that of one random kernel."""
    if not drawn:
        return "forward draws no weights in evaluation mode; the law that is certified has them random, as their deviations say"
    others = drawn - _weight_shapes(module)
    if not others:
        return None
    wide = [shape for shape in others if shape is not None and len(shape) > 2]
    if wide:
        raise Misread(
            f"from_torch: forward draws noise of shape {wide[0]} at {_COUNT} inputs, apart for every position of an image; "
            "expected one random kernel for all of them"
        )
    return (
        "forward draws noise that is no random weight (local reparametrisation, flipout): its law at one input is taken "
        "for that of random weights, and their deviations were not compared"
    )


def _compare(
    core: Any, module: nn.Module, reading: Reading, prepare: Optional[Callable[[nn.Module], None]], double: bool
) -> List[str]:
    """Means, and where the module draws its weights itself their deviations: with all draws at one deviation above
    their means every weight is its mean plus its deviation."""
    precision = 2.0**-52 if double else _own_precision(module)
    inputs = _inputs(core.inputs)
    given = inputs if len(reading.shape) == 1 else inputs.reshape(len(inputs), *reading.shape)
    theirs = forward(module, given, double, reading, prepare)
    _require_same(core.noise_free(inputs), theirs.values, precision, "without noise")
    if prepare is not None or not _weight_shapes(module):
        return []
    line = _said_of_draws(theirs.drawn, module)
    if line is not None:
        return [line]
    theirs = forward(module, given, double, reading, prepare, deviations=1.0)
    where = "with every random weight one standard deviation above its mean"
    _require_same(core.noise_free(inputs, 1.0), theirs.values, precision, where)
    return []


def check(
    core: Any, module: nn.Module, reading: Reading, prepare: Optional[Callable[[nn.Module], None]] = None
) -> List[str]:
    """`prepare` puts the means of a posterior that is given apart into a module; None: the module has its law itself.
    Raises ValueError where the network `core` is not the module's forward without noise, or has other deviations;
    otherwise what has to be said among the assumptions: nothing, where they were compared."""
    failure: Optional[Exception] = None
    # In double precision even small differences show; a module that makes tensors of its own may not allow it.
    for double in (True, False):
        try:
            return _compare(core, module, reading, prepare, double)
        except NoMeans as error:
            return [f"the network read from forward was not compared with the module: {error}"]
        except Misread:
            raise
        except Exception as error:  # whatever the module's code raises
            failure = error
    return [f"the network read from forward was not compared with the module, which failed: {first_line(failure)}"]
