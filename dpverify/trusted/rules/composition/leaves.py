"""The curves of single mechanisms by the name of their rule, each from the mechanism and what its answer moves by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts.orientation import oriented
from dpverify.trusted.facts.pairs import Curve, Evidence, Pair, Profile
from dpverify.trusted.language.certificate import PRECISIONS
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE
from dpverify.trusted.language.model import Exponential, Guarantee, Kernel, Sampled, Selection, Table
from dpverify.trusted.numbers.balls import precision
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.order.sensitivity import off_the_integers
from dpverify.trusted.parts.neighbours import OnePair
from dpverify.trusted.parts.runs import Run, leaf, reach
from dpverify.trusted.rules.composition import product
from dpverify.trusted.rules.curves import (
    elliptical_process,
    finite,
    gauge,
    gaussian,
    laplace,
    lattice,
    line,
    scale_mixture,
    spherical_caps,
    uniform_ball,
)
from dpverify.trusted.rules.guarantees import stated_guarantee

Leaf = Callable[[Run, Evidence], Curve]


def _additive(rule: Any) -> Leaf:
    def curve(run: Run, evidence: Evidence) -> Curve:
        if isinstance(run.part.mechanism, Table | Exponential | Selection | Guarantee | Kernel | Sampled):
            raise Rejected(rule.NAME, "the mechanism", "it is about additive noise")
        found: Curve = rule.curve(run.part.mechanism, reach(run, evidence.get("sensitivity")))
        return found

    return curve


def _stated(rule: Any) -> Leaf:
    """Rules that want to know whether every direction occurs."""

    def curve(run: Run, evidence: Evidence) -> Curve:
        if isinstance(run.part.mechanism, Table | Exponential | Selection | Guarantee | Kernel | Sampled):
            raise Rejected(rule.NAME, "the mechanism", "it is about additive noise")
        found: Curve = rule.curve(run.part.mechanism, reach(run, evidence.get("sensitivity")), stated=run.part.query is None)
        return found

    return curve


def _finite(run: Run, evidence: Evidence) -> Curve:
    mechanism, sensitivity, query = leaf(run)
    if query is not None:
        raise Rejected(finite.NAME, "query", "a finite mechanism answers none")
    facing = run.part.pair if isinstance(run.part, OnePair) else None
    return finite.curve(mechanism, finite.point(evidence), sensitivity, facing)


def disjoint(runs: Sequence[Run]) -> Curve | None:
    """The curve of runs of which one adds noise on the integers to answers that do not differ by integers; None for others."""
    found = [(off_the_integers(run.part.mechanism, run.part.query), run.factor) for run in runs]
    apart = next((where for where, factor in found if where is not None and certainly_le(ONE, factor)), None)
    if apart is not None:
        return lattice.apart(apart)
    # a contraction may leave no such neighbours
    return replace(lattice.apart(None), lower=None) if any(where is not None for where, _ in found) else None


def _lattice(run: Run, evidence: Evidence) -> Curve:
    found = disjoint([run])
    return _additive(lattice)(run, evidence) if found is None else found


def curve(run: Run, evidence: Evidence) -> Curve:
    """The curve of a run of a single mechanism, by the rule that its evidence names.

    evidence: "prec", if given, is the precision at which its profiles are evaluated wherever less is not asked: compositions need many
    values of few digits. Raises Rejected, Undecided, CertificateError.
    """
    rule = LEAVES.get(str(evidence.get("rule")))
    if rule is None:
        raise CertificateError(f"{str(evidence.get('rule'))[:60]!r} is no rule for the curve of a single mechanism.")
    found = rule(run, evidence)
    if not isinstance(run.part, OnePair):
        found = oriented(found, run)
    elif rule in _ORIENTED and found.lower is not None and reach(run).exact:
        found = replace(found, upper=found.lower)  # the one shift, in the one direction
    if "prec" not in evidence:
        return found
    bits = evidence["prec"]
    if type(bits) is not int or bits not in PRECISIONS:
        raise CertificateError(f"the precision of a part must be an integer between {PRECISIONS[0]} and {PRECISIONS[-1]}.")
    upper = None if found.upper is None else _limited(found.upper, bits)
    lower = upper if found.exact else None if found.lower is None else _limited(found.lower, bits)
    return replace(found, upper=upper, lower=lower)


def _limited(pair: Pair, bits: int) -> Pair:
    """The pair with profiles that are evaluated at no more than a precision, each epsilon once."""

    def limited(profile: Profile) -> Profile:
        known: dict[Any, arb] = {}

        def at(epsilon: arb) -> arb:
            with precision(min(ctx.prec, bits)):
                if not epsilon.is_exact():
                    return profile(epsilon)
                key = epsilon.man_exp(), ctx.prec
                if key not in known:
                    known[key] = profile(epsilon)
                return known[key]

        return at

    forward = limited(pair.forward)
    return replace(pair, forward=forward, backward=forward if pair.backward is pair.forward else limited(pair.backward))


def _stated_guarantee(run: Run, evidence: Evidence) -> Curve:
    mechanism, sensitivity, query = leaf(run)
    if not isinstance(mechanism, Guarantee) or sensitivity is not None or query is not None:
        raise Rejected(stated_guarantee.NAME, "the mechanism", "it is not a guarantee alone, without sensitivity or query")
    return stated_guarantee.curve(mechanism, evidence)


LEAVES: Final[Mapping[str, Leaf]] = {
    finite.NAME: _finite,
    lattice.NAME: _lattice,
    stated_guarantee.NAME: _stated_guarantee,
    **{rule.NAME: _stated(rule) for rule in (gaussian, laplace, gauge, product)},
    **{rule.NAME: _additive(rule) for rule in (line, spherical_caps, uniform_ball, scale_mixture, elliptical_process)},
}
"""Every rule for the curve of a single mechanism."""

_ORIENTED: Final = (LEAVES[line.NAME], LEAVES[lattice.NAME])
"""Those whose lower bound is the pair at the shift, one way, and whose upper bound is for both directions."""
