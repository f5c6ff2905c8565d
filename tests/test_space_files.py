"""Claim files about metric spaces: what is missing or wrong is said with the way out."""

import re

import pytest

from dpverify.catalogue import read_spec
from dpverify.errors import SpecError

SPACE = 'kind = "space"\nshape = {{ {} }}\n{}\n'
CLAIM = '[[claim]]\nepsilon = "tight"\nwithin = "1/4"\nbeta = "1/20"\n'
BOX = 'kind = "box", sides = [1]'
ANSWERS = 'databases = "answers"'


def faults(folder, mechanism, claim=CLAIM):
    file = folder / "space.toml"
    file.write_text(f"[mechanism]\n{mechanism}\n{claim}")
    with pytest.raises(SpecError) as caught:
        read_spec(file)
    return str(caught.value)


@pytest.mark.parametrize(
    ("shape", "rest", "why"),
    [
        (BOX, "", "databases or diameter or between is missing: give one of them"),
        (BOX, f"{ANSWERS}\ndiameter = 2", "not both"),
        (BOX, f"{ANSWERS}\ntruth = [0]", "truth goes with between"),
        (BOX, "diameter = 1\nlipschitz = 0", "lipschitz"),
        (BOX, 'diameter = "1/2"', "no databases are so near"),
        ('kind = "bocks"', ANSWERS, "box"),
        ('sides = [1]', ANSWERS, "is not a space: a table with its kind"),
        ('kind = "box"', ANSWERS, "lacks sides"),
        ('kind = "box", sides = 1', ANSWERS, "wrong at sides: it is not a list of numbers"),
        ('kind = "box", sides = [1], size = 2', ANSWERS, "unknown key 'size'|unknown key \"size\""),
        ('kind = "tree", ratio = "1/2", branching = ["inf", 2]', ANSWERS, '"inf" before its end'),
        ('kind = "tree", ratio = "1/2", branching = []', ANSWERS, "is empty"),
        ('kind = "product", parts = []', ANSWERS, "not a list of spaces"),
        ('kind = "points", distances = [[0, 1], [1, 0]]', "between = [[0, 1], [1, 0]]\ntruth = [-1, 0]", "not a list of numbers of points"),
        ('kind = "points", distances = [[0, 1], [1, 0]]', f"{ANSWERS}\ntable = [[1, 0]]", "a row for each database"),
        ('kind = "points", distances = [[0, 1], [1, 0]]', f"{ANSWERS}\nrate = -1", "rate: -1 is not certainly"),
        (BOX, f"{ANSWERS}\ntable = [[1]]", "on finitely many points"),
        (BOX, f"{ANSWERS}\nrate = 0", "rate: 0 is not certainly positive"),
        ('kind = "cantor", ratio = "1/3"', f"{ANSWERS}\nrate = 1", "on finitely many points"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_space_is_said(tmp_path, shape, rest, why):
    assert re.search(why, faults(tmp_path, SPACE.format(shape, rest)))


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ('[[claim]]\nepsilon = 1\nwithin = "1/4"\n', "beta is missing"),
        ("[[claim]]\nepsilon = 1\n", "within and beta are missing"),
        (CLAIM + "utility = true\n", "utility is for mechanisms"),
        (CLAIM + "sensitivity = 2\n", "Leave sensitivity out"),
    ],
)
def test_what_is_wrong_with_a_claim_about_a_space_is_said(tmp_path, claim, why):
    assert re.search(why, faults(tmp_path, SPACE.format(BOX, ANSWERS), claim))


def test_how_near_answers_are_is_claimed_of_a_mechanism_apart_from_epsilon(tmp_path):
    said = faults(tmp_path, 'kind = "table"\nrows = [["1/2", "1/2"]]', "[[claim]]\nepsilon = 1\nwithin = 1\n")
    assert "epsilon stands beside within" in said


def test_a_space_is_no_part_of_a_mechanism(tmp_path):
    part = f'kind = "group"\nsize = 2\npart = {{ kind = "space", shape = {{ {BOX} }}, databases = "answers" }}'
    assert "a space is no mechanism by itself" in faults(tmp_path, part, "[[claim]]\nepsilon = 1\n")
