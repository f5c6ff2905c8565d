"""What people meet in their first hour: lists of what there is, help that is whole, and errors that know the mistake."""

import json
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from dpverify.catalogue import shelf
from dpverify.catalogue.inline import OF_A_CLAIM
from dpverify.catalogue.kinds import BUILTIN, KINDS, WHAT
from dpverify.catalogue.kinds.fields import OF_A_PART
from dpverify.catalogue.kinds.named import BUILTINS
from dpverify.catalogue.synonyms import SYNONYMS
from dpverify.catalogue.values import SCHEMES
from dpverify.cli import main
from dpverify.trusted.kernel.registry import EXPLAINED
from dpverify.trusted.sensitivity.queries import ADJACENCIES

NOISE = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 2\n'
CLAIM = "[[claim]]\nsensitivity = 1\nepsilon = 1\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVERIFY_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


# -- what there is -------------------------------------------------------------------------------------------


def test_the_kinds_the_shelf_and_the_rules_are_listed_each_with_a_sentence():
    kinds = run("list", "kinds").stdout
    heads = [line.strip().removeprefix("builtin ") for line in kinds.splitlines() if line[2] != " "]
    assert {head.split(" ")[0] for head in heads} == {*WHAT, *BUILTINS} - {BUILTIN}
    for what, there in (("shelf", {file.stem for file in (shelf() / "specs").glob("*.toml")}), ("rules", set(EXPLAINED))):
        lines = run("list", what).stdout.splitlines()
        assert {line.strip().partition(" (")[0] for line in lines if line[2] != " "} == there
        assert sum(line[2] != " " and below[2] == " " for line, below in pairwise(lines)) == len(there)
        assert max(map(len, lines)) <= 100


def test_explain_without_a_name_lists_what_there_is_to_explain():
    assert run("explain").stdout == run("list", "rules").stdout.join(["Rules, and theorems about privacy curves:\n", ""]) + (
        "\nMechanisms on the shelf:\n" + run("list", "shelf").stdout
    )


def test_the_help_tells_every_verb_in_a_sentence_that_is_not_cut():
    lines = run("--help").stdout.partition("Commands:")[2].strip().splitlines()
    assert len(lines) == len(main.commands) and all(line.endswith(".") and "..." not in line and len(line) <= 80 for line in lines)


def test_a_report_goes_to_a_folder_of_its_own_where_none_is_named(folder):
    Path("noise.toml").write_text(NOISE + CLAIM)
    run("report", "noise.toml")
    assert (folder / "dpverify-report" / "index.html").is_file()


# -- errors that know the mistake ----------------------------------------------------------------------------


@pytest.mark.sampled(20)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (NOISE.replace("builtin", "laplace") + CLAIM, 'is the name of a builtin. Write kind = "builtin" and name = "laplace".'),
        (NOISE.replace("builtin", "lapalce") + CLAIM, "Perhaps the builtin laplace is meant"),
        (NOISE.replace('kind = "builtin"\n', "") + CLAIM, 'laplace is the name of a builtin: write kind = "builtin" beside'),
        (
            '[mechanism]\nkind = "translation"\ndensity = "exp(-abs(x))"\n' + CLAIM,
            "density has the free symbol 'x'. The variable of this kind is z: write that, or give x in parameters.",
        ),
        (
            '[mechanism]\nkind = "radial"\nprofile = "exp(-a*r)"\nnorm = "l2"\ndimension = 1\n' + CLAIM,
            "profile has the free symbol 'a'. Give it in parameters.",
        ),
        ("", "claim is missing. Write [[claim]], and below it what is claimed, such as epsilon = 1."),
        ("", "mechanism is missing. Write [mechanism], and below it its kind."),
        (NOISE.replace('"laplace"', "laplace") + CLAIM, "not TOML: Invalid value (at line 3, column 8). Quote strings"),
        (NOISE.replace("2", "20%") + CLAIM, "Numbers are written as 0.5, and everything else in quotes."),
        (NOISE.replace("2", '"2,5"') + CLAIM, "Here, a decimal has a point, such as 0.5,"),
        (NOISE.replace("2", '"2 exp(1)"') + CLAIM, "Here, write * between factors."),
        (NOISE.replace("2", '"(1 + 1)(3)"') + CLAIM, "Here, write * between factors."),
        (NOISE + CLAIM.replace("epsilon = 1", 'epsilon = "thight"'), "Did you mean 'tight'?"),
        (NOISE + '[[claim]]\nquery = "count"\nadjacency = "l1"\nepsilon = 1\n', "each row of a query is a linear query on a histogram."),
        (NOISE + "scale = 3\n" + CLAIM, "Duplicate key in one table."),
        (NOISE + NOISE + CLAIM, "Duplicate table. [[claim]] has two brackets"),
        (NOISE.replace('"laplace"', '"laplace') + CLAIM, "A quote is not closed on its line."),
        (NOISE.replace("[mechanism]", "[[mechanism]]") + CLAIM, "is a list of tables. Write it once, in single brackets."),
        (NOISE.replace("scale", "b") + CLAIM, "unknown key \"b\". Did you mean 'scale'?"),
        (NOISE.replace("scale", "width") + CLAIM, 'unknown key "width". Known here: dimension, kind, name, parameters, scale.'),
        (NOISE.replace('"laplace"', '"normal"') + CLAIM, "Did you mean 'gaussian'?"),
        (NOISE + CLAIM.replace("epsilon", "rho"), "unknown key \"rho\". Did you mean 'zcdp'?"),
        (NOISE.replace("2", '"b"') + 'parameters = { b = "pos" }\n' + CLAIM, "Give it a value here. Did you mean 'positive'?"),
        ('[mechanism]\nkind = "svt"\n' + CLAIM, "Did you mean 'above_threshold'?"),
        (
            '[mechanism]\nkind = "compose"\nparts = { kind = "radial" }\n' + CLAIM,
            "such as { kind = \"builtin\", name = \"laplace\", scale = 1 }. Write part = ",
        ),
        ('[mechanism]\nuse = "nothing"\n' + CLAIM, "names no file. Looked for mechanisms/nothing.py, "),
        (NOISE + CLAIM.replace("[[claim]]", "[[claims]]"), "unknown table [[claims]]. Write [[claim]], once for each claim."),
        (NOISE + CLAIM + '[audit]\nsampler = "a:b"\npair = []\n', "unknown key \"pair\". Did you mean 'pairs'?"),
        (
            '[mechanism]\nkind = "translation"\ndensity = "e**(-abs(z))"\n' + CLAIM,
            "density has the free symbol 'e'. Write exp(...) for powers of e, or give e in parameters.",
        ),
        (
            '[mechanism]\nkind = "radial"\nprofile = "exp(-r)"\nnorm = "L2"\ndimension = 2\n' + CLAIM,
            "norm = \"L2\" is not one of l1, l2, linf. Did you mean 'l2'?",
        ),
        (
            '[mechanism]\nkind = "noisy_max"\nnoise = "laplace"\ncandidates = 2\n' + CLAIM,
            'noise = "laplace" is not a table. Write { kind = "builtin", name = "laplace", ... } for a builtin of that name.',
        ),
        (
            '[mechanism]\nkind = "builtin"\nname = "randomized_response"\np = 75\n[[claim]]\nepsilon = 1\n',
            "noise.toml, mechanism: p = 75 is not between 0 and 1. Write per cent as a decimal, such as 0.75.",
        ),
        (
            NOISE + '[[claim]]\nquery = [1, 0]\nadjacency = "l1"\nepsilon = 1\n',
            "query = [1, 0] is not a list of rows, each a list. Write [[1, 0]] for one row.",
        ),
        (NOISE + CLAIM.replace("epsilon = 1", 'epsilon = "ln(2)"'), "Here, write log, which is the natural logarithm."),
        (NOISE + CLAIM.replace("epsilon = 1", 'epsilon = "0,5"'), "Here, a decimal has a point, such as 0.5, and thousands have no sign"),
        (NOISE + CLAIM.replace("epsilon = 1", 'epsilon = "50%"'), "Here, write a decimal, such as 0.5 for 50 per cent."),
        (NOISE + CLAIM.replace("epsilon = 1", 'epsilon = "one"'), "Write a number, or give it in the mechanism's parameters."),
        (NOISE + CLAIM.replace("sensitivity = 1", ""), "It is how far apart the answers of neighbours are at most."),
        (NOISE + CLAIM + '[audit]\nsampler = "noise.py"\n', 'Write the module without .py, a colon, and the name in it, such as "'),
        (NOISE + CLAIM.replace("sensitivity", "sens"), "unknown key \"sens\". Did you mean 'sensitivity'?"),
    ],
)  # fmt: skip
def test_a_usual_mistake_is_told_with_the_way_out(folder, text, said):
    Path("noise.toml").write_text(text)
    assert said in run("verify", "noise.toml", code=2).stderr


@pytest.mark.wide
def test_gaussian_noise_without_a_delta_is_told_the_delta_that_would_do(folder):
    Path("noise.toml").write_text('[mechanism]\nkind = "builtin"\nname = "gaussian"\nsigma = 2\n' + CLAIM)
    told = "No epsilon is enough at delta 0: the claim needs a delta, and 0.0068296 will do at epsilon 1."
    assert told in " ".join(run("verify", "noise.toml", code=1).stdout.split())
    assert told in run("verify", "noise.toml", "--format", "github", code=1).stdout
    Path("noise.toml").write_text(Path("noise.toml").read_text() + "delta = 0.00682960\n")
    run("verify", "noise.toml")


# -- bad files in every format -------------------------------------------------------------------------------


@pytest.fixture
def bad(folder):
    Path("bad.toml").write_text(f"# what we promise\n{NOISE}\n{CLAIM}\n{CLAIM.replace('epsilon', 'eps')}")
    return "bad.toml"


@pytest.mark.parametrize("verb", ["verify", "audit"])
def test_a_bad_file_is_an_entry_of_the_json_with_its_place(bad, verb):
    result = run(verb, bad, "--format", "json", code=2)
    answer = json.loads(result.stdout)
    assert (answer["claims"], answer["audits"]) == ([], [])
    assert [(one["file"], one["name"]) for one in answer["errors"]] == [("bad.toml", "claim 2")] * 2
    assert "unknown key" in answer["errors"][1]["error"] and "SpecError: bad.toml, claim 2: unknown key" in result.stderr


def test_a_bad_file_is_annotated_at_the_line_of_the_key(bad):
    lines = Path(bad).read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(lines) if text.startswith("eps ="))
    told = run("verify", bad, "--format", "github", code=2).stdout
    assert f"::error file=bad.toml,line={line},col=1,title=not read::claim 2: unknown key" in told


def test_a_bad_file_is_an_error_of_junit_and_a_failed_invocation_of_sarif(bad):
    suites = ET.fromstring(run("verify", bad, "--format", "junit", code=2).stdout)
    assert [case.get("classname") for case in suites.iter("testcase") if case.find("error") is not None] == ["bad.toml"] * 2
    [log] = json.loads(run("verify", bad, "--format", "sarif", code=2).stdout)["runs"]
    said = json.dumps(log["invocations"])
    assert log["invocations"][0]["executionSuccessful"] is False and "unknown key" in said


@pytest.mark.parametrize("file", ["gone.toml", "not.toml"])
def test_a_file_that_is_not_there_or_is_no_toml_is_an_entry_too(folder, file):
    Path("not.toml").write_text("[mechanism\n")
    [one] = json.loads(run("verify", file, "--format", "json", code=2).stdout)["errors"]
    assert one["file"] == file and one["error"]


def test_check_tells_a_claim_file_and_a_page_from_a_certificate(folder):
    Path("noise.toml").write_text(NOISE + CLAIM)
    said = " ".join(run("check", "noise.toml", code=2).stderr.split())
    assert "is a claim file, not a certificate: `dpverify verify noise.toml --certificates DIR` makes certificates" in said
    assert "--against noise.toml demands one of each" in said
    Path("out").mkdir()
    assert "Name its folder: dpverify check out" in " ".join(run("check", "out/index.html", code=2).stderr.split())


@pytest.mark.parametrize(
    ("density", "way"),
    [
        ("exp(-|z|)", "abs(...) stands for bars"), ("np.exp(-abs(z))", "without the name of a module"),
        ("math.exp(-abs(z))", "without the name"),
        ("lambda z: exp(-abs(z))", "write the expression alone"), ("f(z) = exp(-abs(z))", "write the expression alone"),
        ("exp(ln(2)*z)", "write log"),
        ("exp(-fabs(z))", "write abs"), ("exp(-arcsinh(z))", "write asinh"), ("kv(0, abs(z))", "write besselk(order, x)"),
        ("Gamma(3)*exp(-abs(z))", "write gamma"), ("3!*exp(-abs(z))", "write gamma(n + 1) for a factorial"),
        ("exp(-z\u00b2)", "in plain letters"),
    ],
)  # fmt: skip
def test_what_is_written_as_in_another_language_is_told_in_this_one(folder, density, way):
    Path("noise.toml").write_text(f'[mechanism]\nkind = "translation"\ndensity = "{density}"\n' + CLAIM)
    said = run("verify", "noise.toml", code=2).stderr
    assert f"Here, {way}" in said or (said.count("Here, ") == 1 and way in said.partition("Here, ")[2])


@pytest.mark.parametrize("density", ["exp(-abs(z)) +", "exp(-abs(z)", "exq(-abs(z))"])
def test_a_slip_in_this_language_is_not_taken_for_another_one(folder, density):
    Path("noise.toml").write_text(f'[mechanism]\nkind = "translation"\ndensity = "{density}"\n' + CLAIM)
    assert "Here, " not in run("verify", "noise.toml", code=2).stderr


def test_every_word_of_others_stands_for_words_that_are_known_here():
    known = {*WHAT, *BUILTINS, *ADJACENCIES, *SCHEMES, "l1", "l2", "linf", "unlimited"}
    known |= {key for kind in (*KINDS.values(), *BUILTINS.values()) for field in kind.fields for key in field.keys}
    known |= {field.name for field in OF_A_PART} | {*OF_A_CLAIM, "order"}
    for word, named in SYNONYMS.items():
        assert set(named) <= known, word
        assert word == word.casefold()
        assert len(named) == len({*named}) >= 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("verify", "noise.toml", "--digits", "many"), "'many' is not a whole number from 1 to 1000, such as 30."),
        (("verify", "noise.toml", "--jobs", "0"), "'0' is not a whole number of at least 1, such as 2."),
        (("verify", "noise.toml", "--timeout", "nan"), "'nan' is not a number of seconds of at least 0, such as 60 or 0.5."),
        (("audit", "noise.toml", "--seed", "x"), "'x' is not a whole number of at least 0, such as 1."),
        (("audit", "noise.toml", "--confidence", "95"), "'95' is not a confidence between 0 and 1, such as 0.999."),
        (("verify", "noise"), "Did you mean 'noise.toml'?"),
        (("verify", "nois.tml"), "nois.tml: no such file or directory. Did you mean 'noise.toml'?"),
        (("verify", "other.txt"), "other.txt: no such file or directory.\n"),
        (("verify", "gone.toml"), "gone.toml: a link to nowhere.toml, which leads to no file."),
        (("verify", "noise.toml", "--certificates", "/dev/null"), "cannot write or read /dev/null: Not a directory."),
    ],
    ids=str,
)
def test_what_no_run_can_go_by_is_told_with_what_is_meant(folder, arguments, said):
    Path("noise.toml").write_text(NOISE + CLAIM)
    Path("gone.toml").symlink_to("nowhere.toml")
    assert said in run(*arguments, code=2).stderr


def test_a_file_that_is_not_read_is_counted_as_a_file(folder):
    Path("empty.toml").write_text("")
    assert run("verify", "empty.toml", "--format", "github", code=2).stdout.splitlines()[-1] == "1 file not read"
    suites = ET.fromstring(run("verify", "empty.toml", "--format", "junit", code=2).stdout)
    assert [(suite.get("name"), suite.get("errors")) for suite in suites] == [("empty.toml", "2")]
