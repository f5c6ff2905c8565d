"""The noise of keys that a record shares with others: as many independent noises, each at the sensitivity."""

from __future__ import annotations

from typing import Any, Final

from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Num, num
from dpverify.trusted.kernel.model import NoisyKeys, Part, repeated
from dpverify.trusted.language.rationals import to_whole

WHAT: Final = "the noisy keys"


def most_keys(mechanism: NoisyKeys) -> int:
    """How many keys a record may have. Raises Rejected for what is no number."""
    keys = mechanism.keys
    if not isinstance(keys, Num) or keys.value.denominator != 1:
        raise Rejected(WHAT, "keys", "it wants an integer")
    return int(keys.value)


def old_keys(part: Part, number: Any) -> Part:
    """So many noises of noisy keys, as a part. Raises Rejected, CertificateError for a number that no record has keys."""
    mechanism = part.mechanism
    if not isinstance(mechanism, NoisyKeys):
        raise Rejected(WHAT, "the part", "it has no keys")
    count = to_whole(number, "noises", WHAT, 1, most_keys(mechanism))
    return repeated(Part(mechanism.noise, part.sensitivity), num(count))
