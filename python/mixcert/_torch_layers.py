# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What each torch layer and function is as an entry of an architecture (docs/model-format.md).

An entry is a dict. A layer with another meaning than mixcert's is refused: a silent approximation would make
a certificate of another network.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

import torch
from torch import nn

from ._torch_windows import Entry, Shape, Unsupported, adaptive_pool, average_pool, max_pool, pair, window

# Keys of the means of random weights, in a layer's own state dict: bayesian-torch, blitz, torchbnn and
# torch-uncertainty, PyTorch-BayesianCNN, SWAG.
MEAN_KEYS = ("mu_weight", "mu_kernel", "weight_sampler.mu", "weight_mu", "W_mu", "weight_mean")


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


def _dense(name: str, outputs: int, inputs: int, shape: Shape) -> Entry:
    if shape is not None and shape[:2] != (1, 1):
        raise Unsupported("it acts on each row of an image; flatten the image before it")
    return {"type": "dense", "name": name, "in": int(inputs), "out": int(outputs)}


def _padding(module: Any, kernel: Tuple[int, ...], dilation: Tuple[int, ...]) -> Tuple[int, int]:
    if module.padding == "valid":
        return 0, 0
    if module.padding == "same":
        total = [d * (k - 1) for k, d in zip(kernel, dilation)]
        if any(t % 2 for t in total):
            raise Unsupported("padding 'same' of an even kernel pads one side more than the other")
        return total[0] // 2, total[1] // 2
    return pair(module.padding)


def convolution(name: str, module: Any, weight_shape: Tuple[int, ...], shape: Shape) -> Tuple[Entry, Shape]:
    if shape is None:
        raise Unsupported("a convolution needs input_shape=(channels, height, width)")
    if getattr(module, "padding_mode", "zeros") != "zeros":
        raise Unsupported(f"padding_mode {module.padding_mode!r}; only 'zeros' is there")
    kernel, dilation = tuple(int(n) for n in weight_shape[2:]), pair(getattr(module, "dilation", 1))
    groups = int(getattr(module, "groups", 1))
    entry: Entry = {
        "type": "conv2d",
        "name": name,
        "in": int(weight_shape[1]) * groups,
        "out": int(weight_shape[0]),
        "height": shape[1],
        "width": shape[2],
        "kernel": list(kernel),
        "stride": list(pair(module.stride)),
        "padding": list(_padding(module, kernel, dilation)),
        "dilation": list(dilation),
        "groups": groups,
    }
    return entry, (entry["out"], *window(shape, entry, dilation))


def random_layer(name: str, module: nn.Module, weight: torch.Tensor, shape: Shape) -> Tuple[Entry, Shape]:
    """A layer of a library of Bayesian layers, by its keys."""
    if weight.dim() == 2:
        return _dense(name, weight.shape[0], weight.shape[1], shape), None
    if weight.dim() == 4:
        return convolution(name, module, tuple(weight.shape), shape)
    raise Unsupported(f"weights of shape {tuple(weight.shape)}; expected a dense layer or a 2-D convolution")


def activation(function: str, **more: Any) -> Entry:
    return {"type": "activation", "function": function, **more}


def leaky_relu(negative_slope: float) -> Entry:
    return activation("leaky_relu", slope=float(negative_slope))


def gelu(approximate: str = "none") -> Entry:
    if approximate != "none":
        raise Unsupported(f"argument approximate={approximate!r}; only 'none' is there")
    return activation("gelu")


def softplus(beta: float = 1.0, threshold: float = 20.0) -> Entry:
    # Above the threshold torch returns x itself, which is softplus(x) to 2e-9 relative at 20.
    if beta != 1 or threshold < 20:
        raise Unsupported(
            f"arguments beta={beta}, threshold={threshold}; only 1 and at least 20 are there"
        )
    return activation("softplus")


def elu(alpha: float = 1.0) -> Entry:
    if alpha != 1:
        raise Unsupported(f"argument alpha={alpha}; only 1 is there")
    return activation("elu")


def dropout(rate: float) -> Entry:
    return {"type": "dropout", "rate": float(rate)}


def dropout2d(rate: float) -> Entry:
    return {"type": "dropout2d", "rate": float(rate)}


def _batch_norm(name: str, module: Any) -> Entry:
    if not module.track_running_stats or module.running_mean is None or module.running_var is None:
        raise Unsupported("batch norm without running statistics normalises by the batch")
    return {"type": "batch_norm", "name": name, "features": module.num_features, "epsilon": module.eps}


# Modules whose output has the shape of their input.
SAME_SHAPE: Dict[type, Callable[[Any], Optional[Entry]]] = {
    nn.ReLU: lambda m: activation("relu"),
    nn.Tanh: lambda m: activation("tanh"),
    nn.Sigmoid: lambda m: activation("sigmoid"),
    nn.SiLU: lambda m: activation("silu"),
    nn.GELU: lambda m: gelu(getattr(m, "approximate", "none")),
    nn.LeakyReLU: lambda m: leaky_relu(m.negative_slope),
    nn.Softplus: lambda m: softplus(m.beta, m.threshold),
    nn.ELU: lambda m: elu(m.alpha),
    nn.Dropout: lambda m: dropout(m.p),
    nn.Identity: lambda m: None,
}


_LAYERS = (
    *SAME_SHAPE,
    *(nn.Linear, nn.Conv2d, nn.BatchNorm1d, nn.BatchNorm2d, nn.Flatten, nn.Dropout2d),
    *(nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d),
)


def is_layer(module: nn.Module) -> bool:
    """Taken whole, not read from its forward."""
    return random_weight(module) is not None or any(is_kind(module, kind) for kind in _LAYERS)


def flattened(shape: Shape) -> Tuple[Optional[Entry], Shape]:
    return (None, None) if shape is None else ({"type": "flatten"}, None)


def flattened_axes(shape: Shape, start_dim: int, end_dim: int) -> Tuple[Optional[Entry], Shape]:
    axes = 2 if shape is None else 4  # the first counts inputs
    if start_dim not in (1, 1 - axes) or end_dim not in (axes - 1, -1):
        raise Unsupported(
            f"arguments start_dim={start_dim}, end_dim={end_dim}; only all axes but the first can be flattened"
        )
    return flattened(shape)


def plain_layer(name: str, module: Any, shape: Shape) -> Tuple[Optional[Entry], Shape]:
    """A module of torch.nn: its entry (None: it changes nothing) and the shape behind it."""
    for kind, make in SAME_SHAPE.items():
        if is_kind(module, kind):
            return make(module), shape
    if is_kind(module, nn.Linear):
        return _dense(name, module.out_features, module.in_features, shape), None
    if is_kind(module, nn.Conv2d):
        weight_shape = (module.out_channels, module.in_channels // module.groups, *module.kernel_size)
        return convolution(name, module, weight_shape, shape)
    if is_kind(module, nn.BatchNorm1d) or is_kind(module, nn.BatchNorm2d):
        return _batch_norm(name, module), shape
    if is_kind(module, nn.Dropout2d):
        if shape is None:
            raise Unsupported("it drops channels of images, and its input is no image")
        return dropout2d(module.p), shape
    if is_kind(module, nn.Flatten):
        return flattened_axes(shape, module.start_dim, module.end_dim)
    moves = [getattr(module, key, None) for key in ("kernel_size", "stride", "padding")]
    if is_kind(module, nn.MaxPool2d):
        if module.return_indices:
            raise Unsupported("argument return_indices=True; only False is there")
        return max_pool(shape, *moves, module.dilation, module.ceil_mode)
    if is_kind(module, nn.AvgPool2d):
        counts = (module.count_include_pad, module.divisor_override)
        return average_pool(shape, *moves, module.ceil_mode, *counts)
    if is_kind(module, nn.AdaptiveAvgPool2d):
        return adaptive_pool(shape, module.output_size)
    if isinstance(module, (nn.Softmax, nn.LogSoftmax)):
        raise Unsupported("leave it out: certify the logits and ask the result for predict_proba()")
    raise Unsupported("no layer of mixcert has its meaning")
