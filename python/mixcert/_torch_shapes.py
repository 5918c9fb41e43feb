# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Shapes that forward asks for and changes: sizes, views, axes of one value, means over axes, and constants against
a value's shape. The first axis of every value counts inputs and stays the first."""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import numpy as np
import torch

from ._torch_graph import Features, Graph, Shape, Unsupported, Value, count


class _Batch:
    """The number of inputs, as forward sees it."""

    def __repr__(self) -> str:
        return "the batch's size"


BATCH = _Batch()


def sizes_of(value: Value) -> Tuple[Any, ...]:
    """What x.shape is; None stands for a number that no layer has told."""
    return (BATCH, *value.shape)


def is_size(value: Any) -> bool:
    """Whole numbers, and tuples of them."""
    if isinstance(value, (tuple, list)):
        return all(is_size(part) for part in value)
    return value is BATCH or (isinstance(value, int) and not isinstance(value, bool))


def axis(dim: Any, rank: int) -> int:
    """Of a value with `rank` axes behind the first: 0 is the first of them."""
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise Unsupported(f"an axis {dim!r}; expected a whole number")
    place = dim - 1 if dim >= 0 else rank + dim
    if place == -1:
        raise Unsupported(f"axis {dim} counts inputs and has to stay")
    if not 0 <= place < rank:
        raise Unsupported(f"axis {dim} of a value with {rank + 1} axes")
    return place


def reshaped(graph: Graph, value: Value, shape: Sequence[int]) -> Value:
    """The same numbers in another shape; a vector at once, since layers behind it may need one."""
    own = tuple(int(n) for n in shape)
    changed = value._replace(shape=own)
    return graph.vector(changed) if len(own) == 1 else changed


def viewed(graph: Graph, value: Value, sizes: Sequence[Any]) -> Value:
    """view and reshape: (batch, ...), the batch as -1 or as the input's own."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    if not sizes or not is_size(list(sizes)):
        raise Unsupported("expected sizes that are whole numbers")
    first, rest = sizes[0], list(sizes[1:])
    if first is not BATCH and first != -1:
        raise Unsupported(f"a first axis of {first!r} mixes inputs; expected -1 or the batch's size")
    if any(n is BATCH for n in rest) or rest.count(-1) > (0 if first == -1 else 1):
        raise Unsupported(f"sizes {list(sizes)!r}; expected the batch first, and -1 once")
    known = count([n for n in rest if n != -1])
    if value.shape == (None,):
        if rest == [-1]:
            return value
        if -1 in rest or len(rest) > 1:
            raise Unsupported("the input's size is not known; give input_shape=(features,)")
        raise Features(known)
    total = count(value.shape)
    whole = [total // max(known, 1) if n == -1 else n for n in rest]
    if count(whole) != total:
        raise Unsupported(f"sizes {list(sizes)!r} mix inputs; an input has {total} values here")
    return reshaped(graph, value, whole)


def flattened(graph: Graph, value: Value, start_dim: int = 0, end_dim: int = -1) -> Value:
    if value.shape == (None,) and start_dim in (1, -1) and end_dim in (1, -1):
        return value
    rank = len(value.shape)
    ends = [dim if dim >= 0 else rank + 1 + dim for dim in (start_dim, end_dim)]
    if ends[0] < 1 or not ends[0] <= ends[1] <= rank:
        raise Unsupported(
            f"arguments start_dim={start_dim}, end_dim={end_dim}; only axes behind the first can be flattened"
        )
    shape = value.shape
    merged = count(shape[ends[0] - 1 : ends[1]])
    return reshaped(graph, value, (*shape[: ends[0] - 1], merged, *shape[ends[1] :]))


def unflattened(graph: Graph, value: Value, dim: Any, sizes: Any) -> Value:
    place = axis(dim, len(value.shape))
    new = [int(n) for n in sizes]
    if -1 in new:
        new[new.index(-1)] = value.shape[place] // max(count([n for n in new if n != -1]), 1)
    if count(new) != value.shape[place]:
        raise Unsupported(f"sizes {tuple(sizes)} of an axis of {value.shape[place]} values")
    return reshaped(graph, value, (*value.shape[:place], *new, *value.shape[place + 1 :]))


def require_shape(value: Value) -> None:
    if value.shape == (None,):
        raise Unsupported("the input's size is not known; give input_shape=(features,)")


def squeezed(graph: Graph, value: Value, dim: Any = None) -> Value:
    require_shape(value)
    if dim is None:
        return reshaped(graph, value, [n for n in value.shape if n != 1])
    place = axis(dim, len(value.shape))
    if value.shape[place] != 1:
        return value
    return reshaped(graph, value, (*value.shape[:place], *value.shape[place + 1 :]))


def unsqueezed(graph: Graph, value: Value, dim: int) -> Value:
    require_shape(value)
    place = axis(dim, len(value.shape) + 1)
    return reshaped(graph, value, (*value.shape[:place], 1, *value.shape[place:]))


def _axes(value: Value, dim: Any) -> List[int]:
    if dim is None:
        raise Unsupported("over all axes it mixes inputs; expected the axes, as mean((2, 3))")
    dims = list(dim) if isinstance(dim, (tuple, list)) else [dim]
    return sorted({axis(d, len(value.shape)) for d in dims})


def mean(graph: Graph, value: Value, dim: Any = None, keepdim: bool = False) -> Value:
    """Over the last axes; or over the rows of an image."""
    require_shape(value)
    axes, rank = _axes(value, dim), len(value.shape)
    kept = [n for i, n in enumerate(value.shape) if i not in axes]
    shape = [1 if i in axes else n for i, n in enumerate(value.shape)] if keepdim else kept
    if axes == list(range(rank - len(axes), rank)):
        if rank == 3 and len(axes) == 2:
            before = graph.image(value)
        else:  # the rest as channels
            before = graph.formed(value, (count(kept), 1, count(value.shape) // count(kept)), sized=True)
        return graph.put(before, {"type": "mean"}, tuple(shape), (before.form[0],), sized=True)
    if rank == 3 and axes == [1]:
        before = graph.image(value)
        window = [before.form[1], 1]
        entry = {"type": "avg_pool2d", "kernel": window, "stride": window, "padding": [0, 0]}
        return graph.put(before, entry, tuple(shape), (before.form[0], 1, before.form[2]))
    raise Unsupported("a mean over channels; only means over the last axes are there")


def total(graph: Graph, value: Value, dim: Any = None, keepdim: bool = False) -> Value:
    averaged = mean(graph, value, dim, keepdim)
    return graph.affine(averaged, float(count([value.shape[i] for i in _axes(value, dim)])), 0.0)


def spread(constant: Any, value: Value) -> np.ndarray:
    """A number or tensor as an array of the value's shape, as torch broadcasts it."""
    if not isinstance(constant, torch.Tensor):
        return np.asarray(float(constant))
    numbers = constant.detach().to("cpu", torch.float64).numpy()
    if numbers.size == 1:
        if numbers.ndim > len(value.shape) + 1:
            raise Unsupported(f"a tensor of shape {numbers.shape} gives the value more axes")
        return numbers.reshape(())
    if value.shape == (None,):
        raise Features(numbers.shape[-1])
    shape: Shape = value.shape
    if numbers.ndim > len(shape):
        if numbers.shape[0] != 1:
            raise Unsupported(f"a tensor of shape {numbers.shape} has other numbers for every input")
        numbers = numbers[0]
    try:
        return np.broadcast_to(numbers, shape).copy()
    except ValueError:
        raise Unsupported(f"a tensor of shape {numbers.shape} beside values of shape {shape}") from None


def concatenated(graph: Graph, values: Sequence[Value], dim: Any = 0) -> Value:
    """torch.cat along the channels of images or the features of vectors."""
    for value in values:
        require_shape(value)
    shapes = [value.shape for value in values]
    place = axis(dim, len(shapes[0]))
    if len({len(shape) for shape in shapes}) != 1 or len({shape[1:] for shape in shapes}) != 1 or place != 0:
        raise Unsupported(
            f"along axis {dim}, shapes {', '.join(map(str, shapes))}; only channels or features, axis 1, can be put together"
        )
    images = len(shapes[0]) in (2, 3)
    formed = [graph.image(value, sized=False) if images else graph.vector(value) for value in values]
    return graph.concat(formed, (sum(shape[0] for shape in shapes), *shapes[0][1:]))


def stacked(graph: Graph, values: Sequence[Value], dim: Any = 0) -> Value:
    """torch.stack along a new axis behind that of the inputs, or of single numbers."""
    for value in values:
        require_shape(value)
    shape = values[0].shape
    place = axis(dim, len(shape) + 1)
    if any(value.shape != shape for value in values) or count(shape[:place]) != 1:
        raise Unsupported(f"along axis {dim}; only axis 1 is there")
    both = graph.concat([graph.vector(value) for value in values], (len(values) * count(shape),))
    return reshaped(graph, both, (*shape[:place], len(values), *shape[place:]))
