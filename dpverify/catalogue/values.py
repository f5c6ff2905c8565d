"""Values of a claim file: numbers, expressions, intervals, matrices, norms and domains. Every reader raises Fault or ExprError."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.catalogue.toml import Decimal, Fault, Unwritten, meant, show
from dpverify.trusted.kernel.canonical_form import TIGHT
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import (
    Expr,
    Num,
    num,
    parse,
    parse_number,
)
from dpverify.trusted.kernel.fitting import unseen
from dpverify.trusted.kernel.model import L1, L2, LINF, Domain, Matrix, Norm, Vector
from dpverify.trusted.order.domains import is_empty

SCHEMES: Final = ("poisson", "without_replacement")
"""How records are sampled."""

OBSERVED: Final = ("failures", "time")
"""What an audit observes if it is asked to: NaN and exceptions as outputs, and how long a call took."""

VERDICTS: Final = ("proved", "refuted", "unknown")
NUMBER_HELP: Final = 'Write an integer, a decimal, a fraction "887/500" or an expression such as "log(3)".'
DOMAIN_HELP: Final = (
    'a domain: "positive", "nonnegative", "real", "positive integer", "integer >= 2", "in (0, 1)", "in [0, 1)", "> 1", ">= 1", "< 3"'
)


LEAST: Final = ("least", "greatest")
"""What stands in the place of a number that is to be found."""


def _known(value: Any) -> None:
    """Refuse what stands in the place of a number: a number that is still to be found, and what Python could not write."""
    if isinstance(value, Unwritten):
        raise ExprError(value.why)
    if isinstance(value, float):
        raise ExprError(binary(value))
    if value in LEAST and isinstance(value, str):
        raise Fault("is a number that is still to be found: `dpverify calibrate FILE` finds it, and so does dpverify.calibrate in Python.")


def binary(value: Any) -> str:
    """Why a binary float is no number of a claim, with the way out."""
    if not math.isfinite(value):
        return f"{float(value)!r} is not a number of a claim: numbers are finite."
    return f'{float(value)!r} is a binary float. Write "{float(value)!r}" or Fraction("{float(value)!r}").'


def read_number(value: Any) -> Expr:
    """An exact number or an expression in parameters."""
    _known(value)
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        raise Fault(f"is not a number. {NUMBER_HELP}")
    if isinstance(value, int):
        if value.bit_length() > 4096:
            raise Fault("is too large.")
        return num(value)
    if isinstance(value, Decimal):
        text = value.text.replace("_", "")
        if "inf" in text or "nan" in text:
            raise Fault(f"is not a number. {NUMBER_HELP}")
        sign = -1 if text[0] == "-" else 1
        return num(sign * parse_number(text.lstrip("+-")))
    try:
        return parse(value)
    except ExprError as error:
        raise Fault(f"is not a number. {NUMBER_HELP} ({str(error).split('. ')[0]}){_habit(value)}") from error


def read_expression(value: Any) -> Expr:
    """An expression in the variables of its kind, or a number."""
    if not isinstance(value, str) or value in LEAST:
        return read_number(value)
    try:
        return parse(value)
    except ExprError as error:
        raise ExprError(f"{error}{_habit(value)}") from error


_HABITS: Final = (
    (r"\|", "abs(...) stands for bars"),
    (r"^\s*-?\d[\d.\s]*,[\d.,\s]*$", "a decimal has a point, such as 0.5, and thousands have no sign between them"),
    (r"\d\s*%", "write a decimal, such as 0.5 for 50 per cent"),
    (r"\blambda\b|\breturn\b|(?<![<>=!])=(?!=)", "write the expression alone"),
    (r"\b(np|numpy|math|sp|sympy|scipy|torch|jnp|jax)\.", "write exp(...) and the like without the name of a module"),
    (r"\bln\b", "write log, which is the natural logarithm"),
    (r"\b(fabs|Abs)\b", "write abs"),
    (r"\barc?sinh\b|\barsinh\b", "write asinh"),
    (r"\bBesselK\b|\bkv\b", "write besselk(order, x)"),
    (r"\b(Gamma|Γ)\b", "write gamma"),
    (r"((?<![\w.])\d[\d.]*|\))\s*([a-zA-Z]+\s*)?\(", "write * between factors"),
    (r"[0-9a-zA-Z)]\s*!", "write gamma(n + 1) for a factorial"),
    (r"[\u2212\u00b7\u00d7\u00b2\u00b3\u221a\u03c0]|[^\x00-\x7f]", "write it in plain letters and signs"),
)
"""What people write who come from another language, and what to write here."""


def _habit(text: str) -> str:
    """The way out of what was written as in another language; empty where nothing of that is seen."""
    found = [way for pattern, way in _HABITS if re.search(pattern, text)]
    return f" Here, {found[0]}." if found else ""


def read_number_or_tight(value: Any) -> Expr | str:
    """A number, or "tight"."""
    return TIGHT if value == TIGHT else read_number(value)


def read_divergence(value: Any) -> tuple[Expr | str, Fraction]:
    """A Renyi divergence with its order: { order = 2, epsilon = "1/2" }."""
    if not isinstance(value, dict) or value.keys() != {"order", "epsilon"}:
        raise Fault('is not an order and an epsilon. Write it as renyi = { order = 2, epsilon = "1/2" }.')
    order = read_rational(value["order"])
    if order <= 1:
        raise Fault(f"has the order {order}, which is not above 1. The limit at order 1 is the mean loss, which zcdp bounds.")
    return read_number_or_tight(value["epsilon"]), order


def read_rational(value: Any) -> Fraction:
    """A number that is rational."""
    number = read_number(value)
    if not isinstance(number, Num):
        raise Fault(f"holds {show(value)}, which is not a rational number.")
    return number.value


def read_string(value: Any) -> str:
    """A short text on one line, without characters that move the cursor or turn the writing round."""
    if not isinstance(value, str) or not value.strip() or len(value) > 500:
        raise Fault("is not a short text in quotes.")
    if hidden := ", ".join(dict.fromkeys(f"U+{ord(mark):04X}" for mark in unseen(value))):
        raise Fault(f"holds a line break or another character that cannot be seen, or told from others: {hidden}. Leave it out.")
    return value


def read_boolean(value: Any) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise Fault("is not true or false.")
    return value


def read_choice(allowed: tuple[str, ...]) -> Callable[[Any], str]:
    """A reader of one of the allowed words."""

    def read(value: Any) -> str:
        if value not in allowed or not isinstance(value, str):
            near = meant(value, allowed) if isinstance(value, str) else ""
            raise Fault(f"is not one of {', '.join(allowed)}.{near}")
        return value

    return read


def read_scheme(value: Any) -> str:
    """How a sample is drawn; words are joined by either mark."""
    return read_choice(SCHEMES)(value.replace("-", "_") if isinstance(value, str) else value)


def read_table(value: Any) -> Mapping[str, Any]:
    """A table."""
    if not isinstance(value, dict):
        again = isinstance(value, list) and all(isinstance(item, dict) for item in value)
        way = "Write it once, in single brackets." if again else "Write { key = value, ... }."
        raise Fault(f"is {'a list of tables' if again else 'not a table'}. {way}")
    return value


def read_mechanism_table(value: Any) -> Mapping[str, Any]:
    """The table of a part, or of a noise."""
    if isinstance(value, str):
        raise Fault(f"is not a table. Write {{ kind = \"builtin\", name = {show(value)}, ... }} for a builtin of that name.")
    return read_table(value)


def read_claim_tables(value: Any) -> list[Mapping[str, Any]]:
    """The [[claim]] tables."""
    if isinstance(value, dict):
        raise Fault("is one table. Write [[claim]] with two brackets.")
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        raise Fault("is not a list of [[claim]] tables.")
    return value


def read_part_tables(value: Any) -> list[Mapping[str, Any]]:
    """The tables of a combinator's parts."""
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        way = " Write part = { ... } for one." if isinstance(value, dict) else ""
        raise Fault(f"is not a list of tables, one for every part, such as {{ kind = \"builtin\", name = \"laplace\", scale = 1 }}.{way}")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise Fault("is not a list with entries.")
    return value


def _matrix(value: Any) -> list[list[Any]]:
    """The rows of a matrix, as lists. A matrix of one row has two pairs of brackets, which is easily forgotten."""
    if isinstance(value, str):
        way = "Write numbers, such as [[1, 1, 0], [0, 1, 1]]; each row of a query is a linear query on a histogram."
        raise Fault(f"is not a list of rows. {way}")
    rows = _list(value)
    if not all(isinstance(row, list) for row in rows):
        way = f" Write [{show(rows)}] for one row." if not any(isinstance(row, list | dict) for row in rows) else ""
        raise Fault(f"is not a list of rows, each a list.{way}")
    return rows


def read_row(value: Any) -> tuple[Expr, ...]:
    """A list of numbers."""
    return tuple(map(read_number, _list(value)))


def read_rows(value: Any) -> tuple[tuple[Expr, ...], ...]:
    """A matrix of numbers with rows of one length."""
    rows = tuple(tuple(read_number(entry) for entry in _list(row)) for row in _matrix(value))
    if len({len(row) for row in rows}) > 1:
        raise Fault("has rows of different lengths. Give every row as many entries as the first.")
    return rows


def read_matrix(value: Any) -> Matrix:
    """A matrix of rationals."""
    return tuple(tuple(read_rational(entry) for entry in _list(row)) for row in _matrix(value))


def read_vector(value: Any) -> Vector:
    """A list of rationals."""
    return tuple(read_rational(entry) for entry in _list(value))


def read_points(value: Any) -> tuple[tuple[Expr, ...], ...]:
    """A list of points; a number is a point of the line."""
    return read_rows([row if isinstance(row, list) else [row] for row in _list(value)])


METRICS: Final = ("l1", "l2", "linf", "discrete")


def read_metric(value: Any) -> str | tuple[tuple[Expr, ...], ...]:
    """A distance between points, by its name or as a matrix."""
    return read_choice(METRICS)(value) if isinstance(value, str) else read_rows(value)


def read_adjacent(value: Any) -> tuple[tuple[int, int], ...] | None:
    """Pairs of row numbers, None for "all"."""
    if value == "all":
        return None
    pairs = []
    for pair in _list(value):
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(i) is int and i >= 0 for i in pair) or pair[0] == pair[1]:
            raise Fault(f'holds {show(pair)}. Use "all" or a list of pairs [i, j] of different rows, counted from 0.')
        pairs.append((pair[0], pair[1]))
    return tuple(pairs)


def _end(value: Any) -> Expr | None:
    """An end of an interval; None for an infinite one."""
    text = value.text if isinstance(value, Decimal) else value
    return None if isinstance(text, str) and text.lstrip("+-") == "inf" else read_number(value)


def read_interval(infinite: bool) -> Callable[[Any], tuple[Expr | None, Expr | None]]:
    """A reader of intervals [lo, hi], with or without infinite ends."""

    def read(value: Any) -> tuple[Expr | None, Expr | None]:
        if not isinstance(value, list) or len(value) != 2:
            raise Fault("is not an interval [lo, hi]. An end that is infinite is inf or -inf.")
        low, high = _end(value[0]), _end(value[1])
        if not infinite and (low is None or high is None):
            raise Fault("must have finite ends.")
        signs_of_ends = [str(getattr(end, "text", end)).startswith("-") for end in value]
        if (low is None and not signs_of_ends[0]) or (high is None and signs_of_ends[1]):
            raise Fault("has an infinite end of the wrong sign.")
        return low, high

    return read


def read_norm(value: Any) -> Norm:
    """A norm by its name or by its body; in Python, as it is."""
    if isinstance(value, Norm):
        return value
    named = {"l1": L1, "l2": L2, "linf": LINF}
    if isinstance(value, str):
        return named[read_choice(tuple(named))(value)]
    if not isinstance(value, dict) or len(value) != 1:
        bodies = "{ellipsoid = [[...]]}, {columns = [[...]]} or {facets = [[...]]}"
        raise Fault(f'is not a norm. Use "l1", "l2", "linf", {{lp = "3/2"}}, {bodies}.')
    kind, body = next(iter(value.items()))
    if kind == "lp":
        return LINF if _end(body) is None else Norm("lp", read_rational(body))
    return Norm(read_choice(("lp", "ellipsoid", *BODIES))(kind), matrix=read_matrix(body))


BODIES: Final = ("columns", "facets")
DOMAIN_WORDS: Final[Mapping[str, Domain]] = {
    "positive": Domain(Fraction(0)),
    "nonnegative": Domain(Fraction(0), lower_open=False),
    "non-negative": Domain(Fraction(0), lower_open=False),
    "negative": Domain(None, Fraction(0)),
    "real": Domain(),
    "integer": Domain(integer=True),
    "positive integer": Domain(Fraction(1), lower_open=False, integer=True),
    "nonnegative integer": Domain(Fraction(0), lower_open=False, integer=True),
    "non-negative integer": Domain(Fraction(0), lower_open=False, integer=True),
}
_COMPARISON = re.compile(r"(integer\s*)?(>=|>|<=|<)(.+)")
_INTERVAL = re.compile(r"(integer\s+)?in\s*([(\[])(.+),(.+)([)\]])")


def _domain(text: str) -> Domain | None:
    """The domain that a phrase means; None where it is no such phrase."""
    phrase = " ".join(text.split())
    if phrase in DOMAIN_WORDS:
        return DOMAIN_WORDS[phrase]
    if match := _COMPARISON.fullmatch(phrase):
        whole, relation, end = match.groups()
        at = read_rational(end.strip())
        opened = relation in "<>"
        domain = Domain(at, None, opened, True) if ">" in relation else Domain(None, at, True, opened)
    elif match := _INTERVAL.fullmatch(phrase):
        whole, left, low, high, right = match.groups()
        lower = None if low.strip() == "-inf" else read_rational(low.strip())
        upper = None if high.strip() in ("inf", "+inf") else read_rational(high.strip())
        domain = Domain(lower, upper, left == "(", right == ")")
    else:
        return None
    if whole:
        domain = _of_integers(domain)
    if is_empty(domain):
        raise Fault("is an empty domain.")
    return domain


def _of_integers(domain: Domain) -> Domain:
    """The integers of an interval, with ends that are reached."""
    lower, upper = domain.lower, domain.upper
    low = None if lower is None else Fraction(lower.__floor__() + 1 if domain.lower_open else lower.__ceil__())
    high = None if upper is None else Fraction(upper.__ceil__() - 1 if domain.upper_open else upper.__floor__())
    return Domain(low, high, low is None, high is None, integer=True)


def lies_in(value: Expr, domain: Domain, domains: Mapping[str, Domain]) -> bool:
    """Whether a number, or an expression in parameters that range over domains, certainly lies in a domain."""
    if isinstance(value, Num):
        return domain.holds(value.value)
    above, below = (certainly_lt if is_open else certainly_le for is_open in (domain.lower_open, domain.upper_open))
    low, high = domain.lower, domain.upper
    ends = (low is None or above(Num(low), value, domains)) and (high is None or below(value, Num(high), domains))
    return ends and not domain.integer


def within(inner: Domain, outer: Domain) -> bool:
    """Whether one domain is certainly part of another."""
    if outer.integer and not inner.integer:
        return False

    def covers(mine: Fraction | None, mine_open: bool, its: Fraction | None, its_open: bool, sign: int) -> bool:
        if its is None:
            return True
        return mine is not None and (sign * mine > sign * its or (mine == its and (mine_open or not its_open)))

    return covers(inner.lower, inner.lower_open, outer.lower, outer.lower_open, 1) and covers(
        inner.upper, inner.upper_open, outer.upper, outer.upper_open, -1
    )


def read_value_or_domain(value: Any) -> Expr | Domain:
    """A parameter's value, or the domain that a phrase means; in Python, as it is."""
    if isinstance(value, Domain):
        return value
    _known(value)
    if isinstance(value, str):
        domain = _domain(value)
        if domain is not None:
            return domain
        try:
            return parse(value)
        except ExprError as error:
            raise Fault(f"is not a number, an expression or {DOMAIN_HELP}. ({str(error).split('. ')[0]}){_habit(value)}") from error
    return read_number(value)


def read_program(value: Any) -> Any:
    """ "path.py:name", or a program of Python itself."""
    if not isinstance(value, str) and not hasattr(value, "folder"):
        raise Fault('is not "path.py:name".')
    return value


def read_callable_name(value: Any) -> str:
    """ "module:name"."""
    if not isinstance(value, str) or not re.fullmatch(r"[\w./-]+:\w+(\.\w+)*", value):
        raise Fault('is not "module:name". Write the module without .py, a colon, and the name in it, such as "noise:noisy_mean".')
    return value


def read_patterns(value: Any) -> str:
    """ "usual", or "strategy:" and the name of a strategy."""
    if value == "usual":
        return "usual"
    if isinstance(value, str) and value.startswith("strategy:"):
        read_callable_name(value.removeprefix("strategy:"))
        return value
    raise Fault('is neither "usual" nor "strategy:module:name".')


def read_observed(value: Any) -> str:
    """What is observed beside the output."""
    if value not in OBSERVED:
        raise Fault(f"is not {' or '.join(show(word) for word in OBSERVED)}: what is observed beside the outputs themselves.")
    return str(value)


def read_confidence(value: Any) -> float:
    """A number between 0 and 1."""
    number = float(value.text) if isinstance(value, Decimal) else value
    if not isinstance(number, float) or not 0 < number < 1:
        raise Fault("is not between 0 and 1: it is 1 minus the probability of a false alarm. Write 0.99, say.")
    return number


def read_pairs_of_data(value: Any) -> list[Any]:
    """Pairs [data, data']."""
    pairs = _list(value)
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise Fault("is not a list of pairs [data, data'].")
    return _plain(pairs)  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    """Data with its decimals as floats: a sampler is run on what its users would pass."""
    if isinstance(value, Decimal):
        return float(value.text)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def read_positive_integer(value: Any) -> int:
    """A positive integer."""
    if type(value) is not int or value < 1:
        raise Fault("is not a positive integer.")
    return value
