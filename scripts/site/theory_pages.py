# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Sphinx extension: the pages of docs/theory as a mathematician reads them.

Formulas in backticks and in indented blocks become typeset ones (notation_tex.py), as do symbols in sentences
(prose.py). A paragraph that begins with **(D.10) Lemma.** becomes a block with the anchor d-10, its proof another
one, and every mention of (D.10) on any page a link to it. What is no formula of the notation stays as it is written
and is counted in formulas.json.
"""

import json
import pathlib
import re

import prose
from code_spans import is_code, is_code_block
from docutils import nodes
from notation_tex import to_tex

LABEL = re.compile(r"(?<![\w.])([A-Z]\.\d{1,2})(?![\w]|\.\d)")
STATEMENT = re.compile(r"^\*\*\(([A-Z]\.\d+)\)", re.MULTILINE)
MATHEMATICAL = ("theory/", "theorems/", "how-it-works", "glossary")
PLAIN_PARENTS = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.reference, nodes.title,
                 nodes.raw, nodes.comment)  # fmt: skip


def anchor(label):
    return label.lower().replace(".", "-")


def find_statements(source):
    """Label to the page where it is stated."""
    places = {}
    for path in sorted(pathlib.Path(source).glob("theory/*.md")):
        for label in STATEMENT.findall(path.read_text(encoding="utf-8")):
            places.setdefault(label, "theory/" + path.stem)
    return places


def begin(app):
    app.env.statements = find_statements(app.srcdir)
    app.env.formula_counts = getattr(app.env, "formula_counts", {})


def read(app, doctree):
    name = app.env.docname
    if name.startswith(MATHEMATICAL):
        app.env.formula_counts[name] = typeset(doctree)
        # Sphinx looked for formulas before there were any; its MathJax is loaded where there are.
        app.env.get_domain("math").data["has_equations"][name] = True
        frame_statements(doctree, app.env.statements, name)


def typeset(doctree):
    """Turns formulas into math nodes; how many there are, and what stays as it is."""
    count, left = 0, []
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        if is_code(text):
            continue
        tex = to_tex(text)
        count += 1
        if tex is None:
            left.append(text)
        else:
            literal.replace_self(nodes.math(tex, tex))
    for block in list(doctree.findall(nodes.literal_block)):
        text = block.astext()
        if block.get("language", "none") not in ("none", "default", "text", "") or is_code_block(text):
            continue
        lines = joined_lines(text)
        formulas = [to_tex(line, display=True) for line in lines]
        count += len(lines)
        if None in formulas:
            left += [line for line, tex in zip(lines, formulas) if tex is None]
            continue
        block.replace_self([nodes.math_block(tex, tex, nowrap=False, number=None, label=None) for tex in formulas])
    typeset_prose(doctree)
    return {"formulas": count, "left": left}


def joined_lines(text):
    """One formula each: a line that goes on where the one before ended belongs to it."""
    lines = []
    for line in text.splitlines():
        if not line.strip():
            continue
        goes_on = re.match(r"\s*([-+*/]|<=|>=|=)\s", line) or lines and re.search(r"([-+=*/(]|<=|>=)$", lines[-1])
        if lines and goes_on:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line.strip())
    return lines


def plain_texts(doctree):
    for text in list(doctree.findall(nodes.Text)):
        parent = text.parent
        while parent is not None and not isinstance(parent, PLAIN_PARENTS):
            parent = parent.parent
        if parent is None:
            yield text


def typeset_prose(doctree):
    for text in plain_texts(doctree):
        pieces = prose.split(text.astext().replace("[]", "\u25a1"))
        text.parent.replace(text, [nodes.math(tex, tex) if is_tex else nodes.Text(tex) for is_tex, tex in pieces])


def frame_statements(doctree, statements, name):
    for paragraph in list(doctree.findall(nodes.paragraph)):
        first = paragraph.children[0] if paragraph.children else None
        if not isinstance(first, nodes.strong):
            continue
        label = re.match(r"\(([A-Z]\.\d+)\)", first.astext())
        if label and label.group(1) in statements and not isinstance(paragraph.parent, nodes.container):
            # A theorem's own page quotes its statement, whose anchor is on the page of the theory.
            is_home = statements[label.group(1)] == name
            frame(paragraph, [anchor(label.group(1))] if is_home else [])


def frame(paragraph, identifiers):
    """Puts the statement, up to its proof, into a container, and the proof into another one."""
    parent, place = paragraph.parent, paragraph.parent.index(paragraph)
    blocks = [paragraph]
    for sibling in parent.children[place + 1 :]:
        if not belongs(sibling):
            break
        blocks.append(sibling)
    statement = nodes.container(classes=["statement"], ids=identifiers)
    proof = nodes.container(classes=["proof"])
    for block in blocks:
        parent.remove(block)
        if proof.children:
            proof += block
            continue
        at = proof_start(block)
        if at is None:
            statement += block
            continue
        rest = nodes.paragraph("", "", *block.children[at:])
        block.children = block.children[:at]
        if block.children:
            statement += block
        proof += rest
    parent.insert(place, [statement] + ([proof] if proof.children else []))


def proof_start(block):
    if isinstance(block, nodes.paragraph):
        for at, child in enumerate(block.children):
            if isinstance(child, nodes.emphasis) and child.astext().startswith("Proof"):
                return at
    return None


def belongs(block):
    """Formulas, and paragraphs without a bold beginning, go on with what is stated."""
    if isinstance(block, nodes.paragraph):
        return not (block.children and isinstance(block.children[0], nodes.strong))
    return isinstance(block, (nodes.math_block, nodes.literal_block, nodes.bullet_list, nodes.enumerated_list))


def link(app, doctree, name):
    """Every mention of a numbered statement becomes a link to it."""
    statements = app.env.statements
    for text in plain_texts(doctree):
        pieces, at = [], 0
        for match in LABEL.finditer(text.astext()):
            label = match.group(1)
            if label not in statements or inside(text, anchor(label)):
                continue
            target = app.builder.get_relative_uri(name, statements[label]) + "#" + anchor(label)
            pieces.append(nodes.Text(text.astext()[at : match.start()]))
            pieces.append(nodes.reference("", label, internal=True, refuri=target, classes=["statement-link"]))
            at = match.end()
        if pieces:
            pieces.append(nodes.Text(text.astext()[at:]))
            text.parent.replace(text, pieces)


def inside(node, identifier):
    """A statement's own number at its beginning is no link to itself."""
    return isinstance(node.parent, nodes.strong) and identifier in node.parent.parent.parent.get("ids", [])


def finish(app, error):
    if error is None:
        path = pathlib.Path(app.outdir) / "formulas.json"
        path.write_text(json.dumps(app.env.formula_counts, indent=1), encoding="utf-8")


def setup(app):
    app.connect("builder-inited", begin)
    app.connect("doctree-read", read)
    app.connect("doctree-resolved", link)
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
