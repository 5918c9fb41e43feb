# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Mixtures against their definitions, distances against closed forms, answers against samples."""

import numpy as np
import pytest

import mixcert


@pytest.fixture(scope="module")
def mixture():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(3, 2, 2))
    covariances = factors @ factors.transpose(0, 2, 1) + 0.1 * np.eye(2)
    return mixcert.Mixture([0.2, 0.3, 0.5], rng.normal(size=(3, 2)), covariances)


def test_moments_by_definition_and_by_samples(mixture):
    w, m, c = mixture.weights, mixture.means, mixture.covariances
    mean = w @ m
    cov = np.einsum("c,cij->ij", w, c) + np.einsum("c,ci,cj->ij", w, m - mean, m - mean)
    assert np.allclose(mixture.mean(), mean) and np.allclose(mixture.cov(), cov)
    assert np.allclose(mixture.std(), np.sqrt(np.diag(cov)))
    samples = mixture.sample(100000, seed=4)
    assert samples.shape == (100000, 2)
    assert np.allclose(samples.mean(axis=0), mean, atol=5 * np.sqrt(cov.max() / 1e5))
    assert np.allclose(np.cov(samples.T), cov, atol=0.05 * cov.max())
    assert np.array_equal(samples[:10], mixture.sample(100000, seed=4)[:10])


def test_log_prob_by_definition(mixture):
    points = np.random.default_rng(1).normal(size=(100, 2))
    density = np.zeros(100)
    for w, m, c in zip(mixture.weights, mixture.means, mixture.covariances):
        d = points - m
        density += w * np.exp(-0.5 * np.einsum("ni,ij,nj->n", d, np.linalg.inv(c), d)) / (
            2 * np.pi * np.sqrt(np.linalg.det(c)))
    assert np.allclose(mixture.log_prob(points), np.log(density))
    assert np.isclose(mixture.log_prob(points[0]), np.log(density[0]))
    with pytest.raises(ValueError, match=r"expected shape \(2,\) or \(n, 2\)"):
        mixture.log_prob(np.zeros(3))


def test_marginal(mixture):
    last = mixture.marginal(-1)
    assert np.allclose(last.means[:, 0], mixture.means[:, 1])
    assert np.allclose(mixture.marginal([1, 0]).cov(), mixture.cov()[::-1, ::-1])
    with pytest.raises(IndexError):
        mixture.marginal([2])
    with pytest.raises(ValueError):
        mixture.marginal([])


@pytest.mark.parametrize(
    "arguments",
    [
        ([0.5, 0.6], [[0.0], [1.0]], [[1.0], [1.0]]),
        ([1.0], [[0.0], [1.0]], [[1.0]]),
        ([1.0], [[0.0]], [[-1.0]]),
        ([1.0], [[0.0, 0.0]], [[[1.0, 0.5], [0.4, 1.0]]]),
        ([1.0], [[0.0, 0.0]], [[[1.0, 2.0], [2.0, 1.0]]]),
        ([1.0], [[np.nan]], [[1.0]]),
    ],
)
def test_mistakes(arguments):
    with pytest.raises(ValueError):
        mixcert.Mixture(*arguments)


def test_arrays_cannot_be_changed(mixture):
    with pytest.raises(ValueError):
        mixture.weights[0] = 1.0


def test_distances(mixture):
    assert mixcert.mw2(mixture, mixture) < 1e-6
    shifted = mixcert.Mixture(mixture.weights, mixture.means + [3.0, 4.0], mixture.covariances)
    assert np.isclose(mixcert.mw2(mixture, shifted), 5.0)
    rng = np.random.default_rng(2)
    a = rng.normal(size=(50, 3))
    assert np.isclose(mixcert.wasserstein2(a, rng.permutation(a) + [1.0, 2.0, 2.0]), 3.0)
    assert np.isclose(mixcert.gelbrich([0, 0], np.diag([4.0, 9.0]), [1, 0], np.eye(2)), np.sqrt(1 + 1 + 4))
    with pytest.raises(ValueError, match="as many points"):
        mixcert.wasserstein2(a, a[:10])
    with pytest.raises(TypeError, match="expected a mixcert.Mixture"):
        mixcert.mw2(mixture, 3)


def test_quantize(mixture):
    coarse, fine = mixcert.quantize(mixture, 1), mixcert.quantize(mixture, 64)
    assert np.isclose(fine.weights.sum(), 1.0) and fine.points.shape == (len(fine.weights), 2)
    assert np.allclose(fine.weights @ fine.points, mixture.mean())
    assert fine.w2 < 0.5 * coarse.w2
    trace = np.einsum("c,cii->", mixture.weights, mixture.covariances)
    assert np.isclose(coarse.w2, np.sqrt(trace))


def test_answers_agree_with_samples(small):
    x = np.array([0.3, -1.0, 0.5])
    result = mixcert.certify(small, x)
    samples = mixcert.simulate(small, x, samples=50000, seed=9)
    noise = 5 / np.sqrt(len(samples))
    interval = result.interval(0.9)
    inside = ((samples >= interval.lower) & (samples <= interval.upper)).mean(axis=0)
    assert np.all(inside >= 0.9 - noise)
    probability = result.probability("y0 > 0 and y1 < y2")
    exact = ((samples[:, 0] > 0) & (samples[:, 1] < samples[:, 2])).mean()
    assert probability.lower - noise <= exact <= probability.upper + noise
    classes = result.predict_proba(samples=20000)
    softmax = np.exp(samples) / np.exp(samples).sum(axis=1, keepdims=True)
    assert np.all(softmax.mean(axis=0) >= classes.probabilities.lower - noise)
    assert np.all(softmax.mean(axis=0) <= classes.probabilities.upper + noise)
    assert classes.predicted == np.argmax(classes.probabilities.estimate)
    covariance = result.covariance()
    assert np.all(covariance.lower <= np.cov(samples.T) + 0.05)
    assert np.all(covariance.upper >= np.cov(samples.T) - 0.05)
    predictive = result.predictive(noise_std=0.5)
    assert np.allclose(predictive.aleatoric.estimate, 0.25)


def test_mistakes_in_questions(small):
    result = mixcert.certify(small, np.zeros(3))
    with pytest.raises(ValueError, match="expected an output in 0..3"):
        result.probability("y9 > 0")
    with pytest.raises(ValueError, match="level"):
        result.interval(1.5)
    with pytest.raises(TypeError, match="did you mean 'samples'"):
        result.predict_proba(sample=10)
    joint = mixcert.certify(small, np.zeros((2, 3)), joint=True)
    with pytest.raises(ValueError, match="single input"):
        joint.predict_proba()
    assert 0.0 <= joint.probability("y[1,0] > 0").estimate <= 1.0


def test_names_of_scipy():
    mixture = mixcert.Mixture([0.3, 0.7], [[0.0], [2.0]], [[1.0], [0.25]])
    y = np.linspace(-4, 5, 4001)[:, None]
    np.testing.assert_array_equal(mixture.logpdf(y), mixture.log_prob(y))
    np.testing.assert_array_equal(mixture.rvs(5, random_state=3), mixture.sample(5, seed=3))
    density = mixture.pdf(y)
    assert abs(density.sum() * (y[1, 0] - y[0, 0]) - 1) < 1e-4
    integral = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1])) * (y[1, 0] - y[0, 0])])
    np.testing.assert_allclose(mixture.cdf(y[:, 0]) - mixture.cdf(y[0, 0]), integral, atol=1e-5)
    assert isinstance(mixture.cdf(0.0), float) and mixture.cdf(np.inf) == 1.0 and mixture.cdf(-np.inf) == 0.0
    step = mixcert.Mixture([1.0], [[1.0]], [[0.0]])
    assert step.cdf([0.999, 1.0, 2.0]).tolist() == [0.0, 1.0, 1.0]
    with pytest.raises(ValueError, match=r"cdf: expected a mixture of one dimension, got 2; take mixture.marginal\(i\)"):
        mixcert.Mixture([1.0], [[0.0, 0.0]], [[1.0, 1.0]]).cdf([0.0])
