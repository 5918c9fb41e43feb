# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Loads the extension, and says what is missing where that fails: NumPy, a shared library, or the extension for this
Python."""

import ctypes
import pathlib
import sys

# What mixcert._core is linked to, and the Debian 12 package of each. The linker decides; tests/python/test_installation.py
# compares.
SHARED_LIBRARIES = {
    "libcrypto.so.3": "libssl3",
    "libfmt.so.9": "libfmt9",
    "libnlopt.so.0": "libnlopt0",
    "libstdc++.so.6": "libstdc++6",
    "libz.so.1": "zlib1g",
    "libzip.so.4": "libzip4",
}


def explained(error: ImportError) -> ImportError:
    """The same error with what to do about it, or unchanged where the cause is another."""
    if error.name == "numpy":
        return ImportError("mixcert needs NumPy: apt-get install python3-numpy, or pip install numpy", name="numpy")
    if error.name == f"{__package__}._core" and isinstance(error, ModuleNotFoundError):
        return ImportError(_no_extension(pathlib.Path(__file__).parent), name=error.name)
    missing = [library for library in SHARED_LIBRARIES if not _loads(library)]
    if not missing:
        return error
    packages = " ".join(SHARED_LIBRARIES[library] for library in missing)
    return ImportError(
        f"mixcert needs shared libraries that are not there: {', '.join(missing)}. On Debian 12:\n"
        f"    apt-get install {packages}\nOn another system build mixcert there: pip install ."
    )


def _no_extension(folder: pathlib.Path) -> str:
    this = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    built = ", ".join(sorted(path.name for path in folder.glob("_core.*.so")))
    if built:
        return f"mixcert in {folder} is built for another Python ({built}) than this one ({this}); build it: pip install ."
    return f"mixcert in {folder} has no compiled part; build it: ./run --python, or pip install ."


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


try:
    import numpy  # The first, since the extension's own error would not name it.
    from ._core import __version__
except ImportError as error:
    raise explained(error) from None
