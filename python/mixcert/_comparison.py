# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The answer of compare(): numbers that are proven, numbers that are drawn, and how they print."""

from __future__ import annotations

import html
import os
from typing import Any, Dict, List, NamedTuple, Optional

import numpy as np

from . import _core
from ._answers import ClassProbabilities, Interval
from ._result_list import ResultList

_SHOWN = 20
_HEAD = ("input", "what", "mixture", "certified range", "Monte Carlo", "module's draws")
_NORMAL = 1.96  # of 95 %: the accuracy that draws are counted for


class Compared(NamedTuple):
    """One number of one input. Only `lower` and `upper` are proven."""

    input: int
    what: str  #: "mean of y0", "std of y0", "class 3"
    mixture: float
    lower: float
    upper: float
    drawn: float
    drawn_error: float
    module_drawn: float  #: NaN where the module draws nothing itself
    module_error: float


class Comparison:
    """Certified numbers beside those of Monte Carlo; prints as a table, also in notebooks.

    `results`: those of certify(). `monte_carlo`, `module`: estimates by our sampler and by the module's own forward
    (None where it draws nothing; `notes` says why). `rows`: every number of every input, :class:`Compared`.
    `seconds`: of reading the module, the certificate, and both Monte Carlos.
    """

    def __init__(
        self,
        results: ResultList,
        monte_carlo: Any,
        module: Any,
        probabilities: Optional[ClassProbabilities],
        seconds: Dict[str, float],
        notes: List[str],
    ) -> None:
        self.results, self.monte_carlo, self.module = results, monte_carlo, module
        self.probabilities, self.notes = probabilities, notes
        self.seconds = dict(seconds, monte_carlo=monte_carlo.seconds)
        if module is not None:
            self.seconds["module"] = module.seconds
        moments = results.moments()
        self._mean, self._std = moments.mean, moments.std
        self.rows = self._all_rows()

    def _group(self, label: str, certified: Interval, name: str) -> List[Compared]:
        inputs, numbers = np.shape(certified.estimate)
        found = []
        for i in range(inputs):
            for k in range(numbers):
                drawn = [np.nan, np.nan] if self.module is None else [
                    getattr(self.module, part)[i, k] for part in (name, name + "_error")
                ]
                own = [getattr(self.monte_carlo, part)[i, k] for part in (name, name + "_error")]
                ends = [float(part[i, k]) for part in certified[:3]]
                found.append(Compared(i, label.format(k), *ends, *map(float, own), *map(float, drawn)))
        return found

    def _all_rows(self) -> List[Compared]:
        self._groups = {
            "Means": self._group("mean of y{}", self._mean, "mean"),
            "Standard deviations": self._group("std of y{}", self._std, "std"),
        }
        if self.probabilities is not None:
            self._groups["Class probabilities"] = self._group(
                "class {}", self.probabilities.probabilities, "probabilities"
            )
        return sorted((row for group in self._groups.values() for row in group), key=lambda row: row.input)

    @property
    def w2_bound(self) -> np.ndarray:
        """Certified, [inputs]."""
        return self.results.w2_bound

    @property
    def draws_needed(self) -> np.ndarray:
        """[inputs]: draws after which the means of Monte Carlo have 95 % intervals (an estimate, no proof) no wider
        than the certified ranges of the means, at the output that needs most of them."""
        width = 0.5 * (self._mean.upper - self._mean.lower)
        with np.errstate(divide="ignore", invalid="ignore"):
            draws = np.ceil((_NORMAL * self.results.std() / width) ** 2)
        draws = np.maximum(np.nan_to_num(draws, nan=1.0, posinf=np.inf), 1.0)
        return np.where(np.isfinite(width), draws, np.nan).max(axis=1)

    def outside(self, errors: float = 3.0) -> List[Compared]:
        """Numbers whose Monte Carlo lies outside of the certified range by more than this many standard errors: none,
        but for draws of bad luck."""
        return [
            row
            for row in self.rows
            if not row.lower - errors * row.drawn_error <= row.drawn <= row.upper + errors * row.drawn_error
        ]

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame with the rows. ImportError where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_dataframe: needs pandas, which is not installed; `rows` has the same") from None
        return pandas.DataFrame(self.rows)

    def _cells(self) -> List[List[str]]:
        cells = []
        for row in self.rows[:_SHOWN]:
            of_module = "-" if row.module_drawn != row.module_drawn else f"{row.module_drawn:.4g} +- {row.module_error:.1g}"
            cells.append([
                str(row.input), row.what, f"{row.mixture:.4g}", f"{_below(row.lower)} to {_above(row.upper)}",
                f"{row.drawn:.4g} +- {row.drawn_error:.1g}", of_module,
            ])
        return cells

    def _summary(self) -> List[str]:
        count, needed, seconds = len(self.results), self.draws_needed, self.seconds
        bounds = self.w2_bound[np.isfinite(self.w2_bound)]
        lines = []
        if bounds.size > 0:
            lines.append(f"certified W2: {_above(bounds.min(), 3)} to {_above(bounds.max(), 3)} at {_counted(bounds.size, 'input')}")
        if bounds.size < count:
            reason = next(r.reason for r in self.results if not np.isfinite(r.w2_bound))
            lines.append(f"no formal bound at {_counted(count - bounds.size, 'input')}: {reason}")
        lines += self._simulated()
        lines.append(
            f"seconds: certificate {seconds['certificate']:.3g}, Monte Carlo {seconds['monte_carlo']:.3g} "
            f"({self.monte_carlo.draws} draws)"
            + (f", module's draws {seconds['module']:.3g} ({self.module.draws})" if self.module else "")
            + (f", class ranges {seconds['classes']:.3g}" if "classes" in seconds else "")
        )
        lines.append(
            f"draws for means as close as the certified ranges (95 %, not proven): {_count(needed.min())} to "
            f"{_count(needed.max())}"
        )
        return lines + [f"note: {note}" for note in self.notes]

    def _simulated(self) -> List[str]:
        """What `simulate` certified: of W2 alone, no ranges of means."""
        certified = [r.simulated for r in self.results if r.simulated and np.isfinite(r.simulated["w2_bound"])]
        if not certified:
            return []
        largest = max(bound["w2_bound"] for bound in certified)
        return [
            f"certified by simulation: W2 <= {_above(largest, 3)} at {_counted(len(certified), 'input')}, "
            f"fails with probability {certified[0]['failure_probability']:g} at each; ranges are those of the formal bound"
        ]

    def __str__(self) -> str:
        table = [list(_HEAD), *self._cells()]
        widths = [max(len(row[i]) for row in table) for i in range(len(_HEAD))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in table]
        if len(self.rows) > _SHOWN:
            lines.append(f".. and {len(self.rows) - _SHOWN} more: rows")
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], "", *self._summary()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in _HEAD)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in self._cells())
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in self._summary())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{lines}"

    def figure(self, path: Any) -> None:
        """Writes the comparison as a page for the browser (.html), with charts and tables, or draws the first rows
        as a picture (.png, .svg, .pdf) with matplotlib. ImportError, with what to do, where that is not installed."""
        target = os.fspath(path)
        if target.endswith(".html"):
            self._write_page(target)
        elif target.endswith((".png", ".svg", ".pdf")):
            self._draw(target)
        else:
            raise ValueError(f"path: expected a file that ends in .html, .png, .svg or .pdf, got {target!r}")

    def _write_page(self, target: str) -> None:
        groups = []
        for title, rows in self._groups.items():
            names = [f"{row.what}, input {row.input}" for row in rows]
            groups.append((title, names, [tuple(row[2:7]) for row in rows]))
        bound, needed = self.w2_bound.max(), self.draws_needed  # NaN where an input has none
        headlines = [
            ("certified W2", _above(bound, 3), "the largest of all inputs", "certified"),
            ("certificate", f"{self.seconds['certificate']:.3g} s", "for all inputs", "plain"),
            ("Monte Carlo", f"{self.seconds['monte_carlo']:.3g} s", f"{self.monte_carlo.draws} draws", "estimate"),
            ("draws as close", _count(needed.max()), "for the means, 95 %, not proven", "estimate"),
        ]
        title = f"{_counted(len(self.results), 'input')}, {_counted(self._mean.estimate.shape[1], 'output')}"
        summary = "Ranges that are certified to hold the network's own numbers, beside estimates from draws of the network."
        _core.write_comparison(target, title, summary, headlines, groups, self._summary())

    def _draw(self, target: str) -> None:
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError(
                "figure: pictures need matplotlib, which is not installed (Debian: python3-matplotlib); "
                "figure('comparison.html') needs nothing"
            ) from None
        rows = self._groups["Means"][:_SHOWN]
        places = np.arange(len(rows))[::-1]
        figure = Figure(figsize=(7, 1.2 + 0.3 * len(rows)), layout="constrained")
        axes = figure.subplots()
        axes.hlines(places + 0.12, [r.lower for r in rows], [r.upper for r in rows], lw=6, color="#0b5394", label="proven range")
        axes.plot([r.mixture for r in rows], places + 0.12, "|", color="black", ms=12, label="mixture")
        axes.errorbar(
            [r.drawn for r in rows], places - 0.18, xerr=[2 * r.drawn_error for r in rows], fmt="o", color="#b5520a",
            ms=4, label=f"Monte Carlo, {self.monte_carlo.draws} draws, two standard errors",
        )  # fmt: skip
        axes.set_yticks(places, [f"{r.what}, input {r.input}" for r in rows])
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), frameon=False)
        figure.savefig(target, dpi=150)


def _below(value: float, digits: int = 4) -> str:
    """In so many digits, rounded down: the lower end of what is proven."""
    text = f"{value:.{digits}g}"
    return text if float(text) <= value or value != value else f"{value - _unit(value, digits):.{digits}g}"


def _above(value: float, digits: int = 4) -> str:
    """Rounded up."""
    text = f"{value:.{digits}g}"
    return text if float(text) >= value or value != value else f"{value + _unit(value, digits):.{digits}g}"


def _unit(value: float, digits: int) -> float:
    """Of the last digit."""
    return 10.0 ** (np.floor(np.log10(abs(value))) - digits + 1)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _count(number: float) -> str:
    return "no number" if not np.isfinite(number) else f"{number:,.0f}"
