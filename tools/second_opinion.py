"""Both checkers of certificates on every committed certificate, and on changed ones: where they differ, and what the second decides.

    python tools/second_opinion.py [--changed NUMBER] [--long] [NAME...]

The second checker, checker/, is written from docs/reference/certificates.md and shares nothing with dpverify. They differ where one accepts
what the other refuses, where both accept with another verdict, or where their enclosures are apart. That the second has not decided is no
difference; nor is what the first refuses in a changed certificate, in a line that the second says it has not looked at; nor that it leaves
a changed claim over domains open, since it takes signs from a certificate alone and the second finds some for itself; nor that it
leaves a claim at delta > 0 or in another measure open, whose curve the second derives from the mechanism. That the first
refuses a committed certificate is one, whatever the second says. Certificates are changed as for
tests/mutants/recorded.txt: a value of a line, lines of another certificate, a value of the claim; and the verdict that is stated.
Exit code 1 where they differ.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools"), str(ROOT / "checker")]

import algebra  # noqa: E402
import check as second  # noqa: E402
import judgements  # noqa: E402
import terms  # noqa: E402

from dpverify.trusted.kernel import judgement as kernel  # noqa: E402
from dpverify.trusted.kernel.bounds import Infinite  # noqa: E402
from dpverify.trusted.kernel.canonical_form import claim_hash  # noqa: E402
from dpverify.trusted.kernel.errors import DpverifyError  # noqa: E402
from dpverify.trusted.kernel.expr import format_expr  # noqa: E402

FAMILIES = {
    "tables": ("table", "kary_response", "exponential"),
    "combinations": ("compose", "parallel", "subsample", "group", "post_process", "lipschitz"),
    "selections": ("noisy_max", "above_threshold"),
    "noises": ("radial", "translation", "product", "staircase"),
}
ONCE = 1
"""Changes of each kind, of certificates that take long."""
LONG = ("worst-output",)
LONGEST = 2.0
"""Seconds of CPU above which changes of a certificate are tried with --long alone."""
OTHER_VERDICT = {"PROVED": "REFUTED", "REFUTED": "PROVED", "UNKNOWN": "PROVED"}


class Compared(NamedTuple):
    """What the second checker said of a certificate, and how that differs from the first, empty where it does not."""

    answer: Any
    difference: str


def compare(data: Mapping[str, Any], *, committed: bool = False) -> Compared:
    """Both checkers on the JSON value of a certificate; committed: one that the first must accept."""
    answer = second.examine(data)
    if answer.kind == "undecided" and not committed:
        return Compared(answer, "")
    try:
        judgement = kernel.check(data)
    except (DpverifyError, RuntimeError) as error:
        elsewhere = _line(str(error)) in {_line(note) for note in answer.notes}
        refused = answer.kind == "refused" or (elsewhere and _line(str(error)) is not None) or _left_open(data, str(error))
        return Compared(answer, "" if refused and not committed else f"the second says {answer.verdict}; the first refuses: {error}")
    if answer.kind == "undecided":
        return Compared(answer, "")
    if answer.kind == "refused":
        return Compared(answer, f"the first says {judgement.verdict}; the second refuses: {answer.notes[0]}")
    if answer.verdict != judgement.verdict:
        return Compared(answer, f"the first says {judgement.verdict}, the second {answer.verdict}")
    apart = _below(judgement.upper, answer.lower, False) or _below(judgement.lower, answer.upper, True)
    return Compared(answer, "their enclosures are apart" if apart else "")


def _left_open(data: Mapping[str, Any], error: str) -> bool:
    """Whether the first leaves open what the second finds for itself: signs over domains, and curves and measures of a mechanism."""
    claim = data["claim"]
    return (bool(claim["domains"]) or claim["delta"] != "0" or "measure" in claim) and error.endswith("its lines give UNKNOWN.")


def _line(text: str) -> str | None:
    found = re.search(r"line (\d+)", text)
    return found[1] if found else None


def _below(theirs: Any, ours: Any, turned: bool) -> bool:
    """Whether a bound of the first checker is certainly below (turned: above) one of the second; both constants."""
    if theirs is None or ours is None or isinstance(theirs, Infinite) or ours == second.INFINITE:
        finite = ours is not None and theirs is not None
        return finite and isinstance(theirs, Infinite) != (ours == second.INFINITE) and (turned == isinstance(theirs, Infinite))
    field = algebra.Field({})
    try:
        value = field.form(terms.parse(format_expr(theirs)))
        gap = algebra.sub(value, ours) if turned else algebra.sub(ours, value)
        return field.positive(gap)
    except (terms.Undecided, terms.Malformed):
        return False


def changed(name: str, certificates: Mapping[str, Any], most: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Changed certificates, with what was changed: at most so many of each kind."""
    data = certificates[name]
    if most > 0:
        yield "the verdict", data | {"verdict": OTHER_VERDICT[data["verdict"]]}
    for kind in ("lines", "others", "claims"):
        for number, (what, made, _) in enumerate(judgements.changes(kind, name, certificates)):
            if number < most:
                yield f"{kind}: {what}", made | {"claim_sha256": claim_hash(made["claim"])}


def pure(data: Mapping[str, Any]) -> bool:
    """Whether a certificate is about pure privacy of a mechanism: delta = 0, in no other measure, not about how near answers are."""
    claim = data["claim"]
    return claim["delta"] == "0" and "measure" not in claim and "within" not in claim and claim["mechanism"]["kind"] != "space"


def costs(data: Mapping[str, Any]) -> bool:
    """Whether a certificate takes the second checker long: those with integrals and products of laws."""
    return not pure(data) or any(line["rule"] in LONG for line in data["lines"])


def families(data: Mapping[str, Any]) -> list[str]:
    """What a certificate is counted with: its verdict, and what its mechanism is."""
    kind = data["claim"]["mechanism"]["kind"]
    return [data["verdict"], next((name for name, kinds in FAMILIES.items() if kind in kinds), "others")]


def run(names: Iterable[str], certificates: Mapping[str, Any], most: int, long: bool) -> tuple[list[str], Counter[tuple[str, str]]]:
    """All differences, and how often which answer was given: of groups of certificates, of rules in pure ones, and of changed ones."""
    differences, counts = list[str](), Counter[tuple[str, str]]()
    for name in names:
        data = certificates[name]
        begun = time.process_time()
        found = compare(data, committed=True)
        soon = long or time.process_time() - begun < LONGEST
        differences += [f"{name}: {found.difference}"] if found.difference else []
        group = "pure certificates" if pure(data) else "other certificates"
        counts[group, found.answer.kind] += 1
        for part in families(data) if pure(data) else ():
            counts[f"pure {part}", found.answer.kind] += 1
        for rule in sorted({line["rule"] for line in data["lines"]}) if pure(data) else ():
            counts[f"rule {rule}", found.answer.kind] += 1
        fewer = min(most, ONCE) if costs(data) else most
        for what, made in changed(name, certificates, fewer) if soon and found.answer.kind == "decided" else ():
            other = compare(made)
            counts["changed certificates", other.answer.kind] += 1
            differences += [f"{name}, {what}: {other.difference}"] if other.difference else []
    return differences, counts


def main(arguments: list[str] | None = None) -> int:
    """Compare, print the table and the differences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="certificates of reports/, without their endings; all where none is named")
    parser.add_argument("--changed", type=int, default=4, help="the most changes of each kind that are tried; one where it takes long")
    parser.add_argument("--long", action="store_true", help=f"change certificates too that take more than {LONGEST:g} seconds")
    told = parser.parse_args(arguments)
    certificates = judgements.read()
    differences, counts = run(told.names or sorted(certificates), certificates, told.changed, told.long)
    print(f"{'':36}{'decided':>9}{'not':>6}{'refused':>9}")
    often = Counter({group: sum(counts[group, kind] for kind in _KINDS) for group, _ in counts})
    for group in sorted(often, key=lambda group: (group.startswith("rule"), -often[group])):
        print(f"{group:36}{counts[group, 'decided']:9}{counts[group, 'undecided']:6}{counts[group, 'refused']:9}")
    for line in differences:
        print("DIFFERENT", line)
    print(f"{len(differences)} differences")
    return 1 if differences else 0


_KINDS = ("decided", "undecided", "refused")


if __name__ == "__main__":
    sys.exit(main())
