# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Completes the pages of docs/theorems: conditions from the table of theorems, statement and proof from the theory."""

import pathlib
import re

LAST_LINE = re.compile(r"^When it applies: (.*) Statement and proof: \(([A-Z]\.\d+)\) of \[([\w-]+\.md)\].*$", re.MULTILINE)
SECTION = re.compile(r"^## (.+) \(([A-Z]\.\d+)\)$", re.MULTILINE)
BODY = """## When it applies

%s

## Statement and proof

From [%s](../theory/%s), in whose notation it is:

%s"""


def write(target):
    folder = pathlib.Path(target) / "theorems"
    conditions = dict(table_rows((folder / "table.md").read_text(encoding="utf-8")))
    for path in sorted(folder.glob("[A-Z].*.md")):
        text = path.read_text(encoding="utf-8")
        last = LAST_LINE.search(text)
        if not last:
            raise SystemExit("docs/theorems/%s: expected a line 'When it applies: ... Statement and proof: ...'" % path.name)
        words, label, page = last.groups()
        source = folder.parent / "theory" / page
        statement = statement_of(label, source.read_text(encoding="utf-8"))
        body = BODY % (conditions.get(label, words[0].upper() + words[1:]), page_title(source), page, statement)
        path.write_text(LAST_LINE.sub(lambda _, body=body: body, text), encoding="utf-8")


def table_rows(text):
    """(number, conditions as a list) of every section of the table."""
    sections = SECTION.split(text)[1:]
    for label, body in zip(sections[1::3], sections[2::3]):
        yield label, "\n".join(line for line in body.splitlines() if line.startswith("- "))


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
