"""Proposes values of the parameters at which an event shows that a selection has more than the claimed delta, with the fewest answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import islice

from dpverify.search import counterexample
from dpverify.search.proposal import Steps, bound
from dpverify.search.selection import bounds as selection
from dpverify.search.selection import curves as selection_delta
from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.combinators.runs import whole
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import Expr, Num, num, substitute
from dpverify.trusted.kernel.fact import as_bounds
from dpverify.trusted.kernel.model import Claim, Compared, NoisyMax
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection.rules import selection_event_at as rule

_PAIRS = 4
"""Values of the other parameters that are looked at."""
_MOST = {True: selection_delta.MOST, False: 256}
"""Candidates of noisy max, and queries of above threshold, that are looked at."""
_FEW = 2
"""Of the least numbers of answers, which are looked at even where the greatest shows nothing."""


def propose(claim: Claim, known: Steps) -> Steps:
    """An event above the claim at the fewest answers of those that are looked at, but for a claim that is proved by what is known.

    Raises Undecided where none is found.
    """
    if claim.epsilon is None or claim.delta is None or not isinstance(claim.mechanism, Compared) or _is_proved(claim, known):
        return []
    name = selection.counted(claim)
    others = {other: domain for other, domain in claim.domains if other != name}
    for point in islice(counterexample.points(others), _PAIRS) if others else ({},):
        found = _violated(claim, point) if name is None else _at_fewest(claim, point, name)
        if found:
            return found
    raise Undecided("no event of those that are looked at tells neighbours apart by more than the claimed delta.")


def _is_proved(claim: Claim, known: Steps) -> bool:
    """Whether a step that rests on no other bounds delta, or the pure epsilon, by what is claimed."""
    proof, domains = Proof(claim), dict(claim.domains)
    for step in known:
        with suppress(DpverifyError):
            for found in as_bounds(bound(proof, (), step).says):
                claimed = {"delta": claim.delta, "pure": claim.epsilon}.get(found.quantity)
                if found.side != "upper" or claimed is None or isinstance(found.value, Infinite):
                    continue
                if certainly_le(found.value, claimed, domains):
                    return True
    return False


def _at_fewest(claim: Claim, point: Mapping[str, Expr], name: str) -> Steps:
    """The event at the fewest answers at which the claim is seen to fail: by doubling, and then by halving."""
    counts = list(_counts(claim, name))

    @cache
    def violated(count: int) -> Steps:
        return _violated(claim, {**point, name: num(count)})

    if not any(violated(count) for count in counts[-1:] + counts[:_FEW]):
        return Steps()
    high = next(count for count in counts if violated(count))
    low = max((count for count in counts if count < high), default=high - 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if violated(middle) else (middle, high)
    return violated(high)


def _counts(claim: Claim, name: str) -> Iterator[int]:
    """Numbers of answers inside their domain, by doubling."""
    domain = dict(claim.domains)[name]
    count = 1 if domain.lower is None else max(1, math.ceil(domain.lower))
    count += not domain.holds(num(count).value)
    while count <= _MOST[isinstance(claim.mechanism, NoisyMax)] and domain.holds(num(count).value):
        yield count
        count *= 2


def _violated(claim: Claim, point: Mapping[str, Expr]) -> Steps:
    """The event at values of the parameters, where what it shows is above the claim there."""
    at = {name: str(value.value) for name, value in point.items() if isinstance(value, Num)}
    assert claim.epsilon is not None and claim.delta is not None
    try:
        there = fixed(replace(claim, epsilon=None, delta=None), {"at": at}, rule.NAME)[0]
        ends = [float(enclose(substitute(value, point)).mid()) for value in (claim.epsilon, claim.delta)]
        plan = selection_delta.event_of(whole(there), ends[0], ends[1])
        evidence = {**{key: told for key, told in plan.items() if key not in ("rule", "prec")}, "at": at}
        shown = rule.check(claim, evidence).value
        above = isinstance(shown, Num) and certainly_lt(substitute(claim.delta, point), shown)
        return [{"rule": rule.NAME, "evidence": evidence}] if above else []
    except (DpverifyError, OverflowError):
        return []
