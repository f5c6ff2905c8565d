"""The greatest of many noisy answers as a noisy maximum."""

from __future__ import annotations

from typing import Any

from dpverify.programs.calls import SYMMETRIC, WHOLE
from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.linear import Linear
from dpverify.programs.naming import is_whole, table_of
from dpverify.programs.path import ANSWER, FRESH, ONCE
from dpverify.programs.setting import Setting
from dpverify.programs.values import Law


def greatest(setting: Setting, element: Linear | None, sign: int, report: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The greatest of many noisy answers, or the least: what is told of it, as `report` of the kind says."""
    names = () if element is None else element.names
    noises = [name for name in names if name.startswith((ONCE, FRESH))]
    answers = [name for name in names if name.startswith(ANSWER)]
    if element is None or len(noises) != 1 or len(answers) != 1 or len(names) != 2 or not noises[0].startswith(FRESH):
        raise NotOfThisKind(
            "of the noisy answers each is to be an answer with noise of its own: [answer + noise.laplace(2) for answer in answers]."
        )
    law: Law = setting.shared.laws[noises[0]]
    unit, multiple = element.of[noises[0]], element.of[answers[0]]
    upright = sign * unit > 0
    name = table_of(law).get("name", "")
    if not upright and name not in SYMMETRIC:
        raise NotOfThisKind(
            f"the least of answers with {name or 'this'} noise is the greatest of their opposites, with noise turned around."
        )
    if is_whole(law) and (multiple / unit).denominator != 1:
        raise NotOfThisKind("answers with noise on the integers are multiplied by what is no integer.")
    if setting.neighbours not in ("all", "one", "monotone", "hull"):
        raise NotOfThisKind(
            f"neighbours = {setting.neighbours!r} is for answers one after the other. Of the greatest it is all, one, monotone or hull."
        )
    length, parameters = setting.many(1 if report == "value" else 2)
    table: dict[str, Any] = {"kind": "noisy_max", "noise": table_of(law), "candidates": length, "report": report}
    if name in WHOLE and report != "value" and not setting.options.get("ties"):
        table["ties"] = "first"
    table |= parameters
    table |= setting.together()
    if "bounds" in table and (multiple != unit or sign < 0):
        raise NotOfThisKind(
            "bounds are of the answers, which are multiplied, or of which the least is sought. State bounds of what is compared."
        )
    return table, setting.sensitivity(abs(multiple / unit))
