"""Numbers with noise of their own, of which all that a program compares and tells is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dpverify.programs import linear as lin
from dpverify.programs.faults import NotOfThisKind
from dpverify.programs.linear import Linear, Literal
from dpverify.programs.path import FRESH, ONCE
from dpverify.programs.told import Item, numbers

Way = tuple[tuple[Literal, ...], tuple[Item, ...], tuple[Linear, ...], Mapping[str, Linear]]
"""Comparisons, what is told, what else is depended on, and the numbers of the data that each noise was added to."""


def noises_of(number: Linear) -> list[str]:
    """The noises in a number."""
    return [name for name in number.names if name.startswith((ONCE, FRESH))]


def measured(ways: Sequence[Way], of: str, what: str) -> list[Linear]:
    """The numbers with noise that a program is told of. of: what names of the data begin with; what: how they are called.

    A noise is drawn for what it is first added to, which may be something else on another way: both are measured then. Raises
    NotOfThisKind where something is left that has no noise.
    """
    found: dict[Linear, None] = {}
    for literals, items, opaque, attached in ways:
        for number in (*(one.left for one in literals), *numbers(items), *opaque):
            data = {name: factor for name, factor in number.of.items() if name.startswith(of)}
            for noise in noises_of(number):
                if noise not in attached:
                    continue
                found[lin.plus(lin.name(noise), attached[noise])] = None
                for name, factor in attached[noise].of.items():
                    data[name] = data.get(name, Fraction(0)) - factor * number.of[noise]
            if any(data.values()):
                raise NotOfThisKind(
                    f"{what} is told, compared or computed with as it is, or with noise that was added to another number. Add noise to it "
                    "first, a draw for each number."
                )
    return list(found)
