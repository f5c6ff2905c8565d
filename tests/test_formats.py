"""What leaves dpverify for other programs is read by those programs, and says there what it says here."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner
from jsonschema import validators
from jsonschema.protocols import Validator
from junitparser import Error, Failure, JUnitXml
from lxml import etree
from sarif.loader import load_sarif_file

from dpverify import cli
from dpverify.report import Entry, sarif
from dpverify.report.results import NOTE_RULES, RULES, Results, Surprise
from dpverify.trusted.kernel.expr import num
from dpverify.trusted.kernel.model import Claim, Sampled
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
SAMPLERS = "def half(data, rng):\n    return data + rng.laplace(scale=0.5, size=len(data))\ndef broken(data, rng):\n    raise ValueError\n"


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


@pytest.mark.wide
def test_sarif_tools_reads_what_an_audit_found(project):
    found = issues(audited("sarif"))["error"]
    assert {"VIOLATION", "NONCONFORMING"} == {one["Code"] for one in found}
    assert {one["Location"] for one in found} == {"audits/half.toml"}


@pytest.mark.wide
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


@pytest.mark.wide
def test_the_sarif_of_a_report_with_all_of_it_is_valid(project):
    answered("report", "claims", "audits", "-o", "out", "--format", "sarif")
    log = json.loads(Path("out/results.sarif").read_text(encoding="utf-8"))
    assert sarif_faults(log) == []
    assert {"REFUTED", "UNKNOWN"} <= {result["ruleId"] for result in log["runs"][0]["results"]}


@pytest.mark.wide
def test_sarif_marks_what_a_baseline_accepts_and_is_valid(project):
    answered("baseline", "claims", "-o", "accepted.toml")
    log = json.loads(answered("verify", "claims", "--baseline", "accepted.toml", "--format", "sarif"))
    assert sarif_faults(log) == []
    assert [result["suppressions"][0]["status"] for result in log["runs"][0]["results"]] == ["accepted", "accepted"]


@pytest.mark.wide
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


# RFC 3986: what may stand in a URI reference.
URI = re.compile(r"(?:[A-Za-z0-9._~:/?#@!$&'()*+,;=-]|%[0-9A-F]{2})+")


def written(*, file: str = "claims/odd.toml", said: str = "a.", line: int = 1, count: int = 1, known: int = 0) -> dict:
    """The log of so many undecided claims of one file, of which the first `known` stand in a baseline."""
    claim = Claim(mechanism=Sampled(), epsilon=num(1), mechanism_name="odd", name="c")
    entries = [Entry(file, "odd", replace(claim, name=f"{said} {i}"), "PROVED", line=line) for i in range(count)]
    marks = frozenset(one.fingerprint for one in Results(entries=entries).surprises[:known])
    return json.loads(sarif.render(Results(entries=entries, known=marks)))


def places(log: dict) -> list[dict]:
    return [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]


def test_every_rule_in_sarif_has_what_code_scanning_asks_for(project):
    rules = json.loads(verified("sarif"))["runs"][0]["tool"]["driver"]["rules"]
    assert {rule["id"] for rule in rules} == {*RULES, *NOTE_RULES}
    for rule in rules:
        assert 0 < len(rule["shortDescription"]["text"]) < len(rule["fullDescription"]["text"]) <= 1024
        assert rule["name"] not in ("", rule["id"]) and len(rule["name"]) <= 255
        assert "What to do" in rule["help"]["text"] and "`" not in rule["help"]["text"]
        assert "### What to do" in rule["help"]["markdown"] and "\n1. " in rule["help"]["markdown"]
        properties = rule["properties"]
        assert properties["precision"] in ("very-high", "high", "medium", "low")
        assert properties["problem.severity"] == rule["defaultConfiguration"]["level"] in ("error", "warning")
        assert 0 < len(properties["tags"]) <= 10
        assert ("security" in properties["tags"]) == ("security-severity" in properties)
        assert 0 < float(properties.get("security-severity", "1")) <= 10


def test_only_rules_by_which_data_are_less_private_than_claimed_are_of_security(project):
    rules = json.loads(verified("sarif"))["runs"][0]["tool"]["driver"]["rules"]
    assert {rule["id"] for rule in rules if "security-severity" in rule["properties"]} == {"REFUTED", "VIOLATION", "NONCONFORMING"}


def test_a_result_has_the_level_of_its_rule(project):
    run = json.loads(verified("sarif"))["runs"][0]
    for result in run["results"]:
        assert result["level"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["defaultConfiguration"]["level"]


def test_the_category_of_an_upload_is_left_to_the_workflow(project):
    assert "automationDetails" not in json.loads(verified("sarif"))["runs"][0]


def test_a_region_in_sarif_is_the_line_of_the_claim_and_its_context_the_whole_claim(project):
    (claim, undecided) = places(json.loads(verified("sarif")))
    lines = Path("claims/response.toml").read_text(encoding="utf-8").splitlines()
    region, context = claim["region"], claim["contextRegion"]
    assert (region["startLine"], region["startColumn"], region["endLine"], region["endColumn"]) == (7, 1, 7, len("[[claim]]") + 1)
    assert region["snippet"]["text"] == lines[6] == "[[claim]]"
    assert (context["startLine"], context["endLine"], context["endColumn"]) == (7, 9, len(lines[8]) + 1)
    assert context["snippet"]["text"].split("\n") == lines[6:9]
    assert undecided["contextRegion"]["endLine"] == 4


def test_columns_in_sarif_count_utf16_code_units(project):
    Path("odd.toml").write_text(RESPONSE + "[[claim]]\nepsilon = 1 # \U0001f600\n", encoding="utf-8")
    log = json.loads(verified("sarif", "odd.toml"))
    assert log["runs"][0]["columnKind"] == "utf16CodeUnits"
    assert places(log)[0]["contextRegion"]["endColumn"] == len("epsilon = 1 # ") + 2 + 1


@pytest.mark.parametrize("line", [1, 4, 10**6])
def test_a_claim_file_that_is_gone_or_is_shorter_now_still_has_its_line(project, line):
    for file in ("gone.toml", "claims/undecided.toml"):
        log = written(file=file, line=line)
        assert sarif_faults(log) == []
        assert places(log)[0]["region"]["startLine"] == line
    assert "snippet" not in places(written(file="gone.toml", line=line))[0]["region"]


def has_letters_of(name):
    """Whether files can have the name in this locale, as the bytes of UTF-8 that an address has."""
    return name.isascii() or sys.getfilesystemencoding() == "utf-8"


ODD_NAMES = ["a b", "ü", "\U0001f600", "c:\\d\\e", "50%", "a#b?c", "[x](1)", "a&b=c;d", "%41", "'q' \"r\"", "-x", "a:b"]


@pytest.mark.parametrize("absolute", [False, True])
def test_an_odd_name_of_a_file_is_a_relative_uri_that_leads_to_it(absolute, project):
    files = [project / name / f"{name}.toml" for name in ODD_NAMES if has_letters_of(name)]
    for file in files:
        file.parent.mkdir()
        file.write_text(RESPONSE + "[[claim]]\nepsilon = 1\n", encoding="utf-8")
    log = json.loads(verified("sarif", *(str(file) if absolute else f"./{file.relative_to(project)}" for file in files)))
    assert sarif_faults(log) == []
    artifacts = [place["artifactLocation"] for place in places(log)]
    for uri in (artifact["uri"] for artifact in artifacts):
        assert URI.fullmatch(uri) and not urlsplit(uri).scheme and not urlsplit(uri).query and not urlsplit(uri).fragment
    assert {artifact["uriBaseId"] for artifact in artifacts} <= log["runs"][0]["originalUriBaseIds"].keys()
    assert [project / unquote(artifact["uri"]) for artifact in artifacts] == files


@pytest.mark.parametrize(("file", "uri"), [("a\0b", "a%00b"), (os.fsdecode(b"\xff.toml"), "%FF.toml"), ("x" * 300, "x" * 300)])
def test_a_name_that_no_text_or_no_file_can_have_is_still_a_uri(file, uri):
    log = written(file=file)
    assert sarif_faults(log) == []
    assert places(log)[0]["artifactLocation"]["uri"] == uri


@pytest.mark.parametrize("name", ["x" * 300, "a/b.py", "é é", "gone"])
def test_a_sampler_that_no_file_holds_is_not_linked(name, project):
    Path("odd.toml").write_text(UNKNOWN + f'[audit]\nsampler = "{name}:half"\n', encoding="utf-8")
    (result,) = written(file="odd.toml")["runs"][0]["results"]
    assert "relatedLocations" not in result and "See" not in result["message"]["text"]


def test_names_in_sarif_are_from_the_root_of_the_repository_wherever_dpverify_runs(project, monkeypatch):
    (project / ".git").mkdir()
    monkeypatch.chdir(project / "claims")
    assert {place["artifactLocation"]["uri"] for place in places(json.loads(verified("sarif", ".")))} == {
        "claims/response.toml", "claims/undecided.toml",
    }  # fmt: skip


def test_a_file_outside_the_repository_has_an_absolute_uri(project, monkeypatch):
    (project / "claims" / ".git").mkdir()
    monkeypatch.chdir(project / "claims")
    (project / "out side.toml").write_text(RESPONSE + "[[claim]]\nepsilon = 1\n")
    log = json.loads(verified("sarif", "../out side.toml"))
    assert places(log)[0]["artifactLocation"] == {"uri": (project / "out side.toml").as_uri()}
    assert sarif_faults(log) == []


def test_a_linked_file_is_named_by_where_it_is(project):
    Path("link.toml").symlink_to(Path("claims/undecided.toml"))
    assert places(json.loads(verified("sarif", "link.toml")))[0]["artifactLocation"]["uri"] == "claims/undecided.toml"


@pytest.mark.wide
def test_sarif_leads_to_the_sampler_that_violates_its_claim(project):
    log = json.loads(audited("sarif"))
    for result in log["runs"][0]["results"]:
        (related,) = result["relatedLocations"]
        place = related["physicalLocation"]
        assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("audits/noise.py", 1)
        assert place["region"]["snippet"]["text"] == "def half(data, rng):"
        assert f"[sampler]({related['id']})" in result["message"]["text"]


def test_sarif_leads_to_the_declaration_that_a_claim_uses(project):
    declaration = 'noise = Mechanism(name="noise", noise=Translation(density="exp(-abs(z))"), parameters={}, source=Source("A. 2020"))'
    Path("claims/used.py").write_text(f"from dpverify.declare import Mechanism, Source, Translation\n\n{declaration}\n")
    Path("used.toml").write_text('[mechanism]\nuse = "claims/used.py:noise"\n[[claim]]\nsensitivity = 1\nepsilon = 0.5\n')
    (result,) = json.loads(verified("sarif", "used.toml"))["runs"][0]["results"]
    place = result["relatedLocations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("claims/used.py", 3)
    assert place["region"]["snippet"]["text"] == declaration
    assert "[declaration](1)" in result["message"]["text"]


def test_what_looks_like_a_link_in_a_message_is_none():
    (result,) = written(said="see [here](1)")["runs"][0]["results"]
    assert result["message"]["text"].startswith("see \\[here](1) 0: ")


def test_the_markdown_of_a_message_holds_the_whole_message_and_no_html(project):
    for result in json.loads(verified("sarif"))["runs"][0]["results"]:
        said = result["message"]
        code = [line[4:] for line in said["markdown"].split("\n") if line.startswith("    ")]
        assert code == said["text"].split("\n")
        assert not [line for line in said["markdown"].split("\n") if re.search(r"(?<!\\)<", line) and not line.startswith("    ")]


def test_more_results_than_code_scanning_shows_are_cut_and_counted_the_known_ones_first(monkeypatch):
    assert sarif.MOST_RESULTS == 5_000
    monkeypatch.setattr(sarif, "MOST_RESULTS", 50)
    run = written(count=53, known=10)["runs"][0]
    assert len(run["results"]) == 50
    assert sum("suppressions" in result for result in run["results"]) == 7
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["level"] == "warning" and told["message"]["text"].startswith("3 of 53 results are left out")
    assert run["invocations"][0]["executionSuccessful"]


def test_of_too_many_results_errors_are_kept_before_warnings_in_their_order():
    def surprise(level: str, line: int) -> Surprise:
        return Surprise("claim", "REFUTED", level, "a.toml", line, "c", "t", "m", str(line))

    many = [surprise(level, line) for line, level in enumerate(["warning", "error", "warning", "error"], 1)]
    assert [one.line for one in sarif.gravest(many, 3)] == [1, 2, 4]
    assert [one.line for one in sarif.gravest(many, 2)] == [2, 4]


# -- JUnit XML -------------------------------------------------------------------------------------------------


def test_junitparser_reads_every_claim_and_which_fail(project):
    suites = {suite.name: suite for suite in JUnitXml.fromstring(verified("junit").encode())}
    cases = {case.name: case for suite in suites.values() for case in suite}
    assert suites.keys() == {"claims/response.toml", "claims/undecided.toml"}
    assert cases.keys() == {"above", NAME, "claim 1"}
    assert {name for name, case in cases.items() if any(isinstance(one, Failure) for one in case.result)} == {NAME, "claim 1"}
    assert "REFUTED" in cases[NAME].result[0].text


@pytest.mark.wide
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


@pytest.mark.wide
def test_annotations_and_sarif_name_files_from_the_root_of_the_repository_and_findings_by_their_claim(tmp_path, monkeypatch):
    folder = tmp_path / "service"
    folder.mkdir()
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(folder)
    Path("half.py").write_text("def noisy(data, size, rng):\n    return data[0] + rng.integers(-1, 2, size)\n")
    Path("half.toml").write_text(
        '[mechanism]\nkind = "builtin"\nname = "discrete_laplace"\nscale = 1\n[[claim]]\nname = "a count"\nsensitivity = 1\nepsilon = 1\n'
        '[audit]\nsampler = "half:noisy"\n'
    )
    said = {}
    for style in ("github", "sarif"):
        said[style] = CliRunner().invoke(cli.main, ["audit", "half.toml", "--seed", "1", "--samples", "5000", "--format", style]).stdout
    found = [COMMAND.fullmatch(line) for line in said["github"].splitlines()[:-1]]
    results = json.loads(said["sarif"])["runs"][0]["results"]
    assert found and len(results) == len(found)
    for one, result in zip(found, results, strict=True):
        assert one["file"] == result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "service/half.toml"
        assert decoded(one["title"]) == f"half: {result['ruleId']}"
        assert decoded(one["message"]).startswith(f"a count: {result['ruleId']}")
        assert result["message"]["text"].startswith(f"a count: {result['ruleId']}")


@pytest.mark.wide
def test_all_formats_name_the_same_claims(project):
    sarif = {result["locations"][0]["logicalLocations"][0]["name"] for result in json.loads(verified("sarif"))["runs"][0]["results"]}
    record = {claim["name"] for claim in json.loads(verified("json"))["claims"] if not claim["as_expected"]}
    junit = {case.name for suite in JUnitXml.fromstring(verified("junit").encode()) for case in suite if case.result}
    assert sarif == record == junit == {NAME, "claim 1"}


# -- the schema of claim files, in other people's tools --------------------------------------------------------


@pytest.mark.wide
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
