"""Whether outputs have the form in which a declared law is known, of comparisons with numbers, streams, keys: an audit looks at a few."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from dpverify.audits.conformance import FINEST, grid_of
from dpverify.audits.declared.keys import Keys, KeysLaw
from dpverify.audits.declared.numbered import Bins, Leads, NumberedLaw, Told
from dpverify.audits.declared.streams import StreamLaw, Words
from dpverify.audits.outputs import Outputs
from dpverify.audits.plan import Plan
from dpverify.audits.target import Target
from dpverify.errors import AuditError

_LOOKED_AT: Final = 64
_KEY: Final = 1 << 31
"""Of the seed: no block of an audit has so high a number."""


def as_told(plan: Plan, target: Target, root: int, timeout: float) -> tuple[Plan, str]:
    """The plan, without its law where the sampler tells it in another form or rounds its numbers; and what to say of that."""
    law, pair = plan.declared, plan.pairs[0]
    if isinstance(law, KeysLaw) and pair.answers is not None:
        reader: Bins | Leads | Told | Words | Keys = law.reader(len(pair.answers[0]))
    elif isinstance(law, NumberedLaw | StreamLaw):
        reader = law.reader
    else:
        return plan, ""
    rng = np.random.default_rng(np.random.SeedSequence(root, spawn_key=(_KEY,)))
    outputs = target.draw(pair.right if isinstance(reader, Keys) else pair.left, _LOOKED_AT, rng, timeout=timeout)
    try:
        reader.columns(outputs)
    except AuditError as error:
        return alone(plan), f"the declared law was not compared: {error}"
    if isinstance(law, StreamLaw) or isinstance(reader, Words):
        return plan, ""  # of its numbers nothing is declared
    grid = None if law.whole else grid_of(Outputs(reader.numbers_in(outputs)[:, None]))
    if grid is not None and grid > FINEST * law.unit:
        return alone(plan), f"the declared law was not compared: the numbers that are told are multiples of {float(grid):.4g}."
    return plan, ""


def alone(plan: Plan) -> Plan:
    """The plan without its declaration: what is left is a black box."""
    return replace(plan, declared=None, pairs=tuple(replace(pair, answers=None) for pair in plan.pairs))
