"""The sensitivity of a claim that states a query in the place of it (theory#sensitivity-of-a-linear-query)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.model import Mechanism, Norm, Query
from dpverify.trusted.sensitivity.apart import off_the_integers
from dpverify.trusted.sensitivity.queries import sensitivity


def derived(noise: Mechanism, query: Query, norm: Norm, dimension: int, evidence: Mapping[str, Any] | None) -> Sensitivity:
    """How far answers of neighbours are apart. evidence: as of `queries.sensitivity`.

    Raises Rejected for noise on the integers under answers that do not differ by integers.
    """
    broken = off_the_integers(noise, query)
    if broken is not None:
        why = f"answers of neighbours differ by {broken.moved}, and noise on the integers leaves no output that both can give"
        raise Rejected("sensitivity", "the query", why)
    return sensitivity(query, norm, dimension, evidence)
