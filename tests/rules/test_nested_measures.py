"""Combinators of combinators over two tables that share their inputs, in other measures than epsilon and delta."""

from itertools import product

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import (
    Claim,
    Compose,
    Group,
    KaryResponse,
    Lipschitz,
    Measure,
    Parallel,
    Part,
    PostProcess,
    Subsample,
    Table,
)

TWO = parse("2")
FIRST = Part(Table(tuple(tuple(map(parse, row)) for row in (("1/2", "1/2"), ("1/4", "3/4")))))
SECOND = Part(Table(tuple(tuple(map(parse, row)) for row in (("1/3", "2/3"), ("1/4", "3/4")))))
RESPONSE = Part(KaryResponse(TWO, parse("2/3")))
OF = {
    "compose": lambda a, b: Compose((a, b)),
    "parallel": lambda a, b: Parallel((a, b)),
    "subsample": lambda a, _: Subsample(a, parse("1/3")),
    "group": lambda a, _: Group(a, TWO),
    "lipschitz": lambda a, _: Lipschitz(a, TWO),
    "post_process": lambda a, _: PostProcess(a),
}
RENYI = Measure("renyi", None, TWO)


def known(mechanism, measure):
    """The two bounds on the tight value, None where there is none."""
    judged = verify(Claim(mechanism, None, measure=measure), 6).judgement
    return judged.lower, judged.upper


@pytest.mark.wide
def test_two_combinators_over_two_tables_are_judged_in_every_order():
    """Nothing stops with a fault; and the bounds lie the right way round, from whichever rules they come."""
    for outer, inner in product(OF, repeat=2):
        lower, upper = known(OF[outer](Part(OF[inner](FIRST, SECOND)), RESPONSE), RENYI)
        if lower is not None and upper is not None:
            assert not constant(lower) > constant(upper), (outer, inner)


@pytest.mark.parametrize("measure", [RENYI, Measure("gdp", None)], ids=("renyi", "gdp"))
@pytest.mark.parametrize("parts", [(FIRST, SECOND), (FIRST, RESPONSE)], ids=("tables", "a response"))
def test_a_map_of_the_output_keeps_the_bound_of_what_is_behind_it(measure, parts):
    """And tells nothing from below: what it leaves to be seen is not known."""
    lower, upper = known(PostProcess(Part(Compose(parts))), measure)
    assert lower is None and upper == known(Compose(parts), measure)[1]
