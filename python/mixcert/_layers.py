# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Layers of a network, from arrays. Names and shapes are those of docs/model-format.md.

A list of layers is a graph: every layer may have a `name`, and `inputs`, the names of earlier layers that it sees
("input" for the network's input). Without `inputs` it sees the layer before it."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arguments import pair, whole_number


class Layer:
    """One layer of a network. What a network gives back are the classes of this module too:
    `isinstance(net.layers[0], mixcert.Dense)`."""

    __slots__ = ("_core",)
    _type = ""

    def __init__(self) -> None:
        raise TypeError("Layer: expected one of its classes, such as mixcert.Dense")

    @property
    def type(self) -> str:
        """As model files spell it: "dense", "conv2d", .."""
        return self._core.type

    @property
    def name(self) -> str:
        """By which other layers name it; empty: they cannot."""
        return self._core.name

    @property
    def inputs(self) -> List[str]:
        """Names of the layers that it sees; empty: the one before it."""
        return self._core.inputs

    @property
    def arrays(self) -> Dict[str, np.ndarray]:
        """Its numbers under the names of the keywords; empty where it has none."""
        return self._core.arrays

    def _become(self, core: Any, name: str = "", inputs: Sequence[str] = ()) -> None:
        """The layer as an entry of a graph; `name` where its tensors have none."""
        if isinstance(inputs, str):
            raise TypeError(f"inputs: expected a list of names, got {inputs!r}")
        seen = [str(one) for one in inputs]
        self._core = _core.seeing(core, name, seen) if name or seen else core

    def __repr__(self) -> str:
        return repr(self._core)


LayerLike = Union[Layer, str]


def core_of(layer: LayerLike) -> Any:
    """Of a layer, or of the name of an activation."""
    if isinstance(layer, str):
        return Activation(layer)._core
    if isinstance(layer, Layer):
        return layer._core
    hint = "; mixcert.from_torch(module) reads whole modules" if hasattr(layer, "state_dict") else ""
    raise TypeError(f"layers: expected a layer or the name of an activation, got {type(layer).__name__}{hint}")


def layer_of(core: Any) -> Layer:
    """The layer of the class that its type has."""
    chosen = next(one for one in Layer.__subclasses__() if one._type == core.type)
    layer = chosen.__new__(chosen)
    layer._core = core
    return layer


class Dense(Layer):
    """y = W a + b with random W of mean `weight` [out, in] and random b of mean `bias` [out].

    At most one of these laws of W; nothing given means that W is its mean:

    ==================================================  =====================================================
    weight_variance [out, in]                           independent entries (`law`: their shape)
    row_covariance R, column_covariance C               Cov(W_ij, W_kl) = R_ik C_jl
    row_basis U, column_basis V, weight_variance        W - M = U X V', entries of X independent
    factor F [out*in, rank], weight_variance            Cov(vec W) = diag(vec variance) + F F'
    weight_covariance [out*in, out*in]                  Cov(vec W), vec row by row
    covariance [out*(in+1), out*(in+1)]                 of the rows of [W, b]
    ==================================================  =====================================================

    The bias has independent entries of `bias_variance` [out] or a covariance `bias_covariance` [out, out].
    A factor may reach into the bias (`bias_factor` [out, rank]), and with `common_factor` its normals are those of
    all layers that say so: such a network can be sampled and linearised, and has no certificate.
    `law` is normal, laplace, uniform or student_t with `degrees` of freedom.

    >>> Dense([[1.0, 2.0]], weight_variance=[[0.1, 0.1]])
    <mixcert layer: dense ''>
    """

    __slots__ = ()
    _type = "dense"

    def __init__(
        self,
        weight: Any,
        bias: Any = None,
        *,
        weight_variance: Any = None,
        bias_variance: Any = None,
        row_covariance: Any = None,
        column_covariance: Any = None,
        row_basis: Any = None,
        column_basis: Any = None,
        factor: Any = None,
        bias_factor: Any = None,
        common_factor: bool = False,
        weight_covariance: Any = None,
        covariance: Any = None,
        bias_covariance: Any = None,
        law: str = "normal",
        degrees: float = 0.0,
        name: str = "",
        inputs: Sequence[str] = (),
    ) -> None:
        arrays = {
            "weight": weight,
            "bias": bias,
            "weight_variance": weight_variance,
            "bias_variance": bias_variance,
            "row_covariance": row_covariance,
            "column_covariance": column_covariance,
            "row_basis": row_basis,
            "column_basis": column_basis,
            "factor": factor,
            "bias_factor": bias_factor,
            "common_factor": bool(common_factor),
            "weight_covariance": weight_covariance,
            "covariance": covariance,
            "bias_covariance": bias_covariance,
        }
        self._become(_core.dense(name, arrays, law, float(degrees)), inputs=inputs)


class Conv2d(Layer):
    """2-D convolution with kernels `weight` [out, in / groups, height, width] of images `image` = (H, W).

    Each parameter is one random number, shared by all positions of the image."""

    __slots__ = ()
    _type = "conv2d"

    def __init__(
        self,
        weight: Any,
        bias: Any = None,
        *,
        image: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_variance: Any = None,
        bias_variance: Any = None,
        name: str = "",
        inputs: Sequence[str] = (),
    ) -> None:
        arrays = {
            "weight": weight,
            "bias": bias,
            "weight_variance": weight_variance,
            "bias_variance": bias_variance,
        }
        layer = _core.conv2d(
            name,
            arrays,
            pair(image, "image"),
            pair(stride, "stride"),
            pair(padding, "padding"),
            pair(dilation, "dilation"),
            whole_number(groups, "groups", 1),
        )
        self._become(layer, inputs=inputs)


class BatchNorm(Layer):
    """weight (x - running_mean) / sqrt(running_variance + epsilon) + bias, one entry per channel."""

    __slots__ = ()
    _type = "batch_norm"

    def __init__(
        self,
        weight: Any,
        bias: Any,
        running_mean: Any,
        running_variance: Any,
        *,
        epsilon: float = 1e-5,
        name: str = "",
        inputs: Sequence[str] = (),
    ) -> None:
        arrays = {
            "weight": weight,
            "bias": bias,
            "running_mean": running_mean,
            "running_variance": running_variance,
        }
        self._become(_core.batch_norm(name, arrays, float(epsilon)), inputs=inputs)


class Activation(Layer):
    """identity, relu, leaky_relu or prelu (with `slope`, 0.01), tanh, sigmoid, erf, gelu, silu, softplus, elu
    and celu (with `alpha`, 1), relu6, hardtanh (with `lower` and `upper`, -1 and 1), hardsigmoid, hardswish,
    selu, softsign, mish, logsigmoid or tanhshrink. In a list of layers the name alone stands for it."""

    __slots__ = ()
    _type = "activation"

    def __init__(
        self,
        function: str,
        *,
        slope: Optional[float] = None,
        lower: Optional[float] = None,
        upper: Optional[float] = None,
        alpha: Optional[float] = None,
        name: str = "",
        inputs: Sequence[str] = (),
    ) -> None:
        given = {"slope": slope, "lower": lower, "upper": upper, "alpha": alpha}
        parameters = {key: float(value) for key, value in given.items() if value is not None}
        self._become(_core.activation(function, parameters), name, inputs)


class AvgPool2d(Layer):
    """Means of windows; zeros of the padding count. The stride is the kernel where not given."""

    __slots__ = ()
    _type = "avg_pool2d"

    def __init__(
        self,
        kernel: Any, *, stride: Any = None, padding: Any = 0, name: str = "", inputs: Sequence[str] = ()
    ) -> None:
        step = kernel if stride is None else stride
        layer = _core.avg_pool2d(pair(kernel, "kernel"), pair(step, "stride"), pair(padding, "padding"))
        self._become(layer, name, inputs)


class MaxPool2d(Layer):
    """Largest values of windows; the padding is left out."""

    __slots__ = ()
    _type = "max_pool2d"

    def __init__(
        self,
        kernel: Any, *, stride: Any = None, padding: Any = 0, name: str = "", inputs: Sequence[str] = ()
    ) -> None:
        step = kernel if stride is None else stride
        layer = _core.max_pool2d(pair(kernel, "kernel"), pair(step, "stride"), pair(padding, "padding"))
        self._become(layer, name, inputs)


class Flatten(Layer):
    """An image as a vector."""

    __slots__ = ()
    _type = "flatten"

    def __init__(self, *, name: str = "", inputs: Sequence[str] = ()) -> None:
        self._become(_core.flatten(), name, inputs)


class Dropout(Layer):
    """Independent factors: 0 with probability `rate`, otherwise 1 / (1 - rate)."""

    __slots__ = ()
    _type = "dropout"

    def __init__(self, rate: float, *, name: str = "", inputs: Sequence[str] = ()) -> None:
        self._become(_core.dropout(float(rate)), name, inputs)


class Dropout2d(Layer):
    """The same with one factor for all pixels of a channel."""

    __slots__ = ()
    _type = "dropout2d"

    def __init__(self, rate: float, *, name: str = "", inputs: Sequence[str] = ()) -> None:
        self._become(_core.dropout2d(float(rate)), name, inputs)


class GaussianDropout(Layer):
    """Independent factors N(1, rate / (1 - rate))."""

    __slots__ = ()
    _type = "gaussian_dropout"

    def __init__(self, rate: float, *, name: str = "", inputs: Sequence[str] = ()) -> None:
        self._become(_core.gaussian_dropout(float(rate)), name, inputs)


class GaussianNoise(Layer):
    """Adds independent N(0, std^2) to every value."""

    __slots__ = ()
    _type = "gaussian_noise"

    def __init__(self, std: float, *, name: str = "", inputs: Sequence[str] = ()) -> None:
        self._become(_core.gaussian_noise(float(std)), name, inputs)


class Residual(Layer):
    """S(x) + F(x), F the layers and S those of the skip: x itself where it has none."""

    __slots__ = ()
    _type = "residual"

    def __init__(
        self,
        layers: Iterable[LayerLike],
        skip: Iterable[LayerLike] = (),
        *,
        name: str = "",
        inputs: Sequence[str] = (),
    ) -> None:
        layer = _core.residual([core_of(one) for one in layers], [core_of(one) for one in skip])
        self._become(layer, name, inputs)


class LayerMixture(Layer):
    """One of several dense layers, drawn with its weight (None: all alike)."""

    __slots__ = ()
    _type = "mixture"

    def __init__(
        self,
        weights: Optional[Iterable[float]],
        layers: Iterable[Layer],
        *,
        name: str = "",
        inputs: Sequence[str] = (),
    ) -> None:
        members = list(layers)
        shares = [1.0 / max(len(members), 1)] * len(members) if weights is None else [float(w) for w in weights]
        self._become(_core.mixture_of_layers(shares, [core_of(one) for one in members]), name, inputs)
