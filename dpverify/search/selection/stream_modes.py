"""Modes of alignments of streams: how the state may be apart, and which branches lead from one to the next.

Simple ones are of one mode, or of two, with branches after which the state is apart in another way. Where noise is kept (the least and
the greatest of the first answers), its shift hangs on what the run compares it with later: then modes are guesses of that, of which
one is right on each run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any, Final

from dpverify.trusted.combinators.streams import Form, start_of, step_of
from dpverify.trusted.kernel.expr import Expr, Num, symbols
from dpverify.trusted.kernel.model import Stream, Vector
from dpverify.trusted.theories.selection.compared import Asked
from dpverify.trusted.theories.selection.followed import branches, first_values, is_over

_BRANCHES: Final = 4
"""The most branches of which some may lead to another mode."""
_LATER: Final = 4
"""The most steps after that of the one answer that moves in which the state may be apart in other ways."""
_LEVELS: Final = 40
"""The most values of what is followed with a mode for each."""
_COUNTED: Final = 8
"""The most values of a counter that modes are made of."""
_CHAINS: Final = 12
"""The most values of what is followed with modes of their own after each of them, by where the one answer has moved."""
_HELD: Final = 4
"""The most noises drawn once and numbers of the state of which modes are guesses."""
_PLACES: Final = 200
"""The most values of what is followed."""
_MANY: Final = 10**6
_SMALL: Final = 1e-7

Held = tuple[Expr, ...]
"""What is known of what is followed."""
Numbers = tuple[Fraction, ...]
"""The values of what is followed and always known as a number."""
Edge = tuple[int, int, bool, int]
"""A mode, a branch, whether answers move in it, and the mode after it."""
Compared = tuple[int, int]
"""A branch, and one of its comparisons."""
Guess = tuple[int, int, int]
"""A mode of guesses, a branch and the mode after it."""
Apart = tuple[Fraction, ...]
"""Shifts of what is drawn once and differences of the state, in units of the sensitivity."""


@dataclass(frozen=True, slots=True)
class Modes:
    """The modes of an alignment. groups: of each mode, which of the shifts of what is drawn once. earlier: of each branch, the comparisons
    of those before it that may be what fails. counted: what is followed and always a number, which may pay; first, places and passes: its
    first values, those that there may be in each mode, and by edge those before it and after it.
    """

    spent: tuple[bool, ...]
    groups: tuple[int, ...]
    starts: tuple[int, ...]
    edges: tuple[Edge, ...]
    earlier: tuple[frozenset[Compared], ...]
    followed: tuple[str, ...]
    counted: tuple[str, ...]
    first: Numbers
    places: tuple[tuple[Numbers, ...], ...]
    passes: tuple[tuple[tuple[Numbers, Numbers], ...], ...]


# -- a mode or two ----------------------------------------------------------------------------------------------------


def simple(question: Asked, stream: Stream, alone: bool) -> Iterator[Modes]:
    """Branches after which the state may be apart in another way: none, one, two, ..., of those that may be taken at all."""
    taken = {one.branch: one.earlier for one in branches(question, stream, {})}
    most = len(taken) if len(taken) <= _BRANCHES else 1
    for later in chain.from_iterable(combinations(taken, count) for count in range(most + 1)):
        yield _only(taken, _simple(stream, alone, frozenset(later)))
    if alone:
        yield from (_only(taken, _after(stream, count)) for count in range(2, _LATER + 1))


def _only(taken: Mapping[int, frozenset[Compared]], modes: Modes) -> Modes:
    """Without branches that no run takes; the others compared with those alone before them that do not fail at once."""
    edges = tuple(edge for edge in modes.edges if edge[1] in taken)
    earlier = tuple(taken.get(branch, frozenset()) for branch in range(len(modes.earlier)))
    return replace(modes, edges=edges, passes=modes.passes[: len(edges)], earlier=earlier)


def _after(stream: Stream, count: int) -> Modes:
    """One answer moves alone: the state is apart in other ways in each of the next steps, and then stays as it is."""
    last = count
    branches = range(len(stream.steps))
    edges = [(0, branch, moved, int(moved)) for branch in branches for moved in (False, True)]
    edges += [(mode, branch, False, min(mode + 1, last)) for mode in range(1, last + 1) for branch in branches]
    return _without_guesses(stream, (False, *(True,) * last), tuple(edges))


def _simple(stream: Stream, alone: bool, later: frozenset[int]) -> Modes:
    spent = [*([False, True] if alone else [False]), *([alone] if later else [])]
    last = len(spent) - 1

    def to(mode: int, branch: int, moves: bool) -> int:
        if later and branch in later and (not alone or mode > 0 or moves):
            return last
        return max(mode, int(alone and moves))

    moves = [(False,) if over else (False, True) if alone else (True,) for over in spent]
    places = [(mode, branch, moved) for mode in range(len(spent)) for branch in range(len(stream.steps)) for moved in moves[mode]]
    return _without_guesses(stream, tuple(spent), tuple((*place, to(*place)) for place in places))


def _without_guesses(stream: Stream, spent: tuple[bool, ...], edges: tuple[Edge, ...]) -> Modes:
    """Modes in which nothing is followed."""
    every = [(i, place) for i, branch in enumerate(stream.steps) for place in range(len(branch.when))]
    earlier = tuple(frozenset(one for one in every if one[0] < branch) for branch in range(len(stream.steps)))
    return Modes(spent, (0,) * len(spent), (0,), edges, earlier, (), (), (), (((),),) * len(spent), ((((), ()),),) * len(edges))


def by_count(stream: Stream) -> Iterator[Modes]:
    """A mode for each value of the one counter, where a branch that raises it changes the state: the last one is not compared."""
    sizes = [sum((each.value.value for each in branch.count if isinstance(each.value, Num)), Fraction(0)) for branch in stream.steps]
    told = all(isinstance(each.value, Num) and each.value.value > 0 for branch in stream.steps for each in branch.count)
    if not told or len(stream.limits) != 1 or not any(branch.count and branch.change for branch in stream.steps):
        return
    end = stream.limits[0].value
    if not isinstance(end, Num) or end.value <= 0 or end.value / min(size for size in sizes if size) > _COUNTED:
        return
    values, edges, open_ = {Fraction(0): 0}, list[Edge](), [Fraction(0)]
    for value in open_:
        for branch, size in enumerate(sizes):
            after = min(value + size, end.value)
            if after not in values:
                values[after] = len(values)
                open_ += [after] if after < end.value else []
            edges.append((values[value], branch, True, values[after]))
    found = _without_guesses(stream, (False,) * len(values), tuple(edges))
    yield replace(found, followed=(stream.limits[0].name,))


def by_place(question: Asked, stream: Stream, alone: bool) -> Iterator[Modes]:
    """A mode for all that is followed, where these are few: what is kept may be apart in another way after each step.

    alone: others after the one answer has moved.
    """
    names = tuple(dict.fromkeys((*numbers_of(stream), *(limit.name for limit in stream.limits))))
    first = first_values(stream, names)
    start, earlier = tuple(first.items()), [frozenset[Compared]() for _ in stream.steps]
    modes, edges, level = {start: 0}, list[tuple[int, int, Any]](), [start]
    queries = int(stream.queries.value) if isinstance(stream.queries, Num) else _LEVELS
    for _ in range(min(queries, _LEVELS)):
        following = []
        for place in level:
            for taken in branches(question, stream, dict(place)):
                after = tuple(taken.after.items())
                edges.append((modes[place], taken.branch, after))
                earlier[taken.branch] |= taken.earlier
                if after not in modes and not is_over(question, stream, taken.after):
                    modes[after] = len(modes)
                    following.append(after)
        level = following
        if len(modes) > _LEVELS:
            return
    over = len(modes)  # where no step comes after it
    leads = still = [(mode, branch, not alone, modes.get(after, over)) for mode, branch, after in edges]
    chains = over if alone and over <= _CHAINS else int(alone)  # by where it has moved, if these are not too many
    after_it = [(over + 1) * (1 + chain) for chain in range(chains)]
    spent = (False,) * (over + 1) + (True,) * (over + 1) * chains
    if alone:
        leads = still + [(mode, branch, True, to + after_it[mode % chains]) for mode, branch, _, to in still]
        leads += [(mode + later, branch, False, to + later) for later in after_it for mode, branch, _, to in still]
    reached, size = {0}, 0
    while len(reached) > size:
        size = len(reached)
        reached |= {lead[-1] for lead in leads if lead[0] in reached}
    leads = [lead for lead in leads if lead[0] in reached]
    yield replace(_without_guesses(stream, spent, tuple(leads)), followed=names, earlier=tuple(earlier))


# -- guesses ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Control:
    """What is followed, its first values, and the branches from each of them, with the values after.

    earlier: of each branch, the comparisons of those before it that may be what fails where it is taken.
    """

    names: tuple[str, ...]
    first: Held
    after: Mapping[Held, Mapping[int, Held]]
    earlier: Sequence[frozenset[Compared]]


def guesses(question: Asked, stream: Stream, points: Sequence[Vector], steep: Mapping[str, tuple[float, float]]) -> Iterator[Modes]:
    """Modes in which each noise and number that is kept is apart by -1, 0 or 1: few that go along with every run, at a low cost.

    First such that steps without counters cost nothing where they may come again; then, where the number of steps is limited, any.
    """
    numbers = numbers_of(stream)
    kept = [each.name for each in stream.state if each.name not in numbers]
    if not kept or len(stream.once) + len(kept) > _HELD:
        return
    names, first = [*(drawn.name for drawn in stream.once), *kept], start_of(stream)
    endless = [not branch.count for branch in stream.steps]
    for free in [endless] if stream.queries is None else [endless, [False] * len(endless)]:
        for followed in dict.fromkeys((tuple(numbers), (*numbers, *kept[1:]))):
            control = control_of(question, stream, followed)
            if control is None:
                continue
            table = Table(stream, names, control.earlier, points, steep)
            named = [table.named(apart) for apart in table.guessed]
            starts = [i for i, values in enumerate(named) if all(first[name].at(values) == values[name] for name in kept)]
            cover = Cover(control, starts, table.edges(), free)
            found = cover.fewest()
            if found is not None:
                yield cover.begins(found).modes(found, numbers, [apart[: len(stream.once)] for apart in table.guessed])
                break


def numbers_of(stream: Stream) -> list[str]:
    """The numbers of the state, and the counters, that the branches of a run tell and that are compared."""
    names = {each.name for each in stream.state if isinstance(each.value, Num)}
    changes = [each for branch in stream.steps for each in branch.change]
    while wrong := {each.name for each in changes if each.name in names and symbols(each.value) - names}:
        names -= wrong
    used = set[str]().union(*(symbols(guard.left) for branch in stream.steps for guard in branch.when))
    grown = {each.name for branch in stream.steps for each in branch.count if not isinstance(each.value, Num)}
    counters = [limit.name for limit in stream.limits if limit.name in used - grown]
    return [*(each.name for each in stream.state if each.name in names & used), *counters]


def control_of(question: Asked, stream: Stream, names: tuple[str, ...]) -> Control | None:
    """What is known of these names on all runs; None where that is too much."""
    first = tuple(first_values(stream, names).values())
    after: dict[Held, dict[int, Held]] = {}
    earlier = [frozenset[Compared]() for _ in stream.steps]
    open_ = [first]
    while open_:
        held = open_.pop()
        if held in after:
            continue
        if len(after) == _PLACES:
            return None
        for taken in branches(question, stream, dict(zip(names, held, strict=True))):
            after.setdefault(held, {})[taken.branch] = tuple(taken.after.values())
            earlier[taken.branch] |= taken.earlier
        open_ += after[held].values()
    return Control(names, first, after, earlier)


Asking = tuple[int, tuple[Fraction, ...]]
"""A branch, and how far each of its rows is moved by what is not shifted in the step."""


class Table:
    """What it costs to go from one guess to another by a branch."""

    def __init__(
        self, stream: Stream, names: Sequence[str], earlier: Sequence[frozenset[Compared]], points: Sequence[Vector],
        steep: Mapping[str, tuple[float, float]],
    ) -> None:  # fmt: skip
        self.guessed = [tuple(map(Fraction, values)) for values in product((0, -1, 1), repeat=len(names))]
        self._stream, self._names, self._points, self._steep = stream, names, points, steep
        self._earlier = earlier
        self._steps = [step_of(stream, branch) for branch in stream.steps]

    def named(self, apart: Apart) -> dict[str, Fraction]:
        """By name."""
        return dict(zip(self._names, apart, strict=True))

    def edges(self) -> dict[Guess, float]:
        """By mode, branch and mode after it, what the shifts cost that lead there, where there are any."""
        index = {apart: i for i, apart in enumerate(self.guessed)}
        tried: list[tuple[Guess, list[Asking]]] = []
        for (i, apart), number in product(enumerate(self.guessed), range(len(self._steps))):
            changed = {each.name for each in self._stream.steps[number].change}
            choices = [(x,) if name not in changed else tuple(map(Fraction, (0, -1, 1))) for name, x in self.named(apart).items()]
            for to in product(*choices):
                tried.append(((i, number, index[to]), [(number, self._moved(number, apart, to, point)) for point in self._points]))
        costs = self._cheapest(list(dict.fromkeys(asking for _, askings in tried for asking in askings)))
        return {edge: max(costs[key] for key in keys) for edge, keys in tried if all(key in costs for key in keys)}

    def _rows(self, number: int) -> tuple[list[tuple[Form, int]], list[tuple[Form, str]]]:
        """What is to grow or to stay, with the sign that it has, and what is to be as far apart as is said: a name of the state, or 0."""
        step = self._steps[number]
        least = [(form, 1) for form in step.when] + [(self._steps[i].when[place], -1) for i, place in sorted(self._earlier[number])]
        return least, [(form, "") for form in step.tell] + [(step.after[name], name) for name in self._names if name in step.after]

    def _moved(self, number: int, apart: Apart, to: Apart, point: Vector) -> tuple[Fraction, ...]:
        values = self.named(apart) | dict(zip(self._stream.answers, point, strict=True))
        after = self.named(to) | {"": Fraction(0)}
        least, equal = self._rows(number)
        return (*(sign * form.at(values) for form, sign in least), *(form.at(values) - after[name] for form, name in equal))

    def _cheapest(self, asked: Sequence[Asking]) -> dict[Asking, float]:
        """The cost of the cheapest shifts of a step, where there are any: one linear program of independent blocks."""
        import numpy as np
        from scipy.optimize import linprog
        from scipy.sparse import coo_matrix

        fresh = [drawn.name for drawn in self._stream.fresh]
        width = 2 * len(fresh) + 1  # to the right, to the left, and what is missing
        cost = np.array([*(self._steep[name][1] for name in fresh), *(self._steep[name][0] for name in fresh), _MANY])
        free = np.isinf(cost)
        cost[free] = 0.0
        entries: list[tuple[int, int, float]] = []
        limits: list[float] = []

        def at_least(block: int, form: Form, sign: int, end: Fraction) -> None:
            for j, name in enumerate(fresh):
                factor = sign * float(form.of.get(name, 0))
                entries.extend((len(limits), block * width + j + side, (-factor, factor)[side > 0]) for side in (0, len(fresh)) if factor)
            entries.append((len(limits), (block + 1) * width - 1, -1.0))
            limits.append(float(end))

        for block, (number, moved) in enumerate(asked):
            least, equal = self._rows(number)
            for (form, sign), end in zip(least, moved[: len(least)], strict=True):
                at_least(block, form, sign, end)
            for (form, _), end in zip(equal, moved[len(least) :], strict=True):
                at_least(block, form, 1, end)
                at_least(block, form, -1, -end)
        ends = [(0.0, 0.0 if closed else None) for closed in free] * len(asked)
        places = ([i for i, _, _ in entries], [j for _, j, _ in entries])
        matrix = coo_matrix(([x for *_, x in entries], places), (len(limits), len(ends))).tocsr()
        found = linprog(np.tile(cost, len(asked)), matrix, np.array(limits), bounds=ends, method="highs-ds")
        if found.status != 0:
            return {}
        values = found.x.reshape(len(asked), width)
        return {key: float(row @ cost) for key, row in zip(asked, values, strict=True) if row[-1] < _SMALL}


@dataclass(frozen=True, slots=True)
class Cover:
    """Guesses in which runs begin, and what leads from one to the next. free: of each branch whether it may be taken without end."""

    control: Control
    starts: Sequence[int]
    edges: Mapping[Guess, float]
    free: Sequence[bool]

    def covers(self, edges: Collection[Guess], starts: Collection[int] = ()) -> bool:
        """Whether on each run there is a guess that goes along, from some of the starts, or any."""
        leads: dict[tuple[int, int], int] = {}
        for mode, branch, to in edges:
            leads[mode, branch] = leads.get((mode, branch), 0) | 1 << to
        place = sum(1 << mode for mode in starts or self.starts), self.control.first
        seen, open_ = {place}, [place]
        while open_:
            modes, held = open_.pop()
            for branch, after in self.control.after[held].items():
                to = 0
                for mode in range(modes.bit_length()):
                    if modes >> mode & 1:
                        to |= leads.get((mode, branch), 0)
                if not to:
                    return False
                if (to, after) not in seen:
                    seen.add((to, after))
                    open_.append((to, after))
        return True

    def fewest(self) -> list[Guess] | None:
        """Of those that pay for every run, few that still go along with each and whose dearest run is cheap; None where there are none."""
        kept = dict(self.edges)
        while dear := [edge for edge in self._again(kept) if self.free[edge[1]] and kept[edge] > _SMALL]:
            for edge in dear:
                del kept[edge]
        if not self.covers(kept):
            return None
        while True:
            most = self._through(kept)
            top = max(most.values(), default=0.0)
            for edge in sorted((edge for edge, cost in most.items() if cost > top - _SMALL), key=lambda edge: -kept[edge]):
                if self.covers(kept.keys() - {edge}):
                    del kept[edge]
                    break
            else:
                break
        reached = self._through(kept)
        for edge in sorted(kept, key=lambda edge: -kept[edge]):
            if edge not in reached or self.covers(kept.keys() - {edge}):
                del kept[edge]
        return list(kept)

    def begins(self, edges: Collection[Guess]) -> Cover:
        """With no more starts than are wanted."""
        starts = list(self.starts)
        for mode in self.starts:
            if len(starts) > 1 and self.covers(edges, [other for other in starts if other != mode]):
                starts.remove(mode)
        return replace(self, starts=starts)

    def _graph(self, edges: Collection[Guess]) -> dict[tuple[int, Held], list[tuple[Guess, tuple[int, Held]]]]:
        """From each guess and what is followed, the edges and where they lead, as far as runs may come."""
        out: dict[int, list[Guess]] = {}
        for edge in edges:
            out.setdefault(edge[0], []).append(edge)
        found: dict[tuple[int, Held], list[tuple[Guess, tuple[int, Held]]]] = {}
        open_ = [(mode, self.control.first) for mode in self.starts]
        while open_:
            mode, held = node = open_.pop()
            if node not in found:
                after = self.control.after[held]
                found[node] = [(edge, (edge[2], after[edge[1]])) for edge in out.get(mode, ()) if edge[1] in after]
                open_ += [to for _, to in found[node]]
        return found

    def _parts(self, graph: Mapping[tuple[int, Held], Sequence[tuple[Any, tuple[int, Held]]]]) -> dict[tuple[int, Held], int]:
        """Of each node, which of the parts it is in from each of which every node of the same can be reached."""
        import numpy as np
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        place = {node: i for i, node in enumerate(graph)}
        pairs = [(place[node], place[to]) for node, leads in graph.items() for _, to in leads]
        matrix = coo_matrix((np.ones(len(pairs)), ([i for i, _ in pairs], [j for _, j in pairs])), (len(place), len(place)))
        _, labels = connected_components(matrix, connection="strong")
        return {node: int(labels[i]) for node, i in place.items()}

    def _again(self, edges: Collection[Guess]) -> set[Guess]:
        """The edges that a run may go again and again."""
        graph = self._graph(edges)
        part = self._parts(graph)
        return {edge for node, leads in graph.items() for edge, to in leads if part[node] == part[to]}

    def _through(self, edges: Mapping[Guess, float]) -> dict[Guess, float]:
        """What the dearest run through each edge costs, if it ends with one of those that can be gone again and again."""
        graph = self._graph(edges)
        part = self._parts(graph)
        leads = [(part[node], part[to], edge) for node, found in graph.items() for edge, to in found]
        ahead, behind = (dict.fromkeys(part.values(), 0.0) for _ in range(2))
        for here, to, edge in leads:
            if here == to:
                ahead[here] = max(ahead[here], edges[edge])
        for _ in ahead:
            changed = False
            for here, to, edge in leads:
                cost = edges[edge]
                if here != to and ahead[here] < cost + ahead[to] - _SMALL:
                    ahead[here], changed = cost + ahead[to], True
                if here != to and behind[to] < cost + behind[here] - _SMALL:
                    behind[to], changed = cost + behind[here], True
            if not changed:
                break
        most: dict[Guess, float] = {}
        for here, to, edge in leads:
            most[edge] = max(most.get(edge, 0.0), behind[here] + edges[edge] + (ahead[to] if here != to else 0.0))
        return most

    def modes(self, edges: Collection[Guess], counted: Sequence[str], once: Sequence[Apart]) -> Modes:
        """The graph, with the guesses that occur in it numbered anew. once: of each guess the shifts of what is drawn once."""
        graph = self._graph(edges)
        number = {mode: i for i, mode in enumerate(dict.fromkeys(mode for mode, _ in graph))}
        group = {shifts: i for i, shifts in enumerate(dict.fromkeys(once[mode] for mode in number))}
        places: dict[int, dict[Numbers, None]] = {}
        passes: dict[Guess, dict[tuple[Numbers, Numbers], None]] = {}

        def numbers(held: Held) -> Numbers:
            return tuple(value.value for value in held[: len(counted)] if isinstance(value, Num))

        for (mode, held), leads in graph.items():
            places.setdefault(mode, {})[numbers(held)] = None
            for edge, (_, after) in leads:
                passes.setdefault(edge, {})[numbers(held), numbers(after)] = None
        return Modes(
            spent=(False,) * len(number),
            groups=tuple(group[once[mode]] for mode in number),
            starts=tuple(number[mode] for mode in self.starts if mode in number),
            edges=tuple((number[mode], branch, True, number[to]) for mode, branch, to in passes),
            earlier=tuple(self.control.earlier),
            followed=self.control.names,
            counted=tuple(counted),
            first=numbers(self.control.first),
            places=tuple(tuple(places[mode]) for mode in number),
            passes=tuple(tuple(found) for found in passes.values()),
        )
