"""How far long work is: told from the start, now and then, and never for what is quick."""

import pytest

from dpverify.cli import progress
from dpverify.cli.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until it is set."""
    times = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: times[0])
    return times


def test_long_work_is_told_of_at_its_start_and_then_every_ten_seconds(clock, capsys):
    with Progress("verifying", 100, "claims") as told:
        assert capsys.readouterr().err == "verifying 100 claims\n"
        for at, done in ((9.9, 20), (10.0, 20), (19.0, 40), (20.0, 50), (40.0, 100)):
            clock[0] = at
            told.at(done)
    said = capsys.readouterr()
    assert said.err == "verifying: 20 of 100 claims, about 40 s left\nverifying: 50 of 100 claims, about 20 s left\n" and said.out == ""


def test_a_bar_is_drawn_on_a_terminal_for_as_many_things_as_are_worth_one(monkeypatch, capsys):
    monkeypatch.setattr(progress, "watched", lambda: True)
    with Progress("reading", 63, "files", least=64) as told:
        told.at(63)
    assert capsys.readouterr().err == ""
    with Progress("reading", 64, "files", least=64) as told:
        told.at(64)
    assert "reading" in capsys.readouterr().err


def test_what_takes_longer_counts_for_more(clock, capsys):
    """Ten things of nine, then ninety of one: after five, a quarter of the work is done, and after ten a half."""
    with Progress("drawing", 100, "mechanisms", weights=[9.0] * 10 + [1.0] * 90) as told:
        for at, done in ((10.0, 5), (20.0, 10)):
            clock[0] = at
            told.at(done)
    assert [line.split(", ")[1] for line in capsys.readouterr().err.splitlines()[1:]] == ["about 30 s left", "about 20 s left"]


def test_quick_work_is_not_told_of(clock, capsys):
    with Progress("drawing", 63, "mechanisms") as told:
        clock[0] = 9.0
        told.at(1)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("seconds", "said"), [(0.0, "10 s"), (44.0, "40 s"), (99.0, "100 s"), (100.0, "2 min"), (600.0, "10 min")])
def test_what_is_left_is_told_as_roughly_as_it_is_known(seconds, said):
    assert progress._rough(seconds) == said
