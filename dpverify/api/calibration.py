"""Calibration in Python: calibrate, and calibrated with the answers on both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from dpverify.api.digits import checked
from dpverify.catalogue.declarations import Declared
from dpverify.catalogue.inline import Noise
from dpverify.project import calibration
from dpverify.report.answers import Answer, answer

_DIGITS: Final = 12
"""As many as a value may have."""


def calibrate(noise: Callable[..., Declared] | Noise, parameter: str | None = None, *, digits: int = 6, **given: Any) -> Decimal:
    """The value of a parameter at which a claim just holds, to so many significant digits; certified on both sides.

    noise, parameter: a function of a kind and the argument that is looked for, such as dpverify.gaussian, "sigma"; or a mechanism in which
    the word "least" or "greatest" stands in the place of the number. given: the claim, as dpverify.verify has it, and all other arguments
    of the function. It is the least value where the claim holds above it, rounded up, and the greatest where it holds below it, rounded
    down: there the claim is proved, and one unit in the last digit further it is not. dpverify.calibrated gives both answers too.
    Raises SpecError for what is wrong with the claim, CalibrationError where there is no such value.
    """
    return calibrated(noise, parameter, digits=digits, **given).value


def calibrated(noise: Callable[..., Declared] | Noise, parameter: str | None = None, *, digits: int = 6, **given: Any) -> Calibrated:
    """The same with what is known of the value and of the one beside it: their answers, with certificates. See dpverify.calibrate."""
    checked(digits, _DIGITS)
    asked, claim = calibration.question(noise, parameter, given)
    found = calibration.of_noise(asked, claim, digits)
    here, beside = (tuple(answer(one, digits=calibration.DIGITS) for one in ones) for ones in (found.here, found.beside))
    return Calibrated(found.value, found.word, here, found.next, beside, tuple(found.lines()))


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A value at which a claim just holds.

    value: the value. word: "least" or "greatest". answers: of the claim there. beside: the value one unit in the last digit further;
    answers_beside: of the claim there. lines: all this in sentences, which printing it shows.
    """

    value: Decimal
    word: str
    answers: tuple[Answer, ...]
    beside: Decimal
    answers_beside: tuple[Answer, ...]
    lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self.lines)
