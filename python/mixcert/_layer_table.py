# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The table of a result's layers."""

from __future__ import annotations

import html
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np


class LayerTable(Sequence[Dict[str, Any]]):
    """What each hidden layer adds to the bound, carried to the output: a sequence of dicts that prints as a
    table, also in notebooks."""

    columns = ("layer", "compression", "local", "gain", "components", "points", "metric", "theorem")

    def __init__(self, rows: List[Tuple[Any, ...]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return LayerTable(self._rows[place])
        if isinstance(place, str):
            return np.array([row[self.columns.index(place)] for row in self._rows])
        return dict(zip(self.columns, self._rows[place]))

    def __repr__(self) -> str:
        cells = [list(self.columns)] + [[_cell(value) for value in row] for row in self._rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in cells]
        return "\n".join([lines[0], "-" * len(lines[0])] + lines[1:])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in self.columns)
        rows = (
            "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row) + "</tr>"
            for row in self._rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return "-" if value != value else f"{value:.4g}"
