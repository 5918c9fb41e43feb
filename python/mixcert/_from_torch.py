# Licensed under the Apache License, Version 2.0; see LICENSE.
"""from_torch(): a network from a torch module, as it is."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

import torch
from torch import nn

from . import _torch_posterior as posteriors
from ._import import import_entries
from ._network import Network
from ._torch_arrays import arrays_of
from ._torch_check import check
from ._torch_noise_free import place_means
from ._torch_settle import settled
from ._torch_trace import Reading, read


def weight_names(reading: Reading, entries: Optional[List[Dict[str, Any]]] = None) -> List[str]:
    """Modules with weights in the order in which they act; batch norms are none."""
    modules = {own.entry: own.module for own in reading.weights}
    names: List[str] = []
    for entry in reading.entries if entries is None else entries:
        if entry["type"] == "residual":
            names += weight_names(reading, entry["layers"])
        elif entry["type"] in ("dense", "conv2d") and entry["name"] in modules:
            names.append(modules[entry["name"]])
    return names


def _require_order(module: nn.Module, acting: List[str], library: str) -> None:
    """One vector of all parameters has the order of module.parameters(); it is cut in the order of forward,
    each layer's weight before its bias, with biases for all layers or for none."""
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


def _require_layers(module: nn.Module, source: posteriors.Source, names: List[str]) -> None:
    if source.last_layer is not None:
        if names[-1:] != [source.last_layer]:
            raise ValueError(f"from_torch: expected a posterior of the last layer, got one of '{source.last_layer}'")
    elif source.library in posteriors.FLAT and source.module is module:
        _require_order(module, names, source.library)


def _plain(module: Any) -> Any:
    """Behind wrappers that compute the same; modules that are no Python code any more, or not yet, are refused."""
    while isinstance(module, (nn.DataParallel, nn.parallel.DistributedDataParallel)):
        module = module.module
    if isinstance(module, torch.jit.ScriptModule):
        raise ValueError("from_torch: a module of torch.jit; expected the torch.nn.Module that it was made from")
    if isinstance(module, nn.Module):
        for name, value in (*module.named_parameters(), *module.named_buffers()):
            if nn.parameter.is_lazy(value):
                raise ValueError(f"from_torch: '{name}' has no values yet: run the module once, so that lazy layers get their sizes")
    return module


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
    module = _plain(module)
    fixed, computed = settled(module) if isinstance(module, nn.Module) else (module, False)
    if computed and posterior is not None:
        raise ValueError("from_torch: weights that are computed from parameters of a posterior; expected plain weights")
    source = posteriors.find(fixed, posterior, library)
    outside = posterior is not None or source.module is not fixed
    root, compared = source.module, module if computed else source.module
    if not list(root.children()):  # a layer alone
        root, compared = nn.Sequential(root), nn.Sequential(compared)
        source = source._replace(arrays=[(f"0.{name}", value) for name, value in source.arrays])

    def network_of(reading: Reading) -> Network:
        return import_entries(
            arrays_of(root, source, reading, outside),
            source.library,
            json.dumps(reading.entries),
            project=project,
            scales=scales,
            swag_scale=swag_scale,
        )

    reading = read(root, input_shape, dropout)
    names = weight_names(reading)
    if not names and not reading.tensors:
        raise ValueError("from_torch: expected a layer with weights among those that forward uses")
    if outside:
        _require_untied(root, names)
    _require_layers(root, source, names)
    network = network_of(reading)
    # Dropout that changes the mean is not there in evaluation mode, in which both are compared.
    plain = read(root, input_shape, False) if reading.shifts else reading
    core = network_of(plain)._core if reading.shifts else network._core

    def prepare(own: nn.Module) -> None:
        place_means(own, source.library, dict(source.arrays), names, source.last_layer)

    lines = reading.assumptions + check(core, compared, plain, prepare if outside else None)
    return network if not lines else Network._wrap(network._core.with_assumptions(lines))
