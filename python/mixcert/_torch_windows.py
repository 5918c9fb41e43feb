# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Windows that move over images and sequences: sizes of what they give, and the pools, as entries of an
architecture. A sequence (channels, length) is an image of height 1."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from ._torch_graph import Entry, Graph, Unsupported, Value


def sizes(value: Any, axes: int = 2) -> Tuple[int, int]:
    """(height, width) of an argument of a window over `axes` axes."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes
    if len(values) == 1:
        values *= axes
    if len(values) != axes or not all(isinstance(n, int) for n in values):
        raise Unsupported(f"expected {axes} whole numbers, got {value!r}")
    return (values[0], values[1]) if axes == 2 else (1, values[0])


def positions(image: Tuple[int, ...], entry: Entry, dilation: Tuple[int, ...] = (1, 1)) -> Tuple[int, ...]:
    """Per axis: floor((H + 2 P - D (K - 1) - 1) / S) + 1."""
    kernel, stride, padding = entry["kernel"], entry["stride"], entry["padding"]
    found = tuple(
        (size + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1
        for i, size in enumerate(image[1:])
    )
    if min(found) < 1:
        raise Unsupported(f"its window does not fit the image, {image[1]} x {image[2]}")
    return found


def positions_up(image: Tuple[int, ...], entry: Entry) -> Tuple[int, ...]:
    """Those of torch's ceil_mode: rounded up, and the last window begins in the image or the padding before it."""
    found = []
    for size, kernel, stride, padding in zip(image[1:], entry["kernel"], entry["stride"], entry["padding"]):
        count = -((kernel - size - 2 * padding) // stride) + 1
        found.append(count - 1 if (count - 1) * stride >= size + padding else count)
    return tuple(found)


def batched(shape: Tuple[int, ...]) -> int:
    """Axes of a window behind the channels: 2 of an image, 1 of a sequence."""
    return len(shape) - 1


def require_axes(value: Value, axes: int, what: str) -> None:
    if value.shape == (None,):
        names = "(channels, height, width)" if axes == 2 else "(channels, length)"
        raise Unsupported(f"{what} needs input_shape={names}")
    if batched(value.shape) != axes:
        kind = "an image (channels, height, width)" if axes == 2 else "a sequence (channels, length)"
        raise Unsupported(f"{what} needs {kind} before it, not {value.shape}")


def pool(
    graph: Graph, value: Value, kind: str, axes: int, kernel: Any, stride: Any, padding: Any, ceil: bool
) -> Value:
    require_axes(value, axes, "a pool")
    step = kernel if stride is None or stride == () else stride
    moves: Dict[str, Any] = {
        "type": kind,
        "kernel": list(sizes(kernel, axes)),
        "stride": list(sizes(step, axes)),
        "padding": list(sizes(padding, axes)),
    }
    if axes == 1:
        moves["padding"][0], moves["stride"][0] = 0, 1
    before = graph.image(value)
    image = (before.form[0], *positions(before.form, moves))
    if ceil and image != (before.form[0], *positions_up(before.form, moves)):
        raise Unsupported(f"ceil_mode=True with windows that reach beyond the image {tuple(value.shape[1:])}; only whole windows are there")
    return graph.put(before, moves, image if axes == 2 else (image[0], image[2]), image)


def average_pool(axes: int) -> Any:
    def make(
        graph: Graph,
        value: Value,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: bool,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Value:
        if divisor_override is not None:
            raise Unsupported(f"argument divisor_override={divisor_override!r}; only None is there")
        if not count_include_pad and any(sizes(padding, axes)[2 - axes :]):
            raise Unsupported("argument count_include_pad=False; averages that leave the padding out are not there")
        return pool(graph, value, "avg_pool2d", axes, kernel_size, stride, padding, ceil_mode)

    return make


def max_pool(axes: int) -> Any:
    def make(
        graph: Graph, value: Value, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
    ) -> Value:
        if sizes(dilation, axes) != (1, 1):
            raise Unsupported(f"argument dilation={dilation!r}; only 1 is there")
        return pool(graph, value, "max_pool2d", axes, kernel_size, stride, padding, ceil_mode)

    return make


def adaptive_pool(axes: int, kind: str) -> Any:
    def make(graph: Graph, value: Value, output_size: Any) -> Value:
        require_axes(value, axes, "a pool")
        given: Any = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * axes
        image = value.shape[1:]
        wanted = tuple(have if want is None else int(want) for want, have in zip(given, image))
        if any(want < 1 or have % want for have, want in zip(image, wanted)):
            raise Unsupported(f"output size {wanted} does not divide the image {image}")
        kernel = tuple(have // want for have, want in zip(image, wanted))
        return pool(graph, value, kind, axes, kernel, kernel, 0, False)

    return make


def same_padding(kernel: Tuple[int, ...], dilation: Tuple[int, ...]) -> Tuple[int, int]:
    total = [d * (k - 1) for k, d in zip(kernel, dilation)]
    if any(t % 2 for t in total):
        raise Unsupported("padding 'same' of an even kernel pads one side more than the other")
    return total[0] // 2, total[1] // 2


def convolution(
    graph: Graph, value: Value, name: Optional[str], module: Any, weight_shape: Tuple[int, ...], numbers: Any = None
) -> Value:
    """A convolution whose weights have the shape [out, in / groups, *kernel]: those of the module `name`, or `numbers`."""
    axes = len(weight_shape) - 2
    require_axes(value, axes, "a convolution")
    if getattr(module, "padding_mode", "zeros") != "zeros":
        raise Unsupported(f"padding_mode {module.padding_mode!r}; only 'zeros' is there")
    kernel = sizes(tuple(int(n) for n in weight_shape[2:]), axes)
    dilation = sizes(getattr(module, "dilation", 1), axes)
    padding: Tuple[int, int] = (0, 0)
    if module.padding == "same":
        padding = same_padding(kernel, dilation)
    elif module.padding != "valid":
        padding = sizes(module.padding, axes)
    if axes == 1:
        padding = (0, padding[1])
    return put_convolution(
        graph, value, name, weight_shape, kernel, sizes(module.stride, axes), padding, dilation,
        int(getattr(module, "groups", 1)), "sequence" if axes == 1 else None, numbers,
    )


def put_convolution(
    graph: Graph,
    value: Value,
    name: Optional[str],
    weight_shape: Tuple[int, ...],
    kernel: Tuple[int, int],
    stride: Tuple[int, int],
    padding: Tuple[int, int],
    dilation: Tuple[int, int],
    groups: int,
    change: Optional[str],
    numbers: Any = None,
) -> Value:
    before = graph.image(value, sized=False)
    channels, height, width = before.form
    if channels != int(weight_shape[1]) * groups:
        raise Unsupported(f"expected {int(weight_shape[1]) * groups} channels before it, got {channels}")
    entry: Entry = {
        "type": "conv2d",
        "in": channels,
        "out": int(weight_shape[0]),
        "height": height,
        "width": width,
        "kernel": list(kernel),
        "stride": list(stride),
        "padding": list(padding),
        "dilation": list(dilation),
        "groups": groups,
    }
    if name is None:
        entry["made"] = numbers.reshape(*weight_shape[:2], *kernel)
    else:
        entry["name"] = graph.weights(name, change)
    image = (entry["out"], *positions(before.form, entry, dilation))
    shape = image if len(value.shape) == 3 else (image[0], image[2])
    return graph.put(before, entry, shape, image, sized=True)


def transposed_convolution(
    graph: Graph, value: Value, name: str, module: Any, weight_shape: Tuple[int, ...]
) -> Value:
    """Weights [in, out / groups, *kernel]. At stride 1 it is the convolution with flipped kernels whose
    padding is D (K - 1) - P: y_j = sum_i x_i w_(j + P - D i)."""
    axes = len(weight_shape) - 2
    require_axes(value, axes, "a transposed convolution")
    kernel = sizes(tuple(int(n) for n in weight_shape[2:]), axes)
    stride, dilation = sizes(module.stride, axes), sizes(getattr(module, "dilation", 1), axes)
    padding, groups = sizes(module.padding, axes), int(getattr(module, "groups", 1))
    if stride != (1, 1) or any(sizes(getattr(module, "output_padding", 0), axes)[2 - axes :]):
        raise Unsupported(
            f"a transposed convolution of stride {module.stride!r}; only those of stride 1 without output padding, "
            "which are convolutions, are there"
        )
    own = tuple(d * (k - 1) - p for k, d, p in zip(kernel, dilation, padding))
    if axes == 1:
        own = (0, own[1])
    if min(own) < 0:
        raise Unsupported(f"a transposed convolution whose padding {module.padding!r} is wider than its kernel")
    turned = (int(weight_shape[1]) * groups, int(weight_shape[0]) // groups, *weight_shape[2:])
    return put_convolution(
        graph, value, name, turned, kernel, stride, (own[0], own[1]), dilation, groups, f"transposed {groups}"
    )
