"""How a verdict is confirmed: by the kernel, by the second checker, by Coq; and runs that require more than one."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

import dpverify as dp
from dpverify.cli import main
from dpverify.project import confirmed
from dpverify.project.formal import coq, replayed
from dpverify.project.formal.replay import replay
from dpverify.trusted.kernel.certificate import unpack

PURE = """
[mechanism]
kind = "radial"
profile = "exp(-r)"
norm = "l1"
dimension = 2
[[claim]]
name = "holds"
sensitivity = 1
epsilon = 1
[[claim]]
name = "fails"
sensitivity = 1
epsilon = "9/10"
expect = "refuted"
"""
WITH_DELTA = """
[mechanism]
kind = "radial"
profile = "(1 + r**2/12)**(-2)"
norm = "l2"
dimension = 3
[[claim]]
name = "with a delta"
sensitivity = 1
epsilon = "1/10"
delta = "1/5"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pure.toml").write_text(PURE)
    (tmp_path / "delta.toml").write_text(WITH_DELTA)
    return tmp_path


def run(*arguments: str):
    return CliRunner().invoke(main, [*arguments, "--no-cache"] if arguments[0] != "check" else arguments)


@pytest.mark.wide
def test_json_says_by_what_each_verdict_is_confirmed(folder):
    found = json.loads(run("verify", "pure.toml", "delta.toml", "--format", "json").stdout)["claims"]
    claims = {one["name"]: one["confirmed"] for one in found}
    assert claims["holds"][:2] == claims["fails"][:2] == ["kernel", "second checker"]
    assert claims["with a delta"] == ["kernel"]


@pytest.mark.wide
def test_a_run_that_requires_a_second_opinion_fails_where_there_is_none(folder):
    assert run("verify", "pure.toml", "--require", "second-checker").exit_code == 0
    answer = run("verify", "pure.toml", "delta.toml", "--require", "second-checker")
    assert answer.exit_code == 1
    assert "with a delta: PROVED, confirmed by the kernel alone; this run requires the second checker." in " ".join(answer.stdout.split())
    assert "holds: PROVED, confirmed" not in answer.stdout


@pytest.mark.wide
def test_every_format_tells_of_a_verdict_that_is_not_confirmed(folder):
    for style in ("sarif", "junit", "github", "markdown"):
        answer = run("verify", "delta.toml", "--require", "second-checker", "--format", style)
        assert answer.exit_code == 1
        assert "confirmed by the kernel alone" in answer.stdout, style


@pytest.mark.wide
def test_a_baseline_accepts_a_verdict_that_is_confirmed_once_and_keeps_it_where_nothing_is_required(folder):
    assert run("baseline", "delta.toml", "--require", "second-checker", "-o", "known.json").exit_code == 0
    assert run("verify", "delta.toml", "--require", "second-checker", "--baseline", "known.json").exit_code == 0
    assert "no longer so" not in run("verify", "delta.toml", "--baseline", "known.json").stderr


@pytest.mark.wide
def test_check_says_how_each_certificate_is_confirmed_and_fails_where_more_is_required(folder):
    run("verify", "pure.toml", "delta.toml", "--certificates", "certs")
    told = run("check", "--trust", "certs").stdout
    assert told.count("confirmed by: kernel, second checker") == 2
    answer = run("check", "--require", "second-checker", "certs")
    assert answer.exit_code == 1
    assert answer.stdout.count("not confirmed by the second checker: ") == 1
    assert "delta.with-a-delta.cert.json" in answer.stdout


@pytest.mark.wide
def test_the_report_counts_them(folder):
    run("report", "pure.toml", "delta.toml", "-o", "out", "--no-audit")
    assert "Confirmed: 3 by the kernel, 2 by the second checker too" in (folder / "out" / "index.md").read_text()
    assert run("check", "out").exit_code == 0


@pytest.mark.wide
def test_an_answer_in_python_says_it():
    assert dp.verify(dp.laplace(scale=1), sensitivity=1, epsilon=1).confirmed[:2] == ("kernel", "second checker")
    undecided = dp.verify(dp.radial("1/(1+r**2)", norm="l2", dimension=1), sensitivity=1, epsilon=1, delta="1e-400")
    assert undecided.verdict != "UNKNOWN" or undecided.confirmed == ()


def test_the_second_checker_confirms_no_other_verdict_than_its_own():
    answer = dp.verify(dp.laplace(scale=1), sensitivity=1, epsilon=1)
    forged = {**answer.certificate, "verdict": "REFUTED"}
    checker = confirmed.SecondChecker()
    try:
        assert checker.verdict(forged) is None
        assert checker.verdict(answer.certificate) == "PROVED"
        assert checker.verdict({"no": "certificate"}) is None
        assert checker.verdict(answer.certificate) == "PROVED"
    finally:
        checker.end()


@pytest.mark.parametrize("said", ["[]", "{}", "1", "null", '{"kind": "decided"}', "no JSON", '{"kind": ["decided"], "verdict": "PROVED"}'])
def test_a_second_checker_that_says_something_else_confirms_nothing(monkeypatch, tmp_path, said):
    odd = tmp_path / "check.py"
    odd.write_text(f"import sys\nfor line in sys.stdin:\n    print({said!r}, flush=True)\n")
    monkeypatch.setattr(confirmed, "_program", lambda: odd)
    assert confirmed.SecondChecker().verdict({}) is None


def test_an_answer_that_was_not_waited_for_is_none_to_the_next_question(monkeypatch):
    """Whoever interrupts a question, at whatever place, leaves no answer behind."""
    decided = dp.verify(dp.laplace(scale=1), sensitivity=1, epsilon=1).certificate
    t_noise = dp.radial("(1 + r**2/12)**(-2)", norm="l2", dimension=3)  # a curve that the second checker does not know
    other = dp.verify(t_noise, sensitivity=1, epsilon="1/10", delta="1/5").certificate
    checker = confirmed.SecondChecker()
    assert checker.verdict(decided) == "PROVED"

    class Interrupted:
        def __init__(self, *_):
            pass

        def start(self):
            checker._process.stdin.write(json.dumps(decided).encode() + b"\n")
            checker._process.stdin.flush()
            raise KeyboardInterrupt

        def cancel(self):
            pass

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(confirmed, "Timer", Interrupted)
        checker.verdict(decided)
    assert checker.verdict(other) is None
    checker.end()


def test_many_threads_may_ask_at_once():
    answers = [dp.verify(dp.laplace(scale=b), sensitivity=1, epsilon=1) for b in (1, 2, "1/2")] * 4
    with ThreadPoolExecutor(6) as pool:
        assert all(ways[:2] == ("kernel", "second checker") for ways in pool.map(lambda answer: answer.confirmed, answers))


def test_a_second_checker_that_hangs_or_is_not_there_confirms_nothing(monkeypatch, tmp_path):
    certificate = dp.verify(dp.laplace(scale=1), sensitivity=1, epsilon=1).certificate
    hanging = tmp_path / "check.py"
    hanging.write_text("import time\ntime.sleep(100)\n")
    monkeypatch.setattr(confirmed, "SECONDS", 0.2)
    monkeypatch.setattr(confirmed, "_program", lambda: hanging)
    assert confirmed.SecondChecker().verdict(certificate) is None
    monkeypatch.setattr(confirmed, "_program", lambda: tmp_path / "nothing.py")
    assert confirmed.SecondChecker().verdict(certificate) is None


def test_coq_confirms_what_it_is_recorded_to_have_accepted_with_this_theory_alone(monkeypatch, tmp_path):
    answer = dp.verify(dp.laplace(scale=1), sensitivity=1, epsilon=1)
    text = replay(unpack(answer.certificate), answer.judgement, "").text
    monkeypatch.setattr(replayed, "_recorded", lambda: frozenset([replayed.digest(text)]))
    assert answer.confirmed == ("kernel", "second checker", "Coq")
    other = dp.verify(dp.laplace(scale=1), sensitivity=1, epsilon=2)
    assert other.confirmed == ("kernel", "second checker")
    recorded = frozenset([replayed.digest(text)])
    monkeypatch.setattr(replayed, "_recorded", lambda: recorded)
    monkeypatch.setattr(replayed, "_theory", lambda: "another")
    assert answer.confirmed == ("kernel", "second checker")


def test_the_record_of_replays_is_of_the_theory_as_it_is():
    lines = (coq.theory() / replayed.RECORD).read_text().splitlines()
    hashes = [line for line in lines if not line.startswith("#")]
    assert hashes == sorted(set(hashes))
    assert all(len(one) == 32 and int(one, 16) >= 0 for one in hashes)
    assert Path(coq.theory() / "replays").is_dir()
