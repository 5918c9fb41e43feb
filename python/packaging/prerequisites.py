# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which Debian packages the build needs (scripts/packages.sh) and which of them are missing, as one line to copy."""

import pathlib
import shutil
import subprocess

PACKAGES = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "packages.sh"


class Refused(Exception):
    """Why the package cannot be built here, for a reader who has not seen the build."""


def apt_line() -> str:
    """What to type, as the end of a message. Another package may provide the same files, so CMake decides whether
    something is missing, and this only says what Debian calls it."""
    if not shutil.which("bash"):
        raise Refused("bash is not found on PATH; scripts/packages.sh needs it")
    if not shutil.which("dpkg-query"):
        needed = _ask("packages_of core; packages_of python")
        return f"\nThis is not a Debian system. The build needs what Debian calls\n    {' '.join(needed.split())}"
    line = _ask("apt_line $(missing_packages $(packages_of core) $(packages_of python))").strip()
    if not line:
        return "\nAll Debian packages that the build needs are installed."
    return f"\nThe build needs Debian packages that are not installed. Install them and try again:\n    {line}"


def _ask(words: str) -> str:
    command = ["bash", "-c", f'source "$1"; {words}', "bash", str(PACKAGES)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
