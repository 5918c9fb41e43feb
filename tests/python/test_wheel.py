# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A wheel is built from the sources and the extension that is there, without a network, and works where it is
installed. (`./test --full --only wheel` builds one from nothing.)"""

import os
import shutil
import subprocess
import sys

import pytest

from conftest import SOURCE

PROGRAM = """
import mixcert, numpy as np
net = mixcert.Network([mixcert.Dense([[1.0]], weight_variance=[[0.1]])])
print(mixcert.__file__, mixcert.certify(net, 0.5).mixture.mean()[0])
"""


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_wheel(tmp_path):
    pytest.importorskip("ensurepip", reason="python3-venv is not installed")
    pytest.importorskip("wheel", reason="python3-wheel is not installed")
    built = os.environ.get("MIXCERT_BUILD_DIRECTORY")
    if not built:
        pytest.skip("MIXCERT_BUILD_DIRECTORY does not name a build tree")
    # A copy, since setuptools writes beside the sources.
    source = tmp_path / "source"
    for name in ("python", "docs"):
        shutil.copytree(SOURCE / name, source / name)
    for name in ("setup.py", "pyproject.toml", "CMakeLists.txt", "LICENSE"):
        shutil.copy(SOURCE / name, source / name)
    run(sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    offline = ("--no-index", "--no-deps", "--disable-pip-version-check")
    run(
        *(python, "-m", "pip", "wheel", source, "--no-build-isolation", *offline, "-w", tmp_path / "wheels"),
        env=dict(environment, MIXCERT_BUILD_DIRECTORY=built),
    )
    (wheel,) = (tmp_path / "wheels").glob("mixcert-*.whl")
    run(python, "-m", "pip", "install", wheel, *offline, env=environment)
    words = run(python, "-c", PROGRAM, env=environment, cwd=tmp_path).split()
    assert str(tmp_path / "venv") in words[0] and float(words[1]) == 0.5
