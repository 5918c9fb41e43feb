# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Sums, differences, products and quotients in forward: of two values of the network, of a value and constants, and of
constants and sizes alone, which are worked out."""

from __future__ import annotations

import operator
from typing import Any, Callable, Dict, Tuple

import numpy as np
import torch

from ._torch_graph import Graph, Unsupported, Value
from ._torch_shapes import BATCH, is_size, spread
from ._torch_steps import REQUIRED, Step, bind

# The operation of each function and method.
_SIGNS: Dict[Any, str] = {
    **{operator.add: "+", operator.iadd: "+", torch.add: "+", "add": "+", "add_": "+"},
    **{operator.sub: "-", operator.isub: "-", torch.sub: "-", "sub": "-", "sub_": "-"},
    **{operator.mul: "*", operator.imul: "*", torch.mul: "*", "mul": "*", "mul_": "*"},
    **{operator.truediv: "/", operator.itruediv: "/", torch.div: "/", "div": "/", "div_": "/"},
    **{torch.subtract: "-", torch.multiply: "*", torch.divide: "/", torch.true_divide: "/"},
    **{operator.neg: "neg", torch.neg: "neg", torch.negative: "neg", "neg": "neg", "neg_": "neg"},
}
IN_PLACE = (operator.iadd, operator.isub, operator.imul, operator.itruediv)
_MORE = {
    "+": (("alpha", 1), ("out", None)),
    "-": (("alpha", 1), ("out", None)),
    "*": (("out", None),),
    "/": (("rounding_mode", None), ("out", None)),
}
# Functions of constants and sizes, by name: none of them draws random numbers.
_WORKED_OUT = frozenset(
    "add sub mul truediv floordiv mod neg pow getitem div true_divide multiply subtract divide view reshape flatten "
    "squeeze unsqueeze expand expand_as t transpose permute contiguous clone detach to float double sqrt rsqrt exp log "
    "log1p abs square reciprocal sigmoid tanh softplus relu clamp clip sum mean prod min max cat stack".split()
)


def sign_of(target: Any) -> str:
    """Empty where it is no arithmetic."""
    try:
        return _SIGNS.get(target, "")
    except TypeError:
        return ""


def arguments(sign: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[Any, Any, float]:
    """Both operands and alpha, the factor of the second."""
    given = list(args)
    rest = dict(kwargs)
    for name in ("input", "other"):
        if name in rest:
            given.append(rest.pop(name))
    if sign == "neg":
        bind(Step((("out", None),), (), _nothing), given[1:], rest)
        return given[0], -1, 1.0
    if len(given) < 2:
        raise Unsupported("argument other is missing")
    named = bind(Step(_MORE[sign], ("alpha",), _nothing), given[2:], rest)
    alpha = named.get("alpha", 1)
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)):
        raise Unsupported(f"argument alpha={alpha!r}; only a number is there")
    return given[0], given[1], float(alpha)


def _nothing(*_: Any) -> Any:
    return REQUIRED


def is_constant(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, (int, float, torch.Tensor))


def combined(graph: Graph, sign: str, first: Any, second: Any, alpha: float) -> Value:
    """At least one of both is a value of the network."""
    if isinstance(first, Value) and isinstance(second, Value):
        if sign in ("*", "/"):
            raise Unsupported("both sides come from the input; only a factor that does not is there")
        factor = alpha if sign == "+" else -alpha
        return graph.add(first, graph.affine(second, factor, 0.0))
    other = second if isinstance(first, Value) else first
    if not is_constant(other):
        raise Unsupported("the sum of a layer's output and something else" if sign in "+-" else "a factor that is no constant")
    value = first if isinstance(first, Value) else second
    numbers = spread(other, value)
    ones = np.asarray(1.0)
    if sign in ("*", "neg"):
        return graph.affine(value, numbers, 0.0)
    if sign == "/":
        if value is second:
            raise Unsupported("a quotient by a value that comes from the input")
        if np.any(numbers == 0):
            raise Unsupported("a quotient by zero")
        return graph.affine(value, ones / numbers, 0.0)
    if value is first:
        return graph.affine(value, 1.0, (alpha if sign == "+" else -alpha) * numbers)
    return graph.affine(value, alpha if sign == "+" else -alpha, numbers)


def _function(target: Any) -> Callable[..., Any]:
    if isinstance(target, str):
        return lambda first, *args, **kwargs: getattr(first, target)(*args, **kwargs)
    return target


def worked_out(target: Any, args: Any, kwargs: Any) -> Any:
    """A step on constants and sizes; None where it is not known to be one. Numbers that hold the batch's size have
    no value, but for a part of a shape."""
    name = target if isinstance(target, str) else getattr(target, "__name__", "")
    if name not in _WORKED_OUT and not (target is getattr and args[1] in ("T", "mT", "data")):
        return None
    if name != "getitem" and _holds_batch((args, tuple(kwargs.values()))):
        return None
    try:
        with torch.no_grad():
            result = _function(target)(*args, **kwargs)
    except Exception:  # whatever torch raises
        return None
    if isinstance(result, (torch.Tensor, float)) or is_size(result):
        return tuple(result) if isinstance(result, list) else result
    return None


def _holds_batch(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_holds_batch(part) for part in value)
    return value is BATCH
