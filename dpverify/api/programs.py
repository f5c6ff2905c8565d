"""Python functions as mechanisms: the decorator, and a function that is run with real noise."""

from __future__ import annotations

import functools
import inspect
import linecache
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from types import CodeType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from dpverify.api.noises import Noises
from dpverify.catalogue.programs import Text, named
from dpverify.catalogue.toml import Fault
from dpverify.catalogue.values import read_value_or_domain
from dpverify.errors import SpecError
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.expr import Num, symbols
from dpverify.trusted.kernel.model import Domain

if TYPE_CHECKING:
    from dpverify.replays.agreeing import Agreement
    from dpverify.replays.refuted import Rerun

Function = Callable[..., Any]


class Program:
    """A function that is a mechanism: `dpverify.verify` reads its text, and `run` runs it, unchanged, with noise."""

    def __init__(self, function: Function, options: Mapping[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function, self.options = function, dict(options)
        self._text: Text | None = None

    def __repr__(self) -> str:
        return f"<program {self.function.__name__}>"

    @property
    def text(self) -> Text:
        """The text of its file. Raises SpecError where there is none, or where it is not the text of this function."""
        if self._text is None:
            self._text = _text_of(self.function)
        return self._text

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The function itself, with a source of noise that the caller gives."""
        return self.function(*arguments, **named)

    def run(self, data: Any, *arguments: Any, seed: Any = None, noise: Any = None, **named: Any) -> Any:
        """The function on some data, with noise from a sampler.

        seed: of the noise, None for another one each time; noise: a source of noise in its place. The other arguments are the function's
        own. Noise on the integers is drawn exactly; other noise is a float, and what is computed from it is rounded as floats are: the
        guarantee that is proved is that of real numbers. Raises SpecError for noise that is not known, as soon as it is drawn.
        """
        source = noise if noise is not None else Noises(seed)
        parameters = list(inspect.signature(self.function).parameters)[1:]
        if "noise" in named:
            raise SpecError(f"{self.function.__name__}: noise is an argument that run gives. Leave it out, or run(..., noise=source).")
        free = [name for name in parameters if name != "noise" and name not in named]
        given = {**dict(zip(free, arguments, strict=False)), **named, "noise": source}
        if len(arguments) > len(free):
            raise SpecError(f"{self.function.__name__} takes {', '.join(free) or 'no parameters'}, and {len(arguments)} are given.")
        self._require_meant(data, {name: value for name, value in given.items() if name != "noise"}, source)
        return self.function(data, **given)

    def agree(
        self, *, parameters: Mapping[str, Any] | None = None, answers: int | None = None, tries: int = 200, seed: int = 0
    ) -> Agreement:  # fmt: skip
        """Whether the function tells what its declaration, which is what is proved, tells of the same answers and noises.

        Hypothesis chooses answers, parameters and noises; both are carried out with exact numbers. parameters: values or domains, as the
        decorator's; answers: how many. tries: how often. Printing what it gives says which branches were taken, which lines never ran, and
        shows what differs. Raises SpecError for what cannot be read, and what the function raises.
        """
        from dpverify.replays.agreeing import agreement

        return agreement(self.function, self.text, parameters, answers, tries, seed)

    def sampler(self, **parameters: Any) -> Callable[[Any, Any], Any]:
        """The function as dpverify.audit takes it: of data and a generator of numpy to draw from; what is yielded comes in a tuple."""
        source = Noises(0)

        def drawn(data: Any, rng: Any) -> Any:
            source.generator = rng
            told = self.function(data, **parameters, noise=source)
            return tuple(told) if isinstance(told, Iterator) else told

        return drawn

    def rerun(self, answer: Any, parameters: Mapping[str, Any] | None = None) -> Rerun:
        """A refutation in the function itself: on both inputs of its witness, these noises, these outputs, at these lines.

        answer: what dpverify.verify said of this program; parameters: what it was given for them. Outputs that are words are looked for in
        many runs, and it is told how many had them; where numbers are told over rows, the noise that gives the same numbers on both tables
        is worked out. Witnesses in a limit have no such runs: then the finding is "NOT_SHOWN", with the reason.
        """
        from dpverify.replays.refuted import rerun

        return rerun(self.function, self.text, answer, Noises, parameters)

    def _require_meant(self, data: Any, given: Mapping[str, Any], source: Any) -> None:
        """That data and arguments are among those that the decorator speaks of. Raises SpecError listing all that are not."""
        said = self.options.get("parameters") or {}
        faults = [f"{name} = {value!r:.40} {fault}" for name, value in given.items() if (fault := _outside(value, said.get(name)))]
        rows = "adjacency" in self.options
        numbers = [each for row in data for each in (row.values() if isinstance(row, Mapping) else [])] if rows else list(_numbers(data))
        faults += ["a number of the data is infinite, or none (NaN)."] * any(not _is_finite(each) for each in numbers)
        listed = self.options.get("inputs")
        if listed is not None and not any(_as_told(data) == _as_told(each) for each in listed):
            faults.append(f"{data!r:.40} is none of the inputs that are stated.")
        wanted = self.options.get("answers")
        if isinstance(wanted, int) and isinstance(data, Sequence) and len(data) != wanted:
            faults.append(f"{len(data)} answers are given, and {wanted} are stated.")
        if faults:
            raise SpecError([f"{self.function.__name__}: {fault}" for fault in faults])
        if isinstance(source, Noises):
            source.on_integers = rows or listed is not None or all(_is_whole(each) for each in numbers)


@overload
def program(function: Function, /) -> Program: ...
@overload
def program(**options: Any) -> Callable[[Function], Program]: ...
def program(function: Function | None = None, /, **options: Any) -> Program | Callable[[Function], Program]:
    """A function as a mechanism, by its text.

    sensitivity: by how much neighbours move an answer; neighbours: "all" (the default), "one", "monotone", "increasing", "decreasing" or
    "hull" with hull, as for streams in claim files; bounds: where answers lie; answers: how many there are. Or adjacency: "add-remove" or
    "replace", where the data are rows; record: the domains of their fields; rows: how many a person has at most. Or inputs: all that the
    data may be, words, integers and lists of them, any of which may be another's neighbour. parameters: values or domains of the other
    arguments, any real number where nothing is said; claims: a list of claims, judged by `dpverify verify FILE.py`. What these say is
    read from the text, so they are written there as data.
    """
    if function is not None:
        return Program(function, {})
    return lambda inner: Program(inner, options)


def _numbers(data: Any) -> Iterator[Any]:
    """The numbers of answers, each by itself or several together."""
    if isinstance(data, Iterable) and not isinstance(data, str | Mapping):
        for each in data:
            yield from _numbers(each)
    else:
        yield data


def _as_told(value: Any) -> Any:
    """An input with its types, as 1 is not True."""
    return (type(value), [_as_told(each) for each in value] if isinstance(value, list | tuple) else value)


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float | np.floating) or math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) or (isinstance(value, float | np.floating) and float(value).is_integer())


def _outside(value: Any, said: Any) -> str:
    """What is wrong with an argument, said being its value or its domain; empty where nothing is."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | str) or value is None or not isinstance(value, int | float | Fraction | Decimal):
        return "" if said is None else f"is no number, and parameters say {said!r:.40}."
    if not _is_finite(value):
        return "is no finite number."
    if said is None:
        return ""
    try:
        meant = read_value_or_domain(said if isinstance(said, int | Decimal) else str(said))
    except Fault:
        return ""  # which is told where the program is read
    number = Num(Fraction(str(value)))
    held = meant.holds(number.value) if isinstance(meant, Domain) else not symbols(meant) and certainly_equal(meant, number)
    return "" if held or (not isinstance(meant, Domain) and symbols(meant)) else f"is not what parameters say: {said!r:.40}."


def _text_of(function: Function) -> Text:
    """The text of the module of a function. Raises SpecError."""
    name = function.__name__
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        raise SpecError(f"{name} is no plain Python function: its text cannot be read. Put dpverify.program on the function itself.")
    file = code.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, getattr(function, "__globals__", None))
    if not lines:
        raise SpecError(f"{name}: its text is not there ({file}). Define it in a file, which is what is read.")
    text = Text(file, "".join(lines), name)
    named(text)
    if not any(_same(found, code) for found in _codes(compile(text.text, file, "exec", dont_inherit=True), name)):
        raise SpecError(
            f"{name}: the text in {file} is not that of this function: the file was changed since it was loaded. Load it again."
        )
    return text


def _codes(code: CodeType, name: str) -> list[CodeType]:
    inside = [each for each in code.co_consts if isinstance(each, CodeType)]
    return [each for each in inside if each.co_name == name]


def _same(a: CodeType, b: CodeType) -> bool:
    """Whether two codes do the same."""
    if (a.co_code, a.co_names, a.co_varnames, len(a.co_consts)) != (b.co_code, b.co_names, b.co_varnames, len(b.co_consts)):
        return False
    return all(
        _same(x, y) if isinstance(x, CodeType) and isinstance(y, CodeType) else repr(x) == repr(y)
        for x, y in zip(a.co_consts, b.co_consts, strict=True)
    )
