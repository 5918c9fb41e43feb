# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The examples run and their own assertions hold; the tutorial's code is theirs to the letter."""

import os
import re
import subprocess
import sys

import pytest

from conftest import SOURCE

EXAMPLES = sorted((SOURCE / "examples" / "python").glob("*.py"))


def test_there_are_five():
    assert len(EXAMPLES) == 5


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path):
    if "import torch" in path.read_text(encoding="utf-8"):
        pytest.importorskip("torch", reason="PyTorch is not installed")
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment, timeout=300)
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) >= 2


def test_the_tutorial_shows_the_examples():
    text = (SOURCE / "docs" / "tutorial.md").read_text(encoding="utf-8")
    blocks = 0
    for section in text.split("\n## ")[1:]:
        name = re.search(r"`examples/python/(\w+\.py)`", section).group(1)
        code = (SOURCE / "examples" / "python" / name).read_text(encoding="utf-8")
        for block in re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL):
            assert block in code, name
            blocks += 1
    assert blocks >= 5
