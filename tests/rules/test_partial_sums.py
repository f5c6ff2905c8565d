"""Streams that keep sums of answers and tell them later: the most that the sums move, in units of the noise (theory: selection.md)."""

import copy
from fractions import Fraction

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ZERO, num, parse
from dpverify.trusted.kernel.model import Branch, Drawn, Guard, Named, Stream
from dpverify.trusted.theories.selection.rules import alignment
from tests.selections import of, on_line

NOISE = on_line("exp(-abs(z)/4)")
WHOLE = on_line("exp(-abs(z)/4)", integers=True)


def named(**values):
    return tuple(Named(name, parse(str(value))) for name, value in values.items())


def summed(steps, kind, noise=NOISE, told="s + q + nu"):
    """The sum of so many answers, told at the end."""
    last = Branch((Guard(parse(f"i - {steps - 1}")),), tell=(parse(told),), change=named(i="i + 1"))
    read = Branch(emit="read", change=named(s="s + q", i="i + 1"))
    return Stream(("q",), (), (Drawn("nu", noise),), (Named("s", ZERO), Named("i", ZERO)), (), (last, read), num(steps), kind)


def tree(kind):
    """Two sums of two answers, and the sum of all four, each with noise of its own."""
    end = Branch((Guard(parse("i - 3")),), tell=(parse("s + q + nu"), parse("r + q + mu")), change=named(i="i + 1"))
    second = Guard(parse("i - 1")), Guard(parse("2 - i"), strict=True)
    middle = Branch(second, tell=(parse("s + q + nu"),), change=named(s=0, r="r + q", i="i + 1"))
    read = Branch(emit="read", change=named(s="s + q", r="r + q", i="i + 1"))
    drawn = Drawn("nu", NOISE), Drawn("mu", NOISE)
    return Stream(("q",), (), drawn, tuple(Named(name, ZERO) for name in "sri"), (), (end, middle, read), num(4), kind)


def aligned(claim):
    """The parameters of the alignment that is found."""
    (found,) = (line["parameters"] for line in verify(claim).certificate["lines"] if line["rule"] == alignment.NAME)
    return copy.deepcopy(found)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["all", "monotone", "one"])
@pytest.mark.parametrize("steps", [2, 3, 5])
def test_the_sum_moves_by_all_that_its_answers_do(steps, kind):
    """Laplace noise of scale 4 on a sum that moves by `steps`, or by 1 where one answer alone does: that is its tight epsilon."""
    found = verify(of(summed(steps, kind))).judgement
    assert found.upper == found.lower == num(Fraction(1 if kind == "one" else steps, 4))


@pytest.mark.parametrize(("kind", "most"), [("all", "2"), ("one", "1/2")])
def test_a_tree_of_sums(kind, most):
    """Each answer is in its own pair's sum, and in that of all: 2/4 + 2/4 + 4/4, and 1/4 + 1/4."""
    assert verify(of(tree(kind))).judgement.upper == parse(most)


def test_what_is_told_without_noise_of_its_own_is_not_hidden():
    assert isinstance(verify(of(summed(3, "all", told="s + q"))).judgement.lower, Infinite)


def test_shifts_that_do_not_hide_what_is_kept_are_refused():
    claim = of(summed(3, "all"))
    good = aligned(claim)
    assert alignment.infer(claim, good, ()).value == parse("3/4")
    (number,) = (i for i, step in enumerate(good["ways"][0]["steps"]) if len(step) > 5)
    for turned, error, why in (
        ({"nu": {"s": "-1/2"}}, Rejected, "what is told does not stay"),
        ({}, Rejected, "what is told does not stay"),
        ({"nu": {"t": "-1"}}, CertificateError, "no known name"),
        ({"mu": {"s": "-1"}}, CertificateError, "no noise on the line"),
    ):
        bad = copy.deepcopy(good)
        bad["ways"][0]["steps"][number][5] = turned
        with pytest.raises(error, match=why):
            alignment.infer(claim, bad, ())
    cheap = copy.deepcopy(good)
    cheap["ways"][0]["ahead"] = ["1/2"] * len(cheap["ways"][0]["ahead"])
    with pytest.raises(Rejected, match="it costs more"):
        alignment.infer(claim, cheap, ())
    with pytest.raises(CertificateError, match="no noise on the line"):
        alignment.infer(of(summed(3, "all", WHOLE)), good, ())


def test_the_number_of_steps_ends_what_is_followed():
    """Without it the count of steps goes on for ever, and there are more values of it than are looked at."""
    claim = of(summed(2, "all"))
    longer = of(Stream(*(getattr(claim.mechanism, name) for name in ("answers", "once", "fresh", "state", "limits", "steps"))))
    with pytest.raises(Rejected):
        alignment.infer(longer, aligned(claim), ())
