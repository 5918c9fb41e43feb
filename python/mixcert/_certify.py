# Licensed under the Apache License, Version 2.0; see LICENSE.
"""certify(): keywords come from the option table of the C++ library."""

from __future__ import annotations

from typing import Any, Optional, Union

from . import _core
from ._network import Network
from ._options import advance, describe, progress_bar
from ._result import Result
from ._result_list import ResultList


def certify(
    network: Network,
    inputs: Any,
    method: str = "auto",
    joint: bool = False,
    epsilon: Optional[float] = None,
    *,
    progress: Optional[bool] = None,
    **options: Any,
) -> Union[Result, ResultList]:
    """A Gaussian mixture q and a proven bound of W2(p, q) at every input, p the network's output law there.

    `inputs` is [inputs, features] (further axes are flattened); the answer is then a list of results. A
    single input [features], or a number where the network takes one, gives one result; so does `joint`, a law
    over the outputs at all inputs, stacked input-major. (An array of rank 1 for a network of one feature
    holds several inputs.)

    Ctrl-C stops the work at its next step. `progress` shows a bar by tqdm; by default where tqdm is
    installed and standard error is a terminal.

    ValueError: a bad option, input or shape; MemoryError: more memory than `max_memory_in_gib` is needed.
    """
    if not isinstance(network, Network):
        hint = "; mixcert.from_torch(module) makes one" if hasattr(network, "state_dict") else ""
        raise TypeError(f"network: expected a mixcert.Network, got {type(network).__name__}{hint}")
    options["method"] = method
    options["joint"] = joint
    options["epsilon"] = epsilon
    bar = progress_bar(progress, "certify", len(inputs) if hasattr(inputs, "__len__") else None)
    if bar is None:
        views, single = _core.certify(network._core, inputs, options, None)
    else:
        with bar:
            views, single = _core.certify(network._core, inputs, options, advance(bar))
            advance(bar)(len(views))
    results = ResultList(Result(view) for view in views)
    return results[0] if single else results


describe(certify, _core.certify_options())
