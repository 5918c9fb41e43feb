# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Where a posterior keeps its numbers: modules, guides, optimizers and Laplace objects, by what they have and
not by what they are called, so that no library has to be installed. The formulas are in the C++ library."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np
import torch
from torch import nn

from ._torch_record import copied

Arrays = List[Tuple[str, np.ndarray]]

# The first ending that a key has says whose convention it is.
_KEY_OF_LIBRARY = (
    ("mu_weight", "bayesian-torch"),
    ("mu_kernel", "bayesian-torch"),
    ("weight_log_sigma", "torchbnn"),
    ("weight_sigma", "torch-uncertainty"),
    ("weight_sampler.mu", "blitz"),
    ("W_mu", "bayesian-cnn"),
    ("weight_sq_mean", "swag"),
    ("prior_precision", "laplace"),
    ("param_groups.0.hess", "ivon"),
    ("Precision", "vogn"),
    ("scale_unconstrained", "pyro-diagonal"),
)
_LAPLACE = ("mean", "H", "prior_precision", "sigma_noise", "temperature")
FLAT = ("pyro-diagonal", "vogn", "laplace", "ivon")


class Source(NamedTuple):
    module: nn.Module  # says the layers
    arrays: Arrays
    library: str
    last_layer: Optional[str] = None  # the only one that is random, where a posterior is of one layer


def _numbers(value: Any) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().to(torch.float64).numpy()
    return np.asarray(value, dtype=np.float64)


def _entry(name: Any, value: Any) -> Tuple[str, np.ndarray]:
    """Of a dictionary that the user wrote."""
    try:
        return str(name), _numbers(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"from_torch: posterior['{name}']: expected an array of numbers, got {type(value).__name__}; a dictionary has "
            "one array for each mean and each deviation, under a library's key names"
        ) from None


def _state(module: nn.Module) -> Arrays:
    return [(name, _numbers(value)) for name, value in module.state_dict().items() if value is not None]


def detect_library(names: List[str]) -> str:
    """plain, where no key is another library's."""
    for ending, library in _KEY_OF_LIBRARY:
        if any(name == ending or name.endswith("." + ending) for name in names):
            return library
    if any("_auto_loc" in name for name in names):
        return "numpyro"
    if any(name.startswith("locs.") or ".locs." in name for name in names):
        return "pyro"
    return "loc" in names and "pyro-diagonal" or "plain"


def is_laplace(value: Any) -> bool:
    return not isinstance(value, (nn.Module, Mapping)) and all(hasattr(value, name) for name in _LAPLACE)


def _is_swag(value: Any) -> bool:
    return isinstance(value, nn.Module) and any(key.endswith("weight_sq_mean") for key in value.state_dict())


def _laplace_arrays(laplace: Any) -> Arrays:
    arrays = [(name, _numbers(getattr(laplace, name))) for name in _LAPLACE if name != "H"]
    hessian = getattr(laplace, "H_facs", None) or laplace.H
    factors = getattr(hessian, "kfacs", None)
    if factors is None:
        if not isinstance(hessian, (torch.Tensor, np.ndarray)):
            raise ValueError(f"from_torch: expected H as a tensor or with kfacs, got {type(hessian).__name__}")
        return arrays + [("H", _numbers(hessian))]
    for i, pair in enumerate(factors):
        tensors = pair if isinstance(pair, (tuple, list)) else [pair]
        arrays += [(f"H.{i}.{k}", _numbers(tensor)) for k, tensor in enumerate(tensors)]
    return arrays


def _last_layer_module(laplace: Any) -> Optional[Tuple[nn.Module, str]]:
    """Of a last-layer Laplace object: a copy of the user's module without the hook by which the library reads
    features, and the name of the layer. None where all weights are random."""
    extractor = laplace.model
    inner, last = getattr(extractor, "model", None), getattr(extractor, "last_layer", None)
    if not isinstance(inner, nn.Module) or not isinstance(last, nn.Module):
        return None
    name = next(name for name, part in inner.named_modules() if part is last)
    module = copied(inner)
    kept = module.get_submodule(name)._forward_hooks
    for key, hook in list(kept.items()):
        theirs = getattr(hook, "__qualname__", "").startswith(type(extractor).__name__ + ".")
        if theirs and hook.__module__ == type(extractor).__module__:
            del kept[key]
    return module, name


def _optimizer_arrays(module: nn.Module, optimizer: Any) -> Arrays:
    """IVON keeps the means in the module and the Hessian in its groups; VOGN both in its state."""
    group: Dict[str, Any] = optimizer.param_groups[0]
    if "hess" in group:
        if len(optimizer.param_groups) > 1:
            raise ValueError("from_torch: expected an optimizer with one group of parameters, got several")
        ours = [parameter for parameter in module.parameters() if parameter.requires_grad]
        if [id(p) for p in group["params"]] != [id(p) for p in ours]:
            raise ValueError("from_torch: expected an optimizer of the module's own parameters, in their order")
        names = ("hess", "ess", "weight_decay")
        return _state(module) + [(f"param_groups.0.{name}", _numbers(group[name])) for name in names]
    if "mu" in optimizer.state and "Precision" in optimizer.state:
        return [(name, _numbers(optimizer.state[name])) for name in ("mu", "Precision")]
    raise ValueError("from_torch: expected an optimizer of IVON (hess) or VOGN (mu, Precision)")


def _batch_norm_arrays(module: nn.Module) -> Arrays:
    """Of every batch norm, also what it has not learnt: a factor of one, no offset."""
    arrays: Arrays = []
    for name, layer in module.named_modules():
        if not isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)) or layer.running_mean is None:
            continue
        ones = np.ones(layer.num_features)
        given = {"weight": layer.weight, "bias": layer.bias}
        for key, value in given.items():
            arrays.append((f"{name}.{key}", ones * (key == "weight") if value is None else _numbers(value)))
        arrays.append((f"{name}.running_mean", _numbers(layer.running_mean)))
        arrays.append((f"{name}.running_var", _numbers(layer.running_var)))
    return arrays


def find(module: Any, posterior: Any, library: Optional[str]) -> Source:
    """The arrays of `posterior`, or of the module itself where none is given."""
    given = module if posterior is None else posterior
    if _is_swag(given) and isinstance(getattr(given, "base", None), nn.Module):
        given = given.base
        module = given if posterior is None else module
    last_layer: Optional[str] = None
    if is_laplace(given):
        if hasattr(given, "subnetwork_indices"):
            raise ValueError(
                "from_torch: a Laplace object of a subnetwork: weights of all layers may be random and correlated; "
                "use the last layer or all weights with Kronecker factors"
            )
        arrays = _laplace_arrays(given)
        of_last = _last_layer_module(given)
        if of_last is None:
            module = given.model if posterior is None else module
        else:
            module, last_layer = of_last
            arrays += _state(module)
    elif isinstance(given, torch.optim.Optimizer):
        arrays = _optimizer_arrays(module, given)
    elif isinstance(given, nn.Module):
        arrays = _state(given)
    elif isinstance(given, Mapping):
        arrays = [_entry(name, value) for name, value in given.items()]
    elif posterior is not None:
        raise TypeError(
            "from_torch: posterior: expected a guide, an optimizer, a Laplace object, a module or a dictionary of arrays, got "
            + type(given).__name__
        )
    else:
        raise TypeError(f"from_torch: expected a torch.nn.Module, got {type(given).__name__}")
    if not isinstance(module, nn.Module):
        raise TypeError(f"from_torch: expected a torch.nn.Module, got {type(module).__name__}")
    known = {name for name, _ in arrays}
    arrays += [(name, value) for name, value in _batch_norm_arrays(module) if name not in known]
    return Source(module, arrays, library or detect_library([name for name, _ in arrays]), last_layer)
