"""The noises of a selection, each as the additive noise that it is: what one rests on that is asked of its answers alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import ONE, mul, num
from dpverify.trusted.kernel.model import AboveThreshold, Claim, NoisyMax, OnLine, Stream
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.sensitivity.sensitivity import whole_part
from dpverify.trusted.sensitivity.steps_between import each_by_integers

STEP: Final = "noise"
"""The key of the step of a place that leads to a noise: {"noise": its name, "moved": so many times as far as an answer}."""
_HELD: Final = {NoisyMax: ("noise",), AboveThreshold: ("threshold_noise", "query_noise", "fresh")}


def question(claim: Claim, name: Any, times: Any) -> Claim:
    """The pure epsilon of a noise where what it is added to moves so many times as far as an answer does. Raises CertificateError."""
    mechanism = claim.mechanism
    factor = to_fraction(str(times), STEP) if type(times) in (int, str) else Fraction(0)
    if isinstance(mechanism, Stream):
        found = [drawn.noise for drawn in (*mechanism.once, *mechanism.fresh) if drawn.name == name]
    else:
        found = [getattr(mechanism, name)] if name in _HELD.get(type(mechanism), ()) else []
    if factor <= 0 or not found:
        raise CertificateError(f"the place of the noise {str(name)[:40]!r}, moved {str(times)[:10]} times, is none in this mechanism.")
    noise: OnLine | None = found[0]
    if noise is None:
        raise CertificateError(f"this mechanism has no {name}.")
    moved = ONE if claim.sensitivity is None else claim.sensitivity
    moved = whole_part(moved, dict(claim.domains)) if each_by_integers(mechanism) else moved
    return Claim(noise, None, sensitivity=mul(num(factor), moved), domains=claim.domains)
