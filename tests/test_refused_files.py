"""Claim files with a mistake in them, and all that their author is told: what is wrong, where, and the way out."""

import pytest
from click.testing import CliRunner

from dpverify.catalogue import read_spec
from dpverify.cli import main
from dpverify.errors import SpecError

NOISE = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 2\n'
MOVED = "[[claim]]\nsensitivity = 1\nepsilon = 1\n"
CLAIM = "[[claim]]\nepsilon = 1\n"
PART = '[mechanism]\nkind = "compose"\n[[mechanism.parts]]\nkind = "builtin"\nname = "laplace"\nscale = 1\n'
INSIDE = 'part = { kind = "builtin", name = "laplace", scale = 1 }\n'
GROUPED = f'[mechanism]\nkind = "compose"\n[[mechanism.parts]]\nkind = "group"\nsize = 2\nsensitivity = 2\n{INSIDE}'
SCORES = '[mechanism]\nkind = "exponential"\nbeta = 1\n'
STREAM = (
    '[mechanism]\nkind = "stream"\nonce = { rho = { kind = "builtin", name = "laplace", scale = 2 } }\nstate = { t = "rho" }\n'
    'hull = [[1]]\nstep = [{ emit = "on" }]\n'
)
BOTH = "give sensitivity or query, not both: the query's sensitivity is derived."
NO_ADJACENCY = "a query needs its adjacency: one of add-remove, replace, l1, l2."
TOLD = {
    # a query, and how far it moves
    "a query beside a sensitivity": (
        NOISE + MOVED + 'query = [[1, 0]]\nadjacency = "replace"\n',
        f"FILE, claim 1: {BOTH} (line 5, column 1)",
    ),
    "a query without neighbours": (NOISE + CLAIM + "query = [[1, 0]]\n", f"FILE, claim 1: {NO_ADJACENCY} (line 5, column 1)"),
    "a part with a query beside a sensitivity": (
        PART + 'sensitivity = 1\nquery = [[1, 0]]\nadjacency = "replace"\n' + CLAIM,
        f"FILE, mechanism, part 1: {BOTH} (line 1, column 1)",
    ),
    "a part with a query without neighbours": (
        PART + "query = [[1, 0]]\n" + CLAIM,
        f"FILE, mechanism, part 1: {NO_ADJACENCY} (line 1, column 1)",
    ),
    "a group with a sensitivity": (
        GROUPED + CLAIM,
        "FILE, mechanism, part 1: sensitivity: the parts inside have their own; state it there. (line 6, column 1)",
    ),
    # points
    "rows of distances for other points": (
        SCORES + "points = [0, 1, 2]\nmetric = [[0, 1], [1, 0]]\n" + CLAIM,
        "FILE, mechanism: metric: 2 rows of distances for 3 points. Give each point its row. (line 5, column 1)",
    ),
    "points without a metric": (
        SCORES + "points = [0, 1, 2]\n" + CLAIM,
        "FILE, mechanism: metric is missing. Say how far points are apart: l1, l2, linf, or rows of distances. (line 1, column 1)",
    ),
    "a metric without points": (
        SCORES + 'metric = "l1"\n' + CLAIM,
        "FILE, mechanism: points is missing. The metric is between points: give these, or rows of distances as the metric."
        " (line 1, column 1)",
    ),
    # numbers
    "an interval that falls": (
        '[mechanism]\nkind = "translation"\ndensity = "1"\nsupport = [1, 0]\n' + MOVED,
        "FILE, mechanism: support = [1, 0] is not an interval: its ends must rise. (line 4, column 1)",
    ),
    "half a record": (
        f'[mechanism]\nkind = "group"\nsize = "1/2"\n{INSIDE}{CLAIM}',
        "FILE, mechanism: size = 1/2 is not an integer of at least 1. (line 3, column 1)",
    ),
    "a rate in per cent": (
        f'[mechanism]\nkind = "subsample"\nrate = 25\n{INSIDE}{CLAIM}',
        "FILE, mechanism: rate = 25 is not between 0 and 1. Write per cent as a decimal, such as 0.75. (line 3, column 1)",
    ),
    "a negative epsilon": (
        NOISE + "[[claim]]\nsensitivity = 1\nepsilon = -1\n",
        "FILE, claim 1: epsilon = -1 is negative. (line 7, column 1)",
    ),
    "a scheme that there is not": (
        f'[mechanism]\nkind = "subsample"\nrate = "1/2"\nscheme = "with_replacement"\n{INSIDE}{CLAIM}',
        'FILE, mechanism: scheme = "with_replacement" is not one of poisson, without_replacement. '
        "Did you mean 'without_replacement'? (line 4, column 1)",
    ),
    "differences that their neighbours do not have": (
        STREAM + MOVED,
        'FILE, mechanism: neighbours = "hull" wants hull, rows of as many numbers as a step reads answers, and no other neighbours have it.'
        " (line 1, column 1)",
    ),
    "parameters that are a number": (
        NOISE + "parameters = 3\n" + MOVED,
        "FILE, mechanism: parameters = 3 is not a table. Write { key = value, ... }. (line 5, column 1)",
    ),
    # what is no TOML
    "a word without quotes": (
        NOISE.replace('"laplace"', "laplace") + MOVED,
        'FILE: not TOML: Invalid value (at line 3, column 8). Quote strings, as in kind = "builtin".',
    ),
    "a key twice": (
        NOISE + "scale = 3\n" + MOVED,
        "FILE: not TOML: Cannot overwrite a value (at line 5, column 10). Duplicate key in one table.",
    ),
    "a bracket that is open": (
        NOISE + "x = [1, 2\n" + MOVED,
        "FILE: not TOML: Unclosed array (at line 6, column 1). A bracket is not closed.",
    ),
    "a quote that is open": (
        NOISE + 'x = "a\n' + MOVED,
        r"FILE: not TOML: Illegal character '\n' (at line 5, column 7). A quote is not closed on its line.",
    ),
    "more than a value": (
        NOISE + "x = 1 2\n" + MOVED,
        "FILE: not TOML: Expected newline or end of document after a statement (at line 5, column 7). "
        "What comes after the value is no part of it. Numbers are written as 0.5, and everything else in quotes.",
    ),
}


@pytest.mark.parametrize(("text", "told"), TOLD.values(), ids=TOLD)
def test_the_author_of_a_file_is_told_what_is_wrong_with_it(tmp_path, text, told):
    file = tmp_path / "it.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as found:
        read_spec(file)
    assert str(found.value).replace(str(file), "FILE") == told


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder with a claim file, and in `out` its certificate with a second one of the same claim."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVERIFY_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "it.toml").write_text(NOISE + MOVED, encoding="utf-8")
    assert CliRunner().invoke(main, ["verify", "it.toml", "--certificates", "out"]).exit_code == 0
    (one,) = (tmp_path / "out").glob("*.cert.json")
    one.with_name("copy.cert.json").write_bytes(one.read_bytes())
    return tmp_path


def test_a_certificate_too_many_is_told_with_the_way_out(kept):
    said = CliRunner().invoke(main, ["check", "out", "--against", "it.toml"])
    assert said.exit_code == 1
    assert "matches no claim in these files, or duplicates one. Name the file of its claim, or take it out." in said.output


def test_a_certificate_that_is_missing_is_told_with_the_way_out(kept):
    (kept / "more.toml").write_text(NOISE.replace("2", "3") + MOVED, encoding="utf-8")
    said = CliRunner().invoke(main, ["check", "out", "--against", "more.toml"])
    assert said.exit_code == 1 and "Make it: dpverify verify more.toml --certificates DIR." in said.output


def test_a_claim_to_explain_is_of_a_file():
    said = CliRunner().invoke(main, ["explain", "--claim", "x"])
    assert said.exit_code == 2 and "Write dpverify explain FILE --claim NAME." in said.output
