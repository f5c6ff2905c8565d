"""A project's settings: [tool.dpverify] in its pyproject.toml, and the profiles that say how much an audit may spend.

    [tool.dpverify]
    paths = ["privacy"]                 # the claim files of verbs that are given none
    baseline = "dpverify-baseline.json" # what is known today and does not fail a run
    cache = ".cache/dpverify"           # a folder, or false
    profile = "dev"
    workers = 2                         # processes that sample
    timeout = 60                        # seconds that judging one claim may take, 0 for any time
    memory = 4096                       # MiB that judging one claim may take
    code = true                         # whether claim files may run code of theirs (use, [audit])

    [tool.dpverify.profiles.ci]         # over what is built in; another name is another profile
    samples = 100000

Paths are relative to the file, and stay in its folder: a project that comes from elsewhere names nothing beside itself.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

from dpverify.catalogue.toml import Decimal, Fault, Fields, meant, show
from dpverify.errors import SpecError
from dpverify.runtime.outside import plainly, read_regular
from dpverify.runtime.processes import MEMORY, TIMEOUT

FILE: Final = "pyproject.toml"
VARIABLE: Final = "DPVERIFY_PROFILE"
DRAWN: Final = "drawn"
MAX_DIGITS: Final = 1000
LEAST_MEMORY: Final = 64  # MiB
MAX_BYTES: Final = 16 << 20
"""Of a pyproject.toml, which may hold much that is not dpverify's."""


class Profile(NamedTuple):
    """How much a run spends and how sure it is.

    samples: runs of a sampler on each side, for each claim. alpha: the false-alarm budget of each audit. digits: of the tight epsilon.
    seed: of the samplers' generators, None where every run draws its own. timeout: seconds that one call of a sampler may take.
    """

    name: str
    samples: int = 1_000_000
    alpha: float = 1e-6
    digits: int = 20
    seed: int | None = None
    timeout: float = 60.0

    @property
    def confidence(self) -> float:
        """1 - the false-alarm budget."""
        return 1 - self.alpha


PROFILES: Final[Mapping[str, Profile]] = {
    "dev": Profile("dev"),
    "ci": Profile("ci", alpha=1e-9, seed=0),  # the same run every time, and no build that fails by bad luck
    "nightly": Profile("nightly", samples=100_000_000, alpha=1e-9, digits=30),
}
"""What is built in. A project's own profile is `dev` but for what it says."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a project has set. file: its pyproject.toml, None without one; paths of files and folders are absolute.

    paths: claim files, folders of them, or names on the shelf. cache: a folder, False for none, None where nothing is said.
    timeout: seconds for each claim, 0 for any time. memory: MiB for each. code: whether code that claim files name may be run.
    """

    file: Path | None = None
    profile: str | None = None
    paths: tuple[str, ...] = ()
    baseline: Path | None = None
    cache: Path | bool | None = None
    workers: int | None = None
    timeout: float = TIMEOUT
    memory: int = MEMORY
    code: bool = True
    profiles: Mapping[str, Profile] = field(default_factory=lambda: dict(PROFILES))

    def chosen(self, named: str | None = None, environment: Mapping[str, str] | None = None) -> Profile:
        """The profile of a run: the one that is named, else DPVERIFY_PROFILE's, the project's, `ci` where CI is set, else `dev`.

        Raises SpecError where there is none of that name.
        """
        variables = os.environ if environment is None else environment
        wanted = ((named, "--profile"), (variables.get(VARIABLE), VARIABLE), (self.profile, str(self.file)))
        name, where = next(((name, where) for name, where in wanted if name), (None, ""))
        if name is None:
            return self.profiles["ci" if variables.get("CI", "").lower() not in ("", "0", "false") else "dev"]
        if name not in self.profiles:
            raise SpecError(f"{where} = {show(name)}: {_no_profile(name, self.profiles)}")
        return self.profiles[name]


def project_file(start: Path) -> Path | None:
    """The nearest pyproject.toml in a folder or above it."""
    folder = start.resolve()
    return next((above / FILE for above in (folder, *folder.parents) if (above / FILE).is_file()), None)


def read_config(start: Path) -> Config:
    """The settings of the project that a folder lies in. Raises SpecError listing all that is wrong with them."""
    file = project_file(start)
    if file is None:
        return Config()
    try:
        tool = tomllib.loads(read_regular(file, MAX_BYTES).decode("utf-8"), parse_float=Decimal).get("tool")
    except OSError as error:
        raise SpecError(f"{file}: cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise SpecError(f"{file}: not TOML: {plainly(error)}.") from error
    table = tool.get("dpverify") if isinstance(tool, dict) else None
    if table is None:
        return Config(file)
    if not isinstance(table, dict):
        raise SpecError(f"{file}: tool.dpverify is not a table. Write [tool.dpverify].")
    return _config(file, table)


def _config(file: Path, data: Mapping[str, Any]) -> Config:
    faults: list[str] = []
    table = Fields(data, f"{file}, [tool.dpverify]", faults)
    config = Config(
        file=file,
        profile=table.may("profile", _text, None),
        paths=table.may("paths", lambda value: tuple(_inside(file, path) for path in _texts(value)), ()),
        baseline=table.may("baseline", lambda value: file.parent / _inside(file, _text(value)), None),
        cache=table.may("cache", lambda value: False if value is False else file.parent / _below(file, _folder(value)), None),
        workers=table.may("workers", _integer(0), None),
        timeout=table.may("timeout", lambda value: 0.0 if value == 0 and value is not False else _seconds(value), TIMEOUT),
        memory=table.may("memory", _integer(LEAST_MEMORY, 1 << 30), MEMORY),
        code=table.may("code", _truth, True),
        profiles=_profiles(file, table.may("profiles", _table, {}), faults),
    )
    table.done()
    if config.profile is not None and config.profile not in config.profiles:
        table.fault(f"profile = {show(config.profile)}: {_no_profile(config.profile, config.profiles)}")
    if faults:
        raise SpecError(faults)
    return config


def _profiles(file: Path, tables: Mapping[str, Any], faults: list[str]) -> dict[str, Profile]:
    profiles = dict(PROFILES)
    for name, data in tables.items():
        where = f"{file}, [tool.dpverify.profiles.{name}]"
        if isinstance(data, dict):
            profiles[name] = _profile(Fields(data, where, faults), profiles.get(name, PROFILES["dev"]._replace(name=name)))
        else:
            faults.append(f"{where}: {show(data)} is not a table.")
    return profiles


def _profile(table: Fields, base: Profile) -> Profile:
    profile = base._replace(
        samples=table.may("samples", _integer(1), base.samples),
        alpha=table.may("alpha", _alpha, base.alpha),
        digits=table.may("digits", _integer(1, MAX_DIGITS), base.digits),
        seed=table.may("seed", lambda value: None if value == DRAWN else _seed(value), base.seed),
        timeout=table.may("timeout", _seconds, base.timeout),
    )
    table.done()
    return profile


def _no_profile(name: str, profiles: Mapping[str, Profile]) -> str:
    return f"no such profile.{meant(name, profiles)} There are {', '.join(profiles)}."


# -- values ----------------------------------------------------------------------------------------------------


def _table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Fault("is not a table of profiles. Write [tool.dpverify.profiles.NAME].")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Fault("is not a text.")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise Fault('is not a list of claim files, such as ["privacy"].')
    return tuple(value)


def _inside(file: Path, path: str) -> str:
    """A path of a project's file as it stands, where it stays in the project: links in it are followed."""
    if not leads_inside(file.parent, path):
        raise Fault(
            f"leads out of the project: {show(path)}. What a project's file names has to lie in its folder; move it there, or name it on "
            "the command line."
        )
    return path


def _below(file: Path, path: str) -> str:
    """A folder in the project that is not the project itself."""
    _inside(file, path)
    if file.parent.resolve() == (file.parent / path).resolve():
        raise Fault('is the project\'s own folder. Give the cache a folder for itself, such as ".cache/dpverify".')
    return path


def leads_inside(root: Path, path: str) -> bool:
    """Whether a path that is relative to a folder, all links followed, stays in it. One with ".." or a drive does not, wherever it ends."""
    try:
        given = PurePath(path)
        relative = not given.is_absolute() and not given.drive and ".." not in given.parts
        return relative and (root / path).resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):  # no path at all, or links that lead round in a circle
        return False


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Fault("is neither true nor false.")
    return value


def _folder(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Fault("is neither a folder nor false.")
    return value


def _integer(least: int, most: int | None = None) -> Callable[[Any], int]:
    """A reader of integers within bounds."""
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"

    def read(value: Any) -> int:
        if type(value) is not int or value < least or (most is not None and value > most):
            raise Fault(f"is not an integer {bounds}.")
        return value

    return read


def _seed(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise Fault(f'is neither an integer of at least 0 nor "{DRAWN}".')
    return value


def _alpha(value: Any) -> float:
    alpha = _float(value)
    if not 0 < alpha < 1 or 1 - alpha == 1:
        raise Fault("is not a probability between 1e-15 and 1, such as 1e-6.")
    return alpha


def _seconds(value: Any) -> float:
    seconds = _float(value)
    if not 0 < seconds < math.inf:
        raise Fault("is not a time in seconds, such as 60.")
    return seconds


def _float(value: Any) -> float:
    """A number as a float; nan for what is none."""
    if isinstance(value, Decimal):
        return float(value.text)
    return float(value) if type(value) is int and value.bit_length() < 64 else math.nan
