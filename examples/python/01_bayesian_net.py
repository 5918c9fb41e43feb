# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Train a small Bayesian network in torch and certify its predictions."""

import numpy as np
import torch
from torch import nn
from torch.nn.functional import softplus

import mixcert

torch.manual_seed(0)


class BayesLinear(nn.Module):
    """Independent normal weights; the names are those of bayesian-torch."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.mu_weight = nn.Parameter(torch.randn(outputs, inputs) / inputs**0.5)
        self.rho_weight = nn.Parameter(torch.full((outputs, inputs), -4.0))
        self.mu_bias = nn.Parameter(torch.zeros(outputs))
        self.rho_bias = nn.Parameter(torch.full((outputs,), -4.0))

    def forward(self, x):
        mean = x @ self.mu_weight.T + self.mu_bias
        variance = x**2 @ softplus(self.rho_weight.T) ** 2 + softplus(self.rho_bias) ** 2
        return mean + variance.sqrt() * torch.randn_like(mean)

    def divergence(self):
        """KL to independent N(0, 1) weights."""
        total = 0.0
        for mu, rho in ((self.mu_weight, self.rho_weight), (self.mu_bias, self.rho_bias)):
            sigma = softplus(rho)
            total += 0.5 * (mu**2 + sigma**2 - 1).sum() - sigma.log().sum()
        return total


x = torch.linspace(-1, 1, 200)[:, None]
y = torch.sin(4 * x) + 0.1 * torch.randn_like(x)
model = nn.Sequential(BayesLinear(1, 32), nn.Tanh(), BayesLinear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(800):
    optimizer.zero_grad()
    misfit = ((model(x) - y) ** 2).sum() / (2 * 0.1**2)
    (misfit + model[0].divergence() + model[2].divergence()).backward()
    optimizer.step()

network = mixcert.from_torch(model)
results = mixcert.certify(network, [[-0.5], [0.0], [0.5], [1.5]])
for result in results:
    mean, std = result.moments()
    above = result.probability("y0 > 0")
    print(
        f"x = {result.inputs[0]:4.1f}   W2 <= {result.w2_bound:.1e}   "
        f"mean in [{mean.lower[0]:.3f}, {mean.upper[0]:.3f}]   "
        f"std in [{std.lower[0]:.3f}, {std.upper[0]:.3f}]   "
        f"P(y > 0) in [{above.lower:.3f}, {above.upper:.3f}]"
    )
print(results[1].layers)

samples = mixcert.simulate(network, [[-0.5]], samples=20000)[0]
assert abs(samples.mean() - results[0].mixture.mean()[0]) < results[0].w2_bound + 0.01
assert np.all(results.w2_bound < 0.2)
