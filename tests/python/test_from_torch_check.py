# Licensed under the Apache License, Version 2.0; see LICENSE.
"""from_torch() compares what it has read with the module's own forward without noise, and with all noise at one
standard deviation: changes are found under every convention, what could not be compared is said, and the module stays as
it was."""

import random
import time

import numpy as np
import pytest

import mixcert

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import stand_ins  # noqa: E402
from mixcert import _torch_steps  # noqa: E402
from mixcert import torch as certificates  # noqa: E402
from unusual_modules import Counts, Module, between, residual  # noqa: E402

EVERY = {**stand_ins.CASES, **stand_ins.PROJECTED}
POINT = np.array([0.4, -0.7, 1.1])


def convert(name, seed=11):
    case = EVERY[name](np.random.default_rng(seed))
    return mixcert.from_torch(
        case.module, case.posterior, project="per-layer" if name in stand_ins.PROJECTED else None
    )


@pytest.mark.parametrize("name", EVERY)
def test_a_forward_that_does_more_is_found(name, monkeypatch):
    """One part in a million more than the layer's output, under every convention."""
    assert not any("compared" in line for line in convert(name).assumptions)
    for kind in (nn.Linear, stand_ins.Random):
        plain = kind.forward

        def more(self, x, plain=plain):
            y = plain(self, x)
            return (y[0] * 1.000001, y[1]) if isinstance(y, tuple) else y * 1.000001

        monkeypatch.setattr(kind, "forward", more)
    with pytest.raises(ValueError, match="without noise the network read from forward differs by up to"):
        convert(name)


def test_a_misread_step_is_found(monkeypatch):
    module = between(lambda m, x: torch.tanh(x))()
    monkeypatch.setitem(_torch_steps.FUNCTIONS, torch.tanh, _torch_steps.FUNCTIONS[torch.sigmoid])
    with pytest.raises(ValueError, match="differs by up to [0-9.]+ at outputs"):
        mixcert.from_torch(module)
    with pytest.raises(ValueError, match="differs by up to [0-9.]+ at outputs"):
        certificates.certify(module, POINT)


class Drawn(stand_ins.Random):
    """Draws with a standard deviation other than the library's formula says."""

    factor = 1.000001

    def sample(self, mean, scale):
        held = dict(self.named_parameters())
        return held[mean] + self.factor * self.formula(held[scale]) * torch.randn_like(held[mean])


KEYS = ("mu_weight", "rho_weight", "mu_bias", "rho_bias")


def own_law(kind, keys=KEYS, formula=stand_ins.log1p_exp):
    return stand_ins.layered(keys, formula, kind=kind)(np.random.default_rng(3)).module


def test_other_deviations_are_found(monkeypatch):
    """One part in a million; the means are the same."""
    with pytest.raises(ValueError, match="one standard deviation above its mean the network .* differs by up to"):
        mixcert.from_torch(own_law(Drawn))
    monkeypatch.setattr(Drawn, "factor", 1.0)
    assert mixcert.from_torch(own_law(Drawn)).assumptions == []


def test_another_formula_of_deviations_is_found():
    """Keys of torchbnn, whose deviations are exponentials, on a layer that takes softplus."""
    keys = ("weight_mu", "weight_log_sigma", "bias_mu", "bias_log_sigma")
    assert mixcert.from_torch(own_law(stand_ins.Random, keys, np.exp)).assumptions == []
    with pytest.raises(ValueError, match="one standard deviation above"):
        mixcert.from_torch(own_law(stand_ins.Random, keys))


class OnOutputs(stand_ins.Random):
    """Local reparametrisation: noise on every output of every input."""

    def forward(self, x):
        held = dict(self.named_parameters())
        weight, scale, bias, bias_scale = (held[key] for key in self.keys)
        function = F.linear if weight.dim() == 2 else F.conv2d
        variance = function(x**2, F.softplus(scale) ** 2, F.softplus(bias_scale) ** 2)
        return function(x, weight, bias) + variance.sqrt() * torch.empty_like(variance).normal_()


def test_noise_on_outputs_is_said_or_refused():
    net = mixcert.from_torch(own_law(OnOutputs))
    assert len(net.assumptions) == 1 and "local reparametrisation" in net.assumptions[0]
    conv = OnOutputs(KEYS, (2, 1, 3, 3), np.random.default_rng(0))
    conv.stride, conv.padding, conv.dilation, conv.groups = 1, 0, 1, 1
    with pytest.raises(ValueError, match=r"noise of shape \(7, 2, 3, 3\) .* one random kernel"):
        mixcert.from_torch(nn.Sequential(conv, nn.Flatten()), input_shape=(1, 5, 5))


class QuietAtEvaluation(stand_ins.Random):
    def sample(self, mean, scale):
        return super().sample(mean, scale) if self.training else dict(self.named_parameters())[mean]


def test_layers_that_draw_nothing_at_evaluation_are_said():
    net = mixcert.from_torch(own_law(QuietAtEvaluation))
    assert len(net.assumptions) == 1 and "draws no weights in evaluation mode" in net.assumptions[0]


class FlaggedBayesLinear(nn.Module):
    """The first versions of torchbnn: every draw is kept in a buffer, and a flag says that it stays."""

    def __init__(self, into, out):
        super().__init__()
        self.freeze = False
        self.weight_mu, self.bias_mu = nn.Parameter(torch.randn(out, into)), nn.Parameter(torch.randn(out))
        self.weight_log_sigma = nn.Parameter(torch.full((out, into), -1.5))
        self.bias_log_sigma = nn.Parameter(torch.full((out,), -1.0))
        self.register_buffer("weight_eps", torch.zeros(out, into).normal_())
        self.register_buffer("bias_eps", torch.zeros(out).normal_())

    def forward(self, x):
        if not self.freeze:
            self.weight_eps.normal_()
            self.bias_eps.normal_()
        weight = self.weight_mu + torch.exp(self.weight_log_sigma) * self.weight_eps
        return nn.functional.linear(x, weight, self.bias_mu + torch.exp(self.bias_log_sigma) * self.bias_eps)


def test_flagged_layers_of_torchbnn():
    torch.manual_seed(0)
    module = nn.Sequential(FlaggedBayesLinear(3, 4), nn.ReLU(), FlaggedBayesLinear(4, 2))
    net = mixcert.from_torch(module)
    assert net.assumptions == []
    np.testing.assert_allclose(net.layers[0].arrays["weight_variance"], np.exp(-3.0), rtol=1e-6)
    module[0].freeze = True
    with pytest.raises(ValueError, match="frozen"):
        mixcert.from_torch(module)


def test_a_frozen_layer_of_torchbnn_is_refused():
    module = stand_ins.CASES["torchbnn"](np.random.default_rng(0)).module
    module[0].weight_eps = torch.zeros(4, 3)
    with pytest.raises(ValueError, match="frozen"):
        mixcert.from_torch(module)


@pytest.mark.parametrize(
    "make, words",
    [
        (residual(lambda m, x, h: torch.add(x, h, out=x)), "step 'add' of forward: argument out"),
        (between(lambda m, x: F.elu(x, -2.0)), "step 'elu' of forward: argument alpha=-2.0"),
        (between(lambda m, x: F.gelu(x, approximate="tanh")), "step 'gelu' of forward: argument approximate"),
        (between(lambda m, x: torch.tanh(x, out=x)), "step 'tanh' of forward: argument out"),
        (between(lambda m, x: F.leaky_relu(x, m.first.bias[0])), "argument negative_slope is computed"),
        (between(lambda m, x: torch.flatten(x)), "step 'flatten' of forward: arguments start_dim=0"),
    ],
)
def test_arguments_are_named(make, words):
    with pytest.raises(ValueError, match=words) as caught:
        mixcert.from_torch(make())
    assert "\n" not in str(caught.value)


def test_what_was_not_compared_is_said(tmp_path):
    keys = ("mu_weight", "rho_weight", "mu_bias", "rho_bias")
    make = stand_ins.layered(keys, stand_ins.log1p_exp, kind=stand_ins.NeverRun)
    net = mixcert.from_torch(make(np.random.default_rng(0)).module)
    assert len(net.assumptions) == 1 and "not compared" in net.assumptions[0]
    assert "this layer wants a device" in net.assumptions[0]
    assert net.assumptions[0] in mixcert.certify(net, POINT).assumptions
    net.save(tmp_path / "net.safetensors")
    assert mixcert.Network.load(tmp_path / "net.safetensors").assumptions == net.assumptions
    with pytest.warns(UserWarning, match="not compared"):
        certificates.certify(make(np.random.default_rng(0)).module, POINT)


def snapshot(module):
    tensors = {key: value.clone() for key, value in module.state_dict().items()}
    flags = [part.training for part in module.modules()]
    held = [sorted(vars(part)) for part in module.modules()]
    grads = [parameter.grad is None for parameter in module.parameters()]
    generators = [torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()]
    return tensors, (flags, held, grads, generators[1:]), generators[0]


def own_modules():
    def noisy(m, x):
        m.kept = m.first(x)
        return m.last(F.dropout(torch.relu(m.kept), 0.2))

    norm = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.3), nn.Linear(4, 2))
    norm[0].eval()
    return [norm, Counts(), Module(noisy, first=nn.Linear(3, 4), last=nn.Linear(4, 2))]


@pytest.mark.parametrize("place", [*EVERY, 0, 1, 2])
def test_the_module_stays_as_it_was(place):
    posterior, project = None, None
    if isinstance(place, int):
        module = given = own_modules()[place]
    else:
        given, posterior = EVERY[place](np.random.default_rng(1))[:2]
        module = given if isinstance(given, nn.Module) else given.model
        project = "per-layer" if place in stand_ins.PROJECTED else None
    before = snapshot(module)
    mixcert.from_torch(given, posterior, project=project)
    after = snapshot(module)
    assert before[1] == after[1] and torch.equal(before[2], after[2])
    assert all(torch.equal(value, after[0][key]) for key, value in before[0].items())


def test_tensors_with_a_history_do_not_disturb():
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    module[0].kept = module[0](torch.ones(3))
    assert mixcert.from_torch(module).assumptions == []


@pytest.mark.parametrize("kind", [torch.float16, torch.float32, torch.float64])
def test_every_precision(kind):
    torch.manual_seed(1)
    module = nn.Sequential(nn.Linear(3, 50), nn.GELU(), nn.Linear(50, 50), nn.ReLU(), nn.Linear(50, 1)).to(kind)
    assert mixcert.from_torch(module).assumptions == []


def deviation(net):
    return mixcert.simulate(net, POINT, samples=2000).std(axis=0).max()


def test_modes_of_dropout():
    """Written with False it never happens, with True always; with self.training it is Monte Carlo dropout,
    whatever mode the module is in."""
    for training in (True, False):
        never = between(lambda m, x: F.dropout(torch.tanh(x), 0.5, False))().train(training)
        assert deviation(mixcert.from_torch(never)) < 1e-12
        follows = between(lambda m, x: F.dropout(torch.tanh(x), 0.5, m.training))().train(training)
        always = between(lambda m, x: F.dropout(torch.tanh(x), 0.5))().train(training)
        for module in (follows, always):
            net = mixcert.from_torch(module)
            assert deviation(net) > 0.01 and net.assumptions == []
            assert deviation(mixcert.from_torch(module, dropout=False)) < 1e-12
        assert mixcert.from_torch(follows, dropout=False).assumptions == []
        assert "random in evaluation mode too" in mixcert.from_torch(always, dropout=False).assumptions[0]


def test_other_steps_in_training_are_said():
    module = Module(
        lambda m, x: m.last(torch.tanh(m.first(x)) if m.training else torch.relu(m.first(x))),
        first=nn.Linear(3, 4),
        last=nn.Linear(4, 2),
    )
    net = mixcert.from_torch(module)
    assert "evaluation mode are read" in net.assumptions[0]
    own = module.eval()(torch.tensor(POINT, dtype=torch.float32)).detach()
    assert np.allclose(mixcert.certify(net, POINT).mixture.mean(), own, atol=1e-5)


def test_a_tied_parameter_is_one_random_variable():
    module = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
    module[2].weight = module[0].weight
    parameters = {}
    for name in ("0", "2"):
        parameters |= {f"{name}.kernel_auto_loc": np.ones((3, 3)), f"{name}.kernel_auto_scale": np.ones((3, 3))}
        parameters |= {f"{name}.bias_auto_loc": np.ones(3), f"{name}.bias_auto_scale": np.ones(3)}
    with pytest.raises(ValueError, match="'0' and '2' share a parameter"):
        mixcert.from_torch(module, parameters)


def test_the_comparison_is_cheap():
    module = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    mixcert.from_torch(module)
    start = time.perf_counter()
    mixcert.from_torch(module)
    print(f"from_torch of [784-128-128-10]: {1e3 * (time.perf_counter() - start):.0f} ms")
