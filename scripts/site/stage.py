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
    for folder in ("theory", "theorems", "results", "map"):
        list_pages(target / folder / "README.md")
    theorem_pages.write(target)
    python_reference.write(ROOT / "python" / "mixcert", target / "python-reference")
    cpp_reference.write(ROOT / "include" / "mixcert", target / "cpp-reference")


def list_pages(readme):
    """Puts the pages that a folder's README links to, and the others of the folder, below it in the navigation."""
    if not readme.exists():
        return
    text = readme.read_text(encoding="utf-8")
    linked = [name for name in re.findall(r"\]\(([\w.-]+)\.md\)", text) if (readme.parent / (name + ".md")).exists()]
    others = [path.stem for path in sorted(readme.parent.glob("*.md")) if path.stem != "README"]
    names = list(dict.fromkeys(linked + others))
    readme.write_text(text + "\n```{toctree}\n:hidden:\n\n%s\n```\n" % "\n".join(names), encoding="utf-8")


def without_outside_links(text, folder):
    """Links to files that are no part of the site become names of files."""

    def replace(match):
        name, path = match.group(1), match.group(2)
        inside = (folder / match.group(0).split("](")[1].split(")")[0].split("#")[0]).exists()
        return match.group(0) if inside else "%s (`%s`)" % (name, path) if name != path else "`%s`" % path

    return OUTSIDE.sub(replace, text)


if __name__ == "__main__":
    stage(pathlib.Path(sys.argv[1]))
