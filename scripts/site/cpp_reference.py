# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Pages of the C++ library from its installed headers: what each is for, and its documented declarations.

A declaration is documented by /// lines above it or by ///< behind it. One page for each folder of include/mixcert.
"""

import pathlib
import re


def write(include, folder):
    folder.mkdir(parents=True)
    rooms = sorted({path.parent for path in include.rglob("*.h") if path.parent != include})
    names = []
    for room in rooms:
        title = str(room.relative_to(include))
        name = title.replace("/", "-")
        parts = ["# mixcert/%s" % title, ""]
        for header in sorted(room.glob("*.h")):
            parts += header_parts(header, header.relative_to(include.parent))
        (folder / (name + ".md")).write_text("\n".join(parts), encoding="utf-8")
        names.append(name)
    main = "\n".join(header_parts(include / "mixcert.h", pathlib.Path("mixcert/mixcert.h")))
    index = "# C++ reference\n\n%s\n\n```{toctree}\n:maxdepth: 1\n\n%s\n```\n" % (main, "\n".join(names))
    (folder / "index.md").write_text(index, encoding="utf-8")


def header_parts(path, name):
    lines = path.read_text(encoding="utf-8").splitlines()
    parts = ["## %s" % name, "", opening(lines), ""]
    for owner, comment, declaration in declarations(lines):
        inside = ["// in " + owner] if owner else []
        parts += ["```cpp", *inside, declaration, "```", "", comment, ""]
    return parts


def opening(lines):
    """What the file says of itself below the licence line."""
    text = []
    for line in lines[1:]:
        if not line.startswith("//"):
            break
        text.append(line[2:].removeprefix(" "))
    return as_text("\n".join(text).strip())


def as_text(text):
    """Comments are plain text: what Markdown would take for markup is shown as it stands."""
    return re.sub(r"([*_<\[\\|])", r"\\\1", text)


def declarations(lines):
    """(record around it or None, comment, declaration) of everything that is documented."""
    comment, owner, at = [], None, 0
    while at < len(lines):
        stripped = lines[at].strip()
        record = re.match(r"(struct|class)\s+(\w+)[^;]*\{$", lines[at])
        if lines[at].startswith("}"):
            owner = None
        if stripped.startswith("///") and not stripped.startswith("///<"):
            comment.append(stripped[3:].strip())
        elif comment:
            declaration, at = declared(lines, at)
            if declaration:
                inside = owner if lines[at].startswith(" ") else None
                yield inside, as_text("\n".join(comment)), declaration
            comment = []
        if record:
            owner = "%s %s" % record.groups()
        at += 1


def declared(lines, at):
    """The lines of one declaration, a record without the bodies of its functions, and its last line's place."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    first = lines[at].strip()
    if re.match(r"(template.*)?(struct|class|enum)\b.*\{$", first) and "enum" not in first:
        kept = [first]
        while at + 1 < len(lines) and not lines[at + 1].startswith(" " * indent + "}"):
            if "///" in lines[at + 1] and not lines[at + 1].strip().startswith("///"):
                kept.append("  " + lines[at + 1].strip())
            elif re.match(r"\s*///", lines[at + 1]):
                return "\n".join(kept + (["};"] if len(kept) > 1 else [])), at
            at += 1
        return "\n".join(kept + ["};"]), at
    kept = []
    depth = 0
    while at < len(lines):
        line = lines[at][indent:] if lines[at][:indent].strip() == "" else lines[at].strip()
        depth += line.count("(") - line.count(")") + line.count("{") - line.count("}")
        if line.rstrip().endswith("{") and not kept and "enum" not in line or re.search(r"\)[^;]*\{", line):
            kept.append(line.split("{")[0].rstrip() + ";")
            break
        kept.append(line)
        if depth <= 0 and re.search(r"[;}]\s*(///<.*)?$", line):
            break
        at += 1
    return "\n".join(kept), at
