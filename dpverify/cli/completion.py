"""`dpverify completion`, and what every argument is completed with.

A shell asks on every press of a key, so nothing here imports more than the standard library and click.
"""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpverify.runtime.folders import claim_files
from dpverify.runtime.outside import printable, read_regular

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

MAX_BYTES: Final = 16 << 20
"""Of a TOML file that is looked into."""
PACKAGE: Final = Path(__file__).resolve().parents[1]


@click.command(short_help="Print the script that completes commands.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print the script that completes dpverify's commands in a shell.

    \b
    bash   eval "$(dpverify completion bash)"           in ~/.bashrc
    zsh    eval "$(dpverify completion zsh)"            in ~/.zshrc, after compinit
    fish   dpverify completion fish > ~/.config/fish/completions/dpverify.fish
    """
    from click.shell_completion import get_completion_class

    shell_complete = get_completion_class(shell)
    assert shell_complete is not None, "click has all three"
    script = shell_complete(ctx.find_root().command, {}, "dpverify", "_DPVERIFY_COMPLETE").source()
    # bash puts in what it is given as it is, and names of claims have spaces
    click.echo(script.replace("COMPREPLY+=($value)", """COMPREPLY+=("$(printf '%q' "$value")")"""))
    return 0


Complete = Callable[[click.Context, str], "Iterable[CompletionItem]"]


class _Completed(click.types.StringParamType):
    """A text that the shell completes."""

    def __init__(self, complete: Complete) -> None:
        self.complete = complete

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """What the text may go on to."""
        del param
        return list(self.complete(ctx, incomplete))


def complete(verb: click.Command) -> None:
    """Give every argument and option of a verb that means a claim, a rule or a profile its completion."""
    for parameter in verb.params:
        known = _COMPLETES.get((verb.name, parameter.name)) or _COMPLETES.get((None, parameter.name))
        if known is not None and parameter.type is click.STRING:
            parameter.type = _Completed(known)


def _claims(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem]:
    """Claim files and folders, by the shell itself, and the names of mechanisms in specs/ and on the shelf."""
    from click.shell_completion import CompletionItem

    del ctx
    yield from _starting(_mechanisms(), incomplete)
    yield CompletionItem(incomplete, type="file")


def _explained(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem]:
    """Rules, theorems about curves, and the names of mechanisms."""
    del ctx
    yield from _starting({**_mechanisms(), **_rules()}, incomplete)


def _names_of_claims(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem]:
    """The names of the claims in the files that are on the line already."""
    names: dict[str, str] = {}
    # click leaves the arguments where they are once it meets an option that has no value yet
    given = [path for path in (*(ctx.params.get("paths") or ()), ctx.params.get("name"), *ctx.args) if path]
    for path in given or _project_paths():
        for file in _claim_files(path):
            names |= dict.fromkeys(_claim_names(file), file.name)
    yield from _starting(names, incomplete)


def _names_in_ledger(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem]:
    """The names of the claims in the ledger that is on the line already."""
    import sqlite3

    names: dict[str, str] = {}
    for path in filter(None, (ctx.params.get("file"), *ctx.args)):
        if Path(path).is_file():
            place = f"{Path(path).absolute().as_uri()}?mode=ro"
            with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(place, uri=True)) as rows:
                names |= {str(name): str(stated) for name, stated in rows.execute("SELECT name, stated FROM claims")}
    yield from _starting(names, incomplete)


def _profiles(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem]:
    """The built-in profiles, and those of the project."""
    del ctx
    yield from _starting({**dict.fromkeys(BUILT_IN_PROFILES, "built in"), **_project_profiles()}, incomplete)


BUILT_IN_PROFILES: Final = ("dev", "ci", "nightly")
_COMPLETES: Final[Mapping[tuple[str | None, str | None], Complete]] = {
    (None, "paths"): _claims,
    (None, "claims"): _names_of_claims,
    (None, "profile"): _profiles,
    ("explain", "name"): _explained,
    ("ledger", "claims"): _names_in_ledger,
}
"""By the verb (None for every verb) and the parameter."""


def _starting(known: Mapping[str, str], incomplete: str) -> Iterator[CompletionItem]:
    """What goes on as it was begun, but for what does not fit on one line that can be seen: a shell would take it for several words."""
    from click.shell_completion import CompletionItem

    fitting = (word for word in sorted(known) if word.startswith(incomplete) and word.isprintable())
    return (CompletionItem(word, help=printable(known[word])) for word in fitting)


def _mechanisms() -> dict[str, str]:
    """The names that `resolve` of the catalogue knows, without the catalogue, which is slow to import."""
    known = {file.stem: "on the shelf" for file in _shelf().glob("*.toml")}
    return known | {file.stem: "specs/" for file in Path("specs").glob("*.toml")}


def _shelf() -> Path:
    """The claim files that come with the package, or with the checkout."""
    packaged = PACKAGE / "_shelf"
    return (packaged if packaged.is_dir() else PACKAGE.parent) / "specs"


def _rules() -> dict[str, str]:
    """The names of rules and of theorems about curves; the registry imports none of them."""
    from dpverify.trusted.kernel.registry import CURVES, EXPLAINED

    return {name: "theorem about curves" if name in CURVES else "rule" for name in EXPLAINED}


def _claim_files(path: str) -> list[Path]:
    """The files that a path or a name means, as `resolve` of the catalogue finds them."""
    given = Path(path)
    if given.is_dir():
        return claim_files(given).files
    places = (given, Path("specs") / f"{path}.toml", _shelf() / f"{path}.toml")
    return [place for place in places if place.is_file()][:1]


def _claim_names(file: Path) -> list[str]:
    """The names of a file's claims, as the reader gives them; none of a file that is not TOML."""
    claims = _toml(file).get("claim")
    tables = [claim for claim in claims if isinstance(claim, dict)] if isinstance(claims, list) else []
    return [str(table.get("name", f"claim {i}")) for i, table in enumerate(tables, 1)]


def _project_profiles() -> dict[str, str]:
    """The profiles of the project."""
    profiles = _settings()[1].get("profiles")
    return dict.fromkeys(profiles, "of this project") if isinstance(profiles, dict) else {}


def _project_paths() -> list[str]:
    """The claim files of the project, which are meant where a line names none."""
    root, settings = _settings()
    paths = settings.get("paths")
    return [str(root / path) for path in paths if isinstance(path, str)] if isinstance(paths, list) else []


def _settings() -> tuple[Path, dict[str, Any]]:
    """The nearest folder with a pyproject.toml, and its table [tool.dpverify]."""
    root = next((folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / "pyproject.toml").is_file()), Path.cwd())
    data: Any = _toml(root / "pyproject.toml")
    for key in ("tool", "dpverify"):
        data = data.get(key) if isinstance(data, dict) else None
    return root, data if isinstance(data, dict) else {}


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_regular(file, MAX_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError):  # a completion that fails says nothing
        return {}
