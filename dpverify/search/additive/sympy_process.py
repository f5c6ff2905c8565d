"""The process that runs sympy: a loss and a place on its standard input, its stationary point there and its value on its output.

It is started as a script and imports nothing of this package, so that killing it leaves nothing behind. Each line of the output is
a JSON object; the simplest form of the value, which may take long, comes last.
"""

import json
import resource
import sys
from collections.abc import Iterator
from typing import Any

import sympy


def main() -> None:
    """For each question {name, loss, shift, near}: the root of the derivative close to `near`, and the loss at it, in closed form."""
    limit = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    for question in json.load(sys.stdin):
        name = sympy.Symbol(question["name"], real=True)
        known = {question["name"]: name}
        loss, shift = (sympy.sympify(question[key], locals=known) for key in ("loss", "shift"))
        for point in _roots(loss, shift, name, sympy.Rational(question["near"])):
            for value in _forms(loss.subs(name, point)):
                sys.stdout.write(json.dumps({"point": str(point), "value": str(value)}) + "\n")
                sys.stdout.flush()


def _roots(loss: Any, shift: Any, name: Any, near: Any) -> Iterator[Any]:
    """Closed forms of the real root close to `near`. In the middle of both points, the loss of a symmetric density is odd or even."""
    slope = sympy.together(sympy.diff(loss, name).subs(name, name - shift / 2))
    polynomial = sympy.Poly(sympy.expand(sympy.numer(slope)), name)
    size = abs(near) + 1
    for root in sympy.roots(polynomial):
        place = sympy.N(root - shift / 2, 40)
        if abs(sympy.re(place) - near) < size / 10**9 and abs(sympy.im(place)) < size / 10**20:
            yield sympy.radsimp(root - shift / 2)


def _forms(value: Any) -> Iterator[Any]:
    """The value as it is, then simplified."""
    yield value
    yield sympy.simplify(sympy.logcombine(sympy.expand_log(value, force=True), force=True))


if __name__ == "__main__":
    main()
