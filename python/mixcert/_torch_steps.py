# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Functions and tensor methods that forward may use: for each its arguments, which of them are read, and what it
puts behind a value. An argument that is not read has to have its default value; anything else is refused."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Tuple

import torch
import torch.nn.functional as F
from torch import fx

from . import _torch_layers as layers
from . import _torch_picks as picks
from . import _torch_shapes as shapes
from . import _torch_windows as windows
from ._torch_activations import ACTIVATIONS, Activation, clamp, prelu
from ._torch_graph import Graph, Unsupported, Value

REQUIRED = object()  # in place of a default


class Step(NamedTuple):
    """`parameters` behind the input, in order, with torch's defaults; `make` takes the graph, the value and those
    that are named in `read`."""

    parameters: Tuple[Tuple[str, Any], ...]
    read: Tuple[str, ...]
    make: Callable[..., Value]
    drops: bool = False  # dropout, which follows its argument `training`
    aliases: bool = False  # the result shares its memory with the input


def bind(step: Step, args: Any, kwargs: Any) -> Dict[str, Any]:
    """All arguments by name, defaults among them; Unsupported names the one that is not understood."""
    names = [name for name, _ in step.parameters]
    if len(args) > len(names):
        raise Unsupported(f"argument {args[len(names)]!r} is one more than is known; known are {names}")
    given = dict(zip(names, args))
    for name, value in kwargs.items():
        if name not in names or name in given:
            raise Unsupported(f"argument {name}={value!r} is not known here")
        given[name] = value
    for name, default in step.parameters:
        value = given.setdefault(name, default)
        if value is REQUIRED:
            raise Unsupported(f"argument {name} is missing")
        if nodes_of(value):
            raise Unsupported(f"argument {name} is computed in forward; only a constant is there")
        if name not in step.read and (isinstance(value, torch.Tensor) or value != default):
            raise Unsupported(f"argument {name}={value!r}; only {default!r} is there")
    return given


def nodes_of(value: Any) -> List[fx.Node]:
    found: List[fx.Node] = []
    fx.node.map_arg(value, lambda node: found.append(node) or node)
    return found


def _step(make: Callable[..., Value], *parameters: Tuple[str, Any], unread: Any = (), **flags: bool) -> Step:
    return Step((*parameters, *unread), tuple(name for name, _ in parameters), make, **flags)


def _activation(record: Activation) -> Step:
    more = (("inplace", False),) if record.inplace else ()

    def make(graph: Graph, value: Value, **given: Any) -> Value:
        return graph.put(value, record.make(**given))

    names = tuple(name for name, _ in record.arguments)
    return Step((*record.arguments, *more), (*names, "inplace"), make)


def _softmax(function: str) -> Step:
    def make(graph: Graph, value: Value, dim: Any, **_: Any) -> Value:
        return layers.softmax(value, function, dim)

    return Step((("dim", None), ("_stacklevel", 3), ("dtype", None)), ("dim", "_stacklevel"), make)


def _dropout(make: Callable[..., Value], default: bool, training: str = "training") -> Step:
    given = (("p", 0.5), (training, default), ("inplace", False))
    return Step(given, ("p", training, "inplace"), lambda graph, value, p, **_: make(graph, value, p), True, True)


def _torch_dropout() -> Step:
    """torch.dropout(input, p, train)."""
    given = (("p", REQUIRED), ("train", REQUIRED))
    return Step(given, ("p", "train"), lambda graph, value, p, **_: layers.dropout(graph, value, p), True, True)


def _pools() -> Dict[str, Step]:
    found: Dict[str, Step] = {}
    window = (("kernel_size", REQUIRED), ("stride", None), ("padding", 0))
    counts: Tuple[Tuple[str, Any], ...] = (("ceil_mode", False), ("count_include_pad", True))
    for axes in (1, 2):
        more = (("divisor_override", None),) if axes == 2 else ()
        found[f"max_pool{axes}d"] = _step(
            windows.max_pool(axes), *window, ("dilation", 1), ("ceil_mode", False), unread=(("return_indices", False),)
        )
        found[f"avg_pool{axes}d"] = _step(windows.average_pool(axes), *window, *counts, *more)
        for kind, indices in (("avg", ()), ("max", (("return_indices", False),))):
            make = windows.adaptive_pool(axes, f"{kind}_pool2d")
            found[f"adaptive_{kind}_pool{axes}d"] = _step(make, ("output_size", REQUIRED), unread=indices)
    return found


def _padded(graph: Graph, before: Value, pad: Any, mode: str, value: Any) -> Value:
    return picks.padded(graph, before, pad, mode, value)


def _same(graph: Graph, value: Value) -> Value:
    return value


def _clamped(graph: Graph, value: Value, **ends: Any) -> Value:
    return graph.put(value, clamp(**ends))


def _prelu(graph: Graph, value: Value, weight: Any) -> Value:
    return prelu(graph, value, torch.as_tensor(weight))


_ENDS = (("dim", None), ("keepdim", False))
_STEPS: Dict[str, Step] = {
    **{record.function: _activation(record) for record in ACTIVATIONS},
    **_pools(),
    "clamp": _step(_clamped, ("min", None), ("max", None)),
    "prelu": _step(_prelu, ("weight", REQUIRED)),
    "dropout": _dropout(layers.dropout, True),
    "dropout1d": _dropout(layers.channel_dropout(1), True),
    "dropout2d": _dropout(layers.channel_dropout(2), True),
    "alpha_dropout": _dropout(layers.alpha_dropout, False),
    "flatten": _step(shapes.flattened, ("start_dim", 0), ("end_dim", -1), aliases=True),
    "squeeze": _step(shapes.squeezed, ("dim", None), aliases=True),
    "unsqueeze": _step(shapes.unsqueezed, ("dim", REQUIRED), aliases=True),
    "unflatten": _step(shapes.unflattened, ("dim", REQUIRED), ("sizes", REQUIRED), aliases=True),
    "mean": _step(shapes.mean, *_ENDS, unread=(("dtype", None),)),
    "sum": _step(shapes.total, *_ENDS, unread=(("dtype", None),)),
    "chunk": _step(picks.chunked, ("chunks", REQUIRED), ("dim", 0), aliases=True),
    "split": _step(picks.split, ("split_size", REQUIRED), ("dim", 0), aliases=True),
    "pad": Step((("pad", REQUIRED), ("mode", "constant"), ("value", None)), ("pad", "mode", "value"), _padded),
    "contiguous": _step(_same, aliases=True),
    "detach": _step(_same, aliases=True),
    "clone": _step(_same),
    "softmax": _softmax("softmax"),
    "log_softmax": _softmax("log_softmax"),
}
CONSTANTS = ("prelu",)  # steps whose arguments may be tensors of the module
# Names of tensor methods: those of the functions that tensors have.
METHODS: Dict[str, Step] = {
    name + ending: step
    for name, step in _STEPS.items()
    for ending in ("", "_")
    if hasattr(torch.Tensor, name + ending)
}


def _functions() -> Dict[Any, Step]:
    """By the function itself: another one may have the same name."""
    found: Dict[Any, Step] = {}
    for name, step in _STEPS.items():
        for holder in (torch, F):
            for ending in ("", "_"):
                function = getattr(holder, name + ending, None)
                if function is None or (holder is torch and name.startswith("adaptive_max")):  # it returns indices, too
                    continue
                of_name = tuple(p for p in step.parameters if not (ending and p[0] == "inplace"))
                found[function] = step._replace(parameters=of_name)
    for ending in ("", "_"):
        found[getattr(torch, "dropout" + ending)] = _torch_dropout()
    found[torch.special.expit] = _STEPS["sigmoid"]
    found[torch.special.erf] = _STEPS["erf"]
    found[torch.clip] = _STEPS["clamp"]
    return found


FUNCTIONS = _functions()
METHODS["clip"] = METHODS["clamp"]
