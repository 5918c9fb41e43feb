# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Certificates as differentiable functions of a network's weights: a bound can be a training loss.

:func:`certify` gives the proven bound of W2 between the network's output law and a Gaussian mixture, and the
mixture's mean and covariance, as tensors. Derivatives in the mean and variance of every weight come from the
reverse mode of the C++ library (docs/theory/gradients.md); torch continues through the formulas that make
means and variances out of its own parameters.
"""

from __future__ import annotations

import json
import warnings
import weakref
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from . import _core
from ._layers import Activation, Dense
from ._torch_check import check
from ._torch_trace import Reading, read


class _Tensors(NamedTuple):

    w2_bound: Tensor  #: [inputs], no smaller than W2(network, mixture)
    mean: Tensor  #: [inputs, outputs], of the mixture; jointly [inputs * outputs], input-major
    covariance: Tensor  #: [inputs, outputs, outputs]


class Certificate(_Tensors):
    """Tensors of double precision; without the first axis for one input, or jointly. `bound` says in words which bound
    w2_bound is, and how that of mixcert.certify may differ."""

    bound: str = ""


def _bound_in_words(method: str, joint: bool) -> str:
    """Of w2_bound."""
    if method == "signature":
        return "that of mixcert.certify(.., method='signature') with the same sizes; by default it takes the moment method"
    text = (
        "that of the coupling alone, (H.3) and (H.7), as mixcert.certify(.., method='moment', theorems='coupling') gives it; "
        "by default mixcert.certify takes the smallest of all theorems, which may be far smaller and has no derivatives"
    )
    return text + "; jointly it truncates before it inverts (J.8), and may be smaller for that too" if joint else text


class Layer(NamedTuple):
    """Independent normal weights [out, in] and biases [out]. None: no bias, no variance."""

    weight_mean: Tensor
    weight_variance: Optional[Tensor] = None
    bias_mean: Optional[Tensor] = None
    bias_variance: Optional[Tensor] = None


LayerLike = Union[Layer, str, Tuple[str, Union[float, Dict[str, float]]]]


def _softplus(rho: Tensor) -> Tensor:
    return nn.functional.softplus(rho, threshold=50.0)


# Names of weight mean, weight scale, bias mean and bias scale, and the formula of the standard deviation.
_CONVENTIONS: List[Tuple[Tuple[str, str, str, str], Callable[[Tensor], Tensor]]] = [
    (("mu_weight", "rho_weight", "mu_bias", "rho_bias"), _softplus),  # bayesian-torch
    (("weight_mu", "weight_log_sigma", "bias_mu", "bias_log_sigma"), torch.exp),  # torchbnn
    (("weight_mu", "weight_sigma", "bias_mu", "bias_sigma"), _softplus),  # torch-uncertainty: rho
    (("weight_sampler.mu", "weight_sampler.rho", "bias_sampler.mu", "bias_sampler.rho"), _softplus),  # blitz
    (("W_mu", "W_rho", "bias_mu", "bias_rho"), _softplus),  # PyTorch-BayesianCNN
]


def _layer_of(name: str, module: nn.Module) -> Layer:
    """Means and variances of a dense layer as functions of its parameters."""
    held: Dict[str, Tensor] = dict(module.named_parameters())
    for keys, deviation in _CONVENTIONS:
        weight, scale, bias, bias_scale = (held.get(key) for key in keys)
        if weight is None or scale is None:
            continue
        spread = None if bias is None or bias_scale is None else deviation(bias_scale) ** 2
        return Layer(weight, deviation(scale) ** 2, bias, spread)
    if isinstance(module, nn.Linear):
        return Layer(module.weight, None, module.bias, None)
    raise ValueError(f"layer '{name}' ({type(module).__name__}): expected a dense layer with known weights")


def _module_of(entry: str, root: nn.Module, reading: Reading) -> Tuple[str, nn.Module]:
    """Whose weights an entry has: one that acts twice has two entries."""
    for own in reading.weights:
        if own.entry == entry:
            return own.module, root.get_submodule(own.module)
    raise ValueError("mixcert.torch: expected dense layers and activations, got a part of a value")


# Modules that were compared with their forward, by the steps that were read: training changes weights alone.
_compared: "weakref.WeakKeyDictionary[nn.Module, str]" = weakref.WeakKeyDictionary()


def layers_of(module: nn.Module) -> List[LayerLike]:
    """The dense layers and activations of a module, in the order in which they act: its means and variances
    with the history that autograd needs. The conventions are those of :func:`mixcert.from_torch` whose
    parameters belong to the module."""
    root = module if list(module.children()) else nn.Sequential(module)
    layers: List[LayerLike] = []
    reading = read(root)
    for entry in reading.entries:
        if entry["type"] == "dense":
            layers.append(_layer_of(*_module_of(entry["name"], root, reading)))
        elif entry["type"] == "activation":
            parameters = {key: entry[key] for key in ("slope", "lower", "upper", "alpha") if key in entry}
            unknown = set(entry) - {"type", "function"} - set(parameters)
            if unknown:
                raise ValueError(f"mixcert.torch: expected {entry['function']} without {', '.join(sorted(unknown))}")
            layers.append((entry["function"], parameters))
        else:
            raise ValueError(f"mixcert.torch: expected dense layers and activations, got {entry['type']}")
    steps = json.dumps(reading.entries)
    if _compared.get(module) != steps:
        plan, tensors = _flattened(layers)
        for line in reading.assumptions + check(plan.network(tensors), root, reading):
            warnings.warn(f"mixcert.torch: {line}", stacklevel=3)
        _compared[module] = steps
    return layers


class _Plan(NamedTuple):
    """The network without its numbers: an activation's name and parameters, or None for the next dense layer."""

    steps: Tuple[Optional[Tuple[str, Dict[str, float]]], ...]

    def network(self, tensors: Sequence[Optional[Tensor]]) -> Any:
        given = iter([None if t is None else t.detach().cpu().double().numpy() for t in tensors])
        layers = []
        for step in self.steps:
            if step is not None:
                layers.append(Activation(step[0], **step[1]))
                continue
            weight, variance, bias, bias_variance = (next(given) for _ in range(4))
            layers.append(Dense(weight, bias, weight_variance=variance, bias_variance=bias_variance))
        return _core.network([layer._core for layer in layers])


class _Certify(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *arguments: Any, **_: Any) -> Any:
        run, *tensors = arguments
        ctx.run = run
        ctx.kinds = [None if t is None else (t.dtype, t.device) for t in tensors]
        device = tensors[0].device
        return tuple(torch.from_numpy(values).to(device) for values in run.values())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, bound: Tensor, mean: Tensor, covariance: Tensor) -> Any:
        layers = ctx.run.gradient(*(bar.cpu().numpy() for bar in (bound, mean, covariance)))
        flat = [part for layer in layers for part in layer]
        gradients = [
            None if kind is None else torch.from_numpy(part).to(dtype=kind[0], device=kind[1])
            for part, kind in zip(flat, ctx.kinds)
        ]
        return (None, *gradients)


def _flattened(layers: Sequence[LayerLike]) -> Tuple[_Plan, List[Optional[Tensor]]]:
    steps: List[Optional[Tuple[str, Dict[str, float]]]] = []
    tensors: List[Optional[Tensor]] = []
    for layer in layers:
        if isinstance(layer, str):
            steps.append((layer, {}))
        elif isinstance(layer, tuple) and layer and isinstance(layer[0], str):
            parameters = layer[1] if isinstance(layer[1], dict) else {"slope": float(layer[1])}
            steps.append((layer[0], parameters))
        else:
            parts = Layer(*layer)
            for part in parts:
                if part is not None and not isinstance(part, Tensor):
                    raise TypeError(f"layers: expected tensors, got {type(part).__name__}")
            steps.append(None)
            tensors += parts
    # Two dense layers in a row, or an activation at an end, make a chain with layers of its own.
    alternating = len(steps) % 2 == 1 and all((step is None) == (i % 2 == 0) for i, step in enumerate(steps))
    if not alternating:
        raise ValueError("layers: expected dense layers with one activation between each two")
    return _Plan(tuple(steps)), tensors


def certify(
    network: Union[nn.Module, Sequence[LayerLike]],
    inputs: Any,
    method: str = "moment",
    joint: bool = False,
    **options: Any,
) -> Certificate:
    """Bound, mean and covariance of :func:`mixcert.certify` as differentiable tensors.

    `network` is a module of dense layers and activations with independent normal weights (its conventions are
    those of `mixcert.from_torch`), or a list of :class:`Layer` with the names of activations between. `inputs` are
    as for `mixcert.certify`; there are no derivatives in them. `method` is "moment" with the theorems of the coupling
    (the bound of `mixcert.certify(..., method="moment", theorems="coupling")`; the other theorems have no derivatives),
    or "signature" with `signature_size` and `components`. `bound` of the certificate says which bound it is in words.

    >>> mean = torch.tensor([[1.0], [-1.0]], dtype=torch.float64, requires_grad=True)
    >>> layers = [Layer(mean, torch.full((2, 1), 0.1)), "tanh", Layer(torch.ones(1, 2), torch.full((1, 2), 0.1))]
    >>> certify(layers, 0.5).w2_bound.backward()
    >>> mean.grad.shape
    torch.Size([2, 1])
    """
    layers = layers_of(network) if isinstance(network, nn.Module) else list(network)
    plan, tensors = _flattened(layers)
    if isinstance(inputs, Tensor):
        if inputs.requires_grad:
            raise ValueError("inputs: expected a tensor without requires_grad, there are no derivatives in it")
        inputs = inputs.detach().cpu().numpy()
    chosen = dict(options, method=method, joint=joint)
    if method == "moment":
        chosen.setdefault("theorems", "coupling")
    run = _core.DifferentiableRun(plan.network(tensors), inputs, chosen)
    values = _Certify.apply(run, *tensors)
    found = Certificate(*(value[0] for value in values) if run.single else values)
    found.bound = _bound_in_words(method, joint)
    return found
