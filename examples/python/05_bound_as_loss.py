# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Use the certified bound as a term of the loss: a network that is fitted, and easy to certify."""

import torch
from torch import nn
from torch.nn.functional import softplus

import mixcert
import mixcert.torch

x = torch.linspace(-1, 1, 20)[:, None].double()
y = torch.sin(4 * x)


def train(weight_of_bound):
    torch.manual_seed(0)
    mean = [torch.randn(24, 1), torch.randn(24), torch.randn(1, 24) / 5, torch.zeros(1)]
    mean = [nn.Parameter(tensor.double()) for tensor in mean]
    rho = [nn.Parameter(torch.full_like(tensor, -2.0)) for tensor in mean]
    optimizer = torch.optim.Adam(mean + rho, lr=0.02)
    for _ in range(120):
        variance = [softplus(tensor) ** 2 for tensor in rho]
        layers = [
            mixcert.torch.Layer(mean[0], variance[0], mean[1], variance[1]),
            "tanh",
            mixcert.torch.Layer(mean[2], variance[2], mean[3], variance[3]),
        ]
        law = mixcert.torch.certify(layers, x)  # bounds [20], means [20, 1], covariances [20, 1, 1]
        spread = law.covariance[:, 0, 0]
        # The expected error under the mixture, and an entropy that keeps the weights random.
        fit = ((law.mean - y)[:, 0] ** 2 + spread).mean()
        entropy = sum(tensor.log().mean() for tensor in variance)
        loss = fit - 2e-3 * entropy + weight_of_bound * law.w2_bound.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    error = ((law.mean - y)[:, 0] ** 2).mean().sqrt()
    return error.item(), spread.mean().sqrt().item(), law.w2_bound.mean().item()


bounds = {}
for weight in (0.0, 1.0):
    error, spread, bounds[weight] = train(weight)
    print(f"weight of the bound {weight:.0f}: error {error:.3f}, std {spread:.3f}, W2 <= {bounds[weight]:.4f}")

assert bounds[1.0] < 0.7 * bounds[0.0]
