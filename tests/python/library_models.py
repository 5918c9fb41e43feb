# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Small models of each library, for scripts/compare_libraries: with stand-ins that have the library's parameters and
draws (3-4-2), and, where a checkout of it is given, with its own classes (3-16-2)."""

import importlib
import sys
from typing import Any, Callable, Dict, NamedTuple, Optional

import numpy as np
import stand_ins
import torch
from torch import nn


class Model(NamedTuple):
    module: Any
    posterior: Any
    draw: Optional[Callable[[Any, int], np.ndarray]]  # of one input, [draws, outputs]; None: forwards of the module


def stand_in(name):
    """Draws of posteriors beside a module are made from their documented law; modules draw themselves."""
    case = {**stand_ins.CASES, **stand_ins.PROJECTED}[name](np.random.default_rng(7))
    draws_itself = case.posterior is None and isinstance(case.module, nn.Module) and name != "swag-diag"
    from_truth = lambda x, count: stand_ins.sample(case.truth, x, count, np.random.default_rng(1))
    return Model(case.module, case.posterior, None if draws_itself else from_truth)


def dropout_model():
    torch.manual_seed(0)
    return Model(nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2)), None, None)


# With the library's own classes; each needs its package on the path.


def two_layers(make):
    torch.manual_seed(0)
    return nn.Sequential(make(3, 16), nn.ReLU(), make(16, 2))


def bayesian_torch():
    layer = importlib.import_module("bayesian_torch.layers").LinearReparameterization

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden, self.final = layer(3, 16, posterior_rho_init=-1.5), layer(16, 2, posterior_rho_init=-1.5)

        def forward(self, x):
            x, first = self.hidden(x)
            x, second = self.final(torch.relu(x))
            return x, first + second

    torch.manual_seed(0)
    return Model(Net(), None, None)


def blitz():
    layer = importlib.import_module("blitz.modules").BayesianLinear
    return Model(two_layers(lambda i, o: layer(i, o, posterior_rho_init=-1.5)), None, None)


def torchbnn():
    layer = importlib.import_module("torchbnn").BayesLinear
    return Model(two_layers(lambda i, o: layer(prior_mu=0, prior_sigma=0.2, in_features=i, out_features=o)), None, None)


def bayesian_cnn():
    layer = importlib.import_module("layers.BBB.BBBLinear").BBBLinear
    priors = {"prior_mu": 0, "prior_sigma": 0.1, "posterior_mu_initial": (0, 0.3), "posterior_rho_initial": (-1.5, 0.1)}
    return Model(two_layers(lambda i, o: layer(i, o, priors=priors)), None, None)


def torch_uncertainty():
    layer = importlib.import_module("torch_uncertainty.layers.bayesian").BayesLinear
    return Model(two_layers(lambda i, o: layer(i, o, sigma_init=-1.5)), None, None)


def trained_plain():
    torch.manual_seed(0)
    x = torch.randn(64, 3)
    return two_layers(nn.Linear), x, torch.stack([x.sum(1), x[:, 0] * x[:, 1]], 1)


def ivon():
    make = importlib.import_module("ivon").IVON
    module, x, y = trained_plain()
    optimizer = make(module.parameters(), lr=0.05, ess=200.0, weight_decay=1e-3)
    for _ in range(300):
        with optimizer.sampled_params(train=True):
            optimizer.zero_grad()
            nn.functional.mse_loss(module(x), y).backward()
        optimizer.step()

    def draw(point, count):
        rows = []
        with torch.no_grad():
            for _ in range(count):
                with optimizer.sampled_params():
                    rows.append(module(torch.tensor(point, dtype=torch.float32)[None])[0].numpy().copy())
        return np.array(rows)

    return Model(module, optimizer, draw)


def laplace():
    make = importlib.import_module("laplace").Laplace
    module, x, y = trained_plain()
    posterior = make(module, "regression", subset_of_weights="all", hessian_structure="kron", prior_precision=5.0)
    posterior.fit(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=len(x)))

    def draw(point, count):
        rows, mean = [], posterior.mean.clone()
        with torch.no_grad():
            for sample in posterior.sample(count):
                nn.utils.vector_to_parameters(sample, module.parameters())
                rows.append(module(torch.tensor(point, dtype=torch.float32)[None])[0].numpy().copy())
            nn.utils.vector_to_parameters(mean, module.parameters())
        return np.array(rows)

    return Model(posterior, None, draw)


class Library(NamedTuple):
    title: str
    call: str  # the one line
    stand_in: Callable[[], Model]
    package: str = ""  # below the folder of a checkout; empty: torch alone
    real: Optional[Callable[[], Model]] = None


MODULE, BESIDE = "certify(module, x)", "certify(module, x, posterior={})"
LIBRARIES: Dict[str, Library] = {
    "bayesian-torch": Library("bayesian-torch", MODULE, lambda: stand_in("bayesian-torch"), "bayesian_torch", bayesian_torch),
    "blitz": Library("blitz", MODULE, lambda: stand_in("blitz"), "blitz", blitz),
    "torchbnn": Library("torchbnn", MODULE, lambda: stand_in("torchbnn"), "torchbnn", torchbnn),
    "bayesian-cnn": Library("PyTorch-BayesianCNN", MODULE, lambda: stand_in("bayesian-cnn"), "layers/BBB", bayesian_cnn),
    "torch-uncertainty": Library(
        "torch-uncertainty", MODULE, lambda: stand_in("torch-uncertainty"), "torch_uncertainty", torch_uncertainty
    ),
    "ivon": Library("IVON", BESIDE.format("optimizer"), lambda: stand_in("ivon"), "ivon", ivon),
    "laplace-diag": Library("laplace-torch, diagonal", "certify(laplace, x)", lambda: stand_in("laplace-diag")),
    "laplace-kron": Library("laplace-torch, Kronecker", "certify(laplace, x)", lambda: stand_in("laplace-kron"), "laplace", laplace),
    "pyro": Library("Pyro, AutoNormal", BESIDE.format("guide"), lambda: stand_in("pyro")),
    "swag-diag": Library("SWAG, diagonal", "certify(swag, x)", lambda: stand_in("swag-diag")),
    "dropout": Library("Monte Carlo dropout", MODULE, dropout_model),
}


def find_package(folder, package):
    """Puts a checkout on the path: DIR/PACKAGE, DIR/NAME/PACKAGE or DIR/NAME/src/PACKAGE. False where there is none."""
    for place in (folder, *sorted(folder.glob("*")), *sorted(folder.glob("*/src"))):
        if (place / package).is_dir():
            sys.path.insert(0, str(place))
            return True
    return False
