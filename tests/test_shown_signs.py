"""Signs that certificates show: each way proves what is true and refuses what is changed, and the kernel looks for none itself."""

from __future__ import annotations

import contextlib
import copy
import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.signs.seek import Sought
from dpverify.search.verify import verify
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.canonical_form import write
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt, sign_over
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError
from dpverify.trusted.kernel.expr import num, parse, substitute
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Claim, Domain, Translation
from dpverify.trusted.kernel.shown import Shown, table, under
from dpverify.trusted.order.shown_signs import show
from tests import committed
from tests.effort import examples

F = Fraction
UNIT = Domain(F(0), F(1))
CLOSED = Domain(F(0), F(1), lower_open=False, upper_open=False)
POSITIVE = Domain(F(0))
FROM_1 = Domain(F(1), lower_open=False)
REAL = Domain()
COUNT = Domain(F(1), F(4), lower_open=False, upper_open=False, integer=True)
AT_LEAST, ABOVE, NULL = {0, 1}, {1}, {0}

GOOD = [
    ({"of": "x - x**2", "form": "x*(1 - x)"}, {"x": CLOSED}, AT_LEAST),
    ({"of": "x - x**2", "form": "x*(1 - x)"}, {"x": UNIT}, ABOVE),
    ({"of": "exp(2*x) - exp(x)**2", "form": "0"}, {"x": REAL}, NULL),
    ({"of": "exp(x) - 1 - x", "form": "g", "gaps": [["g", "exp", "x"]]}, {"x": REAL}, AT_LEAST),
    ({"of": "exp(x) - 1 - x", "form": "g", "gaps": [["g", "exp", "x"]]}, {"x": POSITIVE}, ABOVE),
    ({"of": "x - log(1 + x)", "form": "g", "gaps": [["g", "exp", "log(1 + x)"]]}, {"x": POSITIVE}, ABOVE),
    ({"of": "x - asinh(x)", "form": "g", "gaps": [["g", "sinh", "asinh(x)"]]}, {"x": POSITIVE}, ABOVE),
    ({"of": "x - tanh(x)", "form": "g", "gaps": [["g", "tanh", "x"]]}, {"x": POSITIVE}, ABOVE),
    ({"of": "x - floor(x)", "form": "g", "gaps": [["g", "floor", "x"]]}, {"x": REAL}, AT_LEAST),
    ({"of": "floor(x) + 1 - x", "form": "g", "gaps": [["g", "above floor", "x"]]}, {"x": REAL}, ABOVE),
    ({"of": "max(x, y) - x", "form": "g", "gaps": [["g", "max", "x", "max(x, y)"]]}, {"x": REAL, "y": REAL}, AT_LEAST),
    ({"of": "y - min(x, y)", "form": "g", "gaps": [["g", "min", "y", "min(x, y)"]]}, {"x": REAL, "y": REAL}, AT_LEAST),
    ({"of": "1 + x - sqrt(2)", "form": "x - g", "gaps": [["g", "as", "sqrt(2) - 1"]]}, {"x": Domain(F(1))}, None),
    ({"of": "x*(x - 1)*(x - 2)", "split": ["x", ["3/2", "5/2", "7/2"]]}, {"x": COUNT}, AT_LEAST),
    ({"of": "2*x - max(x, x/2)", "kink": "max(x, x/2)"}, {"x": POSITIVE}, ABOVE),
    ({"of": "x*(1 - x)", "ends": True}, {"x": CLOSED}, AT_LEAST),
    ({"of": "2 + log(x)", "ends": True}, {"x": Domain(F(1, 5), F(2), False, False)}, ABOVE),
]
"""An entry, the domains, and the sign that it shows; None where it shows none."""


def entry(given, domains):
    """An entry with its domains in it."""
    return {**given, "over": {name: write(domain) for name, domain in domains.items()}}


def shown(*entries):
    """The signs that entries show, by expression."""
    with under(Shown()) as table:
        return {expr: set(signs) for (expr, _), signs in show(entries, table).signs.items()}


@pytest.mark.parametrize(("given", "domains", "signs"), GOOD)
def test_each_way_shows_its_sign(given, domains, signs):
    if signs is None:
        with pytest.raises(CertificateError, match="shows no sign"):
            shown(entry(given, domains))
    else:
        assert shown(entry(given, domains)) == {parse(given["of"]): signs}


@pytest.mark.parametrize(
    ("given", "domains"),
    [
        ({"of": "x - x**2", "form": "x*(1 + x)"}, {"x": UNIT}),  # another expression
        ({"of": "x - x**2", "form": "x*(1 - x)"}, {"x": POSITIVE}),  # on more than where it holds
        ({"of": "x - x**2", "form": "x*(1 - x)"}, {"x": REAL}),
        ({"of": "x - x**2", "form": "x*(1 - x)"}, {"x": UNIT, "y": UNIT}),  # domains of what does not occur
        ({"of": "x - x**2", "form": "x*(1 - x)"}, {}),
        ({"of": "x", "form": "x"}, {"x": Domain(F(1), F(0))}),  # nowhere
        ({"of": "exp(x) - 1 - x", "form": "g", "gaps": [["g", "sinh", "x"]]}, {"x": POSITIVE}),  # another gap
        ({"of": "exp(x) - 1 - x", "form": "g", "gaps": [["g", "other", "x"]]}, {"x": POSITIVE}),
        ({"of": "exp(x) - 1 - x", "form": "x", "gaps": [["x", "exp", "x"]]}, {"x": POSITIVE}),  # a name twice
        ({"of": "sinh(x) - x", "form": "g", "gaps": [["g", "sinh", "x"]]}, {"x": REAL}),  # of either sign
        ({"of": "x - tanh(x)", "form": "g", "gaps": [["g", "tanh", "x"]]}, {"x": REAL}),
        ({"of": "floor(x) - x", "form": "g", "gaps": [["g", "floor", "x"]]}, {"x": REAL}),
        ({"of": "x - floor(x)", "form": "g", "gaps": [["g", "above floor", "x"]]}, {"x": REAL}),  # 0 at integers
        ({"of": "floor(x) + 1/2 - x", "form": "g", "gaps": [["g", "above floor", "x"]]}, {"x": REAL}),
        ({"of": "max(x, y) - 1", "form": "g", "gaps": [["g", "max", "1", "max(x, y)"]]}, {"x": REAL, "y": REAL}),  # no argument of it
        ({"of": "min(x, y) - x", "form": "g", "gaps": [["g", "max", "x", "min(x, y)"]]}, {"x": REAL, "y": REAL}),
        ({"of": "x*(x - 1)*(x - 2)", "split": ["x", ["3/2", "5/2"]]}, {"x": Domain(F(1), F(4), False, False)}),  # between the integers
        ({"of": "x*(x - 2)", "split": ["x", ["3/2", "5/2", "7/2"]]}, {"x": COUNT}),  # false at one of them
        ({"of": "x", "split": ["x", []]}, {"x": UNIT}),
        ({"of": "abs(x) + x - 1", "kink": "abs(x)"}, {"x": POSITIVE}),
        ({"of": "abs(x) - x", "kink": "x"}, {"x": POSITIVE}),  # no kink
        ({"of": "(x - 1/2)**2 - 1/4 + x*0", "ends": True}, {"x": CLOSED}),  # convex
        ({"of": "x*(1 - x) - 1/9", "ends": True}, {"x": CLOSED}),  # negative at the ends
        ({"of": "x*(1 - x)", "ends": True}, {"x": POSITIVE}),  # no end
        ({"of": "abs(x - 1/2)*(-1) + 1/2", "ends": True}, {"x": CLOSED}),  # a kink
        ({"of": "1 + x**2*(1 - x)**2*(2 - x)**2*0 - 2*abs(sinh(x))*0", "ends": 1, "form": "1"}, {"x": CLOSED}),  # two ways
        ({"of": "log(x) - log(x)*1", "form": "0"}, {"x": REAL}),  # without a value
        ({"of": "1/x", "form": "1/x"}, {"x": REAL}),
        ({"of": "x"}, {"x": UNIT}),
    ],
)
def test_what_shows_nothing_is_refused(given, domains):
    with pytest.raises(CertificateError):
        shown(entry(given, domains))


@pytest.mark.parametrize("broken", [{}, {"of": 3}, {"of": "x", "over": 3, "form": "x"}, {"of": "x", "over": {"x": {}}, "form": "x"}])
def test_entries_of_another_form_are_refused(broken):
    with pytest.raises(CertificateError):
        shown(broken)


def test_a_concave_function_at_integers_need_not_be_one_between_them():
    """x (x - 1)(x - 2) is at least 0 at 1, 2, 3 and 4 but not in between: its bend may only be asked for on the whole interval."""
    whole = {"x": COUNT}
    at_integers = entry({"of": "6*x - 6", "split": ["x", ["3/2", "5/2", "7/2"]]}, whole)
    assert shown(at_integers)
    with pytest.raises(CertificateError):
        shown(at_integers, entry({"of": "-(x - 1)*(x - 2)*(x - 3)", "ends": True}, whole))


@pytest.mark.parametrize(
    ("low", "high", "domains"),
    [
        ("log(1 + p*(exp(1) - 1))", "p*(exp(1) - 1)", {"p": CLOSED}),  # log(1 + x) <= x
        ("1", "max(u, 1/u)", {"u": POSITIVE}),  # one of two numbers of product 1
        ("min(u, 2/u)", "sqrt(2)", {"u": POSITIVE}),
        ("min(u, v)", "sqrt(u*v)", {"u": POSITIVE, "v": POSITIVE}),
        ("u + 1/u", "2*max(u, 1/u)", {"u": POSITIVE}),
        ("abs(2*u - 3)", "2*u + 3", {"u": POSITIVE}),
        ("floor(u)/v", "u/v", {"u": POSITIVE, "v": POSITIVE}),
        ("u - 1", "floor(u)", {"u": POSITIVE}),
        ("1/u", "1/floor(u)", {"u": FROM_1}),
        ("1/(floor(u) + 1)", "1/u", {"u": FROM_1}),
        ("-1/floor(-u)", "1/u", {"u": FROM_1}),
    ],
)
def test_elementary_inequalities_are_found_and_shown_by_what_a_certificate_carries(low, high, domains):
    """Each has values on both sides as near as one likes, so that with a thousandth taken away it is false, and shown by nothing."""
    with under(Sought()) as table:
        assert certainly_le(parse(low), parse(high), domains)
        assert not certainly_le(parse(f"{low} + 1/1000"), parse(high), domains)
        entries = [evidence for _, evidence in table.evidence]
    with under(Shown()) as again:
        show(entries, again)
        assert certainly_le(parse(low), parse(high), domains)


def test_the_sign_of_a_maximum_is_not_that_of_one_of_its_arguments():
    """x^2 - x is negative on (0, 1), and x - 1/2 is not."""
    with under(Sought()):
        assert sign_over(parse("max(x**2 - x, x - 1/2)"), {"x": UNIT}) >= {1, -1}
        assert sign_over(parse("min(x - x**2, 1/2 - x)"), {"x": UNIT}) >= {1, -1}
        assert sign_over(parse("max(x - x**2, x - 1/2)"), {"x": UNIT}) == {1}


PARAMETERS = {"x": UNIT, "y": CLOSED, "n": COUNT}
POINTS = [{"x": num(F(a, 7)), "y": num(F(b, 3)), "n": num(n)} for a in (1, 4, 6) for b in (0, 1, 3) for n in (1, 2, 4)]
LEAVES = st.sampled_from(["x", "y", "n", "1", "2", "1/3"])
TERMS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["exp", "abs", "asinh"]), inner).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
    ),
    max_leaves=5,
)


@settings(max_examples=examples(40), deadline=None)
@given(TERMS)
def test_signs_that_are_found_hold_at_every_point_tried_and_are_shown_again_by_their_entries(text):
    expr = parse(text)
    with under(Sought()) as table:
        signs = sign_over(expr, PARAMETERS)
    values = [constant(substitute(expr, point)) for point in POINTS]
    assert all({1: value > 0, -1: value < 0}.get(sign, False) is False for value in values for sign in {-1, 1} - signs)
    with under(Shown()) as again:
        show([found for _, found in table.evidence], again)
        assert sign_over(expr, PARAMETERS) <= signs


def test_the_kernel_finds_no_sign_by_itself():
    with under(Shown()):
        assert not certainly_le(parse("x**2"), parse("x"), {"x": UNIT})
        assert not certainly_equal(parse("(x + 1)**2"), parse("x**2 + 2*x + 1"), {"x": UNIT})
    with under(Sought()):
        assert certainly_lt(parse("x**2"), parse("x"), {"x": UNIT})
    with under(Shown()):  # what is remembered of one table is not of another
        assert not certainly_lt(parse("x**2"), parse("x"), {"x": UNIT})


@pytest.fixture(scope="module")
def packed():
    """A certificate that needs signs: Laplace noise of scale 1/x has epsilon x, which is at most 2 x - x^2 where x is from 0 to 1."""
    found = verify(Claim(Translation(parse("exp(-x*abs(z))")), parse("2*x*(1 - x) + x**2"), sensitivity=num(1), domains=(("x", UNIT),)))
    assert found.judgement.verdict == "PROVED"
    return json.loads(json.dumps(found.certificate))


def test_a_certificate_holds_by_its_signs_and_by_no_others(packed):
    assert packed["signs"]
    assert kernel.check(packed).verdict == "PROVED"
    without = {key: value for key, value in packed.items() if key != "signs"}
    with pytest.raises(CertificateError, match="its lines give UNKNOWN"):
        kernel.check(without)


@pytest.mark.parametrize("change", ["form", "over", "of"])
def test_a_changed_sign_is_refused(packed, change):
    data = copy.deepcopy(packed)
    for sign in data["signs"]:
        sign[change] = {"form": "1", "of": "x", "over": {"x": write(REAL)}}[change]
    with pytest.raises(CertificateError):
        kernel.check(data)


def test_signs_are_a_list_of_objects(packed):
    for other in ({}, [3], "x"):
        with pytest.raises(CertificateError, match="signs: not a list"):
            kernel.check({**packed, "signs": other})


@pytest.mark.wide
def test_committed_certificates_carry_signs_only_where_their_lines_need_them():
    for data in committed.certificates().values():
        for number in range(len(data.get("signs", ()))):
            less = {**data, "signs": data["signs"][:number] + data["signs"][number + 1 :]}
            with contextlib.suppress(DpverifyError):
                assert bounds(kernel.check(less)) != bounds(kernel.check(data))


def bounds(judgement):
    return judgement.lower, judgement.upper, judgement.delta_lower, judgement.delta_upper


@pytest.mark.parametrize(("finds", "times"), [(False, 1), (True, 2)])
def test_what_signs_that_were_found_on_the_way_told_is_remembered_for_no_other_table(finds, times):
    asked = []

    @remembered(4)
    def answer(x):
        asked.append(x)
        if finds:
            table().add(parse("a"), {"a": POSITIVE}, frozenset((1,)))
        return x

    for _ in range(2):
        with under(Shown()):
            assert answer(7) == 7
    assert asked == [7] * times
