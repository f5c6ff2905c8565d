"""Measure what is deployed: keys, correlated noise, shuffling, runs, integer noise. Writes reports/deployed-bench.md.

Times are taken as in bench/run.py: best of three, caches emptied.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from deltas import claim, width
from run import ROOT, Row, forget, milliseconds, timed

BANDS = ", ".join(f'"1/{k}"' for k in range(1, 65))
LAWS = (
    '{ law = "geometric", mean = 100 }',
    '{ law = "logarithmic", mean = 100 }',
    '{ law = "poisson", mean = 10 }',
    '{ law = "negative_binomial", eta = "1/2", gamma = "1/100" }',
    '{ law = "fixed", number = 10 }',
)
LAPLACE = '{ kind = "builtin", name = "laplace", scale = 1 }'
ROWS = (
    # group, what, mechanism, what is claimed, digits, seconds
    (
        "noisy keys",
        "100 keys, Laplace(100), threshold 4000",
        f'kind = "noisy_keys"\nnoise = {LAPLACE.replace("scale = 1", "scale = 100")}\nthreshold = 4000\nkeys = 100',
        'epsilon = 1\ndelta = "tight"',
        12,
        0.05,
    ),
    (
        "correlated noise",
        "10^4 steps, 64 bands, 20 participations 400 apart",
        f'kind = "correlated_noise"\nstrategy = "toeplitz"\ncoefficients = [{BANDS}]\nsteps = 10000\nsigma = 4\n'
        "participation = { times = 20, separation = 400 }",
        'epsilon = "tight"\ndelta = "1e-6"',
        12,
        1.0,
    ),
    (
        "shuffling",
        "10^6 people of epsilon 1, at delta 1e-8",
        'kind = "shuffle"\npart = { kind = "guarantee", epsilon = 1 }\npeople = 1000000',
        'epsilon = "tight"\ndelta = "1e-8"',
        6,
        2.0,
    ),
    *(
        ("best of several runs", runs.split('"')[1], f'kind = "best_of"\npart = {LAPLACE}\nruns = {runs}', 'epsilon = "tight"', 20, 0.01)
        for runs in LAWS
    ),
    (
        "integer noise",
        "binomial, n = 1000, p = 1/2",
        'kind = "builtin"\nname = "binomial"\nn = 1000\np = "1/2"',
        'epsilon = 1\ndelta = "tight"\nsensitivity = 1',
        12,
        0.05,
    ),
    (
        "integer noise",
        "Skellam, mean 100",
        'kind = "builtin"\nname = "skellam"\nmean = 100',
        'epsilon = 1\ndelta = "tight"\nsensitivity = 1',
        12,
        0.05,
    ),
    (
        "integer noise",
        "sum of 20 discrete Gaussians of sigma 10",
        'kind = "sum"\npart = { kind = "builtin", name = "discrete_gaussian", sigma = 10 }\ntimes = 20',
        'epsilon = 1\ndelta = "tight"\nsensitivity = 1',
        12,
        None,
    ),
    (
        "bounded range",
        "10 exponential mechanisms of beta 1/10 and 10 Gaussians of sigma 20",
        'kind = "compose"\n[[mechanism.parts]]\nkind = "exponential"\nbeta = "1/10"\ncandidates = 100\ntimes = 10\n'
        '[[mechanism.parts]]\nkind = "builtin"\nname = "gaussian"\nsigma = 20\ntimes = 10',
        'epsilon = "tight"\ndelta = "1e-9"',
        6,
        None,
    ),
)  # fmt: skip


def searches() -> Iterator[Row]:
    """Every claim, decided, and its certificate checked again."""
    from dpverify.search.verify import verify
    from dpverify.trusted.kernel import judgement as kernel
    from dpverify.trusted.kernel.proof import forget as forget_facts

    def judged_anew(stated: Any, digits: int) -> Any:
        forget_facts()
        return verify(stated, digits)

    def checked_anew(certificate: Any) -> Any:
        forget_facts()
        return kernel.check(certificate)

    for group, what, mechanism, asked, digits, limit in ROWS:
        stated = claim(mechanism, asked)
        verified, seconds, load = timed(lambda c=stated, d=digits: judged_anew(c, d))
        judged = verified.judgement
        _, again, _ = timed(lambda data=verified.certificate: checked_anew(data))
        shown = f"{', '.join(judged.rules)}; {width(judged)}; kernel alone {milliseconds(again)} ms"
        yield Row(group, what, seconds, limit, load, judged.verdict, shown)


def main() -> int:
    """Print rows as they are measured, then write the table."""
    lines = ["# What is deployed: times", "", "Best of three, caches emptied; `make bench`.", ""]
    lines += ["| what | of | ms | limit | kept | verdict | |", "|---|---|---|---|---|---|---|"]
    forget()
    for row in searches():
        limit = "" if row.limit is None else milliseconds(row.limit)
        lines.append(f"| {row.group} | {row.what} | {milliseconds(row.seconds)} | {limit} | {row.met} | {row.verdict} | {row.numbers} |")
        print(lines[-1], flush=True)
    (ROOT / "reports" / "deployed-bench.md").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
