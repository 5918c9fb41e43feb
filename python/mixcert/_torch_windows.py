# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Windows that move over images: sizes of what they give, and the pools, as entries of an architecture."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

Entry = Dict[str, Any]
Shape = Optional[Tuple[int, ...]]  # (channels, height, width) of an image; None: a vector


class Unsupported(ValueError):
    """A layer that cannot be taken; its text goes on where the caller has named it."""


def pair(value: Any) -> Tuple[int, int]:
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return int(values[0]), int(values[-1])


def window(shape: Tuple[int, ...], entry: Entry, dilation: Tuple[int, ...] = (1, 1)) -> Tuple[int, ...]:
    """Positions per axis: floor((H + 2 P - D (K - 1) - 1) / S) + 1."""
    kernel, stride, padding = entry["kernel"], entry["stride"], entry["padding"]
    return tuple(
        (size + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1
        for i, size in enumerate(shape[1:])
    )


def pool(kind: str, shape: Shape, kernel: Any, stride: Any, padding: Any, ceil: bool) -> Tuple[Entry, Shape]:
    if shape is None:
        raise Unsupported("a pool needs an image before it")
    if ceil:
        raise Unsupported("argument ceil_mode=True; only False is there")
    step = kernel if stride is None or stride == () else stride
    entry = {
        "type": kind,
        "kernel": list(pair(kernel)),
        "stride": list(pair(step)),
        "padding": list(pair(padding)),
    }
    return entry, (shape[0], *window(shape, entry))


def average_pool(
    shape: Shape,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: Any,
) -> Tuple[Entry, Shape]:
    if divisor_override is not None:
        raise Unsupported(f"argument divisor_override={divisor_override!r}; only None is there")
    if not count_include_pad and any(pair(padding)):
        raise Unsupported("argument count_include_pad=False; averages that leave the padding out are not there")
    return pool("avg_pool2d", shape, kernel_size, stride, padding, ceil_mode)


def adaptive_pool(shape: Shape, output_size: Any) -> Tuple[Entry, Shape]:
    if shape is None:
        raise Unsupported("a pool needs an image before it")
    sizes: Any = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * 2
    wanted = tuple(have if want is None else int(want) for want, have in zip(sizes, shape[1:]))
    if any(want < 1 or have % want for have, want in zip(shape[1:], wanted)):
        raise Unsupported(f"output size {wanted} does not divide the image {shape[1:]}")
    kernel = tuple(have // want for have, want in zip(shape[1:], wanted))
    return pool("avg_pool2d", shape, kernel, kernel, 0, False)


def max_pool(
    shape: Shape, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Tuple[Entry, Shape]:
    if pair(dilation) != (1, 1):
        raise Unsupported(f"argument dilation={dilation!r}; only 1 is there")
    return pool("max_pool2d", shape, kernel_size, stride, padding, ceil_mode)
