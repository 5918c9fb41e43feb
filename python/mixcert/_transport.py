# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Distances between laws, and laws on finitely many points."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arguments import whole_number
from ._mixture import Mixture


def _mixture(value: Any, name: str) -> Any:
    if not isinstance(value, Mixture):
        raise TypeError(f"{name}: expected a mixcert.Mixture, got {type(value).__name__}")
    return value._core


def mw2(p: Mixture, q: Mixture) -> float:
    """MW2(p, q), the Wasserstein-type distance whose couplings are Gaussian mixtures (Delon and Desolneux
    2020): MW2^2 = min over plans of sum_ij plan_ij W2^2(N_i, N_j). An upper bound of W2(p, q).

    >>> a = Mixture([1.0], [[0.0]], [[1.0]])
    >>> round(mw2(a, Mixture([1.0], [[3.0]], [[1.0]])), 9)
    3.0
    """
    return _core.mw2(_mixture(p, "p"), _mixture(q, "q"))


def wasserstein2(a: Any, b: Any) -> float:
    """W2 between the empirical laws of two samples of equal size, [n, d] or [n]: sorting on the line, network
    simplex otherwise (time grows like n^2 and more). An estimate of W2 of the laws that they were drawn from.

    >>> wasserstein2([0.0, 1.0], [2.0, 1.0])
    1.0
    """
    return _core.wasserstein2(a, b)


def gelbrich(mean_a: Any, cov_a: Any, mean_b: Any, cov_b: Any) -> float:
    """sqrt(|m_a - m_b|^2 + tr(A + B - 2 (A^{1/2} B A^{1/2})^{1/2})): W2 of Gaussians, and no more than W2 of
    any laws with these means and covariances (Gelbrich 1990).

    >>> gelbrich([0.0], [[4.0]], [0.0], [[1.0]])
    1.0
    """
    return _core.gelbrich(mean_a, cov_a, mean_b, cov_b)


class Quantization(NamedTuple):
    """A law on finitely many points, and how far it is from the mixture."""

    points: np.ndarray
    weights: np.ndarray
    w2: float


def quantize(mixture: Mixture, points: int) -> Quantization:
    """The grid signature of each component with at most `points` points: optimal quantizers of N(0,1) on the
    leading principal axes. `w2` is the root mean square distance of the coupling, no less than W2 but for
    rounding, and equal to it for a single component.

    >>> two = quantize(Mixture([1.0], [[0.0]], [[1.0]]), 2)
    >>> np.round(two.points.ravel(), 6), two.weights
    (array([-0.797885,  0.797885]), array([0.5, 0.5]))
    >>> abs(two.w2 ** 2 - (1 - 2 / np.pi)) < 1e-12
    True
    """
    return Quantization(*_core.quantize(_mixture(mixture, "mixture"), whole_number(points, "points", 1, 1000000)))
