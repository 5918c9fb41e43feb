# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Laplace posteriors of a trained regression network. Weights of the first layer that the data say nothing about are as
wide as the prior, so activations at their mean say nothing about the output's deviation."""

import numpy as np
import pytest

import mixcert

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import laplace_stand_in as library  # noqa: E402

STRUCTURES = ("diag", "kron", "full")


@pytest.fixture(scope="module")
def fitted():
    return library.trained(711)


def deviations(results):
    return np.array([result.mixture.std()[0] for result in results])


@pytest.mark.parametrize("structure", ("diag", "kron"))
def test_deviations_are_those_of_sampled_networks(fitted, structure):
    net = mixcert.from_torch(library.laplace(*fitted, "all", structure))
    results = mixcert.certify(net, library.POINTS)
    for point, result, ours in zip(library.POINTS, results, deviations(results)):
        sampled = mixcert.simulate(net, point, samples=40000, seed=3).std()
        assert abs(ours / sampled - 1.0) < 0.012, (point, ours, sampled)  # 40,000 samples: 0.4 per cent
        # Without the noise of the activations' own spread the deviation would be a fraction of this.
        assert result.w2_bound < 0.8 * sampled


@pytest.mark.parametrize("structure", STRUCTURES)
def test_last_layer_is_exact(fitted, structure):
    posterior = library.laplace(*fitted, "last_layer", structure)
    net = mixcert.from_torch(posterior)
    results = mixcert.certify(net, library.POINTS)
    assert max(result.w2_bound for result in results) < 1e-3 * deviations(results).min()  # rounding
    if structure != "kron":
        assert np.allclose(deviations(results), library.glm_deviations(fitted[0], posterior, library.POINTS), rtol=1e-8)
    linearised = mixcert.certify(net, library.POINTS, predictive="glm")
    assert np.allclose(deviations(linearised), deviations(results), rtol=1e-9)


@pytest.mark.parametrize("structure", ("diag", "full"))
def test_linearised_predictive_is_that_of_the_jacobian(fitted, structure):
    posterior = library.laplace(*fitted, "all", structure)
    net = mixcert.from_torch(posterior)
    results = mixcert.certify(net, library.POINTS, predictive="glm")
    assert np.allclose(deviations(results), library.glm_deviations(fitted[0], posterior, library.POINTS), rtol=1e-6)
    means = np.array([result.mixture.mean()[0] for result in results])
    assert np.allclose(means, fitted[0](torch.tensor(library.POINTS)).detach().numpy().ravel(), rtol=1e-9)
