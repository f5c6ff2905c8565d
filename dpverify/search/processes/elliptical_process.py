"""Proposes what is known of noise on functions at delta = 0, and where a difference is outside its space."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, product
from math import asinh, ceil, sqrt
from typing import Any, Final

from dpverify.search.grids import simple_values
from dpverify.search.processes import norms as processes
from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, Sym, substitute
from dpverify.trusted.kernel.model import Claim, EllipticalProcess, Part
from dpverify.trusted.theories.processes import evaluations
from dpverify.trusted.theories.processes.norms import is_finite
from dpverify.trusted.theories.processes.rules import elliptical_process_unbounded as unbounded
from dpverify.trusted.theories.processes.rules import evaluations_epsilon, orthogonal_laws, process_evaluations

Steps = list[dict[str, Any]]

_BITS: Final = 128
_MOST_TRIED: Final = 60
_STARTS: Final[tuple[dict[str, int], ...]] = ({}, {"start": 64}, {"start": 1024})
_SEEN: Final = (1, 2, 4, 16, 64, 256, 1024)


def propose(claim: Claim, digits: int) -> Steps:
    """What there is at delta = 0. Raises Rejected, Undecided where nothing holds."""
    noise = claim.mechanism
    assert isinstance(noise, EllipticalProcess)
    if found := apart(claim, digits):
        return found
    if is_finite(noise):
        return _for_all(claim, noise) if claim.domains else _evaluated(claim, noise)
    with precision(_BITS):
        evidence = {"sensitivity": processes.derivations(noise, digits)} if noise.differences else {}
        unbounded.check(claim, evidence)
    return [*(_seen_by_functionals(claim, noise) if noise.differences else ()), {"rule": unbounded.NAME, "evidence": evidence}]


def apart(claim: Claim, digits: int) -> Steps:
    """That no epsilon is met at any delta below 1, where a difference is outside the space of the noise."""
    noise = claim.mechanism
    if not isinstance(noise, EllipticalProcess) or not noise.differences or claim.domains:
        return []
    with precision(_BITS):
        found = processes.outside(noise) if not is_finite(noise) else processes.apart_at_points(noise)
    if found is None:
        return []
    wanted = ["pure"] if claim.delta == ZERO else [] if claim.delta in (None, ONE) else ["epsilon"]
    shown = {"difference": found[0], **({"outside": found[1]} if found[1] else {})}
    return [
        {"rule": orthogonal_laws.NAME, "evidence": {"quantity": one, **shown}}
        for one in [*wanted, *(["delta"] if claim.epsilon is not None else [])]
    ]


def _evaluated(claim: Claim, noise: EllipticalProcess) -> Steps:
    """Both sides of the epsilon of finitely many evaluations of t noise."""
    process_evaluations.inverse_gamma(noise)
    steps: Steps = [{"rule": evaluations_epsilon.NAME, "evidence": {"side": "upper"}}]
    return [*steps, _with_ball(claim, {"side": "lower"})]


def _seen_by_functionals(claim: Claim, noise: EllipticalProcess) -> Steps:
    """A finite-dimensional event against the claimed epsilon, for t noise."""
    if claim.epsilon is None or noise.covariance != "eigenvalues" or noise.atoms:
        return []
    try:
        a, b = (float(constant(one)) for one in process_evaluations.inverse_gamma(noise))
        epsilon, scale = float(constant(claim.epsilon)), float(constant(noise.scale))
        for m in _SEEN:
            probe = Claim(EllipticalProcess(**{**_fields(noise), "count": Num(Fraction(m))}), None)
            with precision(_BITS):
                seen = float(constant(reach(Run(Part(probe.mechanism))).lower))
            if seen > 0:
                n = max(m, ceil(epsilon / asinh(seen / (2 * scale * sqrt(2 * b))) - 2 * a) + 2)
                return [_with_ball(claim, {"side": "lower", "n": n, "seen": m})]
    except (DpverifyError, OverflowError):
        pass
    return []


def _fields(noise: EllipticalProcess) -> dict[str, Any]:
    return {name: getattr(noise, name) for name in EllipticalProcess.__slots__}


def _with_ball(claim: Claim, evidence: dict[str, Any]) -> dict[str, Any]:
    """The step with a ball on which the loss exceeds the claimed epsilon, where one is found."""
    for k in range(0, 64, 4) if claim.epsilon is not None else ():
        shown = {**evidence, "radius": str(Fraction(1, 2**k))}
        try:
            with precision(_BITS):
                evaluations_epsilon.check(claim, shown)
        except DpverifyError:
            continue
        return {"rule": evaluations_epsilon.NAME, "evidence": shown}
    return {"rule": evaluations_epsilon.NAME, "evidence": evidence}


def _for_all(claim: Claim, noise: EllipticalProcess) -> Steps:
    """A number of evaluations from which the claimed epsilon fails."""
    if claim.epsilon is None or not isinstance(noise.count, Sym):
        raise Undecided("an all-parameter claim about evaluations wants an epsilon, and their number for a parameter.")
    if evaluations.has_finite_rank(noise):
        raise Undecided(
            "the covariance has finite rank: only so many evaluations are independent, and the epsilon does not grow with their number. "
            "Claim one number at a time."
        )
    names = [name for name, _ in claim.domains]
    others = [simple_values(domain) for name, domain in claim.domains if name != noise.count.name]
    ranges = dict(claim.domains)[noise.count.name]
    for chosen in islice(product(*others), 4):
        values = dict(zip([name for name in names if name != noise.count.name], map(Fraction, chosen), strict=True))
        for k in range(_MOST_TRIED):
            for m in _SEEN if noise.covariance in evaluations.MARKOV else _SEEN[:4]:
                n = m * 2**k if noise.covariance != "bridge" else (m + 1) * 2**k - 1
                if not ranges.holds(Fraction(n)):
                    continue
                at = {**values, noise.count.name: Fraction(n)}
                evidence: dict[str, Any] = {"side": "lower", "at": {name: str(value) for name, value in at.items()}}
                evidence |= {"seen": m} if noise.differences else {}
                for start in _STARTS if noise.differences and noise.covariance == "eigenvalues" else ({},):
                    if _refutes(claim, {**evidence, **start}, at):
                        return [_with_ball(claim, {**evidence, **start})]
    raise Undecided("no number of evaluations was found at which the claimed epsilon fails.")


def _refutes(claim: Claim, evidence: dict[str, Any], at: dict[str, Fraction]) -> bool:
    try:
        with precision(_BITS):
            found = evaluations_epsilon.check(claim, evidence)
            assert claim.epsilon is not None
            claimed = constant(substitute(claim.epsilon, {name: Num(value) for name, value in at.items()}))
            return bool(constant(found.value) > claimed)  # type: ignore[arg-type]
    except DpverifyError:
        return False
