"""A new claim file says what it is, and verifies at once to the epsilon that theory gives."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import integrate, optimize, stats

from dpverify import cli
from dpverify.catalogue.kinds import STARTERS
from dpverify.catalogue.kinds.named import BUILTINS
from dpverify.project.render import templates


def run(*args, code=0):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result


def softmax_epsilon() -> float:
    """Of the exponential mechanism with beta 1/2 on three rows of scores: the greatest ratio of two probabilities of one output."""
    weights = np.exp(np.array([[3, 1, 0], [2, 2, 1], [3, 2, 1]]) / 2)
    rows = weights / weights.sum(axis=1, keepdims=True)
    return float(np.log(rows[:, None] / rows[None]).max())


def process_epsilon() -> float:
    """Of a t process with 5 degrees of freedom at scale 4 and delta 1/1000: the mean of Gaussian deltas over chi^2 = 5/V."""

    def delta(epsilon: float) -> float:
        def gaussian(chi: float) -> float:
            mu = math.sqrt(chi / 5) / 4
            return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)

        return integrate.quad(lambda chi: gaussian(chi) * stats.chi2.pdf(chi, 5), 0, 80, epsabs=1e-13, limit=200)[0]

    return float(optimize.brentq(lambda epsilon: delta(epsilon) - 1e-3, 0.1, 2, xtol=1e-12))


def shuffled_epsilon():
    """At delta 1e-5, of a thousand people with four answers, by what all tell alike: sums over two binomials (theory#privacy-blanket)."""
    p, q, people = 1 / 2, 1 / 6, 1000
    number, two = np.mgrid[: people + 1, : people + 1]
    weights = stats.binom.pmf(number[:, :1], people, 4 * q) * stats.binom.pmf(two[:1], number[:, :1], 1 / 2)
    number, two, weights = number[weights > 1e-20], two[weights > 1e-20], weights[weights > 1e-20]

    def delta(epsilon):
        e = math.exp(epsilon)
        up, down = (p - e * q) / q, (q - e * p) / q
        rest = down * two + (1 - e) * (number - two)
        least = np.maximum(np.floor(-rest / (up - down)) + 1, 0)
        above, heads = stats.binom.sf(least - 1, two, 1 / 2), two / 2 * stats.binom.sf(least - 2, np.maximum(two - 1, 0), 1 / 2)
        return float((weights * ((up - down) * heads + rest * above)).sum()) / people

    return float(optimize.brentq(lambda epsilon: delta(epsilon) - 1e-5, 0.05, 0.3, xtol=1e-9))


def correlated_epsilon() -> float:
    """Of two participations, four steps apart, in a Toeplitz strategy of four bands: Gaussian noise of one mu, at delta 1/100000."""
    mu = math.sqrt(2 * (1 + (1 / 2) ** 2 + (3 / 8) ** 2 + (5 / 16) ** 2)) / 4

    def delta(epsilon: float) -> float:
        return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)

    return float(optimize.brentq(lambda epsilon: delta(epsilon) - 1e-5, 0.1, 9, xtol=1e-12))


def summed_epsilon() -> float:
    """At delta 1/1000000, of the sum of the ninety discrete Gaussian noises that are left: from its convolved probabilities."""
    one = np.exp(-(np.arange(-40, 41) ** 2) / 2)
    total = np.ones(1)
    for _ in range(90):
        total = np.convolve(total, one / one.sum())

    def delta(epsilon: float) -> float:
        return float(np.maximum(total[:-1] - math.exp(epsilon) * total[1:], 0).sum())

    return float(optimize.brentq(lambda epsilon: delta(epsilon) - 1e-6, 0.01, 2, xtol=1e-12))


def votes_epsilon() -> float:
    """At delta 1/100000, of who has the most votes with noise: the worst neighbour by numerical integration."""

    def law(votes: tuple[int, ...]) -> list[float]:
        def at(x: float, i: int) -> float:
            return stats.norm.pdf(x) * math.prod(stats.norm.cdf(x + (votes[i] - other) / 40) for j, other in enumerate(votes) if j != i)

        return [integrate.quad(at, -12, 12, args=(i,), epsabs=1e-15, epsrel=1e-13, limit=400)[0] for i in range(len(votes))]

    here, worst = law((250, 230, 12)), 0.0
    for a, b in itertools.permutations(range(3), 2):
        there = law(tuple(v + (j == b) - (j == a) for j, v in enumerate((250, 230, 12))))
        for first, second in ((here, there), (there, here)):

            def delta(epsilon: float, first: list[float] = first, second: list[float] = second) -> float:
                return sum(max(p - math.exp(epsilon) * q, 0) for p, q in zip(first, second, strict=True)) - 1e-5

            worst = max(worst, float(optimize.brentq(delta, 0, 1, xtol=1e-13)) if delta(0) > 0 else 0)
    return worst


TIGHT = {
    "radial": 1 / 2, "translation": 1 / 2, "product": 1 / 2, "kernel": 1 / 2, "builtin": 1 / 2,  # Laplace of scale 2 at sensitivity 1
    "mixture": 8 * math.asinh(1 / (2 * math.sqrt(5))),  # multivariate t (theory#mixture-closed-form)
    "table": math.log(2), "exponential": softmax_epsilon, "elliptical_process": process_epsilon,
    "best_of": 1 / 10 + 2 * math.log((0.01 + math.exp(0.1)) / (1 + 0.01 * math.exp(0.1))),
    "guarantee": 1, "filter": 1, "compose": 1 / 2 + 2 * 3 / 4, "subsample": math.log(1 + (math.e - 1) / 4), "group": 2 / 4,
    "post_process": 1 / 2,
    "parallel": 1 / 2, "lipschitz": 2 / 4, "noisy_max": 2 / 4, "above_threshold": 1 / 4 + 2 / 8, "stream": 1 / 2 + 2 / 4,
    "shuffle": shuffled_epsilon,
    "noisy_keys": 1 / 2 + 2 * math.log1p(-1e-5),  # of the noise at the delta: a new key has less
    "correlated_noise": correlated_epsilon,
    "noisy_votes": votes_epsilon,
    "sum": summed_epsilon,
    "smooth_sensitivity": 2 * math.acosh(math.cosh(1 / 10) + (1 / 4) ** 2 * math.exp(-1 / 10) / 6) + 1 / 10,  # theory#smooth-power
    "space": math.log(6),  # the middle of three points: 3/4 for it, and 3/4 e^-epsilon for each of the others (theory#weighted-packing)
}  # fmt: skip
"""The least epsilon of the starter of each kind, or what computes it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a claim file and a sampler of every kind."""
    folder = tmp_path_factory.mktemp("mechanisms")
    for kind in STARTERS:
        run("new", f"my-{kind}", "--kind", kind, "--dir", folder, *([] if STARTERS[kind].no_sampler else ["--sampler"]))
    return folder


@pytest.fixture(scope="module")
def claims(folder):
    data = json.loads(run("verify", folder, "--format", "json", "--no-cache").stdout)
    return {Path(claim["file"]).stem.removeprefix("my-"): claim for claim in data["claims"]}


def test_there_is_a_sampler_for_every_kind_that_does_not_say_why_not():
    of_kinds = {f"samplers/{kind}.py" for kind, starter in STARTERS.items() if not (starter.no_sampler or starter.sampler)}
    assert {name for name in templates() if "/_" not in name and name.startswith("samplers/")} == of_kinds


@pytest.mark.parametrize("kind", TIGHT)
def test_the_claim_of_a_new_file_is_proved_with_the_epsilon_of_theory(kind, claims):
    claim = claims[kind]
    assert (claim["verdict"], claim["as_expected"]) == ("PROVED", True)
    lower, upper = claim["epsilon"]["lower"], claim["epsilon"]["upper"]
    tight = TIGHT[kind]() if callable(TIGHT[kind]) else TIGHT[kind]
    assert lower is None or float(lower) <= tight + 1e-9
    assert tight - 1e-9 <= float(upper) <= tight + (1e-5 if kind == "shuffle" else 1e-9)  # whose sums are enclosed, not exact


def test_an_implementation_that_declares_nothing_is_undecided_and_that_is_expected(claims):
    assert (claims["sampled"]["verdict"], claims["sampled"]["as_expected"]) == ("UNKNOWN", True)
    assert set(claims) == {*TIGHT, "sampled"}


def test_the_names_that_a_builtin_file_lists_are_all_that_there_are(folder):
    text = (folder / "my-builtin.toml").read_text()
    assert {name for name in BUILTINS if f"{name} (" in text} == set(BUILTINS)


def test_the_help_tells_every_kind_in_a_sentence():
    said = run("new", "--help").stdout
    assert all(f"  {kind} " in said and starter.brief in " ".join(said.split()) for kind, starter in STARTERS.items())
    said = run("new", "mine", "--kind", "radal", code=2).output
    assert "Did you mean 'radial'?" in said and "The kinds are builtin, compose, " in said
    for written, said in (("laplace", ""), ("lapace", "Did you mean 'laplace'? "), ("Normal", "Did you mean 'gaussian'? ")):
        told = f"{written!r} is no kind of mechanism. {said}It is the name of a builtin: write --kind builtin"
        assert told in run("new", "mine", "--kind", written, code=2).output


# -- where it goes ---------------------------------------------------------------------------------


def test_a_new_file_goes_where_the_other_claim_files_of_the_project_are(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text('[tool.dpverify]\npaths = ["one.toml", "privacy/claims"]\n')
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    said = run("new", "mine", "--kind", "table").stdout
    assert (tmp_path / "privacy" / "claims" / "mine.toml").is_file()
    assert "dpverify verify ../privacy/claims/mine.toml" in said


def test_a_new_file_goes_to_specs_in_a_project_that_does_not_say_where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("new", "mine", "--kind", "table")
    assert [path.as_posix() for path in sorted(Path().rglob("*.*"))] == ["specs/mine.toml"]


def test_a_new_file_names_the_schema_beside_it_for_editors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("new", "before", "--kind", "table")
    run("init")
    run("new", "after", "--kind", "table")
    assert Path("specs/after.toml").read_text().startswith("#:schema ./claim-file.schema.json\n")
    assert "#:schema" not in Path("specs/before.toml").read_text()


def test_a_file_that_is_there_is_refused_and_replaced_only_by_force(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("specs").mkdir()
    Path("specs/mine.toml").write_text("# mine\n")
    Path("specs/mine.py").write_text("# mine\n")
    said = run("new", "mine", "--kind", "table", "--sampler", code=2).output
    assert "mine.toml: it is there already" in said and "mine.py: it is there already" in said and "--force" in said
    assert Path("specs/mine.toml").read_text() == Path("specs/mine.py").read_text() == "# mine\n"
    run("new", "mine", "--kind", "table", "--sampler", "--force")
    assert "[audit]" in Path("specs/mine.toml").read_text()


def test_a_dry_run_makes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "would make" in run("new", "mine", "--kind", "table", "--sampler", "--dry-run").stdout
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", ["", "a/b", "../a", "9lives", "a b", "a.toml", "naïve"])
def test_a_name_that_is_no_name_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "cannot name a mechanism" in run("new", "--kind", "table", "--", name, code=2).output
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", ["random", "class", "numbers"])
def test_a_sampler_is_not_named_as_a_module_of_python(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "Python has a word or a module of this name" in run("new", name, "--kind", "table", "--sampler", code=2).output
    run("new", name, "--kind", "table")


def test_a_kind_whose_outputs_are_functions_has_no_sampler(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "its outputs are functions" in run("new", "mine", "--kind", "elliptical_process", "--sampler", code=2).output
