# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# What hmc_posterior.py and vogn_posterior.py share: UCI tables and priors as the C++ programs read them, [2x128] tanh networks
# side by side (first dimension), and the scores of averaged predictions.
import argparse
import json
import math
import re
import struct
from pathlib import Path

import numpy as np
import torch

WIDTH = 128
PRIORS = ("isotropic", "fan-in", "tuned")


def load_split(folder, name, index):
    """Inputs and targets standardised with the training rows, as lab/data/tables.cc does; the target's scale."""
    table = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1)
    split = json.loads((folder / f"{name}.splits.json").read_text())["splits"][index]
    train, test = table[split["train"]], table[split["test"]]
    scale = train.std(0)
    scale[train.min(0) == train.max(0)] = 1.0
    return (train - train.mean(0)) / scale, (test - train.mean(0)) / scale, scale[-1]


def file_deviations(path):
    """Deviations of weights and biases, layer by layer, of a model file with a variance for each."""
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + size])
    layers = [part["name"] for part in json.loads(header["__metadata__"]["architecture"]) if part["type"] == "dense"]

    def tensor(name):
        begin, end = header[name]["data_offsets"]
        return np.frombuffer(raw[8 + size + begin : 8 + size + end], "<f8").reshape(header[name]["shape"])

    parts = []
    for name in layers:
        assert not tensor(f"{name}.weight.mean").any() and not tensor(f"{name}.bias.mean").any()
        parts += [tensor(f"{name}.weight.variance").ravel(), tensor(f"{name}.bias.variance").ravel()]
    return np.sqrt(np.concatenate(parts))


def deviations_of(prior, features, folder):
    if prior == "tuned":
        return file_deviations(folder / "tuned.prior.safetensors")
    parts = []
    for inputs, outputs in ((features, WIDTH), (WIDTH, WIDTH), (WIDTH, 1)):
        parts += [np.full(inputs * outputs, inputs**-0.5 if prior == "fan-in" else 1.0), np.ones(outputs)]
    return np.concatenate(parts)


def unpack(weights, features):
    sizes = (features * WIDTH, WIDTH, WIDTH * WIDTH, WIDTH, WIDTH, 1)
    w1, b1, w2, b2, w3, b3 = torch.split(weights, sizes, 1)
    return w1.view(-1, WIDTH, features), b1[:, None], w2.view(-1, WIDTH, WIDTH), b2[:, None], w3[:, None], b3


def forward(weights, x):
    w1, b1, w2, b2, w3, b3 = unpack(weights, x.shape[2])
    h1 = torch.tanh(torch.baddbmm(b1, x, w1.transpose(1, 2)))
    h2 = torch.tanh(torch.baddbmm(b2, h1, w2.transpose(1, 2)))
    return h1, h2, (h2 * w3).sum(2) + b3


def start_weights(features, like):
    """Weights and biases of variance 1 / fan-in, as DenseNet::set_initial_weights draws them."""
    fan_in = np.concatenate([np.full(n * (inputs + 1), inputs**-0.5) for inputs, n in ((features, WIDTH), (WIDTH, WIDTH), (WIDTH, 1))])
    return torch.randn_like(like) * torch.tensor(fan_in, device=like.device, dtype=like.dtype)


class Average:
    """Of predictions over networks: mean, and log of the mean density; `add` returns one network's log densities."""

    def __init__(self, x, y, noise):
        self.x, self.y, self.noise = x, y, noise
        self.sum = torch.zeros_like(y, dtype=torch.float64)
        self.log_density = torch.full_like(self.sum, -math.inf)
        self.count = 0

    def add(self, weights):
        f = forward(weights, self.x)[2].double()
        self.sum += f
        density = -0.5 * ((f - self.y) / self.noise).square() - torch.log(self.noise) - 0.5 * math.log(2 * math.pi)
        self.log_density = torch.logaddexp(self.log_density, density)
        self.count += 1
        return density

    def scores(self, scale):
        rmse = (self.sum / self.count - self.y).square().mean(1).sqrt() * scale
        nll = -(self.log_density - math.log(self.count)).mean(1) + torch.log(scale)
        return rmse.tolist(), nll.tolist()


def prepare(name, arguments, device):
    chains = [(split, prior) for split in arguments.splits for prior in arguments.priors]
    columns = {key: [] for key in ("deviation", "x", "y", "test_x", "test_y", "noise", "scale")}
    for split, prior in chains:
        train, test, scale = load_split(arguments.data, name, split)
        folder = arguments.results / name / str(split)
        noise = float(re.search(r'"noise_std": *([0-9.e+-]+)', (folder / "gp.json").read_text()).group(1))
        values = (deviations_of(prior, train.shape[1] - 1, folder), train[:, :-1], train[:, -1], test[:, :-1], test[:, -1], [noise], [scale])
        for column, value in zip(columns.values(), values):
            column.append(np.asarray(value))
    exact = {key: torch.tensor(np.stack(column), device=device) for key, column in columns.items()}
    return chains, exact


def table_parser(description):
    """The arguments that every table over sets, splits and priors has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="folder with SET.csv and SET.splits.json")
    parser.add_argument("--results", type=Path, required=True, help="folder of scripts/compare_priors_uci")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--sets", nargs="+", default=["boston", "concrete", "energy", "kin8nm"])
    parser.add_argument("--splits", nargs="+", type=int, default=list(range(10)))
    parser.add_argument("--priors", nargs="+", default=list(PRIORS))
    parser.add_argument("--seed", type=int, default=0)
    return parser
