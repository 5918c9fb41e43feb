# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A classifier with dropout, as torch has it: which predictions are settled whatever the masks do."""

import numpy as np
import torch
from torch import nn

import mixcert

torch.manual_seed(0)
angle = 6.3 * torch.rand(600)
label = torch.randint(0, 3, (600,))
points = torch.stack([angle.cos(), angle.sin()], 1) * (1.0 + label)[:, None] + 0.1 * torch.randn(600, 2)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(300):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(points), label).backward()
    optimizer.step()

network = mixcert.from_torch(model.eval())  # dropout stays random: Monte Carlo dropout
results = mixcert.certify(network, points[:20])
settled = 0
for result, truth in zip(results, label):
    answer = result.predict_proba(samples=2000)
    settled += answer.settled
    if result.input < 5:
        chances = answer.probabilities
        c = answer.predicted
        print(
            f"class {c} (true {int(truth)}): probability {chances.estimate[c]:.3f}, "
            f"proven in [{chances.lower[c]:.3f}, {chances.upper[c]:.3f}], "
            f"{'settled' if answer.settled else 'not settled'}"
        )
print(f"{settled} of {len(results)} predictions are settled")

assert settled >= 5
assert np.isfinite(results.w2_bound).all()
