#!/usr/bin/env python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# What `mixcert hmc` does (lab/train/hmc_posterior.cc), on a GPU with PyTorch: posteriors of [2x128] tanh networks on UCI
# tables, sampled by Hamiltonian Monte Carlo, all splits and priors of a set side by side. docs/uci-priors.md has the
# results. float, no tf32; its random numbers are not those of the C++ program.
#
# --results is the folder of scripts/compare_priors_uci: SET/SPLIT/gp.json (noise) and tuned.prior.safetensors are read.
import json
import time

import numpy as np
import torch

from uci_tables import Average, forward, prepare, start_weights, table_parser, unpack

LONGER, SHORTER = 1.05, 0.86


def gradient(z, deviation, x, y, precision):
    """d/dz of U(z) = sum (f - y)^2 precision / 2 + |z|^2 / 2, weights = deviation z."""
    weights = deviation * z
    w3, w2 = unpack(weights, x.shape[2])[4], unpack(weights, x.shape[2])[2]
    h1, h2, f = forward(weights, x)
    r = ((f - y) * precision)[:, :, None]
    from_h2 = r * w3 * (1 - h2 * h2)
    from_h1 = torch.bmm(from_h2, w2) * (1 - h1 * h1)
    parts = (torch.bmm(from_h1.transpose(1, 2), x).flatten(1), from_h1.sum(1), torch.bmm(from_h2.transpose(1, 2), h1).flatten(1),
             from_h2.sum(1), (r * h2).sum(1), r.sum(1))
    return deviation * torch.cat(parts, 1) + z


def leapfrog(z, momentum, slope, length, deviation, x, y, precision):
    """One step in place; `slope` is the gradient at z, before and after."""
    half = momentum - 0.5 * length * slope
    there = z + length * half
    new_slope = gradient(there, deviation, x, y, precision)
    z.copy_(there)
    slope.copy_(new_slope)
    momentum.copy_(half - 0.5 * length * new_slope)


class Chains:
    def __init__(self, deviation, x, y, precision, arguments):
        self.deviation, self.x, self.y, self.precision = deviation, x, y, precision
        self.leapfrog_steps = arguments.leapfrog_steps
        start = start_weights(x.shape[2], deviation)
        # Weights of small prior variance are far out at the usual start of training, and come back slowly.
        self.z = torch.randn_like(deviation) if arguments.start == "prior" else start / deviation
        self.step = torch.full((len(x), 1), arguments.first_step, device=x.device)
        self.there, self.momentum, self.slope = (torch.zeros_like(self.z) for _ in range(3))
        self.length = torch.zeros_like(self.step)
        self.slope_here = self.gradient(self.z)
        self.energy_here = self.energy(self.z)
        self.graph = self.capture()

    def gradient(self, z):
        return gradient(z, self.deviation, self.x, self.y, self.precision)

    def energy(self, z):
        residual = (forward(self.deviation * z, self.x)[2] - self.y).double()
        return 0.5 * residual.square().sum(1) * self.precision[:, 0].double() + 0.5 * z.double().square().sum(1)

    def capture(self):
        step = torch.compile(leapfrog, fullgraph=True, dynamic=False)
        call = lambda: step(self.there, self.momentum, self.slope, self.length, self.deviation, self.x, self.y, self.precision)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                call()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(self.leapfrog_steps):
                call()
        return graph

    def move(self):
        """One trajectory of every chain; which ends were accepted."""
        self.momentum.normal_()
        before = self.energy_here + 0.5 * self.momentum.double().square().sum(1)
        self.length.copy_(self.step * (0.8 + 0.4 * torch.rand_like(self.step)))
        self.there.copy_(self.z)
        self.slope.copy_(self.slope_here)
        self.graph.replay()
        energy = self.energy(self.there)
        gain = before - energy - 0.5 * self.momentum.double().square().sum(1)
        accepted = torch.isfinite(gain) & (torch.rand_like(gain).log() < gain)
        on = accepted[:, None]
        self.z = torch.where(on, self.there, self.z)
        self.slope_here = torch.where(on, self.slope, self.slope_here)
        self.energy_here = torch.where(accepted, energy, self.energy_here)
        return accepted

    def adapt(self, accepted):
        self.step = self.step * torch.where(accepted, LONGER, SHORTER)[:, None]


@torch.no_grad()
def sample(name, arguments, device):
    begin = time.time()
    torch.manual_seed(arguments.seed)
    names, at = prepare(name, arguments, device)
    x, y, test_x, test_y = (at[key].float() for key in ("x", "y", "test_x", "test_y"))
    chains = Chains(at["deviation"].float(), x, y, at["noise"].float().pow(-2), arguments)
    of_test, of_train = Average(test_x, test_y, at["noise"]), Average(x, y, at["noise"])
    accepted = torch.zeros(len(names), device=device)
    energies = []
    for i in range(arguments.burn_in + arguments.samples):
        moved = chains.move()
        if i < arguments.burn_in:
            chains.adapt(moved)
            continue
        accepted += moved
        energies.append(chains.energy_here)
        weights = chains.deviation * chains.z
        of_test.add(weights)
        of_train.add(weights)
    energies = torch.stack(energies)
    half = len(energies) // 2
    scale = at["scale"][:, 0]
    columns = (*of_test.scores(scale), *of_train.scores(scale), (accepted / arguments.samples).tolist(), chains.step[:, 0].tolist(),
               energies[:half].mean(0).tolist(), energies[half:].mean(0).tolist(), energies[half:].std(0).tolist())
    keys = ("rmse", "nll", "train_rmse", "train_nll", "acceptance", "step", "energy_first_half", "energy_second_half", "energy_deviation")
    rows = [dict(set=name, split=split, prior=prior, **{k: c[i] for k, c in zip(keys, columns)}) for i, (split, prior) in enumerate(names)]
    print_table(name, rows, arguments, time.time() - begin)
    return rows


def print_table(name, rows, arguments, seconds):
    for prior in arguments.priors:
        mine = [row for row in rows if row["prior"] == prior]
        mean = {key: np.mean([row[key] for row in mine]) for key in mine[0] if key not in ("set", "prior")}
        spread = {key: np.std([row[key] for row in mine], ddof=1) if len(mine) > 1 else 0.0 for key in ("rmse", "nll")}
        print(f"{name:9} {prior + '-hmc':14} {len(mine):2} splits  RMSE {mean['rmse']:.4f} +- {spread['rmse']:.4f}  NLL {mean['nll']:.4f} +- {spread['nll']:.4f}"
              f"  train RMSE {mean['train_rmse']:.4f}  accepted {mean['acceptance']:.2f}  step {mean['step']:.2e}"
              f"  energy {mean['energy_first_half']:.1f} then {mean['energy_second_half']:.1f}", flush=True)
    print(f"{name}: {seconds:.1f} s", flush=True)


def main():
    parser = table_parser("HMC posteriors of docs/uci-priors.md on a GPU.")
    parser.add_argument("--leapfrog-steps", type=int, default=100)
    parser.add_argument("--burn-in", type=int, default=150)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--start", choices=("training", "prior"), default="training", help="variance 1/fan-in as mixcert hmc, or the prior")
    parser.add_argument("--first-step", type=float, default=0.003)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.sets:
        rows += sample(name, arguments, torch.device("cuda"))
        arguments.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
