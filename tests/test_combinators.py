"""Claim files that put mechanisms together: every key, every fault at once, neighbours that do not match, scopes of parameters."""

import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpverify.catalogue import read_spec
from dpverify.catalogue.reader import Spec
from dpverify.errors import SpecError
from dpverify.search.verify import verify
from dpverify.trusted.combinators.relations import ONE_RECORD
from dpverify.trusted.combinators.runs import merged
from dpverify.trusted.facts.assumed_of_inputs import ANY
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.assumptions import ATTAINED, IDEAL, MOVES
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import ZERO, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    Claim,
    Compose,
    Group,
    Lipschitz,
    Parallel,
    Part,
    PostProcess,
    Query,
    Radial,
    Staircase,
    Subsample,
    Table,
    once,
)
from dpverify.trusted.theories.composition.rules import post_processing
from tests.proofs import Step, bound, forged, saying

LAPLACE = '{ kind = "builtin", name = "laplace", scale = 2 }'
CLAIM = "\n[[claim]]\nepsilon = 1\n"


def read(tmp_path: Path, mechanism: str, claim: str = CLAIM) -> Spec:
    file = tmp_path / "file.toml"
    text = "[mechanism]\n" + mechanism + claim
    tomllib.loads(text)
    file.write_text(text, encoding="utf-8")
    return read_spec(file)


def only(tmp_path: Path, mechanism: str, claim: str = CLAIM) -> Claim:
    [stated] = read(tmp_path, mechanism, claim).claims
    return stated.claim


def faults(tmp_path: Path, mechanism: str, claim: str = CLAIM) -> tuple[str, ...]:
    with pytest.raises(SpecError) as error:
        read(tmp_path, mechanism, claim)
    return error.value.faults


def said(tmp_path: Path, mechanism: str, claim: str = CLAIM) -> str:
    return "\n".join(faults(tmp_path, mechanism, claim))


def epsilon_of(tmp_path: Path, mechanism: str, claimed: str) -> str:
    claim = only(tmp_path, mechanism, f'\n[[claim]]\nepsilon = "{claimed}"\n')
    return verify(claim).judgement.verdict


# -- every key


def test_compose_takes_a_list_of_parts_each_with_its_sensitivity_query_and_times(tmp_path):
    claim = only(
        tmp_path,
        'kind = "compose"\nadjacency = "add-remove"\nparts = [\n'
        '  { kind = "builtin", name = "laplace", scale = 2, sensitivity = "1/2", times = 3, adjacency = "add-remove" },\n'
        '  { kind = "builtin", name = "gaussian", sigma = 3, query = [[1]], adjacency = "add-remove" },\n'
        '  { kind = "builtin", name = "randomized_response", p = "3/4" },\n]\n',
    )
    first, second, third = claim.mechanism.parts
    assert isinstance(claim.mechanism, Compose) and claim.adjacency == "add-remove" and claim.sensitivity is None
    (first, runs), (second, one) = once(first), once(second)
    assert (first.sensitivity, runs, first.adjacency) == (parse("1/2"), num(3), "add-remove")
    assert second.query.adjacency == "add-remove" and second.sensitivity is None and one == num(1)
    assert isinstance(third.mechanism, Table) and third.sensitivity is None


def test_compose_takes_one_part_so_many_times(tmp_path):
    [part] = only(tmp_path, f'kind = "compose"\ntimes = 100\npart = {LAPLACE}').mechanism.parts
    part, runs = once(part)
    assert runs == num(100) and part.sensitivity == num(1), "a sensitivity that is not stated is 1"


def test_times_of_a_part_and_of_its_composition_multiply(tmp_path):
    text = 'kind = "compose"\ntimes = 4\npart = { kind = "builtin", name = "laplace", scale = 2, times = 5 }'
    [part] = only(tmp_path, text).mechanism.parts
    assert once(part)[1] == num(20)


def test_times_of_a_list_counts_every_part(tmp_path):
    text = f'kind = "compose"\ntimes = 3\nparts = [{LAPLACE}, {{ kind = "group", size = 2, times = 2, part = {LAPLACE} }}]'
    parts = only(tmp_path, text).mechanism.parts
    assert [once(part)[1] for part in parts] == [num(3), num(6)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f'kind = "subsample"\nrate = "1/3"\nscheme = "poisson"\npart = {LAPLACE}', Subsample),
        (f'kind = "subsample"\nrate = 0.5\nscheme = "without-replacement"\npart = {LAPLACE}', Subsample),
        (f'kind = "group"\nsize = 3\npart = {LAPLACE}', Group),
        (f'kind = "post_process"\nmap = "round"\npart = {LAPLACE}', PostProcess),
        (f'kind = "parallel"\nparts = [{LAPLACE}, {LAPLACE}]', Parallel),
        (f'kind = "lipschitz"\nconstant = "2/3"\npart = {LAPLACE}', Lipschitz),
        (f'kind = "compose"\nparts = [{LAPLACE}]', Compose),
    ],
)
def test_every_combinator_is_read_and_survives_its_canonical_form(tmp_path, text, kind):
    claim = only(tmp_path, text)
    assert type(claim.mechanism) is kind
    assert from_json(to_json(claim)) == claim


def test_the_scheme_is_poisson_unless_told_otherwise_and_either_mark_joins_its_words(tmp_path):
    plain = only(tmp_path, f'kind = "subsample"\nrate = "1/3"\npart = {LAPLACE}').mechanism
    underscore = only(tmp_path, f'kind = "subsample"\nrate = "1/3"\nscheme = "without_replacement"\npart = {LAPLACE}').mechanism
    hyphen = only(tmp_path, f'kind = "subsample"\nrate = "1/3"\nscheme = "without-replacement"\npart = {LAPLACE}').mechanism
    assert plain.scheme == "poisson" and underscore == hyphen and hyphen.scheme == "without_replacement"


def test_parts_may_be_any_kind_and_are_read_as_they_are_alone(tmp_path):
    parts = only(
        tmp_path,
        'kind = "compose"\nparts = [\n'
        '  { kind = "radial", profile = "exp(-r)", norm = "l1", dimension = 2 },\n'
        '  { kind = "translation", density = "exp(-abs(z))" },\n'
        '  { kind = "product", density = "exp(-abs(z))", dimension = 3 },\n'
        '  { kind = "table", rows = [["1/2", "1/2"], ["1/3", "2/3"]] },\n'
        '  { kind = "exponential", scores = [[1, 0], [0, 1]], beta = 1 },\n'
        '  { kind = "mixture", profile = "exp(-r**2/(2*v))/v", mixing = "exp(-v)", norm = "l2", dimension = 2 },\n'
        '  { kind = "builtin", name = "staircase", epsilon = 1, gamma = "1/2" },\n'
        '  { kind = "builtin", name = "k_randomized_response", k = 3, p = "1/2" },\n]\n',
    ).mechanism.parts
    assert len(parts) == 8
    assert isinstance(parts[0].mechanism, Radial) and isinstance(parts[6].mechanism, Staircase)
    assert [part.sensitivity for part in parts[3:5]] == [None, None] and parts[6].sensitivity == num(1)


# -- scopes of parameters


def test_parts_use_the_parameters_around_them_and_their_own_stay_inside(tmp_path):
    claim = only(
        tmp_path,
        'kind = "compose"\nparameters = { b = 4, k = "2*b" }\nparts = [\n'
        '  { kind = "radial", profile = "exp(-r/b)", norm = "l1", dimension = 1, parameters = { b = 2 } },\n'
        '  { kind = "radial", profile = "exp(-r/b)", norm = "l1", dimension = 1, sensitivity = "k" },\n'
        '  { kind = "radial", profile = "exp(-r/c)", norm = "l1", dimension = 1, parameters = { c = "b/2" } },\n]\n',
    )
    profiles = [part.mechanism.profile for part in claim.mechanism.parts]
    assert profiles == [parse("exp(-r/2)"), parse("exp(-r/4)"), parse("exp(-r/2)")]
    assert claim.mechanism.parts[1].sensitivity == num(8)


def test_the_claim_may_use_the_parameters_of_the_outermost_table(tmp_path):
    claim = only(
        tmp_path,
        'kind = "compose"\ntimes = "k"\npart = { kind = "builtin", name = "laplace", scale = "b" }\nparameters = { k = 5, b = 2 }',
        '\n[[claim]]\nepsilon = "k/b"\n',
    )
    assert claim.epsilon == parse("5/2")


def test_a_parameter_of_a_part_is_not_known_outside(tmp_path):
    text = 'kind = "compose"\nparts = [{ kind = "radial", profile = "exp(-r/b)", norm = "l1", dimension = 1, parameters = { b = 2 } }]'
    assert "free symbol 'b'" in said(tmp_path, text, '\n[[claim]]\nepsilon = "1/b"\n')


def test_domains_reach_into_parts(tmp_path):
    part = '{ kind = "builtin", name = "laplace", scale = "1/e" }'
    text = f'kind = "subsample"\nrate = "p"\npart = {part}\nparameters = {{ p = "in (0, 1)", e = "positive" }}'
    claim = only(tmp_path, text, '\n[[claim]]\nepsilon = "log(1 + p*(exp(e) - 1))"\n')
    assert [name for name, _ in claim.domains] == ["e", "p"]
    assert verify(claim).judgement.verdict == "PROVED"


# -- faults


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('kind = "compose"', "parts"),
        ('kind = "compose"\nparts = []', "parts"),
        (f'kind = "compose"\nparts = [{LAPLACE}]\npart = {LAPLACE}', "part"),
        (f'kind = "compose"\ntimes = 0\npart = {LAPLACE}', "times"),
        (f'kind = "compose"\ntimes = "5/2"\npart = {LAPLACE}', "times"),
        (f'kind = "compose"\nparts = {LAPLACE}', "parts"),
        ('kind = "compose"\nparts = [1]', "parts"),
        (f'kind = "subsample"\npart = {LAPLACE}', "rate"),
        ('kind = "subsample"\nrate = "1/2"', "part"),
        (f'kind = "subsample"\nrate = "3/2"\npart = {LAPLACE}', "between 0 and 1"),
        (f'kind = "subsample"\nrate = -1\npart = {LAPLACE}', "between 0 and 1"),
        (f'kind = "subsample"\nrate = "q"\npart = {LAPLACE}', "free symbol 'q'"),
        (f'kind = "subsample"\nrate = "p"\npart = {LAPLACE}\nparameters = {{ p = "positive" }}', "between 0 and 1"),
        (f'kind = "subsample"\nrate = "1/2"\nscheme = "bernoulli"\npart = {LAPLACE}', "poisson"),
        (f'kind = "group"\npart = {LAPLACE}', "size"),
        (f'kind = "group"\nsize = 0\npart = {LAPLACE}', "size"),
        (f'kind = "group"\nsize = "3/2"\npart = {LAPLACE}', "size"),
        (f'kind = "lipschitz"\npart = {LAPLACE}', "constant"),
        (f'kind = "lipschitz"\nconstant = -1\npart = {LAPLACE}', "is negative"),
        (f'kind = "parallel"\npart = {LAPLACE}', "parts"),
        (f'kind = "post_process"\nmap = 3\npart = {LAPLACE}', "map"),
        (f'kind = "group"\nsize = 2\nsizes = 3\npart = {LAPLACE}', "sizes"),
        ('kind = "group"\nsize = 2\npart = { kind = "builtin", name = "laplace", scale = 2, sensitivity = -1 }', "negative"),
        ('kind = "group"\nsize = 2\npart = { kind = "builtin", name = "laplace", scale = 2, sensitivity = "s" }', "free symbol 's'"),
        ('kind = "group"\nsize = 2\npart = { kind = "builtin", name = "laplace", scale = -2 }', "scale"),
        ('kind = "group"\nsize = 2\npart = { kind = "laplas" }', "laplas"),
        ('kind = "group"\nsize = 2\npart = { scale = 2 }', "kind"),
        ('kind = "group"\nsize = 2\npart = { kind = "builtin", name = "laplace", scale = 2, query = [[1]] }', "adjacency"),
        (
            'kind = "group"\nsize = 2\npart = { kind = "builtin", name = "laplace", scale = 2, query = [[1]], sensitivity = 1, '
            'adjacency = "l1" }',
            "not both",
        ),
        (
            'kind = "group"\nsize = 2\npart = { kind = "table", rows = [[1, 0], [0, 1]], query = [[1]], adjacency = "add-remove" }',
            "only additive noise answers a query",
        ),
        (f'kind = "group"\nsize = 2\npart = {{ kind = "compose", sensitivity = 2, parts = [{LAPLACE}] }}', "state it there"),
    ],
)
def test_a_fault_says_what_and_where(tmp_path, text, what):
    found = said(tmp_path, text)
    assert what in found and "file.toml" in found


def test_a_claim_on_a_combinator_has_no_sensitivity_of_its_own(tmp_path):
    stated = "\n[[claim]]\nsensitivity = 2\nepsilon = 1\n"
    assert "the parts have their own" in said(tmp_path, f'kind = "group"\nsize = 2\npart = {LAPLACE}', stated)


def test_all_faults_are_told_at_once_with_the_part_that_they_are_in(tmp_path):
    found = faults(
        tmp_path,
        'kind = "compose"\nparts = [\n'
        '  { kind = "builtin", name = "laplace", scale = -1 },\n'
        '  { kind = "subsample", rate = 2, part = { kind = "builtin", name = "gaussian", sigma = 1, times = 0 } },\n'
        '  { kind = "group", size = "1/2", part = { kind = "table", rows = [[1, 1]] } },\n]\n',
        "\n[[claim]]\nepsilon = -1\ndelta = 2\n",
    )
    text = "\n".join(found)
    for piece in ("part 1", "scale", "part 2", "rate", "times", "part 3", "size", "row", "epsilon = -1", "delta = 2"):
        assert piece in text, piece
    assert len(found) >= 7


# -- neighbours


SAMPLED = 'kind = "subsample"\nrate = "1/2"\n'


@pytest.mark.parametrize(
    ("text", "who"),
    [
        (SAMPLED + 'adjacency = "replace"\npart = ' + LAPLACE, "Poisson"),
        (SAMPLED + 'scheme = "without_replacement"\nadjacency = "add-remove"\npart = ' + LAPLACE, "without-replacement"),
        (SAMPLED + 'part = { kind = "builtin", name = "laplace", scale = 2, adjacency = "replace" }', "a part of replace"),
        (
            SAMPLED + 'part = { kind = "builtin", name = "laplace", scale = 2, query = [[1]], adjacency = "replace" }',
            "a part's query of replace",
        ),
        (
            'kind = "compose"\nparts = [\n  { kind = "builtin", name = "laplace", scale = 2, adjacency = "replace" },\n'
            '  { kind = "builtin", name = "laplace", scale = 2, adjacency = "add-remove" },\n]',
            "cannot be mixed",
        ),
        (
            f'kind = "compose"\nparts = [\n  {{ kind = "subsample", rate = "1/2", part = {LAPLACE} }},\n'
            f'  {{ kind = "subsample", rate = "1/2", scheme = "without_replacement", part = {LAPLACE} }},\n]',
            "cannot be mixed",
        ),
        (
            'kind = "shuffle"\npeople = 9\n'
            'part = { kind = "builtin", name = "laplace", scale = 2, query = [[1, -1]], adjacency = "add-remove" }',
            "shuffling of replace and a part's query of add-remove",
        ),
        ('kind = "shuffle"\npeople = 9\nadjacency = "l1"\npart = ' + LAPLACE, "the claim of l1 and shuffling of replace"),
        (f'kind = "parallel"\nadjacency = "replace"\nparts = [{LAPLACE}, {LAPLACE}]', "parallel under replace"),
        (
            f'kind = "compose"\nadjacency = "replace"\nparts = [{{ kind = "parallel", parts = [{LAPLACE}, {LAPLACE}] }}]',
            "parallel under replace",
        ),
    ],
)
def test_neighbours_of_two_kinds_are_refused_with_the_reason(tmp_path, text, who):
    found = said(tmp_path, text)
    assert who in found and "adjacency" in found


def test_a_claim_of_another_adjacency_is_refused_too(tmp_path):
    mechanism = f'kind = "parallel"\nparts = [{LAPLACE}, {LAPLACE}]'
    assert "parallel under replace" in said(tmp_path, mechanism, '\n[[claim]]\nepsilon = 1\nadjacency = "replace"\n')
    stated = f'kind = "compose"\nadjacency = "add-remove"\nparts = [{LAPLACE}]'
    assert "the mechanism states" in said(tmp_path, stated, '\n[[claim]]\nepsilon = 1\nadjacency = "replace"\n')


def test_keys_and_users_are_added_or_removed(tmp_path):
    keys = 'kind = "noisy_keys"\nthreshold = 30\nnoise = { kind = "builtin", name = "laplace", scale = 2 }'
    users = 'kind = "correlated_noise"\nstrategy = "prefix_sums"\nsteps = 8\nsigma = 4'
    for kind, text in (("noisy_keys", keys), ("correlated_noise", users)):
        claimed = '\n[[claim]]\nepsilon = 3\ndelta = "1/1000"\nsensitivity = 1\nadjacency = '
        assert f"the claim of replace and {kind} of add-remove cannot be mixed" in said(tmp_path, text, claimed + '"replace"\n')
        claim = only(tmp_path, text, claimed + '"add-remove"\n')
        assert claim.adjacency == "add-remove" and verify(claim).judgement.verdict == "PROVED"


@pytest.mark.parametrize("adjacency", ["add-remove", "replace", ""])
def test_equal_neighbours_compose(tmp_path, adjacency):
    stated = f', adjacency = "{adjacency}"' if adjacency else ""
    part = f'{{ kind = "builtin", name = "laplace", scale = 2{stated} }}'
    assert epsilon_of(tmp_path, f'kind = "compose"\nparts = [{part}, {part}]', "1") == "PROVED"


def test_a_certificate_that_mixes_neighbours_is_no_claim():
    mixed = Subsample(Part(Radial(parse("exp(-r)"), L1, num(1)), num(1), adjacency="replace"), parse("1/2"))
    with pytest.raises(CertificateError, match="cannot be mixed"):
        verify(Claim(mixed, num(1), parse("1/100")))


def test_a_query_of_what_is_no_noise_is_no_claim():
    wrong = to_json(Claim(Compose((Part(Table(((num(1),),))),)), num(1)))
    wrong["mechanism"]["parts"][0]["query"] = {"rows": [["1"]], "adjacency": "l1"}
    with pytest.raises(CertificateError, match="additive noise"):
        from_json(wrong)


# -- nesting


def test_combinators_nest_and_come_to_their_runs(tmp_path):
    claim = only(
        tmp_path,
        'kind = "compose"\ntimes = 2\n[mechanism.part]\nkind = "post_process"\n[mechanism.part.part]\nkind = "compose"\nparts = [\n'
        f'  {{ kind = "group", size = 3, times = 5, part = {{ kind = "lipschitz", constant = "1/2", part = {LAPLACE} }} }},\n'
        f"  {LAPLACE},\n]",
    )
    runs = merged(Part(claim.mechanism))
    assert [(run.factor, run.times, run.processed) for run in runs] == [(parse("3/2"), 10, True), (num(1), 2, True)]


@pytest.mark.parametrize(
    ("text", "tight"),
    [
        (f'kind = "group"\nsize = 3\npart = {{ kind = "compose", times = 2, part = {LAPLACE} }}', "3"),
        (f'kind = "lipschitz"\nconstant = "1/3"\npart = {{ kind = "group", size = 6, part = {LAPLACE} }}', "1"),
        (f'kind = "parallel"\nparts = [{{ kind = "compose", times = 3, part = {LAPLACE} }}, {LAPLACE}]', "3/2"),
        (f'kind = "subsample"\nrate = "1/2"\npart = {{ kind = "compose", times = 2, part = {LAPLACE} }}', "log((1 + exp(1))/2)"),
        (f'kind = "subsample"\nrate = "1/2"\npart = {{ kind = "subsample", rate = "1/2", part = {LAPLACE} }}', "log(1 + (exp(1/2) - 1)/4)"),
    ],
)
def test_nested_pure_epsilons_are_exact(tmp_path, text, tight):
    assert epsilon_of(tmp_path, text, tight) == "PROVED"
    assert epsilon_of(tmp_path, text, f"{tight} - 1/10**6") == "REFUTED"


# -- verdicts that must never come back ---------------------------------------------------------------------

RESPONSE = '{ kind = "builtin", name = "randomized_response", p = "3/4" }'


@pytest.mark.parametrize(
    ("claimed", "verdict"),
    [("log(3) + 1/10", "UNKNOWN"), ("log(9)", "PROVED")],
)
def test_two_records_can_change_two_parallel_parts(tmp_path, claimed, verdict):
    text = f'kind = "group"\nsize = 2\npart = {{ kind = "parallel", parts = [{RESPONSE}, {RESPONSE}] }}'
    assert epsilon_of(tmp_path, text, claimed) == verdict
    claim = only(tmp_path, text, '\n[[claim]]\nepsilon = "11/10"\ndelta = "1/100"\n')
    assert verify(claim).judgement.verdict == "UNKNOWN", "one record in each part: delta is 9/16 - e^(11/10)/16"


@pytest.mark.parametrize(("claimed", "verdict"), [("2", "PROVED"), ("199/100", "REFUTED")])
def test_times_of_a_composition_inside_a_composition_count_once(tmp_path, claimed, verdict):
    inner = '{ kind = "compose", times = 2, part = { kind = "builtin", name = "laplace", scale = 1 } }'
    assert epsilon_of(tmp_path, f'kind = "compose"\nparts = [{inner}]', claimed) == verdict


@pytest.mark.parametrize(("constant", "verdict"), [("0", "PROVED"), ("1/2", "UNKNOWN")])
def test_a_map_that_may_hide_the_difference_refutes_nothing(tmp_path, constant, verdict):
    text = f'kind = "lipschitz"\nconstant = "{constant}"\npart = {RESPONSE}'
    assert epsilon_of(tmp_path, text, "1/2") == verdict
    claim = only(tmp_path, text, '\n[[claim]]\nepsilon = "1/2"\ndelta = "1/100"\n')
    assert verify(claim).judgement.verdict == verdict, "a map that makes neighbours equal hides all"


@pytest.mark.parametrize(
    "parts",
    [
        '[{ kind = "builtin", name = "laplace", scale = "positive" }, { kind = "builtin", name = "laplace", scale = "integer >= 100" }]',
        '[{ kind = "translation", density = "exp(-abs(z)/b)", parameters = { b = "integer >= 100" } }, '
        '{ kind = "translation", density = "exp(-abs(z)/b)" }]',
    ],
)
def test_what_ranges_in_one_part_is_nothing_in_another(tmp_path, parts):
    assert "Give" in said(tmp_path, f'kind = "compose"\nparts = {parts}')


def test_a_parameter_of_a_part_does_not_take_the_value_of_one_around_it(tmp_path):
    inner = '{ kind = "builtin", name = "laplace", parameters = { scale = "positive" } }'
    assert "which one a claim means" in said(tmp_path, f'kind = "compose"\nparameters = {{ scale = 100 }}\nparts = [{inner}]')


def test_a_sampler_alone_is_no_part(tmp_path):
    assert "a sampler alone declares nothing" in said(tmp_path, 'kind = "compose"\nparts = [{ kind = "sampled" }]')


def test_a_contraction_inside_a_composition_refutes_nothing(tmp_path):
    text = f'kind = "compose"\nparts = [{{ kind = "lipschitz", constant = "1/2", part = {RESPONSE} }}, {RESPONSE}]'
    claim = only(tmp_path, text, '\n[[claim]]\nepsilon = "3/2"\ndelta = "1/100"\n')
    judgement = verify(claim).judgement
    assert judgement.verdict == "UNKNOWN" and judgement.delta_lower is None


def test_group_privacy_gives_no_lower_bound_where_neighbours_come_closer():
    laplace = Radial(parse("exp(-r)"), L1, num(1), num(1))
    claim = Claim(Lipschitz(Part(laplace, num(1)), parse("1/2")), parse("1/10"), parse("1/4"))
    evidence = {"curve": {"rule": "group-privacy", "epsilon": "1/10", "part": {"rule": "laplace"}}, "delta": True}
    assert [found.side for found in bound(claim, Step("privacy-profile", evidence))] == ["upper"], (
        "at half the distance delta is below 1 - exp(-1/5) = 0.18"
    )


@pytest.mark.parametrize(
    "text",
    [
        'kind = "compose"\ntimes = 3\npart = { kind = "builtin", name = "gaussian", sigma = 4 }',
        f'kind = "compose"\ntimes = 3\npart = {RESPONSE}',
        f'kind = "compose"\ntimes = 3\npart = {LAPLACE}',
    ],
)
def test_every_step_alone_shows_what_it_takes_for_granted(tmp_path, text):
    claim = only(tmp_path, text, '\n[[claim]]\nepsilon = 2\ndelta = "1/10"\n')
    response = "randomized_response" in text
    hypotheses = {"upper": set() if response else {MOVES}, "lower": {ANY if response else ATTAINED}}
    sides = set()
    for line, bounds in verify(claim).proved:
        shown = set(kernel.judge(claim, [] if line.place else [saying(claim, line.rule, *bounds)]).assumptions)
        for side in {found.side for found in bounds if found.value != ZERO}:
            sides.add(side)
            needed = hypotheses[side] | {IDEAL}
            assert needed <= shown | {told.removeprefix(f"for the {side} bound: ") for told in shown}, line.rule
    assert "upper" in sides


# -- one data set ------------------------------------------------------------------------------------------

ONE_COUNT = '{ kind = "builtin", name = "laplace", scale = 1, query = [[1, 0]], adjacency = "add-remove" }'
THREE_KINDS = '{ kind = "builtin", name = "laplace", scale = 1, query = [[0, 1, 1]], adjacency = "add-remove" }'


def test_queries_of_one_composition_have_one_number_of_columns(tmp_path):
    with pytest.raises(SpecError, match=r"their queries have 2 and 3 columns\. Give every query a number for each kind of record"):
        only(tmp_path, f'kind = "compose"\nparts = [{ONE_COUNT}, {THREE_KINDS}]', "\n[[claim]]\nepsilon = 2\n")
    mixed = replace(
        only(tmp_path, f'kind = "compose"\nparts = [{ONE_COUNT}]', "\n[[claim]]\nepsilon = 2\n"),
        mechanism=Compose((query_part([[1, 0]]), query_part([[0, 1, 1]]))),
    )
    with pytest.raises(CertificateError, match="2 and 3 columns"):
        kernel.check(forged(mixed, "UNKNOWN"))
    # data of its own: in parallel, or behind a map
    only(tmp_path, f'kind = "parallel"\nparts = [{ONE_COUNT}, {THREE_KINDS}]', "\n[[claim]]\nepsilon = 2\n")


def query_part(rows):
    query = Query(tuple(tuple(map(Fraction, row)) for row in rows), "add-remove")
    return Part(Radial(parse("exp(-r)"), L1, num(1)), None, query)


@pytest.mark.parametrize(("adjacency", "profile"), [("l2", "exp(-r)"), ("l1", "exp(-sqrt(r))")])
def test_real_differences_spread_over_parallel_parts_are_refused(tmp_path, adjacency, profile):
    noise = f'{{ kind = "radial", profile = "{profile}", norm = "l1", dimension = 1, query = [[1, 0]], adjacency = "{adjacency}" }}'
    with pytest.raises(SpecError, match=f"parallel under {adjacency} adjacency: a difference of histograms may be spread"):
        only(tmp_path, f'kind = "parallel"\nparts = [{noise}, {noise}]', "\n[[claim]]\nepsilon = 2\n")


def test_half_of_a_real_difference_may_move_an_answer_that_is_no_query_by_its_whole_sensitivity(tmp_path):
    """A threshold at 1/2 has sensitivity 1; two of them, on data that differ by 1/2 each, both move: epsilon is 2, not 1."""
    stated = '{ kind = "builtin", name = "laplace", scale = 1, sensitivity = 1, adjacency = "l1" }'
    linear = '{ kind = "builtin", name = "laplace", scale = 1, query = [[1]], adjacency = "l1" }'
    for one, other in ((stated, stated), (stated, linear)):
        with pytest.raises(SpecError, match="parallel under l1 adjacency: a difference of histograms may be spread"):
            only(tmp_path, f'kind = "parallel"\nparts = [{one}, {other}]', "\n[[claim]]\nepsilon = 1\n")
    both = only(tmp_path, f'kind = "parallel"\nparts = [{linear}, {linear}]', "\n[[claim]]\nepsilon = 1\n")
    assert verify(both).judgement.verdict == "PROVED"


def test_parallel_parts_without_a_stated_adjacency_assume_one_record_from_above_alone(tmp_path):
    for delta in ("0", '"1/100"'):
        claim = only(tmp_path, f'kind = "parallel"\nparts = [{LAPLACE}, {LAPLACE}]', f'\n[[claim]]\nepsilon = "1/8"\ndelta = {delta}\n')
        stated = [(line.rule, found) for line, bounds in verify(claim).proved if not line.place for found in bounds]
        assert {found.side for _, found in stated} == {"upper", "lower"}
        for rule, found in stated:
            assert (ONE_RECORD in found.assumed) == (found.side == "upper"), (rule, found.side)
    stated = only(tmp_path, f'kind = "parallel"\nadjacency = "add-remove"\nparts = [{LAPLACE}, {LAPLACE}]', "\n[[claim]]\nepsilon = 2\n")
    assert ONE_RECORD not in verify(stated).judgement.assumptions


@pytest.mark.parametrize(
    "text",
    [
        'kind = "compose"\nparts = [{ kind = "post_process", map = "rounding", part = PART }, PART]',
        'kind = "compose"\nparts = [{ kind = "subsample", rate = "1/2", part = MAPPED }, PART]',
        'kind = "post_process"\nmap = "rounding"\npart = { kind = "compose", parts = [PART, PART] }',
    ],
)
def test_every_upper_bound_of_what_is_post_processed_says_so(tmp_path, text):
    text = text.replace("MAPPED", '{ kind = "post_process", map = "rounding", part = PART }')
    text = text.replace("PART", '{ kind = "builtin", name = "gaussian", sigma = 4 }')
    claim = only(tmp_path, text, '\n[[claim]]\nepsilon = 2\ndelta = "1/100"\n')
    names = set()
    for line, bounds in verify(claim).proved:
        for found in bounds:
            names.add(line.rule)
            assert found.side == "upper" and set(post_processing.ASSUMED) <= set(found.assumed), line.rule
    assert "one-sided" in names
