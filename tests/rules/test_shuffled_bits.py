"""Shuffled bits (theory#shuffled-bits), held against integers for few people and against sums of binomials for many."""

import math
import random
from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, fmpz_poly
from scipy import stats

from dpverify.search.verify import replayed, verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Guarantee, KaryResponse, Part, Shuffle, Table
from dpverify.trusted.theories.composition.bits import Bits, of_split
from dpverify.trusted.theories.composition.rules import shuffled_bits
from tests.refused import Refusals, each, require_refused

EVEN = (("3/4", "1/4"), ("1/4", "3/4"))
UNEVEN = (("7/10", "3/10"), ("1/5", "4/5"))


def table(rows, adjacent=None):
    return Table(tuple(tuple(map(parse, row)) for row in rows), adjacent)


def shuffled(local, people):
    return Shuffle(Part(local), num(people))


def judged(local, people, epsilon=None, delta=None):
    claim = Claim(shuffled(local, people), None if epsilon is None else parse(epsilon), None if delta is None else parse(delta))
    found = verify(claim)
    assert "shuffled-bits" in found.judgement.rules
    return found


def ends(judgement, what):
    names = ("lower", "upper") if what == "epsilon" else ("delta_lower", "delta_upper")
    return tuple(float(constant(getattr(judgement, name))) for name in names)


def bits(others, more, less):
    return Bits(others, *map(rational, (more, less, more, less)))


def of_split_exactly(others, more, less, split, factor):
    """The greatest f over all events of at least so many, in fractions."""
    unit = math.lcm(more.denominator, less.denominator)
    one, other = (fmpz_poly([int((1 - p) * unit), int(p * unit)]) for p in (more, less))
    law = [F(int(one_more), unit**others) for one_more in (one**split * other ** (others - split)).coeffs()]
    above = [F(0)]
    for mass in (*[F(0)] * (others + 1 - len(law)), *law[::-1]):
        above.insert(0, above[0] + mass)
    gain, loss = more - factor * less, factor * (1 - less) - (1 - more)
    return max(gain * above[max(t - 1, 0)] - loss * above[min(t, others + 1)] for t in range(others + 2))


def of_split_in_floats(others, more, less, split, epsilon):
    """The greatest f by convolving two binomials, where most of their mass is."""
    law = [stats.binom.pmf(np.arange(count + 1), count, p) for count, p in ((split, more), (others - split, less))]
    law = np.append(np.convolve(*law), 0)
    above = np.append(law[::-1].cumsum()[::-1], 0)
    factor = math.exp(epsilon)
    gain, loss = more - factor * less, factor * (1 - less) - (1 - more)
    return max(0.0, (gain * above[:-1] - loss * above[1:]).max(), gain - loss * above[0])


class _Log:
    """The logarithm of a fraction, which the exponential gives back."""

    def __init__(self, factor):
        self.factor = factor

    def exp(self):
        return rational(self.factor)


def drawn(seed, people):
    draw = random.Random(seed)
    unit = draw.choice((10, 100, 1000))
    less = F(draw.randint(0, unit - 2), unit)
    more = 1 - less if seed % 3 == 0 and 2 * less < 1 else F(draw.randint(int(less * unit) + 1, unit), unit)
    factor = 1 + F(draw.randint(0, 200), 100) * draw.choice((1, F(1, 10), F(1, 50)))
    return draw.choice(people), more, less, factor


# -- one split of the others ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_one_split_has_the_best_event_of_all_that_are_told(seed):
    others, more, less, factor = drawn(seed, (0, 1, 2, 3, 7, 20, 40))
    for split in {0, others // 3, others}:
        true = max(F(0), of_split_exactly(others, more, less, split, factor))
        with precision(64):
            found = bits(others, more, less).at(split, _Log(factor))
        with precision(200):
            assert found.overlaps(rational(true))
        if less > 0 and more < 1 and true > F(1, 100):
            assert float(found.rad()) < 1e-9


@pytest.mark.parametrize(("others", "split", "epsilon"), [(3000, 1200, 0.1), (3000, 0, 0.02), (10_000, 10_000, 0.05), (400, 133, 0.7)])
def test_many_others_are_summed(others, split, epsilon):
    expected = of_split_in_floats(others, 0.7, 0.2, split, epsilon)
    with precision(96):
        found = bits(others, F(7, 10), F(1, 5)).at(split, arb(epsilon))
        pair = of_split(lambda: bits(others, F(7, 10), F(1, 5)), split)
        back = pair.backward(arb(epsilon))
    assert float(found.mid()) == pytest.approx(expected, rel=1e-7)
    assert float(back.mid()) == pytest.approx(of_split_in_floats(others, 0.8, 0.3, others - split, epsilon), rel=1e-7)


# -- all splits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_between_two_splits_no_other_exceeds_the_bound(seed):
    draw = random.Random(seed)
    others = draw.choice((300, 1000, 3000, 10_000))
    less = draw.uniform(0.01, 0.9)
    more = draw.uniform(less, 0.99) if seed % 2 else 1 - less
    if more < less:
        more, less = less, more
    deviation = math.sqrt(others * min(more * (1 - more), less * (1 - less)))
    epsilon = draw.uniform(0, min(math.log(more / less), 6 * (more - less) / deviation))
    width = draw.choice((2, 3, 10, 30, 100))
    start = draw.choice((0, others - width, draw.randint(0, others - width)))
    with precision(128):
        circle = Bits(others, *map(arb, (more, less, more, less))).circle(arb(epsilon))
        assert circle is not None
        tops = circle.tops(range(start, start + width + 1))
        bound = circle.between(tops[0], tops[-1])
        assert bound is None or all(top.greatest <= bound for top in tops)


@pytest.mark.parametrize("seed", range(8))
def test_the_worst_of_all_splits_is_that_of_fractions(seed):
    others, more, less, factor = drawn(seed, (30, 60))
    true = max(of_split_exactly(others, more, less, split, factor) for split in range(others + 1))
    with precision(64):
        found = bits(others, more, less).worst(range(others + 1), _Log(factor))
        assert found.upper() >= rational(max(F(0), true)).lower()
        if less > 0 and more < 1:
            assert float(found.mid()) == pytest.approx(float(max(F(0), true)), rel=1e-9, abs=1e-15)


@pytest.mark.wide
@pytest.mark.parametrize(
    ("rows", "people", "epsilon"), [(EVEN, 300, "3/10"), (UNEVEN, 260, "1/5"), (EVEN, 3000, "1/10"), (UNEVEN, 2000, "1/8")]
)
def test_tight_deltas_are_the_worst_of_all_that_others_may_have(rows, people, epsilon):
    low, high = ends(judged(table(rows), people, epsilon).judgement, "delta")
    more, less = (float(F(row[0])) for row in rows)
    tried = range(people) if people < 1000 else (*range(40), *range(people - 40, people))  # elsewhere it is less by more
    orders = ((more, less), (1 - less, 1 - more))
    true = max(of_split_in_floats(people - 1, *order, split, float(F(epsilon))) for split in tried for order in orders)
    assert low == pytest.approx(true, rel=1e-7)
    assert low <= high <= low * (1 + 1e-4)


@pytest.mark.wide
@pytest.mark.parametrize("rows", [EVEN, UNEVEN])
def test_a_million_people_are_enclosed_to_a_millionth(rows):
    found = judged(table(rows), 10**6, delta="1e-8")
    low, high = ends(found.judgement, "epsilon")
    assert low <= high <= low * (1 + 1e-6)
    more, less = (float(F(row[0])) for row in rows)
    k = np.arange(10**6 + 2)

    def at_an_end(epsilon, more, less, chance):
        above, before = stats.binom.sf(k - 1, 10**6 - 1, chance), stats.binom.sf(k - 2, 10**6 - 1, chance)
        return ((more - math.exp(epsilon) * less) * before - (math.exp(epsilon) * (1 - less) - (1 - more)) * above).max()

    laws = [(*order, chance) for order in ((more, less), (1 - less, 1 - more)) for chance in order]
    assert max(at_an_end(low, *law) for law in laws) == pytest.approx(1e-8, rel=1e-4)  # about the worst for so many
    again = replayed(found.certificate).judgement
    assert (again.lower, again.upper) == (found.judgement.lower, found.judgement.upper)


@pytest.mark.wide
def test_claims_near_the_boundary_are_decided_on_both_sides():
    low, high = ends(judged(table(EVEN), 5000, "1/20").judgement, "delta")
    assert judged(table(EVEN), 5000, "1/20", repr(high * 1.0001)).judgement.verdict == "PROVED"
    refuted = judged(table(EVEN), 5000, "1/20", repr(low * 0.9999)).judgement
    assert refuted.verdict == "REFUTED"
    told = int(refuted.witness["event"].split()[4])
    assert refuted.witness["event"] == f"S = {{at least {told} of 5000 people tell output 0}}"
    assert refuted.witness["pair"].endswith("others: 4999 with the record that tells output 0 the most often")
    p = [0.75 * stats.binom.sf(told - 2, 4999, 0.75) + 0.25 * stats.binom.sf(told - 1, 4999, 0.75)]
    p += [0.25 * stats.binom.sf(told - 2, 4999, 0.75) + 0.75 * stats.binom.sf(told - 1, 4999, 0.75)]
    assert p[0] - math.exp(0.05) * p[1] == pytest.approx(low, rel=1e-6)
    for side, expected in zip("PQ", p, strict=True):
        assert float(refuted.witness[side].strip("[]").split(",")[0].rstrip(".")) == pytest.approx(expected, rel=1e-6)


@pytest.mark.wide
def test_more_rows_are_worst_at_the_ends():
    rows = (("3/5", "2/5"), ("7/10", "3/10"), ("1/5", "4/5"), ("1/2", "1/2"))
    assert ends(judged(table(rows), 400, "1/5").judgement, "delta") == ends(judged(table(UNEVEN), 400, "1/5").judgement, "delta")


@pytest.mark.wide
def test_chances_need_not_be_rational():
    low, high = ends(judged(KaryResponse(num(2), parse("exp(1)/(1 + exp(1))")), 1000, "1/5").judgement, "delta")
    truth = math.e / (1 + math.e)
    true = max(of_split_in_floats(999, truth, 1 - truth, split, 0.2) for split in (*range(30), *range(970, 1000)))
    assert low == pytest.approx(true, rel=1e-7)
    assert high == pytest.approx(true, rel=1e-4)


@pytest.mark.wide
def test_records_that_are_no_neighbours_leave_the_bound_from_above():
    rows = (*UNEVEN, ("1/2", "1/2"))
    found = judged(table(rows, ((0, 2), (2, 0))), 400, "1/5").judgement
    assert found.delta_lower is None
    assert float(constant(found.delta_upper)) == pytest.approx(ends(judged(table(UNEVEN), 400, "1/5").judgement, "delta")[1], rel=1e-4)


def test_outputs_that_tell_nothing_have_no_delta():
    assert shuffled_bits.infer(Run(Part(shuffled(table((("1/3", "2/3"),) * 2), 1000))), {"splits": []}, ()).upper.worst(arb(0)) == 0


# -- what is refused --------------------------------------------------------------------------------------------------


def asked(local=None, people="300", factor="1", splits=None, **parameters):
    splits = [[*range(300)]] if splits is None else splits
    run = Run(Part(Shuffle(Part(local or table(EVEN)), parse(people))), parse(factor))
    return lambda: shuffled_bits.infer(run, {"splits": splits, **parameters}, ())


NO_LIST = "no list of at most 5000 numbers that rise from 0 to 299"
REFUSED: Refusals = {
    "two people": (asked(factor="2"), "it is not shuffled, or neighbours differ by more than one person"),
    "a mechanism that is not shuffled": (lambda: shuffled_bits.infer(Run(Part(table(EVEN))), {}, ()), "it is not shuffled"),
    "very many people": (asked(people="20000000"), "it wants an integer of at most 10000000"),
    "three outputs": (asked(table((("1/2", "1/4", "1/4"), ("1/4", "1/2", "1/4")))), "no table of two outputs"),
    "three answers": (asked(KaryResponse(num(3), parse("1/2"))), "no response of two answers"),
    "a guarantee": (asked(Guarantee("approximate", ((num(1), num(0)),))), "no table of two outputs"),
    "a chance that is not known": (asked(Table(((parse("p"), parse("1 - p")), *table(EVEN).rows))), "which row is the greatest"),
    "no splits": (asked(splits=[[]]), NO_LIST),
    "splits that do not start from 0": (asked(splits=[[*range(1, 300)]]), NO_LIST),
    "splits that leave the last out": (asked(splits=[[*range(299)]]), NO_LIST),
    "splits that fall": (asked(splits=[[0, 200, 100, 299]]), NO_LIST),
    "splits twice": (asked(splits=[[0, 100, 100, 299]]), NO_LIST),
    "splits beyond all": (asked(splits=[[0, 300]]), "not a whole number from 0 to 299"),
    "one list for two orders": (asked(table(UNEVEN)), "it wants 2 lists of splits"),
    "two lists where both orders are alike": (asked(splits=[[*range(300)]] * 2), "it wants 1 lists of splits"),
    "a split that is none": (asked(below=300), "not a whole number from 0 to 299"),
    "half a split": (asked(below="1/2"), "not a whole number from 0 to 299"),
    "records that are no neighbours": (
        asked(table((*EVEN, ("1/2", "1/2")), ((0, 2), (2, 0))), below=0),
        "the records of the least and the greatest chance are no neighbours",
    ),
}


@each(REFUSED)
def test_what_is_no_shuffled_bit_is_refused(asked, why):
    require_refused(asked, why)


def test_a_premise_is_refused():
    run = Run(Part(shuffled(table(EVEN), 300)))
    with precision(64), pytest.raises(CertificateError, match="it rests on no premise"):
        shuffled_bits.infer(run, {"splits": [[*range(300)]]}, (None,))


def test_splits_that_are_too_far_apart_prove_no_more_than_one_person_alone():
    with precision(64):
        curve = shuffled_bits.infer(Run(Part(shuffled(table(EVEN), 300))), {"splits": [[0, 299]]}, ())
        assert curve.upper.worst(arb("0.2")) >= arb(3) / 4 - arb("0.2").exp() / 4


def test_a_certificate_that_leaves_splits_out_proves_less():
    found = judged(table(EVEN), 5000, "1/20")
    changed = {**found.certificate}
    (line,) = [line for line in changed["lines"] if line["rule"] == "shuffled-bits"]
    (splits,) = line["parameters"]["splits"]
    assert all(low < high for low, high in pairwise(splits)) and len(splits) > 3
    with precision(64):
        run = Run(Part(shuffled(table(EVEN), 5000)))
        few = shuffled_bits.infer(run, {"splits": [[0, splits[-1]]]}, ()).upper.worst(arb("0.05"))
        assert few > constant(found.judgement.delta_upper)
