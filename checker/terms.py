"""Expressions as certificates write them, read into trees.

A tree is ("num", value), ("sym", name), ("add", terms), ("mul", factors), ("pow", base, exponent) or ("call", name, arguments).
"""

import ast
import keyword
import re
from fractions import Fraction
from functools import lru_cache


class Undecided(Exception):
    """Nothing is proved, and nothing refuted."""


class Malformed(Exception):
    """What is no certificate, or evidence that no rule could take."""


class Refused(Exception):
    """Evidence that does not hold."""


_OF_ONE = "exp log sqrt abs floor cosh sinh tanh asinh atanh erf erfc gamma logerfc logexprel"
FUNCTIONS = {name: {1} for name in _OF_ONE.split()}
FUNCTIONS |= {"besselk": {2}, "logbesselk": {2}, "logratio": {3}, "min": range(1, 99), "max": range(1, 99)}
_MARK = "\u00e9"  # set before names that Python reserves, in no text itself
_RESERVED = re.compile(rf"\b({'|'.join(keyword.kwlist)})\b")


def require(holds, error, why):
    """Raise the error unless it holds."""
    if not holds:
        raise error(why)


def sure(holds, why):
    """Undecided unless it holds."""
    require(holds, Undecided, why)


def must(holds, why):
    """Refused unless it holds."""
    require(holds, Refused, why)


def num(x):
    """A number."""
    return ("num", Fraction(x))


def replaced(tree, values):
    """The tree with symbols replaced by trees."""
    known = values.get(tree[1], tree) if isinstance(tree, tuple) and tree[:1] == ("sym",) else None
    return known or (tuple(replaced(part, values) for part in tree) if isinstance(tree, tuple) else tree)


def rational(text):
    """The number that "a", "a/b" or "m*2^e" writes."""
    top, mark, power = str(text).partition("*2^")
    good = re.fullmatch(r"-?\d+(/0*[1-9]\d*)?", top, re.ASCII) and re.fullmatch(r"-?\d+" if mark else "", power, re.ASCII)
    require(good and type(text) in (int, str), Malformed, f"{str(text)[:40]!r} is no exact number")
    sure(len(power) <= 6, "a number with an exponent that is too large")
    return Fraction(top) * Fraction(2) ** int(power or 0)


@lru_cache(maxsize=10000)
def parse(source):
    """The tree of a text: its grammar is that of Python's expressions, in the one writing that Python gives them, but for spaces."""
    require(isinstance(source, str) and len(source) <= 20000 and source.isascii(), Malformed, "an expression is no text, or too long")
    try:
        body = ast.parse(_RESERVED.sub(rf"{_MARK}\1", source), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Undecided(f"{source[:60]!r} is no expression that is known here") from error
    written = ast.unparse(body).replace(_MARK, "").replace(" * ", "*").replace(" / ", "/").replace(" ** ", "**")
    sure(written == source != "-0" and not re.search(r"(?<![\w*/])\d+(/\d+)? [-+] ", source), "an expression not in its one writing")
    return _tree(body)


def _tree(node):
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return num(node.value)
    if isinstance(node, ast.Name):
        sure(node.id not in FUNCTIONS, f"{node.id} without arguments")
        return ("call", "pi", ()) if node.id == "pi" else ("sym", node.id.removeprefix(_MARK))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return ("mul", (num(-1), _tree(node.operand)))
    if isinstance(node, ast.BinOp) and type(node.op) in (ast.Mult, ast.Div):
        factors = _factors(node)
        bare = [f for f in factors if f[0] != "num" and not (f[0] == "pow" and f[1][0] == "num" and f[2] == num(-1))]
        sure(len(bare) != 1 or bare[0][0] != "add", "a number times a sum, that is not distributed")
        return ("mul", tuple(factors))
    if isinstance(node, ast.BinOp) and type(node.op) in (ast.Add, ast.Sub):
        right = _tree(node.right)
        return ("add", (_tree(node.left), right if isinstance(node.op, ast.Add) else ("mul", (num(-1), right))))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return ("pow", _tree(node.left), _tree(node.right))
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords
    require(called and len(node.args) in FUNCTIONS.get(node.func.id, ()), Malformed, "an expression with what belongs to none")
    args = tuple(map(_tree, node.args))
    return ("pow", args[0], num(Fraction(1, 2))) if node.func.id == "sqrt" else ("call", node.func.id, args)


def _factors(node):
    if not isinstance(node, ast.BinOp) or type(node.op) not in (ast.Mult, ast.Div):
        return [_tree(node)]
    right = _tree(node.right)
    sure(right[0] != "mul" or isinstance(node.right, ast.UnaryOp), "a product in brackets within one")
    return [*_factors(node.left), right if isinstance(node.op, ast.Mult) else ("pow", right, num(-1))]
