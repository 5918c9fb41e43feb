#!/usr/bin/env python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# VOGN of `mixcert train` (lab/train/vogn_learner.cc, Gauss-Newton, four antithetic samples, Adam before it) for all splits,
# priors and step lengths of a UCI table side by side, with the schedule of scripts/compare_priors_uci. It tells how the result
# depends on the step length: of those given, the one with the largest ELBO, which knows no test example, is taken for each
# prior and split. float, no tf32; its random numbers are not those of the C++ program. docs/uci-priors.md has the results.
import json
import math
import time

import numpy as np
import torch

from uci_tables import Average, forward, prepare, start_weights, table_parser, unpack

SAMPLES, BATCH, MOMENTUM, DECAY, FIRST_DEVIATION, WARM_UP_RATE, NETWORKS = 4, 128, 0.9, 0.995, 0.03, 1e-2, 100
EPOCHS = {"boston": (2000, 200), "concrete": (1000, 100), "energy": (1300, 130), "kin8nm": (140, 20)}


def derivatives(weights, x, y, share, noise_precision):
    """Mean gradient of -log p and mean of (df/dw)^2 over the batch, `share` the weight of each example."""
    _, _, w2, _, w3, _ = unpack(weights, x.shape[2])
    h1, h2, f = forward(weights, x)
    d2 = w3 * (1 - h2 * h2)
    d1 = torch.bmm(d2, w2) * (1 - h1 * h1)
    r = (noise_precision * (f - y) * share)[:, :, None]
    s = share[None, :, None].expand_as(r)

    def collect(by, e1, e2, a0, a1, a2):
        u1, u2 = by * e1, by * e2
        return torch.cat((torch.bmm(u1.transpose(1, 2), a0).flatten(1), u1.sum(1), torch.bmm(u2.transpose(1, 2), a1).flatten(1),
                          u2.sum(1), (by * a2).sum(1), by.sum(1)), 1)

    return collect(r, d1, d2, x, h1, h2), collect(s, d1 * d1, d2 * d2, x * x, h1 * h1, h2 * h2)


def vogn_step(mean, curvature, momentum, prior, k, x, y, share, noise, rate, examples):
    """In place; noise has half of the samples, the others are their negatives."""
    chains, count = mean.shape
    deviation = (examples * k * curvature + prior).rsqrt()
    signed = torch.cat((noise, -noise), 1)
    weights = (mean[:, None] + deviation[:, None] * signed).view(chains * SAMPLES, count)
    several = lambda values: values.repeat_interleave(SAMPLES, 0)
    g, c = derivatives(weights, several(x), several(y), share, several(k))
    g, c = g.view(chains, SAMPLES, count).mean(1), c.view(chains, SAMPLES, count).mean(1)
    new_curvature = DECAY * curvature + (1 - DECAY) * c
    new_momentum = MOMENTUM * momentum + (1 - MOMENTUM) * (g + prior * mean / examples)
    curvature.copy_(new_curvature)
    momentum.copy_(new_momentum)
    mean.sub_(rate * new_momentum / (k * new_curvature + prior / examples))


def adam_step(weights, first, second, prior, k, x, y, share, length, correction, examples):
    g, _ = derivatives(weights, x, y, share, k)
    g = g + prior * weights / examples
    first.copy_(0.9 * first + 0.1 * g)
    second.copy_(0.999 * second + 0.001 * g * g)
    weights.sub_(length * first / ((correction * second).sqrt() + 1e-8))


class Batches:
    """Rows of every step: a permutation for each epoch, the last batch of it padded with rows of weight zero."""

    def __init__(self, examples, epochs, device):
        self.per_epoch = -(-examples // BATCH)
        self.steps = epochs * self.per_epoch
        orders = torch.rand(epochs, examples, device=device).argsort(1)
        padded = torch.zeros(epochs, self.per_epoch * BATCH, dtype=torch.long, device=device)
        padded[:, :examples] = orders
        self.rows = padded.view(self.steps, BATCH)
        sizes = torch.full((self.per_epoch,), BATCH, device=device)
        sizes[-1] = examples - (self.per_epoch - 1) * BATCH
        self.shares = (torch.arange(BATCH, device=device)[None] < sizes[:, None]).float() / sizes[:, None]

    def take(self, step, x, y, split_of):
        rows = self.rows[step]
        return x[:, rows][split_of], y[:, rows][split_of], self.shares[step % self.per_epoch]


def cosine(step, steps):
    return 0.5 * (1 + math.cos(math.pi * step / steps))


def train(name, split_of, x, y, prior, warm_prior, k, rates, arguments):
    """Mean and precision of the posterior of every chain."""
    device, examples = prior.device, x.shape[1]
    epochs, warm_epochs = (max(1, int(n * arguments.share_of_epochs)) for n in EPOCHS[name])
    weights = start_weights(x.shape[2], prior[:1]).repeat(len(prior), 1)
    first, second = torch.zeros_like(weights), torch.zeros_like(weights)
    count = torch.tensor(float(examples), device=device)
    batches = Batches(examples, warm_epochs, device)
    step_of = torch.compile(adam_step, dynamic=False)
    for t in range(batches.steps):
        length = torch.tensor(WARM_UP_RATE * cosine(t, batches.steps) / (1 - 0.9 ** (t + 1)), device=device)
        correction = torch.tensor(1 / (1 - 0.999 ** (t + 1)), device=device)
        step_of(weights, first, second, warm_prior, k, *batches.take(t, x, y, split_of), length, correction, count)
    curvature = (FIRST_DEVIATION**-2 - prior).clamp_min(0) / (examples * k)
    batches = Batches(examples, epochs, device)
    curvature = torch.maximum(curvature, derivatives(weights, *batches.take(0, x, y, split_of), k)[1])
    momentum = torch.zeros_like(weights)
    step_of = torch.compile(vogn_step, dynamic=False)
    for t in range(batches.steps):
        rate = rates * (cosine(t, batches.steps) / (1 - MOMENTUM ** (t + 1)))
        noise = torch.randn(len(weights), SAMPLES // 2, weights.shape[1], device=device)
        step_of(weights, curvature, momentum, prior, k, *batches.take(t, x, y, split_of), noise, rate, count)
    return weights, examples * k * curvature + prior


def divergence(mean, precision, prior):
    ratio = precision.double() / prior.double()
    return 0.5 * (ratio.log() - 1 + 1 / ratio + prior.double() * mean.double().square()).sum(1)


@torch.no_grad()
def run(name, arguments, device):
    begin = time.time()
    torch.manual_seed(arguments.seed)
    names, at = prepare(name, arguments, device)
    chains = [(i, rate) for i in range(len(names)) for rate in arguments.learning_rates]
    index = torch.tensor([i for i, _ in chains], device=device)
    rates = torch.tensor([[rate] for _, rate in chains], device=device)
    prior = at["deviation"].float().pow(-2)[index]
    tuned = torch.tensor([names[i][1] == "tuned" for i, _ in chains], device=device)[:, None]
    warm_prior = torch.where(tuned, prior, torch.ones_like(prior))
    k = at["noise"].float().pow(-2)[index]
    step = len(arguments.priors)
    x, y = at["x"].float()[::step], at["y"].float()[::step]
    mean, precision = train(name, index // step, x, y, prior, warm_prior, k, rates, arguments)
    rows = []
    noise, scale = at["noise"], at["scale"][:, 0]
    for begin_at in range(0, len(chains), 40):
        part = slice(begin_at, begin_at + 40)
        who = index[part]
        of_test = Average(at["test_x"].float()[who], at["test_y"].float()[who], noise[who])
        of_train = Average(at["x"].float()[who], at["y"].float()[who], noise[who])
        likelihood = torch.zeros(len(who), device=device, dtype=torch.float64)
        for _ in range(NETWORKS):
            weights = mean[part] + torch.randn_like(mean[part]) * precision[part].rsqrt()
            of_test.add(weights)
            likelihood += of_train.add(weights).sum(1) / NETWORKS
        elbo = (likelihood - divergence(mean[part], precision[part], prior[part])).tolist()
        columns = (*of_test.scores(scale[who]), *of_train.scores(scale[who]), elbo)
        for j, (i, rate) in enumerate(chains[part]):
            values = dict(zip(("rmse", "nll", "train_rmse", "train_nll", "elbo"), (c[j] for c in columns)))
            rows.append(dict(set=name, split=names[i][0], prior=names[i][1], learning_rate=rate, **values))
    print_table(name, rows, arguments, time.time() - begin)
    return rows


def chosen(rows):
    """Of each split the row with the largest ELBO."""
    best = {}
    for row in rows:
        if math.isfinite(row["elbo"]) and (row["split"] not in best or row["elbo"] > best[row["split"]]["elbo"]):
            best[row["split"]] = row
    return list(best.values())


def print_table(name, rows, arguments, seconds):
    for prior in arguments.priors:
        mine = [row for row in rows if row["prior"] == prior]
        groups = [(f"{rate:g}", [row for row in mine if row["learning_rate"] == rate]) for rate in arguments.learning_rates]
        for label, group in groups + [("best", chosen(mine))]:
            mean = {key: np.mean([row[key] for row in group]) for key in ("rmse", "nll", "train_rmse", "elbo")}
            spread = {key: np.std([row[key] for row in group], ddof=1) if len(group) > 1 else 0.0 for key in ("rmse", "nll")}
            print(f"{name:9} {prior:10} step {label:6} {len(group):2} splits  RMSE {mean['rmse']:.4f} +- {spread['rmse']:.4f}  NLL {mean['nll']:.4f} +- {spread['nll']:.4f}"
                  f"  train RMSE {mean['train_rmse']:.4f}  ELBO {mean['elbo']:.1f}", flush=True)
    print(f"{name}: {seconds:.1f} s", flush=True)


def main():
    parser = table_parser("VOGN posteriors of docs/uci-priors.md on a GPU.")
    parser.add_argument("--learning-rates", nargs="+", type=float, default=[0.05, 0.02, 0.01, 0.005])
    parser.add_argument("--share-of-epochs", type=float, default=1.0)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.sets:
        rows += run(name, arguments, torch.device("cuda"))
        arguments.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
