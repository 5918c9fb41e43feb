# Licensed under the Apache License, Version 2.0; see LICENSE.
"""compare(): certified numbers beside Monte Carlo's, and what prints of them."""

import sys

import numpy as np
import pytest

import mixcert
from conftest import random_network

INPUTS = np.array([[0.3, -0.2, 0.5], [1.1, 0.4, -0.6]])


@pytest.fixture(scope="module")
def side_by_side():
    return mixcert.compare(random_network([3, 8, 2]), INPUTS, samples=4000, classes=True, threads=1)


def test_numbers_agree(side_by_side):
    assert side_by_side.outside(errors=4.0) == []
    kinds = [row.what for row in side_by_side.rows if row.input == 1]
    assert kinds == ["mean of y0", "mean of y1", "std of y0", "std of y1", "class 0", "class 1"]
    for row in side_by_side.rows:
        assert row.lower <= row.mixture <= row.upper and row.drawn_error > 0 and np.isnan(row.module_drawn)
    np.testing.assert_array_equal(side_by_side.w2_bound, side_by_side.results.w2_bound)


def test_standard_errors_are_those_of_repeated_draws():
    net = random_network([3, 8, 2])
    runs = [mixcert.compare(net, INPUTS, samples=200, seed=seed, threads=1).monte_carlo for seed in range(60)]
    for name in ("mean", "std"):
        spread = np.std([getattr(run, name) for run in runs], axis=0)
        typical = np.mean([getattr(run, name + "_error") for run in runs], axis=0)
        assert (np.abs(np.log(spread / typical)) < 0.5).all()


def test_draws_needed(side_by_side):
    mean = side_by_side.results.moments().mean
    width = 0.5 * (mean.upper - mean.lower)
    expected = (1.96 * side_by_side.results.std() / width) ** 2
    np.testing.assert_allclose(side_by_side.draws_needed, np.maximum(np.ceil(expected), 1).max(axis=1))


def test_an_exact_law_needs_no_draws():
    net = mixcert.Network([mixcert.Dense([[1.0]], weight_variance=[[0.25]])])
    assert mixcert.compare(net, [[1.0]], samples=100, threads=1).draws_needed[0] > 1e12


def test_a_network_without_noise_is_within_its_ranges():
    net = mixcert.Network([mixcert.Dense([[0.1, 0.7, -0.3]]), mixcert.Activation("tanh"), mixcert.Dense([[1.3]])])
    assert mixcert.compare(net, INPUTS, samples=1000, threads=1).outside() == []


def test_more_memory_than_the_limit_is_refused_before_drawing():
    net = random_network([3, 8, 2])
    with pytest.raises(MemoryError, match=r"compare: 100000000 draws of 4 numbers need 11.9 GiB, more than the limit of 8"):
        mixcert.compare(net, INPUTS, samples=10**8)
    with pytest.raises(MemoryError, match=r"limit of 0\.001 GiB"):
        mixcert.compare(net, INPUTS, samples=10**5, max_memory_in_gib=0.001)


def test_tables(side_by_side):
    text = str(side_by_side)
    assert text.splitlines()[0].split() == "input what mixture certified range Monte Carlo module's draws".split()
    assert "certified W2: " in text and "4000 draws" in text and " to " in text
    assert side_by_side._repr_html_().count("<tr>") == 1 + len(side_by_side.rows)


def test_printed_ends_are_rounded_outward():
    from mixcert._comparison import _above, _below

    rng = np.random.default_rng(2)
    for value in np.concatenate([rng.normal(size=300) * 10.0 ** rng.integers(-12, 12, 300), [0.0, 0.1, 9.9999, -9.9999, 1e-300]]):
        for digits in (3, 4):
            below, above = float(_below(value, digits)), float(_above(value, digits))
            assert below <= value <= above and above - below <= 2.1 * 10.0 ** (1 - digits) * abs(value)
    assert _above(np.nan) == "nan" and _below(np.inf) == "inf"


def test_pages(side_by_side, tmp_path):
    side_by_side.figure(tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    for words in ("proven range", "Monte Carlo", "Class probabilities", "mean of y1, input 1"):
        assert words in page
    with pytest.raises(ValueError, match=r"path: expected a file that ends in \.html, \.png.* got '.*c\.gif'"):
        side_by_side.figure(tmp_path / "c.gif")


def test_pictures(side_by_side, tmp_path):
    pytest.importorskip("matplotlib")
    side_by_side.figure(tmp_path / "c.png")
    assert (tmp_path / "c.png").stat().st_size > 1000


def test_pictures_need_matplotlib(side_by_side, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="need matplotlib, which is not installed.*comparison.html"):
        side_by_side.figure(tmp_path / "c.png")
    assert not list(tmp_path.iterdir())


def test_frames_need_pandas(side_by_side, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="needs pandas"):
        side_by_side.to_dataframe()


def test_modules_draw_themselves():
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(8, 2)
    )
    state, mode = torch.random.get_rng_state(), model.training
    found = mixcert.compare(model, torch.tensor(INPUTS), samples=4000, module_samples=2000, threads=1)
    assert torch.equal(torch.random.get_rng_state(), state) and model.training == mode
    assert found.module.draws == 2000
    gap = np.abs(found.module.mean - found.monte_carlo.mean)
    assert (gap < 4.5 * np.hypot(found.module.mean_error, found.monte_carlo.mean_error)).all()
    gap = np.abs(found.module.std - found.monte_carlo.std)
    assert (gap < 4.5 * np.hypot(found.module.std_error, found.monte_carlo.std_error)).all()
    assert "module's draws" in str(found)


def test_modules_draw_at_a_single_input():
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    wide = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(8, 2))
    one = mixcert.compare(wide, torch.tensor(INPUTS[0]), samples=100, module_samples=50, threads=1)
    assert one.module.mean.shape == (1, 2), one.notes
    narrow = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(8, 2))
    several = mixcert.compare(narrow, [0.1, 0.2, 0.3], samples=100, module_samples=50, threads=1)
    assert several.module.mean.shape == (3, 2), several.notes


def test_modules_that_do_not_draw_say_why():
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(4, 2))
    with_softmax = torch.nn.Sequential(model, torch.nn.Softmax(1))
    found = mixcert.compare(with_softmax, INPUTS, samples=100, module_samples=10, threads=1)
    assert found.module is None and any("softmax" in note for note in found.notes)
    assert mixcert.compare(model, INPUTS, samples=100, module_samples=0, threads=1).module is None


def test_mistakes():
    net = random_network([3, 4, 1])
    with pytest.raises(ValueError, match="classes: expected a network of two outputs or more, got 1"):
        mixcert.compare(net, INPUTS, classes=True)
    with pytest.raises(ValueError, match="joint: expected inputs one by one"):
        mixcert.compare(net, INPUTS, joint=True)
    with pytest.raises(ValueError, match="samples: expected an integer in 2"):
        mixcert.compare(net, INPUTS, samples=1)
