"""Mixtures whose integral has a closed form, read as the radial noise that they are: `combinators.closed_forms` has the integrals.

So Gaussians of inverse-gamma variance are t noise, those divided by a uniform are slash noise, and those of exponential or generalised
inverse Gaussian variance are Laplace and hyperbolic noise (Reimherr & Awan, Theorem 1). The normaliser of the profile is free of v, so that
this is the noise of a v drawn from the mixing law (see `scale_family`). The radial noise has its own rules, one of which has proved
the premise.

Theorem: A scale mixture whose profile times mixing density is exp(-A) v^(-1 - k s) exp(-B/v^k - C v^k) in v is radial noise of profile
exp(-A) B^-s, exp(-A) C^s or exp(-A) (C/B)^(s/2) K_s(2 sqrt(B C)), by the integrals of Gamma and Bessel; over (0, u) by the incomplete Gamma
integral.

Checked:
- the conditional is a scale family in s(v) whose normaliser does not depend on v
- the mixture has that form, for all r > 0 and all parameters
- v ranges over (0, inf), or (0, u) for the incomplete Gamma integral
- the signs of B, C and s make the integral finite
- the premise is about that radial noise

Source: docs/theory/additive.md#mixture-closed-form, Reimherr & Awan 2019, Theorem 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dpverify.trusted.combinators import closed_forms
from dpverify.trusted.facts.premises import through_of
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.fact import Fact, as_bounds, unasked
from dpverify.trusted.kernel.model import Claim, Mixture
from dpverify.trusted.theories.additive import scale_family

NAME: Final = closed_forms.NAME
ASSUMED: Final = ()


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[Bound, ...]:
    """What the premise says of the radial noise that the mixture is. Raises Rejected, CertificateError.

    parameters: "scale" is the text of s(v).
    """
    noise = closed_forms.radial(unasked(claim))
    assert isinstance(claim.mechanism, Mixture)
    scale_family.require_free_of_v(claim.mechanism, parse(parameters["scale"]), dict(claim.domains), NAME)
    if len(premises) != 1 or premises[0].about != noise:
        raise CertificateError(f"{NAME}: it wants one premise, about the radial noise that the mixture is.")
    (premise,) = premises[:]
    pure = [bound for bound in as_bounds(premise.says) if bound.quantity == "pure"]
    return tuple(replace(bound, assumed=(*premise.assumed, *bound.assumed), through=through_of(premise)) for bound in pure)
