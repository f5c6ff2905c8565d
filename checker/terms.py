"""Expressions as certificates write them, read into trees.

A tree is ("num", value), ("sym", name), ("add", terms), ("mul", factors), ("pow", base, exponent) or ("call", name, arguments).
"""

import re
from fractions import Fraction
from functools import lru_cache


class Undecided(Exception):
    """Nothing is proved, and nothing refuted."""


class Malformed(Exception):
    """What is no certificate, or evidence that no rule could take."""


class Refused(Exception):
    """Evidence that does not hold."""


FUNCTIONS = set("exp log sqrt abs floor cosh sinh tanh asinh atanh erf erfc gamma min max besselk".split())
FUNCTIONS |= {"logerfc", "logexprel", "logbesselk", "logratio"}
WRITING = "an expression that is not in its one writing"
_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d{1,4})?)|([A-Za-z_]\w*)|(\*\*|[-+*/(),]))", re.ASCII)


def require(holds, error, why):
    """Raise the error unless it holds."""
    if not holds:
        raise error(why)


def forbid(holds, error, why):
    """Raise the error if it holds."""
    require(not holds, error, why)


def num(x):
    """A number."""
    return ("num", Fraction(x))


def replaced(tree, values):
    """The tree with symbols replaced by trees."""
    kind = tree[0]
    if kind in ("num", "sym"):
        return values.get(tree[1], tree) if kind == "sym" else tree
    if kind == "pow":
        return ("pow", replaced(tree[1], values), replaced(tree[2], values))
    return (*tree[:-1], tuple(replaced(part, values) for part in tree[-1]))


@lru_cache(maxsize=10000)
def parse(source):
    """The tree of a text."""
    require(isinstance(source, str) and len(source) <= 20000, Malformed, "an expression is no text, or too long")
    tokens, at, why = [], 0, f"{str(source)[:60]!r} is no expression"
    while at < len(source.rstrip()):
        match = _TOKEN.match(source, at)
        require(match, Malformed, why)
        tokens.append(match.group().strip())
        at = match.end()
    tokens.reverse()
    try:
        tree = _sum(tokens, 0)
    except IndexError as error:
        raise Malformed(why) from error
    require(not tokens, Malformed, why)
    return tree


def _take(tokens, *wanted):
    return tokens.pop() if tokens and tokens[-1] in wanted else None


def _sum(tokens, depth):
    require(depth <= 120, Malformed, "an expression that is nested too deep")
    terms = [_product(tokens, depth)]
    while sign := _take(tokens, "+", "-"):
        term = _product(tokens, depth)
        terms.append(term if sign == "+" else ("mul", (num(-1), term)))
    return ("add", tuple(terms)) if len(terms) > 1 else terms[0]


def _product(tokens, depth):
    factors = [_signed(tokens, depth)]
    while operator := _take(tokens, "*", "/"):
        factor = _signed(tokens, depth)
        factors.append(factor if operator == "*" else ("pow", factor, num(-1)))
    bare = [f for f in factors if not (f[0] == "num" or (f[0] == "pow" and f[1][0] == "num"))]
    forbid(len(factors) > 1 == len(bare) and bare[0][0] == "add", Undecided, WRITING)
    return ("mul", tuple(factors)) if len(factors) > 1 else factors[0]


def _signed(tokens, depth, power=False):
    sign = 1
    while taken := _take(tokens, "+", "-"):
        sign = -sign if taken == "-" else sign
    base = _atom(tokens, depth, power)
    if _take(tokens, "**"):
        require(depth <= 120, Malformed, "an expression that is nested too deep")
        base = ("pow", base, _signed(tokens, depth + 1, True))
    return base if sign > 0 else ("mul", (num(-1), base))


def _atom(tokens, depth, power=False):
    token = tokens.pop()
    if token[0].isdigit():
        return num(token)
    named = token[0].isalpha() or token[0] == "_"
    if token == "pi" or (named and token not in FUNCTIONS):
        return ("call", "pi", ()) if token == "pi" else ("sym", token)
    require(token == "(" or (token in FUNCTIONS and _take(tokens, "(")), Malformed, f"{token!r} where none may be")
    args = [_sum(tokens, depth + 1)]
    while token != "(" and _take(tokens, ","):
        args.append(_sum(tokens, depth + 1))
    require(_take(tokens, ")"), Malformed, "a bracket is not closed")
    require(len(args) == 1 or token in ("min", "max", "besselk", "logbesselk", "logratio"), Malformed, f"{token} of {len(args)} arguments")
    loose = token == "(" and args[0][0] != "add" and not (args[0][0] in ("mul", "pow", "num") and (power or tokens[-1:] == ["**"]))
    forbid(loose, Undecided, WRITING)
    if token == "sqrt":
        return ("pow", args[0], num(Fraction(1, 2)))
    return args[0] if token == "(" else ("call", token, tuple(args))
