# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Gaussian mixtures with proven Wasserstein bounds for stochastic neural networks.

A stochastic network (random weights, dropout, noise) at an input x has an output law p. :func:`certify`
returns a Gaussian mixture q and a number ``w2_bound`` that is proven to be no smaller than the
2-Wasserstein distance W2(p, q), rounding of floating-point numbers included.

>>> import numpy as np
>>> import mixcert
>>> net = mixcert.Network([
...     mixcert.Dense([[1.0], [-2.0]], bias=[0.1, 0.3], weight_variance=[[0.04], [0.01]]),
...     "relu",
...     mixcert.Dense([[0.5, 0.25]], weight_variance=[[0.01, 0.01]]),
... ])
>>> result = mixcert.certify(net, [0.7], threads=1)[0]
>>> result.mixture.mean().shape
(1,)
>>> 0 < result.w2_bound < 0.1
True
"""

# The first, for it says what is missing.
from ._installation import __version__  # isort: skip

from . import kernels
from ._answers import (
    ClassProbabilities,
    CredibleIntervals,
    Interval,
    Marginal,
    Moments,
    Predictive,
    Probability,
    RobustClasses,
    SimulatedAnswers,
    SimulatedIntervals,
)
from ._certify import LongWorkWarning, WorkEstimate, certify, certify_box, estimate_work
from ._compare import MonteCarlo, compare
from ._comparison import Compared, Comparison
from ._graph_layers import Add, Affine, Concat, Mean, Reshape
from ._import import from_torch, import_weights
from ._layers import (
    Activation,
    AvgPool2d,
    BatchNorm,
    Conv2d,
    Dense,
    Dropout,
    Dropout2d,
    Flatten,
    GaussianDropout,
    GaussianNoise,
    Layer,
    LayerMixture,
    MaxPool2d,
    Residual,
)
from ._layer_table import LayerTable
from ._mixture import Mixture
from ._network import Network, simulate
from ._proof import NotProven, check
from ._result import Result
from ._result_list import ResultList, load_results
from ._robust import robust_classes
from ._transport import Quantization, gelbrich, mw2, quantize, wasserstein2
from ._tune import TuneResult, tune

__all__ = [
    "Activation",
    "Add",
    "Affine",
    "AvgPool2d",
    "BatchNorm",
    "ClassProbabilities",
    "Compared",
    "Comparison",
    "Concat",
    "Conv2d",
    "CredibleIntervals",
    "Dense",
    "Dropout",
    "Dropout2d",
    "Flatten",
    "GaussianDropout",
    "GaussianNoise",
    "Interval",
    "Layer",
    "LayerMixture",
    "LayerTable",
    "LongWorkWarning",
    "Marginal",
    "MaxPool2d",
    "Mean",
    "Mixture",
    "Moments",
    "MonteCarlo",
    "Network",
    "NotProven",
    "Predictive",
    "Probability",
    "Quantization",
    "Reshape",
    "Residual",
    "Result",
    "ResultList",
    "RobustClasses",
    "SimulatedAnswers",
    "SimulatedIntervals",
    "TuneResult",
    "WorkEstimate",
    "__version__",
    "certify",
    "certify_box",
    "check",
    "compare",
    "estimate_work",
    "from_torch",
    "gelbrich",
    "import_weights",
    "kernels",
    "load_results",
    "mw2",
    "quantize",
    "robust_classes",
    "simulate",
    "tune",
    "wasserstein2",
]
