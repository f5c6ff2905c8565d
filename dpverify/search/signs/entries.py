"""What a certificate shows signs with: entries written, checked by the trusted code, and put into the table that is in force."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dpverify.trusted.kernel.canonical_form import write
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ONE, Call, Expr, Pow, children, format_expr, sub, symbols
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.kernel.shown import Box, Shown, box_of, table
from dpverify.trusted.kernel.signs import ANY, Sign
from dpverify.trusted.order.local import between, sign_of
from dpverify.trusted.order.shown_signs import GAPS, proved

if TYPE_CHECKING:
    from dpverify.search.signs.field import Field


class Found(Shown):
    """Signs with the evidence of each, in the order in which they were found."""

    def __init__(self) -> None:
        super().__init__()
        self.evidence: list[tuple[tuple[Expr, Box], Mapping[str, Any]]] = []


def known(expr: Expr, domains: Mapping[str, Domain]) -> Sign:
    """The signs that parts, or what is shown, tell."""
    with suppress(DpverifyError):
        return sign_of(expr, domains)
    return ANY


def put(expr: Expr, domains: Mapping[str, Domain], evidence: Mapping[str, Any]) -> Sign:
    """Show the sign of an expression by evidence, unless that tells no more than is known; the signs that are known then."""
    over = {name: domains[name] for name in sorted(symbols(expr))}
    entry = {"of": format_expr(expr), "over": {name: write(domain) for name, domain in over.items()}, **evidence}
    before = known(expr, domains)
    try:
        tree, _, signs = proved(entry)
    except (DpverifyError, RecursionError):
        return before
    if tree == expr and not before <= signs:
        shown: Shown = table()
        shown.add(expr, over, signs)
        if isinstance(shown, Found):
            shown.evidence.append(((expr, box_of(expr, over)), entry))
    return known(expr, domains)


def show(expr: Expr, form: Expr, field: Field) -> Sign:
    """Show the sign of an expression by another writing, once all parts of both are shown to have values."""
    define(expr, field)
    define(form, field)
    gaps = [[name, kind, *map(format_expr, args)] for name, (kind, args) in field.gaps.items() if name in symbols(form)]
    return put(expr, field.domains, {"form": format_expr(form), **({"gaps": gaps} if gaps else {})})


def define(expr: Expr, field: Field) -> None:
    """Show the signs of arguments and bases that an expression needs to have a value. Raises Undecided where they are not found."""
    from dpverify.search.signs.expressions import ratio

    if not symbols(expr) or (_defined(expr, field) and not field.lemmas):
        return
    for part in children(expr):
        define(part, field)
    args = (expr.base,) if isinstance(expr, Pow) else expr.args if isinstance(expr, Call) else ()
    for arg in args:
        for lemma in (arg, sub(arg, ONE)):
            if lemma in field.lemmas:
                show(lemma, field.lemmas.pop(lemma), field)
        if symbols(arg) and not symbols(arg) & field.gaps.keys() and len(known(arg, field.domains)) > 1:
            found = ratio(field, arg)
            if not known(arg, field.domains) <= field.ratio_sign(found):
                show(arg, field.ratio_writing(found), field)
    if not _defined(expr, field):
        raise Undecided(f"{format_expr(expr)} is not shown to have a value.")


def _gaps_in(expr: Expr, field: Field) -> dict[str, Domain]:
    """The ranges of the gaps that an expression has."""
    found: dict[str, Domain] = {}
    for name in symbols(expr) & field.gaps.keys():
        kind, args = field.gaps[name]
        for arg in args:
            define(arg, field)
        found[name] = between(GAPS[kind](list(args), [sign_of(arg, field.domains) for arg in args])[1])
    return found


def _defined(expr: Expr, field: Field) -> bool:
    try:
        sign_of(expr, {**field.domains, **_gaps_in(expr, field)})
    except DpverifyError:
        return False
    return True
