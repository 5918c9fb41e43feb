# Licensed under the Apache License, Version 2.0; see LICENSE.
"""compare(): what a certificate says beside what Monte Carlo says, which is what people do today."""

from __future__ import annotations

import inspect
import time
from typing import Any, Dict, List, NamedTuple, Optional

import numpy as np

from ._arguments import seed_number, whole_number
from ._certify import as_inputs, as_network, certify
from ._comparison import Comparison
from ._network import Network, simulate
from ._result_list import ResultList


# Of a draw's size: draws that are all equal, those of a network without noise, have no smaller standard error.
_ROUNDING = 1e-12
# Draws of one number, and the arrays that its statistics need beside them.
_BYTES_A_DRAW = 4 * 8


class MonteCarlo(NamedTuple):
    """Estimates from draws, [inputs, outputs] each, with their standard errors."""

    mean: np.ndarray
    mean_error: np.ndarray
    std: np.ndarray
    std_error: np.ndarray
    probabilities: Optional[np.ndarray]  #: mean of the softmax, where classes are asked for
    probabilities_error: Optional[np.ndarray]
    draws: int
    seconds: float

    @classmethod
    def of(cls, samples: np.ndarray, classes: bool, seconds: float) -> MonteCarlo:
        """Of samples [inputs, draws, outputs]."""
        draws = samples.shape[1]
        mean, std = samples.mean(axis=1), samples.std(axis=1, ddof=1)
        rounding = _ROUNDING * np.abs(samples).max(axis=1)
        centred = samples - mean[:, None, :]
        # The error of a deviation s is s ((kurtosis - 1) / (4 draws))^(1/2).
        with np.errstate(divide="ignore", invalid="ignore"):
            kurtosis = np.where(std > 0, (centred**4).mean(axis=1) / std**4, 1.0)
        std_error = std * np.sqrt(np.maximum(kurtosis - 1.0, 0.0) / (4 * draws))
        shares = errors = None
        if classes:
            powers = np.exp(samples - samples.max(axis=2, keepdims=True))
            each = powers / powers.sum(axis=2, keepdims=True)
            shares, errors = each.mean(axis=1), each.std(axis=1, ddof=1) / np.sqrt(draws)
        mean_error, std_error = (np.maximum(error, rounding) for error in (std / np.sqrt(draws), std_error))
        return cls(mean, mean_error, std, std_error, shares, errors, draws, seconds)


def compare(
    network: Any,
    inputs: Any,
    samples: int = 10000,
    *,
    posterior: Any = None,
    classes: bool = False,
    module_samples: int = 1000,
    seed: int = 0,
    threads: int = 0,
    progress: Optional[bool] = None,
    **options: Any,
) -> Comparison:
    """Certified means, deviations and (with `classes`) class probabilities of softmax outputs beside those of Monte
    Carlo at the same inputs, with times, and how many draws would be as accurate.

    `network`, `inputs`, `posterior` and `options` are those of :func:`certify`; one law over all inputs (`joint`) is
    refused. `samples` networks are drawn by our sampler. Where `network` is a torch module that draws itself,
    `module_samples` of its own forwards are a second Monte Carlo (0: none); `notes` says where there is none.
    MemoryError: the draws need more than `max_memory_in_gib`.
    (`mixcert compare` in the terminal estimates W2 beside the bound.)

    >>> import mixcert
    >>> net = mixcert.Network([mixcert.Dense([[1.0]], weight_variance=[[0.25]])])
    >>> side_by_side = compare(net, [[1.0], [2.0]], samples=1000, threads=1)
    >>> side_by_side.monte_carlo.mean.shape, len(side_by_side.rows)
    ((2, 1), 4)
    """
    samples = whole_number(samples, "samples", 2, 10**9)
    module_samples = whole_number(module_samples, "module_samples", 0, 10**9)
    if module_samples == 1:
        raise ValueError("module_samples: expected 0 (none), or 2 and more, got 1")
    if options.get("joint"):
        raise ValueError("joint: expected inputs one by one; compare has no joint law")
    predictive = options.get("predictive", "network")
    if predictive != "network":
        raise ValueError(f"predictive: expected 'network', got {predictive!r}; Monte Carlo draws the network itself")
    inputs = as_inputs(inputs)
    start = time.perf_counter()
    read = as_network(network, inputs, posterior)
    reading = time.perf_counter() - start
    if classes and read.outputs < 2:
        raise ValueError(f"classes: expected a network of two outputs or more, got {read.outputs}")

    start = time.perf_counter()
    certified = certify(read, inputs, seed=seed_number(seed), threads=threads, progress=progress, **options)
    results = certified if isinstance(certified, ResultList) else ResultList([certified])
    seconds = time.perf_counter() - start

    points = np.array([result.inputs for result in results])
    _refuse_much_memory(len(points) * read.outputs, samples, options)
    start = time.perf_counter()
    drawn = simulate(read, points, samples, seed=seed, threads=threads)
    monte_carlo = MonteCarlo.of(drawn, classes, time.perf_counter() - start)

    notes: List[str] = list(read.assumptions)
    module = None
    if not isinstance(network, Network) and module_samples:
        module, note = _module_draws(network, posterior, read, _batch(inputs, points), module_samples, classes, seed)
        notes += [note] if note else []
    start = time.perf_counter()
    probabilities = results.predict_proba(seed=seed) if classes else None
    times: Dict[str, float] = {"reading": reading, "certificate": seconds}
    if classes:
        times["classes"] = time.perf_counter() - start
        notes.append("ranges of classes are certified from draws of the mixture, and fail with probability 1e-9 at each input")
    return Comparison(results, monte_carlo, module, probabilities, times, notes)


def _refuse_much_memory(numbers: int, samples: int, options: Dict[str, Any]) -> None:
    limit = inspect.signature(certify).parameters["max_memory_in_gib"].default
    limit = float(options.get("max_memory_in_gib", limit))
    gib = _BYTES_A_DRAW * numbers * samples / 2.0**30
    if gib > limit:
        raise MemoryError(
            f"compare: {samples} draws of {numbers} numbers need {gib:.3g} GiB, more than the limit of {limit:g} GiB; "
            "fewer samples or inputs, or a larger max_memory_in_gib"
        )


def _batch(inputs: Any, points: np.ndarray) -> Any:
    """The inputs as a module takes them: with an axis of inputs, which a single one may lack."""
    batch = inputs if hasattr(inputs, "shape") else np.asarray(inputs)
    if batch.ndim == 1 and len(batch) == len(points):
        return batch[:, None]  # several numbers, for a network that takes one
    return batch[None] if len(points) == 1 and len(batch) != 1 else batch


def _module_draws(
    module: Any, posterior: Any, read: Network, inputs: Any, samples: int, classes: bool, seed: int
) -> Any:
    """A MonteCarlo of the module's own forward, or None and the reason."""
    if posterior is not None or not hasattr(module, "named_modules"):
        return None, "the law is not the module's own, which therefore draws nothing itself"
    if any("softmax" in line for line in read.assumptions):
        return None, "the module ends in a softmax, so that its own draws are not compared with the logits"
    from ._torch_draws import module_draws

    return module_draws(module, inputs, read.outputs, samples, classes, seed)
