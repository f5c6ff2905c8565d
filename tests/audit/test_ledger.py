"""Audits that go on where the last one stopped: nothing that was committed is lost, nothing counts twice, no stream is used twice."""

import importlib
import json
import multiprocessing
import os
import sqlite3
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import dpverify as dp
from dpverify.audits import ledger as module
from dpverify.audits import nights as nights_module
from dpverify.audits import versions
from dpverify.audits.bets import mixture
from dpverify.audits.capital import BROKE, Capital, Carried, Night, read, share_of
from dpverify.audits.ledger import Key, Ledger
from dpverify.audits.plan import make_plan
from dpverify.audits.run import Run, Settings
from dpverify.audits.trail import Look
from dpverify.audits.versions import code_of, digest
from dpverify.errors import AuditError, SamplerError
from dpverify.runtime.finding import MODEL, NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.kernel.model import Claim, Sampled

audits = importlib.import_module("dpverify.audits")
running = importlib.import_module("dpverify.audits.run")  # the package has a function of this name
FORK = multiprocessing.get_context("fork")
KEY = Key("a.toml", "one", "noise:laplace", "epsilon = 1", 0.99)
CLAIM = Claim(Sampled(), Num(1), Num(0), None)


def answers(truth, claimed=1.0):
    """Randomized response that has epsilon `truth`."""

    def answer(data, size, rng):
        return np.where(rng.random(size) < 1 / (1 + np.exp(-truth)), data[0], 1 - data[0])

    return answer


def audited(path, truth=1.0, *, samples=2000, confidence=0.99, seed=1, sampler=None, **more):
    return dp.audit(
        sampler or answers(truth), epsilon=1.0, pairs=[[[0], [1]]], samples=samples, confidence=confidence, seed=seed, ledger=path, **more
    )


def begun(ledger, key=KEY, code="c", seed=1, inherit="nothing", parts=None):
    return ledger.begin(key, parts or {"claim": "x"}, code, seed=seed, planned=10, inherit=inherit, made_with={})


def capital(log_money, pair="p"):
    test = Carried(MODEL, pair, None, 2, np.array([log_money]), -1.0, 0.25, np.ones((2, 2), np.int64))
    return Capital((test,), (BROKE, BROKE))


def nights(path):
    return [night for claim in Ledger(path).claims() for history in claim["histories"] for night in history["nights"]]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "audits.db"


# -- one night after another -----------------------------------------------------------------------------------


@pytest.mark.wide
def test_a_bug_is_found_by_nights_of_which_none_finds_it_alone(path):
    """Randomized response of epsilon 1.05 against 1: its information is 4e-4 nats a pair, and it takes about 16 nats."""
    assert dp.audit(answers(1.05), epsilon=1.0, pairs=[[[0], [1]]], samples=20_000, seed=0).is_clean
    said = []
    while len(said) < 10 and (not said or said[-1] == NO_VIOLATION_SEEN):
        said.append(audited(path, 1.05, samples=20_000, confidence=1 - 1e-6).finding)
    assert said[-1] == VIOLATION and len(said) > 1
    assert [night["number"] for night in nights(path)] == list(range(1, len(said) + 1))


def test_the_evidence_of_a_night_begins_where_that_of_the_last_one_ended(path):
    audited(path, 1.02, samples=20_000)
    [first] = nights(path)
    owned = module.read(json.loads(first["capital"]))
    audited(path, 1.02, samples=20_000)
    second = nights(path)[1]
    assert second["taken"] is None and nights(path)[0]["taken"] == second["id"]
    again = module.read(json.loads(second["capital"]))
    assert module.read(json.loads(nights(path)[0]["capital"])) == Capital(), "what was handed on is there once"
    assert max(test.counts.sum() for test in again.tests) >= max(test.counts.sum() for test in owned.tests) + 18_000


@pytest.mark.parametrize("declared", [False, True])
def test_money_of_the_start_is_what_was_brought_and_the_share_of_the_night(declared, path):
    claim = dp.audits.inline.stated(dp.laplace(scale=1), {"sensitivity": 1, "epsilon": 1}).claim if declared else CLAIM
    plan = make_plan(claim, pairs=None if declared else [[[0], [1]]])
    if declared:
        for seed in (1, 2):
            dp.audit(lambda data, size, rng: data[0] + rng.laplace(size=size), claim, samples=2000, confidence=0.99, seed=seed, ledger=path)
    else:
        audited(path, 1.0)
    night = begun(Ledger(path), Key(*[nights_key(path)[key] for key in Key._fields]), code=code_in(path))
    state = Run(plan, Settings(2000, 0.01, night=night.night))
    assert any(test.before for test in state.tests)
    for level in (MODEL, "float"):
        start = state.handed_on().money(level)
        assert np.exp(start) <= np.exp(night.night.brought.money(level)) + night.night.fresh + 1e-9
    assert night.night.fresh == share_of(3 if declared else 2)


@pytest.mark.wide
@pytest.mark.parametrize("declared", [False, True])
def test_where_no_bet_wins_or_loses_all_money_is_what_was_given_out(declared, path, monkeypatch):
    """Whatever moves from test to test, from pair to pair and from night to night: also in a last stretch that is long."""

    def idle(*arguments, **options):
        bets = mixture(*arguments, **options)
        return replace(bets, log_left=0 * bets.log_left, log_right=0 * bets.log_right)

    monkeypatch.setattr(running, "mixture", idle)
    monkeypatch.setattr(running, "LONG", 3000)
    given = 0.0
    for number, samples in enumerate((3000, 900, 6000), 1):
        options = {"samples": samples, "confidence": 0.99, "ledger": path, "seed": 1}
        if declared:
            dp.audit(lambda data, size, rng: data[0] + rng.laplace(size=size), dp.laplace(scale=1), sensitivity=1, epsilon=1, **options)
        else:
            dp.audit(lambda data, rng: rng.normal(sum(data), 3.0), epsilon=2.0, pairs=[[[0], [1]], [[1], [2]], [[0, 0], [1]]], **options)
        night, given = nights(path)[-1], given + share_of(number)
        owned = module.read(json.loads(night["capital"]))
        money = [float(np.exp(owned.money(level))) for level in (MODEL, "float")]
        assert sum(money) <= given and money[0] > given / 3
        assert night["evidence"] <= 0


@pytest.mark.parametrize("kept", ["ledger", "checkpoint"])
@pytest.mark.parametrize("idle", [False, True])
def test_the_books_of_a_run_are_right(kept, idle, path, monkeypatch):
    """What a test owns is what it began with and was given since, times what its bets made; where they make nothing, all is 1 at most."""
    states = []

    def spied(*arguments, **options):
        states.append(running.run(*arguments, **options))
        return states[-1]

    def mixed(*arguments, **options):
        bets = mixture(*arguments, **options)
        return replace(bets, log_left=0 * bets.log_left, log_right=0 * bets.log_right) if idle else bets

    for where in (nights_module, audits):
        monkeypatch.setattr(where, "run", spied)
    monkeypatch.setattr(running, "mixture", mixed)
    for samples in (2000, 5000):
        options = {"samples": samples, "confidence": 0.99, "seed": 1, kept: path}
        dp.audit(lambda data, size, rng: data[0] + rng.laplace(size=size), dp.laplace(scale=1), sensitivity=1, epsilon=1, **options)
    last = states[-1]
    assert len(states) >= 2 and any(test.before for test in last.tests) and (kept == "ledger" or last.settings.night.fresh == 0)
    for test in last.tests:
        if np.isfinite(test.log_capital):
            assert test.log_start + test.log_added == pytest.approx(test.log_capital, abs=1e-9)
    if idle:
        assert sum(np.exp(last.handed_on().money(level)) for level in (MODEL, "float")) <= 1 + 1e-9


@pytest.mark.parametrize("part", [0.5, 1.0])
def test_what_moves_is_neither_made_nor_lost(part):
    state = Run(make_plan(CLAIM, pairs=[[[0], [1]]]), Settings(2000, 0.01))
    partition = dp.audits.floats.float_partitions(np.zeros(1), np.ones(1), np.dtype(np.float64))[0]
    tests = [state._add(MODEL, 0, partition, share) for share in (0.5, 0.25)]
    for test, wealth in zip(tests, (2.0, -3.0), strict=True):
        test.log_wealth = wealth
    before = [np.exp(test.log_capital + test.log_wealth) for test in tests]
    state._move(*tests, part)
    after = [np.exp(test.log_capital + test.log_wealth) for test in tests]
    assert after == pytest.approx([before[0] * (1 - part), before[1] + before[0] * part])


def test_what_is_said_of_the_density_has_the_part_of_its_night():
    claim = dp.audits.inline.stated(dp.laplace(scale=1), {"sensitivity": 1, "epsilon": 1}).claim
    for number in (1, 2, 3):
        state = Run(make_plan(claim), Settings(2000, 0.01, night=Night(share_of(number))))
        share = state._share_of(state.pools[0])
        need = -np.log(0.7 * 0.01) - np.log(0.2 * 0.8 * share_of(number))
        assert not state._suspect(MODEL, share, Look(10, need - 1e-6), "too wide", [], False)
        assert state._suspect(MODEL, share, Look(10, need + 1e-6), "too wide", [], False)


def wide(data, size, rng):
    """Laplace noise that is a twentieth too wide, on a grid that floats do not give away."""
    return np.round((data[0] + rng.laplace(0, 1.05, size)) * 2**20) / 2**20


def conforming(sampler, path, **more):
    claimed = {"sensitivity": 1, "epsilon": 1}
    return dp.audit(sampler, dp.laplace(scale=1), **claimed, samples=2000, confidence=0.999, level=MODEL, ledger=path, **more)


def test_what_is_sorted_for_conformance_adds_up_over_nights(path):
    alone = [conforming(wide, None, seed=seed).finding for seed in range(6)]
    assert set(alone) == {NO_VIOLATION_SEEN}
    found = [conforming(wide, path, seed=seed).finding for seed in range(6)]
    assert found[0] == NO_VIOLATION_SEEN and found[-1] == NONCONFORMING


def test_tests_of_the_density_go_on_with_the_share_that_they_began_with(path):
    for seed in range(2):
        conforming(lambda data, size, rng: np.round((data[0] + rng.laplace(0, 1, size)) * 2**20) / 2**20, path, seed=seed)
    first, second = (read(json.loads(text)) for (text,) in capitals(path)), read(json.loads(capitals(path)[1][0]))
    assert next(first) == Capital()  # what was handed on is nobody else's
    sides, pool = sorted(second.conforming, key=lambda one: one.count)[:-1], max(second.conforming, key=lambda one: one.count)
    assert pool.count == 2 * sides[0].count == 2 * sides[1].count == pool.total.sum()
    assert sum(one.share for one in second.conforming) == pytest.approx(share_of(1) * (0.2 * 0.8 + 0.2 * 0.2 * 0.8))


def capitals(path):
    with Ledger(path).reading() as rows:
        return rows.execute("SELECT capital FROM nights ORDER BY id").fetchall()


CALLS = []


def failing(data, size, rng):
    """Of its first calls the twelfth has a nan."""
    CALLS.append(size)
    outputs = answers(1.0)(data, size, rng).astype(float)
    return np.where(np.arange(size) == 3, np.nan, outputs) if len(CALLS) == 12 else outputs


def test_a_night_that_ends_with_nan_hands_on_what_it_had_before(path):
    CALLS.clear()
    with pytest.raises(SamplerError, match="nan"):
        audited(path, sampler=failing)
    (broken,) = nights(path)
    assert broken["state"] == "broken off" and broken["samples"] > 0
    audited(path, sampler=failing)
    assert nights(path)[0]["taken"] == nights(path)[1]["id"]


def test_bounds_of_a_test_that_goes_on_are_of_one_test_alone():
    """Of two nights at once the money is added up, and counts are not: which of them go on was chosen by what they won."""
    claim = dp.audits.inline.stated(dp.laplace(scale=1), {"sensitivity": 1, "epsilon": 1}).claim
    plan = make_plan(claim)
    [size] = {test.partition.size for test in Run(plan, Settings(2000, 0.01)).of_declaration.values() if test.pair == 0}
    name = Run(plan, Settings(2000, 0.01)).named(0)
    several = []
    for seen, share, owned in ((7, 0.3, 1.0), (9, 0.1, -2.0)):
        counts = np.full((size, size), seen, np.int64)
        several.append(Carried(MODEL, name, None, size, np.array([owned]), -1.0, share, counts))
    night = Night(share_of(3), Capital(tuple(several)))
    test = Run(plan, Settings(2000, 0.01, night=night)).of_declaration[0]
    assert (test.counts == several[1].counts).all() and test.share == 0.1 and test.before == test.pairs_seen
    new = np.exp(Run(plan, Settings(2000, 0.01, night=Night(share_of(3)))).of_declaration[0].log_capital)
    assert np.exp(test.log_capital + test.log_wealth) == pytest.approx(np.exp(1.0) + np.exp(-2.0) + new)


def nights_key(path):
    return Ledger(path).claims()[0]


def code_in(path):
    return Ledger(path).claims()[0]["histories"][-1]["versions"][-1]["code"]


def test_no_stream_of_random_numbers_is_used_twice(path):
    seen = []

    def watched(data, size, rng):
        seen.append(rng.bit_generator.seed_seq.entropy)
        return answers(1.0)(data, size, rng)

    for _ in range(3):
        audited(path, sampler=watched, seed=7, samples=300)
    roots = {night["root"] for night in nights(path)}
    assert len(roots) == 3 and len(set(map(str, seen))) == 3
    other = path.with_name("other.db")
    audited(other, sampler=watched, seed=7, samples=300)
    assert {night["root"] for night in nights(other)} < roots, "a seed repeats a ledger from its beginning"


def test_what_was_found_stands_until_the_sampler_is_another_one(path):
    found = audited(path, 3.0)
    assert found.finding == VIOLATION
    with sqlite3.connect(path) as rows:  # as if a fault had taken what was won
        rows.execute("UPDATE nights SET capital = ?", (json.dumps(module.written(Capital())),))
    rows.close()
    quiet = {"on": True}

    def mended(data, size, rng):
        return answers(1.0 if quiet["on"] else 3.0)(data, size, rng)

    Ledger(path)
    key = nights_key(path)
    with sqlite3.connect(path) as rows:
        code = digest(code_of(mended, CLAIM))
        rows.execute("UPDATE versions SET code = ?", (code,))
        rows.execute("UPDATE claims SET sampler = ?, name = ?", (mended.__qualname__, f"claim {code_of(mended, CLAIM)['claim'][:12]}"))
    rows.close()
    again = audited(path, sampler=mended)
    assert again.finding == VIOLATION and "so it stands" in again.notes[-1] and again.also[-1].finding == NO_VIOLATION_SEEN
    assert key["confidence"] == 0.99


def test_a_sampler_with_memory_leaves_no_evidence(path):
    def shared(data, size, rng):
        return np.full(size, data[0] + rng.laplace(0, 1.0)) + rng.integers(0, 2, size) * 1e-9

    finding = audited(path, sampler=shared, samples=4000, level="model")
    assert finding.finding == NONCONFORMING and "not independent" in finding.event
    assert module.read(json.loads(nights(path)[0]["capital"])).money(MODEL) < -1e299


def test_a_night_in_which_nothing_was_sampled_never_was(path):
    audited(path)

    def fails(data, size, rng):
        raise ValueError("no ink")

    with pytest.raises(SamplerError):
        audited(path, sampler=fails)
    with pytest.raises(AuditError, match="between which nothing"):
        dp.audit(answers(1.0), epsilon=1.0, pairs=[[[0], [0]]], samples=300, confidence=0.99, ledger=path)
    assert len(nights(path)) == 1
    audited(path)
    assert [night["number"] for night in nights(path)] == [1, 2]


# -- writers ---------------------------------------------------------------------------------------------------


def test_nights_at_once_share_nothing_and_the_next_one_has_all(path):
    ledger = Ledger(path)
    first = begun(ledger)
    ledger.commit(first, capital(1.0), 10, (0.0, 2.0))
    second = begun(ledger)
    assert second.night.brought.tests == () and second.root != first.root
    ledger.commit(second, capital(2.0), 10, (0.0, 2.0), last=True)
    third = begun(ledger)
    assert third.night.brought.money(MODEL) == pytest.approx(2.0)
    ledger.commit(first, capital(1.5), 20, (0.0, 2.0), last=True)
    ledger.commit(third, capital(0.5), 20, (0.0, 2.0), last=True)
    assert begun(ledger).night.brought.money(MODEL) == pytest.approx(np.logaddexp(1.5, 0.5))
    assert begun(ledger).night.brought.tests == ()


def test_who_was_taken_for_dead_counts_nothing_more(path, monkeypatch):
    ledger = Ledger(path)
    first = begun(ledger)
    ledger.commit(first, capital(1.0), 10, (0.0, 2.0))
    monkeypatch.setattr(module, "_is_over", lambda process, silent, lease: True)
    assert begun(ledger).night.brought.money(MODEL) == pytest.approx(1.0)
    with pytest.raises(AuditError, match="another audit went on"):
        ledger.commit(first, capital(9.0), 20, (0.0, 2.0))
    assert [night["samples"] for night in nights(path)] == [10, 0]


@pytest.mark.parametrize(
    ("host", "pid", "started", "silent", "over"),
    [
        (None, None, None, 1e9, False),
        (None, None, "0", 0.0, True),
        (None, 2**22 + 1, "0", 0.0, True),
        ("elsewhere", None, None, 899.0, False),
        ("elsewhere", None, None, 901.0, True),
    ],
)
def test_when_a_night_is_over_that_was_not_ended(host, pid, started, silent, over):
    mine = module._process()
    process = {"host": host or mine["host"], "pid": pid or mine["pid"], "started": started or mine["started"]}
    assert module._is_over(process, silent, module.LEASE) is over


def slowly(data, size, rng):
    time.sleep(0.02)
    return np.where(rng.random(size) < 0.731, data[0], 1 - data[0])


def sample_slowly(path):
    nights_module.SECONDS_BETWEEN_COMMITS = 0.0
    audited(path, sampler=slowly, samples=2_000_000)


@pytest.mark.wide
def test_what_a_killed_night_had_committed_counts_once(path):
    process = FORK.Process(target=sample_slowly, args=(path,))
    process.start()
    while not (path.is_file() and path.stat().st_size and nights(path) and nights(path)[0]["samples"] > 20_000):
        assert process.is_alive()
        time.sleep(0.02)
    process.kill()
    process.join()
    [first] = nights(path)
    assert first["state"] == "broken off" and 20_000 < first["samples"] < 2_000_000
    before = module.read(json.loads(first["capital"]))
    key = Key(*[nights_key(path)[name] for name in Key._fields])
    again = begun(Ledger(path), key, code=code_in(path))
    assert module.written(again.night.brought) == module.written(before) and again.before == (1, first["samples"])
    assert again.root != int(first["root"])
    assert max(test.counts.sum() for test in before.tests) <= first["samples"]


def write_nights(path):
    for _ in range(5):
        night = begun(Ledger(path))
        Ledger(path).commit(night, Capital((), (float(night.number), 0.0)), 7, (0.0, 1.0), last=True)


def test_many_writers_at_once_each_get_a_night_of_their_own(path):
    several = [FORK.Process(target=write_nights, args=(path,)) for _ in range(4)]
    for process in several:
        process.start()
    for process in several:
        process.join()
        assert process.exitcode == 0
    seen = nights(path)
    assert [night["number"] for night in seen] == list(range(1, 21)) and len({night["root"] for night in seen}) == 20
    assert sum(night["samples"] for night in seen) == 140


# -- versions --------------------------------------------------------------------------------------------------


def test_a_new_version_starts_anew_and_an_old_one_goes_on(path):
    ledger = Ledger(path)
    first = begun(ledger, code="a")
    ledger.commit(first, capital(3.0), 10, (0.0, 2.0), last=True)
    second = begun(ledger, code="b")
    ledger.commit(second, capital(1.0), 10, (0.0, 2.0), last=True)
    assert second.night.brought == Capital() and (second.number, second.night.fresh) == (1, 0.5)
    assert first.alpha == pytest.approx(0.01 / 2) and second.alpha == pytest.approx(0.01 / 6)
    third = begun(ledger, code="a")
    assert third.night.brought.money(MODEL) == pytest.approx(3.0) and third.alpha == first.alpha


def test_a_new_version_inherits_what_it_is_told_to(path):
    ledger = Ledger(path)
    learned = dp.audits.learn.learn(*(dp.audits.outputs.encode(list(np.arange(500) % (9 + k)), 500) for k in (0, 1)), seed=0)
    test = Carried(MODEL, "p", learned, learned.size, np.array([3.0]), -1.0, 0.25, np.ones((learned.size,) * 2, np.int64))
    first = begun(ledger, code="a")
    ledger.commit(first, Capital((test,)), 10, (0.0, 2.0), last=True)
    events = begun(ledger, code="b", inherit="events")
    [one] = events.night.brought.tests
    assert one.counts.sum() == 0 and events.number == 1
    assert np.exp(events.night.brought.money(MODEL)) + events.night.fresh == pytest.approx(share_of(1))
    everything = begun(ledger, code="c", inherit="all")
    assert everything.number == 2 and everything.night.brought == Capital()  # of the history that began last, whose night goes on
    with pytest.raises(AuditError, match="Inherit events, or nothing"):
        begun(ledger, code="d", inherit="all", parts={"claim": "y"})


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("from helper import scale\ndef f(data, rng):\n    return scale\n", None, True),
        ("from helper import scale\ndef f(data, rng):\n    return scale\n", "helper: scale = 2\n", False),
        ("import helper\ndef f(data, rng):\n    return helper.scale\n", "helper: scale = 2\n", False),
        ("def f(data, rng):\n    import helper\n    return helper.scale\n", "helper: scale = 2\n", False),
        ("def f(data, rng):\n    return 1\n", "helper: scale = 2\n", True),
        ("def f(data, rng):\n    return 1\n", "noise: def f(data, rng):\n    return 2\n", False),
        ("import json, numpy\ndef f(data, rng):\n    return 1\n", "other: x = 1\n", True),
    ],
)
def test_a_version_is_of_all_source_that_the_sampler_imports(before, after, same, tmp_path, monkeypatch):
    def version():
        for name in ("noise", "helper"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return digest(code_of(importlib.import_module("noise").f, CLAIM))

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "noise.py").write_text(before)
    (tmp_path / "helper.py").write_text("scale = 1\n")
    first = version()
    if after is not None:
        name, _, text = after.partition(": ")
        (tmp_path / f"{name}.py").write_text(text)
    assert (version() == first) is same
    for name in ("noise", "helper"):
        sys.modules.pop(name, None)


def test_a_version_is_of_what_the_sampler_holds():
    import functools

    def scaled(scale):
        def sampler(data, rng):
            return data + scale

        return sampler

    class Noise:
        def __init__(self, scale):
            self.scale, self.table = scale, np.arange(3) * scale

        def __call__(self, data, rng):
            return data

        def method(self, data, rng):
            return data

    def code(sampler):
        return digest(code_of(sampler, CLAIM))

    for make in (scaled, Noise, lambda scale: Noise(scale).method, lambda scale: functools.partial(scaled(1), scale)):
        assert code(make(1)) == code(make(1)) != code(make(2))
    lines = {}
    for scale in (1, 2):
        exec(f"def typed(data, rng):\n    return data + {scale}\n", space := {})
        lines[scale] = code(space["typed"])
    assert lines[1] != lines[2]
    assert code(scaled(1)) != digest(code_of(scaled(1), Claim(Sampled(), Num(2), Num(0), None)))
    assert "package numpy" in code_of(np.random.default_rng(0).laplace, CLAIM) or versions.OURS


# -- what cannot be ------------------------------------------------------------------------------------------------


def test_the_confidence_of_a_claim_stays_what_it_was(path):
    audited(path)
    with pytest.raises(AuditError, match="or another ledger"):
        audited(path, confidence=0.9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"checkpoint": "kept"}, "give one of them"),
        ({"inherit": "everything"}, 'not one of "nothing", "events", "all"'),
        ({"ledger": None, "inherit": "all"}, "none is given"),
    ],
)
def test_options_that_contradict_each_other(options, said, path):
    with pytest.raises(AuditError, match=said):
        dp.audit(answers(1.0), epsilon=1.0, pairs=[[[0], [1]]], samples=300, **{"ledger": path, **options})


def other_database(path):
    with sqlite3.connect(path) as rows:
        rows.execute("CREATE TABLE mine (x)")
    rows.close()


def newer(path):
    begun(Ledger(path))
    with sqlite3.connect(path) as rows:
        rows.execute("PRAGMA user_version = 99")
    rows.close()


def truncated(path):
    begun(Ledger(path))
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_text("no ledger at all, but a text that is long enough to be one" * 20), "no ledger of audits"),
        (other_database, "no ledger of audits. Give another path"),
        (newer, "schema 99, which a newer dpverify has written; this one knows 1"),
        (truncated, "damaged"),
        (lambda path: path.mkdir(), "no regular file"),
        (lambda path: os.mkfifo(path), "no regular file"),
    ],
    ids=["text", "database", "newer", "truncated", "folder", "pipe"],
)
def test_what_is_no_ledger_is_refused_with_the_way_out_and_left_alone(make, said, path):
    make(path)
    before = path.read_bytes() if path.is_file() else None
    for use in (lambda: begun(Ledger(path)), lambda: Ledger(path).claims()):
        with pytest.raises(AuditError, match=said):
            use()
    assert before is None or path.read_bytes() == before


def limited(monkeypatch, pragma):
    connect = sqlite3.connect

    def opened(*given, **named):
        rows = connect(*given, **named)
        rows.execute(pragma)
        return rows

    monkeypatch.setattr(sqlite3, "connect", opened)


@pytest.mark.parametrize(
    ("pragma", "said"), [("PRAGMA max_page_count = 12", "the disk is full.*make room"), ("PRAGMA query_only = 1", "cannot be written")]
)
def test_a_disk_that_takes_nothing_leaves_what_was_committed(pragma, said, path, monkeypatch):
    ledger = Ledger(path)
    night = begun(ledger)
    ledger.commit(night, capital(1.0), 10, (0.0, 2.0))
    much = Capital(tuple(capital(float(k), pair="p" * 20_000).tests[0] for k in range(9)))
    with monkeypatch.context() as patch:
        limited(patch, pragma)
        with pytest.raises(AuditError, match=said):
            ledger.commit(night, much, 20, (0.0, 2.0))
    [kept] = nights(path)
    assert kept["samples"] == 10
    ledger.commit(night, much, 20, (0.0, 2.0), last=True)


def test_a_ledger_that_another_writes_to_is_waited_for(path, monkeypatch):
    begun(Ledger(path))
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    rows = sqlite3.connect(path, isolation_level=None)
    rows.execute("BEGIN IMMEDIATE")
    with pytest.raises(AuditError, match="others have been writing"):
        begun(Ledger(path))
    rows.execute("ROLLBACK")
    rows.close()
    assert begun(Ledger(path)).number == 2


def test_what_is_not_there_or_empty_cannot_be_shown(path):
    with pytest.raises(AuditError, match="no such file"):
        Ledger(path).claims()
    path.touch()
    with pytest.raises(AuditError, match="an empty file"):
        Ledger(path).claims()
    with pytest.raises(AuditError, match="cannot be written"):
        begun(Ledger(path.parent / "nowhere" / "audits.db"))
    assert begun(Ledger(path)).number == 1
