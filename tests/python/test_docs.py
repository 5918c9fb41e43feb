# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Code in the pages runs as it stands, from the root of the repository, and commands have the options they show.

All Python blocks of a page run one after the other in one namespace. A block that cannot run by itself has the line
<!-- fragment: reason --> in front of it.
"""

import functools
import os
import re
import subprocess
import sys

import mixcert
import pytest

from conftest import SOURCE

DOCS = SOURCE / "docs"
PAGES = [SOURCE / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "how-to").glob("*.md"))]
BLOCK = re.compile(r"(<!-- fragment: [^>]+ -->\n)?```(python|cpp|sh)\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"(?:^|[`/])mixcert (\w[\w-]*)((?: [^`#\n]*)?)", re.MULTILINE)
PROGRAM = os.environ.get("MIXCERT_PROGRAM")
# Its code is that of examples/python (test_examples.py).
SHOWS_EXAMPLES = DOCS / "tutorial.md"


def blocks(path, language):
    found = BLOCK.findall(path.read_text(encoding="utf-8"))
    return [code for fragment, tongue, code in found if tongue == language and not fragment]


def with_blocks(language):
    return [path for path in PAGES if path != SHOWS_EXAMPLES and blocks(path, language)]


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A folder that looks like the repository's root, with a result R.npz, and takes what the pages write."""
    (tmp_path / "examples").symlink_to(SOURCE / "examples")
    network = mixcert.Network.load(SOURCE / "examples" / "noisy_sines.safetensors")
    mixcert.certify(network, [[0.0], [0.5]]).save(tmp_path / "R.npz")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_pages_are_found():
    assert len(with_blocks("python")) >= 10
    assert SOURCE / "README.md" in with_blocks("python")


@pytest.mark.parametrize("path", with_blocks("python"), ids=lambda path: path.stem)
def test_python_blocks(path, root):
    if any("torch" in code for code in blocks(path, "python")):
        pytest.importorskip("torch", reason="PyTorch is not installed")
    names = {"__name__": "docs"}
    for code in blocks(path, "python"):
        exec(compile(code, str(path), "exec"), names)  # pylint: disable=exec-used


def test_the_readme_begins_with_eight_statements():
    first = blocks(SOURCE / "README.md", "python")[0]
    assert len([line for line in first.splitlines() if line.strip()]) == 8


def test_the_readme_fits_two_screens():
    assert 40 < len((SOURCE / "README.md").read_text(encoding="utf-8").splitlines()) <= 80


def test_the_picture_of_the_readme_is_drawn(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    drawn = tmp_path / "band.svg"
    subprocess.run([sys.executable, SOURCE / "scripts" / "draw_band", drawn], check=True, timeout=300)
    pictures = [path.read_text(encoding="utf-8") for path in (drawn, DOCS / "images" / "band.svg")]
    for picture in pictures:
        assert picture.count("<polygon") == 3 and picture.count("<polyline") == 2
    # Coordinates depend on the version of torch, titles and axes do not.
    assert len({tuple(re.findall(r"<text.*?</text>", picture)) for picture in pictures}) == 1


def test_the_cpp_program_is_the_example():
    code = (SOURCE / "examples" / "01_certify.cc").read_text(encoding="utf-8")
    programs = [block for path in PAGES for block in blocks(path, "cpp") if "int main" in block]
    assert programs
    for block in programs:
        assert block in code


@pytest.mark.skipif(not PROGRAM, reason="the program is not built")
def test_getting_started_on_the_command_line(root):
    (script,) = blocks(DOCS / "getting-started.md", "sh")
    script = script.replace("build/release/mixcert", PROGRAM)
    run = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert "W2" in run.stdout


@pytest.mark.parametrize("path", with_blocks("sh"), ids=lambda path: path.stem)
def test_shell_blocks_are_shell(path):
    for script in blocks(path, "sh"):
        run = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, timeout=60)
        assert run.returncode == 0, run.stderr


@functools.lru_cache(maxsize=None)
def help_of(command):
    run = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, timeout=60)
    return run.stdout if run.returncode == 0 else None


@pytest.mark.skipif(not PROGRAM, reason="the program is not built")
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_commands_have_the_options_they_show(path):
    known = set("certify answer explain compare sample inspect import tune compare-prior options".split())
    for command, rest in COMMAND.findall(path.read_text(encoding="utf-8").replace("\\\n", " ")):
        if command not in known:
            continue
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest):
            assert option + " " in help_of(command).replace(",", " ").replace("\n", " "), (command, option)
