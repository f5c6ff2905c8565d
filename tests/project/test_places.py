"""Every fault of a claim file says its line and column: of the key that it names, else of the head of its table."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.catalogue import read_spec
from dpverify.catalogue.places import split
from dpverify.errors import SpecError

LAPLACE = '# noise\n[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n'
CLAIM = '\n[[claim]]\nname = "one"\nsensitivity = 1\nepsilon = 1\n'
FAULTS = {
    "a value": (LAPLACE.replace("scale = 1", '  scale = "x +"') + CLAIM, (5, 3)),
    "an unknown key": (LAPLACE + "colour = 1\n" + CLAIM, (6, 1)),
    "a missing key": (LAPLACE.replace("scale = 1\n", "") + CLAIM, (2, 1)),
    "the second claim": (LAPLACE + CLAIM + CLAIM.replace("one", "two").replace("epsilon = 1", "epsilon = -1"), (15, 1)),
    "the same key in another table": (LAPLACE + CLAIM.replace("name", "name_") + '[audit]\nname = 1\nsampler = "a:b"\n', (8, 1)),
    "a quoted key": (LAPLACE + CLAIM + '"delta" = -1\n', (11, 2)),
    "a key in a part": ('[mechanism]\nkind = "group"\nsize = 2\npart = { kind = "builtin", name = "laplace", scale = -1 }\n' + CLAIM, None),
    "no mechanism": (CLAIM, (1, 1)),
    "no claim": (LAPLACE, (1, 1)),
    "no TOML": (LAPLACE + CLAIM + "epsilon =\n", (11, 10)),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_says_its_line_and_column(what, tmp_path):
    text, place = FAULTS[what]
    file = tmp_path / "x.toml"
    file.write_text(text)
    with pytest.raises(SpecError) as caught:
        read_spec(file)
    said = [split(fault)[1] for fault in caught.value.faults]
    assert None not in said
    if place is not None:
        assert place in said, caught.value.faults


def test_annotations_have_both(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.toml").write_text(FAULTS["a value"][0] + "colour = 2\n")
    result = CliRunner().invoke(cli.main, ["verify", "x.toml", "--format", "github"])
    first, second, _ = result.stdout.splitlines()
    assert result.exit_code == 2
    assert first.startswith("::error file=x.toml,line=5,col=3,title=") and second.startswith("::error file=x.toml,line=11,col=1,title=")
    assert "(line" not in first
