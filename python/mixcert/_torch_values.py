# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the recorded steps of forward stand for: values of the network, constants and sizes; and which of them share
their memory, since a step may overwrite it."""

from __future__ import annotations

from typing import Any, Dict, Tuple

import torch
from torch import fx, nn

from . import _torch_arithmetic as arithmetic
from . import _torch_refusals as refusals
from . import _torch_shapes as shapes
from ._torch_graph import Unsupported, Value

INPUT_MODULE = "module"  # the name of the caller's module in the recorded one
SIZES = ("shape", "ndim", "device", "dtype", "requires_grad", "is_cuda")  # attributes without values
SIZE_METHODS = ("size", "dim", "numel")


def behind_input(args: Any, kwargs: Any) -> Tuple[Any, Dict[str, Any]]:
    """Arguments of a function but for its input, which may be named."""
    if args:
        return tuple(args[1:]), dict(kwargs)
    return (), {key: value for key, value in kwargs.items() if key != "input"}


def input_of(node: Any) -> Any:
    return node.args[0] if node.args else node.kwargs.get("input")


def step_name(node: Any) -> str:
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "?")


class Values:
    """A step's value is one of the network (several: what chunk gives), a constant tensor, a size, or None:
    divergences, and what is not known."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.values: Dict[fx.Node, Any] = {}
        self.memory: Dict[fx.Node, fx.Node] = {}  # the step that made the memory that a value is in

    def name(self, node: Any) -> str:
        return str(node.target)[len(INPUT_MODULE) + 1 :]

    def title(self, node: Any) -> str:
        if node.op == "call_module":
            name = self.name(node)
            return f"layer '{name}' ({type(self.module.get_submodule(name)).__name__})"
        return "output of forward" if node.op == "output" else f"step '{step_name(node)}' of forward"

    def value(self, argument: Any) -> Any:
        """What an argument stands for; a value of the network behind a softmax is nobody's input."""
        found = self.values[argument] if isinstance(argument, fx.Node) else argument
        if isinstance(found, Value) and found.softmax:
            raise Unsupported(f"a {found.softmax} before it; only at the end it can be left out")
        return found

    def network(self, argument: Any) -> Any:
        found = self.value(argument) if isinstance(argument, fx.Node) else None
        return found if isinstance(found, Value) or is_parts(found) else None

    def settled(self, given: Any, constants: bool = False) -> Any:
        """Arguments with sizes, and constants where wanted, in place of the steps that made them."""

        def settle(node: fx.Node) -> Any:
            found = self.values[node]
            wanted = shapes.is_size(found) or (constants and isinstance(found, torch.Tensor))
            return found if wanted else node

        return _mapped(given, settle)

    def size(self, node: Any, before: Value) -> Any:
        sizes = shapes.sizes_of(before)
        if node.target == "dim":
            return len(sizes)
        if node.target == "numel":
            return None
        dims = node.args[1:] or tuple(node.kwargs.values())
        return sizes[dims[0]] if dims else sizes

    def unrelated(self, node: Any) -> Any:
        """A step on constants, sizes or divergences, with no layer's output among its arguments."""
        if any(self.network(argument) is not None for argument in node.all_input_nodes):
            raise Unsupported(refusals.of_step(node))
        name = step_name(node)
        if name.endswith("_") and not name.endswith("__"):
            raise Unsupported("it changes something that is no layer's output")
        args, kwargs = self.settled((tuple(node.args), dict(node.kwargs)), constants=True)
        return arithmetic.worked_out(node.target, args, kwargs)

    def touch(self, node: Any, source: Any, overwrites: bool, aliases: bool) -> None:
        """Refuses a step that overwrites memory which a later step reads as it was before."""
        home = self.memory[source]
        if overwrites:
            held = [other for other, at in self.memory.items() if at is home and other is not node]
            users = [user for other in held for user in other.users]
            if any(user not in self.memory and not asks_size(user) for user in users):
                raise Unsupported("it overwrites a value that a later step uses")
        if overwrites or aliases:
            self.memory[node] = home


def _mapped(given: Any, change: Any) -> Any:
    """Plain tuples, lists and dictionaries with every step changed."""
    if isinstance(given, fx.Node):
        return change(given)
    if isinstance(given, (tuple, list)):
        return type(given)(_mapped(part, change) for part in given) if type(given) in (tuple, list) else tuple(
            _mapped(part, change) for part in given
        )
    if isinstance(given, dict):
        return {key: _mapped(part, change) for key, part in given.items()}
    if isinstance(given, slice):
        return slice(*(_mapped(part, change) for part in (given.start, given.stop, given.step)))
    return given


def is_parts(value: Any) -> bool:
    """What chunk and split give."""
    return isinstance(value, tuple) and not isinstance(value, Value) and any(isinstance(part, Value) for part in value)


def asks_size(node: Any) -> bool:
    if node.op == "call_method":
        return node.target in SIZE_METHODS
    return node.target is len or (node.target is getattr and node.args[1] in SIZES)
