"""What a run goes by: flags over the profile, the profile over what is built in, and the project's paths, baseline and cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from dpverify.cli.numbers import Seconds, Whole
from dpverify.cli.output import say, watched
from dpverify.errors import SpecError
from dpverify.runtime.processes import Bounds

if TYPE_CHECKING:
    from dpverify.cli.accepted import Baseline
    from dpverify.project.cache import Cache
    from dpverify.project.config import Config, Profile
    from dpverify.report.results import Results

Command = Callable[..., Any]

CACHE_VARIABLE: Final = "DPVERIFY_CACHE_DIR"


class Settings(NamedTuple):
    """What one run goes by. digits: of the tight epsilon; jobs: processes that judge, None for as many as are worth it.

    bounds: of each claim's judging. code: whether code that claim files name may be run. digits_asked: whether --digits says how many.
    """

    config: Config
    profile: Profile
    baseline: Baseline
    digits: int
    cache: Cache
    jobs: int | None = None
    bounds: Bounds = Bounds()
    code: bool = True
    digits_asked: bool = False

    def paths(self, given: Sequence[str]) -> tuple[str, ...]:
        """The claim files that are meant: those given, else those of the configuration. Raises UsageError where there are neither."""
        if given:
            return tuple(given)
        if not self.config.paths:
            where = f" in {self.config.file}" if self.config.file else ""
            make = "`dpverify new NAME --kind builtin` makes one."
            raise click.UsageError(f'no claim files: name some, or set paths = ["..."] in [tool.dpverify]{where}. {make}')
        root = self.root
        return tuple(os.path.relpath(root / path) if (root / path).exists() else path for path in self.config.paths)

    def sampling(
        self, samples: int | None = None, confidence: float | None = None, seed: int | None = None, workers: int | None = None,
        timeout: float | None = None, level: str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """How audits sample: the flags that are given, over the profile."""
        profile, config = self.profile, self.config
        return {
            "samples": profile.samples if samples is None else samples,
            "confidence": profile.confidence if confidence is None else confidence,
            "seed": profile.seed if seed is None else seed,
            "workers": (1 if config.workers is None else config.workers) if workers is None else workers,
            "timeout": profile.timeout if timeout is None else timeout,
            **({} if level is None else {"level": level}),
        }

    @property
    def root(self) -> Path:
        """The folder that the project's paths are relative to."""
        return self.config.file.parent if self.config.file else Path.cwd()

    def marked(self, results: Results, *, whole: bool = True) -> Results:
        """The results with what the baseline accepts; what it need not accept any more is told on stderr.

        whole: whether all claims of the files were looked at.
        """
        results = replace(results, known=self.baseline.fingerprints, root=self.baseline.root)
        for one in self.baseline.gone(results) if whole else ():
            say(f"no longer so: {one.file}, {one.name}: {one.rule}. `dpverify baseline` takes it out of the baseline.", err=True)
        return results


def configured(command: Command) -> Command:
    """--profile and --baseline; the command gets its `settings`."""
    kind = click.Path(dir_okay=False, path_type=Path)
    option = click.option("--baseline", type=kind, help="Baseline: what this file accepts does not fail the run.")
    return option(_settled(command, accepting=True))


def profiled(command: Command) -> Command:
    """--profile alone; the command gets its `settings`, with a baseline that accepts nothing."""
    return _settled(command, accepting=False)


def _settled(command: Command, *, accepting: bool) -> Command:
    @click.option("--profile", metavar="NAME", help="How much to spend: dev, ci, nightly, or one of pyproject.toml.")
    @wraps(command)
    def settled(
        *args: Any, profile: str | None, baseline: Path | None = None, digits: int | None = None, no_cache: bool = False,
        jobs: int | None = None, claim_timeout: float | None = None, no_code: bool = False, **kwargs: Any,
    ) -> Any:  # fmt: skip
        from dpverify.project.config import read_config

        config = read_config(Path.cwd())
        chosen = config.chosen(profile)
        if chosen.name != "dev" and watched():
            say(f"profile {chosen.name}", err=True)
        accepted = _baseline((baseline or config.baseline) if accepting else None)
        settings = Settings(config, chosen, accepted, digits or chosen.digits, cache_of(config, off=no_cache), jobs,
                            bounds_of(config, claim_timeout), config.code and not no_code, digits is not None)  # fmt: skip
        return command(*args, settings=settings, **kwargs)

    return settled


timed = click.option(
    "--timeout", "claim_timeout", type=Seconds(), metavar="SECONDS", help="Seconds for each claim. Default: 60; 0 for no limit."
)
codeless = click.option("--no-code", is_flag=True, help="Run no code that claim files name: no declarations by use, no samplers.")


clustered = click.option("--dask", metavar="ADDRESS", help="Judge claims on the workers of a Dask scheduler.")


WAYS: Final = {"second-checker": "second checker", "coq": "Coq"}
"""How a verdict may have to be confirmed besides by the kernel, by the words of --require."""
requiring = click.option(
    "--require", type=click.Choice(list(WAYS)), multiple=True,
    help="Fail where a verdict is not confirmed in this way too, besides by the kernel; may be repeated.",
)  # fmt: skip


def ways(required: Sequence[str]) -> tuple[str, ...]:
    """The ways that --require names, as answers name them."""
    return tuple(WAYS[one] for one in dict.fromkeys(required))


def bounds_of(config: Config, timeout: float | None) -> Bounds:
    """What a claim or a certificate may take: the flag that is given, over the project's settings."""
    seconds = config.timeout if timeout is None else timeout
    return Bounds(seconds or None, config.memory)


def judging(command: Command) -> Command:
    """--digits, --jobs, --timeout, --no-cache and --no-code, for what `configured` wraps."""
    options = (
        click.option("--digits", type=Whole(1, 1000, like="30"), help="Digits of the tight epsilon. Default: the profile's, 20."),
        click.option(
            "-j", "--jobs", type=Whole(1, like="2"),
            help="Number of processes that judge claims. Default: as many as are worth it.",
        ),
        timed,
        click.option("--no-cache", is_flag=True, help="Search anew, without reading or writing the cache."),
        codeless,
    )
    for option in reversed(options):
        command = option(command)
    return command


def cache_of(config: Config, *, off: bool = False) -> Cache:
    """The cache of a run: the environment's folder, else the project's, else the user's. Raises SpecError for a folder of somebody else."""
    from dpverify.project.cache import Cache, user_folder

    if off:
        return Cache(None)
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return _own(Cache(Path(named).absolute()), CACHE_VARIABLE)
    if config.cache is False:
        return Cache(None)
    if isinstance(config.cache, Path):
        return _own(Cache(config.cache), f"{config.file}, [tool.dpverify]: cache")
    return _own(Cache(user_folder()), "the cache")


def _own(cache: Cache, where: str) -> Cache:
    if (fault := cache.foreign()) is not None:
        raise SpecError(f"{where}: {fault}")
    return cache


def root_of(file: Path) -> Path:
    """The folder that the files of a baseline are relative to: the project's that it lies in, else its own."""
    from dpverify.project.config import project_file

    folder = file.absolute().parent
    project = project_file(folder)
    return folder if project is None else project.parent


def _baseline(file: Path | None) -> Baseline:
    from dpverify.cli.accepted import Baseline, read
    from dpverify.project.config import project_file

    if file is not None:
        return read(file, root_of(file))
    project = project_file(Path.cwd())
    return Baseline(Path.cwd() if project is None else project.parent)
