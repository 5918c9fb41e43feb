# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What forward returns: one output, or several, which follow one another."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Tuple

from torch import fx

from . import _torch_shapes as shapes
from ._torch_graph import Graph, Unsupported, Value
from ._torch_values import is_parts


def parts_of(given: Any, values: Mapping[fx.Node, Any]) -> Tuple[Dict[Any, Any], bool]:
    """Outputs by their places in what forward returns, and whether it returns several. chunk, split and named
    tuples are one step with several values."""
    if isinstance(given, fx.Node) and is_parts(values[given]):
        return dict(enumerate(values[given])), True
    several = isinstance(given, (tuple, list, dict))
    parts = dict(given) if isinstance(given, dict) else dict(enumerate(given if several else [given]))
    if any(isinstance(part, (tuple, list, dict)) for part in parts.values()):
        raise Unsupported("outputs inside outputs; expected one, or a tuple of them")
    return {place: values[part] for place, part in parts.items() if isinstance(part, fx.Node)}, several


def joined(graph: Graph, heads: List[Value]) -> Tuple[Value, List[str]]:
    """The output, and what has to be said of it."""
    if len(heads) == 1:
        left_out = heads[0].softmax
        return heads[0], [
            f"{left_out} at the end of forward is left out: outputs are logits, and predict_proba() gives the probabilities"
        ] if left_out else []
    if any(head.softmax for head in heads):
        raise Unsupported("a softmax among several outputs; only that of the one output can be left out")
    for head in heads:
        shapes.require_shape(head)
    sizes = [shapes.count(head.shape) for head in heads]
    flat = [graph.vector(head._replace(shape=(size,))) for head, size in zip(heads, sizes)]
    line = f"forward returns {len(heads)} outputs, of {', '.join(map(str, sizes))} values; they follow one another"
    return graph.concat(flat, (sum(sizes),)), [line]
