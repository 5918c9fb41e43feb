# Licensed under the Apache License, Version 2.0; see LICENSE.
"""robust_classes(): the class that no input of a ball can overturn, each difference of two outputs certified by itself."""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np

from . import _core
from ._answers import Interval, RobustClasses
from ._certify import as_inputs, as_network, certify
from ._options import describe
from ._progress import Progress
from ._result_list import ResultList


def robust_classes(
    network: Any,
    inputs: Any,
    radius: float,
    norm: str = "inf",
    *,
    posterior: Any = None,
    progress: Optional[bool] = None,
    **options: Any,
) -> RobustClasses:
    """For every input the class with the largest mean output, and whether any input within `radius` can have another:
    one that has the larger expected output there, or that networks drawn from the law vote for.

    Every difference of that class and another is a network of one output (:meth:`Network.functional`), which is certified
    in the ball. That says more than one bound for all outputs together (`certify(radius=..).predict_proba().settled`) and
    takes one certificate for each other class.

    `network`, `inputs`, `posterior`, `progress` and `options` are those of :func:`certify`; every answer is about a list
    of inputs.

    >>> from mixcert import Dense, Network
    >>> net = Network([Dense([[1.0], [-1.0]], weight_variance=[[0.01], [0.01]])])
    >>> found = robust_classes(net, [[1.0], [0.1]], radius=0.2, threads=1)
    >>> found.predicted.tolist(), found.by_mean.tolist(), (found.votes > 0.99).tolist()
    ([0, 0], [True, False], [True, False])

    ValueError: a network of one output, a bad option, input or shape.
    """
    if options.get("joint"):
        raise ValueError("joint: expected inputs one by one; a ball is about one input")
    inputs = as_inputs(inputs)
    model = as_network(network, inputs, posterior)
    if model.outputs < 2:
        raise ValueError(f"robust_classes: expected a network of two outputs or more, got {model.outputs}")
    points = certify(model, inputs, progress=False, **options)
    results = points if isinstance(points, ResultList) else ResultList([points])
    rows = np.array([result.inputs for result in results])
    predicted = results.mean().argmax(axis=1)

    margins = Interval(*(np.zeros((len(rows), model.outputs)) for _ in range(3)))
    wins = np.ones((len(rows), model.outputs))
    shown, done = Progress("robust_classes", len(rows) * (model.outputs - 1), progress), 0
    with shown:
        for c in np.unique(predicted):
            chosen = np.flatnonzero(predicted == c)
            for other in range(model.outputs):
                if other == c:
                    continue
                balls = certify(
                    model.functional(f"y{c} - y{other}"), rows[chosen], radius=radius, norm=norm, progress=False, **options
                )
                for part, found in zip(margins, balls.moments().mean):
                    part[chosen, other] = found[:, 0]
                wins[chosen, other] = balls.probability("y0 > 0").lower
                done += len(chosen)
                if shown.tick is not None:
                    shown.tick(done)

    others = np.arange(model.outputs)[None] != predicted[:, None]
    by_mean = ((margins.lower > 0.0) | ~others).all(axis=1)
    votes = np.array([_all_of(row) for row in wins])
    return RobustClasses(predicted, by_mean, margins, votes, votes > 0.5)


def _all_of(probabilities: np.ndarray) -> float:
    """Events of at least these probabilities occur together with at least this one."""
    return max(0.0, math.nextafter(math.fsum([*probabilities, 1.0 - len(probabilities)]), -math.inf))


describe(robust_classes, _core.certify_options())
