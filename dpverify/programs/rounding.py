"""What floats would round: the text of a program is read exactly, and run with floats, and both are to go the same way.

Noise has a density, so that a comparison of noisy numbers comes out otherwise with a chance that is as small as the rounding. What is
compared without noise is another matter: `0.1 + 0.2 == 0.3` is true of the numbers that are written and false of floats.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.programs.faults import Unreadable, shown
from dpverify.programs.linear import Linear, minus
from dpverify.programs.path import ANSWER, CHOSEN, FRESH, ONCE, RECORDS, TOTAL
from dpverify.trusted.kernel.expr import Sym

DATA: Final = (ANSWER, ONCE, FRESH, TOTAL, RECORDS, CHOSEN)
MOST: Final = 2**40
"""Beside numbers above this, or multiples below one part in it, floats lose the noise that is added to them."""
EXACT: Final = 2**53
LONGEST: Final = 2**64
DIGITS: Final = 2**20
"""By how much a difference of public numbers may be smaller than they are, for floats to have it too, up to what they round."""
NEAR: Final = Fraction(1, 10**9)


class Rounded(Fraction):
    """A number that is computed from floats: what they make of it is near, and need not be it."""


class Computed(Linear):
    """An expression in parameters that is computed: floats round it, also where the numbers are those of a parameter by itself."""

    __slots__ = ()


def has_data(number: Linear) -> bool:
    """Whether answers, noises or records are in it."""
    return any(name.startswith(DATA) for name in number.names)


def require_same_way(node: ast.AST, left: Any, right: Any, a: Linear, b: Linear, integers: frozenset[str]) -> None:
    """That floats compare two values as the numbers do, left and right as they are, a and b as sums. Raises Unreadable.

    integers: the parameters that are integers.
    """
    difference = minus(a, b)
    if has_data(difference):
        return
    if isinstance(left, Rounded) or isinstance(right, Rounded):
        raise Unreadable(node, f"{shown(node)} compares numbers that floats round. Count with integers, and compare those.")
    if not difference.terms and (a.terms or b.terms):
        raise Unreadable(node, f"{shown(node)} compares what falls away in the difference, which floats may see otherwise. Leave it out.")
    if not difference.terms and (isinstance(left, Fraction) or isinstance(right, Fraction)):
        near = abs(difference.constant) <= NEAR * max(Fraction(1), abs(a.constant), abs(b.constant))
        if near and difference.constant:
            raise Unreadable(node, f"{shown(node)} compares numbers that are as good as equal to floats.")
    if (isinstance(left, Fraction) or isinstance(right, Fraction)) and max(abs(a.constant), abs(b.constant)) > EXACT:
        raise Unreadable(node, f"{shown(node)} compares numbers beyond 2^53, which floats round.")
    computed = [number for value, number in ((left, a), (right, b)) if isinstance(value, Computed)]
    if not (_is_plain(a, integers) and _is_plain(b, integers) and all(_is_whole(number, integers) for number in computed)):
        raise Unreadable(
            node,
            f"{shown(node)} compares what is computed from parameters, which floats round. Compare the parameter itself, or say that it "
            'is an integer: parameters={"c": "integer >= 1"}.',
        )


def _is_plain(number: Linear, integers: frozenset[str]) -> bool:
    """Whether floats have it as it is: one parameter, or whole multiples of integers."""
    if len(number.terms) == 1 and not number.constant and number.terms[0][1] == 1 and isinstance(number.terms[0][0], Sym):
        return True
    return not number.terms or _is_whole(number, integers)


def _is_whole(number: Linear, integers: frozenset[str]) -> bool:
    """Whether it is a sum of whole multiples of numbers that are kept and of parameters that are integers."""
    whole = all(factor.denominator == 1 for _, factor in number.terms) and number.constant.denominator == 1
    return whole and all(isinstance(atom, str) or (isinstance(atom, Sym) and atom.name in integers) for atom, _ in number.terms)


def require_told(node: ast.AST, value: Any) -> None:
    """That numbers without noise that are told are the same to floats where they are equal. Raises Unreadable."""
    if isinstance(value, Rounded):
        why = "which way it was computed could be seen. Write the number."
        raise Unreadable(node, f"{shown(node)} tells a number that floats round: {why}")
    if isinstance(value, Linear) and not value.names and (isinstance(value, Computed) or not _is_plain(value, frozenset())):
        raise Unreadable(node, f"{shown(node)} tells what is computed from parameters, as floats round it. Tell the parameter itself.")


def require_kept(node: ast.AST, name: str, value: Any) -> None:
    """That a number without noise that is kept from step to step is one that floats have exactly. Raises Unreadable."""
    rounds = isinstance(value, Rounded | Computed)
    if isinstance(value, Linear) and value.names and not has_data(value):
        rounds = not _is_whole(value, frozenset())
    if rounds:
        raise Unreadable(node, f"{name} is counted in parts that floats round. Count with integers.")


def require_sum(node: ast.AST, a: Linear, b: Linear, found: Linear) -> None:
    """That no noise is lost to floats in a sum: nothing large is added and taken away again. Raises Unreadable."""
    if not (has_data(a) or has_data(b)):
        return
    left = {atom for atom, _ in found.terms}
    if gone := [atom for atom, _ in a.terms if atom not in left and atom in {other for other, _ in b.terms}]:
        what = "a number" if isinstance(gone[0], str) else "a parameter"
        raise Unreadable(node, f"{shown(node)} takes away {what} that was added: floats round what stands beside it. Leave both out.")
    if abs(found.constant) > MOST or any(not Fraction(1, MOST) <= abs(factor) <= MOST for _, factor in found.terms):
        raise Unreadable(node, f"{shown(node)} puts noise or answers beside numbers so large, or small, that floats lose them.")


def require_digits(node: ast.AST, left: Any, right: Any, a: Linear, b: Linear, found: Linear) -> None:
    """That a sum of public numbers keeps its digits in floats: `(0.1 + 0.2 - 0.3)*1e16` is 0 as it is written, and 0.55 to floats.

    Scales, probabilities and limits are such numbers. Raises Unreadable.
    """
    if a.names or b.names or (isinstance(left, int) and isinstance(right, int)):
        return
    atoms = {atom for atom, _ in a.terms} & {atom for atom, _ in b.terms} - {atom for atom, _ in found.terms}
    if found.terms and atoms:
        raise Unreadable(node, f"{shown(node)} takes away a parameter that was added: floats round what stands beside it. Leave both out.")
    most = max(abs(a.constant), abs(b.constant))
    lost = a.constant and b.constant and abs(found.constant) < most / DIGITS
    if lost and (not found.terms or most > DIGITS):
        raise Unreadable(node, f"{shown(node)} takes away nearly all that was there: floats leave another number. Write the number.")


def require_room(node: ast.AST, name: str, values: Sequence[Linear]) -> None:
    """That an exponential or a logarithm of a number is not next to 1 or 0, where floats leave nothing of it. Raises Unreadable."""
    for number in (value.constant for value in values if not value.terms):
        off = abs(number - 1) if name == "log" else abs(number) if name == "exp" else Fraction(1)
        if 0 < off < Fraction(1, DIGITS):
            raise Unreadable(node, f"{shown(node)} is so near to a whole number that floats keep few digits of the rest. Write the number.")


def require_short(node: ast.AST, value: Any) -> None:
    """That an integer is of a size that programs count in. Raises Unreadable."""
    if isinstance(value, int | Fraction) and max(abs(value.numerator), value.denominator) > LONGEST:
        raise Unreadable(node, f"{shown(node)} is a number of more than 19 digits. Programs count with smaller ones.")
