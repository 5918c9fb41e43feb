# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The order in which a torch module applies its layers, read from its own forward by torch.fx."""

from __future__ import annotations

import operator
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import fx, nn

from . import _torch_layers as layers
from ._torch_layers import Entry, Shape, Unsupported


class _Value(NamedTuple):
    """What one step of forward computes: the layers behind it, from the input on."""

    entries: Tuple[Entry, ...]
    shape: Shape

    def then(self, entry: Optional[Entry], shape: Shape) -> "_Value":
        return _Value(self.entries if entry is None else self.entries + (entry,), shape)


class _Pair(fx.Proxy):
    """Layers of some libraries return (output, divergence)."""

    def __iter__(self) -> Iterator[fx.Proxy]:
        pair: Any = self
        return iter((pair[0], pair[1]))


class _Tracer(fx.Tracer):
    def is_leaf_module(self, module: nn.Module, name: str) -> bool:
        return layers.is_layer(module) or super().is_leaf_module(module, name)

    def proxy(self, node: fx.Node) -> fx.Proxy:
        return _Pair(node, self)


class _Walk:
    """Follows the steps of forward. Values that do not come from the input by layers are None: sizes,
    divergences."""

    def __init__(self, module: nn.Module, shape: Shape) -> None:
        self.module, self.shape = module, shape
        self.values: Dict[fx.Node, Optional[_Value]] = {}
        self.names: List[str] = []
        self.result: Optional[_Value] = None

    def run(self, graph: fx.Graph) -> List[Entry]:
        for node in graph.nodes:
            try:
                self.values[node] = getattr(self, node.op)(node)
            except Unsupported as error:
                raise ValueError(f"from_torch: {self.title(node)}: {error}") from None
        if self.result is None or not self.result.entries:
            raise ValueError("from_torch: expected a module whose output comes from its input by layers")
        return list(self.result.entries)

    def title(self, node: Any) -> str:
        if node.op == "call_module":
            kind = type(self.module.get_submodule(node.target)).__name__
            return f"layer '{node.target}' ({kind})"
        name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "?")
        return f"step '{name}' of forward"

    def value(self, argument: Any) -> Optional[_Value]:
        return self.values[argument] if isinstance(argument, fx.Node) else None

    def placeholder(self, node: Any) -> Optional[_Value]:
        return _Value((), self.shape) if not self.values else None

    def get_attr(self, node: Any) -> Optional[_Value]:
        return None

    def output(self, node: Any) -> None:
        given = node.args[0]
        self.result = self.value(given[0] if isinstance(given, (tuple, list)) else given)

    def call_module(self, node: Any) -> _Value:
        before = self.value(node.args[0]) if node.args else None
        if before is None:
            raise Unsupported("expected a layer that acts on what the input has become")
        module = self.module.get_submodule(node.target)
        if module._forward_hooks or module._forward_pre_hooks:
            raise Unsupported("hooks may change what it computes; remove them")
        weight = layers.random_weight(module)
        if weight is None:
            entry, shape = layers.plain_layer(node.target, module, before.shape)
        else:
            entry, shape = layers.random_layer(node.target, module, weight, before.shape)
        if entry is not None and "name" in entry:
            if node.target in self.names:
                raise Unsupported("it acts twice; weights of different layers must be independent")
            self.names.append(node.target)
        return before.then(entry, shape)

    def call_method(self, node: Any) -> Optional[_Value]:
        before = self.value(node.args[0])
        if before is None or node.target in ("size", "dim"):
            return None
        if node.target in ("view", "reshape"):
            sizes = node.args[1] if isinstance(node.args[1], (tuple, list)) else node.args[1:]
            if len(sizes) != 2:
                raise Unsupported("expected (batch, features)")
            return before.then(*layers.flattened(before.shape))
        return self.function(node.target, before, node.args[1:], node.kwargs)

    def call_function(self, node: Any) -> Optional[_Value]:
        if node.target in (operator.add, operator.iadd, torch.add):
            return self.sum(self.value(node.args[0]), self.value(node.args[1]))
        before = self.value(node.args[0]) if node.args else None
        if before is None or node.target is getattr:
            return None
        if node.target is operator.getitem:
            return self.item(node, before)
        return self.function(node.target.__name__, before, node.args[1:], node.kwargs)

    def item(self, node: Any, before: _Value) -> Optional[_Value]:
        """The output of a layer that returns (output, divergence)."""
        maker = node.args[0]
        if maker.op != "call_module" or layers.random_weight(self.module.get_submodule(maker.target)) is None:
            raise Unsupported("indexing of anything but what a random layer returns")
        return before if node.args[1] == 0 else None

    def function(self, name: str, before: _Value, args: Any, kwargs: Any) -> _Value:
        """Functions of torch and torch.nn.functional, and methods of tensors, by name."""
        name = name.rstrip("_")
        if name in ("relu", "tanh", "sigmoid", "erf", "silu"):
            return before.then(layers.activation(name), before.shape)
        if name == "flatten":
            given = dict(zip(("start_dim", "end_dim"), args), **kwargs)
            if (given.get("start_dim", 0), given.get("end_dim", -1)) != (1, -1):
                raise Unsupported("flatten of other axes than all but the first")
            return before.then(*layers.flattened(before.shape))
        make = _FUNCTIONS.get(name)
        if make is not None:
            given = dict(zip(make[0], args), **kwargs)
            known = {key: value for key, value in given.items() if key not in ("inplace", "training")}
            return before.then(make[1](**known), before.shape)
        if name in ("max_pool2d", "avg_pool2d"):
            given = dict(zip(("kernel_size", "stride", "padding"), args), **kwargs)
            if len(args) > 3 or set(given) - {"kernel_size", "stride", "padding", "ceil_mode"}:
                raise Unsupported("expected kernel_size, stride and padding alone")
            kernel, stride = given["kernel_size"], given.get("stride")
            padding, ceil = given.get("padding", 0), given.get("ceil_mode", False)
            return before.then(*layers.pool(name, before.shape, kernel, stride, padding, ceil))
        if name in ("softmax", "log_softmax"):
            raise Unsupported("leave it out: certify the logits and ask the result for predict_proba()")
        raise Unsupported("no layer of mixcert has its meaning")

    def sum(self, left: Optional[_Value], right: Optional[_Value]) -> Optional[_Value]:
        """x + F(x), a residual block; sums of divergences are nobody's layer."""
        if left is None and right is None:
            return None
        if left is None or right is None:
            raise Unsupported("the sum of a layer's output and something else")
        short, long = sorted((left, right), key=lambda value: len(value.entries))
        count = len(short.entries)
        inner = long.entries[count:]
        if not inner or any(a is not b for a, b in zip(short.entries, long.entries)):
            raise Unsupported("expected a residual block x + F(x)")
        return short.then({"type": "residual", "layers": list(inner)}, long.shape)


_FUNCTIONS: Dict[str, Any] = {
    "leaky_relu": (("negative_slope",), lambda negative_slope=0.01: layers.leaky_relu(negative_slope)),
    "gelu": ((), layers.gelu),
    "softplus": (("beta", "threshold"), layers.softplus),
    "elu": (("alpha",), layers.elu),
    "dropout": (("p",), lambda p=0.5: layers.dropout(p)),
}


def architecture(module: nn.Module, input_shape: Any = None) -> List[Entry]:
    """The layers of `module` from input to output. `input_shape` is (channels, height, width) of images."""
    shape = None
    if input_shape is not None:
        shape = tuple(int(n) for n in input_shape)
        if len(shape) != 3 or min(shape) < 1:
            raise ValueError(f"input_shape: expected (channels, height, width), got {input_shape!r}")
    try:
        graph = _Tracer().trace(module)
    except Exception as error:
        raise ValueError(
            "from_torch: forward could not be read as a chain of layers; a torch.nn.Sequential of them always "
            f"can ({type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''})"
        ) from error
    return _Walk(module, shape).run(graph)
