# Licensed under the Apache License, Version 2.0; see LICENSE.
"""from_torch() of idioms beyond layers: products with tensors of the module, indices, conversions, wrappers, outputs in
every container. Each is the module's own forward, or is refused in one line that speaks of the module."""

import collections
import os
import subprocess
import sys

import numpy as np
import pytest

import mixcert

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import torch_nets as nets  # noqa: E402
from conftest import SOURCE  # noqa: E402
from unusual_modules import Module  # noqa: E402

from test_torch_idioms import IMAGE, SEQUENCE, VECTOR, assert_same_values, image, vector  # noqa: E402

Heads = collections.namedtuple("Heads", "mean scale")


def parameter(*size):
    return nn.Parameter(torch.randn(*size, dtype=torch.float64))


def product(step, *size, bias=None, **more):
    """A step with a tensor of the module in front of a dense layer of four values."""

    def make():
        held = {"w": parameter(*size), **({} if bias is None else {"b": parameter(bias)})}
        return Module(lambda m, x: m.last(torch.relu(step(m, x))), last=nn.Linear(4, 2), **held, **more)

    return make


class Scaled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


class Optional(nn.Module):
    """Arguments that have defaults keep them."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x, mask=None, scale=0.5):
        return self.layer(x if mask is None else x * mask) * scale


VALUES = {
    "x @ W": (product(lambda m, x: x @ m.w, 3, 4), VECTOR),
    "x @ W.T + b": (product(lambda m, x: x @ m.w.T + m.b, 4, 3, bias=4), VECTOR),
    "x @ W.t()": (product(lambda m, x: x @ m.w.t(), 4, 3), VECTOR),
    "torch.matmul": (product(lambda m, x: torch.matmul(x, m.w), 3, 4), VECTOR),
    "x.mm": (product(lambda m, x: x.mm(m.w), 3, 4), VECTOR),
    "F.linear": (product(lambda m, x: F.linear(x, m.w, m.b), 4, 3, bias=4), VECTOR),
    "F.linear of scaled weights": (product(lambda m, x: F.linear(x, 3 * m.w, bias=m.b), 4, 3, bias=4), VECTOR),
    "F.conv2d": (product(lambda m, x: F.conv2d(x, m.w, m.b, padding=1).mean((2, 3)), 4, 2, 3, 3, bias=4), IMAGE),
    "F.conv2d with groups": (
        product(lambda m, x: F.conv2d(x, m.w, None, 2, (1, 0), 1, 2).mean((2, 3)), 4, 1, 3, 2),
        IMAGE,
    ),
    "F.conv1d": (product(lambda m, x: F.conv1d(x, m.w, m.b, stride=2).mean(2), 4, 2, 3, bias=4), SEQUENCE),
    "a subclass that scales": (lambda: nn.Sequential(Scaled(3, 4), nn.ReLU(), nn.Linear(4, 2)), VECTOR),
    "x[:, 0]": (lambda: Module(lambda m, x: m.a(x)[:, 0], a=nn.Linear(3, 4)), VECTOR),
    "x[:, -1] of channels": (image(lambda m, x: x[:, -1].flatten(1), 16), IMAGE),
    "x[:, [0, 2]]": (vector(lambda m, x: x[:, [0, 2]], 2), VECTOR),
    "x[..., :2]": (vector(lambda m, x: x[..., :2], 2), VECTOR),
    "x[:, ::2]": (vector(lambda m, x: x[:, ::2], 2), VECTOR),
    "x[:, None]": (lambda: Module(lambda m, x: m.conv(x[:, None]).flatten(1), conv=nn.Conv1d(1, 2, 3)), (5,)),
    "x[:, :, None, ::2]": (lambda: Module(lambda m, x: m.conv(x[:, :, None, ::2]).flatten(1), conv=nn.Conv2d(2, 1, 1)), SEQUENCE),
    "parts of the input": (lambda: Module(lambda m, x: m.a(x[:, :2]) + m.b(x[:, 2:]), a=nn.Linear(2, 2), b=nn.Linear(1, 2)), VECTOR),
    "ceil_mode of whole windows": (image(lambda m, x: F.max_pool2d(x, 2, ceil_mode=True).flatten(1), 12), IMAGE),
    "ceil_mode behind padding": (image(lambda m, x: F.avg_pool2d(x, 3, 3, 1, True).flatten(1), 12), IMAGE),
    "AdaptiveMaxPool2d": (lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.AdaptiveMaxPool2d(2), nn.Flatten()), IMAGE),
    "F.adaptive_max_pool2d": (image(lambda m, x: F.adaptive_max_pool2d(x, 1).flatten(1), 3), IMAGE),
    "ZeroPad2d": (lambda: nn.Sequential(nn.ZeroPad2d((1, 1, 2, 2)), nn.Conv2d(2, 3, 3), nn.Flatten()), IMAGE),
    "conversions": (vector(lambda m, x: x.to("cpu").double().to(m.first.weight.dtype)), VECTOR),
    "a named tuple": (lambda: Module(lambda m, x: Heads(m.a(x), F.softplus(m.b(x))), a=nn.Linear(3, 1), b=nn.Linear(3, 2)), VECTOR),
    "chunks as outputs": (lambda: Module(lambda m, x: m.a(x).chunk(2, -1), a=nn.Linear(3, 4)), VECTOR),
    "optional arguments": (Optional, VECTOR),
    "DataParallel": (lambda: nn.DataParallel(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))), VECTOR),
    "nested Sequentials": (lambda: nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.Identity()), nn.Sequential(nn.ReLU())), VECTOR),
    "x.relu_()": (vector(lambda m, x: F.relu_(x).relu_().relu()), VECTOR),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    make, shape = VALUES[name]
    net = assert_same_values(make, shape)
    with np.errstate(all="raise"):
        assert np.isfinite(mixcert.certify(net, np.full(net.inputs, 0.3)).w2_bound)


def test_dropout2d_of_vectors_drops_single_values():
    """bayesian-torch's SCNN has it; torch warns, and drops values one by one."""
    torch.manual_seed(9)
    module, x = nets.prepared(nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Dropout2d(0.4), nn.Linear(6, 2)), VECTOR)
    with pytest.warns(UserWarning, match="dropout2d"):
        nets.assert_same_law(mixcert.from_torch(module), module, x)


def lazy():
    return nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.Linear(4, 2))


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 2)

    def forward(self, x, y):
        return self.a(x) + y


class Asserts(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 2)

    def forward(self, x):
        assert x.shape[1] == 3
        return self.a(x)


def noisy_product(m, x):
    return F.linear(x, m.w + 0.1 * torch.randn_like(m.w))


REFUSED = {
    "a random product": (product(noisy_product, 4, 3), VECTOR, "its weights are no tensor of the module"),
    "dropped weights": (product(lambda m, x: F.linear(x, F.dropout(m.w, 0.5, m.training)), 4, 3), VECTOR, "no tensor of the module"),
    "a product of two values": (vector(lambda m, x: x @ torch.relu(x).T, 1), VECTOR, "attribute 'T' of a layer's output"),
    "a product in another order": (product(lambda m, x: m.w @ x, 4, 3), VECTOR, "matmul"),
    "F.layer_norm": (vector(lambda m, x: F.layer_norm(x, (4,))), VECTOR, "batch norm with running statistics"),
    "torch.exp": (lambda: Module(lambda m, x: (m.a(x), torch.exp(m.b(x))), a=nn.Linear(3, 1), b=nn.Linear(3, 1)), VECTOR, "no largest slope"),
    "einsum": (product(lambda m, x: torch.einsum("bi,ij->bj", x, m.w), 3, 4), VECTOR, "write it as nn.Linear"),
    "F.batch_norm": (product(lambda m, x: F.batch_norm(x, m.w, m.w), 3), VECTOR, "nn.BatchNorm1d"),
    "permute": (image(lambda m, x: x.permute(0, 2, 3, 1).flatten(1), 48), IMAGE, "order of axes"),
    "Upsample": (lambda: nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(2, 1, 3)), IMAGE, "docs/python.md lists"),
    "padding_mode": (lambda: nn.Sequential(nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect")), IMAGE, "only 'zeros'"),
    "ceil_mode": (lambda: nn.Sequential(nn.Conv2d(2, 3, 2), nn.MaxPool2d(2, ceil_mode=True)), IMAGE, "reach beyond the image"),
    "uneven ZeroPad2d": (lambda: nn.Sequential(nn.ZeroPad2d((1, 0, 1, 0)), nn.Conv2d(2, 3, 3)), IMAGE, "more zeros on one side"),
    "Flatten(0)": (lambda: nn.Sequential(nn.Flatten(0), nn.Linear(3, 2)), VECTOR, "start_dim=0"),
    "x[0]": (vector(lambda m, x: x[0]), VECTOR, r"expected x\[:, ...\]"),
    "an index out of range": (vector(lambda m, x: x[:, 4:5][:, [0]], 1), VECTOR, "nothing is left"),
    "a dictionary as input": (lambda: Module(lambda m, x: m.a(x["x"]), a=nn.Linear(3, 1)), VECTOR, "expected x"),
    "two inputs": (TwoInputs, VECTOR, "more than one input"),
    "assert": (Asserts, VECTOR, "decides by its input, or by sizes"),
    "half precision inside": (vector(lambda m, x: x.to(torch.float16)), VECTOR, "changes values"),
    "torch.jit": (lambda: torch.jit.script(nn.Sequential(nn.Linear(3, 2))), VECTOR, "torch.jit"),
    "lazy layers": (lazy, VECTOR, "run the module once"),
    "no weights": (lambda: nn.Sequential(nn.ReLU()), VECTOR, "a layer with weights"),
    "Dropout1d of vectors": (lambda: nn.Sequential(nn.Linear(3, 4), nn.Dropout1d(0.5)), VECTOR, "drops channels"),
    "no whole input_shape": (lambda: nn.Linear(3, 2), (3.5,), r"input_shape: expected .* got \(3.5,\)"),
    "text as input_shape": (lambda: nn.Linear(3, 2), "abc", "input_shape: expected"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    make, shape, words = REFUSED[name]
    with pytest.raises(ValueError, match=words) as caught:
        mixcert.from_torch(make(), input_shape=shape)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
    assert "_Recorded" not in str(caught.value) and "Proxy" not in str(caught.value)


def test_a_tensor_beside_layers_may_be_random_under_a_posterior():
    """F.linear with a parameter of the module: a posterior of all parameters would give it a law."""
    module = product(lambda m, x: F.linear(x, m.w), 4, 3)()
    posterior = {"last.kernel_auto_loc": np.ones((4, 2)), "last.kernel_auto_scale": np.ones((4, 2))}
    posterior |= {"last.bias_auto_loc": np.ones(2), "last.bias_auto_scale": np.ones(2)}
    with pytest.raises(ValueError, match="'w' acts beside the layers"):
        mixcert.from_torch(module, posterior)


def test_the_six_networks():
    """scripts/compare_torch_networks in its quick form: all are converted, and means are those of forward."""
    run = subprocess.run(
        [sys.executable, "scripts/compare_torch_networks", "--draws", "1024"],
        cwd=SOURCE, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"), timeout=500,
    )
    assert run.returncode == 0, run.stderr
    rows = [line.strip("| ").split(" | ") for line in run.stdout.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 6
    formal = {"bayesian-torch's ResNet-20", "torch's MNIST example", "mean and scale, two heads", "ResNet of BasicBlocks"}
    for name, parameters, error, deviation, bound, simulated, _, _ in rows:
        assert int(parameters.replace(",", "")) > 0 and float(error) < 1e-12 and float(deviation) > 0
        assert bound != "-" or (name not in formal and float(simulated) > 0)


def test_models_of_the_libraries():
    """scripts/compare_libraries with few draws: every stand-in is certified and has the law that it draws from."""
    run = subprocess.run(
        [sys.executable, "scripts/compare_libraries", "--draws", "800"],
        cwd=SOURCE, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"), timeout=500,
    )
    assert run.returncode == 0, run.stderr + run.stdout
    rows = [line.strip("| ").split(" | ") for line in run.stdout.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 11
    for name, call, kind, means, deviations, spread, relative, holds, _ in rows:
        assert "certify(" in call and max(float(means), float(deviations)) <= 3.0 and holds == "yes"
        assert float(spread) > 0 and 0 < float(relative) < 2, name


def test_one_image_is_one_input():
    """(channels, height, width), as torch has it; with a first axis of one it is a list of one input."""
    torch.manual_seed(10)
    module = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Dropout(0.1), nn.Linear(48, 2)).eval()
    net = mixcert.from_torch(module, input_shape=IMAGE)
    picture = torch.randn(IMAGE)
    one, several = mixcert.certify(net, picture), mixcert.certify(net, picture[None])
    assert len(several) == 1 and one.w2_bound == several[0].w2_bound
    assert mixcert.simulate(net, picture, samples=3).shape == (3, 2)
    with pytest.raises(ValueError, match=r"expected shape \(n, 72\)"):
        mixcert.certify(net, picture[:, :, 1:])


def test_words_of_a_network():
    assert repr(mixcert.from_torch(nets.TwoHeads(False))) == (
        "<mixcert.Network: 3 inputs → deterministic layers, 8 features → 5 layers → 2 outputs>"
    )
