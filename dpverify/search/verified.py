"""What is known of a claim: the judgement, and the proof that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.judgement import Judgement

Proved = tuple[tuple[Line, tuple[Bound, ...]], ...]
"""The lines of the proof, each with the bounds on the claim's own epsilon or delta that it states."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A judgement, the certificate that re-checks it, what stopped a stronger answer, for UNKNOWN, and what each line proves.

    places: the modules of the trusted folder that functions imported while the lines of a certificate were followed; nothing of a search.
    """

    judgement: Judgement
    certificate: Mapping[str, Any]
    reasons: tuple[str, ...] = ()
    proved: Proved = ()
    places: tuple[str, ...] = ()
