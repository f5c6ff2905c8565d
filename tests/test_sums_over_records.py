"""Sums over records: what a person can add, and claims about it (theory#sums-over-records)."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverify.catalogue import read_spec
from dpverify.catalogue.values import read_value_or_domain
from dpverify.errors import SpecError
from dpverify.search.certificates import pack
from dpverify.search.verify import verify
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.certificate import unpack
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    LINF,
    Claim,
    Compose,
    Guard,
    Parallel,
    Part,
    Radial,
    RecordSummand,
    RecordSums,
    Subsample,
    Translation,
)
from dpverify.trusted.kernel.well_formed import require_well_formed
from dpverify.trusted.sensitivity.record_sums import added, read_as

LAPLACE = Translation(parse("exp(-abs(z))"))
CLIPPED = "min(max(income, 0), 3)"
PEOPLE = {"income": "real", "age": "integer >= 0"}


def cases(*lists):
    return tuple(tuple(Guard(parse(left), strict) for left, strict in every) for every in lists)


ADULT = cases([("age - 18", False)])
CHILD = cases([("17 - age", False)])


def over(*terms, record=PEOPLE, adjacency="add-remove", rows=1):
    held = tuple(RecordSummand(parse(term), ((),)) if isinstance(term, str) else RecordSummand(parse(term[0]), term[1]) for term in terms)
    return RecordSums(held, tuple((name, read_value_or_domain(domain)) for name, domain in record.items()), adjacency, rows)


def noise(norm, dimension):
    return Radial(parse("exp(-r)"), norm, num(dimension), num(1))


def moved(claim):
    """The tight epsilon of exponential noise in a norm at scale 1, which is the sensitivity."""
    judged = verify(claim).judgement
    return judged.lower, judged.upper


# -- against all records --------------------------------------------------------------------------------------------

LEAVES = st.sampled_from(["x", "y", "1", "2", "-1"])
TERMS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda t: f"min({t[0]}, {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})"),
        inner.map(lambda t: f"abs({t})"),
        st.tuples(inner, inner).map(lambda t: f"({t[0]} + {t[1]})"),
        st.tuples(st.sampled_from(["2", "-1", "-3"]), inner).map(lambda t: f"{t[0]}*({t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"({t[0]})*({t[1]})"),
    ),
    max_leaves=5,
)
COMPARED = st.tuples(TERMS, st.booleans())
WHERE = st.lists(st.lists(COMPARED, max_size=2), min_size=1, max_size=2)


def value(text, x, y):
    return eval(text, {"x": x, "y": y, "min": min, "max": max, "abs": abs})


def contributions(terms, places):
    for x, y in places:
        yield tuple(
            Fraction(value(text, x, y)) if any(all(map(partial(holds, x=x, y=y), every)) for every in where) else 0 for text, where in terms
        )


def holds(guard, x, y):
    left, strict = value(guard[0], x, y), guard[1]
    return left > 0 or (left == 0 and not strict)


def lengths(vectors, adjacency, rows):
    """By definition: how far the sums over all of a person's records may move, in l1, l2 and the maximum norm."""
    if rows > 1:
        vectors = {tuple(0 for _ in v) for v in vectors} | {tuple(rows * x for x in v) for v in vectors}
    pairs = ((a, b) for a in vectors for b in vectors) if adjacency == "replace" else ((a, [0] * len(a)) for a in vectors)
    apart = [[abs(x - y) for x, y in zip(a, b, strict=True)] for a, b in pairs]
    return max(map(sum, apart)), max(sqrt(sum(x * x for x in d)) for d in apart), max(map(max, apart))


@pytest.mark.wide
@given(
    st.lists(st.tuples(TERMS, WHERE), min_size=1, max_size=2), st.sampled_from(["add-remove", "replace"]), st.integers(1, 3), st.booleans()
)
def test_what_a_record_adds_is_what_all_records_add(terms, adjacency, rows, integers):
    """On integers all records are looked at; on reals those at multiples of 1/4, which may miss a corner and never show more."""
    sort = "integer in [-3, 2]" if integers else "in [-3, 2]"
    sums = over(*((text, cases(*where)) for text, where in terms), record={"x": sort, "y": sort}, adjacency=adjacency, rows=rows)
    steps = [Fraction(k) if integers else Fraction(k, 4) for k in range(-3 if integers else -12, 3 if integers else 9)]
    truth = set(contributions(terms, product(steps, steps)))
    for norm, least in zip((L1, L2, LINF), lengths(truth, adjacency, rows), strict=True):
        claim = Claim(noise(norm, len(terms)), None, sums=sums)
        stated = read_as(claim, "apart").sensitivity
        upper = float(verify(Claim(noise(norm, len(terms)), None, sensitivity=stated)).judgement.upper.value) if norm != L2 else None
        assert upper is None or upper >= float(least) * (1 - 1e-12)
    found = added((sums,))
    assert found.bounded
    one = set(contributions(terms, product(steps, steps)))
    for v, record in found.seen.items():  # each is what some record adds
        at = {"x": record.get("x", Fraction(0)), "y": record.get("y", Fraction(0))}
        assert v in set(contributions(terms, [(at["x"], at["y"])]))
    for v in one:  # and all are between the ends, in every coordinate
        for i, x in enumerate(v):
            assert min(w[i] for w in found.hull) <= x <= max(w[i] for w in found.hull)


@given(
    st.lists(st.lists(st.tuples(TERMS, WHERE), min_size=1, max_size=3), min_size=1, max_size=2),
    st.sampled_from(["add-remove", "replace"]), st.integers(1, 2),
)  # fmt: skip
def test_a_number_may_be_a_sum_of_cases(numbers, adjacency, rows):
    """On integers all records are looked at, by definition: what is added up is between the ends, and what is seen occurs."""
    steps = [Fraction(k) for k in range(-2, 2)]
    summands = [[RecordSummand(parse(text), cases(*where)) for text, where in pieces] for pieces in numbers]
    terms = tuple(replace(first, also=tuple(others)) for first, *others in summands)
    held = tuple((name, read_value_or_domain("integer in [-2, 1]")) for name in "xy")
    sums = RecordSums(terms, held, adjacency, rows)

    def truth(places):
        return {tuple(sum(next(contributions([piece], [place]))[0] for piece in pieces) for pieces in numbers) for place in places}

    one, found = truth(list(product(steps, steps))), added((sums,))
    for v, record in found.seen.items():
        assert v in truth([(record.get("x", Fraction(0)), record.get("y", Fraction(0)))])
    for v in one:
        assert all(min(w[i] for w in found.hull) <= x <= max(w[i] for w in found.hull) for i, x in enumerate(v))
    for norm, least in zip((L1, L2, LINF), lengths(one, adjacency, rows), strict=True):
        stated = read_as(Claim(noise(norm, len(terms)), None, sums=sums), "apart").sensitivity
        assert norm == L2 or float(stated.value) >= float(least) * (1 - 1e-12)
    assert from_json(to_json(Claim(noise(L1, len(terms)), None, sums=sums))).sums == sums


def test_no_certificate_holds_of_a_claim_with_another_case():
    sums = over(("1", ADULT))
    packed = verify(Claim(LAPLACE, parse("1"), sums=sums)).certificate
    more = replace(sums, terms=(replace(sums.terms[0], also=(RecordSummand(parse("1"), CHILD),)),))
    assert verify(Claim(LAPLACE, parse("1"), sums=more)).judgement.verdict == "PROVED"  # somebody is one of the two
    both = replace(sums, terms=(replace(sums.terms[0], also=(RecordSummand(parse("1"), ADULT),)),))
    assert verify(Claim(LAPLACE, parse("1"), sums=both)).judgement.verdict == "REFUTED"
    with pytest.raises((Rejected, CertificateError)):
        check(pack(Claim(LAPLACE, parse("1"), sums=both), packed["prec"], "PROVED", unpack(packed).lines))
    nested = replace(both, terms=(replace(both.terms[0], also=both.terms),))
    with pytest.raises(CertificateError, match="no list is in another"):
        require_well_formed(Claim(LAPLACE, parse("1"), sums=nested))


# -- claims ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("terms", "adjacency", "rows", "norm", "truth"),
    [
        ([CLIPPED], "add-remove", 1, L1, 3),
        ([CLIPPED], "add-remove", 4, L1, 12),
        ([(CLIPPED, ADULT)], "replace", 1, L1, 3),
        (["min(max(income, 5), 6)"], "replace", 1, L1, 1),
        (["min(max(income, 5), 6)"], "replace", 3, L1, 18),  # a person may have no records at all
        (["min(max(income, 5), 6)"], "add-remove", 3, L1, 18),
        ([("min(max(income, 5), 6)", ADULT)], "replace", 1, L1, 6),  # nor need a record count
        (["1"], "replace", 1, L1, 0),
        (["1"], "replace", 2, L1, 2),
        ([CLIPPED, "1"], "add-remove", 1, L1, 4),
        ([CLIPPED, "1"], "add-remove", 1, LINF, 3),
        ([CLIPPED, "1"], "replace", 1, L1, 3),
        ([("1", ADULT), ("1", CHILD)], "add-remove", 1, L1, 1),
        ([("1", ADULT), ("1", CHILD)], "replace", 1, L1, 2),
        (["min(max(income, 0), 1)", "1 - min(max(income, 0), 1)"], "add-remove", 1, L1, 1),
        (["max(min(income, 2), -1)"], "add-remove", 1, L1, 2),
        (["max(min(income, 2), -1)"], "replace", 1, L1, 3),
    ],
)
def test_the_tight_epsilon_is_how_far_a_person_moves_the_sums(terms, adjacency, rows, norm, truth):
    claim = Claim(noise(norm, len(terms)), None, sums=over(*terms, adjacency=adjacency, rows=rows))
    assert [bound.value for bound in moved(claim)] == [truth, truth]


def test_a_euclidean_length_is_exact():
    claim = Claim(noise(L2, 2), None, sums=over(CLIPPED, ("4", ADULT)))
    assert verify(claim).judgement.upper == num(5)


@pytest.mark.parametrize("text", ["income", "income*age", "max(income, 0)", "log(age + 1)", "1/(age + 1)"])
def test_what_is_not_bounded_is_not_proved(text):
    judged = verify(Claim(LAPLACE, parse("1000"), sums=over(text))).judgement
    assert judged.verdict != "PROVED" and judged.upper is None


def test_a_sum_that_is_not_clipped_is_refuted_with_a_record():
    judged = verify(Claim(LAPLACE, parse("1000"), sums=over(("income", ADULT)))).judgement
    assert judged.verdict == "REFUTED" and "000000, age = 18" in judged.witness["tables"]
    assert verify(Claim(LAPLACE, parse("1000"), parse("1/2"), sums=over("income"))).judgement.verdict == "REFUTED"


def test_products_are_enclosed_and_looked_at_far_out():
    judged = verify(Claim(LAPLACE, None, sums=over("min(max(income*age, 0), 7)"))).judgement
    assert (judged.lower, judged.upper) == (num(7), num(7))
    sums = over("share*share - share", record={"share": "in [0, 1]"})  # between -1/4 and 0, and no corner tells
    assert verify(Claim(LAPLACE, parse("1"), sums=sums)).judgement.verdict == "PROVED"
    assert verify(Claim(LAPLACE, parse("1/2"), sums=sums)).judgement.verdict == "UNKNOWN"


def test_records_near_an_open_end_stand_for_it():
    sums = over("min(income, 2)", record={"income": "positive"}, adjacency="replace")
    assert Fraction(0) not in {v[0] for v in added((sums,)).seen}
    for epsilon, verdict in (("2", "PROVED"), ("19995/10000", "UNKNOWN"), ("1999/1000", "REFUTED")):
        assert verify(Claim(LAPLACE, parse(epsilon), sums=sums)).judgement.verdict == verdict


def test_what_is_one_of_a_few_vectors_is_exact_for_every_noise():
    """Noise on the integers too, of which real histograms tell too much: nobody is a child and an adult."""
    flags = {"flag": "integer in [0, 1]"}
    assert not added((over("2*flag", record=flags),)).listed  # both ends are numbers of one cell
    marked = over(("2", cases([("flag - 1", False)])), record=flags)
    assert added((marked,)).listed
    counted = Claim(Compose(tuple(Part(INTEGERS, sums=over(("1", who))) for who in (ADULT, CHILD))), None)
    judged = verify(counted).judgement
    assert (judged.lower, judged.upper) == (num(1), num(1))


def counts(adjacency="add-remove"):
    return tuple(Part(LAPLACE, sums=over(("1", who), adjacency=adjacency)) for who in (ADULT, CHILD))


def test_parts_are_about_the_same_person():
    """Nobody is a child and an adult: one count moves, and with a replacement both may."""
    for adjacency, truth in (("add-remove", 1), ("replace", 2)):
        judged = verify(Claim(Compose(counts(adjacency)), None)).judgement
        assert (judged.lower, judged.upper) == (num(truth), num(truth))


def test_parts_that_are_worst_for_different_people_are_not_refuted_by_their_sum():
    sums = over(("1", ADULT)), over(("1", CHILD)), over(CLIPPED)
    judged = verify(Claim(Compose(tuple(Part(LAPLACE, sums=one) for one in sums)), parse("4"))).judgement
    assert judged.verdict == "PROVED" and judged.upper == num(4)
    assert verify(Claim(Compose(tuple(Part(LAPLACE, sums=one) for one in sums)), parse("399/100"))).judgement.verdict == "REFUTED"


def test_samples_and_parallel_parts_have_their_own_neighbours():
    sampled = Claim(Compose((Part(Subsample(Part(noise(L1, 1), sums=over(CLIPPED)), parse("1/100"))),)), None)
    assert verify(sampled).judgement.upper == parse("log(1 + 1/100*(exp(3) - 1))") or float(verify(sampled).judgement.upper.value) < 0.2
    judged = verify(Claim(Parallel(counts()), parse("1"))).judgement
    assert judged.verdict == "PROVED"


# -- what is refused --------------------------------------------------------------------------------------------------


INTEGERS = Translation(parse("exp(-abs(z))"), integers=True)


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (Claim(LAPLACE, None, sums=over("wage")), "'wage' is no field of a record"),
        (Claim(LAPLACE, None, sums=over(CLIPPED, "1")), "2 sums where the dimension is 1"),
        (Claim(LAPLACE, None, sums=over(CLIPPED, adjacency="l1")), "no neighbours by 'l1'"),
        (Claim(LAPLACE, None, sums=over(CLIPPED, rows=0)), "at least one row"),
        (Claim(LAPLACE, None, sums=over("min(max(1/income, 0), 1)")), "not certainly a number for all records"),
        (Claim(LAPLACE, None, sums=over("min(max(log(age), 0), 1)")), "not certainly a number for all records"),
        (Claim(LAPLACE, None, sums=over(("1", cases([("sqrt(income)", False)])))), "not certainly a number for all records"),
        (Claim(INTEGERS, None, sums=over(CLIPPED)), "hides integers alone"),
        (Claim(INTEGERS, None, sums=over("age/2")), "hides integers alone"),
        (Claim(Compose((Part(LAPLACE, sums=over("1")), Part(LAPLACE, sums=over("1", rows=2)))), None), "over the same records"),
        (
            Claim(Compose((Part(LAPLACE, sums=over("1")), Part(LAPLACE, sums=over("1", record={"age": "real"})))), None),
            "over the same records",
        ),
        (Claim(Compose((Part(Subsample(Part(LAPLACE, sums=over("1", rows=2)), parse("1/2"))),)), None), "rows = 1"),
        (Claim(Parallel(counts("replace")), None), "parallel under replace"),
        (Claim(LAPLACE, None, sums=over("1", record={"age": "integer in [1, 2]", "income": "real"})), None),
    ],
)
def test_what_means_nothing_is_refused(claim, why):
    if why is None:
        require_well_formed(claim)
        return
    with pytest.raises(CertificateError, match=why):
        require_well_formed(claim)


@pytest.mark.parametrize("beside", [{"sensitivity": num(1)}, {"adjacency": "add-remove"}])
def test_sums_stand_alone(beside):
    with pytest.raises(CertificateError, match="beside those of its sums"):
        from_json(to_json(Claim(LAPLACE, None, sums=over(CLIPPED), **beside)))


def test_a_claim_is_read_as_it_is_written():
    claim = Claim(Compose(counts()), parse("1"))
    assert from_json(to_json(claim)) == claim
    assert "sums" not in to_json(Claim(Compose((Part(LAPLACE, num(1)),)), parse("1")))["mechanism"]["parts"][0]


def test_each_reading_gives_one_side_alone():
    """Sensitivities of several parts are of different people: what they have in common bounds nothing from below."""
    claim = Claim(Compose(counts()), parse("3/2"))
    packed = verify(claim).certificate
    apart = read_as(claim, "apart")
    sub = verify(replace_epsilon(apart, "3/2"))
    assert sub.judgement.verdict == "REFUTED"  # two stated sensitivities of 1: their sum is 2
    with pytest.raises(CertificateError, match="its lines give UNKNOWN"):
        check(pack(claim, packed["prec"], "REFUTED", placed(sub, "apart")))
    claim = Claim(LAPLACE, parse("19995/10000"), sums=over("min(income, 2)", record={"income": "positive"}, adjacency="replace"))
    below = verify(read_as(claim, "pairs"))
    assert below.judgement.verdict == "PROVED"  # of the records that stand for those near the end
    with pytest.raises(CertificateError, match="its lines give UNKNOWN"):
        check(pack(claim, packed["prec"], "PROVED", placed(below, "pairs")))


def placed(verified, reading):
    return [replace(line, place=(reading, *line.place)) for line in unpack(verified.certificate).lines]


def replace_epsilon(claim, text):
    return Claim(claim.mechanism, parse(text), claim.delta, claim.sensitivity, claim.query)


@pytest.mark.parametrize("place", [(), ("sums",), ("apart", "apart"), (3,)])
def test_a_line_says_how_the_sums_are_read(place):
    claim = Claim(LAPLACE, parse("3"), sums=over(CLIPPED))
    verified = verify(claim)
    line = next(line for line in unpack(verified.certificate).lines if line.place == ("apart",))
    with pytest.raises((Rejected, CertificateError)):
        check(pack(claim, 128, "PROVED", [replace(line, place=place)]))


def test_records_of_too_many_fields_are_not_looked_at():
    fields = {f"x{number}": "in [0, 1]" for number in range(40)}
    verified = verify(Claim(LAPLACE, parse("40"), sums=over(" + ".join(fields), record=fields)))
    assert verified.judgement.verdict == "UNKNOWN" and any("more than 4000 pieces" in why for why in verified.reasons)


def test_what_is_not_bounded_has_no_reading_from_above():
    for reading in ("apart", "together"):
        with pytest.raises(Rejected, match="not bounded"):
            read_as(Claim(LAPLACE, None, sums=over("income")), reading)


# -- claim files ------------------------------------------------------------------------------------------------------

FILE = """
[mechanism]
kind = "builtin"
name = "laplace"
scale = 50000
[[claim]]
adjacency = "add-remove"
epsilon = 2
query = {query}
"""


def read(tmp_path, query):
    path = tmp_path / "sums.toml"
    path.write_text(FILE.replace("{query}", query))
    [entry] = read_spec(path).claims
    return entry.claim


def test_a_file_says_cases(tmp_path):
    claim = read(tmp_path, '{ sum = [["min(max(x, 0), 7)", { value = "-2", where = "x < 0" }, "1"]], record = { x = "real" } }')
    assert verify(claim).judgement.upper == parse("8/50000")
    with pytest.raises(SpecError, match="no list of expressions"):
        read(tmp_path, '{ sum = [[["1"]]], record = { x = "real" } }')


def test_a_file_says_sums(tmp_path):
    claim = read(
        tmp_path,
        '{ sum = ["min(max(income, 0), 100000)"], where = "age >= 18 and not (income < 5 or age == 30)", '
        'record = { income = "real", age = "integer >= 0" }, rows = 3 }',
    )
    assert claim.sums.rows == 3 and claim.sums.adjacency == "add-remove" and claim.sensitivity is None and claim.query is None
    (term,) = claim.sums.terms
    assert len(term.where) == 2 and all(len(every) == 3 for every in term.where)  # 30 is left out from below, or from above
    assert verify(claim).judgement.upper == num(6)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ('{ sum = ["1"] }', "has no record"),
        ('{ record = { age = "real" } }', "has no sum"),
        ('{ sum = ["1"], record = { age = "real" }, limit = 3 }', "unknown key .limit."),
        ('{ sum = "1", record = { age = "real" } }', "no list of expressions"),
        ('{ sum = ["1"], record = "age" }', "no table of fields"),
        ('{ sum = ["1"], record = { age = "tall" } }', "which is not a domain"),
        ('{ sum = ["1"], record = { age = 3 } }', "field age = 3"),
        ('{ sum = ["1"], record = { age = "real" }, rows = 0 }', "rows that are no integer"),
        ('{ sum = ["1"], record = { age = "real" }, where = "age" }', "no comparison"),
        ('{ sum = ["1"], record = { age = "real" }, where = "age >" }', "no condition"),
        ('{ sum = ["1"], record = { age = "real" }, where = "age in (1, 2)" }', "expected"),
        ('{ sum = ["wage"], record = { age = "real" } }', "'wage' is no field"),
        ('{ sum = ["1", "age"], record = { age = "real" } }', "2 sums where the dimension is 1"),
    ],
)
def test_what_a_file_says_wrongly_is_told(tmp_path, query, why):
    with pytest.raises((SpecError, DpverifyError), match=why):
        read(tmp_path, query)


def test_sums_in_python():
    import dpverify as dp

    people = {"sum": [CLIPPED], "record": {"income": "real"}}
    assert dp.tight_epsilon(dp.laplace(1), query={**people, "rows": 2}, adjacency="add-remove").upper == 6
    answer = dp.verify(dp.laplace(scale=3), query=people, adjacency="add-remove", epsilon=1)
    assert answer.verdict == "PROVED"
    count = dp.laplace(scale=1, query={**people, "sum": ["1"]}, adjacency="replace")
    both = dp.compose([dp.laplace(scale=3, query=people, adjacency="replace"), count])
    assert dp.tight_epsilon(both).upper == 1  # who is replaced counts before and after
