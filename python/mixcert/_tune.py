# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Prior selection: the weight prior whose network is like a Gaussian process."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Union

import numpy as np

from . import _core
from ._mixture import Mixture
from ._network import Network
from ._options import describe
from ._progress import Progress
from .kernels import Kernel


class TuneResult(NamedTuple):
    """`network` has the prior as the law of its weights. `history` has one entry per step, at its batch:
    objective, bound (certified, between network and mixture), distance (MW2 between mixture and target),
    target_scale. `held_out`: inputs that no step saw."""

    network: Network
    history: Dict[str, np.ndarray]
    held_out: List[int]
    seconds: float


def tune(
    inputs: Any,
    kernel: Union[str, Kernel, None] = None,
    *,
    mean: str = "zero",
    target: Optional[Mixture] = None,
    progress: Optional[bool] = None,
    **options: Any,
) -> TuneResult:
    """Minimises beta * bound + (1 - beta) * distance over the variances (and means) of a dense network's
    weights, so that its outputs at `inputs` are like a Gaussian process with this kernel,
    `mixcert.kernels.RBF(lengthscale=0.5)` or its text "rbf(lengthscale=0.5, variance=1)", or like the mixture
    `target` over the outputs at all inputs.

    >>> run = tune(np.linspace(-1, 1, 12), "rbf(lengthscale=0.5)", arch="1-8-1", steps=3, held_out=2, batch=4)
    >>> run.network.inputs, len(run.history["objective"])
    (1, 3)
    """
    if (kernel is None) == (target is None):
        raise ValueError(f"expected one of kernel and target, got {'neither' if kernel is None else 'both'}")
    if kernel is not None and not isinstance(kernel, (str, Kernel)):
        raise TypeError(f"kernel: expected a kernel or its text 'rbf(lengthscale=1)', got {type(kernel).__name__}")
    if target is not None and not isinstance(target, Mixture):
        raise TypeError(f"target: expected a mixcert.Mixture, got {type(target).__name__}")
    law: Any = str(kernel) if target is None else target._core
    steps = options.get("steps")
    with Progress("tune", steps if isinstance(steps, int) else None, progress) as shown:
        model, history, held_out, seconds = _core.tune(inputs, law, mean, options, shown.tick)
    return TuneResult(Network._wrap(model), history, held_out, seconds)


describe(tune, _core.tune_options())
