"""Every field of a claim counts: made much worse, it costs something, or one table says why not.

From generated claims (tests/generated.py), each field is changed (tests/worse.py). The bound that was finite must then be greater or gone:
the search's own, and that of the old certificate with the worse claim put in, which the kernel may refuse. Where a field costs nothing,
what one certificate says of the other claim may still not contradict what is proved of that.
"""

from collections.abc import Iterable

import pytest

from dpverify.trusted.kernel.model import REVERSE, Selection
from tests import generated, worse
from tests.fields import accepted, costs_nothing, decided, findings, pure

CHEAP = ("laplace", "gaussian", "gaussian-query", "table", "kary", "guarantee-pure", "guarantee-gdp")
"""Kinds of which changes are judged in hundredths of a second."""
SELECTIONS = tuple(name for name, leaf in generated.LEAVES.items() if isinstance(leaf.mechanism, Selection))
SAMPLE = 16
SECONDS = ("noisy-keys-alone delta both 0", "discrete-gaussian delta both 0")
"""Kinds that cost seconds at a delta, and are asked for their fields in `make test` by another measure."""
DEEP = 60
"""In how many slices the deep run is, each of `SLICE` claims."""
SLICE = 20


def wrong(names: Iterable[str]) -> tuple[int, list[str]]:
    """How many pairs of claim and field were held against the law, and what did not obey it."""
    pairs, found = 0, []
    for name in names:
        claim = generated.named(name)
        old = decided(claim)
        rule = name.partition("/")[0] if name in generated.COUNTED else None
        if rule is not None and (old is None or rule not in old.judgement.rules or costs_nothing(old.judgement)):
            found.append(f"{name}: nothing is proved by that rule, or the bound is 0")
        if old is None:
            continue
        nothing = costs_nothing(old.judgement)
        for place, value in worse.changes(claim):
            changed = place.put(value)
            # with the record second a sample at rate p has at most -log(1 - p), at every delta, and several have the sum
            held = place.field == "delta" and (pure(old.judgement) or (claim.order == REVERSE and worse.all_sampled(claim.mechanism)))
            free = nothing or worse.neutral(place) or held
            pairs += 1
            found += [f"{name}: {place.name} = {str(value)[:80]}: {what}" for what in findings(old, changed, strict=not free)]
        for place, value in () if nothing else worse.a_little_more(claim):
            pairs += 1
            found += [f"{name}: {place.name} = {str(value)[:80]}: {what}" for what in accepted(old, place.put(value))]
    return pairs, found


def rotated() -> list[str]:
    """Every kind by itself, each in one measure in turn."""
    measures = tuple(generated.MEASURES)
    found = []
    for number, (leaf, made) in enumerate(generated.LEAVES.items()):
        if leaf == "stream-bounds":
            continue  # ten seconds
        name = f"{leaf} {measures[number % len(measures)]} both 0"
        found.append(name if made.quick and leaf not in SELECTIONS and not generated.costly(name) else f"{leaf} epsilon both 0")
        found += [f"{leaf} delta both 0"] * (not made.slow and leaf not in SELECTIONS)
    return found


def test_every_field_of_the_model_is_said_to_count_or_why_not():
    assert not worse.forgotten(), "\n".join(worse.forgotten())


def test_no_table_speaks_of_a_field_that_is_none():
    fields = {(each, field) for each in worse.classes() for field in each.__dataclass_fields__}
    assert {*worse.CHANGES, *((line.model, line.field) for line in worse.NEUTRAL)} <= fields


def test_a_new_field_is_asked_for(monkeypatch):
    monkeypatch.delitem(worse.CHANGES, (worse.Group, "size"))
    monkeypatch.setattr(worse, "NEUTRAL", [line for line in worse.NEUTRAL if line.model is not worse.Group])
    [message, _] = sorted(worse.forgotten(), key=lambda text: "part" in text)
    assert message.startswith("Group.size is a field of which no test says that it counts. Write in tests/worse.py a line of CHANGES")


def test_every_field_that_can_be_worse_is_made_worse_somewhere():
    claims = [*generated.SPECIAL, *generated.alone(), *generated.drawn(generated.combined(1), 80)]
    tried = {(type(place.node), place.field) for name in claims for place, _ in worse.changes(generated.named(name))}
    assert {key for key in worse.CHANGES if key not in tried} == set()


@pytest.mark.wide
@pytest.mark.parametrize("third", [0, pytest.param(1, marks=pytest.mark.deep), pytest.param(2, marks=pytest.mark.deep)])
def test_every_field_of_a_kind_by_itself_counts(third):
    names = [*generated.SPECIAL, *rotated()]
    _, found = wrong([*(name for name in names[third::3] if name not in SECONDS), *SECONDS * (third == 1)])
    assert not found, "\n".join(found)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", generated.COUNTED)
def test_how_often_how_far_and_how_likely_counts_in_every_rule_that_puts_parts_together(name):
    _, found = wrong([name])
    assert not found, "\n".join(found)


@pytest.mark.wide
@pytest.mark.parametrize("depth", [1, 2])
def test_every_field_counts_in_every_combinator_and_measure(depth):
    _, found = wrong(generated.drawn(generated.combined(depth, CHEAP), SAMPLE // depth**2))
    assert not found, "\n".join(found)


def test_how_often_a_part_runs_in_parallel_counts_in_every_measure():
    _, found = wrong(["parallel/laplace renyi-2 both 0"])
    assert not found, "\n".join(found)


@pytest.mark.deep
@pytest.mark.parametrize("number", range(DEEP))
def test_every_field_counts_in_many_more(number, record_property):
    every = [
        *generated.drawn(generated.alone(), 20, seed=1),
        *generated.drawn(generated.combined(1), 600, seed=1),
        *generated.drawn(generated.combined(2), 580, seed=1),
    ]
    pairs, found = wrong(every[number::DEEP])
    record_property("pairs", pairs)
    assert not found, "\n".join(found)
