"""Ask other accountants what dpverify encloses, and write reports/accountants.md: `python bench/accountants.py [NAME...]`.

A problem is a claim of bench/accounting/, with epsilon or delta "tight". dpverify proves an enclosure of the true value; a peer's bound is
then SAFE, UNSAFE (on the wrong side of what is proved, and by how much), or inside the enclosure, where its side is not known. With names
(of files, without .toml) only these problems are asked, and nothing is written. Every answer is given by a process of its own, which
knows no other and is ended when its time is up; the report is written after each problem. Peers come with the extra `bench`.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import math
import multiprocessing
import os
import resource
import statistics
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from flint import arb
from peers import LOWER, UPPER, NotOffered, Part, Peer, Problem, peers
from run import RUNS, forget

from dpverify.accounting.enclosures import Cost
from dpverify.accounting.events import Event
from dpverify.accounting.relations import Relation
from dpverify.catalogue import read_spec
from dpverify.search.decimals import decimal_bounds
from dpverify.search.verify import verify
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import Expr, Num
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.order.enclosed import enclose as ball

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "bench" / "accounting"
REPORT = ROOT / "reports" / "accountants.md"
GRIDS = (1e-4, 1e-3)
DIGITS, FEWER = 20, 15  # of dpverify: the first is what peers are compared with
SECONDS, OWN_SECONDS = 5, 30  # of the processor: no peer is waited for longer, and not dpverify
WAITED = 12  # times as long by the clock, on a machine that does other things as well
LONG = 0.5  # seconds: what takes longer is measured once
FORK = multiprocessing.get_context("fork")

ROUNDING = 1e-12  # what is unsafe by less, relatively, may be the rounding of the inputs and of a last operation
SAFE, UNSAFE, ROUNDED, INSIDE, UNDECIDED, NONE = "SAFE", "UNSAFE", "unsafe by rounding", "inside", "?", "no answer"
TITLE = "# Accountants, side by side"
PREFACE = f"""Every row answers one claim of bench/accounting/: delta at an epsilon, or epsilon (in nats) at a delta.
dpverify's value is the proved enclosure of the truth, *off by* its width, *is* the rules. A peer's upper bound is SAFE on or above the
enclosure (*off by* is how loose it is), UNSAFE below it; a lower bound the other way; *inside* the enclosure its side is not known.
*relative* is over the end of the enclosure it is measured from. Peers get the doubles nearest to the claim's numbers: what is unsafe by
less than {ROUNDING:g} (relative) is called rounding, and counted apart. Equal grid: the spacing of dpverify's own losses, where it
needs a grid. Where nothing is proved from below, the enclosure begins at 0. Batches of a fixed size: neighbours replace a record, and
dp-accounting is told the noise over what a record is clipped to, as its events say. dp-accounting's optimistic estimate stands as a
lower bound, which its documentation does not promise in so many words.
autodp's Fourier accountant looks for e^epsilon between 0 and 1 only: it passes these bounds, and this scipy keeps to them.
CPU s: seconds of the processor in all threads, the median of {RUNS} processes that have answered nothing before (one above {LONG:g} s), of
dpverify the search and the kernel's check together, imports apart; *of dpverify*: over those of dpverify with {DIGITS} digits, or with
{FEWER} where more take too long. Peers are given {SECONDS} s, dpverify {OWN_SECONDS} s."""
COLUMNS = ("problem", "accountant", "bound", "value", "is", "off by", "relative", "CPU s", "of dpverify")


# -- problems ---------------------------------------------------------------------------------------------


def number(value: Any) -> Fraction:
    """An exact number of these claim files: an integer, a decimal or a fraction."""
    return Fraction(value)


def parts(
    mechanism: Mapping[str, Any], sensitivity: Fraction, times: int = 1, rate: Fraction | None = None, how: str = ""
) -> Iterator[Part]:
    """The builtin mechanisms of a nest of `compose` and `subsample`, and of `best_of` on top. how: they are sampled, or selected.

    Raises ValueError for other kinds, and for samples of samples.
    """
    sensitivity = number(mechanism.get("sensitivity", sensitivity))
    kind, times = mechanism["kind"], times * mechanism.get("times", 1)
    if kind == "builtin" and (rate is None or "times" not in mechanism):
        parameters = {key: number(value) for key, value in mechanism["parameters"].items()}
        yield Part(mechanism["name"], parameters, sensitivity, rate, times, how)
    elif kind == "compose" and rate is None:
        for part in mechanism.get("parts", [mechanism.get("part")]):
            yield from parts(part, sensitivity, times)
    elif kind == "subsample" and rate is None:
        yield from parts(mechanism["part"], sensitivity, times, number(mechanism["rate"]), mechanism.get("scheme", ""))
    elif kind == "best_of" and times == 1 and rate is None:
        law = mechanism["runs"]["law"]
        yield from parts(mechanism["part"], sensitivity, how=f"{law} {mechanism['runs']['mean']}")
    else:
        raise ValueError(f"kind {kind!r} is not for the peers of this table.")


def problems(path: Path) -> Iterator[Problem]:
    """The claims of a file."""
    data = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Fraction)
    for claim in data["claim"]:
        asked = {key: None if claim[key] == "tight" else number(claim[key]) for key in ("epsilon", "delta")}
        each = tuple(parts(data["mechanism"], number(claim.get("sensitivity", 1))))
        yield Problem(f"{path.stem}: {claim['name']}", each, **asked)


# -- answers ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Enclosure:
    """What dpverify proves of the true value; None where a side is not known. told: the rules, or why there is none.

    grid: the spacing of the losses, in nats, where the proof places them on a grid.
    """

    lower: Fraction | None
    upper: Fraction | None
    told: str
    seconds: float
    grid: Fraction | None = None


@dataclass(frozen=True)
class Row:
    """A peer's bound. off: how far beyond the enclosure, in epsilon or delta; relative: over the true value."""

    problem: str
    peer: str
    side: str
    value: str
    direction: str
    off: float | None
    relative: float | None
    seconds: float
    ratio: float

    @property
    def line(self) -> str:
        """As a row of the table."""
        numbers = ("" if number is None else f"{number:.1e}" for number in (self.off, self.relative))
        ratio = "" if math.isnan(self.ratio) else f"{self.ratio:.2g}"
        cells = (self.problem, self.peer, self.side, self.value, self.direction, *numbers, clock(self.seconds), ratio)
        return f"| {' | '.join(cells)} |"


def judge(side: str, value: float, lower: Fraction | None, upper: Fraction | None) -> tuple[str, float | None, float | None]:
    """Whether a bound is on its side of the truth, which lies in [lower, upper]; then how far beyond, absolute and relative.

    Comparisons are of exact rationals. An upper bound below `lower` is UNSAFE, or unsafe by rounding; one from `upper` on is SAFE; a lower
    bound is judged as mirrored.
    """
    if math.isnan(value):
        return UNDECIDED, None, None
    if side == LOWER:
        mirrored = (None if end is None else -end for end in (upper, lower))
        return judge(UPPER, -value, *mirrored)
    if math.isinf(value):
        return (SAFE if value > 0 else UNSAFE), math.inf, math.inf
    exact = Fraction(value)
    if lower is not None and exact < lower:
        off, relative = beyond(exact, lower)
        return (UNSAFE if relative > ROUNDING else ROUNDED), off, relative
    if upper is not None and exact >= upper:
        return SAFE, *beyond(exact, upper)
    return (UNDECIDED if lower is None or upper is None else INSIDE), None, None


def beyond(value: Fraction, end: Fraction) -> tuple[float, float]:
    """How far a value is from the end of an enclosure, and that over the end."""
    off = abs(value - end)
    return float(off), float(off / abs(end)) if end else math.inf


class Late(Exception):
    """The time is up, or the process ended without an answer."""


class Failed(Exception):
    """What a process raised, in words."""


def timed(action: Callable[[], T], seconds: float) -> tuple[T, float]:
    """The result, and the median of the processor times of a few processes. Raises NotOffered, Late and Failed."""
    times = list[float]()
    while len(times) < RUNS and max(times, default=0.0) <= LONG:
        result, spent = apart(action, seconds)
        times.append(spent)
    return result, statistics.median(times)


def apart(action: Callable[[], T], seconds: float) -> tuple[T, float]:
    """The result and the processor time, all threads together, of a process of its own, which is ended when its time is up."""
    receiver, sender = FORK.Pipe(duplex=False)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))
        started = time.process_time()
        try:
            found: tuple[Any, Exception | None] = action(), None
        except NotOffered as error:
            found = None, error
        except Exception as error:  # whatever a peer raises is its answer
            found = None, Failed(f"{type(error).__name__}: {error}")
        sender.send((*found, time.process_time() - started))

    child = FORK.Process(target=work)
    child.start()
    sender.close()
    try:
        if not receiver.poll(WAITED * seconds):
            raise Late
        result, error, spent = receiver.recv()
    except EOFError:
        raise Late from None
    finally:
        child.kill()
        child.join()
    if error is not None:
        raise error
    return result, spent


def enclose(problem: Problem, claim: Claim, digits: int) -> Enclosure:
    """dpverify's answer and its time."""

    def action() -> Enclosure:
        verified = verify(claim, digits)
        found = verified.judgement
        ends = (found.lower, found.upper) if problem.epsilon is None else (found.delta_lower, found.delta_upper)
        lower, upper = (rational(end, side) for end, side in zip(ends, (LOWER, UPPER), strict=True))
        lower = Fraction(0) if lower is None and upper is not None else lower  # nothing is known from below: 0 always holds
        known = lower is not None and upper is not None
        told = ", ".join(found.rules) if known else f"UNKNOWN: {' '.join(verified.reasons)}"
        return Enclosure(lower, upper, told, math.nan, max(spacings(verified.certificate), default=None))

    try:
        answer, seconds = timed(action, OWN_SECONDS)
    except (Late, Failed) as error:
        told = f"UNKNOWN: {error}" if isinstance(error, Failed) else f"UNKNOWN: no answer in {OWN_SECONDS} s"
        return Enclosure(None, None, told, math.nan)
    return replace(answer, seconds=seconds)


def warm(asked: Sequence[Peer]) -> None:
    """Let everybody import what answers need, by questions that no problem asks. What dpverify remembers of them is forgotten."""
    gaussian, laplace = {"sigma": Fraction(7, 3)}, {"scale": Fraction(5, 3)}
    whole = (Part("gaussian", gaussian, Fraction(1), None, 2), Part("laplace", laplace, Fraction(1), None, 1))
    sampled = (Part("gaussian", gaussian, Fraction(1), Fraction(1, 7), 2),)
    for parts_asked in (whole, sampled):
        for peer in asked:
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
                peer.answer(Problem("", parts_asked, None, Fraction(1, 777)))
    noise = Event("GaussianDpEvent", {"noise_multiplier": Fraction(3)})
    steps = Event("PoissonSampledDpEvent", {"sampling_probability": Fraction(1, 7)}, (noise,))
    release = Event("LaplaceDpEvent", {"noise_multiplier": Fraction(5)})
    Cost([(steps, 2), (release, 1)], Relation.ADD_OR_REMOVE_ONE).epsilon(Fraction(1, 777))
    forget()


def spacings(evidence: Any) -> Iterator[Fraction]:
    """The spacings of all grids in a certificate."""
    if isinstance(evidence, Mapping):
        for key, value in evidence.items():
            if key == "spacing":
                yield number(value)
            else:
                yield from spacings(value)
    elif isinstance(evidence, list | tuple):
        for value in evidence:
            yield from spacings(value)


def rational(end: Expr | Infinite | None, side: str) -> Fraction | None:
    """A proved bound as a rational, rounded outward where it is irrational; None for none, and where it is infinite."""
    if end is None or isinstance(end, Infinite):
        return None
    return end.value if isinstance(end, Num) else _end(ball(end, 512), side)


def _end(enclosure: arb, side: str) -> Fraction:
    mantissa, exponent = (enclosure.upper() if side == UPPER else enclosure.lower()).man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


def ask(problem: Problem, peer: Peer, truth: Enclosure) -> Iterator[Row]:
    """A peer's bounds, or a row that says what came instead. Nothing where it offers nothing."""

    def action() -> Mapping[str, float]:
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            return peer.answer(problem)

    try:
        answers, seconds = timed(action, SECONDS)
    except NotOffered:
        return
    except Late:
        yield Row(problem.title, peer.name, "", f"none in {SECONDS} s", NONE, None, None, math.nan, math.nan)
        return
    except Failed as error:
        told = str(error).replace("\n", " ").replace("|", "/")[:80]
        yield Row(problem.title, peer.name, "", told, NONE, None, None, math.nan, math.nan)
        return
    for side, value in answers.items():
        verdict = judge(side, value, truth.lower, truth.upper)
        yield Row(problem.title, peer.name, side, f"{value:.12g}", *verdict, seconds, over(seconds, truth.seconds))


# -- the report -------------------------------------------------------------------------------------------


def over(seconds: float, others: float) -> float:
    """A ratio of times; nan where the clock does not tell the second from 0."""
    return seconds / others if others else math.nan


def clock(seconds: float) -> str:
    """A time with three digits."""
    return "" if math.isnan(seconds) else f"{seconds:.3g}"


def own(problem: Problem, truth: Enclosure, digits: int, ratio: float) -> str:
    """dpverify's row: the enclosure, its width, the rules."""
    start = f"| {problem.title} | **dpverify**, {digits} digits | both"
    end = f"{clock(truth.seconds)} | {ratio:.2g} |"
    if truth.lower is None or truth.upper is None:
        return f"{start} | UNKNOWN | {truth.told.replace('|', '/')} | | | {end}"
    width = truth.upper - truth.lower
    relative = width / truth.upper if truth.upper else Fraction(0)
    value = f"[{decimal(truth.lower, LOWER)}, {decimal(truth.upper, UPPER)}]"
    told = truth.told if truth.grid is None else f"{truth.told}; grid {float(truth.grid):.3g}"
    return f"{start} | {value} | {told} | {float(width):.1e} | {float(relative):.1e} | {end}"


def decimal(value: Fraction, side: str) -> str:
    """Fifteen digits, rounded outward."""
    return decimal_bounds(Num(value), 15)[side == UPPER]


def summary(rows: Sequence[Row], asked: Sequence[Peer], missing: Mapping[str, str], count: int) -> Iterator[str]:
    """For each peer: how many of its bounds are safe, how loose these are in the middle, how many are not, and by how much at most."""
    head = "accountant | version | bound | SAFE | loose by (median) | inside | by rounding | UNSAFE | by at most | no answer | not offered"
    columns = head.count("|") + 1
    yield f"| {head} |"
    yield "|---" * columns + "|"
    for peer in asked:
        if peer.module in missing:
            yield f"| {peer.name} | not installed: {missing[peer.module]} |{' |' * (columns - 2)}"
            continue
        mine = [row for row in rows if row.peer == peer.name]
        failed = sum(row.direction == NONE for row in mine)
        silent = count - len({row.problem for row in mine})
        for side in sorted({row.side for row in mine if row.side}, reverse=True):
            bounds = [row for row in mine if row.side == side]
            number_of = Counter(row.direction for row in bounds)
            loose, over = (
                [row.relative for row in bounds if row.direction == direction and row.relative is not None] for direction in (SAFE, UNSAFE)
            )
            cells = (
                peer.name,
                version(peer.distribution),
                side,
                number_of[SAFE],
                f"{statistics.median(loose):.1e}" if loose else "",
                number_of[INSIDE],
                number_of[ROUNDED],
                number_of[UNSAFE],
                f"{max(over):.1e}" if over else "",
                failed,
                silent,
            )
            yield f"| {' | '.join(map(str, cells))} |"


def absent(asked: Sequence[Peer]) -> dict[str, str]:
    """The peers' modules that are not here, and why; the others are imported."""
    reasons = {}
    for name in dict.fromkeys(peer.module for peer in asked):
        try:
            importlib.import_module(name)
        except Exception as error:  # a broken installation is as good as none
            reasons[name] = f"{type(error).__name__}: {error}".replace("|", "/")
    return reasons


def main(arguments: Sequence[str]) -> int:
    """Print the rows as they come; without arguments write the report after each problem."""
    paths = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
    unknown = [name for name in arguments if name not in paths]
    if unknown:
        print(f"no problem {unknown[0]!r}; there are {', '.join(paths)}", file=sys.stderr)
        return 2
    asked = peers(GRIDS)
    missing = absent(asked)
    present = [peer for peer in asked if peer.module not in missing]
    warm(present)
    lines, rows, count = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"], list[Row](), 0

    def told(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    for name in arguments or paths:
        for problem, stated in zip(problems(paths[name]), read_spec(paths[name]).claims, strict=True):
            count += 1
            truth = enclose(problem, stated.claim, DIGITS)
            told(own(problem, truth, DIGITS, 1))
            if truth.grid is not None or math.isnan(truth.seconds):
                sooner = enclose(problem, stated.claim, FEWER)
                told(own(problem, sooner, FEWER, over(sooner.seconds, truth.seconds)))
                truth = sooner if math.isnan(truth.seconds) else truth
            for peer in present:
                for row in ask(replace(problem, grid=truth.grid), peer, truth):
                    rows.append(row)
                    told(row.line)
            if not arguments:
                write([*summary(rows, asked, missing, count)], lines)
    print("\n".join(["", *summary(rows, asked, missing, count)]))
    return 0


def write(totals: Sequence[str], lines: Sequence[str]) -> None:
    """The report of the problems so far."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("python-flint", "numpy", "scipy"))
    asking = f"`python bench/accountants.py`, Python {sys.version.split()[0]}, {versions}, {os.cpu_count()} processors."
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text("\n".join([TITLE, "", asking, PREFACE, "", *totals, "", *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
