# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Finds the symbols that stand in the sentences of docs/theory without backticks: k_j, kappa, y~, d > 0."""

import re

from code_spans import is_code
from notation_tex import to_tex
from notation_words import BIG, ENGLISH, GREEK, KNOWN_FUNCTIONS

OPERATORS = {"=", "<", ">", "<=", ">=", "!=", "+", "-", "->"}
CORE = re.compile(r"^([(\[]*)(.*?)([)\].,;:]*)$", re.DOTALL)
SCRIPTED = re.compile(r"^-?\d*[A-Za-z]{1,5}['~^+*°]*([_^].*)?$")
APPLIED = re.compile(r"^-?[A-Za-z]{1,5}\d?['~^]*(_\w+)?\([^()]*\)$")
SINGLE = re.compile(r"^-?[B-HJ-Zb-z]$")
NUMBER = re.compile(r"^-?\d+(\.\d+)?(/\d+)?$")
SCIENTIFIC = re.compile(r"^-?\d+(\.\d+)?e-?\d+$")
POWER = re.compile(r"^-?[\d.]+(\^-?\w+|\^\{.*\})$")
OPEN_CALL = re.compile(r"^[A-Za-z]{1,3}\d?['~^]*(_\w+)?\([^()]*$")
RANGE = re.compile(r"^\w+\.\.\w+$")
INITIAL = re.compile(r"^[A-Z]\.$")


# What stands at a side of a sign and makes it no part of a formula: a hyphen in front of a word and the like.
EMPTY_SIDES = re.compile(r"^[-+/]|[-/]$|--")


def is_name(word):
    return len(word) == 1 or word in GREEK or word in ("eps", "kap") or word in KNOWN_FUNCTIONS or word in BIG


def merged(words, spaces):
    """Words with the arguments of a function together: "W2(y~," and "q^)" are one."""
    joined, gaps = [], []
    at = 0
    while at < len(words):
        word, end = words[at], at
        if OPEN_CALL.match(word):
            while word.count("(") > word.count(")") and end + 1 < len(words) and end < at + 4:
                word += spaces[end] + words[end + 1]
                end += 1
            if word.count("(") > word.count(")") or re.search(r"[A-Za-z]{4}", re.sub("|".join(GREEK), "", word)):
                word, end = words[at], at
        joined.append(word)
        gaps.append(spaces[end])
        at = end + 1
    return joined, gaps


def is_size(core):
    """What may stand in front of the x of a shape, as in D x n and 10 x 128."""
    return core.isdigit() or (len(core) == 1 and core.isupper())


def parts_of(word):
    """What opens in front of a word, the word, and what closes and ends behind it."""
    inside = word.rstrip(".,;:")
    if inside.startswith("(") and not inside.endswith(")") and balanced(inside):
        return "", inside, word[len(inside) :]
    opening, core, closing = CORE.match(word).groups()
    if core.count("(") > core.count(")") and closing.startswith(")"):
        core, closing = core + ")", closing[1:]
    return opening, core, closing


def balanced(text):
    return text.count("(") == text.count(")") and text.count("{") == text.count("}")


def kind_of(core):
    """symbol, operator, number or None for a word without the punctuation around it."""
    if core in OPERATORS:
        return "operator"
    if NUMBER.match(core):
        return "number"
    if not balanced(core) or is_code(core):
        return None
    letters = core.rstrip("'~^*+")
    names = re.findall(r"[A-Za-z]+", core)
    if names and re.search(r"[/|^_~()+]|\w-\w", core) and all(is_name(name) for name in names):
        return "symbol" if core.count("|") % 2 == 0 and not EMPTY_SIDES.search(core) else None
    if letters in GREEK or letters in ("eps", "kap") or RANGE.match(core) or re.match(r"^[A-Z][12]$", core) or SINGLE.match(core):
        return "symbol"
    if POWER.match(core) or SCIENTIFIC.match(core):
        return "symbol"
    if len(letters) == 1 and letters.isalpha() and letters != core:
        return "symbol"
    if SCRIPTED.match(core) and re.search(r"[_^~]", core) and not core.endswith("_"):
        return "symbol"
    is_known = core.split("(")[0] in KNOWN_FUNCTIONS or core.split("(")[0] in BIG
    return "symbol" if APPLIED.match(core) and (is_known or not core[:2].islower()) else None


def split(text):
    """The text as a list of (is formula, text or TeX)."""
    pieces = re.split(r"(\s+)", text)
    words, result, run = pieces[0::2], [], []
    spaces = pieces[1::2] + [""]

    def emit(plain):
        if result and not result[-1][0]:
            result[-1] = (False, result[-1][1] + plain)
        elif plain:
            result.append((False, plain))

    def close():
        for is_formula, piece in formula_of(run):
            if is_formula:
                result.append((True, piece))
            else:
                emit(piece)
        run.clear()

    words, spaces = merged(words, spaces)
    for position, (word, space) in enumerate(zip(words, spaces)):
        opening, core, closing = parts_of(word)
        kind = kind_of(core) if core else None
        if len(core) == 1 and opening.endswith("(") and closing.startswith(")"):
            kind = None  # (i) and (a) count paragraphs
        behind = words[position + 1] if position + 1 < len(words) else ""
        if core == "C" and behind.startswith("library"):
            kind = None
        if core == "x" and run and is_size(run[-1][1]) and behind[:1].isalnum() and not closing:
            kind, core = "operator", "×"
        if INITIAL.match(word) and position + 1 < len(words) and words[position + 1][:1].isupper():
            kind = None
        is_product = len(core) == 2 and core.isalpha() and core not in ENGLISH
        if kind is None and (is_product or core in ("a", "A", "I", "E")) and run and run[-1][0] == "operator":
            kind = "symbol"
        if kind is None:
            close()
            emit(word + space)
            continue
        if opening:
            close()
            emit(opening)
        run.append((kind, core, space))
        if closing:
            run[-1] = (kind, core, "")
            close()
            emit(closing + space)
    close()
    return result


def is_loose(run, at):
    """A number behind a symbol, without a sign between them, is no part of the formula."""
    return run[at][0] == "number" and at > 0 and run[at - 1][0] != "operator"


def formula_of(run):
    """Plain text and formulas of words that are all symbols, operators and numbers."""
    start, end = 0, len(run)
    while start < end and run[start][0] == "operator":
        start += 1
    while end > start and (run[end - 1][0] == "operator" or is_loose(run, end - 1)):
        end -= 1
    if start < end and run[start][1] == "0" and run[start + 1 : start + 2] and run[start + 1][0] != "operator":
        start += 1
    inside = run[start:end]
    before = "".join(core + space for _, core, space in run[:start])
    after = "".join(core + space for _, core, space in run[end:])
    if before:
        yield False, before
    if inside:
        text = "".join(core + space for _, core, space in inside)
        plain = text.rstrip()
        tex = to_tex(plain) if any(kind == "symbol" for kind, _, _ in inside) else None
        yield (True, tex) if tex else (False, plain)
        if text != plain:
            yield False, text[len(plain) :]
    if after:
        yield False, after
