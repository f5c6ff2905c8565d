"""The pure epsilon of a shuffle (theory#shuffled-epsilon), held against all that few people may tell."""

import itertools
import math
from fractions import Fraction as F

import pytest

from dpverify.search.verify import replayed, verify
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import (
    L1,
    Claim,
    Compose,
    Group,
    Guarantee,
    KaryResponse,
    Kernel,
    Measure,
    Part,
    PostProcess,
    Radial,
    Repeat,
    Shuffle,
    Subsample,
    Table,
)  # fmt: skip
from dpverify.trusted.theories.composition.rules import shuffled_epsilon
from tests.refused import Refusals, each, require_refused
from tests.rules.test_shuffling import BINARY, THREE, UNEVEN, law_of_multiset, shuffled, table

HOLE = (("1/2", "1/2", "0"), ("1/4", "1/2", "1/4"))


def judged(mechanism, epsilon=None):
    return verify(Claim(mechanism, None if epsilon is None else parse(epsilon))).judgement


@pytest.mark.parametrize(("rows", "people"), [(BINARY, 1), (BINARY, 6), (THREE, 4), (UNEVEN, 4)])
def test_some_histogram_tells_what_one_person_tells(rows, people):
    floats = [[float(F(entry)) for entry in row] for row in rows]
    true = 0.0
    for others in itertools.combinations_with_replacement(range(len(rows)), people - 1):
        for i, j in itertools.permutations(range(len(rows)), 2):
            p, q = law_of_multiset(floats, (i, *others)), law_of_multiset(floats, (j, *others))
            true = max(true, *(math.log(mass / q[told]) for told, mass in p.items()))
    found = judged(shuffled(table(rows), people))
    assert float(constant(found.lower)) == pytest.approx(true, abs=1e-9)
    assert float(constant(found.upper)) == pytest.approx(true, abs=1e-9)


def test_no_number_of_people_hides_it():
    mechanism = shuffled(table(BINARY), 10**6)
    assert judged(mechanism, "log(3)").verdict == "PROVED"
    refuted = judged(mechanism, "109861/100000")
    assert refuted.verdict == "REFUTED"
    assert refuted.witness["pair of one"] in ([0, 1], [1, 0])
    assert "all people" in refuted.witness["event"]


def test_what_one_record_cannot_tell_is_unbounded():
    assert isinstance(judged(shuffled(table(HOLE), 3)).lower, Infinite)


def test_parts_of_every_kind_keep_their_epsilon():
    laplace = Shuffle(Part(Radial(parse("exp(-r)"), L1, num(1), num(2)), num(3)), num(60))
    assert judged(laplace, "3/2").verdict == "PROVED"
    assert judged(laplace, "149/100").verdict == "REFUTED"
    stated = shuffled(Guarantee("approximate", ((num(1), num(0)),)), 60)
    assert judged(stated, "1").verdict == "PROVED"
    assert judged(stated, "99/100").verdict == "UNKNOWN"  # no more is known of the part
    response = shuffled(KaryResponse(num(4), parse("1/2")), 60)
    assert [judged(response, epsilon).verdict for epsilon in ("log(3)", "1")] == ["PROVED", "REFUTED"]


def test_shuffles_count_in_compositions_groups_and_samples():
    one = Part(shuffled(table(BINARY), 50))
    twice = Compose((Part(Repeat(one, num(2))),))
    assert [judged(twice, epsilon).verdict for epsilon in ("2*log(3)", "2")] == ["PROVED", "REFUTED"]
    both = Group(one, num(2))
    assert judged(both, "2*log(3)").verdict == "PROVED"
    assert judged(both, "2").verdict == "UNKNOWN"
    with pytest.raises(CertificateError, match="replace"):
        judged(Subsample(one, parse("1/2")), "1")


@pytest.mark.parametrize(("measure", "of_one"), [("zcdp", math.log(3) * math.tanh(math.log(3) / 2)), ("gdp", 2 * 0.6744897501960817)])
def test_other_measures_are_at_most_those_of_the_epsilon(measure, of_one):
    for people in (1, 20):
        found = verify(Claim(shuffled(table(BINARY), people), None, measure=Measure(measure, parse(str(round(of_one + 1e-6, 6))))))
        assert found.judgement.verdict == "PROVED"


def test_a_certificate_is_replayed():
    found = verify(Claim(shuffled(table(BINARY), 50), parse("1")))
    assert replayed(found.certificate).judgement.verdict == "REFUTED"


# -- what is refused --------------------------------------------------------------------------------------------------


ONE = Bound("upper", num(1))


def asked(mechanism, about=None, bound=ONE):
    claim = Claim(mechanism, None)
    part = about or (leaf(Run(mechanism.part)) if isinstance(mechanism, Shuffle) else claim)
    premise = Fact("rule", part, (bound,), (), (), {}, (), 64)
    return lambda: shuffled_epsilon.infer(claim, {}, (premise,))


KERNEL = Part(Kernel(parse("1"), (parse("0"), parse("1")), (parse("0"), parse("1"))), parse("1/2"))
REFUSED: Refusals = {
    "a table by itself": (asked(table(BINARY)), "it is not shuffled"),
    "a premise about another part": (asked(shuffled(table(BINARY), 5), Claim(table(THREE), None)), "not about the part that is shuffled"),
    "a premise about no epsilon": (asked(shuffled(table(BINARY), 5), None, Bound("upper", num(1), quantity="delta")), "no pure epsilon"),
    "a kernel of near inputs": (asked(Shuffle(KERNEL, num(5))), "not every two of its inputs are neighbours"),
    "listed neighbours, and a map": (
        asked(shuffled(PostProcess(Part(table(BINARY, ((0, 1),))), "any"), 5)),
        "not every two of its inputs are neighbours",
    ),
    "a shuffle of shuffles": (asked(shuffled(shuffled(table(BINARY), 3), 5)), "its neighbours differ by one of many records"),
}


@each(REFUSED)
def test_what_is_not_known_of_the_part_is_refused(asked, why):
    require_refused(asked, why)


def test_a_part_with_listed_neighbours_is_that_of_these():
    near = Table(table(UNEVEN).rows, ((1, 2), (2, 1)))
    with precision(64):
        assert judged(shuffled(near, 4), "log(3/2)").verdict == "PROVED"  # rows 1 and 2 alone are neighbours
        assert judged(shuffled(table(UNEVEN), 4), "log(3/2)").verdict == "REFUTED"
