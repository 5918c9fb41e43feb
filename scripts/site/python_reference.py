# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Pages of the Python package from its sources: every public name with its signature and docstring.

The sources are read, not imported, so the site is built without the compiled module.
"""

import ast
import inspect
import pathlib

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
    pages, told = [], set()
    known = [module for _, modules in PAGES.values() for module in modules]
    listed = dict(PAGES)
    others = [path.stem for path in sorted(package.glob("*.py")) if path.stem not in known and path.stem != "__init__"]
    listed["further"] = ("Further names", others)
    for name, (title, modules) in listed.items():
        parts = [
            part
            for module in modules
            if (package / (module + ".py")).exists()
            for part in module_parts(package / (module + ".py"), public, module == "torch", told)
        ]
        if parts:
            (folder / (name + ".md")).write_text("# %s\n\n%s\n" % (title, "\n\n".join(parts)), encoding="utf-8")
            pages.append(name)
    missing = sorted(public - told - {"torch"} - {name for name in public if name.startswith("_")})
    index = ["# Python reference", "", "Every public name of the package, from its docstrings; "
             "[python.md](../python.md) is the guide. The keyword arguments of `certify` are the options of "
             "[options.md](../options.md) with underscores.", ""]  # fmt: skip
    if missing:
        index += ["Made by the compiled module: " + ", ".join("`%s`" % name for name in missing) + ".", ""]
    index += ["```{toctree}", ":maxdepth: 2", ""] + pages + ["```", ""]
    (folder / "index.md").write_text("\n".join(index), encoding="utf-8")


def public_names(init):
    tree = ast.parse(init.read_text(encoding="utf-8"))
    names = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return set(ast.literal_eval(node.value))
        if isinstance(node, ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
    return names


def module_parts(path, public, everything, told):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_"):
            continue
        if node.name in public or everything:
            told.add(node.name)
            prefix = "mixcert.torch." if everything else "mixcert."
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
        arguments = arguments.partition(",")[2].strip() if "," in arguments else ""
    result = " -> " + ast.unparse(node.returns) if node.returns and name is None else ""
    return "%s%s(%s)%s" % (prefix, name or node.name, arguments, result)


def docstring(node):
    """The docstring as Markdown: examples become code, indented paragraphs lists of what they say."""
    text = inspect.cleandoc(ast.get_docstring(node) or "")
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
