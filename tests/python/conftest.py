# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the tests of the Python package share."""

import os
import pathlib

import numpy as np
import pytest

import mixcert

SOURCE = pathlib.Path(os.environ.get("MIXCERT_SOURCE_DIRECTORY", pathlib.Path(__file__).parents[2]))


@pytest.fixture(scope="session")
def examples():
    return SOURCE / "examples"


@pytest.fixture(scope="session")
def sines(examples):
    return mixcert.Network.load(examples / "noisy_sines.safetensors")


@pytest.fixture(scope="session")
def sines_inputs(examples):
    return np.loadtxt(examples / "noisy_sines_inputs.csv", delimiter=",", ndmin=2, skiprows=1)


def random_network(widths, seed=0, activation="relu", deviation=0.1):
    """Independent Gaussian weights of the given sizes."""
    rng = np.random.default_rng(seed)
    layers = []
    for fan_in, fan_out in zip(widths, widths[1:]):
        if layers:
            layers.append(activation)
        layers.append(
            mixcert.Dense(
                rng.normal(size=(fan_out, fan_in)) / np.sqrt(fan_in),
                rng.normal(size=fan_out) * 0.1,
                weight_variance=np.full((fan_out, fan_in), deviation**2 / fan_in),
                bias_variance=np.full(fan_out, 1e-3),
            )
        )
    return mixcert.Network(layers)


@pytest.fixture(scope="session")
def small():
    return random_network([3, 8, 4])
