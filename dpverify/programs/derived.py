"""What is computed of noisy numbers beyond sums: it tells no more than they do."""

from __future__ import annotations

from typing import Any

from dpverify.programs.linear import Linear
from dpverify.programs.path import FRESH, INDEX, KEPT, LENGTH, ONCE
from dpverify.programs.values import Derived, Infinite, is_number

NOISY = (ONCE, FRESH, KEPT)


def derived(*values: Any, whole: bool = False) -> Derived | None:
    """What is computed of some values; None where one of them is no number, or one of the data that no noise is added to."""
    found: list[Linear] = []
    for value in values:
        if isinstance(value, Derived):
            found += value.of
        elif isinstance(value, Linear):
            if set(value.names) <= {INDEX, LENGTH}:
                continue
            if not any(name.startswith(NOISY) for name in value.names):
                return None
            found.append(value)
        elif not is_number(value) and not isinstance(value, Infinite):
            return None
    numbers = tuple(dict.fromkeys(found))
    return Derived(numbers, whole and len(numbers) == 1) if numbers else None
