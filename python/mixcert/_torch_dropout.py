# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Functions of dropout in a record, and the mode that each is called with."""

from __future__ import annotations

from typing import Any, Optional

from torch import fx

from ._torch_graph import Unsupported
from ._torch_steps import FUNCTIONS, bind
from ._torch_values import behind_input


def is_dropout(node: fx.Node) -> bool:
    """A function of dropout; modules of it are layers."""
    return node.op == "call_function" and node.target in FUNCTIONS and FUNCTIONS[node.target].drops


def training_argument(node: Any) -> Optional[bool]:
    """None where it cannot be understood; the walk says why."""
    try:
        given = bind(FUNCTIONS[node.target], *behind_input(node.args, node.kwargs))
    except Unsupported:
        return None
    return bool(given.get("training", given.get("train")))
