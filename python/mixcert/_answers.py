# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What certified answers are made of (docs/answers.md): plain tuples with names, of numbers for one result and of
arrays [inputs, ...] for a list of results."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Union

import numpy as np

from ._mixture import Mixture


class Interval(NamedTuple):
    """The mixture's value, and the range that the true law's value is proven to lie in."""

    estimate: Union[float, np.ndarray]
    lower: Union[float, np.ndarray]
    upper: Union[float, np.ndarray]


class Moments(NamedTuple):
    """Of every output."""

    mean: Interval
    std: Interval


class Predictive(NamedTuple):
    """Of each target's observation; variances, not deviations."""

    mean: Interval
    epistemic: Interval
    aleatoric: Interval
    total: Interval


class CredibleIntervals(NamedTuple):
    """[lower, upper] holds at least the asked mass of the true law; `mixture_mass` is the mixture's."""

    lower: np.ndarray
    upper: np.ndarray
    mixture_mass: np.ndarray


class ClassProbabilities(NamedTuple):
    """E softmax of every class; `settled`: `predicted` is proven to be the class with the largest one.
    `margins`: by how much it exceeds the others."""

    probabilities: Interval
    predicted: Union[int, np.ndarray]
    settled: Union[bool, np.ndarray]
    margins: Interval


class RobustClasses(NamedTuple):
    """Of every input x of a call: what holds at all inputs of the ball around x."""

    predicted: np.ndarray  #: [inputs], the class with the largest mean output at x
    by_mean: np.ndarray  #: [inputs], it is proven to have the largest mean output at every input of the ball
    margins: Interval  #: [inputs, classes], by how much its mean output exceeds the others'; holds in the ball
    #: [inputs], at every input of the ball a network drawn from the law gives it the largest output with at least this
    #: probability
    votes: np.ndarray
    by_vote: np.ndarray  #: [inputs], that is more than one half


class Probability(NamedTuple):
    """The ends hold but for `failure_probability`, which is zero unless they come from samples."""

    estimate: Union[float, np.ndarray]
    lower: Union[float, np.ndarray]
    upper: Union[float, np.ndarray]
    failure_probability: Union[float, np.ndarray]


class Marginal(NamedTuple):
    """One output by itself: W2 between `mixture` and its law is at most `w2_bound`, and its mean lies in the
    range of `mean`; certified by simulation."""

    mixture: Mixture
    w2_bound: float
    mean: Interval


class SimulatedIntervals(NamedTuple):
    """[lower, upper] holds at least the asked mass of the true law; `share_of_draws` is that of the draws."""

    lower: np.ndarray
    upper: np.ndarray
    share_of_draws: np.ndarray


class SimulatedAnswers(NamedTuple):
    """From draws of the network itself: one of the ranges misses with `failure_probability` at most."""

    probabilities: List[Interval]
    intervals: SimulatedIntervals
    classes: Optional[ClassProbabilities]
    draws: int
    failure_probability: float
