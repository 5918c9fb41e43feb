# Licensed under the Apache License, Version 2.0; see LICENSE.
"""From the recorded steps of forward to a list of layers. A step that is not fully understood is refused with
a line that names it: a certificate of another network would be worse than none."""

from __future__ import annotations

import operator
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import torch
from torch import fx, nn

from . import _torch_layers as layers
from ._torch_steps import FUNCTIONS, METHODS, REQUIRED, Step, bind
from ._torch_windows import Entry, Shape, Unsupported

INPUT_MODULE = "module"  # the name of the caller's module in the recorded one
_SUMS = (operator.add, operator.iadd, torch.add)
_SUM = Step((("other", REQUIRED), ("alpha", 1), ("out", None)), ("other",), lambda shape: (None, shape))
_SIZES = ("shape", "ndim", "device", "dtype", "requires_grad", "is_cuda")  # attributes without values
_SIZE_METHODS = ("size", "dim", "numel")
ALWAYS_RANDOM = (
    "dropout written with training=True is random in evaluation mode too; dropout=False leaves it out all the same"
)


def is_dropout(node: fx.Node) -> bool:
    """A function of dropout; modules of it are layers."""
    return node.op == "call_function" and node.target in FUNCTIONS and FUNCTIONS[node.target].drops


def training_argument(node: Any) -> Optional[bool]:
    """None where it cannot be understood; the walk says why."""
    try:
        given = bind(FUNCTIONS[node.target], *_behind_input(node))
    except Unsupported:
        return None
    return bool(given.get("training", given.get("train")))


def _behind_input(node: Any) -> Tuple[Any, Dict[str, Any]]:
    """Arguments of a function but for its input, which may be named."""
    if node.args:
        return node.args[1:], dict(node.kwargs)
    return (), {key: value for key, value in node.kwargs.items() if key != "input"}


def _input_of(node: Any) -> Any:
    return node.args[0] if node.args else node.kwargs.get("input")


def _name(node: Any) -> str:
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "?")


class _Value(NamedTuple):
    """What one step of forward computes: the layers behind it, from the input on."""

    entries: Tuple[Entry, ...]
    shape: Shape

    def then(self, entry: Optional[Entry], shape: Shape) -> "_Value":
        return _Value(self.entries if entry is None else self.entries + (entry,), shape)


class Walk:
    """Follows the steps. Values that do not come from the input by layers are None: sizes, divergences.
    `modes` has the argument `training` of each dropout in evaluation and in training mode."""

    def __init__(self, module: nn.Module, shape: Shape, modes: Mapping[fx.Node, Any], dropout: bool) -> None:
        self.module, self.shape, self.modes, self.dropout = module, shape, modes, dropout
        self.values: Dict[fx.Node, Optional[_Value]] = {}
        self.memory: Dict[fx.Node, fx.Node] = {}  # the step that made the memory that a value is in
        self.names: List[str] = []
        self.assumptions: List[str] = []
        self.noisy = False  # in evaluation mode
        self.result: Optional[_Value] = None

    def run(self, graph: fx.Graph) -> List[Entry]:
        for node in graph.nodes:
            self.memory[node] = node
            try:
                self.values[node] = getattr(self, node.op)(node)
            except (Unsupported, TypeError, IndexError, OverflowError) as error:
                raise ValueError(f"from_torch: {self.title(node)}: {error}") from None
        if self.result is None or not self.result.entries:
            raise ValueError("from_torch: expected a module whose output comes from its input by layers")
        return list(self.result.entries)

    def name(self, node: Any) -> str:
        return str(node.target)[len(INPUT_MODULE) + 1 :]

    def title(self, node: Any) -> str:
        if node.op == "call_module":
            name = self.name(node)
            return f"layer '{name}' ({type(self.module.get_submodule(name)).__name__})"
        return f"step '{_name(node)}' of forward"

    def value(self, argument: Any) -> Optional[_Value]:
        return self.values[argument] if isinstance(argument, fx.Node) else None

    def placeholder(self, node: Any) -> Optional[_Value]:
        return _Value((), self.shape) if not self.values else None

    def get_attr(self, node: Any) -> None:
        pass

    def output(self, node: Any) -> None:
        given = node.args[0]
        if isinstance(given, (tuple, list)):
            if any(self.value(other) is not None for other in given[1:]):
                raise Unsupported("several outputs; expected one, with a divergence beside it at most")
            given = given[0] if given else None
        self.result = self.value(given)

    def call_module(self, node: Any) -> _Value:
        name = self.name(node)
        module = self.module.get_submodule(name)
        before = self.value(_input_of(node))
        if before is None:
            raise Unsupported("expected a layer that acts on what the input has become")
        weight = layers.random_weight(module)
        args, kwargs = _behind_input(node)
        for key, value in [*enumerate(args, 1), *kwargs.items()]:
            if weight is None or key != "return_kl":  # bayesian-torch: whether it returns a divergence, too
                raise Unsupported(f"argument {key} of its call, {value!r}, is not known here")
        if weight is None:
            entry, shape = layers.plain_layer(name, module, before.shape)
        else:
            entry, shape = layers.random_layer(name, module, weight, before.shape)
            self.noisy = True
        if entry is not None and "name" in entry:
            if name in self.names:
                raise Unsupported("it acts twice; weights of different layers must be independent")
            self.names.append(name)
        drops = entry is not None and entry["type"] in ("dropout", "dropout2d")
        keeps = entry is None or drops or entry["type"] == "flatten"
        self.touch(node, _input_of(node), bool(getattr(module, "inplace", False)), keeps)
        if drops and not self.dropout:
            return before
        return before.then(entry, shape)

    def call_method(self, node: Any) -> Optional[_Value]:
        before = self.value(node.args[0])
        if before is None:
            return self.unrelated(node)
        if node.target in _SIZE_METHODS:
            return None
        if node.target in ("add", "add_"):
            return self.sum(node)
        if node.target in ("view", "reshape"):
            return self.view(node, before)
        return self.step(node, METHODS.get(node.target), before)

    def call_function(self, node: Any) -> Optional[_Value]:
        if node.target in _SUMS:
            return self.sum(node)
        before = self.value(_input_of(node))
        if before is None:
            return self.unrelated(node)
        if node.target is getattr:
            if node.args[1] not in _SIZES:
                raise Unsupported(f"attribute '{node.args[1]}' of a layer's output")
            return None
        if node.target is operator.getitem:
            return self.item(node, before)
        return self.step(node, FUNCTIONS.get(node.target), before)

    def unrelated(self, node: Any) -> None:
        """A step on sizes or divergences, with no layer's output among its arguments."""
        if any(self.value(argument) is not None for argument in node.all_input_nodes):
            raise Unsupported("no layer of mixcert has its meaning")
        name = _name(node)
        if name.endswith("_") and not name.endswith("__"):
            raise Unsupported("it changes something that is no layer's output")

    def item(self, node: Any, before: _Value) -> Optional[_Value]:
        """The output of a layer that returns (output, divergence)."""
        maker = node.args[0]
        made = self.module.get_submodule(self.name(maker)) if maker.op == "call_module" else None
        if made is None or layers.random_weight(made) is None:
            raise Unsupported("indexing of anything but what a random layer returns")
        self.memory[node] = self.memory[maker]
        return before if node.args[1] == 0 else None

    def view(self, node: Any, before: _Value) -> _Value:
        """(batch, features), the batch as -1 or as the input's own."""
        sizes = node.args[1:]
        if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
            sizes = sizes[0]
        if node.kwargs or len(sizes) != 2:
            raise Unsupported("expected (batch, features)")
        if not isinstance(sizes[0], fx.Node) and sizes[0] != -1:
            raise Unsupported(f"a first axis of {sizes[0]!r} mixes inputs; expected -1 or the batch's size")
        count = None if before.shape is None else int(torch.Size(before.shape).numel())
        if count is not None and not isinstance(sizes[1], fx.Node) and sizes[1] not in (-1, count):
            raise Unsupported(f"a second axis of {sizes[1]!r}; an input has {count} values here")
        self.touch(node, node.args[0], False, True)
        return before.then(*layers.flattened(before.shape))

    def step(self, node: Any, step: Optional[Step], before: _Value) -> _Value:
        if step is None:
            raise Unsupported("no layer of mixcert has its meaning")
        given = bind(step, *_behind_input(node))
        overwrites = bool(given.pop("inplace", False)) or _name(node).endswith("_")
        self.touch(node, _input_of(node), overwrites, step.aliases)
        entry, shape = step.make(before.shape, **{key: given[key] for key in step.read if key in given})
        if step.drops and not self.drops(node):
            return before
        return before.then(entry, shape)

    def drops(self, node: Any) -> bool:
        """Is a function of dropout random? One that is written with False never is, one that follows the
        module's mode is as in training, and one that is written with True always is."""
        modes = self.modes.get(node, (training_argument(node),) * 2)
        self.noisy |= bool(modes[0])
        if modes[0] and not self.dropout and ALWAYS_RANDOM not in self.assumptions:
            self.assumptions.append(ALWAYS_RANDOM)
        return self.dropout and any(modes)

    def touch(self, node: Any, source: Any, overwrites: bool, aliases: bool) -> None:
        """Refuses a step that overwrites memory which a later step reads as it was before."""
        home = self.memory[source]
        if overwrites:
            held = [other for other, at in self.memory.items() if at is home and other is not node]
            users = [user for other in held for user in other.users]
            if any(user not in self.memory and not _asks_size(user) for user in users):
                raise Unsupported("it overwrites a value that a later step uses")
        if overwrites or aliases:
            self.memory[node] = home

    def sum(self, node: Any) -> Optional[_Value]:
        """x + F(x), a residual block; sums of divergences are nobody's layer."""
        first = _input_of(node)
        args, kwargs = _behind_input(node)
        other = args[0] if args else kwargs.get("other")
        rest = {key: value for key, value in kwargs.items() if key != "other"}
        bind(_SUM, (0, *args[1:]), rest)
        left, right = self.value(first), self.value(other)
        if left is None and right is None:
            return None
        if left is None or right is None:
            raise Unsupported("the sum of a layer's output and something else")
        short, long = sorted((left, right), key=lambda value: len(value.entries))
        count = len(short.entries)
        inner = long.entries[count:]
        if not inner or any(a is not b for a, b in zip(short.entries, long.entries)):
            raise Unsupported("expected a residual block x + F(x)")
        if short.shape != long.shape:
            raise Unsupported(f"expected a residual block of one shape, got {short.shape} and {long.shape}")
        self.touch(node, first, node.target in (operator.iadd, "add_"), False)
        return short.then({"type": "residual", "layers": list(inner)}, long.shape)


def _asks_size(node: Any) -> bool:
    if node.op == "call_method":
        return node.target in _SIZE_METHODS
    return node.target is getattr and node.args[1] in _SIZES
