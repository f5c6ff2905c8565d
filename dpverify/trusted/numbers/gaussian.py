"""The divergence of two Gaussian laws of one deviation."""

from __future__ import annotations

from typing import TypeVar

from flint import acb, arb

_Number = TypeVar("_Number", arb, acb)


def gaussian_delta(mu: _Number, epsilon: _Number) -> _Number:
    """E[(1 - e^(epsilon - loss))_+] of N(0, 1) and N(mu, 1), whose loss is Gaussian with mean mu^2/2 and deviation mu > 0."""
    near, half, root = epsilon / mu, mu / 2, arb(2).sqrt()
    return (((near - half) / root).erfc() - epsilon.exp() * ((near + half) / root).erfc()) / 2
