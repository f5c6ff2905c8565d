"""The JSON Schemas say what is so: of claim files what the reader says, of answers, certificates and curves what is written."""

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from click.testing import CliRunner
from jsonschema import Draft7Validator

from dpverify import cli
from dpverify.catalogue import read_spec, reader
from dpverify.catalogue.kinds import STARTERS
from dpverify.catalogue.kinds.fields import MOST_ROWS
from dpverify.catalogue.kinds.named import BUILTINS
from dpverify.catalogue.mechanisms import MAX_PARAMETERS
from dpverify.catalogue.toml import Fields
from dpverify.catalogue.values import METRICS, SCHEMES, VERDICTS
from dpverify.errors import SpecError
from dpverify.project.render import render
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.certificate import MAX_LINES, PRECISIONS, unpack
from dpverify.trusted.kernel.certificate import VERDICTS as VERDICT_WORDS
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import FUNCTIONS
from dpverify.trusted.sensitivity.queries import ADJACENCIES
from tests import committed

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "dpverify" / "schemas"
NAMES = ("answer", "certificate", "claim-file", "curves", "design", "ledger")
SPECS = sorted((ROOT / "specs").rglob("*.toml"))

# One claim file for every kind and builtin, and for each way in which a kind may be written.
EXAMPLES = {
    "radial": """
        mechanism = {kind = "radial", profile = "exp(-r/b)", norm = "l2", dimension = 3, scale = 2, parameters = {b = "positive"}}
        claim = [{name = "a", sensitivity = 1, epsilon = "tight", delta = 0, expect = "unknown", utility = true}]""",
    "post_process, by a matrix": """
        mechanism = {kind = "post_process", matrix = [[1, "-1/2"]], part = {kind = "product", density = "exp(-abs(z))", dimension = 2}}
        claim = [{epsilon = 1, utility = true}]""",
    "radial, by its logarithm": """
        mechanism = {kind = "radial", log_profile = "-r", norm = {lp = "3/2"}, dimension = 2}
        claim = [{query = [[1, 0], [1, 1]], adjacency = "add-remove", epsilon = 1}]""",
    "radial, on the line": """
        mechanism = {kind = "radial", profile = "exp(-r)", dimension = 1}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "radial, of an ellipsoid": """
        mechanism = {kind = "radial", profile = "exp(-r)", norm = {ellipsoid = [[2, 1], [1, 3]]}, dimension = 2}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "radial, of facets": """
        mechanism = {kind = "radial", profile = "exp(-r)", norm = {facets = [[1, 0], ["1/2", 1]]}, dimension = 2}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "translation": """
        mechanism = {kind = "translation", density = "exp(-z)", support = [0, "inf"], integers = true}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "translation, by its logarithm": """
        mechanism = {kind = "translation", log_density = "-abs(z)"}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "product": """
        mechanism = {kind = "product", density = "exp(-abs(z))", dimension = 2, norm = "l1"}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "mixture": """
        mechanism = {kind = "mixture", profile = "v*exp(-v*r**2)", mixing = "exp(-v)", support = [0, "inf"], norm = "l2", dimension = 2}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "mixture, by logarithms": """
        mechanism = {kind = "mixture", log_profile = "log(v) - v*r**2", log_mixing = "-v", norm = "l2", dimension = 2}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "table": """
        mechanism = {kind = "table", rows = [["1/2", 0.5], [0.25, "3/4"]], adjacent = [[0, 1]]}
        claim = [{epsilon = 1, delta = "tight"}]""",
    "table, with losses": """
        mechanism = {kind = "table", rows = [["1/2", "1/2"], ["1/4", "3/4"]]}
        claim = [{epsilon = 1, utility = true, loss = [[0, 1], ["1/2", 0]], prior = ["1/3", "2/3"]}]""",
    "kernel": """
        mechanism = {kind = "kernel", density = "1 + theta*(y - 1/2)", output = [0, 1], input = [0, 1]}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "kernel, by its logarithm": """
        mechanism = {kind = "kernel", log_density = "log(1 + theta*(y - 1/2))", output = [0, 1], input = [0, 1]}
        claim = [{epsilon = 1}]""",
    "exponential": """
        mechanism = {kind = "exponential", scores = [[1, 0], [0, 1]], beta = 1, adjacent = "all"}
        claim = [{epsilon = 1}]""",
    "exponential, of points": """
        mechanism = {kind = "exponential", points = [0, 1, "3/2"], metric = "l1", beta = 1}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "exponential, of distances": """
        mechanism = {kind = "exponential", metric = [[0, 1], [1, 0]], beta = 1}
        claim = [{epsilon = 2}]""",
    "elliptical_process": """
        mechanism = {kind = "elliptical_process", mixing = "exp(-v)", support = [0, "inf"], scale = 2}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "elliptical_process, by its logarithm": """
        mechanism = {kind = "elliptical_process", log_mixing = "-v"}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "elliptical_process, of the t law": """
        mechanism = {kind = "elliptical_process", nu = 3}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "guarantee": """
        mechanism = {kind = "guarantee", epsilon = 1, delta = "1e-6"}
        claim = [{epsilon = 1, delta = "1e-6"}]""",
    "guarantee, of a curve": """
        mechanism = {kind = "guarantee", curve = [[1, "1e-6"], [2, 0]]}
        claim = [{epsilon = 2}]""",
    "guarantee, of Renyi": """
        mechanism = {kind = "guarantee", renyi = [[2, 1]]}
        claim = [{epsilon = 9, delta = "1e-3"}]""",
    "guarantee, concentrated": """
        mechanism = {kind = "guarantee", zcdp = "1/2"}
        claim = [{epsilon = 9, delta = "1e-3"}]""",
    "guarantee, Gaussian": """
        mechanism = {kind = "guarantee", gdp = 1}
        claim = [{epsilon = 9, delta = "1e-3"}]""",
    "guarantee, of bounded range": """
        mechanism = {kind = "guarantee", bounded_range = 1}
        claim = [{epsilon = 1}]""",
    "filter": """
        mechanism = {kind = "filter", budget = {epsilon = 1, delta = "1e-6"}}
        claim = [{epsilon = 1, delta = "1e-6"}]""",
    "filter, of pure epsilons": """
        mechanism = {kind = "filter", budget = {epsilon = "e"}, parameters = {e = "positive"}}
        claim = [{epsilon = "e"}]""",
    "filter, concentrated": """
        mechanism = {kind = "filter", budget = {zcdp = "1/2"}}
        claim = [{zcdp = "1/2"}]""",
    "filter, Gaussian": """
        mechanism = {kind = "filter", budget = {gdp = 1}}
        claim = [{epsilon = 9, delta = "1e-3"}]""",
    "filter, of Renyi": """
        mechanism = {kind = "filter", budget = {renyi = {order = 8, epsilon = 1}}}
        claim = [{epsilon = 9, delta = "1e-3"}]""",
    "space": """
        mechanism = {kind = "space", shape = {kind = "box", sides = [1, "2"], norm = "linf"}, lipschitz = 1, diameter = 2}
        claim = [{epsilon = "tight", within = "1/4", beta = "1/20"}]""",
    "space, of listed databases": """
        mechanism = {kind = "space", shape = {kind = "points", distances = [[0, 1], [1, 0]]}, between = [[0, 1], [1, 0]], truth = [1, 0]}
        claim = [{epsilon = 3, within = "1/4", beta = "1/20"}]""",
    "space, of a tree": """
        mechanism = {kind = "space", shape = {kind = "tree", ratio = "1/2", branching = [2, "k + 1"]}, databases = "unbounded"}
        claim = [{epsilon = "tight", within = "1/4", beta = "1/20"}]""",
    "space, a product": """
        mechanism = {kind = "space", shape = {kind = "product", parts = [{kind = "real"}]}, databases = "answers"}
        claim = [{epsilon = "tight", within = "1/4", beta = "1/20"}]""",
    "sampled": """
        mechanism = {kind = "sampled"}
        claim = [{epsilon = 1}]
        audit = {sampler = "noise:noisy", query = "noise:query", pairs = [[[0.0], [1.0]]], patterns = "usual", length = 2}""",
    "sampled, from a strategy": """
        mechanism = {kind = "sampled"}
        claim = [{epsilon = 1}]
        audit = {sampler = "a.b/noise:Class.noisy", patterns = "strategy:noise:data"}""",
    "sampled, with what fails and how long it takes": """
        mechanism = {kind = "sampled"}
        claim = [{epsilon = 1}]
        audit = {sampler = "noise:noisy", pairs = [[[0], [1]]], observe = "time"}""",
    "sampled, a training": """
        mechanism = {kind = "sampled"}
        claim = [{epsilon = 1, delta = "1e-6"}]
        [audit]
        train = "a:train"
        canaries = "a:canaries"
        score = "a:score"
        data = "a:data"
        instead = "a:others"
        runs = 3
        guesses = 10
        confidence = 0.99""",
    "program": """
        program = "mechanisms/programs/selection.py:above_threshold_gap"
        claim = [{epsilon = 1}]""",
    "program, in a table": """
        mechanism = {program = "mechanisms/programs/selection.py:above_threshold_gap", parameters = {c = 2}}
        claim = [{epsilon = 1}]""",
    "use": """
        mechanism = {use = "laplace", parameters = {b = 2}}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "compose": """
        mechanism = {kind = "compose", adjacency = "add-remove", parts = [
          {kind = "builtin", name = "laplace", scale = 4, dimension = 2, query = [[1, 0], [0, 1]], adjacency = "add-remove", times = 3},
          {kind = "radial", profile = "exp(-r/b)", norm = "l1", dimension = 2, sensitivity = 1, parameters = {b = 3}},
        ]}
        claim = [{epsilon = 9, delta = "1e-3", adjacency = "add-remove"}]""",
    "compose, one part": """
        mechanism.kind = "compose"
        mechanism.times = "k"
        mechanism.parameters = {k = 3}
        mechanism.part = {kind = "group", size = 2, part = {kind = "guarantee", gdp = 1}}
        claim = [{epsilon = 9, delta = "1e-3"}]""",
    "subsample": """
        mechanism = {kind = "subsample", rate = 0.1, scheme = "without-replacement", part = {kind = "guarantee", epsilon = 1}}
        claim = [{epsilon = 9, delta = "1e-3"}]""",
    "group": """
        mechanism = {kind = "group", size = 2, part = {kind = "builtin", name = "discrete_gaussian", sigma = 1}}
        claim = [{epsilon = 9, delta = "1e-3"}]""",
    "post_process": """
        mechanism = {kind = "post_process", map = "rounding", part = {kind = "builtin", name = "discrete_laplace", scale = 1}}
        claim = [{epsilon = 1}]""",
    "parallel": """
        mechanism = {kind = "parallel", parts = [{kind = "table", rows = [[1, 0], ["1/2", "1/2"]], times = 2}]}
        claim = [{epsilon = 1}]""",
    "best_of": """
        mechanism = {kind = "best_of", part = {kind = "guarantee", epsilon = "1/10"}, runs = {law = "geometric", mean = 100}}
        claim = [{epsilon = "3/10"}]""",
    "best_of, a negative binomial number of runs": """
        mechanism.kind = "best_of"
        mechanism.part = {kind = "builtin", name = "laplace", scale = 2}
        mechanism.runs = {law = "negative_binomial", eta = "h", gamma = "1/10"}
        mechanism.parameters = {h = "> -1"}
        claim = [{epsilon = "(2 + h)/2"}]""",
    "best_of, a fixed number": """
        mechanism = {kind = "best_of", part = {kind = "builtin", name = "gaussian", sigma = 2}, runs = {law = "fixed", number = 5}}
        claim = [{epsilon = 9, delta = "1e-3"}]""",
    "lipschitz": """
        mechanism = {kind = "lipschitz", constant = 2, part = {kind = "product", density = "exp(-abs(z))", dimension = 2}}
        claim = [{epsilon = 2}]""",
    "laplace": """
        mechanism = {kind = "builtin", name = "laplace", parameters = {scale = "b", b = 2}, dimension = 2}
        claim = [{sensitivity = 1, epsilon = "1/b"}]""",
    "discrete_laplace": """
        mechanism = {kind = "builtin", name = "discrete_laplace", scale = "scale", parameters = {scale = 2}}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "gaussian": """
        mechanism = {kind = "builtin", name = "gaussian", sigma = 2, dimension = 2}
        claim = [{sensitivity = 1, epsilon = 1, delta = "1e-3"}]""",
    "discrete_gaussian": """
        mechanism = {kind = "builtin", name = "discrete_gaussian", parameters = {sigma = 2}}
        claim = [{sensitivity = 1, epsilon = 1, delta = "1e-3"}]""",
    "staircase": """
        mechanism = {kind = "builtin", name = "staircase", epsilon = 1, parameters = {gamma = "in (0, 1)"}}
        claim = [{epsilon = 1}]""",
    "randomized_response": """
        mechanism = {kind = "builtin", name = "randomized_response", p = "3/4"}
        claim = [{epsilon = "log(3)"}]""",
    "k_randomized_response": """
        mechanism = {kind = "builtin", name = "k_randomized_response", k = "integer >= 2", p = "1/2"}
        claim = [{epsilon = "log(k - 1)"}]""",
    "optimal_keys": """
        mechanism = {kind = "builtin", name = "optimal_keys", epsilon = 1, delta = "1/100"}
        claim = [{epsilon = 1, delta = "1/100"}]""",
    "student_t": """
        mechanism = {kind = "builtin", name = "student_t", nu = 5, dimension = 3, scale = 2}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "exponential, of any scores": """
        mechanism = {kind = "exponential", candidates = "n", beta = 1, neighbours = "monotone", parameters = {n = "integer >= 2"}}
        claim = [{sensitivity = 1, epsilon = 2}]""",
    "noisy_max": """
        mechanism = {kind = "noisy_max", noise = {kind = "builtin", name = "gumbel", scale = 2}, candidates = 3, report = "index+gap"}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "noisy_max, between bounds": """
        mechanism = {kind = "noisy_max", noise = {kind = "builtin", name = "exponential", scale = 2}, candidates = 3, bounds = [0, 1]}
        claim = [{epsilon = 1}]""",
    "shuffle": """
        mechanism = {kind = "shuffle", people = 100, part = {kind = "guarantee", epsilon = 1}}
        claim = [{epsilon = "1/2", delta = "1/100"}]""",
    "noisy_keys": """
        mechanism = {kind = "noisy_keys", noise = {kind = "builtin", name = "gumbel", scale = 2}, threshold = 25, keys = 3}
        claim = [{sensitivity = 1, epsilon = 1, delta = "1/1000"}]""",
    "above_threshold": """
        mechanism.kind = "above_threshold"
        mechanism.queries = 5
        mechanism.positives = "unlimited"
        mechanism.neighbours = "increasing"
        mechanism.resample = true
        mechanism.threshold_noise = {kind = "builtin", name = "logistic", scale = 2}
        mechanism.query_noise = {kind = "translation", density = "exp(-abs(z))"}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "above_threshold, with fresh noise": """
        mechanism.kind = "above_threshold"
        mechanism.queries = 5
        mechanism.threshold = "1/2"
        mechanism.report = {fresh = {kind = "builtin", name = "laplace", scale = 1}}
        mechanism.query_noise = {kind = "builtin", name = "laplace", scale = 2}
        mechanism.bounds = [0, 1]
        claim = [{epsilon = 9}]""",
    "correlated_noise": """
        mechanism = {kind = "correlated_noise", strategy = [[1, 0], ["1/2", 1]], sigma = 2}
        claim = [{sensitivity = 1, epsilon = 1, delta = "1/1000"}]""",
    "correlated_noise, by name": """
        mechanism.kind = "correlated_noise"
        mechanism.strategy = "prefix_sums"
        mechanism.steps = 9
        mechanism.sigma = 20
        mechanism.participation = {times = 2, separation = 3, order = "fixed"}
        claim = [{sensitivity = 1, epsilon = 1, delta = "1/1000"}]""",
    "correlated_noise, on samples": """
        mechanism.kind = "correlated_noise"
        mechanism.strategy = "toeplitz"
        mechanism.coefficients = [1, "1/2"]
        mechanism.steps = 4
        mechanism.sigma = 2
        mechanism.sampling = {rate = "1/10"}
        claim = [{sensitivity = 1, epsilon = 1, delta = "1/1000"}]""",
    "exponential noise": """
        mechanism = {kind = "builtin", name = "exponential", scale = 2}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "gumbel": """
        mechanism = {kind = "builtin", name = "gumbel", parameters = {scale = 2}}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "poisson": """
        mechanism = {kind = "builtin", name = "poisson", mean = 20}
        claim = [{sensitivity = 1, epsilon = 1, delta = "1/1000"}]""",
    "binomial": """
        mechanism = {kind = "builtin", name = "binomial", n = 40, p = "1/2"}
        claim = [{sensitivity = 1, epsilon = 1, delta = "1/1000"}]""",
    "negative_binomial": """
        mechanism = {kind = "builtin", name = "negative_binomial", eta = 2, gamma = "1/10"}
        claim = [{sensitivity = 1, epsilon = 1, delta = "1/1000"}]""",
    "skellam": """
        mechanism = {kind = "builtin", name = "skellam", mean = 20}
        claim = [{sensitivity = 1, epsilon = 1, delta = "1/1000"}]""",
    "sum": """
        mechanism = {kind = "sum", part = {kind = "builtin", name = "discrete_laplace", scale = 2}, times = 3, dropouts = 1}
        claim = [{sensitivity = 1, epsilon = "1/2"}]""",
    "sum, of several, and less others": """
        mechanism.kind = "sum"
        mechanism.parts = [{kind = "builtin", name = "poisson", mean = 3, times = 2}, {kind = "builtin", name = "skellam", mean = 3}]
        mechanism.subtracted = [{kind = "builtin", name = "binomial", n = 4, p = "1/2"}]
        claim = [{sensitivity = 1, epsilon = 1, delta = "1/100"}]""",
    "logistic": """
        mechanism = {kind = "builtin", name = "logistic", scale = 2}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "knorm": """
        mechanism = {kind = "builtin", name = "knorm", epsilon = 1, columns = [[1, 0], [1, 1]]}
        claim = [{sensitivity = 1, epsilon = 1}]""",
    "knorm, of facets": """
        mechanism = {kind = "builtin", name = "knorm", parameters = {epsilon = 1, facets = [[1, 0], [0, 1]]}}
        claim = [{sensitivity = 1, epsilon = 1}]""",
}  # fmt: skip
TESTED = {re.match(r"\w+", name).group() for name in EXAMPLES}
EXAMPLES |= {kind: render("claim.toml", name=kind, starter=starter, sampler=False, schema="") for kind, starter in STARTERS.items()
             if kind not in {*TESTED, "builtin"}}  # fmt: skip
"""Of a kind for which nothing is written here: what `dpverify new` writes."""


@cache
def schema(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))


@cache
def validator(name: str) -> Draft7Validator:
    return Draft7Validator(schema(name))


def faults(name: str, value: Any) -> list[str]:
    return [f"{error.json_path}: {error.message[:200]}" for error in validator(name).iter_errors(value)]


def run(*args: str) -> str:
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    assert result.exit_code in (0, 1, 4), result.output
    return result.stdout


def example(name: str) -> dict[str, Any]:
    return tomllib.loads(EXAMPLES[name], parse_float=Decimal)


@pytest.fixture
def in_memory(monkeypatch):
    """Thousands of files are read, none of which needs to be on a disk."""
    monkeypatch.setattr(reader, "read_text", lambda path: TEXTS[str(path)])


TEXTS: dict[str, str] = {}
FILE = "claims.toml"


def refusal(data: dict[str, Any]) -> list[str]:
    """What the reader finds wrong with a file that holds this, which is in memory."""
    TEXTS[FILE] = tomli_w.dumps(data)
    try:
        read_spec(FILE)
    except SpecError as error:
        return list(error.faults)
    return []


# -- the schemas themselves ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_valid_and_every_reference_in_it_leads_to_a_definition_that_is_used(name):
    Draft7Validator.check_schema(schema(name))
    text = json.dumps(schema(name))
    referred = set(re.findall(r'"\$ref": "#/definitions/([^"]+)"', text))
    assert referred == schema(name)["definitions"].keys()
    assert text.count('"$ref"') == text.count('"$ref": "#/definitions/')


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_prints_the_schema(name):
    assert json.loads(run("schema", name)) == schema(name)


def test_an_unknown_schema_is_refused_with_the_names_of_those_there_are():
    result = CliRunner().invoke(cli.main, ["schema", "claim"])
    assert result.exit_code == 2
    assert all(name in result.output for name in NAMES)


# -- claim files: what the reader knows ------------------------------------------------------------------------


@pytest.mark.wide
def test_a_claim_file_of_the_catalogue_is_valid():
    assert [(path.stem, each) for path in SPECS for each in faults("claim-file", tomllib.loads(path.read_text(encoding="utf-8")))] == []


@pytest.mark.wide
def test_the_reader_and_the_schema_take_every_example(in_memory):
    assert {name: fault for name in EXAMPLES if (fault := [*faults("claim-file", example(name)), *refusal(example(name))])} == {}


def keys_of(*definitions: str) -> set[str]:
    return set(chain.from_iterable(schema("claim-file")["definitions"][name]["properties"] for name in definitions))


def test_the_words_of_the_schema_are_the_readers():
    definitions = schema("claim-file")["definitions"]
    keys, claim = definitions["keys"]["properties"], definitions["claim"]["properties"]
    assert keys["kind"]["enum"] and set(keys["kind"]["enum"]) == set(STARTERS)
    assert set(keys["name"]["enum"]) == BUILTINS.keys()
    assert {word.replace("-", "_") for word in keys["scheme"]["enum"]} == set(SCHEMES)
    assert set(keys["adjacency"]["enum"]) == set(claim["adjacency"]["enum"]) == set(ADJACENCIES)
    assert set(keys["metric"]["anyOf"][0]["enum"]) == set(METRICS)
    assert set(claim["expect"]["enum"]) == set(VERDICTS)
    assert set(definitions["parameters"]["propertyNames"]["not"]["enum"]) == {*FUNCTIONS, "pi"}
    assert keys["parameters"]["maxProperties"] == MAX_PARAMETERS
    assert keys["curve"]["maxItems"] == keys["renyi"]["maxItems"] == MOST_ROWS


def test_every_word_that_an_editor_offers_is_described():
    definitions = schema("claim-file")["definitions"]
    for table in (definitions["keys"], definitions["claim"], definitions["audit"]):
        for key, value in table["properties"].items():
            found = definitions[value["$ref"].rpartition("/")[2]] if "$ref" in value else value
            assert len(found.get("description", "")) > 10 or key == "part", key
            words = found.get("x-taplo", {}).get("docs", {}).get("enumValues")
            assert words is None or len(words) == len(found["enum"]), key


def test_the_examples_are_of_every_kind_and_builtin():
    tables = [
        table
        for name in EXAMPLES
        for place, table in tables_of(example(name))
        if {"mechanism", "part", "parts"} & set(place) and "shape" not in place
    ]
    assert {table["kind"] for table in tables if "kind" in table} == set(STARTERS)
    assert {table["name"] for table in tables if table.get("kind") == "builtin"} == BUILTINS.keys()


@pytest.mark.wide
def test_the_keys_of_the_schema_are_those_that_the_reader_asks_for(in_memory, monkeypatch):
    asked: dict[str, set[str]] = {}

    def watch(method: str) -> None:
        plain = getattr(Fields, method)

        def watched(table: Fields, key: Any, *rest: Any, **named: Any) -> Any:
            place = table.where.rpartition(", ")[2]
            for each in (key,) if isinstance(key, str) else key:
                asked.setdefault(re.sub(r" \d+$", "", place), set()).add(each)
            return plain(table, key, *rest, **named)

        monkeypatch.setattr(Fields, method, watched)

    for method in ("need", "may", "has", "one_of"):
        watch(method)
    for name in EXAMPLES:
        assert refusal(example(name)) == []
    mechanism = (asked["mechanism"] | asked["part"]) - {"columns or facets"}  # the reader's name for one of them
    assert mechanism == keys_of("keys")
    assert asked["claim"] == keys_of("claim")
    assert asked["audit"] == keys_of("audit")
    assert asked[FILE] == schema("claim-file")["properties"].keys()


# -- claim files: what is refused ------------------------------------------------------------------------------

# What the reader says of the shape of a file; all else it says is about what the values mean. Whether a declaration in Python is of
# additive noise, which needs a sensitivity, no schema knows.
SHAPE = re.compile(
    r"unknown key|is missing|they are missing|is not a table|is one table|is not a list|is not one of|is not true or false"
    r"|is not a short text|is not a number\. (?!.*\()|is not an interval|is not a norm|not both|needs its adjacency|needs length"
    r"|the builtin \w+ needs|goes with epsilon|is not \"module:name\"|is neither \"usual\"|is not a positive integer"
    r"|only additive noise answers|cannot name a parameter|is this kind's variable|a part must say what it is|must have finite ends"
    r"|stands both in|has \d+ pairs"
)


Place = tuple[str | int, ...]


def tables_of(value: Any, place: Place = ()) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Every table at every depth, and where it is."""
    if isinstance(value, dict):
        yield place, value
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from tables_of(item, (*place, key))


def changed(data: dict[str, Any], place: Place, key: str, value: Any) -> dict[str, Any]:
    """A copy with one key of one table set, or dropped where the value is None."""
    data = copy.deepcopy(data)
    table: Any = data
    for step in place:
        table = table[step]
    table.pop(key, None)
    return data if value is None else (table.update({key: value}) or data)


OTHERS = (True, 2, Decimal("0.5"), "", "nonsense", "tight", [], [[1, 2], [3, 4]], {"nonsense": 1})


def mutants(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The file with a key dropped, an unknown key, a key of another kind, or a value of another sort, at every place."""
    for place, table in tables_of(data):
        where = ".".join(map(str, place))
        yield f"{where}: nonsense", changed(data, place, "nonsense", 1)
        for key, value in table.items():
            yield f"{where}: no {key}", changed(data, place, key, None)
            for other in OTHERS:
                if other != value or type(other) is not type(value):
                    yield f"{where}: {key} = {other!r}", changed(data, place, key, other)
        if {"kind", "use"} & table.keys() and "parts" not in place:  # which keys a table may have depends on what it is
            for key, value in PLAUSIBLE.items():
                if key not in table:
                    yield f"{where}: {key} = {value!r}", changed(data, place, key, value)


PLAUSIBLE = {key: value for name in EXAMPLES for _, table in tables_of(example(name)) for key, value in table.items() if key != "use"}


def disagreements(data: dict[str, Any], every: int = 1) -> Iterator[str]:
    """every: only each so-manieth change is tried."""
    for what, mutant in islice(mutants(data), 0, None, every):
        valid, said = validator("claim-file").is_valid(mutant), refusal(mutant)
        if not valid and not said:
            yield f"{what}: only the schema refuses it: {faults('claim-file', mutant)}"
        shape = [fault for fault in said if SHAPE.search(fault) and not ("use" in data.get("mechanism", {}) and "additive noise" in fault)]
        if shape and valid:
            yield f"{what}: only the reader refuses it: {shape}"


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.wide)])
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_schema_and_the_reader_refuse_the_same_changes(name, every, in_memory):
    assert list(disagreements(example(name), every)) == []


# -- answers, certificates and curves --------------------------------------------------------------------------


def closed(schema: Any) -> Any:
    """The schema with no room for what it does not describe. Conditions speak of some keys only, and are left as they are."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inside = {key: value if key in ("allOf", "if", "then", "else") else closed(value) for key, value in schema.items()}
    described = isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema and "type" in schema
    return {**inside, "additionalProperties": False} if described else inside


def undescribed(name: str, value: Any) -> list[str]:
    """What a file holds that its schema does not allow, or says nothing of."""
    return [f"{error.json_path}: {error.message[:200]}" for error in Draft7Validator(closed(schema(name))).iter_errors(value)]


ANSWERED = (
    "laplace",  # proved and refuted, at a point
    "randomized_response",  # an event of a table
    "exponential_mechanism_all",  # a counterexample among parameters
    "delta_gaussian",  # with delta
)


@pytest.fixture(scope="module")
def answer(tmp_path_factory) -> dict[str, Any]:
    """A real answer of every verdict."""
    folder = tmp_path_factory.mktemp("answer")
    undecided = folder / "undecided.toml"
    undecided.write_text('[mechanism]\nkind = "sampled"\n[[claim]]\nepsilon = 1\nutility = true\nbeta = "1/20"\n')
    files = [ROOT / "specs" / f"{name}.toml" for name in ANSWERED]
    return json.loads(run("verify", "--certificates", folder, "--format", "json", *files, undecided))


@pytest.mark.wide
def test_what_verify_prints_is_valid_and_described(answer):
    assert {claim["verdict"] for claim in answer["claims"]} == {"PROVED", "REFUTED", "UNKNOWN"}
    assert {True, False} == {"utility" in claim for claim in answer["claims"]}
    assert undescribed("answer", answer) == []


WITHOUT_AN_ERROR = {"reason": "no rule encloses it."}
ENCLOSED = {"lower": "1.9", "upper": "2.1"}
NECESSARY = {"lower": "0.5", "rule": "volume", "theorem": "lines-lower-bound", "neighbours": "real histograms, l1", "assumptions": []}
ERRORS = {
    "expected_l2": ENCLOSED,
    "rms_l2": {"lower": "1", "upper": "inf", "reason": "no upper bound on it is known."},
    "necessary_l2": {**NECESSARY, "ratio": "4.2"},
    "necessary_rms_l2": WITHOUT_AN_ERROR,
    "coordinates": [{"coordinate": 0, "expected_absolute": ENCLOSED, "rms": WITHOUT_AN_ERROR}],
    "exceeded": {"beta": "1/20", "lower": "3", "upper": "3.1"},
}


def with_errors(answer, errors):
    undecided = next(claim for claim in answer["claims"] if claim["verdict"] == "UNKNOWN")
    return {**answer, "claims": [{**undecided, "utility": errors}]}


def test_the_errors_of_a_claim_are_enclosed_or_say_why_not(answer):
    assert undescribed("answer", with_errors(answer, ERRORS)) == []
    for key in ("expected_l2", "rms_l2", "necessary_l2", "necessary_rms_l2"):
        assert undescribed("answer", with_errors(answer, {**ERRORS, key: WITHOUT_AN_ERROR})) == []
    assert undescribed("answer", with_errors(answer, {**ERRORS, "exceeded": {"beta": "1/20", "reason": "none."}})) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, None) for key in ERRORS),
        *(("expected_l2", wrong) for wrong in ({}, {"lower": "1"}, {"lower": "1", "upper": None}, {"reason": None})),
        ("expected_l2", {"lower": 1, "upper": 2}),
        *(("necessary_l2", {**NECESSARY, key: None}) for key in NECESSARY),
        ("necessary_l2", {"lower": "0.5", "rule": "volume"}),
        ("coordinates", [{"coordinate": 0, "expected_absolute": None, "rms": WITHOUT_AN_ERROR}]),
        ("exceeded", {"beta": "1/20"}),
        ("exceeded", {"beta": "1/20", "upper": "3"}),
        ("exceeded", ENCLOSED),
    ],
)
def test_an_error_that_is_neither_enclosed_nor_refused_with_a_reason_is_not_valid(answer, key, value):
    assert faults("answer", with_errors(answer, {**ERRORS, key: value}))


@pytest.mark.wide
def test_what_audit_prints_is_valid_and_described(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("noise.py").write_text(
        "def half(data, rng):\n    return data + rng.laplace(scale=0.5, size=len(data))\n"
        "def whole(data, rng):\n    return data + rng.laplace(scale=1, size=len(data))\n"
        "def broken(data, rng):\n    raise ValueError\n"
    )
    for name in ("half", "whole", "broken"):
        laplace = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n[[claim]]\nsensitivity = 1\nepsilon = 1\n'
        Path(f"{name}.toml").write_text(laplace + f'[audit]\nsampler = "noise:{name}"\n')
    printed = CliRunner().invoke(cli.main, ["audit", ".", "--samples", "2000", "--seed", "1", "--workers", "0", "--format", "json"])
    answer = json.loads(printed.stdout)
    assert {"VIOLATION", "NONCONFORMING"} <= {audit["finding"] for audit in answer["audits"]}
    assert len(answer["errors"]) == 1
    assert undescribed("answer", answer) == []


def test_an_answer_that_lacks_what_the_contract_promises_is_not_valid(answer):
    for claim in answer["claims"]:
        for key in schema("answer")["definitions"]["claim"]["required"]:
            assert faults("answer", {**answer, "claims": [{k: v for k, v in claim.items() if k != key}]}), key


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("verdict", "proved"),
        ("epsilon", {"claimed": "1", "lower": 1.0, "upper": "1"}),
        ("epsilon", {"claimed": "1", "lower": "log(3)", "upper": "2"}),
        ("rules", "none"),
        ("reason", None),
        ("witness", {}),
    ],
)
def test_an_answer_with_a_value_of_another_sort_is_not_valid(answer, key, value):
    undecided = next(claim for claim in answer["claims"] if claim["verdict"] == "UNKNOWN")
    assert faults("answer", {**answer, "claims": [undecided]}) == []
    assert faults("answer", {**answer, "claims": [{**undecided, key: value}]})




@pytest.mark.wide
def test_every_committed_certificate_is_valid():
    assert len(committed.names()) > 100
    assert {name: found for name, data in committed.certificates().items() if (found := faults("certificate", data))} == {}


@pytest.mark.wide
@pytest.mark.parametrize(
    "names",
    [
        ("delta_laplace", "compose_randomized_response", "delta_table"),
        pytest.param(("parallel_histogram", "measure_one_sided_table", "gaussian"), marks=pytest.mark.wide),
    ],
)
def test_curves_of_every_sort_are_valid_and_described(tmp_path, names):
    done = CliRunner().invoke(cli.main, ["report", *names, "-o", str(tmp_path), "--no-cache"])
    assert done.exit_code == 0, done.output
    curves = sorted(tmp_path.glob("*.curves.json"))
    closed_curves = Draft7Validator(closed(schema("curves")))
    assert len(curves) >= 2 and [path.name for path in curves if not closed_curves.is_valid(json.loads(path.read_text()))] == []
    kinds = {key for path in curves for one in json.loads(path.read_text())["claims"] for key in one}
    assert {"delta", "trade_off", "composition"} <= kinds


@pytest.mark.parametrize("kind", model.KINDS)
def test_a_certificate_says_of_a_mechanism_what_the_model_holds(kind):
    known = schema("certificate")["definitions"][f"kind_{kind}"]
    fields = {"kind", *model.KINDS[kind].__dataclass_fields__}
    assert set(known["properties"]) == fields and set(known["required"]) == fields - {*model.LEFT_OUT}
    assert known["additionalProperties"] is False


def test_the_limits_of_a_certificate_are_the_readers():
    known = schema("certificate")["properties"]
    assert (known["prec"]["minimum"], known["prec"]["maximum"]) == (PRECISIONS[0], PRECISIONS[-1])
    assert known["lines"]["maxItems"] == MAX_LINES
    of_a_line = known["lines"]["items"]["properties"]["prec"]
    assert (of_a_line["minimum"], of_a_line["maximum"]) == (PRECISIONS[0], PRECISIONS[-1])
    assert set(known["verdict"]["enum"]) == set(VERDICT_WORDS)
    assert set(schema("certificate")["definitions"]["kind_guarantee"]["properties"]["measure"]["enum"]) == model.MEASURES.keys()


@pytest.mark.parametrize("name", ["laplace.sensitivity-1-exact", "group_gaussian.delta-just-above", "nested_pure.exact"])
def test_a_certificate_with_a_key_too_many_or_too_few_is_neither_valid_nor_read(name):
    data = committed.certificate(name)
    unpack(data)
    for place, table in tables_of(data):
        if "parameters" in place or "place" in place or place[-1:] == ("domains",):
            continue  # what is in there belongs to the rule, or is named by the claim
        spared = {"adjacency"} if place == ("claim",) else {"place", "parameters", "premises", "prec"} if place[:1] == ("lines",) else set()
        needed = table.keys() - spared
        for mutant in (changed(data, place, "nonsense", "1"), *(changed(data, place, key, None) for key in needed)):
            assert faults("certificate", mutant), (place, mutant)
            with pytest.raises(CertificateError):
                unpack(mutant)


def test_a_binary_float_is_in_no_valid_certificate():
    data = committed.certificate("laplace.sensitivity-1-exact")
    exact = {"rule": "point-witness", "parameters": {"deep": [{"down": "1/2"}]}, "place": [{"part": 0}], "premises": [0], "prec": 64}
    assert faults("certificate", {**data, "lines": [*data["lines"], exact]}) == []
    for line in ({**exact, "parameters": {"deep": [{"down": 0.5}]}}, {**exact, "place": [{"part": 0.5}]}, {**exact, "prec": 64.5}):
        assert faults("certificate", {**data, "lines": [*data["lines"], line]})
        with pytest.raises(CertificateError):
            unpack({**data, "lines": [*data["lines"], line]})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rule", 1), ("rule", None), ("place", {}), ("place", "one step"), ("parameters", []), ("parameters", None), ("premises", 0),
        ("premises", [-1]), ("premises", ["0"]), ("premises", [True]), ("premises", [None]), ("prec", 52), ("prec", 8193), ("prec", "64"),
        ("prec", True), ("evidence", {}),
    ],
)  # fmt: skip
def test_a_line_of_another_form_is_neither_valid_nor_read(key, value):
    data = committed.certificate("laplace.sensitivity-1-exact")
    line = {**data["lines"][0], key: value}
    assert faults("certificate", {**data, "lines": [*data["lines"], line]})
    with pytest.raises(CertificateError):
        unpack({**data, "lines": [*data["lines"], line]})
