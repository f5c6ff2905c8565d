"""How many digits Python may ask for."""

from __future__ import annotations

from typing import Any, Final

from dpverify.errors import SpecError

MOST: Final = 1000
"""Digits of an enclosure."""


def checked(digits: Any, most: int = MOST) -> int:
    """The number of digits that is asked for. Raises SpecError for what is no such number."""
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= most:
        raise SpecError(f"digits = {digits!r:.40} is not an integer between 1 and {most}.")
    return digits
