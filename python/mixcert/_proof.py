# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Proofs: a file from which a program that shares no code with mixcert proves the bounds again."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any, Sequence

from . import _core


class NotProven(ValueError):
    """mixcert-check did not prove what a proof claims. The text names the inequality."""


def save_proof(results: Sequence[Any], path: Any, model: Any) -> None:
    """Of results of one call; see :meth:`ResultList.save_proof`."""
    if not results:
        raise ValueError("save_proof: expected results, got none")
    _core.save_proof([result._core for result in results], os.fspath(path), os.fspath(model))


def check(model: Any, proof: Any, program: Any = None) -> str:
    """Runs `mixcert-check MODEL PROOF` and gives what it prints: every bound of the proof is proven anew, in interval
    arithmetic, by a program that shares no code with mixcert.

    `program`: the path of mixcert-check where it is not found by its name; `./run` builds it in build/release.
    :class:`NotProven`: it says which inequality does not hold, and by how much. ValueError: it cannot read a file, or
    the network is one that it does not cover.
    """
    found = shutil.which(os.fspath(program) if program is not None else "mixcert-check")
    if found is None:
        raise FileNotFoundError(
            "check: mixcert-check was not found; ./run builds it as build/release/mixcert-check: "
            "check(.., program='build/release/mixcert-check')"
        )
    run = subprocess.run([found, os.fspath(model), os.fspath(proof)], capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return run.stdout
    if run.returncode == 1:
        raise NotProven(run.stdout.strip().splitlines()[-1])
    raise ValueError(run.stderr.strip() or f"mixcert-check ended with status {run.returncode}")
