"""A project's settings: what pyproject.toml says, which profile a run takes, and that flags win over both."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.errors import SpecError
from dpverify.project.config import Config, read_config

RESPONSE = '[mechanism]\nkind = "table"\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]\n'
TIGHT = '[[claim]]\nname = "tight"\nepsilon = "tight"\n'
SAMPLER = "def response(data, size, rng):\n    return (rng.random(size) < (0.75 if data[0] else 0.25)).astype(int)\n"
AUDIT = '[mechanism]\nkind = "sampled"\n[[claim]]\nepsilon = 2\n[audit]\nsampler = "samplers:response"\npairs = [[[0], [1]]]\n'


@pytest.fixture
def project(tmp_path, monkeypatch):
    for variable in ("CI", "DPVERIFY_PROFILE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)

    def write(text: str = "", **files: str) -> Path:
        Path("pyproject.toml").write_text(text)
        for name, content in files.items():
            Path(name.replace("__", "/")).parent.mkdir(parents=True, exist_ok=True)
            Path(name.replace("__", "/")).with_suffix(".py" if content is SAMPLER else ".toml").write_text(content)
        return tmp_path

    return write


def run(*args: str, code: int | None = 0):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    if code is not None:
        assert result.exit_code == code, result.output
    return result


def faults(folder: Path) -> list[str]:
    with pytest.raises(SpecError) as caught:
        read_config(folder)
    return [fault.replace(str(folder / "pyproject.toml"), "FILE") for fault in caught.value.faults]


# -- profiles -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "samples", "alpha", "digits", "seed"),
    [("dev", 10**6, 1e-6, 20, None), ("ci", 10**6, 1e-9, 20, 0), ("nightly", 10**8, 1e-9, 30, None)],
)
def test_the_profiles_that_are_built_in(name, samples, alpha, digits, seed):
    profile = Config().chosen(name, {})
    assert (profile.name, profile.samples, profile.alpha, profile.digits, profile.seed) == (name, samples, alpha, digits, seed)
    assert profile.confidence == 1 - alpha


@pytest.mark.parametrize(
    ("named", "variables", "set_by_project", "expected"),
    [
        ("dev", {"DPVERIFY_PROFILE": "nightly", "CI": "1"}, "ci", "dev"),
        (None, {"DPVERIFY_PROFILE": "nightly", "CI": "1"}, "dev", "nightly"),
        (None, {"CI": "true"}, "nightly", "nightly"),
        (None, {"CI": "true"}, None, "ci"),
        (None, {"CI": "1"}, None, "ci"),
        (None, {"CI": "false"}, None, "dev"),
        (None, {"CI": "0"}, None, "dev"),
        (None, {"CI": ""}, None, "dev"),
        (None, {"DPVERIFY_PROFILE": "", "CI": "yes"}, None, "ci"),
        (None, {}, None, "dev"),
    ],
)
def test_the_flag_goes_before_the_environment_before_the_project_before_ci(named, variables, set_by_project, expected):
    assert Config(profile=set_by_project).chosen(named, variables).name == expected


def test_a_profile_that_is_not_there_is_named_with_the_nearest(project):
    project("", response=RESPONSE + TIGHT)
    said = run("verify", "response.toml", "--profile", "nigthly", code=2).stderr
    assert "--profile = \"nigthly\": no such profile. Did you mean 'nightly'? There are dev, ci, nightly." in said


def test_an_unknown_profile_of_the_environment_is_an_error_too(project, monkeypatch):
    project("", response=RESPONSE + TIGHT)
    monkeypatch.setenv("DPVERIFY_PROFILE", "fast")
    assert 'DPVERIFY_PROFILE = "fast": no such profile.' in run("verify", "response.toml", code=2).stderr


def test_a_project_changes_fields_of_a_profile_and_adds_its_own(project):
    folder = project(
        "[tool.dpverify.profiles.ci]\nsamples = 5\nseed = 'drawn'\n"
        "[tool.dpverify.profiles.quick]\nalpha = 0.01\ntimeout = 2.5\ndigits = 3\n"
    )
    config = read_config(folder)
    ci, quick = config.chosen("ci"), config.chosen("quick")
    assert (ci.samples, ci.seed, ci.alpha, ci.digits) == (5, None, 1e-9, 20)
    assert (quick.alpha, quick.timeout, quick.digits, quick.samples, quick.seed) == (0.01, 2.5, 3, 10**6, None)
    assert config.chosen("dev") == Config().chosen("dev", {})


# -- the file -------------------------------------------------------------------------------------------------


def test_the_nearest_pyproject_counts_and_no_other(project):
    folder = project("[tool.dpverify]\nworkers = 3\n")
    (folder / "a" / "b").mkdir(parents=True)
    assert read_config(folder / "a" / "b").workers == 3
    (folder / "a" / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    assert read_config(folder / "a" / "b").workers is None


def test_without_a_table_everything_is_as_built_in(project):
    assert read_config(project("[tool.other]\nx = 1\n")) == Config(file=Path("pyproject.toml").resolve())


def test_paths_are_the_files_own(project):
    folder = project('[tool.dpverify]\nbaseline = "known.json"\ncache = "kept"\npaths = ["privacy"]\n')
    config = read_config(folder)
    assert (config.baseline, config.cache, config.paths) == (folder / "known.json", folder / "kept", ("privacy",))
    project("[tool.dpverify]\ncache = false\n")
    assert read_config(folder).cache is False


def test_everything_that_is_wrong_is_told_at_once_with_the_key_that_was_meant(project):
    folder = project(
        '[tool.dpverify]\nprofil = "ci"\npaths = "specs"\nbaseline = 3\ncache = true\nworkers = -1\n'
        "[tool.dpverify.profiles.ci]\nsample = 1\nalpha = 2\ndigits = 0\nseed = 1.5\ntimeout = 0\nsamples = 1.0\n"
        "[tool.dpverify.profiles]\nslow = 4\n"
    )
    assert faults(folder) == [
        'FILE, [tool.dpverify]: paths = "specs" is not a list of claim files, such as ["privacy"].',
        "FILE, [tool.dpverify]: baseline = 3 is not a text.",
        "FILE, [tool.dpverify]: cache = true is neither a folder nor false.",
        "FILE, [tool.dpverify]: workers = -1 is not an integer of at least 0.",
        "FILE, [tool.dpverify.profiles.ci]: samples = 1.0 is not an integer of at least 1.",
        "FILE, [tool.dpverify.profiles.ci]: alpha = 2 is not a probability between 1e-15 and 1, such as 1e-6.",
        "FILE, [tool.dpverify.profiles.ci]: digits = 0 is not an integer from 1 to 1000.",
        'FILE, [tool.dpverify.profiles.ci]: seed = 1.5 is neither an integer of at least 0 nor "drawn".',
        "FILE, [tool.dpverify.profiles.ci]: timeout = 0 is not a time in seconds, such as 60.",
        "FILE, [tool.dpverify.profiles.ci]: unknown key \"sample\". Did you mean 'samples'?",
        "FILE, [tool.dpverify.profiles.slow]: 4 is not a table.",
        "FILE, [tool.dpverify]: unknown key \"profil\". Did you mean 'profile'?",
    ]


@pytest.mark.parametrize("value", ["1e-17", "0", "-0.5", "1", "nan", "inf", '"1e-6"', "true", "[]"])
def test_a_budget_that_is_no_probability_is_refused(project, value):
    (said,) = faults(project(f"[tool.dpverify.profiles.ci]\nalpha = {value}\n"))
    assert said == f"FILE, [tool.dpverify.profiles.ci]: alpha = {value} is not a probability between 1e-15 and 1, such as 1e-6."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.dpverify", "FILE: not TOML: Expected ']'"),
        ("[tool]\ndpverify = 1\n", "FILE: tool.dpverify is not a table. Write [tool.dpverify]."),
        ("[tool.dpverify]\nprofiles = 1\n", "FILE, [tool.dpverify]: profiles = 1 is not a table of profiles. Write [tool"),
        ('[tool.dpverify]\nprofile = "cii"\n', "FILE, [tool.dpverify]: profile = \"cii\": no such profile. Did you mean 'ci'?"),
        ('[tool.dpverify]\npaths = [""]\n', 'FILE, [tool.dpverify]: paths = [""] is not a list of claim files'),
    ],
)
def test_a_file_that_makes_no_sense_says_why(project, text, said):
    (fault,) = faults(project(text))
    assert fault.startswith(said)


def test_a_file_that_is_no_text_says_so(project):
    folder = project()
    (folder / "pyproject.toml").write_bytes(b"\xff\xfe")
    (fault,) = faults(folder)
    assert fault.startswith("FILE: not TOML: 'utf-8' codec can't decode")


def test_a_bad_file_is_code_2_and_nothing_is_verified(project):
    project("[tool.dpverify]\npath = 1\n", response=RESPONSE + TIGHT)
    result = run("verify", "response.toml", code=2)
    assert result.stdout == "" and "unknown key \"path\". Did you mean 'paths'?" in result.stderr


# -- on the command line --------------------------------------------------------------------------------------


def test_a_verb_without_paths_takes_the_projects_from_every_folder(project, monkeypatch):
    folder = project('[tool.dpverify]\npaths = ["privacy", "randomized_response"]\n', privacy__response=RESPONSE + TIGHT)
    files = [claim["file"] for claim in json.loads(run("verify", "--format", "json").stdout)["claims"]]
    assert files[0] == "privacy/response.toml" and Path(files[-1]).name == "randomized_response.toml"
    (folder / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(folder / "deep" / "er")
    assert json.loads(run("verify", "--format", "json").stdout)["claims"][0]["file"] == "../../privacy/response.toml"


@pytest.mark.parametrize("verb", [("verify",), ("audit",), ("report", "-o", "out"), ("baseline",)])
def test_a_verb_without_any_paths_says_where_to_set_them(project, verb):
    project()
    said = run(*verb, code=2).stderr
    assert 'no claim files: name some, or set paths = ["..."] in [tool.dpverify] in ' in said and not Path("out").exists()


def test_a_flag_wins_over_the_profile(project):
    project("[tool.dpverify.profiles.dev]\ndigits = 5\n", response=RESPONSE + TIGHT)

    def lower(*flags: str) -> str:
        return json.loads(run("verify", "response.toml", "--format", "json", *flags).stdout)["claims"][0]["epsilon"]["lower"]

    assert lower() == "1.0986" and lower("--digits", "8") == "1.0986122"  # log(3), cut


@pytest.mark.wide
def test_an_audit_spends_what_the_profile_says_unless_a_flag_does(project):
    def audit(text: str, *flags: str) -> dict:
        project(text, response=AUDIT, samplers=SAMPLER)
        (found,) = json.loads(run("audit", "response.toml", "--no-stop", "--format", "json", *flags).stdout)["audits"]
        del found["seconds"], found["replay"]
        return found

    profile = "[tool.dpverify.profiles.dev]\nsamples = 1024\nseed = 7\nalpha = 0.125\n"
    flags = ("--samples", "2048", "--seed", "8", "--confidence", "0.75")
    by_profile = audit(profile)
    assert (by_profile["seed"], by_profile["confidence"]) == (7, 0.875) and by_profile["samples"] <= 1024
    assert by_profile == audit("", "--samples", "1024", "--seed", "7", "--confidence", "0.875")
    assert audit(profile, *flags) == audit("", *flags) != by_profile


def test_a_profile_does_not_change_what_is_on_stdout(project):
    project("", response=RESPONSE + TIGHT)

    def answer(*flags: str) -> dict:
        result = run("verify", "response.toml", "--format", "json", *flags)
        assert result.stderr == ""
        data = json.loads(result.stdout)
        del data["claims"][0]["seconds"]
        return data

    assert answer() == answer("--profile", "ci")
