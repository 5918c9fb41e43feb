# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The type hints name what the module has."""

import ast
import pathlib

from mixcert import _core


def test_type_hints_name_what_the_module_has():
    hints = ast.parse((pathlib.Path(_core.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))
    public = lambda names: {name for name in names if not name.startswith("_")}
    defined = {node.name: node for node in hints.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert public(defined) == public(dir(_core))
    for name, node in defined.items():
        if isinstance(node, ast.ClassDef):
            members = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            assert public(members) == public(vars(getattr(_core, name)))
