"""`dpverify new`."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from dpverify.cli.output import say


class _Kind(click.ParamType[str]):
    """A kind of mechanism. The kinds are loaded when they are asked for: other verbs need not wait for them."""

    name = "kind"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from dpverify.catalogue.kinds.named import BUILTINS
        from dpverify.catalogue.toml import meant

        if value not in (kinds := _briefs()):
            near = "" if value in BUILTINS else meant(value, [*BUILTINS, *kinds])
            if name := next((name for name in BUILTINS if name == value or repr(name) in near), ""):
                near += f" It is the name of a builtin: write --kind builtin, and {name} in the file."
            self.fail(f"{value!r} is no kind of mechanism.{near} The kinds are {', '.join(kinds)}.", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(kind) for kind in _briefs() if kind.startswith(incomplete)]


class _New(click.Command):
    """A verb whose help ends with the kinds."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Kinds"):
            formatter.write_dl(list(_briefs().items()))


def _briefs() -> dict[str, str]:
    """Every kind in a sentence."""
    from dpverify.catalogue.kinds import STARTERS

    return {kind: starter.brief for kind, starter in STARTERS.items()}


@click.command(cls=_New, short_help="Declare a mechanism in a claim file.")
@click.argument("name", metavar="NAME")
@click.option("--kind", type=_Kind(), required=True, metavar="KIND", help="What kind of mechanism it is; see below.")
@click.option("--sampler", is_flag=True, help="Make a reference sampler too, and the [audit] table that names it.")
@click.option(
    "--dir", "folder", type=click.Path(file_okay=False, path_type=Path),
    help="Where the files go; without it, where the project's claim files are.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace files that are there already.")
@click.option("--dry-run", is_flag=True, help="Show what would be made, and make nothing.")
def new(name: str, kind: str, sampler: bool, folder: Path | None, force: bool, dry_run: bool) -> int:
    """Declare a mechanism: a claim file with every key explained, which verifies at once.

    Its claim asks for the tight epsilon. With --sampler there is an implementation beside it, which passes its audit.
    """
    from dpverify.cli.init import beside_options, told
    from dpverify.project.files import carry_out
    from dpverify.project.mechanism import mechanism_files
    from dpverify.project.starter import SCHEMA, claim_folder, project_root

    root = folder
    if folder is None:
        root = project_root(Path.cwd())
        folder = Path(os.path.relpath(claim_folder(root)))
    schema = SCHEMA if (folder / SCHEMA).is_file() else ""
    files = mechanism_files(folder, name, kind, sampler=sampler, force=force, schema=schema)
    if not dry_run:
        carry_out(files, root)
    say(*told(files, dry_run))
    claims = shlex.quote(beside_options(files[0].path))
    say("Next:", f"  dpverify verify {claims}")
    if len(files) > 1:
        say(f"  dpverify audit {claims}")
    return 0
