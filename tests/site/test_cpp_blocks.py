# Licensed under the Apache License, Version 2.0; see LICENSE.
"""C++ in the pages compiles against the installed headers; a part of a program has `results` and `inputs` around it."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```cpp\n(.*?)```", re.DOTALL)
BLOCKS = [
    pytest.param(block, id="%s-%d" % (path.stem, number))
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for number, block in enumerate(BLOCK.findall(path.read_text(encoding="utf-8")))
]
AROUND = """#include <vector>
#include "mixcert/answer/answers.h"
#include "mixcert/answer/questions.h"
#include "mixcert/io/model_file.h"
#include "mixcert/mixcert.h"
%s
using namespace mixcert;
void part(const std::vector<Result>& results) {
  (void)results;
%s
}
"""


def program(block):
    if "int main" in block:
        return block
    lines = block.splitlines()
    includes = [line for line in lines if line.startswith("#include")]
    return AROUND % ("\n".join(includes), "\n".join(line for line in lines if not line.startswith("#include")))


def compile_(text, folder):
    source = folder / "block.cc"
    source.write_text(text, encoding="utf-8")
    command = ["g++", "-std=c++20", "-fsyntax-only", "-I", ROOT / "include", "-isystem", "/usr/include/eigen3", source]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_there_are_blocks():
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("block", BLOCKS)
def test_compiles(block, tmp_path):
    run = compile_(program(block), tmp_path)
    assert run.returncode == 0, run.stderr


def test_what_is_wrong_does_not_compile(tmp_path):
    assert compile_(program("Network network(1);"), tmp_path).returncode != 0
