"""Claims for all parameters, by what is proved at the values of these at which there is least noise; refuted at any values.

Theorem: What has less noise bounds what has more from above, in every measure and in each order: it is the same up to post-processing, or
at answers that are closer. Noise of a norm at a scale s >= s0 is that of scale s0 for answers s0/s times as far apart, which a stated
sensitivity allows. Two-sided geometric noise of density exp(-c |z|), c <= c0, is that of c0 plus independent noise. Of responses that tell
the truth more seldom, but no more seldom than any lie, each is a random map of one that tells it more often.

Checked:
- the values lie in their domains, and no parameter is left
- from above: at all parameters no part has less noise than at the values, all else is the same, and what is claimed has no parameters

Source: docs/theory/composition.md#least-noise, Ghosh, Roughgarden & Sundararajan 2012; Gupte & Sundararajan 2010, Lemma 3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.combinators.runs import leaf, whole
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Sym, call, div, mul, num, sub, substitute, symbols
from dpverify.trusted.kernel.fact import Parameters, Premises, as_bounds
from dpverify.trusted.kernel.model import (
    Claim,
    Compose,
    Domain,
    Group,
    KaryResponse,
    Parallel,
    Part,
    PostProcess,
    Radial,
    Repeat,
    Subsample,
    Table,
    Translation,
)
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.theories.composition.rules import closed_profile, privacy_profile

NAME: Final = "least-noise"
ASSUMED: Final = ()


def infer(claim: Claim, parameters: Parameters, premises: Premises) -> tuple[Bound, ...]:
    """The bounds that a premise gives at values of the parameters, the upper ones for all. Raises Rejected, Undecided, CertificateError.

    premises: the curve of all there is at the values, none where the delta there has a closed form, or a fact about the measure that is
    claimed. parameters: the values under "at"; of a curve, what `privacy_profile` is asked.
    """
    there, at = fixed(claim, parameters, NAME)
    if there.domains or not at:
        raise Rejected(NAME, "at", "it wants a value for every parameter")
    there = replace(there, epsilon=_put(claim.epsilon, at), delta=_put(claim.delta, at))
    if claim.measure is None:
        asked_of = {key: parameters[key] for key in parameters if key != "at"}
        bounds = privacy_profile.infer(there, asked_of, premises) if premises else closed_profile.check(there, asked_of)
    else:
        asked = replace(leaf(whole(there)), measure=replace(claim.measure, value=None), order=claim.order)
        (premise,) = premises
        if premise.about != asked:
            raise CertificateError(f"{NAME}: its premise is not about the value in the measure that is claimed.")
        bounds = tuple(
            replace(b, assumed=(*premise.assumed, *b.assumed), through=(premise.rule, *b.through)) for b in as_bounds(premise.says)
        )
    claimed = (claim.epsilon, claim.delta, None if claim.measure is None else claim.measure.at)
    fixes = not any(isinstance(one, Expr) and symbols(one) for one in claimed)
    least = fixes and noisier(Part(claim.mechanism, claim.sensitivity, claim.query), whole(there).part, dict(claim.domains))
    found = tuple(replace(b, at=at) if b.side == "lower" else b for b in bounds if b.side == "lower" or least)
    if not found:
        raise Rejected(NAME, "at", "it is not certain that there is least noise there")
    return found


def _put(value: Expr | None, at: Mapping[str, Expr]) -> Expr | None:
    return None if value is None else substitute(value, at)


def noisier(one: Any, least: Any, domains: Mapping[str, Domain]) -> bool:
    """Whether a mechanism, or a part, certainly has no less noise than another at all parameters, all else being the same."""
    if one == least:
        return True
    if type(one) is not type(least):
        return False
    if isinstance(one, Radial):
        return (
            replace(one, scale=least.scale) == least and certainly_lt(ZERO, least.scale) and certainly_le(least.scale, one.scale, domains)
        )
    if isinstance(one, Translation):
        rate, greatest = _geometric(one, domains), _geometric(least, {})
        return rate is not None and greatest is not None and certainly_le(rate, greatest, domains)
    if isinstance(one, KaryResponse):
        return one.k == least.k and isinstance(one.k, Num) and _between(div(ONE, one.k), one.p, least.p, domains)
    if isinstance(one, Table):
        same = replace(one, rows=least.rows) == least and all(_is_response(table) for table in (one, least))
        return same and _between(div(ONE, num(2)), one.rows[0][0], least.rows[0][0], domains)
    if isinstance(one, Part):
        return one.query is None and replace(one, mechanism=least.mechanism) == least and noisier(one.mechanism, least.mechanism, domains)
    if isinstance(one, tuple):
        return len(one) == len(least) and all(noisier(a, b, domains) for a, b in zip(one, least, strict=True))
    made = isinstance(one, Compose | Repeat | Subsample | Group | Parallel | PostProcess) and is_dataclass(one)
    return made and all(noisier(getattr(one, f.name), getattr(least, f.name), domains) for f in fields(one))


def _geometric(noise: Translation, domains: Mapping[str, Domain]) -> Expr | None:
    """c of noise of density proportional to exp(-c |z|) on all integers, certainly positive; None of other noise."""
    h = neg_log(noise.density)
    c = sub(substitute(h, {"z": ONE}), substitute(h, {"z": ZERO}))
    form = mul(c, call("abs", Sym("z")))
    same = certainly_equal(sub(h, substitute(h, {"z": ZERO})), form, {**domains, "z": Domain()})
    whole_line = noise.integers and noise.support == (None, None)
    return c if whole_line and same and certainly_lt(ZERO, c, domains) else None


def _between(low: Expr, value: Expr, high: Expr, domains: Mapping[str, Domain]) -> bool:
    return certainly_le(low, value, domains) and certainly_le(value, high, domains)


def _is_response(table: Table) -> bool:
    """Whether it is the rows (p, 1 - p) and (1 - p, p)."""
    rows = table.rows
    return len(rows) == 2 and len(rows[0]) == 2 and rows[1] == rows[0][::-1]
