# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Functions and tensor methods that forward may use: for each its arguments, which of them are read, and the
entry that it becomes. An argument that is not read has to have its default value; anything else is refused."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Tuple

import torch
import torch.nn.functional as F
from torch import fx

from . import _torch_layers as layers
from . import _torch_windows as windows
from ._torch_windows import Entry, Shape, Unsupported

REQUIRED = object()  # in place of a default


class Step(NamedTuple):
    """`parameters` behind the input, in order, with torch's defaults; `make` takes the shape and those that
    are named in `read`."""

    parameters: Tuple[Tuple[str, Any], ...]
    read: Tuple[str, ...]
    make: Callable[..., Tuple[Any, Shape]]
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
        if _nodes(value):
            raise Unsupported(f"argument {name} is computed in forward; only a constant is there")
        if name not in step.read and (isinstance(value, torch.Tensor) or value != default):
            raise Unsupported(f"argument {name}={value!r}; only {default!r} is there")
    return given


def _nodes(value: Any) -> List[fx.Node]:
    found: List[fx.Node] = []
    fx.node.map_arg(value, lambda node: found.append(node) or node)
    return found


def same_shape(make: Callable[..., Any], *parameters: Tuple[str, Any], inplace: bool = True) -> Step:
    """A step whose output has the shape of its input."""
    read = tuple(name for name, _ in parameters)
    more = (("inplace", False),) if inplace else ()
    return Step((*parameters, *more), (*read, "inplace"), lambda shape, **given: (make(**given), shape))


def _activation(name: str, inplace: bool = False) -> Step:
    return same_shape(lambda: layers.activation(name), inplace=inplace)


def _softmax(shape: Shape, **given: Any) -> Tuple[Entry, Shape]:
    raise Unsupported("leave it out: certify the logits and ask the result for predict_proba()")


def _dropout(training: str, default: Any) -> Step:
    rate = ("p", 0.5 if default is not REQUIRED else REQUIRED)
    more = (("inplace", False),) if default is not REQUIRED else ()
    return Step(
        (rate, (training, default), *more),
        ("p", training, "inplace"),
        lambda shape, p, **_: (layers.dropout(p), shape),
        drops=True,
        aliases=True,
    )


_POOL = (("kernel_size", REQUIRED), ("stride", None), ("padding", 0))
_SOFTMAX = (("dim", None), ("_stacklevel", 3), ("dtype", None))
_STEPS: Dict[str, Step] = {
    "relu": _activation("relu", True),
    "silu": _activation("silu", True),
    "tanh": _activation("tanh"),
    "sigmoid": _activation("sigmoid"),
    "erf": _activation("erf"),
    "leaky_relu": same_shape(layers.leaky_relu, ("negative_slope", 0.01)),
    "gelu": same_shape(layers.gelu, ("approximate", "none"), inplace=False),
    "softplus": same_shape(layers.softplus, ("beta", 1), ("threshold", 20), inplace=False),
    "elu": same_shape(layers.elu, ("alpha", 1.0)),
    "dropout": _dropout("training", True),
    "flatten": Step(
        (("start_dim", 0), ("end_dim", -1)), ("start_dim", "end_dim"), layers.flattened_axes, aliases=True
    ),
    "contiguous": Step((), (), lambda shape: (None, shape), aliases=True),
    "max_pool2d": Step(
        (*_POOL, ("dilation", 1), ("ceil_mode", False), ("return_indices", False)),
        ("kernel_size", "stride", "padding", "dilation", "ceil_mode"),
        windows.max_pool,
    ),
    "avg_pool2d": Step(
        (*_POOL, ("ceil_mode", False), ("count_include_pad", True), ("divisor_override", None)),
        ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"),
        windows.average_pool,
    ),
    "adaptive_avg_pool2d": Step((("output_size", REQUIRED),), ("output_size",), windows.adaptive_pool),
    "softmax": Step(_SOFTMAX, ("dim", "_stacklevel", "dtype"), _softmax),
    "log_softmax": Step(_SOFTMAX, ("dim", "_stacklevel", "dtype"), _softmax),
}
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
                if function is None:
                    continue
                of_name = tuple(p for p in step.parameters if not (ending and p[0] == "inplace"))
                found[function] = step._replace(parameters=of_name)
    for ending in ("", "_"):
        found[getattr(torch, "dropout" + ending)] = _dropout("train", REQUIRED)
    found[torch.special.expit] = _STEPS["sigmoid"]
    found[torch.special.erf] = _STEPS["erf"]
    return found


FUNCTIONS = _functions()
