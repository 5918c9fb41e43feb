# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Networks from arrays, their files, and their samples."""

import numpy as np
import pytest

import mixcert
from conftest import random_network


def test_saved_and_loaded(small, tmp_path):
    small.save(tmp_path / "net.safetensors")
    loaded = mixcert.Network.load(tmp_path / "net.safetensors")
    assert (loaded.inputs, loaded.outputs) == (3, 4) and "8 relu" in repr(loaded)
    x = np.array([[0.1, 0.2, 0.3]])
    assert np.array_equal(mixcert.certify(small, x).w2_bound, mixcert.certify(loaded, x).w2_bound)
    assert [layer.type for layer in loaded.layers] == ["dense", "activation", "dense"]
    assert "relu" in loaded.inspect()


def test_missing_file(tmp_path):
    with pytest.raises(OSError, match="nothing.safetensors"):
        mixcert.Network.load(tmp_path / "nothing.safetensors")


def test_samples_have_the_exact_moments_of_one_layer():
    """y = W x + b: E y = M x + m, Var y_i = sum_j V_ij x_j^2 + v_i."""
    weight, bias = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([0.1, -0.2])
    variance, bias_variance = np.array([[0.2, 0.1], [0.0, 0.4]]), np.array([0.05, 0.3])
    net = mixcert.Network([mixcert.Dense(weight, bias, weight_variance=variance, bias_variance=bias_variance)])
    x = np.array([0.7, -1.5])
    samples = mixcert.simulate(net, x, samples=40000, seed=1)
    exact = variance @ x**2 + bias_variance
    assert np.allclose(samples.mean(axis=0), weight @ x + bias, atol=5 * np.sqrt(exact.max() / 40000))
    assert np.allclose(samples.var(axis=0), exact, rtol=0.05)
    result = mixcert.certify(net, x)
    assert np.allclose(result.mixture.mean(), weight @ x + bias)
    assert np.allclose(np.diag(result.mixture.cov()), exact)


def laws(rng, rows, columns):
    """Arrays of every law of a layer, and Cov(vec W), row by row."""
    n = rows * columns
    square = lambda k: (lambda a: a @ a.T / k)(rng.normal(size=(k, k)))
    variance = rng.uniform(0.1, 1.0, size=(rows, columns))
    r, c = square(rows), square(columns)
    u, v = np.linalg.qr(rng.normal(size=(rows, rows)))[0], np.linalg.qr(rng.normal(size=(columns, columns)))[0]
    f, full = rng.normal(size=(n, 2)), square(n)
    basis = np.kron(u, v)
    return [
        ({}, np.zeros((n, n))),
        ({"weight_variance": variance}, np.diag(variance.ravel())),
        ({"row_covariance": r, "column_covariance": c}, np.kron(r, c)),
        ({"row_basis": u, "column_basis": v, "weight_variance": variance},
         basis @ np.diag(variance.ravel()) @ basis.T),
        ({"weight_variance": variance, "factor": f}, np.diag(variance.ravel()) + f @ f.T),
        ({"weight_covariance": full}, full),
    ]


@pytest.mark.parametrize("which", range(6))
def test_every_law_of_a_layer(which):
    """One layer is exact: Cov(W x)_ik = sum_jl Cov(W_ij, W_kl) x_j x_l."""
    rng = np.random.default_rng(which)
    rows, columns = 3, 2
    arrays, covariance = laws(rng, rows, columns)[which]
    weight, x = rng.normal(size=(rows, columns)), rng.normal(size=columns)
    result = mixcert.certify(mixcert.Network([mixcert.Dense(weight, **arrays)]), x)
    push = np.kron(np.eye(rows), x)
    assert np.allclose(result.mixture.mean(), weight @ x)
    assert np.allclose(result.mixture.cov(), push @ covariance @ push.T, atol=1e-12)
    assert result.w2_bound < 1e-6


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: mixcert.Dense([1.0, 2.0]), "weight: expected an array of rank 2"),
        (lambda: mixcert.Dense([[1.0]], weight_variance=[[-1.0]]), "variance"),
        (lambda: mixcert.Dense([[1.0]], weight_variance=[[1.0, 2.0]]), "variance"),
        (lambda: mixcert.Dense([[np.nan]]), "finite"),
        (lambda: mixcert.Dense([[1.0]], weight_variance=[[1.0]], weight_covariance=[[1.0]]), "one law"),
        (lambda: mixcert.Dense([[1.0]], weight_variance=[[1.0]], law="cauchy"), "laplace"),
        (lambda: mixcert.Activation("relo"), "relu"),
        (lambda: mixcert.Activation("tanh", slope=0.2), "tanh: expected no parameter 'slope'"),
        (lambda: mixcert.Activation("hardtanh", lower=1.0, upper=0.0), "lower < upper"),
        (lambda: mixcert.Activation("celu", alpha=-1.0), "alpha above 0"),
        (lambda: mixcert.Network([]), "at least one layer"),
        (lambda: mixcert.Network([mixcert.Dense([[1.0]]), mixcert.Dense([[1.0, 2.0]])]), "expected"),
        (lambda: mixcert.Network([mixcert.Dense([[1.0]]), mixcert.Dropout(1.5), mixcert.Dense([[1.0]])]), "rate"),
    ],
)
def test_mistakes(make, words):
    with pytest.raises(ValueError, match=words):
        make()


SELU = (1.0507009873554805, 1.6732632423543772)
FURTHER = {
    ("relu6",): lambda z: np.clip(z, 0, 6),
    ("hardtanh", ("lower", -0.5), ("upper", 2.0)): lambda z: np.clip(z, -0.5, 2.0),
    ("hardsigmoid",): lambda z: np.clip(z / 6 + 0.5, 0, 1),
    ("hardswish",): lambda z: z * np.clip(z + 3, 0, 6) / 6,
    ("prelu", ("slope", 0.3)): lambda z: np.where(z > 0, z, 0.3 * z),
    ("selu",): lambda z: SELU[0] * np.where(z > 0, z, SELU[1] * np.expm1(np.minimum(z, 0))),
    ("elu", ("alpha", 2.0)): lambda z: np.where(z > 0, z, 2.0 * np.expm1(np.minimum(z, 0))),
    ("celu", ("alpha", 2.0)): lambda z: np.where(z > 0, z, 2.0 * np.expm1(np.minimum(z, 0) / 2.0)),
    ("softsign",): lambda z: z / (1 + np.abs(z)),
    ("mish",): lambda z: z * np.tanh(np.logaddexp(0, z)),
    ("logsigmoid",): lambda z: -np.logaddexp(0, -z),
    ("tanhshrink",): lambda z: z - np.tanh(z),
}


@pytest.mark.parametrize("named", FURTHER, ids=lambda named: named[0])
def test_activations_with_parameters(named):
    name, *parameters = named
    first = mixcert.Dense([[1.5]], [0.4], weight_variance=[[0.8]], bias_variance=[0.3])
    last = mixcert.Dense([[1.0]], [0.0], weight_variance=[[0.0]], bias_variance=[0.0])
    network = mixcert.Network([first, mixcert.Activation(name, **dict(parameters)), last])
    mixture = mixcert.certify(network, 1.0, method="moment").mixture  # has the law's own mean and variance
    z = np.random.default_rng(5).normal(1.9, np.sqrt(1.1), 400000)
    values = FURTHER[named](z)
    assert abs(mixture.mean()[0] - values.mean()) < 5 * values.std() / np.sqrt(values.size)
    assert mixture.cov()[0, 0] == pytest.approx(values.var(), rel=0.02)


def test_not_a_layer():
    with pytest.raises(TypeError, match="expected a layer"):
        mixcert.Network([3])


def test_other_layers():
    rng = np.random.default_rng(0)
    net = mixcert.Network([
        mixcert.Conv2d(rng.normal(size=(2, 1, 3, 3)), np.zeros(2), image=(6, 6), padding=1,
                       weight_variance=np.full((2, 1, 3, 3), 0.01)),
        "relu",
        mixcert.AvgPool2d(2),
        mixcert.Flatten(),
        mixcert.Dense(rng.normal(size=(4, 18)) / 4, weight_variance=np.full((4, 18), 1e-3)),
        mixcert.Residual([mixcert.Dense(0.1 * np.eye(4)), "tanh"]),
        mixcert.Dense(rng.normal(size=(2, 4))),
    ])
    assert (net.inputs, net.outputs) == (36, 2)
    images = rng.normal(size=(2, 1, 6, 6))
    results = mixcert.certify(net, images)
    assert len(results) == 2 and np.all(np.isfinite(results.w2_bound))


def test_simulate_shapes_and_seeds(small):
    x = np.zeros((2, 3))
    first = mixcert.simulate(small, x, samples=50, seed=1)
    assert first.shape == (2, 50, 4)
    assert np.array_equal(first, mixcert.simulate(small, x, samples=50, seed=1, threads=2))
    assert not np.array_equal(first, mixcert.simulate(small, x, samples=50, seed=2))
    joint = mixcert.simulate(small, x, samples=50, joint=True)
    assert np.array_equal(joint[0], joint[1])  # the same weights at the same input
    for bad in [0, -1, 2.5, True, "many"]:
        with pytest.raises(ValueError, match="samples: expected an integer"):
            mixcert.simulate(small, x, samples=bad)
    with pytest.raises(ValueError, match="seed"):
        mixcert.simulate(small, x, seed=-1)


def test_ensemble_and_noise():
    one, two = random_network([2, 4, 1], seed=1), random_network([2, 4, 1], seed=2)
    both = mixcert.Network.ensemble([one, two], weights=[0.25, 0.75])
    x = np.array([0.4, 0.6])
    result = mixcert.certify(both, x)
    expected = [mixcert.certify(net, x).mixture.mean()[0] for net in (one, two)]
    assert np.isclose(result.mixture.mean()[0], 0.25 * expected[0] + 0.75 * expected[1])
    with pytest.raises(ValueError, match="one per network"):
        mixcert.Network.ensemble([one, two], weights=[1.0])
    noisy = mixcert.Network([mixcert.Dense([[2.0]])]).with_input_noise(0.5)
    assert np.isclose(mixcert.certify(noisy, 1.0).mixture.std()[0], 1.0)


def test_the_noise_of_inputs_is_saved(sines, tmp_path):
    result = mixcert.certify(sines.with_input_noise(0.25), [[0.3]])
    (result[0] if isinstance(result, list) else result).save(tmp_path / "r.npz")
    assert np.load(tmp_path / "r.npz")["input_variance"].tolist() == [0.0625]


def test_graphs_are_lists_whose_layers_name_what_they_see(tmp_path):
    """Two heads of a shared body, and a sum: against numpy, saved and loaded."""
    rng = np.random.default_rng(30)
    body, mean, spread = rng.normal(size=(5, 3)), rng.normal(size=(2, 5)), rng.normal(size=(2, 5))
    fixed = lambda weight, **more: mixcert.Dense(weight, weight_variance=1e-4 * np.ones_like(weight), **more)
    net = mixcert.Network(
        [
            mixcert.Affine([2.0], [0.5], name="scaled", inputs=["input"]),
            fixed(body, name="body", inputs=["scaled"]),
            mixcert.Activation("tanh", name="h", inputs=["body"]),
            fixed(mean, name="mean", inputs=["h"]),
            fixed(spread, name="spread", inputs=["h"]),
            mixcert.Add(inputs=["mean", "spread"], name="sum"),
            mixcert.Concat(inputs=["sum", "mean"]),
        ]
    )
    assert (net.inputs, net.outputs) == (3, 4)
    assert net.layers[5].inputs == ["mean", "spread"] and net.layers[5].name == "sum"
    x = np.array([0.3, -0.2, 0.9])
    h = np.tanh(body @ (2.0 * x + 0.5))
    expected = np.concatenate([(mean + spread) @ h, mean @ h])
    result = mixcert.certify(net, x)
    assert np.linalg.norm(result.mixture.mean() - expected) <= 0.05 * np.linalg.norm(expected)
    net.save(tmp_path / "graph.safetensors")
    loaded = mixcert.Network.load(tmp_path / "graph.safetensors")
    assert [layer.inputs for layer in loaded.layers] == [layer.inputs for layer in net.layers]
    assert np.array_equal(mixcert.certify(loaded, x).w2_bound, result.w2_bound)
    assert "mean, spread" in loaded.inspect()


def test_wrong_graphs_name_the_layer():
    weight = np.ones((2, 2))
    with pytest.raises(ValueError, match="dense 'b' sees 'x': expected 'input' or an entry before it, got no entry of that name"):
        mixcert.Network([mixcert.Dense(weight, name="a"), mixcert.Dense(weight, name="b", inputs=["x"])])
    with pytest.raises(TypeError, match="inputs: expected a list of names"):
        mixcert.Add(inputs="a")


def test_layers_are_classes(tmp_path):
    net = mixcert.Network([
        mixcert.Dense(np.ones((4, 3)), name="a"), "relu", mixcert.Dropout(0.1),
        mixcert.LayerMixture(None, [mixcert.Dense(np.ones((2, 4))), mixcert.Dense(np.zeros((2, 4)))]),
    ])
    kinds = [mixcert.Dense, mixcert.Activation, mixcert.Dropout, mixcert.LayerMixture]
    assert [type(layer) for layer in net.layers] == kinds
    assert all(isinstance(layer, mixcert.Layer) for layer in net.layers) and net.layers[0].name == "a"
    net.save(tmp_path / "net.safetensors")
    assert [type(layer) for layer in mixcert.Network.load(tmp_path / "net.safetensors").layers] == kinds
    with pytest.raises(TypeError, match="expected one of its classes"):
        mixcert.Layer()


def test_every_kind_of_layer_has_its_class():
    kinds = [one for one in vars(mixcert).values() if isinstance(one, type) and issubclass(one, mixcert.Layer)]
    assert len({one._type for one in kinds}) == len(kinds) == 19  # with Layer itself
