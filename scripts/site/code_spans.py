# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which texts in backticks are names of code and not formulas: paths, options, and identifiers of the sources."""

import functools
import pathlib
import re

from notation_words import BIG, GREEK, KNOWN_FUNCTIONS, LETTERS, NAMED_FUNCTIONS

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ("src", "include", "cli", "lab", "python", "tools", "bench", "tests", "scripts")
SUFFIXES = (".cc", ".h", ".py", ".md", ".json", ".npz", ".npy", ".csv", ".safetensors", ".onnx", ".pt", ".inc")
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*")
MATHEMATICAL = GREEK | set(LETTERS) | set(BIG) | set(KNOWN_FUNCTIONS) | NAMED_FUNCTIONS


@functools.lru_cache(maxsize=None)
def identifiers():
    """Names of several words in the sources, and their folders and files."""
    found = set()
    for folder in SOURCES:
        for path in (ROOT / folder).rglob("*"):
            found.update((path.name, path.stem))
            if path.suffix in (".cc", ".h", ".py"):
                found.update(IDENTIFIER.findall(path.read_text(encoding="utf-8", errors="replace")))
    return {name for name in found if len(name) > 3}


def is_code(text):
    text = text.strip()
    first = text.split(" ")[0] if text else ""
    if not text or first.startswith("--") or "::" in text or "&&" in text or first in ("mixcert", "cmake", "scripts"):
        return True
    if re.search(r"[A-Za-z]/[A-Za-z_]{3,}", text) and is_path(first):
        return True
    if text.endswith(SUFFIXES) and " " not in text:
        return True
    if re.fullmatch(r"[A-Za-z]\w*(<\w+>)?(\.\w+)?(\(\))?", text):
        return is_identifier(text)
    if re.fullmatch(r"(print|len|help)\(.*\)|[a-z]\w{3,}=\w+", text):
        return True
    return bool(re.fullmatch(r"[a-z]\w{2,}\.[a-z]\w{2,}(\.\w+)*", text))


def is_path(text):
    return (ROOT / text.rstrip("/*.,").split("*")[0]).exists() or text.split("/")[0] in SOURCES + ("docs", "build")


def is_identifier(text):
    if text.endswith("()"):
        return True
    name = re.split(r"[<.(]", text)[0]
    parts = name.split("_")
    if parts[0] in MATHEMATICAL:
        return False
    if "_" in name:
        is_long = len(parts[0]) > 2 or (len(parts[-1]) > 3 and parts[-1] not in MATHEMATICAL and parts[0][-1].isdigit())
        return is_long and name in identifiers() and all(len(part) > 1 for part in parts)
    is_word = len(name) > 3 and name.isalpha()
    return is_word and name not in MATHEMATICAL and not name.endswith(("bar", "hat"))


def is_code_block(text):
    """Commands, diagrams and other listings that are indented as formulas are."""
    lines = text.strip().splitlines()
    return any(is_code(line) for line in lines) or any("│" in line or "►" in line for line in lines)
