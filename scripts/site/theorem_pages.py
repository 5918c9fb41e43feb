# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Completes the pages of docs/theorems: conditions from the table of theorems, statement and proof from the theory."""

import pathlib
import re

LAST_LINE = re.compile(r"^When it applies: .*$", re.MULTILINE)
SECTION = re.compile(r"^## (.+) \(([A-Z]\.\d+)\)$", re.MULTILINE)


def write(target):
    folder = pathlib.Path(target) / "theorems"
    for label, title, page, conditions in table_rows((folder / "table.md").read_text(encoding="utf-8")):
        path = folder / (label + ".md")
        text = path.read_text(encoding="utf-8")
        statement = statement_of(label, (folder.parent / "theory" / page).read_text(encoding="utf-8"))
        body = "## When it applies\n\n%s\n\n## Statement and proof\n\nFrom [%s](../theory/%s), in whose notation it is:\n\n%s" % (
            conditions, page_title(folder.parent / "theory" / page), page, statement)  # fmt: skip
        if not LAST_LINE.search(text):
            raise SystemExit("docs/theorems/%s.md: expected a line 'When it applies: ...'" % label)
        path.write_text(LAST_LINE.sub(lambda _: body, text), encoding="utf-8")


def table_rows(text):
    """(number, name, page, conditions) of every section of the table."""
    sections = SECTION.split(text)[1:]
    for title, label, body in zip(sections[0::3], sections[1::3], sections[2::3]):
        page = re.search(r"\(\.\./theory/([\w-]+\.md)\)", body).group(1)
        yield label, title, page, "\n".join(line for line in body.splitlines() if line.startswith("- "))


def statement_of(label, text):
    """The text of a page from a statement to the next one or to the next heading."""
    start = re.search(r"^\*\*\(%s\)" % re.escape(label), text, re.MULTILINE)
    if not start:
        raise SystemExit("docs/theory: no statement (%s)" % label)
    rest = text[start.start() :]
    end = re.search(r"^(\*\*\([A-Z]\.\d+\)|#+ )", rest[2:], re.MULTILINE)
    return rest[: end.start() + 2] if end else rest


def page_title(path):
    return re.match(r"# (.+)", path.read_text(encoding="utf-8")).group(1)
