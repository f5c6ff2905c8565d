"""What leaves dpverify for other programs is read by those programs, and says there what it says here."""

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import validators
from jsonschema.protocols import Validator
from junitparser import Error, Failure, JUnitXml
from lxml import etree
from sarif.loader import load_sarif_file

from dpverify import cli
from tests.consumers import check_jsonschema

ROOT = Path(__file__).parents[1]
CLAIM_FILES = ROOT / "dpverify" / "schemas" / "claim-file.schema.json"

# A name with everything that XML, SARIF and GitHub's commands must escape. Randomized response at 3/4 has epsilon log(3) = 1.0986...
NAME = 'below, 100%: <b> & "q" é'
RESPONSE = '[mechanism]\nkind = "table"\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]\n'
REFUTED = f"[[claim]]\nname = '{NAME}'\nepsilon = 1.098\n"
PROVED = '[[claim]]\nname = "above"\nepsilon = 1.099\n'
UNKNOWN = '[mechanism]\nkind = "sampled"\n[[claim]]\nepsilon = 1\n'
LAPLACE = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n[[claim]]\nsensitivity = 1\nepsilon = 1\n'
SAMPLERS = (
    "def half(data, rng):\n    return data + rng.laplace(scale=0.5, size=len(data))\n"
    "def broken(data, rng):\n    raise ValueError\n"
)


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """Claim files of every outcome, and samplers of which one violates its claim and one crashes."""
    monkeypatch.chdir(tmp_path)
    Path("claims").mkdir()
    Path("claims/response.toml").write_text(RESPONSE + PROVED + REFUTED, encoding="utf-8")
    Path("claims/undecided.toml").write_text(UNKNOWN)
    Path("audits").mkdir()
    Path("audits/noise.py").write_text(SAMPLERS)
    for name in ("half", "broken"):
        Path(f"audits/{name}.toml").write_text(LAPLACE + f'[audit]\nsampler = "noise:{name}"\n')
    return tmp_path


def verified(style: str, *paths: str) -> str:
    return answered("verify", *(paths or ("claims",)), "--format", style)


def audited(style: str) -> str:
    return answered("audit", "audits", "--samples", "2000", "--seed", "1", "--workers", "0", "--format", style)


def answered(*args: str) -> str:
    result = CliRunner().invoke(cli.main, args)
    assert result.exit_code in (0, 1, 2, 4) and result.stdout, result.output
    return result.stdout


# -- SARIF -----------------------------------------------------------------------------------------------------


def issues(log: str) -> dict[str, list[dict]]:
    """What sarif-tools reads, by severity."""
    Path("log.sarif").write_text(log, encoding="utf-8")
    report = load_sarif_file("log.sarif").get_report()
    return {level: report.get_issues_for_severity(level) for level in ("error", "warning", "note")}


def test_sarif_tools_reads_every_claim_that_is_not_as_expected_at_its_line(project):
    found = issues(verified("sarif"))
    assert [(one["Location"], one["Line"], one["Code"]) for one in found["error"]] == [("claims/response.toml", 7, "REFUTED")]
    assert [(one["Location"], one["Line"], one["Code"]) for one in found["warning"]] == [("claims/undecided.toml", 3, "UNKNOWN")]
    assert found["note"] == []
    assert NAME in found["error"][0]["Description"]


def test_sarif_tools_reads_what_an_audit_found(project):
    found = issues(audited("sarif"))["error"]
    assert {"VIOLATION", "NONCONFORMING"} == {one["Code"] for one in found}
    assert {one["Location"] for one in found} == {"audits/half.toml"}


def test_the_summary_of_sarif_tools_counts_the_same(project):
    Path("log.sarif").write_text(verified("sarif"), encoding="utf-8")
    run = subprocess.run([sys.executable, "-m", "sarif", "summary", "log.sarif"], capture_output=True, text=True, check=True)
    assert "error: 1" in run.stdout and "warning: 1" in run.stdout


def test_every_result_in_sarif_has_a_rule_of_the_driver_and_fingerprints_of_its_own(project):
    run = json.loads(verified("sarif"))["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [result["ruleId"] for result in run["results"]]
    marks = [tuple(sorted(result["partialFingerprints"].items())) for result in run["results"]]
    assert len(set(marks)) == len(marks) == 2


def test_fingerprints_in_sarif_stay_when_a_claim_moves_to_another_line(project):
    def marks() -> list[dict]:
        return [result["partialFingerprints"] for result in json.loads(verified("sarif"))["runs"][0]["results"]]

    before = marks()
    response = Path("claims/response.toml")
    response.write_text("# a line more\n\n" + response.read_text(encoding="utf-8"), encoding="utf-8")
    assert marks() == before


@cache
def sarif_schema() -> Validator:
    schema = json.loads((ROOT / "tests" / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    dialect = validators.validator_for(schema)
    dialect.check_schema(schema)
    return dialect(schema)


def sarif_faults(log: dict) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in sarif_schema().iter_errors(log)]


@pytest.mark.parametrize("log", [verified, audited], ids=["verify", "audit"])
def test_sarif_is_valid_by_the_published_schema(project, log):
    assert sarif_faults(json.loads(log("sarif"))) == []


def test_the_sarif_of_a_report_with_all_of_it_is_valid(project):
    answered("report", "claims", "audits", "-o", "out", "--format", "sarif")
    log = json.loads(Path("out/results.sarif").read_text(encoding="utf-8"))
    assert sarif_faults(log) == []
    assert {"REFUTED", "UNKNOWN"} <= {result["ruleId"] for result in log["runs"][0]["results"]}


def test_sarif_marks_what_a_baseline_accepts_and_is_valid(project):
    answered("baseline", "claims", "-o", "accepted.toml")
    log = json.loads(answered("verify", "claims", "--baseline", "accepted.toml", "--format", "sarif"))
    assert sarif_faults(log) == []
    assert [result["suppressions"][0]["status"] for result in log["runs"][0]["results"]] == ["accepted", "accepted"]


def test_an_audit_that_could_not_be_made_is_a_failed_invocation_in_valid_sarif(project):
    log = json.loads(audited("sarif"))
    (invocation,) = log["runs"][0]["invocations"]
    (told,) = invocation["toolExecutionNotifications"]
    assert sarif_faults(log) == [] and not invocation["executionSuccessful"]
    assert told["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "audits/broken.toml"


def test_the_schema_of_sarif_refuses_what_is_not_sarif(project):
    log = json.loads(verified("sarif"))
    result = log["runs"][0]["results"][0]
    result["level"], result["locations"][0]["physicalLocation"]["region"]["startLine"] = "fatal", 0
    log["runs"][0]["tool"]["driver"].pop("name")
    assert len(sarif_faults(log)) == 3


# -- JUnit XML -------------------------------------------------------------------------------------------------


def test_junitparser_reads_every_claim_and_which_fail(project):
    suites = {suite.name: suite for suite in JUnitXml.fromstring(verified("junit").encode())}
    cases = {case.name: case for suite in suites.values() for case in suite}
    assert suites.keys() == {"claims/response.toml", "claims/undecided.toml"}
    assert cases.keys() == {"above", NAME, "claim 1"}
    assert {name for name, case in cases.items() if any(isinstance(one, Failure) for one in case.result)} == {NAME, "claim 1"}
    assert "REFUTED" in cases[NAME].result[0].text


def test_junitparser_reads_audits_and_which_could_not_be_made(project):
    cases = [case for suite in JUnitXml.fromstring(audited("junit").encode()) for case in suite]
    results = {case.classname: [type(one) for one in case.result] for case in cases}
    assert results == {"audits/half.toml": [Failure], "audits/broken.toml": [Error]}


@pytest.mark.parametrize("log", [verified, audited], ids=["verify", "audit"])
def test_the_counts_in_junit_are_those_of_its_cases(project, log):
    root = etree.fromstring(log("junit").encode())
    for element in root.iter("testsuites", "testsuite"):
        for count, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.get(count)) == len(list(element.iter(tag)))


@pytest.mark.parametrize("log", [verified, audited], ids=["verify", "audit"])
def test_junit_is_what_jenkins_reads(project, log):
    root = etree.fromstring(log("junit").encode())
    # Beyond that schema: GitLab and CircleCI read the file of a case, and a count of what is skipped stands beside the other counts.
    root.attrib.pop("skipped", None)
    for case in root.iter("testcase"):
        case.attrib.pop("file", None)
    schema = etree.XMLSchema(etree.parse(str(ROOT / "tests" / "data" / "junit-10.xsd")))
    assert schema.validate(root), schema.error_log


# -- GitHub ----------------------------------------------------------------------------------------------------

# github.com/actions/toolkit: a command is one line, its properties and its message percent-encoded.
COMMAND = re.compile(r"::(?P<level>error|warning|notice) file=(?P<file>[^,:]+),line=(?P<line>\d+),title=(?P<title>[^,:]+)::(?P<message>.+)")


def decoded(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def test_a_github_command_is_one_line_at_the_claim_with_its_text_whole(project):
    *commands, _ = verified("github").splitlines()
    found = [COMMAND.fullmatch(line) for line in commands]
    assert [(one["level"], one["file"], one["line"]) for one in found] == [
        ("error", "claims/response.toml", "7"), ("warning", "claims/undecided.toml", "3"),
    ]  # fmt: skip
    assert NAME in decoded(found[0]["message"])


def test_all_formats_name_the_same_claims(project):
    sarif = {result["locations"][0]["logicalLocations"][0]["name"] for result in json.loads(verified("sarif"))["runs"][0]["results"]}
    record = {claim["name"] for claim in json.loads(verified("json"))["claims"] if not claim["as_expected"]}
    junit = {case.name for suite in JUnitXml.fromstring(verified("junit").encode()) for case in suite if case.result}
    assert sarif == record == junit == {NAME, "claim 1"}


# -- the schema of claim files, in other people's tools --------------------------------------------------------


def test_check_jsonschema_takes_claim_files_and_says_where_one_is_wrong(project):
    assert check_jsonschema(str(CLAIM_FILES), *sorted((ROOT / "specs").glob("*laplace*.toml"))) == ""
    Path("wrong.toml").write_text(RESPONSE + "[[claim]]\nepsilom = 1\n")
    assert "$.claim[0]: 'epsilon' is a required property" in check_jsonschema(str(CLAIM_FILES), Path("wrong.toml"))


def test_files_for_github_are_valid():
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    actions = sorted(ROOT.glob("action.yml"))
    if not (workflows or actions):
        pytest.skip("no file for GitHub here")
    if workflows:
        assert check_jsonschema("vendor.github-workflows", *workflows) == ""
    if actions:
        assert check_jsonschema("vendor.github-actions", *actions) == ""


def test_taplo_takes_claim_files_and_names_a_key_that_is_wrong(project):
    taplo = shutil.which("taplo")
    if taplo is None:
        pytest.skip("taplo is not installed")

    def checked(*files: Path) -> subprocess.CompletedProcess:
        command = [taplo, "check", "--no-auto-config", "--schema", CLAIM_FILES.as_uri(), *map(str, files)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    run = checked(*sorted((ROOT / "specs").glob("*.toml"))[::4])
    assert run.returncode == 0, run.stderr
    Path("wrong.toml").write_text(RESPONSE.replace("rows", "rosw") + PROVED)
    wrong = checked(Path("wrong.toml"))
    assert wrong.returncode != 0 and "'rosw' was unexpected" in wrong.stderr
