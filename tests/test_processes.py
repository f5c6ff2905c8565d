"""Runs are bounded and whole: whatever a claim, a certificate or somebody's code does, the rest is answered and nothing is left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.errors import CodeForbidden, SpecError
from dpverify.runtime.finding import MODEL, NO_VIOLATION_SEEN, VIOLATION, Finding, Known, Refuted, as_data, of_data
from dpverify.runtime.finding import Path as Trail
from dpverify.runtime.processes import Bounds, Ended, Failed, apart, in_order
from dpverify.search import verify as judging

ROOT = Path(__file__).parents[1]
GOOD = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n[[claim]]\nname = "good"\nsensitivity = 1\nepsilon = 1\n'
CLAIM = '\n[[claim]]\nname = "hard"\nsensitivity = 1\nepsilon = 1\n'
USE = '[mechanism]\nuse = "evil.py:m"' + CLAIM
AUDIT = GOOD + '[audit]\nsampler = "evil:sampler"\npairs = [[[0.0], [1.0]]]\n'
linux = pytest.mark.skipif(sys.platform != "linux", reason="what the system offers")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("good.toml").write_text(GOOD)
    return tmp_path


def run(*args: object, code: int):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result


def real(*args: object, code: int, seconds: float = 600) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, as users have it, with streams of the system."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "dpverify.cli", *map(str, args)], capture_output=True, text=True, timeout=seconds, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done


def claims(result) -> dict[str, dict]:
    return {claim["name"]: claim for claim in json.loads(result.stdout)["claims"]}


def gone(pid: int) -> bool:
    """Whether a process has ended, or does within a minute. A zombie has."""
    for _ in range(1200):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


# -- this program's own work ---------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2])
def test_a_task_that_takes_too_long_is_ended_and_the_others_are_done(count):
    def work(seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    first, second, third = in_order(work, [[0.0, 600.0, 0.01]], count, Bounds(0.5))
    assert (first, third) == (0.0, 0.01)
    assert isinstance(second, Ended) and second.overdue and second.how == "ended after 0.5 s" and second.seconds


@linux
def test_code_in_c_that_hangs_is_ended_too():
    def work(number: int) -> int:
        return pow(3, 10**9, 10**900_000 + 1) if number else number

    assert [type(result) for result in in_order(work, [[0, 1, 0]], 1, Bounds(0.5))] == [int, Ended, int]


@linux
def test_a_task_that_takes_too_much_memory_is_ended_and_the_others_are_done():
    def work(mebibytes: int) -> int:
        return len(bytearray(mebibytes << 20))

    small, large, after = in_order(work, [[1, 2000, 1]], 1, Bounds(30, 500))
    assert small == after == 1 << 20 and isinstance(large, Ended) and large.full


@linux
def test_memory_that_flint_cannot_get_ends_the_task_alone():
    from flint import fmpz

    def work(bits: int) -> int:
        return (fmpz(1) << bits).bit_length()

    small, large, after = in_order(work, [[10, 10**11, 10]], 1, Bounds(30, 500))
    assert small == after == 11 and isinstance(large, Ended)


@pytest.mark.parametrize(
    ("death", "how"),
    [
        (os.abort, "ended by signal 6"),
        (lambda: os._exit(0), "ended by exit code 0"),
        (lambda: os.kill(os.getpid(), 9), "ended by signal 9"),
    ],
)
def test_however_a_process_dies_its_task_has_an_end_and_a_way(death, how):
    def work(number: int) -> int:
        if number == 1:
            death()
        return number

    results = list(in_order(work, [[0, 1, 2]], 1))
    assert results[0] == 0 and results[2] == 2 and results[1].how.startswith(how)


@linux
def test_what_a_process_started_ends_with_it(tmp_path):
    def work(number: int) -> int:
        child = subprocess.Popen(["sleep", "60"])
        (tmp_path / "pid").write_text(str(child.pid))
        time.sleep(60)
        return number

    [ended] = in_order(work, [[0]], 1, Bounds(1.0))
    assert ended.overdue and gone(int((tmp_path / "pid").read_text()))


# -- claims and certificates ---------------------------------------------------------------------------------


def t_noise(nu: str) -> str:
    return f'[mechanism]\nkind = "builtin"\nname = "student_t"\nnu = "{nu}"\ndimension = 2\nscale = 1\n' + CLAIM


def density(text: str) -> str:
    return f'[mechanism]\nkind = "translation"\ndensity = "{text}"\n' + CLAIM


def table(size: int) -> str:
    rows = [[1 + i * j % 7 for j in range(size)] for i in range(size)]
    lines = ("[" + ", ".join(f'"{entry}/{sum(row)}"' for entry in row) + "]" for row in rows)
    return f'[mechanism]\nkind = "table"\nrows = [{", ".join(lines)}]\n[[claim]]\nname = "hard"\nepsilon = 1\n'


NESTED = "exp(" * 50 + "abs(z)" + ")" * 50
HARD = {
    "an exponent that explodes": t_noise("10**10**10"),
    "a number of thousands of digits": t_noise("10**4000"),
    "exponentials in exponentials": density(f"exp(-{NESTED})"),
    "a long sum": density(" + ".join(f"erfc(abs(z) + {k})" for k in range(199))),
    "a long product": density("*".join(f"(z**2 + {k})" for k in range(1, 120)) + "*exp(-abs(z))"),
    "a large table": table(300),
    "a density with steps that nobody counts": density("exp(-floor(abs(z)*10**4000)/10**4000)"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", HARD)
def test_a_hard_claim_is_answered_or_undecided_in_time_and_the_others_are_answered(folder, name):
    Path("hard.toml").write_text(HARD[name])
    result = CliRunner().invoke(cli.main, ["verify", "hard.toml", "good.toml", "--no-cache", "--timeout", "2", "--format", "json"])
    assert result.exit_code in (1, 2, 4)
    if result.exit_code == 2:
        assert "SpecError: hard.toml" in result.stderr
        return
    found = claims(result)
    assert found["good"]["verdict"] == "PROVED"
    assert found["hard"]["verdict"] == "REFUTED" or found["hard"]["reason"]


@pytest.mark.parametrize("number", ["1e999999999", '"2**(10**4000)"', '"gamma(10**4000)"', '"besselk(10**4000, 1)"', '"10**10**10**10"'])
def test_a_number_that_would_be_enormous_is_refused_or_left_unwritten_at_once(folder, number):
    Path("hard.toml").write_text(f'[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = {number}\n' + CLAIM)
    result = CliRunner().invoke(cli.main, ["verify", "hard.toml", "--no-cache"])
    assert result.exit_code in (0, 2, 4) and "took more than" not in result.output


def test_time_that_ran_out_is_the_reason_that_a_claim_is_undecided(folder, monkeypatch):

    monkeypatch.setattr(judging, "verify", lambda claim, digits: time.sleep(60))
    found = claims(run("verify", "good.toml", "--no-cache", "--timeout", "0.5", "--format", "json", code=4))["good"]
    assert found["verdict"] == "UNKNOWN" and found["reason"].startswith("judging the claim took more than 0.5 s. Allow more with --timeout")


def test_no_timeout_is_no_bound(folder, monkeypatch):

    real_verify = judging.verify
    monkeypatch.setattr(judging, "verify", lambda claim, digits: time.sleep(0.3) or real_verify(claim, digits))
    Path("pyproject.toml").write_text("[tool.dpverify]\ntimeout = 0.1\n")
    run("verify", "good.toml", "--no-cache", code=4)
    run("verify", "good.toml", "--no-cache", "--timeout", "0", code=0)


@pytest.mark.parametrize(
    ("setting", "fault"),
    [("timeout = -1", "is not a time"), ("memory = 1", "is not an integer from 64"), ("code = 0", "is neither true nor false")],
)
def test_settings_of_bounds_are_checked(folder, setting, fault):
    Path("pyproject.toml").write_text(f"[tool.dpverify]\n{setting}\n")
    assert fault in run("verify", "good.toml", code=2).stderr


def test_a_certificate_that_takes_too_long_is_refused_and_the_others_are_checked(folder, monkeypatch):
    from dpverify.evidence import recheck as kernel

    run("verify", "good.toml", "--certificates", "certs", code=0)
    Path("certs/a.cert.json").write_text("{}")
    recheck = kernel.recheck
    monkeypatch.setattr(kernel, "recheck", lambda file: time.sleep(600) if file.name == "a.cert.json" else recheck(file))
    result = run("check", "certs", "--timeout", "2", code=2)
    assert "a.cert.json: refused: checking the certificate took more than 2 s" in result.stderr
    assert "PROVED" in result.stdout and "2 certificates, 1 valid" in result.stdout


@pytest.mark.parametrize("death", [os.abort, lambda: os._exit(0), lambda: os.kill(os.getpid(), 11)])
def test_a_certificate_that_ends_the_process_is_refused_and_the_others_are_checked(folder, monkeypatch, death):
    from dpverify.evidence import recheck as kernel

    run("verify", "good.toml", "--certificates", "certs", code=0)
    Path("certs/a.cert.json").write_text("{}")
    recheck = kernel.recheck
    monkeypatch.setattr(kernel, "recheck", lambda file: death() if file.name == "a.cert.json" else recheck(file))
    result = run("check", "certs", code=2)
    assert "a.cert.json: refused: the process that was checking the certificate was ended by" in result.stderr
    assert "2 certificates, 1 valid" in result.stdout


# -- foreign code --------------------------------------------------------------------------------------------


def test_foreign_code_gives_json_back_and_says_words_on_the_way():
    heard = []
    found = apart(lambda first, say: (say({"at": first}), [first, None])[1], (3,), told=heard.append)
    assert found == [3, None] and heard == [{"at": 3}]


def test_what_foreign_code_raises_is_told_by_its_name():
    with pytest.raises(Failed, match="ZeroDivisionError: division by zero"):
        apart(lambda say: 1 / 0, ())


@pytest.mark.parametrize(
    ("work", "seconds", "how"),
    [
        (lambda say: sys.exit(0), 60.0, r"ended by SystemExit(0)"),
        (lambda say: os._exit(0), 60.0, "ended by exit code 0"),
        (lambda say: os.abort(), 60.0, "ended by signal 6"),
        (lambda say: (_ for _ in ()).throw(KeyboardInterrupt), 60.0, "ended by KeyboardInterrupt()"),
        (lambda say: time.sleep(600), 1.0, "ended after 1 s"),
        (lambda say: os.closerange(3, 100), 60.0, "ended by"),
    ],
)
def test_however_foreign_code_ends_its_process_this_one_says_how(work, seconds, how):
    ended = apart(work, (), bounds=Bounds(seconds))
    assert isinstance(ended, Ended) and ended.how.startswith(how)


@pytest.mark.parametrize("pieces", [[b"\0"], [b"\0\0\3\xe8", b"[", b'"'], [b"\0\0\0\2"] * 3])
@linux
def test_half_a_word_of_foreign_code_is_not_waited_for_longer_than_a_word(pieces, tmp_path):
    def work(say) -> None:
        for piece in pieces:
            for number in range(3, 200):
                try:
                    os.write(number, piece)
                except OSError:
                    continue
            time.sleep(0.1)
        time.sleep(600)
        (tmp_path / "waited").touch()

    assert isinstance(apart(work, (), bounds=Bounds(1.0)), Ended) and not (tmp_path / "waited").exists()


@pytest.mark.parametrize("ignoring", [False, True])
def test_foreign_code_that_closes_its_pipes_and_goes_on_is_not_waited_for(ignoring, tmp_path):
    def work(say) -> None:
        if ignoring:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.closerange(3, 200)
        time.sleep(600)
        (tmp_path / "waited").touch()

    assert isinstance(apart(work, ()), Ended) and not (tmp_path / "waited").exists()


def test_what_a_library_in_c_prints_is_no_part_of_the_answer(capfd):
    def work(task: int) -> int:
        os.write(1, b"in C\n")
        return task

    assert list(in_order(work, [[1], [2]], 2)) == [1, 2]
    assert apart(lambda say: work(3), ()) == 3
    said = capfd.readouterr()
    assert said.out == "" and said.err.count("in C") == 3


def test_an_exception_whose_text_cannot_be_made_still_has_its_name():
    class Unspeakable(Exception):
        def __str__(self) -> str:
            sys.exit(0)

    class Unspeakably(BaseException):
        args = property(lambda _: 1 / 0)

    def work(error: type[BaseException], _say: object) -> None:
        raise error

    with pytest.raises(Failed, match="Unspeakable: a text that cannot be made: SystemExit"):
        apart(work, (Unspeakable,))
    assert apart(work, (Unspeakably,)).how == "ended by Unspeakably(a text that cannot be made: ZeroDivisionError)"


def test_what_foreign_code_writes_in_place_of_an_answer_is_not_unpickled():
    import pickle

    class Poison:
        def __reduce__(self):
            return os.abort, ()

    def work(say) -> None:
        for number in range(3, 200):
            try:
                os.write(number, pickle.dumps(Poison()))
            except OSError:
                continue
        os._exit(0)

    assert isinstance(apart(work, ()), Ended)


def test_patches_threads_and_hooks_of_foreign_code_stay_in_its_process(tmp_path):
    def wait() -> None:
        time.sleep(600)
        (tmp_path / "waited").touch()

    def work(say) -> str:
        import atexit
        import builtins
        import threading

        import dpverify.trusted.kernel.judgement

        dpverify.trusted.kernel.judgement.check = builtins.sorted = lambda *_: True
        os.chdir("/")
        atexit.register(wait)
        threading.Thread(target=wait).start()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return "done"

    import dpverify.trusted.kernel.judgement

    before, here = dpverify.trusted.kernel.judgement.check, Path.cwd()
    assert apart(work, ()) == "done" and not (tmp_path / "waited").exists()
    assert dpverify.trusted.kernel.judgement.check is before and Path.cwd() == here and sorted([2, 1]) == [1, 2]


def test_foreign_code_that_leaves_no_way_to_answer_has_ended_and_at_once(tmp_path):
    def wait() -> None:
        time.sleep(600)
        (tmp_path / "waited").touch()

    def work(say) -> str:
        import builtins
        import threading

        threading.Thread(target=wait).start()
        builtins.isinstance = lambda *_: True
        return "done"

    assert isinstance(apart(work, ()), Ended) and not (tmp_path / "waited").exists()


ENDS = {
    "sys.exit(0)": "SystemExit(0)",
    "os._exit(0)": "exit code 0",
    "os.abort()": "signal 6",
    "os.kill(os.getpid(), signal.SIGSEGV)": "signal 11",
    "raise KeyboardInterrupt": "KeyboardInterrupt()",
    "raise BaseException('no')": "BaseException('no')",
    "raise RuntimeError('no\\x1b[2J')": "RuntimeError: no [2J",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("end", ENDS)
def test_a_declaration_that_ends_its_process_is_an_error_with_its_name(folder, end):
    Path("evil.py").write_text(f"import os, signal, sys\n{end}\n")
    Path("evil.toml").write_text(USE)
    said = run("verify", "evil.toml", "good.toml", code=2).stderr
    assert 'SpecError: evil.toml, mechanism: use = "evil.py:m" fails: ' in said and ENDS[end] in said


@pytest.mark.sampled(2)
@pytest.mark.parametrize("end", ["sys.exit(0)", "os.abort()", "raise ValueError('no')", "while True: pass"])
def test_a_declaration_that_fails_takes_no_other_files_answer_away(folder, end):
    Path("evil.py").write_text(f"import os, sys\n{end}\n")
    Path("evil.toml").write_text(USE)
    result = run("verify", "evil.toml", "good.toml", "--format", "json", "--timeout", "3", code=2)
    answer = json.loads(result.stdout)
    assert [(claim["file"], claim["verdict"]) for claim in answer["claims"]] == [("good.toml", "PROVED")]
    assert [(one["file"], 'use = "evil.py:m" fails: ' in one["error"]) for one in answer["errors"]] == [("evil.toml", True)]
    assert result.stderr.count("SpecError: evil.toml, mechanism: use = ") == 1


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("verb", ["report", "baseline", "audit"])
def test_no_verb_loses_an_answer_to_a_declaration_that_fails(folder, verb):
    Path("evil.py").write_text("import sys\nsys.exit(0)\n")
    Path("evil.toml").write_text(USE)
    Path("sampled.py").write_text("def sampler(data, size, rng):\n    return rng.laplace(data[0], 1.0, size)\n")
    Path("good.toml").write_text(AUDIT.replace("evil", "sampled"))
    options = {"report": ["-o", "out", "--format", "json", "--no-audit"], "audit": ["--samples", "2000", "--format", "json"]}
    result = run(verb, "evil.toml", "good.toml", *options.get(verb, []), code=2)
    if verb == "baseline":
        assert "0 accepted" in result.stdout
        return
    answer = json.loads(Path("out/results.json").read_text() if verb == "report" else result.stdout)
    assert {one["file"] for one in answer["audits" if verb == "audit" else "claims"]} == {"good.toml"}
    assert [one["file"] for one in answer["errors"]] == ["evil.toml"]


def test_beside_a_file_that_is_wrong_nothing_is_judged_and_a_failing_declaration_is_listed_too(folder):
    Path("evil.py").write_text("import sys\nsys.exit(0)\n")
    Path("evil.toml").write_text(USE)
    Path("wrong.toml").write_text(GOOD + "colour = 1\n")
    result = run("verify", "good.toml", "evil.toml", "wrong.toml", code=2)
    assert result.stdout == "" and [line.split(",")[0] for line in result.stderr.splitlines() if line.startswith("Spec")] == [
        "SpecError: evil.toml",
        "SpecError: wrong.toml",
    ]


def test_a_declaration_that_does_not_return_is_an_error_with_its_name(folder):
    Path("evil.py").write_text("while True: pass\n")
    Path("evil.toml").write_text(USE)
    said = run("verify", "evil.toml", "--timeout", "1", code=2).stderr
    assert "evil.py did not come to its end: its process was ended after 1 s. Allow more with --timeout." in said


@pytest.mark.wide
def test_a_declaration_patches_and_prints_without_touching_the_answer(folder):
    Path("evil.py").write_text(
        "import builtins, os, sys\nimport dpverify.trusted.kernel.judgement, dpverify.search.verify, dpverify.report.record\n"
        "from dpverify.declare import *\n"
        "print('noise'); os.write(1, b'noise'); os.system('echo noise')\n"
        "m = Mechanism('m', Radial(L1(), 'exp(-r)', 1), {})\n"
        "dpverify.trusted.kernel.judgement.judge = dpverify.trusted.kernel.judgement.check = lambda *_: 'PROVED'\n"
        "dpverify.report.record.render = lambda *_: 'PROVED'\n"
        "builtins.min = builtins.max; os.chdir('/'); sys.modules.clear()\n"
    )
    Path("evil.toml").write_text(USE.replace("epsilon = 1", 'epsilon = "1/2"'))
    done = real("verify", "evil.toml", "good.toml", "--format", "json", code=1)
    assert {name: claim["verdict"] for name, claim in claims(done).items()} == {"hard": "REFUTED", "good": "PROVED"}
    assert "noise" in done.stderr


def test_a_declaration_that_lies_about_what_it_sends_is_refused(folder):
    Path("evil.py").write_text(
        "import dpverify.catalogue.declared as d\nfrom dpverify.declare import *\nm = Mechanism('m', Radial(L1(), 'exp(-r)', 1), {})\n"
        "d.to_json = lambda claim: {'mechanism': {'kind': 'radial', 'profile': 'exp(-r'}}\n"
    )
    Path("evil.toml").write_text(USE)
    assert "what evil.py declares cannot be read" in run("verify", "evil.toml", code=2).stderr


SAMPLER = """import os, sys, time
import numpy as np

def sampler(data, size, rng):
    {body}
    return np.round((data[0] + rng.laplace(0, 1, size)) * 2**20) / 2**20
"""


@pytest.mark.wide
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("module", "said"),
    [
        (SAMPLER.format(body="os._exit(0)"), "the process died: exit code 0"),
        (SAMPLER.format(body="os.abort()"), "the process died: signal 6"),
        (SAMPLER.format(body="sys.exit(0)"), "SystemExit: 0"),
        (SAMPLER.format(body="time.sleep(60)"), "did not return within 1 s"),
        ("import sys\nsys.exit(0)\n", "fails when it is imported: SystemExit: 0"),
        ("import os\nos._exit(0)\n", "the audit ran the sampler evil:sampler, and its process was ended by exit code 0"),
        ("import os\nos.abort()\n", "its process was ended by signal 6"),
    ],
)
def test_a_sampler_that_ends_its_process_is_an_error_and_other_audits_are_made(folder, module, said):
    Path("evil.py").write_text(module)
    Path("fair.py").write_text(SAMPLER.format(body="pass"))
    Path("evil.toml").write_text(AUDIT)
    Path("fair.toml").write_text(AUDIT.replace("evil:", "fair:"))
    result = run("audit", "evil.toml", "fair.toml", "--samples", 2000, "--timeout", 1, "--format", "json", code=2)
    answer = json.loads(result.stdout)
    assert said in answer["errors"][0]["error"] and [one["file"] for one in answer["audits"]][:1] == ["fair.toml"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("os._exit(0)", "the query evil:query, and its process was ended by exit code 0"),
        ("sys.exit(0)", "the query evil:query on input [0] ends its process: SystemExit(0)."),
        ("time.sleep(60)", "the query evil:query on input [0] did not return within 1 s"),
    ],
)
def test_a_query_that_ends_or_hangs_is_an_error_with_its_name(folder, body, said):
    Path("evil.py").write_text(SAMPLER.format(body="pass") + f"\ndef query(data):\n    {body}\n    return data\n")
    Path("evil.toml").write_text(AUDIT + 'query = "evil:query"\n')
    result = run("audit", "evil.toml", "--samples", 2000, "--timeout", 1, "--format", "json", code=2)
    assert said in json.loads(result.stdout)["errors"][0]["error"].replace("array([0.])", "[0]").replace("[0.0]", "[0]")


REPLACES = {
    "when it is imported": "import numpy\nnumpy.bincount = lambda *_, **__: 1 / 0\n" + SAMPLER.format(body="pass"),
    "when it is called": SAMPLER.format(body="import numpy; numpy.bincount = lambda *_, **__: 1 / 0"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("when", REPLACES)
@pytest.mark.parametrize("workers", [0, 1])
def test_a_sampler_that_replaces_what_it_is_judged_with_is_an_error_with_its_name(folder, when, workers):
    Path("evil.py").write_text(REPLACES[when])
    Path("evil.toml").write_text(AUDIT)
    result = run("audit", "evil.toml", "--samples", 500, "--workers", workers, "--format", "json", code=2)
    said = json.loads(result.stdout)["errors"][0]["error"]
    assert "sampler evil:sampler" in said and "replaces numpy.bincount, which the audit itself uses: change only what is yours." in said


@pytest.mark.wide
@pytest.mark.sampled(1)
@linux
@pytest.mark.parametrize("workers", [0, 1])
def test_a_sampler_that_writes_into_every_descriptor_is_an_error_with_its_name(folder, workers):
    body = "import os; [os.write(number, b'some words') for number in range(3, 99) if os.path.exists(f'/proc/self/fd/{number}')]"
    Path("evil.py").write_text(SAMPLER.format(body=body))
    Path("evil.toml").write_text(AUDIT)
    result = real("audit", "evil.toml", "--samples", 500, "--workers", workers, "--format", "json", code=2)
    said = json.loads(result.stdout)["errors"][0]["error"]
    assert "sampler evil:sampler" in said and "something else was written into the pipe through which it" in said


@pytest.mark.wide
def test_a_sampler_that_prints_and_patches_leaves_the_answer_alone(folder):
    Path("evil.py").write_text(
        "import dpverify.cli.output, dpverify.report.results as results\ndpverify.cli.output.rendered = results.Results.exit_code = None\n"
        "import os\nprint('noise')\nos.write(1, b'noise')\nos.close(1)\n" + SAMPLER.format(body="print('noise')")
    )
    Path("evil.toml").write_text(AUDIT)
    for workers in (0, 1):
        done = real("audit", "evil.toml", "--samples", 500, "--workers", workers, "--format", "json", code=0)
        assert [one["finding"] for one in json.loads(done.stdout)["audits"]] == [NO_VIOLATION_SEEN] and "noise" in done.stderr


def finding() -> Finding:
    path = Trail(6.0, (Known(10, 0.25, None), Known(20, 0.5, 0.125)))
    one = Finding(VIOLATION, MODEL, 1.0, 0.0, 0.5, 0.999, 20, "y > 0", "[0] and [1]", float("inf"), None, 0.1, "s", path=path, notes=("a",))
    seen = (((0.1, 2.0),), ((3.0,),))
    shown = Refuted("y > 0", "[0] and [1]", 20, (0.5, 0.25), (0.25, 0.75), (0.0, 0.5), agrees=True, shown=False)
    return Finding(
        NO_VIOLATION_SEEN, MODEL, None, 0.1, 0.0, 1 - 1e-9, 20, "", "", None, 3, 0.1, "s", also=(one,), outputs_seen=seen, refuted=shown
    )


def test_a_finding_is_the_same_after_it_was_sent():
    assert of_data(json.loads(json.dumps(as_data(finding())))) == finding()


@pytest.mark.parametrize(
    "change",
    [
        *({"finding": "PROVED"}, {"level": "no"}, {"samples": "many"}, {"extra": 1}, {"event": None}),
        *({"path": {"known": [{}]}}, {"notes": [1]}, {"refuted": {}}),
    ],
)
def test_what_is_no_finding_is_not_taken_for_one(change):
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError)):
        of_data({**as_data(finding()), **change})


# -- no code at all ------------------------------------------------------------------------------------------


def trap(name: str = "evil.py") -> None:
    Path(name).write_text("open('ran', 'w').close()\n")


@pytest.mark.parametrize("how", ["flag", "setting"])
def test_without_code_a_declaration_is_not_run_and_the_other_files_are_answered(folder, how):
    trap()
    Path("evil.toml").write_text(USE)
    if how == "setting":
        Path("pyproject.toml").write_text("[tool.dpverify]\ncode = false\n")
    result = run("verify", "evil.toml", "good.toml", "--format", "json", *(["--no-code"] if how == "flag" else []), code=2)
    answer = json.loads(result.stdout)
    assert [claim["verdict"] for claim in answer["claims"]] == ["PROVED"] and not Path("ran").exists()
    [error] = answer["errors"]
    assert error["file"] == "evil.toml" and 'use = "evil.py:m" was not run: --no-code' in error["error"]


def test_without_code_nothing_is_audited_and_a_report_says_so(folder):
    trap()
    Path("evil.toml").write_text(AUDIT)
    result = run("report", "evil.toml", "-o", "out", "--no-code", "--format", "json", code=0)
    answer = json.loads(Path("out/results.json").read_text())
    assert answer["audits"] == [] and "not audited: --no-code" in answer["errors"][0]["error"] and not Path("ran").exists()
    assert "1 not audited" in result.stdout and "not audited" in Path("out/index.md").read_text()


def test_without_code_there_is_no_audit(folder):
    trap()
    Path("evil.toml").write_text(AUDIT)
    assert "an audit runs code" in run("audit", "evil.toml", "--no-code", code=2).stderr and not Path("ran").exists()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", ["flag", "setting"])
@pytest.mark.parametrize(
    "verb",
    [
        ["check", "certs", "--against", "evil.toml"],
        ["explain", "evil.toml"],
        ["explain", "evil"],
        ["explain", "evil.toml", "--claim", "hard"],
    ],
)
def test_without_code_no_verb_runs_a_declaration(folder, verb, how):
    run("verify", "good.toml", "--certificates", "certs", code=0)
    trap()
    Path("evil.toml").write_text(USE)
    Path("evil").mkdir()
    Path("evil/evil.toml").write_text(USE)
    if how == "setting":
        Path("pyproject.toml").write_text("[tool.dpverify]\ncode = false\n")
    result = run(*verb, *(["--no-code"] if how == "flag" else []), code=2)
    assert 'use = "evil.py:m" was not run: --no-code' in result.stderr and not Path("ran").exists()


def test_claim_files_to_check_against_are_read_in_the_time_that_is_given(folder):
    run("verify", "good.toml", "--certificates", "certs", code=0)
    Path("evil.py").write_text("while True: pass\n")
    Path("evil.toml").write_text(USE)
    assert "was ended after 1 s" in run("check", "certs", "--against", "evil.toml", "--timeout", "1", code=2).stderr


def test_a_file_whose_mechanism_is_code_is_told_from_a_bad_one(folder):
    from dpverify.catalogue import read_spec

    trap()
    Path("evil.toml").write_text(USE)
    with pytest.raises(CodeForbidden):
        read_spec("evil.toml", code=False)
    Path("evil.toml").write_text(USE.replace("use", "usage"))
    with pytest.raises(SpecError) as caught:
        read_spec("evil.toml", code=False)
    assert not isinstance(caught.value, CodeForbidden)


# -- nothing is left behind ----------------------------------------------------------------------------------

SLOW = """
import os, signal, sys, time
import dpverify.search.verify
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):  # as in a shell, whoever started the tests ignores them
    signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)
def slow(claim, digits):
    open(f"{os.getpid()}.pid", "w").close()
    while True:
        pass
dpverify.search.verify.verify = slow
from dpverify.cli import main
main(sys.argv[1:])
"""
SLOW_SAMPLER = "import os, time\ndef sampler(data, size, rng):\n    open(f'{os.getpid()}.pid', 'w').close()\n    time.sleep(60)\n"
SLOW_MODULE = "import os, time\nopen(f'{os.getpid()}.pid', 'w').close()\ntime.sleep(60)\n"


@pytest.mark.sampled(4)
@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("verb", [("verify", "slow.toml", "-j", "2"), ("audit", "evil.toml"), ("verify", "used.toml")])
def test_no_process_outlives_a_run_however_that_is_ended(folder, number, verb):
    Path("slow.py").write_text(SLOW)
    Path("slow.toml").write_text(GOOD + GOOD.partition("[[claim]]")[2].join(("[[claim]]", "")).replace("good", "twin"))
    Path("evil.toml").write_text(AUDIT)
    Path("evil.py").write_text(SLOW_SAMPLER if verb[0] == "audit" else SLOW_MODULE)
    Path("used.toml").write_text(USE)
    wanted = 2 if "slow.toml" in verb else 1
    command = [sys.executable, "slow.py", *verb]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        while len(list(Path().glob("*.pid"))) < wanted and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(number)
        _, said = process.communicate()
    pids = [int(file.stem) for file in Path().glob("*.pid")]
    assert len(pids) >= wanted and all(map(gone, pids))
    assert process.returncode == {signal.SIGINT: 130, signal.SIGKILL: -9}.get(number, 128 + number)
    word = {signal.SIGINT: b"interrupted", signal.SIGKILL: b""}.get(number, f"ended by {number.name}".encode())
    assert word in said


def test_groups_that_begin_anew_remember_nothing_of_each_other():
    seen: list[int] = []

    def work(number: int) -> tuple[int, ...]:
        seen.append(number)
        return tuple(seen)

    assert list(in_order(work, [[1, 2], [3], [4]], 1, anew=True)) == [(1,), (1, 2), (3,), (4,)]
    assert list(in_order(work, [[1, 2], [3], [4]], 1))[-1] == (1, 2, 3, 4)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("anew", [False, True])
def test_how_many_tasks_are_done_is_told_and_rises_to_all(count, anew):
    told: list[int] = []
    assert list(in_order(lambda n: -n, [[1, 2], [3], [4]], count, anew=anew, told=told.append)) == [-1, -2, -3, -4]
    assert told == sorted(told) and told[-1] == 4 and told[0] >= 1
