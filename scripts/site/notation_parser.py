# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Parses the notation of docs/theory into a tree: rows of items, brackets, scripts and applications.

Scripts bind closest, then application (no space between a name and its bracket), then the slash, then everything
else. Bars, angles and the letters E, P, o and x have several meanings, which the spaces around them tell apart.
"""

from notation_scripts import ScriptReader
from notation_tokens import NotationError
from notation_tree import Applied, Atom, Bracket, is_operand, norm, number_tex
from notation_words import BIG, is_english, word_tex

CLOSERS = {"(": ")]", "[": "])", "{": "}"}
RELATIONS = {
    "<=": r"\le", ">=": r"\ge", "!=": r"\ne", "->": r"\to", "<-": r"\leftarrow", "=>": r"\Rightarrow",
    "<=>": r"\Leftrightarrow", "=": "=", "<": "<", ">": ">", ":=": ":=",
}  # fmt: skip
BINARY = {"+": "+", "-": "-", "+-": r"\pm", "*": r"\cdot", "×": r"\times", "#": r"\mathbin{\#}", "/": "/"}
SEPARATORS = {",": ",", ";": ";", ":": ":", "!": "!", "%": r"\%"}


class Parser(ScriptReader):
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
            has_content = bool(items) and (is_operand(items[-1]) or items[-1].kind == "text")
            return has_content and not opens_another
        return True

    @staticmethod
    def is_applicable(item):
        return item.kind in ("name", "function", "root", "applied", "text")

    # One item without its scripts.
    def atom(self, row):
        token = self.take()
        if token.text == "1" and self.token.text == "{" and self.token.tight:
            return Atom(r"\mathbf{1}", "function")
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
        in_words = self.token.kind == "word" and self.token.before and is_english(self.token.text)
        if word in BIG and (in_words or self.token.text in (":", ",", ".")):
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
            return not behind.after
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


def parse(text):
    return Parser(text).whole()
