"""The rooms of the theory: a folder for each, one prelude, and for each rule that is machine-checked a file of its name."""

from __future__ import annotations

import re

from dpverify.project.formal import coq, ledger

THEORY = coq.theory()
FILES = coq.files_of(THEORY)
ROOMS = {
    "basics", "additive", "finite", "curves", "composition", "divergences", "selection", "processes", "spaces", "utility", "replays",
}  # fmt: skip
WITHOUT = {"prelude", "arithmetic", "repeated_numbers", "losses", "cut_off", "tactics"}
"""The prelude itself, and what does without it: a decision procedure over its own syntax, natural numbers, and Coq's own real numbers."""
HEADER = (
    "From HB", "From mathcomp Require", "From mathcomp.classical Require Import boolp", "Set Implicit", "Import Order.TTheory",
)  # fmt: skip


def test_every_file_stands_in_a_room_or_is_the_door_of_a_rule_in_one():
    places = {file.relative_to(THEORY).parent.as_posix() for file in FILES.values()}
    assert {place.removesuffix("/rules") for place in places} == ROOMS
    assert all(place.count("/") == place.endswith("/rules") for place in places)


def test_every_file_begins_with_the_prelude_in_place_of_its_own_header():
    for name, file in FILES.items():
        lines = re.findall(r"^(?:From|Require|Import|Set|Unset)\b[^.]*(?:\.\w[^.]*)*\.", file.read_text(encoding="utf-8"), re.MULTILINE)
        if name in WITHOUT:
            assert "From dpverify Require Import prelude." not in lines
        elif not all(line.startswith("From dpverify Require Export") for line in lines):
            assert lines[0] == "From dpverify Require Import prelude.", name
            again = [line for line in lines if line.startswith(HEADER)]
            # Coq's reals, which are loaded after the prelude, have lemmas of the same names.
            reals = any(line.startswith("From Coq Require Import Reals") for line in lines)
            assert again in ([], ["Import Order.TTheory GRing.Theory Num.Theory."] if reals else []), name


def test_every_rule_that_is_machine_checked_has_a_door_and_no_other_file_has_one():
    doors = {name for name, file in FILES.items() if file.parent.name == "rules"}
    assert doors == {rule.replace("-", "_") for rule in ledger.ledger()}


def test_a_door_holds_the_theorems_of_its_rule_or_requires_the_files_that_do():
    for rule, entries in ledger.ledger().items():
        door = FILES[rule.replace("-", "_")]
        held = {one.file: [other.theorem for other in entries if other.file == one.file] for one in entries}
        own = held.pop(door.relative_to(THEORY).as_posix(), None)
        stems = {file.rpartition("/")[2].removesuffix(".v") for file in held}
        assert stems <= set(coq.required(door)), rule
        text = " ".join(door.read_text(encoding="utf-8").split())
        if own is None:
            assert stems == set(coq.required(door)), rule
            said = re.findall(r"In (\w+)\.v ([\w', ]+)\.", text)
            assert {(file, *names.split(", ")) for file, names in said} == {
                (file.rpartition("/")[2].removesuffix(".v"), *dict.fromkeys(names)) for file, names in held.items()
            }, rule


def test_what_editors_read_lists_every_file_after_those_that_it_needs():
    listed = [line for line in (THEORY / "_CoqProject").read_text(encoding="utf-8").splitlines() if line.endswith(".v")]
    assert sorted(listed) == sorted(file.relative_to(THEORY).as_posix() for file in FILES.values())
    seen = set[str]()
    for line in listed:
        assert seen.issuperset(coq.required(THEORY / line)), line
        seen.add(line.rpartition("/")[2].removesuffix(".v"))
