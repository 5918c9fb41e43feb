# Licensed under the Apache License, Version 2.0; see LICENSE.
"""From the recorded steps of forward to a graph of layers. A step that is not fully understood is refused with
a line that names it: a certificate of another network would be worse than none."""

from __future__ import annotations

import operator
from typing import Any, List, Mapping, Optional

import torch
from torch import fx, nn

from . import _torch_arithmetic as arithmetic
from . import _torch_casts as casts
from . import _torch_layers as layers
from . import _torch_output as outputs
from . import _torch_picks as picks
from . import _torch_products as products
from . import _torch_refusals as refusals
from . import _torch_shapes as shapes
from ._torch_dropout import training_argument
from ._torch_graph import INPUT, Graph, Shape, Unsupported, Value
from ._torch_steps import CONSTANTS, FUNCTIONS, METHODS, REQUIRED, Step, bind
from ._torch_values import SIZE_METHODS, SIZES, Values, behind_input, input_of, is_parts, step_name

_JOINS = {torch.cat: shapes.concatenated, torch.stack: shapes.stacked}
if hasattr(torch, "concat"):
    _JOINS[torch.concat] = shapes.concatenated
_JOIN = Step((("dim", 0), ("out", None)), ("dim",), lambda *_: REQUIRED)
ALWAYS_RANDOM = (
    "dropout written with training=True is random in evaluation mode too; dropout=False leaves it out all the same"
)
ACTS_TWICE = (
    "it acts twice, and its weights are random: its library draws them anew at each call, which is the law of two "
    "independent layers and not that of one; use two layers"
)


class Walk(Values):
    """Follows the steps. `modes` has the argument `training` of each dropout in evaluation and in training mode; `root`
    holds the constants of the record."""

    def __init__(
        self, module: nn.Module, root: nn.Module, shape: Shape, modes: Mapping[fx.Node, Any], dropout: bool
    ) -> None:
        super().__init__(module)
        self.root, self.shape = root, shape
        self.modes, self.dropout = modes, dropout
        self.graph = Graph()
        self.random: List[str] = []  # layers with random weights that have acted
        self.assumptions: List[str] = []
        self.tensors = False  # do tensors of the module act that are no layer's?
        self.noisy = False  # in evaluation mode
        self.shifts = False  # does dropout change the mean?
        self.result: Optional[Value] = None
        self.places: List[Any] = []  # of the outputs, in what forward returns

    def run(self, graph: fx.Graph) -> Value:
        for node in graph.nodes:
            self.memory[node] = node
            try:
                self.values[node] = getattr(self, node.op)(node)
            except (Unsupported, TypeError, IndexError, OverflowError) as error:
                raise ValueError(f"from_torch: {self.title(node)}: {error}") from None
        if self.result is None or self.result.node == INPUT:
            raise ValueError("from_torch: expected a module whose output comes from its input by layers")
        return self.result

    def placeholder(self, node: Any) -> Optional[Value]:
        return self.graph.input(self.shape) if not self.values else None

    def get_attr(self, node: Any) -> Any:
        found: Any = self.root
        for part in str(node.target).split("."):
            found = getattr(found, part, None)
        return found.detach() if isinstance(found, torch.Tensor) else None

    def output(self, node: Any) -> None:
        parts, several = outputs.parts_of(node.args[0], self.values)
        heads = {place: head for place, head in parts.items() if isinstance(head, Value)}
        if not heads or list(heads)[0] != list(parts)[0]:
            return  # run() refuses it
        self.places = list(heads) if several else []
        self.result, lines = outputs.joined(self.graph, list(heads.values()))
        self.assumptions += lines

    def call_module(self, node: Any) -> Value:
        name = self.name(node)
        module = self.module.get_submodule(name)
        refusals.require_known(module)
        before = self.network(input_of(node))
        if not isinstance(before, Value):
            raise Unsupported("expected a layer that acts on what the input has become")
        weight = layers.random_weight(module)
        args, kwargs = behind_input(node.args, node.kwargs)
        for key, value in [*enumerate(args, 1), *kwargs.items()]:
            if weight is None or key != "return_kl":  # bayesian-torch: whether it returns a divergence, too
                raise Unsupported(f"argument {key} of its call, {value!r}, is not known here")
        drops = weight is None and layers.is_dropout(module)
        keeps = drops or layers.is_kind(module, (nn.Flatten, nn.Unflatten, nn.Identity))
        self.touch(node, input_of(node), bool(getattr(module, "inplace", False)), keeps)
        if weight is not None:
            if name in self.random:
                raise Unsupported(ACTS_TWICE)
            self.random.append(name)
            self.noisy = True
            return layers.random_layer(self.graph, before, name, module, weight)
        made = layers.plain_layer(self.graph, before, name, module)
        self.tensors |= isinstance(module, nn.PReLU)
        if drops and not self.dropout:
            return before
        self.shifts |= isinstance(module, nn.AlphaDropout)
        return made

    def call_method(self, node: Any) -> Any:
        before = self.value(node.args[0])
        if arithmetic.sign_of(node.target):
            return self.arithmetic(node)
        if not isinstance(before, Value):
            return self.unrelated(node)
        if node.target in SIZE_METHODS:
            return self.size(node, before)
        if node.target in casts.METHODS:
            return self.cast(node, before)
        if node.target in products.METHODS:
            return self.product(node, before)
        if node.target in ("view", "reshape"):
            if node.kwargs:
                raise Unsupported("expected the sizes alone")
            self.touch(node, node.args[0], False, True)
            return shapes.viewed(self.graph, before, self.settled(node.args[1:]))
        return self.step(node, METHODS.get(node.target), before)

    def call_function(self, node: Any) -> Any:
        if arithmetic.sign_of(node.target):
            return self.arithmetic(node)
        if node.target in _JOINS:
            return self.join(node)
        before = self.value(input_of(node))
        if is_parts(before) and node.target is operator.getitem:
            self.memory[node] = self.memory[node.args[0]]
            return before[node.args[1]]
        if isinstance(node.target, type) and hasattr(node.target, "_fields"):  # a named tuple
            return tuple(self.values.get(part) if isinstance(part, fx.Node) else None for part in node.args)
        if not isinstance(before, Value):
            return self.unrelated(node)
        if node.target in products.FUNCTIONS:
            return self.product(node, before)
        if node.target is getattr:
            if node.args[1] not in SIZES:
                raise Unsupported(f"attribute '{node.args[1]}' of a layer's output")
            known = {"shape": shapes.sizes_of(before), "ndim": len(before.shape) + 1}
            return known.get(node.args[1])
        if node.target is len:
            return shapes.BATCH
        if node.target is operator.getitem:
            return self.item(node, before)
        if node.target is torch.reshape:
            args, kwargs = behind_input(node.args, node.kwargs)
            self.touch(node, input_of(node), False, True)
            return shapes.viewed(self.graph, before, self.settled(args or (kwargs["shape"],)))
        return self.step(node, FUNCTIONS.get(node.target), before)

    def item(self, node: Any, before: Value) -> Optional[Value]:
        """A part of a value, or the output of a layer that returns (output, divergence)."""
        maker, index = node.args
        self.memory[node] = self.memory[maker]
        made = self.module.get_submodule(self.name(maker)) if maker.op == "call_module" else None
        if made is not None and layers.random_weight(made) is not None and isinstance(index, int):
            return before if index == 0 else None
        return picks.indexed(self.graph, before, self.settled(index))

    def cast(self, node: Any, before: Value) -> Value:
        casts.require_kept(node)
        self.touch(node, node.args[0], False, True)
        return before

    def product(self, node: Any, before: Value) -> Value:
        """With tensors of the module."""
        self.tensors = True
        args, kwargs = self.settled(behind_input(node.args, node.kwargs), constants=True)
        kind = products.METHODS if node.op == "call_method" else products.FUNCTIONS
        return products.made(self.graph, before, kind[node.target], args, kwargs)

    def step(self, node: Any, step: Optional[Step], before: Value) -> Value:
        if step is None:
            raise Unsupported(refusals.of_step(node))
        wanted = step_name(node).rstrip("_") in CONSTANTS
        self.tensors |= wanted
        args, kwargs = self.settled(behind_input(node.args, node.kwargs), wanted)
        given = bind(step, args, kwargs)
        overwrites = bool(given.pop("inplace", False)) or step_name(node).endswith("_")
        self.touch(node, input_of(node), overwrites, step.aliases)
        made = step.make(self.graph, before, **{key: given[key] for key in step.read if key in given})
        if step.drops and not self.drops(node):
            return before
        self.shifts |= step.drops and step_name(node).startswith("alpha")
        return made

    def drops(self, node: Any) -> bool:
        """Is a function of dropout random? One that is written with False never is, one that follows the
        module's mode is as in training, and one that is written with True always is."""
        modes = self.modes.get(node, (training_argument(node),) * 2)
        self.noisy |= bool(modes[0])
        if modes[0] and not self.dropout and ALWAYS_RANDOM not in self.assumptions:
            self.assumptions.append(ALWAYS_RANDOM)
        return self.dropout and any(modes)

    def join(self, node: Any) -> Any:
        """torch.cat and torch.stack."""
        args, kwargs = list(node.args), dict(node.kwargs)
        parts = args.pop(0) if args else kwargs.pop("tensors", ())
        values = [self.value(part) for part in parts]
        if not any(isinstance(value, Value) for value in values):
            return self.unrelated(node)
        if not all(isinstance(value, Value) for value in values):
            raise Unsupported("a layer's output beside something else")
        given = bind(_JOIN, *self.settled((tuple(args), kwargs)))
        return _JOINS[node.target](self.graph, values, given["dim"])

    def arithmetic(self, node: Any) -> Any:
        sign = arithmetic.sign_of(node.target)
        if not any(self.network(other) is not None for other in node.all_input_nodes):
            return self.unrelated(node)
        first, second, alpha = arithmetic.arguments(sign, node.args, self.settled(dict(node.kwargs)))
        overwrites = node.target in arithmetic.IN_PLACE or step_name(node).endswith("_")
        values = self.value(first), self.value(second)
        if overwrites and not isinstance(values[0], Value):
            raise Unsupported("it changes something that is no layer's output")
        self.touch(node, first if isinstance(values[0], Value) else second, overwrites, False)
        self.tensors |= any(isinstance(value, torch.Tensor) for value in values)
        return arithmetic.combined(self.graph, sign, *values, alpha)
