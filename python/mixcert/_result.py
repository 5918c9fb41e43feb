# Licensed under the Apache License, Version 2.0; see LICENSE.
"""One result of certify() and the certified answers that follow from it (docs/answers.md)."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._answers import (
    ClassProbabilities,
    CredibleIntervals,
    Interval,
    Marginal,
    Moments,
    Predictive,
    Probability,
    SimulatedAnswers,
    SimulatedIntervals,
)
from ._layer_table import LayerTable
from ._mixture import Mixture


class Result:
    """A mixture q with a proven bound of its distance to the network's output law p."""

    __slots__ = ("_core", "_mixture")

    def __init__(self, core: Any) -> None:
        self._core = core
        self._mixture: Optional[Mixture] = None

    @property
    def mixture(self) -> Mixture:
        """q, over the outputs; jointly over inputs times outputs, input-major."""
        if self._mixture is None:
            self._mixture = Mixture._wrap(self._core.mixture)
        return self._mixture

    @property
    def w2_bound(self) -> float:
        """No smaller than W2(p, q); NaN where there is no formal bound (method "cross", and masks
        with method "coupled")."""
        return self._core.w2_bound

    @property
    def w1_bound(self) -> float:
        """No smaller than W1(p, q)."""
        return self._core.w1_bound

    @property
    def relative_w2_bound(self) -> float:
        """w2_bound / sqrt(E_q |z|^2)."""
        return self._core.relative_w2_bound

    @property
    def w2_lower(self) -> float:
        """Proven, no statistics (D.9): W2 between p and any Gaussian is at least this. Known where dropout
        behind one hidden layer is all that is random; NaN elsewhere. Several components may be closer."""
        return self._core.w2_lower

    @property
    def w2_lower_mixture(self) -> float:
        """Proven: W2(p, q) is at least this; NaN unless dropout masks are all that is random."""
        return self._core.w2_lower_mixture

    @property
    def input_change(self) -> float:
        """With option `radius`, and of :func:`certify_box`: the part of both bounds that makes them hold in the
        whole ball or cell (M.9, M.12). NaN elsewhere."""
        return self._core.input_change

    @property
    def cell(self) -> Optional[Tuple[np.ndarray, np.ndarray]]:
        """Of :func:`certify_box`: both ends of the cell, [features] each, at whose inputs the bounds hold."""
        return self._core.cell

    def holds_for(self, x: Any) -> bool:
        """Do the bounds, and what is answered from them, hold for the network's law at input x?"""
        point = np.asarray(x, dtype=float).reshape(-1)
        if point.size != self.inputs.size:
            raise ValueError(f"x: expected one input of {self.inputs.size} numbers, got {point.size}")
        if self.cell is not None:
            return bool((self.cell[0] <= point).all() and (point <= self.cell[1]).all())
        distance = np.abs(point - self.inputs.reshape(-1))
        if self.options["radius"] == "":
            return not distance.any()
        if self.options["norm"] == "inf":
            return bool(distance.max() <= float(self.options["radius"]))
        # Rounded up: rather False than wrong.
        return bool(np.linalg.norm(distance) * (1 + 1e-12) <= float(self.options["radius"]))

    @property
    def layers(self) -> LayerTable:
        """Where the bound comes from, one row per hidden layer."""
        return LayerTable(self._core.layers)

    @property
    def input(self) -> int:
        """The place of the input among those of the call; 0 when joint."""
        return self._core.input

    @property
    def inputs(self) -> np.ndarray:
        """The input [features]; jointly all of them, [inputs, features]."""
        return self._core.inputs

    @property
    def method(self) -> str:
        """The method that gave the bound."""
        return self._core.method

    @property
    def certificate(self) -> str:
        """The mode of the certificate that gave the bound."""
        return self._core.certificate

    @property
    def termination(self) -> str:
        """completed, epsilon-reached or budget-spent."""
        return self._core.termination

    @property
    def reason(self) -> str:
        """The same as a sentence."""
        return self._core.reason

    @property
    def seconds(self) -> float:
        """Spent on this input."""
        return self._core.seconds

    @property
    def options(self) -> Dict[str, str]:
        """Every option of the call, as text; empty: not set."""
        return self._core.options

    @property
    def assumptions(self) -> List[str]:
        """Under which the bounds hold."""
        return self._core.assumptions

    @property
    def simulated(self) -> Optional[Dict[str, Any]]:
        """A bound of W2(p, q) certified by simulation, with option `simulate` only: `w2_bound` holds but for
        `failure_probability` over the program's own draws; NaN where there is none, and `gap` says why.
        `theorem` is what proves it, F.8, F.11, F.17 or O.7 of docs/theory."""
        return self._core.simulated

    @property
    def marginals(self) -> List[Marginal]:
        """Each output's own mixture and bound, certified by simulation together with `simulated`; with options
        `simulate` and `marginals` only."""
        rows = []
        for core, bound, lower, upper in self._core.marginals:
            mixture = Mixture._wrap(core)
            rows.append(Marginal(mixture, bound, Interval(float(mixture.mean()[0]), lower, upper)))
        return rows

    @property
    def statistics(self) -> Optional[Dict[str, Any]]:
        """Estimates of W2(p, q) from both sides, not certified; with option `statistics`, and where
        method coupled certifies nothing useful."""
        return self._core.statistics

    def mean(self) -> np.ndarray:
        """Means of the mixture, [outputs]; `moments()` has the ranges of the network's own."""
        return self.mixture.mean()

    def std(self) -> np.ndarray:
        """Standard deviations of the mixture, [outputs]."""
        return self.mixture.std()

    def moments(self) -> Moments:
        """Mean and standard deviation of every output: |E_p y_i - E_q y_i| <= W2 and
        |std_p y_i - std_q y_i| <= W2, sharpened (U.1 - U.3)."""
        mean, std = self._core.moments()
        return Moments(Interval(*mean), Interval(*std))

    def covariance(self) -> Interval:
        """Covariances of all pairs of outputs, three matrices."""
        return Interval(*self._core.covariances())

    def predictive(self, **options: Any) -> Predictive:
        """Mean and variances of observations, split into what the weights do not know and the noise
        (U.14): `noise_std=...`, or `head="softplus"` / `"log-variance"` where outputs give it."""
        return Predictive(*(Interval(*part) for part in self._core.predictive(options)))

    def interval(self, level: float = 0.95, **options: Any) -> CredibleIntervals:
        """For each output an interval that holds at least mass `level` of the true law (U.7); of the
        observation where `noise_std` is given."""
        return CredibleIntervals(*self._core.credible(dict(options, level=level)))

    def predict_proba(self, **options: Any) -> ClassProbabilities:
        """Outputs are logits: E_p softmax_c of every class, with proven ranges (U.12, U.13). Expectations
        under the mixture are means over `samples` samples; all ranges hold together but for
        `failure_probability`."""
        probabilities, predicted, settled, margins = self._core.classes(options)
        return ClassProbabilities(Interval(*probabilities), predicted, settled, Interval(*margins))

    def probability(self, statement: str, **options: Any) -> Probability:
        """P_p(statement) for "y0 > 0", "-1 < y0 < 1 and y1 > 0", "2*y0 - y1 <= 0.5", "class 3 beats class 5";
        jointly y[2,0] is output 0 at input 2 (U.4 - U.6)."""
        if not isinstance(statement, str):
            raise TypeError(f"statement: expected text such as 'y0 > 0', got {type(statement).__name__}")
        (estimate, lower, upper), failure = self._core.probability(statement, options)
        return Probability(estimate, lower, upper, failure)

    def by_simulation(
        self, statements: Sequence[str] = (), classes: bool = False, level: float = 0.95, **options: Any
    ) -> SimulatedAnswers:
        """The same questions answered by `samples` draws of the network (U.21), as `mixcert answer --simulate`
        does: no bound is needed, so that it works as well for ten layers as for one. Certified by simulation:
        ranges hold for every number of draws but for `failure_probability`."""
        if isinstance(statements, str):
            statements = [statements]
        found = self._core.by_simulation(list(statements), bool(classes), dict(options, level=level))
        answered = None
        if "classes" in found:
            probabilities, predicted, settled, margins = found["classes"]
            answered = ClassProbabilities(Interval(*probabilities), predicted, settled, Interval(*margins))
        return SimulatedAnswers(
            [Interval(*one) for one in found["probabilities"]],
            SimulatedIntervals(*found["intervals"]),
            answered,
            found["draws"],
            found["failure_probability"],
        )

    def save(self, path: Any) -> None:
        """Writes the result as `mixcert certify` does: arrays (.npz) or every bound (.json)."""
        save_results([self], path)

    def report(self, path: Any) -> None:
        """Writes a page for the browser (.html)."""
        _core.write_report([self._core], os.fspath(path))

    def full_report(self) -> str:
        """Bounds, mixture, what each layer adds and by which theorem, options, assumptions; `str(result)` is one line."""
        return self._core.full_report()

    def __str__(self) -> str:
        return self._core.brief_report()

    def __repr__(self) -> str:
        return f"<mixcert.Result: {self._core.brief_report()}>"


def save_results(results: Sequence[Result], path: Any) -> None:
    """Results of one call, to one file."""
    target = os.fspath(path)
    if not target.endswith((".npz", ".json")):
        raise ValueError(f"path: expected a file that ends in .npz or .json, got {target!r}")
    arrays, bounds = (target, None) if target.endswith(".npz") else (None, target)
    _core.save_results([result._core for result in results], arrays, bounds)
