"""What means nothing is refused, by the reader of claim files and by the kernel before any line, on the one definition of `well_formed`."""

import copy
import importlib
import random
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpverify.catalogue.kinds import STARTERS
from dpverify.catalogue.reader import read_spec
from dpverify.cli import main
from dpverify.errors import SpecError
from dpverify.evidence.recheck import statement
from dpverify.runtime.outside import named
from dpverify.search.verify import verify
from dpverify.trusted.kernel.canonical_form import claim_hash, to_json
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import (
    Claim,
    Compose,
    Domain,
    KaryResponse,
    Measure,
    NoisyKeys,
    NoisyMax,
    Norm,
    Parallel,
    Part,
    Query,
    Radial,
    Repeat,
    Shuffle,
    Staircase,
    Subsample,
    Table,
)
from dpverify.trusted.kernel.well_formed import WANTED, faults

ROOT = Path(__file__).parents[1]
SPECS = sorted((ROOT / "specs").rglob("*.toml"))


def read(tmp_path, text):
    (tmp_path / "it.toml").write_text(text, encoding="utf-8")
    (stated,) = read_spec(tmp_path / "it.toml").claims
    return stated.claim


def certificate(claim):
    """A certificate without a line: all that the kernel can refuse of it is what it claims. claim: in canonical form."""
    hashed = {"claim": claim, "claim_sha256": claim_hash(claim)}
    return {"schema": "dpverify-certificate/2", **hashed, "prec": 64, "verdict": "UNKNOWN", "lines": []}


def changed(claim, path, value):
    """The canonical form with another value at a path such as "mechanism.rows.0.1"."""
    forged = copy.deepcopy(claim)
    *above, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = forged
    for step in above:
        place = place[step]
    place[last] = value
    return forged


LAPLACE = '{ kind = "builtin", name = "laplace", scale = 4 }'
GEOMETRIC = '{ kind = "builtin", name = "discrete_laplace", scale = 4 }'
NOISE = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 4\n[[claim]]\nsensitivity = 1\nepsilon = 1\n'
LINE = '[mechanism]\nkind = "translation"\ndensity = "exp(-abs(z))"\nsupport = [-1, 1]\n[[claim]]\nsensitivity = 1\nepsilon = 1\n'
BODY = '[mechanism]\nkind = "radial"\nprofile = "exp(-r)"\nnorm = {norm}\ndimension = 2\n[[claim]]\nsensitivity = 1\nepsilon = 1\n'
ROUND, SQUARE = BODY.format(norm="{ ellipsoid = [[1, 0], [0, 1]] }"), BODY.format(norm='{ lp = "3/2" }')
ALL = '[mechanism]\nkind = "builtin"\nname = "laplace"\nparameters = { scale = "in (0, 1)" }\n[[claim]]\nsensitivity = 1\nepsilon = 1\n'
TABLE = '[mechanism]\nkind = "table"\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]\nadjacent = [[0, 1]]\n[[claim]]\nepsilon = 2\n'
LOSSES = TABLE.replace("epsilon = 2", "epsilon = 2\nutility = true\nloss = [[0, 1], [1, 0]]\nprior = [1, 0]")
SCORES = '[mechanism]\nkind = "exponential"\nscores = [[0, 1], [1, 0]]\nbeta = 1\n[[claim]]\nepsilon = 2\n'
KARY = '[mechanism]\nkind = "builtin"\nname = "k_randomized_response"\nk = 3\np = "1/2"\n[[claim]]\nepsilon = 2\n'
STAIRCASE = '[mechanism]\nkind = "builtin"\nname = "staircase"\nepsilon = 1\ngamma = "1/2"\n[[claim]]\nepsilon = 2\n'
KERNEL = '[mechanism]\nkind = "kernel"\ndensity = "1"\noutput = [0, 1]\ninput = [0, 1]\n[[claim]]\nepsilon = 2\n'
PROCESS = '[mechanism]\nkind = "elliptical_process"\nnu = 5\ncovariance = "rbf"\n[[claim]]\nsensitivity = 1\nepsilon = 2\ndelta = "1/8"\n'
GUARANTEE = '[mechanism]\nkind = "guarantee"\ncurve = [[1, "1/8"]]\n[[claim]]\nepsilon = 2\ndelta = "1/2"\n'
RENYI = '[mechanism]\nkind = "guarantee"\nrenyi = [[2, "1/8"]]\n[[claim]]\nepsilon = 2\ndelta = "1/2"\n'
PART = f"part = {LAPLACE}\n[[claim]]\nepsilon = 2\n"
GROUP, STRETCHED, SAMPLE = (
    f'[mechanism]\nkind = "{kind}"\n{key} = {value}\n{PART}'
    for kind, key, value in (("group", "size", 2), ("lipschitz", "constant", 2), ("subsample", "rate", '"1/4"'))
)
SHOWN = f'[mechanism]\nkind = "post_process"\nmap = "to the nearest"\nmatrix = [[1]]\n{PART}'
INSIDE = f'{LAPLACE[:-2]}, times = 2, adjacency = "replace" }}'
REPEATED = f'[mechanism]\nkind = "compose"\nparts = [{INSIDE}]\n[[claim]]\nepsilon = 2\n'
ONE = "[[claim]]\nsensitivity = 1\nepsilon = 1\n"
LARGEST = f'[mechanism]\nkind = "noisy_max"\nnoise = {GEOMETRIC}\ncandidates = 3\nbounds = [0, 5]\n{ONE}'
SPARSE = """[mechanism]
kind = "above_threshold"
threshold_noise = {threshold}
query_noise = {query}
queries = 4
positives = 2
{more}
[[claim]]
sensitivity = {moved}
epsilon = 0
"""
BOTH = SPARSE.format(threshold=LAPLACE, query=LAPLACE, more="", moved=1)
STREAM = """[mechanism]
kind = "stream"
once = {{ rho = {rho} }}
fresh = {{ nu = {nu} }}
state = {{ t = "rho + 1" }}
limits = {{ found = 1 }}
queries = 5
neighbours = "hull"
hull = [[1], [0]]
{more}
step = [{{ when = "{when} >= {t}", emit = "above", tell = "{tell}", count = {{ found = 1 }} }}, {{ emit = "below" }}]
[[claim]]
sensitivity = {moved}
epsilon = 0
"""
RUN = STREAM.format(rho=LAPLACE, nu=LAPLACE, when="q + nu", t="t", tell="q + nu + 2", more="", moved=1)
BOX = '[mechanism]\nkind = "space"\nshape = { kind = "box", sides = [1] }\nlipschitz = 2\ndiameter = 3\n'
SPACE = f'{BOX}[[claim]]\nepsilon = 2\nwithin = "1/4"\nbeta = "1/4"\n'
QUERY = NOISE.replace("sensitivity = 1", 'query = [[1, 2]]\nadjacency = "replace"')
NEVER = "\u3164"

MALFORMED = [
    ("a negative Lipschitz constant", STRETCHED, ("constant = 2", "constant = -2"), ("mechanism.constant", "-2"), "negative"),
    ("a group of nobody", GROUP, ("size = 2", "size = 0"), ("mechanism.size", "0"), "integer of at least 1"),
    ("a group of one and a half", GROUP, ("size = 2", 'size = "3/2"'), ("mechanism.size", "3/2"), "integer of at least 1"),
    ("a rate above 1", SAMPLE, ('"1/4"', '"5/4"'), ("mechanism.rate", "5/4"), "between 0 and 1"),
    ("a rate below 0", SAMPLE, ('"1/4"', '"-1/4"'), ("mechanism.rate", "-1/4"), "between 0 and 1"),
    ("a scheme that is none", SAMPLE, ('rate = "1/4"', 'rate = "1/4"\nscheme = "some"'), ("mechanism.scheme", "some"), "scheme"),
    ("no runs", REPEATED, ("times = 2", "times = 0"), ("mechanism.parts.0.times", "0"), "integer of at least 1"),
    ("a thousandth of a run", REPEATED, ("times = 2", 'times = "1/1000"'), ("mechanism.parts.0.times", "1/1000"), "integer of at least 1"),
    ("a part that moves by b", REPEATED, ("times = 2", 'times = 2, sensitivity = "b"'), ("mechanism.parts.0.sensitivity", "b"), "'b'"),
    ("a part that runs b times", REPEATED, ("times = 2", 'times = "b"'), ("mechanism.parts.0.times", "b"), "free symbol 'b'"),
    ("a covariance that is none", PROCESS, ("rbf", "some"), ("mechanism.covariance", "some"), "some"),
    ("no parts", REPEATED, (INSIDE, ""), ("mechanism.parts", []), "parts"),
    ("an order of replaced records", REPEATED, ("epsilon = 2", 'epsilon = 2\norder = "one-sided"'), ("order", "one-sided"), "order"),
    ("a part that is nothing", GROUP, (LAPLACE, '{ kind = "sampled" }'), ("mechanism.part", None), "what it is"),
    ("a negative scale", NOISE, ("scale = 4", "scale = -4"), ("mechanism.scale", "-4"), "positive"),
    ("no scale", NOISE, ("scale = 4", "scale = 0"), ("mechanism.scale", "0"), "positive"),
    ("a negative sensitivity", NOISE, ("sensitivity = 1", "sensitivity = -1"), ("sensitivity", "-1"), "negative"),
    ("no sensitivity", NOISE, ("sensitivity = 1\n", ""), ("sensitivity", None), "sensitivity is missing"),
    ("a negative epsilon", NOISE, ("epsilon = 1", "epsilon = -1"), ("epsilon", "-1"), "negative"),
    ("an epsilon without a value", NOISE, ("epsilon = 1", 'epsilon = "gamma(-1)"'), ("epsilon", "gamma(-1)"), "epsilon"),
    ("a free symbol", NOISE, ("epsilon = 1", 'epsilon = "b"'), ("epsilon", "b"), "free symbol 'b'"),
    ("a delta above 1", NOISE, ("epsilon = 1", 'epsilon = 1\ndelta = "5/4"'), ("delta", "5/4"), "between 0 and 1"),
    ("nothing claimed", NOISE, ("epsilon = 1", 'epsilon = "tight"\ndelta = "tight"'), ("delta", "tight"), "tight"),
    ("a measure below 0", NOISE, ("epsilon = 1", 'zcdp = "-1/2"'), ("measure", {"name": "zcdp", "value": "-1/2", "at": None}), "negative"),
    ("a name of nothing", NOISE, ("epsilon = 1", f'epsilon = 1\nname = "{NEVER}"'), ("name", NEVER), "seen"),
    ("a name of spaces", NOISE, ("epsilon = 1", 'epsilon = 1\nname = "  "'), ("name", "  "), "seen|short text"),
    ("a name with a joiner", NOISE, ("epsilon = 1", 'epsilon = 1\nname = "a\u034fb"'), ("name", "a\u034fb"), "seen"),
    ("an open interval of one number", ALL, ("in (0, 1)", "in (1, 1)"), ("domains.scale.lower", "1"), "empty|no value lies"),
    ("an interval whose ends fall", ALL, ("in (0, 1)", "in (2, 1)"), ("domains.scale.lower", "2"), "empty|no value lies"),
    ("integers without one", ALL, ("in (0, 1)", "integer in (0, 1)"), ("domains.scale.integer", True), "empty|no value lies"),
    ("ends that fall", LINE, ("[-1, 1]", "[1, -1]"), ("mechanism.support", ["1", "-1"]), "rise"),
    ("a density of no number", LINE, ("exp(", "gamma(-1)*exp("), ("mechanism.density", "gamma(-1)*exp(-abs(z))"), "gamma"),
    ("half a dimension", SQUARE, ("dimension = 2", 'dimension = "1/2"'), ("mechanism.dimension", "1/2"), "integer of at least 1"),
    ("a norm that is none", SQUARE, ("3/2", "1/2"), ("mechanism.norm.p", "1/2"), "triangle"),
    ("an ellipsoid of another dimension", ROUND, ("dimension = 2", "dimension = 3"), ("mechanism.dimension", "3"), "dimension is 3"),
    ("an ellipsoid without an inside", ROUND, ("[0, 1]", "[0, -1]"), ("mechanism.norm.matrix.1.1", "-1"), "positive definite"),
    ("a negative probability", TABLE, ('["3/4", "1/4"]', '["5/4", "-1/4"]'), ("mechanism.rows.0", ["5/4", "-1/4"]), "negative"),
    ("probabilities of no sum", TABLE, ('["3/4", "1/4"]', '["3/4", "1/8"]'), ("mechanism.rows.0.1", "1/8"), "sum to"),
    ("rows of two lengths", TABLE, ('["3/4", "1/4"]', "[1]"), ("mechanism.rows.0", ["1"]), "length"),
    ("a pair beyond the rows", TABLE, ("[[0, 1]]", "[[0, 2]]"), ("mechanism.adjacent.0.1", 2), "outside"),
    ("no pairs", TABLE, ("[[0, 1]]", "[]"), ("mechanism.adjacent", []), "adjacent|pair"),
    ("a pair of one row", TABLE, ("[[0, 1]]", "[[1, 1]]"), ("mechanism.adjacent.0.0", 1), "pair"),
    ("losses of another size", LOSSES, ("[[0, 1], [1, 0]]", "[[0, 1]]"), ("loss", [["0", "1"]]), "rows, one for each input"),
    ("a prior of no sum", LOSSES, ("prior = [1, 0]", "prior = [1, 1]"), ("prior", ["1", "1"]), "sum 1"),
    ("scores that are turned round", SCORES, ("beta = 1", "beta = -1"), ("mechanism.beta", "-1"), "negative"),
    ("one value", KARY, ("k = 3", "k = 1"), ("mechanism.k", "1"), "integer of at least 2"),
    ("a truth above 1", KARY, ('p = "1/2"', "p = 2"), ("mechanism.p", "2"), "between 0 and 1"),
    ("a stair beyond its step", STAIRCASE, ('gamma = "1/2"', "gamma = 2"), ("mechanism.gamma", "2"), "between 0 and 1"),
    ("a stair of no height", STAIRCASE, ("epsilon = 1", "epsilon = 0"), ("mechanism.epsilon", "0"), "positive"),
    ("inputs that fall", KERNEL, ("input = [0, 1]", "input = [1, 0]"), ("mechanism.input", ["1", "0"]), "rise"),
    ("a guarantee of a negative epsilon", GUARANTEE, ("[[1, ", "[[-1, "), ("mechanism.rows.0.0", "-1"), "negative"),
    ("a guarantee of a delta above 1", GUARANTEE, ('"1/8"', "2"), ("mechanism.rows.0.1", "2"), "between 0 and 1"),
    ("a divergence of order 1", RENYI, ("[[2, ", "[[1, "), ("mechanism.rows.0.0", "1"), "above 1"),
    ("a negative divergence", RENYI, ('"1/8"', "-1"), ("mechanism.rows.0.1", "-1"), "negative"),
    ("a map that is not seen", SHOWN, ("to the nearest", NEVER), ("mechanism.map", NEVER), "seen"),
    ("a map of other numbers", SHOWN, ("[[1]]", "[[1, 1]]"), ("mechanism.matrix", [["1", "1"]]), "entries"),
    ("no candidates", LARGEST, ("candidates = 3", "candidates = 0"), ("mechanism.candidates", "0"), "integer of at least 1"),
    ("bounds that fall", LARGEST, ("[0, 5]", "[5, 0]"), ("mechanism.bounds", ["5", "0"]), "rise"),
    ("a bound that no integer is", LARGEST, ("[0, 5]", '["1/2", 5]'), ("mechanism.bounds.0", "1/2"), "not an integer"),
    ("half a positive", BOTH, ("positives = 2", 'positives = "1/2"'), ("mechanism.positives", "1/2"), "integer of at least 1"),
    ("no queries", BOTH, ("queries = 4", "queries = 0"), ("mechanism.queries", "0"), "integer of at least 1"),
    ("a start that is not declared", RUN, ('"rho + 1"', '"rho + s"'), ("mechanism.state.0.value", "rho + s"), "free symbol 's'"),
    ("a start without a value", RUN, ('"rho + 1"', '"rho + gamma(-1)"'), ("mechanism.state.0.value", "gamma(-1) + rho"), "gamma"),
    ("no value that is told", RUN, ("nu + 2", "nu + gamma(-1)"), ("mechanism.steps.0.tell.0", "gamma(-1) + nu + q"), "gamma"),
    ("a limit without a value", RUN, ("found = 1 }\nq", 'found = "log(0)" }\nq'), ("mechanism.limits.0.value", "log(0)"), "log"),
    ("a word that is not seen", RUN, ('"above"', f'"{NEVER}"'), ("mechanism.steps.0.emit", NEVER), "word"),
    ("a hull of other answers", RUN, ("[[1], [0]]", "[[1, 0], [0, 1]]"), ("mechanism.hull", [["1", "0"], ["0", "1"]]), "hull"),
    ("no steps", RUN, ("queries = 5", "queries = 0"), ("mechanism.queries", "0"), "integer of at least 1"),
    ("a space of no size", SPACE, ("sides = [1]", "sides = [0]"), ("mechanism.shape.numbers.0", "0"), "positive"),
    ("answers that do not move", SPACE, ("lipschitz = 2", "lipschitz = 0"), ("mechanism.lipschitz", "0"), "positive"),
    ("a share above 1", SPACE, ('beta = "1/4"', 'beta = "5/4"'), ("beta", "5/4"), "between 0 and 1"),
    ("a query of another dimension", QUERY, ("[[1, 2]]", "[[1, 2], [3, 4]]"), ("query.rows", [["1", "2"], ["3", "4"]]), "2 rows"),
]  # fmt: skip


@pytest.mark.parametrize(("base", "in_file", "forged", "said"), [case[1:] for case in MALFORMED], ids=[case[0] for case in MALFORMED])
def test_what_means_nothing_is_refused_by_the_reader_and_by_the_kernel(tmp_path, base, in_file, forged, said):
    claim = to_json(read(tmp_path, base))
    assert check(certificate(claim)).verdict == "UNKNOWN"  # what it is made of is in order
    old, new = in_file
    assert base.count(old) >= 1
    with pytest.raises(SpecError, match=said):
        read(tmp_path, base.replace(old, new, 1))
    path, value = forged
    if value is None and path.endswith("part"):
        value = {**claim["mechanism"]["part"], "mechanism": {"kind": "sampled"}, "sensitivity": None}
    bad = changed(claim, path, value)
    if path == "measure":
        bad |= {"epsilon": "tight"}
    if path == "delta" and value == "tight":
        bad |= {"epsilon": "tight"}
    with pytest.raises(CertificateError, match=said):
        check(certificate(bad))


L1_NOISE, WIDE, REAL = Radial(parse("exp(-r)"), Norm("lp", Fraction(1)), num(1)), Domain(Fraction(0), Fraction(2)), Domain(Fraction(1))
COUNT = Domain(Fraction(1), None, False, integer=True)
AS_STATED, BY_A_RECORD = (Part(L1_NOISE, num(1), adjacency=name) for name in ("replace", "add-remove"))
COUNTED, REPLACED = (Part(L1_NOISE, query=Query(((Fraction(1),),), name)) for name in ("add-remove", "replace"))
PLAIN, HALF = Part(L1_NOISE, num(1)), parse("1/2")


@pytest.mark.parametrize(
    ("mechanism", "domains", "more", "said"),
    [
        (Compose((AS_STATED, BY_A_RECORD)), {}, {}, "cannot be mixed"),
        (Compose((COUNTED, REPLACED)), {}, {}, "cannot be mixed"),
        (Compose((COUNTED,)), {}, {"adjacency": "replace"}, "cannot be mixed"),
        (Compose((COUNTED, Part(L1_NOISE, query=Query(((Fraction(1), Fraction(2)),), "add-remove")))), {}, {}, "columns"),
        (Compose((Part(L1_NOISE, query=Query(((Fraction(1),), (Fraction(2),)), "add-remove")),)), {}, {}, "2 rows"),
        (Subsample(AS_STATED, HALF), {}, {}, "cannot be mixed"),
        (Shuffle(BY_A_RECORD, num(9)), {}, {}, "shuffling of replace and a part of add-remove cannot be mixed"),
        (Shuffle(COUNTED, num(9)), {}, {}, "shuffling of replace and a part's query of add-remove cannot be mixed"),
        (Shuffle(PLAIN, num(9)), {}, {"adjacency": "add-remove"}, "cannot be mixed"),
        (Shuffle(PLAIN, num(9)), {}, {"order": "one-sided"}, "which the adjacency replace does not do"),
        (NoisyKeys(L1_NOISE, num(9)), {}, {"adjacency": "replace", "sensitivity": num(1)}, "cannot be mixed"),
        (Parallel((AS_STATED, PLAIN)), {}, {}, "parallel under replace"),
        (Parallel((PLAIN, PLAIN)), {}, {"adjacency": "replace"}, "parallel under replace"),
        (Subsample(PLAIN, parse("p")), {"p": WIDE}, {}, "rate = p is not certainly between 0 and 1"),
        (Subsample(PLAIN, parse("p")), {"p": Domain(Fraction(-1), Fraction(1))}, {}, "rate = p is not certainly between 0 and 1"),
        (Compose((Part(Repeat(PLAIN, parse("k"))),)), {"k": REAL}, {}, "times = k is not certainly an integer of at least 1"),
        (Compose((Part(Repeat(PLAIN, parse("sqrt(2)"))),)), {}, {}, "times = sqrt(2) is not certainly an integer"),
        (Compose((Part(Repeat(PLAIN, parse("1001/1000"))),)), {}, {}, "times = 1001/1000 is not certainly an integer"),
        (KaryResponse(parse("k"), HALF), {"k": Domain(Fraction(2))}, {}, "k = k is not certainly an integer of at least 2"),
        (Staircase(parse("a"), parse("g")), {"a": REAL, "g": WIDE}, {"sensitivity": num(1)}, "gamma = g is not certainly between 0 and 1"),
        (Staircase(parse("a"), HALF), {"a": Domain(Fraction(-1))}, {"sensitivity": num(1)}, "epsilon = a is not certainly positive"),
        (replace(L1_NOISE, scale=parse("s")), {"s": Domain()}, {"sensitivity": num(1)}, "scale = s is not certainly positive"),
        (replace(L1_NOISE, dimension=parse("d")), {"d": REAL}, {"sensitivity": num(1)}, "dimension = d is not certainly an integer"),
        (replace(L1_NOISE, dimension=num(0)), {}, {"sensitivity": num(1)}, "dimension = 0 is not certainly an integer of at least 1"),
        (L1_NOISE, {"D": Domain()}, {"sensitivity": parse("D")}, "sensitivity = D is not certainly non-negative"),
        (replace(L1_NOISE, dimension=parse("d"), norm=Norm("lp", HALF.value)), {"d": COUNT}, {"sensitivity": num(1)}, "triangle"),
        (L1_NOISE, {}, {"epsilon": None, "within": num(-1), "measure": Measure("beta", HALF)}, "within = -1 is not certainly non-negative"),
        (NoisyMax(L1_NOISE, parse("n/2")), {"n": COUNT}, {"sensitivity": num(1)}, "candidates = .* is not certainly an integer"),
        (Table(((parse("p"), parse("1 - p")), (HALF, HALF))), {"p": WIDE}, {}, "row 0, entry 1"),
    ],
)  # fmt: skip
def test_what_means_nothing_for_all_parameters_or_together_is_refused_by_the_kernel(mechanism, domains, more, said):
    claim = Claim(mechanism, more.pop("epsilon", num(1)), domains=tuple(domains.items()), **more)
    with pytest.raises(CertificateError, match=said.replace("(", "[(]").replace(")", "[)]")):
        check(certificate(to_json(claim)))


def test_a_probability_may_be_0_at_some_parameters():
    claim = Claim(
        Table(((parse("p"), parse("1 - p")), (HALF, HALF))), num(1), domains=(("p", Domain(Fraction(0), Fraction(1), False, False)),)
    )
    assert check(certificate(to_json(claim))).verdict == "UNKNOWN"


def test_what_the_reader_reads_the_kernel_takes():
    for path in random.Random(3).sample(SPECS, 40):
        for stated in read_spec(path).claims:
            assert not list(faults(stated.claim)), f"{path}, {stated.claim.name}"


def numbers(value, path=()):
    """The places in a canonical form of numbers whose key says what they must be."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if key in WANTED and isinstance(inner, str) and "shape" not in value:
            yield (*path, key)
        yield from numbers(inner, (*path, key))


@pytest.mark.parametrize("kind", sorted(STARTERS))
def test_no_number_of_any_kind_may_be_less_than_nothing(tmp_path, kind):
    starter = STARTERS[kind]
    claim = to_json(read(tmp_path, f"[mechanism]\n{starter.mechanism}\n[[claim]]\nepsilon = 1\n{starter.claim}\n{starter.delta}\n"))
    found = [place for place in numbers(claim) if place[0] in ("mechanism", "sensitivity")]
    for place in found:
        with pytest.raises(CertificateError):
            check(certificate(changed(claim, ".".join(map(str, place)), "-1")))
    assert found or kind in ("table", "guarantee", "filter", "sampled", "space")


# -- answers that are integers -----------------------------------------------------------------------------------------

TOLD = STREAM.replace('state = {{ t = "rho + 1" }}\n', "").replace('neighbours = "hull"\nhull = [[1], [0]]\n', "")
FRESH_LINE = f"report = {{ fresh = {LAPLACE} }}\n"
MIXED = {
    "a threshold on the integers": (SPARSE, {"threshold": GEOMETRIC, "query": LAPLACE}),
    "answers on the integers": (SPARSE, {"threshold": LAPLACE, "query": GEOMETRIC}),
    "fresh noise on the line": (SPARSE, {"threshold": GEOMETRIC, "query": GEOMETRIC, "more": FRESH_LINE}),
    "a coin on the integers": (TOLD, {"rho": GEOMETRIC, "nu": LAPLACE, "when": "rho", "t": "0", "tell": "q + nu"}),
    "a coin beside exact answers": (TOLD, {"rho": GEOMETRIC, "nu": GEOMETRIC, "when": "q", "t": "0", "tell": "rho + nu"}),
    "a sum of both": (TOLD, {"rho": GEOMETRIC, "nu": LAPLACE, "when": "q + rho + nu", "t": "0", "tell": "rho"}),
}


def told(name, more, moved):
    text, what = MIXED[name]
    return text.format(**{**what, "more": what.get("more", "") + more, "moved": f'"{moved}"'})


@pytest.mark.parametrize("name", MIXED)
def test_answers_that_meet_other_noise_than_on_the_integers_are_not_taken_for_integers(tmp_path, name):
    # real answers move the law of what is told, so that the tight epsilon is not 0; they would not move by 1/2 if they were integers
    with pytest.raises(SpecError, match="whole_answers = true"):
        read(tmp_path, told(name, "", "1/2"))
    said = read(tmp_path, told(name, "whole_answers = true", "1/2"))
    found = verify(said)
    assert found.judgement.verdict == ("UNKNOWN" if name == "a coin beside exact answers" else "PROVED")
    forged = to_json(said)
    del forged["mechanism"]["whole_answers"]
    with pytest.raises(CertificateError, match="whole_answers = true"):
        check({**found.certificate, "claim": forged, "claim_sha256": claim_hash(forged)})


def test_integers_with_noise_on_the_line_move_by_integers(tmp_path):
    # Laplace noise of scale 4 that is told of answers that move by 1 = floor(3/2): a quarter for each of 5 steps that may be told, once
    said = read(tmp_path, told("a coin on the integers", "whole_answers = true", "3/2"))
    assert verify(said).judgement.upper == parse("1/4")


def test_that_answers_are_integers_is_said_where_noises_do_not_say_it(tmp_path):
    for both in (LAPLACE, GEOMETRIC):
        with pytest.raises(SpecError, match="whole_answers: the noises say already"):
            read(tmp_path, SPARSE.format(threshold=both, query=both, more="whole_answers = true", moved=1))
    # noise on the line that no answer meets is a coin
    beside = TOLD.format(rho=LAPLACE, nu=GEOMETRIC, when="rho", t="0", tell="q + nu", more="", moved='"1/2"')
    assert verify(read(tmp_path, beside)).judgement.verdict == "PROVED"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("sensitivity", "said"),
    [("1/2", "do not move by 1/2 at all"), ("3/2", "move by at most 1"), ("log(2)", "do not move by log(2) at all"), ("2", None)],
)
def test_what_integers_make_of_a_sensitivity_that_is_none_is_told_once(tmp_path, sensitivity, said):
    for noise in (NOISE.replace("laplace", "discrete_laplace"), LARGEST):
        text = noise.replace("sensitivity = 1", f'sensitivity = "{sensitivity}"').replace("epsilon = 1", 'epsilon = "tight"')
        lines = verify(read(tmp_path, text)).judgement.assumptions
        assert sum("answers are integers" in line for line in lines) == 1
        assert (f"answers are integers, so that they {said}" if said else "answers are integers") in lines
    result = CliRunner().invoke(main, ["verify", str(tmp_path / "it.toml"), "--no-cache", "--format", "json"])
    assert ("so that they" in result.stdout) == (said is not None)


def test_a_hull_of_integers_is_moved_by_more_than_the_sensitivity(tmp_path):
    # 1/2 times the point 2 of the hull is a whole step: nothing is said of 1/2
    hull = STREAM.format(rho=GEOMETRIC, nu=GEOMETRIC, when="q + nu", t="t", tell="q + nu", more="", moved='"1/2"')
    lines = verify(read(tmp_path, hull.replace("[[1], [0]]", "[[2]]"))).judgement.assumptions
    assert "answers are integers" in lines and not any("so that they" in line for line in lines)


def test_the_second_checker_does_not_take_real_answers_for_integers(tmp_path):
    before, own = sys.path[:], [path.stem for path in (ROOT / "checker").glob("*.py")]
    for module in own:  # other tests have modules of these names
        sys.modules.pop(module, None)
    sys.path[:0] = [str(ROOT / "checker")]
    second = importlib.import_module("check")
    sys.path[:] = before
    for module in own:
        sys.modules.pop(module, None)
    integers = read(tmp_path, SPARSE.format(threshold=GEOMETRIC, query=GEOMETRIC, more="", moved='"1/2"'))
    coin = read(tmp_path, TOLD.format(rho=GEOMETRIC, nu=GEOMETRIC, when="rho + q + nu", t="0", tell="rho", more="", moved='"1/2"'))
    on_the_line = to_json(read(tmp_path, BOTH))["mechanism"]["query_noise"]
    for claim, path, value, said in (
        (integers, "mechanism.query_noise", on_the_line, "an answer meets noise off the integers too"),
        (coin, "mechanism.steps.0.when.0.left", "q", "an exact answer"),
    ):
        honest = dict(verify(claim).certificate)
        assert second.examine(honest).verdict == "PROVED"
        forged = changed(honest["claim"], path, value)
        answer = second.examine({**honest, "claim": forged, "claim_sha256": claim_hash(forged)})
        assert answer.kind == "refused" and said in str(answer.notes)
        named = {**honest["claim"], "name": NEVER}
        assert second.examine({**honest, "claim": named, "claim_sha256": claim_hash(named)}).kind == "refused"


# -- names in statements -------------------------------------------------------------------------------------------------


def test_a_name_cannot_be_read_as_the_statement(tmp_path):
    forging = "a, epsilon 1/100, delta 0, sensitivity 5"
    claim = read(tmp_path, NOISE.replace("[[claim]]", f'[[claim]]\nname = "{forging}"'))
    assert statement(claim)[0] == f'"it", "{forging}", epsilon 1, delta 0, sensitivity 1'
    claim = read(tmp_path, NOISE.replace("[[claim]]", "[[claim]]\nname = 'a\", epsilon 0'"))
    assert statement(claim)[0] == '"it", "a\\", epsilon 0", epsilon 1, delta 0, sensitivity 1'
    run = CliRunner().invoke(main, ["verify", str(tmp_path / "it.toml"), "--no-cache", "--certificates", str(tmp_path / "proofs")])
    assert run.stdout.splitlines()[0].startswith('PROVED   "a\\", epsilon 0"  epsilon 1')
    assert '"it", "a\\", epsilon 0", epsilon 1, delta 0' in CliRunner().invoke(main, ["check", str(tmp_path / "proofs")]).stdout


@pytest.mark.parametrize(
    ("name", "apart", "shown"),
    [("d = 3, l2", "", "d = 3, l2"), ("d = 3, l2", ",", '"d = 3, l2"'), ("a  epsilon 0", "", '"a  epsilon 0"'), ('a"', "", '"a\\""')],
)
def test_a_name_is_quoted_where_it_holds_what_sets_it_apart(name, apart, shown):
    assert named(name, apart) == shown
