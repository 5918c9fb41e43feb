# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Keywords of functions from the option tables of the C++ library."""

from __future__ import annotations

import inspect
from typing import Any, List

_FLAG, _INTEGER, _REAL, _CHOICE = range(4)


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


def describe(function: Any, fields: List[Any]) -> None:
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
    function.__doc__ = (function.__doc__ or "").rstrip() + "\n" + "\n".join(lines) + "\n"
