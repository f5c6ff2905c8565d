"""What was found before saves a search and decides nothing: a hit is judged by the kernel, everything else is found anew."""

import copy
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.catalogue import read_spec
from dpverify.cli.settings import cache_of
from dpverify.evidence.collected import encode
from dpverify.project import seal
from dpverify.project.cache import _FINDS, Cache, key, sources, user_folder
from dpverify.project.config import Config
from dpverify.runtime.processes import Ended, in_order, worthwhile
from dpverify.search import verify as judging
from dpverify.search.verify import rejudged, verify
from dpverify.trusted.kernel.canonical_form import claim_hash
from dpverify.trusted.kernel.certificate import decode
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.judgement import check

ROOT = Path(__file__).parents[1]

# Randomized response that tells the truth with probability 3/4: epsilon = log(3) = 1.0986... (theory#finite-table)
RESPONSE = '[mechanism]\nkind = "table"\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]\n'
ABOVE = '[[claim]]\nname = "above"\nepsilon = 1.099\n'
BELOW = '[[claim]]\nname = "below"\nepsilon = 1.098\n'
SAMPLED = '[mechanism]\nkind = "sampled"\n[[claim]]\nname = "unknown"\nepsilon = 1\n[audit]\nsampler = "a:b"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVERIFY_CACHE_DIR", str(tmp_path / "kept"))
    Path("response.toml").write_text(RESPONSE + ABOVE + BELOW)
    return tmp_path


class Searches:
    """The names of the claims that were searched, in whichever process: a line each in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def names(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []

    def __eq__(self, other: object) -> bool:
        return self.names() == other

    __hash__ = None

    def __len__(self) -> int:
        return len(self.names())


@pytest.fixture
def searches(monkeypatch, tmp_path_factory):
    real, seen = judging.verify, Searches(tmp_path_factory.mktemp("searches") / "names")

    def counted(claim, digits):
        with seen.file.open("a") as file:
            file.write(f"{claim.name}\n")
        return real(claim, digits)

    monkeypatch.setattr(judging, "verify", counted)
    return seen


def run(*args: object, code: int | None = None):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    if code is not None:
        assert result.exit_code == code, result.output
    return result


def answers(*args: object) -> list[dict]:
    claims = json.loads(run("verify", *(args or ("response.toml",)), "--format", "json").stdout)["claims"]
    return [{key: value for key, value in claim.items() if key != "seconds"} for claim in claims]


def claim_of(text: str, name: str = "claim.toml"):
    Path(name).write_text(text)
    return read_spec(name).claims[0].claim


def kept() -> list[Path]:
    return sorted(Path("kept").rglob("*.json"))


# -- hits -----------------------------------------------------------------------------------------------------


def test_the_second_run_searches_nothing_and_says_the_same(folder, searches):
    first = answers()
    assert searches == ["above", "below"]
    assert answers() == first and searches == ["above", "below"]
    assert [answer["verdict"] for answer in first] == ["PROVED", "REFUTED"]


def test_what_is_undecided_is_not_kept_but_searched_again(folder, searches):
    Path("response.toml").write_text(SAMPLED)
    (first,) = answers()
    assert first["verdict"] == "UNKNOWN" and first["reason"] and not kept()
    assert answers() == [first] and searches == ["unknown", "unknown"]


def test_no_file_of_the_cache_hides_a_refutation_as_undecided(folder, searches):
    Path("response.toml").write_text(RESPONSE + BELOW + 'expect = "unknown"\n')
    (first,) = answers()
    assert first["verdict"] == "REFUTED" and not first["as_expected"]

    def hide(data):
        data["certificate"] |= {"verdict": "UNKNOWN", "lines": []}
        data["reasons"] = ["nothing was found"]
        assert check(data["certificate"]).verdict == "UNKNOWN"

    assert forged(hide) == [first] and searches == ["below", "below"]


@pytest.mark.wide
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_place_of_a_file_is_no_hit_and_nothing_waits_for_it(folder):
    run("verify", "response.toml", "--certificates", "out", code=1)
    for file in [*kept(), *Path("out").iterdir()]:
        file.unlink()
        os.mkfifo(file)
    command = [sys.executable, "-m", "dpverify.cli", "verify", "response.toml", "--certificates", "out"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run(command, capture_output=True, check=False, env=environment, timeout=600).returncode == 1
    assert [file.is_file() for file in [*kept(), *Path("out").iterdir()]] == [True] * 5


@pytest.mark.wide
def test_other_digits_and_other_claims_are_other_questions(folder, searches):
    answers()
    answers("response.toml", "--digits", "21")
    Path("response.toml").write_text(RESPONSE.replace("3/4", "4/5").replace("1/4", "1/5") + ABOVE)
    answers()
    assert searches == ["above", "below", "above", "below", "above"]


@pytest.mark.wide
def test_without_a_cache_everything_is_searched_and_nothing_kept(folder, searches):
    answers("response.toml", "--no-cache")
    assert not Path("kept").exists()
    answers()
    answers("response.toml", "--no-cache")
    assert searches == ["above", "below"] * 3


def test_the_sources_of_search_and_kernel_are_in_the_key_and_no_others():
    program = "import sys, dpverify.search.verify\nprint(*(name for name in sys.modules if name.startswith('dpverify.')))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert {name.split(".")[1] for name in run.stdout.split()} - {"ground"} == {name.removesuffix(".py") for name in _FINDS}


def test_a_change_of_the_sources_makes_every_hit_a_miss(folder, searches, monkeypatch):
    answers()
    monkeypatch.setattr("dpverify.project.cache.sources", lambda: "0" * 64)
    answers()
    assert searches == ["above", "below"] * 2


def test_the_digest_of_the_sources_is_the_same_every_time():
    command = [sys.executable, "-c", "from dpverify.project.cache import sources; print(sources())"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"}
    assert subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip() == sources()


# -- forgeries ------------------------------------------------------------------------------------------------


def forged(change) -> list[dict]:
    """The answers after what is kept was changed: each file's JSON value, in place."""
    for file in kept():
        data = json.loads(file.read_text())
        changed = change(data)
        file.write_text(json.dumps(data if changed is None else changed))
    return answers()


def _other_claim(data):
    claim = data["certificate"]["claim"]
    claim["epsilon"] = "2"
    data["certificate"]["claim_sha256"] = claim_hash(claim)


def _other_mechanism(data):
    claim = data["certificate"]["claim"]
    claim["mechanism"]["rows"] = [["1/2", "1/2"], ["1/2", "1/2"]]
    data["certificate"]["claim_sha256"] = claim_hash(claim)
    data["certificate"]["verdict"] = "PROVED"


def _opposite(data):
    certificate = data["certificate"]
    certificate["verdict"] = {"PROVED": "REFUTED", "REFUTED": "PROVED"}[certificate["verdict"]]


def _field(name, value):
    def change(data):
        data["certificate"][name] = value

    return change


def _line(name, value):
    def change(data):
        for line in data["certificate"]["lines"]:
            line[name] = value

    return change


def _schema(data):
    data["schema"] = "dpverify-cache/0"


def _more(data):
    data["verdict"] = "PROVED"


def _reasons(data):
    data["reasons"] = "all is well"


def _numbered_reasons(data):
    data["reasons"] = [1]


FORGERIES = {
    "another epsilon, with its hash": _other_claim,
    "another mechanism, with its hash": _other_mechanism,
    "the hash": _field("claim_sha256", "0" * 64),
    "the opposite verdict": _opposite,
    "the verdict UNKNOWN": _field("verdict", "UNKNOWN"),
    "no verdict": _field("verdict", None),
    "the precision": _field("prec", 10**9),
    "the certificate's schema": _field("schema", "dpverify-certificate/0"),
    "no lines": _field("lines", []),
    "lines that are none": _field("lines", [1, 2]),
    "a rule that does not exist": _line("rule", "trust-me"),
    "a rule of other mechanisms": _line("rule", "power-identity"),
    "a curve that nothing reads": _line("rule", "finite-curve"),
    "parameters of nothing": _line("parameters", {"pair": [0, 0]}),
    "parameters out of range": _line("parameters", {"pair": [7, 9], "event": [-1]}),
    "parameters that are no object": _line("parameters", []),
    "a place that there is not": _line("place", [1]),
    "a part that is all there is": _line("place", [0]),
    "a line that rests on itself": _line("premises", [0]),
    "the schema": _schema,
    "a key more": _more,
    "reasons that are a text": _reasons,
    "reasons that are numbers": _numbered_reasons,
    "no object": lambda data: [data],
    "nothing": lambda data: {},
    "a float": lambda data: {**data, "certificate": {**data["certificate"], "prec": 128.0}},
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_no_forgery_changes_an_answer_and_each_is_found_anew_and_replaced(folder, searches, change):
    first = answers()
    whole = {file: file.read_text() for file in kept()}
    assert forged(change) == first
    assert searches == ["above", "below"] * 2
    assert {file: file.read_text() for file in kept()} == whole


def test_reasons_that_were_altered_never_change_a_verdict(folder):
    first = answers()

    def change(data):
        data["reasons"] = ["proved by decree"]

    assert forged(change) == first


@pytest.mark.wide
@pytest.mark.sampled(3)
@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"schema": 1, "schema": 2}', b"null", b"1" * 5000])
def test_a_damaged_file_is_found_anew_and_replaced(folder, searches, content):
    first = answers()
    for file in kept():
        file.write_bytes(content)
    assert answers() == first and len(searches) == 4
    assert answers() == first and len(searches) == 4


def drawn():
    """The data of the one picture that is kept."""
    (file,) = [file for file in kept() if b'"bands"' in file.read_bytes()]
    return json.loads(file.read_bytes())["value"]


def put(value, *, sealed, key=None):
    """Other data in its place."""
    (file,) = [file for file in kept() if b'"seal"' in file.read_bytes()]
    name = key or file.stem
    told = json.dumps(["dpverify-cache/1", name, value], sort_keys=True)
    file.write_text(json.dumps({"schema": "dpverify-cache/1", "value": value, "seal": seal.seal(told) if sealed else "0" * 64}))


_BAND_FORGERIES = {
    "numbers that are none": lambda band: band | {"x": ["1/0"] * len(band["x"])},
    "numbers beyond all floats": lambda band: band | {"upper": ["1e400"] * len(band["x"])},
    "numbers of thousands of digits": lambda band: band | {"lower": ["9" * 5000] * len(band["x"])},
    "bounds that are no texts": lambda band: band | {"upper": [[1]] * len(band["x"])},
    "a lower bound above the upper": lambda band: band | {"lower": ["1"] * len(band["x"]), "upper": ["0"] * len(band["x"])},
    "negative bounds": lambda band: band | {"lower": ["-5"] * len(band["x"])},
    "points out of order": lambda band: band | {"x": band["x"][::-1]},
    "another quantity": lambda band: band | {"quantity": "<script>"},
    "rules that are lists": lambda band: band | {"rules": [["a"]]},
    "exactness that is a text": lambda band: band | {"exact": ["yes"] * len(band["x"])},
}


@pytest.mark.wide
@pytest.mark.sampled(3)
@pytest.mark.parametrize("forge", _BAND_FORGERIES.values(), ids=list(_BAND_FORGERIES))
def test_data_of_a_picture_that_was_altered_is_made_anew(folder, forge):
    run("report", "response.toml", "-o", "out", code=1)
    first = Path("out/response.curves.json").read_bytes()
    data = drawn()
    assert data["bands"].keys() >= {"delta"}
    put({**data, "bands": {kind: forge(band) for kind, band in data["bands"].items()}}, sealed=True)
    run("report", "response.toml", "-o", "out", code=1)
    assert Path("out/response.curves.json").read_bytes() == first


@pytest.mark.wide
def test_false_data_of_a_picture_that_somebody_else_wrote_is_made_anew(folder):
    """Well-formed, and not against what the kernel says at the claimed epsilon; but without this user's seal, or with another's."""
    run("report", "response.toml", "-o", "out", code=1)
    first, data = Path("out/response.curves.json").read_bytes(), drawn()
    band = data["bands"]["delta"]
    false = {**data, "bands": {**data["bands"], "delta": {**band, "upper": ["1"] * len(band["x"])}}}
    put(false, sealed=True)
    run("report", "response.toml", "-o", "out", code=1)
    assert Path("out/response.curves.json").read_bytes() != first  # what this user's own dpverify wrote is taken
    for forge in (lambda: put(false, sealed=False), lambda: put(false, sealed=True, key="another")):
        forge()
        run("report", "response.toml", "-o", "out", code=1)
        assert Path("out/response.curves.json").read_bytes() == first


@pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")
def test_a_key_that_others_could_have_read_seals_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv(seal.VARIABLE, str(tmp_path))
    assert seal.holds("text", seal.seal("text")) and not seal.holds("other", seal.seal("text"))
    (tmp_path / "seal.key").chmod(0o644)
    seal._key.cache_clear()
    assert seal.seal("text") is None and not seal.holds("text", None)
    monkeypatch.setenv(seal.VARIABLE, str(tmp_path / "seal.key" / "no folder"))
    assert seal.seal("text") is None


@pytest.mark.wide
def test_the_data_of_a_picture_of_other_claims_or_of_no_known_kind_is_made_anew(folder):
    run("report", "response.toml", "-o", "out", code=1)
    first = Path("out/response.curves.json").read_bytes()
    data = drawn()
    for other in ({**data, "names": ["<b>"]}, {**data, "bands": {"new": data["bands"]["delta"]}}, [data], None):
        put(other, sealed=True)
        run("report", "response.toml", "-o", "out", code=1)
        assert Path("out/response.curves.json").read_bytes() == first


@pytest.mark.wide
def test_a_certificate_under_another_claims_name_is_not_taken(folder, searches):
    first = answers()
    one, other = kept()
    held = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(held)
    assert answers() == first and len(searches) == 4


def test_a_hit_is_what_the_kernel_says_and_every_step_with_its_bounds(folder):
    claim = claim_of(RESPONSE + BELOW)
    found = verify(claim)
    again = rejudged(claim, json.loads(json.dumps(found.certificate)))
    assert again.judgement == check(found.certificate) == found.judgement
    assert again.proved == found.proved
    assert [line.rule for line, _ in again.proved] == [line["rule"] for line in found.certificate["lines"]]
    assert all(bounds for _, bounds in again.proved)


def test_a_certificate_of_another_claim_is_refused_by_name(folder):
    above, below = claim_of(RESPONSE + ABOVE), claim_of(RESPONSE + BELOW)
    with pytest.raises(CertificateError, match="of another claim than the one asked about"):
        rejudged(below, verify(above).certificate)
    altered = {**copy.deepcopy(dict(verify(below).certificate)), "verdict": "PROVED"}
    with pytest.raises(CertificateError, match="says PROVED, its lines give REFUTED"):
        rejudged(below, altered)


# -- a folder of certificates -----------------------------------------------------------------------------------


def test_certificates_that_lie_in_the_output_folder_need_no_search(folder, searches):
    first = answers("response.toml", "--certificates", "out", "--no-cache")
    files = {file.name: file.read_bytes() for file in Path("out").iterdir()}
    assert answers("response.toml", "--certificates", "out", "--no-cache") == first
    assert searches == ["above", "below"]
    assert {file.name: file.read_bytes() for file in Path("out").iterdir()} == files


@pytest.mark.wide
def test_a_report_over_its_own_certificates_needs_no_search(folder, searches):
    Path("response.toml").write_text(RESPONSE + ABOVE + BELOW + 'expect = "refuted"\n')
    run("report", "response.toml", "-o", "out", "--no-cache", code=0)
    run("report", "response.toml", "-o", "out", "--no-cache", code=0)
    assert searches == ["above", "below"]


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "alter",
    [
        lambda: Path("out/certificates.json").unlink(),
        lambda: Path("out/certificates.json").write_text("[]"),
        lambda: Path("out/certificates.json").write_text(Path("out/certificates.json").read_text().replace(sources(), "0" * 64)),
        lambda: Path("out/certificates.json").write_text(Path("out/certificates.json").read_text().replace('"digits": 20', '"digits": 5')),
        lambda: [file.write_text("{}") for file in Path("out").glob("*.cert.json")],
        lambda: [file.unlink() for file in Path("out").glob("*.cert.json")],
    ],
    ids=["no list", "a foreign list", "another search", "other digits", "damaged certificates", "no certificates"],
)
def test_what_todays_search_did_not_find_is_searched(folder, searches, alter):
    first = answers("response.toml", "--certificates", "out", "--no-cache")
    alter()
    assert answers("response.toml", "--certificates", "out", "--no-cache") == first
    assert searches == ["above", "below"] * 2
    assert answers("response.toml", "--certificates", "out", "--no-cache") == first and len(searches) == 4


def test_a_stored_certificate_of_unknown_is_searched_again(folder, searches):
    answers("response.toml", "--certificates", "out", "--no-cache")
    for file in Path("out").glob("*.cert.json"):
        undecided = {**decode(file.read_bytes()), "verdict": "UNKNOWN", "lines": []}
        assert check(undecided).verdict == "UNKNOWN"
        file.write_text(encode(undecided))
    assert [answer["verdict"] for answer in answers("response.toml", "--certificates", "out", "--no-cache")] == ["PROVED", "REFUTED"]
    assert len(searches) == 4


# -- the folder ---------------------------------------------------------------------------------------------------


def test_the_environment_goes_before_the_project_before_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("DPVERIFY_CACHE_DIR", str(tmp_path / "own"))
    assert cache_of(Config(cache=tmp_path / "project")).folder == cache_of(Config(cache=False)).folder == tmp_path / "own"
    monkeypatch.delenv("DPVERIFY_CACHE_DIR")
    assert cache_of(Config(cache=tmp_path / "project")).folder == tmp_path / "project"
    assert cache_of(Config(cache=False)).folder is None
    assert cache_of(Config(), off=True).folder is None
    if sys.platform.startswith("linux"):
        assert cache_of(Config()).folder == tmp_path / "xdg" / "dpverify"
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # the standard says to ignore it
        monkeypatch.setenv("HOME", str(tmp_path))
        assert user_folder() == tmp_path / ".cache" / "dpverify"


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    for variable in ("DPVERIFY_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    assert cache_of(Config()).folder is None


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="rights bind nobody but a common user")
def test_a_folder_without_rights_is_no_cache_and_no_failure(folder, searches):
    Path("kept").mkdir()
    Path("kept").chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert answers() == answers() and len(searches) == 4


def test_a_folder_that_cannot_be_made_is_no_cache_and_no_failure(folder, searches):
    Path("kept").write_text("a file")
    assert answers() == answers() and len(searches) == 4


def test_a_full_disk_is_no_cache_and_no_failure(folder, searches, monkeypatch):
    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert answers() == answers() and len(searches) == 4
    assert not [file for file in Path("kept").rglob("*") if file.suffix in (".json", ".tmp")]


def test_beyond_its_limit_a_cache_loses_what_was_used_longest_ago(folder):
    cache = Cache(Path("kept"))
    claims = [claim_of(RESPONSE + f"[[claim]]\nname = 'claim'\nepsilon = {2 + number}\n") for number in range(8)]
    for number, claim in enumerate(claims):
        cache.keep(claim, 20, verify(claim))
        file = cache.file(claim, 20)
        assert file is not None
        os.utime(file, (number, number))
    assert cache.find(claims[0], 20) is not None  # used now
    size = sum(file.stat().st_size for file in kept())
    cache.prune(limit=size)
    assert len(kept()) == 8
    cache.prune(limit=size - 1)
    assert sum(file.stat().st_size for file in kept()) <= 0.75 * size
    assert cache.has(claims[0], 20) and cache.has(claims[7], 20) and not cache.has(claims[1], 20)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_searched_leaves_a_cache_within_its_limit(folder, monkeypatch, jobs):
    monkeypatch.setattr(Cache.prune, "__defaults__", (1,))
    answers("response.toml", "-j", jobs)
    assert not kept()


def test_the_verb_tells_where_it_is_and_clears_it_and_nothing_else(folder):
    answers()
    Path("kept/mine.txt").write_text("foreign")
    assert run("cache", "dir", code=0).stdout.strip() == str(folder / "kept")
    assert run("cache", code=0).stdout.startswith(f"{folder / 'kept'}: 2 files, ")
    assert "2 files removed" in run("cache", "clear", code=0).stdout
    assert not kept() and Path("kept/mine.txt").exists()


def test_the_verb_of_a_project_without_a_cache_says_so(folder, monkeypatch):
    monkeypatch.delenv("DPVERIFY_CACHE_DIR")
    Path("pyproject.toml").write_text("[tool.dpverify]\ncache = false\n")
    assert "cache = false in [tool.dpverify]" in run("cache", "dir", code=2).stderr


@pytest.mark.wide
def test_two_processes_at_once_leave_whole_files(folder):
    command = [sys.executable, "-m", "dpverify.cli", "verify", "response.toml"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) for _ in range(2)]
    assert [process.wait() for process in both] == [1, 1]
    assert all(json.loads(file.read_text())["schema"] == "dpverify-cache/1" for file in kept()) and len(kept()) == 2
    assert not list(Path("kept").rglob("*.tmp"))


# -- several processes ----------------------------------------------------------------------------------------------


@pytest.mark.wide
def test_several_processes_answer_as_one_does(folder):
    Path("response.toml").write_text(RESPONSE + "".join(f'[[claim]]\nname = "{n}"\nepsilon = "{n}/10"\n' for n in range(24)))
    Path("other.toml").write_text(RESPONSE + ABOVE)
    alone = answers("response.toml", "other.toml", "--no-cache", "-j", 1, "--certificates", "one")
    several = answers("response.toml", "other.toml", "--no-cache", "-j", 3, "--certificates", "three")
    assert [answer.pop("certificate").removeprefix("one") for answer in alone] == [
        answer.pop("certificate").removeprefix("three") for answer in several
    ]
    assert alone == several
    assert {file.name: file.read_bytes() for file in Path("one").iterdir()} == {
        file.name: file.read_bytes() for file in Path("three").iterdir()
    }
    assert (
        answers("response.toml", "other.toml", "-j", 3)
        == answers("response.toml", "other.toml", "-j", 3)
        == [{**answer, "certificate": None} for answer in alone]
    )


def test_results_come_in_order_whoever_is_slow():
    def work(seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    groups = [[0.2, 0.0], [0.1], [0.0, 0.05, 0.0]]
    assert list(in_order(work, groups, 3)) == [0.2, 0.0, 0.1, 0.0, 0.05, 0.0]


def test_a_process_that_dies_costs_its_own_task_alone():
    def work(number: int) -> int:
        if number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 7:
            os._exit(9)
        return number * number

    results = list(in_order(work, [range(5), range(5, 12)], 2))
    assert [number * number if number not in (3, 7) else "died" for number in range(12)] == [
        "died" if isinstance(result, Ended) else result for result in results
    ]
    died = [result.how for result in results if isinstance(result, Ended)]
    assert died[0].startswith("ended by signal 9") and died[1] == "ended by exit code 9"


def test_what_cannot_be_sent_between_processes_is_done_in_this_one():
    def work(number: int):
        return (lambda: number) if number == 1 else number

    results = list(in_order(work, [[0, 1, 2]], 2))
    assert results[0] == 0 and results[1]() == 1 and results[2] == 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_claim_whose_process_dies_is_undecided_and_the_others_are_answered(folder, monkeypatch, jobs):
    real = judging.verify

    def dying(claim, digits):
        if claim.name == "above":
            os.kill(os.getpid(), signal.SIGKILL)
        return real(claim, digits)

    monkeypatch.setattr(judging, "verify", dying)
    claims = json.loads(run("verify", "response.toml", "-j", jobs, "--format", "json", code=1).stdout)["claims"]
    assert [claim["verdict"] for claim in claims] == ["UNKNOWN", "REFUTED"]
    assert claims[0]["reason"].startswith("the process that was judging the claim was ended by signal 9")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_every_process(folder):
    Path("slow.py").write_text(
        "import os, signal, time, dpverify.search.verify\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # whoever started the tests ignores it
        "def slow(claim, digits):\n    open(f'{os.getpid()}.pid', 'w').close()\n    time.sleep(60)\n"
        "dpverify.search.verify.verify = slow\n"
        "from dpverify.cli import main\nmain(['verify', 'response.toml', '-j', '2'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "slow.py"], stderr=subprocess.PIPE, text=True, env=environment) as process:
        while len(list(Path().glob("*.pid"))) < 2 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130 and "interrupted" in said
    for file in Path().glob("*.pid"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.stem), 0)


@pytest.mark.parametrize(("hits", "misses", "several"), [(0, 0, False), (10, 3, False), (0, 7, False)])
def test_few_claims_are_not_worth_a_process(hits, misses, several):
    assert (worthwhile(hits, misses) > 1) is several


def test_many_claims_are_worth_as_many_processes_as_there_are_cores(monkeypatch):
    monkeypatch.setattr("dpverify.runtime.processes.cores", lambda: 4)
    assert worthwhile(0, 1000) == 4 and worthwhile(1000, 0) == 4


def test_a_key_names_the_question_alone(folder):
    above, below = claim_of(RESPONSE + ABOVE), claim_of(RESPONSE + BELOW)
    assert key(above, 20) == key(claim_of(RESPONSE + ABOVE, "claim.toml"), 20)
    assert len({key(above, 20), key(below, 20), key(above, 21)}) == 3
