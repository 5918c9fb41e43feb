# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What each torch layer is as entries of an architecture (docs/model-format.md).

A layer with another meaning than mixcert's is refused: a silent approximation would make a certificate of another
network.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import torch
from torch import nn

from . import _torch_windows as windows
from ._torch_activations import ACTIVATIONS, prelu
from ._torch_graph import Features, Graph, Unsupported, Value, count
from ._torch_picks import padded
from ._torch_refusals import NO_MEANING
from ._torch_shapes import flattened, unflattened

# Keys of the means of random weights, in a layer's own state dict: bayesian-torch, blitz, torchbnn and
# torch-uncertainty, PyTorch-BayesianCNN, SWAG.
MEAN_KEYS = ("mu_weight", "mu_kernel", "weight_sampler.mu", "weight_mu", "W_mu", "weight_mean")
SOFTMAX = {nn.Softmax: "softmax", nn.LogSoftmax: "log_softmax"}


def random_weight(module: nn.Module) -> Optional[torch.Tensor]:
    """The means of a random layer's weights; None for other modules."""
    state: Dict[str, torch.Tensor] = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    for key in MEAN_KEYS:
        if key in state:
            return state[key]
    return None


# Methods that say what a layer computes.
_FORWARD = ("forward", "_conv_forward")


def is_kind(module: nn.Module, kind: Any) -> bool:
    """A `kind`, or a subclass that computes the same: one with a forward of its own is another layer."""
    return isinstance(module, kind) and all(
        getattr(type(module), name, None) is getattr(kind, name, None) and name not in vars(module)
        for name in _FORWARD
    )


def dense(graph: Graph, value: Value, name: Optional[str], weight: Any) -> Value:
    """`weight` is [out, in]: of the module `name`, or fixed numbers of no module."""
    outputs, inputs = (int(n) for n in weight.shape)
    if value.shape == (None,):
        raise Features(inputs)
    if not value.shape or count(value.shape[:-1]) != 1:
        raise Unsupported("it acts on each row of an image; flatten the image before it")
    if value.shape[-1] != inputs:
        raise Unsupported(f"expected {inputs} values before it, got {value.shape[-1]}")
    before = graph.vector(value)
    own = {"made": weight} if name is None else {"name": graph.weights(name)}
    entry = {"type": "dense", "in": inputs, "out": outputs, **own}
    return graph.put(before, entry, (*value.shape[:-1], outputs), (outputs,), sized=True)


def is_transposed(module: nn.Module) -> bool:
    """Of a library: its weights are [in, out, ...]; the comparison with forward tells where this is wrong."""
    return "Transpose" in type(module).__name__


def random_layer(graph: Graph, value: Value, name: str, module: nn.Module, weight: torch.Tensor) -> Value:
    """A layer of a library of Bayesian layers, by its keys."""
    flag = getattr(module, "freeze", None)
    frozen = getattr(module, "frozen", False) is True or flag is True
    # torchbnn keeps the draw of a frozen layer; its first versions keep every draw and have a flag.
    if frozen or (getattr(module, "weight_eps", None) is not None and not isinstance(flag, bool)):
        raise Unsupported("it is frozen and draws nothing; unfreeze it")
    if weight.dim() == 2:
        return dense(graph, value, name, weight)
    if weight.dim() in (3, 4) and "Flipout" in type(module).__name__:
        raise Unsupported("flipout changes signs at every position, which is another law than that of one random kernel")
    if weight.dim() in (3, 4):
        make = windows.transposed_convolution if is_transposed(module) else windows.convolution
        return make(graph, value, name, module, tuple(weight.shape))
    raise Unsupported(f"weights of shape {tuple(weight.shape)}; expected a dense layer or a convolution")


def dropout(graph: Graph, value: Value, p: float) -> Value:
    return graph.put(value, {"type": "dropout", "rate": float(p)})


def channel_dropout(axes: int) -> Any:
    """One factor for all values of a channel."""

    def make(graph: Graph, value: Value, p: float) -> Value:
        if value.shape == (None,):
            raise Unsupported("the input's size is not known; give input_shape")
        rank = windows.batched(value.shape)
        if rank == 0 and axes == 2:  # torch drops the values of a vector one by one
            return dropout(graph, value, p)
        if rank not in (1, axes):
            raise Unsupported("it drops channels, and its input has none; nn.Dropout drops single values")
        return graph.put(graph.image(value), {"type": "dropout2d", "rate": float(p)})

    return make


ALPHA = 1.7580993408473766  # minus the value at which SELU saturates


def alpha_dropout(graph: Graph, value: Value, p: float) -> Value:
    """a (m x - ALPHA (1 - m)) + a ALPHA p with masks m, P(m = 0) = p, and a = ((1 - p) (1 + p ALPHA^2))^(-1/2).
    Behind x + ALPHA and ordinary dropout, m / (1 - p), it is affine: a (1 - p) y - a (1 - p) ALPHA."""
    if not 0 <= p < 1:
        raise Unsupported(f"a rate of {p}; expected at least 0 and below 1")
    factor = (1 - p) * ((1 - p) * (1 + p * ALPHA**2)) ** -0.5
    moved = graph.affine(value, 1.0, ALPHA)
    return graph.affine(dropout(graph, moved, p), factor, -factor * ALPHA)


def _batch_norm(graph: Graph, value: Value, name: str, module: Any) -> Value:
    if not module.track_running_stats or module.running_mean is None or module.running_var is None:
        raise Unsupported("batch norm without running statistics normalises by the batch")
    features = int(module.num_features)
    if value.shape == (None,):
        raise Features(features)
    axes = 2 if isinstance(module, nn.BatchNorm2d) else len(value.shape) - 1
    if windows.batched(value.shape) != axes or value.shape[0] != features or axes > 2:
        raise Unsupported(f"expected {features} channels before it, got a value of shape {value.shape}")
    before = graph.image(value) if axes else graph.vector(value)
    entry = {"type": "batch_norm", "name": graph.weights(name), "features": features, "epsilon": module.eps}
    return graph.put(before, entry)


DROPOUTS: Dict[type, Any] = {nn.Dropout: dropout, nn.Dropout2d: channel_dropout(2), nn.AlphaDropout: alpha_dropout}
if hasattr(nn, "Dropout1d"):  # torch 1.12
    DROPOUTS[nn.Dropout1d] = channel_dropout(1)
_LINEAR = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.BatchNorm1d, nn.BatchNorm2d)
_SHAPES = (nn.Flatten, nn.Unflatten, nn.Identity, nn.ZeroPad2d)
_POOLS: Dict[type, Any] = {
    nn.MaxPool1d: windows.max_pool(1),
    nn.MaxPool2d: windows.max_pool(2),
    nn.AvgPool1d: windows.average_pool(1),
    nn.AvgPool2d: windows.average_pool(2),
    nn.AdaptiveAvgPool1d: windows.adaptive_pool(1, "avg_pool2d"),
    nn.AdaptiveAvgPool2d: windows.adaptive_pool(2, "avg_pool2d"),
    nn.AdaptiveMaxPool1d: windows.adaptive_pool(1, "max_pool2d"),
    nn.AdaptiveMaxPool2d: windows.adaptive_pool(2, "max_pool2d"),
}
_POOL_ARGUMENTS = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "count_include_pad", "divisor_override", "output_size")
_KINDS = (
    *(record.module for record in ACTIVATIONS if record.module is not None),
    *(nn.PReLU, *DROPOUTS, *_LINEAR, *_SHAPES, *_POOLS, *SOFTMAX),
)


def is_layer(module: nn.Module) -> bool:
    """Taken whole, not read from its forward."""
    return random_weight(module) is not None or any(is_kind(module, kind) for kind in _KINDS)


def is_dropout(module: nn.Module) -> bool:
    return any(is_kind(module, kind) for kind in DROPOUTS)


def _pool(graph: Graph, value: Value, kind: type, module: Any) -> Value:
    if getattr(module, "return_indices", False):
        raise Unsupported("argument return_indices=True; only False is there")
    given = {name: getattr(module, name) for name in _POOL_ARGUMENTS if hasattr(module, name)}
    return _POOLS[kind](graph, value, **given)


def _linear(graph: Graph, value: Value, name: str, module: Any) -> Optional[Value]:
    if is_kind(module, nn.Linear):
        return dense(graph, value, name, module.weight)
    if is_kind(module, nn.BatchNorm1d) or is_kind(module, nn.BatchNorm2d):
        return _batch_norm(graph, value, name, module)
    if is_kind(module, nn.Conv1d) or is_kind(module, nn.Conv2d):
        return windows.convolution(graph, value, name, module, tuple(module.weight.shape))
    if is_kind(module, nn.ConvTranspose1d) or is_kind(module, nn.ConvTranspose2d):
        return windows.transposed_convolution(graph, value, name, module, tuple(module.weight.shape))
    return None


def plain_layer(graph: Graph, value: Value, name: str, module: Any) -> Value:
    """A module of torch.nn behind `value`."""
    for record in ACTIVATIONS:
        if record.module is not None and is_kind(module, record.module):
            return graph.put(value, record.of_module(module))
    for kind, make in DROPOUTS.items():
        if is_kind(module, kind):
            return make(graph, value, module.p)
    for kind in _POOLS:
        if is_kind(module, kind):
            return _pool(graph, value, kind, module)
    for kind, function in SOFTMAX.items():
        if is_kind(module, kind):
            return softmax(value, function, module.dim)
    if is_kind(module, nn.Identity):
        return value
    if is_kind(module, nn.PReLU):
        return prelu(graph, value, module.weight)
    if is_kind(module, nn.Flatten):
        return flattened(graph, value, module.start_dim, module.end_dim)
    if is_kind(module, nn.Unflatten):
        return unflattened(graph, value, module.dim, module.unflattened_size)
    if is_kind(module, nn.ZeroPad2d):
        return padded(graph, value, module.padding, "constant", 0)
    made = _linear(graph, value, name, module)
    if made is None:
        raise Unsupported(NO_MEANING)
    return made


def softmax(value: Value, function: str, dim: Optional[int]) -> Value:
    """Left out; refused by every step behind it but the output."""
    if len(value.shape) != 1 or dim not in (None, 1, -1):
        raise Unsupported("only a softmax over the outputs, at the end, can be left out")
    return value._replace(softmax=function)

