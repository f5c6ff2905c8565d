"""One line that finds a finding again: of the command line, or of Python."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.runtime.finding import FLOAT

Replay = Callable[[int, int], str]
"""From a seed and the fewest samples a side to the line."""

LONGEST: Final = 80  # characters of an argument that is written out


def command_line(file: str, claim: str, confidence: float, *, stop: bool, level: str = FLOAT) -> Replay:
    """The command that audits a claim of a file again. file: as it was given, so that it is found from the same directory."""
    path = f"./{file}" if file.startswith("-") else file

    def line(seed: int, samples: int) -> str:
        flags = [*([] if stop else ["--no-stop"]), *([] if level == FLOAT else ["--level", level])]
        words = ["dpverify", "audit", path, "--claim", claim, "--seed", str(seed), "--samples", str(samples)]
        return shlex.join([*words, "--confidence", repr(confidence), *flags])

    return line


def python_line(sampler: Callable[..., Any] | str, arguments: Mapping[str, Any]) -> Replay:
    """The call of dpverify.audit with these arguments, those that are None left out.

    What is no short literal stands there under the name of its parameter, and a sampler without a name of its own as `sampler`.
    """
    given = {name: value for name, value in arguments.items() if value is not None}

    def line(seed: int, samples: int) -> str:
        everything = {**given, "seed": seed, "samples": samples}
        written = [f"{name}={_literal(value) or name}" for name, value in everything.items()]
        return f"dpverify.audit({', '.join([_named(sampler), *written])})"

    return line


def training_line(train: Callable[..., Any] | str, arguments: Mapping[str, Any]) -> Replay:
    """The call of dpverify.audit_training with these arguments, likewise."""
    line = python_line(train, arguments)

    def trained(seed: int, runs: int) -> str:
        said = line(seed, runs).removeprefix("dpverify.audit(").removesuffix(f"samples={runs})")
        return f"dpverify.audit_training({said}runs={runs})"

    return trained


def _named(sampler: Callable[..., Any] | str) -> str:
    if isinstance(sampler, str):
        return repr(sampler)
    name = str(getattr(sampler, "__qualname__", "")).rpartition(".")[2]
    return name if name.isidentifier() else "sampler"


def _literal(value: Any) -> str | None:
    """A value as Python writes it, None where that is long or no literal."""
    text = repr(str(value)) if isinstance(value, Fraction) else repr(value)
    try:
        same = ast.literal_eval(text) == (str(value) if isinstance(value, Fraction) else value)
    except (ValueError, SyntaxError, TypeError):
        return None
    return text if same is True and len(text) <= LONGEST else None
