"""What a declaration gives the audit: worst pairs, the declared loss as a partition, the declared curve and distribution functions.

Everything here is floating point and mostly decides *where to look*: an event is an event wherever its edges are, so an error in a
partition costs power, never a false alarm. What hypotheses are stated by, `curve` and the distribution functions, is computed to
about 1e-10, and the curve is rounded up.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from typing import Final

import numpy as np

from dpverify.audits.declared.base import Array, Cdf, Declared, Function
from dpverify.audits.declared.cells import Columns, Intervals, Scores, information
from dpverify.audits.declared.counterparts import of_values
from dpverify.audits.declared.curves import gaussian_curve
from dpverify.audits.declared.finite import finite
from dpverify.audits.declared.gauges import gauge, shifts_of
from dpverify.audits.declared.keys import KeysLaw
from dpverify.audits.declared.laws import (
    Quadrature,
    Steps,
    averaged,
    quadrature,
    radial_log,
    scaled_log,
    staircase_log,
    steps,
    weighted_log,
    within,
)
from dpverify.audits.declared.numbered import numbered
from dpverify.audits.declared.one_number import IntegerLaw, KernelLaw, LineLaw
from dpverify.audits.declared.selections import Pair, may_be_neighbours, pairs_of, require_both_orders, selection
from dpverify.audits.declared.streams import pairs_of as pairs_of_stream
from dpverify.audits.declared.streams import stream_law
from dpverify.audits.declared.vectors import ProductLaw, RadialLaw
from dpverify.audits.declared.votes import noisy_votes
from dpverify.catalogue import kinds
from dpverify.search.curves import sums
from dpverify.search.numeric import kinks_of, log_of, number
from dpverify.trusted.combinators.sums import support
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE, ZERO
from dpverify.trusted.kernel.model import (
    AboveThreshold,
    Claim,
    EllipticalProcess,
    Exponential,
    KaryResponse,
    Kernel,
    Mixture,
    NoisyKeys,
    NoisyMax,
    NoisyVotes,
    Norm,
    OnLine,
    Product,
    Radial,
    Selection,
    Staircase,
    Stream,
    Sum,
    Table,
    Translation,
    on_integers,
)

__all__ = [
    "Cdf",
    "Columns",
    "Declared",
    "Intervals",
    "Scores",
    "compared_pairs",
    "declared",
    "gauge",
    "gaussian_curve",
    "information",
    "may_be_neighbours",
    "quadrature",
    "require_both_orders",
    "steps",
]


_DEVIATIONS: Final = 40
"""How far out the probabilities of sums are known, and no further than so many integers."""
_MOST_INTEGERS: Final = 20_000
_NOTHING: Final = -1e4
"""The logarithm of what is no more than nothing."""


def declared(claim: Claim) -> Declared | None:
    """The declared law of a claim; None where there is no density to evaluate (sampled, parameters that range over a domain).

    Raises AuditError for a density without a finite integral, or a norm, that floats cannot cope with.
    """
    return None if claim.domains else _declared(kinds.plain(claim))


@lru_cache(maxsize=16)  # with what it has found of itself: a claim is audited again and again, with other samplers and seeds
def _declared(claim: Claim) -> Declared | None:
    mechanism = claim.mechanism
    if isinstance(mechanism, EllipticalProcess):
        values = of_values(claim)
        return None if values is None else _declared(values)
    if isinstance(mechanism, Table | Exponential | KaryResponse):
        return finite(claim)
    if isinstance(mechanism, Kernel):
        return KernelLaw(claim)
    if isinstance(mechanism, NoisyMax | AboveThreshold):
        require_both_orders(claim)
        return selection(claim, _noise_law) or numbered(claim, _noise_law)
    if isinstance(mechanism, NoisyKeys):
        noise = _declared(Claim(mechanism.noise, ONE, sensitivity=ONE))
        return KeysLaw(claim, noise) if isinstance(noise, LineLaw | IntegerLaw) else None
    if isinstance(mechanism, NoisyVotes):
        require_both_orders(claim)
        return noisy_votes(claim)
    if isinstance(mechanism, Stream):
        return stream_law(claim, _noise_law)
    if isinstance(mechanism, Staircase):
        epsilon, gamma = number(mechanism.epsilon), number(mechanism.gamma)
        jumps = np.arange(1 + min(200, int(40 / epsilon))) + gamma
        law = quadrature(partial(staircase_log, epsilon, gamma), kinks=[*jumps, *-jumps])
        return LineLaw(claim, law, [1.0 if claim.sensitivity is None else number(claim.sensitivity)])
    if isinstance(mechanism, Sum):
        return _of_sum(claim, mechanism)
    if not isinstance(mechanism, Radial | Mixture | Product | Translation) or (claim.sensitivity is None and claim.query is None):
        return None
    if isinstance(mechanism, Translation):
        shifts, _ = shifts_of(claim, Norm("lp", Fraction(1)), 1)
        low, high = (inf if end is None else number(end) for end, inf in zip(mechanism.support, (-np.inf, np.inf), strict=True))
        log_density = partial(within, log_of(mechanism.density, "z"), low, high)
        if mechanism.integers:
            return IntegerLaw(claim, log_density, (low, high), shifts[:, 0].tolist())
        return LineLaw(claim, quadrature(log_density, low, high, kinks_of(mechanism.density, "z")), shifts[:, 0].tolist())
    dimension = int(number(mechanism.dimension))
    shifts, size = shifts_of(claim, mechanism.norm, dimension)
    if isinstance(mechanism, Product):
        law = quadrature(log_of(mechanism.density, "z"), kinks=kinks_of(mechanism.density, "z"))
        return LineLaw(claim, law, shifts[:, 0].tolist()) if dimension == 1 else ProductLaw(claim, dimension, law, shifts, size)
    profile: Function
    if isinstance(mechanism, Mixture):
        profile, kinks = averaged(mechanism), []
    else:
        profile, kinks = log_of(mechanism.profile, "r"), kinks_of(mechanism.profile, "r")
    norm, scale = gauge(mechanism.norm, dimension), number(mechanism.scale)
    if dimension == 1:
        factor = float(norm(np.ones(1))) / scale
        law = quadrature(partial(radial_log, profile, factor), kinks=[sign * kink / factor for kink in kinks for sign in (1, -1)])
        return LineLaw(claim, law, shifts[:, 0].tolist())
    radius = quadrature(partial(weighted_log, profile, dimension, scale), 0.0, kinks=[kink * scale for kink in kinks])
    return RadialLaw(claim, dimension, norm, partial(scaled_log, profile, scale), radius, shifts, size)


def _of_sum(claim: Claim, noise: Sum) -> Declared | None:
    """The law of a sum of noises on the integers; None with dropouts, where there are several, and on the line."""
    if noise.dropouts != ZERO or not on_integers(noise) or (claim.sensitivity is None and claim.query is None):
        return None
    try:
        places, weights = sums.table(noise, _DEVIATIONS, _MOST_INTEGERS)
    except DpverifyError:
        return None
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(np.array(weights)), _NOTHING)
    low, high = (inf if end is None else number(end) for end, inf in zip(support(noise), (-np.inf, np.inf), strict=True))
    shifts, _ = shifts_of(claim, Norm("lp", Fraction(1)), 1)

    def looked_up(z: Array) -> Array:
        return np.asarray(np.interp(z, places, logs, left=_NOTHING, right=_NOTHING))

    return IntegerLaw(claim, partial(within, looked_up, low, high), (low, high), shifts[:, 0].tolist())


def compared_pairs(claim: Claim) -> list[Pair]:
    """The neighbours on which a selection is audited where none are given; none for another mechanism. Raises AuditError."""
    plain = kinds.plain(claim)
    if isinstance(plain.mechanism, Stream):
        return pairs_of_stream(plain, plain.mechanism)
    return pairs_of(plain, _noise_law) if isinstance(plain.mechanism, Selection) else []


@lru_cache(maxsize=64)
def _noise_law(noise: OnLine | None) -> Quadrature | Steps | None:
    """The distribution function of noise that answers are compared with."""
    if noise is None:
        return None
    law = _declared(Claim(noise, ONE, sensitivity=ONE))
    return law.noise if isinstance(law, LineLaw | IntegerLaw) else None
