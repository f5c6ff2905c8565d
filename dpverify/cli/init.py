"""`dpverify init`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpverify.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpverify.project.files import Planned


@click.command(short_help="Make dpverify part of a project.")
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path), metavar="[DIR]")
@click.option(
    "--ci", type=click.Choice(["github", "gitlab", "none"]), default="github", show_default=True,
    help="The continuous integration to set up.",
)  # fmt: skip
@click.option(
    "--install", "spec", metavar="SPEC",
    help="What continuous integration installs dpverify from: a wheel or a folder (a copy or a wheel of it goes into the "
    "project), an address, a repository (git+https://...@COMMIT), or a version. Without it: what this installation came from.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace files that are there already.")
@click.option("--dry-run", is_flag=True, help="Show what would be made, and make nothing.")
def init(folder: Path, ci: str, spec: str | None, force: bool, dry_run: bool) -> int:
    """Make dpverify part of a project, existing or new: a first claim file, its sampler, settings and continuous integration.

    All files are written, or none. Files that are there already are left, unless --force is given.
    """
    from dpverify.project.files import carry_out
    from dpverify.project.origin import WAYS, named, running
    from dpverify.project.starter import CI_SYSTEMS, project_files

    origin = running(folder) if spec is None else named(spec, folder)
    files = project_files(folder, ci=ci, force=force, origin=origin)
    if not dry_run:
        carry_out(files, folder)
    say(*told(files, dry_run), "Next:")
    if folder.resolve() != Path.cwd():
        say(f"  cd {shlex.quote(beside_options(folder))}")
    say("  dpverify verify", "  dpverify audit")
    if ci != "none" and origin.only_here:
        say(
            "",
            f"Continuous integration installs dpverify from {origin.requirement}, which other machines do not have. Name another source in "
            f"{CI_SYSTEMS[ci]}, or remove that file and make it anew with --install: {WAYS}.",
            err=True,
        )
    return 0


def beside_options(path: Path) -> str:
    """A path as an argument that no command takes for an option."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def told(files: Sequence[Planned], dry_run: bool) -> list[str]:
    """What happened, or would happen, to every file: a line each."""
    from dpverify.project.files import Action

    done = {Action.MAKE: "made", Action.REPLACE: "replaced", Action.EXTEND: "added to", Action.LEAVE: "left"}
    words = {action: f"would {action}" for action in Action} if dry_run else done
    width = max(len(word) for word in words.values())
    return [f"{words[file.action]:{width}}  {file.path}{f'  ({file.why})' if file.why else ''}" for file in files]
