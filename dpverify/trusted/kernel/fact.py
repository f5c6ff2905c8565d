"""A fact: what one use of a rule has proved, of what, from which other facts. Only `proof.Proof` makes facts, by calling rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Union

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.bounds import Parameters as Parameters
from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.model import Claim

if TYPE_CHECKING:
    from dpverify.trusted.combinators.runs import Run
    from dpverify.trusted.facts.bodies import Body
    from dpverify.trusted.facts.errors import ErrorBound
    from dpverify.trusted.facts.pairs import Curve

Says = Union["Curve", "Body", "tuple[Bound | ErrorBound, ...]"]
"""The curve of a run; a convex body; or bounds on the tight epsilon, the tight delta and the errors of a claim."""


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """What a rule has proved. Facts are equal only where they are one.

    about: the run, or the claim, that it speaks of. place: how that is found from the claim of the proof. assumed: what its rule always
    takes for granted. parameters: what the rule was given beside the premises. prec: the working precision in bits.
    """

    rule: str
    about: Run | Claim
    says: Says
    assumed: tuple[str, ...]
    place: tuple[Any, ...]
    parameters: Mapping[str, Any]
    premises: tuple[Fact, ...]
    prec: int


Premises = Sequence[Fact]
"""The facts that a rule is given."""


def unasked(claim: Claim) -> Claim:
    """A claim without what is claimed: rules about a mechanism never see it, so that claims of one mechanism share their facts."""
    return replace(
        claim, epsilon=None, delta=ZERO, mechanism_name="", name="", utility=False, beta=None, loss=(), prior=(), measure=None, order="",
        within=None, distance="",
    )  # fmt: skip


def as_bounds(says: Says) -> tuple[Bound, ...]:
    """The bounds on epsilon and delta that a fact states."""
    return tuple(bound for bound in says if isinstance(bound, Bound)) if isinstance(says, tuple) else ()


def as_errors(says: Says) -> tuple[ErrorBound, ...]:
    """The bounds on errors that a fact states."""
    return tuple(bound for bound in says if not isinstance(bound, Bound)) if isinstance(says, tuple) else ()
