# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Networks and samples of their outputs."""

from __future__ import annotations

import os
from typing import Any, Iterable, List

import numpy as np

from . import _core
from ._arguments import seed_number, whole_number
from ._layers import Layer, LayerLike, core_of, layer_of


class Network:
    """A stochastic network: layers from input to output, independent of each other. Immutable.

    `layers` holds :func:`mixcert.Dense` and the other layers; a string is an activation.

    >>> from mixcert import Dense
    >>> net = Network([Dense([[1.0], [2.0]]), "tanh", Dense([[1.0, 1.0]], weight_variance=[[0.1, 0.1]])])
    >>> net.inputs, net.outputs
    (1, 1)
    """

    __slots__ = ("_core",)

    def __init__(self, layers: Iterable[LayerLike]) -> None:
        self._core = _core.network([core_of(layer) for layer in layers])

    @classmethod
    def _wrap(cls, core: Any) -> "Network":
        network = cls.__new__(cls)
        network._core = core
        return network

    @classmethod
    def load(cls, path: Any) -> "Network":
        """The network of a model file (.safetensors, docs/model-format.md)."""
        return cls._wrap(_core.load_network(os.fspath(path)))

    @classmethod
    def ensemble(cls, networks: Iterable["Network"], weights: Any = None) -> "Network":
        """One of several networks, drawn with its weight (default: all alike). The output law is the
        mixture of theirs, p = sum_i w_i p_i."""
        return cls._wrap(_core.ensemble([network._core for network in networks], weights))

    def with_input_noise(self, std: float) -> "Network":
        """The network behind independent Gaussian noise N(0, std^2) on every feature: randomised smoothing,
        sensors. The same as --input-std."""
        deviation = float(std)
        if not 0.0 <= deviation < 1e150:
            raise ValueError(f"std: expected a finite number of at least 0, got {std!r}")
        return self if deviation == 0.0 else Network._wrap(self._core.with_input_noise(deviation))

    def functional(self, text: str) -> "Network":
        """The network whose one output is a sum of all, such as "y0 - y3", the difference of two logits. Its law
        is known far better than that of all outputs together.

        >>> from mixcert import Dense
        >>> net = Network([Dense([[1.0], [2.0]], weight_variance=[[0.1], [0.2]])])
        >>> net.functional("y0 - y1").outputs
        1
        """
        return Network._wrap(self._core.functional(str(text)))

    def save(self, path: Any) -> None:
        """Writes a model file, atomically."""
        self._core.save(os.fspath(path))

    @property
    def inputs(self) -> int:
        """Features of one input."""
        return self._core.inputs

    @property
    def outputs(self) -> int:
        """Outputs at one input."""
        return self._core.outputs

    @property
    def layers(self) -> List[Layer]:
        """The layers as they were given; empty for an ensemble."""
        return [layer_of(core) for core in self._core.layers]

    @property
    def assumptions(self) -> List[str]:
        """What was left out when the network was imported; empty for most."""
        return self._core.assumptions

    def inspect(self) -> str:
        """What `mixcert inspect` prints: layers, laws, constants and gains."""
        return self._core.inspect()

    def __repr__(self) -> str:
        return f"<mixcert.Network: {self._core.words}>"


def simulate(
    network: Network, inputs: Any, samples: int = 10000, joint: bool = False, seed: int = 0, threads: int = 0
) -> np.ndarray:
    """Monte Carlo samples of the network's outputs, [inputs, samples, outputs]; [samples, outputs] for one
    input without the axis of inputs. With `joint` all inputs share each draw of the weights. Samples depend
    on the seed, not on the number of threads.

    >>> from mixcert import Dense
    >>> net = Network([Dense([[1.0]], weight_variance=[[0.25]])])
    >>> simulate(net, [1.0, 2.0], samples=100).shape
    (2, 100, 1)
    """
    if not isinstance(network, Network):
        raise TypeError(f"network: expected a mixcert.Network, got {type(network).__name__}")
    return network._core.simulate(
        inputs,
        whole_number(samples, "samples", 1, 1000000000),
        bool(joint),
        seed_number(seed),
        whole_number(threads, "threads", 0, 4096),
    )
