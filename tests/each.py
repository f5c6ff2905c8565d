"""One test about many things alike, such as files: it looks at each and fails with all faults at once."""

from collections.abc import Callable, Iterable
from typing import Any


def holds_of_each(things: Iterable[Any], check: Callable[[Any], None], most: int = 20) -> None:
    """Call a check with every thing. Raises AssertionError that names each for which it fails, with why, `most` of them in full."""
    number, faults = 0, []
    for thing in things:
        number += 1
        try:
            check(thing)
        except Exception as error:
            faults.append(f"{thing}: {str(error) or type(error).__name__}")
    assert number, "there is nothing to look at"
    left = f"\nand {len(faults) - most} more" if len(faults) > most else ""
    assert not faults, f"{len(faults)} of {number} do not hold:\n" + "\n".join(faults[:most]) + left
