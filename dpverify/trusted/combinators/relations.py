"""Whether all parts of a combinator speak of one relation of neighbours, and what is taken for granted of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpverify.trusted.combinators.adjacencies import stated_adjacencies
from dpverify.trusted.kernel.model import Claim, Compose, Lipschitz, Mechanism, Parallel, Part, Repeat, all_parts, parts_of

ONE_RECORD: Final = "neighbours differ by one record that is added or removed"
"""What an upper bound for parts in parallel takes for granted where no adjacency is stated."""


def neighbours_assumed(claim: Claim, side: str = "upper") -> tuple[str, ...]:
    """What a bound for several parts takes for granted of their neighbours."""
    parts = [part for part in all_parts(claim.mechanism) if not isinstance(part.mechanism, Repeat)]
    if len(parts) < 2:
        return ()
    stated = next(iter(stated_adjacencies(claim.mechanism, claim.adjacency)), "")
    same = _same(stated)
    parallel = isinstance(claim.mechanism, Parallel) or any(isinstance(part.mechanism, Parallel) for part in parts)
    return (same, ONE_RECORD) if side == "upper" and parallel and not stated else (same,)


def decided(claim: Claim) -> tuple[str, ...]:
    """What is no assumption where all parts are sums over records: of them it is known whose they are."""
    leaves = [part for part in all_parts(claim.mechanism) if not parts_of(part.mechanism)]
    return tuple(_same(name) for name in ("add-remove", "replace", "l1")) if all(part.sums is not None for part in leaves) else ()


def _same(stated: str) -> str:
    return f"the sensitivities of all parts speak of the same neighbours{f' ({stated})' if stated else ''}"


def adjacency_faults(mechanism: Mechanism, stated: str = "") -> Iterator[str]:
    """Why the parts of a combinator do not speak of the same neighbours; nothing where they do."""
    named = stated_adjacencies(mechanism, stated)
    if len(named) > 1:
        who = " and ".join(f"{holder} of {name}" for name, holder in named.items())
        yield (
            f"{who} cannot be mixed: Poisson sampling, noisy keys and correlated noise are analysed for neighbours by adding or removing "
            "one record, sampling without replacement and shuffling for replacing one, and parts compose only for the same neighbours. "
            "State every sensitivity for one adjacency."
        )
    parallel = any(isinstance(inner, Parallel) for inner in (mechanism, *(part.mechanism for part in all_parts(mechanism))))
    if parallel and "replace" in named:
        yield (
            "parallel under replace adjacency: a replaced record may leave one part of the data and enter another, so two parts change. "
            "State the adjacency add-remove, or compose the parts."
        )
    for name in ("l1", "l2"):
        # half of a difference in one part and half in another is as far apart, and may be worse: not where losses are convex in it, as
        # those of linear queries are; of a sensitivity that is stated nothing says that half of the difference moves half as far
        if parallel and name in named and not (name == "l1" and _all_linear(Part(mechanism))):
            yield (
                f"parallel under {name} adjacency: a difference of histograms may be spread over several parts, so that all change. "
                "State the adjacency add-remove, or compose the parts."
            )
    yield from _column_faults(mechanism)


def _all_linear(part: Part) -> bool:
    """Whether every part answers a query with log-concave noise."""
    from dpverify.trusted.combinators.candidates import all_log_concave
    from dpverify.trusted.combinators.neighbours import leaves

    return all_log_concave(part) and all(leaf.part.query is not None for leaf in leaves(part))


def _column_faults(mechanism: Mechanism) -> Iterator[str]:
    """Queries of parts of one composition that cannot be about one histogram."""
    if isinstance(mechanism, Compose):
        counts = sorted(set().union(*(_columns(part) for part in mechanism.parts)))
        if len(counts) > 1:
            yield (
                f"query: parts of one composition answer about the same records, but their queries have {' and '.join(map(str, counts))} "
                "columns. Give every query a number for each kind of record, 0 where a kind does not count."
            )
    for part in parts_of(mechanism):
        yield from _column_faults(part.mechanism)


def _columns(part: Part) -> set[int]:
    """The numbers of columns of the queries about a part's own data; what is in parallel, or behind a map, has data of its own."""
    if part.query is not None:
        return {len(row) for row in part.query.rows}
    if isinstance(part.mechanism, Parallel | Lipschitz):
        return set()
    return set().union(*map(_columns, parts_of(part.mechanism)))
