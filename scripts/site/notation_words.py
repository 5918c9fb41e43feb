# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What words mean in the formulas of docs/theory: Greek letters, operators, names and English."""

import re

GREEK = set(
    "alpha beta gamma delta zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split()
)

# Short names that stand beside the full name of the same letter on some page, so they look different.
LETTERS = {
    "eps": r"\varepsilon",
    "epsilon": r"\epsilon",
    "kap": r"\varkappa",
    "inf": r"\inf",
    "grad": r"\nabla",
    "ell": r"\ell",
}

# Operators whose limits stand below them.
BIG = {"sum": r"\sum", "prod": r"\prod", "int": r"\int", "max": r"\max", "min": r"\min", "sup": r"\sup", "lim": r"\lim"}

KNOWN_FUNCTIONS = {
    name: "\\" + name for name in "log exp sin cos tan sinh cosh tanh det arctan ln dim ker arg".split()
}

NAMED_FUNCTIONS = set(
    "tr diag Var Cov sd sign erf erfc sech blockdiag vec law Ent kl KL softmax relu mod floor ceil rank Gel reach "
    "err Re Im He var mmse CRPS RMSE MW vel rem sym argmax argmin binom".split()
)

# English inside a formula; everything else of three letters and fewer is a product of letters.
ENGLISH = set(
    "of for and or the is to at if by as so on all its with over each where else are in not out from one no than "
    "off any was has an own two see up lo hi".split()
)

HATTED = re.compile(r"^([A-Za-z])(bar|hat|tilde)$")
NUMBERED = re.compile(r"^([A-Za-z]+?)(\d+)$")
DIFFERENTIAL = re.compile(r"^d([A-Za-z]|theta|mu|nu|rho|sigma|omega|tau|zeta|eta|phi|psi|lambda|alpha|beta|kappa)$")
ACCENTS = {"bar": r"\bar", "hat": r"\hat", "tilde": r"\tilde"}


def letter(word):
    """TeX of a Greek letter or of a name for one, or None."""
    if word in GREEK:
        # TeX has no capital or small omicron and the like; these are all that the pages use.
        return "\\" + word
    return LETTERS.get(word)


def is_english(word):
    # Products of letters, as in e^{-ikhy}, have none of these vowels.
    return word in ENGLISH or (len(word) > 3 and word.isalpha() and bool(set(word.lower()) & set("aeou")))


def word_tex(word):
    """(TeX, kind) of a word; kind is one of name, function, big, text."""
    if word in BIG:
        return BIG[word], "big"
    if word in KNOWN_FUNCTIONS:
        return KNOWN_FUNCTIONS[word], "function"
    if word == "sqrt":
        return r"\sqrt", "root"
    if letter(word):
        return letter(word), "name"
    if word in NAMED_FUNCTIONS:
        return r"\operatorname{%s}" % word, "function"
    hatted = HATTED.match(word)
    if hatted:
        return "%s{%s}" % (ACCENTS[hatted.group(2)], hatted.group(1)), "name"
    if word == "That":
        return r"\hat{T}", "name"
    if word == "Sb":
        return r"\bar{S}", "name"
    numbered = NUMBERED.match(word)
    if numbered and (len(numbered.group(1)) <= 3 or letter(numbered.group(1))):
        stem, digits = numbered.groups()
        tex, kind = word_tex(stem)
        return "{%s_{%s}}" % (tex, digits), "function" if kind == "function" else "name"
    differential = DIFFERENTIAL.match(word)
    if differential:
        return r"\mathrm{d}" + word_tex(differential.group(1))[0], "name"
    if len(word) == 1:
        return word, "name"
    if numbered:
        return r"\mathrm{%s}" % word, "name"
    if is_english(word):
        return r"\mathrm{%s}" % word, "text"
    if len(word) >= 3 and word[0].isupper() and (word[1:].islower() or len(word) > 3):
        return r"\mathrm{%s}" % word, "name"
    return word, "name"


def script_tex(word):
    """TeX of a word that stands below or above another one."""
    if letter(word) and word not in ("inf",):
        return letter(word)
    if word == "inf":
        return r"\infty"
    if word in ("max", "min", "off", "err", "tr", "old", "new", "low", "high") or (len(word) > 3 and word.isalpha()):
        return r"\mathrm{%s}" % word
    return word
