# Licensed under the Apache License, Version 2.0; see LICENSE.
"""from_torch() of the idioms that people write: each is the module's own forward where noise is off, and has its law
where it is on. What is not there is refused in one line."""

import numpy as np
import pytest

import mixcert

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import torch_nets as nets  # noqa: E402
from unusual_modules import Module  # noqa: E402

VECTOR, IMAGE, SEQUENCE = (3,), (2, 6, 6), (2, 8)


def vector(step, outputs=4, **more):
    """A step behind a dense layer of four values, and a dense layer behind it."""
    return lambda: Module(lambda m, x: m.last(step(m, m.first(x))), first=nn.Linear(3, 4), last=nn.Linear(outputs, 2), **more)


def image(step, outputs, **more):
    """A step that makes a vector of an image of three channels, 4 x 4."""
    return lambda: Module(lambda m, x: m.last(step(m, m.first(x))), first=nn.Conv2d(2, 3, 3), last=nn.Linear(outputs, 2), **more)


def standardised(m, x):
    return m.last(torch.relu((x - m.center) / m.width))


def buffers(**tensors):
    def make(step):
        def build():
            module = Module(step, last=nn.Linear(3, 2))
            for name, values in tensors.items():
                module.register_buffer(name, torch.tensor(values))
            return module

        return build

    return make


def sequences(*layers, features):
    return lambda: nn.Sequential(nn.Conv1d(2, 3, 3, padding=1, stride=2), nn.ReLU(), *layers, nn.Flatten(), nn.Linear(features, 2))


def slopes(*values):
    return nn.Parameter(torch.tensor(values))


def channel_prelu(*values):
    module = nn.PReLU(len(values))
    module.weight = slopes(*values)
    return module


def in_place(m, x):
    h = m.first(x)
    h += m.other(x)
    return m.last(torch.relu(h))


def unpacked(m, x):
    batch, channels, _, _ = m.first(x).shape
    return m.last(m.first(x).mean((-2, -1)).view(batch, channels))


def chunks(m, x):
    mean, scale = m.first(x).chunk(2, dim=-1)
    return mean, F.softplus(scale)


FIXED = {
    "F.max_pool2d(x, 2)": (image(lambda m, x: torch.flatten(F.max_pool2d(x, 2), 1), 12), IMAGE),
    "F.avg_pool2d of the whole": (image(lambda m, x: F.avg_pool2d(x, x.size()[3]).view(x.size(0), -1), 3), IMAGE),
    "x.mean([2, 3])": (image(lambda m, x: x.mean([2, 3]), 3), IMAGE),
    "x.mean((-2, -1))": (image(lambda m, x: x.mean((-2, -1), keepdim=True).flatten(1), 3), IMAGE),
    "torch.mean by axis": (image(lambda m, x: torch.mean(x, dim=3).mean(-1), 3), IMAGE),
    "mean of rows": (image(lambda m, x: x.mean(2).flatten(1), 12), IMAGE),
    "mean of features": (vector(lambda m, x: x.mean(1, keepdim=True), 1), VECTOR),
    "reshape(len(x), -1)": (image(lambda m, x: x.reshape(len(x), -1), 48), IMAGE),
    "torch.reshape": (image(lambda m, x: torch.reshape(x, (x.shape[0], -1)), 48), IMAGE),
    "an unpacked shape": (lambda: Module(unpacked, first=nn.Conv2d(2, 3, 3), last=nn.Linear(3, 2)), IMAGE),
    "squeeze(-1)": (lambda: Module(lambda m, x: m.last(x).squeeze(-1), last=nn.Linear(3, 1)), VECTOR),
    "unsqueeze and Conv1d": (lambda: Module(lambda m, x: m.conv(x.unsqueeze(1)).flatten(1), conv=nn.Conv1d(1, 2, 3)), (5,)),
    "Unflatten": (lambda: nn.Sequential(nn.Linear(3, 8), nn.Unflatten(1, (2, 2, 2)), nn.Conv2d(2, 1, 2)), VECTOR),
    "projected shortcut": (lambda: Module(in_place, first=nn.Linear(3, 4), other=nn.Linear(3, 4), last=nn.Linear(4, 2)), VECTOR),
    "torch.add alpha": (vector(lambda m, x: torch.add(m.more(x), x, alpha=0.5), more=nn.Linear(4, 4)), VECTOR),
    "x - F(x)": (vector(lambda m, x: x - torch.tanh(m.more(x)), more=nn.Linear(4, 4)), VECTOR),
    "torch.cat([x, h], 1)": (vector(lambda m, x: torch.cat([x, torch.relu(m.more(x))], 1), 7, more=nn.Linear(4, 3)), VECTOR),
    "cat of channels": (image(lambda m, x: torch.cat((x, m.more(x)), dim=1).mean((2, 3)), 5, more=nn.Conv2d(3, 2, 1)), IMAGE),
    "2 * y + 1": (vector(lambda m, x: torch.tanh(2 * x + 1)), VECTOR),
    "1 - y / 3": (vector(lambda m, x: 1 - torch.sigmoid(x) / 3), VECTOR),
    "standardised by numbers": (lambda: Module(lambda m, x: m.last((x - 0.3) / 1.7), last=nn.Linear(3, 2)), VECTOR),
    "standardised by buffers": (buffers(center=[0.1, 0.2, 0.3], width=[1.0, 2.0, 4.0])(standardised), VECTOR),
    "standardised channels": (
        lambda: Module(
            lambda m, x: m.conv((x - m.center.view(1, -1, 1, 1)) / m.center[None, :, None, None]).flatten(1),
            conv=nn.Conv2d(2, 1, 3),
            center=nn.Parameter(torch.tensor([2.0, 3.0])),
        ),
        IMAGE,
    ),
    "two heads": (lambda: nets.TwoHeads(False), VECTOR),
    "two heads, concatenated": (lambda: nets.TwoHeads(True), VECTOR),
    "two heads of one layer": (lambda: Module(chunks, first=nn.Linear(3, 4)), VECTOR),
    "a dictionary of heads": (
        lambda: Module(lambda m, x: {"a": m.a(x), "b": m.b(x)}, a=nn.Linear(3, 2), b=nn.Linear(3, 1)),
        VECTOR,
    ),
    "Conv1d": (sequences(nn.MaxPool1d(2), features=6), SEQUENCE),
    "Conv1d with batch norm": (sequences(nn.BatchNorm1d(3), nn.AdaptiveAvgPool1d(1), features=3), SEQUENCE),
    "ConvTranspose2d": (
        lambda: nn.Sequential(nn.ConvTranspose2d(2, 4, (3, 2), padding=(1, 0), dilation=(1, 2), groups=2), nn.ReLU(), nn.Flatten()),
        IMAGE,
    ),
    "ConvTranspose1d": (lambda: nn.Sequential(nn.ConvTranspose1d(2, 3, 3, padding=1), nn.Flatten()), SEQUENCE),
    "weight_norm": (lambda: nn.Sequential(nn.utils.weight_norm(nn.Linear(3, 4)), nn.ReLU(), nn.Linear(4, 2)), VECTOR),
    "spectral_norm": (lambda: nn.Sequential(nn.utils.spectral_norm(nn.Conv2d(2, 3, 3)), nn.Flatten()), IMAGE),
    "parametrizations": (
        lambda: nn.Sequential(
            nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3)), nn.utils.parametrizations.orthogonal(nn.Linear(3, 3))
        ),
        VECTOR,
    ),
    "the same layer twice": (vector(lambda m, x: m.more(torch.relu(m.more(x))), more=nn.Linear(4, 4)), VECTOR),
    "slopes per feature": (vector(lambda m, x: F.prelu(x, m.slopes), slopes=slopes(0.1, -0.2, 0.3, 1.5)), VECTOR),
    "slopes per channel": (image(lambda m, x: m.slopes(x).flatten(1), 48, slopes=channel_prelu(0.25, 0.0, -0.5)), IMAGE),
    "slopes of the input": (lambda: nn.Sequential(channel_prelu(0.1, 0.2, 2.0), nn.Linear(3, 2)), VECTOR),
    "a layer called input": (
        lambda: Module(lambda m, x: m.last(torch.cat([x, m.input(x)], 1)), input=nn.Linear(3, 2), last=nn.Linear(5, 1)),
        VECTOR,
    ),
    "BasicBlock": (lambda: nn.Sequential(nets.Block(2, 4, 2, lambda *s: nn.Conv2d(*s, bias=False)), nn.Flatten()), IMAGE),
    "ResNet": (nets.ResNet, (1, 8, 8)),
    "ResNet-20": (lambda: nets.ResNet(pads=True), (1, 8, 8)),
    "DenseNet's block": (nets.DenseBlock, IMAGE),
}
ACTIVATIONS = {
    **{f"nn.{kind.__name__}": (lambda kind=kind: kind(), None) for kind in (nn.SELU, nn.CELU, nn.ReLU6, nn.Hardtanh)},
    **{f"nn.{kind.__name__}": (lambda kind=kind: kind(), None) for kind in (nn.Hardswish, nn.Hardsigmoid, nn.PReLU, nn.Mish)},
    **{f"nn.{kind.__name__}": (lambda kind=kind: kind(), None) for kind in (nn.Softsign, nn.LogSigmoid, nn.Tanhshrink)},
    "nn.ELU(0.5)": (lambda: nn.ELU(0.5), None),
    "nn.CELU(2)": (lambda: nn.CELU(2.0), None),
    "nn.Hardtanh(-2, 0.5)": (lambda: nn.Hardtanh(-2, 0.5), None),
    "nn.PReLU of equal slopes": (lambda: nn.PReLU(4), None),
    **{f"F.{f.__name__}": (None, f) for f in (F.selu, F.celu, F.relu6, F.hardswish, F.hardsigmoid, F.mish)},
    **{f"F.{f.__name__}": (None, f) for f in (F.softsign, F.logsigmoid, F.tanhshrink)},
    "F.elu alpha": (None, lambda x: F.elu(x, alpha=1.5)),
    "F.celu alpha": (None, lambda x: F.celu(x, 0.5)),
    "F.hardtanh ends": (None, lambda x: F.hardtanh(x, min_val=-0.5, max_val=2.0)),
    "F.prelu": (None, lambda x: F.prelu(x, torch.tensor([-0.3], dtype=x.dtype if isinstance(x, torch.Tensor) else torch.float64))),
    "clamp": (None, lambda x: x.clamp(-0.5, 0.7)),
    "torch.clamp from zero": (None, lambda x: torch.clamp(x, min=0)),
}


def assert_same_values(make, shape):
    """At several inputs, one of them large; all noise is off."""
    torch.manual_seed(4)
    module, _ = nets.prepared(make(), shape)
    inputs = torch.randn(4, *shape, dtype=torch.float64) * torch.tensor([0.1, 1, 3, 12]).reshape(4, *[1] * len(shape))
    net = mixcert.from_torch(module, input_shape=shape, dropout=False)
    assert not any("not compared" in line for line in net.assumptions)
    with torch.no_grad():
        theirs = nets.outputs(module(inputs))
    for x, expected in zip(inputs, theirs):
        ours = mixcert.simulate(net, x.numpy().ravel(), samples=2)
        assert np.allclose(ours, expected, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())
    return net


@pytest.mark.parametrize("name", FIXED)
def test_values(name):
    make, shape = FIXED[name]
    assert_same_values(make, shape)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    kind, function = ACTIVATIONS[name]
    if function is None:
        make = lambda: nn.Sequential(nn.Linear(3, 4), kind(), nn.Linear(4, 2))  # noqa: E731
    else:
        make = vector(lambda m, x: function(x))
    assert_same_values(make, VECTOR)


def dropped(layer, shape):
    """Random values of a layer that changes no shape."""
    if len(shape) == 1:
        return lambda: nn.Sequential(nn.Linear(3, 6), nn.SELU(), layer, nn.Linear(6, 2))
    kind = nn.Conv2d if len(shape) == 3 else nn.Conv1d
    return lambda: nn.Sequential(kind(2, 3, 3), nn.ReLU(), layer, nn.Flatten(), nn.Linear(48 if len(shape) == 3 else 18, 2))


def functional(function, **more):
    return lambda: nn.Sequential(nn.Linear(3, 6), nn.Tanh(), Module(lambda m, x: function(x, 0.3, m.training)), nn.Linear(6, 2))


RANDOM = {
    "Dropout2d": (dropped(nn.Dropout2d(0.3), IMAGE), IMAGE),
    "Dropout1d": (dropped(nn.Dropout1d(0.3), SEQUENCE), SEQUENCE),
    "AlphaDropout": (dropped(nn.AlphaDropout(0.3), VECTOR), VECTOR),
    "AlphaDropout of a half": (dropped(nn.AlphaDropout(0.5), VECTOR), VECTOR),
    "F.alpha_dropout": (functional(F.alpha_dropout), VECTOR),
    "F.dropout": (functional(F.dropout), VECTOR),
    "two heads": (nets.TwoHeads, VECTOR),
    "DenseNet's block": (nets.DenseBlock, IMAGE),
}


@pytest.mark.parametrize("name", RANDOM)
def test_dropout_has_the_law_of_training(name):
    torch.manual_seed(5)
    make, shape = RANDOM[name]
    module, x = nets.prepared(make(), shape)
    nets.assert_same_law(mixcert.from_torch(module, input_shape=shape), module, x)
    assert np.allclose(mixcert.simulate(mixcert.from_torch(module, input_shape=shape, dropout=False), x.numpy().ravel(), samples=1), nets.fixed(module, x))


def bayesian(layers):
    """Layers that return divergences, in a row."""
    return lambda: Module(lambda m, x: m.last(torch.relu(m.conv(x)[0]).flatten(1))[0], **layers())


WEIGHTS = {
    "BayesLinear": (lambda: nn.Sequential(nets.BayesLinear(4, 3), nn.ReLU(), nets.BayesLinear(2, 4)), VECTOR),
    "BayesConv2d": (
        lambda: nn.Sequential(nets.BayesConv2d(2, 2, 3, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nets.BayesLinear(2, 2)),
        IMAGE,
    ),
    "random Conv1d": (
        bayesian(lambda: {"conv": nets.BayesianConv(2, 2, 3, axes=1, function=F.conv1d), "last": nets.BayesianLinear(12, 2)}),
        SEQUENCE,
    ),
    "random ConvTranspose2d": (
        bayesian(lambda: {"conv": nets.BayesianTranspose(2, 1, 2), "last": nets.BayesianLinear(49, 2)}),
        IMAGE,
    ),
    "ResNet with random weights": (lambda: nets.ResNet(nets.BayesianConv), (1, 4, 4)),
    "random weights beside fixed numbers": (
        lambda: Module(lambda m, x: 3 * m.last(torch.cat([x, 2 * x], 1))[0] - 1, last=nets.BayesianLinear(6, 2)),
        VECTOR,
    ),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_random_weights(name):
    torch.manual_seed(6)
    make, shape = WEIGHTS[name]
    module, x = nets.prepared(make(), shape)
    net = mixcert.from_torch(module, input_shape=shape)
    assert not any("compared" in line for line in net.assumptions)
    nets.assert_same_law(net, module, x, samples=2000, random_weights=True)


@pytest.mark.parametrize("make, random_weights", [(nets.Mnist, False), (nets.SCNN, True)])
def test_a_softmax_at_the_end_is_left_out_and_said(make, random_weights):
    torch.manual_seed(7)
    module, x = nets.prepared(make(), (1, 8, 8))
    net = mixcert.from_torch(module, input_shape=(1, 8, 8))
    assert len(net.assumptions) == 1
    assert "log_softmax" in net.assumptions[0] and "predict_proba" in net.assumptions[0]

    def log_softmax(logits):
        return torch.log_softmax(torch.tensor(logits), 1).numpy()

    nets.assert_same_law(net, module, x, 2000 if random_weights else 20000, random_weights, log_softmax)


def test_predict_proba_gives_the_softmax_back():
    torch.manual_seed(7)
    module, x = nets.prepared(nets.Mnist(), (1, 8, 8))
    result = mixcert.certify(mixcert.from_torch(module, input_shape=(1, 8, 8)), x.numpy().ravel())
    assert any("log_softmax" in line for line in result.assumptions)
    chances = result.predict_proba(samples=20000).probabilities
    drawn = np.exp(nets.drawn(module, x, 20000))
    error = 4 * drawn.std(axis=0) / np.sqrt(len(drawn))
    assert np.all(chances.lower - error <= drawn.mean(axis=0)) and np.all(drawn.mean(axis=0) <= chances.upper + error)
    assert np.abs(chances.estimate - drawn.mean(axis=0)).max() < 0.01 and chances.estimate.sum() == pytest.approx(1)


def test_heads_are_said():
    net = mixcert.from_torch(nets.TwoHeads(False))
    assert net.outputs == 2 and "2 outputs, of 1, 1 values" in net.assumptions[0]
    assert mixcert.from_torch(nets.TwoHeads(True)).assumptions == []


def test_a_chain_has_no_names_that_it_does_not_need():
    net = mixcert.from_torch(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.1), nn.Linear(4, 2)))
    assert [layer.type for layer in net.layers] == ["dense", "activation", "dropout", "dense"]


def random_twice():
    return Module(lambda m, x: m.layer(torch.relu(m.layer(x))), layer=nets.BayesLinear(3, 3))


def dropout_in_weights():
    layer = nn.Linear(3, 3)
    nn.utils.parametrize.register_parametrization(layer, "weight", nn.Dropout(0.5))
    return nn.Sequential(layer)


REFUSED = {
    "a random layer twice": (random_twice, VECTOR, "acts twice, and its weights are random"),
    "a frozen layer": (lambda: nn.Sequential(nets.BayesLinear(2, 3, frozen=True)), VECTOR, "frozen"),
    "LayerNorm": (lambda: nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3)), VECTOR, "batch norm with running statistics"),
    "attention": (lambda: Module(lambda m, x: m.a(x, x, x)[0], a=nn.MultiheadAttention(3, 1)), VECTOR, "the network behind it"),
    "LSTM": (lambda: Module(lambda m, x: m.a(x)[0], a=nn.LSTM(3, 2)), VECTOR, "with its last state as the input"),
    "Embedding": (lambda: nn.Sequential(nn.Embedding(3, 2), nn.Linear(2, 1)), VECTOR, "index"),
    "softmax inside": (vector(lambda m, x: torch.softmax(x, 1)), VECTOR, "only at the end"),
    "softmax of channels": (image(lambda m, x: F.softmax(x, 1).flatten(1), 48), IMAGE, "over the outputs"),
    "a product of values": (vector(lambda m, x: x * torch.sigmoid(x)), VECTOR, "both sides come from the input"),
    "a strided transposed convolution": (lambda: nn.Sequential(nn.ConvTranspose2d(2, 2, 2, stride=2)), IMAGE, "stride"),
    "numbers of their own for every input": (
        lambda: Module(lambda m, x: m.a(x) + torch.arange(12.0).view(4, 3).double(), a=nn.Linear(3, 3)),
        VECTOR,
        "other numbers for every input",
    ),
    "noise made in forward": (
        lambda: Module(lambda m, x: m.a(x) + torch.randn(3, dtype=torch.float64), a=nn.Linear(3, 3)),
        VECTOR,
        "not the same at every call",
    ),
    "a mean over inputs": (vector(lambda m, x: x - x.mean(0)), VECTOR, "counts inputs"),
    "a mean of everything": (vector(lambda m, x: x - x.mean()), VECTOR, "mixes inputs"),
    "a crop": (image(lambda m, x: x[:, :, 1:3, 1:3].flatten(1), 12), IMAGE, "part of an image"),
    "a sum of two shapes": (lambda: Module(lambda m, x: x + m.a(x), a=nn.Linear(3, 1)), VECTOR, "one shape"),
    "images side by side": (image(lambda m, x: torch.cat([x, x], 2).flatten(1), 96), IMAGE, "axis 1"),
    "a random parametrization": (dropout_in_weights, VECTOR, "dropout in a parametrization"),
    "a product in place of a value used again": (
        vector(lambda m, x: x.mul_(2) + torch.relu(x)),
        VECTOR,
        "overwrites a value",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    make, shape, words = REFUSED[name]
    with pytest.raises(ValueError, match=words) as caught:
        mixcert.from_torch(make().double(), input_shape=shape)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_a_parameter_beside_layers_may_be_random():
    """A posterior of all parameters gives the factor a law, too."""
    module = Module(lambda m, x: m.gain * m.layer(x), layer=nn.Linear(3, 2), gain=nn.Parameter(torch.ones(1)))
    posterior = {"layer.kernel_auto_loc": np.ones((3, 2)), "layer.kernel_auto_scale": np.ones((3, 2))}
    posterior |= {"layer.bias_auto_loc": np.ones(2), "layer.bias_auto_scale": np.ones(2)}
    posterior |= {"gain_auto_loc": np.ones(1), "gain_auto_scale": np.ones(1)}
    with pytest.raises(ValueError, match="'gain' acts beside the layers"):
        mixcert.from_torch(module, posterior)


def test_a_layer_twice_under_a_posterior():
    module = Module(lambda m, x: m.layer(torch.relu(m.layer(x))), layer=nn.Linear(3, 3))
    posterior = {"layer.kernel_auto_loc": np.ones((3, 3)), "layer.kernel_auto_scale": np.ones((3, 3))}
    posterior |= {"layer.bias_auto_loc": np.ones(3), "layer.bias_auto_scale": np.ones(3)}
    with pytest.raises(ValueError, match="acts twice, and the posterior"):
        mixcert.from_torch(module, posterior)


class Doubled(nn.Module):
    def forward(self, values):
        return 2 * values


def test_computed_weights_leave_the_module_as_it_is():
    torch.manual_seed(8)
    both = nn.Linear(3, 3)
    for name in ("weight", "bias"):
        nn.utils.parametrize.register_parametrization(both, name, Doubled())
    module = nn.Sequential(nn.utils.spectral_norm(nn.Linear(3, 3)), both, nn.utils.weight_norm(nn.Linear(3, 2)))
    before = {name: value.clone() for name, value in module.state_dict().items()}
    net = mixcert.from_torch(module)
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())
    x = torch.randn(1, 3)
    assert np.allclose(mixcert.simulate(net, x[0].numpy(), samples=1), module.eval()(x).detach(), atol=1e-5)
    assert nn.utils.parametrize.is_parametrized(both, "weight") and nn.utils.parametrize.is_parametrized(both, "bias")
    with pytest.raises(ValueError, match="computed from parameters of a posterior"):
        mixcert.from_torch(module, {"loc": np.zeros(20), "scale_unconstrained": np.zeros(20)})
