"""Opacus's and OpenDP's own objects: what is answered to them is what is proved of their events. Each needs its package."""

from fractions import Fraction

import pytest

from dpverify.accounting.enclosures import Cost
from dpverify.accounting.events import Event
from dpverify.accounting.relations import Relation

ADD = Relation.ADD_OR_REMOVE_ONE


def noise(kind, multiplier):
    return Event(kind, {"noise_multiplier": Fraction(multiplier)})


@pytest.fixture
def opacus():
    pytest.importorskip("opacus", reason="needs opacus")
    from dpverify.accounting import opacus

    return opacus


def test_a_history_of_opacus_is_accounted_as_its_events(opacus, tmp_path):
    from opacus.accountants import create_accountant

    import dpverify
    from dpverify.accounting import CertifiedAccountant

    accountant = create_accountant("certified")
    for noise_multiplier in (1.5, 1.5, 2.0):
        accountant.step(noise_multiplier=noise_multiplier, sample_rate=0.125)
    assert len(accountant) == 3 and accountant.history == [(1.5, 0.125, 2), (2.0, 0.125, 1)]
    events = [
        (Event("PoissonSampledDpEvent", {"sampling_probability": Fraction(1, 8)}, (noise("GaussianDpEvent", sigma),)), steps)
        for sigma, steps in ((Fraction(3, 2), 2), (2, 1))
    ]
    bounds = Cost(events, ADD).epsilon(Fraction(1, 10**5), width=Fraction(1, 1000))
    assert accountant.epsilon_bounds(Fraction(1, 10**5)) == bounds[:2]
    assert float(bounds.lower) <= accountant.get_epsilon(1e-5) <= float(bounds.upper) + 1e-9
    again = create_accountant("certified")
    again.load_state_dict(accountant.state_dict())
    assert again.get_epsilon(1e-5) == accountant.get_epsilon(1e-5)
    assert dpverify.check(accountant.certificate(tmp_path / "a.json", epsilon=2, delta=Fraction(1, 10**5))).verdict == "PROVED"
    ledger = CertifiedAccountant.load(accountant.save(tmp_path / "ledger.json"), width=Fraction(1, 1000))
    assert ledger.epsilon_bounds(Fraction(1, 10**5)) == bounds[:2]


def test_a_history_with_impossible_numbers_says_which(opacus):
    accountant = opacus.OpacusAccountant()
    accountant.step(noise_multiplier=-1.0, sample_rate=0.5)
    with pytest.raises(ValueError, match="noise_multiplier: Noise multiplier must be non-negative"):
        accountant.get_epsilon(1e-5)


def test_what_a_map_promises_is_held_against_what_is_lost():
    pytest.importorskip("opendp", reason="needs opendp")
    import opendp.prelude as dp

    from dpverify.accounting.opendp import SAFE, TOO_LITTLE, hold

    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    laplace, gaussian = dp.m.make_laplace(*space, scale=2.0), dp.m.make_gaussian(*space, scale=2.0)
    (pure,) = hold(laplace, 1.0, noise("LaplaceDpEvent", 2))
    assert pure.verdict == SAFE and pure.delta == 0 and pure.promised == Fraction(1, 2)
    assert [one.verdict for one in hold(laplace, 1.0, noise("LaplaceDpEvent", Fraction(3, 2)))] == [TOO_LITTLE]
    curve = dp.c.make_zCDP_to_approxDP(gaussian)
    fixed = dp.c.make_fix_delta(curve, 1e-6)
    for measurement in (gaussian, curve, fixed):
        assert {one.verdict for one in hold(measurement, 1.0, noise("GaussianDpEvent", 2))} == {SAFE}
        assert {one.verdict for one in hold(measurement, 1.0, noise("GaussianDpEvent", 1))} == {TOO_LITTLE}
