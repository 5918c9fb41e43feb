# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Activations: for each torch's module and function, their arguments, and the entry that they become."""

from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Tuple

import numpy as np
import torch
from torch import nn

from ._torch_graph import Entry, Features, Graph, Unsupported, Value


class Activation(NamedTuple):
    """`arguments` are those of the function with torch's defaults; the module has them as attributes."""

    module: Any  # None: a function alone
    function: str
    make: Callable[..., Entry]
    arguments: Tuple[Tuple[str, Any], ...] = ()
    inplace: bool = True  # has the function this argument?

    def of_module(self, module: Any) -> Entry:
        given = {name: getattr(module, name, default) for name, default in self.arguments}
        return self.make(**given)


def activation(function: str, **more: Any) -> Entry:
    return {"type": "activation", "function": function, **more}


def _plain(function: str) -> Callable[..., Entry]:
    return lambda: activation(function)


def _leaky_relu(negative_slope: float) -> Entry:
    return activation("leaky_relu", slope=float(negative_slope))


def _gelu(approximate: str) -> Entry:
    if approximate != "none":
        raise Unsupported(f"argument approximate={approximate!r}; only 'none' is there")
    return activation("gelu")


def _softplus(beta: float, threshold: float) -> Entry:
    # Above the threshold torch returns x itself, which is softplus(x) to 2e-9 relative at 20.
    if beta != 1 or threshold < 20:
        raise Unsupported(f"arguments beta={beta}, threshold={threshold}; only 1 and at least 20 are there")
    return activation("softplus")


def _with_alpha(function: str) -> Callable[..., Entry]:
    def make(alpha: float) -> Entry:
        if not alpha > 0:
            raise Unsupported(f"argument alpha={alpha}; only numbers above 0 are there")
        return activation(function) if alpha == 1 else activation(function, alpha=float(alpha))

    return make


def hardtanh(min_val: float, max_val: float) -> Entry:
    if not min_val < max_val:
        raise Unsupported(f"expected a lower end below the upper one, got {min_val} and {max_val}")
    if (min_val, max_val) == (-1, 1):
        return activation("hardtanh")
    return activation("hardtanh", lower=float(min_val), upper=float(max_val))


def prelu(graph: Graph, value: Value, slopes: torch.Tensor) -> Value:
    """x above zero and a x below. A slope a for each channel is a sum of branches, a x + (1 - a) relu(x)."""
    numbers = slopes.detach().to("cpu", torch.float64).ravel()
    if bool((numbers == numbers[0]).all()):
        return graph.put(value, activation("prelu", slope=float(numbers[0])))
    if value.shape == (None,):
        raise Features(len(numbers))
    if len(numbers) != value.shape[0]:
        raise Unsupported(f"{len(numbers)} slopes for a value of shape {value.shape}; expected one for each channel")
    per_channel = numbers.numpy().reshape(-1, *(1 for _ in value.shape[1:]))
    a = np.broadcast_to(per_channel, value.shape)
    above = graph.put(value, activation("relu"))
    return graph.add(graph.affine(above, 1.0 - a, 0.0), graph.affine(value, a, 0.0))


def clamp(min: Any = None, max: Any = None) -> Entry:  # noqa: A002
    """Between two numbers, or above zero."""
    numbers = [end for end in (min, max) if end is not None]
    if any(isinstance(end, torch.Tensor) for end in numbers):
        raise Unsupported("it is clamped by tensors; only by numbers is there")
    if len(numbers) == 2:
        return hardtanh(min, max)
    if min == 0 and max is None:
        return activation("relu")
    raise Unsupported(f"arguments min={min}, max={max}; only two numbers, or min=0 alone, are there")


# A class stands before those that it inherits from.
ACTIVATIONS: Tuple[Activation, ...] = (
    Activation(nn.ReLU6, "relu6", _plain("relu6")),
    Activation(nn.ReLU, "relu", _plain("relu")),
    Activation(nn.SiLU, "silu", _plain("silu")),
    Activation(nn.SELU, "selu", _plain("selu")),
    Activation(nn.Mish, "mish", _plain("mish")),
    Activation(nn.Hardswish, "hardswish", _plain("hardswish")),
    Activation(nn.Hardsigmoid, "hardsigmoid", _plain("hardsigmoid")),
    Activation(nn.Tanh, "tanh", _plain("tanh"), inplace=False),
    Activation(nn.Sigmoid, "sigmoid", _plain("sigmoid"), inplace=False),
    Activation(nn.Softsign, "softsign", _plain("softsign"), inplace=False),
    Activation(nn.LogSigmoid, "logsigmoid", _plain("logsigmoid"), inplace=False),
    Activation(nn.Tanhshrink, "tanhshrink", _plain("tanhshrink"), inplace=False),
    Activation(None, "erf", _plain("erf"), inplace=False),
    Activation(nn.LeakyReLU, "leaky_relu", _leaky_relu, (("negative_slope", 0.01),)),
    Activation(nn.GELU, "gelu", _gelu, (("approximate", "none"),), inplace=False),
    Activation(nn.Softplus, "softplus", _softplus, (("beta", 1), ("threshold", 20)), inplace=False),
    Activation(nn.ELU, "elu", _with_alpha("elu"), (("alpha", 1.0),)),
    Activation(nn.CELU, "celu", _with_alpha("celu"), (("alpha", 1.0),)),
    Activation(nn.Hardtanh, "hardtanh", hardtanh, (("min_val", -1.0), ("max_val", 1.0))),
)
BY_FUNCTION: Dict[str, Activation] = {record.function: record for record in ACTIVATIONS}
