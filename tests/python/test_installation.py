# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Where something is missing, `import mixcert` and the build of the package say what, and what to type."""

import os
import re
import shutil
import subprocess
import sys

import pytest

import mixcert
from mixcert import _installation
from conftest import SOURCE

BACKEND = "import wheel_backend; print(wheel_backend.get_requires_for_build_wheel())"


def needed_libraries():
    """What the linker says that the extension needs."""
    text = subprocess.run(["readelf", "-d", mixcert._core.__file__], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\(NEEDED\)\s+Shared library: \[(.*?)\]", text))


def test_the_table_names_every_shared_library_beside_the_c_library():
    from_libc = re.compile(r"lib(c|m|gcc_s|dl|pthread)\.so|ld-linux")
    assert {name for name in needed_libraries() if not from_libc.match(name)} == set(_installation.SHARED_LIBRARIES)


@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="not a Debian system")
@pytest.mark.parametrize("library, package", _installation.SHARED_LIBRARIES.items())
def test_debian_has_the_library_in_the_package(library, package):
    done = subprocess.run(["dpkg-query", "-S", f"*/{library}"], capture_output=True, text=True, check=True)
    assert package in {line.split(":")[0] for line in done.stdout.splitlines()}


def test_missing_shared_libraries_are_named_with_one_line(monkeypatch):
    monkeypatch.setattr(_installation, "_loads", lambda library: library not in ("libnlopt.so.0", "libzip.so.4"))
    text = str(_installation.explained(ImportError("libnlopt.so.0: cannot open shared object file")))
    assert "libnlopt.so.0, libzip.so.4" in text and "\n    apt-get install libnlopt0 libzip4\n" in text


def test_another_error_stays_as_it_is():
    error = ImportError("undefined symbol")
    assert _installation.explained(error) is error


def refusal_of_import(folder, *flags):
    program = f"import sys; sys.path.insert(0, {str(folder)!r}); import mixcert"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([sys.executable, *flags, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


def test_sources_alone_say_how_to_build(tmp_path):
    shutil.copytree(SOURCE / "python" / "mixcert", tmp_path / "mixcert")
    text = refusal_of_import(tmp_path)
    assert text.endswith("has no compiled part; build it: ./run --python, or pip install .")
    (tmp_path / "mixcert" / "_core.cpython-20-nowhere.so").touch()
    text = refusal_of_import(tmp_path)
    assert "_core.cpython-20-nowhere.so" in text and f"Python {sys.version_info.major}.{sys.version_info.minor}" in text


def test_missing_numpy_is_named(tmp_path):
    shutil.copytree(SOURCE / "python" / "mixcert", tmp_path / "mixcert")
    text = refusal_of_import(tmp_path, "-I", "-S")
    assert text == "ImportError: mixcert needs NumPy: apt-get install python3-numpy, or pip install numpy"


def refusal_of_build(path, **variables):
    """What pip would show; the build is refused before anything is compiled."""
    environment = dict(os.environ, PATH=str(path), PYTHONPATH=str(SOURCE / "python" / "packaging"), **variables)
    if "MIXCERT_BUILD_DIRECTORY" not in variables:
        environment.pop("MIXCERT_BUILD_DIRECTORY", None)
    done = subprocess.run([sys.executable, "-c", BACKEND], capture_output=True, text=True, env=environment)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stdout + done.stderr
    return done.stderr


@pytest.fixture
def programs(tmp_path):
    """A PATH with bash alone; write() adds a program of a few lines."""
    os.symlink(shutil.which("bash"), tmp_path / "bash")
    for name in ("id", "tr", "sed", "sh"):
        os.symlink(shutil.which(name), tmp_path / name)

    def write(name, lines):
        (tmp_path / name).write_text(f"#!/bin/sh\n{lines}\n")
        (tmp_path / name).chmod(0o755)

    return tmp_path, write


# Says of two packages that they are not installed.
DPKG = 'case "$3" in libnlopt-dev | pybind11-dev) exit 1 ;; *) printf installed ;; esac'


def test_build_without_cmake_names_one_line(programs):
    path, write = programs
    write("dpkg-query", 'case "$3" in cmake | python3-dev) exit 1 ;; *) printf installed ;; esac')
    text = refusal_of_build(path)
    assert text.startswith("mixcert: cmake is not found on PATH\n")
    assert re.search(r"\n    (sudo )?apt-get update && (sudo )?apt-get install -y --no-install-recommends cmake python3-dev\n", text)


def test_build_that_cannot_be_configured_gives_the_reason_and_one_line(programs):
    path, write = programs
    write("dpkg-query", DPKG)
    write("cmake", 'echo "-- The compiler is there"\necho "CMake Error at a.cmake:1:\n  no NLopt\n\n\nCall Stack" >&2\nexit 1')
    text = refusal_of_build(path)
    assert "CMake Error at a.cmake:1:\n  no NLopt\n" in text and "Call Stack" not in text
    assert re.search(r"apt-get install -y --no-install-recommends libnlopt-dev pybind11-dev\n", text)


def test_build_with_all_packages_says_so(programs):
    path, write = programs
    write("dpkg-query", "printf installed")
    write("cmake", "echo 'CMake Error: other' >&2; exit 1")
    text = refusal_of_build(path)
    assert "CMake Error: other" in text and "All Debian packages that the build needs are installed." in text


def test_build_elsewhere_lists_what_is_needed(programs):
    path, _ = programs
    text = refusal_of_build(path)
    assert "This is not a Debian system" in text and "libeigen3-dev" in text and "pybind11-dev" in text
    assert "torch" not in text and "pytest" not in text and "wheel" not in text


def test_a_build_tree_without_the_extension_is_refused(tmp_path):
    text = refusal_of_build(os.environ["PATH"], MIXCERT_BUILD_DIRECTORY=str(tmp_path))
    assert re.fullmatch(r"mixcert: MIXCERT_BUILD_DIRECTORY: expected .*_core.*\.so, got no extension there .*\n", text)
