# Licensed under the Apache License, Version 2.0; see LICENSE.
"""TeX of a formula in the notation of docs/theory.

`to_tex(text, display)` never fails: it returns None for what is no formula of this notation, and the caller shows
the text as it stands. Fractions are set as such in displayed formulas, where both sides of the slash are single
factors; everywhere else a slash stays a slash, which cannot change what the formula says. A prime stays a prime:
it is the transpose of a matrix, the derivative of a function, or another quantity of the same kind.
"""

from notation_parser import parse
from notation_tokens import NotationError
from notation_tree import Applied, Atom, Bracket

DELIMITERS = {
    "(": "(", ")": ")", "[": "[", "]": "]", "{": r"\{", "}": r"\}", "<": r"\langle", ">": r"\rangle",
}  # fmt: skip


def to_tex(text, display=False):
    try:
        return render_row(parse(text), 1 if display else 0)
    except NotationError:
        return None


def render_row(row, fractions):
    """`fractions`: how many levels of fractions may still be set."""
    parts = []
    position = 0
    while position < len(row):
        item = row[position]
        slash = fraction_at(row, position) if fractions else None
        if slash:
            above = row[position:slash]
            numerator = unbracketed(above[0]) if len(above) == 1 else render_row(above, 0)
            tex = r"\frac{%s}{%s}" % (numerator, unbracketed(row[slash + 1]))
            position = slash + 2
        elif item.kind == "root" and isinstance(item, Atom) and position + 1 < len(row):
            tex = r"\sqrt{%s}" % render(row[position + 1], 0)
            position += 2
        else:
            tex = render(item, fractions)
            position += 1
        parts.append(separation(row, item, parts) + tex)
    return "".join(parts).strip()


def separation(row, item, parts):
    if not parts:
        return ""
    if item.before >= 3 and item.kind not in ("relation", "operator"):
        previous = parts[-1].strip()
        if not previous.endswith((r"\le", r"\ge", "=", r"\to", "-", "+")):
            return r"\qquad "
    previous = row[next(i for i, other in enumerate(row) if other is item) - 1]
    if item.before and "text" in (item.kind, previous.kind) and not (is_sign(item) or is_sign(previous)):
        return r"\ "
    return " "


def is_sign(item):
    return item.kind in ("relation", "operator", "slash", "separator") and getattr(item, "tex", "") != ","


def is_factor(item):
    if isinstance(item, Applied):
        return True
    return item.kind in ("name", "number", "bracket")


def fraction_at(row, start):
    """The place of the slash of a fraction whose factors above begin here: a b/c is a b over c. Or None."""
    if start and (is_factor(row[start - 1]) or row[start - 1].kind in ("function", "root", "slash", "text")):
        # log a/b and E a/b: the reader decides, as in the source.
        return None
    slash = start
    while slash < len(row) and is_factor(row[slash]) and (slash == start or row[slash].before < 3):
        slash += 1
    if slash == start or slash + 1 >= len(row) or row[slash].kind != "slash":
        return None
    below = row[slash + 1]
    if not is_factor(below) or isinstance(below, Applied) and not below.is_function:
        return None
    behind = row[slash + 2] if slash + 2 < len(row) else None
    follows_closely = behind is not None and (behind.kind == "slash" or (behind.before == 0 and is_factor(behind)))
    return None if follows_closely else slash


def unbracketed(item):
    if isinstance(item, Bracket) and item.opening == "(" and item.closing == ")":
        return render_row(item.row, 0)
    return render(item, 0)


def render(item, fractions):
    if isinstance(item, Atom):
        return item.tex
    if isinstance(item, Applied):
        return render_applied(item, fractions)
    if isinstance(item, Bracket):
        return render_bracket(item, fractions)
    return render_scripted(item, fractions)


def render_applied(item, fractions):
    head, *rest = item.items
    if head.kind == "root" and isinstance(rest[0], Bracket):
        return r"\sqrt{%s}%s" % (render_row(rest[0].row, 0), "".join(render(r, fractions) for r in rest[1:]))
    return render(head, fractions) + "".join(render(bracket, fractions) for bracket in rest)


def render_bracket(item, fractions):
    inside = render_row(item.row, fractions)
    if item.opening == "|":
        left, right = r"\lvert", r"\rvert"
    elif item.opening == "||":
        left, right = r"\lVert", r"\rVert"
    else:
        left, right = DELIMITERS[item.opening], DELIMITERS[item.closing]
    if any(tall in inside for tall in (r"\frac", r"\sum_", r"\int_", r"\prod_")) and fractions:
        left, right = r"\bigl" + left, r"\bigr" + right
    return "%s %s%s" % (left, inside, right if right[0] != "\\" else " " + right)


def render_scripted(item, fractions):
    base = render(item.base, fractions)
    for accent in item.accents:
        wide = len(base.replace("\\", "")) > 2 and not base.startswith("\\")
        base = r"\%s%s{%s}" % ("wide" if wide else "", accent, base)
    if isinstance(item.base, Atom) and "_" in base:
        base = "{%s}" % base
    below = r",\,".join(render_row(row, 0) for row in item.below)
    above = " ".join([r"\prime"] * item.primes + [render_row(row, 0) for row in item.above])
    tex = base
    if below:
        tex += "_{%s}" % below
    if above:
        tex += "^{%s}" % above
    return tex
