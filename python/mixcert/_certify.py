# Licensed under the Apache License, Version 2.0; see LICENSE.
"""certify(): keywords come from the option table of the C++ library."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Callable, List, Optional, Union

from . import _core
from ._network import Network
from ._result import Result, ResultList

_FLAG, _INTEGER, _REAL, _CHOICE = range(4)


def certify(
    network: Network,
    inputs: Any,
    method: str = "auto",
    joint: bool = False,
    epsilon: Optional[float] = None,
    *,
    progress: Optional[bool] = None,
    **options: Any,
) -> Union[Result, ResultList]:
    """A Gaussian mixture q and a proven bound of W2(p, q) at every input, p the network's output law there.

    `inputs` is [inputs, features] (further axes are flattened); the answer is then a list of results. A
    single input [features], or a number where the network takes one, gives one result; so does `joint`, a law
    over the outputs at all inputs, stacked input-major. (An array of rank 1 for a network of one feature
    holds several inputs.)

    Ctrl-C stops the work at its next step. `progress` shows a bar by tqdm; by default where tqdm is
    installed and standard error is a terminal.

    ValueError: a bad option, input or shape; MemoryError: more memory than `max_memory_in_gib` is needed.
    """
    if not isinstance(network, Network):
        raise TypeError(f"network: expected a mixcert.Network, got {type(network).__name__}")
    options["method"] = method
    options["joint"] = joint
    options["epsilon"] = epsilon
    bar = _progress_bar(progress, inputs)
    if bar is None:
        views, single = _core.certify(network._core, inputs, options, None)
    else:
        with bar:
            views, single = _core.certify(network._core, inputs, options, _advance(bar))
            _advance(bar)(len(views))
    results = ResultList(Result(view) for view in views)
    return results[0] if single else results


def _progress_bar(wanted: Optional[bool], inputs: Any) -> Any:
    """A bar of tqdm that appears after half a second, or None."""
    if wanted is False or (wanted is None and not (sys.stderr is not None and sys.stderr.isatty())):
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        if wanted:
            raise
        return None
    total = len(inputs) if hasattr(inputs, "__len__") else None
    return tqdm(total=total, desc="certify", delay=0.5, leave=False)


def _advance(bar: Any) -> Callable[[int], None]:
    return lambda done: bar.update(done - bar.n) and None


def _default(kind: int, text: str) -> Any:
    if text == "":
        return None
    if kind == _FLAG:
        return text == "true"
    if kind == _INTEGER:
        return int(text)
    try:
        return float(text) if kind == _REAL else text
    except ValueError:
        return text


def _describe(function: Any, fields: List[Any]) -> None:
    """Signature and documentation of the options, made from the table."""
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    known = {p.name for p in parameters}
    lines = ["", "    Options (names of the command line's flags):", ""]
    for name, kind, default, constraint, text in fields:
        value = _default(kind, default)
        lines.append(f"    {name} = {value!r}: {text}; {constraint}")
        if name not in known:
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value))
    function.__signature__ = signature.replace(parameters=parameters)
    function.__doc__ = function.__doc__.rstrip() + "\n" + "\n".join(lines) + "\n"


_describe(certify, _core.certify_options())
