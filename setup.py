# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The build step of the Python package: mixcert._core is made by CMake, everything else is in pyproject.toml.

MIXCERT_BUILD_DIRECTORY names a build tree whose target mixcert_python is built, to be used as it is;
otherwise build/python is configured and built, which takes minutes the first time.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "CMAKE_CXX_FLAGS_RELEASE": "-O2 -DNDEBUG",
    "CMAKE_UNITY_BUILD": "ON",
    "MIXCERT_BUILD_CLI": "OFF",
    "MIXCERT_BUILD_EXAMPLES": "OFF",
    "MIXCERT_BUILD_PYTHON": "ON",
    "MIXCERT_PYTHON": sys.executable,
}


def project_version() -> str:
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(mixcert VERSION ([0-9.]+)", text).group(1)


class BuildByCMake(build_ext):
    """Builds the extension in CMake's tree and copies it to where setuptools expects it."""

    def build_extension(self, extension: Extension) -> None:
        given = os.environ.get("MIXCERT_BUILD_DIRECTORY")
        tree = pathlib.Path(given).resolve() if given else ROOT / "build" / "python"
        if not given:
            options = [f"-D{name}={value}" for name, value in OPTIONS.items()]
            subprocess.run(["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(tree), *options], check=True)
            subprocess.run(["cmake", "--build", str(tree), "--target", "mixcert_python"], check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree / "python" / "mixcert" / target.name, target)


setup(
    version=project_version(),
    ext_modules=[Extension("mixcert._core", sources=[])],
    cmdclass={"build_ext": BuildByCMake},
)
