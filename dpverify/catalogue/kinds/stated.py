"""Mechanisms of which only a guarantee is known, or nothing but an implementation."""

from __future__ import annotations

from typing import Final

from dpverify.catalogue.kinds import fields
from dpverify.catalogue.kinds.kind import Kind, Sensitivity, Starter, Values, itself, law
from dpverify.catalogue.toml import Fields
from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.model import Filter, Guarantee, Sampled

# -- guarantees ------------------------------------------------------------------------------------------------

_MEASURES: Final = ("epsilon", "curve", "zcdp", "gdp", "renyi", "bounded_range")


def _guarantee(_: Kind, table: Fields, values: Values) -> Guarantee | None:
    """One measure, and its numbers."""
    key = next((name for name in _MEASURES if values[name] is not None), None)
    order = values["order"]
    if key not in ("epsilon", None) and table.has("delta"):
        table.fault(f"delta goes with epsilon, not with {key}.")
    if key is None:
        return None
    if key == "epsilon":
        return Guarantee("approximate", ((values["epsilon"], values["delta"] or ZERO),), order)
    if key in ("curve", "renyi"):
        return Guarantee("approximate" if key == "curve" else key, values[key], order)
    return Guarantee(key, ((values[key],),), order)


GUARANTEE = Kind(
    model=Guarantee,
    what="A mechanism of which only a guarantee is known. It is assumed, not proved.",
    fields=(
        fields.EPSILON.optional(),
        fields.DELTA,
        fields.CURVE,
        fields.ZCDP,
        fields.GDP,
        fields.RENYI,
        fields.BOUNDED_RANGE,
        fields.ORDER,
    ),
    one_of=(_MEASURES,),
    conditions={"dependencies": {"delta": ["epsilon"]}},
    build=_guarantee,
    formula=law("stated.guarantee"),
    plain=itself,
    neighbours=lambda known, moved: f"those of the stated guarantee{f', in the order {known.order}' if known.order else ''}",
    sensitivity=Sensitivity.NONE,
    instead="a guarantee already speaks of neighbours. For inputs further apart use the kind group.",
    starter=Starter(
        brief="a mechanism of which only a guarantee is known.",
        mechanism="""\
# Only this is known of the mechanism, and it is assumed, not proved.
kind = "guarantee"
epsilon = 1                                 # with delta = ... beside it, where it is not 0; or one of these instead:
# curve = [["1/2", "1e-3"], [1, "1e-6"]]    # (epsilon, delta), several that hold together
# zcdp = "1/8"                              # rho
# gdp = "1/2"                               # mu of Gaussian differential privacy
# renyi = [[2, "1/4"], [8, 1]]              # (alpha, epsilon of that order)
# bounded_range = 1                         # eta
""",
        audit="pairs = [[[10], [11]]]    # neighbouring inputs: what the sampler is called with",
    ),
)

# -- budgets ---------------------------------------------------------------------------------------------------


def _filter(_: Kind, __: Fields, values: Values) -> Filter | None:
    """A budget in one measure."""
    budget = values["budget"]
    return None if budget is None else Filter(budget[0], (budget[1],))


FILTER = Kind(
    model=Filter,
    what="Parts chosen adaptively, none begun that might exceed a budget: a privacy filter.",
    fields=(fields.BUDGET,),
    build=_filter,
    formula=law("stated.budget"),
    plain=itself,
    neighbours=lambda known, moved: "those of all parts",
    sensitivity=Sensitivity.NONE,
    instead="the parts already speak of neighbours. For inputs further apart use the kind group.",
    starter=Starter(
        brief="parts chosen adaptively, none begun that might exceed a budget.",
        mechanism="""\
# Whoever asks chooses each part, and what it may cost, after seeing all outputs before; a part with which the sum of what was spent might
# exceed the budget is not begun.
kind = "filter"
budget = { epsilon = 1 }    # with delta = ... beside it, where it is not 0; or one of these instead:
# budget = { zcdp = "1/2" }                        # the sum of rho
# budget = { gdp = 1 }                             # the root of the sum of mu^2
# budget = { renyi = { order = 8, epsilon = 1 } }  # the sum of divergences of one order
""",
        sampler="""\
def sample(data, size, rng):
    \"""Two answers with Laplace noise, the second at what the first leaves of the budget, or at less; one row for each output.\"""
    first = data[0] + rng.laplace(0, 2, size)              # spends 1/2
    scale = np.where(first > 10, 2, 4)                     # spends 1/2 or 1/4
    return np.stack([first, data[0] + scale * rng.laplace(0, 1, size)], axis=1)
""",
        audit="pairs = [[[10], [11]]]    # neighbouring inputs: here true answers",
    ),
)

# -- samplers --------------------------------------------------------------------------------------------------


def _given(_: Sampled, moved: str) -> str:
    return f"answers at most {moved} apart" if moved else "the inputs that the audit is given"


SAMPLED = Kind(
    model=Sampled,
    what="No declaration, only a sampled implementation: the [audit] table says where it is.",
    formula=law("stated.sampled"),
    plain=itself,
    neighbours=_given,
    starter=Starter(
        brief="an implementation that declares nothing, audited from the outside.",
        mechanism="""\
kind = "sampled"    # nothing is declared: `dpverify verify` cannot decide, and `dpverify audit` looks for violations from the outside
""",
        audit="pairs = [[[10], [11]]]             # neighbouring inputs: what the sampler is called with; more pairs, more is looked at",
        declared=False,
    ),
)
