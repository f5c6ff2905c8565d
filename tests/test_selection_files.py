"""Claim files of the kinds noisy_max, above_threshold and exponential without scores: what they mean, and what is wrong with them."""

import pytest

from dpverify import declare
from dpverify.catalogue import read_spec
from dpverify.errors import SpecError
from dpverify.report import mathml, words
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import NoisyMax, Translation

LAPLACE = '{ kind = "builtin", name = "laplace", scale = 2 }'
LARGEST = f'kind = "noisy_max"\nnoise = {LAPLACE}\ncandidates = 3\n'
ON_LINE = '{ kind = "translation", density = "exp(-abs(z))" }'
EXACT = f'kind = "above_threshold"\nquery_noise = {LAPLACE}\nqueries = 3'
SPARSE = f'kind = "above_threshold"\nthreshold_noise = {LAPLACE}\nquery_noise = {LAPLACE}\nqueries = 3\n'


@pytest.fixture
def read(tmp_path):
    def spec(mechanism, claim="sensitivity = 1\n"):
        file = tmp_path / "file.toml"
        file.write_text(f"[mechanism]\n{mechanism}\n[[claim]]\nepsilon = 1\n{claim}")
        return read_spec(file).claims[0].claim

    return spec


@pytest.mark.parametrize(
    ("mechanism", "claim", "why"),
    [
        (LARGEST, "", "sensitivity is missing: how far each answer moves"),
        (LARGEST + 'report = "answers"', "sensitivity = 1", 'report = "answers" is not one of index, value, index.gap'),
        (LARGEST + f"report = {{ fresh = {LAPLACE} }}", "sensitivity = 1", "fresh noise is of above_threshold"),
        (LARGEST + 'neighbours = "increasing"', "sensitivity = 1", "is not one of all, monotone, one"),
        (LARGEST + "bounds = [1, 0]", "", "its ends must rise"),
        (LARGEST.replace("laplace", "discrete_laplace") + 'bounds = [0, "1/2"]', "", "bounds: 1/2 is not an integer"),
        (LARGEST.replace("scale = 2", "scale = 2, dimension = 2"), "sensitivity = 1", "noise of dimension 2 cannot be added to one answer"),
        (LARGEST.replace(LAPLACE, '{ kind = "table", rows = [[1]] }'), "sensitivity = 1", "table is no noise on one number"),
        (LARGEST.replace("scale = 2", "scale = 2, sensitivity = 1"), "sensitivity = 1", 'noise: unknown key "sensitivity"'),
        (LARGEST.replace(LAPLACE, ON_LINE) + "parameters = { z = 3 }", "sensitivity = 1", "a parameter of what is around it"),
        (LARGEST.replace(LAPLACE, '{ kind = "translation", density = "z" }'), "sensitivity = 1", "negative|normalised"),
        (SPARSE + 'report = "index"', "sensitivity = 1", 'report = "index" is not one of answers'),
        (SPARSE + "report = { fresh = 1 }", "sensitivity = 1", "nor a table"),
        (SPARSE + 'positives = "many"', "sensitivity = 1", "many"),
        (SPARSE + "positives = 0", "sensitivity = 1", "positives = 0 is not an integer of at least 1"),
        (f"{EXACT}\nresample = true", "sensitivity = 1", "no threshold_noise to be drawn again"),
        (f'kind = "group"\nsize = 2\npart = {{ {EXACT}, neighbours = "decreasing" }}'.replace("\nqu", ", qu"), "", "a part wants both"),
        ('kind = "exponential"\nbeta = 0\ncandidates = 3', "sensitivity = 1", "beta = 0 is not positive"),
        ('kind = "exponential"\nbeta = 1\ncandidates = 3\nneighbours = "one"', "sensitivity = 1", "the scores of neighbours move"),
        ('kind = "exponential"\nbeta = 1\ncandidates = 3\npoints = [1]', "sensitivity = 1", "points goes with scores"),
        ('kind = "exponential"\nbeta = 1\nscores = [[1, 2]]\ncandidates = 2', "", "candidates is for any scores"),
        ('kind = "exponential"\nbeta = 1', "", "or candidates for any scores: they are missing"),
        ('kind = "exponential"\nbeta = 1\ncandidates = 3', "", "sensitivity is missing"),
        ('kind = "exponential"\nbeta = 1\ncandidates = 3\nweights = [1, 2]', "sensitivity = 1", "weights: 2 of them for 3 candidates"),
        ('kind = "exponential"\nbeta = 1\ncandidates = 2\nweights = [1, -2]', "sensitivity = 1", "weights: -2 is not positive"),
        ('kind = "exponential"\nbeta = 1\nscores = [[1, 2]]\nweights = [1, 2, 3]', "", "weights: 3 of them for 2 outputs"),
        ('kind = "compose"\nparts = [{ kind = "noisy_votes", votes = [3, 1], sigma = 4 }]', "", "no guarantee, which a part has"),
        ('kind = "noisy_votes"\nvotes = [3, 1]\nsigma = 4', "sensitivity = 2", "Leave sensitivity out"),
        ('kind = "noisy_votes"\nvotes = [[3, 1], [2, 1, 1]]\nsigma = 4', "", "as many numbers"),
        ('kind = "noisy_votes"\nvotes = [3, -1]\nsigma = 4', "", "no integer of at least 0"),
        (LARGEST + 'neighbours = "hull"', "sensitivity = 1", "go together"),
        (LARGEST + "hull = [[1, -1, 0]]", "sensitivity = 1", "go together"),
        (LARGEST + 'neighbours = "hull"\nhull = [[1, -1]]', "sensitivity = 1", "a row of 2 numbers for"),
        (LARGEST + 'neighbours = "hull"\nhull = [1, -1]', "sensitivity = 1", "is not a list of rows"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_meant_is_refused_with_the_way_out(read, mechanism, claim, why):
    with pytest.raises(SpecError, match=why):
        read(mechanism, claim)


@pytest.mark.parametrize(
    "mechanism",
    [
        LARGEST + 'neighbours = "hull"\nhull = [[1, -1]]',
        LARGEST + 'neighbours = "hull"\nhull = [1, -1]',
        LARGEST + 'neighbours = "hull"',
        'kind = "exponential"\nbeta = 1\ncandidates = 2\nweights = [1, -2]',
        'kind = "exponential"\nbeta = 1\ncandidates = 3\nweights = [1, 2]',
        'kind = "exponential"\nbeta = 1\nscores = [[1, 2]]\nweights = [1, -2]',
    ],
)
def test_one_fault_is_told_once(read, mechanism):
    with pytest.raises(SpecError) as raised:
        read(mechanism, "" if "scores" in mechanism else "sensitivity = 1")
    assert len(str(raised.value).splitlines()) == 1


def test_between_bounds_the_sensitivity_is_their_length_where_none_is_stated(read):
    assert read(LARGEST + 'bounds = [1, "5/2"]', "").sensitivity == parse("3/2")
    assert read(LARGEST + 'bounds = [1, "5/2"]').sensitivity == ONE


def test_the_exponential_mechanism_for_any_scores_is_noisy_max_with_gumbel_noise(read):
    gumbel = Translation(parse("exp(-z/2 - exp(-z/2))"))
    assert read('kind = "exponential"\nbeta = "1/2"\ncandidates = 3').mechanism == NoisyMax(gumbel, num(3))
    assert read('kind = "noisy_max"\nnoise = { kind = "builtin", name = "gumbel", scale = 2 }\ncandidates = 3').mechanism == NoisyMax(
        gumbel, num(3)
    )


def test_declarations_in_python_nest_their_noises(read):
    made = declare.AboveThreshold(3, declare.laplace(2), declare.laplace(2), positives="unlimited", report={"fresh": declare.laplace(5)})
    model = declare.Mechanism("mine", made).model()
    assert model == read(f'{SPARSE}positives = "unlimited"\nreport = {{ fresh = {LAPLACE.replace("2", "5")} }}').mechanism


@pytest.mark.parametrize(
    ("mechanism", "law", "neighbours"),
    [
        (LARGEST, "the index of the greatest of q_i + Z_i", "lists of answers each of which moves by at most 1"),
        (SPARSE + "bounds = [0, 1]", "whether q_i + Z_i ≥ t", "each of which moves by at most 1; all of them lie between 0 and 1"),
        (SPARSE + 'neighbours = "increasing"', "t = 0 + V", "in the second none is less than in the first"),
        (LARGEST.replace("laplace", "discrete_laplace"), "the index", "all answers are integers"),
    ],
)
def test_reports_say_what_was_understood(read, mechanism, law, neighbours):
    claim = read(mechanism)
    assert law in mathml.density_text(claim.mechanism) and neighbours in words.neighbours(claim)
