"""The range of the privacy loss of an exponential mechanism that is written as a selection (theory#bounded-range)."""

from __future__ import annotations

from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import Expr, Sym, add, call, mul, neg, sub, symbols
from dpverify.trusted.kernel.model import NoisyMax, Translation
from dpverify.trusted.language.logarithms import neg_log_profile
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.selection.compared import Asked, most_lead, slopes


def of_selection(question: Asked) -> Expr | None:
    """The range of the loss of an exponential mechanism, written as the greatest of answers with noise; None for other selections."""
    mechanism = question.selection
    if not isinstance(mechanism, NoisyMax) or mechanism.report != "index":
        return None
    noise = mechanism.noise
    if not isinstance(noise, Translation) or noise.integers or noise.support != (None, None):
        return None
    try:
        rate = slopes(question, noise)[1]
    except (Rejected, Undecided):
        return None
    if isinstance(rate, Infinite):
        return None
    linear = mul(rate, Sym("z"))
    rest = sub(Shapes("z", False, question.domains).tidy(neg_log_profile(noise)), add(linear, call("exp", neg(linear))))
    if "z" in symbols(rest):
        return None
    return mul(most_lead(mechanism), rate, question.moved)
