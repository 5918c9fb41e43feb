# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A module's forward recorded by torch.fx: what is done to the input, with sizes, unpacking and steps in place, which
torch.fx alone does not record in every version."""

from __future__ import annotations

import builtins
import contextlib
import copy
import dis
import operator
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

import torch
import torch.nn.functional as F
from torch import fx, nn

from . import _torch_layers as layers
from ._torch_values import INPUT_MODULE


def _wanted_parts(frame: Any) -> int:
    """How many names the running instruction of a frame unpacks into; 0 where it is another."""
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == frame.f_lasti:
            return int(instruction.argval) if instruction.opname == "UNPACK_SEQUENCE" else 0
    return 0


class _Recorded(fx.Proxy):
    """Unpacked into as many parts as there are names; layers of some libraries return (output, divergence)."""

    def __iter__(self) -> Any:
        count = _wanted_parts(sys._getframe(1)) or (2 if self.node.op == "call_module" else 0)
        if not count:
            raise TypeError("a loop over a value that is not known before forward runs")
        whole: Any = self
        return iter([whole[place] for place in range(count)])

    def __getattr__(self, name: str) -> Any:
        if name == "shape":  # may be unpacked
            return self.tracer.create_proxy("call_function", getattr, (self, name), {})
        return super().__getattr__(name)

    # torch before 2.0 records x += y as x + y.
    def __iadd__(self, other: Any) -> fx.Proxy:
        return self.tracer.create_proxy("call_function", operator.iadd, (self, other), {})

    def __isub__(self, other: Any) -> fx.Proxy:
        return self.tracer.create_proxy("call_function", operator.isub, (self, other), {})

    def __imul__(self, other: Any) -> fx.Proxy:
        return self.tracer.create_proxy("call_function", operator.imul, (self, other), {})

    def __itruediv__(self, other: Any) -> fx.Proxy:
        return self.tracer.create_proxy("call_function", operator.itruediv, (self, other), {})


class _Tracer(fx.Tracer):
    def is_leaf_module(self, module: nn.Module, name: str) -> bool:
        return layers.is_layer(module) or super().is_leaf_module(module, name)

    def proxy(self, node: fx.Node) -> fx.Proxy:
        return _Recorded(node, self)


# Functions that want whole numbers, which sizes are not while they are recorded.
_WANT_NUMBERS: Tuple[Tuple[Any, str], ...] = (
    *((builtins, "len"), (torch, "reshape")),
    *((F, "avg_pool1d"), (F, "avg_pool2d")),
)


def _recording(function: Any) -> Any:
    def step(*args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else kwargs.get("input")
        if isinstance(first, _Recorded):
            return first.tracer.create_proxy("call_function", function, args, kwargs)
        return function(*args, **kwargs)

    return step


@contextlib.contextmanager
def _sizes_recorded() -> Iterator[None]:
    own = [(holder, name, getattr(holder, name)) for holder, name in _WANT_NUMBERS]
    try:
        for holder, name, function in own:
            setattr(holder, name, _recording(function))
        yield
    finally:
        for holder, name, function in own:
            setattr(holder, name, function)


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


def reason(error: Any) -> str:
    """Why forward could not be recorded, in words of the module."""
    line = first_line(error)
    if isinstance(error, fx.proxy.TraceError) and "control flow" in line:
        return "it decides by its input, or by sizes of it, what to do (if, while, assert)"
    if "required positional argument" in line:
        return "it wants more than one input: " + line.partition("missing ")[2]
    if "interpreted as an integer" in line or "a loop over" in line:
        return "it uses a size, or parts of a value, as a number that is known before it runs"
    return line.replace("_Recorded", "the input")


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


def title(name: str, module: nn.Module) -> str:
    return f"layer '{name}' ({type(module).__name__})" if name else f"the module ({type(module).__name__})"


class Record(NamedTuple):
    graph: fx.Graph
    root: nn.Module  # holds the constants

    def constants(self) -> List[torch.Tensor]:
        """Tensors that forward made without its input."""
        found = [node.target for node in self.graph.nodes if node.op == "get_attr"]
        return [getattr(self.root, name) for name in found if name.startswith("_tensor_constant")]


def record(module: nn.Module, training: bool) -> Record:
    set_mode(module, training)
    root = _OneInput(module)
    try:
        with _sizes_recorded():
            return Record(_Tracer().trace(root), root)
    except Exception as error:
        raise ValueError(
            f"from_torch: forward could not be recorded: {reason(error)} (torch.fx records its steps before there are numbers)"
        ) from error
