# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A Laplace posterior with Kronecker factors as regression libraries make it: 1-50-1, tanh, 150 points of a noisy sine,
the Gauss-Newton matrix of every layer. Weights of the first layer that the data say nothing about are as wide as the prior,
so activations at their mean say nothing about the output's deviation."""

import types

import numpy as np
import pytest

import mixcert

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch import nn  # noqa: E402

WIDTH, COUNT, NOISE, PRIOR = 50, 150, 0.3, 0.2


def fitted(rng):
    """Random features, their output weights by least squares: a network that fits, without training."""
    x = 8.0 * rng.random((COUNT, 1))
    y = np.sin(x) + NOISE * rng.standard_normal((COUNT, 1))
    first, bias = 0.8 * rng.standard_normal((WIDTH, 1)), 2.0 * rng.standard_normal(WIDTH)
    h = np.tanh(x @ first.T + bias)
    design = np.hstack([h, np.ones((COUNT, 1))])
    last = np.linalg.solve(design.T @ design + 0.1 * np.eye(WIDTH + 1), design.T @ y).ravel()
    return x, h, first, bias, last


def posterior(rng):
    x, h, first, bias, last = fitted(rng)
    slopes = last[:WIDTH] * (1.0 - h**2)
    backward = [slopes.T @ slopes, np.array([[float(COUNT)]])]
    inputs = [x.T @ x / COUNT, h.T @ h / COUNT]
    factors = []
    for g, a in zip(backward, inputs):
        factors += [[torch.tensor(g), torch.tensor(a)], [torch.tensor(g)]]
    module = nn.Sequential(nn.Linear(1, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1)).double()
    mean = np.concatenate([first.ravel(), bias, last])
    nn.utils.vector_to_parameters(torch.tensor(mean), module.parameters())
    return types.SimpleNamespace(
        mean=torch.tensor(mean),
        H=object(),
        H_facs=types.SimpleNamespace(kfacs=factors),
        prior_precision=torch.tensor([PRIOR]),
        sigma_noise=torch.tensor(NOISE),
        temperature=1.0,
        model=module,
    )


def test_deviations_are_those_of_sampled_networks():
    net = mixcert.from_torch(posterior(np.random.default_rng(711)))
    points = np.array([[0.5], [2.0], [4.0], [6.0], [7.5]])
    for point, result in zip(points, mixcert.certify(net, points)):
        sampled = mixcert.simulate(net, point, samples=40000, seed=3).std()
        deviation = float(result.mixture.std()[0])
        assert abs(deviation / sampled - 1.0) < 0.01, (point, deviation, sampled)
        # Without the noise of the activations' own spread the deviation would be a fraction of this.
        assert result.w2_bound < 0.8 * sampled
