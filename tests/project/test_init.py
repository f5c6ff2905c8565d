"""A project, existing or new, is made ready in one command, which takes nothing away and leaves nothing half-made."""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from dpverify import cli
from dpverify.errors import ProjectError
from dpverify.project import files as scaffold_files
from dpverify.project.files import Action, Planned, carry_out
from tests.steps import GH, Runner

MADE = {
    "specs/noisy_count.toml", "specs/noisy_count.py", "specs/claim-file.schema.json", ".taplo.toml", ".github/workflows/dpverify.yml",
    "pyproject.toml", ".gitignore",
}  # fmt: skip


def run(*args, code=0):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result


def tree(folder: Path = Path()) -> dict[str, bytes]:
    """Every file below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVERIFY_CACHE_DIR", str(tmp_path.parent / "cache"))
    return tmp_path


# -- what is made --------------------------------------------------------------------------------------


@pytest.mark.wide
def test_a_new_project_is_green_with_the_two_commands_that_are_printed():
    said = run("init").stdout
    assert set(tree()) == MADE
    commands = said.partition("Next:\n")[2].split("\n  ")
    assert [command.strip() for command in commands] == ["dpverify verify", "dpverify audit"]
    judged = json.loads(run("verify", "--format", "json").stdout)["claims"]
    assert [claim["verdict"] for claim in judged] == ["PROVED"]
    audits = json.loads(run("audit", "--samples", "20000", "--seed", "1", "--format", "json").stdout)["audits"]
    assert [audit["finding"] for audit in audits] == ["NO_VIOLATION_SEEN"]


def test_the_first_audit_fails_where_the_sampler_has_half_the_noise():
    run("init")
    sampler = Path("specs/noisy_count.py")
    sampler.write_text(sampler.read_text().replace("SCALE = (2, 1)", "SCALE = (1, 1)"))
    run("audit", "--samples", "20000", "--seed", "1", code=1)


def test_a_folder_is_made_where_it_is_not_there_yet():
    said = run("init", "a/new one").stdout
    assert set(tree(Path("a/new one"))) == MADE
    assert "cd 'a/new one'" in said


@pytest.mark.parametrize("verb", [("init", "--", "-new"), ("new", "--kind", "table", "--dir", "-new", "a")])
def test_what_is_printed_to_run_next_takes_no_folder_for_an_option(verb):
    said = run(*verb).stdout.partition("Next:\n")[2]
    assert "./-new" in said.splitlines()[0]


@pytest.mark.parametrize("ci", ["github", "gitlab"])
def test_below_the_top_of_a_repository_it_is_told_that_nothing_reads_the_ci_file(ci):
    Path(".git").mkdir()
    said = run("init", "service", "--ci", ci, "--dry-run").stdout
    (line,) = [line for line in said.splitlines() if "nothing reads it there" in line]
    assert "/dpverify.yml" in line and f"move it to {Path().resolve()}, and let its commands run in service" in line
    assert "nothing reads it there" not in run("init", "--ci", ci).stdout


def test_everything_that_is_made_or_left_is_listed():
    Path(".gitignore").write_text("dpverify-report/\n")
    Path(".taplo.toml").write_text("# ours\n")
    lines = run("init").stdout.partition("Next:")[0].splitlines()
    told = {line.split("  ")[-1] if "(" not in line else line.split()[1]: line.split()[0] for line in lines}
    assert {Path(path).as_posix() for path in told} == MADE
    assert {path for path, word in told.items() if word == "left"} == {".gitignore", ".taplo.toml"}


def test_a_second_run_changes_nothing():
    run("init")
    before = tree()
    said = run("init").stdout
    assert tree() == before and "made" not in said and "added to" not in said


def test_a_dry_run_says_the_same_and_makes_nothing():
    said = run("init", "--dry-run").stdout
    assert tree() == {} and list(Path().iterdir()) == []
    assert all(path in said for path in MADE) and "would make" in said


# -- an existing project -------------------------------------------------------------------------------


def test_an_existing_project_keeps_every_byte_and_gets_the_table_at_the_end():
    before = b'# ours\r\n[project]\r\nname = "ours"\r\nversion = "1"\r\n\r\n[tool.other]\r\nx = [1, 2]'
    Path("pyproject.toml").write_bytes(before)
    Path(".gitignore").write_bytes(b"*.pyc")
    run("init")
    after = Path("pyproject.toml").read_bytes()
    assert after.startswith(before) and b"\n" not in after.replace(b"\r\n", b"")
    data = tomllib.loads(after.decode())
    assert data["tool"]["dpverify"] == {"paths": ["specs"]} and data["tool"]["other"] == {"x": [1, 2]}
    assert Path(".gitignore").read_bytes() == b"*.pyc\ndpverify-report/\n"
    run("verify")


def test_settings_that_are_there_are_left_and_their_folder_is_used():
    Path("pyproject.toml").write_text('[tool.dpverify]\npaths = ["privacy claims"]\nprofile = "dev"\n')
    before = Path("pyproject.toml").read_bytes()
    run("init", "--force")
    assert Path("pyproject.toml").read_bytes() == before
    assert Path("privacy claims/noisy_count.toml").is_file() and not Path("specs").exists()
    assert tomllib.loads(Path(".taplo.toml").read_text())["rule"][0]["include"] == ["privacy claims/**/*.toml"]
    run("verify")


def test_files_that_are_there_are_left_and_replaced_only_by_force():
    ours = {path: f"# ours: {path}\n" for path in MADE - {"pyproject.toml", ".gitignore", "specs/noisy_count.toml"}}
    for path, text in ours.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    assert "--force replaces it" in run("init").stdout
    assert {path: Path(path).read_text() for path in ours} == ours
    run("init", "--force")
    assert not any(Path(path).read_text() == text for path, text in ours.items())


def test_a_replaced_file_keeps_its_mode_and_a_link_stays_a_link():
    Path("elsewhere.toml").write_text("# ours\n")
    Path("elsewhere.toml").chmod(0o640)
    Path(".taplo.toml").symlink_to("elsewhere.toml")
    run("init", "--force")
    assert Path(".taplo.toml").is_symlink() and "[rule.schema]" in Path("elsewhere.toml").read_text()
    assert Path("elsewhere.toml").stat().st_mode & 0o777 == 0o640


def test_an_old_schema_is_left_with_the_way_to_a_new_one():
    run("init")
    assert "(it is up to date)" in run("init").stdout
    Path("specs/claim-file.schema.json").write_text("{}")
    assert "`dpverify schema claim-file` prints this one's" in run("init").stdout
    assert Path("specs/claim-file.schema.json").read_text() == "{}"
    run("init", "--force")
    assert Path("specs/claim-file.schema.json").read_text() == run("schema", "claim-file").stdout


# -- nothing half-made ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[project\n", "not TOML"),
        (b"x = '\xff'\n", "not UTF-8"),
        (b"tool = { other = 1 }\n", "cannot be added after its last line"),
        (b"tool = 1\n", "cannot be added after its last line"),
    ],
)
def test_a_pyproject_that_cannot_be_added_to_stops_everything(content, why):
    Path("pyproject.toml").write_bytes(content)
    said = run("init", code=2).output
    assert why in said and "pyproject.toml" in said
    assert tree() == {"pyproject.toml": content}


def test_everything_in_the_way_is_listed_at_once_and_nothing_is_made():
    Path("specs").write_text("a file")
    Path(".taplo.toml").mkdir()
    said = run("init", "--force", code=2).output
    assert "specs/noisy_count.toml" in said and ".taplo.toml: a folder is where this file would go" in said
    assert tree() == {"specs": b"a file"}


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("after", range(7))
def test_a_failure_in_the_midst_takes_everything_back(error, after, monkeypatch):
    Path(".gitignore").write_text("*.pyc\n")
    Path("pyproject.toml").write_text("# ours\n")
    before, done = tree(), []
    replace = Path.replace

    def failing(self, target):
        if len(done) == after:
            raise error
        done.append(target)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    assert CliRunner().invoke(cli.main, ["init"]).exit_code != 0
    assert len(done) == after and tree() == before
    assert {path.name for path in Path().iterdir()} == {".gitignore", "pyproject.toml"}


def test_a_disk_that_is_full_before_anything_is_in_place_leaves_nothing(monkeypatch):
    written = []

    def full(self, content):
        written.append(self)
        if len(written) == 3:
            raise OSError(28, "No space left on device")
        return len(content)

    monkeypatch.setattr(Path, "write_bytes", full)
    assert "cannot write or read specs/claim-file.schema.json: No space left on device." in run("init", code=2).output
    assert list(Path().iterdir()) == []


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_is_written(monkeypatch):
    monkeypatch.setattr(scaffold_files.os, "access", lambda path, mode: False)
    with pytest.raises(ProjectError, match="cannot be written to") as caught:
        carry_out([Planned(Path(name), "x", Action.MAKE) for name in ("a", "b/c")])
    assert len(caught.value.faults) == 2 and tree() == {}


# -- what reads the files ------------------------------------------------------------------------------


@pytest.mark.parametrize(("system", "schema"), [("github", "vendor.github-workflows"), ("gitlab", "vendor.gitlab-ci")])
@pytest.mark.parametrize("package", [True, False])
def test_the_file_for_continuous_integration_is_one_by_the_published_schema(system, schema, package):
    check = pytest.importorskip("check_jsonschema")
    if package:
        Path("pyproject.toml").write_text('[project]\nname = "ours"\nversion = "1"\n')
    run("init", "--ci", system)
    file = Path({"github": ".github/workflows/dpverify.yml", "gitlab": ".gitlab/dpverify.yml"}[system])
    assert check.main(["--builtin-schema", schema, str(file)], standalone_mode=False) == 0
    assert ("pip install ." in file.read_text()) is package


def test_no_continuous_integration_is_made_where_none_is_wanted():
    run("init", "--ci", "none")
    assert set(tree()) == MADE - {".github/workflows/dpverify.yml"}


@pytest.mark.parametrize("content", [None, "test:\n  script: make test\n", "include: .gitlab/dpverify.yml\n"])
def test_the_pipeline_of_a_project_on_gitlab_is_included_and_never_replaced(content):
    if content is not None:
        Path(".gitlab-ci.yml").write_text(content)
    said = run("init", "--ci", "gitlab", "--force").stdout
    pipeline = Path(".gitlab-ci.yml").read_text()
    assert pipeline == (content or "include:\n  - local: /.gitlab/dpverify.yml\n")
    assert ("include in it: local: /.gitlab/dpverify.yml" in said) is (content is not None and "include" not in content)
    assert "dpverify report" in str(yaml.safe_load(Path(".gitlab/dpverify.yml").read_text())["dpverify"]["script"])


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("claimed", "code"), [("1/2", 0), ("1/4", 1)])
def test_the_steps_of_the_workflow_tell_what_was_found_and_end_with_its_exit_code(claimed, code, folder, tmp_path_factory, monkeypatch):
    run("init")
    claim = Path("specs/noisy_count.toml")
    claim.write_text(claim.read_text().replace('epsilon = "1/2"', f'epsilon = "{claimed}"'))
    scratch = tmp_path_factory.mktemp("scratch")
    monkeypatch.setenv("FAKE_GH", str(scratch))
    [job] = yaml.safe_load(Path(".github/workflows/dpverify.yml").read_text())["jobs"].values()
    event = {"pull_request": {"number": 7, "head": {"repo": {"full_name": "us/ours"}}}}
    contexts = {"github": {"event": event, "repository": "us/ours", "token": "t"}, "env": job["env"]}
    runner = Runner(folder, scratch, contexts, {"gh": GH, "python": "#!/bin/sh\n"})
    assert runner.run(job["steps"]) == code
    assert "one person more or less" in runner.summary
    assert runner.summary in json.loads((scratch / "100.json").read_text())["body"]
    assert {"Tell code scanning", "Keep the report"} <= set(runner.ran)
    assert {name for name, ended in runner.codes.items() if ended} == ({"Verify and audit"} if code else set())


def test_the_first_claim_file_is_one_by_its_schema():
    jsonschema = pytest.importorskip("jsonschema")
    run("init")
    run("new", "another", "--kind", "compose", "--sampler")
    schema = json.loads(Path("specs/claim-file.schema.json").read_text())
    for file in Path("specs").glob("*.toml"):
        jsonschema.validate(tomllib.loads(file.read_text()), schema)


def test_editors_find_the_schema_and_complain_of_an_unknown_key():
    taplo = shutil.which("taplo")
    if taplo is None:
        pytest.skip("taplo is not installed")
    run("init")
    assert subprocess.run([taplo, "check"], capture_output=True, check=False).returncode == 0
    file = Path("specs/unknown.toml")
    file.write_text('[mechanism]\nkind = "table"\nrows = [[1]]\nrow = 1\n[[claim]]\nepsilon = 1\n')
    assert subprocess.run([taplo, "check"], capture_output=True, check=False).returncode != 0
