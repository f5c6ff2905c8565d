"""Theorems for papers: LaTeX that says what was decided, in letters that every TeX reads."""

import re
from hashlib import sha256

import pytest

import dpverify as dp
from dpverify.catalogue import shelf
from dpverify.catalogue.formulas.boxes import (
    APPLY,
    PRIME,
    TIMES,
    Cases,
    Fence,
    Fraction,
    Ident,
    Limits,
    Lines,
    Matrix,
    Number,
    Op,
    Root,
    Row,
    Sub,
    Sup,
    Words,
)
from dpverify.catalogue.formulas.latex import latex, words
from dpverify.errors import DpverifyError
from dpverify.report.laws import law
from tests import committed, shelved

x, y, two = Ident("x"), Ident("y"), Number("2")
SPECS = sorted((shelf() / "specs").glob("*.toml"))


def balanced(text):
    """Whether braces, environments and growing brackets come in pairs."""
    bare = re.sub(r"\\[\\{}]", "", text)
    depth = 0
    for sign in bare:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    pairs = (re.findall(rf"\\{word}\b", text) for word in ("begin", "end", "left", "right"))
    begins, ends, lefts, rights = map(len, pairs)
    return depth == 0 and begins == ends and lefts == rights


@pytest.mark.parametrize(
    ("box", "said"),
    [
        (Ident("ε"), r"\varepsilon"), (Ident("Δ"), r"\Delta"), (Ident("Α"), r"\mathrm{A}"), (Ident("ο"), "o"), (Ident("λ"), r"\lambda"),
        (Ident("Λ"), r"\Lambda"), (Ident("x′"), "x'"), (Ident("exp"), r"\exp"), (Ident("arsinh"), r"\operatorname{arsinh}"),
        (Ident("ℝ"), r"\mathbb{R}"),
        (Number("0.25…"), r"0.25\ldots"), (Op("≤"), r"\le"), (Op(":"), r"\colon"), (Words("50 % of {a_b}"), r"\text{50 \% of \{a\_b\}}"),
        (Row((two, TIMES, x)), r"2\,x"), (Row((Ident("exp"), APPLY, x)), r"\exp x"), (Row((Ident("ν"), x)), r"\nu x"),
        (Row((x, Op("−"), y)), "x-y"),
        (Fraction(x, two), r"\frac{x}{2}"), (Sup(x, two), "x^{2}"), (Sup(x, PRIME), "x'"), (Sub(x, two), "x_{2}"),
        (Sup(Sub(x, y), two), "x_{y}^{2}"), (Sup(Row((x, y)), two), "{xy}^{2}"), (Root(x), r"\sqrt{x}"),
        (Root(x, Number("3")), r"\sqrt[3]{x}"),
        (Fence("(", Row((x, Op(","), y)), ")"), "(x, y)"), (Fence("‖", Fraction(x, y), "‖"), r"\left\|\frac{x}{y}\right\|"),
        (Fence("{", Fence("(", x, ")"), "}"), r"\{(x)\}"), (Fence("(", Sup(x, two), ")"), r"\left(x^{2}\right)"),
        (Fence("(", Sup(x, PRIME), ")"), "(x')"),
        (Fence("⌊", Sub(x, two), "⌋"), r"\lfloor x_{2}\rfloor"),
        (Limits("∫", two, x), r"\int_{2}^{x}"), (Limits("∏", two, x), r"\prod\limits_{2}^{x}"),
        (Matrix(((x, y), (two, x))), r"\begin{pmatrix}x & y \\ 2 & x\end{pmatrix}"),
        (Lines((x, y)), r"\begin{aligned}&x \\ &y\end{aligned}"),
        (Cases(((x, Words("if")), (y, Words("else")))), r"\begin{cases}x & \text{if} \\ y & \text{else}\end{cases}"),
    ],
)  # fmt: skip
def test_every_box_has_its_latex(box, said):
    assert latex(box).strip().replace(" }", "}") == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"), ("a\nb\x1bc", "a b c"),
        ("100 % & $5 #1 ~^", r"100 \% \& \$5 \#1 \textasciitilde{}\textasciicircum{}"),
        ("x ∈ ℝ, σ<1", r"x \(\in\) \(\mathbb{R}\), \(\sigma\)\(<\)1"), ("“q”", "``q''"), ("x′", r"x\('\)"), ("ﬁ", "fi"),
        ("é", "[latin small letter e with acute]"),
    ],
)  # fmt: skip
def test_words_are_shown_and_never_obeyed(text, said):
    assert words(text) == said


def test_the_law_of_every_mechanism_is_latex_in_plain_letters():
    for spec in SPECS:
        said = latex(law(shelved.read(spec).claims[0].claim.mechanism))
        assert said.isascii() and said.isprintable() and balanced(said), spec


def test_a_theorem_says_all_of_a_proved_claim(tmp_path):
    answer = dp.verify(dp.radial("(1 + r**2/5)**(-4)", norm="l2", dimension=3), sensitivity=1, epsilon="1.775", name="t noise")
    said = answer.theorem()
    assert said.startswith("\\begin{theorem}[radial, t noise]\n") and said.endswith("\\end{proof}\n") and balanced(said)
    assert r"\[ \Pr[M(x)\in S]\le e^{1.775}\,\Pr[M(x')\in S]. \]" in said and "answers at most 1 apart in the l2 norm" in said
    assert r"is \(8\,\operatorname{arsinh}\left(\frac{1}{2\,\sqrt{5}}\right)\), between \(1.77427301754046075" in said
    assert all(assumption in said for assumption in answer.assumptions) and r"\texttt{power-identity}" in said
    assert sha256(answer.save(tmp_path / "t.cert.json").read_bytes()).hexdigest() in said
    assert answer.bibtex().startswith("@software{dpverify,") and f"version = {{{dp.__version__}}}" in answer.bibtex()
    assert rf"of dpverify {dp.__version__}~\cite{{dpverify}}" in said
    assert dp.check(tmp_path / "t.cert.json").theorem() == said


def test_a_theorem_of_a_refuted_claim_says_the_contrary():
    said = dp.verify(dp.laplace(2), sensitivity=1, epsilon="1/4").theorem()
    assert "There are neighbours and an event \\(S\\), with\n\\[ \\Pr[M(x)\\in S]>e^{0.25}" in said
    assert r"The least epsilon that holds is \(\frac{1}{2}\)." in said
    assert "No epsilon is enough." in dp.verify(dp.gaussian(2), sensitivity=1, epsilon=1).theorem()


def test_a_theorem_of_what_is_tight_gives_both_sides():
    said = dp.verify(dp.gaussian(2), sensitivity=1, epsilon=1, delta="tight").theorem()
    assert r"+\delta , \]" in said and r"for the \(\delta\) stated next" in said
    assert r"between \(0.006829594983114575" in said and "The least delta that holds" in said
    assert "The least rho that holds is \\(\\frac{1}{8}\\)." in dp.verify(dp.gaussian(2), sensitivity=1, zcdp="tight").theorem()


def test_a_theorem_of_all_parameters_names_them():
    noise = dp.laplace("b", parameters={"b": "positive"})
    said = dp.verify(noise, sensitivity=1, epsilon="1/b").theorem()
    assert "Parameters: b any real above 0." in said and "For all parameters, all neighbours and every event" in said
    assert "There are parameters, neighbours and an event" in dp.verify(noise, sensitivity=1, epsilon="1/(2*b)").theorem()


def test_where_nothing_was_decided_there_is_no_theorem():
    undecided = next(stated for spec in SPECS for stated in shelved.read(spec).claims if stated.expect == "UNKNOWN")
    answer = dp.verify(undecided)
    assert answer.verdict == "UNKNOWN"
    with pytest.raises(DpverifyError, match="nothing was proved or refuted, so that there is no theorem"):
        answer.theorem()


def test_a_name_from_outside_is_no_command_in_a_theorem():
    said = dp.verify(dp.laplace(2), sensitivity=1, epsilon="1/2", name=r"\input{secret} % 50\n").theorem()
    assert r"\textbackslash{}input\{secret\} \% 50" in said and balanced(said)


def test_committed_certificates_of_every_measure_are_theorems(tmp_path):
    names = [name for name, data in committed.certificates().items() if "measure" in data["claim"]]
    assert names
    for name in names[:6]:
        assert balanced(dp.check(committed.saved(name, tmp_path)).theorem())
