# Licensed under the Apache License, Version 2.0; see LICENSE.
"""certify(): keywords come from the option table of the C++ library."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from . import _core
from ._import import from_torch
from ._network import Network
from ._options import describe
from ._progress import Progress
from ._result import Result
from ._result_list import ResultList


def as_network(given: Any, inputs: Any, posterior: Any) -> Network:
    """A network as it is, anything else by from_torch() with the shape of the inputs: batches come first there."""
    if isinstance(given, Network):
        if posterior is not None:
            raise TypeError("posterior: expected none beside a mixcert.Network, which has its law")
        return given
    if posterior is None and not hasattr(given, "state_dict") and not hasattr(given, "model"):
        raise TypeError(
            f"network: expected a mixcert.Network, a torch module or a Laplace object, got {type(given).__name__}"
        )
    shape = tuple(inputs.shape) if hasattr(inputs, "shape") else np.shape(inputs)
    return from_torch(given, posterior, input_shape=shape[1:] if len(shape) > 2 else None)


def certify(
    network: Any,
    inputs: Any,
    method: str = "auto",
    joint: bool = False,
    epsilon: Optional[float] = None,
    *,
    posterior: Any = None,
    progress: Optional[bool] = None,
    **options: Any,
) -> Union[Result, ResultList]:
    """A Gaussian mixture q and a proven bound of W2(p, q) at every input, p the network's output law there.

    `network` is a :class:`Network`, or what :func:`from_torch` reads: a torch module, with its `posterior`
    (a guide, an optimizer, a Laplace object, arrays) where the module does not hold the law itself. A module is
    read at every call, so that it may be trained between two of them; to read it once, call from_torch().

    `inputs` is [inputs, features] (further axes are flattened); the answer is then a list of results. A
    single input [features], a number where the network takes one, or an image [channels, height, width] of several
    channels gives one result; so does `joint`, a law over the outputs at all inputs, stacked input-major. (An array of
    rank 1 for a network of one feature, and one of [1, height, width], hold several inputs.)

    Ctrl-C stops the work at its next step. `progress` shows a bar by tqdm; by default where tqdm is
    installed and standard error is a terminal.

    ValueError: a bad option, input or shape; MemoryError: more memory than `max_memory_in_gib` is needed.
    """
    if hasattr(inputs, "cpu"):
        inputs = inputs.cpu()
    network = as_network(network, inputs, posterior)
    options["method"] = method
    options["joint"] = joint
    options["epsilon"] = epsilon
    with Progress("certify", None, progress) as shown:
        views, single = _core.certify(network._core, inputs, options, shown.tick)
    results = ResultList(Result(view) for view in views)
    return results[0] if single else results


describe(certify, _core.certify_options())
