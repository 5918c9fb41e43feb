# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Modules with options and operators away from their defaults: each has to be read rightly or refused."""

import types

import torch
import torch.nn.functional as F
from torch import fx, nn


class Module(nn.Module):
    """Layers by name and a forward: step(module, x)."""

    def __init__(self, step, **layers):
        super().__init__()
        self.step = step
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.step(self, x)


def chain(*layers):
    return lambda: nn.Sequential(*layers)


def between(step, features=4):
    """A step between two dense layers."""
    return lambda: Module(
        lambda m, x: m.last(step(m, m.first(x))), first=nn.Linear(3, 4), last=nn.Linear(features, 2)
    )


def residual(step, **more):
    """step(m, x, h) with h = inner(x), all of 3 values."""
    return lambda: Module(lambda m, x: m.last(step(m, x, m.inner(x))), inner=nn.Linear(3, 3), last=nn.Linear(3, 2), **more)


def image(*layers, features):
    """Convolution to 2 channels of 6x6, the layers, flatten, a dense layer."""
    return lambda: nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), *layers, nn.Flatten(), nn.Linear(features, 2))


def image_step(step, features):
    return lambda: Module(lambda m, x: m.last(step(m, m.first(x))), first=nn.Conv2d(1, 2, 3), last=nn.Linear(features, 2))


def convolution(features=None, **options):
    width = features or 2 * 4 * 4
    return lambda: nn.Sequential(nn.Conv2d(2, 2, 3, **options), nn.ReLU(), nn.Flatten(), nn.Linear(width, 2))


def batch_norm(**options):
    def make():
        norm = nn.BatchNorm1d(4, **options)
        if norm.running_mean is not None:
            norm.running_mean.uniform_(-1, 1)
            norm.running_var.uniform_(0.5, 2)
        return nn.Sequential(nn.Linear(3, 4), norm, nn.Tanh(), nn.Linear(4, 2))

    return make


class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


class Renamed(nn.Linear):
    """The same forward."""


class CappedReLU(nn.ReLU):
    def forward(self, x):
        return x.clamp(0, 1)


class AlwaysDropout(nn.Dropout):
    def forward(self, x):
        return F.dropout(x, self.p, True, self.inplace)


class FlippedConvolution(nn.Conv2d):
    def _conv_forward(self, x, weight, bias):
        return super()._conv_forward(x, weight.flip(-1), bias)


class AbsoluteWeight(nn.Linear):
    @property
    def weight(self):
        if "weight" not in self._parameters:
            raise AttributeError("weight")
        return self._parameters["weight"].abs()


class Counts(nn.Module):
    """Writes into a buffer of its own."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return self.layer(x)


@fx.wrap
def relu(x):
    """Not torch's."""
    return torch.clamp(x, 0, 0.5)


def parametrized():
    class Square(nn.Module):
        def forward(self, weight):
            return weight**2

    module = nn.Sequential(nn.Linear(3, 2))
    nn.utils.parametrize.register_parametrization(module[0], "weight", Square())
    return module


def with_hook(place, pre=False, result=None):
    def make():
        module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        holder = module if place is None else module[place]
        if pre:
            holder.register_forward_pre_hook(lambda layer, x: tuple(2 * value for value in x))
        else:
            holder.register_forward_hook(lambda layer, x, y: result(y))
        return module

    return make


def patched_forward():
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    module[1].forward = types.MethodType(lambda self, x: x * x, module[1])
    return module


def tied():
    module = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
    module[2].weight = module[0].weight
    return module


def changed_weight(m, x):
    with torch.no_grad():
        m.inner.weight.mul_(0.5)
    return m.last(m.inner(x))


def in_place_alias(m, x):
    h = m.inner(x)
    kept = h
    h += m.other(h)
    return m.last(h + m.third(kept))


def relu_without_result(m, x):
    h = m.inner(x)
    torch.relu_(h)
    return m.last(h)


def overwritten_skip(m, x):
    h = m.inner(x)
    return m.last(m.other(F.relu(h, inplace=True)) + h)


def through_data(m, x):
    h = m.inner(x)
    h.data.clamp_(0, 0.1)
    return m.last(h)


def training_only(m, x):
    return m.last(m.inner(x)) if not m.training else m.last(torch.relu(m.inner(x)))


def dropout_if_training(m, x):
    x = torch.relu(m.inner(x))
    return m.last(F.dropout(x, 0.5) if m.training else x)


def dense(step, *names):
    """Dense layers of 3 values by name, and one to 2 outputs, `last`."""
    return lambda: Module(step, **{name: nn.Linear(3, 3) for name in names}, last=nn.Linear(3, 2))


def scaled(m, x, gain=None):
    return m.last(m.inner(x) if gain is None else m.inner(x) * gain)


VECTOR, IMAGE, TWO_CHANNELS = (3,), (1, 6, 6), (2, 6, 6)
CASES = {
    # Sums.
    "add": (residual(lambda m, x, h: torch.add(x, h)), VECTOR),
    "add alpha=1": (residual(lambda m, x, h: torch.add(x, h, alpha=1)), VECTOR),
    "add alpha=0.5": (residual(lambda m, x, h: torch.add(x, h, alpha=0.5)), VECTOR),
    "add by keywords": (residual(lambda m, x, h: torch.add(input=x, other=h, alpha=2)), VECTOR),
    "method add": (residual(lambda m, x, h: x.add(h)), VECTOR),
    "method add alpha=3": (residual(lambda m, x, h: x.add(h, alpha=3)), VECTOR),
    "method add_ on the branch": (residual(lambda m, x, h: h.add_(x)), VECTOR),
    "x + x": (residual(lambda m, x, h: h + h), VECTOR),
    "sub": (residual(lambda m, x, h: torch.sub(x, h)), VECTOR),
    "rsub": (residual(lambda m, x, h: 1 - h), VECTOR),
    "x - h": (residual(lambda m, x, h: x - h), VECTOR),
    "x + 1": (residual(lambda m, x, h: h + 1), VECTOR),
    "2 * h": (residual(lambda m, x, h: 2 * h), VECTOR),
    "mul": (residual(lambda m, x, h: torch.mul(h, 0.5)), VECTOR),
    "x + 2 h": (residual(lambda m, x, h: x + 2 * h), VECTOR),
    "x * h": (residual(lambda m, x, h: x * h), VECTOR),
    "h / 2": (residual(lambda m, x, h: h / 2), VECTOR),
    "negation": (residual(lambda m, x, h: -h), VECTOR),
    "x + h + x": (residual(lambda m, x, h: x + h + x), VECTOR),
    "x + (x + h)": (residual(lambda m, x, h: x + torch.tanh(x + h)), VECTOR),
    "+= of the branch": (residual(lambda m, x, h: h.__iadd__(x)), VECTOR),
    "added buffer": (residual(lambda m, x, h: h + m.shift, shift=nn.Parameter(torch.ones(3))), VECTOR),
    "broadcast sum": (lambda: Module(lambda m, x: x + m.one(x), one=nn.Linear(3, 1)), VECTOR),
    "two branches": (dense(lambda m, x: m.last(m.inner(x) + m.other(x)), "inner", "other"), VECTOR),
    "three in a row": (dense(lambda m, x: m.last(x + m.third(torch.relu(m.other(m.inner(x))))), "inner", "other", "third"), VECTOR),
    # Memory.
    "in-place alias": (dense(in_place_alias, "inner", "other", "third"), VECTOR),
    "relu_ without its result": (dense(relu_without_result, "inner"), VECTOR),
    "overwritten skip": (dense(overwritten_skip, "inner", "other"), VECTOR),
    "through .data": (dense(through_data, "inner"), VECTOR),
    "weights changed in forward": (dense(changed_weight, "inner"), VECTOR),
    "inplace relu": (chain(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 2)), VECTOR),
    "inplace relu behind residual": (residual(lambda m, x, h: F.relu(x + h, True)), VECTOR),
    # Activations.
    "softplus beta=2": (chain(nn.Linear(3, 4), nn.Softplus(beta=2), nn.Linear(4, 2)), VECTOR),
    "softplus threshold=1": (between(lambda m, x: F.softplus(x, 1, 1)), VECTOR),
    "softplus threshold=30": (between(lambda m, x: F.softplus(x, threshold=30)), VECTOR),
    "gelu tanh": (between(lambda m, x: F.gelu(x, approximate="tanh")), VECTOR),
    "gelu none": (between(lambda m, x: F.gelu(x, approximate="none")), VECTOR),
    "leaky slope": (between(lambda m, x: F.leaky_relu(x, 0.3)), VECTOR),
    "leaky slope by keyword": (between(lambda m, x: F.leaky_relu(input=x, negative_slope=0.4)), VECTOR),
    "leaky slope above one": (chain(nn.Linear(3, 4), nn.LeakyReLU(1.5), nn.Linear(4, 2)), VECTOR),
    "leaky slope below zero": (chain(nn.Linear(3, 4), nn.LeakyReLU(-0.5), nn.Linear(4, 2)), VECTOR),
    "leaky_relu_ in place": (between(lambda m, x: F.leaky_relu_(x, 0.2)), VECTOR),
    "elu alpha": (between(lambda m, x: F.elu(x, 0.5)), VECTOR),
    "elu alpha=1": (between(lambda m, x: F.elu(x, alpha=1.0, inplace=True)), VECTOR),
    "elu_ with scale": (between(lambda m, x: F.elu_(x, 1.0, 2.0)), VECTOR),
    "relu6": (chain(nn.Linear(3, 4), nn.ReLU6(), nn.Linear(4, 2)), VECTOR),
    "clamp": (between(lambda m, x: x.clamp(min=0)), VECTOR),
    "hardtanh": (between(lambda m, x: F.hardtanh(x, -2, 2)), VECTOR),
    "erf": (between(lambda m, x: torch.erf(x)), VECTOR),
    "special.expit": (between(lambda m, x: torch.special.expit(x)), VECTOR),
    "method sigmoid": (between(lambda m, x: x.sigmoid()), VECTOR),
    "method tanh_": (between(lambda m, x: x.tanh_()), VECTOR),
    "silu": (between(lambda m, x: F.silu(x, inplace=True)), VECTOR),
    "prelu": (chain(nn.Linear(3, 4), nn.PReLU(), nn.Linear(4, 2)), VECTOR),
    "threshold": (between(lambda m, x: F.threshold(x, 0.1, 0.0)), VECTOR),
    "own relu": (between(lambda m, x: relu(x)), VECTOR),
    "maximum": (between(lambda m, x: torch.maximum(x, torch.zeros(1, dtype=torch.float64))), VECTOR),
    "swish by hand": (between(lambda m, x: x * torch.sigmoid(x)), VECTOR),
    "softmax": (chain(nn.Linear(3, 4), nn.Softmax(dim=1)), VECTOR),
    "layer norm": (chain(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2)), VECTOR),
    # Dense layers.
    "no bias": (chain(nn.Linear(3, 4, bias=False), nn.Tanh(), nn.Linear(4, 2, bias=False)), VECTOR),
    "subclass": (chain(Renamed(3, 4), nn.Tanh(), nn.Linear(4, 2)), VECTOR),
    "subclass with another forward": (chain(Doubled(3, 4), nn.Tanh(), nn.Linear(4, 2)), VECTOR),
    "subclass with another weight": (chain(AbsoluteWeight(3, 4), nn.Tanh(), nn.Linear(4, 2)), VECTOR),
    "relu with another forward": (chain(nn.Linear(3, 4), CappedReLU(), nn.Linear(4, 2)), VECTOR),
    "patched forward": (patched_forward, VECTOR),
    "F.linear with a scaled weight": (dense(lambda m, x: m.last(F.linear(x, 2 * m.inner.weight)), "inner"), VECTOR),
    "addmm": (dense(lambda m, x: m.last(torch.addmm(m.inner.bias, x, m.inner.weight.t(), beta=0.5)), "inner"), VECTOR),
    "matmul": (dense(lambda m, x: m.last(x @ m.inner.weight), "inner"), VECTOR),
    "bilinear": (lambda: Module(lambda m, x: m.both(x, x), both=nn.Bilinear(3, 3, 2)), VECTOR),
    "weight norm": (lambda: nn.Sequential(nn.utils.weight_norm(nn.Linear(3, 2))), VECTOR),
    "spectral norm": (lambda: nn.Sequential(nn.utils.spectral_norm(nn.Linear(3, 2))), VECTOR),
    "parametrized": (parametrized, VECTOR),
    "tied layers": (tied, VECTOR),
    "reused layer": (dense(lambda m, x: m.last(m.inner(torch.relu(m.inner(x)))), "inner"), VECTOR),
    "reused activation": (lambda: (lambda a: nn.Sequential(nn.Linear(3, 4), a, nn.Linear(4, 3), a, nn.Linear(3, 2)))(nn.Tanh()), VECTOR),
    "hook": (with_hook(0, result=lambda y: 2 * y), VECTOR),
    "hook on the whole": (with_hook(None, result=lambda y: 2 * y), VECTOR),
    "hook that only looks": (with_hook(1, result=lambda y: None), VECTOR),
    "pre-hook": (with_hook(2, pre=True), VECTOR),
    "buffer that counts": (Counts, VECTOR),
    "unused layer": (dense(lambda m, x: m.last(torch.tanh(m.inner(x))), "inner", "other"), VECTOR),
    "default argument": (dense(scaled, "inner"), VECTOR),
    # Axes.
    "transposed twice": (between(lambda m, x: x.t().t()), VECTOR),
    "permuted features": (between(lambda m, x: x[:, [1, 0, 3, 2]]), VECTOR),
    "flipped": (between(lambda m, x: x.flip(1)), VECTOR),
    "sliced": (between(lambda m, x: x[:, :2], 2), VECTOR),
    "squeeze": (between(lambda m, x: x.unsqueeze(1).squeeze(1)), VECTOR),
    "view of half": (between(lambda m, x: x.view(-1, 2), 2), VECTOR),
    "view with a batch of one": (between(lambda m, x: x.view(1, -1)), VECTOR),
    "view of itself": (between(lambda m, x: x.view(-1, 4)), VECTOR),
    "reshape by shape[0]": (between(lambda m, x: x.contiguous().reshape(x.shape[0], -1)), VECTOR),
    "flatten of a vector": (between(lambda m, x: torch.flatten(x, start_dim=1)), VECTOR),
    "flatten of everything": (between(lambda m, x: torch.flatten(x)), VECTOR),
    "concatenation": (between(lambda m, x: torch.cat([x, x], 1), 8), VECTOR),
    "chunks": (between(lambda m, x: torch.chunk(x, 2, 1)[0], 2), VECTOR),
    "mean over the batch": (between(lambda m, x: x - x.mean(0)), VECTOR),
    "flatten 1..3": (image_step(lambda m, x: torch.flatten(x, 1, 3), 32), IMAGE),
    "flatten from -3": (image_step(lambda m, x: x.flatten(-3), 32), IMAGE),
    "flatten 2..": (image_step(lambda m, x: torch.flatten(x, 2).flatten(1), 32), IMAGE),
    "permuted channels": (image_step(lambda m, x: x.permute(0, 2, 3, 1).flatten(1), 32), IMAGE),
    "transposed image": (image_step(lambda m, x: x.transpose(2, 3).flatten(1), 32), IMAGE),
    "view of an image": (image_step(lambda m, x: x.view(x.size(0), 32), 32), IMAGE),
    "view of half an image": (image_step(lambda m, x: x.view(-1, 16), 16), IMAGE),
    "dense on rows": (lambda: nn.Sequential(nn.Conv2d(1, 1, 3, padding=1), nn.Linear(6, 6)), IMAGE),
    "mean of positions": (image_step(lambda m, x: x.mean((2, 3)), 2), IMAGE),
    # Convolutions and pools.
    "dilation": (convolution(features=8, dilation=2), TWO_CHANNELS),
    "groups without bias": (convolution(groups=2, bias=False), TWO_CHANNELS),
    "stride and padding": (convolution(features=18, stride=2, padding=1), TWO_CHANNELS),
    "same padding": (convolution(features=72, padding="same"), TWO_CHANNELS),
    "circular padding": (convolution(features=72, padding=1, padding_mode="circular"), TWO_CHANNELS),
    "reflecting padding": (convolution(features=72, padding=1, padding_mode="reflect"), TWO_CHANNELS),
    "another _conv_forward": (lambda: nn.Sequential(FlippedConvolution(1, 2, 3), nn.Flatten(), nn.Linear(32, 2)), IMAGE),
    "transposed convolution": (lambda: nn.Sequential(nn.ConvTranspose2d(1, 1, 2), nn.Flatten(), nn.Linear(49, 2)), IMAGE),
    "avg_pool without padding counted": (image(nn.AvgPool2d(2, padding=1, count_include_pad=False), features=32), IMAGE),
    "avg_pool with padding counted": (image(nn.AvgPool2d(2, padding=1), features=32), IMAGE),
    "avg_pool divisor": (image(nn.AvgPool2d(2, divisor_override=3), features=18), IMAGE),
    "F.avg_pool2d by position": (image_step(lambda m, x: F.avg_pool2d(x, 2, 2, 0, False, True, 5).flatten(1), 8), IMAGE),
    "F.avg_pool2d count_include_pad": (image_step(lambda m, x: F.avg_pool2d(x, 2, 2, 1, count_include_pad=False).flatten(1), 18), IMAGE),
    "F.max_pool2d": (image_step(lambda m, x: F.max_pool2d(x, 2, stride=1).flatten(1), 18), IMAGE),
    "F.max_pool2d dilation": (image_step(lambda m, x: F.max_pool2d(x, 2, 1, 0, 2).flatten(1), 8), IMAGE),
    "max_pool ceil": (image(nn.MaxPool2d(4, ceil_mode=True), features=8), IMAGE),
    "max_pool padding": (image(nn.MaxPool2d(3, 2, 1), features=18), IMAGE),
    "max_pool dilation": (image(nn.MaxPool2d(2, 1, dilation=2), features=32), IMAGE),
    "adaptive pool": (image_step(lambda m, x: F.adaptive_avg_pool2d(x, (2, None)).flatten(1), 16), IMAGE),
    "adaptive pool that overlaps": (image(nn.AdaptiveAvgPool2d(4), features=32), IMAGE),
    "adaptive max pool": (image(nn.AdaptiveMaxPool2d(2), features=8), IMAGE),
    "lp pool": (image(nn.LPPool2d(2, 2), features=18), IMAGE),
    # Batch norm.
    "batch norm": (batch_norm(), VECTOR),
    "batch norm eps": (batch_norm(eps=0.3, momentum=None), VECTOR),
    "batch norm affine=False": (batch_norm(affine=False), VECTOR),
    "batch norm of the batch": (batch_norm(track_running_stats=False), VECTOR),
    "F.batch_norm": (between(lambda m, x: F.batch_norm(x, torch.zeros(4).double(), torch.ones(4).double())), VECTOR),
    # Dropout.
    "dropout": (chain(nn.Linear(3, 4), nn.Tanh(), nn.Dropout(0.3, inplace=True), nn.Linear(4, 2)), VECTOR),
    "F.dropout default": (between(lambda m, x: F.dropout(torch.tanh(x), 0.3)), VECTOR),
    "F.dropout training=False": (between(lambda m, x: F.dropout(torch.tanh(x), 0.3, False)), VECTOR),
    "F.dropout follows the mode": (between(lambda m, x: F.dropout(torch.tanh(x), p=0.3, training=m.training)), VECTOR),
    "torch.dropout": (between(lambda m, x: torch.dropout(torch.tanh(x), 0.3, True)), VECTOR),
    "dropout only in evaluation": (between(lambda m, x: F.dropout(x, 0.3, not m.training)), VECTOR),
    "dropout under if": (dense(dropout_if_training, "inner"), VECTOR),
    "always dropout": (chain(nn.Linear(3, 4), AlwaysDropout(0.4), nn.Linear(4, 2)), VECTOR),
    "alpha dropout": (chain(nn.Linear(3, 4), nn.AlphaDropout(0.3), nn.Linear(4, 2)), VECTOR),
    "dropout of all": (chain(nn.Linear(3, 4), nn.Dropout(1.0), nn.Linear(4, 2)), VECTOR),
    "dropout of nothing": (chain(nn.Linear(3, 4), nn.Dropout(0.0), nn.Linear(4, 2)), VECTOR),
    "feature dropout": (image(nn.Dropout2d(0.3), features=72), IMAGE),
    "added noise": (between(lambda m, x: x + 0.1 * torch.randn_like(x)), VECTOR),
    # Control flow and outputs.
    "other steps in training": (dense(training_only, "inner"), VECTOR),
    "a loop over layers": (dense(lambda m, x: m.last([x := torch.tanh(layer(x)) for layer in (m.inner, m.other)][-1]), "inner", "other"), VECTOR),
    "branch on values": (dense(lambda m, x: m.last(m.inner(x)) if x.sum() > 0 else m.last(x), "inner"), VECTOR),
    "where": (between(lambda m, x: torch.where(x > 0, x, 0.1 * x)), VECTOR),
    "two outputs": (dense(lambda m, x: (m.last(x), m.inner(x)), "inner"), VECTOR),
    "dictionary": (dense(lambda m, x: {"y": m.last(x)}), VECTOR),
    "half the output": (dense(lambda m, x: m.last(m.inner(x))[:, :1], "inner"), VECTOR),
    "constant": (dense(lambda m, x: m.last(torch.ones(1, 3, dtype=torch.float64))), VECTOR),
    "detached": (between(lambda m, x: x.detach()), VECTOR),
    "to single precision": (between(lambda m, x: x.float().double()), VECTOR),
    "input itself scaled": (dense(lambda m, x: m.last(m.inner(x / 255)), "inner"), VECTOR),
}
