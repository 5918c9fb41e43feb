# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Links between pages lead somewhere, and every numbered statement that a page names exists."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
LABEL = re.compile(r"(?<![\w.])\(([A-Z]\.\d{1,2})\)")
STATEMENT = re.compile(r"^\*\*\(([A-Z]\.\d+)\)", re.MULTILINE)


def text_of(path):
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """As GitHub and MyST make them of headings."""
    for heading in re.findall(r"^#+ (.+)$", text_of(path), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", heading)
        yield re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links(path):
    for link in LINK.findall(text_of(path)):
        if link.startswith(("http", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        # The start page of the site lies beside the pages there, and the references are made with it.
        folder = path.parent.parent if path.parent.name == "site" else path.parent
        if name.endswith("-reference/index.md"):
            continue
        target = (folder / name) if name else path
        assert target.exists(), link
        if anchor:
            assert anchor in set(anchors(target)), link


def test_numbered_statements_exist():
    known = {label for path in (ROOT / "docs" / "theory").glob("*.md") for label in STATEMENT.findall(text_of(path))}
    assert len(known) > 150
    missing = {(str(path.relative_to(ROOT)), label) for path in PAGES for label in LABEL.findall(text_of(path))
               if label not in known}  # fmt: skip
    assert missing == set()


def test_every_row_of_the_table_of_theorems_has_a_page():
    table = (ROOT / "docs" / "theorems" / "table.md").read_text(encoding="utf-8")
    labels = re.findall(r"^## .+ \(([A-Z]\.\d+)\)$", table, re.MULTILINE)
    assert len(labels) >= 15
    for label in labels:
        page = (ROOT / "docs" / "theorems" / (label + ".md")).read_text(encoding="utf-8")
        assert page.startswith("# ") and "(%s)" % label in page.splitlines()[0]
        assert re.search(r"^When it applies: ", page, re.MULTILINE)
