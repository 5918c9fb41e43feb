# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The network that was read from a module against the module's own forward, both without noise: a step that was
misread would give a certificate of another network."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

import numpy as np
import torch
from torch import nn

from ._torch_noise_free import NoMeans, forward
from ._torch_record import first_line
from ._torch_trace import Reading

# Sizes of the inputs: thresholds of activations lie at 6 and 20.
_SCALES = (0.0, 0.1, 0.1, 1.0, 1.0, 1.0, 10.0, 100.0)


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


def check(core: Any, module: nn.Module, reading: Reading, prepare: Callable[[nn.Module], None]) -> List[str]:
    """Raises ValueError where the network `core` is not the module's forward without noise; otherwise what has to
    be said among the assumptions: nothing, where they were compared."""
    inputs = _inputs(core.inputs)
    ours = core.noise_free(inputs)
    given = inputs if len(reading.shape) == 1 else inputs.reshape(len(inputs), *reading.shape)
    failure: Optional[Exception] = None
    # In double precision even small differences show; a module that makes tensors of its own may not allow it.
    for double, precision in ((True, 2.0**-52), (False, _own_precision(module))):
        try:
            theirs = forward(module, given, double, reading, prepare)
        except NoMeans as error:
            return [f"the network read from forward was not compared with the module: {error}"]
        except Exception as error:  # whatever the module's code raises
            failure = error
            continue
        words = _difference(ours, theirs, precision)
        if words is None:
            return []
        raise ValueError(
            f"from_torch: without noise the network read from forward {words}: a step was misread, or forward does "
            "more than its layers"
        )
    return [f"the network read from forward was not compared with the module, which failed: {first_line(failure)}"]
