"""What was sampled is written down so that a run goes on exactly where it was: entries, sums, files."""

import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverify.audits import journal as module
from dpverify.audits.engine import BlockResult, Checkpoint
from dpverify.audits.journal import Journal, seed_of
from dpverify.audits.outputs import encode


def block(index, rng, *, kept=True, cells=(3, 7), segments=16):
    """A block as runs have them: two partitions, statistics of one side, and outputs of several shapes."""
    counts = tuple(rng.integers(0, 1000, (segments, k, k)) for k in cells)
    outputs = encode([[1.5, None], "text", float("inf"), 2**40, -0.0, 5e-324], 6)
    return BlockResult(index, 4096, counts, (rng.integers(0, 50, (2, 5)), None), (outputs, outputs[:2]) if kept else None, 0.25)


def same(a, b):
    """Whether two results are equal in all that decides a run."""
    if (a.index, a.size) != (b.index, b.size) or (a.kept is None) != (b.kept is None):
        return False
    arrays = [*zip(a.counts, b.counts, strict=True), *zip(a.statistics, b.statistics, strict=True)]
    for left, right in zip(a.kept or (), b.kept or (), strict=True):
        arrays += [(left.numbers, right.numbers), (left.shapes, right.shapes), (np.array(left.names), np.array(right.names))]
    return all((x is None and y is None) or (x.dtype == y.dtype and x.tobytes() == y.tobytes()) for x, y in arrays)


@pytest.fixture
def checkpoint(tmp_path):
    return Checkpoint(tmp_path / "run", "key")


def filled(checkpoint, quiets, rng):
    journal = Journal(checkpoint, 7)
    blocks = [block(index, rng, kept=not quiet) for index, quiet in enumerate(quiets)]
    for result, quiet in zip(blocks, quiets, strict=True):
        journal.record(result, quiet=quiet)
    journal.save()
    return blocks


def test_what_is_written_is_read_again_bit_for_bit(checkpoint):
    blocks = filled(checkpoint, [False] * 5, np.random.default_rng(0))
    again = Journal(checkpoint)
    for index, result in enumerate(blocks):
        entry = again.replay(index)
        assert (entry.blocks, entry.quiet) == (1, False) and same(entry.result, result)
    assert again.replay(5) is None


@given(quiets=st.lists(st.booleans(), min_size=1, max_size=12))
def test_quiet_blocks_become_one_entry_and_all_others_stay_alone(quiets, tmp_path_factory):
    checkpoint = Checkpoint(tmp_path_factory.mktemp("journal") / "run", "key")
    blocks = filled(checkpoint, quiets, np.random.default_rng(1))
    again, index = Journal(checkpoint), 0
    while index < len(quiets):
        entry = again.replay(index)
        assert entry.quiet == quiets[index]
        run = len(quiets) - index if all(quiets[index:]) else quiets[index:].index(False)
        assert entry.blocks == (run if quiets[index] else 1)
        members = blocks[index : index + entry.blocks]
        assert entry.result.size == sum(member.size for member in members)
        for place in range(2):
            assert (entry.result.counts[place] == sum(member.counts[place] for member in members)).all()
        assert (entry.result.statistics[0] == sum(member.statistics[0] for member in members)).all()
        index += entry.blocks


def test_a_journal_that_was_read_goes_on_as_if_it_had_never_stopped(tmp_path):
    rng = np.random.default_rng(2)
    blocks = [block(index, rng, kept=False) for index in range(6)]
    whole, stopped = (Checkpoint(tmp_path / name, "key") for name in ("whole", "stopped"))
    journal = Journal(whole, 7)
    for result in blocks:
        journal.record(result, quiet=True)
    journal.save()
    for part in (blocks[:2], blocks[2:5], blocks[5:]):
        journal = Journal(stopped, 7)
        for result in part:
            journal.record(result, quiet=True)
        journal.save()
    assert whole.path.read_bytes() == stopped.path.read_bytes()


def test_blocks_that_do_not_follow_each_other_are_not_joined(checkpoint):
    rng = np.random.default_rng(3)
    journal = Journal(checkpoint)
    for index in (0, 2):
        journal.record(block(index, rng, kept=False), quiet=True)
    assert [(entry.first, entry.blocks) for entry in journal.entries] == [(0, 1), (2, 1)]


def test_without_a_file_nothing_is_remembered():
    journal = Journal()
    journal.record(block(0, np.random.default_rng(4)), quiet=True)
    journal.save()
    assert journal.entries == [] and journal.replay(0) is None


def test_it_is_saved_now_and_then_and_not_at_every_block(checkpoint, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    journal, rng = Journal(checkpoint), np.random.default_rng(5)
    journal.record(block(0, rng), quiet=False)
    assert not checkpoint.path.exists()
    clock[0] += module.SECONDS_BETWEEN_SAVES + 1
    journal.record(block(1, rng), quiet=False)
    saved = checkpoint.path.read_bytes()
    journal.record(block(2, rng), quiet=False)
    assert checkpoint.path.read_bytes() == saved and len(json.loads(saved)["state"]["blocks"]) == 2


def test_the_seed_is_read_before_all_else(checkpoint):
    assert seed_of(checkpoint.path) is None
    filled(checkpoint, [True], np.random.default_rng(6))
    assert seed_of(checkpoint.path) == 7
    for damaged in ("", "{}", "[]", "null", '{"state": null}', '{"state": {"seed": "7"}}'):
        checkpoint.path.write_text(damaged)
        assert seed_of(checkpoint.path) is None
    checkpoint.path.write_bytes(b"\xff\xfe\x00")
    assert seed_of(checkpoint.path) is None
    assert seed_of(checkpoint.path.parent) is None
