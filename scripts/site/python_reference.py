# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Pages of the Python package from its sources: every public name with its signature and docstring.

The sources are read, not imported, so the site is built without the compiled module.
"""

import ast
import inspect
import pathlib
import re

PAGES = {
    "certify": ("Certify and compare", ["_certify", "_network", "_import"]),
    "results": ("Results and answers", ["_result", "_result_list", "_answers", "_mixture"]),
    "layers": ("Layers and networks", ["_layers", "_graph_layers", "_from_torch"]),
    "tune": ("Priors and distances", ["_tune", "_transport"]),
    "torch": ("Derivatives (mixcert.torch)", ["torch"]),
}


def write(package, folder):
    folder.mkdir(parents=True)
    public = public_names(package / "__init__.py")
    listed = dict(PAGES)
    known = [module for _, modules in PAGES.values() for module in modules]
    listed["further"] = ("Further names", sorted(set(public.values()) - set(known)))
    pages, told = [], set()
    for name, (title, modules) in listed.items():
        parts = []
        for module in modules:
            names = None if module == "torch" else {n for n, home in public.items() if home == module}
            if (package / (module + ".py")).exists():
                parts += module_parts(package / (module + ".py"), names, told)
        if parts:
            (folder / (name + ".md")).write_text("# %s\n\n%s\n" % (title, "\n\n".join(parts)), encoding="utf-8")
            pages.append(name)
    others = ["`%s`" % name for name in sorted(set(public) - told) if not name.startswith("_") and name != "torch"]
    index = """# Python reference

Every public name of the package, from its docstrings; [python.md](../python.md) is the guide. The keyword arguments of
`certify` are the options of [options.md](../options.md) with underscores.

%s

```{toctree}
:maxdepth: 2

%s
```
""" % ("Told there and not here: %s." % ", ".join(others) if others else "", "\n".join(pages))
    (folder / "index.md").write_text(index, encoding="utf-8")


def public_names(init):
    """Public name to the module of the package that it comes from."""
    names = {}
    for node in ast.parse(init.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                names[alias.asname or alias.name] = node.module.removeprefix("mixcert.")
    return {name: home for name, home in names.items() if not name.startswith("_")}


def module_parts(path, names, told):
    """Classes and functions of a module, those of `names` or, where that is None, all that are public."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_"):
            continue
        if names is None or node.name in names:
            told.add(node.name)
            prefix = "mixcert.torch." if names is None else "mixcert."
            yield class_text(node, prefix) if isinstance(node, ast.ClassDef) else function_text(node, prefix, "##")


def function_text(node, prefix, heading, bound=False):
    lines = ["%s %s" % (heading, node.name), "", "```python", signature(node, prefix, bound), "```", ""]
    return "\n".join(lines + [docstring(node)])


def class_text(node, prefix):
    constructor = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
    head = signature(constructor, prefix, True, node.name) if constructor else prefix + node.name
    parts = ["## %s\n\n```python\nclass %s\n```\n\n%s" % (node.name, head, docstring(node))]
    attributes = []
    for member in node.body:
        if not isinstance(member, ast.FunctionDef) or member.name.startswith("_"):
            continue
        decorators = {getattr(d, "id", getattr(d, "attr", "")) for d in member.decorator_list}
        if decorators & {"property", "cached_property"}:
            attributes.append("- `.%s`: %s" % (member.name, " ".join(docstring(member).split())))
        elif "setter" not in decorators:
            parts.append(function_text(member, node.name + ".", "###", "staticmethod" not in decorators))
    if attributes:
        parts.insert(1, "\n".join(attributes))
    return "\n\n".join(parts)


def signature(node, prefix, bound, name=None):
    arguments = ast.unparse(node.args)
    if bound:
        arguments = ", ".join(split_arguments(arguments)[1:])
    result = " -> " + ast.unparse(node.returns) if node.returns and name is None else ""
    line = "%s%s(%s)%s" % (prefix, name or node.name, arguments, result)
    if len(line) <= 88 or not node.args.args + node.args.kwonlyargs:
        return line
    parts = split_arguments(arguments)
    return "%s%s(\n    %s,\n)%s" % (prefix, name or node.name, ",\n    ".join(parts), result)


def split_arguments(text):
    """The arguments between commas that are in no bracket."""
    parts, depth = [""], 0
    for character in text:
        depth += {"[": 1, "(": 1, "{": 1, "]": -1, ")": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def docstring(node):
    """The docstring as Markdown: examples become code, indented paragraphs lists of what they say."""
    text = re.sub(r":(class|func|meth|mod|attr):(?=`)", "", inspect.cleandoc(ast.get_docstring(node) or ""))
    lines, code = [], False
    for line in text.splitlines():
        if line.lstrip().startswith(">>>") and not code:
            lines.append("```pycon")
            code = True
        if code and not line.strip():
            lines.append("```")
            code = False
        lines.append(line.replace("``", "`") if not code else line.strip())
    return "\n".join(lines + ["```"] if code else lines)


if __name__ == "__main__":
    import sys

    write(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
