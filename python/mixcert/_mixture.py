# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Gaussian mixtures."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Sequence, Union

import numpy as np

from . import _core
from ._arguments import seed_number, whole_number


class Mixture:
    """q = sum_c weights_c N(means_c, covariances_c).

    Made from arrays: weights [c], means [c, d], covariances [c, d, d] or variances [c, d].

    >>> q = Mixture([0.5, 0.5], [[-1.0], [1.0]], [[0.25], [0.25]])
    >>> q.mean(), q.std()
    (array([0.]), array([1.11803399]))
    >>> q.log_prob([0.0]) < q.log_prob([1.0])
    True
    """

    def __init__(self, weights: Any, means: Any, covariances: Any) -> None:
        self._core = _core.GaussianMixture(weights, means, covariances)

    @classmethod
    def _wrap(cls, core: Any) -> "Mixture":
        mixture = cls.__new__(cls)
        mixture._core = core
        return mixture

    @cached_property
    def weights(self) -> np.ndarray:
        """[components], summing to one."""
        return _frozen(self._core.weights)

    @cached_property
    def means(self) -> np.ndarray:
        """[components, dimension]."""
        return _frozen(self._core.means)

    @cached_property
    def covariances(self) -> np.ndarray:
        """[components, dimension, dimension]."""
        return _frozen(self._core.covariances)

    @property
    def dimension(self) -> int:
        return self._core.dimension

    def __len__(self) -> int:
        """Number of components."""
        return self._core.size

    def mean(self) -> np.ndarray:
        """E z = sum_c w_c m_c."""
        return self._core.mean()

    def cov(self) -> np.ndarray:
        """Cov z = sum_c w_c (C_c + (m_c - E z)(m_c - E z)')."""
        return self._core.cov()

    def std(self) -> np.ndarray:
        """Standard deviation of each coordinate."""
        return self._core.std()

    def sample(self, n: int, seed: int = 0) -> np.ndarray:
        """n independent points, [n, dimension]."""
        return self._core.sample(whole_number(n, "n", 1, 1000000000), seed_number(seed))

    def log_prob(self, y: Any) -> Union[float, np.ndarray]:
        """log of the density at one point [d] or several [n, d]. ValueError where a covariance is singular."""
        return self._core.log_prob(y)

    # The same under the names of scipy.stats, which has frozen laws with these methods.

    def rvs(self, size: int = 1, random_state: int = 0) -> np.ndarray:
        """`size` independent points, [size, dimension]: :meth:`sample` under scipy's names."""
        seed = whole_number(random_state, "random_state", 0, 2**64 - 1)
        return self._core.sample(whole_number(size, "size", 1, 1000000000), seed)

    def logpdf(self, y: Any) -> Union[float, np.ndarray]:
        """:meth:`log_prob` under scipy's name."""
        return self.log_prob(y)

    def pdf(self, y: Any) -> Union[float, np.ndarray]:
        """The density at one point [d] or several [n, d].

        >>> round(Mixture([1.0], [[0.0]], [[1.0]]).pdf([0.0]), 6)
        0.398942
        """
        return np.exp(self.log_prob(y))

    def cdf(self, y: Any) -> Union[float, np.ndarray]:
        """P(z <= y) at one number or several [n], for one dimension; of more take a :meth:`marginal`.

        >>> Mixture([0.5, 0.5], [[-1.0], [1.0]], [[0.25], [0.25]]).cdf([0.0, 9.0]).round(6)
        array([0.5, 1. ])
        """
        if self.dimension != 1:
            raise ValueError(
                f"cdf: expected a mixture of one dimension, got {self.dimension}; "
                "take mixture.marginal(i), or result.probability(statement) for events of several outputs"
            )
        points = np.asarray(y, dtype=float)
        if np.isnan(points).any():
            raise ValueError("y: expected numbers, got nan")
        deviations = np.sqrt(self.covariances[:, 0, 0])
        # A component without deviation is a step at its mean.
        with np.errstate(divide="ignore", invalid="ignore"):
            places = (points[..., None] - self.means[:, 0]) / deviations
        places = np.where(np.isnan(places), np.inf, places)
        below = np.vectorize(lambda t: 0.5 * math.erfc(-t / math.sqrt(2.0)), otypes=[float])(places)
        total = (below * self.weights).sum(axis=-1)
        return float(total) if total.ndim == 0 else total

    def marginal(self, indices: Union[int, Sequence[int]]) -> "Mixture":
        """The law of the chosen coordinates, in their order; negative ones count from the end."""
        given = np.atleast_1d(np.asarray(indices))
        if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
            raise ValueError(f"indices: expected integers, got {indices!r}")
        return Mixture._wrap(self._core.marginal([int(i) + (self.dimension if i < 0 else 0) for i in given]))

    def to_torch(self) -> Any:
        """The same law as a torch.distributions.MixtureSameFamily of multivariate normals in double precision.
        ValueError where a covariance is singular: torch has no such normals."""
        import torch
        from torch.distributions import Categorical, MixtureSameFamily, MultivariateNormal

        weights, means, covariances = (
            torch.tensor(part, dtype=torch.float64) for part in (self.weights, self.means, self.covariances)
        )
        factors, failed = torch.linalg.cholesky_ex(covariances)
        if bool(failed.any()):
            raise ValueError("to_torch: expected regular covariances, got a singular one")
        return MixtureSameFamily(Categorical(weights), MultivariateNormal(means, scale_tril=factors))

    def __repr__(self) -> str:
        noun = "component" if len(self) == 1 else "components"
        return f"<mixcert.Mixture: {len(self)} {noun}, dimension {self.dimension}>"


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array
