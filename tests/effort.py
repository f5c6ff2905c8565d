"""How often tests try again: seldom with every change, more in `make test-all`, most where HYPOTHESIS_PROFILE=explore looks further."""

import os

full = True
"""Whether tests have their full budget; conftest.py says so by the marks that are asked for."""


def tries(few: int, many: int) -> int:
    """A number of examples, seeds or damages."""
    return many if os.environ.get("HYPOTHESIS_PROFILE") == "explore" else few


def examples(budget: int) -> int:
    """How many examples Hypothesis tries of a budget: all of them in `make test-all`, a third in `make test`.

    Where a guard would not be defended by a third, a test gives its budget without asking here."""
    return budget if full else -(-budget // 3)
