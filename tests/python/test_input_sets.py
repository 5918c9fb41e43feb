# Licensed under the Apache License, Version 2.0; see LICENSE.
"""certify(radius=..) and certify_box(): bounds for every input of a ball or a box."""

import numpy as np
import pytest

import mixcert


@pytest.fixture
def net():
    generator = np.random.default_rng(3)
    return mixcert.Network(
        [
            mixcert.Dense(generator.normal(size=(6, 2)), np.zeros(6), weight_variance=0.01 * np.ones((6, 2))),
            mixcert.Activation("relu"),
            mixcert.Dense(generator.normal(size=(1, 6)), np.zeros(1), weight_variance=0.01 * np.ones((1, 6))),
        ]
    )


def test_bounds_hold_in_the_ball(net, tmp_path):
    x = np.array([0.5, -0.25])
    point = mixcert.certify(net, x)
    ball = mixcert.certify(net, x, radius=0.125)
    assert np.isnan(point.input_change)
    assert ball.w2_bound >= point.w2_bound + ball.input_change > point.w2_bound
    assert point.holds_for(x) and not point.holds_for(x + 1e-9)
    assert ball.holds_for(x + [0.125, -0.125]) and not ball.holds_for(x + [0.126, 0.0])
    round_ball = mixcert.certify(net, x, radius=0.125, norm="2")
    assert round_ball.holds_for(x + [0.1, 0.0]) and not round_ball.holds_for(x + [0.125, 0.125])
    assert "every input within 0.125" in str(ball)
    there = mixcert.certify(net, x + 0.125)
    assert abs(there.mixture.mean()[0] - ball.mixture.mean()[0]) <= ball.w2_bound + there.w2_bound


def test_files_keep_it(net, tmp_path):
    results = mixcert.certify(net, np.zeros((3, 2)), radius=0.5)
    results.save(tmp_path / "r.npz")
    back = mixcert.load_results(tmp_path / "r.npz")
    assert back[1].input_change == results[1].input_change
    assert back[1].holds_for([0.5, 0.5]) and not back[1].holds_for([0.6, 0.0])


def test_refusals(net):
    with pytest.raises(ValueError, match="joint"):
        mixcert.certify(net, np.zeros((2, 2)), radius=0.5, joint=True)
    with pytest.raises(ValueError, match="radius"):
        mixcert.certify(net, np.zeros((2, 2)), norm="2")


def test_cells_cover_the_box_and_hold(net):
    cells = mixcert.certify_box(net, [-1.0, 0.0], [1.0, 0.5], max_cells=60)
    assert isinstance(cells, mixcert.ResultList) and len(cells) == 60
    moments = cells.moments().mean
    for x in np.random.default_rng(0).uniform([-1.0, 0.0], [1.0, 0.5], size=(50, 2)):
        cell = cells.at(x)
        lower, upper = cell.cell
        assert (lower <= x).all() and (x <= upper).all()
        there = mixcert.certify(net, x)
        mean = there.moments().mean
        assert mean.upper[0] >= cell.moments().mean.lower[0]
        assert mean.lower[0] <= cell.moments().mean.upper[0]
        assert mean.upper[0] >= moments.lower.min() and mean.lower[0] <= moments.upper.max()
    assert "every input of its cell" in str(cells[0])
    with pytest.raises(ValueError, match="no result"):
        cells.at([2.0, 0.0])


def test_numbers_stand_for_all_features_and_epsilon_ends(net):
    cells = mixcert.certify_box(net, 0.0, 0.01, epsilon=1.0)
    assert len(cells) < 1000 and cells.w2_bound.max() <= 1.0
    assert all(cell.termination == "epsilon-reached" for cell in cells)
    assert mixcert.certify(net, [0.0, 0.0]).cell is None


def test_files_keep_cells(net, tmp_path):
    cells = mixcert.certify_box(net, -0.5, 0.5, max_cells=5)
    cells.save(tmp_path / "r.npz")
    back = mixcert.load_results(tmp_path / "r.npz")
    assert len(back) == 5
    for one, other in zip(cells, back):
        assert (one.cell[0] == other.cell[0]).all() and (one.cell[1] == other.cell[1]).all()
        assert other.holds_for(one.inputs)


def test_refused_boxes(net):
    for arguments in ([1.0, -1.0], [np.zeros(3), np.ones(3)], [0.0, np.inf]):
        with pytest.raises(ValueError):
            mixcert.certify_box(net, *arguments)
    with pytest.raises(ValueError, match="radius"):
        mixcert.certify_box(net, 0.0, 1.0, radius=0.1)


@pytest.fixture
def classifier():
    generator = np.random.default_rng(5)
    layers = []
    for inputs, outputs in ((4, 12), (12, 3)):
        weight = generator.normal(size=(outputs, inputs)) / np.sqrt(inputs)
        layers += [mixcert.Dense(weight, weight_variance=np.full((outputs, inputs), 1e-3)), "relu"]
    return mixcert.Network(layers[:-1])


def test_robust_classes_hold_in_the_ball(classifier):
    generator = np.random.default_rng(6)
    inputs = generator.normal(size=(40, 4))
    radius = 0.03
    robust = mixcert.robust_classes(classifier, inputs, radius)
    assert 0 < robust.by_mean.sum() < len(inputs) and 0 < robust.by_vote.sum() < len(inputs)
    for x, predicted, by_mean, votes, (lower, upper) in zip(
        inputs, robust.predicted, robust.by_mean, robust.votes, zip(robust.margins.lower, robust.margins.upper)
    ):
        near = x + generator.uniform(-radius, radius, size=(5, 4))
        draws = mixcert.simulate(classifier, near, samples=4000, seed=1)
        means = draws.mean(axis=1)
        margins = means[:, [predicted]] - means
        # Six standard errors of the draws.
        slack = 6 * (draws[:, :, [predicted]] - draws).std(axis=1) / np.sqrt(4000)
        assert (margins >= lower - slack).all() and (margins <= upper + slack).all()
        share = (draws.argmax(axis=2) == predicted).mean(axis=1)
        assert (share >= votes - 6 * np.sqrt(0.25 / 4000)).all()
        if by_mean:
            assert (mixcert.certify(classifier, near).mean().argmax(axis=1) == predicted).all()


def test_differences_say_more_than_all_outputs_together(classifier):
    inputs = np.random.default_rng(7).normal(size=(30, 4))
    together = mixcert.certify(classifier, inputs, radius=0.03)
    mean = together.mean()
    place = np.arange(len(inputs))
    robust = mixcert.robust_classes(classifier, inputs, 0.03)
    for other in range(3):
        chosen = robust.predicted != other
        gap = (mean[place, robust.predicted] - mean[:, other])[chosen]
        by_all = gap - np.sqrt(2.0) * together.w2_bound[chosen]
        assert (robust.margins.lower[chosen, other] > by_all).all()


def test_robust_classes_of_one_input_and_refusals(classifier, net):
    robust = mixcert.robust_classes(classifier, np.ones(4), 0.01)
    assert robust.predicted.shape == (1,) and robust.margins.lower.shape == (1, 3)
    with pytest.raises(ValueError, match="two outputs"):
        mixcert.robust_classes(net, np.zeros((2, 2)), 0.1)
    with pytest.raises(ValueError, match="joint"):
        mixcert.robust_classes(classifier, np.zeros((2, 4)), 0.1, joint=True)
    with pytest.raises(ValueError, match="radius"):
        mixcert.robust_classes(classifier, np.zeros((2, 4)), -0.1)
