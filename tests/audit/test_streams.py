"""Audits of streams: the law of their words by quadrature against samplers and other ways, what is read of outputs, planted faults."""

import numpy as np
import pytest
from scipy import integrate, stats

from dpverify.audits import audit
from dpverify.audits.declared import declared
from dpverify.audits.outputs import encode
from dpverify.audits.plan import make_plan
from dpverify.errors import AuditError
from dpverify.samplers import mechanisms
from dpverify.samplers.comparisons import as_stream
from dpverify.trusted.kernel.expr import ONE, parse
from dpverify.trusted.kernel.model import Branch, Drawn, Guard, Named, Stream
from tests.selections import GEOMETRIC, gaussian, laplace, of, sparse


def branch(when, emit, tell=(), change=(), count=()):
    return Branch(
        tuple(Guard(parse(text)) for text in when), emit, tuple(map(parse, tell)),
        tuple(Named(name, parse(value)) for name, value in change), tuple(Named(name, parse(value)) for name, value in count),
    )  # fmt: skip


def tiered(tell=False, queries="5"):
    """The adaptive sparse vector technique: an answer far above costs one of a budget, another above costs two."""
    far, above = (("q + a - t",), ("q + b - t",)) if tell else ((), ())
    return Stream(
        ("q",), (Drawn("rho", laplace(2)),), (Drawn("a", laplace(16)), Drawn("b", laplace(8))),
        (Named("t", parse("rho")),), (Named("cost", parse("3")),),
        (
            branch(["q + a - t - 5"], "far above", far, (), [("cost", "1")]),
            branch(["q + b - t"], "above", above, (), [("cost", "2")]),
            branch([], "below"),
        ),
        None if queries is None else parse(queries),
    )  # fmt: skip


TIERED, TOLD = tiered(), tiered(tell=True)


def law_of(stream):
    return declared(of(stream, 1))


@pytest.mark.parametrize(
    "mechanism",
    [
        sparse(laplace(2), laplace(4), 4),
        sparse(laplace(2), gaussian(3), 4, 2),
        sparse(laplace(3), laplace(1), 4, 2, resample=True),
        sparse(GEOMETRIC, GEOMETRIC, 4, 2),
        sparse(laplace(2), None, 3, None),
    ],
)
def test_above_threshold_as_a_stream_has_the_law_of_above_threshold(mechanism):
    written, other = law_of(as_stream(mechanism)), declared(of(mechanism, 1))
    answers = np.array([0.0, -1.0, 2.0, 1.0])[: other.dimension]
    told = ["".join("Y" if word == "yes" else "N" for word in prefix) for prefix in written.reader.prefixes]
    found = dict(zip(told, written.row(answers), strict=True))
    for pattern, expected in zip(other.reader.patterns, other.row(answers), strict=True):
        assert found[pattern] == pytest.approx(expected, abs=1e-9)


def test_the_words_of_one_step_by_an_independent_integral():
    def in_one_step(t):
        far = stats.laplace.sf(t + 5 - 1, scale=16)
        return np.array([far, (1 - far) * stats.laplace.sf(t - 1, scale=8)]) * stats.laplace.pdf(t, scale=2)

    law = law_of(tiered(queries="1"))
    expected = [integrate.quad(lambda t, i=i: in_one_step(t)[i], -80, 80, points=[-4, 0, 1], epsabs=1e-12)[0] for i in (0, 1)]
    row = dict(zip(law.reader.prefixes, law.row(np.array([1.0])), strict=True))
    assert [row["far above",], row["above",]] == pytest.approx(expected, abs=1e-8)


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("stream", [TIERED, TOLD, tiered(queries=None)], ids=["words", "with gaps", "without an end"])
def test_the_law_of_the_words_is_that_of_the_sampler(stream):
    law, size, answers = law_of(stream), 3_000, np.array([0.5, -1.0, 6.0, 3.0, 0.0])
    outputs = encode(mechanisms.sampler(stream)(answers.tolist(), size, np.random.default_rng(2)), size)
    counts = np.bincount(law.reader.columns(outputs), minlength=law.reader.count + 1)
    expected = law.row(answers) * size
    common = expected > 5
    assert not counts[-1] and expected.sum() == pytest.approx(size) and not counts[:-1][expected < 1e-6].any()
    assert stats.chisquare(counts[:-1][common], expected[common] * counts[:-1][common].sum() / expected[common].sum()).pvalue > 1e-4


def test_words_are_read_from_their_numbers_and_from_texts():
    reader = law_of(tiered(queries="3")).reader
    words = [("below", "far above", "above"), ("above", "far above"), ("far above", "far above", "far above")]
    codes = {word: code for code, word in enumerate(reader.words)}
    arrays = np.array([[codes[word] for word in each] + [-1] * (3 - len(each)) for each in words])
    for outputs in (arrays, [list(each) for each in words]):
        assert [reader.prefixes[column] for column in reader.columns(encode(outputs, 3))] == words
    wrong = [["above", "above", "above"], ["over", "below", "below"], ["below", "below"]]
    at = reader.columns(encode(wrong, 3)).tolist()
    assert at[:2] == [reader.count] * 2 and reader.prefixes[at[2]] == ("below", "below")  # which the law gives no probability
    assert law_of(tiered(queries="3")).row(np.zeros(3))[at[2]] == 0
    assert reader.word(at[2]) == "(below, below)" and reader.word(reader.prefixes.index(words[0])).endswith("...)")
    with pytest.raises(
        AuditError, match=r"for each step 0 for far above, 1 for above, 2 for below, or -1 once it has stopped\. Return that"
    ):
        reader.columns(encode([{"a": 1}], 1))


def test_words_are_looked_at_as_far_as_one_noise_is_integrated_over_and_no_law_is_declared_without_words():
    two = Stream(
        ("q",), (Drawn("l", laplace(2)), Drawn("h", laplace(2))), (Drawn("nu", laplace(4)),),
        (Named("low", parse("l - 1")), Named("high", parse("h + 1"))), (Named("out", ONE),),
        (
            branch(["low - q - nu"], "left", count=[("out", "1")]),
            branch(["q + nu - high"], "right", count=[("out", "1")]),
            branch([], "inside"),
        ),
        parse("4"),
    )  # fmt: skip
    assert law_of(two).reader.told == 1
    assert law_of(Stream(("q",), (), (Drawn("nu", laplace(1)),), (), (), (branch([], "", ["q + nu"]),), parse("3"))) is None


@pytest.mark.wide
def test_the_audited_pair_is_one_of_neighbours_on_which_the_words_tell_much():
    law = law_of(TIERED)
    [pair] = law.worst_pairs()
    assert law.neighbours(*pair) and not law.neighbours(pair[0], pair[0] + 1.1)
    assert [len(each.left) for each in make_plan(of(tiered(queries=None), 1), pairs=[([0.0] * 7, [1.0] * 7)]).pairs] == [7]
    p, q = (law.row(side) for side in pair)
    seen = (p > 0) & (q > 0)
    assert 0.3 < np.log(p[seen] / q[seen]).max() <= 1 + 1e-6  # the tight epsilon is 1 for every number of queries


def tiers(rho, a, b, words=False):
    """The adaptive sparse vector technique in floats, with noise of these scales."""

    def run(data, size, rng):
        q = np.asarray(data)
        t = rng.laplace(0, rho, (size, 1)) if rho else np.zeros((size, 1))
        far = q + rng.laplace(0, a, (size, len(q))) - t >= 5
        codes = np.where(far, 0, np.where(q + rng.laplace(0, b, far.shape) >= t, 1, 2))
        cost = np.where(codes == 2, 0, codes + 1)
        codes = np.where(np.cumsum(cost, axis=1) - cost >= 3, -1, codes)
        names = ["far above", "above", "below"]
        return [[names[code] for code in row if code >= 0] for row in codes.tolist()] if words else codes

    return run


def kinds_of(finding):
    return {(each.finding, each.level) for each in (finding, *finding.also)}


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("scales", "kind", "words"),
    [
        ((1, 4, 2), "VIOLATION", False),
        ((1, 4, 2), "NONCONFORMING", True),
        pytest.param((0, 16, 8), "NONCONFORMING", False, marks=pytest.mark.wide),
    ],
    ids=["less noise", "less noise, words as texts", "threshold forgotten"],
)
def test_a_planted_fault_is_found(scales, kind, words):
    finding = audit(tiers(*scales, words), of(TIERED, 1), samples=4_000 if words else 30_000, seed=1)
    assert (kind, "model") in kinds_of(finding)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("sampler", [tiers(2, 16, 8), mechanisms.sampler(TIERED)], ids=["in floats", "exact"])
def test_no_alarm_is_raised_for_a_sampler_as_declared(sampler):
    assert kinds_of(audit(sampler, of(TIERED, 1), samples=3_000, confidence=0.99, seed=3)) == {("NO_VIOLATION_SEEN", "model")}


def test_what_is_told_in_another_form_is_audited_without_the_law():
    codes = tiers(2, 16, 8)
    finding = audit(lambda data, size, rng: [{"told": row} for row in codes(data, size, rng).tolist()], of(TIERED, 1), samples=500, seed=1)
    assert any("the declared law was not compared: the sampler gives" in note for note in finding.notes)
