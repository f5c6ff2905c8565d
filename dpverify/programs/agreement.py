"""A declaration carried out, with the noises that a program is given: what it tells, to be held against what the program tells."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpverify.programs.values import Law

Drawn = Callable[[int, Law, int], Any]
"""The noise of a step, -1 before the first, of a law: which one of that law in the step."""


@dataclass
class Tape:
    """Noise for a program that is run: its numbers are those of `drawn`. step: the answer that is read; seen: what was drawn."""

    drawn: Drawn
    law_of: Callable[[str, tuple[Any, ...], dict[str, Any]], Law]
    step: int = -1
    counts: dict[tuple[int, Law], int] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)

        def draw(*values: Any, **named: Any) -> Any:
            law = self.law_of(name, values, named)
            key = (self.step, law)
            self.counts[key] = self.counts.get(key, 0) + 1
            return self.drawn(self.step, law, self.counts[key] - 1)

        return draw


class Watched(Sequence[Any]):
    """Answers that say which of them is read."""

    def __init__(self, answers: Sequence[Any], tape: Tape) -> None:
        self.answers, self.tape = list(answers), tape

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, int):
            self.tape.step = place
        return self.answers[place]

    def __iter__(self) -> Iterator[Any]:
        for place, answer in enumerate(self.answers):
            self.tape.step = place
            yield answer


def evaluated(text: Any, values: Mapping[str, Any]) -> Any:
    """A number of a table: sums, products, quotients and powers of names and numbers."""
    return text if isinstance(text, int | Fraction) else _number(ast.parse(str(text), mode="eval").body, values)


def _number(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return Fraction(str(node.value))
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.UnaryOp):
        inside = _number(node.operand, values)
        return -inside if isinstance(node.op, ast.USub) else inside
    if isinstance(node, ast.BinOp):
        a, b = _number(node.left, values), _number(node.right, values)
        match node.op:
            case ast.Add():
                return a + b
            case ast.Sub():
                return a - b
            case ast.Mult():
                return a * b
            case ast.Div():
                return a / b
            case ast.Pow():
                return a**b
    raise ValueError(f"{ast.unparse(node)} is no number of a table.")


def _holds(text: str, values: Mapping[str, Any]) -> bool:
    for relation in (">=", "<=", ">", "<"):
        left, mark, right = text.partition(relation)
        if mark:
            a, b = evaluated(left.strip(), values), evaluated(right.strip(), values)
            return bool({">=": a >= b, "<=": a <= b, ">": a > b, "<": a < b}[relation])
    raise ValueError(f"{text} is no comparison.")


def carried_out(
    table: Mapping[str, Any], draws: Mapping[str, tuple[Law, int]], answers: Sequence[Any], drawn: Drawn, parameters: Mapping[str, Any],
    taken: Callable[[int], Any] = id,
) -> str:  # fmt: skip
    """What a stream tells of answers, as text. draws: of its noises, the law and which one of that law in the step. taken: is given the
    place of each branch that is taken.
    """
    values: dict[str, Any] = dict(parameters)
    values |= {name: drawn(-1, *draws[name]) for name in table.get("once", {})}
    values |= {name: evaluated(first, values) for name, first in table.get("state", {}).items()}
    limits = {name: evaluated(limit, values) for name, limit in table.get("limits", {}).items()}
    values |= dict.fromkeys(limits, Fraction(0))
    told: list[str] = []
    reads = table["answers"]
    once = table.get("queries") == 1 and len(reads) == len(answers)
    for step, answer in enumerate([answers] if once else answers):
        if any(values[name] >= limit for name, limit in limits.items()):
            break
        read = answer if isinstance(answer, Sequence) else [answer]
        values |= dict(zip(reads, read, strict=True))
        values |= {name: drawn(-1 if once else step, *draws[name]) for name in table.get("fresh", {})}
        (place, *_) = [at for at, one in enumerate(table["step"]) if all(_holds(each, values) for each in one.get("when", ()))]
        branch = table["step"][place]
        taken(place)
        told += _filled(branch, values, step)
        values |= {name: evaluated(value, values) for name, value in branch.get("set", {}).items()}
        for name, value in branch.get("count", {}).items():
            values[name] += evaluated(value, values)
    return " ".join(told)


def _filled(branch: Mapping[str, Any], values: Mapping[str, Any], step: int) -> Iterable[str]:
    """What a branch tells, its numbers in their places."""
    numbers = iter([evaluated(each, values) for each in branch.get("tell", ())])
    text = branch["emit"]
    if text in ("go on", "stop"):
        return []
    if (text[0] == "i" and not text.isalpha()) or text == "i":
        return [str(evaluated(text, {"i": step}))]
    marks = ("(", ")", ",", " ", "[", "]", "{", "}", ":")
    words, word = [], ""
    for mark in [*text, " "]:
        if mark in marks:
            words.append(str(next(numbers)) if word == "_" else str(step) if word == "i" else word)
            words.append(mark)
            word = ""
        else:
            word += mark
    return ["".join(words).strip()]


def rendered(value: Any) -> str:
    """What a program tells, as text, with exact numbers."""
    if isinstance(value, tuple):
        return f"({', '.join(map(rendered, value))})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {rendered(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(rendered, value))}]"
    return str(value)
