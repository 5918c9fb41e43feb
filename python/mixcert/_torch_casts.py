# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Conversions in forward that keep values up to rounding: to another device, and to floating-point numbers of 32 bits
or more."""

from __future__ import annotations

from typing import Any

import torch

from ._torch_graph import Unsupported

METHODS = ("to", "float", "double", "type_as", "cpu", "cuda")


def require_kept(node: Any) -> None:
    """Arguments that are computed in forward (another tensor's type) are compared with the module, as all of it is."""
    for given in (*node.args[1:], *node.kwargs.values()):
        if isinstance(given, torch.dtype) and given not in (torch.float32, torch.float64):
            raise Unsupported(f"a conversion to {given} changes values; only those to float32 and float64 are there")
