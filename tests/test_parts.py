"""A run that is shared out comes to what one run comes to, and what does not fit together is refused with the way out."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverify.cli import parts as module
from dpverify.cli.parts import NAME, Share, shared
from tests.test_cli import ABOVE, BELOW, RESPONSE, TIGHT, run

SAMPLER = "import numpy as np\ndef answer(data, size, rng):\n    return np.where(rng.random(size) < 0.75, data[0], 1 - data[0])\n"
AUDIT = '[audit]\nsampler = "answers.py:answer"\npairs = [[[0], [1]]]\n'
UNDECIDED = '[mechanism]\nkind = "sampled"\n[[claim]]\nname = "sampled"\nepsilon = 1.2\nexpect = "unknown"\n'
OTHER = RESPONSE.replace("3/4", "2/3").replace("1/4", "1/3")
LINE = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n[[claim]]\nname = "line"\nsensitivity = 1\nepsilon = 1\n'


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Claims that are proved, refuted and undecided, one of them audited, in five files of a folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVERIFY_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "answers.py").write_text(SAMPLER)
    written = {"a": RESPONSE + ABOVE + TIGHT, "b": RESPONSE + BELOW, "c": UNDECIDED + AUDIT, "d": OTHER + TIGHT, "e": OTHER + ABOVE}
    for name, text in written.items():
        (tmp_path / "claims" / f"{name}.toml").write_text(text)
    return "claims"


def report(*arguments, code=1):
    return run("report", *arguments, "--samples", 600, "--seed", 1, "--workers", 0, "--format", "json", code=code)


def parts(files, count, *options):
    for number in range(1, count + 1):
        report(files, "--shard", f"{number}/{count}", "-o", f"part{number}", "--no-cache", *options, code=None)
    return [f"part{number}" for number in range(1, count + 1)]


def contents(folder):
    """Every file of a report by name, without the times that a run took, and without the digests of what holds these."""
    found = {}
    for file in sorted(Path(folder).rglob("*")):
        if file.is_file() and file.name != NAME:
            text = re.sub(r'"seconds": [\d.e-]+', '"seconds": 0', file.read_text()).replace(f'"{folder}/', '"')
            text = re.sub(r"\d+\.\d\d s\b", "0.00 s", text)
            found[file.name] = re.sub(r'"[0-9a-f]{64}"', '""', text) if file.name == "certificates.json" else text
    return found


@given(costs=st.lists(st.integers(0, 9), max_size=30), count=st.integers(1, 9))
def test_every_file_is_in_one_share_and_all_shares_are_about_as_long(costs, count, tmp_path_factory):
    folder = tmp_path_factory.mktemp("claims")
    names = []
    for number, cost in enumerate(costs):
        names.append(str(folder / f"{number}.toml"))
        Path(names[-1]).write_text("[[claim]]\n" * cost)
    taken = [shared(names, Share(number, count)) for number in range(1, count + 1)]
    assert sorted(name for share in taken for name in share) == sorted(names)
    assert all(share == [name for name in names if name in share] for share in taken)
    loads = [sum(module._cost(Path(name), False) for name in share) for share in taken]
    assert max(loads) - min(loads) <= 10, "no more than the longest file: else it had gone to the other part"
    assert taken == [shared(names[::-1], Share(number, count))[::-1] for number in range(1, count + 1)], "whatever the order"


@pytest.mark.wide
@pytest.mark.parametrize("count", [1, 3, 7])
def test_parts_put_together_are_one_run_byte_for_byte(count, files):
    report(files, "-o", "whole", "--no-cache")
    folders = parts(files, count)
    report("--merge", *reversed(folders), "-o", "merged", "--no-cache")
    assert contents("merged") == contents("whole")
    assert json.loads(Path("merged/results.json").read_text())["audits"], "what audits found is there"


@pytest.mark.wide
def test_what_parts_say_of_claims_is_judged_anew(files, monkeypatch):
    folders = parts(files, 2, "--no-audit")
    forged = 0
    for folder in folders:
        place = Path(folder) / NAME
        part = json.loads(place.read_text())
        for certificate, _ in part["claims"].values():
            forged += certificate["verdict"] == "REFUTED"
            certificate["verdict"] = "PROVED" if certificate["verdict"] == "REFUTED" else certificate["verdict"]
        place.write_text(json.dumps(part))
    assert forged
    report(files, "-o", "whole", "--no-cache", "--no-audit")
    report("--merge", *folders, "-o", "merged", "--no-cache", "--no-audit")
    assert contents("merged") == contents("whole")


@pytest.mark.wide
def test_parts_of_verify_are_merged_too_and_each_claim_is_searched_once(files, monkeypatch):
    for number in (1, 2):
        run("verify", files, "--shard", f"{number}/2", "--certificates", f"part{number}", "--no-cache", code=None)
    from dpverify.search import verify as searching

    monkeypatch.setattr(searching, "verify", lambda *given: pytest.fail("searched again"))
    report("--merge", "part1", "part2", "-o", "merged", "--no-cache", "--no-audit")
    assert "just below" in Path("merged/index.md").read_text()


@pytest.mark.wide
def test_all_that_does_not_fit_together_is_told_at_once(files):
    folders = parts(files, 3, "--no-audit")
    Path("part9").mkdir()
    Path("part2/part.json").write_text(Path("part1/part.json").read_text())
    Path("claims/a.toml").write_text(RESPONSE + ABOVE)
    said = report("--merge", *folders, "part9", "-o", "merged", "--no-audit", code=2).stderr
    for fault in ("part9: no part of a run", "1/3 is there twice, in part1 and part2", "2/3 is missing", "claims/a.toml: another file"):
        assert fault in said
    assert not Path("merged").exists()


@pytest.mark.wide
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda part: part["run"].update(digits=7), "other digits"),
        (lambda part: part["run"].update(sources="0"), "other code"),
        (lambda part: part["run"].update(files=[]), "other files"),
        (lambda part: part.update(shard=[2, 3]), "other shards"),
        (lambda part: part.update(schema="dpverify-part/9"), "no part of a run"),
        (lambda part: part.update(claims=[1]), "no part of a run"),
        (lambda part: part.update(findings=[{"finding": "NONE"}]), "no finding of an audit"),
    ],
)
def test_a_part_of_another_run_is_refused(damage, said, files):
    folders = parts(files, 2)
    part = json.loads(Path("part2/part.json").read_text())
    damage(part)
    Path("part2/part.json").write_text(json.dumps(part))
    assert said in report("--merge", *folders, "-o", "merged", code=2).stderr


@pytest.mark.wide
def test_settings_of_the_merge_are_those_of_the_parts(files):
    folders = parts(files, 2, "--no-audit")
    assert "--no-audit as for them" in report("--merge", *folders, "-o", "merged", code=2).stderr
    assert "made with --digits 20" in report("--merge", *folders, "-o", "merged", "--no-audit", "--digits", 9, code=2).stderr
    assert "Give one of them" in report("--merge", *folders, "--shard", "1/2", code=2).stderr
    assert "no folders" in report("--merge", "-o", "merged", code=2).stderr


@pytest.mark.parametrize("wrong", ["0/3", "4/3", "1/0", "x", "1/2/3", "-1/2", "1.0/2"])
def test_what_is_no_share_is_refused_with_an_example(wrong, files):
    assert "Write 2/8" in run("verify", files, f"--shard={wrong}", code=2).stderr


def test_a_file_of_somebody_else_is_not_replaced(files):
    Path("mine").mkdir()
    Path("mine/part.json").write_text("{}")
    assert "dpverify did not write it" in run("verify", files, "--shard", "1/2", "--certificates", "mine", code=2).stderr
    assert Path("mine/part.json").read_text() == "{}"


def test_more_shards_than_files_leave_some_empty(files):
    assert run("verify", files, "--shard", "9/9", code=0).stdout.strip()


@pytest.mark.slow
@pytest.mark.wide
def test_a_cluster_judges_as_one_machine_does(files, tmp_path):
    distributed = pytest.importorskip("distributed")
    root = Path(__file__).resolve().parents[1]
    program = f"""
import os, subprocess, sys
os.environ["PYTHONPATH"] = {str(root)!r}
import distributed
if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        command = [sys.executable, "-m", "dpverify", *sys.argv[1:], "--dask", cluster.scheduler_address]
        sys.exit(subprocess.run(command).returncode)
"""
    (tmp_path / "on_cluster.py").write_text(program)
    report(files, "-o", "whole", "--no-cache")
    options = ["-o", "far", "--no-cache", "--samples", "600", "--seed", "1", "--workers", "0", "--format", "json"]
    done = subprocess.run([sys.executable, "on_cluster.py", "report", files, *options], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert contents("far") == contents("whole") and distributed
