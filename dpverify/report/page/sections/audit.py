"""What audits of the implementation found, and what they knew over samples: the evidence, its threshold, the bound on epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import groupby

from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Badge, Block, Code, Facts, Figure, Fold, Inline, Listing, Paragraph, Row
from dpverify.report.page.subject import File
from dpverify.report.svg import Chart, Mark, Series
from dpverify.runtime.finding import GUESSED, NO_VIOLATION_SEEN, VIOLATION, Finding, confidence_text

TITLE = "Audits of the implementation"
_STATISTICAL = "Statistical findings, each at its confidence. They are no proofs, and a sampler in which nothing was found may be wrong."


def blocks(file: File) -> Sequence[Block]:
    """The findings of each claim, and the audits that could not be made."""
    shown: list[Block] = [Paragraph(_STATISTICAL, note=True)] if file.findings else []
    for name, findings in groupby(file.findings, key=lambda finding: finding.name):
        for finding in findings:
            badge = Badge(finding.finding.replace("_", " "), finding.as_expected)
            summary: tuple[Inline, ...] = (badge, f" {name}, {finding.level} level")
            shown.append(Fold(summary, found(finding), open=not finding.as_expected))
    for fault in file.faults:
        shown.append(Paragraph((Badge("not audited", fine=False), f" {fault.name}: {fault.error}")))
    return shown


def found(finding: Finding) -> list[Block]:
    """One finding."""
    epsilon = "the declared curve" if finding.epsilon is None else f"epsilon {finding.epsilon:.6g}"
    rows: list[tuple[str, Inline]] = [
        ("finding", Badge(finding.finding.replace("_", " "), finding.as_expected)),
        ("claimed", f"{epsilon}, delta {finding.delta:.6g}" if finding.delta else epsilon),
    ]
    sure = f"confidence {confidence_text(finding.confidence)}"
    above = ("lower confidence bound", f"epsilon > {finding.epsilon_lower:.6g}, at {sure}")
    rows.append(above if finding.epsilon_lower > 0 else ("said at", sure))
    if finding.detectable_epsilon is not None:
        where = "(tested events and inputs only)"
        rows.append(("90% power to detect", f"epsilon >= {finding.detectable_epsilon:.4g} {where}"))
    rows += [(name, said) for name, said in (("event", finding.event), ("inputs", finding.pair)) if said]
    rows += [("beside the proof", finding.refuted.text())] if finding.refuted is not None else []
    counted = "coins in all" if finding.event.endswith(GUESSED) else "on each input"
    rows += [("sampler", Code(finding.sampler)), ("samples", f"{finding.samples} {counted}")]
    rows += [("seed", "none: the sampler draws its own randomness" if finding.seed is None else str(finding.seed))]
    rows += [("note", note) for note in finding.notes]
    pictures = list(_pictures(finding))
    shown: list[Block] = [Facts(rows), *([Row(pictures)] if pictures else [])]
    return [*shown, Paragraph("To see it again:"), Listing(finding.replay)] if finding.replay else shown


def _pictures(finding: Finding) -> Iterator[Figure]:
    """The evidence against its threshold, and the bound on epsilon against the claim, over samples."""
    path = finding.path
    if path is None or len(path.known) < 2:
        return
    name = f"{finding.name} {finding.level}"
    mark = sha256(f"{finding.file} {name} {finding.finding} {finding.sampler} {finding.seed}".encode()).hexdigest()[:10]
    x = Axis("samples on each input", log=True)
    last = path.known[-1].log10_evidence
    caption = f"Evidence against the claim after so many samples: 10 to the power {last:.3g} at the end; it takes 10 to the power "
    caption += f"{path.threshold:.3g} to say {VIOLATION if finding.finding == NO_VIOLATION_SEEN else finding.finding.replace('_', ' ')}."
    series = [Series("evidence", [[(one.samples, one.log10_evidence) for one in path.known]])]
    chart = Chart(
        f"Evidence, {name}", caption, x, Axis("log10 of the evidence"), series, [Mark("threshold", path.threshold, kind="threshold")]
    )
    yield Figure(chart.svg(f"audit-{mark}-evidence"), caption)
    bounds = [(one.samples, one.epsilon_lower) for one in path.known if one.epsilon_lower is not None and math.isfinite(one.epsilon_lower)]
    if len(bounds) > 1:
        claim = [] if finding.epsilon is None else [Mark(f"claimed {finding.epsilon:.4g}", finding.epsilon)]
        sure = confidence_text(finding.confidence)
        caption = f"The lower confidence bound on epsilon, at confidence {sure}, after so many samples: {bounds[-1][1]:.4g} at the end."
        y = Axis("lower confidence bound on epsilon (nats)", low=0.0)
        chart = Chart(f"Bound on epsilon, {name}", caption, x, y, [Series("", [bounds], "step")], claim)
        yield Figure(chart.svg(f"audit-{mark}-bound"), caption)
