"""Answers agree with values known from theory and from brute force at 60 digits (golden/compute.py).

Each entry is claimed four times: tight, a billionth above the truth, a billionth below it, and, where
the truth has a closed form, exactly. No answer may contradict the truth; entries marked `decide` must
have an answer too.
"""

import json
import tomllib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from dpverify.catalogue import read_spec
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import INFINITE

TABLE = tomllib.loads((Path(__file__).parent / "golden" / "known_values.toml").read_text())["value"]
FINITE = [entry for entry in TABLE if entry["epsilon"] != "inf"]
ENDLESS = [entry for entry in TABLE if entry["epsilon"] == "inf"]
ROUNDING, NARROW, NEAR = Fraction(1, 10**29), Fraction(1, 10**18), Fraction(1, 10**9)


def judged(entry, epsilons: dict[str, str], folder: Path) -> Iterator[tuple[str, object]]:
    """The judgement of the entry's mechanism at each epsilon, by the name given to it."""
    claims = [f'[[claim]]\nname = "{name}"\n{entry["claim"]}\nepsilon = {json.dumps(text)}\n' for name, text in epsilons.items()]
    file = folder / "known.toml"
    file.write_text("\n".join([f"[mechanism]\n{entry['mechanism']}", *claims]))
    for stated in read_spec(file).claims:
        yield stated.claim.name, verify(stated.claim).judgement


def ends(bound) -> tuple[Fraction, Fraction]:
    """The two ends of a finite bound, enclosed."""
    with precision(300):
        ball = constant(bound)
        return exactly(ball.lower()), exactly(ball.upper())


def exactly(ball) -> Fraction:
    mantissa, exponent = ball.mid().man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


DEAR = ("quartic decay", "one minus tanh", "two Cauchy peaks", "two far Cauchy peaks, wide shift")
"""Values that take more than a second, of a rule that many others are of."""


@pytest.mark.sampled(28)
@pytest.mark.parametrize(
    "entry", [pytest.param(entry, id=entry["name"], marks=[pytest.mark.wide] * (entry["name"] in DEAR)) for entry in FINITE]
)
def test_a_finite_value_is_enclosed_proved_above_and_refuted_below(entry, tmp_path):
    truth = Fraction(entry["epsilon"])
    step = max(truth, NEAR) * NEAR
    epsilons = {"tight": "tight", "above": str(truth + step)}
    if truth > 0:
        epsilons["below"] = str(truth - step)
    if "exact" in entry:
        epsilons["exact"] = entry["exact"]
    verdicts = {}
    for name, judgement in judged(entry, epsilons, tmp_path):
        verdicts[name] = judgement.verdict
        slack = truth * ROUNDING + Fraction(1, 10**38)
        if judgement.lower is not None:
            assert judgement.lower is not INFINITE
            assert ends(judgement.lower)[0] <= truth + slack, name
        if judgement.upper is not None and judgement.upper is not INFINITE:
            assert ends(judgement.upper)[1] >= truth - slack, name
        if name == "tight" and entry["decide"]:
            assert judgement.lower is not None and judgement.upper not in (None, INFINITE)
            assert ends(judgement.upper)[1] - ends(judgement.lower)[0] <= truth * NARROW
    wanted = {"tight": "PROVED", "above": "PROVED", "below": "REFUTED", "exact": "PROVED"}
    allowed = {"UNKNOWN"} if not entry["decide"] else set()
    assert {name: verdict for name, verdict in verdicts.items() if verdict not in {wanted[name], *allowed}} == {}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("entry", ENDLESS, ids=lambda entry: entry["name"])
def test_where_no_epsilon_holds_every_epsilon_is_refuted(entry, tmp_path):
    for name, judgement in judged(entry, {"small": "1/2", "large": "1000"}, tmp_path):
        assert judgement.upper in (None, INFINITE)
        assert judgement.verdict in ({"REFUTED"} if entry["decide"] else {"REFUTED", "UNKNOWN"}), name


def test_the_table_is_what_its_script_says():
    """Every entry is a claim file that reads, names its source, and is unlike any other."""
    assert len(TABLE) > 100
    assert len({entry["name"] for entry in TABLE}) == len(TABLE)
    assert all(entry["source"] for entry in TABLE)
