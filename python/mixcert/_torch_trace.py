# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The steps that a torch module's own forward takes, recorded by torch.fx in evaluation and in training mode.

The record is made of a copy: what forward does to the module (counters, stored outputs) is not done to the
caller's."""

from __future__ import annotations

import operator
from typing import Any, Dict, List, NamedTuple, Optional

import numpy as np
import torch
from torch import fx, nn

from . import _torch_layers as layers
from ._torch_dropout import is_dropout, training_argument
from ._torch_entries import entries_of
from ._torch_graph import Entry, Features, Shape, Weights
from ._torch_record import Record, copied, first_line, record, title
from ._torch_walk import Walk


class Reading(NamedTuple):
    """Layers from input to output, and what has to be said of how they were read."""

    entries: List[Entry]
    tensors: Dict[str, np.ndarray]  # of affine layers, which are no module's
    weights: List[Weights]  # which module's weights an entry has
    shape: Shape  # of one input
    places: List[Any]  # of the outputs that were read, in what forward returns; empty: it returns the output
    softmax: str  # what was left out at the end
    assumptions: List[str]
    noisy: bool  # is forward random in evaluation mode?
    shifts: bool  # does dropout change the mean?
    loose: bool  # do tensors of the module act that are no layer's?


def _require_plain(module: nn.Module) -> None:
    """What acts beside forward is refused before anything runs."""
    for name, part in module.named_modules():
        if part._forward_hooks or part._forward_pre_hooks or "parametrizations" in part._modules:
            raise ValueError(f"from_torch: {title(name, part)}: hooks may change what it computes; remove them")


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


def _dropout_modules(record: Record) -> int:
    named = dict(record.root.named_modules())
    return sum(node.op == "call_module" and layers.is_dropout(named[node.target]) for node in record.graph.nodes)


def _require_fixed_constants(evaluation: Record, training: Record, same: bool) -> None:
    pairs = list(zip(evaluation.constants(), training.constants()))
    if same and not all(torch.equal(a, b) for a, b in pairs):
        raise ValueError(
            "from_torch: forward makes a tensor that is not the same at every call; random numbers are known from "
            "dropout and Bayesian layers alone"
        )


def _shape(input_shape: Any) -> Shape:
    if input_shape is None:
        return (None,)
    given = (input_shape,) if isinstance(input_shape, int) else input_shape
    try:
        shape = tuple(operator.index(n) for n in given)
    except TypeError:
        shape = ()
    if not 1 <= len(shape) <= 3 or min(shape) < 1:
        raise ValueError(
            f"input_shape: expected (channels, height, width), (channels, length) or (features,), got {input_shape!r}"
        )
    return shape


def read(module: nn.Module, input_shape: Any = None, dropout: bool = True) -> Reading:
    """The layers of `module` in evaluation mode, with the dropout that it has in training where `dropout`.
    `input_shape` is (channels, height, width) of images, (channels, length) of sequences."""
    shape = _shape(input_shape)
    _require_plain(module)
    try:
        own = copied(module)
    except Exception as error:
        raise ValueError(
            "from_torch: expected a module that can be copied, since reading forward may change it "
            f"({first_line(error)})"
        ) from error
    evaluation, training = record(own, False), record(own, True)
    modes = _modes_of_dropout(evaluation.graph, training.graph)
    if modes is None or _dropout_modules(evaluation) != _dropout_modules(training):
        if dropout:
            raise ValueError(
                "from_torch: forward has other dropout in training than in evaluation; write it as dropout(x, p, "
                "self.training), or leave it out with dropout=False"
            )
        modes = {}
    same = _same_steps(evaluation.graph, training.graph)
    _require_fixed_constants(evaluation, training, same)
    walk = Walk(own, evaluation.root, shape, modes, dropout)
    try:
        result = walk.run(evaluation.graph)
    except Features as told:  # a layer has told the size of the input
        walk = Walk(own, evaluation.root, (told.count,), modes, dropout)
        result = walk.run(evaluation.graph)
    if not same:
        walk.assumptions.append("forward takes other steps in training mode; those of evaluation mode are read")
    return Reading(
        *entries_of(walk.graph, result),
        walk.shape,
        walk.places,
        result.softmax,
        walk.assumptions,
        walk.noisy,
        walk.shifts,
        walk.tensors,
    )
