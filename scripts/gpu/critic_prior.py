#!/usr/bin/env python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# The critic baseline of docs/prior-baselines.md on a GPU with PyTorch: what `mixcert critic-prior` does (lab/prior), with
# all networks, length-scales and forms side by side in batched products, so that 1,000 critic steps for each prior step
# take minutes instead of many hours of a processor. float, no tf32; its random numbers are not those of the C++ program.
#
# Writes DIR/ARCH-LENGTHSCALE-FORM.safetensors and .json, which scripts/compare_priors --critics DIR reads. Where the time
# given runs out first it writes DIR/state.pt instead; --resume goes on from there.
import argparse
import json
import math
import struct
import time
from pathlib import Path

import torch

PENALTY, THRESHOLD = 10.0, 0.01
PRIOR_RATE, CRITIC_RATE = 0.01, 0.08
SAMPLES, POINTS, WIDTH = 512, 200, 200
FORMS = ("per-layer", "per-weight")


def slope_of_softplus(h):
    return torch.sigmoid(h)


def critic_gradient(p, functions, mix):
    """Loss and gradient, row by row those of Critic::add_batch in lab/prior/critic.cc; first dimension: runs."""
    w1, b1, w2, b2, w3 = p
    m = mix.shape[1]
    share = 1.0 / m
    given = torch.baddbmm(b1[:, None], functions, w1.transpose(1, 2))
    h1 = torch.cat([given, mix * given[:, :m] + (1 - mix) * given[:, m:]], 1)
    s1, d1 = torch.nn.functional.softplus(h1), slope_of_softplus(h1)
    h2 = torch.baddbmm(b2[:, None], s1, w2.transpose(1, 2))
    s2, d2 = torch.nn.functional.softplus(h2), slope_of_softplus(h2)
    mixed_d1, mixed_d2 = d1[:, 2 * m :], d2[:, 2 * m :]
    u2 = mixed_d2 * w3[:, None]
    v1 = torch.bmm(u2, w2)
    u1 = v1 * mixed_d1
    g = torch.bmm(u1, w1)
    norms = g.square().sum(2, keepdim=True).sqrt().clamp_min(1e-20)
    g = g * (2 * PENALTY * share * (1 - 1 / norms))
    from_u1 = torch.bmm(g, w1.transpose(1, 2))
    from_v1 = from_u1 * mixed_d1
    from_u2 = torch.bmm(from_v1, w2.transpose(1, 2))
    sides = torch.cat([torch.full_like(mix, -share), torch.full_like(mix, share)], 1)
    from_h2 = torch.cat([d2[:, : 2 * m] * w3[:, None] * sides, u2 * from_u2 * (1 - mixed_d2)], 1)
    to_w3 = (from_u2 * mixed_d2).sum(1) + share * (s2[:, m : 2 * m].sum(1) - s2[:, :m].sum(1))
    to_w2 = torch.bmm(u2.transpose(1, 2), from_v1) + torch.bmm(from_h2.transpose(1, 2), s1)
    from_h1 = torch.bmm(from_h2, w2) * d1
    mixed = from_h1[:, 2 * m :] + from_u1 * v1 * mixed_d1 * (1 - mixed_d1)
    to_b1 = from_h1[:, : 2 * m].sum(1) + mixed.sum(1)
    onto_given = torch.cat([from_h1[:, :m] + mix * mixed, from_h1[:, m : 2 * m] + (1 - mix) * mixed], 1)
    to_w1 = torch.bmm(u1.transpose(1, 2), g) + torch.bmm(onto_given.transpose(1, 2), functions)
    values = (s2[:, : 2 * m] * w3[:, None]).sum(2)
    difference = share * (values[:, :m].sum(1) - values[:, m:].sum(1))
    penalty = share * (norms - 1).square().sum((1, 2))
    return PENALTY * penalty - difference, (to_w1, to_b1, to_w2, from_h2.sum(1), to_w3)


def critic_step(p, sums, alive, functions, mix, loss, norm):
    """One step of Adagrad; a run whose gradient was shorter than the threshold rests from then on."""
    value, gradients = critic_gradient(p, functions, mix)
    length = sum(g.square().flatten(1).sum(1) for g in gradients).sqrt()
    for parameter, total, g in zip(p, sums, gradients):
        on = alive.view(-1, *[1] * (g.dim() - 1))
        new_total = total + on * g.square()
        total.copy_(new_total)
        parameter.sub_(on * CRITIC_RATE * g / (new_total.sqrt() + 1e-10))
    loss.copy_(torch.where(alive > 0, value, loss))
    norm.copy_(torch.where(alive > 0, length, norm))
    alive.mul_((length >= THRESHOLD).to(alive.dtype))


class CriticTrainer:
    """Critics of all runs, their steps captured as one graph of `block` steps that is replayed."""

    def __init__(self, runs, block, device):
        zeros = lambda *shape: torch.zeros(runs, *shape, device=device)
        self.shapes = ((WIDTH, POINTS), (WIDTH,), (WIDTH, WIDTH), (WIDTH,), (WIDTH,))
        self.p = [zeros(*s) for s in self.shapes]
        self.sums = [zeros(*s) for s in self.shapes]
        self.alive = torch.ones(runs, device=device)
        self.functions = zeros(2 * SAMPLES, POINTS)
        self.mix = torch.zeros(block, runs, SAMPLES, 1, device=device)
        self.losses = torch.zeros(block, runs, device=device)
        self.norms = torch.zeros(block, runs, device=device)
        self.block = block
        self.graph = None

    def capture(self):
        """Of the plain and the compiled step the faster one."""
        best = None
        for name, step in (("compiled", torch.compile(critic_step, fullgraph=True)), ("plain", critic_step)):
            try:
                graph = self.capture_one(step)
            except Exception as error:  # the plain step needs nothing but PyTorch
                print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
                continue
            torch.cuda.synchronize()
            start = time.time()
            for _ in range(3):
                graph.replay()
            torch.cuda.synchronize()
            took = (time.time() - start) / (3 * self.block)
            print(f"critic step, {name}: {1e3 * took:.4f} ms for {len(self.alive)} runs", flush=True)
            if best is None or took < best:
                best, self.graph = took, graph
        for total in self.sums:
            total.zero_()

    def capture_one(self, step):
        self.draw_parameters()
        self.functions.normal_()
        call = lambda i: step(self.p, self.sums, self.alive, self.functions, self.mix[i], self.losses[i], self.norms[i])
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                call(0)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(self.block):
                if i > 0:
                    self.losses[i].copy_(self.losses[i - 1])
                    self.norms[i].copy_(self.norms[i - 1])
                call(i)
        return graph

    def draw_parameters(self):
        deviations = (math.sqrt(2 / (POINTS + WIDTH)), 1.0, math.sqrt(1 / WIDTH), 1.0, math.sqrt(2 / (WIDTH + 1)))
        for parameter, deviation in zip(self.p, deviations):
            parameter.normal_().mul_(deviation)
        self.alive.fill_(1.0)

    def train(self, steps):
        losses, norms = [], []
        for _ in range(0, steps, self.block):
            self.mix.uniform_()
            self.graph.replay()
            losses.append(self.losses.clone())
            norms.append(self.norms.clone())
            self.losses[0].copy_(self.losses[-1])
            self.norms[0].copy_(self.norms[-1])
        return torch.cat(losses), torch.cat(norms)

    def values(self, functions, begin, count):
        w1, b1, w2, b2, w3 = (q[begin : begin + count] for q in self.p)
        s1 = torch.nn.functional.softplus(torch.baddbmm(b1[:, None], functions, w1.transpose(1, 2)))
        s2 = torch.nn.functional.softplus(torch.baddbmm(b2[:, None], s1, w2.transpose(1, 2)))
        return (s2 * w3[:, None]).sum(2)


class Priors:
    """Priors of one architecture: for each run a rho for every weight; per layer those of a tensor are kept equal."""

    def __init__(self, sizes, forms, grid):
        self.sizes, self.forms, self.grid = sizes, forms, grid
        shapes = [s for a, b in zip(sizes, sizes[1:]) for s in ((b, a), (b,))]
        self.scales = [s[1] ** -0.5 if len(s) == 2 else 1.0 for s in shapes]
        self.rho = [torch.ones(len(forms), *s, device=grid.device) for s in shapes]
        self.means = [torch.zeros_like(r) for r in self.rho]
        tied = torch.tensor([form == "per-layer" for form in forms], device=grid.device)
        self.tied = [tied.view(-1, *[1] * len(s)) for s in shapes]

    def deviations(self, rho):
        return [torch.nn.functional.softplus(r) * s for r, s in zip(rho, self.scales)]

    def draw(self, rho):
        h = self.grid[None, None, :, None]
        deviations = self.deviations(rho)
        for k in range(0, len(deviations), 2):
            weight, bias = (d[:, None] * torch.randn(d.shape[0], SAMPLES, *d.shape[1:], device=d.device) for d in deviations[k : k + 2])
            h = (torch.tanh(h) if k > 0 else h) @ weight.transpose(2, 3) + bias[:, :, None]
        return h.squeeze(3)

    def step(self, gradients):
        for r, mean, tied, g in zip(self.rho, self.means, self.tied, gradients):
            g = torch.where(tied, g.sum(tuple(range(1, g.dim())), keepdim=True).expand_as(g), g)
            mean.mul_(0.99).add_(0.01 * g.square())
            r.sub_(PRIOR_RATE * g / (mean.sqrt() + 1e-8))


def factor(lengthscale, grid):
    """Cholesky factor of the rbf kernel on the grid."""
    x = grid.double()
    kernel = torch.exp(-0.5 * ((x[:, None] - x[None]) / lengthscale) ** 2)
    return torch.linalg.cholesky(kernel + 1e-8 * torch.eye(len(x), device=x.device, dtype=x.dtype)).float()


def write_network(path, sizes, deviations, kernel):
    layers, tensors, data = [], {}, b""
    for k in range(len(sizes) - 1):
        layers += [{"type": "activation", "function": "tanh"}] if k > 0 else []
        layers.append({"type": "dense", "name": str(k), "in": sizes[k], "out": sizes[k + 1]})
        for kind, deviation in (("bias", deviations[2 * k + 1]), ("weight", deviations[2 * k])):
            variance = deviation.double().square().cpu()
            for name, values in (("mean", torch.zeros_like(variance)), ("variance", variance)):
                raw = values.contiguous().numpy().astype("<f8").tobytes()
                tensors[f"{k}.{kind}.{name}"] = {"dtype": "F64", "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(raw)]}
                data += raw
    metadata = {"architecture": json.dumps(layers), "format": "mixcert-network", "kernel": kernel, "method": "critic-prior"}
    header = json.dumps({"__metadata__": metadata, **tensors}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


class Fit:
    def __init__(self, arguments, device):
        self.arguments = arguments
        grid = torch.linspace(-1, 1, POINTS, device=device)
        self.runs = [(a, s, f) for a in arguments.architectures for s in arguments.lengthscales for f in FORMS]
        per_arch = len(self.runs) // len(arguments.architectures)
        self.priors = [Priors([int(n) for n in a.split("-")], [f for _, _, f in self.runs[:per_arch]], grid) for a in arguments.architectures]
        self.per_arch = per_arch
        self.factors = torch.stack([factor(float(s), grid) for _, s, _ in self.runs])
        self.critics = CriticTrainer(len(self.runs), min(100, arguments.critic_steps), device)
        self.critics.capture()
        self.history = []
        self.seconds = 0.0

    def targets(self):
        normals = torch.randn(len(self.runs), SAMPLES, POINTS, device=self.factors.device)
        return torch.bmm(normals, self.factors.transpose(1, 2))

    @torch.no_grad()
    def train_critics(self):
        self.critics.draw_parameters()
        self.critics.functions[:, :SAMPLES] = torch.cat([p.draw(p.rho) for p in self.priors])
        self.critics.functions[:, SAMPLES:] = self.targets()
        return self.critics.train(self.arguments.critic_steps)

    def step(self):
        losses, norms = self.train_critics()
        of_target = self.critics.values(self.targets(), 0, len(self.runs)).mean(1)
        distances = []
        for i, prior in enumerate(self.priors):
            rho = [r.clone().requires_grad_() for r in prior.rho]
            means = self.critics.values(prior.draw(rho), i * self.per_arch, self.per_arch).mean(1)
            prior.step(torch.autograd.grad(means.sum(), rho))
            distances.append(means.detach())
        kept = [losses[0], losses[(len(losses) + 1) // 2 - 1], losses[-1], norms.min(0).values, torch.cat(distances) - of_target]
        self.history.append(torch.stack(kept).tolist())
        return losses

    def state(self):
        return {"rho": [p.rho for p in self.priors], "means": [p.means for p in self.priors], "sums": self.critics.sums,
                "history": self.history, "seconds": self.seconds, "runs": self.runs, "critic_steps": self.arguments.critic_steps}

    def load(self, path):
        state = torch.load(path, map_location=self.factors.device)
        assert [tuple(r) for r in state["runs"]] == self.runs and state["critic_steps"] == self.arguments.critic_steps
        for prior, rho, means in zip(self.priors, state["rho"], state["means"]):
            prior.rho, prior.means = rho, means
        for mine, saved in zip(self.critics.sums, state["sums"]):
            mine.copy_(saved)
        self.history, self.seconds = state["history"], state["seconds"]
        torch.manual_seed(self.arguments.seed + len(self.history))

    def write(self, out):
        for i, (arch, scale, form) in enumerate(self.runs):
            prior = self.priors[i // self.per_arch]
            deviations = [d[i % self.per_arch] for d in prior.deviations(prior.rho)]
            write_network(out / f"{arch}-{scale}-{form}.safetensors", prior.sizes, deviations, f"rbf(lengthscale={scale})")
            names = ("critic_first_loss", "critic_halfway_loss", "critic_final_loss", "critic_least_gradient_norm", "w1_critic")
            history = [dict(step=n + 1, **{name: row[j][i] for j, name in enumerate(names)}) for n, row in enumerate(self.history)]
            tail = history[-max(1, len(history) // 10):]
            gain = sum(h["critic_first_loss"] - h["critic_final_loss"] for h in tail)
            late = sum(h["critic_halfway_loss"] - h["critic_final_loss"] for h in tail)
            w1 = sum(h["w1_critic"] for h in tail) / len(tail)
            least = min(h["critic_least_gradient_norm"] for h in history)
            report = {"program": "critic_prior_gpu", "torch": torch.__version__, "device": torch.cuda.get_device_name(),
                      "runs_side_by_side": len(self.runs), "seconds_of_all": self.seconds, "steps": len(history),
                      "critic_steps": self.arguments.critic_steps, "seed": self.arguments.seed, "history": history}
            (out / f"{arch}-{scale}-{form}.json").write_text(json.dumps(report))
            print(f"{arch} {scale} {form}: W1 (critic) {w1:.4f}, loss falls by {gain / len(tail):.4g}, {100 * late / gain:.2f} % of it in the "
                  f"second half (last {len(tail)} steps); least gradient {least:.3g}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="The critic baseline of docs/prior-baselines.md on a GPU.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--architectures", nargs="+", default=["1-64-64-1", "1-128-128-1"])
    parser.add_argument("--lengthscales", nargs="+", default=["1", "0.75", "0.5"])
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--critic-steps", type=int, default=1000, help="a multiple of 100, or less than 100")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop and write state.pt after this time")
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    begin = time.time()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(arguments.seed)
    fit = Fit(arguments, torch.device("cuda"))
    if arguments.resume:
        fit.load(arguments.resume)
    while len(fit.history) < arguments.steps and time.time() - begin < arguments.seconds:
        start = time.time()
        losses = fit.step()
        fit.seconds += time.time() - start
        number = len(fit.history)
        if number == 1:
            for i in sorted({min(n, len(losses)) for n in (1, 20, 50, 100, 200, 400, 1000)}):
                print(f"critic step {i:4}: " + " ".join(f"{x:8.3f}" for x in losses[i - 1].tolist()), flush=True)
        if number % max(1, arguments.steps // 20) == 0:
            print(f"step {number}, {fit.seconds:.1f} s: W1 " + " ".join(f"{x:7.4f}" for x in fit.history[-1][4]), flush=True)
    if len(fit.history) < arguments.steps:
        torch.save(fit.state(), arguments.out / "state.pt")
        print(f"out of time at step {len(fit.history)} after {fit.seconds:.1f} s", flush=True)
        return
    fit.write(arguments.out)
    print(f"{arguments.steps} steps of {len(fit.runs)} priors side by side, {arguments.critic_steps} critic steps each: {fit.seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
