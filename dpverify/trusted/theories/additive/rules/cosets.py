"""Noise on the integers under answers that do not differ by integers: the outputs on two neighbours have nothing in common.

Theorem: Noise on the integers moves an answer q to q + n, n an integer. Where the answers of two neighbours do not differ by an integer, S
= {q + n : n an integer} has probability 1 on the one and 0 on the other: no epsilon is met at any delta below 1.

Checked:
- the difference of the query's answers is no integer
- the probabilities are summable, and non-negative where no assumption says otherwise

Source: docs/theory/additive.md#cosets
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.model import Claim, Sum, Translation, all_noises
from dpverify.trusted.language.whole_laws import known
from dpverify.trusted.sensitivity.apart import off_the_integers
from dpverify.trusted.theories.additive.points import noise_of, sign_of

NAME: Final = "cosets"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The tight epsilon is infinite and the tight delta 1. Raises Rejected, CertificateError.

    evidence: "quantity", that of the bound, "pure" without it; values of the parameters under "at", for a pure one.
    """
    quantity = evidence.get("quantity", "pure")
    if quantity not in ("pure", "epsilon", "delta") or (quantity != "pure" and "at" in evidence):
        raise CertificateError(f"{NAME}: {str(quantity)[:40]!r} is no quantity that this evidence is for.")
    if quantity == "epsilon" and (claim.delta is None or not certainly_lt(claim.delta, ONE, dict(claim.domains))):
        raise Rejected(NAME, "delta", "it is not certainly below 1")
    claim, at = fixed(claim, evidence, NAME)
    apart = off_the_integers(claim.mechanism, claim.query)
    if apart is None:
        raise Rejected(NAME, "the query", "it is not certain that noise on the integers meets answers that do not differ by integers")
    signs = _summable(claim.mechanism) if isinstance(claim.mechanism, Sum) else sign_of(noise_of(claim, evidence, NAME))
    pair = {"says": "histograms", "histograms": apart.histograms, "moved": str(apart.moved)}
    witness = {"pair": pair, "event": {"says": "integers-from-q"}, "P": "1", "Q": "0"}
    return Bound("lower", ONE if quantity == "delta" else INFINITE, witness=witness, at=at, quantity=quantity, assumed=signs)


def _summable(noise: Sum) -> tuple[str, ...]:
    """Nothing: of noises with names it is known. Raises Rejected for a sum of others."""
    single = [one for one in all_noises(noise) if not isinstance(one, Sum)]
    named = all(isinstance(one, Translation) and known(one) is not None for one in single)
    require(named, Rejected(NAME, "the noise", "a noise of the sum has no name, by which its probabilities are summable"))
    return ()
