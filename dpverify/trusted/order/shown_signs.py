"""Signs of expressions in parameters by the evidence that a certificate carries (theory#shown-signs).

A sign is read off another writing of the expression, whose parts tell it, where the two are equal by their forms; or off parts of the
domain; or off what a "min", a "max" or an "abs" may be; or off the ends of an interval on which the expression is concave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.canonical_form import exact_fraction, read
from dpverify.trusted.kernel.compare import sign
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, DpverifyError, Undecided, certify, require
from dpverify.trusted.kernel.expr import ONE, Call, Expr, Num, call, neg, parse, rebuild, sub, substitute, symbols
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.kernel.shown import Shown
from dpverify.trusted.kernel.signs import ANY, AT_LEAST_ZERO, AT_MOST_ZERO, POSITIVE, Sign
from dpverify.trusted.language.calls import subtrees
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.order.domains import closed, is_empty
from dpverify.trusted.order.forms import equal
from dpverify.trusted.order.local import between, sign_of

MOST_CUTS: Final = 64


def show(entries: Sequence[Mapping[str, Any]], shown: Shown) -> Shown:
    """The table with the signs of the entries, each by those before it. The table is in force meanwhile. Raises CertificateError."""
    for number, entry in enumerate(entries):
        try:
            shown.add(*proved(entry))
        except DpverifyError as error:
            raise CertificateError(f"sign {number}: {error}") from error
        except STUMBLES as error:
            raise CertificateError(f"sign {number}: what is given has not the form that dpverify writes.") from error
    return shown


def proved(entry: Mapping[str, Any]) -> tuple[Expr, dict[str, Domain], Sign]:
    """What an entry shows: "of" an expression, "over" domains, by one of WAYS. Raises Undecided, CertificateError."""
    ways = [way for way in WAYS if way in entry]
    certify(len(ways) == 1, f"a sign is shown by one of {', '.join(WAYS)}.")
    expr, domains = parse(str(entry["of"])), {str(name): read(Domain, domain) for name, domain in entry["over"].items()}
    certify(domains.keys() == symbols(expr), "the domains of its parameters, and no others, are wanted.")
    signs = sign_of(expr, domains) & WAYS[ways[0]](expr, domains, entry)  # the first, since it must have a value
    require(signs != ANY, Undecided("what is given shows no sign."))
    return expr, domains, signs


def _form(expr: Expr, domains: dict[str, Domain], entry: Mapping[str, Any]) -> Sign:
    """By another writing in which parts tell it. gaps: names that stand in it for what is known to be at least 0."""
    form, known, meant = parse(str(entry["form"])), dict(domains), dict[str, Expr]()
    for name, kind, *texts in entry.get("gaps", ()):
        certify(name not in known and kind in GAPS, "a gap has a name of its own, and a known kind.")
        args = [parse(str(text)) for text in texts]
        meant[name], signs = GAPS[kind](args, [sign_of(arg, domains) for arg in args])
        known[name] = between(signs)
    require(equal(expr, substitute(form, meant), domains), Undecided("the two writings are not certainly equal."))
    return sign_of(form, known)


def _one_of(name: str, part: Expr, kink: Expr) -> Expr:
    """A "min" or a "max" that has an argument."""
    certify(isinstance(kink, Call) and kink.name == name and part in kink.args, f"a gap below or above one of the arguments of a {name}.")
    return kink


GAPS: Final[Mapping[str, Callable[[list[Expr], list[Sign]], tuple[Expr, Sign]]]] = {
    "exp": lambda args, signs: (sub(sub(call("exp", args[0]), ONE), args[0]), AT_LEAST_ZERO if 0 in signs[0] else POSITIVE),
    "floor": lambda args, signs: (sub(args[0], call("floor", args[0])), AT_LEAST_ZERO),
    "above floor": lambda args, signs: (sub(call("floor", args[0]), sub(args[0], ONE)), POSITIVE),
    "sinh": lambda args, signs: (sub(call("sinh", args[0]), args[0]), signs[0]),
    "tanh": lambda args, signs: (sub(args[0], call("tanh", args[0])), signs[0]),
    "as": lambda args, signs: (args[0], signs[0]),
    "max": lambda args, signs: (sub(_one_of("max", *args), args[0]), AT_LEAST_ZERO),
    "min": lambda args, signs: (sub(args[0], _one_of("min", *args)), AT_LEAST_ZERO),
}
"""Differences of known signs: what each means, and the signs that it may have."""


def _split(expr: Expr, domains: dict[str, Domain], entry: Mapping[str, Any]) -> Sign:
    """By the parts of the domain of one parameter between cuts, both ends of a cut in both."""
    name, cuts = str(entry["split"][0]), sorted(map(exact_fraction, entry["split"][1]))
    whole = closed(domains[name])
    certify(0 < len(cuts) <= MOST_CUTS, f"between 1 and {MOST_CUTS} cuts are wanted.")
    signs: Sign = frozenset()
    for low, high in zip([None, *cuts], [*cuts, None], strict=True):
        part = whole if low is None else replace(whole, lower=low, lower_open=False)
        part = part if high is None else replace(part, upper=high, upper_open=False)
        part = closed(part)
        if not is_empty(part):
            signs |= sign_of(*at_points(expr, {**domains, name: part}))
    return signs


def at_points(expr: Expr, domains: Mapping[str, Domain]) -> tuple[Expr, Mapping[str, Domain]]:
    """The expression with parameters that have one value at that value."""
    fixed: dict[str, Expr] = {name: Num(d.lower) for name, d in domains.items() if d.lower is not None and d.lower == d.upper}
    return substitute(expr, fixed), domains


def _kink(expr: Expr, domains: dict[str, Domain], entry: Mapping[str, Any]) -> Sign:
    """By what a "min", a "max" or an "abs" may be."""
    return frozenset[int]().union(*(sign_of(other, domains) for other in choices(expr, parse(str(entry["kink"])))))


def choices(expr: Expr, kink: Expr) -> list[Expr]:
    """The expression with a kink replaced by each of the values that it may have."""
    if not (isinstance(kink, Call) and kink.name in ("min", "max", "abs")):
        raise Undecided("a kink is a min, a max or an abs.")
    args = kink.args if kink.name != "abs" else (kink.args[0], neg(kink.args[0]))
    return [_exchange(expr, kink, arg) for arg in args]


def _exchange(expr: Expr, old: Expr, new: Expr) -> Expr:
    return new if expr == old else rebuild(expr, lambda part: _exchange(part, old, new))


def _ends(expr: Expr, domains: dict[str, Domain], entry: Mapping[str, Any]) -> Sign:
    """A smooth function of one parameter that is concave on an interval is no less than at one of the ends."""
    (name,) = symbols(expr)
    ends, terms = [domains[name].lower, domains[name].upper], set(subtrees(expr))
    fixed: list[dict[str, Expr]] = [{name: Num(end)} for end in ends if end is not None]
    smooth = all(not isinstance(term, Call) or term.name in ("exp", "log") for term in terms)
    if len(fixed) < 2 or not smooth or any(not constant(substitute(term, at)).is_finite() for at in fixed for term in terms):
        raise Undecided("it may not be continuous on the interval.")
    between_too = {name: replace(domains[name], integer=False)}
    if not sign_of(derivative(derivative(expr, name), name), between_too) <= AT_MOST_ZERO:
        return ANY
    found = {sign(substitute(expr, at)) for at in fixed}
    return POSITIVE if found == {1} else AT_LEAST_ZERO if found <= {0, 1} else ANY


Way = Callable[[Expr, dict[str, Domain], Mapping[str, Any]], Sign]
WAYS: Final[Mapping[str, Way]] = {"form": _form, "split": _split, "kink": _kink, "ends": _ends}
"""Each reads the signs of an expression over domains from its evidence."""
