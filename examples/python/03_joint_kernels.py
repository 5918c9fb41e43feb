# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Mean and covariance of a network's outputs at 30 inputs jointly: the kernel of the process it is near."""

import pathlib

import numpy as np

import mixcert

here = pathlib.Path(__file__).parent
network = mixcert.Network.load(here.parent / "noisy_sines.safetensors")
inputs = np.linspace(-2, 2, 30)[:, None]
result = mixcert.certify(network, inputs, joint=True)

kernel = result.mixture.cov()  # [30, 30]: one output, so entry (i, j) belongs to inputs i and j
samples = mixcert.simulate(network, inputs, samples=20000, joint=True)[:, :, 0]
empirical = np.cov(samples)
error = np.linalg.norm(kernel - empirical) / np.linalg.norm(empirical)
print(f"W2 over all 30 outputs together <= {result.w2_bound:.4f} ({100 * result.relative_w2_bound:.1f} %)")
print(f"kernel against 20,000 samples: {100 * error:.1f} % apart")
correlation = kernel / np.sqrt(np.outer(kernel.diagonal(), kernel.diagonal()))
for i in (0, 10, 20):
    print("x = %5.2f  " % inputs[i, 0] + " ".join(f"{value:5.2f}" for value in correlation[i, ::4]))

between = mixcert.gelbrich(result.mixture.mean(), kernel, samples.mean(axis=1), empirical)
assert between < result.w2_bound
