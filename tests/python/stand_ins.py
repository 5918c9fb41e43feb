# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Posteriors with the exact key layout of each library, and the truth that its documentation gives: none of
the libraries has to be installed. The formulas here are written from their sources, not from mixcert's."""

import types
from typing import Any, Callable, List, NamedTuple

import numpy as np
import torch
from torch import nn

SIZES = [(4, 3), (2, 4)]  # [out, in]


class Truth(NamedTuple):
    """All parameters of a layer, weights row by row and then the bias: mean and covariance."""

    mean: np.ndarray
    covariance: np.ndarray
    size: Any


class Case(NamedTuple):
    module: Any
    posterior: Any
    truth: List[Truth]
    whole: Any = None  # covariance of all parameters, where layers are correlated


def independent(weight, deviation, bias, bias_deviation):
    mean = np.concatenate([np.ravel(weight), np.ravel(bias)])
    spread = np.concatenate([np.ravel(deviation), np.ravel(bias_deviation)])
    return Truth(mean, np.diag(spread**2), np.shape(weight))


def log1p_exp(rho):
    return np.log1p(np.exp(rho))


class Random(nn.Module):
    """A layer whose state dict has the given keys: means first, then what makes standard deviations. `noise`
    draws as the library does, from the layer, the key of a mean and the mean."""

    def __init__(self, keys, size, rng, extra=(), noise=None, formula=torch.nn.functional.softplus):
        super().__init__()
        self.keys, self.noise, self.formula, self.divergence = keys, noise, formula, False
        shapes = [size, size, (size[0],), (size[0],)]
        for key, shape, centre in zip(keys, shapes, (0.0, -1.5, 0.0, -1.5)):
            self.put(key, centre + 0.5 * rng.normal(size=shape))
        for key in extra:
            self.put(key, rng.normal(size=size if "weight" in key else size[:1]))

    def put(self, key, values):
        *path, last = key.split(".")
        holder = self
        for name in path:
            if not hasattr(holder, name):
                holder.add_module(name, nn.Module())
            holder = getattr(holder, name)
        holder.register_parameter(last, nn.Parameter(torch.tensor(values)))

    def sample(self, mean, scale):
        held = dict(self.named_parameters())
        noise = torch.randn_like(held[mean]) if self.noise is None else self.noise(self, mean, held[mean])
        return held[mean] + self.formula(held[scale]) * noise

    def forward(self, x):
        weight, bias = self.sample(*self.keys[:2]), self.sample(*self.keys[2:])
        if weight.dim() == 2:
            y = nn.functional.linear(x, weight, bias)
        else:
            y = nn.functional.conv2d(x, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        deviation = self.formula(dict(self.named_parameters())[self.keys[1]])
        return (y, torch.log(deviation).sum()) if self.divergence else y


class NeverRun(Random):
    """A layer of a library that asks for more than an input."""

    def forward(self, x):
        raise RuntimeError("this layer wants a device")


def kept_draws(layer, mean, like):
    """bayesian-torch and blitz draw into a tensor that they keep."""
    eps = getattr(layer, mean.replace("mu", "eps"), None)
    return torch.empty_like(like).normal_() if eps is None else eps.data.normal_()


def fresh_draws(layer, mean, like):
    """PyTorch-BayesianCNN and torch-uncertainty."""
    return torch.empty(like.size(), dtype=like.dtype).normal_(0, 1)


def frozen_draws(layer, mean, like):
    """torchbnn draws anew unless the layer is frozen, which keeps the draw."""
    eps = getattr(layer, mean.replace("mu", "eps"), None)
    return torch.randn_like(like) if eps is None else eps


class ReturnsDivergence(nn.Module):
    """bayesian-torch: every layer returns its output and a divergence."""

    def __init__(self, first, second):
        super().__init__()
        self.hidden, self.final = first, second
        first.divergence = second.divergence = True

    def forward(self, x):
        total = 0
        x, divergence = self.hidden(x)
        total += divergence
        x = torch.relu(x)
        x, divergence = self.final(x)
        return x, total + divergence


def layered(keys, formula, extra=(), wrap=None, noise=None, kind=Random) -> Callable[[Any], Case]:
    in_torch = torch.exp if formula is np.exp else torch.nn.functional.softplus

    def make(rng):
        layers = [kind(keys, size, rng, extra, noise, in_torch) for size in SIZES]
        module = (wrap or (lambda a, b: nn.Sequential(a, nn.ReLU(), b)))(*layers)
        truth = []
        for layer in layers:
            state = layer.state_dict()
            weight, scale, bias, bias_scale = (state[key].numpy() for key in keys)
            truth.append(independent(weight, formula(scale), bias, formula(bias_scale)))
        return Case(module, None, truth)

    return make


def network(rng):
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.tensor(rng.normal(size=tuple(parameter.shape)) * 0.7))
    return module


def vectors(module, values) -> List[Truth]:
    """`values` are standard deviations, one per parameter in the order of module.parameters()."""
    truth, begin = [], 0
    for layer in (module[0], module[2]):
        weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
        middle, end = begin + weight.size, begin + weight.size + bias.size
        truth.append(independent(weight, values[begin:middle], bias, values[middle:end]))
        begin = end
    return truth


def flat_mean(module):
    return torch.cat([p.detach().ravel() for p in module.parameters()])


def pyro_normal(rng):
    module = network(rng)
    guide, truth = nn.Module(), []
    guide.locs, guide.scales = nn.Module(), nn.Module()
    for name in ("0", "2"):
        weight, bias = module[int(name)].weight.detach(), module[int(name)].bias.detach()
        raw = [torch.tensor(rng.normal(size=tuple(t.shape)) - 1.0) for t in (weight, bias)]
        holders = [nn.Module(), nn.Module()]
        for holder, values, ending in ((holders[0], (weight, bias), ""), (holders[1], raw, "_unconstrained")):
            for kind, value in zip(("weight", "bias"), values):
                holder.register_parameter(kind + ending, nn.Parameter(value.clone()))
        guide.locs.add_module(name, holders[0])
        guide.scales.add_module(name, holders[1])
        truth.append(independent(weight, log1p_exp(raw[0].numpy()), bias, log1p_exp(raw[1].numpy())))
    return Case(module, guide, truth)


def pyro_diagonal(rng):
    module = network(rng)
    guide = nn.Module()
    raw = torch.tensor(rng.normal(size=26) - 1.0)
    guide.loc, guide.scale_unconstrained = nn.Parameter(flat_mean(module)), nn.Parameter(raw)
    return Case(module, guide, vectors(module, log1p_exp(raw.numpy())))


def numpyro(rng):
    module = network(rng)
    parameters, deviations = {}, []
    for name in ("0", "2"):
        layer = module[int(name)]
        for kind, value in (("kernel", layer.weight.detach().numpy().T), ("bias", layer.bias.detach().numpy())):
            scale = 0.3 * rng.random(size=value.shape) + 0.01
            parameters[f"{name}.{kind}_auto_loc"] = value
            parameters[f"{name}.{kind}_auto_scale"] = scale
            deviations.append(scale.T.ravel())
    return Case(module, parameters, vectors(module, np.concatenate(deviations)))


class Optimizer(torch.optim.Optimizer):
    def __init__(self, parameters, **defaults):
        super().__init__(parameters, defaults)


def ivon(rng):
    module = network(rng)
    hessian = rng.random(size=26) + 0.1
    optimizer = Optimizer(module.parameters(), ess=50.0, weight_decay=0.3, hess=torch.tensor(hessian))
    return Case(module, optimizer, vectors(module, 1.0 / np.sqrt(50.0 * (hessian + 0.3))))


def vogn(rng):
    module = network(rng)
    precision = 30.0 * rng.random(size=26) + 5.0
    optimizer = Optimizer(module.parameters())
    optimizer.state["mu"] = flat_mean(module)
    optimizer.state["Precision"] = torch.tensor(precision)
    return Case(module, optimizer, vectors(module, 1.0 / np.sqrt(precision)))


def laplace(rng, hessian, **more):
    module = network(rng)
    return types.SimpleNamespace(
        model=module,
        mean=flat_mean(module),
        H=hessian,
        prior_precision=torch.tensor([2.0]),
        sigma_noise=torch.tensor([0.5]),
        temperature=0.8,
        **more,
    )


LAPLACE_FACTOR = 1.0 / (0.5**2 * 0.8)  # precision = H / (noise^2 T) + prior


def laplace_diagonal(rng):
    hessian = 20.0 * rng.random(size=26)
    posterior = laplace(rng, torch.tensor(hessian))
    return Case(posterior, None, vectors(posterior.model, 1.0 / np.sqrt(LAPLACE_FACTOR * hessian + 2.0)))


def definite(rng, size):
    root = rng.normal(size=(size, size))
    return root @ root.T + 0.1 * np.eye(size)


def laplace_kronecker(rng):
    factors, truth = [], []
    for out, into in SIZES:
        factors += [[definite(rng, out), definite(rng, into)], [definite(rng, out)]]
    tensors = [[torch.tensor(factor) for factor in pair] for pair in factors]
    posterior = laplace(rng, object(), H_facs=types.SimpleNamespace(kfacs=tensors))
    for k, layer in enumerate((posterior.model[0], posterior.model[2])):
        weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
        blocks = [np.kron(*factors[2 * k]), factors[2 * k + 1][0]]
        covariance = np.zeros((weight.size + bias.size,) * 2)
        begin = 0
        for block in blocks:
            end = begin + len(block)
            inverse = np.linalg.inv(LAPLACE_FACTOR * block + 2.0 * np.eye(len(block)))
            covariance[begin:end, begin:end] = inverse
            begin = end
        truth.append(Truth(np.concatenate([weight.ravel(), bias]), covariance, weight.shape))
    return Case(posterior, None, truth)


class FeatureExtractor(nn.Module):
    """The module of a last-layer Laplace object: the user's, with a hook that keeps the last layer's input."""

    def __init__(self, model, last_layer):
        super().__init__()
        self.model, self.last_layer = model, last_layer
        self._features = {}
        last_layer.register_forward_hook(self._get_hook("last"))

    def _get_hook(self, name):
        def hook(_, inputs, __):
            self._features[name] = inputs[0].detach()

        return hook

    def forward(self, x):
        return self.model(x)


def last_layer_laplace(rng, kind):
    """diag, kron or full: features are not random, so the output is Gaussian."""
    whole = laplace(rng, None)
    last = whole.model[2]
    out, into = last.weight.shape
    size = out * into + out
    if kind == "kron":
        factors = [[definite(rng, out), definite(rng, into)], [definite(rng, out)]]
        blocks = [np.kron(*factors[0]), factors[1][0]]
        precision = np.zeros((size, size))
        precision[: out * into, : out * into], precision[out * into :, out * into :] = blocks
        tensors = [[torch.tensor(factor) for factor in pair] for pair in factors]
        whole.H_facs = types.SimpleNamespace(kfacs=tensors)
        whole.H = object()
    else:
        diagonal = 20.0 * rng.random(size=size)
        precision = np.diag(diagonal) if kind == "diag" else definite(rng, size)
        whole.H = torch.tensor(diagonal if kind == "diag" else precision)
    whole.mean = torch.cat([last.weight.detach().ravel(), last.bias.detach()])
    truth = vectors(whole.model, np.zeros(26))
    covariance = np.linalg.inv(LAPLACE_FACTOR * precision + 2.0 * np.eye(size))
    whole.model = FeatureExtractor(whole.model, last)
    return Case(whole, None, [truth[0], truth[1]._replace(covariance=covariance)])


def laplace_full(rng):
    hessian = definite(rng, 26)
    posterior = laplace(rng, torch.tensor(hessian))
    covariance = np.linalg.inv(LAPLACE_FACTOR * hessian + 2.0 * np.eye(26))
    truth = vectors(posterior.model, np.ones(26))
    return Case(
        posterior,
        None,
        [truth[0]._replace(covariance=covariance[:16, :16]), truth[1]._replace(covariance=covariance[16:, 16:])],
        covariance,
    )


def swag(rng, rank=0):
    """SWAG replaces the parameters of every layer of `base` by buffers; with a rank, all deviations from the mean
    are of one and the same few models."""
    posterior = nn.Module()
    posterior.base = network(rng)
    truth, variances, deviations = [], [], []
    for layer in (posterior.base[0], posterior.base[2]):
        means, first = [], len(variances)
        for kind in ("weight", "bias"):
            mean = layer._parameters.pop(kind).detach()
            variance = torch.tensor(0.1 * rng.random(size=tuple(mean.shape)) + 0.01)
            layer.register_buffer(f"{kind}_mean", mean)
            layer.register_buffer(f"{kind}_sq_mean", mean**2 + variance)
            if rank:
                rows = torch.tensor(0.2 * rng.normal(size=(rank, mean.numel())))
                layer.register_buffer(f"{kind}_cov_mat_sqrt", rows)
                deviations.append(rows.numpy())
            means.append(mean.numpy().ravel())
            variances.append(variance.numpy().ravel())
        size = (len(means[1]), len(means[0]) // len(means[1]))
        covariance = np.diag(np.concatenate(variances[first:]))
        if rank:
            rows = np.hstack(deviations[first:])
            covariance = 0.5 * (covariance + rows.T @ rows / (rank - 1))
        truth.append(Truth(np.concatenate(means), covariance, size))
    posterior.register_buffer("n_models", torch.tensor([7]))
    if not rank:
        return Case(posterior, None, truth)
    rows = np.hstack(deviations)
    return Case(posterior, None, truth, 0.5 * (np.diag(np.concatenate(variances)) + rows.T @ rows / (rank - 1)))


SAMPLER = ("weight_sampler.mu", "weight_sampler.rho", "bias_sampler.mu", "bias_sampler.rho")
CASES = {
    "bayesian-torch": layered(
        ("mu_weight", "rho_weight", "mu_bias", "rho_bias"),
        log1p_exp,
        ("eps_weight", "prior_weight_mu", "prior_weight_sigma", "eps_bias"),
        ReturnsDivergence,
        kept_draws,
    ),
    "blitz": layered(SAMPLER, log1p_exp, ("weight_mu", "weight_rho", "bias_mu", "bias_rho"), noise=kept_draws),
    "torchbnn": layered(
        ("weight_mu", "weight_log_sigma", "bias_mu", "bias_log_sigma"), np.exp, noise=frozen_draws
    ),
    "bayesian-cnn": layered(("W_mu", "W_rho", "bias_mu", "bias_rho"), log1p_exp, noise=fresh_draws),
    "torch-uncertainty": layered(
        ("weight_mu", "weight_sigma", "bias_mu", "bias_sigma"),
        log1p_exp,
        ("weight_sampler.mu",),
        noise=fresh_draws,
    ),
    "pyro": pyro_normal,
    "pyro-diagonal": pyro_diagonal,
    "numpyro": numpyro,
    "ivon": ivon,
    "vogn": vogn,
    "laplace-diag": laplace_diagonal,
    "laplace-kron": laplace_kronecker,
    "swag-diag": swag,
}
PROJECTED = {"laplace-full": laplace_full, "swag-low-rank": lambda rng: swag(rng, rank=4)}


def forward(layers, drawn, x):
    """Outputs of networks whose parameters are rows of `drawn`, layer by layer: relu between the layers."""
    values = np.broadcast_to(x, (len(drawn[0]), len(x)))
    for k, (layer, own) in enumerate(zip(layers, drawn)):
        out, into = layer.size
        weights = own[:, : out * into].reshape(len(own), out, into)
        if k > 0:
            values = np.maximum(values, 0.0)
        values = np.einsum("noi,ni->no", weights, values) + own[:, out * into :]
    return values


def sample(truth: List[Truth], x, count, rng):
    """Networks whose weights are drawn from the truth, layers independent of each other."""
    drawn = [rng.multivariate_normal(t.mean, t.covariance, size=count, method="eigh") for t in truth]
    return forward(truth, drawn, x)


def sample_whole(case: Case, x, count, rng):
    """The same with all layers together."""
    mean = np.concatenate([layer.mean for layer in case.truth])
    drawn = rng.multivariate_normal(mean, case.whole, size=count, method="eigh")
    return forward(case.truth, np.split(drawn, [len(case.truth[0].mean)], axis=1), x)


def linearised(case: Case, x):
    """Covariance J C J' of the network linearised at its means, J by difference quotients."""
    mean = np.concatenate([layer.mean for layer in case.truth])
    steps = 1e-6 * np.eye(len(mean))
    cut = [len(case.truth[0].mean)]
    ends = [forward(case.truth, np.split(mean + s * steps, cut, axis=1), x) for s in (1.0, -1.0)]
    jacobian = (ends[0] - ends[1]).T / 2e-6
    center = forward(case.truth, np.split(mean[None, :], cut, axis=1), x)[0]
    return center, jacobian @ case.whole @ jacobian.T
