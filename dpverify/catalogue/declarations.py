"""Declarations in Python: the tables of claim files, with expressions of sympy in them and domains for parameters.

A constructor has the arguments that the kind's table has keys; what it is given is written as such a table and read by what reads files,
so that what is wrong with it is said in the same words. FUNCTIONS are the same constructors under the names that claim files know, with
parameters of their own as a table has them: what they declare is complete, and a claim can be stated of it at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from inspect import Parameter
from math import isfinite
from numbers import Integral, Rational, Real
from textwrap import TextWrapper
from typing import Any, Final

from dpverify.catalogue.checks import number_faults
from dpverify.catalogue.kinds import BUILTIN, IN_FILES, KINDS
from dpverify.catalogue.kinds.fields import FINITE, INTERVAL, NUMBER, OF_A_PART, OUTPUT, RANGING, Field
from dpverify.catalogue.kinds.kind import Builtin, Kind
from dpverify.catalogue.kinds.named import BUILTINS
from dpverify.catalogue.mechanisms import from_table
from dpverify.catalogue.source import Source
from dpverify.catalogue.toml import Fault, Fields, Unwritten, meant
from dpverify.catalogue.values import LEAST, binary, read_expression, read_number, read_value_or_domain
from dpverify.errors import SpecError
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import (
    ONE,
    PI,
    ZERO,
    Expr,
    Num,
    Sym,
    add,
    call,
    div,
    format_expr,
    mul,
    num,
    parse,
    power,
    substitute,
    symbols,
)
from dpverify.trusted.kernel.model import Domain

Scalar = Any
"""An exact expression: a sympy expression, a string in the language of claim files, an int, a Fraction or a Decimal."""
PARAMETERS: Final = "parameters"


@dataclass(frozen=True)
class Constructor:
    """What a constructor knows. begins: the keys that say which kind it is; variables: the argument for each variable of its densities.

    complete: whether it takes parameters of its own, as a table does, and the parts of a combinator one by one. noise: the builtin of the
    same name, which is meant where nothing is given but what that has.
    """

    name: str
    what: str
    begins: Mapping[str, str]
    fields: tuple[Field, ...]
    symbols: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    complete: bool = False
    noise: Constructor | None = None

    def signature(self) -> inspect.Signature:
        """The keys of the table, and the variables; by their names alone logarithms, and what is said of a part."""
        named = {argument: variable for variable, argument in self.variables.items()}
        needed = {known.name for known in self.fields if known.required}
        plain = self.order or tuple(sorted((known.name for known in self.fields), key=lambda name: name not in needed)) + tuple(named)
        last = max((index for index, name in enumerate(plain) if name in needed), default=-1)
        late = [key for known in self.fields for key in known.keys if key != known.name] + [known.name for known in OF_A_PART]
        late += [PARAMETERS] if self.complete else []
        return inspect.Signature(
            [
                Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=Parameter.empty if index <= last else named.get(name))
                for index, name in enumerate(plain)
            ]
            + [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in late if name not in plain],
            return_annotation="Declared",
        )

    def doc(self) -> str:
        """What it declares, and what each argument means."""
        told = {known.name: known.meaning for known in self.fields}
        told |= {argument: f"The symbol that stands for {variable} in the density." for variable, argument in self.variables.items()}
        wrapped = TextWrapper(110, initial_indent="    ", subsequent_indent="        ", break_on_hyphens=False)
        if self.complete:
            told[PARAMETERS] = 'A value or a domain, such as "positive", for every other symbol of the expressions, by its name.'
        arguments = "\n".join(wrapped.fill(f"{name}: {meaning}") for name, meaning in told.items())
        if self.noise is not None:
            keys = ", ".join(known.name for known in self.noise.fields)
            arguments += f"\n\nWith {keys} alone it is the builtin of this name: {self.noise.what}"
        return "\n\n".join(filter(None, [self.what, arguments, "As a part of another it has sensitivity, query, adjacency and times too."]))

    def declare(self, *values: Any, **named: Any) -> Declared:
        """A declaration. Raises SpecError for arguments that there are not, for too many, and for what is wrong by itself."""
        __tracebackhide__ = True
        if (
            self.noise is not None
            and named.keys() <= self.noise.signature().parameters.keys()
            and (any(known.name in named for known in self.noise.fields) or (values and not isinstance(values[0], list | tuple)))
        ):
            return self.noise.declare(*values, **named)
        arguments = self.signature().parameters
        plain = [name for name, argument in arguments.items() if argument.kind is Parameter.POSITIONAL_OR_KEYWORD]
        if self.complete and values and all(isinstance(value, Declared) for value in values):
            values, named = self._parts(values, named)
        elif self.complete and values and isinstance(values[0], Declared) and "parts" in plain:
            raise SpecError(self._no_part(next(value for value in values if not isinstance(value, Declared))))
        given = dict(zip(plain, values, strict=False))
        faults = [f"{self.name}: {len(values)} values for {len(plain)} arguments."] if len(values) > len(plain) else []
        takes = f" It takes {', '.join(plain)}."
        faults += [f"{self.name}: unknown argument {name!r}.{meant(name, arguments) or takes}" for name in named if name not in arguments]
        faults += [f"{self.name}: {name} is given twice." for name in named if name in given]
        given |= named
        faults += self._wrong(given) if not faults else []
        if faults:
            raise SpecError(faults)
        return Declared(self, given)

    def _wrong(self, given: Mapping[str, Any]) -> list[str]:
        """What is wrong with arguments by themselves; what hangs on other parts, on parameters or on a claim is told when that is read."""
        stated = {name: value for name, value in given.items() if value is not None}
        own = stated.get(PARAMETERS, {}) if self.named else {}  # a builtin's numbers may stand there
        around = set(map(str, own)) if isinstance(own, Mapping) else set()
        faults = [
            f"{self.name}: {self._missing(known)}"
            for known in self.fields
            if known.wanted(stated) and around.union(stated).isdisjoint(known.keys)
        ]
        for known in (*self.fields, *OF_A_PART):
            for key in (key for key in known.keys if key in stated):
                faults += [f"{self.name}: {fault}" for fault in self._amiss(key, _listed(stated[key]), known)]
        return faults

    def _missing(self, known: Field) -> str:
        """That an argument is not there, and what it is."""
        if len(known.keys) > 1:
            return f"{' or '.join(known.keys)} is missing: give one of them."
        said = f"the builtin {self.name} needs {known.name}." if self.named else f"{known.name} is missing."
        return f"{said} {known.meaning.partition('. ')[0].rstrip('.')}."

    def _amiss(self, key: str, value: Any, known: Field) -> Iterator[str]:
        """What is wrong with one argument, whatever parameters mean."""
        number = known.value.read in (read_number, read_expression)
        if inspect.isroutine(value) or isinstance(value, type):
            yield self._no_data(key, value, known)
        elif (inexact := _inexact(value)) is not None and known.value.exact:
            yield f"{key} = {value!r:.80}: {binary(inexact)}"
        elif number and isinstance(value, Rational | Decimal | str | bool | list) and value not in (*LEAST, *known.value.words):
            text = value if isinstance(value, bool | str | list) else str(value)
            faults: list[str] = []
            found = Fields({key: text}, "", faults).may(key, read_value_or_domain if self.named else known.value.read, None)
            yield from (fault.removeprefix(": ") for fault in faults)
            if isinstance(found, Num) and (self.named or known.value in (NUMBER, RANGING)):
                yield from number_faults(key, found, {})

    @property
    def named(self) -> bool:
        """Whether it is a builtin, whose numbers may be domains."""
        return "name" in self.begins

    def _no_data(self, key: str, value: Any, known: Field) -> str:
        """That a function, or a class, stands where an expression or a mechanism does, and what was meant."""
        name = getattr(value, "__name__", "")
        if name and FUNCTIONS.get(name) is value:
            return f"{key} is dpverify.{name}, a function that makes a mechanism. Call it, as in dpverify.{name}(...)."
        example = next((str(one) for one in known.examples if isinstance(one, str)), "exp(-abs(z))")
        way = f'Write the expression as text, such as "{example}", or as one of sympy.' if known.value.exact else "Give its value."
        return f"{key} is a Python function, which cannot be read. {way}"

    def _parts(self, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Parts that are given one by one, under the key that they have in a table."""
        keys = {known.name for known in self.fields} & {"part", "parts"} - named.keys()
        if "parts" in keys and (len(values) > 1 or "part" not in keys):
            return (), {**named, "parts": list(values)}
        return ((), {**named, "part": values[0]}) if "part" in keys and len(values) == 1 else (values, named)

    def _no_part(self, value: Any) -> str:
        """What is wrong with a value that stands among the parts, and what was meant."""
        name = getattr(value, "__name__", "")
        if name and FUNCTIONS.get(name) is value:
            return f"{self.name}: dpverify.{name} is a function that makes a mechanism. Call it, as in dpverify.{name}(...)."
        runs = isinstance(value, int) and any(known.name == "part" for known in self.fields)
        way = f"For {value} runs of one part write dpverify.{self.name}(part=..., times={value})." if runs else ""
        return f"{self.name}: {value!r:.80} stands among the parts and is not a mechanism. {way or 'Give what is no part by its name.'}"

    def function(self) -> Callable[..., Declared]:
        """It as a function, with its signature and docstring."""

        def constructor(*values: Any, **named: Any) -> Declared:
            __tracebackhide__ = True  # of pytest: what is wrong stands in the message
            return self.declare(*values, **named)

        constructor.__name__ = constructor.__qualname__ = self.name
        constructor.__doc__ = self.doc()
        constructor.__signature__ = self.signature()  # type: ignore[attr-defined]
        return constructor


@dataclass(frozen=True)
class Declared:
    """A mechanism as it was declared: what its constructor was given, by the names of the arguments."""

    constructor: Constructor
    given: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"{self.constructor.name}({', '.join(f'{name}={value!r}' for name, value in self.given.items())})"

    def table(self, read: Read) -> dict[str, Any]:
        """The table of a claim file that says the same. Raises ExprError for what is not exact, or has free symbols, where `read` does."""
        known = self.constructor
        own = self.given.get(PARAMETERS) or {}
        if not isinstance(own, Mapping):
            raise SpecError(f"{known.name}: parameters = {own!r} is not a dictionary of names and their values or domains.")
        read = read.among(own)
        symbol = {variable: self.given.get(argument, variable) for variable, argument in known.variables.items()}
        table: dict[str, Any] = dict(known.begins)
        for of in (*known.fields, *OF_A_PART):
            variables = {name: symbol[name] for name in known.symbols.get(of.name, ()) if name in symbol}
            given = [key for key in of.keys if self.given.get(key) is not None]
            table |= {key: _written(self.given[key], of, read, variables) for key in given}
        if own:
            table[PARAMETERS] = {str(name): value if isinstance(value, Domain) else read.text(value) for name, value in own.items()}
        return table


def _written(value: Any, of: Field, read: Read, variables: Mapping[str, Scalar]) -> Any:
    """A value as a claim file has it: exact numbers and expressions as text, parts as tables, the rest as it is."""
    value = _listed(value)
    if isinstance(value, Declared):
        return value.table(read)
    if isinstance(value, Mapping):
        return {key: _written(item, of, read, variables) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        value = list(value)
        ends = ("-inf", "inf") if of.value in (INTERVAL, FINITE, OUTPUT.value) and len(value) == 2 else ()
        infinite = (None, *map(float, ends))
        values = [end if item in infinite else item for item, end in zip(value, ends, strict=True)] if ends else value
        return [item if item in ends else _written(item, of, read, variables) for item in values]
    if of.value.exact and not (isinstance(value, str) and value in of.value.words):
        return read.text(value, **variables)
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    return str(value) if isinstance(value, Fraction | Decimal) else value


def written(value: Any) -> Any:
    """A value of a claim in Python as a claim file has it: exact numbers as text, rows as lists, words as they are."""
    read, value = Lenient({}), _listed(value)
    if isinstance(value, Mapping):
        return {key: written(inside) for key, inside in value.items()}
    if isinstance(value, str | bool):
        return value
    return [written(inside) for inside in value] if isinstance(value, list | tuple) else read.text(value)


def _inexact(value: Any) -> Any:
    """The first binary float in a value that is no infinite end; None where there is none."""
    if isinstance(value, list | tuple):
        return next((found for found in map(_inexact, map(_listed, value)) if found is not None), None)
    real = isinstance(value, Real) and not isinstance(value, Rational) and not hasattr(value, "free_symbols")
    return value if real and isfinite(value) else None


def _listed(value: Any) -> Any:
    """An array of numpy or a matrix of sympy as the lists, or the number, that it holds; any other value as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def _of(kind: Kind) -> Constructor:
    begins = {"kind": kind.name}
    return Constructor(kind.model.__name__, kind.what, begins, kind.fields, kind.symbols, kind.variables, kind.arguments)


def _named(builtin: Builtin) -> Constructor:
    return Constructor(builtin.name, builtin.what, {"kind": BUILTIN, "name": builtin.name}, builtin.fields)


CONSTRUCTORS: Final[Mapping[str, Callable[..., Declared]]] = {
    made.name: made.function() for made in (*map(_of, KINDS.values()), *map(_named, BUILTINS.values()))
}
"""A constructor for every kind, under its class's name in the model, and for every builtin under its own."""


def _complete() -> dict[str, Constructor]:
    kinds = {name: replace(_of(kind), name=name, order=(), complete=True) for name, kind in IN_FILES.items()}
    named = {name: replace(_named(builtin), complete=True) for name, builtin in BUILTINS.items()}
    both = {name: replace(kinds[name], noise=named[name]) for name in kinds.keys() & named.keys()}
    return {**kinds, **named, **both}


FUNCTIONS: Final[Mapping[str, Callable[..., Declared]]] = {name: made.function() for name, made in sorted(_complete().items())}
"""A function for every kind and every builtin, under the name that claim files have for it."""


@dataclass(frozen=True)
class Mechanism:
    """A named mechanism: its noise, the domain of every parameter, and where it comes from."""

    name: str
    noise: Declared
    parameters: Mapping[Any, Domain] = field(default_factory=dict)
    source: Source | None = None

    def domains(self) -> dict[str, Domain]:
        """The domain of every parameter, by name."""
        return {str(symbol): domain for symbol, domain in self.parameters.items()}

    def model(self, unstated: list[str] | None = None) -> model.Mechanism:
        """The mechanism as frozen data. Raises SpecError for all that is wrong with it, floats and free symbols among it.

        unstated: gets the places of parts whose sensitivity is 1 since they say nothing.
        """
        domains = self.domains()
        try:
            return from_table(self.name, self.noise.table(Read(domains)), domains, unstated)
        except ExprError as error:
            raise SpecError(f"{self.name}: {error}") from error


# -- reading expressions --------------------------------------------------------------------------------


class Read:
    """Turns expressions into trees, with the declared variables under the model's own names."""

    def __init__(self, domains: Mapping[str, Domain]) -> None:
        self.domains = domains

    def __call__(self, value: Scalar, **variables: Scalar) -> Expr:
        names = {str(symbol): name for name, symbol in variables.items()}
        for name in names.values():
            if name in self.domains:
                raise ExprError(f"{name!r} is this kind's variable. Give the parameter another name.")
        given = {"r": Domain(Fraction(0)), "v": Domain(Fraction(0))}
        expr = to_expr(value, {**self.domains, **{symbol: given.get(name, Domain()) for symbol, name in names.items()}})
        free = sorted(symbols(expr) - names.keys() - self.domains.keys())
        if free:
            raise ExprError(f"free symbol {free[0]!r}. Give its domain in `parameters`.")
        return substitute(expr, {symbol: Sym(name) for symbol, name in names.items()})

    def text(self, value: Scalar, **variables: Scalar) -> Any:
        """The expression as a claim file has it."""
        return format_expr(self(value, **variables))

    def among(self, parameters: Mapping[Any, Any]) -> Read:
        """The same with the parameters of one more table."""
        return type(self)({**self.domains, **{str(symbol): _domain(value) for symbol, value in parameters.items()}})


class Lenient(Read):
    """Writes everything down as a claim file would have it; what is wrong with it is told by what reads claim files, with its place."""

    def __call__(self, value: Scalar, **variables: Scalar) -> Expr:
        names = {str(symbol): name for name, symbol in variables.items()}
        given = {"r": Domain(Fraction(0)), "v": Domain(Fraction(0))}
        expr = to_expr(value, {**self.domains, **{symbol: given.get(name, Domain()) for symbol, name in names.items()}})
        return substitute(expr, {symbol: Sym(name) for symbol, name in names.items()})

    def text(self, value: Scalar, **variables: Scalar) -> Any:
        """The expression as a claim file has it; a text as it is, where no variable has another name."""
        if isinstance(value, str) and all(str(symbol) == name for name, symbol in variables.items()):
            return value
        try:
            return format_expr(self(value, **variables))
        except ExprError as error:
            return Unwritten(str(value), str(error))


def _domain(value: Any) -> Domain:
    """What is known of a parameter: its domain, else that of its value."""
    try:
        known = read_value_or_domain(value if isinstance(value, str | Domain) else format_expr(to_expr(value, {})))
    except (ExprError, Fault):  # who reads the table says so
        return Domain()
    if isinstance(known, Domain):
        return known
    if isinstance(known, Num):
        return Domain(known.value, known.value, lower_open=False, upper_open=False, integer=known.value.denominator == 1)
    return Domain(Fraction(0)) if not symbols(known) and certainly_lt(ZERO, known) else Domain()


def to_expr(value: Scalar, domains: Mapping[str, Domain]) -> Expr:
    """The tree of an exact expression.

    domains: of the symbols; a sympy symbol that assumes more than its domain grants is refused, because sympy
    simplifies by its assumptions. Raises ExprError with the way out.
    """
    if isinstance(value, str | Decimal):
        return parse(str(value))
    if isinstance(value, Fraction):
        return num(value)
    if isinstance(value, bool):
        raise ExprError(f"{value} is not an expression. Use sympy, a string, an int, a Fraction or a Decimal.")
    if isinstance(value, Integral):
        return num(int(value))
    if isinstance(value, Real) and not isinstance(value, Rational) and not hasattr(value, "free_symbols"):
        raise ExprError(binary(value))
    import sympy

    if not isinstance(value, sympy.Basic):
        raise ExprError(f"{value!r} is not an expression. Use sympy, a string, an int, a Fraction or a Decimal.")
    return _from_sympy(value, domains)


_FUNCTIONS: Final[Mapping[str, str]] = {
    "exp": "exp", "log": "log", "Abs": "abs", "Min": "min", "Max": "max", "floor": "floor", "cosh": "cosh", "sinh": "sinh",
    "tanh": "tanh", "asinh": "asinh", "atanh": "atanh", "erf": "erf", "erfc": "erfc", "gamma": "gamma", "besselk": "besselk",
}  # fmt: skip
_RECIPROCALS: Final[Mapping[str, str]] = {"sech": "cosh", "csch": "sinh", "coth": "tanh"}
_OTHERWISE: Final[Mapping[str, str]] = {
    "Piecewise": "Write it with abs, min and max, such as exp(-max(z, -2*z)).",
    "Heaviside": "State the interval where the density lives as the support.",
    "Lambda": "Give the expression alone, its .expr.",
    "Integral": "Give the closed form, as .doit() finds it.",
    "Sum": "Give the closed form, as .doit() finds it.",
}
"""What to write in the place of what sympy has and the language has not."""


def _from_sympy(node: Any, domains: Mapping[str, Domain]) -> Expr:
    import sympy

    if isinstance(node, sympy.Float):
        raise ExprError(f'{node} is a binary float. Write Rational("{node}") or a string.')
    if isinstance(node, sympy.Rational):
        return num(Fraction(int(node.p), int(node.q)))
    if isinstance(node, sympy.Symbol):
        _check_assumptions(node, domains)
        return Sym(node.name)
    if node is sympy.pi:
        return PI
    if node is sympy.E:
        return call("exp", ONE)
    sums: Mapping[Any, Callable[..., Expr]] = {sympy.Add: add, sympy.Mul: mul, sympy.Pow: power}
    name, combine = node.func.__name__, sums.get(node.func)
    if combine is None and name not in _FUNCTIONS and name not in _RECIPROCALS:
        way = _OTHERWISE.get(name, f"Use + - * / **, {', '.join(sorted(_FUNCTIONS.values()))}, pi.")
        raise ExprError(f"{node}: {name} is outside the language. {way}")
    parts = [_from_sympy(part, domains) for part in node.args]
    if combine is not None:
        return combine(*parts)
    if name in _FUNCTIONS:
        return call(_FUNCTIONS[name], *parts)
    return div(ONE, call(_RECIPROCALS[name], *parts))


def _check_assumptions(symbol: Any, domains: Mapping[str, Domain]) -> None:
    """Refuse a symbol that sympy believes to be more than its domain says."""
    domain = domains.get(symbol.name)
    if domain is None:
        return
    low, high = domain.lower, domain.upper
    positive = low is not None and (low > 0 or (low == 0 and domain.lower_open))
    negative = high is not None and (high < 0 or (high == 0 and domain.upper_open))
    granted = {
        "is_integer": domain.integer,
        "is_nonnegative": low is not None and low >= 0,
        "is_nonpositive": high is not None and high <= 0,
        "is_positive": positive,
        "is_negative": negative,
        "is_nonzero": positive or negative,
        "is_zero": False,
        "is_even": False,
        "is_odd": False,
        "is_imaginary": False,
    }
    for assumption, holds in granted.items():
        if getattr(symbol, assumption) and not holds:
            raise ExprError(f"the symbol {symbol} is declared with {assumption[3:]}=True, beyond its domain. Declare it without.")
