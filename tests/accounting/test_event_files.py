"""Events in files: numbers as they are written, all faults at once, and claim files as events and back."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from dpverify.accounting.claim_files import claim_text
from dpverify.accounting.events import FIELDS, Event
from dpverify.accounting.files import Ledger, event_text, extend_ledger, ledger_text, parse_ledger, read_ledger
from dpverify.accounting.from_claims import event_of_file
from dpverify.accounting.relations import Relation
from dpverify.accounting.translate import mechanisms
from dpverify.catalogue import read_spec
from dpverify.errors import SpecError

STEP = """{"class_name": "PoissonSampledDpEvent", "sampling_probability": 0.01,
 "event": {"class_name": "GaussianDpEvent", "noise_multiplier": "11/10"}}"""
GAUSSIAN = Event("GaussianDpEvent", {"noise_multiplier": Fraction(11, 10)})
SAMPLED = Event("PoissonSampledDpEvent", {"sampling_probability": Fraction(1, 100)}, (GAUSSIAN,))


def named(kind, **fields):
    return json.dumps({"class_name": kind, **fields})


def one(text):
    [(event, times)] = parse_ledger(text, "it").events
    assert times == 1
    return event


def faults(text):
    with pytest.raises(SpecError) as told:
        parse_ledger(text, "it")
    return told.value.faults


def test_numbers_are_the_decimals_and_fractions_that_are_written():
    assert one(STEP) == SAMPLED
    assert one(STEP.replace("0.01", "1e-2")) == SAMPLED
    long = one('{"class_name": "GaussianDpEvent", "noise_multiplier": 1.10000000000000000000000000001}')
    assert long["noise_multiplier"] == Fraction("1.10000000000000000000000000001")


def test_what_to_named_tuple_gives_is_read_as_well():
    assert one(STEP.replace('"class_name"', '"module_name": "dp_accounting.dp_event", "class_name"')) == SAMPLED


def test_all_faults_of_a_file_are_told_at_once_each_with_its_place():
    text = """{"class_name": "ComposedDpEvent", "events": [
      {"class_name": "GaussDpEvent"}, {"class_name": "GaussianDpEvent", "noise_multiplier": -1},
      {"class_name": "GaussianDpEvent", "noise": 1}, 3,
      {"class_name": "PoissonSampledDpEvent", "sampling_probability": "1.2"}, {"class_name": "LaplaceDpEvent", "noise_multiplier": "a"},
      {"class_name": "SelfComposedDpEvent", "count": 2.5, "event": {"class_name": "GaussianDpEvent", "noise_multiplier": [1]}}]}"""
    said = faults(text)
    assert [fault.partition(": ")[0] for fault in said] == [
        "it, ComposedDpEvent, events 1",
        "it, ComposedDpEvent, events 2, GaussianDpEvent",
        "it, ComposedDpEvent, events 3",
        "it, ComposedDpEvent, events 4",
        "it, ComposedDpEvent, events 5, PoissonSampledDpEvent",
        "it, ComposedDpEvent, events 5, PoissonSampledDpEvent",
        "it, ComposedDpEvent, events 6, LaplaceDpEvent",
        "it, ComposedDpEvent, events 7, SelfComposedDpEvent, GaussianDpEvent",
        "it, ComposedDpEvent, events 7, SelfComposedDpEvent",
    ]
    assert said[0].endswith("is no event. Did you mean 'GaussianDpEvent'?")
    assert "Noise multiplier must be non-negative, found -1." in said[1]
    assert "Did you mean 'noise_multiplier'?" in said[2]
    assert "Sampling rate must be between 0 and 1" in said[4]
    assert said[5].endswith("event is missing.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON at line 1"),
        ("[]", "an event is wanted"),
        ("{}", "class_name is missing"),
        ('{"class_name": "NoOpDpEvent", "class_name": "NoOpDpEvent"}', "stands twice"),
        ('{"class_name": "GaussianDpEvent", "noise_multiplier": NaN}', "nan is not a number"),
        ('{"class_name": "GaussianDpEvent", "noise_multiplier": Infinity}', "must be finite"),
        ('{"class_name": "GaussianDpEvent", "noise_multiplier": 1e99999999}', "digits"),
        ('{"class_name": "GaussianDpEvent", "noise_multiplier": "1/0"}', "is not a number"),
        ('{"class_name": "GaussianDpEvent", "noise_multiplier": true}', "is not a number"),
        ('{"class_name": "NoOpDpEvent", "module_name": "mine"}', "module_name is"),
        ('{"class_name": "ComposedDpEvent", "events": "NoOpDpEvent"}', "not a list of events"),
        ("[" * 100_000, "nested too deep"),
        ('{"class_name": "ComposedDpEvent", "events": [' * 40 + "]}" * 40, "nested more than 32 deep"),
        (named("MixtureOfGaussiansDpEvent", standard_deviation=1, sensitivities=[1], sampling_probs=[0.5]), "the sum 1"),
        (named("MixtureOfGaussiansDpEvent", standard_deviation=1, sensitivities=[1], sampling_probs=[0.5, 0.5]), "one length"),
        ('{"class_name": "SingleEpochTreeAggregationDpEvent", "noise_multiplier": 1, "step_counts": []}', "the list is empty"),
        ('{"class_name": "SingleEpochTreeAggregationDpEvent", "noise_multiplier": 1, "step_counts": [-3]}', "non-negative"),
        ('{"class_name": "RepeatAndSelectDpEvent", "mean": 0.5, "shape": 1, "event": {"class_name": "NoOpDpEvent"}}', "at least one run"),
        (
            named("SampledWithoutReplacementDpEvent", source_dataset_size=2, sample_size=3, event={"class_name": "NoOpDpEvent"}),
            "with replacement alone",
        ),
        ('{"schema": "another/1", "events": []}', "schema is"),
        ('{"schema": "dpverify-ledger/1"}', "events is missing"),
        ('{"schema": "dpverify-ledger/1", "events": [], "neighboring_relation": "NONE"}', "is none of"),
        ('{"schema": "dpverify-ledger/1", "events": [], "more": 1}', "a ledger has no"),
        ('{"schema": "dpverify-ledger/1", "events": [{"event": {"class_name": "NoOpDpEvent"}}]}', "count is missing"),
    ],
)
def test_each_fault_is_told_in_its_words(text, said):
    assert any(said in fault for fault in faults(text)), faults(text)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        read_ledger(tmp_path / "none.json")


def test_every_event_is_written_as_it_is_read():
    third = Fraction(1, 3)
    values = {"step_counts": (Fraction(3), Fraction(4)), "sensitivities": (Fraction(0), third), "sampling_probs": (third, 2 * third)}
    special = {"mean": Fraction(7, 3), "shape": math.inf, "sample_size": Fraction(1)}
    for kind, fields in FIELDS.items():
        numbers = {
            name: values.get(name) or special.get(name) or (Fraction(2) if wanted.whole else Fraction(1, 3))
            for name, wanted in fields.items()
            if wanted is not None
        }
        inner = tuple([GAUSSIAN] * ("event" in fields) + [GAUSSIAN, SAMPLED] * ("events" in fields))
        event = Event(kind, numbers, inner)
        assert one(event_text(event)) == event


def test_a_ledger_is_written_as_it_is_read():
    for relation in (None, *Relation):
        ledger = Ledger(((GAUSSIAN, 3), (SAMPLED, 100)), relation)
        assert parse_ledger(ledger_text(ledger), "it") == ledger
        assert json.loads(ledger_text(ledger))["schema"] == "dpverify-ledger/1"


CONVERTED = [
    (Relation.ADD_OR_REMOVE_ONE, GAUSSIAN),
    (Relation.REPLACE_ONE, GAUSSIAN),
    (Relation.ADD_OR_REMOVE_ONE, SAMPLED),
    (Relation.REPLACE_SPECIAL, Event("DiscreteLaplaceDpEvent", {"noise_parameter": Fraction(1, 3), "sensitivity": Fraction(2)})),
    (Relation.REPLACE_ONE, Event("RandomizedResponseDpEvent", {"noise_parameter": Fraction(1, 3), "num_buckets": Fraction(4)})),
    (Relation.ADD_OR_REMOVE_ONE, Event("ZCDpEvent", {"rho": Fraction(1, 8), "xi": Fraction(0)})),
    (Relation.ADD_OR_REMOVE_ONE, Event("ExponentialMechanismDpEvent", {"epsilon": Fraction(1, 8)})),
    (Relation.ADD_OR_REMOVE_ONE, Event("EpsilonDeltaDpEvent", {"epsilon": Fraction(1, 8), "delta": Fraction(1, 1000)})),
    (
        Relation.REPLACE_ONE,
        Event("SampledWithoutReplacementDpEvent", {"source_dataset_size": Fraction(50), "sample_size": Fraction(1)}, (GAUSSIAN,)),
    ),
    (Relation.ADD_OR_REMOVE_ONE, Event("RepeatAndSelectDpEvent", {"mean": Fraction(50), "shape": math.inf}, (GAUSSIAN,))),
    (
        Relation.ADD_OR_REMOVE_ONE,
        Event("ComposedDpEvent", {}, (GAUSSIAN, Event("SelfComposedDpEvent", {"count": Fraction(9)}, (SAMPLED,)))),
    ),
    (Relation.REPLACE_ONE, Event("DiscreteGaussianDpEvent", {"sigma": Fraction(2), "sensitivity": Fraction(3), "dimension": Fraction(1)})),
]


@pytest.mark.parametrize(("relation", "event"), CONVERTED, ids=lambda value: getattr(value, "kind", getattr(value, "value", "")))
def test_an_event_is_a_claim_file_that_is_that_event(relation, event, tmp_path):
    file = tmp_path / "it.toml"
    file.write_text(claim_text(mechanisms([(event, 1)], relation).most, epsilon="tight", delta=Fraction(1, 100)))
    read_spec(file)
    assert event_of_file(file, relation) == event


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('kind = "builtin"\nname = "gaussian"\nsigma = "s"\nparameters = { s = "positive" }', "open parameters"),
        ('kind = "radial"\nprofile = "exp(-r)"\nnorm = "l2"\ndimension = 3', "none for the kind 'radial'"),
        (
            'kind = "subsample"\nrate = "1/2"\nscheme = "without_replacement"\npart = { kind = "guarantee", epsilon = 1 }',
            "--neighbours",
        ),
        (
            'kind = "compose"\n[mechanism.part]\nkind = "builtin"\nname = "gaussian"\nsigma = 1\nquery = [[1]]\nadjacency = "add-remove"',
            "a query is stated",
        ),
        ('kind = "builtin"\nname = "k_randomized_response"\nk = 3\np = "1/2"', "there is none for 'k_randomized_response'"),
    ],
)
def test_a_claim_file_that_is_no_event_says_why(text, said, tmp_path):
    file = tmp_path / "it.toml"
    sensitivity = "" if "compose" in text or "subsample" in text or "k_r" in text else "sensitivity = 1\n"
    file.write_text(f'[mechanism]\n{text}\n[[claim]]\n{sensitivity}epsilon = "tight"\n')
    with pytest.raises(SpecError) as told:
        event_of_file(file, Relation.ADD_OR_REMOVE_ONE)
    assert said in str(told.value)


def test_a_tree_in_a_claim_file_is_a_tree(tmp_path):
    file = tmp_path / "it.toml"
    mechanism = '[mechanism]\nkind = "correlated_noise"\nstrategy = "binary_tree"\nsteps = 9\nsigma = 4\n'
    file.write_text(f'{mechanism}[[claim]]\nepsilon = "tight"\ndelta = "1/100"\n')
    tree = event_of_file(file, Relation.REPLACE_SPECIAL)
    assert (tree["noise_multiplier"], tree["step_counts"]) == (4, (9,))


def _added(place, number):
    extend_ledger(place, [(Event("GaussianDpEvent", {"noise_multiplier": Fraction(number)}), 1)], Relation.ADD_OR_REMOVE_ONE)


def test_what_several_add_to_a_ledger_at_once_is_all_there(tmp_path):
    place = tmp_path / "ledger.json"
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: _added(place, number), range(1, 41)))
    found = read_ledger(place)
    assert sorted(event["noise_multiplier"] for event, times in found.events for _ in range(times)) == list(range(1, 41))
    with pytest.raises(SpecError, match="accounted under add-or-remove-one"):
        extend_ledger(place, [], Relation.REPLACE_ONE)
    assert read_ledger(place) == found


def test_a_writer_that_ends_in_the_middle_leaves_the_ledger_as_it_was(tmp_path, monkeypatch):
    place = tmp_path / "ledger.json"
    _added(place, 1)
    before = place.read_text()
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        _added(place, 2)
    monkeypatch.undo()
    assert place.read_text() == before
    _added(place, 2)
    assert [times for _, times in read_ledger(place).events] == [1, 1]
