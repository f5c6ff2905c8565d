"""What sympy, linear programming and z3 propose: the tables of docs/solvers.md, made again; and that none of them is believed."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from dpverify.report import exact
from dpverify.search import outside
from dpverify.search.additive import asymptotics, modulus_parts, stationary
from dpverify.search.additive import modulus as search
from dpverify.search.additive.stationary import Peak, closed_forms
from dpverify.search.composition import positivstellensatz, smt
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import Num, add, format_expr, num, parse, substitute
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import L2, Claim, Domain, Radial, Translation
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.additive.axis import Line
from dpverify.trusted.theories.additive.cells import WAYS, Cell, summit
from dpverify.trusted.theories.additive.rules import modulus, point_witness

PAGE = (Path(__file__).parents[1] / "docs" / "solvers.md").read_text(encoding="utf-8")
POSITIVE = Domain(Fraction(0))
GOLDEN = "sqrt(5)/2 - 1/2"


def rows(heading):
    """The cells of the table under a heading, code without its quotes."""
    text = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [
        tuple(match[1] if (match := re.match(r"`(.+?)`", cell.strip())) else cell.strip() for cell in line.strip("|").split(" | "))
        for line in text.splitlines()
        if line.startswith("| `")
    ]


def line(density, sensitivity="1"):
    return Claim(Translation(parse(density)), None, sensitivity=parse(sensitivity))


def laplace(sensitivity, epsilon):
    domains = tuple((name, POSITIVE) for name in "suvw")
    return Claim(Radial(parse("exp(-r)"), L2, num(1), parse("s")), parse(epsilon), sensitivity=parse(sensitivity), domains=domains)


# -- sympy -----------------------------------------------------------------------------------------


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("density", "sensitivity", "before", "after", "who"), rows("Exact expressions instead of enclosures"))
def test_the_tight_epsilon_of_the_table_is_one_expression(density, sensitivity, before, after, who, monkeypatch):
    claim = line(density, sensitivity)
    if who != "sympy":
        monkeypatch.setattr(outside, "answer", None)  # nobody is asked
    verified = verify(claim)
    found = exact(verified.judgement)
    assert found is not None
    assert certainly_equal(parse(found), parse(after))
    assert exact(check(verified.certificate)) == found
    assert abs(enclose(parse(after)) - enclose(parse(before))) < 1e-19
    (without,) = (modulus_parts if any(line.rule == "modulus-parts" for line, _ in verified.proved) else search).propose(claim)
    assert isinstance(parse(without["evidence"]["bound"]), Num) == (who == "sympy")


def peak(near="89/144", loss="log(1 + (z + 1)**2) - log(1 + z**2)"):
    return Peak(parse(loss), "z", num(1), Fraction(near))


def says(monkeypatch, *answers):
    text = "".join(json.dumps({"point": point, "value": value}) + "\n" for point, value in answers)
    stationary._answers.cache_clear()
    monkeypatch.setattr(stationary, "_CLOSE", 1e-3)
    monkeypatch.setattr(outside, "answer", lambda *_: text)


@pytest.fixture(autouse=True)
def _nothing_remembered():
    yield
    stationary._answers.cache_clear()


def test_of_the_forms_that_hold_the_shortest_is_taken_for_a_peak_and_its_mirror_image(monkeypatch):
    says(monkeypatch, (GOLDEN, "log(5 + sqrt(5)) - log(5 - sqrt(5))"), (GOLDEN, "2*asinh(1/2)"))
    mirrored = Peak(parse("log(1 + z**2) - log(1 + (z + 1)**2)"), "z", num(1), Fraction(-233, 144))
    found = closed_forms([peak(), mirrored])
    assert [(at, format_expr(value)) for at, _, value in found] == [(peak(), "2*asinh(1/2)"), (mirrored, "2*asinh(1/2)")]
    assert certainly_equal(add(found[0][1], found[1][1]), num(-1))


@pytest.mark.parametrize(
    ("point", "value"),
    [
        ("89/144", "2*asinh(1/2)"),  # close to the point, and not stationary
        ("-sqrt(5)/2 - 1/2", "-2*asinh(1/2)"),  # stationary, and elsewhere
        (GOLDEN, "2*asinh(1/2) - 1/10**30"),  # not the value
        (GOLDEN, "2*asinh(x/2)"),  # not a constant
        (GOLDEN, "acosh(3/2)"),  # outside the language
        (GOLDEN, "log(1"),
        (GOLDEN, "2*asinh(1/2) + " + "0*" * 400 + "1"),
    ],
)
def test_what_sympy_says_wrongly_is_not_taken(point, value, monkeypatch):
    says(monkeypatch, (point, value))
    assert closed_forms([peak()]) == []


@pytest.mark.parametrize("said", ["", "no JSON\n", '{"point": "1"', '{"point": "1"}\n', "[]\n"])
def test_an_answer_that_cannot_be_read_is_none(said, monkeypatch):
    stationary._answers.cache_clear()
    monkeypatch.setattr(outside, "answer", lambda *_: said)
    assert closed_forms([peak()]) == []


@pytest.mark.parametrize(
    "loss", ["asinh(z + 1) - asinh(z)", "log(erfc(z)) - z", "abs(z + 1) - abs(z)", "+".join(f"1/({n} + z**2)" for n in range(1, 60))]
)
def test_a_loss_without_a_short_rational_slope_is_not_asked_about(loss, monkeypatch):
    monkeypatch.setattr(outside, "answer", None)
    assert closed_forms([peak(loss=loss)]) == []


def test_a_bound_that_cannot_be_met_with_what_sympy_says_is_an_enclosure_as_before(monkeypatch):
    claim = line("1/(1 + z**4)", "sqrt(2)")
    says(monkeypatch, ("sqrt(2)*(sqrt(5) - 1)/2", "log(4*sqrt(5) + 9)"))

    def one_side(peaks):
        return [found for found in closed_forms(peaks) if found[0].near > 0]

    (found,), (without,) = search.propose(claim, 20, one_side), search.propose(claim, 20)
    assert found == without


def test_a_program_that_is_late_is_ended_and_what_it_said_is_kept(tmp_path):
    script = tmp_path / "late.py"
    script.write_text("import sys, time\nprint(sys.stdin.read(), flush=True)\ntime.sleep(600)")
    assert outside.answer(script, "hello", 0.5).strip() == "hello"
    assert outside.answer(tmp_path / "absent.py", "", 0.5) == ""


# -- the kernel's part: a stationary point in a cell ------------------------------------------------

KOTZ = line("exp(-abs(z))/(1 + z**2)")
EXACT = "1 + 2*asinh(1/2)"


@pytest.fixture(scope="module")
def evidence():
    def told(peaks):
        by_name = {True: parse(GOLDEN), False: parse("-sqrt(5)/2 - 1/2")}
        return [(at, by_name[at.near > 0], parse(EXACT)) for at in peaks]

    (step,) = search.propose(KOTZ, 20, told)
    return step["evidence"]


def judged(data, claim=KOTZ):
    with precision(160):
        return modulus.check(claim, data).value


def changed(data, *way, **more):
    """The evidence with another way for every cell that names a summit."""
    copy = json.loads(json.dumps(data)) | more
    for side in ("rise", "fall"):
        for cell in copy.get(side, {}).get("cells", ()):
            if cell[1] == "summit" and way:
                cell[1:] = way
    return copy


def test_a_bound_that_is_met_is_proved_at_the_stationary_point(evidence):
    assert judged(evidence) == parse(EXACT)


@pytest.mark.parametrize(
    "way",
    [
        ("summit", f"{GOLDEN} + 1/10**40"),  # not stationary
        ("summit", "-sqrt(5)/2 - 1/2"),  # for one of the sides outside the cell
        ("summit", "z"),
        ("summit", "log(-1)"),
        ("summit", "sqrt("),
        ("summit",),
        *((way,) for way in WAYS),
    ],
)
def test_no_other_point_and_no_other_way_is_accepted_for_a_summit(way, evidence):
    with pytest.raises((DpverifyError, *STUMBLES)):
        judged(changed(evidence, *way))


def test_a_bound_below_the_value_at_the_stationary_point_is_refused(evidence):
    with pytest.raises(Rejected):
        judged(changed(evidence, bound=f"{EXACT} - 1/10**40"))


def test_a_stationary_point_of_a_loss_that_is_not_concave_proves_nothing():
    claim = line("exp(-abs(z))*(1 + z**2)**4")
    with precision(160):
        noise = Line.of(claim, {})
        lowest = parse(GOLDEN)  # h(c + 1) - h(c) = 1 - 8 asinh(1/2) here, its least value
        assert certainly_le(substitute(noise.loss(Fraction(1, 2), Fraction(3, 4), 1).expr, {"z": lowest}), parse("-2"))
        assert not summit(Cell(noise, Fraction(1, 2), Fraction(3, 4), 1, parse("-2"), Fraction(5, 8)), lowest)


# -- the kernel's part: the loss of the two points themselves ---------------------------------------


def witness(claim, a, b, limit, radius="1/1024"):
    with precision(160):
        told = {"a": [a], "b": [b], "radius": radius, "limit": limit, **asymptotics.evidence(claim.mechanism)}
        return point_witness.check(claim, told).value


def test_the_loss_of_two_points_is_a_lower_bound_in_the_limit():
    assert witness(KOTZ, GOLDEN, f"{GOLDEN} + 1", EXACT) == parse(EXACT)
    assert witness(line("exp(-floor(abs(z)))"), "1/2", "3/2", "1") == num(1)
    assert witness(line("exp(-floor(abs(z) + 2/3))"), "0", "1", "1") == num(1)


@pytest.mark.parametrize(
    ("density", "a", "b", "limit", "match"),
    [
        ("exp(-abs(z))/(1 + z**2)", GOLDEN, f"{GOLDEN} + 1", f"{EXACT} + 1/10**40", "not certainly at least this"),
        ("exp(-abs(z))/(1 + z**2)", GOLDEN, f"{GOLDEN} + 2", EXACT, "within the sensitivity"),
        ("exp(-abs(z))/(1 + z**2)", GOLDEN, f"{GOLDEN} + 1", "z", "free symbols"),
        # at a jump the value at the point is met by no event
        ("exp(-floor(abs(z)))", "1/2", "1", "1", "jump"),
        ("exp(-floor(abs(z) + 1/2))", "1/2", "3/2", "1", "jump"),
        ("exp(-abs(z))*abs(z)", "1", "0", "0", "positive and finite"),
    ],
)
def test_what_is_no_limit_of_losses_is_refused(density, a, b, limit, match):
    with pytest.raises((Rejected, CertificateError), match=match):
        witness(line(density), a, b, limit)


# -- linear programming and z3 ----------------------------------------------------------------------


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("sensitivity", "epsilon", "_", "verdict", "who"), rows("Claims over domains"))
def test_claims_over_domains_are_decided_with_the_solver_alone(sensitivity, epsilon, _, verdict, who, monkeypatch):
    claim = laplace(sensitivity, epsilon)
    verified = verify(claim)
    assert verified.judgement.verdict == check(verified.certificate).verdict == verdict
    solver = {"linear programming": "summands", "z3": "counterexample"}[who]
    monkeypatch.setattr(positivstellensatz, solver, lambda *_: None)
    assert verify(claim).judgement.verdict == "UNKNOWN"


def test_an_answer_that_z3_could_change_says_that_it_is_not_installed(monkeypatch):
    claim = laplace("5*u*v", "(2*u**2 + 3*v**2 + 1/100)/s")
    monkeypatch.setattr(outside, "answer", lambda *_: "")
    monkeypatch.setattr(smt, "find_spec", lambda _: None)
    verified = verify(claim)
    assert verified.judgement.verdict == "UNKNOWN"
    assert any("z3, which looks for values where it is below, is not installed (pip install z3-solver)" in why for why in verified.reasons)
