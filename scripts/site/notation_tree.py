# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The tree of a formula: rows (lists) of atoms, brackets, items with scripts, and names with their arguments."""

from dataclasses import dataclass, field


@dataclass
class Atom:
    tex: str
    kind: str = "name"  # name, number, text, function, big, root, operator, relation, separator, bar
    before: int = 0


@dataclass
class Bracket:
    opening: str
    row: list
    closing: str
    before: int = 0
    kind: str = "bracket"


@dataclass
class Scripted:
    base: object
    below: list = field(default_factory=list)
    above: list = field(default_factory=list)
    primes: int = 0
    accents: list = field(default_factory=list)
    before: int = 0

    @property
    def kind(self):
        return self.base.kind


@dataclass
class Applied:
    """A name and the brackets right behind it."""

    items: list
    before: int = 0
    kind: str = "applied"

    @property
    def is_function(self):
        return self.items[0].kind in ("function", "big", "root")


def norm(content):
    """|content|, or ||content|| where the content has bars of its own and nothing beside them."""
    only = content[0]
    if len(content) == 1 and isinstance(only, Bracket) and only.opening == "|" and only.before == 0:
        return Bracket("||", only.row, "||")
    return Bracket("|", content, "|")


def is_operand(item):
    return item.kind not in ("relation", "operator", "separator", "slash", "bar", "big", "text", "dots")


def number_tex(text):
    if "e" in text:
        mantissa, exponent = text.split("e")
        power = "10^{%s}" % exponent.lstrip("+")
        return power if mantissa == "1" else r"%s\cdot %s" % (mantissa, power)
    return text.replace(",", "{,}")
