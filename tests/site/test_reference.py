# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The generated pages: Python from docstrings, C++ from headers, theorems from the table and the theory."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "site"))

import cpp_reference  # noqa: E402
import python_reference  # noqa: E402
import stage  # noqa: E402
import theorem_pages  # noqa: E402


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "source"
    stage.stage(folder)
    return folder


def test_every_public_python_name_is_told(staged):
    pages = "".join(path.read_text(encoding="utf-8") for path in (staged / "python-reference").glob("*.md"))
    public = python_reference.public_names(ROOT / "python" / "mixcert" / "__init__.py")
    assert len(public) > 30
    assert [name for name in public if "## %s\n" % name not in pages and "`%s`" % name not in pages] == []
    assert ":func:" not in pages


def test_a_python_function():
    import ast

    node = ast.parse('def f(a: int, *, b=1) -> int:\n    """Does it.\n\n    >>> f(1)\n    1\n\n    See :func:`g`."""').body[0]
    text = python_reference.function_text(node, "m.", "##")
    assert "m.f(a: int, *, b=1) -> int" in text
    assert "```pycon\n>>> f(1)\n1\n```" in text
    assert "See `g`." in text


def test_cpp_declarations():
    lines = ["/// Adds.", "int add(int a,", "        int b);", "struct Pair {", "  /// The one.", "  int one = 1;",
             "  int two;  ///< other", "};", "/// Inline.", "inline int three() { return 3; }"]  # fmt: skip
    assert list(cpp_reference.declarations(lines)) == [
        (None, "Adds.", "int add(int a,\n        int b);"),
        ("struct Pair", "The one.", "int one = 1;"),
        (None, "Inline.", "inline int three();"),
    ]


def test_every_installed_header_is_told(staged):
    pages = "".join(path.read_text(encoding="utf-8") for path in (staged / "cpp-reference").glob("*.md"))
    for header in (ROOT / "include").rglob("*.h"):
        assert "## %s\n" % header.relative_to(ROOT / "include") in pages


def test_theorem_pages_have_conditions_and_statements(staged):
    page = (staged / "theorems" / "D.7.md").read_text(encoding="utf-8")
    assert "## When it applies\n\n- it is the last hidden layer" in page
    assert "**(D.7) Theorem (lattice law).**" in page and "*Proof.*" in page
    assert "**(D.8)" not in page


def test_a_statement_ends_at_the_next_one():
    text = "# T\n\n**(A.1) One.** Text.\n\n    x\n\n*Proof.* p.\n\n**(A.2) Two.** t\n\n## Next\n"
    assert theorem_pages.statement_of("A.1", text) == "**(A.1) One.** Text.\n\n    x\n\n*Proof.* p.\n\n"
    assert theorem_pages.statement_of("A.2", text) == "**(A.2) Two.** t\n\n"


def test_links_to_files_outside_are_names(staged):
    assert stage.without_outside_links("[a](../src/b.cc) [c](d.md)", staged) == "a (`src/b.cc`) [c](d.md)"
