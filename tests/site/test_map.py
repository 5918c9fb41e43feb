# Licensed under the Apache License, Version 2.0; see LICENSE.
"""docs/map names every unit of the sources, once for each folder, and nothing else."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECTION = re.compile(r"^## (\S+)$", re.MULTILINE)
OUTSIDE = ("checker", "cli", "python", "lab")


def sections():
    for page in sorted((ROOT / "docs" / "map").glob("*.md")):
        parts = SECTION.split(page.read_text(encoding="utf-8"))[1:]
        yield from zip(parts[0::2], parts[1::2])


def folders_of(room):
    if room.split("/")[0] in OUTSIDE:
        return [ROOT / room]
    # Installed headers of a room lie in one folder, whichever folder of src their sources are in.
    return [ROOT / "src" / room, ROOT / "include" / "mixcert" / room]


def units(folder):
    suffixes = {".cc", ".h", ".py"}
    return {path.stem for path in folder.glob("*") if path.suffix in suffixes} if folder.exists() else set()


def named(text):
    names = set()
    for line in re.findall(r"^- (.+?)(?:: .*)?$", text, re.MULTILINE):
        names.update(re.findall(r"`([\w*]+)`", line))
    return names


ALL = list(sections())


def test_every_folder_has_its_section():
    rooms = {room for room, _ in ALL}
    assert len(rooms) == len(ALL) > 50
    folders = {str(path.parent.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.cc")}
    assert sorted(folder for folder in folders if folder not in rooms and not is_told_elsewhere(folder)) == []


def is_told_elsewhere(folder):
    """Parts that a page names in a sentence and not in a section of their own."""
    return folder in ("activation/functions", "io/onnx/protobuf", "io/onnx/absent", "report/page", "report/charts")


@pytest.mark.parametrize("room, text", ALL, ids=[room for room, _ in ALL])
def test_names_exist(room, text):
    root = room.split("/")[0]
    there = set().union(*(units(folder) for folder in folders_of(room)))
    installed = units(ROOT / "include" / "mixcert" / root)
    everywhere = there | installed
    missing = {name for name in named(text) if "*" not in name and name not in everywhere}
    assert missing == set()


@pytest.mark.parametrize("room, text", ALL, ids=[room for room, _ in ALL])
def test_units_are_named(room, text):
    if room in ("cli", "cli/mpi", "python/bindings", "python/mixcert", "lab/cli"):
        pytest.skip("one file for each subcommand or part")
    own = units(folders_of(room)[0])
    patterns = [re.compile(name.replace("*", r"\w*") + r"$") for name in named(text) | set(re.findall(r"`(\w+)`", text))]
    assert sorted(unit for unit in own if not any(pattern.match(unit) for pattern in patterns)) == []
