# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The list of entries of a graph (docs/model-format.md): a chain without names that it does not need, residual blocks,
and otherwise entries that name what they see."""

from __future__ import annotations

from typing import Dict, List, Tuple

import numpy as np

from ._torch_graph import INPUT, START, Entry, Graph, Node, Shape, Value, Weights

_MAX_NESTING = 4  # of residual blocks


def entries_of(graph: Graph, result: Value) -> Tuple[List[Entry], Dict[str, np.ndarray], List[Weights]]:
    """The list, the tensors that are no module's, and the modules whose weights act."""
    nodes = _live(graph.nodes, result.node)
    if START in nodes:
        _see_start(nodes)
    _fold(nodes)
    if not _tells_input(nodes) and graph.nodes[START].entry["shape"] != [None]:
        nodes[START] = graph.nodes[START]
        _see_start(nodes)
    order = sorted(nodes)
    tensors: Dict[str, np.ndarray] = {}
    names = _names(nodes, order)
    entries = []
    for place, key in enumerate(order):
        before = order[place - 1] if place else INPUT
        entries.append(_written(nodes[key], key, before, names, tensors))
    acting = set(_layer_names(entries))
    return entries, tensors, [weights for weights in graph.used if weights.entry in acting]


def _layer_names(entries: List[Entry]) -> List[str]:
    found: List[str] = []
    for entry in entries:
        found += _layer_names(entry["layers"]) if entry["type"] == "residual" else [entry.get("name", "")]
    return found


def _live(nodes: List[Node], result: int) -> Dict[int, Node]:
    """What `result` needs."""
    live: Dict[int, Node] = {}
    waiting = [result]
    while waiting:
        key = waiting.pop()
        if key != INPUT and key not in live:
            live[key] = nodes[key]
            waiting += nodes[key].inputs
    return live


def _see_start(live: Dict[int, Node]) -> None:
    """Whoever sees the input sees it in its form."""
    for key, node in live.items():
        if key != START:
            live[key] = node._replace(inputs=tuple(START if other == INPUT else other for other in node.inputs))


def _tells_input(live: Dict[int, Node]) -> bool:
    """A chain is read as ever. In a graph the first entry has to tell the input's size, since a sum or a
    concatenation does not."""
    order = sorted(live)
    if all(live[key].inputs == (before,) for before, key in zip([INPUT, *order], order)):
        return True
    return live[order[0]].entry["type"] in ("dense", "conv2d", "reshape")


def _fold(live: Dict[int, Node]) -> None:
    """A sum x + F(x) with a chain F that nobody else sees is a residual block."""
    for key in sorted(live):
        if live[key].entry["type"] == "add" and len(live[key].inputs) == 2:
            for skip, end in (live[key].inputs, live[key].inputs[::-1]):
                inner = _chain(live, skip, end)
                if inner and _depth([live[k].entry for k in inner]) < _MAX_NESTING:
                    layers = [live[k].entry for k in inner]
                    live[key] = Node({"type": "residual", "layers": layers}, (skip,))
                    for k in inner:
                        del live[k]
                    break


def _chain(live: Dict[int, Node], begin: int, end: int) -> List[int]:
    """The nodes from `begin` (left out) to `end`, each seen by the next alone; empty where there is none. Entries with
    tensors of their own stay outside."""
    found: List[int] = []
    while end != begin:
        users = sum(node.inputs.count(end) for node in live.values())
        if end == INPUT or users != 1 or len(live[end].inputs) != 1 or _has_tensors(live[end].entry):
            return []
        found.append(end)
        end = live[end].inputs[0]
    return found[::-1]


def _has_tensors(entry: Entry) -> bool:
    """Of its own, and no module's."""
    return entry["type"] == "affine" or "made" in entry


def _depth(entries: List[Entry]) -> int:
    return max((1 + _depth(entry["layers"]) for entry in entries if entry["type"] == "residual"), default=0)


def _names(nodes: Dict[int, Node], order: List[int]) -> Dict[int, str]:
    """Of entries with tensors, and of those that another than the next one sees."""
    taken = {"input", *_layer_names([nodes[key].entry for key in order])}
    places = {key: place for place, key in enumerate(order)}
    seen = {
        other
        for key in order
        for other in nodes[key].inputs
        if other != INPUT and (len(nodes[key].inputs) > 1 or places[other] + 1 != places[key])
    }
    names: Dict[int, str] = {INPUT: "input"}
    for key in order:
        entry = nodes[key].entry
        if "name" in entry:
            names[key] = entry["name"]
        elif key in seen or _has_tensors(entry):
            kind, number = entry.get("function", entry["type"]), 1
            while f"{kind}_{number}" in taken:
                number += 1
            names[key] = f"{kind}_{number}"
            taken.add(names[key])
    return names


def _written(node: Node, key: int, before: int, names: Dict[int, str], tensors: Dict[str, np.ndarray]) -> Entry:
    entry = dict(node.entry)
    if entry["type"] == "affine":
        form = entry.pop("form")
        for kind, nothing in (("scale", 1.0), ("shift", 0.0)):
            numbers = _compressed(entry.pop(kind), form)
            if numbers.size > 1 or numbers[0] != nothing:
                tensors[f"{names[key]}.{kind}"] = numbers
    if "made" in entry:
        tensors[f"{names[key]}.weight"] = entry.pop("made")
    if key in names:
        entry["name"] = names[key]
    if node.inputs != (before,):
        entry["inputs"] = [names[other] for other in node.inputs]
    return entry


def _compressed(numbers: np.ndarray, form: Shape) -> np.ndarray:
    """One number, one per channel of an image, or one per value."""
    flat = np.ravel(numbers)
    if np.all(flat == flat[0]):
        return flat[:1]
    if len(form) == 3:
        by_channel = flat.reshape(form[0], -1)
        if np.all(by_channel == by_channel[:, :1]):
            return by_channel[:, 0]
    return flat
