"""What is refused, and the words of it."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided

Refusals = Mapping[str, tuple[Callable[[], Any], str]]
"""For each thing that is asked the question, and words of the refusal."""


def each(refusals: Refusals) -> Any:
    """A test for each of them, with the arguments `asked` and `why`."""
    return pytest.mark.parametrize(("asked", "why"), refusals.values(), ids=refusals)


def require_refused(asked: Callable[[], Any], why: str) -> None:
    """See that it is refused at 64 bits, with these words, so that the answer would be UNKNOWN."""
    with precision(64), pytest.raises((Rejected, CertificateError, Undecided), match=why):
        asked()
