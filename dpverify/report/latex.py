"""A claim as a theorem in LaTeX, with amsmath, amssymb and amsthm, and what its proof rests on as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from dpverify.catalogue.formulas.boxes import (
    Box,
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
from dpverify.catalogue.formulas.typeset import typeset
from dpverify.report import Entry, delta_enclosure, enclosure, exact, literature, quantity, words
from dpverify.report.laws import law
from dpverify.report.page.sections.statement import inequality, sentence
from dpverify.report.phrases import plain_decimal
from dpverify.trusted.language.expr import Expr, Num
from dpverify.trusted.language.model import Space
from dpverify.trusted.registry import EXPLAINED

PREAMBLE: Final = (
    "% in the preamble: \\usepackage{amsmath, amssymb, amsthm} \\newtheorem{theorem}{Theorem}\n"
    "% \\bibliography{references} with the entries of references.bib, or of `dpverify explain --format bibtex`\n"
)
_GREEK: Final = {
    letter: name
    for letters, names in (
        (
            "αβγδεζηθικλμνξπρστυφχψω",
            "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon varphi chi psi omega",
        ),
        ("ΓΔΘΛΞΠΣΥΦΨΩ", "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"),
    )
    for letter, name in zip(letters, names.split(), strict=True)
}
_SIGNS: Final = {
    **{letter: f"\\{name} " for letter, name in _GREEK.items()},
    "∏": "\\prod", "∑": "\\sum", "∫": "\\int", "≤": "\\le ", "≥": "\\ge ", "≠": "\\ne ", "∈": "\\in ", "∝": "\\propto ", "∼": "\\sim ",
    "∞": "\\infty ", "ℤ": "\\mathbb{Z}", "ℝ": "\\mathbb{R}", "ℕ": "\\mathbb{N}", "⊤": "\\top ", "∘": "\\circ ", "′": "'", "−": "-",
    "·": "\\cdot ", "×": "\\times ", "‖": "\\|", "…": "\\dots ", "⌊": "\\lfloor ", "⌋": "\\rfloor ", "⟨": "\\langle ", "⟩": "\\rangle ",
    "\u2061": "", "\u2062": "\\,", "→": "\\to ", ",": ",\\ ", ":": ":\\ ", "<": "<", ">": ">", "{": "\\{", "}": "\\}",
}  # fmt: skip
_SPECIAL: Final = {
    "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "&": "\\&", "#": "\\#", "_": "\\_", "%": "\\%",
    "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$",
}  # fmt: skip
_FUNCTIONS: Final = frozenset(("log", "exp", "min", "max", "cosh", "sinh", "tanh", "Pr"))


def theorem(entry: Entry) -> str:
    """A decided claim as a theorem, with where its proof is; a remark that says so for one that is not decided."""
    claim, judgement = entry.claim, entry.judgement
    verdict = entry.verdict
    if judgement is None or verdict == "UNKNOWN":
        return f"% {plain(claim.name)}: neither proved nor refuted.\n"
    said = [f"Let $M$ be the mechanism with the law\n\\[{math(law(claim.mechanism))}.\\]"]
    said += [f"Parameters: {text(words.parameters(claim))}."] if claim.domains else []
    said += [f"Neighbours $x, x'$: {text(words.neighbours(claim))}."]
    said += [_stated(entry)]
    said += [f"{known}." for known in _known(entry)]
    said += [f"This takes for granted: {text('; '.join(judgement.assumptions))}."] if judgement.assumptions else []
    cite = _citations(judgement.rules)
    proof = f"By {text(', '.join(judgement.rules))}{cite}; checked by \\texttt{{dpverify}}~\\cite{{dpverify}}{_where(entry)}."
    body = "\n".join([*said])
    return f"\\begin{{theorem}}[{text(claim.name)}]\n{body}\n\\end{{theorem}}\n\\begin{{proof}}\n{proof}\n\\end{{proof}}\n"


def bibtex(entries: Iterable[Entry]) -> str:
    """What the proofs of claims cite, once each, and dpverify itself."""
    rules = dict.fromkeys(name for entry in entries if entry.judgement is not None for name in entry.judgement.rules)
    cited = literature.cited(EXPLAINED[name].SOURCE for name in rules if name in EXPLAINED)
    return "\n\n".join([literature.software(), *(one.bibtex() for one in cited)]) + "\n"


def _stated(entry: Entry) -> str:
    """The statement that is proved."""
    claim, refuted = entry.claim, entry.verdict == "REFUTED"
    if claim.measure is not None or isinstance(claim.mechanism, Space):
        said = sentence(claim, entry.verdict)
        parts = said if isinstance(said, tuple) else (said,)
        return f"Then {text(''.join(part for part in parts if isinstance(part, str)))}."
    formula = " ".join(map(math, inequality(claim, refuted=refuted)))
    open_numbers = [sign for sign, value in (("\\varepsilon", claim.epsilon), ("\\delta", claim.delta)) if value is None]
    if refuted:
        ranging = "parameters, " if claim.domains else ""
        whatever = f"however large ${'$ and $'.join(open_numbers)}$, " if open_numbers else ""
        return f"Then, {whatever}there are {ranging}neighbours $x, x'$ and an event $S$ with\n\\[{formula}.\\]"
    every = "all parameters, " if claim.domains else ""
    where = f"\nwhere ${'$ and $'.join(open_numbers)}$ is the upper bound below." if open_numbers else ""
    return f"Then, for {every}all neighbours $x, x'$ and every event $S$,\n\\[{formula}{',' if where else '.'}\\]{where}"


def _known(entry: Entry) -> list[str]:
    """The tight values, as far as they are proved."""
    judgement = entry.judgement
    assert judgement is not None
    closed = exact(judgement) is not None and isinstance(judgement.lower, Expr) and not isinstance(judgement.lower, Num)
    tight = f"is ${formula(judgement.lower)}$" if closed else text(_between(*enclosure(judgement, entry.digits)))  # type: ignore[arg-type]
    delta = text(_between(*delta_enclosure(judgement, entry.digits)))
    named = ((f"The least {quantity(entry.claim)}", tight), ("The least delta at this epsilon", delta))
    return [f"{name} {said}" for name, said in named if said]


def _between(lower: str | None, upper: str | None) -> str:
    if (lower, upper) in ((None, None), ("0", "0")):
        return ""
    if lower is None or upper is None:
        return f"is at most {plain_decimal(upper)}" if upper is not None else f"is at least {plain_decimal(lower or '')}"
    if lower == upper:
        return "is infinite" if lower == "inf" else f"is {plain_decimal(lower)}"
    return f"lies in [{plain_decimal(lower)}, {plain_decimal(upper)}]"


def _citations(rules: Sequence[str]) -> str:
    """The texts that the rules come from, with the places in them."""
    cited = literature.cited(EXPLAINED[name].SOURCE for name in rules if name in EXPLAINED)
    return "".join(_cite(one.key, places) for one, places in cited.items())


def _cite(key: str, places: Sequence[str]) -> str:
    return f", \\cite[{text('; '.join(places))}]{{{key}}}" if places else f", \\cite{{{key}}}"


def _where(entry: Entry) -> str:
    """The certificate, by its name and its digest, where one is written."""
    if entry.certificate is None:
        return ""
    file = Path(entry.certificate)
    digest = sha256(file.read_bytes()).hexdigest()
    return f", certificate \\texttt{{{text(file.name)}}} with SHA-256 \\texttt{{{digest}}}"


def plain(said: str) -> str:
    """A name on the line of a comment."""
    return " ".join(said.split())


def text(said: str) -> str:
    """Running text, with what TeX would obey written out, and signs of mathematics as such."""
    return "".join(_SPECIAL.get(c, c) if c.isascii() or c not in _SIGNS else f"${_SIGNS[c].strip()}$" for c in plain(said))


def formula(expr: Expr) -> str:
    """An expression as LaTeX mathematics."""
    return math(typeset(expr))


def math(box: Box) -> str:
    """A box as LaTeX mathematics."""
    match box:
        case Ident(name):
            return _name(name)
        case Number(digits):
            return digits
        case Op(sign):
            return _SIGNS.get(sign, sign)
        case Words(said):
            return f"\\text{{{text(said) if said.strip() else ' '}}}"
        case Row(items):
            return "".join(map(math, items))
        case Fraction(above, below):
            return f"\\frac{{{math(above)}}}{{{math(below)}}}"
        case Sup(base, script):
            return f"{_based(base)}^{{{_script(script)}}}"
        case Sub(base, script):
            return f"{_based(base)}_{{{math(script)}}}"
        case Root(body, degree):
            return f"\\sqrt{'' if degree is None else f'[{math(degree)}]'}{{{math(body)}}}"
        case Fence(opening, body, closing):
            return f"\\left{_fence(opening)}{math(body)}\\right{_fence(closing)}"
        case Limits(sign, under, over):
            return f"{_SIGNS.get(sign, sign)}_{{{math(under)}}}^{{{math(over)}}} "
        case Matrix(rows):
            return f"\\begin{{pmatrix}}{_rows(rows)}\\end{{pmatrix}}"
        case Lines(rows):
            return f"\\begin{{gathered}}{_rows([(line,) for line in rows])}\\end{{gathered}}"
        case Cases(rows):
            return f"\\begin{{cases}}{_rows(rows)}\\end{{cases}}"


def _rows(rows: Iterable[Iterable[Box]]) -> str:
    return " \\\\ ".join(" & ".join(map(math, line)) for line in rows)


def _name(name: str) -> str:
    stem = name.rstrip("′")
    if stem != name and stem:
        return _name(stem) + "'" * (len(name) - len(stem))
    if name in _SIGNS:
        return _SIGNS[name]
    if name in _FUNCTIONS:
        return f"\\{name} "
    return name if len(name) == 1 and name.isascii() and name.isalnum() else f"\\operatorname{{{text(name)}}}"


def _based(base: Box) -> str:
    return math(base) if isinstance(base, Ident | Number | Sub | Fence) else f"{{{math(base)}}}"


def _script(script: Box) -> str:
    return "\\prime" if script == Op("′") else math(script)


def _fence(sign: str) -> str:
    return _SIGNS.get(sign, sign) or "."
