# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A list of results answers as its members do, with arrays."""

import sys

import numpy as np
import pytest

import mixcert

INPUTS = np.array([[0.3, -0.2], [1.1, 0.4], [-0.7, 0.9], [0.0, 0.0]])


@pytest.fixture(scope="module")
def results():
    generator = np.random.default_rng(5)
    hidden = mixcert.Dense(
        generator.normal(size=(6, 2)), generator.normal(size=6), weight_variance=np.full((6, 2), 0.01)
    )
    last = mixcert.Dense(
        generator.normal(size=(3, 6)),
        generator.normal(size=3),
        weight_variance=np.full((3, 6), 0.02),
        bias_variance=np.full(3, 0.1),
    )
    return mixcert.certify(mixcert.Network([hidden, "relu", last]), INPUTS, threads=1)


def assert_same(stacked, single):
    """The row of a stacked answer against the answer of one result."""
    for part, one in zip(stacked, single):
        if isinstance(one, tuple):
            assert_same(part, one)
        else:
            np.testing.assert_array_equal(part, one)


QUESTIONS = {
    "moments": lambda asked: asked.moments(),
    "covariance": lambda asked: asked.covariance(),
    "predictive": lambda asked: asked.predictive(noise_std=0.5),
    "interval": lambda asked: asked.interval(0.9),
    "predict_proba": lambda asked: asked.predict_proba(samples=2000),
    "probability": lambda asked: asked.probability("y0 > 0"),
    "joint statement": lambda asked: asked.probability("y0 > 0 and y1 < 1", samples=2000),
}


def row(answer, place):
    return [row(part, place) if isinstance(part, tuple) else part[place] for part in answer]


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_of_all_inputs_are_those_of_each(results, name):
    asked = QUESTIONS[name]
    stacked = asked(results)
    for place, result in enumerate(results):
        single = asked(result)
        assert type(stacked) is type(single)
        assert_same(row(stacked, place), single)


def test_shapes(results):
    assert results.mean().shape == results.std().shape == (4, 3)
    assert results.covariance().upper.shape == (4, 3, 3)
    assert results.interval().lower.shape == (4, 3)
    classes = results.predict_proba(samples=2000)
    assert classes.probabilities.estimate.shape == (4, 3) and classes.predicted.shape == (4,)
    assert results.probability("y0 > 0").lower.shape == (4,)
    assert results.seconds.shape == results.relative_w2_bound.shape == (4,)
    assert results[1:3].moments().mean.lower.shape == (2, 3)


def test_single_results_have_the_same_methods(results):
    np.testing.assert_array_equal(results[2].mean(), results.mean()[2])
    np.testing.assert_array_equal(results[2].std(), results.std()[2])


def test_empty_lists_are_refused(results):
    with pytest.raises(ValueError, match="at least one"):
        results[4:].moments()


def test_data_frames(results):
    pytest.importorskip("pandas")
    table = results.to_dataframe()
    assert list(table.columns[:3]) == ["w2_bound", "relative_w2_bound", "mean_y0"]
    np.testing.assert_array_equal(table["std_y2"], results.std()[:, 2])


def test_data_frames_need_pandas(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="needs pandas, which is not installed.*or take the arrays"):
        results.to_dataframe()


def test_mixtures_as_distributions_of_torch():
    torch = pytest.importorskip("torch")
    mixture = mixcert.Mixture([0.3, 0.7], [[0.0, 1.0], [2.0, -1.0]], [[[1.0, 0.2], [0.2, 0.5]], np.eye(2)])
    law = mixture.to_torch()
    points = np.array([[0.1, 0.2], [3.0, -2.0]])
    np.testing.assert_allclose(law.log_prob(torch.tensor(points)), mixture.log_prob(points), rtol=1e-12)
    np.testing.assert_allclose(law.mean, mixture.mean(), rtol=1e-12)
    with pytest.raises(ValueError, match="singular"):
        mixcert.Mixture([1.0], [[0.0, 0.0]], [np.ones((2, 2))]).to_torch()


def test_files_are_read_back(results, tmp_path):
    path = tmp_path / "r.npz"
    results.save(path)
    read = mixcert.load_results(path)
    assert len(read) == len(results)
    np.testing.assert_array_equal(read.w2_bound, results.w2_bound)
    np.testing.assert_array_equal(read.mean(), results.mean())
    for asked in QUESTIONS.values():
        assert_same(asked(read), asked(results))
    np.testing.assert_array_equal(read[1].inputs, INPUTS[1])
    assert read[1].options == results[1].options and read[1].assumptions == results[1].assumptions
    assert read[1].method == results[1].method and len(read[1].layers) == len(results[1].layers)
    for refused in (
        lambda: read.save(tmp_path / "s.npz"),
        lambda: read.report(tmp_path / "s.html"),
        read[0].by_simulation,
    ):
        with pytest.raises(ValueError, match="needs the network"):
            refused()
    assert not (tmp_path / "s.npz").exists() and not (tmp_path / "s.html").exists()


def test_joint_files_are_read_back(tmp_path):
    net = mixcert.Network([mixcert.Dense([[1.0]], weight_variance=[[0.25]])])
    joint = mixcert.certify(net, [[1.0], [2.0]], joint=True, threads=1)
    joint.save(tmp_path / "joint.npz")
    read = mixcert.load_results(tmp_path / "joint.npz")[0]
    assert read.probability("y[0,0] < y[1,0]") == joint.probability("y[0,0] < y[1,0]")
    assert read.inputs.shape == (2, 1)


def test_files_that_are_no_results_are_refused(tmp_path):
    with pytest.raises(OSError, match="missing.npz"):
        mixcert.load_results(tmp_path / "missing.npz")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(OSError, match="other.npz"):
        mixcert.load_results(tmp_path / "other.npz")
