"""Which files of a folder are claim files: those with a [mechanism] table, outside of hidden folders."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpverify import cli, errors, verify
from dpverify.catalogue import resolve
from dpverify.runtime.folders import claim_files

CLAIMS = '[mechanism]\nkind = "table"\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]\n[[claim]]\nname = "above"\nepsilon = 2\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args, code):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result


def written(name, text):
    file = Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_a_project_that_init_made_is_verified_as_a_whole():
    run("init", code=0)
    said = run("verify", ".", code=0)
    assert "as expected" in said.stdout and said.stderr == ""


def test_other_files_and_hidden_folders_are_left_out_and_told_with_v():
    for name in ("noise.toml", ".venv/noise.toml", "deep/er/noise.toml", "deep/.noise.toml"):
        written(name, CLAIMS)
    written("Cargo.toml", '[package]\nname = "x"\n')
    written("pyproject.toml", '[project]\nname = "x"\n')
    assert resolve(".") == [Path("deep/er/noise.toml"), Path("noise.toml")]
    assert run("verify", ".", code=0).stderr == ""
    told = run("verify", ".", "-v", code=0).stderr.splitlines()
    assert sorted(line for line in told if line.startswith("skipped: ")) == [
        "skipped: .venv/noise.toml: hidden",
        "skipped: Cargo.toml: no [mechanism] table",
        "skipped: deep/.noise.toml: hidden",
        "skipped: pyproject.toml: no [mechanism] table",
    ]


def test_what_is_named_is_read_wherever_it_lies_and_whatever_it_is():
    written(".hidden/noise.toml", CLAIMS)
    run("verify", ".hidden/noise.toml", code=0)
    run("verify", ".hidden", code=0)
    written("Cargo.toml", '[package]\nname = "x"\n')
    assert "Cargo.toml" in run("verify", "Cargo.toml", code=2).stderr


def test_a_folder_without_claim_files_says_what_it_has():
    written("Cargo.toml", '[package]\nname = "x"\n')
    written(".taplo.toml", "")
    said = run("verify", ".", code=2).stderr
    assert "no claim files (*.toml with a [mechanism] table)" in said
    assert ".taplo.toml (hidden)" in said and "Cargo.toml (no [mechanism] table)" in said
    with pytest.raises(errors.SpecError, match="no claim files"):
        verify(".")


IS_ONE = {
    "a head": "[mechanism]\n",
    "with spaces, and a table below": "\n  [ mechanism . part ]\n",
    "a quoted head": '["mechanism"]\n',
    "a key": 'mechanism = { kind = "table" }\n',
    "dotted keys": 'mechanism.kind = "table"\n',
    "claims without a mechanism": "[[claim]]\nepsilon = 1\n",
    "another case": "[Mechanism]\n",
    "behind the mark of an editor": b"\xef\xbb\xbf[mechanism]\n",
    "another encoding": "[mechanism]\n".encode("utf-16"),
    "a fault of TOML": '[mechanism]\nkind = "table\n',
    "a fault of TOML beside a key": 'mechanism = { kind = "table\n',
    "bytes that are no text": b'[mechanism]\nkind = "\xe9"\n',
}
IS_NONE = {
    "nothing": "",
    "a key of another table": '[sasl]\nmechanism = "PLAIN"\n',
    "a table of another table": '[sasl]\nmechanism = { name = "PLAIN" }\n',
    "a word": 'mechanism = "PLAIN"\n',
    "a remark": "# [mechanism]\n",
    "a longer name": "[mechanisms]\n",
    "a fault of TOML elsewhere": "[package\n",
    "bytes that are no text": b'name = "\xe9"\n',
}


@pytest.mark.parametrize("what", IS_ONE)
def test_a_claim_file_is_one_even_if_it_is_faulty(what):
    file = written("x.toml", IS_ONE[what])
    assert claim_files(Path()).files == [file]


@pytest.mark.parametrize("what", IS_NONE)
def test_a_file_without_a_mechanism_is_none(what):
    file = written("x.toml", IS_NONE[what])
    assert claim_files(Path()).files == [] and list(claim_files(Path()).skipped) == [file]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_cannot_be_read_is_an_error_and_not_skipped():
    written("noise.toml", CLAIMS)
    os.mkfifo("pipe.toml")
    assert "pipe.toml" in run("verify", ".", code=2).stderr
