# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The notation of docs/theory as TeX: single formulas, and that every formula of every page is one."""

import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "site"))

import prose  # noqa: E402
from code_spans import is_code, is_code_block  # noqa: E402
from notation_tex import to_tex  # noqa: E402

THEORY = sorted((ROOT / "docs" / "theory").glob("*.md"))

EXPECTED = [
    ("sum_j c_j Y_j", r"\sum_{j} c_{j} Y_{j}"),
    ("W2(p,q)^2 <= r", r"{W_{2}}(p , q)^{2} \le r"),
    ("E[W' G W]", r"\mathbb{E}[W^{\prime} G W]"),
    ("A^{1/2}", r"A^{1 / 2}"),
    ("x_ij^-1", r"x_{ij}^{-1}"),
    ("R_b,ac", r"R_{b , ac}"),
    ("c_2i", r"c_{2i}"),
    ("q^ + y~_l", r"\hat{q} + \tilde{y}_{l}"),
    ("q+ = N(0, 1)", r"q^{+} = N(0 , 1)"),
    ("a+b", r"a + b"),
    ("S^+", r"S^{+}"),
    ("F^-(U)", r"F^{-}(U)"),
    ("e^-t", r"e^{-t}"),
    ("e^(x/2)", r"e^{(x / 2)}"),
    ("|x| + |A|_F", r"\lvert x \rvert + \lvert A \rvert_{F}"),
    ("| |V| |_q", r"\lvert \lvert V \rvert \rvert_{q}"),
    ("|a||b|", r"\lvert a \rvert \lvert b \rvert"),
    ("E[D|x]", r"\mathbb{E}[D \mid x]"),
    ("E|y|", r"\mathbb{E}\lvert y \rvert"),
    ("(I+E)^2", r"(I + E)^{2}"),
    ("E_ij", r"E_{ij}"),
    ("E_p f", r"\mathbb{E}_{p} f"),
    ("P(y < t)", r"\mathbb{P}(y < t)"),
    ("P H P", r"P H P"),
    ("E<T, D psi>", r"\mathbb{E} \langle T , D \psi \rangle"),
    ("1{x > 0} f", r"\mathbf{1}\{x > 0\} f"),
    ("|mean - m|", r"\lvert \mathrm{mean} - m \rvert"),
    ("e^{-ikhy}", r"e^{-ikhy}"),
    ("a < b, c > d", r"a < b , c > d"),
    ("V_j o M_j", r"V_{j} \circ M_{j}"),
    ("|z - o|", r"\lvert z - o \rvert"),
    ("M (x) V", r"M \otimes V"),
    ("F_i(x) = 0", r"F_{i}(x) = 0"),
    ("s_k # c_k", r"s_{k} \mathbin{\#} c_{k}"),
    ("g.(u - v)", r"g \cdot (u - v)"),
    ("1.36e-24 u", r"1.36\cdot 10^{-24} u"),
    ("2,304 k", r"2{,}304 k"),
    ("int_0^inf f dx", r"\int_{0}^{\infty} f \mathrm{d}x"),
    ("inf_{t > 0} f", r"\inf_{t > 0} f"),
    ("k = 1..K", r"k = 1 \dots K"),
    ("x in [u, v)", r"x \in [u , v)"),
    ("tr sqrt(X) + sqrt 2", r"\operatorname{tr} \sqrt{X} + \sqrt{2}"),
    ("sqrt x_i y", r"\sqrt{x_{i}} y"),
    ("f'' != 0", r"f^{\prime \prime} \ne 0"),
    ("t^2/2", r"t^{2} / 2"),
    ("kap* != kappa", r"\varkappa^{*} \ne \kappa"),
    ("sum over layers of cost", r"\mathrm{sum}\ \mathrm{over}\ \mathrm{layers}\ \mathrm{of}\ \mathrm{cost}"),
]

DISPLAYED = [
    ("h^2/(4 s_k)", r"\frac{h^{2}}{4 s_{k}}"),
    ("a b/c", r"\frac{a b}{c}"),
    ("f(x)/g", r"\frac{f(x)}{g}"),
    ("1/f(x)", r"1 / f(x)"),
    ("log a/b", r"\log a / b"),
    ("a/b/c", r"a / b / c"),
    ("e^{x/2}", r"e^{x / 2}"),
    ("a = b,    c = d", r"a = b ,\qquad c = d"),
]


def without_spaces(tex):
    """TeX does not see spaces but behind a name of its own."""
    return re.sub(r"(?<![a-zA-Z\\])\s+|(?<=[a-zA-Z])\s+(?![a-zA-Z])", "", tex)


@pytest.mark.parametrize("text, tex", EXPECTED, ids=[text for text, _ in EXPECTED])
def test_in_a_sentence(text, tex):
    assert without_spaces(to_tex(text)) == without_spaces(tex)


@pytest.mark.parametrize("text, tex", DISPLAYED, ids=[text for text, _ in DISPLAYED])
def test_displayed(text, tex):
    assert without_spaces(to_tex(text, display=True)) == without_spaces(tex)


@pytest.mark.parametrize("text", ["(a", "a)", "a_", "{x", "a & b", 'say "x"', "x @ y"])
def test_what_is_no_formula_is_left_alone(text):
    assert to_tex(text) is None


@pytest.mark.parametrize("text", ["src/core", "trace_sqrt.cc", "--pieces", "column_product", "Sealed<Trace>", "paper",
                                  "make_signature()", "mixcert explain", "RidgeRule::Least",
                                  "print(result.layers)", "w2_lower", "dropout=False"])  # fmt: skip
def test_code(text):
    assert is_code(text)


@pytest.mark.parametrize("text", ["c_j", "lambda_max", "W2(p, q)", "a/b", "tanh", "c_j.phi(x)", "sigma_k q_k", "xbar"])
def test_no_code(text):
    assert not is_code(text)


def formulas(path):
    text = path.read_text(encoding="utf-8")
    for block in re.findall(r"(?:^    .*\n)+", text, re.MULTILINE):
        if not is_code_block(block):
            yield from (line for line in block.splitlines() if line.strip())
    sentences = re.sub(r"^    .*\n", "", text, flags=re.MULTILINE)
    for span in re.findall(r"`([^`]+)`", sentences):
        if not is_code(span):
            yield span.replace("\\|", "|").replace("\n", " ")


@pytest.mark.parametrize("path", THEORY, ids=lambda path: path.stem)
def test_every_formula_of_the_theory(path):
    found = list(formulas(path))
    left = [text for text in found if to_tex(text) is None or to_tex(text, display=True) is None]
    assert left == []
    for text in found:
        for tex in (to_tex(text), to_tex(text, display=True)):
            plain = re.sub(r"\\[{}]", "", tex)
            assert plain.count("{") == plain.count("}"), text
            assert not re.search(r"[\^_]\{[^{}]*\}[\^]\{[^{}]*\}[\^_]\{", plain), text


def test_there_are_formulas():
    assert sum(len(list(formulas(path))) for path in THEORY) > 3000


@pytest.mark.parametrize("text, expected", [
    ("For a step d > 0 and integers k_j let", ["d > 0", "k_j"]),
    ("Rate p, kappa = 1-p, u = 2^-53.", ["p", "kappa = 1-p", "u = 2^-53"]),
    ("W2(y~, q^) is the distance", ["W2(y~, q^)"]),
    ("a large value, I think; A proof by D. Levin", []),
    ("Gauss-Legendre panels, see src/core and paper", []),
    ("with the slope 0 everywhere, in 16 steps", []),
    ("P (D x n) of the C library", ["P", "D × n"]),
    ("(i) The first, (b) the second", []),
    ("for i = 1..N and T = Kh, h = (F-t)_+,", ["i = 1..N", "T = Kh", "h = (F-t)_+"]),
    ("else max(X, F^2), |eps| <= a", ["max(X, F^2)", "|eps| <= a"]),
])  # fmt: skip
def test_symbols_in_sentences(text, expected):
    assert [tex for is_tex, tex in prose.split(text) if is_tex] == [to_tex(formula) for formula in expected]
    if not expected:
        assert "".join(piece for _, piece in prose.split(text)) == text
