# Licensed under the Apache License, Version 2.0; see LICENSE.
"""from_torch(): conventions of other libraries against their formulas and against Monte Carlo, the program's
bits, architectures read from forward, and refusals."""

import json
from collections import OrderedDict

import numpy as np
import pytest

import mixcert
from test_certify import run_program

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch import nn  # noqa: E402

import stand_ins  # noqa: E402
from mixcert import _torch_posterior, _torch_trace  # noqa: E402

POINT = np.array([0.4, -0.7, 1.1])


def dense_layers(net):
    return [layer.arrays for layer in net.layers if layer.type == "dense"]


def covariance_of(arrays):
    """Of all weights, row by row, and the bias, from any law that Dense takes."""
    out, into = arrays["weight"].shape
    count = out * into
    result = np.zeros((count + out,) * 2)
    if "covariance" in arrays:
        places = [i * (into + 1) + j for i in range(out) for j in range(into)]
        places += [i * (into + 1) + into for i in range(out)]
        return arrays["covariance"][np.ix_(places, places)]
    if "row_basis" in arrays:
        basis = np.kron(arrays["row_basis"], arrays["column_basis"])
        result[:count, :count] = basis @ np.diag(arrays["weight_variance"].ravel()) @ basis.T
    else:
        result[:count, :count] = np.diag(arrays["weight_variance"].ravel())
    bias = arrays["bias_covariance"] if "bias_covariance" in arrays else np.diag(arrays["bias_variance"])
    result[count:, count:] = bias
    if "factor" in arrays:
        factor = np.vstack([arrays["factor"], arrays["bias_factor"]])
        result += factor @ factor.T
    return result


def check_law(net, truth):
    """The law of the weights, then samples, moments and the certified bound against weights drawn here."""
    for arrays, layer in zip(dense_layers(net), truth):
        assert np.array_equal(np.concatenate([arrays["weight"].ravel(), arrays["bias"]]), layer.mean)
        assert np.allclose(covariance_of(arrays), layer.covariance, rtol=1e-12, atol=1e-14)
    count = 40000
    theirs = stand_ins.sample(truth, POINT, count, np.random.default_rng(5))
    ours = mixcert.simulate(net, POINT, samples=count, seed=1)
    error = 5.0 * theirs.std(axis=0) * np.sqrt(2.0 / count)
    assert np.all(np.abs(theirs.mean(axis=0) - ours.mean(axis=0)) < error)
    assert np.allclose(theirs.std(axis=0), ours.std(axis=0), rtol=0.04)
    result = mixcert.certify(net, POINT)
    moments = result.moments()
    assert np.all(moments.mean.lower - error < theirs.mean(axis=0))
    assert np.all(theirs.mean(axis=0) < moments.mean.upper + error)
    for i in range(2):  # W2 on each axis is no larger than the bound, but for the two samples' own distance
        exact = result.mixture.marginal(i)
        distance = mixcert.wasserstein2(theirs[:, [i]], exact.sample(count, seed=2))
        floor = mixcert.wasserstein2(exact.sample(count, seed=3), exact.sample(count, seed=4))
        assert distance < result.w2_bound + 3.0 * floor


@pytest.mark.parametrize("name", stand_ins.CASES)
def test_convention(name):
    case = stand_ins.CASES[name](np.random.default_rng(11))
    net = mixcert.from_torch(case.module, case.posterior)
    assert net.assumptions == []
    check_law(net, case.truth)


@pytest.mark.parametrize("kind", ["diag", "kron", "full"])
def test_last_layer_laplace_is_exact(kind):
    """Features are deterministic and the output is Gaussian: the bound is rounding alone."""
    case = stand_ins.last_layer_laplace(np.random.default_rng(11), kind)
    net = mixcert.from_torch(case.module)
    assert net.assumptions == []
    assert len(case.module.model.last_layer._forward_hooks) == 1  # the object stays as it is
    result = mixcert.certify(net, POINT)
    theirs = stand_ins.sample(case.truth, POINT, 40000, np.random.default_rng(5))
    assert np.allclose(result.mixture.std(), theirs.std(axis=0), rtol=0.02)
    assert np.allclose(result.mixture.mean(), theirs.mean(axis=0), atol=0.02)
    assert result.w2_bound < 1e-6


def test_subnetworks_and_other_layers_are_refused():
    case = stand_ins.last_layer_laplace(np.random.default_rng(11), "diag")
    case.module.subnetwork_indices = torch.arange(3)
    with pytest.raises(ValueError, match="subnetwork"):
        mixcert.from_torch(case.module)
    other = stand_ins.last_layer_laplace(np.random.default_rng(11), "diag")
    inner = other.module.model.model
    inner[2]._forward_hooks.clear()
    other.module.model = stand_ins.FeatureExtractor(inner, inner[0])
    with pytest.raises(ValueError, match="last layer"):
        mixcert.from_torch(other.module)


@pytest.mark.parametrize("name", stand_ins.PROJECTED)
def test_correlated_layers_are_drawn_linearised_or_projected(name, tmp_path):
    case = stand_ins.PROJECTED[name](np.random.default_rng(11))
    whole = mixcert.from_torch(case.module, case.posterior)
    with pytest.raises(ValueError, match="project"):
        mixcert.certify(whole, POINT)
    count = 40000
    theirs = stand_ins.sample_whole(case, POINT, count, np.random.default_rng(5))
    whole.save(tmp_path / "whole.safetensors")
    for net in (whole, mixcert.Network.load(tmp_path / "whole.safetensors")):
        ours = mixcert.simulate(net, POINT, samples=count, seed=1)
        error = 5.0 * theirs.std(axis=0) * np.sqrt(2.0 / count)
        assert np.all(np.abs(theirs.mean(axis=0) - ours.mean(axis=0)) < error)
        assert np.allclose(np.cov(theirs.T), np.cov(ours.T), rtol=0.04, atol=0.04 * theirs.var())
    mean, covariance = stand_ins.linearised(case, POINT)
    glm = mixcert.certify(whole, POINT, predictive="glm")
    assert np.allclose(glm.mixture.means[0], mean, rtol=1e-12)
    assert np.allclose(glm.mixture.covariances[0], covariance, rtol=1e-6)
    assert "linearised" in str(glm) and any("glm" in text for text in glm.assumptions)
    net = mixcert.from_torch(case.module, case.posterior, project="per-layer")
    check_law(net, case.truth)
    result = mixcert.certify(net, POINT)
    assert any("correlations across layers" in text for text in result.assumptions)


@pytest.mark.parametrize("name", list(stand_ins.CASES) + list(stand_ins.PROJECTED))
def test_same_bits_as_the_program(name, tmp_path):
    """The arrays in a .pt file, `mixcert import` and `mixcert certify`: the same numbers to the last bit."""
    projected = name in stand_ins.PROJECTED
    case = {**stand_ins.CASES, **stand_ins.PROJECTED}[name](np.random.default_rng(11))
    project = "per-layer" if projected else None
    net = mixcert.from_torch(case.module, case.posterior, project=project)
    source = _torch_posterior.find(case.module, case.posterior, None)
    torch.save(OrderedDict((key, torch.tensor(value)) for key, value in source.arrays), tmp_path / "w.pt")
    entries = json.dumps(_torch_trace.read(source.module).entries)
    flags = ["--project", "per-layer"] if projected else []
    run_program(
        ["import", tmp_path / "w.pt", "--from", source.library, "--arch", entries, *flags]
        + ["--out", tmp_path / "net.safetensors"]
    )
    inputs = np.vstack([POINT, -POINT])
    np.save(tmp_path / "x.npy", inputs)
    run_program(
        ["certify", tmp_path / "net.safetensors", "--inputs", tmp_path / "x.npy", "--out", tmp_path / "r.npz"]
    )
    mixcert.certify(net, inputs).save(tmp_path / "ours.npz")
    theirs, ours = np.load(tmp_path / "r.npz"), np.load(tmp_path / "ours.npz")
    for key in theirs.files:
        if key != "run":
            assert theirs[key].tobytes() == ours[key].tobytes(), key
    run = [json.loads(bytes(file["run"]).decode()) for file in (theirs, ours)]
    assert run[0]["assumptions"] == run[1]["assumptions"]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.inner = nn.Linear(4, 6), nn.BatchNorm1d(6, affine=False), nn.Linear(6, 6)
        self.last = nn.Linear(6, 2)

    def forward(self, x):
        x = x.view(x.size(0), -1)
        x = nn.functional.leaky_relu(self.norm(self.first(x)), 0.2)
        x = torch.tanh(self.inner(x)) + x
        return self.last(nn.functional.dropout(x, 0.3, self.training))


def images():
    return nn.Sequential(
        nn.Conv2d(2, 3, 3, padding="same"),
        nn.BatchNorm2d(3),
        nn.SiLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(3, 4, (3, 2), stride=(2, 1), padding=1, groups=1),
        nn.GELU(),
        nn.AdaptiveAvgPool2d((1, 5)),
        nn.Flatten(),
        nn.Linear(20, 2),
    )


@pytest.mark.parametrize(
    "make, shape",
    [(Block, (4,)), (images, (2, 8, 8)), (lambda: nn.Linear(3, 2), (3,)), (lambda: nn.Sequential(Block()), (4,))],
)
def test_values_are_those_of_torch(make, shape):
    torch.manual_seed(0)
    module = make().double()
    module(torch.randn(16, *shape, dtype=torch.float64))  # running statistics
    module.eval()
    net = mixcert.from_torch(module, input_shape=shape if len(shape) == 3 else None, dropout=False)
    x = torch.randn(5, *shape, dtype=torch.float64)
    ours = mixcert.certify(net, x.numpy())
    assert np.allclose(ours.mean(), module(x).detach().numpy(), rtol=0, atol=1e-12)
    assert np.all(ours.w2_bound < 1e-9)


def test_dropout_is_random_unless_it_is_not_wanted():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.4), nn.Linear(8, 2)).double().eval()
    x = torch.tensor(POINT)
    random, fixed = mixcert.from_torch(module), mixcert.from_torch(module, dropout=False)
    assert np.all(mixcert.certify(fixed, POINT).mixture.std() < 1e-9)
    module.train()
    with torch.no_grad():
        theirs = module(x.expand(20000, 3)).numpy()
    ours = mixcert.simulate(random, POINT, samples=20000)
    assert np.allclose(theirs.mean(axis=0), ours.mean(axis=0), atol=5 * theirs.std() / 100)
    assert np.allclose(theirs.std(axis=0), ours.std(axis=0), rtol=0.05)


def test_random_convolution_of_bayesian_torch():
    rng = np.random.default_rng(3)
    keys = ("mu_kernel", "rho_kernel", "mu_bias", "rho_bias")
    convolution = stand_ins.Random(keys, (2, 1, 3, 3), rng)
    convolution.stride, convolution.padding, convolution.dilation, convolution.groups = (1, 1), (1, 1), (1, 1), 1
    module = nn.Sequential(convolution, nn.ReLU(), nn.Flatten(), nn.Linear(32, 1).double())
    net = mixcert.from_torch(module, input_shape=(1, 4, 4))
    arrays = net.layers[0].arrays
    raw = convolution.rho_kernel.detach().numpy()
    assert np.allclose(np.sqrt(arrays["weight_variance"]), np.log1p(np.exp(raw)), rtol=1e-14)
    samples, x = [], torch.tensor(rng.normal(size=(1, 1, 4, 4)))
    state = {key: value.detach().numpy() for key, value in convolution.named_parameters()}
    for _ in range(4000):
        kernel = state["mu_kernel"] + np.log1p(np.exp(state["rho_kernel"])) * rng.normal(size=(2, 1, 3, 3))
        bias = state["mu_bias"] + np.log1p(np.exp(state["rho_bias"])) * rng.normal(size=2)
        y = nn.functional.conv2d(x, torch.tensor(kernel), torch.tensor(bias), padding=1)
        samples.append(module[3](torch.relu(y).flatten(1)).item())
    ours = mixcert.simulate(net, x.numpy().reshape(-1), samples=40000)
    assert abs(np.mean(samples) - ours.mean()) < 5 * np.std(samples) / np.sqrt(4000)
    assert np.std(samples) == pytest.approx(ours.std(), rel=0.08)


def windows(kind, *arguments, **keywords):
    return nn.Sequential(nn.Conv2d(4, 4, 1), kind(*arguments, **keywords), nn.Tanh(), nn.Flatten())


@pytest.mark.parametrize(
    "make",
    [
        lambda: windows(nn.Conv2d, 4, 6, 3),
        lambda: windows(nn.Conv2d, 4, 6, (3, 2), stride=(2, 1), padding=(1, 0), groups=2),
        lambda: windows(nn.Conv2d, 4, 4, 3, padding=2, dilation=2, groups=4, bias=False),
        lambda: windows(nn.Conv2d, 4, 2, 5, stride=3, padding=2, dilation=(1, 2)),
        lambda: windows(nn.MaxPool2d, 3, stride=2, padding=1),
        lambda: windows(nn.AvgPool2d, (2, 3), stride=(2, 1)),
        lambda: windows(nn.BatchNorm2d, 4),
        images,
    ],
)
def test_operators_are_those_of_torch(make):
    """Behind noise that is too small to see, layers are drawn as operators (docs/theory/graphs.md)."""
    torch.manual_seed(1)
    shape = (2, 8, 8) if make is images else (4, 9, 7)
    module = make().double()
    module(torch.randn(16, *shape, dtype=torch.float64))  # running statistics
    module.eval()
    plain = mixcert.from_torch(module, input_shape=shape, dropout=False)
    net = mixcert.Network([mixcert.GaussianNoise(1e-14), *plain.layers])
    x = torch.randn(1, *shape, dtype=torch.float64)
    ours = mixcert.simulate(net, x.numpy().reshape(-1), samples=3)
    assert np.allclose(ours, module(x).detach().numpy(), rtol=0, atol=1e-11)


def test_channels_are_dropped_as_by_torch():
    torch.manual_seed(2)
    module = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Dropout2d(0.4), nn.Conv2d(4, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(27, 2)
    ).double()
    x = torch.randn(1, 1, 5, 5, dtype=torch.float64)
    net = mixcert.from_torch(module, input_shape=(1, 5, 5))
    assert [layer.type for layer in net.layers].count("dropout2d") == 1
    module.train()
    with torch.no_grad():
        theirs = module(x.expand(40000, 1, 5, 5)).numpy()
    ours = mixcert.simulate(net, x.numpy().reshape(-1), samples=40000)
    assert np.allclose(theirs.mean(axis=0), ours.mean(axis=0), atol=5 * theirs.std() / 200)
    assert np.allclose(np.cov(theirs.T), np.cov(ours.T), atol=0.05 * theirs.var(axis=0).max())
    # Certified by draws alone, with the reason why nothing formal is.
    result = mixcert.certify(net, x.numpy().reshape(1, -1), method="coupled", simulate=True, draws=2000, statistics=2000)[0]
    assert np.isnan(result.w2_bound) and "masks" in result.reason
    assert result.simulated["w2_bound"] >= result.statistics["w2_lower_statistical"]


class Loops(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)

    def forward(self, x):
        return self.a(x) if x.sum() > 0 else x


class Renamed(nn.Linear):
    """As Pyro's modules are: another class, the same forward."""


class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)

    def forward(self, x):
        return self.a(x)[0]


def hooked():
    module = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    module[0].register_forward_hook(lambda layer, x, y: 2 * y)
    return module


def test_a_subclass_with_the_same_forward():
    module = nn.Sequential(Renamed(3, 3), nn.Tanh(), Renamed(3, 1)).double()
    x = torch.tensor(POINT)
    assert mixcert.certify(mixcert.from_torch(module), POINT).mixture.mean() == pytest.approx(module(x).item())


@pytest.mark.parametrize(
    "module, words",
    [
        (hooked(), "hooks"),
        (First(), "indexing"),
        (Loops(), "decides by its input"),
        (nn.Sequential(nn.Linear(3, 3), nn.Softmax(dim=1), nn.Linear(3, 3)), "only at the end"),
        (nn.Sequential(nn.Linear(3, 3), nn.Hardshrink()), r"layer '1' \(Hardshrink\)"),
        (nn.Sequential(nn.Linear(3, 3), nn.GELU(approximate="tanh")), "approximate"),
        (nn.Sequential(nn.Linear(3, 3), nn.ELU(alpha=-2.0)), "alpha"),
        (nn.Sequential(nn.Conv2d(1, 1, 3)), "input_shape"),
        (nn.Sequential(nn.Linear(3, 3), nn.Dropout1d(0.1)), "nn.Dropout drops single values"),
        (nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3, track_running_stats=False)), "running statistics"),
    ],
)
def test_refusals(module, words):
    with pytest.raises(ValueError, match=words):
        mixcert.from_torch(module)


def test_parameters_in_another_order_than_they_act():
    class Reversed(nn.Module):
        def __init__(self):
            super().__init__()
            self.second, self.first = nn.Linear(4, 2), nn.Linear(3, 4)

        def forward(self, x):
            return self.second(torch.relu(self.first(x)))

    posterior = {"loc": np.zeros(26), "scale_unconstrained": np.zeros(26)}
    with pytest.raises(ValueError, match="order in which they act"):
        mixcert.from_torch(Reversed(), posterior)


def test_tensors_as_inputs(small):
    x = torch.randn(2, 3)
    same = mixcert.certify(small, x.numpy()).w2_bound
    assert np.array_equal(mixcert.certify(small, x).w2_bound, same)
    with pytest.raises(ValueError, match="detach"):
        mixcert.certify(small, x.requires_grad_())


def test_what_is_no_module():
    with pytest.raises(TypeError, match="torch.nn.Module"):
        mixcert.from_torch([1, 2])
    with pytest.raises(ValueError, match="library"):
        mixcert.from_torch(nn.Linear(2, 2), library="tensorflow")
    with pytest.raises(ValueError, match="per-layer"):
        mixcert.from_torch(nn.Linear(2, 2), project="everything")
    with pytest.raises(ValueError, match="IVON"):
        mixcert.from_torch(nn.Linear(2, 2), torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1))


def test_import_weights_from_memory_and_files(tmp_path):
    rng = np.random.default_rng(0)
    weights = {
        "a.mu_weight": rng.normal(size=(4, 3)),
        "a.rho_weight": rng.normal(size=(4, 3)) - 2,
        "b.mu_weight": rng.normal(size=(2, 4)),
        "b.rho_weight": rng.normal(size=(2, 4)) - 2,
    }
    np.savez(tmp_path / "w.npz", **weights)
    net = mixcert.import_weights(weights, "bayesian-torch", "3-4-2", activation="tanh")
    same = mixcert.import_weights(
        tmp_path / "w.npz", "bayesian-torch", "3-4-2", activation="tanh", layers=["a", "b"]
    )
    assert mixcert.certify(net, POINT).w2_bound == mixcert.certify(same, POINT).w2_bound
    with pytest.raises(ValueError, match="a.mu_weight"):
        mixcert.import_weights(weights, "bayesian-torch", "3-5-2")
    with pytest.raises(OSError):
        mixcert.import_weights(tmp_path / "missing.pt", "plain", "3-5-2")
