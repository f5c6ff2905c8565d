"""The kinds of mechanisms that a claim file can be made for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

KINDS: Final[Mapping[str, str]] = {
    "radial": "additive noise whose density depends on the length of the noise in a norm.",
    "translation": "additive noise on one number, symmetric or not, on the line or on the whole numbers.",
    "product": "additive noise that is independent on every number of the answer.",
    "mixture": "additive noise whose scale is random too, where the density has no closed form.",
    "table": "finitely many inputs and outputs, and the probability of each output on each input.",
    "kernel": "outputs on a line or an interval, of any density that depends on the true answer.",
    "exponential": "the exponential mechanism: outputs by their scores.",
    "builtin": "a mechanism with a name.",
    "elliptical_process": "noise on a function: a Gaussian process of a random scale.",
    "guarantee": "a mechanism of which only a guarantee is known.",
    "compose": "several mechanisms on the same data.",
    "subsample": "a mechanism on a random sample of the records.",
    "group": "a mechanism, for neighbours that differ in several records.",
    "post_process": "a map of a mechanism's output.",
    "parallel": "mechanisms on disjoint parts of the data.",
    "lipschitz": "a mechanism on a map of the data.",
    "sampled": "an implementation that declares nothing, audited from the outside.",
}
"""Every kind of mechanism, in a sentence."""
UNSAMPLED: Final = frozenset({"elliptical_process"})
"""Kinds whose outputs no sampler can return."""
ALWAYS_SAMPLED: Final = frozenset({"sampled"})
"""Kinds that are nothing without a sampler."""
