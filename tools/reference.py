"""Writes docs/reference: the rules, the command line, the formats and Python, from what the code says of them.

    python tools/reference.py [DIR]

`pages()` gives the pages by name; a test compares them with the committed ones.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from dpverify import cli, declare, errors, pytest_plugin
from dpverify.catalogue import assumed, declarations
from dpverify.catalogue.kinds import STARTERS
from dpverify.catalogue.values import DOMAIN_HELP
from dpverify.project import config
from dpverify.report.stated import stated
from dpverify.trusted.kernel.expr import FUNCTIONS
from dpverify.trusted.kernel.registry import CURVES, RULES

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = ROOT / "dpverify" / "schemas"
MADE = "*This page is made by `make docs` from the code: change it there.*"
WIDE = 100

PYTHON = {
    "Claims and proofs": ("dpverify", ("verify", "tight_epsilon", "tight_delta", "check")),
    "Calibration": ("dpverify", ("calibrate", "calibrated")),
    "What verify and check return": ("dpverify.report.answers", ("Answer", "Enclosure")),
    "What calibrated returns": ("dpverify.api.calibration", ("Calibrated",)),
    "Claim files": ("dpverify.catalogue", ("read_spec", "resolve", "Spec", "Stated")),
    "The kernel": ("dpverify.trusted.kernel.judgement", ("check", "Judgement")),
    "Mechanisms for a query": ("dpverify.api.design", ("design",)),
    "The mechanism of least error": ("dpverify.project.optimum", ("optimum", "Optimum")),
    "Nearness against privacy": ("dpverify.project.trade_off", ("trade_off", "TradeOff")),
    "Evaluations against privacy": ("dpverify.project.evaluations", ("evaluations", "Evaluations")),
    "Mechanisms on nets": ("dpverify.samplers.nearness", ("near_mechanism", "NearMechanism")),
    "The best remap of a mechanism's outputs": ("dpverify.search.utility.remaps", ("remap", "remapped", "truncated_geometric")),
    "Nearness and privacy": ("dpverify.api.trade_offs", ("trade_off",)),
    "What trade_off returns": ("dpverify.project.trade_off", ("TradeOff", "Point")),
    "Samplers": ("dpverify.api.samplers", ("sampler",)),
    "Walks": ("dpverify.samplers.walks", ("walk", "hit_and_run", "grid_walk", "hull", "facets", "Walked", "weakened")),
    "Audits": ("dpverify.audits", ("audit", "audit_training", "audit_spec")),
    "Findings": ("dpverify.runtime.finding", ("Finding",)),
    "Privacy curves": ("dpverify.pictures.bands", ("plan", "delta_band", "trade_off_band", "composition_band", "Band")),
}
"""What people use from Python: a module and its names under each heading."""


BY_HAND = ("certificates.md",)
"""Pages of the reference that people write."""


def pages() -> dict[str, str]:
    """Every page of the reference by its file name."""
    return {
        "command-line.md": page("Command line", command_line()),
        "settings.md": page("Settings", settings()),
        "claim-files.md": page("Claim files", claim_files()),
        "answers.md": page("Answers in JSON", answers()),
        "rules.md": page("Rules", theorems(RULES, OF_RULES)),
        "curves.md": page("Theorems about curves", theorems({k: v for k, v in CURVES.items() if k not in RULES}, OF_THEOREMS)),
        "python.md": page("Python", python()),
    }


def page(title: str, blocks: Iterable[str]) -> str:
    """A page: blocks of Markdown below a title."""
    return "\n\n".join([f"# {title}", MADE, *blocks]) + "\n"


def plain(text: str) -> str:
    """Text in which nothing but code between backticks means anything to Markdown."""
    words = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(code(word[1:-1]) if index % 2 else escaped(word) for index, word in enumerate(words))


def escaped(text: str) -> str:
    """Text in which no character means anything to Markdown. An underscore inside a word means nothing anyway."""
    marked = re.sub(r"([\\`*\[\]|]|(?<!\w)_|_(?!\w))", r"\\\1", text)
    return marked.replace("<", "&lt;").replace(">", "&gt;")


def code(text: str) -> str:
    """Text as code, in a table too."""
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of cells that are Markdown already."""
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def bullets(items: Iterable[str]) -> str:
    """A list of texts."""
    return "\n".join(f"- {plain(item)}" for item in items)


# -- rules ---------------------------------------------------------------------------------------------------

OF_RULES = "Each rule proves bounds on the tight epsilon or the tight delta. The kernel accepts these, and looks up nothing else."
OF_THEOREMS = "Each proves a privacy curve, delta as a function of epsilon, or how the curves of parts combine. Rules read bounds off them."


def theorems(named: Mapping[str, Any], what: str) -> Iterator[str]:
    """Statement, hypotheses and source of each theorem."""
    yield f"{what} `dpverify explain NAME` prints the same. Hypotheses that are assumed are shown with each answer."
    for name, theorem in sorted(named.items()):
        yield f"## {name}"
        said = stated(name)
        yield plain(said.statement)
        yield f"Checked:\n\n{bullets(said.checked)}"
        if theorem.ASSUMED:
            yield f"Assumed:\n\n{bullets(map(assumed.plain, theorem.ASSUMED))}"
        yield f"Source: {plain(str(said.source))}"


# -- the command line ------------------------------------------------------------------------------------------


LOST = (
    "Where an answer cannot be written, since `stdout` is closed, full, or a pipe that nobody reads any more, the code is 2 from "
    "every verb, whatever the answer: it is never 0 or 1. So it is where a file beside the answer cannot be written, such as a "
    "certificate, a page or a baseline: the answer is told, the file is named on `stderr`, and nothing is left half-written. What "
    "cannot be written to `stderr` changes no code. A signal that ends a run gives 128 and its number, 130 for Ctrl-C and 143 for "
    "SIGTERM, and says so on `stderr`."
)
"""What codes say where an answer cannot be told, or a run is ended."""


def command_line() -> Iterator[str]:
    """Every verb with its usage and options."""
    context = click.Context(cli.main, info_name="dpverify")
    yield from help_text(cli.main)
    yield "`stdout` carries the answer and `stderr` the progress. `NO_COLOR` is honoured."
    yield LOST
    for name, command in sorted(cli.main.commands.items()):
        yield from verb(command, click.Context(command, info_name=name, parent=context), "##")


def verb(command: click.Command, context: click.Context, level: str) -> Iterator[str]:
    """One verb, and the verbs below it."""
    yield f"{level} {context.command_path}"
    yield "\n".join(["```text", " ".join([context.command_path, *command.collect_usage_pieces(context)]), "```"])
    yield from help_text(command)
    # click makes the help option when it is first asked for, and names it by whoever asks
    options = [param for param in command.params if isinstance(param, click.Option)]
    records = [record for param in options if (record := param.get_help_record(context)) is not None]
    records.append(("-h, --help", "Show this message and exit."))
    yield table(("option", "meaning"), ([code(names), plain(text)] for names, text in records))
    for name, below in sorted(getattr(command, "commands", {}).items()):
        yield from verb(below, click.Context(below, info_name=name, parent=context), f"{level}#")


def help_text(command: click.Command) -> Iterator[str]:
    """The paragraphs of a verb's help, those that are not to be wrapped as they are, and the exit codes as a table."""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            yield f"```text\n{paragraph[2:]}\n```"
        elif paragraph.startswith("Exit codes: "):
            codes = re.findall(r"(\d) ([^;.]+)", " ".join(paragraph.split()))
            yield f"## Exit codes\n\n{table(('exit code', 'meaning'), ([number, plain(meaning)] for number, meaning in codes))}"
        else:
            yield plain(paragraph)


def settings() -> Iterator[str]:
    """[tool.dpverify], and what is built in."""
    yield from docstring(config)
    yield "## Profiles"
    yield from docstring(config.Profile)
    rows = [
        [code(p.name), f"{p.samples:,}", f"{p.alpha:g}", str(p.digits), "drawn" if p.seed is None else str(p.seed), f"{p.timeout:g} s"]
        for p in config.PROFILES.values()
    ]
    yield table(("profile", "samples", "alpha", "digits", "seed", "timeout"), rows)
    yield from docstring(config.Config.chosen)


# -- formats ---------------------------------------------------------------------------------------------------


def claim_files() -> Iterator[str]:
    """Every table and key of a claim file, from its JSON Schema."""
    schema = load("claim-file")
    parts = schema["definitions"]
    keys = parts["keys"]["properties"]
    yield (
        f"{plain(schema['description'])} The file is TOML, and data only: reading it runs no code, except for `use`. "
        "Numbers are exact: a decimal is the decimal that is written, and a string may hold a fraction or an expression. "
        "[What every word means](../../specs/definitions.md#the-kinds-of-mechanism) defines the kinds, "
        "and `dpverify schema claim-file` prints the schema for editors."
    )
    yield f"## mechanism\n\n{plain(parts['keys']['description'])}"
    yield fields({key: keys[key] for key in ("kind", "use", "parameters")})
    yield f"### Parts\n\n{plain(parts['part']['description'])}"
    yield fields({key: keys[key] for key in ("sensitivity", "query", "adjacency", "times")})
    yield f"### Norms\n\n{plain(parts['norm']['description'])}"
    yield "## Kinds"
    meanings = keys["kind"]["x-taplo"]["docs"]["enumValues"]
    for name, meaning in zip(keys["kind"]["enum"], meanings, strict=True):
        yield from kind(name, meaning, parts[f"kind_{name}"], keys, "###")
        yield f"```toml\n[mechanism]\n{STARTERS[name].mechanism.rstrip()}\n```"
    yield "## Builtin models"
    for name, meaning in zip(keys["name"]["enum"], keys["name"]["x-taplo"]["docs"]["enumValues"], strict=True):
        yield from kind(name, meaning, parts[f"builtin_{name}"], keys, "###", "builtin ")
    yield (
        "## Expressions\n\nNumbers such as `1.775`, `887/500` and `1e-6`, the variables of the kind, the names in `parameters`, "
        f"`+ - * / **`, `pi`, and the functions {', '.join(map(code, sorted(FUNCTIONS)))}."
    )
    yield (
        "What is written is put in order before it is looked at, and is printed as it was understood: like terms and whole powers of equal "
        "factors are put together, so `u/u` is 1 and `u - u` is 0 for every u, also where u is 0 or has no value."
    )
    yield f"A parameter may be {DOMAIN_HELP}."
    for name in ("claim", "audit"):
        yield f"## {name}\n\n{plain(parts[name]['description'])}"
        yield fields(parts[name]["properties"], parts[name].get("required", ()))


COMMON = ("kind", "use", "parameters", "sensitivity", "query", "adjacency", "times")


def kind(name: str, meaning: str, schema: Mapping[str, Any], keys: Mapping[str, Any], level: str, prefix: str = "") -> Iterator[str]:
    """One kind of mechanism: what it is, and the keys of its own."""
    yield f"{level} {prefix}{name}\n\n{plain(meaning)}"
    own = [key for key in schema.get("properties", {}) if key not in COMMON and not (prefix and key == "name")]
    either = [", ".join(map(code, option["required"])) for option in schema.get("oneOf", ()) if "required" in option]
    if own:
        required = {*schema.get("required", ()), *needed(schema)}
        yield fields({key: keys[key] for key in own}, required)
    if either:
        yield f"Exactly one of: {'; '.join(either)}."


def needed(schema: Mapping[str, Any]) -> Iterator[str]:
    """The keys of a builtin that have to be there, as a key or among its parameters."""
    for rule in schema.get("allOf", ()):
        options = [option["required"] for option in rule.get("anyOf", ()) if "required" in option]
        if len(options) == 2 and ["parameters"] in options:
            yield from options[0]


def answers() -> Iterator[str]:
    """Every field of the JSON of answers and of what is written, from their schemas."""
    for name, heading in (("answer", "What is printed"), ("certificate", "Certificates"), ("curves", "Curves")):
        schema = load(name)
        yield f"## {heading}\n\n{plain(schema['description'])} `dpverify schema {name}` prints the JSON Schema."
        yield fields(schema["properties"], schema.get("required", ()))
        values = {name: value for name, value in schema["definitions"].items() if "properties" not in value and "description" in value}
        if values:
            rows = ([plain(name.replace("_", " ")), value_of(value), plain(value["description"])] for name, value in values.items())
            yield table(("value", "written as", "meaning"), rows)
        for part, definition in schema["definitions"].items():
            if definition.get("properties") and (described := fields(definition["properties"], definition.get("required", ()))):
                said = definition.get("description", "")
                yield f"### {heading.split()[-1].lower() if heading != 'What is printed' else 'printed'}: {part.replace('_', ' ')}" + (
                    f"\n\n{plain(said)}" if said else ""
                )
                yield described


def load(name: str) -> dict[str, Any]:
    """A JSON Schema that ships with the package."""
    schema: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema


def fields(properties: Mapping[str, Any], required: Iterable[str] = ()) -> str:
    """A table of keys, with those of inner objects."""
    wanted = set(required)
    return table(("key", "value", "meaning"), (row for key, value in properties.items() for row in rows_of(key, value, key in wanted)))


def rows_of(key: str, schema: Mapping[str, Any] | bool, required: bool) -> Iterator[list[str]]:
    """The row of a key, and those of the keys inside it."""
    schema = {} if isinstance(schema, bool) else schema
    yield [code(key) + (" (required)" if required else ""), value_of(schema), plain(schema.get("description", ""))]
    for inner, value in schema.get("properties", {}).items():
        yield from rows_of(f"{key}.{inner}", value, inner in schema.get("required", ()))


def value_of(schema: Mapping[str, Any]) -> str:
    """The values that a key may have, in words."""
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if "enum" in schema:
        return ", ".join(code(json.dumps(value)) for value in schema["enum"])
    if "$ref" in schema:
        return plain(schema["$ref"].rpartition("/")[2].replace("_", " "))
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return " or ".join(dict.fromkeys(filter(None, map(value_of, schema[choice]))))
    types = schema.get("type", "")
    words = " or ".join([types] if isinstance(types, str) else types)
    items = value_of(schema["items"]) if isinstance(schema.get("items"), dict) else ""
    return f"{words} of {items}" if words == "array" and items else words


# -- Python ----------------------------------------------------------------------------------------------------


def python() -> Iterator[str]:
    """Public names with their docstrings."""
    yield "`dir(dpverify)` lists what `import dpverify` offers. Epsilon is in nats everywhere."
    for heading, (module, names) in PYTHON.items():
        yield f"## {heading}\n\nIn `{module}`."
        for name in names:
            yield from member(name, getattr(importlib.import_module(module), name))
    yield "## Mechanisms\n\nIn `dpverify`, a function for every kind and every builtin, with the keys of claim files as its arguments."
    for name, function in declarations.FUNCTIONS.items():
        yield from member(name, function)
    yield "## Declarations\n\nIn `dpverify.declare`, for claim files that name them by `use`."
    yield from docstring(declare)
    for name in declare.__all__:
        yield from member(name, getattr(declare, name))
    yield "## Tests with pytest"
    yield from docstring(pytest_plugin)
    yield table(("option", "meaning"), ([code(name), plain(text)] for name, text in options_of(pytest_plugin)))
    for fixture in (pytest_plugin.dp_audit, pytest_plugin.dp_verify):
        yield f"### {fixture.__name__}"
        yield from docstring(inspect.unwrap(getattr(fixture, "__wrapped__", fixture)))
    yield f"### dp_claim\n\n{plain(pytest_plugin.MARKER)}"
    yield "## Errors\n\nIn `dpverify.errors`."
    yield from docstring(errors)


def member(name: str, value: Any) -> Iterator[str]:
    """One public name: its signature and what it says of itself."""
    yield f"### {plain(name)}"
    yield f"```text\n{signature(name, value)}\n```"
    yield from docstring(value)


def signature(name: str, value: Callable[..., Any]) -> str:
    """How it is called, a line for each argument where one line is not enough."""
    called = inspect.signature(value)
    called = called.replace(
        parameters=[
            p.replace(
                annotation=p.annotation if p.annotation is p.empty else Bare(p.annotation),
                default=Bare("...") if inspect.isfunction(p.default) else p.default,
            )
            for p in called.parameters.values()
        ],
        return_annotation=called.empty if inspect.isclass(value) else Bare(called.return_annotation),
    )
    text = f"{name}{called}"
    if len(text) <= WIDE:
        return text
    arguments = [str(parameter) for parameter in called.parameters.values()]
    first = next((n for n, p in enumerate(called.parameters.values()) if p.kind is p.KEYWORD_ONLY), None)
    if first is not None:
        arguments.insert(first, "*")
    returned = "" if called.return_annotation is called.empty else f" -> {called.return_annotation}"
    return "\n".join([f"{name}(", *(f"    {argument}," for argument in arguments), f"){returned}"])


class Bare(str):
    """A text that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def docstring(value: ModuleType | Callable[..., Any]) -> Iterator[str]:
    """A docstring as paragraphs, with its indented parts and drawings as they are."""
    for paragraph in inspect.cleandoc(value.__doc__ or "").split("\n\n"):
        if paragraph.startswith("    ") or "├" in paragraph:
            yield f"```text\n{inspect.cleandoc(paragraph) if paragraph.startswith('    ') else paragraph}\n```"
        elif paragraph:
            yield plain(paragraph)


class Recorder:
    """What a pytest plugin asks a parser for."""

    def __init__(self) -> None:
        self.options: list[tuple[str, str]] = []

    def addini(self, name: str, meaning: str, **_: Any) -> None:
        self.options.append((f"{name} = ...", meaning))

    def getgroup(self, *_: Any) -> Recorder:
        return self

    def addoption(self, *names: str, help: str = "", metavar: str = "", **_: Any) -> None:
        self.options.append((f"{', '.join(names)} {metavar}".strip(), help))


def options_of(plugin: Any) -> list[tuple[str, str]]:
    """The ini options and flags of a pytest plugin, with what they mean."""
    recorder = Recorder()
    plugin.pytest_addoption(recorder)
    return recorder.options


def main(folder: str = str(ROOT / "docs" / "reference")) -> None:
    """Write every page that has changed, and take away pages that are no longer made."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    made = pages()
    for name, text in made.items():
        if not (target / name).exists() or (target / name).read_text(encoding="utf-8") != text:
            (target / name).write_text(text, encoding="utf-8")
    for old in target.glob("*.md"):
        if old.name not in {*made, *BY_HAND}:
            old.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:2])
