# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which arrays of a posterior become the weights of which entries: those of layers that act, under the names of their
entries and in the order of mixcert's tensors. What a module holds beside them (buffers, priors) is no weight."""

from __future__ import annotations

from typing import List, Optional

import numpy as np
from torch import nn

from ._torch_graph import Weights
from ._torch_posterior import FLAT, Arrays, Source
from ._torch_trace import Reading


def _owner(key: str, weights: List[Weights]) -> Optional[Weights]:
    """The layer whose name stands in a key, the longest one; keys may have more before it."""
    dotted = "." + key
    found = [own for own in weights if f".{own.module}." in dotted]
    return max(found, key=lambda own: len(own.module), default=None)


def _changed(values: np.ndarray, change: Optional[str]) -> np.ndarray:
    """A kernel as that of a 2-D convolution, [out, in / groups, height, width]."""
    if change is None or values.ndim < 3:
        return values
    own = values[:, :, None, :] if values.ndim == 3 else values
    if not change.startswith("transposed"):
        return own
    groups = int(change.split()[1])
    into, out = own.shape[:2]
    parts = own.reshape(groups, into // groups, out, *own.shape[2:]).swapaxes(1, 2)
    return np.ascontiguousarray(parts.reshape(groups * out, into // groups, *own.shape[2:])[:, :, ::-1, ::-1])


def _is_prior(key: str) -> bool:
    """torch-uncertainty keeps the prior's numbers in modules of their own."""
    return any("prior" in part for part in key.split(".")[:-1])


def _renamed(key: str, own: Weights) -> str:
    dotted = "." + key
    place = dotted.rindex(f".{own.module}.")
    return (dotted[:place] + f".{own.entry}" + dotted[place + 1 + len(own.module) :])[1:]


def own_arrays(arrays: Arrays, reading: Reading) -> Arrays:
    """Of a module that holds its law itself: the layers that act, each as often as it does."""
    chosen: Arrays = []
    modules = {own.module for own in reading.weights}
    for key, values in arrays:
        holder = next((name for name in _prefixes(key) if name in modules), None)
        if holder is None or _is_prior(key[len(holder) + 1 :]):
            continue
        for own in reading.weights:
            if own.module == holder:
                chosen.append((own.entry + key[len(holder) :], _changed(values, own.change)))
    return chosen


def _prefixes(key: str) -> List[str]:
    """The paths of modules in a key, longest first."""
    parts = key.split(".")[:-1]
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]


def given_arrays(source: Source, reading: Reading) -> Arrays:
    """Of a posterior: all of them, since what is not known there may be random."""
    names = [own.module for own in reading.weights]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"from_torch: layer '{twice}' acts twice, and the posterior makes its weights random: one draw in two places "
            "is another law than that of two layers; use two layers"
        )
    turned = next((own.module for own in reading.weights if (own.change or "").startswith("transposed")), None)
    if turned is not None and source.library in FLAT:
        raise ValueError(f"from_torch: layer '{turned}': a transposed convolution in one vector of all parameters is not there")
    made = next((key for key in reading.tensors if key.endswith(".weight")), None)
    if made is not None and source.library in (*FLAT, "pyro", "numpyro") and source.last_layer is None:
        raise ValueError("from_torch: slices, chunks and padding in forward are not there where a posterior holds all weights")
    chosen: Arrays = []
    for key, values in source.arrays:
        own = _owner(key, reading.weights)
        chosen.append((key, values) if own is None else (_renamed(key, own), _changed(values, own.change)))
    return chosen


def require_fixed(module: nn.Module, source: Source, reading: Reading) -> None:
    """Tensors of the module that act beside its layers must not be random under the posterior."""
    if not reading.loose or source.last_layer is not None:
        return
    if source.library == "swag":
        suffix = "_sq_mean"
        random = [key[: -len(suffix)] for key, _ in source.arrays if key.endswith(suffix)]
    else:
        random = [name for name, _ in module.named_parameters()]
    held = {own.module for own in reading.weights}
    for name in random:
        if name.rpartition(".")[0] not in held:
            raise ValueError(
                f"from_torch: parameter '{name}' acts beside the layers, and the posterior may make it random; only weights "
                "of layers can be"
            )


def arrays_of(module: nn.Module, source: Source, reading: Reading, outside: bool) -> Arrays:
    if outside:
        require_fixed(module, source, reading)
        chosen = given_arrays(source, reading)
    else:
        chosen = own_arrays(source.arrays, reading)
    return chosen + list(reading.tensors.items())
