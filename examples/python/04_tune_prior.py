# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Find the weight prior whose network behaves like a Gaussian process."""

import numpy as np

import mixcert

inputs = np.linspace(-1, 1, 24)
run = mixcert.tune(
    inputs, "rbf(lengthscale=0.5, variance=1)", arch="1-32-32-1", activation="tanh", steps=60, held_out=4
)
distance = run.history["distance"] / run.history["target_scale"]
print(f"distance to the process, relative: {distance[0]:.3f} at the first step, {distance[-1]:.3f} at the last")

place = np.sort(inputs[run.held_out])  # inputs that no step saw
law = mixcert.certify(run.network, place[:, None], joint=True)
print("covariance at held-out inputs, network and process:")
print(np.round(law.mixture.cov(), 2))
print(np.round(np.exp(-((place[:, None] - place[None, :]) ** 2) / (2 * 0.5**2)), 2))

assert distance[-1] < 0.7 * distance[0]
