"""The best of a random number of runs (theory#best-of), held against its law: how often it is run, and which of k outputs is best."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from dpverify.search.composition import best_of as search
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import (
    L2,
    BestOf,
    Claim,
    Compose,
    Domain,
    Filter,
    Group,
    Guarantee,
    Lipschitz,
    Measure,
    Part,
    PostProcess,
    Radial,
    Repeat,
    Subsample,
    Table,
    Translation,
)
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.kernel.well_formed import faults
from dpverify.trusted.theories.composition.rules import best_of as rule
from dpverify.trusted.theories.composition.rules import best_of_renyi as renyi
from dpverify.trusted.theories.divergences.rules import best_of_measures
from tests.effort import examples

FAR = 4000
LAPLACE = Part(Translation(parse("exp(-abs(z)/2)")), ONE)
GAUSSIAN = Part(Radial(parse("exp(-r**2/2)"), L2, ONE, num(4)), ONE)


def stated(epsilon, delta="0"):
    return Part(Guarantee("approximate", ((parse(epsilon), parse(delta)),)))


def best(part, law, *numbers):
    return BestOf(part, law, tuple(parse(str(number)) for number in numbers))


# -- the truth ----------------------------------------------------------------------------------------------------


def how_often(law, *numbers):
    """The probabilities of 0, 1, 2, ... runs, by the definition of each law; of those by a mean the parameter is found by bisection."""
    k = np.arange(1, FAR)
    if law == "fixed":
        found = np.zeros(FAR)
        found[int(numbers[0])] = 1
        return found
    if law == "poisson":
        (mean,) = map(float, numbers)
        return np.exp([-mean + n * math.log(mean) - math.lgamma(n + 1) for n in range(FAR)])
    if law == "geometric":
        gamma = 1 / float(numbers[0])
        return np.concatenate([[0], gamma * (1 - gamma) ** (k - 1)])
    if law == "logarithmic":
        low, high = 1e-9, 1 - 1e-9
        for _ in range(200):
            gamma = math.sqrt(low * high)
            mean = float((gamma_masses(0, gamma) * np.arange(FAR)).sum()) if gamma > 0.005 else math.inf
            low, high = (gamma, high) if mean > float(numbers[0]) else (low, gamma)
        return gamma_masses(0, low)
    return gamma_masses(*map(float, numbers))


def gamma_masses(eta, gamma):
    """The truncated negative binomial law (Papernot and Steinke 2022, Definition 1)."""
    k = np.arange(1, FAR)
    if eta == 0:
        return np.concatenate([[0], (1 - gamma) ** k / (k * math.log(1 / gamma))])
    factors = np.cumprod((np.arange(FAR - 1) + eta) / (np.arange(FAR - 1) + 1))
    return np.concatenate([[0], (1 - gamma) ** k / (gamma**-eta - 1) * factors])


def told(masses, outputs):
    """The law of the best output, the last being the best; and that nothing is told."""
    below = np.concatenate([[0], np.minimum(np.cumsum(outputs), 1)])
    none_above = np.polynomial.polynomial.polyval(below, masses)
    return np.concatenate([[masses[0]], np.diff(none_above)])


def loss(masses, p, q):
    first, second = told(masses, p), told(masses, q)
    seen = (first > 1e-9) & (second > 1e-9)
    return float(np.abs(np.log(first[seen] / second[seen])).max())


LAWS = [
    ("fixed", "1"), ("fixed", "4"), ("poisson", "1/2"), ("poisson", "6"), ("geometric", "1"), ("geometric", "5/2"), ("geometric", "30"),
    ("logarithmic", "3/2"), ("logarithmic", "8"), ("negative_binomial", "-1/2", "1/10"), ("negative_binomial", "1/2", "1/20"),
    ("negative_binomial", "3", "2/5"), ("negative_binomial", "0", "1/10"),
]  # fmt: skip


def value(numbers):
    return [float(Fraction(number)) for number in numbers]


def tight(claim):
    found = verify(claim).judgement
    ends = found.lower, found.upper
    return tuple(None if end is None else math.inf if isinstance(end, Infinite) else float(constant(end)) for end in ends)


@pytest.mark.wide
@pytest.mark.parametrize("law", LAWS, ids=" ".join)
def test_no_part_loses_more_and_some_part_as_much(law):
    masses = how_often(law[0], *value(law[1:]))
    assert masses.sum() == pytest.approx(1, abs=1e-6)
    for epsilon in ("1/4", "3/2"):
        low, high = tight(Claim(best(stated(epsilon), *law), None))
        assert low == pytest.approx(high, rel=1e-15)
        size, draw = float(Fraction(epsilon)), random.Random(f"{law} {epsilon}")
        for _ in range(examples(60)):
            assert loss(masses, *outputs(size, draw)) <= high * (1 + 1e-6) + 1e-9
        worst = outputs_of_the_worst(size, 2000)
        assert high * (1 - 2e-2) - 1e-3 <= loss(masses, *worst) <= high * (1 + 1e-6) + 1e-9


def outputs(epsilon, draw):
    """Two laws on a few outputs that lose about so much at most."""
    count = draw.randint(2, 6)
    p = np.array([draw.random() ** 3 + 1e-3 for _ in range(count)])
    q = p * np.exp([draw.choice((-1, 1, draw.uniform(-1, 1))) * epsilon / 2 for _ in range(count)])
    return p / p.sum(), q / q.sum()  # what sums to 1 is divided by at most exp(epsilon/2)


def outputs_of_the_worst(epsilon, fine):
    """Randomized response with a mark among so many: what the first input makes more probable is below all else."""
    more, less = math.exp(epsilon) / (1 + math.exp(epsilon)), 1 / (1 + math.exp(epsilon))
    return np.repeat([more, less], fine) / fine, np.repeat([less, more], fine) / fine


@pytest.mark.parametrize("law", LAWS, ids=" ".join)
def test_the_means_are_those_of_the_laws(law):
    masses = how_often(law[0], *value(law[1:]))
    mean = float((masses * np.arange(FAR)).sum())
    if law[0] in ("poisson", "geometric", "logarithmic"):
        assert mean == pytest.approx(value(law[1:])[0], rel=1e-6)
    if law[0] not in ("poisson", "fixed"):
        eta, gamma, stated_mean = renyi._law(best(stated("1"), *law), {"gamma": "1/10"} if law[0] != "logarithmic" else told_gamma(law[1]))
        assert float(constant(stated_mean)) == pytest.approx(mean, rel=1e-6)
        if law == ("geometric", "1"):
            return
        found = gamma_masses(float(constant(eta)), float(constant(gamma)))
        assert np.abs(found - masses).max() < 1e-6


def told_gamma(mean):
    return {"gamma": str(search.gamma(parse(mean), "upper"))}


@pytest.mark.parametrize("mean", ["1001/1000", "3/2", "100", "10**7", "9/log(10)", "exp(3)"])
def test_gamma_of_a_mean_is_found_from_both_sides(mean):
    low, high = (search.gamma(parse(mean), side) for side in ("upper", "lower"))
    assert low <= high
    assert float(low) == pytest.approx(float(high), rel=1e-20)
    assert float(constant(rule.logarithmic_mean(num(low)))) == pytest.approx(float(constant(parse(mean))), rel=1e-12)
    assert (low == high == Fraction(1, 10)) == (mean == "9/log(10)")


# -- near the boundary, in parameters, and in other mechanisms -------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "exact"),
    [
        (("geometric", "100"), 0.1 + 2 * math.log((0.01 + math.exp(0.1)) / (1 + 0.01 * math.exp(0.1)))),
        (("poisson", "10"), 0.1 + 10 * math.tanh(0.05)),
        (("negative_binomial", "-1/2", "1/100"), 0.1 + math.log((0.01 + math.exp(0.1)) / (1 + 0.01 * math.exp(0.1))) / 2),
        (("fixed", "7"), 0.7),
    ],
)
def test_verdicts_near_the_boundary(law, exact):
    mechanism = best(stated("1/10"), *law)
    for factor, verdict in ((1 + 1e-9, "PROVED"), (1 - 1e-9, "REFUTED")):
        judgement = verify(Claim(mechanism, num(Fraction(exact * factor)))).judgement
        assert judgement.verdict == verdict
        assert "best-of" in judgement.rules
    assert rule.LOWER in verify(Claim(mechanism, num(Fraction(exact / 2)))).judgement.assumptions


def test_all_parameters_at_once():
    domains = (
        ("e", Domain(Fraction(0))),
        ("eta", Domain(Fraction(-1))),
        ("g", Domain(Fraction(0), Fraction(1))),
    )
    mechanism = best(stated("e"), "negative_binomial", "eta", "g")
    exact = "e + (1 + eta)*log((g + exp(e))/(1 + g*exp(e)))"
    for epsilon, verdict in ((exact, "PROVED"), ("(2 + eta)*e", "PROVED"), (f"{exact} - e/1000", "REFUTED"), ("(1 + eta/2)*e", "REFUTED")):
        assert verify(Claim(mechanism, parse(epsilon), domains=domains)).judgement.verdict == verdict
    some = (("e", Domain(Fraction(0))), ("m", Domain(Fraction(0))))
    poisson = best(stated("e"), "poisson", "m")
    assert verify(Claim(poisson, parse("e + m*tanh(e/2)"), domains=some)).judgement.verdict == "PROVED"
    assert verify(Claim(poisson, parse("(1 + m/2)*e"), domains=some)).judgement.verdict == "PROVED"


@pytest.mark.parametrize(
    ("part", "pure"),
    [
        (LAPLACE, 0.5),
        (Part(Compose((LAPLACE, Part(Repeat(LAPLACE, num(2)))))), 1.5),
        (Part(Subsample(LAPLACE, parse("1/4"))), math.log(1 + math.expm1(0.5) / 4)),
        (Part(Group(LAPLACE, num(3))), 1.5),
        (Part(PostProcess(LAPLACE)), 0.5),
        (Part(Filter("approximate", ((parse("1/2"), ZERO),))), 0.5),
        (Part(best(LAPLACE, "fixed", "3")), 1.5),
    ],
    ids=["noise", "composition", "sample", "group", "map", "filter", "best of three"],
)
def test_every_part_with_a_pure_epsilon_has_a_bound(part, pure):
    exact = pure + 5 * math.tanh(pure / 2)
    assert tight(Claim(best(part, "poisson", 5), None))[1] == pytest.approx(exact, rel=1e-12)
    assert tight(Claim(Lipschitz(Part(best(part, "poisson", 5)), ONE), None))[1] == pytest.approx(exact, rel=1e-12)


def test_of_tables_that_share_their_inputs_the_worst_pair_in_the_worse_order_counts():
    rows = [[("3/4", "1/4"), ("1/4", "3/4")], [("1/4", "3/4"), ("1/3", "2/3")]]
    tables = tuple(Part(Table(tuple(tuple(map(parse, row)) for row in table))) for table in rows)
    both = [np.outer(*(np.array([float(Fraction(x)) for x in table[i]]) for table in rows)).ravel() for i in (0, 1)]
    pure = float(np.abs(np.log(both[0] / both[1])).max())
    assert tight(Claim(best(Part(Compose(tables)), "fixed", 2), None))[1] == pytest.approx(2 * pure, rel=1e-12)
    exact = pure + math.log((0.2 + math.exp(pure)) / (1 + 0.2 * math.exp(pure)))
    assert tight(Claim(best(Part(Compose(tables)), "negative_binomial", 0, "1/5"), None))[1] == pytest.approx(exact, rel=1e-12)


def test_in_a_composition_it_loses_as_randomized_response_does():
    mechanism = Compose((Part(Repeat(Part(best(stated("1/10"), "geometric", 100)), num(3))),))
    one = 0.1 + 2 * math.log((0.01 + math.exp(0.1)) / (1 + 0.01 * math.exp(0.1)))
    low, high = tight(Claim(mechanism, None))
    assert low == pytest.approx(3 * one, rel=1e-12)
    assert high == pytest.approx(3 * one, rel=1e-12)
    more = math.exp(one) / (1 + math.exp(one))
    law = [(math.comb(3, k) * more**k * (1 - more) ** (3 - k), (2 * k - 3) * one) for k in range(4)]
    exact = sum(mass * max(0.0, -math.expm1(0.5 - lost)) for mass, lost in law)
    judgement = verify(Claim(mechanism, parse("1/2"), None)).judgement
    assert float(constant(judgement.delta_upper)) == pytest.approx(exact, rel=1e-9)


# -- tables -----------------------------------------------------------------------------------------------------------


def greatest_loss(masses, rows):
    """Over all orders of the outputs."""
    orders = list(itertools.permutations(range(len(rows[0]))))
    return max(loss(masses, *(np.array(row)[list(order)] for row in rows)) for order in orders)


TABLES = {"two": [["3/4", "1/4"], ["1/4", "3/4"]], "four": [["1/2", "1/4", "1/8", "1/8"], ["1/4", "1/4", "1/8", "3/8"]]}


@pytest.mark.sampled(13)
@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("law", LAWS, ids=" ".join)
def test_the_best_output_of_a_table_loses_as_much_as_in_the_worst_order(law, rows):
    masses, exact = how_often(law[0], *value(law[1:])), [value(row) for row in rows]
    table = Part(Table(tuple(tuple(map(parse, row)) for row in rows)))
    low, high = tight(Claim(best(table, *law), None))
    if law[0] == "logarithmic":
        assert low is None  # of a law by its mean gamma is no number that is written
        return
    truth = greatest_loss(masses, exact)
    assert low == pytest.approx(truth, rel=1e-6)
    assert truth <= high + 1e-9
    assert verify(Claim(best(table, *law), num(Fraction(truth * (1 - 1e-5))))).judgement.verdict == "REFUTED"


def test_gamma_that_is_written_is_known():
    table = Part(Table(tuple(tuple(map(parse, row)) for row in TABLES["two"])))
    low, _ = tight(Claim(best(table, "logarithmic", "9/log(10)"), None))
    assert low == pytest.approx(greatest_loss(gamma_masses(0, 0.1), [value(row) for row in TABLES["two"]]), rel=1e-6)


@pytest.mark.parametrize(
    ("part", "evidence", "why"),
    [
        ("noise", {"inputs": [0, 1], "output": 0, "below": []}, "it is no table"),
        ("table", {"inputs": [0, 0], "output": 0, "below": []}, "no neighbours"),
        ("table", {"inputs": [0, 2], "output": 0, "below": []}, "no neighbours"),
        ("table", {"inputs": [0, 1], "output": 1, "below": [0, 1]}, "below itself"),
        ("table", {"inputs": [0, 1], "output": 2, "below": []}, "not certainly told"),
        ("eta", {"inputs": [0, 1], "output": 0, "below": []}, "it wants a value"),
        ("mean", {"inputs": [0, 1], "output": 0, "below": [], "gamma": "1/3"}, "not certainly that which is stated"),
    ],
)
def test_what_is_told_of_an_output_is_to_be_there(part, evidence, why):
    rows = ("1/2", "1/2", "0"), ("1/4", "1/2", "1/4"), ("1", "0", "0")
    table = Part(Table(tuple(tuple(map(parse, row)) for row in rows), ((0, 1),)))
    laws = {
        "noise": best(LAPLACE, "geometric", 3), "table": best(table, "geometric", 3),
        "eta": best(table, "negative_binomial", "h", "1/2"), "mean": best(table, "logarithmic", 2),
    }  # fmt: skip
    with pytest.raises(Rejected, match=why):
        rule.at_an_output(laws[part], evidence, {"h": Domain(Fraction(1))})


def test_beside_another_part_an_output_says_nothing():
    table = Part(Table(tuple(tuple(map(parse, row)) for row in TABLES["two"])))
    both = Compose((table, Part(best(table, "geometric", 3))))
    with pytest.raises((Rejected, CertificateError)):
        Proof(Claim(both, None)).infer("combination", (), {"side": "lower", "inputs": [0, 1], "output": 0, "below": []})


# -- Renyi divergences ------------------------------------------------------------------------------------------------


def of_order(order, p, q):
    seen = (p > 0) & (q > 0)
    return math.log((p[seen] ** order * q[seen] ** (1 - order)).sum()) / (order - 1)


GRID = np.linspace(-40, 41, 6001)


def gaussian_outputs(sigma):
    """Of Gaussian noise about 0 and 1, in cells."""
    p, q = (np.exp(-((GRID - at) ** 2) / (2 * sigma**2)) for at in (0, 1))
    return p / p.sum(), q / q.sum()


RANDOM_LAWS = [law for law in LAWS if law[0] != "fixed"]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("order", ["3/2", "2", "8"])
@pytest.mark.parametrize("law", RANDOM_LAWS, ids=" ".join)
def test_the_divergence_of_the_best_of_noisy_outputs_is_within_the_bound(law, order):
    masses, outputs_of = how_often(law[0], *value(law[1:])), gaussian_outputs(4)
    claim = Claim(best(GAUSSIAN, *law), None, measure=Measure("renyi", None, Fraction(order)))
    upper = float(constant(verify(claim).judgement.upper))
    for p, q in (outputs_of, outputs_of[::-1], [one[::-1] for one in outputs_of]):
        assert of_order(float(Fraction(order)), told(masses, p), told(masses, q)) <= upper + 1e-9


def test_a_few_runs_that_may_be_none_lose_little():
    # as the theorem is often written, without the probability of no run, it has a negative divergence here
    law, order = ("poisson", "1/100"), 2
    claim = Claim(best(GAUSSIAN, *law), None, measure=Measure("renyi", None, Fraction(order)))
    upper = float(constant(verify(claim).judgement.upper))
    masses, (p, q) = how_often("poisson", 0.01), gaussian_outputs(4)
    true = of_order(order, told(masses, p), told(masses, q))
    assert 1 / 16 + math.log(0.01) < 0 < true <= upper


@pytest.mark.parametrize("law", [("geometric", "10"), ("poisson", "10"), ("logarithmic", "10")], ids=" ".join)
def test_the_delta_of_the_best_of_noisy_outputs_is_within_the_bound(law):
    masses, (p, q) = how_often(law[0], *value(law[1:])), gaussian_outputs(4)
    first, second = told(masses, p), told(masses, q)
    for epsilon in ("1", "2"):
        true = max(float(np.maximum(a - math.exp(float(epsilon)) * b, 0).sum()) for a, b in ((first, second), (second, first)))
        judgement = verify(Claim(best(GAUSSIAN, *law), parse(epsilon), None)).judgement
        assert true <= float(constant(judgement.delta_upper)) < 1 / 2
        assert "best-of-renyi" in judgement.rules


def test_a_fixed_number_of_runs_is_a_composition():
    five = Compose((Part(Repeat(GAUSSIAN, num(5))),))
    in_measures = {"epsilon": None, "measure": Measure("zcdp", None)}
    for asked in ({"epsilon": ONE, "delta": None}, in_measures, {"epsilon": None, "delta": parse("1e-5")}):
        one, other = (verify(Claim(mechanism, **asked)).judgement for mechanism in (best(GAUSSIAN, "fixed", 5), five))
        assert (one.upper, one.delta_upper) == (other.upper, other.delta_upper)
        assert one.lower in (None, ZERO) or "delta" in asked


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "why"),
    [
        (best(LAPLACE, "uniform", 3), "the law 'uniform' with so many numbers is none of geometric"),
        (best(LAPLACE, "geometric"), "the law 'geometric' with so many numbers"),
        (best(LAPLACE, "geometric", "1/2"), "mean = 1/2 is not certainly at least 1"),
        (best(LAPLACE, "logarithmic", 1), "mean = 1 is not certainly above 1"),
        (best(LAPLACE, "poisson", -1), "mean = -1 is not certainly positive"),
        (best(stated("1"), "poisson", 0), "mean = 0 is not certainly positive"),  # nothing is ever told
        (best(LAPLACE, "negative_binomial", -1, "1/2"), "eta = -1 is not certainly above -1"),
        (best(LAPLACE, "negative_binomial", 1, 0), "gamma = 0 is not certainly between 0 and 1"),
        (best(LAPLACE, "negative_binomial", 1, 1), "gamma = 1 is not certainly between 0 and 1"),
        (best(LAPLACE, "fixed", 0), "number = 0 is not certainly an integer of at least 1"),
        (best(LAPLACE, "fixed", "5/2"), "number = 5/2 is not certainly an integer"),
    ],
)  # fmt: skip
def test_a_law_that_is_none_is_refused(mechanism, why):
    assert any(why in str(fault) for fault in faults(Claim(mechanism, ONE)))


@pytest.mark.parametrize(("side", "gamma"), [("upper", "1/9"), ("lower", "1/11"), ("upper", "1"), ("lower", "0"), ("upper", "-1")])
def test_gamma_is_to_be_on_the_safe_side(side, gamma):
    law = best(stated("1"), "logarithmic", "9/log(10)")  # gamma = 1/10
    with pytest.raises(Rejected, match=r"between 0 and 1|not certainly on the safe side"):
        rule.epsilon(law, ONE, side, {"gamma": gamma}, {})
    assert rule.epsilon(law, ONE, side, {"gamma": "1/10"}, {})


def test_gamma_is_to_be_told():
    with pytest.raises(STUMBLES, match="gamma"):  # what the kernel refuses
        rule.epsilon(best(stated("1"), "logarithmic", "2"), ONE, "upper", {}, {})
    with pytest.raises(Undecided, match="wants a value"):
        search.gamma(parse("m"), "upper")


@pytest.mark.parametrize(
    "part",
    [
        LAPLACE, stated("1", "1/100"), Part(Guarantee("bounded_range", ((ONE,),))),
        Part(Guarantee("approximate", ((ONE, ZERO), (num(2), ZERO)))),
    ],
    ids=["noise", "delta", "range", "two rows"],
)  # fmt: skip
def test_from_below_a_part_of_which_more_is_known_says_nothing(part):
    mechanism = best(part, "geometric", 3)
    with pytest.raises(Rejected, match="not a stated pure epsilon alone"):
        rule.attained(mechanism, {})
    assert verify(Claim(mechanism, parse("1/100"))).judgement.verdict == "UNKNOWN"


def test_from_below_neighbours_are_one_step_apart():
    mechanism = Group(Part(best(stated("1"), "geometric", 3)), num(2))
    evidence = {"side": "lower", "part": {}}
    with pytest.raises(Rejected, match="further than one step apart"):
        Proof(Claim(mechanism, None)).infer("combination", (), evidence)
    assert tight(Claim(mechanism, None))[1] == pytest.approx(2 + 2 * math.log((1 / 3 + math.exp(2)) / (1 + math.exp(2) / 3)), rel=1e-12)


def test_without_a_pure_epsilon_or_a_divergence_nothing_is_known():
    cauchy = Part(Translation(parse("1/(1 + z**2)")), ONE)
    for mechanism in (best(stated("1", "1/100"), "geometric", 3), best(Part(Subsample(GAUSSIAN, parse("1/4"))), "geometric", 3)):
        assert verify(Claim(mechanism, num(5), parse("1/10"))).judgement.verdict == "UNKNOWN"
    assert verify(Claim(best(cauchy, "geometric", 3), num(4), parse("1/10"))).judgement.verdict == "PROVED"


def test_combinations_at_one_pair_of_neighbours_are_no_premises():
    table = Part(Table((tuple(map(parse, ("3/4", "1/4"))), tuple(map(parse, ("1/4", "3/4"))))))
    mechanism = Compose((table, Part(Table((tuple(map(parse, ("1/4", "3/4"))), tuple(map(parse, ("1/2", "1/2"))))))))
    with pytest.raises(Rejected, match="it is at one pair of neighbours"):
        Proof(Claim(mechanism, None)).infer("combination", ({"choice": 0},), {"side": "upper", "part": {"parts": []}})


@pytest.mark.parametrize(
    ("about", "parameters", "why"),
    [
        (GAUSSIAN, {"points": []}, "it is not the best of several runs"),
        (Part(best(LAPLACE, "geometric", 3)), {"points": [["2", "1", "2", ""]]}, "not of a kind that"),
        (Part(best(GAUSSIAN, "fixed", 3)), {"points": [["2", "1", "2", ""]]}, "a composition of so many"),
        (Part(best(GAUSSIAN, "geometric", 3)), {"points": [["2", "1", "1", ""]]}, "order above 1"),
        (Part(best(GAUSSIAN, "geometric", 3)), {"points": [["1", "1", "2", ""]]}, "order above 1"),
        (Part(best(GAUSSIAN, "logarithmic", 3)), {"points": [["2", "1", "2", "1/2"]]}, "safe side"),
    ],
    ids=["no best", "no divergence", "fixed", "second", "first", "gamma"],
)  # fmt: skip
def test_what_the_rule_by_divergences_refuses(about, parameters, why):
    with pytest.raises((Rejected, Undecided, ZeroDivisionError), match=why):
        renyi.infer(Run(about), parameters, ())


def test_a_measure_that_is_no_divergence_is_refused():
    other = Claim(best(GAUSSIAN, "geometric", 3), None, measure=Measure("zcdp", None))
    noise = Claim(GAUSSIAN.mechanism, None, sensitivity=ONE, measure=Measure("renyi", None, Fraction(2)))
    for claim in (other, noise):
        with pytest.raises(Rejected, match="no Renyi divergence"):
            best_of_measures.infer(claim, {"second": "2"}, ())
