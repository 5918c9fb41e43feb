# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The results of one call as arrays: every question that one result answers, asked of all inputs at once."""

from __future__ import annotations

import os
from typing import Any, List, Sequence, Tuple, TypeVar

import numpy as np

from . import _core
from ._answers import ClassProbabilities, CredibleIntervals, Interval, Moments, Predictive, Probability
from ._proof import save_proof
from ._result import Result, save_results

Answer = TypeVar("Answer", bound=Tuple[Any, ...])


class ResultList(List[Result]):
    """The results of one call, in the order of the inputs. Methods have the names that one result has, and
    their answers are arrays with the inputs as first axis.

    >>> import mixcert
    >>> net = mixcert.Network([mixcert.Dense([[1.0]], weight_variance=[[0.25]])])
    >>> results = mixcert.certify(net, [[1.0], [2.0], [-1.0]], threads=1)
    >>> results.std().round(6).tolist()
    [[0.5], [1.0], [0.5]]
    >>> (results.probability("y0 > 0").lower > 0.5).tolist()
    [True, True, False]
    """

    @property
    def w2_bound(self) -> np.ndarray:
        """All bounds, [inputs]."""
        return np.array([result.w2_bound for result in self])

    @property
    def w1_bound(self) -> np.ndarray:
        """All bounds of W1, [inputs]."""
        return np.array([result.w1_bound for result in self])

    @property
    def relative_w2_bound(self) -> np.ndarray:
        """All bounds relative to the output's size, [inputs]."""
        return np.array([result.relative_w2_bound for result in self])

    @property
    def w2_lower(self) -> np.ndarray:
        """What no Gaussian is closer than, [inputs]; NaN where it is not known."""
        return np.array([result.w2_lower for result in self])

    @property
    def seconds(self) -> np.ndarray:
        """Spent on each input, [inputs]."""
        return np.array([result.seconds for result in self])

    def mean(self) -> np.ndarray:
        """Means of the mixtures, [inputs, outputs]."""
        return np.array([result.mean() for result in self])

    def std(self) -> np.ndarray:
        """Standard deviations of the mixtures, [inputs, outputs]."""
        return np.array([result.std() for result in self])

    def moments(self) -> Moments:
        """Mean and standard deviation of every output with their proven ranges, [inputs, outputs] each."""
        return stacked([result.moments() for result in self])

    def covariance(self) -> Interval:
        """Covariances of all pairs of outputs, three arrays [inputs, outputs, outputs]."""
        return stacked([result.covariance() for result in self])

    def predictive(self, **options: Any) -> Predictive:
        """Mean and variances of observations, [inputs, targets]; options as for one result."""
        return stacked([result.predictive(**options) for result in self])

    def interval(self, level: float = 0.95, **options: Any) -> CredibleIntervals:
        """For each output an interval that holds at least mass `level` of the true law, [inputs, outputs]."""
        return stacked([result.interval(level, **options) for result in self])

    def predict_proba(self, **options: Any) -> ClassProbabilities:
        """E softmax of every class, [inputs, classes]; `predicted` and `settled` are [inputs]."""
        return stacked([result.predict_proba(**options) for result in self])

    def probability(self, statement: str, **options: Any) -> Probability:
        """P(statement) at every input, [inputs]. Each input's ends hold but for its own
        `failure_probability`."""
        return stacked([result.probability(statement, **options) for result in self])

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame with one row for each input: bounds, means and deviations. ImportError, with what to
        do, where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError(
                "to_dataframe: needs pandas, which is not installed; install it (Debian: python3-pandas), "
                "or take the arrays w2_bound, mean() and std()"
            ) from None
        columns = {"w2_bound": self.w2_bound, "relative_w2_bound": self.relative_w2_bound}
        for name, values in (("mean", self.mean()), ("std", self.std())):
            columns.update({f"{name}_y{k}": column for k, column in enumerate(values.T)})
        return pandas.DataFrame(columns, index=pandas.RangeIndex(len(self), name="input"))

    def at(self, x: Any) -> Result:
        """The first result that holds for input x (:meth:`Result.holds_for`); of :func:`certify_box` that of the cell
        with x. ValueError where none does."""
        for result in self:
            if result.holds_for(x):
                return result
        raise ValueError(f"at: no result of the {len(self)} holds for input {np.asarray(x).tolist()}")

    def save_proof(self, path: Any, model: Any) -> None:
        """Writes what `mixcert-check` proves the bounds from, and the network as the model file `model` that the proof
        is about (docs/proof-format.md). The bounds have to be those of method "moment" with theorems "coupling":
        ValueError says what else is not covered. :func:`check` runs the check.
        """
        save_proof(self, path, model)

    def save(self, path: Any) -> None:
        """Writes all results to one file, as `mixcert certify` does: .npz or .json."""
        save_results(self, path)

    def report(self, path: Any) -> None:
        """Writes a page for the browser (.html)."""
        _core.write_report([result._core for result in self], os.fspath(path))

    def __getitem__(self, place: Any) -> Any:
        chosen = super().__getitem__(place)
        return ResultList(chosen) if isinstance(place, slice) else chosen


def load_results(path: Any) -> ResultList:
    """The results of an .npz file that `save`, or `mixcert certify --out`, wrote: mixtures, bounds and all answers
    that follow from them. What needs the network itself (`by_simulation`, `save`, `report`) is refused."""
    return ResultList(Result(view) for view in _core.load_results(os.fspath(path)))


def stacked(answers: Sequence[Answer]) -> Answer:
    """One tuple of arrays in place of many tuples of numbers, arrays or tuples."""
    if not answers:
        raise ValueError("results: expected at least one, got an empty list")
    kind = type(answers[0])
    parts = (stacked(part) if isinstance(part[0], tuple) else np.array(part) for part in zip(*answers))
    return kind(*parts)
