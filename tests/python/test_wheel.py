# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A wheel is built by pip from the sources and the extension that is there, without a network, and works where it is
installed. (scripts/check_install builds one from nothing.)"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import pytest

from conftest import SOURCE

PROGRAM = """
import importlib.metadata, mixcert, numpy as np
net = mixcert.Network([mixcert.Dense([[1.0]], weight_variance=[[0.1]])])
print(mixcert.__file__, mixcert.certify(net, 0.5).mixture.mean()[0], mixcert.__version__, importlib.metadata.version("mixcert"))
"""
OFFLINE = ("--no-index", "--no-deps", "--disable-pip-version-check")


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def version():
    return re.search(r"project\(mixcert VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)


@pytest.fixture(scope="module")
def environment():
    if not os.environ.get("MIXCERT_BUILD_DIRECTORY"):
        pytest.skip("MIXCERT_BUILD_DIRECTORY does not name a build tree")
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    pytest.importorskip("ensurepip", reason="python3-venv is not installed")
    venv = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--system-site-packages", venv)
    return venv / "bin" / "python"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """What a wheel is made of, and nothing else of the repository."""
    source = tmp_path_factory.mktemp("source")
    for name in ("python/mixcert", "python/packaging"):
        shutil.copytree(SOURCE / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "CMakeLists.txt", "LICENSE", "docs/python.md", "src/report/page/licences.txt"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / name, source / name)
    return source


@pytest.fixture(scope="module")
def wheel(python, source, environment, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    run(python, "-m", "pip", "wheel", source, *OFFLINE, "-w", folder, env=environment)
    (wheel,) = folder.iterdir()
    return wheel


def test_an_installed_wheel_certifies(wheel, python, environment, tmp_path):
    run(python, "-m", "pip", "install", wheel, *OFFLINE, env=environment)
    words = run(python, "-c", PROGRAM, env=environment, cwd=tmp_path).split()
    assert str(python.parent.parent) in words[0] and float(words[1]) == 0.5
    assert words[2:] == [version(), version()]


def test_name_and_tag_are_of_this_version_python_and_machine(wheel):
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub("[-.]", "_", sysconfig.get_platform())
    assert wheel.name == f"mixcert-{version()}-{tag}-{tag}-{platform}.whl"
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"mixcert-{version()}.dist-info/WHEEL").decode()
    assert f"Tag: {tag}-{tag}-{platform}\n" in text and "Root-Is-Purelib: false\n" in text


def test_every_file_is_recorded_with_its_digest(wheel):
    folder = f"mixcert-{version()}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        rows = [row.split(",") for row in archive.read(f"{folder}/RECORD").decode().splitlines()]
        assert [row[0] for row in rows] == names
        for name, digest, size in rows[:-1]:
            data = archive.read(name)
            found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            assert (digest, size) == (f"sha256={found}", str(len(data)))
    assert rows[-1] == [f"{folder}/RECORD", "", ""]
    package = {f"mixcert/{path.name}" for path in (SOURCE / "python" / "mixcert").iterdir() if path.is_file()}
    described = {f"{folder}/{name}" for name in ("METADATA", "WHEEL", "LICENSE", "RECORD", "licences_of_reports.txt")}
    extension = f"mixcert/_core{sysconfig.get_config_var('EXT_SUFFIX')}"
    assert set(names) == package | described | {extension}


def test_the_same_files_give_the_same_wheel_without_build_isolation(wheel, python, source, environment, tmp_path):
    run(python, "-m", "pip", "wheel", source, "--no-build-isolation", *OFFLINE, "-w", tmp_path, env=environment)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()
