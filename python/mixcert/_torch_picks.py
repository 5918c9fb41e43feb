# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Parts of values: slices, chunks, and padding with zeros, as layers whose weights are zeros and ones. Channels of an
image are picked by a convolution with 1 x 1 kernels, features of a vector by a dense layer."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ._torch_graph import Entry, Graph, Unsupported, Value
from ._torch_shapes import axis, require_shape, reshaped

_EVERY = slice(None, None, None)


def picked(
    graph: Graph,
    value: Value,
    places: Sequence[Optional[int]],
    stride: Tuple[int, int] = (1, 1),
    padding: Tuple[int, int] = (0, 0),
) -> Value:
    """Channels or features `places` in this order, zeros where there is None; of images every `stride`-th pixel, with
    `padding` around them."""
    require_shape(value)
    size = int(value.shape[0])
    if list(places) == list(range(size)) and stride == (1, 1) and padding == (0, 0):
        return value
    rows = np.zeros((len(places), size))
    for row, place in enumerate(places):
        if place is not None:
            rows[row, place] = 1.0
    if not places:
        raise Unsupported("nothing is left of a value")
    if len(value.shape) == 1:
        entry: Entry = {"type": "dense", "in": size, "out": len(places), "made": rows}
        return graph.put(graph.vector(value), entry, (len(places),), (len(places),), sized=True)
    before = graph.image(value, sized=False)
    height, width = before.form[1:]
    image = tuple((n + 2 * p - 1) // s + 1 for n, s, p in zip((height, width), stride, padding))
    entry = {
        "type": "conv2d",
        "in": size,
        "out": len(places),
        "height": height,
        "width": width,
        "kernel": [1, 1],
        "stride": list(stride),
        "padding": list(padding),
        "dilation": [1, 1],
        "groups": 1,
        "made": rows[:, :, None, None],
    }
    form = (len(places), *image)
    return graph.put(before, entry, form if len(value.shape) == 3 else (form[0], form[2]), form, sized=True)


def _index_parts(index: Any, rank: int) -> List[Any]:
    """One part for every axis of a value with `rank` axes behind the first, and None for each new one."""
    parts = list(index) if isinstance(index, tuple) else [index]
    axes = sum(part is not None and part is not Ellipsis for part in parts)
    rest = [_EVERY] * (rank + 1 - axes)
    place = next((i for i, part in enumerate(parts) if part is Ellipsis), None)
    parts = parts + rest if place is None else [*parts[:place], *rest, *parts[place + 1 :]]
    if parts[0] != _EVERY or axes > rank + 1:
        raise Unsupported("indexing of inputs; expected x[:, ...]")
    for part in parts[1:]:
        ends = (part.start, part.stop, part.step) if isinstance(part, slice) else part if isinstance(part, tuple) else (part,)
        if any(isinstance(end, bool) or not isinstance(end, (int, type(None))) for end in ends):
            raise Unsupported("an index that is no number, slice or list of numbers; one computed in forward is not there")
    return parts[1:]


def _places(part: Any, size: int) -> List[int]:
    """Of the first axis behind that of the inputs."""
    if isinstance(part, slice):
        return list(range(size))[part]
    wanted = part if isinstance(part, tuple) else (part,)
    if any(not -size <= place < size for place in wanted):
        raise Unsupported(f"index {part} of {size} channels or features")
    return [place % size for place in wanted]


def indexed(graph: Graph, value: Value, index: Any) -> Value:
    """x[:, a:b], x[:, 0], x[:, [0, 2]], x[:, None], x[:, :, ::2, ::2]: channels at will, every n-th pixel from the first
    on."""
    require_shape(value)
    parts = _index_parts(index, len(value.shape))
    axes = [part for part in parts if part is not None]
    steps: List[int] = []
    for part, size in zip(axes[1:], value.shape[1:]):
        start, stop, step = part.indices(size) if isinstance(part, slice) else (1, 0, 1)
        if start != 0 or step < 1 or stop != size:
            raise Unsupported("a part of an image; only every n-th pixel from the first to the last is there")
        steps.append(step)
    stride = (steps[0], steps[1]) if len(steps) == 2 else (1, steps[0] if steps else 1)
    made = picked(graph, value, _places(axes[0], int(value.shape[0])), stride)
    sizes = iter(made.shape)
    shape = [1 if part is None else next(sizes) if isinstance(part, (slice, tuple)) else -next(sizes) for part in parts]
    return reshaped(graph, made, [n for n in shape if n > 0])


def cut(graph: Graph, value: Value, sizes: Sequence[int], dim: Any) -> Tuple[Value, ...]:
    """Channels or features in runs of these sizes."""
    require_shape(value)
    if axis(dim, len(value.shape)) != 0:
        raise Unsupported(f"along axis {dim}; only channels or features, axis 1, can be taken apart")
    ends = np.cumsum([0, *sizes])
    if ends[-1] != value.shape[0]:
        raise Unsupported(f"sizes {list(sizes)} of {value.shape[0]} channels")
    return tuple(picked(graph, value, list(range(a, b))) for a, b in zip(ends[:-1], ends[1:]))


def chunked(graph: Graph, value: Value, chunks: int, dim: Any = 0) -> Tuple[Value, ...]:
    """torch.chunk: runs of ceil(size / chunks), the last one what is left."""
    require_shape(value)
    return split(graph, value, -(-int(value.shape[0]) // int(chunks)), dim)


def split(graph: Graph, value: Value, split_size: Any, dim: Any = 0) -> Tuple[Value, ...]:
    """torch.split: runs of one size, or of the sizes given."""
    require_shape(value)
    if isinstance(split_size, (tuple, list)):
        return cut(graph, value, [int(n) for n in split_size], dim)
    size, total = int(split_size), int(value.shape[0])
    return cut(graph, value, [min(size, total - begin) for begin in range(0, total, size)], dim)


def padded(graph: Graph, value: Value, pad: Any, mode: str, fill: Any) -> Value:
    """F.pad with zeros: the last axis first, equally many on both sides of an image; channels at will."""
    if mode != "constant" or fill not in (None, 0):
        raise Unsupported(f"arguments mode={mode!r}, value={fill!r}; only zeros are there")
    require_shape(value)
    pairs = [(int(a), int(b)) for a, b in zip(pad[::2], pad[1::2])]
    rank = len(value.shape)
    if len(pad) % 2 or len(pairs) > rank or any(min(pair) < 0 for pair in pairs):
        raise Unsupported(f"argument pad={tuple(pad)!r} of a value with {rank + 1} axes")
    sides = [(0, 0)] * (rank - len(pairs)) + pairs[::-1]  # channels first
    if any(a != b for a, b in sides[1:]):
        raise Unsupported("more zeros on one side of an image than on the other")
    around = [a for a, _ in sides[1:]]
    padding = (around[0], around[1]) if len(around) == 2 else (0, around[0] if around else 0)
    places: List[Optional[int]] = list(range(int(value.shape[0])))
    return picked(graph, value, [None] * sides[0][0] + places + [None] * sides[0][1], (1, 1), padding)
