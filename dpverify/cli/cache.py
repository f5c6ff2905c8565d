"""`dpverify cache`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpverify.cli.output import say

if TYPE_CHECKING:
    from dpverify.project.cache import Cache


@click.group(invoke_without_command=True, short_help="Show where found certificates are kept, or delete them.")
@click.pass_context
def cache(context: click.Context) -> int:
    """Show where certificates that were found before are kept, and how many. They only save time: each is checked again before use."""
    if context.invoked_subcommand is None:
        kept = _cache().files()
        size = sum(stat.st_size for _, stat in kept)
        say(f"{_folder()}: {len(kept)} file{'' if len(kept) == 1 else 's'}, {size / (1 << 20):.1f} MiB")
    return 0


@cache.command("dir")
def folder() -> int:
    """Show the folder."""
    say(str(_folder()))
    return 0


@cache.command()
def clear() -> int:
    """Remove everything that is kept."""
    removed, left = _cache().clear()
    say(f"{_folder()}: {removed} file{'' if removed == 1 else 's'} removed")
    if left:
        raise click.ClickException(f"{len(left)} files could not be removed, such as {left[0]}. See who owns them.")
    return 0


def _cache() -> Cache:
    from dpverify.cli.settings import cache_of
    from dpverify.project.config import read_config

    return cache_of(read_config(Path.cwd()))


def _folder() -> Path:
    """The folder of the cache. Raises UsageError where the project has turned it off."""
    folder = _cache().folder
    if folder is None:
        reasons = "cache = false in [tool.dpverify] of pyproject.toml, or a user without a home"
        raise click.UsageError(f"there is none: {reasons}. Set DPVERIFY_CACHE_DIR.")
    return folder
