# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The tokens of the notation in docs/theory, each with the spaces around it, which mean something."""

import re
from dataclasses import dataclass

PATTERN = re.compile(
    r"""
    (?P<label>[A-Z]\.\d+(?![\w.]))                              # a numbered statement, as (H.1) in a formula
  | (?P<number>\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:\.\d+)?(?:e[+-]?\d+(?![A-Za-z]))?|\.\d+)
  | (?P<word>[A-Za-z]+\d*|[αβγδεζηθκλμνξπρστφχψωΦΣΔ])
  | (?P<operator><=>|<=|>=|!=|->|<-|=>|:=|\+-|\.\.\.|\.\.|[-+*/^_=<>(){}\[\],;:.'|~\#!%°×])
    """,
    re.VERBOSE,
)
SPACES = re.compile(r"\s*")


class NotationError(ValueError):
    """What the notation does not have."""


@dataclass
class Token:
    kind: str
    text: str
    before: int  # spaces in front
    after: int  # spaces behind; what ends the formula counts as one

    @property
    def tight(self):
        return self.before == 0

    def __bool__(self):
        return self.kind != "end"


def tokens(text):
    """The tokens of a formula, and one of kind "end"."""
    found = []
    position = SPACES.match(text).end()
    before = 1
    while position < len(text):
        match = PATTERN.match(text, position)
        if not match:
            raise NotationError("unexpected '%s' in %s" % (text[position], text))
        spaces = SPACES.match(text, match.end())
        position = spaces.end()
        after = len(spaces.group()) if position < len(text) else 1
        found.append(Token(match.lastgroup, match.group(), before, after))
        before = after
    found.append(Token("end", "", 1, 1))
    return found
