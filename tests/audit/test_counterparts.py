"""Values of functions, and the mechanism of a space, under audit: their laws, their worst pairs, and what an audit finds."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpverify.audits import audit
from dpverify.audits.declared import declared
from dpverify.audits.declared.counterparts import of_space, of_values
from dpverify.audits.plan import make_plan
from dpverify.errors import AuditError
from dpverify.samplers.mechanisms import of_claim
from dpverify.trusted.kernel.expr import ONE, Num, num, parse
from dpverify.trusted.kernel.model import Claim, EllipticalProcess, Exponential, Shape, Space, Table

POINTS = np.array([0.25, 0.5, 1.0])
T5 = parse("v**(-7/2)*exp(-5/(2*v))")


def process(name="brownian", h="t", places=("1/4", "1/2", "1"), shape=("1", "1"), **more):
    interval = () if name == "eigenvalues" else (num(0), ONE)
    return EllipticalProcess(
        more.pop("mixing", T5), covariance=name, shape=tuple(map(parse, shape)), interval=interval,
        places=tuple(map(parse, places)), differences=(parse(h),) if h else (), **more,
    )  # fmt: skip


def claim(noise, epsilon="2", **more):
    return Claim(noise, parse(epsilon), **more)


def test_the_declared_law_of_values_is_that_of_what_is_drawn():
    law = declared(claim(process()))
    covariance = np.minimum.outer(POINTS, POINTS)
    drawn = of_claim(claim(process()))([0.0, 0.0, 0.0], 4000, np.random.default_rng(0))
    expected = np.sqrt(np.einsum("ij,ij->i", drawn @ np.linalg.inv(covariance), drawn))
    assert law.norm(drawn) == pytest.approx(expected)
    assert stats.kstest(expected, law.radius_cdf()).pvalue > 1e-3
    assert stats.kstest(expected**2 / 3, stats.f(3, 5).cdf).pvalue > 1e-3


def test_of_finitely_many_variances_the_law_is_their_mixture():
    noise = process("matern-3/2", "exp(-t)", atoms=((ONE, parse("1/2")), (num(4), parse("1/2"))))
    law = declared(claim(noise))
    at = np.linspace(0.2, 6, 9)
    expected = (stats.chi2(3).cdf(at**2) + stats.chi2(3).cdf(at**2 / 4)) / 2
    assert law.radius_cdf()(at) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("noise", "moves"),
    [
        (process(h="t**2"), POINTS**2),
        (process("rbf", "1 - t"), 1 - POINTS),
        (process("eigenvalues", "1/k", ("1", "3"), ("1/k**2",)), [1, 1 / 3]),
    ],
)
def test_the_worst_pair_of_values_is_that_of_the_difference(noise, moves):
    [(left, right), *_] = declared(claim(noise)).worst_pairs()
    assert right - left == pytest.approx(np.array(moves)) or left - right == pytest.approx(np.array(moves))


def test_values_that_others_decide_and_whole_functions_have_no_density():
    for noise in (process(places=("0", "1/2")), process(places=("1/2", "1/2")), process(places=()), process("", None, (), ())):
        assert of_values(claim(noise)) is None
    with pytest.raises(AuditError, match="say on which inputs"):
        make_plan(claim(process(places=("0", "1/2"))))


def test_an_audit_of_values_runs_on_the_difference_at_the_claimed_epsilon():
    plan = make_plan(claim(process(h="t**2")))
    assert plan.curve[0].epsilon == 2 and plan.declared.kind == "radial" and plan.declared.dimension == 3
    left, right = plan.pairs[0].answers
    assert right - left == pytest.approx(POINTS**2) or left - right == pytest.approx(POINTS**2)


LINE = tuple(tuple(Fraction(abs(i - j)) for j in range(4)) for i in range(4))


def space(**more):
    return Space(Shape("points", matrix=LINE), databases="answers", **more)


def near(mechanism, epsilon="1"):
    return Claim(mechanism, parse(epsilon), within=num(2), beta=parse("1/2"))


def test_the_mechanism_of_a_space_is_audited_on_the_pair_that_is_worst_for_its_distance():
    made = of_space(near(space(rate=parse("1/2"), lipschitz=num(2))))
    assert isinstance(made.mechanism, Exponential) and made.mechanism.beta == parse("1/2")
    [(x, y)] = made.mechanism.adjacent
    weights = np.exp(-np.abs(np.subtract.outer(range(4), range(4))) / 2)
    rows = weights / weights.sum(axis=1, keepdims=True)
    ratios = {(a, b): np.log(rows[a] / rows[b]).max() / (abs(a - b) / 2) for a in range(4) for b in range(4) if a != b}
    assert ratios[x, y] == pytest.approx(max(ratios.values()))
    assert float(made.epsilon.value) == pytest.approx(abs(x - y) / 2)
    two = ((Fraction(0), Fraction(1)), (Fraction(1), Fraction(0)))
    apart = tuple(tuple(5 * entry for entry in row) for row in two)
    table = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    listed = Space(Shape("points", matrix=two), databases="listed", distances=apart, truth=(0, 1), table=table)
    assert isinstance(of_space(near(listed)).mechanism, Table) and of_space(near(listed)).epsilon == num(5)


def test_an_audit_of_a_space_finds_what_leaks_and_nothing_else():
    honest = near(space(rate=parse("1/2")))
    assert audit(of_claim(honest), honest, samples=2000, seed=0).finding == "NO_VIOLATION_SEEN"

    def leaky(data, size, rng):
        weights = np.exp(-2.0 * np.abs(np.arange(4) - int(np.ravel(data)[0])))
        return rng.choice(4, size=size, p=weights / weights.sum())

    assert audit(leaky, honest, samples=2000, seed=0).finding == "VIOLATION"


def test_of_a_space_without_a_mechanism_or_distances_there_is_nothing_to_audit():
    with pytest.raises(AuditError, match="Give the mechanism"):
        make_plan(near(space()))
    with pytest.raises(AuditError, match="how far apart"):
        make_plan(near(Space(Shape("points", matrix=LINE), databases="unbounded", rate=Num(Fraction(1, 2)))))
