# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The build tree of the extension: build/python, with the settings of the preset `release` and without the program."""

import importlib.machinery
import os
import pathlib
import re
import shutil
import subprocess
import sys

from prerequisites import Refused, apt_line

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "python"
SETTINGS = ("MIXCERT_BUILD_CLI=OFF", "MIXCERT_BUILD_EXAMPLES=OFF", "MIXCERT_BUILD_PYTHON=ON", f"MIXCERT_PYTHON={sys.executable}")


def configure() -> None:
    """Fails in seconds where something that the build needs is not there."""
    if sys.implementation.name != "cpython":
        raise Refused(f"expected CPython, got {sys.implementation.name}")
    if not shutil.which("cmake"):
        raise Refused(f"cmake is not found on PATH{apt_line()}")
    generator = [] if shutil.which("ninja") else ["-G", "Unix Makefiles"]
    settings = [f"-D{setting}" for setting in SETTINGS]
    # What the tree knows of the Python of the last time would be taken for this one's.
    forgotten = ["-U_Python3_*", "-UPYBIND11_*", "-Upybind11_*"]
    command = ["cmake", "--preset", "release", "-B", str(TREE), *generator, *forgotten, *settings]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(f"{_reason(done.stdout + done.stderr)}{apt_line()}")


def build() -> pathlib.Path:
    configure()
    command = ["cmake", "--build", str(TREE), "--target", "mixcert_python", "--parallel", str(len(os.sched_getaffinity(0)))]
    if subprocess.run(command).returncode != 0:
        raise Refused(f"{TREE} could not be built (see the compiler's words above)")
    return TREE


def extension_in(tree: pathlib.Path) -> pathlib.Path:
    """mixcert._core of a built tree, for the interpreter that runs."""
    folder = tree / "python" / "mixcert"
    path = folder / f"_core{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    if not path.is_file():
        others = ", ".join(sorted(other.name for other in folder.glob("_core.*.so"))) or "no extension"
        raise Refused(f"MIXCERT_BUILD_DIRECTORY: expected {path}, got {others} there (build the target mixcert_python)")
    return path


def _reason(output: str) -> str:
    """CMake's first error: its paragraphs up to the next message."""
    found = re.search(r"CMake Error.*?(?=\n\n\n|\nCMake |\n-- |\nCall Stack|\Z)", output, re.DOTALL)
    text = found.group(0) if found else output
    return "CMake cannot configure the build:\n" + "\n".join(line for line in text.splitlines() if line.strip())
