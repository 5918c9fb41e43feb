# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Parses the notation of docs/theory into a tree: rows of items, brackets, scripts and applications.

Scripts bind closest, then application (no space between a name and its bracket), then the slash, then everything
else. Bars, angles and the letters E, P, o and x have several meanings, which the spaces around them tell apart.
"""

from dataclasses import dataclass, field

from notation_tokens import NotationError, tokens
from notation_words import BIG, is_english, script_tex, word_tex

CLOSERS = {"(": ")]", "[": "])", "{": "}"}


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


RELATIONS = {
    "<=": r"\le", ">=": r"\ge", "!=": r"\ne", "->": r"\to", "<-": r"\leftarrow", "=>": r"\Rightarrow",
    "<=>": r"\Leftrightarrow", "=": "=", "<": "<", ">": ">", ":=": ":=",
}  # fmt: skip
BINARY = {"+": "+", "-": "-", "+-": r"\pm", "*": r"\cdot", "#": r"\mathbin{\#}", "/": "/"}
SEPARATORS = {",": ",", ";": ";", ":": ":", "!": "!", "%": r"\%"}


class Parser:
    def __init__(self, text):
        self.tokens = tokens(text)
        self.at = 0

    @property
    def token(self):
        return self.tokens[self.at]

    @property
    def next(self):
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]

    def take(self):
        token = self.token
        self.at += 1
        return token

    def whole(self):
        row = self.row(None)
        if self.token:
            raise NotationError("'%s' closes nothing" % self.token.text)
        return row

    def row(self, closers):
        items = []
        while self.token and not (closers and self.closes(closers, items)):
            if self.token.text in ")]}" and self.token.kind == "operator":
                break
            before = self.token.before
            item = self.scripts(self.atom(items))
            item.before = before
            if items and item.kind == "bracket" and before == 0 and self.is_applicable(items[-1]):
                if isinstance(items[-1], Applied):
                    items[-1].items.append(item)
                else:
                    items[-1] = Applied([items[-1], item], items[-1].before)
                continue
            items.append(item)
        return items

    def closes(self, closers, items):
        token = self.token
        if token.kind != "operator" or token.text not in closers:
            return False
        if token.text == "|":
            opens_another = token.before and not token.after and self.starts_operand(self.next)
            return bool(items) and is_operand(items[-1]) and not opens_another
        return True

    @staticmethod
    def is_applicable(item):
        return item.kind in ("name", "function", "root", "applied", "text")

    # One item without its scripts.
    def atom(self, row):
        token = self.take()
        if token.kind == "number":
            return Atom(number_tex(token.text), "number")
        if token.kind == "label":
            return Atom(r"\text{%s}" % token.text, "name")
        if token.kind == "word":
            return self.word(token, row)
        text = token.text
        if text in CLOSERS:
            return self.bracket(token, row)
        if text == "|":
            return self.bars(token, row)
        if text == "<" and token.after == 0:
            angle = self.angle()
            if angle:
                return angle
        if text in RELATIONS:
            return Atom(RELATIONS[text], "relation")
        if text == ".":
            if token.before == token.after and self.token and row and is_operand(row[-1]):
                return Atom(r"\cdot", "operator")
            return Atom(".", "separator")
        if text in ("..", "..."):
            return Atom(r"\dots", "dots")
        if text == "~":
            return Atom(r"\sim", "relation")
        if text in BINARY:
            return Atom(BINARY[text], "slash" if text == "/" else "operator")
        if text in SEPARATORS:
            return Atom(SEPARATORS[text], "separator")
        raise NotationError("a formula cannot go on with '%s'" % text)

    def word(self, token, row):
        word = token.text
        follows = self.starts_operand()
        if word in ("E", "P") and self.is_probability(word, token, row):
            return Atom(r"\mathbb{%s}" % word, "function")
        if word == "inf" and not (follows and (token.after or self.token.text == "{")) and self.token.text != "_":
            return Atom(r"\infty", "name")
        if word == "inf":
            return Atom(r"\inf", "big")
        if word in BIG and self.token.text in (":", ",", "."):
            return Atom(r"\mathrm{%s}" % word, "text")
        between = row and is_operand(row[-1]) and token.before and token.after and follows
        if word == "o" and between:
            return Atom(r"\circ", "operator")
        if word == "in" and between:
            return Atom(r"\in", "relation")
        if word == "not" and between and self.token.text == "in":
            self.take()
            return Atom(r"\notin", "relation")
        return Atom(*word_tex(word))

    def is_probability(self, word, token, row):
        """E and P are also matrices: they are operators in front of what they act on."""
        behind = self.tokens[self.at]
        if word == "P":
            return behind.text == "(" and behind.tight
        if behind.text == "_" and behind.tight:
            last = self.skipped_script()
            behind = self.tokens[last]
            if behind.text == "^":
                return False
        if behind.text == "[":
            return behind.tight
        if behind.text == "<":
            return behind.tight and not behind.after
        if behind.text == "|":
            return not (row and row[-1:] and getattr(row[-1], "kind", "") == "bar")
        return behind.before > 0 and (behind.kind in ("word", "number") or behind.text in ("(", "[", "{")) and not (
            behind.kind == "word" and behind.text in ("o", "is", "and", "of")
        )

    def skipped_script(self):
        """Where the tokens go on behind a script that begins at the current one."""
        at = self.at + 1
        if self.tokens[at].text != "{":
            return at + 1
        depth = 0
        while self.tokens[at]:
            depth += {"{": 1, "}": -1}.get(self.tokens[at].text, 0)
            at += 1
            if depth == 0:
                break
        return at

    def starts_operand(self, token=None):
        token = token or self.token
        return token.kind in ("word", "number") or token.text in ("(", "[", "{", "|")

    def bracket(self, token, row):
        inside = self.tokens[self.at : self.at + 2]
        if token.text == "(" and [t.text for t in inside] == ["x", ")"] and row and is_operand(row[-1]):
            behind = self.tokens[self.at + 2]
            spaced = token.before and behind.before
            tight = token.tight and behind.tight and behind.kind == "word"
            if (spaced or tight) and (behind.kind == "word" or behind.text == "("):
                self.at += 2
                return Atom(r"\otimes", "operator")
        content = self.row(CLOSERS[token.text])
        if not self.token or self.token.text not in CLOSERS[token.text]:
            raise NotationError("'%s' is not closed" % token.text)
        return Bracket(token.text, content, self.take().text)

    def bars(self, token, row):
        """A norm where the bar opens one that is closed; otherwise "given", or a bar as it stands."""
        opens = not (row and is_operand(row[-1])) or (token.before and not token.after) or token.before == 0
        start = self.at
        if opens:
            try:
                content = self.row(("|",))
                if content and self.token.text == "|":
                    self.take()
                    return norm(content)
            except NotationError:
                pass
            self.at = start
        if row and is_operand(row[-1]) and self.starts_operand():
            return Atom(r"\mid", "relation")
        return Atom("|", "bar")

    def angle(self):
        """An inner product <a, b>, or None."""
        start = self.at
        try:
            content = self.angle_row()
        except NotationError:
            content = None
        if content is None:
            self.at = start
            return None
        return Bracket("<", content, ">")

    def angle_row(self):
        items = []
        commas = 0
        while self.token:
            token = self.token
            if token.text == ">" and token.tight:
                if commas != 1:
                    return None
                self.take()
                return items
            if token.text in RELATIONS or token.text in (")", "]", "}"):
                return None
            commas += token.text == ","
            before = token.before
            item = self.scripts(self.atom(items))
            item.before = before
            items.append(item)
        return None

    # Scripts, primes and accents right behind an item.
    def scripts(self, base):
        if base.kind in ("relation", "separator", "slash", "dots") or (base.kind == "operator"):
            return base
        whole = Scripted(base)
        while self.token and self.token.tight and self.token.kind == "operator":
            text, after = self.token.text, self.token.after
            if text == "'":
                self.take()
                whole.primes += 1
            elif text == "~" and base.kind != "number":
                self.take()
                whole.accents.append("tilde")
            elif text == "°":
                self.take()
                whole.above.append([Atom(r"\circ")])
            elif text == "*" and self.ends_name(after):
                self.take()
                whole.above.append([Atom("*")])
            elif text == "+" and base.kind == "name" and (after or self.next.text in ("/", ")", ",")):
                self.take()
                whole.above.append([Atom("+")])
            elif text == "_":
                self.take()
                whole.below.append(self.script(comma=True) + self.placeholder())
            elif text == "^":
                self.power(whole)
            else:
                break
        plain = not (whole.below or whole.above or whole.primes or whole.accents)
        return base if plain else whole

    def placeholder(self):
        """M_l. a: the dot of a row or a column of a matrix."""
        dot, behind = self.token, self.next
        if dot.text != "." or not dot.tight or not dot.after or not self.starts_operand(behind):
            return []
        if behind.kind == "word" and (is_english(behind.text) or behind.text[0].isupper()):
            return []
        self.take()
        return [Atom(r"\cdot ")]

    def ends_name(self, after):
        return after > 0 or self.next.text in ("_", "^", ",", ")", "(", "]", "}", "=")

    def power(self, whole):
        self.take()
        token = self.token
        is_script = token.tight and (token.kind in ("word", "number") or token.text == "{")
        if token.tight and token.text in ("-", "+", "+-") or token.tight and token.text == "*":
            self.take()
            sign = Atom({"+-": r"\pm"}.get(token.text, token.text))
            if token.text != "*" and self.token.tight and self.token.kind in ("word", "number"):
                whole.above.append([sign, *self.script()])
            else:
                whole.above.append([sign])
        elif is_script:
            whole.above.append(self.script())
        elif token.tight and token.text == "(" and (self.next.kind == "number" or is_power_base(whole.base)):
            self.take()
            whole.above.append([Bracket("(", self.row(")"), ")")])
            self.take()
        else:
            whole.accents.append("hat")

    def script(self, comma=False):
        token = self.take()
        if token.text == "{":
            if self.token.kind == "word" and self.next.text == "}":
                row = [Atom(script_tex(self.take().text))]
                self.take()
                return row
            row = self.row("}")
            if self.token.text != "}":
                raise NotationError("'{' is not closed")
            self.take()
            return row
        if token.text == "(":
            row = self.row(")")
            if self.token.text != ")":
                raise NotationError("'(' is not closed")
            self.take()
            row = [Bracket("(", row, ")")]
        elif token.kind == "word":
            row = [Atom(script_tex(token.text))]
        elif token.kind == "number":
            row = [Atom(number_tex(token.text), "number")]
            if comma and self.token.tight and self.token.kind == "word":
                row.append(Atom(script_tex(self.take().text)))
        elif comma and token.text in ("+", "-", "*"):
            row = [Atom(token.text)]
        elif comma and token.text == "." and self.token.tight and self.token.kind == "word":
            row = [Atom(r"\cdot "), Atom(script_tex(self.take().text))]
        else:
            raise NotationError("'%s' is no script" % token.text)
        # a_b,cd: what follows a comma without a space belongs to the script.
        behind = self.next
        if comma and self.token.text == "," and self.token.tight and behind.tight and behind.kind in ("word", "number"):
            if len(behind.text) <= 3 and self.tokens[self.at + 2].text not in ("_", "^", "("):
                self.take()
                row += [Atom(","), Atom(script_tex(self.take().text))]
        return row


def is_power_base(item):
    """e^(x/2) is a power, F^(x) the value of F with a hat."""
    return item.kind == "number" or getattr(item, "tex", "") == "e"


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


def parse(text):
    return Parser(text).whole()
