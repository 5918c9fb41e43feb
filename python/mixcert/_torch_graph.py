# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The graph that is read from a module's forward.

A value has the shape that torch gives it without the batch, and the form that mixcert's layers see: a vector (n,)
or an image (channels, height, width). Both hold the same numbers in the same order, so shapes change freely and an
entry is made only where a layer needs another form.
"""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

Entry = Dict[str, Any]
Shape = Tuple[Any, ...]
INPUT = -1  # in place of a node: the network's input
START = 0  # the node that tells the input's form, where no layer does


class Unsupported(ValueError):
    """A layer that cannot be taken; its text goes on where the caller has named it."""


class Features(Exception):
    """The number of values of one input, which a layer has told."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = int(count)


class Value(NamedTuple):
    """What one step of forward computes. (None,) is the shape of an input whose size no layer has told yet."""

    node: int
    shape: Shape
    form: Shape
    sized: bool  # has an entry before it told the form?
    softmax: str = ""  # the function that was left out behind it, at the end only


class Weights(NamedTuple):
    """An entry's tensors are those of a module, changed where the module keeps them in another order."""

    entry: str
    module: str
    change: Optional[str]  # "sequence": of a 1-D convolution; "transposed G": of a transposed one with G groups


class Node(NamedTuple):
    entry: Entry
    inputs: Tuple[int, ...]


def count(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=np.int64))


class Graph:
    """Nodes in the order in which forward makes them."""

    def __init__(self) -> None:
        self.nodes: List[Node] = []
        self.used: List[Weights] = []

    def input(self, shape: Shape) -> Value:
        form = (shape[0], 1, shape[1]) if len(shape) == 2 else shape
        self.node({"type": "reshape", "shape": list(form)}, INPUT)
        return Value(INPUT, shape, form, False)

    def node(self, entry: Entry, *inputs: int) -> int:
        self.nodes.append(Node(entry, inputs))
        return len(self.nodes) - 1

    def put(
        self, value: Value, entry: Entry, shape: Optional[Shape] = None, form: Optional[Shape] = None, sized: bool = False
    ) -> Value:
        """`entry` behind `value`; the same shape and form where not given."""
        own = value.shape if shape is None else shape
        return Value(self.node(entry, value.node), own, value.form if form is None else form, sized or value.sized)

    def weights(self, module: str, change: Optional[str] = None) -> str:
        """The name of an entry with the tensors of `module`: its own where it acts once."""
        again = sum(weights.module == module for weights in self.used)
        name = f"{module}#{again + 1}" if again or module == "input" else module
        self.used.append(Weights(name, module, change))
        return name

    def vector(self, value: Value) -> Value:
        if len(value.form) == 1:
            return value
        return self.put(value, {"type": "flatten"}, form=(count(value.form),))

    def image(self, value: Value, sized: bool = True) -> Value:
        """In the form of its shape; `sized`: an entry before it has to have told it."""
        if len(value.shape) not in (2, 3):
            raise Unsupported(f"expected an image before it, got {value.shape}")
        form = value.shape if len(value.shape) == 3 else (value.shape[0], 1, value.shape[1])
        return self.formed(value, form, sized)

    def formed(self, value: Value, form: Shape, sized: bool = False) -> Value:
        if value.form == form and (value.sized or not sized):
            return value
        if len(form) == 1:
            return self.vector(value)
        if value.node == INPUT and value.form == form:
            return value._replace(node=START, sized=True)
        return self.put(value, {"type": "reshape", "shape": [int(n) for n in form]}, form=form, sized=True)

    def affine(self, value: Value, scale: Any, shift: Any) -> Value:
        """scale x + shift, each a number or an array of the value's shape. One behind another is one."""
        scale, shift = np.asarray(scale, dtype=np.float64), np.asarray(shift, dtype=np.float64)
        source = value
        if value.node != INPUT and self.nodes[value.node].entry["type"] == "affine":
            before, inputs = self.nodes[value.node]
            old = [part.reshape(value.shape) if part.ndim else part for part in (before["scale"], before["shift"])]
            scale, shift = scale * old[0], scale * old[1] + shift
            source = value._replace(node=inputs[0])
        if not (np.all(np.isfinite(scale)) and np.all(np.isfinite(shift))):
            raise Unsupported("its numbers are not finite")
        if np.all(scale == 1.0) and np.all(shift == 0.0):
            return source
        if scale.ndim + shift.ndim and len(source.form) == 3:
            source = self.formed(source, source.form, sized=True)
        return self.put(source, {"type": "affine", "scale": scale, "shift": shift, "form": source.form})

    def add(self, first: Value, second: Value) -> Value:
        if first.shape != second.shape:
            raise Unsupported(f"expected values of one shape, got {first.shape} and {second.shape}")
        if first.node == second.node:
            return self.affine(first, 2.0, 0.0)
        other = self.formed(second, first.form)
        node = self.node({"type": "add"}, first.node, other.node)
        return Value(node, first.shape, first.form, first.sized or other.sized)

    def concat(self, values: Sequence[Value], shape: Shape) -> Value:
        """Along the first axis; all of them images of one size, or vectors."""
        if len(values) == 1:
            return values[0]
        form = (sum(value.form[0] for value in values), *values[0].form[1:])
        node = self.node({"type": "concat"}, *(value.node for value in values))
        return Value(node, shape, form, any(value.sized for value in values))
