"""Measure the published suites of selections and streams, print a table, and write it to reports/selection-bench.md.

Every row of the suites of CheckDP and ShadowDP, of DiPApprox and of DiPC: what is claimed, the verdict, the tight epsilon from both sides,
how long the search and the check of the certificate take, and the certificate's size. Published times stand beside: other machines, and
other questions, for their answers hold for one epsilon and delta, most of them for inputs that are 0 or 1.

Times are taken as in bench/run.py; the last line is one run over all rows, nothing emptied between them.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from run import ROOT, forget, milliseconds, processor, timed

REPORT = ROOT / "reports" / "selection-bench.md"
DIGITS = 15
LIMITS = {"a row": 1.0, "all rows": 60.0}
BOX = "bounds = [0, 1]"
MIRRORED = "bounds = [-1, 0]"
"""Answers with the other sign: of programs that say yes where a noisy answer is at most the threshold, or look for the least."""


@dataclass(frozen=True)
class Case:
    """A row. known: the tight epsilon, as computed independently, where it is known. published: seconds elsewhere, in words."""

    suite: str
    name: str
    mechanism: str
    epsilon: str
    verdict: str
    known: str = ""
    published: str = ""
    sensitivity: bool = True
    delta: str = ""

    @property
    def text(self) -> str:
        """The claim file."""
        moved = "sensitivity = 1\n" if self.sensitivity else ""
        beside = f'delta = "{self.delta}"\n' if self.delta else ""
        return f'[mechanism]\n{self.mechanism}\n[[claim]]\n{moved}epsilon = "{self.epsilon}"\n{beside}'

    @property
    def claimed(self) -> str:
        """What is claimed, in words."""
        return f"{self.epsilon}, delta {self.delta}" if self.delta else self.epsilon


def noise(name: str, scale: str) -> str:
    """Noise of the contract."""
    return f'{{ kind = "builtin", name = "{name}", {"sigma" if name == "gaussian" else "scale"} = "{scale}" }}'


def lap(scale: str) -> str:
    """Laplace noise."""
    return noise("laplace", scale)


def largest(law: str, candidates: str, *more: str) -> str:
    """Report noisy max."""
    return "\n".join(['kind = "noisy_max"', f"noise = {law}", f'candidates = "{candidates}"', *more])


def above(threshold: str | None, answers: str | None, queries: str, *more: str, positives: str = '"1"') -> str:
    """Above threshold."""
    noises = [f"{key}_noise = {law}" for key, law in (("threshold", threshold), ("query", answers)) if law is not None]
    return "\n".join(['kind = "above_threshold"', *noises, f'queries = "{queries}"', f"positives = {positives}", *more])


def stream(once: Sequence[tuple[str, str]], fresh: Sequence[tuple[str, str]], *more: str) -> str:
    """A stream: its noises, then the rest of the table and its branches."""
    held = {key: ", ".join(f"{name} = {law}" for name, law in laws) for key, laws in (("once", once), ("fresh", fresh)) if laws}
    return "\n".join(['kind = "stream"', *(f"{key} = {{ {text} }}" for key, text in held.items()), *more])


def branch(**fields: str) -> str:
    """A branch of a stream."""
    return "\n[[mechanism.step]]\n" + "\n".join(f"{key} = {value}" for key, value in fields.items())


ALL = 'parameters = { eps = "positive", n = "integer >= 2", N = "integer >= 1" }'
ALL_N = 'parameters = { eps = "positive", n = "integer >= 2" }'
UNLIMITED = '"unlimited"'


def adaptive(top: str) -> str:
    """The adaptive sparse vector technique with a budget of three units, of which an answer far above costs one; what is told of that."""
    return stream(
        [("rho", lap("2"))], [("a", lap("16")), ("b", lap("8"))], 'state = { t = "rho" }', "limits = { cost = 3 }",
        branch(when='"q + a - t >= 5"', emit='"top"', tell=f'"{top}"', count="{ cost = 1 }"),
        branch(when='"q + b - t >= 0"', emit='"above"', tell='"q + b - t"', count="{ cost = 2 }"),
        branch(emit='"below"'),
    )  # fmt: skip


def smart(at_the_end: str) -> str:
    """Smart sums in blocks of three."""
    return stream(
        [], [("nu", lap("1"))], "state = { next = 0, block = 0, place = 0 }", 'neighbours = "one"',
        branch(when='"place >= 2"', emit='"block"', tell=f'"{at_the_end}"', set=f'{{ next = "{at_the_end}", block = 0, place = 0 }}'),
        branch(emit='"inside"', tell='"next + q + nu"', set='{ next = "next + q + nu", block = "block + q", place = "place + 1" }'),
    )  # fmt: skip


def prefix() -> str:
    """Running sums with noise."""
    step = branch(tell='"s + q + nu"', set='{ s = "s + q + nu" }')
    return stream([], [("nu", lap("1"))], "state = { s = 0 }", 'neighbours = "one"', step)


def within(law: str, scale: str, answers: str) -> str:
    """Noisy range with one interval: which side of it the first answer outside is on."""
    return stream(
        [("low", noise(law, scale)), ("high", noise(law, scale))], [("nu", noise(law, answers))],
        'state = { from = "low", to = "1 + high" }', "limits = { outside = 1 }",
        branch(when='"q + nu < from"', emit='"left"', count="{ outside = 1 }"),
        branch(when='"q + nu >= to"', emit='"right"', count="{ outside = 1 }"), branch(emit='"inside"'),
    )  # fmt: skip


def intervals(m: int, law: str, first: str, later: str, queries: int) -> str:
    """m-Range: a noisy interval for each of the answers of a step; which answer leaves its interval first, and on which side."""
    places = range(1, m + 1)
    ends = [(f"{end}{i}", noise(law, first)) for i in places for end in ("low", "high")]
    steps = [
        branch(when=f'"q{i} + nu{i} {test}"', emit=f'"{side} {i}"', count="{ outside = 1 }")
        for i in places for test, side in ((f"< low{i}", "left"), (f">= 1 + high{i}", "right"))
    ]  # fmt: skip
    answers = ", ".join(f'"q{i}"' for i in places)
    fresh = [(f"nu{i}", noise(law, later)) for i in places]
    table = f"answers = [{answers}]", "limits = { outside = 1 }", f"queries = {queries}"
    return stream(ends, fresh, *table, *steps, branch(emit='"inside"'))


def least_and_greatest(k: int, law: str, first: str, later: str, queries: int | None) -> str:
    """k-Min-Max: the least and greatest of the first k answers with noise are kept; on which side of them the first answer outside is."""
    reading = f'"seen <= {k - 1}"'
    return stream(
        [], [("nu", noise(law, first)), ("xi", noise(law, later))], "state = { low = 0, high = 0, seen = 0 }", "limits = { outside = 1 }",
        *([f"queries = {queries}"] if queries else []),
        branch(when='"seen <= 0"', emit='"read"', set='{ low = "q + nu", high = "q + nu", seen = 1 }'),
        branch(when=f'[{reading}, "q + nu < low"]', emit='"read"', set='{ low = "q + nu", seen = "seen + 1" }'),
        branch(when=f'[{reading}, "q + nu >= high"]', emit='"read"', set='{ high = "q + nu", seen = "seen + 1" }'),
        branch(when=reading, emit='"read"', set='{ seen = "seen + 1" }'),
        branch(when='"q + xi < low"', emit='"left"', count="{ outside = 1 }"),
        branch(when='"q + xi >= high"', emit='"right"', count="{ outside = 1 }"), branch(emit='"inside"'),
    )  # fmt: skip


def programs() -> Iterator[Case]:
    """The suite of CheckDP and ShadowDP, over all real answers; eps = 1 where it is a number."""
    suite = "CheckDP, ShadowDP"
    yield Case(suite, "NoisyMax, all n and eps", largest(lap("2/eps"), "n", ALL_N), "eps", "PROVED", "eps")
    yield Case(suite, "NoisyMax, n = 1000", largest(lap("2"), "1000"), "1", "PROVED", "1")
    yield Case(suite, "NoisyMax, exponential noise, all n", largest(noise("exponential", "2/eps"), "n", ALL_N), "eps", "PROVED", "eps")
    told = largest(noise("exponential", "2"), "5", 'report = "value"')
    yield Case(suite, "NoisyMax, exponential noise, value", told, "1", "REFUTED", "inf")
    for n, verdict, known in (("2", "PROVED", "1"), ("3", "REFUTED", "3/2")):
        yield Case(suite, f"BadNoisyMax, n = {n}", largest(lap("2"), n, 'report = "value"'), "1", verdict, known)
    yield Case(suite, "SVT, all n, N and eps", above(lap("2/eps"), lap("4*N/eps"), "n", ALL, positives='"N"'), "eps", "PROVED", "eps")
    for n, known in zip(range(1, 7), ("1/4", "1/2", "3/4", "1", "1", "1"), strict=True):
        yield Case(suite, f"SVT, N = 1, n = {n}", above(lap("2"), lap("4"), str(n)), "1", "PROVED", known)
    for word, known in (("increasing", "eps"), ("decreasing", "eps/2")):
        mechanism = above(lap("2/eps"), lap("2*N/eps"), "n", f'neighbours = "{word}"', ALL, positives='"N"')
        yield Case(suite, f"SVT, {word}", mechanism, "eps", "PROVED", known)
    gap = above(lap("2/eps"), lap("4*N/eps"), "n", 'report = "answers+gap"', ALL, positives='"N"')
    yield Case(suite, "GapSVT, all n, N and eps", gap, "eps", "PROVED", "eps")
    fresh = f"report = {{ fresh = {lap('3*N/eps')} }}"
    yield Case(suite, "NumSVT, all", above(lap("3/eps"), lap("6*N/eps"), "n", fresh, ALL, positives='"N"'), "eps", "PROVED", "eps")
    yield Case(suite, "AdaptiveSVT, every number of queries", adaptive("q + a - t"), "1", "PROVED", "1")
    yield Case(suite, "BadAdaptiveSVT", adaptive("q + a"), "1", "REFUTED", "inf")
    yield Case(suite, "PartialSum", 'kind = "builtin"\nname = "laplace"\nscale = 1', "1", "PROVED", "1")
    yield Case(suite, "BadPartialSum", 'kind = "builtin"\nname = "laplace"\nscale = "1/2"', "1", "REFUTED", "2")
    yield Case(suite, "PrefixSum, every number of queries", prefix(), "1", "PROVED", "1")
    yield Case(suite, "SmartSum, every number of queries", smart("block + q + nu"), "2", "PROVED", "2")
    yield Case(suite, "BadSmartSum", smart("block + q"), "2", "REFUTED", "inf")
    for n, verdict, known in (("1", "PROVED", "1/2"), ("2", "REFUTED", "inf")):
        yield Case(suite, f"BadSVT1, n = {n}", above(lap("2"), None, n, positives=UNLIMITED), "1", verdict, known)
    for n, verdict, known in (("2", "PROVED", "1"), ("3", "REFUTED", "3/2"), ("4", "REFUTED", "2"), ("6", "REFUTED", "3")):
        yield Case(suite, f"BadSVT2, n = {n}", above(lap("2"), lap("2"), n, positives=UNLIMITED), "1", verdict, known)
    for n, verdict, known in (("1", "PROVED", "1/4"), ("2", "REFUTED", "3/2"), ("3", "REFUTED", "7/4")):
        yield Case(suite, f"BadSVT3, N = 1, n = {n}", above(lap("4"), lap("4/3"), n), "1", verdict, known)
    for n, verdict, known in (("4", "PROVED", "1"), ("5", "REFUTED", "5/4")):
        yield Case(suite, f"BadGapSVT, N = 1, n = {n}", above(lap("2"), lap("4"), n, 'report = "answers+value"'), "1", verdict, known)
    for n, verdict, known in (("8", "PROVED", "1"), ("9", "REFUTED", "9/8")):
        told = above(lap("2"), lap("8"), n, 'report = "answers+value"', positives='"2"')
        yield Case(suite, f"BadGapSVT, N = 2, n = {n}", told, "1", verdict, known)
    histogram = 'kind = "product"\ndensity = "exp(-abs(z))"\ndimension = 5'
    yield Case(suite, "histogram", histogram, "1", "PROVED", "1")
    response = 'kind = "builtin"\nname = "k_randomized_response"\nk = 4\np = "exp(1)/(3 + exp(1))"'
    yield Case(suite, "randomized response, k = 4", response, "1", "PROVED", "1", sensitivity=False)


def approximated() -> Iterator[Case]:
    """The suite of DiPApprox: all pairs between 0 and 1, eps = 1/2, delta = 0; its times are of all pairs of inputs 0 and 1, delta 0.01."""
    suite, gauss = "DiPApprox", lambda sigma: noise("gaussian", sigma)
    rows: list[tuple[str, str | None, str | None, str, dict[int, tuple[str, str, str]]]] = [
        ("SVT-Gauss", gauss("4"), gauss("8"), "1.24",
         {2: ("PROVED", "", "2.4"), 5: ("PROVED", "0.441930", "76.7"), 25: ("PROVED", "0.98706", "out of memory")}),
        ("SVT-Laplace", lap("4"), lap("8"), "1/2",
         {2: ("PROVED", "0.1994", "8.8"), 5: ("PROVED", "0.4122", "timeout"), 11: ("PROVED", "", "timeout"),
          25: ("PROVED", "0.4999994", "")}),
        ("SVT-Mix1", lap("4"), gauss("8"), "1.24",
         {2: ("PROVED", "", "4.3"), 5: ("PROVED", "", "285.4"), 17: ("PROVED", "", "out of memory")}),
        ("SVT-Mix2", gauss("4"), lap("8"), "1.24",
         {2: ("PROVED", "", "14.4"), 5: ("PROVED", "", "timeout"), 10: ("PROVED", "", "out of memory")}),
        ("SVT-Gauss-Leaky-1", None, gauss("1/4"), "1/2", {5: ("REFUTED", "", "1.4"), 6: ("REFUTED", "", "2.1")}),
        ("SVT-Gauss-Leaky-2", gauss("4"), None, "1/2", {3: ("REFUTED", "inf", "1.0"), 6: ("REFUTED", "inf", "1.1")}),
    ]  # fmt: skip
    for name, threshold, answers, epsilon, sizes in rows:
        for n, (verdict, known, published) in sizes.items():
            yield Case(suite, f"{name}, N = {n}", above(threshold, answers, str(n), BOX), epsilon, verdict, known, published)
    ge = {"SVT-Gauss-Ge": (gauss("4"), gauss("8"), {2: "1.5", 5: "72.3", 25: "out of memory"}),
          "SVT-Laplace-Ge": (lap("4"), lap("8"), {2: "8.8", 5: "timeout", 11: "timeout"}),
          "SVT-Mix1-Ge": (lap("4"), gauss("8"), {2: "4.1", 5: "261.0", 17: "out of memory"}),
          "SVT-Mix2-Ge": (gauss("4"), lap("8"), {2: "13.4", 5: "timeout", 10: "out of memory"})}  # fmt: skip
    for name, (threshold, answers, times) in ge.items():
        for n, published in times.items():
            yield Case(suite, f"{name}, N = {n}", above(threshold, answers, str(n), MIRRORED), "1.24", "PROVED", "", published)
    for name, law, box, sizes in (
        ("Noisy-Max-Gauss", gauss("4"), BOX, {2: "1.3", 3: "3.1", 4: "303.0", 5: "timeout", 25: ""}),
        ("Noisy-Min-Gauss", gauss("4"), MIRRORED, {2: "1.3", 3: "3.1", 4: "303.6"}),
        ("Noisy-Max-Laplace", lap("4"), BOX, {3: "47.2", 4: "timeout"}),
        ("Noisy-Min-Laplace", lap("4"), MIRRORED, {3: "45.6", 4: "timeout"}),
    ):
        for n, times_ in sizes.items():
            yield Case(suite, f"{name}, N = {n}", largest(law, str(n), box), "1", "PROVED", "", times_)
    for n, known in ((4, "0.257403"), (5, "0.290800"), (25, "0.49137")):
        yield Case(suite, f"Noisy-Max-Gauss as in the paper, N = {n}", largest(gauss("8"), str(n), BOX), "1/2", "PROVED", known)
    yield Case(suite, "1-Range-Laplace, every N, all reals", within("laplace", "4", "4"), "1", "PROVED", "1", "19.3 (N = 1)")
    yield Case(suite, "1-Range-Gauss", within("gaussian", "4", "4"), "1", "REFUTED", "inf")
    for n, times_ in {1: "1.8", 2: "344.4", 3: "timeout"}.items():
        both = intervals(2, "gaussian", "16", "8", n)
        yield Case(suite, f"2-Range-Gauss, N = {n}, all reals", both, "1/2", "PROVED", "", times_, delta="1/100")
    for n, times_ in {3: "5.7", 4: "335.7"}.items():
        kept = least_and_greatest(2, "gaussian", "16", "8", n)
        yield Case(suite, f"2-Min-Max-Gauss, N = {n}, all reals", kept, "1/2", "PROVED", "", times_, delta="1/100")
    for k, known, times_ in ((2, "1/2", "200.3 (N = 3)"), (3, "5/12", ""), (6, "", "")):
        kept = least_and_greatest(k, "laplace", str(8 * k), "8", None)
        yield Case(suite, f"{k}-Min-Max-Laplace, every N, all reals", kept, "1/2", "PROVED", known, times_)


def exact_rational() -> Iterator[Case]:
    """The suite of DiPC, finite inputs, delta = 0; here between 0 and 1, and over all reals where numbers are told."""
    suite = "DiPC"
    for n, times in ((1, "52"), (2, "104"), (3, "558"), (4, "2814")):
        yield Case(suite, f"SVT-Laplace, N = {n}", above(lap("2"), lap("4"), str(n), BOX), "1", "PROVED", "", times)
    for n, times in ((2, "189"), (3, "946"), (4, "4636")):
        yield Case(suite, f"SVT1, c = 2, N = {n}", above(lap("2"), lap("8"), str(n), BOX, positives='"2"'), "1", "PROVED", "", times)
    yield Case(suite, "Noisy-Max-Laplace, N = 3", largest(lap("2"), "3", BOX), "1", "PROVED", "", "278")
    yield Case(suite, "Noisy-Min-Laplace, N = 3", largest(lap("2"), "3", MIRRORED), "1", "PROVED", "", "180")
    yield Case(suite, "SVT-Laplace-Leaky-4, N = 2, all reals", above(lap("4"), lap("4/3"), "2"), "1", "REFUTED", "3/2", "80")
    yield Case(suite, "SVT-Laplace-Leaky-5, N = 2", above(lap("4"), None, "2", BOX, positives=UNLIMITED), "1/2", "REFUTED", "inf", "7")
    leaky = above(lap("2"), lap("2"), "3", positives=UNLIMITED)
    yield Case(suite, "SVT-Laplace-Leaky-6, N = 3, all reals", leaky, "1", "REFUTED", "3/2", "526")
    for n, verdict, known, times in ((4, "PROVED", "1", "15177"), (5, "REFUTED", "5/4", "7502")):
        mechanism = above(lap("2"), lap("4"), str(n), 'report = "answers+value"')
        yield Case(suite, f"SVT3, N = {n}, all reals", mechanism, "1", verdict, known, times)
    yield Case(suite, "nmax7, N = 3, all reals", largest(lap("2"), "3", 'report = "value"'), "1", "REFUTED", "3/2", "319")


def cases() -> list[Case]:
    """All rows."""
    return [*programs(), *approximated(), *exact_rational()]


def claims(rows: Sequence[Case]) -> list[Any]:
    """The claims of rows."""
    from dpverify.catalogue import read_spec

    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, row in enumerate(rows):
            file = Path(folder) / f"row{number}.toml"
            file.write_text(row.text, encoding="utf-8")
            found.append(read_spec(file).claims[0].claim)
    return found


def tight(judgement: Any) -> tuple[str, str]:
    """The lower and the upper end: exact where that is short, else as the JSON of an answer has them."""
    from dpverify.search.decimals import decimal_bounds
    from dpverify.trusted.kernel.bounds import Infinite
    from dpverify.trusted.kernel.expr import ZERO, format_expr, symbols

    at_delta = judgement.claim.delta not in (None, ZERO) and judgement.delta_upper is not None
    ends = (judgement.delta_lower, judgement.delta_upper) if at_delta else (judgement.lower, judgement.upper)
    if ends[0] == ends[1] and ends[0] is not None and not isinstance(ends[0], Infinite):
        return (format_expr(ends[0]),) * 2
    if any(end is not None and not isinstance(end, Infinite) and symbols(end) for end in ends):
        low, high = ("" if end is None else "inf" if isinstance(end, Infinite) else format_expr(end) for end in ends)
        return low, high
    shown = [
        "" if end is None else "inf" if isinstance(end, Infinite) else decimal_bounds(end, DIGITS)[side] for side, end in enumerate(ends)
    ]
    return shown[0], shown[1]


def agrees(known: str, ends: tuple[str, str]) -> str:
    """Whether what is known from elsewhere is what is proved, as far as it is known."""
    told = [end for end in ends if end]
    if not known:
        return ""
    places = len(known.partition(".")[2]) or 9
    return "yes" if told and all(end == known or _near(end, known, 10.0**-places) for end in told) else "NO"


def _near(end: str, known: str, distance: float) -> bool:
    try:
        return abs(eval_fraction(end) - eval_fraction(known)) <= distance
    except ValueError:
        return False


def eval_fraction(text: str) -> float:
    """A decimal, a fraction or inf as a float. Raises ValueError for a formula."""
    above_, _, below = text.partition("/")
    return float(above_) / float(below or 1)


def main() -> int:
    """Print rows as they are measured, then write the table."""
    from dpverify.search.verify import verify
    from dpverify.trusted.kernel import judgement as kernel

    rows = cases()
    stated = claims(rows)
    forget()
    started = processor()
    for claim in stated:
        kernel.check(verify(claim, DIGITS).certificate)
    together = processor() - started
    machine = f"{platform.machine()}, Python {platform.python_version()}, python-flint {version('python-flint')}"
    lines = [
        "# Selections and streams: the published suites", "",
        f"Time of processors, best of three, caches emptied, {DIGITS} digits; `make bench`. {machine}; {datetime.now(UTC):%Y-%m-%d}.",
        "Published: seconds on other machines (DiPApprox: 1.4 GHz Core i5, all pairs of inputs that are 0 or 1, delta = 0.01; DiPC: the",
        "same machine, delta = 0), out of memory or beyond 600 s; CheckDP and ShadowDP publish up to 120 s a row. Tight: all pairs of the",
        "box, or of all real answers; known: from closed forms and independent integration.", "",
        "| suite | program | claimed | verdict | as known | tight, at least | at most | search, ms | check, ms | bytes | published, s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    slow = wrong = one_sided = 0
    for row, claim in zip(rows, stated, strict=True):
        verified, seconds, _ = timed(lambda claim=claim: verify(claim, DIGITS))
        _, again, _ = timed(lambda data=verified.certificate: kernel.check(data))
        judged = verified.judgement
        ends = tight(judged)
        fits = agrees(row.known, ends)
        expected = judged.verdict == row.verdict
        slow += seconds + again > LIMITS["a row"]
        wrong += not expected or fits == "NO"
        one_sided += not all(ends)
        verdict = judged.verdict if expected else f"{judged.verdict}, {row.verdict} EXPECTED"
        size = len(json.dumps(verified.certificate, separators=(",", ":")))
        cells = (
            row.suite, row.name, row.claimed, verdict, fits, *ends, milliseconds(seconds), milliseconds(again), f"{size:,}", row.published
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    kept = "yes" if together <= LIMITS["all rows"] else "NO"
    lines += [
        "", f"{len(rows)} rows: {wrong} not as expected or known, {slow} above {LIMITS['a row']:g} s for search and check, "
        f"{one_sided} with one side.",
        f"All rows in one run, search and check: {together:.1f} s (promised: {LIMITS['all rows']:g} s; kept: {kept}).",
    ]  # fmt: skip
    print("\n".join(lines[-2:]), flush=True)
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
