# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Products with tensors of the module that are no layer's: F.linear, x @ W, F.conv2d. They become layers whose weights
are these numbers."""

from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any, Callable, Dict, NamedTuple, Tuple

import numpy as np
import torch
import torch.nn.functional as F

from . import _torch_windows as windows
from ._torch_graph import Graph, Unsupported, Value
from ._torch_layers import dense
from ._torch_shapes import spread

BOTH_SIDES = "both sides come from the input; only a factor that does not is there"


class Product(NamedTuple):
    """`arguments` behind the input with torch's defaults, the weights first."""

    make: Callable[..., Value]
    arguments: Tuple[Tuple[str, Any], ...]


def _numbers(tensor: Any, rank: Tuple[int, ...]) -> np.ndarray:
    if not isinstance(tensor, torch.Tensor):
        raise Unsupported("its weights are no tensor of the module; random and computed ones are known from layers alone")
    if tensor.dim() not in rank:
        raise Unsupported(f"weights of shape {tuple(tensor.shape)}; expected {' or '.join(map(str, rank))} axes")
    return tensor.detach().to("cpu", torch.float64).numpy()


def _shifted(graph: Graph, value: Value, bias: Any) -> Value:
    """Behind a bias per feature or channel."""
    if bias is None:
        return value
    numbers = _numbers(bias, (1,)).reshape(-1, *[1] * (len(value.shape) - 1))
    return graph.affine(value, 1.0, spread(torch.from_numpy(numbers), value))


def _linear(graph: Graph, value: Value, weight: Any, bias: Any) -> Value:
    return _shifted(graph, dense(graph, value, None, _numbers(weight, (2,))), bias)


def _matmul(graph: Graph, value: Value, other: Any) -> Value:
    return dense(graph, value, None, _numbers(other, (2,)).T)


def _convolution(graph: Graph, value: Value, weight: Any, bias: Any, **window: Any) -> Value:
    kernel = _numbers(weight, (3, 4))
    return _shifted(graph, windows.convolution(graph, value, None, SimpleNamespace(**window), kernel.shape, kernel), bias)


_WINDOW = (("stride", 1), ("padding", 0), ("dilation", 1), ("groups", 1))
_LINEAR = Product(_linear, (("weight", None), ("bias", None)))
_MATMUL = Product(_matmul, (("other", None),))
_CONVOLUTION = Product(_convolution, (("weight", None), ("bias", None), *_WINDOW))
FUNCTIONS: Dict[Any, Product] = {
    F.linear: _LINEAR,
    F.conv1d: _CONVOLUTION,
    F.conv2d: _CONVOLUTION,
    **{function: _MATMUL for function in (operator.matmul, torch.matmul, torch.mm)},
}
METHODS: Dict[str, Product] = {"matmul": _MATMUL, "mm": _MATMUL}


def made(graph: Graph, value: Value, product: Product, args: Any, kwargs: Any) -> Value:
    names = [name for name, _ in product.arguments]
    given = {**dict(product.arguments), **dict(zip(names, args)), **{"other" if k == "mat2" else k: v for k, v in kwargs.items()}}
    if len(args) > len(names) or set(given) != set(names):
        raise Unsupported(f"arguments; known are {', '.join(names)}")
    return product.make(graph, value, **given)
