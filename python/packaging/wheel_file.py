# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Writes the wheel: the Python files of the repository, the extension, and what describes them (PEP 427). The same
files give the same bytes."""

import base64
import hashlib
import os
import pathlib
import re
import sys
import sysconfig
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = (".py", ".pyi", ".typed")


def project() -> dict:
    """What project() of CMakeLists.txt says: the version stands there and nowhere else."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    version, description = re.search(r'project\(mixcert VERSION ([0-9.]+)[^"]*"([^"]*)"', text).groups()
    return {"@PROJECT_VERSION@": version, "@PROJECT_DESCRIPTION@": description}


def wheel_tag() -> str:
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}{sys.abiflags}-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def write_metadata(directory: pathlib.Path) -> str:
    folder = f"mixcert-{project()['@PROJECT_VERSION@']}.dist-info"
    for name, data in _description():
        path = directory / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return folder


def write_wheel(directory: pathlib.Path, extension: pathlib.Path) -> str:
    stem = f"mixcert-{project()['@PROJECT_VERSION@']}"
    members = [(f"mixcert/{path.name}", path.read_bytes()) for path in _python_files()]
    members.append((f"mixcert/{extension.name}", extension.read_bytes()))
    members += [(f"{stem}.dist-info/{name}", data) for name, data in _description()]
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in members)
    record_name = f"{stem}.dist-info/RECORD"
    members.append((record_name, f"{record}{record_name},,\n".encode()))
    wheel = f"{stem}-{wheel_tag()}.whl"
    # Renamed at the end, so that a build that is stopped leaves no wheel that looks finished.
    unfinished = directory / f".{wheel}.{os.getpid()}"
    try:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members:
                entry = zipfile.ZipInfo(name)
                entry.external_attr = 0o100644 << 16
                archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
        unfinished.replace(directory / wheel)
    finally:
        unfinished.unlink(missing_ok=True)
    return wheel


def _python_files() -> list:
    return sorted(path for path in (ROOT / "python" / "mixcert").iterdir() if path.suffix in KINDS)


def _description() -> list:
    metadata = (ROOT / "python" / "packaging" / "METADATA.in").read_text(encoding="utf-8")
    for placeholder, value in project().items():
        metadata = metadata.replace(placeholder, value)
    metadata += (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    wheel = f"Wheel-Version: 1.0\nGenerator: mixcert\nRoot-Is-Purelib: false\nTag: {wheel_tag()}\n"
    return [
        ("METADATA", metadata.encode()),
        ("WHEEL", wheel.encode()),
        ("LICENSE", (ROOT / "LICENSE").read_bytes()),
        ("licences_of_reports.txt", (ROOT / "src" / "report" / "page" / "licences.txt").read_bytes()),
    ]


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
