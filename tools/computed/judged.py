"""Claims about queries as files, judged, with what is proved of their errors. Numbers are rounded so that what is shown is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from dpverify.catalogue import read_spec
from dpverify.report import decimal
from dpverify.search.utility import volume_lower_bound as necessary_volume
from dpverify.search.utility.offers import Asked
from dpverify.search.verify import verify
from dpverify.trusted.facts.errors import Measure
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr, parse
from dpverify.trusted.kernel.fact import as_errors
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import L1, Claim, Product, Query
from dpverify.trusted.kernel.proof import Proof

Rows = Sequence[Sequence[int]]
PLAIN = 10**9
"""Integers up to here are written out."""


@dataclass(frozen=True)
class Judged:
    """What is proved of a claim."""

    judgement: Judgement

    def value(self, measure: Measure, side: str, whose: str = "this", coordinate: int | None = None) -> Expr | None:
        """A bound, where one is known."""
        for _, bound in self.judgement.errors:
            if (bound.measure, bound.side, bound.whose, bound.coordinate) == (measure, side, whose, coordinate):
                return bound.value if isinstance(bound.value, Expr) else None
        return None

    def own(self, measure: Measure = "rms_l2", times: Fraction = Fraction(1), coordinate: int | None = None) -> Fraction:
        """What the noise's own error is at most, multiplied. Raises ValueError where the claim is not proved, or this is not known."""
        found = self.value(measure, "upper", coordinate=coordinate)
        if self.judgement.verdict != "PROVED" or found is None:
            raise ValueError(f"{self.judgement.verdict}: no {measure} is proved.")
        return rational(found, 1) * times

    def least(self, measure: Measure = "rms_l2", times: Fraction = Fraction(1)) -> Fraction:
        """What the error of any mechanism is at least, multiplied. Raises ValueError where that is not known."""
        found = self.value(measure, "lower", "any")
        if found is None:
            raise ValueError(f"no {measure} of any mechanism is proved.")
        return rational(found, 0) * times


def rational(value: Expr, side: int) -> Fraction:
    """A number rounded down (0) or up (1) to 15 digits."""
    text = decimal(value, 15, side)
    assert text is not None
    return Fraction(text)


def up(value: Fraction, digits: int = 4) -> str:
    """Of an upper bound as many digits, rounded up."""
    return _digits(value, digits, 1)


def down(value: Fraction, digits: int = 4) -> str:
    """Of a lower bound as many digits, rounded down."""
    return _digits(value, digits, 0)


def _digits(value: Fraction, digits: int, side: int) -> str:
    text = decimal(parse(str(value)), digits, side)
    assert text is not None
    whole = Fraction(text)
    return str(whole) if "e" in text and whole.denominator == 1 and whole < PLAIN else text


@cache
def judge(mechanism: str, query: str, adjacency: str, epsilon: str, more: str = "") -> Judged:
    """A claim with `utility = true`. mechanism: the lines under [mechanism]; query: as TOML; more: further lines of the claim."""
    asked = f'query = {query}\nadjacency = "{adjacency}"\n' if query else ""
    text = f'[mechanism]\n{mechanism}\n[[claim]]\nname = "claim"\n{asked}epsilon = "{epsilon}"\nutility = true\n{more}\n'
    return Judged(verdict(text))


def verdict(text: str) -> Judgement:
    """Of the one claim of a file with this text."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "claim.toml"
        file.write_text(text, encoding="utf-8")
        (spec,) = read_spec(file).claims
    return verify(spec.claim).judgement


def toml(rows: Rows) -> str:
    """A matrix of integers."""
    return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in rows) + "]"


def laplace(dimension: int, scale: str) -> str:
    """The same independent Laplace noise on so many answers."""
    return f'kind = "builtin"\nname = "laplace"\nscale = "{scale}"\ndimension = {dimension}'


def knorm(rows: Rows, scale: str) -> str:
    """Noise in the norm whose unit ball is the hull of the columns and their opposites."""
    columns = toml([*dict.fromkeys(zip(*rows, strict=True))])
    return f'kind = "radial"\nprofile = "exp(-r)"\nnorm = {{ columns = {columns} }}\ndimension = {len(rows)}\nscale = "{scale}"'


def by_volume(rows: Rows, epsilon: str) -> Fraction:
    """What the rule about volumes alone says of the root mean square error of any mechanism, real histograms, l1; 0 for nothing."""
    query = Query(tuple(tuple(Fraction(x) for x in row) for row in rows), "l1")
    proof = Proof(Claim(Product(parse("exp(-abs(z))"), parse(str(len(rows))), L1), parse(epsilon), query=query, utility=True))
    asked = Asked(proof, query, float(constant(parse(epsilon)).mid()), ())
    found = [Fraction(0)]
    for offer in necessary_volume.offers(asked, (0.0, 0.0)):
        try:
            fact = proof.infer(offer.rule, (), offer.parameters, offer.premises)
        except DpverifyError:
            continue
        found += [rational(one.value, 0) for one in as_errors(fact.says) if one.measure == "rms_l2" and isinstance(one.value, Expr)]
    return max(found)
