# Licensed under the Apache License, Version 2.0; see LICENSE.
"""from_torch(): a network from a torch module, as it is."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

from torch import nn

from . import _torch_posterior as posteriors
from ._import import import_entries
from ._network import Network
from ._torch_check import check
from ._torch_noise_free import place_means
from ._torch_trace import read


def weight_names(entries: List[Dict[str, Any]]) -> List[str]:
    """Layers with weights in the order in which they act."""
    names: List[str] = []
    for entry in entries:
        if entry["type"] == "residual":
            names += weight_names(entry["layers"])
        elif entry["type"] in ("dense", "conv2d"):
            names.append(entry["name"])
    return names


def _require_order(module: nn.Module, entries: List[Dict[str, Any]], library: str) -> None:
    """One vector of all parameters has the order of module.parameters(); it is cut in the order of forward,
    each layer's weight before its bias, with biases for all layers or for none."""
    acting = weight_names(entries)
    held: List[str] = []
    biases = set()
    for name, _ in module.named_parameters():
        layer, _, kind = name.rpartition(".")
        if layer not in held:
            held.append(layer)
        if kind == "bias":
            biases.add(layer)
    if held != acting:
        raise ValueError(
            f"from_torch: {library} holds one vector of all parameters, layers {', '.join(held)}; expected the "
            f"order in which they act, {', '.join(acting)}"
        )
    if library != "ivon" and biases and biases != set(acting):
        raise ValueError(f"from_torch: {library}: expected biases in all layers or in none")


def _require_untied(module: nn.Module, names: List[str]) -> None:
    """A parameter of two layers is one random variable where a posterior gives its law."""
    owners: Dict[int, str] = {}
    for name in names:
        for parameter in module.get_submodule(name).parameters():
            first = owners.setdefault(id(parameter), name)
            if first != name:
                raise ValueError(
                    f"from_torch: layers '{first}' and '{name}' share a parameter; weights of different layers "
                    "must be independent"
                )


def convert(
    module: Any,
    posterior: Any = None,
    *,
    library: Optional[str] = None,
    input_shape: Any = None,
    dropout: bool = True,
    project: Optional[str] = None,
    scales: Optional[str] = None,
    swag_scale: Optional[float] = None,
) -> Network:
    source = posteriors.find(module, posterior, library)
    root, arrays = source.module, source.arrays
    if not list(root.children()):  # a layer alone
        root = nn.Sequential(root)
        arrays = [(f"0.{name}", value) for name, value in arrays]
    reading = read(root, input_shape, dropout)
    entries, names = reading.entries, weight_names(reading.entries)
    outside = posterior is not None or source.module is not module
    if outside:
        _require_untied(root, names)
    if source.last_layer is not None:
        if names[-1:] != [source.last_layer]:
            raise ValueError(f"from_torch: expected a posterior of the last layer, got one of '{source.last_layer}'")
    elif source.library in posteriors.FLAT and source.module is root:
        _require_order(root, entries, source.library)
    network = import_entries(
        arrays,
        source.library,
        json.dumps(entries),
        project=project,
        scales=scales,
        swag_scale=swag_scale,
    )

    def prepare(own: nn.Module) -> None:
        if outside:
            place_means(own, source.library, dict(arrays), names, source.last_layer)

    shape = None if input_shape is None else tuple(input_shape)
    lines = reading.assumptions + check(network._core, root, shape, reading.noisy, prepare)
    return network if not lines else Network._wrap(network._core.with_assumptions(lines))
