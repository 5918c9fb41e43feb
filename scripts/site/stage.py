# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Lays out the sources of the site in a folder: the pages of docs, the generated ones, and the start page.

    python3 scripts/site/stage.py build/site/source
"""

import pathlib
import re
import shutil
import sys

import cpp_reference
import python_reference
import theorem_pages

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!docs/)([^)#]+)(#[^)]*)?\)")


def stage(target):
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(DOCS, target, ignore=shutil.ignore_patterns("site"))
    shutil.copytree(DOCS / "site", target, dirs_exist_ok=True)
    shutil.copy(ROOT / "CHANGELOG.md", target / "changelog.md")
    for path in target.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        if path.name == "options.md":
            text = text.replace("\\|", " \\| ")  # choices may stand in several lines
        path.write_text(without_outside_links(text, path.parent), encoding="utf-8")
    for folder in ("theory", "theorems", "results"):
        list_pages(target / folder / "README.md", target / folder)
    list_pages(target / "map.md", target / "map")
    theorem_pages.write(target)
    python_reference.write(ROOT / "python" / "mixcert", target / "python-reference")
    cpp_reference.write(ROOT / "include" / "mixcert", target / "cpp-reference")


def list_pages(page, folder):
    """Puts the pages of a folder, those that the page links to first, below it in the navigation."""
    text = page.read_text(encoding="utf-8")
    prefix = "" if page.parent == folder else folder.name + "/"
    linked = re.findall(r"\]\(%s([\w.-]+)\.md(?:#[^)]*)?\)" % prefix, text)
    others = [path.stem for path in sorted(folder.glob("*.md")) if path.stem != "README"]
    names = [prefix + name for name in dict.fromkeys(linked + others) if name in others]
    page.write_text(text + "\n```{toctree}\n:hidden:\n\n%s\n```\n" % "\n".join(names), encoding="utf-8")


def without_outside_links(text, folder):
    """Links to files that are no part of the site become names of files."""

    def replace(match):
        name, path = match.group(1), match.group(2)
        inside = (folder / match.group(0).split("](")[1].split(")")[0].split("#")[0]).exists()
        return match.group(0) if inside else "%s (`%s`)" % (name, path) if name != path else "`%s`" % path

    return OUTSIDE.sub(replace, text)


if __name__ == "__main__":
    stage(pathlib.Path(sys.argv[1]))
