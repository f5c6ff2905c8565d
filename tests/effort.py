"""How often tests try again: seldom with every change, often where HYPOTHESIS_PROFILE=explore looks further."""

import os


def tries(few: int, many: int) -> int:
    """A number of examples, seeds or damages."""
    return many if os.environ.get("HYPOTHESIS_PROFILE") == "explore" else few
