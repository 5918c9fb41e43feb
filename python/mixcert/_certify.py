# Licensed under the Apache License, Version 2.0; see LICENSE.
"""certify(): keywords come from the option table of the C++ library."""

from __future__ import annotations

import os
import warnings
from typing import Any, Dict, NamedTuple, Optional, Union

import numpy as np

from . import _core
from ._import import from_torch
from ._network import Network
from ._options import describe
from ._progress import Progress
from ._result import Result
from ._result_list import ResultList


class LongWorkWarning(UserWarning):
    """Said before work that is expected to take more than half a minute or a quarter of `max_memory_in_gib`."""


class WorkEstimate(NamedTuple):
    """What certify() is expected to take, in order of magnitude, from sizes of layers alone."""

    method: str  #: that takes most of the time, in words
    seconds: float
    gib: float
    multiplications: float
    announcement: str  #: one line, with what lowers time and memory


def _looks_like_torch(given: Any) -> bool:
    return hasattr(given, "state_dict") or hasattr(given, "model")


def as_network(given: Any, inputs: Any, posterior: Any) -> Network:
    """A network as it is, anything else by from_torch() with the shape of the inputs: batches come first there."""
    if isinstance(given, Network):
        if posterior is not None:
            raise TypeError("posterior: expected none beside a mixcert.Network, which has its law")
        return given
    if isinstance(given, (str, os.PathLike)):
        raise TypeError(
            f"network: expected a mixcert.Network or a torch module, got a path; mixcert.Network.load({str(given)!r}) "
            "reads a model file"
        )
    if isinstance(given, type):
        raise TypeError(f"network: expected an instance, got the class {given.__name__}; {given.__name__}(..) makes one")
    if posterior is None and not _looks_like_torch(given):
        raise TypeError(
            f"network: expected a mixcert.Network, a torch module or a Laplace object, got {type(given).__name__}"
        )
    if hasattr(given, "param_groups"):
        raise TypeError("network: expected a module, got an optimizer; certify(module, x, posterior=optimizer)")
    shape = tuple(inputs.shape) if hasattr(inputs, "shape") else np.shape(inputs)
    if len(shape) <= 2:
        return from_torch(given, posterior)
    try:
        return from_torch(given, posterior, input_shape=shape[1:])
    except ValueError:
        if len(shape) != 3:
            raise
        try:
            return from_torch(given, posterior, input_shape=shape)  # one image, without the axis of inputs
        except ValueError:
            pass
        raise


def as_inputs(inputs: Any) -> Any:
    """Tensors come from their device, a list of them as one array; those with gradients are refused, as NumPy does."""
    if isinstance(inputs, (list, tuple)) and inputs and all(hasattr(part, "cpu") for part in inputs):
        parts = [np.asarray(as_inputs(part)) for part in inputs]
        if len({part.shape for part in parts}) > 1:
            shapes = " and ".join(sorted({str(list(part.shape)) for part in parts}))
            raise ValueError(f"inputs: expected tensors of one shape, got {shapes}")
        return np.stack(parts)
    if getattr(inputs, "requires_grad", False):
        raise ValueError(
            "inputs: expected numbers, got a tensor with requires_grad; certificates have no derivatives in the "
            "inputs: pass inputs.detach()"
        )
    return inputs.cpu() if hasattr(inputs, "cpu") else inputs


def _options(method: str, joint: bool, epsilon: Optional[float], options: Dict[str, Any]) -> Dict[str, Any]:
    return dict(options, method=method, joint=joint, epsilon=epsilon)


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

    Work that is expected to take more than half a minute, or a quarter of `max_memory_in_gib`, is announced by a
    LongWorkWarning that says how to lower it; :func:`estimate_work` asks beforehand. `progress` shows on standard
    error how much is done and how long the rest will take: by default on a terminal; False: neither. Ctrl-C stops
    the work at its next step.

    ValueError: a bad option, input or shape; MemoryError: more memory than `max_memory_in_gib` is needed.
    """
    inputs = as_inputs(inputs)
    given, network = network, as_network(network, inputs, posterior)
    if given is not network and not network._core.is_random:
        warnings.warn(
            "certify: nothing in the network is random: its weights are plain and it has no dropout; where a posterior "
            "stands beside the module, pass posterior=..",
            UserWarning,
            stacklevel=2,
        )
    shown = Progress("certify", None, progress)

    def announce(total: int, estimate: Optional[Dict[str, Any]]) -> None:
        shown.total = total
        if estimate is not None:
            shown.expected = estimate["seconds"]
            if progress is not False:
                warnings.warn(f"certify: {estimate['announcement']}", LongWorkWarning, stacklevel=3)

    with shown:
        views, single = _core.certify(
            network._core, inputs, _options(method, joint, epsilon, options), shown.tick, announce
        )
    results = ResultList(Result(view) for view in views)
    return results[0] if single else results


def certify_box(
    network: Any,
    lower: Any,
    upper: Any,
    method: str = "auto",
    epsilon: Optional[float] = None,
    *,
    posterior: Any = None,
    progress: Optional[bool] = None,
    **options: Any,
) -> ResultList:
    """Bounds for every input x with lower <= x <= upper: the box in cells, and for each a result whose bounds, and all
    that is answered from them, hold at every input of the cell (`Result.cell`).

    `lower` and `upper` are [features], or numbers for all features. Cells are split where bounds are largest until all
    are at most `epsilon`, splitting gains nothing any more, or there are `max_cells` cells.

    >>> from mixcert import Dense, Network
    >>> net = Network([Dense([[1.0], [-2.0]], weight_variance=[[0.01], [0.01]]), "relu", Dense([[0.5, 0.25]])])
    >>> cells = certify_box(net, -1.0, 1.0, max_cells=64, threads=1)
    >>> bool(cells.moments().mean.upper.max() < 0.8), cells.at(0.3).holds_for(0.3)
    (True, True)

    ValueError: a bad option or box; MemoryError: more memory than `max_memory_in_gib` is needed.
    """
    sides = [np.asarray(as_inputs(end), dtype=float) for end in (lower, upper)]
    model = as_network(network, sides[0][None], posterior)
    ends = [np.full(model.inputs, side) if side.ndim == 0 else side.reshape(-1) for side in sides]
    options = _options(method, options.pop("joint", False), epsilon, options)
    shown = Progress("certify_box", options.get("max_cells", 1000), progress)
    with shown:
        views = _core.certify_box(model._core, *ends, options, shown.tick)
    return ResultList(Result(view) for view in views)


def estimate_work(
    network: Any,
    inputs: Any,
    method: str = "auto",
    joint: bool = False,
    epsilon: Optional[float] = None,
    *,
    posterior: Any = None,
    **options: Any,
) -> WorkEstimate:
    """How long :func:`certify` with the same arguments is expected to take, and in how much memory: from sizes of
    layers, the number of inputs and the options, within a factor of four on the networks of docs/performance.md.

    >>> from mixcert import Dense, Network
    >>> wide = Network([Dense(np.ones((500, 2))), "relu", Dense(np.ones((500, 500))), "relu", Dense(np.ones((1, 500)))])
    >>> estimate_work(wide, [[0.1, 0.2]]).seconds < 30
    True
    """
    inputs = as_inputs(inputs)
    found = _core.estimate_work(
        as_network(network, inputs, posterior)._core, inputs, _options(method, joint, epsilon, options)
    )
    return WorkEstimate(*(found[name] for name in WorkEstimate._fields))


describe(certify, _core.certify_options())
describe(certify_box, _core.certify_options())
describe(estimate_work, _core.certify_options())
