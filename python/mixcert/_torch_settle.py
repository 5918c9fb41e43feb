# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Weights that are computed from other parameters: weight_norm, spectral_norm, pruning and parametrizations. In
evaluation mode they are fixed numbers, so a copy of the module gets these numbers as its weights."""

from __future__ import annotations

from typing import Any, List, Tuple

import torch
from torch import nn
from torch.nn.utils import prune
from torch.nn.utils.spectral_norm import SpectralNorm, remove_spectral_norm
from torch.nn.utils.weight_norm import WeightNorm, remove_weight_norm

from . import _torch_layers as layers
from ._torch_record import copied, first_line, set_mode, title


def _hooks(part: nn.Module) -> List[Any]:
    known = (WeightNorm, SpectralNorm, prune.BasePruningMethod)
    return [hook for hook in part._forward_pre_hooks.values() if isinstance(hook, known)]


def _parametrized(part: nn.Module) -> List[str]:
    held = part._modules.get("parametrizations")
    return [] if held is None else list(held._modules)


def is_computed(module: nn.Module) -> bool:
    return any(_hooks(part) or _parametrized(part) for part in module.modules())


def _require_fixed(name: str, part: nn.Module) -> None:
    if layers.random_weight(part) is not None:
        raise ValueError(
            f"from_torch: {title(name, part)}: its weights are random and computed from other parameters; expected one "
            "of both"
        )
    held = part._modules.get("parametrizations")
    if held is not None and any(layers.is_dropout(inner) for inner in held.modules()):
        raise ValueError(f"from_torch: {title(name, part)}: dropout in a parametrization; only dropout of values is there")


def _settle_hooks(part: nn.Module) -> None:
    for hook in _hooks(part):
        if isinstance(hook, WeightNorm):
            remove_weight_norm(part, hook.name)
        elif isinstance(hook, SpectralNorm):
            remove_spectral_norm(part, hook.name)
        else:
            prune.remove(part, hook._tensor_name)


def _settle_parametrizations(part: nn.Module) -> None:
    with torch.no_grad():
        values = {name: getattr(part, name).detach().clone() for name in _parametrized(part)}
    if not values:
        return
    # The class of a parametrized layer, which the caller's has too, has properties in place of parameters.
    del part._modules["parametrizations"]
    part.__class__ = type(part).__bases__[0]
    for name, value in values.items():
        part.register_parameter(name, nn.Parameter(value, requires_grad=False))


def settled(module: nn.Module) -> Tuple[nn.Module, bool]:
    """The module, or where weights are computed a copy in double precision that has their values; and whether it is
    a copy."""
    if not is_computed(module):
        return module, False
    for name, part in module.named_modules():
        if _hooks(part) or _parametrized(part):
            _require_fixed(name, part)
    try:
        own = copied(module).to(torch.float64)
        set_mode(own, False)
        for part in list(own.modules()):
            _settle_hooks(part)
            _settle_parametrizations(part)
    except Exception as error:  # whatever a parametrization raises
        raise ValueError(f"from_torch: weights that are computed could not be ({first_line(error)})") from error
    return own, True
