# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What a torch module draws itself: its forward again and again, with dropout on and statistics as in evaluation."""

from __future__ import annotations

import time
from typing import Any, Optional, Tuple

import numpy as np
import torch
from torch import nn

from ._torch_record import copied


def _drawing(module: nn.Module) -> nn.Module:
    """A copy in evaluation mode but for its dropout."""
    own = copied(module).eval()
    for part in own.modules():
        if isinstance(part, nn.modules.dropout._DropoutNd):
            part.train()
    return own


def _rows(given: Any, count: int) -> torch.Tensor:
    """[inputs, outputs]: heads one after the other, and no divergences."""
    heads = list(given.values()) if isinstance(given, dict) else given if isinstance(given, (tuple, list)) else [given]
    rows = [h.reshape(count, -1) for h in heads if torch.is_tensor(h) and h.dim() and len(h) == count]
    return torch.cat(rows, 1)


def module_draws(
    module: nn.Module, inputs: Any, outputs: int, samples: int, classes: bool, seed: int
) -> Tuple[Optional[Any], str]:
    """A MonteCarlo of `samples` forwards, or None with the reason. Random generators stay as they are."""
    from ._compare import MonteCarlo

    own = _drawing(module)
    kind = next((p for p in own.parameters()), torch.zeros(1))
    batch = torch.as_tensor(np.asarray(inputs) if not torch.is_tensor(inputs) else inputs)
    batch = batch.to(dtype=kind.dtype, device=kind.device)
    drawn = np.empty((len(batch), samples, outputs))
    start = time.perf_counter()
    devices = [kind.device] if kind.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices), torch.no_grad():
        torch.manual_seed(seed)
        for place in range(samples):
            try:
                rows = _rows(own(batch), len(batch))
            except Exception as error:  # noqa: BLE001 - the module is the user's
                return None, f"the module's own forward was not drawn: {type(error).__name__}: {error}"
            if rows.shape[1] != outputs:
                return None, f"the module gives {rows.shape[1]} numbers, the network {outputs}: its draws are not compared"
            drawn[:, place] = rows.double().cpu().numpy()
    estimate = MonteCarlo.of(drawn, classes, time.perf_counter() - start)
    if not estimate.std.any():
        return None, "the module draws nothing in its forward"
    return estimate, ""
