"""The command line keeps its contract: verbs, formats, exit codes, and no half-written file."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from fractions import Fraction
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

import dpverify
from dpverify import cli
from dpverify.catalogue import read_spec
from dpverify.cli import output
from dpverify.evidence.collected import encode
from dpverify.report.stated import stated
from dpverify.search import verify as judging
from dpverify.trusted.kernel.expr import ONE, ZERO, parse
from dpverify.trusted.kernel.model import Claim, Compose, Kernel, Part
from dpverify.trusted.kernel.registry import EXPLAINED, RULES
from tests.proofs import forged, line

# Randomized response that tells the truth with probability 3/4: epsilon = log(3) (theory#finite-table; digits: OEIS A002391)
RESPONSE = '[mechanism]\nkind = "table"\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]\n'
ABOVE = '[[claim]]\nname = "just above"\nepsilon = 1.099\n'
BELOW = '[[claim]]\nname = "just below"\nepsilon = 1.098\n'
EXACT = '[[claim]]\nname = "exact"\nepsilon = "log(3)"\n'
TIGHT = '[[claim]]\nname = "tight"\nepsilon = "tight"\n'
SAMPLED = '[mechanism]\nkind = "sampled"\n[[claim]]\nepsilon = 1\n[audit]\nsampler = "a:b"\n'
LOG3 = Fraction("1.09861228866810969139524523692252570464749055782274945")  # cut, not rounded


@pytest.fixture
def spec(tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVERIFY_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))

    def write(*parts: str, name: str = "response.toml") -> str:
        Path(name).write_text("".join(parts))
        return name

    return write


def run(*args: str, code: int | None = 0):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    if code is not None:
        assert result.exit_code == code, result.output
    return result


def claims(*args: str, code: int | None = 0) -> list[dict]:
    data = json.loads(run("verify", "--format", "json", *args, code=code).stdout)
    assert data["schema"] == "dpverify/1" and data["audits"] == []
    return data["claims"]


# -- verify -------------------------------------------------------------------------------------------


@pytest.mark.wide
def test_exit_codes_tell_expected_wrong_and_undecided_apart(spec):
    run("verify", spec(RESPONSE, ABOVE, EXACT, TIGHT), code=0)
    run("verify", spec(RESPONSE, BELOW), code=1)
    run("verify", spec(RESPONSE, BELOW, 'expect = "refuted"'), code=0)
    run("verify", spec(RESPONSE, ABOVE, 'expect = "refuted"'), code=1)
    run("verify", spec(RESPONSE, ABOVE, 'expect = "unknown"'), code=1)
    run("verify", spec(SAMPLED), code=4)
    run("verify", spec(SAMPLED.replace("epsilon = 1", 'epsilon = 1\nexpect = "unknown"')), code=0)
    run("verify", spec(RESPONSE, BELOW, name="a.toml"), spec(SAMPLED, name="b.toml"), code=1)


def test_the_json_is_the_contracts(spec):
    above, below = claims(spec(RESPONSE, ABOVE, BELOW), code=1)
    assert above["file"] == "response.toml" and above["mechanism"] == "response" and above["name"] == "just above"
    assert (above["verdict"], above["expected"], above["as_expected"]) == ("PROVED", "PROVED", True)
    assert above["epsilon"]["claimed"] == "1099/1000"
    assert above["delta"] == {"claimed": "0", "lower": "0", "upper": "0"}
    assert above["witness"] is None and above["reason"] is None and above["certificate"] is None
    assert above["rules"] and above["assumptions"] and above["seconds"] >= 0
    assert (below["verdict"], below["as_expected"]) == ("REFUTED", False)
    assert {"pair", "event", "P", "Q"} <= below["witness"].keys()


@pytest.mark.parametrize("digits", [5, 20, 50])
def test_the_enclosure_is_outward_and_as_narrow_as_asked(spec, digits):
    (claim,) = claims(spec(RESPONSE, TIGHT), "--digits", digits)
    low, high = Fraction(claim["epsilon"]["lower"]), Fraction(claim["epsilon"]["upper"])
    assert low <= LOG3 < high
    assert 0 < high - low <= Fraction(2, 10 ** (digits - 1))
    assert claim["epsilon"]["claimed"] == "tight"
    assert claim["also"]["exact epsilon"] == "log(3)"


def test_an_unknown_claim_says_why(spec):
    (claim,) = claims(spec(SAMPLED), code=4)
    assert claim["verdict"] == "UNKNOWN" and claim["reason"]
    assert claim["epsilon"]["lower"] is None and claim["delta"]["upper"] is None


def test_the_text_answers_first_then_says_why(spec):
    out = run("verify", spec(RESPONSE, ABOVE, BELOW, 'expect = "refuted"')).stdout.splitlines()
    assert out[0] == "PROVED   just above  epsilon 1.099  tight epsilon log(3) = 1.098612288..."
    assert out[1] == "REFUTED  just below  epsilon 1.098  same tight epsilon"
    assert out[2].startswith("assumed  ") and all(line.startswith(" " * 9) for line in out[3:-1])
    assert out[-1] == "2 claims, 2 as expected"
    assert max(map(len, out)) <= 100


@pytest.mark.wide
def test_more_is_told_where_it_is_asked_for_and_less(spec):
    file = spec(RESPONSE, ABOVE, BELOW, 'expect = "refuted"')
    full = run("verify", file, "-v").stdout
    assert "tight epsilon log(3) = 1.0986122886681096" in full and "rules    finite-table" in full and "witness: " in full and " ms" in full
    assert run("verify", file, "-q").stdout == "2 claims, 2 as expected\n"
    assert "1.0986122886681096913952452369" in run("verify", file, "--digits", "30").stdout


def test_what_is_not_as_expected_is_told_in_full(spec):
    out = run("verify", spec(RESPONSE, BELOW), code=1).stdout
    assert "expected PROVED" in out.splitlines()[0] and "witness: " in out and "replay: " in out


@pytest.mark.parametrize(
    ("number", "told"),
    [("484.4805", "484.4805"), ('"1e-6"', "1e-6"), ('"1/3"', "1/3"), ('"0.00000123"', "1.23e-6"), ("2", "2"), ('"1/8"', "0.125")],
)
def test_numbers_are_told_as_their_author_wrote_them(spec, number, told):
    assert f"epsilon {told}" in run("verify", spec(RESPONSE, ABOVE.replace("1.099", number)), code=None).stdout.splitlines()[0] + " "


@pytest.mark.wide
def test_the_other_formats_say_the_same(spec):
    file = spec(RESPONSE, ABOVE, BELOW)
    suite = ET.fromstring(run("verify", file, "--format", "junit", code=1).stdout.encode())
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    sarif = json.loads(run("verify", file, "--format", "sarif", code=1).stdout)
    (result,) = sarif["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("REFUTED", "error")
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 7
    github = run("verify", file, "--format", "github", code=1).stdout
    assert github.startswith("::error file=response.toml,line=7,title=response%3A REFUTED::just below")


def test_colours_need_a_terminal(spec):
    assert "\x1b" not in run("verify", spec(RESPONSE, ABOVE)).output


def test_a_directory_and_several_paths_are_answered_in_order(spec):
    spec(RESPONSE, ABOVE, name="b.toml")
    spec(RESPONSE, ABOVE, name="a.toml")
    assert [claim["file"] for claim in claims(".")] == ["a.toml", "b.toml"]
    lines = run("verify", "b.toml", "a.toml").stdout.split("\n")
    assert [line for line in lines if line.endswith(".toml")] == ["b.toml", "a.toml"]


# -- some claims, and findings again ------------------------------------------------------------------------


def test_claims_are_chosen_by_their_exact_names(spec):
    spec(RESPONSE, ABOVE, BELOW, name="a.toml")
    spec(RESPONSE, EXACT, BELOW, name="b.toml")

    def names(*chosen: str) -> list[tuple[str, str]]:
        flags = [flag for name in chosen for flag in ("--claim", name)]
        return [(claim["file"], claim["name"]) for claim in claims("a.toml", "b.toml", *flags, code=None)]

    assert names("exact") == [("b.toml", "exact")]
    assert names("just below", "just above") == [("a.toml", "just above"), ("a.toml", "just below"), ("b.toml", "just below")]


def test_a_claim_that_is_not_there_is_named_with_the_nearest(spec):
    file = spec(RESPONSE, ABOVE, BELOW)
    said = run("verify", file, "--claim", "just abov", "--claim", "frob", "--certificates", "out", code=2).stderr.splitlines()
    assert said == [
        "SpecError: --claim 'just abov': no claim of this name in response.toml. Did you mean 'just above'?",
        "SpecError: --claim 'frob': no claim of this name in response.toml. There are 'just above', 'just below'.",
    ]
    assert not Path("out").exists()


def test_a_chosen_claim_has_the_certificate_that_it_has_among_all(spec):
    file = spec(RESPONSE, ABOVE.replace("just above", "d=3 nu=5") + ABOVE.replace("just above", "d3 nu5!"))
    (claim,) = claims(file, "--claim", "d3 nu5!", "--certificates", "out")
    assert claim["certificate"] == str(Path("out") / "response.d3-nu5-2.cert.json")


@pytest.mark.wide
def test_a_finding_is_found_again_by_the_one_line_that_it_prints(spec):
    Path("my specs").mkdir()
    file = spec(RESPONSE, ABOVE, BELOW.replace("just below", "it's `below` $HOME"), name="my specs/a b.toml")
    first = run("verify", file, "--digits", "9", code=1).stdout
    (line,) = [line.strip() for line in first.splitlines() if "replay: " in line]
    arguments = shlex.split(line.removeprefix("replay: dpverify "))
    again = run(*arguments, code=1).stdout
    assert line in again and "just above" not in again
    assert [part for part in first.splitlines() if "witness" in part] == [part for part in again.splitlines() if "witness" in part]
    (result,) = json.loads(run("verify", file, "--digits", "9", "--format", "sarif", code=1).stdout)["runs"][0]["results"]
    assert result["message"]["text"].splitlines()[-1] == line


@pytest.mark.wide
def test_the_replay_of_a_file_that_looks_like_an_option_names_it_as_a_file(spec, monkeypatch):
    file = Path(spec(RESPONSE, BELOW))
    monkeypatch.chdir(file.parent)
    file.rename("-v.toml")
    for arguments in (["--", "-v.toml"], ["./-v.toml"]):
        said = run("verify", *arguments, code=1).stdout
        (line,) = [line.strip() for line in said.splitlines() if "replay: " in line]
        assert run(*shlex.split(line.removeprefix("replay: dpverify ")), code=1).stdout.count("REFUTED") == 1


@pytest.mark.wide
def test_what_is_as_expected_and_not_refuted_needs_no_replay(spec):
    assert "replay" not in run("verify", spec(RESPONSE, ABOVE)).stdout
    assert "replay" not in run("verify", spec(RESPONSE, BELOW, 'expect = "refuted"')).stdout
    assert "replay" in run("verify", spec(RESPONSE, BELOW, 'expect = "refuted"'), "-v").stdout


def test_a_folders_pyproject_is_no_claim_file(spec):
    spec(RESPONSE, ABOVE)
    spec("[project]\nname = 'mine'\n", name="pyproject.toml")
    assert [claim["file"] for claim in claims(".")] == ["response.toml"]


# -- bad input ----------------------------------------------------------------------------------------------


def test_all_faults_of_all_files_are_listed_and_nothing_is_written(spec):
    bad = spec(RESPONSE, ABOVE.replace("1.099", '"1.77 4"'), "foo = 1", name="bad.toml")
    result = run("verify", spec(RESPONSE, ABOVE), bad, "missing.toml", "--certificates", "out", code=2)
    assert result.stdout == ""
    assert [line.split(" ")[1] for line in result.stderr.splitlines()] == ["bad.toml,", "bad.toml,", "missing.toml:"]
    assert 'SpecError: bad.toml, claim 1: epsilon = "1.77 4" is not a number. Write an integer' in result.stderr
    assert not Path("out").exists()


@pytest.mark.parametrize("args", [["verify"], ["verify", "x.toml", "--format", "xml"], ["frobnicate"], ["verify", "x", "--digits", "0"]])
def test_bad_usage_is_code_2(args):
    run(*args, code=2)


def test_a_directory_that_cannot_be_written_is_one_clear_error(spec):
    Path("taken").write_text("a file")
    result = run("verify", spec(RESPONSE, ABOVE), "--certificates", "taken/deep", code=2)
    assert "cannot write or read" in result.stderr and len(result.stderr.splitlines()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_clear_error(spec):
    command = [sys.executable, "-m", "dpverify.cli", "verify", spec(RESPONSE, ABOVE)]
    with open("/dev/full", "w") as full:  # noqa: PTH123
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=_environment())
    assert result.returncode == 2, result.stderr
    assert "No space left" in result.stderr


def test_a_fault_of_dpverify_is_code_3_and_leaves_the_other_answers(spec, monkeypatch):
    real = judging.verify

    def verify(claim, digits):
        if claim.name == "exact":
            raise ZeroDivisionError("oops")
        return real(claim, digits)

    monkeypatch.setattr(judging, "verify", verify)
    result = run("verify", spec(RESPONSE, ABOVE, EXACT), "--format", "json", code=3)
    assert "ZeroDivisionError: oops. This is a bug: please report it" in result.stderr
    assert [claim["verdict"] for claim in json.loads(result.stdout)["claims"]] == ["PROVED", "UNKNOWN"]


def test_ctrl_c_leaves_code_130_and_whole_files_only(spec, monkeypatch):
    real = judging.verify

    def verify(claim, digits):
        if claim.name == "exact":
            while not list(Path("out").glob("*.json")):  # the answer before is on its way
                time.sleep(0.02)
            os.kill(os.getppid(), signal.SIGINT)
            time.sleep(600)
        return real(claim, digits)

    monkeypatch.setattr(judging, "verify", verify)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests ignores it
    try:
        result = run("verify", spec(RESPONSE, ABOVE, EXACT), "--certificates", "out", code=130)
    finally:
        signal.signal(signal.SIGINT, before)
    assert "interrupted" in result.stderr
    assert [path.name for path in Path("out").iterdir()] == ["response.just-above.cert.json"]
    run("check", "out")


def test_a_file_that_says_the_same_already_is_left_as_it_is(tmp_path):
    target = tmp_path / "a.json"
    for content in ("one", "two", "two"):
        output.write(target, content)
        assert target.read_text() == content
        before = target.stat().st_ino
    output.write(target, "two")
    assert target.stat().st_ino == before
    target.write_bytes(b"\xff")
    output.write(target, "two")
    assert target.read_text() == "two"


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "a.json"
    target.write_text("old")

    def fail(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        output.write(target, "new")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_folder_that_is_read_only_is_named_by_the_file_that_was_meant(tmp_path, monkeypatch):
    def fail(self, *args, **kwargs):
        raise OSError(30, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "write_bytes", fail)
    monkeypatch.setattr(Path, "unlink", fail)  # such a file system refuses to remove even what is not there
    with pytest.raises(OSError, match="Read-only") as caught:
        output.write(tmp_path / "a.json", "new")
    assert caught.value.filename == str(tmp_path / "a.json")


# -- certificates ---------------------------------------------------------------------------------------------


def test_certificates_are_named_after_their_claims_and_check(spec):
    twins = ABOVE.replace("just above", "d=3 nu=5") + ABOVE.replace("just above", "d3 nu5!")
    paths = [claim["certificate"] for claim in claims(spec(RESPONSE, twins), "--certificates", "out")]
    assert paths == [str(Path("out") / f"response.{slug}.cert.json") for slug in ("d3-nu5", "d3-nu5-2")]
    assert run("check", "out").stdout.splitlines()[-1] == "2 certificates, 2 valid"
    assert run("check", *paths).stdout.startswith("PROVED   out")


def test_a_refuted_claims_certificate_holds_too(spec):
    run("verify", spec(RESPONSE, BELOW, 'expect = "refuted"'), "--certificates", "out")
    assert run("check", "out").stdout.startswith("REFUTED")


def test_an_undecided_claim_has_no_certificate(spec):
    (claim,) = claims(spec(SAMPLED), "--certificates", "out", code=4)
    assert claim["certificate"] is None and not list(Path("out").iterdir())


def test_a_tampered_certificate_is_refused(spec):
    (claim,) = claims(spec(RESPONSE, ABOVE), "--certificates", "out")
    path = Path(claim["certificate"])
    path.write_text(path.read_text().replace("1099/1000", "1/1000"))
    result = run("check", "out", code=2)
    assert "made for another claim" in result.stderr
    assert result.stdout == "1 certificate, 0 valid\n"


@pytest.mark.parametrize("held", [lambda part: part.mechanism, lambda part: Compose((part, part))], ids=["alone", "composed"])
def test_a_certificate_about_a_density_that_is_certainly_none_is_refused(tmp_path, held):
    """1 + theta (theta - 1/3) (theta - 1) integrates to 1 at three inputs and at no other."""
    wrong = Part(Kernel(parse("1 + theta*(theta - 1/3)*(theta - 1)"), (ZERO, ONE), (ZERO, ONE)), ZERO)
    mechanism = held(wrong)
    claim = Claim(mechanism, ZERO, sensitivity=ZERO if isinstance(mechanism, Kernel) else None)
    place, verdict = ((), "PROVED") if isinstance(mechanism, Kernel) else (({"part": 0},), "UNKNOWN")
    file = tmp_path / "wrong.cert.json"
    file.write_text(encode(forged(claim, verdict, line("equal-answers", {"side": "upper"}, place=place))))
    found = run("check", file, code=2)
    assert "not a certificate of a mechanism" in found.stderr and "integrate" in found.stderr


def test_check_of_nothing_is_bad_usage(tmp_path):
    run("check", tmp_path, code=2)
    run("check", tmp_path / "absent.cert.json", code=2)


# -- report and explain -----------------------------------------------------------------------------------------


@pytest.mark.wide
def test_a_report_is_pages_certificates_and_indexes_and_the_same_every_time(spec):
    file = spec(RESPONSE, ABOVE, BELOW, 'expect = "refuted"')
    run("report", file, "-o", "out")
    first = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    assert sorted(first) == [
        "certificates.json", "index.html", "index.md", "response.curves.json", "response.just-above.cert.json",
        "response.just-below.cert.json",
    ]  # fmt: skip
    assert b"REFUTED" in first["index.html"] and b"REFUTED" in first["index.md"]
    run("report", file, "-o", "out")
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == first


@pytest.mark.wide
def test_certificates_and_curves_have_folders_of_their_own_where_that_is_asked_for(spec):
    file = spec(RESPONSE, ABOVE, BELOW, 'expect = "refuted"')
    run("report", file, "-o", "flat")
    run("report", file, "-o", "out", "--folders")
    assert sorted(path.name for path in Path("out").iterdir()) == ["certificates", "curves", "index.html", "index.md"]
    alone, together = (json.loads(Path(folder, "certificates.json").read_text()) for folder in ("out/certificates", "flat"))
    assert alone["found_by"] == together["found_by"]
    assert {f"../{name}" for name in together["pages"]} == alone["pages"].keys() == {"../index.html", "../index.md"}
    for name in ("response.just-above.cert.json", "response.just-below.cert.json"):
        assert Path("out/certificates", name).read_bytes() == Path("flat", name).read_bytes()
    assert Path("out/curves/response.curves.json").read_bytes() == Path("flat/response.curves.json").read_bytes()
    page = Path("out/index.html").read_text()
    assert 'href="./certificates/response.just-above.cert.json"' in page and 'href="./curves/response.curves.json"' in page
    assert "python -P -m dpverify.kernel certificates/*.cert.json" in page
    assert "2 certificates, 2 valid\n" in run("check", "out").stdout
    Path("out/certificates/response.just-above.cert.json").unlink()
    assert "missing: out/certificates/response.just-above.cert.json" in run("check", "out", code=1).stdout


@pytest.mark.wide
def test_a_report_moves_what_it_wrote_to_the_folders_and_back(spec):
    file = spec(RESPONSE, ABOVE)
    run("report", file, "-o", "out")
    flat = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    Path("out/notes.cert.json").write_text("{}")
    run("report", file, "-o", "out", "--folders")
    assert sorted(path.name for path in Path("out").iterdir()) == ["certificates", "curves", "index.html", "index.md", "notes.cert.json"]
    Path("out/notes.cert.json").unlink()
    run("report", file, "-o", "out")
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == flat


def test_the_digest_of_a_report_with_folders_is_what_its_line_makes(spec):
    run("report", spec(RESPONSE, ABOVE, EXACT), "-o", "out", "--folders")
    page = unescape(Path("out/index.html").read_text())
    (line,) = re.findall(r"^(for file in certificates/.*?)</code>", page, re.MULTILINE)
    made = subprocess.run(["bash", "-c", line], cwd="out", capture_output=True, text=True, check=True).stdout.split()[0]
    assert f"<code>{made}</code>" in page


@pytest.mark.wide
def test_a_report_drops_certificates_of_claims_that_are_gone(spec):
    run("report", spec(RESPONSE, ABOVE, EXACT), "-o", "out")
    run("report", spec(RESPONSE, ABOVE), "-o", "out")
    assert [path.name for path in Path("out").glob("*.cert.json")] == ["response.just-above.cert.json"]
    listed = json.loads(Path("out/certificates.json").read_text())["found_by"]
    assert [group["certificates"] for group in listed] == [["response.just-above.cert.json"]]
    run("report", spec(SAMPLED), "-o", "out", "--no-audit", code=4)
    assert not list(Path("out").glob("*cert*"))


@pytest.mark.wide
def test_a_report_removes_nothing_that_is_not_its_own(spec):
    def named(name, *parts):
        return str(Path(spec(*parts)).rename(f"{name}.toml"))

    claim = ABOVE.replace("just above", "v1.2 c")
    run("report", named("a", RESPONSE, claim), named("a.b", RESPONSE, claim), "-o", "out")
    theirs = {"a.mine.cert.json": b"{}", "a.copy.cert.json": Path("out/a.v1.2-c.cert.json").read_bytes(), "notes.txt": b"x"}
    for name, content in theirs.items():
        (Path("out") / name).write_bytes(content)
    (Path("out") / "a.folder.cert.json").mkdir()
    run("report", named("a", RESPONSE, ABOVE), "-o", "out")
    kept = {path.name for path in Path("out").glob("*.cert.json")}
    assert kept == {"a.b.v1.2-c.cert.json", "a.just-above.cert.json", "a.folder.cert.json", "a.mine.cert.json", "a.copy.cert.json"}
    assert all((Path("out") / name).read_bytes() == content for name, content in theirs.items())


@pytest.mark.wide
def test_a_forged_list_of_certificates_makes_a_report_remove_nothing_elsewhere(spec):
    run("report", spec(RESPONSE, ABOVE, EXACT), "-o", "out")
    outside = Path("outside.cert.json")
    outside.write_bytes(Path("out/response.just-above.cert.json").read_bytes())
    listed = json.loads(Path("out/certificates.json").read_text())
    listed["found_by"][0]["certificates"] += ["../outside.cert.json", str(outside.resolve())]
    Path("out/certificates.json").write_text(json.dumps(listed))
    run("report", spec(RESPONSE, EXACT), "-o", "out")
    assert outside.exists()


@pytest.mark.wide
@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_report_is_written_where_nothing_can_be_told_and_the_code_says_that_it_was_not(spec):
    file = spec(RESPONSE, ABOVE)
    command = shlex.join([sys.executable, "-m", "dpverify.cli", "report", file, "-o", "out"])
    result = subprocess.run(["sh", "-c", f"{command} >&- 2>&-"], check=False, env=_environment())
    assert result.returncode == 2 and Path("out/index.html").is_file()


def test_a_page_escapes_what_a_claim_file_says(spec):
    run("report", spec(RESPONSE, ABOVE.replace("just above", "<script>alert(1)</script> | x")), "-o", "out")
    page = Path("out/index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page
    assert "\\<script\\>" in Path("out/index.md").read_text(encoding="utf-8")


@pytest.mark.wide
def test_every_rule_is_explained(monkeypatch):
    for name in RULES:
        monkeypatch.setattr("dpverify.cli.explain._uses", lambda name=name: iter([("somebody", {name}), ("another", set())]))
        out = run("explain", name).stdout
        assert "used by: somebody\n" in out, name
        assert stated(name).statement in out and str(stated(name).source) in out, name
        assert all(f"checked: {line}" in out for line in stated(name).checked), name


@pytest.mark.wide
def test_a_theorem_and_a_mechanism_of_one_name_are_both_explained():
    assert "laplace" in EXPLAINED
    out = run("explain", "laplace").stdout
    assert stated("laplace").statement in out and f"{Path('specs') / 'laplace.toml'}\n" in out and "\n  claim: " in out


@pytest.mark.wide
def test_a_mechanism_is_explained_by_name_with_the_rules_that_decide_it(spec):
    run("report", spec(RESPONSE, ABOVE, EXACT), "-o", "reports")
    Path("specs").mkdir()
    Path("response.toml").rename("specs/response.toml")
    out = run("explain", "response").stdout
    assert "kind: table" in out and "claim: exact: epsilon log(3), PROVED" in out
    assert "rules: finite-table" in out.splitlines()[-1]
    assert "response" in run("explain", "finite-table").stdout.splitlines()[-1]
    assert run("explain", "frobnicate", code=2).stderr.endswith("`dpverify explain` lists the rules and the shelf.\n")
    assert "Did you mean 'power-identity'?" in run("explain", "power-identty", code=2).stderr
    assert "Did you mean 'cauchy_1d'?" in run("explain", "cauchy_1", code=2).stderr
    assert "`dpverify new NAME --kind noisy_max` makes a claim file of it." in run("explain", "noisy_max", code=2).stderr
    assert "`dpverify new NAME --kind builtin`" in run("explain", "gumbel", code=2).stderr


# -- the process --------------------------------------------------------------------------------------------------


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(dpverify.__file__).parents[1])}


def test_help_loads_nothing_heavy():
    probe = "import sys; from dpverify.cli import main\ntry: main(['--help'])\nexcept SystemExit: print(sorted(sys.modules))"
    out = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, env=_environment()).stdout
    assert "Prove or refute" in out
    heavy = ("flint", "sympy", "z3", "numpy", "scipy", "dpverify.trusted.kernel.judgement", "dpverify.search")
    assert not any(f"'{name}'" in out for name in heavy)


def test_judging_a_claim_file_loads_neither_pictures_nor_solvers(spec):
    probe = "import sys; from dpverify.cli import main\ntry: main(['verify', *sys.argv[1:]])\nexcept SystemExit: print(sorted(sys.modules))"
    command = [sys.executable, "-c", probe, str(spec(RESPONSE, ABOVE)), "--no-cache"]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=_environment()).stdout
    assert "PROVED" in out
    assert not any(f"'{name}'" in out for name in ("numpy", "scipy", "sympy", "z3", "dpverify.pictures", "dpverify.report.page"))


def test_an_elementary_claim_is_read_and_judged_without_numpy(spec):
    laplace = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n[[claim]]\nsensitivity = 1\nepsilon = 1\n'
    probe = (
        "import sys; from dpverify.catalogue import read_spec; from dpverify.search.verify import verify\n"
        "[stated] = read_spec(sys.argv[1]).claims; print(verify(stated.claim).judgement.verdict, sorted(sys.modules))"
    )
    command = [sys.executable, "-c", probe, str(spec(laplace))]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=_environment()).stdout
    assert out.startswith("PROVED")
    assert not any(f"'{name}'" in out for name in ("numpy", "scipy", "sympy", "z3"))


def test_from_python_one_function_reads_and_one_judges(spec):
    stated = read_spec(spec(RESPONSE, ABOVE)).claims[0]
    assert dpverify.read_spec is read_spec
    assert dpverify.verify(stated.claim).judgement.verdict == "PROVED"


@pytest.mark.wide
def test_a_reader_that_closes_the_pipe_is_no_verdict(tmp_path):
    file = tmp_path / "response.toml"
    claims = "".join(f'[[claim]]\nname = "{i}"\nepsilon = 2\n' for i in range(300))
    file.write_text('[mechanism]\nkind = "table"\nrows = [["1/2", "1/2"], ["1/2", "1/2"]]\n' + claims, encoding="utf-8")
    command = [sys.executable, "-m", "dpverify.cli", "verify", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as verify:
        assert verify.stdout is not None
        assert verify.stderr is not None
        verify.stdout.close()
        said = verify.stderr.read()
    assert verify.returncode == 2
    assert "output was closed" in said
    assert "Traceback" not in said


def test_without_any_output_the_exit_code_says_that_nothing_was_told():
    command = f"{sys.executable} -m dpverify.cli verify randomized_response >&-"
    assert subprocess.run(["sh", "-c", command], check=False, stderr=subprocess.DEVNULL).returncode == 2
