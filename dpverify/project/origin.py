"""What pip is told to install dpverify from, in somebody's continuous integration: what they name, or where this installation came from."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import url2pathname

from dpverify.errors import ProjectError
from dpverify.runtime.version import __version__

NAME: Final = "dpverify"
KEPT: Final = ".dpverify"
"""The folder of a project that a wheel goes into; what is called wheels or dist is often ignored by git."""
RELEASED: Final = f"{NAME}=={__version__}"
WAYS: Final = (
    "a wheel or a folder (a copy or a wheel of it goes into the project), an address (https://...), a repository "
    f"(git+https://...@COMMIT), or a version that an index has ({RELEASED})"
)
_ARCHIVES: Final = (".whl", ".tar.gz")
_REQUIREMENT: Final = re.compile(rf"{NAME}\s*(\[[\w,\s-]+\])?\s*((==|>=|<=|~=|!=|<|>|@)\s*\S.*)?", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"(git\+)?(https|http|ssh|file)://\S+")
_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class Origin:
    """What pip is told, where it is run at the top of the project.

    requirement: one argument of pip. archive: the name and the bytes of a wheel or a source archive that goes into the project's folder
    KEPT. only_here: whether other machines have it not.
    """

    requirement: str
    archive: tuple[str, bytes] | None = None
    only_here: bool = False

    @property
    def argument(self) -> str:
        """The requirement as a shell takes it."""
        return shlex.quote(self.requirement)


def named(spec: str, root: Path) -> Origin:
    """What somebody names, for the project in the folder `root`. Raises ProjectError for what pip could make nothing of."""
    text = spec.strip()
    if not text or any(not letter.isprintable() for letter in text) or "${{" in text:
        raise ProjectError(f"--install {spec!r}: nothing that pip installs is called so. Name {WAYS}.")
    if _ADDRESS.fullmatch(text):
        return Origin(f"{NAME} @ {text}", only_here=text.startswith("file:"))
    if _REQUIREMENT.fullmatch(text):
        return Origin(text)
    path = Path(text).expanduser()
    if path.is_file() and path.name.endswith(_ARCHIVES):
        return _archive(path, root)
    if path.is_dir() and (path / "pyproject.toml").is_file():
        folder = _folder(path, root)
        return _wheel_of(path, root) if folder.only_here else folder
    there = "it is not there" if not path.exists() else "it is no wheel, no source archive and no folder with a pyproject.toml"
    raise ProjectError(f"--install {spec}: {there}, and it is no other requirement of {NAME} either. Name {WAYS}.")


def running(root: Path) -> Origin:
    """Where this installation of dpverify came from, for the project in the folder `root`.

    pip writes down what it was told (direct_url.json); nothing is written of what came from an index by its name.
    """
    told = _told()
    if told is None:
        return Origin(RELEASED)
    url = str(told["url"])
    inside = f"subdirectory={told['subdirectory']}" if "subdirectory" in told else ""
    if "vcs_info" in told:
        kind, commit = told["vcs_info"]["vcs"], told["vcs_info"]["commit_id"]
        return Origin(_pinned(f"{kind}+{_without_secrets(url)}@{commit}", inside), only_here=urlsplit(url).scheme == "file")
    if urlsplit(url).scheme != "file":
        digest = told.get("archive_info", {}).get("hashes", {}).get("sha256", "")
        return Origin(_pinned(_without_secrets(url), "&".join(filter(None, (inside, f"sha256={digest}" if digest else "")))))
    path = Path(url2pathname(unquote(urlsplit(url).path)) if sys.platform == "win32" else unquote(urlsplit(url).path))
    if path.is_file():
        return _archive(path, root)
    if not path.is_dir():
        return Origin(path.as_uri(), only_here=True)
    folder = _folder(path / str(told.get("subdirectory", "")), root)
    pushed = _pushed(path) if folder.only_here else None
    return folder if pushed is None else Origin(_pinned(pushed, inside))


def _told() -> Mapping[str, Any] | None:
    """What pip wrote down; None for what came from an index, or is not installed by pip at all."""
    try:
        text = distribution(NAME).read_text("direct_url.json")
        told = json.loads(text) if text else None
    except (PackageNotFoundError, json.JSONDecodeError):
        return None
    return told if isinstance(told, dict) and isinstance(told.get("url"), str) else None


def _archive(path: Path, root: Path) -> Origin:
    """A wheel or a source archive: as it is where the project holds it, else to be copied into the project."""
    within = _within(path, root)
    return Origin(within) if within else Origin(f"./{KEPT}/{path.name}", (path.name, path.read_bytes()))


def _folder(path: Path, root: Path) -> Origin:
    within = _within(path, root)
    return Origin(within) if within else Origin(str(path.resolve()), only_here=True)


def _wheel_of(source: Path, root: Path) -> Origin:
    """A wheel that is built of a folder. Raises ProjectError with the last words of pip where it cannot be."""
    with TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", scratch, str(source.resolve())]
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            why = (done.stderr.strip().splitlines() or ["pip says nothing"])[-1]
            raise ProjectError(f"--install {source}: no wheel can be built of it: {why}. Build one elsewhere, and name that.")
        return _archive(wheels[0], root)


def _within(path: Path, root: Path) -> str | None:
    """A place in the project, as seen from its top; None for any other."""
    place, top = path.resolve(), root.resolve()
    return f"./{place.relative_to(top).as_posix()}" if place.is_relative_to(top) else None


def _pinned(url: str, fragment: str) -> str:
    return f"{NAME} @ {url}{'#' if fragment else ''}{fragment}"


def _without_secrets(url: str) -> str:
    """An address without what lets its owner in: passwords and tokens do not belong into a file that is committed."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    user = f"{parts.username}@" if parts.scheme == "ssh" and parts.username else ""
    return urlunsplit((parts.scheme, user + host, parts.path, parts.query, parts.fragment))


def _pushed(folder: Path) -> str | None:
    """The repository and commit of a checkout, where another machine can have them: it is unchanged, and its remote has the commit."""
    top = _git(folder, "rev-parse", "--show-toplevel")
    remote = _git(folder, "remote", "get-url", "origin")
    commit = _git(folder, "rev-parse", "HEAD")
    if not (top and remote and commit) or Path(top).resolve() != folder.resolve() or _git(folder, "status", "--porcelain") != "":
        return None
    if not _git(folder, "branch", "--remotes", "--contains", commit):
        return None
    scp = re.fullmatch(r"(\w+)@([\w.-]+):(?!/)(\S+)", remote)
    address = f"ssh://{scp[1]}@{scp[2]}/{scp[3]}" if scp else remote
    return f"git+{_without_secrets(address)}@{commit}" if urlsplit(address).scheme in ("https", "ssh") else None


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says of a checkout; None where it says nothing, or is not there."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
