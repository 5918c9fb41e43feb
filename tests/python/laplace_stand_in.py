# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What laplace-torch's regression example makes, without the library: a trained 1-50-1 tanh network and the objects that
hold the generalised Gauss-Newton matrix of its weights, with the attributes that from_torch reads. Used by the tests and,
where no checkout of the library is given, by scripts/compare_laplace."""

import copy
import types

import numpy as np
import torch
from torch import nn

WIDTH, COUNT, NOISE, PRIOR = 50, 150, 0.3, 0.2
POINTS = np.array([[0.5], [2.0], [4.0], [6.0], [7.5]])


def data(seed):
    generator = torch.Generator().manual_seed(seed)
    x = 8.0 * torch.rand(COUNT, 1, generator=generator, dtype=torch.float64)
    return x, torch.sin(x) + NOISE * torch.randn(COUNT, 1, generator=generator, dtype=torch.float64)


def trained(seed, steps=1000):
    torch.manual_seed(seed)
    x, y = data(seed)
    module = nn.Sequential(nn.Linear(1, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1)).double()
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-2)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(module(x), y).backward()
        optimizer.step()
    return module, x


def jacobians(module, x):
    """One row per input: derivatives of the output in all parameters."""
    rows = []
    for point in x:
        module.zero_grad()
        module(point).sum().backward()
        rows.append(torch.cat([parameter.grad.ravel() for parameter in module.parameters()]))
    return torch.stack(rows).detach()


def kronecker_factors(module, x, jacobian):
    """Per weight the factors of outputs and inputs, per bias that of outputs; layers as they are listed."""
    factors, begin, activations = [], 0, x
    for layer in module:
        if not isinstance(layer, nn.Linear):
            activations = layer(activations)
            continue
        size = layer.weight.numel()
        backward = jacobian[:, begin + size : begin + size + layer.out_features]  # that of the bias
        gram = backward.T @ backward
        factors += [[gram, (activations.T @ activations / len(x)).detach()], [gram]]
        activations = layer(activations)
        begin += size + layer.out_features
    return factors


class LastLayer(nn.Module):
    """The module of a last-layer object: the user's, with the hook by which the library reads features."""

    def __init__(self, model, last_layer):
        super().__init__()
        self.model, self.last_layer = model, last_layer
        last_layer.register_forward_hook(self._get_hook())

    def _get_hook(self):
        def hook(_, inputs, __):
            self.features = inputs[0].detach()

        return hook


def laplace(module, x, subset, structure):
    """subset: "all" or "last_layer"; structure: "diag", "kron" or "full"."""
    jacobian, mean = jacobians(module, x), nn.utils.parameters_to_vector(module.parameters()).detach()
    factors = kronecker_factors(module, x, jacobian)
    if subset == "last_layer":
        module = copy.deepcopy(module)  # which gets a hook
        last = module[-1]
        size = last.weight.numel() + last.out_features
        jacobian, mean, factors = jacobian[:, -size:], mean[-size:], factors[-2:]
    hessian = {"diag": (jacobian**2).sum(0), "full": jacobian.T @ jacobian, "kron": object()}[structure]
    posterior = types.SimpleNamespace(
        mean=mean,
        H=hessian,
        prior_precision=torch.tensor([PRIOR]),
        sigma_noise=torch.tensor(NOISE),
        temperature=1.0,
        model=module if subset == "all" else LastLayer(module, module[-1]),
    )
    if structure == "kron":
        posterior.H_facs = types.SimpleNamespace(kfacs=factors)
    return posterior


def glm_deviations(module, posterior, points):
    """(J C J')^(1/2) with C the inverse of the precision; structures diag and full."""
    jacobian = jacobians(module, torch.tensor(points))[:, -len(posterior.mean) :]
    hessian = posterior.H if posterior.H.ndim == 2 else torch.diag(posterior.H)
    precision = hessian / NOISE**2 + PRIOR * torch.eye(len(hessian), dtype=torch.float64)
    return torch.sqrt((jacobian * torch.linalg.solve(precision, jacobian.T).T).sum(1)).numpy()
