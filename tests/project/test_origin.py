"""Continuous integration installs dpverify from what is named, or from where this installation came from."""

import json
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from dpverify import cli
from dpverify.errors import ProjectError
from dpverify.project import origin
from dpverify.project.origin import Origin, named, running
from dpverify.project.starter import CI_SYSTEMS
from dpverify.runtime.version import __version__

WHEEL = f"dpverify-{__version__}-py3-none-any.whl"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def installed(monkeypatch):
    """Say what pip wrote down of this installation."""

    class Distribution:
        def read_text(self, name):
            assert name == "direct_url.json"
            return self.told

    def told(data):
        Distribution.told = data if data is None or isinstance(data, str) else json.dumps(data)
        monkeypatch.setattr(origin, "distribution", lambda name: Distribution())
        return running(Path())

    return told


def git(folder, *arguments):
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def checkout(folder):
    """A checkout whose one commit its remote has; the remote is then called another name."""
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    bare = folder.with_name(f"{folder.name}.git")
    git(folder.parent, "init", "--bare", "--quiet", str(bare))
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    git(folder, "remote", "add", "origin", str(bare))
    git(folder, "push", "--quiet", "origin", "HEAD")
    git(folder, "fetch", "--quiet", "origin")
    return git(folder, "rev-parse", "HEAD")


def init(*arguments, code=0):
    result = CliRunner().invoke(cli.main, ["init", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def installs(system):
    """What pip is told by the file of continuous integration, as a shell splits it."""
    data = yaml.safe_load(Path(CI_SYSTEMS[system]).read_text())
    if system == "github":
        [script] = [step["run"] for step in data["jobs"]["dpverify"]["steps"] if step.get("name") == "Install"]
    else:
        script = "\n".join(data["dpverify"]["script"][:1])
    program = f"python() {{ shift 3; printf '%s\\n' \"$@\"; }}\n{script}"
    return subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True).stdout.splitlines()


# -- where an installation came from -----------------------------------------------------------------------


def test_what_came_from_an_index_is_named_by_its_version(installed):
    assert installed(None) == Origin(f"dpverify=={__version__}")


@pytest.mark.parametrize("told", ["not JSON", "[]", '{"url": 1}'])
def test_a_note_of_pip_that_says_nothing_is_as_none(installed, told):
    assert installed(told) == Origin(f"dpverify=={__version__}")


def test_without_an_installation_it_is_named_by_its_version(monkeypatch):
    monkeypatch.setattr(origin, "NAME", "dpverify-that-nobody-installed")
    assert running(Path()) == Origin(f"dpverify=={__version__}")


def test_a_repository_is_named_with_its_commit_and_without_the_token_that_lets_its_owner_in(installed):
    vcs = {"vcs": "git", "commit_id": COMMIT, "requested_revision": "main"}
    assert installed({"url": "https://me:token@example.org/us/dpverify.git", "vcs_info": vcs}) == Origin(
        f"dpverify @ git+https://example.org/us/dpverify.git@{COMMIT}"
    )
    assert installed({"url": "ssh://git@example.org/us/dpverify", "vcs_info": vcs, "subdirectory": "py"}) == Origin(
        f"dpverify @ git+ssh://git@example.org/us/dpverify@{COMMIT}#subdirectory=py"
    )
    assert installed({"url": "file:///there", "vcs_info": vcs}).only_here


def test_an_archive_at_an_address_is_named_with_its_hash(installed):
    told = {"url": f"https://user:pass@example.org/{WHEEL}", "archive_info": {"hashes": {"sha256": "ab"}}}
    assert installed(told) == Origin(f"dpverify @ https://example.org/{WHEEL}#sha256=ab")
    assert installed({**told, "archive_info": {}}) == Origin(f"dpverify @ https://example.org/{WHEEL}")


def test_a_wheel_goes_along_into_the_project(installed, tmp_path):
    wheel = tmp_path / "a folder" / WHEEL
    wheel.parent.mkdir()
    wheel.write_bytes(b"wheel")
    assert installed({"url": wheel.as_uri(), "archive_info": {}}) == Origin(f"./.dpverify/{WHEEL}", (WHEEL, b"wheel"))
    wheel.unlink()
    assert installed({"url": wheel.as_uri(), "archive_info": {}}) == Origin(wheel.as_uri(), only_here=True)


def test_a_folder_in_the_project_is_named_as_the_project_sees_it(installed, folder):
    (folder / "tools" / "dpverify").mkdir(parents=True)
    told = {"url": (folder / "tools" / "dpverify").as_uri(), "dir_info": {"editable": True}}
    assert installed(told) == Origin("./tools/dpverify")


def test_a_checkout_is_its_repository_where_its_remote_has_the_commit_and_else_a_folder_that_is_only_here(installed, tmp_path):
    place = tmp_path / "checkout"
    commit = checkout(place)
    told = {"url": place.as_uri(), "dir_info": {}}
    only_here = Origin(str(place), only_here=True)
    assert installed(told) == only_here  # its remote is a folder of this machine
    git(place, "remote", "set-url", "origin", "https://me:token@example.org/us/dpverify.git")
    public = Origin(f"dpverify @ git+https://example.org/us/dpverify.git@{commit}")
    assert installed(told) == public
    git(place, "remote", "set-url", "origin", "git@example.org:us/dpverify.git")
    assert installed(told) == Origin(f"dpverify @ git+ssh://git@example.org/us/dpverify.git@{commit}")
    (place / "changed").write_text("")
    assert installed(told) == only_here
    git(place, "add", ".")
    git(place, "commit", "--quiet", "-m", "two")
    assert installed(told) == only_here
    (place / "part").mkdir()
    assert installed({"url": (place / "part").as_uri(), "dir_info": {}}) == Origin(str(place / "part"), only_here=True)


# -- what is named ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["dpverify", f"dpverify=={__version__}", "dpverify[dask] >= 0.1", f"dpverify @ git+https://example.org/d@{COMMIT}"])
def test_a_requirement_of_dpverify_is_taken_as_it_is(spec):
    assert named(spec, Path()) == Origin(spec)


@pytest.mark.parametrize("address", [f"git+https://example.org/us/dpverify@{COMMIT}", "git+ssh://git@example.org/d", f"https://example.org/{WHEEL}"])
def test_an_address_is_said_to_be_that_of_dpverify(address):
    assert named(address, Path()) == Origin(f"dpverify @ {address}")


def test_a_wheel_of_the_project_stays_where_it_is_and_any_other_is_copied(folder, tmp_path):
    for place in (folder / "vendor", tmp_path / "elsewhere"):
        place.mkdir()
        (place / WHEEL).write_bytes(b"wheel")
    assert named(f"vendor/{WHEEL}", folder) == Origin(f"./vendor/{WHEEL}")
    assert named(f"../elsewhere/{WHEEL}", folder) == Origin(f"./.dpverify/{WHEEL}", (WHEEL, b"wheel"))


def test_of_a_folder_elsewhere_a_wheel_is_built(tmp_path, folder, monkeypatch):
    source = tmp_path / "source"
    source.mkdir()
    (source / "pyproject.toml").write_text("")

    def build(command, **options):
        assert command[1:5] == ["-m", "pip", "wheel", "--quiet"] and "--no-deps" in command and command[-1] == str(source)
        if built:
            (Path(command[command.index("--wheel-dir") + 1]) / WHEEL).write_bytes(b"built")
        return subprocess.CompletedProcess(command, 0 if built else 1, "", "a\nERROR: no backend\n")

    monkeypatch.setattr(origin.subprocess, "run", build)
    built = True
    assert named(str(source), folder) == Origin(f"./.dpverify/{WHEEL}", (WHEEL, b"built"))
    built = False
    with pytest.raises(ProjectError, match=r"no wheel can be built of it: ERROR: no backend\. Build one elsewhere"):
        named(str(source), folder)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("", "nothing that pip installs"), (" ", "nothing that pip installs"), ("dpverify\n; rm -rf", "nothing that pip installs"),
        ("dpverify @ ${{ secrets.TOKEN }}", "nothing that pip installs"),
        ("numpy==2", "it is not there, and it is no other requirement of dpverify"),
        ("missing.whl", "it is not there"), (".", "no wheel, no source archive and no folder with a pyproject.toml"),
        ("notes.txt", "no wheel, no source archive"),
    ],
)  # fmt: skip
def test_what_pip_could_make_nothing_of_is_refused_with_what_may_be_named(spec, why):
    Path("notes.txt").write_text("")
    said = init("--install", spec, code=2).output
    assert why in said and "Name a wheel or a folder" in said
    assert {path.name for path in Path().iterdir()} == {"notes.txt"}


# -- in continuous integration ------------------------------------------------------------------------------


@pytest.mark.parametrize("system", CI_SYSTEMS)
@pytest.mark.parametrize("spec", [f"dpverify=={__version__}", f"dpverify @ https://example.org/it's%20a: #x$(date)/{WHEEL}"])
def test_pip_is_told_exactly_the_requirement(system, spec):
    init("--ci", system, "--install", spec)
    assert installs(system) == [spec]


@pytest.mark.parametrize("system", CI_SYSTEMS)
def test_the_wheel_that_pip_is_told_is_in_the_project(system, tmp_path):
    with zipfile.ZipFile(tmp_path / WHEEL, "w") as archive:
        archive.writestr("dpverify/__init__.py", "# \x00")
    said = init("--ci", system, "--install", tmp_path / WHEEL)
    [argument] = installs(system)
    assert Path(argument).read_bytes() == (tmp_path / WHEEL).read_bytes()
    assert f".dpverify/{WHEEL}" in said.stdout and "other machines" not in said.output


def test_the_wheel_is_committed_also_where_the_project_ignores_wheels(tmp_path, folder):
    (tmp_path / WHEEL).write_bytes(b"wheel")
    git(folder, "init", "--quiet")
    Path(".gitignore").write_text("*.whl\n*.py[cod]\nwheels/\ndist/\n")
    init("--install", tmp_path / WHEEL)
    git(folder, "add", ".")
    assert f".dpverify/{WHEEL}" in git(folder, "ls-files").splitlines()


def test_without_continuous_integration_no_wheel_is_copied_and_nothing_is_said_of_it(tmp_path):
    (tmp_path / WHEEL).write_bytes(b"wheel")
    assert ".dpverify" not in init("--ci", "none", "--install", tmp_path / WHEEL).output


def test_it_is_told_where_other_machines_do_not_have_the_source(installed, tmp_path):
    (tmp_path / "it").mkdir()
    installed({"url": (tmp_path / "it").as_uri(), "dir_info": {}})
    result = init()
    assert f"installs dpverify from {tmp_path / 'it'}, which other machines do not have" in result.stderr
    assert "git+https://" in result.stderr and installs("github") == [str(tmp_path / "it")]
    assert "other machines" not in init("more", "--ci", "none").output
