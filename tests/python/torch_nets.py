# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Networks as people write them in torch, small: those of tutorials and of libraries of Bayesian layers, whose classes
are stand-ins that draw as the libraries do. And what both sides of a comparison are."""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import mixcert


class BayesianConv(nn.Module):
    """bayesian-torch: a random kernel, and (output, divergence)."""

    def __init__(self, into, out, kernel, stride=1, padding=0, axes=2, function=F.conv2d):
        super().__init__()
        size = (kernel,) * axes
        self.function = function
        self.mu_kernel = nn.Parameter(torch.randn(out, into, *size) / (into * kernel**axes) ** 0.5)
        self.rho_kernel = nn.Parameter(torch.full((out, into, *size), -2.5))
        self.mu_bias, self.rho_bias = nn.Parameter(0.1 * torch.randn(out)), nn.Parameter(torch.full((out,), -3.0))
        self.stride, self.padding, self.dilation, self.groups = stride, padding, 1, 1

    def drawn(self):
        kernel = self.mu_kernel + F.softplus(self.rho_kernel) * torch.randn_like(self.mu_kernel)
        return kernel, self.mu_bias + F.softplus(self.rho_bias) * torch.randn_like(self.mu_bias)

    def forward(self, x, return_kl=True):
        y = self.function(x, *self.drawn(), self.stride, self.padding)
        return (y, self.rho_kernel.sum()) if return_kl else y


class BayesianTranspose(BayesianConv):
    """The kernel is [in, out, height, width]; the bias belongs to the outputs."""

    def __init__(self, into, out, kernel):
        super().__init__(out, into, kernel, function=F.conv_transpose2d)
        self.mu_bias, self.rho_bias = nn.Parameter(torch.randn(out)), nn.Parameter(torch.full((out,), -3.0))


class BayesianLinear(nn.Module):
    def __init__(self, into, out):
        super().__init__()
        self.mu_weight = nn.Parameter(torch.randn(out, into) / into**0.5)
        self.rho_weight = nn.Parameter(torch.full((out, into), -2.5))
        self.mu_bias, self.rho_bias = nn.Parameter(torch.randn(out)), nn.Parameter(torch.full((out,), -3.0))

    def forward(self, x, return_kl=True):
        weight = self.mu_weight + F.softplus(self.rho_weight) * torch.randn_like(self.mu_weight)
        y = F.linear(x, weight, self.mu_bias + F.softplus(self.rho_bias) * torch.randn_like(self.mu_bias))
        return (y, self.rho_weight.sum()) if return_kl else y


class Sampler(nn.Module):
    """torch-uncertainty: the parameters a second time."""

    def __init__(self, mu, rho):
        super().__init__()
        self.mu, self.rho = mu, rho

    def sample(self):
        noise = torch.normal(mean=0, std=1, size=self.mu.shape)
        return self.mu + torch.log1p(torch.exp(self.rho)) * noise


class Prior(nn.Module):
    def __init__(self):
        super().__init__()
        for name, numbers in (("pi", [0.9, 0.1]), ("mus", [0.0, 0.0]), ("sigmas", [0.1, 0.4])):
            self.register_buffer(name, torch.tensor(numbers))


class BayesLinear(nn.Module):
    """torch-uncertainty's names."""

    def __init__(self, *size, frozen=False):
        super().__init__()
        self.weight_mu, self.weight_sigma = nn.Parameter(torch.randn(*size)), nn.Parameter(torch.full(size, -2.0))
        self.bias_mu, self.bias_sigma = nn.Parameter(torch.randn(size[0])), nn.Parameter(torch.full(size[:1], -2.0))
        self.weight_sampler = Sampler(self.weight_mu, self.weight_sigma)
        self.bias_sampler = Sampler(self.bias_mu, self.bias_sigma)
        self.weight_prior_dist, self.bias_prior_dist = Prior(), Prior()
        self.frozen = frozen

    def forward(self, x):
        return F.linear(x, self.weight_sampler.sample(), self.bias_sampler.sample())


class BayesConv2d(BayesLinear):
    stride, padding, dilation, groups = (1, 1), (0, 0), (1, 1), 1

    def forward(self, x):
        return F.conv2d(x, self.weight_sampler.sample(), self.bias_sampler.sample(), self.stride, self.padding)


class SCNN(nn.Module):
    """bayesian-torch's simple network, whose own sizes are 28, 32, 64, 128, 10; the second Dropout2d acts on a vector."""

    def __init__(self, size=8, first=2, second=3, hidden=6, classes=3):
        super().__init__()
        self.conv1, self.conv2 = BayesianConv(1, first, 3), BayesianConv(first, second, 3)
        self.dropout1, self.dropout2 = nn.Dropout2d(0.25), nn.Dropout2d(0.5)
        self.fc1 = BayesianLinear(second * (size // 2 - 2) ** 2, hidden)
        self.fc2 = BayesianLinear(hidden, classes)

    def forward(self, x):
        total = 0
        x, divergence = self.conv1(x)
        total += divergence
        x, divergence = self.conv2(F.relu(x))
        total += divergence
        x = self.dropout1(F.max_pool2d(F.relu(x), 2))
        x, divergence = self.fc1(torch.flatten(x, 1))
        total += divergence
        x, divergence = self.fc2(self.dropout2(F.relu(x)))
        return F.log_softmax(x, dim=1), total + divergence


class Mnist(nn.Module):
    """torch's example, whose own sizes are 28, 32, 64, 128, 10."""

    def __init__(self, size=8, first=3, second=4, hidden=8, classes=4):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, first, 3, 1), nn.Conv2d(first, second, 3, 1)
        self.dropout1, self.dropout2 = nn.Dropout(0.25), nn.Dropout(0.5)
        self.fc1, self.fc2 = nn.Linear(second * (size // 2 - 2) ** 2, hidden), nn.Linear(hidden, classes)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = self.dropout1(F.max_pool2d(x, 2))
        x = self.dropout2(F.relu(self.fc1(torch.flatten(x, 1))))
        return F.log_softmax(self.fc2(x), dim=1)


class Block(nn.Module):
    """torchvision's BasicBlock; `pads`: the shortcut of ResNet-20, every second pixel and zeros around the channels."""

    def __init__(self, into, out, stride, make, pads=False):
        super().__init__()
        self.conv1, self.conv2 = make(into, out, 3, stride, 1), make(out, out, 3, 1, 1)
        self.bn1, self.bn2 = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.pads = (out - into) // 2 if pads else None
        plain = stride == 1 and into == out
        self.downsample = None if plain or pads else nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def shortcut(self, x):
        if self.pads:
            return F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.pads, self.pads), "constant", 0)
        return x if self.downsample is None else self.downsample(x)

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(first(self.conv1(x))))
        out = self.bn2(first(self.conv2(out)))
        out += self.shortcut(identity)
        return self.relu(out)


class ResNet(nn.Module):
    """Blocks of each width; those behind the first width halve the image. ResNet-20 has 3 channels, widths 16, 32 and
    64 of three blocks each, and `pads`."""

    def __init__(
        self, make=lambda *sizes: nn.Conv2d(*sizes, bias=False), pads=False, channels=1, widths=((2, 1), (4, 2)), last=nn.Linear, classes=3
    ):
        super().__init__()
        before = widths[0][0]
        self.conv1, self.bn1 = make(channels, before, 3, 1, 1), nn.BatchNorm2d(before)
        blocks = []
        for place, (width, count) in enumerate(widths):
            for number in range(count):
                halves = place > 0 and number == 0
                blocks.append(Block(before, width, 2 if halves else 1, make, pads and halves))
                before = width
        self.layers = nn.Sequential(*blocks)
        self.linear = last(before, classes)

    def forward(self, x):
        out = self.layers(F.relu(self.bn1(first(self.conv1(x)))))
        out = F.avg_pool2d(out, out.size()[3])
        return first(self.linear(out.view(out.size(0), -1)))


def first(value):
    """Of a layer that returns a divergence."""
    return value[0] if isinstance(value, tuple) else value


class DenseBlock(nn.Module):
    """Every layer sees all before it."""

    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([nn.BatchNorm2d(2), nn.BatchNorm2d(4)])
        self.convs = nn.ModuleList([nn.Conv2d(2, 2, 3, padding=1), nn.Conv2d(4, 2, 3, padding=1)])
        self.drop, self.last = nn.Dropout2d(0.2), nn.Linear(6, 2)

    def forward(self, x):
        values = [x]
        for norm, conv in zip(self.norms, self.convs):
            values.append(self.drop(conv(F.relu(norm(torch.cat(values, 1))))))
        return self.last(torch.cat(values, 1).mean([2, 3]))


class TwoHeads(nn.Module):
    """A mean and a logarithm of a variance, as a tuple or concatenated."""

    def __init__(self, joined=False):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(0.2))
        self.mean, self.log_variance = nn.Linear(8, 1), nn.Linear(8, 1)
        self.joined = joined

    def forward(self, x):
        h = self.body(x)
        heads = self.mean(h), F.softplus(self.log_variance(h))
        return torch.cat(heads, 1) if self.joined else heads


def prepared(module, shape):
    """In double precision, with running statistics that are not their defaults."""
    module = module.double()
    for part in module.modules():
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d)):
            part.running_mean.uniform_(-0.5, 0.5)
            part.running_var.uniform_(0.5, 2)
    return module.eval(), torch.randn(*shape, dtype=torch.float64)


def outputs(given):
    """One row per input: heads one after the other, divergences left out."""
    heads = list(given.values()) if isinstance(given, dict) else given if isinstance(given, (tuple, list)) else [given]
    count = len(heads[0])
    rows = [head.reshape(count, -1) for head in heads if head.dim() and len(head) == count]
    return torch.cat(rows, 1).detach().numpy()


def fixed(module, x):
    """The forward of evaluation mode at one input."""
    with torch.no_grad():
        return outputs(module(x[None]))[0]


def drawn(module, x, samples, random_weights=False):
    """Outputs with dropout as in training, and statistics of evaluation. Random weights are drawn once per call."""
    own = copy.deepcopy(module).train()
    for part in own.modules():
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d)):
            part.eval()
    with torch.no_grad():
        if random_weights:
            return np.concatenate([outputs(own(x[None])) for _ in range(samples)])
        return outputs(own(x.expand(samples, *x.shape)))


def gaps(theirs, ours):
    """Of means and of deviations, in standard errors; that of a deviation s is s ((kurtosis - 1) / 4 n)^(1/2)."""
    assert ours.shape[1] == theirs.shape[1]
    size = 1 / len(theirs) + 1 / len(ours)
    spread = theirs.std(axis=0)
    assert spread.min() > 1e-6
    kurtosis = ((theirs - theirs.mean(axis=0)) ** 4).mean(axis=0) / spread**4
    of_means = np.abs(theirs.mean(axis=0) - ours.mean(axis=0)) / (spread * np.sqrt(size))
    of_deviations = np.abs(spread - ours.std(axis=0)) / (spread * np.sqrt((kurtosis - 1) / 4 * size))
    return np.concatenate([of_means, of_deviations])


def assert_same_law(net, module, x, samples=20000, random_weights=False, behind=lambda outputs: outputs):
    """Within 3 standard errors; `behind`: what the module does to the network's outputs. One sound comparison in 370 is not, and there are a hundred: who fails has a second
    try with new draws, and a wrong law fails both."""
    found = []
    for seed in (3, 4):
        theirs = drawn(module, x, samples, random_weights)
        ours = behind(mixcert.simulate(net, x.numpy().ravel(), samples=samples, seed=seed))
        found.append(gaps(theirs, ours).max())
        print(f"largest gap: {found[-1]:.2f} standard errors")
        if found[-1] <= 3:
            return
    raise AssertionError(f"laws differ by {found} standard errors")
