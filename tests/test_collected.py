"""Collections: many certificates in one text file, each of which is what its own file would be."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

import dpverify as dp
from dpverify import cli
from dpverify.evidence import collected, recheck
from dpverify.trusted.kernel.errors import CertificateError
from tests import committed, tools

NAMES = ("laplace.sensitivity-1-exact", "laplace.sensitivity-1-just-below", "two_point.exact")


def run(*args, code=0):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three certificates as files, and in a collection beside."""
    monkeypatch.chdir(tmp_path)
    Path("apart").mkdir()
    for name in NAMES:
        committed.saved(name, Path("apart"))
    Path("some.certs.json").write_text(collected.collection({name: committed.certificate(name) for name in NAMES}))
    return tmp_path


def test_a_place_in_a_collection_is_to_the_byte_the_file_of_that_name(folder):
    places = collected.places(Path("some.certs.json"))
    assert [place.name for place in places] == [f"{name}.cert.json" for name in NAMES]
    for place in places:
        alone = Path("apart", place.name)
        assert collected.read(place) == alone.read_bytes()
        assert recheck.recheck(place).digest == sha256(alone.read_bytes()).hexdigest()


def test_what_is_said_of_a_collection_is_what_is_said_of_its_certificates_apart(folder):
    apart = run("check", *sorted(Path("apart").iterdir())).stdout
    assert run("check", "some.certs.json").stdout == apart.replace("apart/", "some.certs.json/")
    assert "3 certificates, 3 valid" in apart
    assert run("check", "apart").stdout == apart


def test_the_kernel_alone_checks_collections(folder, capsys):
    assert recheck.main(["some.certs.json"]) == 0
    said = capsys.readouterr().out
    assert all(f"some.certs.json/{name}.cert.json: " in said for name in NAMES) and said.count("SHA-256") == 3
    fresh = subprocess.run(
        [sys.executable, "-P", "-m", "dpverify.kernel", "some.certs.json"], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(Path(recheck.__file__).parents[2])},
    )  # fmt: skip
    assert fresh.stdout == said


def test_one_certificate_of_a_collection_is_named_like_a_file_in_a_folder(folder):
    place = f"some.certs.json/{NAMES[0]}.cert.json"
    assert run("check", place).stdout.startswith(f"PROVED   {place}: ")
    assert dp.check(place).verdict == "PROVED"
    assert run("explain", place).stdout.startswith("PROVED")
    refused = run("check", "some.certs.json/other.cert.json", code=2).stderr
    assert 'there is no certificate "other" in this collection' in refused


def test_a_forged_certificate_takes_no_other_answer_of_its_collection_away(folder):
    held = {name: committed.certificate(name) for name in NAMES}
    held[NAMES[1]]["verdict"] = "PROVED"
    Path("some.certs.json").write_text(collected.collection(held))
    found = run("check", "some.certs.json", code=2)
    assert "3 certificates, 2 valid" in found.stdout
    assert f"{NAMES[1]}.cert.json: not a certificate that holds: the certificate says PROVED, its lines give REFUTED" in found.stderr
    assert recheck.main(["some.certs.json"]) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"schema": "dpverify-collection/1", "certificates": {}}', "it holds none"),
        ('{"schema": "dpverify-collection/1", "certificates": []}', "it holds none"),
        ('{"schema": "dpverify-collection/1", "certificates": {"../a": {}}}', "calls one as no file could be called"),
        ('{"schema": "dpverify-collection/2", "certificates": {"a": {}}}', "its schema is not 'dpverify-collection/1'"),
        ('{"schema": "dpverify-collection/1", "certificates": {"a": {}}, "more": 1}', "its keys are others"),
        ('{"schema": "dpverify-collection/1", "certificates": {"a": {}, "a": {}}}', "stands twice"),
        ('{"schema": "dpverify-collection/1", "certificates": {"a": 0.5}}', "binary float"),
        ("[]", "not a collection of certificates"),
        ("no", "not JSON"),
    ],
)  # fmt: skip
def test_a_collection_that_is_none_is_refused_and_says_why(folder, text, says, capsys):
    Path("some.certs.json").write_text(text)
    with pytest.raises(CertificateError, match=says.replace("[", r"\[")):
        collected.read(Path("some.certs.json"))
    assert says in run("check", "some.certs.json", code=2).stderr
    assert recheck.main(["some.certs.json"]) == 2 and says in capsys.readouterr().err


def test_a_collection_that_changes_is_read_again(folder):
    place = collected.places(Path("some.certs.json"))[0]
    before = collected.read(place)
    Path("some.certs.json").write_text(collected.collection({NAMES[0]: {"schema": "another"}}))
    assert before != collected.read(place) == b'{\n "schema": "another"\n}\n'


def test_certificates_of_collections_meet_claim_files(folder):
    root = Path(recheck.__file__).parents[2]
    wanted = [name for name in committed.names() if name.startswith("two_point.")]
    Path("two.certs.json").write_text(collected.collection({name: committed.certificate(name) for name in wanted}))
    run("check", "two.certs.json", "--against", root / "specs" / "two_point.toml")
    others = run("check", "some.certs.json", "--against", root / "specs" / "two_point.toml", code=1).stdout
    assert "extra: some.certs.json/laplace" in others


def test_a_collection_is_unpacked_by_the_standard_library_alone(folder):
    tools.load("unpack").main("unpacked", "some.certs.json")
    assert {path.name: path.read_bytes() for path in Path("unpacked").iterdir()} == {
        path.name: path.read_bytes() for path in Path("apart").iterdir()
    }  # fmt: skip


def test_committed_collections_are_the_text_that_is_written():
    for file in sorted(committed.FOLDER.glob("*.certs.json")):
        text = file.read_text(encoding="utf-8")
        assert text == collected.collection(json.loads(text)["certificates"]), file
