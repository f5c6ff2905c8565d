"""Makes known_values.toml: tight epsilons by mpmath at 60 digits, each from a closed form and by brute force.

Run `python tests/golden/compute.py` to write the table anew. Nothing of dpverify is imported: an
expected value must never come from the code that it tests. A closed form is compared with brute
force wherever both exist (brute force may only come near a supremum that lies at infinity).

An entry's fields: `mechanism` and `claim`, the lines of a claim file; `epsilon`, 30 digits or "inf";
`exact`, the same number as an expression of claim files; `source`; `decide = false` where an answer
of UNKNOWN is acceptable and only soundness is asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path

from mpmath import asinh, besselk, cosh, e, erfc, exp, expm1, inf, log, mp, mpf, quad, sqrt

mp.dps = 60
Real = Callable[[mpf], mpf]
GOLDEN = (sqrt(mpf(5)) - 1) / 2


# -- brute force ---------------------------------------------------------------------------------


def climb(f: Real, low: mpf, high: mpf) -> mpf:
    """The largest value of a function with one hill on [low, high], by golden sections."""
    ends = max(f(low), f(high))
    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    fa, fb = f(a), f(b)
    for _ in range(210):
        if fa >= fb:
            high, b, fb = b, a, fa
            a = high - GOLDEN * (high - low)
            fa = f(a)
        else:
            low, a, fa = a, b, fb
            b = low + GOLDEN * (high - low)
            fb = f(b)
    return max(fa, fb, ends)


def grid(low: mpf, high: mpf, cells: int) -> list[mpf]:
    """Points on [low, high], dense about the point of the interval nearest to zero."""
    if low < 0 < high:
        return sorted({*(-x for x in grid(mpf(0), -low, cells)), *grid(mpf(0), high, cells)})
    return [low + (high - low) * (mpf(i) / cells) ** 3 for i in range(cells + 1)]


def highest(f: Real, low: mpf, high: mpf, cells: int = 500) -> mpf:
    """The largest value of f on [low, high]: a grid, then golden sections about its three best points."""
    points = grid(mpf(low), mpf(high), cells)
    with mp.workdps(18):
        values = [f(x) for x in points]
    best = sorted(range(len(points)), key=lambda i: -values[i])[:3]
    return max(climb(f, points[max(0, i - 1)], points[min(len(points) - 1, i + 1)]) for i in best)


def modulus(h: Real, delta: mpf, low: mpf, high: mpf) -> mpf:
    """sup of h(b) - h(a) over a, b in [low, high] with |a - b| <= delta.

    The worst pair is at distance delta or is an inner maximum and minimum of h; both are tried, and a
    coarse square of pairs confirms that nothing between them is worse.
    """
    delta = mpf(delta)
    worst = max(highest(lambda a: h(a + delta) - h(a), low, high - delta), highest(lambda a: h(a) - h(a + delta), low, high - delta))
    with mp.workdps(18):
        points = grid(mpf(low), mpf(high), 150)
        values = [h(x) for x in points]
    for i, top in enumerate(values):
        for j, bottom in enumerate(values):
            if abs(points[i] - points[j]) <= delta and top - bottom > worst + mpf(10) ** -12:
                b = climb(h, points[max(0, i - 1)], points[min(len(points) - 1, i + 1)])
                a = climb(lambda x: -h(x), points[max(0, j - 1)], points[min(len(points) - 1, j + 1)])
                worst = max(worst, b + a)
    return worst


def split(w: Real, delta: mpf, parts: int) -> mpf:
    """The largest sum of w over an l1 budget delta shared by `parts` coordinates, for concave or convex w."""
    return max(k * w(delta / k) for k in range(1, parts + 1))


def worst_ratio(rows: Sequence[Sequence[mpf]], pairs: Iterable[tuple[int, int]] | None = None) -> mpf:
    """The largest log-ratio of a table over pairs of rows in both orders; every pair unless told."""
    chosen = list(pairs) if pairs is not None else [(i, j) for i in range(len(rows)) for j in range(len(rows))]
    return max(log(p / q) for i, j in chosen for a, b in ((rows[i], rows[j]), (rows[j], rows[i])) for p, q in zip(a, b, strict=True))


def exponential_rows(scores: Sequence[Sequence[mpf]], beta: mpf) -> list[list[mpf]]:
    """Probabilities proportional to exp(beta * score)."""
    weights = [[exp(beta * score) for score in row] for row in scores]
    return [[weight / sum(row) for weight in row] for row in weights]


# -- the table -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """One known value."""

    name: str
    mechanism: str
    claim: str
    epsilon: mpf
    source: str
    exact: str = ""
    decide: bool = True


ENTRIES: list[Entry] = []


def known(
    name: str,
    mechanism: str,
    claim: str,
    source: str,
    *,
    closed: mpf | None = None,
    brute: mpf | None = None,
    at_infinity: bool = False,
    exact: str = "",
    decide: bool = True,
) -> None:
    """Add an entry; a closed form and a brute-force value must agree."""
    if closed is not None and brute is not None and closed != inf:
        if brute > closed + mpf(10) ** -40 or (brute < closed - mpf(10) ** -40 and not at_infinity):
            raise SystemExit(f"{name}: closed form {mp.nstr(closed, 35)}, brute force {mp.nstr(brute, 35)}")
        if at_infinity and brute < closed * mpf("0.9"):
            raise SystemExit(f"{name}: brute force {mp.nstr(brute, 10)} does not come near {mp.nstr(closed, 10)}")
    value = closed if closed is not None else brute
    assert value is not None
    ENTRIES.append(Entry(name, mechanism, claim, value, source, exact, decide))


def radial(
    name: str,
    profile: str,
    h: Real | None,
    delta: str,
    source: str,
    *,
    dimension: int = 2,
    norm: str = '"l2"',
    extra: str = "",
    closed: mpf | None = None,
    high: int = 80,
    at_infinity: bool = False,
    exact: str = "",
    decide: bool = True,
) -> None:
    """A radial entry; h = -log(profile) up to a constant, None where the claim is hopeless at any epsilon."""
    key = "log_profile" if profile.startswith("log:") else "profile"
    text = f'kind = "radial"\n{key} = "{profile.removeprefix("log:")}"\nnorm = {norm}\ndimension = {dimension}\n{extra}'
    brute = None if h is None else modulus(h, number(delta), mpf(0), mpf(high))
    known(name, text, f'sensitivity = "{delta}"', source, closed=closed, brute=brute, at_infinity=at_infinity, exact=exact, decide=decide)


def translation(
    name: str,
    density: str,
    h: Real | None,
    delta: str,
    source: str,
    *,
    extra: str = "",
    closed: mpf | None = None,
    high: int = 60,
    at_infinity: bool = False,
    exact: str = "",
    decide: bool = True,
) -> None:
    """A translation entry; h = -log(density) up to a constant."""
    brute = None if h is None else modulus(h, number(delta), -mpf(high), mpf(high))
    text = f'kind = "translation"\ndensity = "{density}"\n{extra}'
    known(name, text, f'sensitivity = "{delta}"', source, closed=closed, brute=brute, at_infinity=at_infinity, exact=exact, decide=decide)


def number(text: str) -> mpf:
    """The value of a decimal or a fraction."""
    value = Fraction(text)
    return mpf(value.numerator) / value.denominator


CONCAVE = "theory#concave-exponent: -log of the profile is concave, so the supremum is at r = sensitivity"
CONVEX = "theory#convex-exponent: -log of the profile is convex, so the supremum is sensitivity times the slope at infinity"
BRUTE = "theory#two-argument-modulus, brute-force maximisation"
SHIFT = "theory#translation-on-the-line, brute-force maximisation"
LIPSCHITZ = "theory#translation-on-the-line: the slope of -log density is bounded by, and reaches, this constant"
HOPELESS = "theory#divergence: the log-ratio is unbounded"


def t_closed(nu: str, d: int, delta: str) -> mpf:
    """theory#power-identity."""
    return (number(nu) + d) * asinh(number(delta) / (2 * sqrt(number(nu))))


def radial_profiles() -> None:
    for nu, d, delta, exact in (
        ("5", 3, "1", "8*asinh(1/(2*sqrt(5)))"),
        ("1/2", 7, "3/2", "15/2*asinh(3/(4*sqrt(1/2)))"),
        ("1", 1, "10", "2*asinh(5)"),
        ("1/3", 200, "1", "601/3*asinh(sqrt(3)/2)"),
        ("30", 2, "100", "32*asinh(50/sqrt(30))"),
        ("4", 2, "1e-9", "6*asinh(1e-9/4)"),
    ):
        v, n = number(nu), d
        radial(
            f"t nu={nu} d={d} sensitivity {delta}",
            "(1 + r**2/nu)**(-(nu + d)/2)",
            lambda r, v=v, n=n: (v + n) / 2 * log(1 + r * r / v),
            delta,
            "theory#power-identity; maximiser Reimherr & Awan 2019, Example 6",
            dimension=d,
            extra=f'parameters = {{ nu = "{nu}", d = {d} }}',
            closed=t_closed(nu, d, delta),
            high=400,
            exact=exact,
        )
    radial(
        "t in the maximum norm",
        "(1 + r**2/3)**(-7/2)",
        lambda r: mpf(7) / 2 * log(1 + r * r / 3),
        "2",
        "theory#power-identity: any norm",
        dimension=4,
        norm='"linf"',
        closed=7 * asinh(1 / sqrt(mpf(3))),
        exact="7*asinh(1/sqrt(3))",
    )
    radial(
        "t at scale 2",
        "(1 + r**2/5)**-4",
        lambda r: 4 * log(1 + r * r / 20),
        "1",
        "theory#power-identity, sensitivity before scale",
        dimension=3,
        extra="scale = 2",
        closed=8 * asinh(1 / (4 * sqrt(mpf(5)))),
        exact="8*asinh(sqrt(5)/20)",
    )
    radial(
        "fourth power of 1 + r",
        "(1 + r)**-4",
        lambda r: 4 * log(1 + r),
        "1",
        CONCAVE,
        dimension=3,
        closed=4 * log(mpf(2)),
        exact="4*log(2)",
    )
    radial("exponent r + sqrt(r)", "log:-r - sqrt(r)", lambda r: r + sqrt(r), "1", CONCAVE, closed=mpf(2), exact="2")
    radial(
        "exponent r + sqrt(r), small shift",
        "log:-r - sqrt(r)",
        lambda r: r + sqrt(r),
        "1/100",
        CONCAVE,
        closed=mpf(11) / 100,
        exact="11/100",
    )
    radial("cube root", "exp(-r**(1/3))", lambda r: mp.cbrt(r), "2", CONCAVE, closed=mp.cbrt(2), exact="2**(1/3)")
    radial("exponential over 1 + r", "exp(-r)/(1 + r)", lambda r: r + log(1 + r), "1", CONCAVE, closed=1 + log(mpf(2)), exact="1 + log(2)")
    radial(
        "logarithm of 1 + r and r",
        "log:-3*log(1 + r) - r/2",
        lambda r: 3 * log(1 + r) + r / 2,
        "1",
        CONCAVE,
        dimension=5,
        closed=mpf(1) / 2 + 3 * log(mpf(2)),
        exact="1/2 + 3*log(2)",
    )
    radial(
        "inverse hyperbolic sine", "exp(-3*asinh(r))", lambda r: 3 * asinh(r), "1", CONCAVE, closed=3 * asinh(mpf(1)), exact="3*asinh(1)"
    )
    radial(
        "two exponentials",
        "exp(-r) + 2*exp(-3*r)",
        lambda r: -log(exp(-r) + 2 * exp(-3 * r)),
        "1",
        CONCAVE,
        dimension=4,
        closed=log(3 / (exp(mpf(-1)) + 2 * exp(mpf(-3)))),
        exact="log(3/(exp(-1) + 2*exp(-3)))",
    )
    radial(
        "three exponentials, l1",
        "exp(-r/2) + exp(-r) + exp(-10*r)",
        lambda r: -log(exp(-r / 2) + exp(-r) + exp(-10 * r)),
        "1/2",
        CONCAVE,
        dimension=3,
        norm='"l1"',
        closed=log(3 / (exp(mpf(-1) / 4) + exp(mpf(-1) / 2) + exp(mpf(-5)))),
    )
    radial("hyperbola", "exp(-sqrt(1 + r**2))", lambda r: sqrt(1 + r * r), "1", CONVEX, closed=mpf(1), at_infinity=True, exact="1")
    radial("1 + r times exponential", "(1 + r)*exp(-r)", lambda r: r - log(1 + r), "1", CONVEX, closed=mpf(1), at_infinity=True, exact="1")
    radial(
        "Matern 5/2",
        "(1 + r + r**2/3)*exp(-r)",
        lambda r: r - log(1 + r + r * r / 3),
        "2",
        CONVEX,
        closed=mpf(2),
        at_infinity=True,
        exact="2",
    )
    radial(
        "r^2 over 1 + r", "exp(-r**2/(1 + r))", lambda r: r * r / (1 + r), "3/4", CONVEX, closed=mpf(3) / 4, at_infinity=True, exact="3/4"
    )
    radial("Fermi", "1/(1 + exp(r))", lambda r: log(1 + exp(r)), "1", CONVEX, closed=mpf(1), at_infinity=True, exact="1")
    radial(
        "one minus tanh",
        "1 - tanh(r)",
        lambda r: log(1 + exp(2 * r)),
        "1/2",
        CONVEX,
        closed=mpf(1),
        at_infinity=True,
        exact="1",
        decide=False,
    )
    radial(
        "sech squared in three dimensions",
        "cosh(r)**-2",
        lambda r: 2 * log(cosh(r)),
        "1/3",
        CONVEX,
        dimension=3,
        closed=mpf(2) / 3,
        at_infinity=True,
        exact="2/3",
    )
    radial(
        "r K_1(r)",
        "r*besselk(1, r)",
        lambda r: -log(r * besselk(1, r)) if r else mpf(0),
        "1",
        CONVEX,
        closed=mpf(1),
        at_infinity=True,
        exact="1",
        high=40,
        decide=False,
    )
    radial("kinked concave, past the kink", "exp(-min(2*r, r + 1))", lambda r: min(2 * r, r + 1), "3", CONCAVE, closed=mpf(4), exact="4")
    radial("kinked concave, at the kink", "exp(-min(2*r, r + 1))", lambda r: min(2 * r, r + 1), "1", CONCAVE, closed=mpf(2), exact="2")
    radial("kinked convex", "exp(-max(r, 2*r - 1))", lambda r: max(r, 2 * r - 1), "1/2", CONVEX, closed=mpf(1), exact="1")
    radial("bump on a line", "exp(-r - r/(1 + r**2))", lambda r: r + r / (1 + r * r), "1", BRUTE, exact="3/2")
    radial("squared logarithm", "exp(-log(1 + r)**2)", lambda r: log(1 + r) ** 2, "1", BRUTE, dimension=1, high=200)
    radial("quartic decay", "(1 + r**4)**-2", lambda r: 2 * log(1 + r**4), "1", BRUTE, dimension=3)
    radial("quartic decay, sensitivity 1/10", "(1 + r**4)**-2", lambda r: 2 * log(1 + r**4), "1/10", BRUTE, dimension=3)
    radial("exponential plus power", "exp(-r) + (1 + r**2)**-3", lambda r: -log(exp(-r) + (1 + r * r) ** -3), "1", BRUTE, dimension=2)
    radial(
        "Gaussian plus power",
        "exp(-r**2) + (1 + r**2)**-4/100",
        lambda r: -log(exp(-r * r) + (1 + r * r) ** -4 / 100),
        "1",
        BRUTE,
        dimension=2,
    )
    radial("product of powers", "1/((1 + r**2)*(4 + r**2)**2)", lambda r: log(1 + r * r) + 2 * log(4 + r * r), "2", BRUTE, dimension=3)
    radial(
        "normal inverse Gaussian",
        "besselk(1, sqrt(1 + r**2))/sqrt(1 + r**2)",
        lambda r: log(1 + r * r) / 2 - log(besselk(1, sqrt(1 + r * r))),
        "1",
        BRUTE,
        dimension=1,
        high=40,
    )
    radial("slash", "(1 - exp(-r**2/2))/r**2", lambda r: -log(-expm1(-r * r / 2) / r**2) if r else log(mpf(2)), "1", BRUTE, dimension=1)
    radial(
        "complementary error function of a logarithm",
        "erfc(log(1 + r))",
        lambda r: -log(erfc(log(1 + r))),
        "1",
        BRUTE,
        dimension=1,
        high=300,
    )
    radial(
        "rising then falling, fourth power",
        "(1 + r**2)**4*exp(-r)",
        lambda r: r - 4 * log(1 + r * r),
        "1",
        BRUTE + "; theory#two-argument-modulus gives 2.8496945",
    )
    radial(
        "rising then falling, square",
        "(1 + r**2)**2*exp(-r)",
        lambda r: r - 2 * log(1 + r * r),
        "1/2",
        "theory#two-argument-modulus: the rise gives 4*asinh(1/4) - 1/2 = 0.48987, the slope at infinity a little more",
        closed=mpf(1) / 2,
        at_infinity=True,
        exact="1/2",
    )
    radial("rising then falling, cube of 1 + 5 r", "(1 + 5*r)**3*exp(-r)", lambda r: r - 3 * log(1 + 5 * r), "1", BRUTE)
    radial(
        "hole at the centre, wide shift",
        "(r**2 + 1/1000)*exp(-r)",
        lambda r: r - log(r * r + mpf(1) / 1000),
        "3",
        BRUTE + ": the pair is the centre and the peak",
    )
    radial("ring", "exp(-abs(r - 1))", lambda r: abs(r - 1), "1/2", BRUTE, closed=mpf(1) / 2, exact="1/2")
    radial("dip", "exp(-r)*(1 - 0.9*exp(-(r - 3)**2))", lambda r: r - log(1 - mpf("0.9") * exp(-((r - 3) ** 2))), "1", BRUTE, dimension=1)
    stairs = "one jump of 1 each half unit: the number of jumps that a shift can cross"
    radial("half-unit stairs, whole shift", "exp(-floor(2*r))", None, "1", stairs, closed=mpf(2), exact="2")
    radial("half-unit stairs, three quarters", "exp(-floor(2*r))", None, "3/4", stairs, closed=mpf(2), exact="2")
    radial("half-unit stairs, half", "exp(-floor(2*r))", None, "1/2", stairs, closed=mpf(1), exact="1")
    radial(
        "stairs on a slope", "exp(-r - floor(r))", None, "1/2", stairs + ", plus the slope", closed=mpf(3) / 2, exact="3/2", decide=False
    )
    for name, profile, dimension in (
        ("Gaussian", "exp(-r**2/2)", 3),
        ("exponent r log(1 + r)", "exp(-r*log(1 + r))", 2),
        ("zero at the centre", "r*exp(-r)", 2),
        ("pole at the centre", "exp(-r)/sqrt(r)", 2),
        ("logarithmic pole", "besselk(0, r)", 2),
        ("stretched pole", "exp(-sqrt(r))/r**(1/10)", 1),
        ("complementary error function", "erfc(r)", 1),
        ("power 11/10", "exp(-r**(11/10))", 4),
        ("hyperbolic cosine", "exp(-cosh(r))", 1),
        ("triangle", "max(0, 1 - r)", 1),
    ):
        radial(name, profile, None, "1/10", HOPELESS, dimension=dimension, closed=inf)


def norms() -> None:
    radial(
        "exponential in l_{5/2}",
        "exp(-2*r)",
        lambda r: 2 * r,
        "3/7",
        CONVEX,
        dimension=3,
        norm='{ lp = "5/2" }',
        closed=mpf(6) / 7,
        exact="6/7",
    )
    body = 'kind = "radial"\nprofile = "exp(-r)"\n'
    known(
        "ellipsoid with queries",
        body + "norm = { ellipsoid = [[2, 1], [1, 3]] }\ndimension = 2\n",
        'query = [[1, 0, 1, 2], [0, 1, 1, -1]]\nadjacency = "add-remove"',
        "theory#sensitivity-of-a-linear-query: the largest f' Sigma^-1 f over columns f, (2, -1) gives 18/5",
        closed=sqrt(mpf(18) / 5),
        exact="sqrt(18/5)",
    )
    known(
        "ellipsoid with queries, replace",
        body + "norm = { ellipsoid = [[2, 1], [1, 3]] }\ndimension = 2\n",
        'query = [[1, 0, 1], [0, 1, 1]]\nadjacency = "replace"',
        "theory#sensitivity-of-a-linear-query: over differences of columns, (1, -1) gives 7/5",
        closed=sqrt(mpf(7) / 5),
        exact="sqrt(7/5)",
    )
    known(
        "square root of two queries in l2",
        body + 'norm = "l2"\ndimension = 3\n',
        'query = [[1, 1, 0], [1, 0, 1], [1, 1, 1]]\nadjacency = "l1"',
        "theory#sensitivity-of-a-linear-query: the longest column",
        closed=sqrt(mpf(3)),
        exact="sqrt(3)",
    )
    known(
        "cross-polytope by its columns",
        body + "norm = { columns = [[1, 0], [0, 1]] }\ndimension = 2\n",
        'query = [[1, 2], [1, -1]]\nadjacency = "add-remove"',
        "theory#gauges: the gauge is the l1 norm",
        closed=mpf(3),
        exact="3",
    )
    known(
        "hexagon by its facets",
        body + "norm = { facets = [[1, 0], [0, 1], [1, 1]] }\ndimension = 2\n",
        'query = [[1, 2, 1], [1, -1, 0]]\nadjacency = "add-remove"',
        "the largest |<a, f>|: <(1, 1), (1, 1)> = 2 and <(1, 0), (2, -1)> = 2",
        closed=mpf(2),
        exact="2",
    )
    known(
        "gauge between the columns",
        body + "norm = { columns = [[2, 0], [0, 3], [1, 1]] }\ndimension = 2\n",
        'query = [[2, 1], [3, 4]]\nadjacency = "l1"',
        "theory#gauges: (2, 3) = (2, 0) + (0, 3) has gauge 2 by <(1/2, 1/3), .>; (1, 4) has 11/6",
        closed=mpf(2),
        exact="2",
    )
    known(
        "t in a polytope norm",
        'kind = "radial"\nprofile = "(1 + r**2/5)**-4"\nnorm = { columns = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]] }\ndimension = 3\n',
        'query = [[1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 1, 1]]\nadjacency = "add-remove"',
        "theory#k-norm-mechanism: a query's own body has sensitivity 1",
        closed=8 * asinh(1 / (2 * sqrt(mpf(5)))),
        exact="8*asinh(sqrt(5)/10)",
    )


def translations() -> None:
    translation("asymmetric Laplace", "exp(-abs(z) - z/2)", lambda z: abs(z) + z / 2, "1", LIPSCHITZ, closed=mpf(3) / 2, exact="3/2")
    translation("one kink", "exp(-max(2*z, -z))", lambda z: max(2 * z, -z), "1/3", LIPSCHITZ, closed=mpf(2) / 3, exact="2/3")
    translation(
        "steeper outside",
        "exp(-max(abs(z), 2*abs(z) - 1))",
        lambda z: max(abs(z), 2 * abs(z) - 1),
        "2",
        LIPSCHITZ,
        closed=mpf(4),
        exact="4",
    )
    translation(
        "steeper inside", "exp(-min(abs(z), 1) - abs(z)/2)", lambda z: min(abs(z), 1) + abs(z) / 2, "2", SHIFT, closed=mpf(2), exact="2"
    )
    translation("plateau", "exp(-max(0, abs(z) - 1))", lambda z: max(mpf(0), abs(z) - 1), "1", LIPSCHITZ, closed=mpf(1), exact="1")
    translation("two peaks", "exp(-abs(abs(z) - 1))", lambda z: abs(abs(z) - 1), "1", LIPSCHITZ, closed=mpf(1), exact="1")
    translation("two Laplace peaks", "exp(-abs(z)) + exp(-2*abs(z - 1))", lambda z: -log(exp(-abs(z)) + exp(-2 * abs(z - 1))), "1", SHIFT)
    translation(
        "two Cauchy peaks", "1/(1 + z**2) + 1/(1 + (z - 3)**2)", lambda z: -log(1 / (1 + z * z) + 1 / (1 + (z - 3) ** 2)), "1", SHIFT
    )
    translation(
        "two far Cauchy peaks, wide shift",
        "1/(1 + z**2) + 1/(1 + (z - 10)**2)",
        lambda z: -log(1 / (1 + z * z) + 1 / (1 + (z - 10) ** 2)),
        "7",
        SHIFT,
        high=150,
    )
    translation(
        "generalized logistic, type I",
        "exp(-z)/(1 + exp(-z))**3",
        lambda z: z + 3 * log(1 + exp(-z)),
        "1",
        LIPSCHITZ,
        closed=mpf(2),
        at_infinity=True,
        exact="2",
    )
    translation(
        "logistic at scale 3",
        "exp(-z/3)/(1 + exp(-z/3))**2",
        lambda z: z / 3 + 2 * log(1 + exp(-z / 3)),
        "1",
        LIPSCHITZ,
        closed=mpf(1) / 3,
        at_infinity=True,
        exact="1/3",
    )
    translation("skewed t", "(1 + z**2)**-2*exp(asinh(z))", lambda z: 2 * log(1 + z * z) - asinh(z), "1", SHIFT)
    translation(
        "Johnson", "exp(-(asinh(z) + 1)**2/2)/sqrt(1 + z**2)", lambda z: (asinh(z) + 1) ** 2 / 2 + log(1 + z * z) / 2, "1", SHIFT, high=200
    )
    translation(
        "skewed hyperbolic",
        "exp(-2*sqrt(1 + z**2) + z)",
        lambda z: 2 * sqrt(1 + z * z) - z,
        "1/2",
        LIPSCHITZ,
        closed=mpf(3) / 2,
        at_infinity=True,
        exact="3/2",
    )
    translation(
        "skewed normal inverse Gaussian",
        "exp(z/2)*besselk(1, sqrt(1 + z**2))/sqrt(1 + z**2)",
        lambda z: -z / 2 + log(1 + z * z) / 2 - log(besselk(1, sqrt(1 + z * z))),
        "1",
        SHIFT,
        high=30,
        decide=False,
    )
    translation(
        "off centre",
        "1/(1 + (z - 7)**2)",
        lambda z: log(1 + (z - 7) ** 2),
        "1",
        "theory#power-identity, moved",
        closed=2 * asinh(mpf(1) / 2),
        exact="2*asinh(1/2)",
    )
    translation(
        "cusp", "exp(-sqrt(abs(z)))", lambda z: sqrt(abs(z)), "1/4", "theory#concave-exponent, a = 1/2", closed=mpf(1) / 2, exact="1/2"
    )
    translation("stairs", "exp(-floor(abs(z)))", None, "1", "one jump of 1 each unit", closed=mpf(1), exact="1", decide=False)
    for name, density, extra in (
        ("Gumbel", "exp(-z - exp(-z))", ""),
        ("off-centre Gaussian", "exp(-(z - 3)**2)", ""),
        ("half-line", "exp(-z)", 'support = [0, "inf"]'),
        ("interval", "1 + z**2", "support = [-1, 1]"),
        ("zero inside", "z**2*exp(-abs(z))", ""),
        ("pole inside", "exp(-abs(z))/sqrt(abs(z - 1))", ""),
    ):
        translation(name, density, None, "1/10", "theory#divergence: the log-ratio is unbounded", extra=extra, closed=inf)


def products() -> None:
    def add(name: str, density: str, lines: str, delta: str, source: str, value: mpf, exact: str = "", decide: bool = True) -> None:
        known(
            name,
            f'kind = "product"\ndensity = "{density}"\n{lines}',
            f'sensitivity = "{delta}"',
            source,
            closed=value,
            exact=exact,
            decide=decide,
        )

    slope = "theory#product-noise: the slope of -log density times the largest l1 length"
    add("logistic product", "exp(-z)/(1 + exp(-z))**2", "dimension = 3", "2", slope, mpf(2), "2")
    add("hyperbolic product", "exp(-sqrt(1 + z**2))", "dimension = 4", "1/2", slope, mpf(1) / 2, "1/2")
    add("Laplace product in l2", "exp(-abs(z))", 'dimension = 5\nnorm = "l2"', "1", slope, sqrt(mpf(5)), "sqrt(5)")
    add("Laplace product in linf", "exp(-abs(z)/2)", 'dimension = 3\nnorm = "linf"', "1", slope, mpf(3) / 2, "3/2")
    add("Laplace product in l_{3/2}", "exp(-abs(z))", 'dimension = 8\nnorm = { lp = "3/2" }', "1", slope, mpf(2), "2")
    add("asymmetric Laplace product", "exp(-abs(z) - z/2)", "dimension = 2", "1", slope, mpf(3) / 2, "3/2")
    w = lambda s: 2 * asinh(s / 2)  # noqa: E731
    add(
        "Cauchy product",
        "1/(1 + z**2)",
        "dimension = 2",
        "1",
        "theory#product-noise: a concave modulus splits the budget",
        split(w, mpf(1), 2),
        "4*asinh(1/4)",
        decide=False,
    )
    add(
        "stretched product",
        "exp(-sqrt(abs(z)))",
        "dimension = 4",
        "1",
        "theory#product-noise: sqrt(s) splits in four",
        mpf(2),
        "2",
        decide=False,
    )
    add("Gaussian product", "exp(-z**2)", "dimension = 2", "1", HOPELESS, inf)


def tables() -> None:
    def add(name: str, rows: Sequence[Sequence[str]], value: mpf, source: str, exact: str = "", adjacent: str = '"all"') -> None:
        known(name, f'kind = "table"\nrows = {json.dumps(rows)}\nadjacent = {adjacent}', "", source, closed=value, exact=exact)

    def direct(rows: Sequence[Sequence[str]], pairs: list[tuple[int, int]] | None = None) -> mpf:
        return worst_ratio([[number(entry) for entry in row] for row in rows], pairs)

    counted = "theory#finite-table, every ratio"
    circle = [["1/2", "1/3", "1/6"], ["1/6", "1/2", "1/3"], ["1/3", "1/6", "1/2"]]
    add("circulant", circle, direct(circle), counted, "log(3)")
    chain = [["8/15", "4/15", "2/15", "1/15"], ["4/15", "1/3", "4/15", "2/15"], ["1/8", "3/8", "3/8", "1/8"]]
    add("chain", chain, direct(chain, [(0, 1), (1, 2)]), counted, "log(32/15)", "[[0, 1], [1, 2]]")
    add("chain, any pair", chain, direct(chain), counted, "log(64/15)")
    add("odds of e", [["exp(1)/(1 + exp(1))", "1/(1 + exp(1))"], ["1/(1 + exp(1))", "exp(1)/(1 + exp(1))"]], mpf(1), counted, "1")
    add("identical rows", [["1/3", "2/3"], ["1/3", "2/3"]], mpf(0), counted, "0")
    add("a zero against a number", [["1/2", "1/2", "0"], ["1/2", "1/4", "1/4"]], inf, "theory#finite-table: a zero facing a non-zero")
    add(
        "zeros against zeros",
        [["1/2", "0", "1/2"], ["1/4", "0", "3/4"]],
        log(mpf(2)),
        "theory#finite-table: an output that never happens costs nothing",
        "log(2)",
    )
    fractions = [["0.1", "0.2", "0.3", "0.4"], ["0.25", "0.25", "0.25", "0.25"]]
    add("decimals are exact", fractions, direct(fractions), counted, "log(5/2)")


def kernels() -> None:
    def add(name: str, density: str, ends: str, claim: str, value: mpf, source: str, exact: str = "", decide: bool = True) -> None:
        known(name, f'kind = "kernel"\ndensity = "{density}"\n{ends}', claim, source, closed=value, exact=exact, decide=decide)

    unit = "output = [0, 1]\ninput = [0, 1]"
    bounded = "exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))"

    def c(t: mpf) -> mpf:
        return 2 - exp(-t) - exp(t - 1)

    for delta, exact in (("1", "1"), ("1/4", "1/4 + log((2 - exp(-1/4) - exp(-3/4))/(1 - exp(-1)))"), ("1/100", "")):
        s = number(delta)
        both = [lambda t, s=s: s + log(c(t + s) / c(t)), lambda t, s=s: s + log(c(t) / c(t + s))]
        value = max(highest(f, mpf(0), 1 - s, 200) for f in both) if s < 1 else s
        add(
            f"bounded Laplace, inputs within {delta}",
            bounded,
            unit,
            f'sensitivity = "{delta}"',
            value,
            "theory#kernel: y at the end beyond theta, the worst theta by brute force",
            exact,
        )
    tilt = "theta*exp(theta*y)/(exp(theta) - 1)"
    add(
        "tilted uniform",
        tilt,
        "output = [0, 1]\ninput = [1, 2]",
        "",
        log((e + 1) / 2),
        "theory#kernel: worst at y = 0, between the ends",
        "log((exp(1) + 1)/2)",
    )
    add(
        "linear tilt",
        "(1 + theta*y)/2",
        'output = [-1, 1]\ninput = ["-1/2", "1/2"]',
        "",
        log(mpf(3)),
        "theory#kernel: worst at a corner",
        "log(3)",
    )
    add(
        "linear tilt, close inputs",
        "(1 + theta*y)/2",
        'output = [-1, 1]\ninput = ["-1/2", "1/2"]',
        'sensitivity = "1/2"',
        log(mpf(2)),
        "theory#kernel: from theta = 0 to -1/2 at y = 1",
        "log(2)",
    )
    add(
        "linear tilt to the brim",
        "(1 + theta*y)/2",
        "output = [-1, 1]\ninput = [-1, 1]",
        "",
        inf,
        "theory#kernel: a density that reaches zero",
        decide=False,
    )
    add(
        "logistic kernel on the line",
        "1/(4*cosh((y - theta)/2)**2)",
        'output = ["-inf", "inf"]\ninput = [0, 1]',
        "",
        mpf(1),
        "theory#translation-on-the-line: slope of a logistic",
        "1",
        decide=False,
    )
    add(
        "piecewise mechanism",
        "1/3 - 1/4*min(1, floor(abs(y - 2*theta)))",
        "output = [-3, 3]\ninput = [-1, 1]",
        "",
        log(mpf(4)),
        "Wang et al. 2019, at e^(epsilon/2) = 2",
        "log(4)",
        decide=False,
    )


def exponentials() -> None:
    def add(name: str, scores: Sequence[Sequence[str]], beta: str, exact: str = "") -> None:
        rows = exponential_rows([[number(s) for s in row] for row in scores], number(beta))
        known(
            name,
            f'kind = "exponential"\nscores = {json.dumps(scores)}\nbeta = "{beta}"',
            "",
            "theory#finite-table: every ratio",
            closed=worst_ratio(rows),
            exact=exact,
        )

    add("two outputs", [["0", "1"], ["1", "0"]], "1", "1")
    add("three outputs", [["3", "1", "0"], ["2", "2", "1"]], "1/2", "1/2 + log((exp(3/2) + exp(1/2) + 1)/(2*exp(1) + exp(1/2)))")
    add("uneven scores", [["0", "1/2", "7"], ["1/3", "0", "6"], ["0", "0", "13/2"]], "2/3")
    add("five outputs", [["5", "4", "3", "2", "1"], ["4", "5", "4", "3", "2"], ["3", "4", "5", "4", "3"]], "1/4")
    points = [mpf(0), mpf(1), mpf(3), mpf(7)]
    rows = exponential_rows([[-abs(a - b) for b in points] for a in points], mpf(1) / 3)
    known(
        "points of the line",
        'kind = "exponential"\npoints = [[0], [1], [3], [7]]\nmetric = "l1"\nbeta = "1/3"',
        "",
        "theory#exponential-general: every ratio",
        closed=worst_ratio(rows),
    )
    corners = list(product((0, 1), repeat=3))
    rows = exponential_rows([[-mpf(sum(abs(a - b) for a, b in zip(x, y, strict=True))) for y in corners] for x in corners], mpf(1) / 2)
    assert abs(worst_ratio(rows) - mpf(3) / 2) < mpf(10) ** -50
    known(
        "corners of a cube",
        f'kind = "exponential"\npoints = {json.dumps(corners)}\nmetric = "l1"\nbeta = "1/2"',
        "",
        "theory#exponential-general: homogeneous, beta times the diameter",
        closed=mpf(3) / 2,
        exact="3/2",
    )


def builtins() -> None:
    for name, parameters, claim, value, exact, source in (
        ("laplace", 'scale = "3/2"', "sensitivity = 2", mpf(4) / 3, "4/3", "Dwork, McSherry, Nissim & Smith 2006"),
        ("discrete_laplace", "scale = 4", "sensitivity = 3", mpf(3) / 4, "3/4", "Ghosh, Roughgarden & Sundararajan 2009"),
        ("staircase", 'epsilon = "5/2", gamma = "1/7"', "sensitivity = 1", mpf(5) / 2, "5/2", "Geng & Viswanath 2016"),
        ("randomized_response", 'p = "7/10"', "", log(mpf(7) / 3), "log(7/3)", "Warner 1965; theory#finite-table"),
        ("k_randomized_response", 'k = 10, p = "1/2"', "", log(mpf(9)), "log(9)", "Kairouz, Oh & Viswanath 2014; theory#kary-response"),
        (
            "student_t",
            "nu = 3, dimension = 4, scale = 2",
            "sensitivity = 1",
            7 * asinh(1 / (4 * sqrt(mpf(3)))),
            "7*asinh(1/(4*sqrt(3)))",
            "theory#power-identity",
        ),
        ("knorm", 'columns = [[1, 1], [1, -1]], epsilon = "1/3"', 'sensitivity = "3/2"', mpf(1) / 2, "1/2", "theory#k-norm-mechanism"),
        ("gaussian", "sigma = 3", "sensitivity = 1", inf, "", "Reimherr & Awan 2019, Example 5"),
        ("discrete_gaussian", "sigma = 3", "sensitivity = 1", inf, "", "theory#divergence"),
    ):
        known(
            f"builtin {name}",
            f'kind = "builtin"\nname = "{name}"\nparameters = {{ {parameters} }}',
            claim,
            source,
            closed=value,
            exact=exact,
        )


def mixtures() -> None:
    def add(name: str, profile: str, mixing: str, support: str, d: int, value: mpf, source: str, exact: str = "") -> None:
        text = f'kind = "mixture"\nprofile = "{profile}"\nmixing = "{mixing}"\nsupport = {support}\nnorm = "l2"\ndimension = {d}'
        known(name, text, "sensitivity = 1", source, closed=value, exact=exact, decide=False)

    half = '[0, "inf"]'
    add(
        "t as a Gaussian of random variance",
        "exp(-r**2/(2*v))/v**(3/2)",
        "v**(-7/2)*exp(-5/(2*v))",
        half,
        3,
        t_closed("5", 3, "1"),
        "Reimherr & Awan 2019, Theorem 1; theory#mixture-closed-form",
    )
    add(
        "Lomax as an exponential of gamma rate",
        "v*exp(-v*r)",
        "v*exp(-v)",
        half,
        1,
        3 * log(mpf(2)),
        "the mixture is (1 + r)^-3; " + CONCAVE,
    )
    add(
        "rates between 1 and 2",
        "v**2*exp(-v*r)",
        "1/v**2",
        "[1, 2]",
        2,
        -log(exp(mpf(-1)) - exp(mpf(-2))),
        "the mixture is (exp(-r) - exp(-2 r))/r; " + CONCAVE,
    )
    add("slash in three dimensions", "v**3*exp(-v**2*r**2/2)", "1", "[0, 1]", 3, modulus(slash3, mpf(1), mpf(0), mpf(80)), BRUTE)
    value = mpf(1) / 2 - log(
        quad(lambda t: exp(-exp(-t) - t - t * t / 2), [-8, -6, -4, -3, -2, -1, 0, 1, 2, 4, 8, 14, 24]) / sqrt(2 * mp.pi)
    )
    add(
        "Laplace-log-normal",
        "exp(-r/v)/v",
        "exp(-log(v)**2/2)/v",
        half,
        1,
        value,
        "Bun & Steinke 2019; log(g(0)/g(1)), g(0) = exp(1/2); " + CONCAVE,
    )


def slash3(r: mpf) -> mpf:
    """-log of (2 - (2 + r^2) exp(-r^2/2))/r^4."""
    if r == 0:
        return log(mpf(4))
    with mp.extradps(40):
        x = r * r / 2
        return -log((1 - (1 + x) * exp(-x)) / (2 * x * x))


def write(path: Path) -> None:
    """The table as TOML."""
    lines = ["# Tight epsilons known from theory and from brute force. Made by compute.py; do not edit.", ""]
    for entry in ENTRIES:
        epsilon = "inf" if entry.epsilon == inf else mp.nstr(entry.epsilon, 32, strip_zeros=False, min_fixed=-20, max_fixed=40)
        lines += [
            "[[value]]",
            f"name = {json.dumps(entry.name)}",
            f"mechanism = '''\n{entry.mechanism.rstrip()}\n'''",
            f"claim = '''{entry.claim}'''",
            f'epsilon = "{epsilon}"',
        ]
        if entry.exact:
            lines.append(f'exact = "{entry.exact}"')
        lines += [f"source = {json.dumps(entry.source)}", f"decide = {str(entry.decide).lower()}", ""]
    path.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    for part in (radial_profiles, norms, translations, products, tables, kernels, exponentials, builtins, mixtures):
        part()
    names = [entry.name for entry in ENTRIES]
    assert len(set(names)) == len(names), sorted(name for name in names if names.count(name) > 1)
    write(Path(__file__).with_name("known_values.toml"))
