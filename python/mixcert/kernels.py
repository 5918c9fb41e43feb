# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Covariance functions of Gaussian processes as objects (docs/prior-selection.md, K.1).

>>> from mixcert import kernels
>>> kernel = kernels.RBF(lengthscale=[1.0, 2.0]) + 0.5 * kernels.Periodic(period=3.0) + kernels.White(0.01)
>>> print(kernel)
rbf(lengthscale=[1, 2], variance=1) + constant(variance=0.5) * periodic(period=3, lengthscale=1, variance=1) + \
white(variance=0.01)
>>> kernel == kernels.Kernel(str(kernel))
True

`str(kernel)` is the text that `mixcert tune --kernel` takes, and :func:`mixcert.tune` takes both.
"""

from __future__ import annotations

import numbers
from typing import Any, Sequence, Union

import numpy as np

from . import _core

__all__ = [
    "RBF",
    "Constant",
    "Kernel",
    "Linear",
    "Matern12",
    "Matern32",
    "Matern52",
    "Periodic",
    "White",
]

Lengthscale = Union[float, Sequence[float], np.ndarray]


class Kernel:
    """A covariance function from its text; sums and products of kernels, and products with positive numbers, are
    kernels. ValueError where the text is no kernel.

    >>> Kernel("rbf(lengthscale=0.5)")
    <mixcert kernel: rbf(lengthscale=0.5, variance=1)>
    >>> Kernel("rbf(lengthscale=0.5)")([[0.0], [0.5]]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"kernel: expected text such as 'rbf(lengthscale=1)', got {type(text).__name__}")
        self._text = _core.kernel_text(text)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<mixcert kernel: {self._text}>"

    def __call__(self, inputs: Any) -> np.ndarray:
        """k(x_i, x_j) of the rows of `inputs` [n, features]; white noise is on the diagonal alone."""
        return _core.kernel_covariance(self._text, inputs)

    def __add__(self, other: Kernel) -> Kernel:
        return Kernel(f"{self} + {other}") if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: object) -> Kernel:
        # What sum([..]) begins with.
        return self if other == 0 else NotImplemented

    def __mul__(self, other: Union[Kernel, float]) -> Kernel:
        factor = Constant(other) if isinstance(other, numbers.Real) else other
        return Kernel(f"({self}) * ({factor})") if isinstance(factor, Kernel) else NotImplemented

    def __rmul__(self, other: float) -> Kernel:
        return Constant(other) * self if isinstance(other, numbers.Real) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Kernel) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)


def _number(value: Any, name: str) -> str:
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {value!r}") from None


def _numbers(value: Lengthscale, name: str) -> str:
    if np.ndim(value) == 0:
        return _number(value, name)
    return "[" + ", ".join(_number(one, name) for one in value) + "]"


class _Stationary(Kernel):
    __slots__ = ()
    _name = ""

    def __init__(self, lengthscale: Lengthscale = 1.0, variance: float = 1.0) -> None:
        scale, size = _numbers(lengthscale, "lengthscale"), _number(variance, "variance")
        super().__init__(f"{self._name}(lengthscale={scale}, variance={size})")


class RBF(_Stationary):
    """variance exp(-|x - x'|^2 / (2 lengthscale^2)); a list of length-scales has one for each feature."""

    __slots__ = ()
    _name = "rbf"


class Matern12(_Stationary):
    """variance exp(-r), r = |x - x'| / lengthscale."""

    __slots__ = ()
    _name = "matern12"


class Matern32(_Stationary):
    """variance (1 + a) exp(-a), a = 3^(1/2) |x - x'| / lengthscale."""

    __slots__ = ()
    _name = "matern32"


class Matern52(_Stationary):
    """variance (1 + a + a^2 / 3) exp(-a), a = 5^(1/2) |x - x'| / lengthscale."""

    __slots__ = ()
    _name = "matern52"


class Periodic(Kernel):
    """The product over features of exp(-2 sin^2(pi (x - x') / period) / lengthscale^2), times variance."""

    __slots__ = ()

    def __init__(self, period: float = 1.0, lengthscale: float = 1.0, variance: float = 1.0) -> None:
        given = {"period": period, "lengthscale": lengthscale, "variance": variance}
        super().__init__("periodic(" + ", ".join(f"{name}={_number(v, name)}" for name, v in given.items()) + ")")


class Linear(Kernel):
    """variance (x - center) . (x' - center)."""

    __slots__ = ()

    def __init__(self, variance: float = 1.0, center: float = 0.0) -> None:
        super().__init__(f"linear(variance={_number(variance, 'variance')}, center={_number(center, 'center')})")


class Constant(Kernel):
    """The same variance for all pairs of points."""

    __slots__ = ()

    def __init__(self, variance: float = 1.0) -> None:
        super().__init__(f"constant(variance={_number(variance, 'variance')})")


class White(Kernel):
    """Noise of its own at every point."""

    __slots__ = ()

    def __init__(self, variance: float = 1.0) -> None:
        super().__init__(f"white(variance={_number(variance, 'variance')})")
