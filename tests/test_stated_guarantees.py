"""Claim files about guarantees and elliptical processes, from the file to the checked certificate."""

import json
from pathlib import Path

import mpmath
import pytest

from dpverify.catalogue.reader import read_spec
from dpverify.errors import SpecError
from dpverify.search.verify import verify
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import Claim, EllipticalProcess, Guarantee
from tests.proofs import Step, bound

SPECS = sorted((Path(__file__).parents[1] / "specs").glob("guarantee*.toml"))
PROCESSES = sorted((Path(__file__).parents[1] / "specs").glob("elliptical_process*.toml"))


def spec(tmp_path, mechanism, claim="epsilon = 1"):
    path = tmp_path / "it.toml"
    path.write_text(f"[mechanism]\n{mechanism}\n[[claim]]\n{claim}\n")
    return read_spec(path)


def mechanism(tmp_path, text, claim="epsilon = 1"):
    return spec(tmp_path, text, claim).claims[0].claim.mechanism


@pytest.mark.parametrize("path", [*SPECS, *PROCESSES], ids=lambda path: path.stem)
def test_every_claim_is_judged_as_expected(path):
    for stated in read_spec(path).claims:
        assert verify(stated.claim).judgement.verdict == stated.expect, stated.claim.name


class TestFiles:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("epsilon = 1", Guarantee("approximate", ((ONE, ZERO),))),
            ('epsilon = "1/2"\ndelta = "1e-5"', Guarantee("approximate", ((parse("1/2"), parse("1e-5")),))),
            ("curve = [[1, 0.5], [2, 0.25]]", Guarantee("approximate", ((ONE, parse("1/2")), (num(2), parse("1/4"))))),
            ("zcdp = 0.5", Guarantee("zcdp", ((parse("1/2"),),))),
            ("gdp = 1", Guarantee("gdp", ((ONE,),))),
            ("renyi = [[2, 1]]", Guarantee("renyi", ((num(2), ONE),))),
            ("bounded_range = 2", Guarantee("bounded_range", ((num(2),),))),
        ],
    )
    def test_each_measure_is_read(self, tmp_path, text, expected):
        found = mechanism(tmp_path, f'kind = "guarantee"\n{text}')
        assert found == expected
        claim = Claim(found, ONE)
        assert from_json(json.loads(json.dumps(to_json(claim)))) == claim

    def test_processes_are_read(self, tmp_path):
        text = 'kind = "elliptical_process"\nmixing = "exp(-v)"\nsupport = [1, "inf"]\nscale = 2'
        found = mechanism(tmp_path, text, "epsilon = 1\nsensitivity = 1")
        assert found == EllipticalProcess(parse("exp(-v)"), (ONE, None), num(2))
        claim = Claim(found, ONE, sensitivity=ONE)
        assert from_json(json.loads(json.dumps(to_json(claim)))) == claim
        by_logarithm = mechanism(tmp_path, 'kind = "elliptical_process"\nlog_mixing = "-v"', "epsilon = 1\nsensitivity = 1")
        assert by_logarithm == EllipticalProcess(parse("exp(-v)"))

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("", "epsilon or curve or zcdp or gdp or renyi or bounded_range is missing: give one of them."),
            ("delta = 1", "is missing: give one of them."),
            ("zcdp = 1\ngdp = 1", "not both"),
            ("zcdp = 1\ndelta = 0.1", "delta goes with epsilon, not with zcdp."),
            ("epsilon = -1", "epsilon = -1 is negative."),
            ('zcdp = "-1/2"', "zcdp = -1/2 is negative."),
            ("gdp = -1", "gdp = -1 is negative."),
            ("bounded_range = -1", "bounded_range = -1 is negative."),
            ("epsilon = 1\ndelta = 2", "delta = 2 is not between 0 and 1."),
            ("curve = [[1, 2]]", "delta = 2 is not between 0 and 1."),
            ("curve = [[1]]", "is not a list of pairs [first, second]."),
            ("curve = [[1, 0.5], [1]]", "rows of different lengths"),
            ("curve = 1", "is not a list with entries."),
            ("renyi = [[1, 1]]", "the order 1 is no rational number above 1."),
            ('renyi = [["sqrt(5)", 1]]', "is no rational number above 1."),
            ("renyi = [[2, -1]]", "renyi = -1 is negative."),
            (f"renyi = {[[k + 2, 1] for k in range(65)]}", "has 65 pairs; at most 64."),
            ('zcdp = "x"', "free symbol 'x'"),
            ("rho = 1\nzcdp = 1", "unknown key"),
        ],
    )
    def test_faults_of_guarantees(self, tmp_path, text, fault):
        with pytest.raises(SpecError) as error:
            spec(tmp_path, f'kind = "guarantee"\n{text}')
        assert fault in str(error.value)

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("", "mixing or log_mixing or nu or atoms or mgf or characteristic is missing: give one of them."),
            ("nu = 3\nmixing = 1", "not both"),
            ("nu = -1", "nu = -1 is not positive."),
            ('mixing = "exp(-v)"\nscale = 0', "scale = 0 is not positive."),
            ('mixing = "exp(-v)"\nsupport = [-1, 2]', "between rational numbers of at least 0"),
            ('mixing = "exp(-v)"\nsupport = ["-inf", 2]', "between rational numbers of at least 0"),
            ('mixing = "exp(-v)"\nsupport = [2, 1]', "is not an interval"),
            ('mixing = "exp(-w)"', "free symbol 'w'"),
        ],
    )
    def test_faults_of_processes(self, tmp_path, text, fault):
        with pytest.raises(SpecError) as error:
            spec(tmp_path, f'kind = "elliptical_process"\n{text}', "epsilon = 1\nsensitivity = 1")
        assert fault in str(error.value)

    def test_a_guarantee_takes_no_sensitivity_and_a_process_needs_one(self, tmp_path):
        with pytest.raises(SpecError, match="already speaks of neighbours"):
            spec(tmp_path, 'kind = "guarantee"\nzcdp = 1', "epsilon = 1\nsensitivity = 2")
        with pytest.raises(SpecError, match="sensitivity is missing"):
            spec(tmp_path, 'kind = "elliptical_process"\nnu = 3')


class TestParts:
    def delta(self, tmp_path, text, claim):
        found = verify(spec(tmp_path, text, claim).claims[0].claim)
        return mpmath.mpf(constant(found.judgement.delta_upper).mid().str(40, radius=False))

    def test_every_combinator_takes_a_guarantee(self, tmp_path):
        mpmath.mp.dps = 30
        base = 'kind = "guarantee", epsilon = 1, delta = "1e-3"'
        e, d = mpmath.e, mpmath.mpf("1e-3")
        once = d + (1 - d) * (e - mpmath.exp(0.5)) / (1 + e)
        found = {
            kind: self.delta(tmp_path, f'kind = "{kind}"\n{more}', 'epsilon = "1/2"\ndelta = "tight"')
            for kind, more in {
                "post_process": f"part = {{ {base} }}",
                "parallel": f"parts = [{{ {base} }}, {{ {base} }}]",
                "lipschitz": f'constant = "1/2"\npart = {{ {base} }}',
            }.items()
        }
        assert all(abs(value / once - 1) < 1e-12 for value in found.values())
        group = self.delta(tmp_path, f'kind = "group"\nsize = 2\npart = {{ {base} }}', 'epsilon = 2\ndelta = "tight"')
        assert abs(group / (d * (e + 1)) - 1) < 1e-12
        # at rate 1/4, epsilon = log(1 + (e - 1)/4) is met with delta/4
        rate = f'kind = "subsample"\nrate = "1/4"\npart = {{ {base} }}'
        assert abs(self.delta(tmp_path, rate, 'epsilon = "log(1 + (exp(1) - 1)/4)"\ndelta = "tight"') / (d / 4) - 1) < 1e-12

    def test_groups_of_renyi_guarantees_go_by_group_privacy(self, tmp_path):
        text = 'kind = "group"\nsize = 2\npart = { kind = "guarantee", renyi = [[8, 1]] }'
        mpmath.mp.dps = 30
        single = mpmath.exp(7 * (1 - mpmath.mpf(3))) * (mpmath.mpf(7) / 8) ** 8 / 7
        assert abs(self.delta(tmp_path, text, 'epsilon = 6\ndelta = "tight"') / (single * (mpmath.exp(3) + 1)) - 1) < 1e-6


class TestCertificates:
    CLAIM = Claim(Guarantee("zcdp", ((parse("1/8"),),)), ONE, parse("0.018"))

    def test_they_are_checked_by_the_kernel(self):
        assert kernel.check(json.loads(json.dumps(verify(self.CLAIM).certificate))).verdict == "PROVED"

    def test_an_order_of_one_or_less_is_rejected(self):
        data = json.loads(json.dumps(verify(self.CLAIM).certificate))
        stated = [line for line in data["lines"] if line["rule"] == "stated-guarantee"]
        assert stated
        for line in stated:
            line["parameters"]["points"] = [["1", "1"]]
        with pytest.raises(Rejected):
            kernel.check(data)

    @pytest.mark.parametrize("guarantee", [Guarantee("magic", ((ONE,),)), Guarantee("zcdp", ((ONE, ONE),)), Guarantee("zcdp", ())])
    def test_guarantees_of_no_form_prove_nothing(self, guarantee):
        evidence = {"curve": {"rule": "stated-guarantee", "points": [["2", "1"]]}, "delta": True}
        with pytest.raises(Rejected):
            bound(Claim(guarantee, ONE, parse("0.5")), Step("privacy-profile", evidence))
