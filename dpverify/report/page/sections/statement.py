"""The claim as a sentence and an inequality, and how it stands beside the tight value."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report import claimed, delta_enclosure, enclosure, exact, words
from dpverify.report.page.blocks import Block, Code, Facts, Inline
from dpverify.report.page.subject import Claimed

TITLE = ""


def blocks(subject: Claimed) -> Sequence[Block]:
    """What is claimed, and what is known of it."""
    entry = subject.entry
    claim, judgement = entry.claim, entry.judgement
    rows: list[tuple[str, Inline]] = [("claimed", f"{words.guarantee(claim)}, for {words.neighbours(claim)}")]
    if claim.domains:
        rows.append(("for all", words.parameters(claim)))
    rows.append(("inequality", Code(_inequality(subject))))
    lower, upper = enclosure(judgement, entry.digits)
    formula = exact(judgement)
    if formula is not None and not formula.replace("/", "").isdigit():
        rows.append(("tight epsilon", Code(formula)))
    if lower is not None or upper is not None:
        rows.append(("enclosed" if formula else "tight epsilon", _between(lower, upper)))
    low, high = delta_enclosure(judgement, entry.digits)
    if (low, high) not in ((None, None), ("0", "0")):
        rows.append(("tight delta", _between(low, high)))
    slack = words.slack(entry)
    rows += [("slack", slack)] if slack else []
    rows += [] if entry.as_expected else [("expected", entry.expected)]
    return [Facts(rows)]


def _inequality(subject: Claimed) -> str:
    claim = subject.entry.claim
    epsilon = "epsilon" if claim.epsilon is None else claimed(claim.epsilon)
    delta = "" if claimed(claim.delta) == "0" else " + delta" if claim.delta is None else f" + {claimed(claim.delta)}"
    power = f"e^({epsilon})" if not epsilon.isalnum() else f"e^{epsilon}"
    return f"Pr[M(x) in S] <= {power} Pr[M(x') in S]{delta}   for every event S and neighbours x, x'"


def _between(lower: str | None, upper: str | None) -> Inline:
    if lower == upper and lower is not None:
        return Code("infinite" if lower == "inf" else lower)
    if lower is None or upper is None:
        return (f"at {'most' if upper is not None else 'least'} ", Code(str(upper if upper is not None else lower)))
    return ("between ", Code(lower), " and ", Code(upper))
