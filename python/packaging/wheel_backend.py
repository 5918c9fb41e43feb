# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What `pip install .` calls (PEP 517): checks what the build needs, builds mixcert._core with CMake, writes a wheel.

It uses the standard library alone. With setuptools, pip would fetch setuptools and wheel from an index, and where they
are missing it speaks of an invalid command 'bdist_wheel'; what is missing here has a Debian package, and is said so.

MIXCERT_BUILD_DIRECTORY names a build tree whose target mixcert_python is built, to be used as it is; otherwise
build/python is configured and built.
"""

import os
import pathlib
import sys

import cmake_tree
import wheel_file
from prerequisites import Refused


def get_requires_for_build_wheel(config_settings=None):
    """The first that pip calls: what cannot be built is refused here, before anything is compiled."""
    _or_exit(_check)
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return _or_exit(lambda: wheel_file.write_metadata(pathlib.Path(metadata_directory)))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    def build():
        given = _given_tree()
        tree = given or cmake_tree.build()
        return wheel_file.write_wheel(pathlib.Path(wheel_directory), cmake_tree.extension_in(tree))

    return _or_exit(build)


def build_sdist(sdist_directory, config_settings=None):
    sys.exit("mixcert: the repository is the source distribution; a wheel is made by: pip wheel --no-deps .")


def _check():
    given = _given_tree()
    if given:
        cmake_tree.extension_in(given)
    else:
        cmake_tree.configure()


def _given_tree():
    given = os.environ.get("MIXCERT_BUILD_DIRECTORY")
    return pathlib.Path(given).resolve() if given else None


def _or_exit(work):
    try:
        return work()
    except Refused as refused:
        # A traceback would hide the sentence.
        sys.exit(f"mixcert: {refused}")
