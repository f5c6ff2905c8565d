"""What was proved or refuted, as a theorem in LaTeX for a paper, and the entry of a bibliography that it cites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from dpverify.catalogue.formulas.boxes import row
from dpverify.catalogue.formulas.latex import latex, words
from dpverify.catalogue.formulas.typeset import typeset
from dpverify.evidence.collected import encode
from dpverify.report import Entry, delta_enclosure, enclosure, exact, exact_delta, literature, quantity
from dpverify.report import words as plain
from dpverify.report.laws import law
from dpverify.report.page.blocks import Inline
from dpverify.report.page.sections.statement import inequality, sentence
from dpverify.report.stated import stated
from dpverify.runtime.version import __version__
from dpverify.search.verify import Verified
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import Claim, Space
from dpverify.trusted.kernel.registry import EXPLAINED

PREAMBLE = "% needs \\usepackage{amsmath, amssymb, amsthm}, \\newtheorem{theorem}{Theorem} and the references as BibTeX\n"
KEY = "dpverify"
"""What the proof cites."""


def theorem(entry: Entry, digest: str) -> str:
    """A theorem environment and its proof, which names the rules and the certificate. Raises DpverifyError where nothing was decided.

    digest: the SHA-256 of the certificate, empty where none is kept.
    """
    judgement, claim = entry.judgement, entry.claim
    if judgement is None or judgement.verdict == "UNKNOWN":
        raise DpverifyError(f"{claim.mechanism_name}, {claim.name or 'claim'}: nothing was proved or refuted, so that there is no theorem.")
    title = ", ".join(words(part) for part in (claim.mechanism_name, claim.name) if part)
    lines = [
        rf"\begin{{theorem}}[{title}]",
        r"Let \(M\) be the mechanism with", rf"\[ {latex(law(claim.mechanism))} \]",
        rf"and let inputs \(x, x'\) be neighbours as follows: {words(plain.neighbours(claim))}.",
        *([f"Parameters: {words(plain.parameters(claim))}."] if claim.domains else []),
        *_assumed(entry), *_stated(claim, judgement.verdict), *_tight(entry, judgement),
        r"\end{theorem}",
        r"\begin{proof}",
        rf"By {_rules(judgement)}, as proved in the theory of dpverify {__version__}~\cite{{{KEY}}}{_cited(judgement.rules)}.",
        *([rf"The certificate with the SHA-256 \texttt{{{digest}}} is valid."] if digest else []),
        r"\end{proof}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def theorems(entries: Iterable[Entry]) -> str:
    """Those of all decided claims, with what they need; the certificates that were written are named by their SHA-256."""
    said = [PREAMBLE]
    for entry in entries:
        if entry.verdict == "UNKNOWN":
            said.append(f"% {' '.join(words(entry.claim.name).split())}: neither proved nor refuted.\n")
        else:
            said.append(theorem(entry, sha256(Path(entry.certificate).read_bytes()).hexdigest() if entry.certificate else ""))
    return "\n".join(said)


def bibtex(entries: Iterable[Entry]) -> str:
    """What the proofs of claims cite: dpverify, and the texts that their rules come from, once each."""
    rules = dict.fromkeys(name for entry in entries if entry.judgement is not None for name in entry.judgement.rules)
    return "\n".join([_software(), *(f"{one.bibtex()}\n" for one in _texts(list(rules)))])


def _software() -> str:
    fields = {"author": "{The dpverify developers}", "title": "{dpverify}", "version": __version__}
    return "\n".join([f"@software{{{KEY},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}\n"])


def digest(verified: Verified) -> str:
    """The SHA-256 of the certificate's file."""
    return sha256(encode(verified.certificate).encode()).hexdigest()


def _stated(claim: Claim, verdict: str) -> Iterator[str]:
    """The statement itself: an inequality on a line of its own, or a sentence where another thing is claimed."""
    if claim.measure is not None or isinstance(claim.mechanism, Space):
        text = words(_text(sentence(claim, verdict)))
        yield f"{text[:1].upper()}{text[1:]}."
        return
    refuted = verdict == "REFUTED"
    unknown = [letter for letter, value in ((r"\varepsilon", claim.epsilon), (r"\delta", claim.delta)) if value is None]
    parameters = ("parameters, " if refuted else "all parameters, ") if claim.domains else ""
    whatever = "".join(rf", however large \({letter}\) is" for letter in unknown) if refuted else ""
    event = rf"an event \(S\){whatever}, with" if refuted else r"every event \(S\),"
    yield f"There are {parameters}neighbours and {event}" if refuted else f"For {parameters}all neighbours and {event}"
    end = "." if refuted or not unknown else ","
    yield rf"\[ {latex(row(*inequality(claim, refuted=refuted)))}{end} \]"
    if unknown and not refuted:
        yield rf"for the \({unknown[0]}\) stated next."


def _text(said: Inline) -> str:
    """Running text, of which no part is a formula."""
    return said if isinstance(said, str) else "".join(map(_text, said)) if isinstance(said, tuple) else said.text


def _tight(entry: Entry, judgement: Judgement) -> Iterator[str]:
    """The least value of what is claimed, as far as it is known."""
    of_delta = delta_enclosure(judgement, entry.digits)
    name = quantity(entry.claim)
    yield from _least(name, judgement.lower if exact(judgement) else judgement.upper, exact(judgement), enclosure(judgement, entry.digits))
    if of_delta not in ((None, None), ("0", "0")):
        yield from _least("delta", judgement.delta_lower, exact_delta(judgement), of_delta)


def _least(name: str, value: object, closed: str | None, ends: tuple[str | None, str | None]) -> Iterator[str]:
    if ends == ("inf", "inf"):
        yield f"No {name} is enough."
        return
    lower, upper = (None if end in (None, "0", "inf") else rf"\({end}\)" for end in ends)
    between = f"between {lower} and {upper}" if lower and upper else f"at least {lower}" if lower else f"at most {upper}" if upper else ""
    if closed and isinstance(value, Expr):
        yield rf"The least {name} that holds is \({latex(typeset(value))}\){f', {between}' if between and ends[0] != ends[1] else ''}."
    elif between:
        yield f"The least {name} that holds is {between}."


def _rules(judgement: Judgement) -> str:
    """The rules, each with where its theorem comes from."""
    return "; ".join(rf"\texttt{{{words(name)}}} ({words(str(stated(name).source))})" for name in judgement.rules)


def _texts(rules: Sequence[str]) -> dict[literature.Text, list[str]]:
    return literature.cited(stated(name).source for name in rules if name in EXPLAINED)


def _cited(rules: Sequence[str]) -> str:
    """The texts that rules come from, with the places in them."""
    cited = ((f"[{words(', '.join(places))}]" if places else "", one.key) for one, places in _texts(rules).items())
    return "".join(rf", \cite{where}{{{key}}}" for where, key in cited)


def _assumed(entry: Entry) -> Iterator[str]:
    if entry.assumptions:
        yield f"It is assumed that {words('; '.join(entry.assumptions))}."
