"""The rules of a SARIF log: what each verdict and finding means, what to do about it, and how much it weighs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dpverify.catalogue.notes import UNSTATED, UNUSED, ZERO
from dpverify.report.results import NOTE_RULES, RULES, UNCONFIRMED
from dpverify.runtime.finding import NONCONFORMING, VIOLATION

_SHORT: Final = {**RULES, **NOTE_RULES}
_PRIVACY: Final = ("security", "privacy", "differential-privacy")
_CLAIMS: Final = ("differential-privacy", "correctness")


@dataclass(frozen=True, slots=True)
class Advice:
    """About one rule. name: for people. means: what is known when it speaks. steps: what to do, in Markdown, the likeliest first.

    level: "error" or "warning". severity: of CVSS, above 0 and at most 10; None where nothing says that data are at risk.
    precision: how often it is right, "very-high", "high", "medium" or "low". tags: to filter by.
    """

    name: str
    means: str
    steps: Sequence[str]
    level: str
    precision: str
    severity: str | None = None
    tags: Sequence[str] = _CLAIMS


ADVICE: Final[Mapping[str, Advice]] = {
    "REFUTED": Advice(
        "ClaimRefuted",
        "The mechanism is not as private as the file claims. This is a proof, not a guess: the kernel checked a witness, and the message "
        "holds it. Whoever relies on the claimed epsilon and delta has less privacy than they think.",
        (
            "If the claim asks for too much, raise `epsilon` or `delta` to the tight value in the message.",
            "If the claim must hold, add noise: a larger scale, until `dpverify verify` proves it.",
            "If the file describes something else than the code does, correct its `sensitivity`, `norm` or density.",
            'If the claim is there to be refuted, say so: `expect = "refuted"`.',
        ),
        "error",
        "very-high",
        "8.0",
        _PRIVACY,
    ),
    "PROVED": Advice(
        "ClaimProvedUnexpectedly",
        "The file expects this claim to be refuted or undecided, and the kernel checked a proof that it holds. No privacy is lost; the "
        "file is wrong about what is true.",
        (
            'If the mechanism was made more private on purpose, write `expect = "proved"`, or leave `expect` out.',
            "If the claim is a test of a known flaw, see whether the flaw is still in the mechanism that the file describes.",
        ),
        "error",
        "very-high",
    ),
    "UNKNOWN": Advice(
        "ClaimUndecided",
        "The claim is neither proved nor refuted. It may hold or not; nothing may rely on it. The message says what stopped a proof.",
        (
            "Read the reason in the message; `dpverify explain RULE` says what a rule needs.",
            "Give free parameters a value or a narrower domain, or claim an epsilon that is less close to the tight one.",
            "Describe the mechanism by a kind that a rule covers: a builtin, a table, or a composition of such parts.",
            'If nobody can decide it today, write `expect = "unknown"`.',
        ),
        "warning",
        "medium",
    ),
    UNCONFIRMED: Advice(
        "VerdictConfirmedOnce",
        "The kernel has checked the verdict. With --require the run asks for another way of confirming it too, which is not there: the "
        "second checker does not know a rule of the certificate, or Coq is not recorded to have accepted a proof of the whole claim. "
        "Nothing says that the verdict is wrong.",
        (
            "See what the verdict rests on with `dpverify check --trust`, and which line the second checker does not know with "
            "`python checker/check.py`.",
            "`dpverify check --replay coq` has Coq prove the claim, where its kind has a theorem.",
            "If one way is enough for this claim, accept it in the baseline: `dpverify baseline --require second-checker`.",
        ),
        "error",
        "very-high",
    ),
    VIOLATION: Advice(
        "ImplementationViolatesClaim",
        "The code that was sampled is less private than the file claims: an event tells two neighbouring inputs apart more often than the "
        "claim allows. The message holds the event, the inputs and the confidence. A finding at float level is of how numbers are "
        "represented: the law may be right, and its floating-point form still leaks.",
        (
            "See it again with the replay line in the message.",
            "Look at the sampler for a scale that is too small, a sensitivity that is left out, or noise that is drawn once for several "
            "answers.",
            "At float level, sample on a grid of exact numbers, or round the answers after the noise is added.",
            "If the file claims too much of this code, correct the claim.",
        ),
        "error",
        "high",
        "8.5",
        _PRIVACY,
    ),
    NONCONFORMING: Advice(
        "ImplementationNotConforming",
        "The code that was sampled does not draw from the density that the file declares. What is proved of that density does not carry "
        "over to the code, even where no violation was seen.",
        (
            "See it again with the replay line in the message.",
            "Compare the scale, the shape and the support of the sampler with those in `[mechanism]`.",
            "If the code is right, declare its density, and verify that one.",
        ),
        "error",
        "high",
        "6.0",
        _PRIVACY,
    ),
    UNSTATED: Advice(
        "SensitivityNotStated",
        "A part of the mechanism states neither a sensitivity nor a query, and is judged at sensitivity 1. Where one record moves the "
        "answer by more, as it does a sum of values that are clipped at 100, the verdict says nothing about it.",
        (
            "Write how far neighbours move the answer: `sensitivity = 100`.",
            "Or state the linear query and its adjacency, and the sensitivity is derived.",
            "If it is 1, say so: `sensitivity = 1`.",
        ),
        "warning",
        "high",
    ),
    UNUSED: Advice(
        "ParameterNotUsed",
        "A parameter has a value or a domain, and nothing in the file names it: what it was meant to change is as if it were not there.",
        ("Use it where it was meant to stand.", "Or leave it out."),
        "warning",
        "very-high",
    ),
    ZERO: Advice(
        "SensitivityZero",
        "A sensitivity of 0 says that the answers of neighbours are equal. Any noise is private then, and the verdict says nothing about a "
        "query that a record does move.",
        ("Write how far neighbours move the answer.",),
        "warning",
        "high",
    ),
}


def descriptor(rule: str) -> dict[str, Any]:
    """One rule as SARIF's reportingDescriptor, with the properties that code scanning sorts and filters by."""
    advice = ADVICE[rule]
    properties: dict[str, Any] = {"precision": advice.precision, "tags": list(advice.tags), "problem.severity": advice.level}
    if advice.severity is not None:
        properties["security-severity"] = advice.severity
    return {
        "id": rule,
        "name": advice.name,
        "shortDescription": {"text": _SHORT[rule]},
        "fullDescription": {"text": advice.means},
        "help": {"text": _plain(advice), "markdown": _markdown(rule, advice)},
        "defaultConfiguration": {"level": advice.level},
        "properties": properties,
    }


def _plain(advice: Advice) -> str:
    steps = [f"{number}. {step.replace('`', '')}" for number, step in enumerate(advice.steps, 1)]
    return "\n".join([advice.means, "What to do:", *steps])


def _markdown(rule: str, advice: Advice) -> str:
    steps = [f"{number}. {step}" for number, step in enumerate(advice.steps, 1)]
    return "\n".join([f"## {_SHORT[rule]}", "", advice.means, "", "### What to do", "", *steps, ""])
