"""What is released agrees with its version and changelog, and carries sums and, where there is a key, a signature."""

import os
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from tests.tools import load

ROOT = Path(__file__).parents[1]
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n- it\n\n## [1.2.2] - 2026-01-30\n"
release = load("release")


def git(folder, *arguments):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder), *arguments], capture_output=True, check=True)


@pytest.fixture
def checkout(tmp_path):
    """A checkout that may be released."""
    (tmp_path / "dpverify" / "ground").mkdir(parents=True)
    (tmp_path / "dpverify" / "ground" / "version.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    return tmp_path


def test_a_checkout_may_be_released_where_version_changelog_tree_and_tag_agree(checkout):
    assert list(release.faults(checkout)) == []
    git(checkout, "tag", "v1.2.3")
    assert list(release.faults(checkout)) == []


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("## [1.2.3] - 2026-01-31", "## [1.2.3]", "no section `## [1.2.3] - YYYY-MM-DD`"),
        ("## [1.2.3] - 2026-01-31", "## [1.2.4] - 2026-01-31", "no section `## [1.2.3] - YYYY-MM-DD`"),
        ("## [Unreleased]\n", "## [Unreleased]\n- more\n", "no empty section `## [Unreleased]`"),
        ("## [Unreleased]\n", "", "no empty section `## [Unreleased]`"),
    ],
)
def test_a_changelog_that_does_not_have_the_version_is_in_the_way(checkout, old, new, why):
    (checkout / "CHANGELOG.md").write_text(CHANGELOG.replace(old, new))
    git(checkout, "commit", "--quiet", "-am", "two")
    (said,) = release.faults(checkout)
    assert why in said


def test_everything_in_the_way_is_listed_at_once(checkout):
    git(checkout, "tag", "v1.2.3")
    (checkout / "more").write_text("")
    git(checkout, "add", ".")
    git(checkout, "commit", "--quiet", "-m", "two")
    (checkout / "CHANGELOG.md").write_text("")
    said = list(release.faults(checkout))
    assert len(said) == 4 and "not committed" in said[2] and "The tag v1.2.3 is at another commit" in said[3]


def test_the_sums_are_those_of_all_files_and_are_signed_where_there_is_a_key(tmp_path):
    gpg = shutil.which("gpg")
    if gpg is None:
        pytest.skip("gpg is not installed")
    home, folder = tmp_path / "home", tmp_path / "built"
    home.mkdir(mode=0o700)
    (folder / "more").mkdir(parents=True)
    files = {"b c.whl": b"1", "a.tar.gz": b"2", "more/d": b"3"}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    environment = {**os.environ, "GNUPGHOME": str(home), "SIGN": ""}
    sums = [str(ROOT / "tools" / "sums.sh"), str(folder)]
    subprocess.run(sums, env=environment, check=True)
    expected = "".join(f"{sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    assert (folder / "SHA256SUMS").read_text() == expected and not (folder / "SHA256SUMS.asc").exists()
    quietly = [gpg, "--quiet", "--batch", "--passphrase", ""]
    make_key = [*quietly, "--quick-generate-key", "us@example.org", "ed25519", "sign"]
    subprocess.run(make_key, env=environment, check=True, capture_output=True)
    subprocess.run(sums, env={**environment, "SIGN": "us@example.org"}, check=True)
    verify = [gpg, "--verify", "SHA256SUMS.asc", "SHA256SUMS"]
    assert (folder / "SHA256SUMS").read_text() == expected
    assert subprocess.run(verify, cwd=folder, env=environment, check=False, capture_output=True).returncode == 0
    (folder / "SHA256SUMS").write_text(expected.replace("0", "1"))
    assert subprocess.run(verify, cwd=folder, env=environment, check=False, capture_output=True).returncode != 0
    subprocess.run(["gpgconf", "--kill", "all"], env=environment, check=False)


def test_the_python_versions_that_are_told_are_tried_in_continuous_integration():
    told = set(re.findall(r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text()))
    tried = set(re.search(r"for version in ([\d. ]+);", (ROOT / "tools" / "wheel_test.sh").read_text())[1].split())
    assert told and told <= tried
    assert {"wheel-test", "bundle"} <= set(re.findall(r"[\w-]+", (ROOT / ".ci" / "run").read_text()))


def test_what_is_in_the_way_fails_the_release(checkout, monkeypatch, capsys):
    monkeypatch.setattr(release, "ROOT", checkout)
    assert release.main() == 0
    (checkout / "more").write_text("")
    assert release.main() == 1 and "not committed" in capsys.readouterr().out
