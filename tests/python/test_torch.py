# Licensed under the Apache License, Version 2.0; see LICENSE.
"""mixcert.torch: gradcheck of every method, the values of certify(), modules of several conventions, use as a
loss, and mistakes."""

import numpy as np
import pytest

import mixcert

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch import nn  # noqa: E402

import stand_ins  # noqa: E402
from mixcert import torch as certificates  # noqa: E402

METHODS = [
    {},
    {"joint": True},
    {"method": "signature", "signature_size": 6, "components": 2},
    {"method": "signature", "joint": True, "signature_size": 5, "components": 1},
]


def tensors(seed, widths):
    generator = torch.Generator().manual_seed(seed)
    layers = []
    for fan_in, fan_out in zip(widths, widths[1:]):
        for shape in ((fan_out, fan_in), (fan_out,)):
            mean = torch.randn(shape, generator=generator, dtype=torch.float64)
            variance = 0.02 + 0.1 * torch.rand(shape, generator=generator, dtype=torch.float64)
            layers += [mean.requires_grad_(), variance.requires_grad_()]
    return layers


def build(values, activation):
    layers = []
    for k in range(0, len(values), 4):
        weight, variance, bias, bias_variance = values[k : k + 4]
        layers += ([activation] if layers else []) + [
            certificates.Layer(weight, variance, bias, bias_variance)
        ]
    return layers


def test_certificates_say_which_bound_they_have():
    layers = [certificates.Layer(torch.ones(2, 1), torch.full((2, 1), 0.1)), "tanh", certificates.Layer(torch.ones(1, 2), torch.full((1, 2), 0.1))]
    found = certificates.certify(layers, 0.5)
    assert "theorems='coupling'" in found.bound and "smallest of all theorems" in found.bound
    assert "(J.8)" in certificates.certify(layers, [0.5, 1.0], joint=True).bound
    assert "method='signature'" in certificates.certify(layers, 0.5, method="signature", signature_size=4).bound


@pytest.mark.parametrize("activation", ["tanh", "relu", "gelu", ("leaky_relu", 0.2)])
@pytest.mark.parametrize("options", METHODS)
def test_gradcheck(options, activation):
    values = tensors(3, [2, 4, 2])
    inputs = np.random.default_rng(0).normal(size=(3, 2))

    def function(*given):
        return certificates.certify(build(given, activation), inputs, **options)

    assert torch.autograd.gradcheck(function, values, eps=1e-6, atol=1e-6, rtol=1e-4)


def test_gradcheck_of_a_deeper_network():
    values = tensors(4, [1, 3, 3, 1])
    for options in ({}, {"joint": True}):
        function = lambda *given: certificates.certify(build(given, "tanh"), [0.3, -0.5], **options)  # noqa: E731
        assert torch.autograd.gradcheck(function, values, eps=1e-6, atol=1e-6, rtol=1e-4)


def as_differentiated(options):
    """The options of mixcert.certify that mean the same."""
    chosen = {"method": "moment", **options}
    return {**chosen, "theorems": "coupling"} if chosen["method"] == "moment" else chosen


def test_what_has_no_derivatives_is_refused():
    layers = build(tensors(5, [2, 5, 3]), "relu")
    with pytest.raises(ValueError, match="method: expected moment or signature, got auto"):
        certificates.certify(layers, [0.3, 0.1], method="auto")
    with pytest.raises(ValueError, match="theorems: expected coupling, got all"):
        certificates.certify(layers, [0.3, 0.1], theorems="all")


@pytest.mark.parametrize("options", METHODS)
def test_values_are_those_of_certify(options):
    values = tensors(5, [2, 5, 3])
    inputs = np.random.default_rng(1).normal(size=(4, 2))
    certificate = certificates.certify(build(values, "relu"), inputs, **options)
    w, v, b, c, w1, v1, b1, c1 = (value.detach().numpy() for value in values)
    net = mixcert.Network(
        [
            mixcert.Dense(w, b, weight_variance=v, bias_variance=c),
            "relu",
            mixcert.Dense(w1, b1, weight_variance=v1, bias_variance=c1),
        ]
    )
    results = mixcert.certify(net, inputs, **as_differentiated(options))
    expected = [results] if options.get("joint") else results
    bounds = np.atleast_1d(certificate.w2_bound.detach().numpy())
    if options.get("joint") and options.get("method", "moment") == "moment":
        # certify also truncates before it inverts (J.8), which has no derivative here.
        assert expected[0].w2_bound * (1 - 1e-12) <= bounds[0] <= 10 * expected[0].w2_bound
    else:
        assert np.allclose(bounds, [r.w2_bound for r in expected], rtol=1e-12)
    means = certificate.mean.detach().numpy().reshape(len(expected), -1)
    assert np.allclose(means, [r.mixture.mean() for r in expected], rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["bayesian-torch", "blitz", "torchbnn", "bayesian-cnn", "torch-uncertainty"])
def test_modules_of_other_libraries(name):
    module = stand_ins.CASES[name](np.random.default_rng(2)).module
    x = np.array([0.3, 0.1, -0.4])
    certificate = certificates.certify(module, x)
    expected = mixcert.certify(mixcert.from_torch(module), x, method="moment", theorems="coupling")
    assert certificate.w2_bound.item() == pytest.approx(expected.w2_bound, rel=1e-12)
    certificate.w2_bound.backward()
    keys = [key for key, parameter in module.named_parameters() if parameter.grad is not None]
    assert len(keys) == 8  # means and scales of weights and biases, nothing else
    # A difference quotient through the library's own parameter.
    parameter = dict(module.named_parameters())[next(key for key in keys if "rho" in key or "sigma" in key)]
    with torch.no_grad():
        at, step = (0, 0), 1e-5
        gradient = parameter.grad[at].item()
        values = []
        for sign in (1, -1, -1):
            parameter[at] += sign * step
            values.append(certificates.certify(module, x).w2_bound.item())
    assert gradient == pytest.approx((values[0] - values[2]) / (2 * step), rel=1e-4, abs=1e-9)


def test_a_bound_as_a_loss():
    torch.manual_seed(0)
    module = stand_ins.CASES["torchbnn"](np.random.default_rng(7)).module
    optimizer = torch.optim.Adam(module.parameters(), lr=0.05)
    inputs = torch.randn(8, 3)
    history = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = certificates.certify(module, inputs).w2_bound.mean()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    assert history[-1] < 0.5 * history[0]


def test_single_precision_and_one_input():
    layers = [
        certificates.Layer(torch.ones(3, 1, requires_grad=True), torch.full((3, 1), 0.1)),
        "relu",
        certificates.Layer(torch.ones(1, 3), torch.full((1, 3), 0.1), torch.zeros(1)),
    ]
    one = certificates.certify(layers, torch.tensor(0.5))
    assert one.w2_bound.shape == () and one.w2_bound.dtype == torch.float64
    one.w2_bound.backward()
    assert layers[0].weight_mean.grad.dtype == torch.float32
    assert certificates.certify(layers, torch.tensor([[0.5], [0.6]])).covariance.shape == (2, 1, 1)


def test_mistakes():
    layers = [certificates.Layer(torch.ones(2, 1), torch.ones(2, 1))]
    with pytest.raises(ValueError, match="activation between"):
        certificates.certify(layers + layers, 0.0)
    with pytest.raises(ValueError, match="requires_grad"):
        certificates.certify(layers, torch.zeros(1, requires_grad=True))
    with pytest.raises(ValueError, match="pieces"):
        certificates.certify(layers, 0.0, pieces=4)
    with pytest.raises(TypeError, match="tensors"):
        certificates.certify([(np.ones((2, 1)),)], 0.0)
    with pytest.raises(ValueError, match="dropout"):
        certificates.certify(nn.Sequential(nn.Linear(1, 2), nn.Dropout(0.5), nn.Linear(2, 1)), 0.0)
    with pytest.raises(ValueError, match="cross"):
        certificates.certify(layers, 0.0, method="cross")
