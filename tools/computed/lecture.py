"""Lecture 4 of Kamath's CS 860: counting queries, histograms, means, what holds of all mechanisms (docs/sources/lecture.md)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from math import isqrt

from computed.judged import Judged, Rows, down, judge, laplace, toml, up
from computed.pages import ROOT, Page, Row, Table
from dpverify.catalogue import read_spec
from dpverify.search.verify import verify

BETA = "1/20"
QUERIES = (1, 2, 4, 6)
BINS = (2, 4, 8, 16, 32)
SIZES = (100, 10_000, 1_000_000)
STATEMENTS = (
    ("Theorem 4: the Laplace mechanism", "lecture_counting_queries", "one of eight kinds of records is replaced"),
    ("the same with the noise of one query", "lecture_counting_queries_one_scale", "as for one query"),
    ("Theorem 4: a histogram", "lecture_histogram", "a record is replaced"),
    ("Theorem 4: the mean of bits", "lecture_mean", "a bit is replaced"),
    ("Theorem 6: post-processing", "post_process_laplace", "pure"),
    ("Theorem 7: group privacy", "group_all", "exact"),
    ("less than Theorem 7 says", "group_all", "as for one record"),
    ("Theorem 8: basic composition", "compose_all", "exact"),
    ("a root in place of k, at delta = 0", "compose_all", "the square root of the number"),
)


def counting(k: int) -> Rows:
    """k counting queries, with a kind of record for every set of properties."""
    return [list(row) for row in zip(*product((0, 1), repeat=k), strict=True)]


def histogram(bins: int) -> Rows:
    """A count for every bin."""
    return [[int(i == j) for j in range(bins)] for i in range(bins)]


def asked(rows: Rows, scale: str) -> Judged:
    """Laplace noise for epsilon = 1, a record replaced."""
    return judge(laplace(len(rows), scale), toml(rows), "replace", "1", f'beta = "{BETA}"')


def _told(rows: Rows, scale: str) -> tuple[str, ...]:
    found = asked(rows, scale)
    each, own, least = found.own("expected_absolute", coordinate=0), found.own(), found.least()
    return up(each), up(found.own("exceeded")), up(found.own("exceeded_union")), up(own), down(least), up(own / least)


def _counting(k: int) -> tuple[str, ...]:
    return _told(counting(k), str(k))


def _histogram(bins: int) -> tuple[str, ...]:
    return _told(histogram(bins), "2")


def _mean(n: int) -> tuple[str, ...]:
    central = judge(laplace(1, f"1/{n}"), f'[[0, "1/{n}"]]', "replace", "1")
    response = 'kind = "builtin"\nname = "randomized_response"\np = "exp(1)/(1 + exp(1))"'
    local = judge(response, "", "", "1").own("rms_l2", Fraction(1, isqrt(n)))
    own = central.own()
    return up(own), up(local), up(local / own)


def _statement(file: str, name: str) -> tuple[str, ...]:
    spec = next(one for one in read_spec(ROOT / "specs" / f"{file}.toml").claims if one.claim.name == name)
    return f"`specs/{file}.toml`", name, verify(spec.claim).judgement.verdict


_ERRORS = (
    "each count, mean", "some count, 1 in 20", "by Fact 5 and the union bound", "root mean square", "any mechanism, at least", "times that",
)  # fmt: skip

PAGE = Page(
    "lecture",
    [
        Table("counting", ("k", *_ERRORS), [Row((str(k),), partial(_counting, k), slow=k > 2) for k in QUERIES]),
        Table("histogram", ("bins", *_ERRORS), [Row((str(k),), partial(_histogram, k), slow=k > 4) for k in BINS]),
        Table(
            "mean", ("n", "Laplace noise", "randomized response", "times that"),
            [Row((f"{n:,}",), partial(_mean, n), slow=n != SIZES[1]) for n in SIZES],
        ),
        Table(
            "statements", ("statement", "claims in", "claim", "verdict"),
            [Row((said,), partial(_statement, file, name)) for said, file, name in STATEMENTS],
        ),
    ],
)  # fmt: skip
