# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A torch module with its noise off: a copy in evaluation mode whose random weights are their means. Deviations
are made tiny, and the operations that draw normal numbers and dropout masks give their means instead, so that
layers of every library are run as they are."""

from __future__ import annotations

import contextlib
import random
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

import numpy as np
import torch
from torch import nn

try:
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError:  # torch before 1.13
    TorchDispatchMode: Any = object  # type: ignore[no-redef]

from . import _torch_layers as layers
from ._torch_record import copied, set_mode
from ._torch_trace import Reading

# What the standard deviations of random layers are made of: tiny behind exp and behind log(1 + exp), but not
# zero, for layers that take logarithms of them.
_SCALES = (
    *("rho_weight", "rho_kernel", "rho_bias"),
    *("weight_sampler.rho", "bias_sampler.rho", "weight_sampler.sigma", "bias_sampler.sigma"),
    *("weight_rho", "bias_rho", "W_rho"),
    *("weight_log_sigma", "bias_log_sigma", "weight_sigma", "bias_sigma"),
)
_TINY = -80.0
_OTHER_DRAWS = ("uniform_", "rand", "rand_like", "random_", "exponential_", "log_normal_", "cauchy_", "multinomial")


class NoMeans(Exception):
    """The module cannot be had without noise, for the reason given."""


class NoiseOff(TorchDispatchMode):
    """Draws of normal numbers are `deviations` of their standard deviations above their means, draws of 0 and 1 their
    probabilities. `logits`: softmax and its logarithm give their input, as the network that was read does. `drawn` are
    the shapes of the draws of normal numbers, None among them for draws of other laws."""

    def __init__(self, deviations: float = 0.0, logits: bool = False) -> None:
        super().__init__()
        self.deviations, self.logits = deviations, logits
        self.drawn: Set[Any] = set()

    def normal(self, like: torch.Tensor, mean: Any = 0.0, std: Any = 1.0) -> torch.Tensor:
        """In the memory of `like`."""
        self.drawn.add(tuple(like.shape))
        return like.zero_().add_(torch.as_tensor(std) * self.deviations).add_(mean)

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        more = kwargs or {}
        name, _, overload = function.__name__.partition(".")
        if self.logits and name in ("_softmax", "_log_softmax"):
            return args[0].clone()
        if name in ("randn", "randn_like"):
            return self.normal(function(*args, **more))
        if name == "normal_":
            given = {**dict(zip(("mean", "std"), args[1:])), **{key: more[key] for key in ("mean", "std") if key in more}}
            return self.normal(args[0], **given)
        if name == "normal" and overload in ("Tensor_Tensor", "Tensor_float", "float_Tensor", "float_float"):
            given = dict(zip(("mean", "std"), (*args[:2], *([more["std"]] if "std" in more and len(args) < 2 else ()))))
            return self.normal(function(*args, **more), **given)
        if name == "bernoulli_" and overload == "float":
            return args[0].fill_(args[1] if len(args) > 1 else more.get("p", 0.5))
        if name == "bernoulli" and overload == "default":
            return args[0].clone()
        if name == "native_dropout":
            return args[0].clone(), torch.ones_like(args[0], dtype=torch.bool)
        if name in _OTHER_DRAWS:
            self.drawn.add(None)
        return function(*args, **more)


@contextlib.contextmanager
def _random_states_kept(device: torch.device) -> Iterator[None]:
    python, numpy = random.getstate(), np.random.get_state()
    devices = [device] if device.type == "cuda" else []
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


def _put(module: nn.Module, name: str, value: np.ndarray) -> None:
    """Sets a parameter or buffer, also one that is not there: SWAG takes the parameters of its layers away, Pyro
    has samples in their place."""
    path, _, last = name.rpartition(".")
    holder = module.get_submodule(path)
    old = getattr(holder, last, None) if last in holder._parameters or last in holder._buffers else None
    if isinstance(old, torch.Tensor):
        with torch.no_grad():
            old.copy_(torch.as_tensor(value).reshape(old.shape))
        return
    like = next(iter(module.parameters()), torch.zeros(()))
    setattr(holder, last, nn.Parameter(torch.as_tensor(value).to(like.device), requires_grad=False))


def _put_vector(module: nn.Module, vector: np.ndarray) -> None:
    """torch's own order of one vector of all parameters."""
    parameters = list(module.parameters())
    if sum(p.numel() for p in parameters) != vector.size:
        raise NoMeans("the vector of means has another size than the module's parameters")
    with torch.no_grad():
        nn.utils.vector_to_parameters(torch.as_tensor(vector.ravel()).to(parameters[0].dtype), parameters)


def _numpyro_name(site: str) -> Tuple[str, bool]:
    """The parameter of a site LAYER.kernel, LAYER.bias, LAYER.w or wN, and whether it is a kernel [in, out]."""
    layer, _, last = site.replace("/", ".").rpartition(".")
    kind = "".join(c for c in last if not c.isdigit())
    digits = last[len(kind) :]
    where = ".".join(part for part in (layer, digits) if part)
    kernel = kind in ("kernel", "w", "W")
    return f"{where}.{'weight' if kernel else 'bias'}", kernel


def place_means(
    module: nn.Module,
    library: str,
    arrays: Dict[str, np.ndarray],
    names: List[str],
    last_layer: Optional[str] = None,
) -> None:
    """Puts the means of a posterior that is not the module's own into the module. `names` are the layers with
    weights; each has to get its own, or `last_layer` alone."""
    for key in ("loc", "mu", "mean"):
        if library in ("pyro-diagonal", "vogn", "laplace") and key in arrays:
            return _put_vector(module if last_layer is None else module.get_submodule(last_layer), arrays[key])
    means: Dict[str, np.ndarray] = {}
    for key, value in arrays.items():
        dotted = "." + key
        if library == "pyro" and ".locs." in dotted:
            means[dotted.rpartition(".locs.")[2]] = value
        elif library == "numpyro" and key.endswith("_auto_loc"):
            name, kernel = _numpyro_name(key[: -len("_auto_loc")])
            means[name] = value.T if kernel else value
        elif library == "swag" and key.endswith("_mean") and key[: -len("_mean")] + "_sq_mean" in arrays:
            means[key[: -len("_mean")]] = value
        elif library not in ("pyro", "numpyro"):
            means.setdefault(key, value)
    for name in names:
        layer = module.get_submodule(name)
        own = dict(layer.named_parameters())
        for kind in dict.fromkeys((*own, "weight", "bias")):
            full = f"{name}.{kind}"
            found = [key for key in means if key == full or full.endswith("." + key) or key.endswith("." + full)]
            if found:
                _put(module, full, means[min(found, key=lambda key: abs(len(key) - len(full)))])
            elif kind in own and kind in ("weight", "bias", *layers.MEAN_KEYS):
                raise NoMeans(f"the posterior has no mean of '{full}'")


def _quiet_scales(module: nn.Module) -> None:
    for part in module.modules():
        if layers.random_weight(part) is None:
            continue
        for name, parameter in part.named_parameters():
            if name in _SCALES:
                parameter.data.fill_(_TINY)


def _outputs(given: Any, places: List[Any]) -> torch.Tensor:
    """The outputs that were read, one after the other."""
    if len(places) > 1:
        return torch.cat([given[place].reshape(len(given[place]), -1) for place in places], 1)
    return given[places[0]] if places else given


class Outputs(NamedTuple):
    values: np.ndarray  # [inputs, ...]
    drawn: Set[Any]  # see NoiseOff


def forward(
    module: nn.Module, inputs: np.ndarray, double: bool, reading: Reading, prepare: Any, deviations: float = 0.0
) -> Outputs:
    """Of a copy of `module` at `inputs`. `prepare` puts means into the copy; `double`: in double precision; `reading`
    says whether draws have to be replaced, and what was left out; `deviations`: of the draws above their means."""
    changed = reading.noisy or bool(reading.softmax)
    if changed and TorchDispatchMode is object:
        raise NoMeans("torch before 1.13 cannot run it without noise")
    own = copied(module)
    set_mode(own, False)
    held = [*own.parameters(), *own.buffers()]
    like = next((t for t in held if t.is_floating_point()), torch.zeros(()))
    kind = torch.float64 if double else like.dtype
    # First to double precision and then the means, which may have more digits than the module's parameters.
    if prepare is not None:
        prepare(own.to(kind))
    own = own.to(kind)
    if deviations == 0:
        _quiet_scales(own)
    x = torch.as_tensor(inputs).to(dtype=kind, device=like.device)
    mode: Any = NoiseOff(deviations, bool(reading.softmax)) if changed else contextlib.nullcontext()
    with _random_states_kept(like.device), torch.no_grad(), mode:
        output = _outputs(own(x), reading.places)
    return Outputs(output.detach().to("cpu", torch.float64).numpy(), mode.drawn if changed else set())
