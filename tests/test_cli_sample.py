"""`dpverify sample`: files, seeds, and what is said of them."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from dpverify import cli

CLAIM = '[[claim]]\nname = "two"\nsensitivity = 1\nepsilon = "1/2"\n'
LAPLACE = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 2\ndimension = 2\n' + CLAIM.replace("two", "half")
COUNT = '[mechanism]\nkind = "builtin"\nname = "discrete_laplace"\nparameters = { scale = 2 }\n' + CLAIM
WIDE = COUNT.replace("scale = 2", 'scale = "1e30"')
OTHER = COUNT.replace("two", "three").replace("scale = 2", "scale = 3")


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        Path("noise.toml").write_text(text)
        return "noise.toml"

    return write


def run(*arguments, code=0):
    done = CliRunner().invoke(cli.main, ["sample", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done


def test_outputs_go_to_stdout_and_how_they_are_drawn_to_stderr(file):
    done = run(file(LAPLACE), "--size", 4, "--seed", 1, "--data", "[1000, 2000]")
    rows = np.array([[float(cell) for cell in line.split(",")] for line in done.stdout.splitlines()])
    assert rows.shape == (4, 2) and (np.abs(rows - [1000, 2000]) < 100).all()
    assert done.stderr == (
        "a gamma variable of shape 1\nin floats: the last bits of an output may tell the true answer; snap rounds them away\n"
    )


def test_one_seed_gives_one_file_and_an_array_the_same_numbers_as_text(file):
    name = file(LAPLACE)
    run(name, "--seed", 1, "-o", "a.csv")
    run(name, "--seed", 1, "-o", "a.npy")
    run(name, "--seed", 2, "-o", "b.npy")
    array = np.load("a.npy")
    assert array.shape == (1000, 2)
    assert np.array_equal(np.loadtxt("a.csv", delimiter=","), array)
    assert not np.array_equal(np.load("b.npy"), array)


def test_integers_are_written_as_integers_however_long(file):
    done = run(file(WIDE), "--seed", 1, "--size", 20)
    assert max(abs(int(line)) for line in done.stdout.splitlines()) > 2**63
    assert "exact: nothing is rounded" in done.stderr
    refused = run("noise.toml", "--seed", 1, "-o", "a.npy", code=2)
    assert "DataError: a.npy: some outputs are integers beyond 64 bits" in refused.stderr
    assert not Path("a.npy").exists()


def test_outputs_are_snapped_to_a_grid(file):
    done = run(file(LAPLACE), "--seed", 1, "--snap", "1/4")
    assert all(float(cell) * 4 == int(float(cell) * 4) for line in done.stdout.splitlines() for cell in line.split(","))
    assert "rounded to a multiple of 2^-2" in done.stderr


def test_files_with_mechanisms_of_their_own_are_told_apart_by_the_names_of_claims(file):
    file(COUNT)
    Path("other.toml").write_text(OTHER)
    refused = run(".", code=2).stderr
    assert "the claims have different mechanisms: name one with --claim, of 'two', 'three'." in refused
    two, three = (run(".", "--claim", which, "--seed", 1).stdout for which in ("two", "three"))
    assert two != three
    assert run("noise.toml", "--seed", 1).stdout == two


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--data", "[1,"), "--data [1,: not JSON"),
        (("--data", "1"), "DataError: data = 1 is not a list of 2 numbers"),
        (("--snap", "3"), "DataError: snap = 3 is not a power of two"),
        (("-o", "a.txt"), "the file's name ends in .csv or .npy"),
        (("--claim", "hlaf"), "--claim 'hlaf': no claim of this name"),
        (("--size", "0"), "--size"),
    ],
)
def test_what_cannot_be_done_is_bad_usage_and_says_why(file, arguments, said):
    assert said in run(file(LAPLACE), *arguments, code=2).stderr


def test_a_mechanism_without_a_law_is_bad_usage_and_says_why(file):
    text = '[mechanism]\nkind = "sampled"\n[[claim]]\nepsilon = 1\n[audit]\nsampler = "a:b"\n'
    assert "NoSampler: nothing is declared of this mechanism" in run(file(text), code=2).stderr


def test_a_walk_is_labelled_with_what_it_tells_of_itself_and_the_weakened_claim(file):
    text = '[mechanism]\nkind = "radial"\nprofile = "exp(-r)"\nnorm = { facets = [[1, 0], [0, 1], [1, 1]] }\ndimension = 2\n' + CLAIM
    done = run(file(text), "--walk", "hit-and-run", "--size", 3, "--seed", 1)
    assert len(done.stdout.splitlines()) == 3
    label, met, weakened, dependent = done.stderr.splitlines()[2:]
    assert label == "walk: not certified" and met.startswith("R-hat ") and "independent points, p = " in met
    assert "(epsilon, delta + (1 + e^epsilon) tau)" in weakened and dependent.startswith("outputs of one run depend on each other")
    assert "a walk has nothing to walk in. Leave it out." in run(file(LAPLACE), "--walk", "grid", code=2).stderr
