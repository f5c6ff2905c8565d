"""Boxes that are cut in halves as a certificate says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.kernel.errors import CertificateError

Box = dict[str, tuple[Fraction, Fraction]]
"""For each coordinate the share of its range that a box takes."""

UNCUT: Final = "."
"""The whole as one box."""


def holds_on_all(holds: Callable[[Box], bool], names: Sequence[str], halves: Any) -> bool:
    """Whether something holds on every box that the whole is cut into. Raises CertificateError.

    halves: for each box in order the first letter of the coordinate that it is halved in, its two halves to follow, or "." for none.
    """
    letters, pending = {name[0]: name for name in names}, [whole(names)]
    for letter in halves:
        if not pending or letter not in (UNCUT, *letters):
            raise CertificateError(f"the halves of boxes are no cuts of {' and '.join(names)}: {halves[:60]!r}.")
        box = pending.pop()
        if letter != UNCUT:
            low, high = box[letters[letter]]
            middle = (low + high) / 2
            pending += [{**box, letters[letter]: part} for part in ((middle, high), (low, middle))]
        elif not holds(box):
            return False
    if pending:
        raise CertificateError(f"the halves of boxes end before all boxes are told: {halves[:60]!r}.")
    return True


def whole(names: Sequence[str]) -> Box:
    """The box that is not cut."""
    return {name: (Fraction(0), Fraction(1)) for name in names}
