# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Networks from the weights that other libraries save: what `mixcert import` does, in memory (docs/import.md)."""

from __future__ import annotations

import os
from typing import Any, List, Mapping, Optional, Sequence

from . import _core
from ._network import Network


def import_weights(
    weights: Any,
    library: str,
    arch: str,
    *,
    activation: str = "relu",
    layers: Optional[Sequence[str]] = None,
    project: Optional[str] = None,
    scales: Optional[str] = None,
    swag_scale: Optional[float] = None,
) -> Network:
    """The network whose weights `library` holds in `weights`: arrays by name in the order of the layers, or a
    file .safetensors, .npz, .pt, .pth, or several files. Nothing in a file is executed.

    `library`: plain, bayesian-torch, blitz, torchbnn, bayesian-cnn, torch-uncertainty, pyro, pyro-diagonal,
    numpyro, ivon, vogn, laplace or swag. `arch`: widths "784-128-10" with `activation` between them, or a
    JSON list of layers. `layers`: their names in order. `project="per-layer"`: of a posterior that
    correlates layers keep the law of each, which certificates need. `scales`: "constrained" or
    "unconstrained", of Pyro and NumPyro.

    >>> weights = {"0.mu_weight": [[1.0, 2.0]], "0.rho_weight": [[-3.0, -3.0]]}
    >>> import_weights(weights, "bayesian-torch", "2-1").outputs
    1
    """
    if isinstance(weights, Mapping):
        return import_entries(
            [(str(name), value) for name, value in weights.items()],
            library,
            arch,
            activation=activation,
            layers=layers,
            project=project,
            scales=scales,
            swag_scale=swag_scale,
        )
    paths = [weights] if isinstance(weights, (str, os.PathLike)) else list(weights)
    if not paths:
        raise ValueError("weights: expected arrays by name or a file, got nothing")
    return Network._wrap(
        _core.import_weights(
            [os.fspath(path) for path in paths],
            True,
            True,
            library,
            arch,
            activation,
            list(layers or []),
            *_choices(project, scales, swag_scale),
        )
    )


def import_entries(
    entries: List[Any],
    library: str,
    arch: str,
    *,
    activation: str = "relu",
    layers: Optional[Sequence[str]] = None,
    project: Optional[str] = None,
    scales: Optional[str] = None,
    swag_scale: Optional[float] = None,
) -> Network:
    """The same from pairs of a name and an array."""
    return Network._wrap(
        _core.import_weights(
            entries,
            False,
            True,
            library,
            arch,
            activation,
            list(layers or []),
            *_choices(project, scales, swag_scale),
        )
    )


def _choices(project: Optional[str], scales: Optional[str], swag_scale: Optional[float]) -> Any:
    if project not in (None, "per-layer"):
        raise ValueError(f"project: expected 'per-layer', got {project!r}")
    if scales not in (None, "constrained", "unconstrained"):
        raise ValueError(f"scales: expected 'constrained' or 'unconstrained', got {scales!r}")
    if swag_scale is not None and not 0.0 < float(swag_scale) < 1e150:
        raise ValueError(f"swag_scale: expected a finite number above 0, got {swag_scale!r}")
    constrained = None if scales is None else scales == "constrained"
    return project is not None, constrained, None if swag_scale is None else float(swag_scale)


def from_torch(
    module: Any,
    posterior: Any = None,
    *,
    library: Optional[str] = None,
    input_shape: Any = None,
    dropout: bool = True,
    project: Optional[str] = None,
    scales: Optional[str] = None,
    swag_scale: Optional[float] = None,
) -> Network:
    """The network of a torch module: layers in the order in which its forward applies them, weights with the
    law that its library gives them.

    `module` is a torch.nn.Module of plain layers (weights that are not random), of Bayesian layers
    (bayesian-torch, blitz, torchbnn, PyTorch-BayesianCNN, torch-uncertainty), of SWAG, or a Laplace object.
    `posterior` is what holds the law where the module does not: a guide of Pyro (its parameters are named
    after the module's), an optimizer of IVON or VOGN, a Laplace object, or arrays by name. `library` says
    whose formulas hold; by default the names of the arrays do.

    Dropout is random, as in Monte Carlo dropout, unless it is written with training=False; `dropout=False`
    leaves it out, as module.eval() does. Batch norm uses its running statistics. `input_shape` = (channels,
    height, width) of images, (channels, length) of sequences. A softmax at the end is left out, and several
    outputs follow one another; `assumptions` says so. The other arguments are those of :func:`import_weights`.

    The network is compared with the module's own forward, both without noise; what could not be compared is
    among its `assumptions`. ValueError: a layer or an argument without the same meaning here, or a difference.
    The module stays as it is.

        model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))
        network = mixcert.from_torch(model)
    """
    from ._from_torch import convert

    return convert(
        module,
        posterior,
        library=library,
        input_shape=input_shape,
        dropout=dropout,
        project=project,
        scales=scales,
        swag_scale=swag_scale,
    )
