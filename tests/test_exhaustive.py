"""Exact comparison on all small inputs, against arithmetic of fractions that is obviously right: every tree of a few nodes, every sum of
two roots or two logarithms with small numbers. A part of them that is spread over all is looked at each time, all in the deep runs.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import floor

import pytest

from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ExprError, parse

NUMBERS = [Fraction(x) for x in ("-2", "-1/3", "0", "1/2", "3")]
Tree = tuple[str, Fraction | None]
"""A text, and its value, None where it has none."""


def ones(tree: Tree) -> Iterator[Tree]:
    """A tree under each function of one argument."""
    text, x = tree
    yield f"abs({text})", None if x is None else abs(x)
    yield f"floor({text})", None if x is None else Fraction(floor(x))
    yield f"-({text})", None if x is None else -x
    for power in (-1, 2, 3):
        yield f"({text})**({power})", None if x is None or (x == 0 and power < 0) else x**power


def twos(left: Tree, right: Tree) -> Iterator[Tree]:
    """Two trees under each function of two arguments."""
    (a, x), (b, y) = left, right
    known = x is not None and y is not None
    yield f"({a}) + ({b})", x + y if known else None
    yield f"({a}) - ({b})", x - y if known else None
    yield f"({a})*({b})", x * y if known else None
    yield f"({a})/({b})", x / y if known and y else None
    yield f"min({a}, {b})", min(x, y) if known else None
    yield f"max({a}, {b})", max(x, y) if known else None


LEAVES: list[Tree] = [(str(x), x) for x in NUMBERS]
SMALL = [*LEAVES, *(t for leaf in LEAVES for t in ones(leaf)), *(t for two in product(LEAVES, repeat=2) for t in twos(*two))]


def trees() -> list[Tree]:
    """All trees of depth 2 with a number on one side at least."""
    return [*SMALL, *(t for small in SMALL for t in ones(small)), *(t for a in SMALL for b in LEAVES for t in twos(a, b))]


def agrees(left: Tree, right: Tree) -> None:
    """What is proved of two trees is what their values say; of what has no value nothing is; numbers are always decided."""
    try:
        a, b = parse(left[0]), parse(right[0])
    except (ExprError, DpverifyError):
        assert None in (left[1], right[1]), (left, right)  # what has no value is refused where it is read
        return
    told = (certainly_lt(a, b), certainly_le(a, b), certainly_equal(a, b))
    if left[1] is None or right[1] is None:
        assert told == (False, False, False), (left, right)
    else:
        x, y = left[1], right[1]
        assert told == (x < y, x <= y, x == y), (left, right)


ZERO: Tree = ("0", Fraction(0))


def test_trees_of_a_few_numbers_are_in_the_order_of_their_values() -> None:
    listed = trees()
    for number, tree in enumerate(listed[::7]):
        agrees(tree, listed[(number * 101) % len(listed)])
        agrees(tree, ZERO)


@pytest.mark.deep
def test_all_trees_of_a_few_numbers_are_in_the_order_of_their_values() -> None:
    for left, right in (*product(trees(), LEAVES), *product(SMALL, repeat=2)):
        agrees(left, right)


def root_sign(c: int, a: int, d: int, b: int) -> int:
    """The sign of c sqrt(a) + d sqrt(b): of what is left of the squares, as it has the sign of the greater of the two."""
    first, second = (n * abs(n) * m for n, m in ((c, a), (d, b)))  # the squares with the signs of the terms
    return (first + second > 0) - (first + second < 0)


def log_sign(c: int, a: int, d: int, b: int) -> int:
    """The sign of c log(a) + d log(b): whether a**c b**d is above 1."""
    value = Fraction(a) ** c * Fraction(b) ** d
    return (value > 1) - (value < 1)


KINDS: list[tuple[str, Callable[[int, int, int, int], int]]] = [("sqrt", root_sign), ("log", log_sign)]


def sums(step: int) -> Iterator[tuple[int, int, int, int]]:
    """Every step-th of all sums of two terms with small numbers."""
    for number, (c, d, a, b) in enumerate(product(range(-4, 5), range(-4, 5), range(1, 13), range(1, 13))):
        if number % step == 0:
            yield c, a, d, b


def held(name: str, sign: Callable[[int, int, int, int], int], step: int) -> None:
    """What is proved of these sums is their sign, and it is proved of all."""
    zero = parse("0")
    for c, a, d, b in sums(step):
        total, told = parse(f"{c}*{name}({a}) + ({d})*{name}({b})"), sign(c, a, d, b)
        found = (certainly_lt(total, zero), certainly_equal(total, zero), certainly_lt(zero, total))
        assert found == (told < 0, told == 0, told > 0), (c, a, d, b)


@pytest.mark.parametrize(("name", "sign"), KINDS)
def test_sums_of_two_terms_have_the_sign_that_whole_numbers_tell(name: str, sign: Callable[[int, int, int, int], int]) -> None:
    held(name, sign, 37)


@pytest.mark.deep
@pytest.mark.parametrize(("name", "sign"), KINDS)
def test_all_sums_of_two_terms_have_the_sign_that_whole_numbers_tell(name: str, sign: Callable[[int, int, int, int], int]) -> None:
    held(name, sign, 1)
