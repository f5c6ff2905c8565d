"""Draws of mechanisms in Python: sampler."""

from __future__ import annotations

from fractions import Fraction

from dpverify.catalogue import inline
from dpverify.catalogue.declarations import Declared
from dpverify.catalogue.declarations import Mechanism as Declaration
from dpverify.errors import SpecError
from dpverify.samplers import mechanisms
from dpverify.samplers.grids import grid
from dpverify.trusted.kernel.model import Claim, Mechanism


def sampler(
    of: Claim | Mechanism | Declaration | Declared, *, snap: int | str | Fraction | None = None, walk: str | None = None
) -> mechanisms.Sampler:
    """A sampler of a claim's mechanism, or of a mechanism: sampler(data, size, rng) gives `size` independent outputs on the data.

    of: a mechanism, as dpverify.gaussian and its like declare one, or as a claim holds one; or a claim, as `read_spec` gives it. snap: a
    power of two, to whose multiples noisy answers of real numbers are rounded, so that their last bits tell nothing of the true answer;
    `told` of the sampler says how outputs are drawn and how exactly. rng: numpy's Generator. Data: the true answer, a number or a list of
    numbers; of a selection the answers that are compared: its outputs are an index, or codes that `told` explains, with the numbers that
    are told. walk: "hit-and-run" or "grid", where noise is in the norm of a polytope with too many facets: a walk, which is not certified,
    and of which `told`, after outputs are drawn, says what is to be known. Raises NoSampler for a mechanism without a law of its own,
    saying why, and DataError for what is no power of two.
    """
    rounding = None if snap is None else grid(snap)
    if isinstance(of, Declared | Declaration):
        of = inline.unclaimed(of)
    if not isinstance(of, Claim | Mechanism):
        raise SpecError(inline.not_a_mechanism(of))
    return mechanisms.of_claim(of, rounding, walk) if isinstance(of, Claim) else mechanisms.sampler(of, rounding, walk)
