# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Reads what stands right behind an item: scripts, primes, accents, and the dot of a row or a column."""

from notation_tokens import NotationError, tokens
from notation_tree import Atom, Bracket, Scripted, number_tex
from notation_words import is_english, script_tex


class ScriptReader:
    """The tokens of a formula and a place among them; the parser derived from it reads rows."""

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

    def starts_operand(self, token=None):
        token = token or self.token
        return token.kind in ("word", "number") or token.text in ("(", "[", "{", "|")

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
