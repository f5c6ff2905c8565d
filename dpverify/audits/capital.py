"""What one night hands on to the next: tests with what their bets own, and cash. One gambler, however many nights there are.

Money is never made: what a test owns is what it was given times what its bets won, a test that is not carried on becomes cash of its
level, and cash goes to new tests of that level alone, for each level has a null hypothesis of its own. So all money of a level
together is a supermartingale over all nights, from at most 1 at the start (theory#audits-that-go-on), whatever is carried and whatever the
code of the tests has become in between: bets may be changed between two rounds, and money moved among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from dpverify.audits import bits, derived, digits, floats, forms, learn, places, rare
from dpverify.audits.bets import Bets, Law
from dpverify.audits.journal import packed, unpacked
from dpverify.audits.partition import MAX_CELLS, Counts, Partition
from dpverify.runtime.finding import FLOAT, MODEL

Array = np.ndarray[Any, np.dtype[np.float64]]

LEVELS: Final = (MODEL, FLOAT)
MOST: Final[Mapping[str, int]] = {MODEL: 4, FLOAT: 2}  # tests of a level that are carried on
NOMINAL: Final = 2.0**-60  # of the capital, as which tests count that begin in a night with none of its own: alpha's rounding is more
ROUNDING: Final = 2.0**-42  # of all that is added up: what two sums of the same products can differ by
BROKE: Final = -1e300  # the log of no money at all
KINDS: Final = {module.__name__.rpartition(".")[2]: module for module in (bits, derived, digits, floats, forms, learn, places, rare)}
"""Files whose partitions can be written down."""
DECLARED: Final = "declared"


class NotWritten(ValueError):
    """A partition that cannot be written down, or what was written is none: it is learned anew, and its money is cash."""


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """A test that goes on. pair: its inputs, as text; partition: None for that of the declared loss on the pair.

    owned: (B,) log of what each of its bets owns; log_capital: likewise, had its bets won nothing; share: of the risk of all
    bounds; counts: joint counts since it began; law: of its cells, which its bets were made for; chosen: whether its event was the one that
    promised most.
    """

    level: str
    pair: str
    partition: Partition | None
    size: int
    owned: Array
    log_capital: float
    share: float
    counts: Counts
    law: Law | None = None
    chosen: bool = False

    @property
    def money(self) -> float:
        """The log of what it owns in all."""
        return float(np.logaddexp.reduce(self.owned))

    def anew(self, share: float) -> Carried:
        """The same test before it has seen anything, with so much of the capital."""
        capital = float(np.log(share))
        return replace(
            self, owned=np.array([capital]), log_capital=capital, share=share, counts=np.zeros_like(self.counts), chosen=False
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Sorted:
    """How outputs on an input were sorted for conformance, which the next night adds to.

    tester: what sorts them, as a digest; total: the statistics of `count` outputs; share: of the whole capital, that the test began with.
    """

    tester: str
    total: Counts
    count: int
    share: float


class Capital(NamedTuple):
    """What a night begins with, or ends with. tests: carried on; cash: of each level, log of what is owned by no test.

    conforming: how outputs were sorted by tests of the density, of which none is there twice.
    """

    tests: tuple[Carried, ...] = ()
    cash: tuple[float, float] = (BROKE, BROKE)
    conforming: tuple[Sorted, ...] = ()

    def of(self, level: str) -> float:
        """The log of the cash of a level."""
        return self.cash[LEVELS.index(level)]

    def money(self, level: str) -> float:
        """The log of all money of a level."""
        return float(np.logaddexp.reduce([self.of(level), *(test.money for test in self.tests if test.level == level)]))


@dataclass(frozen=True, slots=True)
class Night:
    """What a run is a part of. fresh: the share of the whole capital, and of all that is staked once, that is this night's own.

    alone: there is no other night.
    """

    fresh: float = 1.0
    brought: Capital = field(default_factory=Capital)

    @property
    def alone(self) -> bool:
        """Whether the run is all there is."""
        return self.fresh == 1 and self.brought == Capital()

    @property
    def unit(self) -> float:
        """As what share of the capital the tests of tonight count."""
        return max(self.fresh, NOMINAL)

    def funds(self, level: str) -> float:
        """The log of how much more or less than their shares say the new tests of a level get."""
        with np.errstate(divide="ignore"):
            return float(np.logaddexp(np.log(self.fresh), self.brought.of(level)) - np.log(self.unit))


def share_of(number: int) -> float:
    """The share of the capital, or of the risk, of the number-th of countably many, from 1: 1/2, 1/6, 1/12, ...; all sum to 1."""
    return 1 / (number * (number + 1))


def carried_on(bets: Bets, owned: Array, counts: Counts, log_capital: float) -> Bets:
    """Bets that own so much at these counts: a log wealth of theirs and log_capital are what they own in all.

    Where the bets are other ones than those that won it, all that is owned is dealt out as they were at first.
    """
    prior = dealt(owned, bets) - log_capital - bets.gains(counts) - ROUNDING * (1 + bets.turnover(counts))
    return replace(bets, log_prior=np.asarray(prior))


def dealt(owned: Array, bets: Bets) -> Array:
    """What each of these bets owns: what is owned, dealt out as they were at first where it is of other bets."""
    if owned.shape == bets.log_prior.shape:
        return owned
    return np.asarray(bets.log_prior - np.logaddexp.reduce(bets.log_prior) + np.logaddexp.reduce(owned))


def gathered(
    tests: Sequence[Carried], cash: Iterable[float] = (BROKE, BROKE), fits: Callable[[Carried], bool] = lambda test: True,
    conforming: Iterable[Sorted] = (),
) -> Capital:  # fmt: skip
    """Of many tests that fit those that own most, or that were chosen, of each level; what the others own is cash.

    Of tests of the density by one tester the one that has sorted most: each is an e-process by itself, and two are not one.
    """
    kept: list[Carried] = []
    purse = list(cash)
    for place, level in enumerate(LEVELS):
        mine = sorted((test for test in tests if test.level == level), key=lambda test: (fits(test), test.chosen, test.money), reverse=True)
        most = min(MOST[level], sum(map(fits, mine)))
        kept += mine[:most]
        purse[place] = float(np.logaddexp.reduce([purse[place], *(test.money for test in mine[most:])]))
    longest = {one.tester: one for one in sorted(conforming, key=lambda one: one.count)}
    return Capital(tuple(kept), (purse[0], purse[1]), tuple(longest.values()))


def together(several: Sequence[Capital]) -> Capital:
    """All that several nights hand on."""
    cash = [float(np.logaddexp.reduce([BROKE, *(one.of(level) for one in several)])) for level in LEVELS]
    return gathered([test for one in several for test in one.tests], cash, conforming=[each for one in several for each in one.conforming])


# -- in writing ------------------------------------------------------------------------------------------------


def written(capital: Capital) -> dict[str, Any]:
    """Capital as JSON data."""
    conforming = [{**asdict(one), "total": packed(one.total)} for one in capital.conforming]
    return {"tests": [_written_test(test) for test in capital.tests], "cash": list(capital.cash), "conforming": conforming}


def read(data: Any) -> Capital:
    """The capital that `written` wrote; of a test that this version cannot read the money is cash. Raises ValueError for anything else."""
    try:
        cash, tests = [_finite(one) for one in data["cash"]], []
        if len(cash) != len(LEVELS):
            raise ValueError("not the cash of each level")
        for one in data["tests"]:
            place = LEVELS.index(one["level"])
            try:
                tests.append(_read_test(one))
            except NotWritten:
                cash[place] = float(np.logaddexp(cash[place], np.logaddexp.reduce(_row(one["owned"]))))
        conforming = tuple(map(_read_sorted, data.get("conforming", ())))
    except (LookupError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"no capital: {error}") from error
    return Capital(tuple(tests), (cash[0], cash[1]), conforming)


def _read_sorted(data: Mapping[str, Any]) -> Sorted:
    total, count, share = unpacked(data["total"]), int(data["count"]), float(data["share"])
    if not (total.dtype.kind in "iu" and bool((total >= 0).all()) and count > 0 and 0 < share <= 1):
        raise ValueError("not how outputs were sorted")
    return Sorted(str(data["tester"]), total, count, share)


def _written_test(test: Carried) -> dict[str, Any]:
    return {
        "level": test.level, "pair": test.pair, "partition": DECLARED if test.partition is None else plainly(test.partition),
        "size": test.size, "owned": packed(np.maximum(test.owned, BROKE)), "log_capital": test.log_capital, "share": test.share,
        "counts": packed(test.counts), "law": None if test.law is None else [packed(side) for side in test.law], "chosen": test.chosen,
    }  # fmt: skip


def _read_test(data: Mapping[str, Any]) -> Carried:
    size, share, counts, owned = int(data["size"]), float(data["share"]), unpacked(data["counts"]), _row(data["owned"])
    counted = counts.shape == (size, size) and counts.dtype == np.int64 and bool((counts >= 0).all())
    if not (2 <= size <= MAX_CELLS and 0 < share <= 1 and counted):
        raise ValueError("no test")
    partition = None if data["partition"] == DECLARED else rebuilt(data["partition"])
    if partition is not None and partition.size != size:
        raise NotWritten("another number of cells")
    capital, law = _finite(data["log_capital"]), None if data["law"] is None else _law(data["law"], size)
    return Carried(str(data["level"]), str(data["pair"]), partition, size, owned, capital, share, counts, law, data["chosen"] is True)


def _law(data: Any, size: int) -> Law:
    left, right = map(_row, data)
    if any(side.shape != (size,) or not ((side >= 0) & (side <= 1)).all() for side in (left, right)):
        raise ValueError("not the laws of the cells")
    return left, right


def _row(text: Any) -> Array:
    row = unpacked(text)
    if row.ndim != 1 or row.dtype != np.float64 or not len(row) or not np.isfinite(row).all():
        raise ValueError("not what bets own")
    return row


def _finite(value: Any) -> float:
    if type(value) not in (int, float) or not np.isfinite(value):
        raise ValueError("not the log of an amount")
    return float(value)


def plainly(value: Any) -> Any:
    """A partition as JSON data: its class by name, and its fields. Raises NotWritten where it holds anything of which that is not all."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float or isinstance(value, np.floating):
        return {"float": float(value).hex()}
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if type(value) is tuple:
        return {"tuple": [plainly(one) for one in value]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"array": packed(value)}
    if isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1:
        return {"objects": [plainly(one) for one in value.tolist()]}
    kind = type(value)
    if is_dataclass(value) and kind.__module__ in _MODULES:
        named = f"{kind.__module__.rpartition('.')[2]}.{kind.__qualname__}"
        return {"of": named, "fields": {one.name: plainly(getattr(value, one.name)) for one in fields(value)}}
    raise NotWritten(f"a {kind.__qualname__}")


def is_written(partition: Partition) -> bool:
    """Whether a partition can be written down."""
    try:
        plainly(partition)
    except NotWritten:
        return False
    return True


_MODULES: Final = tuple(module.__name__ for module in KINDS.values())


def rebuilt(data: Any) -> Any:
    """What `plainly` wrote. No code is run but that of the files of partitions. Raises NotWritten where these have no such thing now."""
    if data is None or type(data) in (bool, int, str):
        return data
    try:
        if "of" not in data:
            ((kind, said),) = data.items()
            return _READ[kind](said)
        file, _, name = data["of"].partition(".")
        made = getattr(KINDS[file], name) if file in KINDS else None
        if not (isinstance(made, type) and is_dataclass(made) and made.__module__ in _MODULES):
            raise NotWritten(f"no {data['of']}")
        if {one.name for one in fields(made)} != set(data["fields"]):
            raise NotWritten(f"{data['of']} has other fields")
        return made(**{key: rebuilt(value) for key, value in data["fields"].items()})
    except (AttributeError, ImportError, LookupError, TypeError, ValueError) as error:
        raise NotWritten(str(error)) from error


def _objects(data: Sequence[Any]) -> Any:
    array = np.empty(len(data), object)
    array[:] = [rebuilt(one) for one in data]
    return array


_READ: Final[Mapping[str, Any]] = {
    "float": float.fromhex,
    "fraction": Fraction,
    "bytes": bytes.fromhex,
    "tuple": lambda data: tuple(rebuilt(one) for one in data),
    "array": lambda data: unpacked(data),
    "objects": _objects,
}
