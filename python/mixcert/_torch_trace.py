# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The steps that a torch module's own forward takes, recorded by torch.fx in evaluation and in training mode.

The record is made of a copy: what forward does to the module (counters, stored outputs) is not done to the
caller's."""

from __future__ import annotations

import copy
import operator
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

import torch
from torch import fx, nn

from . import _torch_layers as layers
from ._torch_walk import INPUT_MODULE, Walk, is_dropout, training_argument
from ._torch_windows import Entry, Shape


class Reading(NamedTuple):
    """Layers from input to output, and what has to be said of how they were read."""

    entries: List[Entry]
    assumptions: List[str]
    noisy: bool  # is forward random in evaluation mode?


class _Recorded(fx.Proxy):
    """Layers of some libraries return (output, divergence)."""

    def __iter__(self) -> Iterator[fx.Proxy]:
        pair: Any = self
        return iter((pair[0], pair[1]))

    def __iadd__(self, other: Any) -> fx.Proxy:  # torch before 2.0 records x += y as x + y
        return self.tracer.create_proxy("call_function", operator.iadd, (self, other), {})


class _Tracer(fx.Tracer):
    def is_leaf_module(self, module: nn.Module, name: str) -> bool:
        return layers.is_layer(module) or super().is_leaf_module(module, name)

    def proxy(self, node: fx.Node) -> fx.Proxy:
        return _Recorded(node, self)


class _OneInput(nn.Module):
    """Calls the module with its input alone, so that other arguments have their defaults."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.add_module(INPUT_MODULE, module)

    def forward(self, x: Any) -> Any:
        return getattr(self, INPUT_MODULE)(x)


def first_line(error: Any) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__


def copied(module: nn.Module) -> nn.Module:
    """A deep copy. Tensors that forward left behind in the module (blitz keeps its last weights) may have a
    history, which deepcopy refuses: they go without."""
    memo: Dict[int, Any] = {}
    for part in module.modules():
        for value in vars(part).values():
            for tensor in value.values() if isinstance(value, dict) else [value]:
                if isinstance(tensor, torch.Tensor) and not tensor.is_leaf:
                    memo[id(tensor)] = tensor.detach().clone()
    return copy.deepcopy(module, memo)


def set_mode(module: nn.Module, training: bool) -> None:
    """Flags alone: a train() of the module's own may do more."""
    for part in module.modules():
        part.training = training


def _title(name: str, module: nn.Module) -> str:
    return f"layer '{name}' ({type(module).__name__})" if name else f"the module ({type(module).__name__})"


def _require_plain(module: nn.Module) -> None:
    """What acts beside forward is refused before anything runs."""
    for name, part in module.named_modules():
        if part._forward_hooks or part._forward_pre_hooks:
            raise ValueError(
                f"from_torch: {_title(name, part)}: hooks may change what it computes; remove them"
            )
        if "parametrizations" in part._modules:
            raise ValueError(
                f"from_torch: {_title(name, part)}: its parameters are computed by parametrizations; "
                "torch.nn.utils.parametrize.remove_parametrizations keeps their values"
            )


def _graph(module: nn.Module, training: bool) -> fx.Graph:
    set_mode(module, training)
    try:
        return _Tracer().trace(_OneInput(module))
    except Exception as error:
        raise ValueError(
            "from_torch: forward could not be read as a chain of layers; a torch.nn.Sequential of them always "
            f"can ({first_line(error)})"
        ) from error


def _same_steps(first: fx.Graph, second: fx.Graph) -> bool:
    """But for the modes of dropout."""

    def steps(graph: fx.Graph) -> List[Any]:
        places = {node: i for i, node in enumerate(graph.nodes)}
        result = []
        for node in graph.nodes:
            given: Any = (node.args, dict(node.kwargs))
            if is_dropout(node):
                given = (node.args[:2], {k: v for k, v in node.kwargs.items() if not k.startswith("train")})
            name = None if node.op == "get_attr" else node.target
            result.append((node.op, name, repr(fx.node.map_arg(given, lambda n: places[n]))))
        return result

    return steps(first) == steps(second)


def _modes_of_dropout(evaluation: fx.Graph, training: fx.Graph) -> Optional[Dict[fx.Node, Any]]:
    """For every dropout of evaluation what its argument `training` is in both modes; None where training has
    others."""
    mine, theirs = ([node for node in graph.nodes if is_dropout(node)] for graph in (evaluation, training))
    if len(mine) != len(theirs):
        return None
    return {a: (training_argument(a), training_argument(b)) for a, b in zip(mine, theirs)}


def _dropout_modules(module: nn.Module, graph: fx.Graph) -> int:
    named = dict(_OneInput(module).named_modules())
    return sum(node.op == "call_module" and isinstance(named[node.target], (nn.Dropout, nn.Dropout2d)) for node in graph.nodes)


def _shape(input_shape: Any) -> Shape:
    if input_shape is None:
        return None
    shape = tuple(int(n) for n in input_shape)
    if len(shape) != 3 or min(shape) < 1:
        raise ValueError(f"input_shape: expected (channels, height, width), got {input_shape!r}")
    return shape


def read(module: nn.Module, input_shape: Any = None, dropout: bool = True) -> Reading:
    """The layers of `module` in evaluation mode, with the dropout that it has in training where `dropout`.
    `input_shape` is (channels, height, width) of images."""
    shape = _shape(input_shape)
    _require_plain(module)
    try:
        own = copied(module)
    except Exception as error:
        raise ValueError(
            "from_torch: expected a module that can be copied, since reading forward may change it "
            f"({first_line(error)})"
        ) from error
    evaluation, training = _graph(own, False), _graph(own, True)
    modes = _modes_of_dropout(evaluation, training)
    if modes is None or _dropout_modules(own, evaluation) != _dropout_modules(own, training):
        if dropout:
            raise ValueError(
                "from_torch: forward has other dropout in training than in evaluation; write it as dropout(x, p, "
                "self.training), or leave it out with dropout=False"
            )
        modes = {}
    walk = Walk(own, shape, modes, dropout)
    entries = walk.run(evaluation)
    if not _same_steps(evaluation, training):
        walk.assumptions.append("forward takes other steps in training mode; those of evaluation mode are read")
    return Reading(entries, walk.assumptions, walk.noisy)
