"""Measure delta, compositions and their certificates, print a table, and write it to reports/delta-bench.md.

Times are taken as in bench/run.py. An exact value stands beside its relative width; a composition by privacy-loss distributions beside
how far its two sides are apart.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from run import ROOT, Row, forget, milliseconds, timed

LEAVES = {
    "Gaussian": 'kind = "builtin"\nname = "gaussian"\nsigma = 1',
    "Laplace": 'kind = "builtin"\nname = "laplace"\nscale = "1/2"',
    "randomized response": 'kind = "builtin"\nname = "randomized_response"\np = "9/10"',
    **{
        f"t, nu = {nu}, d = {d}": f'kind = "builtin"\nname = "student_t"\nnu = "{nu}"\ndimension = {d}'
        for d in (1, 2, 3, 4, 5, 10, 21)
        for nu in ("5", "5/2")
    },
    **{f"exp(-r) in l2, d = {d}": f'kind = "radial"\nprofile = "exp(-2*r)"\nnorm = "l2"\ndimension = {d}' for d in (2, 3, 5, 10)},
}
SUBSAMPLED = (
    'kind = "compose"\ntimes = {times}\npart = {{ kind = "subsample", rate = "1/100", part = '
    '{{ kind = "builtin", name = "gaussian", sigma = 1 }} }}'
)
REPEATED = 'kind = "compose"\ntimes = {times}\npart = {{ kind = "builtin", name = "{name}", {parameter} }}'
COMPOSITIONS = (
    # what, mechanism, epsilon, delta, digits, seconds
    ("100 x Laplace, eps0 = 0.1, exact", REPEATED.format(times=100, name="laplace", parameter="scale = 10"), "2", '"tight"', 20, 10.0),
    ("10^4 x Gaussian, sigma = 50", REPEATED.format(times=10**4, name="gaussian", parameter="sigma = 50"), '"tight"', '"1e-12"', 20, None),
    ("1000 x subsampled Gaussian, q = 0.01, sigma = 1", SUBSAMPLED.format(times=1000), '"tight"', '"1e-5"', 20, 10.0),
    ("10^4 x subsampled Gaussian, q = 0.01, sigma = 1", SUBSAMPLED.format(times=10**4), '"tight"', '"1e-5"', 20, None),
)


def claim(mechanism: str, asked: str) -> Any:
    """The one claim of a mechanism's text."""
    import tempfile

    from dpverify.catalogue import read_spec

    text = f"[mechanism]\n{mechanism}\n[[claim]]\n{asked}\n"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.toml"
        file.write_text(text)
        return read_spec(file).claims[0].claim


def width(judgement: Any) -> str:
    """The relative width of delta's enclosure, or the width of epsilon's."""
    from dpverify.trusted.kernel.balls import constant, precision

    relative = judgement.delta_upper is not None and judgement.delta_lower is not None
    low, high = (judgement.delta_lower, judgement.delta_upper) if relative else (judgement.lower, judgement.upper)
    if low is None or high is None:
        return "one side"
    with precision(300):
        gap, size = constant(high) - constant(low), constant(high)
        return f"{'relative' if relative else 'epsilon'} width {float((gap / size if relative and size > 0 else gap).upper()):.1e}"


def searches() -> Iterator[Row]:
    """Every claim, proved, and its certificate checked again."""
    from dpverify.search.verify import verify
    from dpverify.trusted.kernel import judgement as kernel

    work = [
        (f"delta, {digits} digits", name, text, "1", '"tight"', digits, limit)
        for digits, limit in ((12, 0.1), (20, 0.5))
        for name, text in LEAVES.items()
    ]
    work += [("composition", *row) for row in COMPOSITIONS]
    for group, name, text, epsilon, delta, digits, limit in work:
        additive = tomllib.loads(text).get("name") not in ("randomized_response",) and "compose" not in text
        stated = claim(text, f"epsilon = {epsilon}\ndelta = {delta}" + "\nsensitivity = 1" * additive)
        verified, seconds, load = timed(lambda c=stated, d=digits: verify(c, d))
        judged = verified.judgement
        shown = f"{', '.join(judged.rules)}; {width(judged)}"
        _, again, _ = timed(lambda data=verified.certificate: kernel.check(data))
        shown += f"; kernel alone {milliseconds(again)} ms, {again / seconds:.2f} of it"
        yield Row(group, name, seconds, limit, load, judged.verdict, shown)


def distributions() -> Iterator[Row]:
    """The two known compositions once more, by privacy-loss distributions alone."""
    from flint import arb

    from dpverify.search.composition.loss_distribution import propose
    from dpverify.trusted.facts.pairs import symmetric
    from dpverify.trusted.kernel.balls import precision
    from dpverify.trusted.kernel.expr import parse
    from dpverify.trusted.theories.composition import losses
    from dpverify.trusted.theories.curves.rules import gaussian, laplace

    cases = (
        ("100 x Laplace, eps0 = 0.1", symmetric(laplace.profile(parse("1/10"))), 100, 2.0, None, 6, "0.01857577269954975027676553", 1.0),
        ("10^4 x Gaussian, sigma = 50", gaussian.pair(parse("1/50")), 10**4, None, 1e-12, 4, "1e-12", None),
    )
    for name, pair, times, epsilon, delta, digits, truth, limit in cases:

        def work(pair: Any = pair, times: int = times, epsilon: Any = epsilon, delta: Any = delta, digits: int = digits) -> Any:
            grid = losses.read_grid(propose([pair], [times], epsilon, delta, digits))
            return losses.upper_sums([([pair], times)], grid), losses.lower_sums([([pair], times)], grid)

        (above, below), seconds, load = timed(work)
        with precision(200):
            at = (arb(2) if epsilon is not None else arb("15.64112577946098907")).mid()
            low, high, known = below.at(at), above.at(at), arb(truth)
            safe = "both sides right" if low <= known * (1 + arb("1e-18")) and high >= known * (1 - arb("1e-18")) else "WRONG"
            gap = float(((high - low) / known).upper())
        yield Row("privacy-loss distribution", name, seconds, limit, load, safe, f"relative width of delta {gap:.1e}")


def evaluations() -> Iterator[Row]:
    """A thousand values of a curve, of which a composition takes many."""
    from fractions import Fraction

    from dpverify.trusted.kernel.balls import rational
    from dpverify.trusted.kernel.expr import num, parse
    from dpverify.trusted.kernel.model import Exponential
    from dpverify.trusted.theories.curves.rules import finite_curve as finite
    from dpverify.trusted.theories.curves.rules import gaussian, laplace

    scores = tuple(tuple(num(x * y % 6) for y in range(50)) for x in range(12))
    curves = {
        "Gaussian, sigma = 50": gaussian.profile(parse("1/50")),
        "Laplace, scale 1/2": laplace.profile(parse("2")),
        "exponential mechanism, 12 inputs, 50 outputs": finite.curve(Exponential(scores, parse("1/3"))).upper.forward,
    }
    for name, profile in curves.items():

        def work(profile: Any = profile) -> Any:
            return [profile(rational(Fraction(k, 500))) for k in range(1000)]

        _, seconds, load = timed(work)
        yield Row("1000 values of a curve", name, seconds, 1.0, load)


def main() -> int:
    """Print rows as they are measured, then write the table."""
    lines = ["# Delta and composition: times", "", "Best of three, caches emptied; `make bench`.", ""]
    lines += ["| what | of | ms | limit | kept | verdict | |", "|---|---|---|---|---|---|---|"]
    forget()
    for row in (*searches(), *distributions(), *evaluations()):
        limit = "" if row.limit is None else milliseconds(row.limit)
        lines.append(f"| {row.group} | {row.what} | {milliseconds(row.seconds)} | {limit} | {row.met} | {row.verdict} | {row.numbers} |")
        print(lines[-1], flush=True)
    (ROOT / "reports" / "delta-bench.md").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
