"""Audits as tests: what passes, what fails and with which text, what is collected, and which seed a test has."""

import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from textwrap import dedent

import pytest

import dpverify.audits

pytest_plugins = ["pytester"]

CLAIMS = """
    [mechanism]
    kind = "builtin"
    name = "laplace"
    parameters = { scale = 1 }
    [[claim]]
    name = "exact"
    sensitivity = 1
    epsilon = 1
    [[claim]]
    name = "too good"
    sensitivity = 1
    epsilon = "1/2"
    expect = "refuted"
"""
AUDIT = """
    [audit]
    sampler = "noise:right"
"""
NOISE = """
    import numpy as np

    def on_grid(noise):  # sums are exact, so that nothing shows in their lowest bits
        return np.round(noise * 2**30) / 2**30

    def right(data, size, rng):
        return data[0] + on_grid(rng.laplace(size=size))

    def half(data, size, rng):
        return data[0] + on_grid(rng.laplace(scale=0.5, size=size))

    def normal(data, size, rng):
        return data[0] + on_grid(rng.normal(scale=3, size=size))
"""
TEST = """
    import pytest
    from noise import half, normal, right

    @pytest.mark.dp_claim({claim})
    def test_noise(dp_audit):
        print("SEED", dp_audit({call}).seed)
"""
BLACK = "epsilon=1, pairs=[([0], [1])]"


@pytest.fixture
def run(pytester, request):
    """Run pytest with the plugin in a folder that holds noise.py and the files given; audits are small."""
    known = ("-p", "no:cacheprovider") if request.config.pluginmanager.has_plugin("dpverify") else ("-p", "dpverify.pytest_plugin")

    def run(*args, ini="", small="dp_samples = 4000", **files):
        pytester.makepyfile(noise=NOISE)
        pytester.makeini(f"[pytest]\npythonpath = .\n{small}\n{dedent(ini)}")
        for name, text in files.items():
            stem, _, suffix = name.rpartition("_")
            pytester.makefile(f".{suffix}", **{stem: dedent(text)})
        return pytester.runpytest(*known, "-s", *args)

    return run


def test_py(claim=BLACK, call="right"):
    return TEST.format(claim=claim, call=call)


test_py.__test__ = False


# -- the fixture ---------------------------------------------------------------------------------------------


def test_a_sampler_that_keeps_its_claim_passes_and_the_finding_is_returned(run):
    run(test_noise_py=test_py()).assert_outcomes(passed=1)


def test_a_violation_fails_with_the_text_of_the_finding_and_the_seed(run):
    result = run(test_noise_py=test_py(call="half"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*VIOLATION*epsilon 1*", "*seed * (from dp_seed = 0 and the test's name)*"])
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_noise_that_is_not_the_declared_density_fails(run):
    claim = 'spec="laplace.toml", claim="exact"'
    result = run(test_noise_py=test_py(claim, "normal"), laplace_toml=CLAIMS)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*NONCONFORMING*"])


@pytest.mark.wide
def test_the_claim_may_come_from_a_claim_file_by_its_name(run):
    claim = 'spec="laplace.toml", claim="{}"'
    run(test_noise_py=test_py(claim.format("exact")), laplace_toml=CLAIMS).assert_outcomes(passed=1)
    run(test_noise_py=test_py(claim.format("too good")), laplace_toml=CLAIMS).assert_outcomes(failed=1)


def test_a_claim_file_beside_the_test_is_found_from_another_folder(run, pytester):
    pytester.mkdir("sub").joinpath("laplace.toml").write_text(CLAIMS)
    pytester.path.joinpath("sub", "test_noise.py").write_text(dedent(test_py('spec="laplace.toml", claim="exact"')))
    run("sub").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ('spec="laplace.toml"', "*laplace.toml holds 2 claims. Give claim = one of 'exact', 'too good'.*"),
        ('spec="laplace.toml", claim="exat"', "*laplace.toml holds no claim 'exat'. Give claim = one of 'exact', 'too good'.*"),
        ('spec="gauss.toml"', "*gauss.toml: no such file. Looked in *"),
        ("1", "*dp_claim takes no positional arguments: name (1,), as in dp_claim(epsilon=1).*"),
    ],
)
def test_a_marker_that_names_no_claim_says_what_to_write(run, claim, message):
    result = run(test_noise_py=test_py(claim), laplace_toml=CLAIMS)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message])


DECLARED = """
    from fractions import Fraction
    import dpverify as dp
    import pytest
    from noise import on_grid

    @pytest.fixture(params=["1/2", 2])
    def scale(request):
        return Fraction(request.param)

    @pytest.fixture
    def noise(scale):
        return dp.laplace(scale)

    @pytest.fixture
    def sampler(scale):
        return lambda data, size, rng: data[0] + on_grid(rng.laplace(scale=float(scale), size=size))

    def test_claim(dp_verify, noise, scale):
        assert dp_verify(noise, sensitivity=1, epsilon=1 / scale).epsilon.exact == str(1 / scale)

    def test_sampler(dp_audit, noise, sampler, scale):
        assert dp_audit(sampler, noise, sensitivity=1, epsilon=1 / scale, level="model").level == "model"

    @pytest.mark.dp_claim(sensitivity=1, epsilon="1/3")
    @pytest.mark.parametrize("expect", ["refuted", "proved"])
    def test_marked(dp_verify, noise, expect):
        dp_verify(noise, expect=expect)
"""


@pytest.mark.wide
def test_claims_and_samplers_may_be_fixtures_and_tests_may_be_parametrised(run):
    result = run(test_declared_py=DECLARED)
    result.assert_outcomes(passed=6, failed=2)
    result.stdout.fnmatch_lines(["*REFUTED*claim 1*expected PROVED*"])


def test_a_claim_of_a_file_is_verified_by_its_name(run):
    marked = 'import pytest\n@pytest.mark.dp_claim(spec="laplace.toml", claim="{}")\ndef test_it(dp_verify):\n    dp_verify()\n'
    run(test_it_py=marked.format("exact"), laplace_toml=CLAIMS).assert_outcomes(passed=1)
    run(test_it_py=marked.format("too good"), laplace_toml=CLAIMS).assert_outcomes(failed=1)


def test_a_mechanism_that_is_wrong_fails_with_the_message_alone(run):
    test = "import dpverify as dp\ndef test_it(dp_verify):\n    dp_verify(dp.gaussian('s'), sensitivity=1, epsilon=1)\n"
    result = run(test_it_py=test)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["SpecError: gaussian, mechanism*free symbol 's'*"])
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_an_argument_in_a_marker_that_an_audit_has_not_is_told_with_the_nearest(run):
    result = run(test_noise_py=test_py("epsilon=1, pair=[([0], [1])]"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["SpecError: dp_claim: unknown argument 'pair'. Did you mean 'pairs'?"])


TWO = """[mechanism]
kind = "builtin"
name = "laplace"
scale = 1

[[claim]]
name = "one"
sensitivity = 1
epsilon = 1

[[claim]]
name = "half"
sensitivity = 1
epsilon = "1/2"
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('dp_verify(spec="two.toml", claim="half", expect="refuted")', ""),
        ('dp_verify("two.toml", claim="one")', ""),
        ('dp_verify(spec="two.toml", claim="one", epsilon="1/1000")', "epsilon: sensitivity, epsilon and the rest of the claim come from"),
        ('dp_audit(print, spec="two.toml", claim="one", epsilon=3)', "audit: epsilon: this comes from the claim"),
        ("dp_audit(print)", "test_it: what is claimed? Mark it @pytest.mark.dp_claim"),
    ],
)
def test_a_claim_of_a_file_is_taken_as_it_is_and_nothing_that_stands_beside_it_is_lost(run, pytester, body, said):
    pytester.path.joinpath("two.toml").write_text(TWO)
    result = run(test_it_py=f"def test_it(dp_verify, dp_audit):\n    {body}\n")
    result.assert_outcomes(failed=bool(said), passed=not said)
    assert said in result.stdout.str()



def test_overrides_replace_what_the_marker_says(run):
    run(test_noise_py=test_py(call="half, epsilon=2")).assert_outcomes(passed=1)
    run(test_noise_py=test_py("epsilon=2", call="half, epsilon=1, pairs=[([0], [1])]")).assert_outcomes(failed=1)


def test_without_a_claim_the_test_fails_and_asks_for_one(run):
    result = run(test_noise_py=test_py("", "right"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*AuditError*"])


def test_a_sampler_that_crashes_fails_the_test_and_is_named(run):
    result = run(test_noise_py=test_py(call="lambda data, size, rng: 1 / 0"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*SamplerError*", "*seed * (from dp_seed = 0 and the test's name)*"])


def test_what_is_raised_on_purpose_is_told_without_the_frames_of_dpverify(run):
    result = run(test_noise_py=test_py(call="lambda data, size, rng: 1 / 0"))
    result.stdout.fnmatch_lines(["SamplerError: *ZeroDivisionError*", '*test_noise.py", line * in <lambda>*'])
    for inside in ("*pytest_plugin.py*", "*dpverify/audits*", "*another exception*", "*direct cause*"):
        result.stdout.no_fnmatch_line(inside)


# -- seeds and options ---------------------------------------------------------------------------------------


def seeds(result):
    return re.findall(r"SEED (\d+)", result.stdout.str())


def test_the_seed_of_a_test_is_the_same_in_every_run_and_follows_dp_seed(run):
    first, again, other = run(test_noise_py=test_py(call="right, samples=64")), run(), run(ini="dp_seed = 7")
    assert len(seeds(first)) == 1
    assert seeds(first) == seeds(again) != seeds(other)


def test_tests_of_other_names_have_other_seeds(run):
    one = dedent(test_py(call="right, samples=64"))
    two = one + one.replace("test_noise", "test_other")
    assert len(set(seeds(run(test_noise_py=two)))) == 2


def test_a_seed_in_the_call_is_used(run):
    assert seeds(run(test_noise_py=test_py(call="right, samples=64, seed=11"))) == ["11"]


@pytest.mark.wide
def test_a_worker_of_xdist_uses_the_seed_of_the_single_process(run):
    pytest.importorskip("xdist")
    alone = run(test_noise_py=test_py(call="half"))
    spread = run("-n", "1", "--dist", "loadgroup")
    spread.assert_outcomes(failed=1)
    shown = [re.search(r"seed (\d+) \(from", result.stdout.str())[1] for result in (alone, spread)]
    assert shown[0] == shown[1]


def test_the_seed_of_the_command_line_goes_before_that_of_the_ini_file(run):
    of_ini, of_both = run(test_noise_py=test_py(call="right, samples=64"), ini="dp_seed = 7"), run("--dp-seed", "7", ini="dp_seed = 8")
    assert len(seeds(of_ini)) == 1 and seeds(of_ini) == seeds(of_both)
    wrong = run("--dp-seed", "x")
    assert wrong.ret == pytest.ExitCode.USAGE_ERROR
    wrong.stderr.fnmatch_lines(["*dp_seed = x: not an integer of at least 0.*"])


SAID = """
import re
def pytest_runtest_logreport(report):
    if report.when == "call" and report.failed:
        print("SAID", re.sub(r"\\d+[.]\\d\\d s", "", repr(str(report.longrepr))))
"""


def said(result):
    """What failing tests said, without the time that it took."""
    lines = re.findall(r"SAID (.*)$", result.stdout.str(), re.MULTILINE)
    assert len(lines) == result.parseoutcomes()["failed"]
    return lines


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("options", "ini", "line"),
    [
        ((), "", "pytest test_noise.py::test_noise"),
        ((), "dp_seed = 7", "pytest test_noise.py::test_noise"),
        (("--dp-seed", "7"), "", "pytest --dp-seed 7 test_noise.py::test_noise"),
        (("-o", "dp_samples=3000", "-o", "dp_seed=5"), "", "pytest -o dp_samples=3000 -o dp_seed=5 test_noise.py::test_noise"),
    ],
)
def test_the_line_of_a_failing_test_runs_it_again_to_the_same_finding(run, options, ini, line):
    several = test_py(call="half") + "\n    def test_another():\n        pass\n"
    first = run(*options, ini=ini, test_noise_py=several, conftest_py=SAID)
    first.assert_outcomes(failed=1, passed=1)
    first.stdout.fnmatch_lines([f"*replay: {line}"])
    again = run(*shlex.split(line)[1:], ini=ini)
    again.assert_outcomes(failed=1)
    assert said(again) == said(first)


@pytest.mark.wide
def test_the_line_of_a_test_with_an_odd_name_runs_it_again_from_the_folder_where_it_was_run(run, pytester, monkeypatch):
    text = dedent(test_py(call="half")).replace("@pytest.mark.dp", '@pytest.mark.parametrize("name", ["a b"])\n@pytest.mark.dp')
    pytester.mkdir("sub").joinpath("test_noise.py").write_text(text.replace("(dp_audit)", "(dp_audit, name)"))
    top = run(conftest_py=SAID)
    top.stdout.fnmatch_lines(["*replay: pytest 'sub/test_noise.py::test_noise[[]a b[]]'"])
    monkeypatch.chdir(pytester.path / "sub")
    line = "pytest 'test_noise.py::test_noise[a b]'"
    known = () if entry_points(group="pytest11", name="dpverify") else ("-p", "dpverify.pytest_plugin")
    command = [sys.executable, "-m", *shlex.split(line), "-p", "no:cacheprovider", *known, "-s"]
    environment = {**os.environ, "PYTHONPATH": str(Path(dpverify.audits.__file__).parents[2])}
    inside = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
    assert re.findall("SAID .*$", inside, re.MULTILINE) == [f"SAID {said(top)[0]}".replace("sub/test_noise.py", "test_noise.py")]


@pytest.mark.wide
def test_a_claim_of_a_file_is_run_again_by_its_line(run):
    bad = (CLAIMS + AUDIT).replace('expect = "refuted"', "")
    first = run("laplace.toml", laplace_toml=bad, conftest_py=SAID)
    first.stdout.fnmatch_lines(["*replay: pytest 'laplace.toml::too good'"])
    assert said(run("laplace.toml::too good")) == said(first)


def test_without_a_generator_a_test_cannot_be_run_again_and_says_so(run):
    call = "lambda data: float(half(data, 1, np.random.default_rng())[0])"
    text = test_py(call=call).replace("import pytest", "import numpy as np\n    import pytest")
    result = run(test_noise_py=text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*replay: not reproducible, for the sampler takes no generator"])


def test_samples_and_confidence_come_from_the_ini_file(run):
    result = run(ini="dp_confidence = 0.99", test_noise_py=test_py().replace(".seed", ".confidence"))
    result.stdout.fnmatch_lines(["*SEED 0.99*"])


@pytest.mark.wide
def test_what_the_ini_file_does_not_say_comes_from_the_profile(run, pytester, monkeypatch):
    pytester.makepyprojecttoml("[tool.dpverify.profiles.small]\nsamples = 2500\nalpha = 0.125\n")
    monkeypatch.setenv("DPVERIFY_PROFILE", "small")
    file = test_py(call="half") + "\n    def test_more(dp_audit):\n        pass\n"
    said = run(small="", test_noise_py=file)
    said.assert_outcomes(failed=1, passed=1)
    said.stdout.fnmatch_lines(["*VIOLATION*confidence 0.875*", "*replay: pytest -o dp_samples=2500 -o dp_confidence=0.875 test_noise.py*"])
    ini = run(ini="dp_confidence = 0.75", test_noise_py=file)
    ini.stdout.fnmatch_lines(["*VIOLATION*confidence 0.75*"])
    ini.stdout.no_fnmatch_line("*-o dp_confidence*")


def test_what_is_wrong_with_pyproject_fails_an_audit_with_its_message(run, pytester):
    pytester.makepyprojecttoml("[tool.dpverify]\nworker = 1\n")
    said = run(test_noise_py=test_py())
    said.assert_outcomes(failed=1)
    said.stdout.fnmatch_lines(["*SpecError: *pyproject.toml, [[]tool.dpverify[]]: unknown key \"worker\". Did you mean 'workers'?*"])


def test_all_faulty_options_are_told_at_once(run):
    result = run(ini="dp_confidence = 2\ndp_seed = x", test_noise_py=test_py())
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*dp_confidence = 2: not a number between 0 and 1*", "*dp_seed = x: not an integer of at least 0.*"])


def test_the_marker_is_registered(run):
    run("--markers").stdout.fnmatch_lines(["@pytest.mark.dp_claim(*"])


def test_starting_pytest_imports_nothing_heavy(pytester):
    code = "import sys, pytest, dpverify.pytest_plugin; print({'numpy', 'sympy', 'flint'} & set(sys.modules))"
    assert pytester.run(sys.executable, "-c", code).outlines == ["set()"]


# -- claim files ---------------------------------------------------------------------------------------------


def test_a_claim_file_named_on_the_command_line_is_a_test_for_each_claim(run):
    result = run("laplace.toml", "-v", laplace_toml=CLAIMS + AUDIT)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["laplace.toml::exact PASSED*", "laplace.toml::too good PASSED*"])


@pytest.mark.wide
def test_a_claim_file_outside_the_rootdir_is_shown_by_its_name(run, pytester):
    away = pytester.mkdir("away")
    away.joinpath("laplace.toml").write_text(dedent(CLAIMS + AUDIT))
    root = pytester.mkdir("root")
    result = run(f"--rootdir={root}", "away/laplace.toml", "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*away/laplace.toml::exact PASSED*"])
    one = run(f"--rootdir={root}", "away/laplace.toml::exact", "-v")
    one.assert_outcomes(passed=1)


def test_one_claim_of_a_file_can_be_asked_for(run):
    run("laplace.toml::exact", laplace_toml=CLAIMS + AUDIT).assert_outcomes(passed=1)


def test_a_violation_passes_only_where_the_claim_file_expects_its_claim_to_be_refuted(run):
    result = run("laplace.toml", laplace_toml=(CLAIMS + AUDIT).replace('expect = "refuted"', ""))
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*VIOLATION*epsilon 0.5,*", "*seed * (from dp_seed = 0 and the test's name)*"])


@pytest.mark.parametrize(
    ("given", "ini", "collected"),
    [
        ("", "", "no tests"),
        ("", "dp_specs = *.toml", "2 tests"),
        ("*.toml", "", "2 tests"),
        ("{path}/**/lap*.toml", "", "2 tests"),
        ("none/*.toml", "dp_specs = *.toml", "no tests"),
    ],
)
def test_claim_files_that_match_dp_specs_are_tests_and_the_command_line_replaces_the_ini_file(run, pytester, given, ini, collected):
    options = ("--dp-specs", given.format(path=pytester.path)) if given else ()
    result = run("--collect-only", *options, ini=ini, laplace_toml=CLAIMS + AUDIT)
    result.stdout.fnmatch_lines([f"*{collected} collected*"])


def test_pyproject_and_files_that_make_no_claim_or_name_no_sampler_are_left_alone(run):
    run(ini="dp_specs = *.toml", pyproject_toml=CLAIMS + AUDIT, other_toml="a = 1", laplace_toml=CLAIMS).assert_outcomes()
    assert run("pyproject.toml").ret == pytest.ExitCode.USAGE_ERROR


def test_a_bad_claim_file_is_a_collection_error_that_lists_all_faults(run):
    bad = (CLAIMS + AUDIT).replace("epsilon = 1\n", "epsilon = -1\n").replace("sensitivity", "sensitivty")
    result = run(ini="dp_specs = *.toml", laplace_toml=bad)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*claim 1*sensitivty*", "*claim 2*sensitivty*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_file_that_is_not_toml_is_a_collection_error(run):
    result = run(ini="dp_specs = *.toml", laplace_toml="[mechanism")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*not TOML*"])


def test_a_claim_file_named_without_a_sampler_is_a_collection_error(run):
    result = run("laplace.toml", laplace_toml=CLAIMS)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no [[]audit] table, so there is nothing to run. Add one that names the sampler.*"])


@pytest.mark.wide
def test_a_sampler_that_cannot_be_found_fails_without_a_traceback(run):
    result = run("laplace.toml::exact", laplace_toml=CLAIMS + AUDIT.replace("noise:right", "nosuchmodule:right"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["AuditError: *nosuchmodule*"])
    result.stdout.no_fnmatch_line("*Traceback*")


# -- nothing passes for having tested nothing ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def test_it():\n    pass", "does not take the fixture dp_audit"),
        ("def test_it(dp_audit):\n    pass", "takes the fixture dp_audit, but did not call it"),
        ("class TestIt:\n    def test_it(self):\n        pass", "does not take the fixture dp_audit"),
        (
            "import unittest\n@pytest.mark.dp_claim(epsilon=1)\nclass TestIt(unittest.TestCase):\n    def test_it(self):\n        pass",
            "does not take the fixture dp_audit",
        ),
    ],
)
def test_a_test_with_the_marker_that_audits_nothing_fails_and_says_what_to_do(run, body, said):
    lines = "import pytest\n@pytest.mark.dp_claim(epsilon=1, pairs=[([0], [1])])\n" if "unittest" not in body else "import pytest\n"
    result = run(test_noise_py=lines + body)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*{said}*"])


def test_a_marked_test_that_is_skipped_or_fails_by_itself_is_told_as_it_is(run):
    skipped = "import pytest\n@pytest.mark.dp_claim(epsilon=1)\ndef test_it():\n    pytest.skip('not here')"
    unittest = (
        "import pytest, unittest\n@pytest.mark.dp_claim(epsilon=1)\nclass TestIt(unittest.TestCase):\n"
        "    def test_it(self):\n        self.skipTest('not here')"
    )
    result = run(test_one_py=skipped, test_two_py=unittest)
    result.assert_outcomes(skipped=2)
    result.stdout.no_fnmatch_line("*nothing was audited*")


def test_a_pattern_of_dp_specs_that_matches_no_file_is_told(run):
    run(ini="dp_specs = claims/*.toml").stdout.fnmatch_lines(["*no file matches claims/[*].toml*"])
