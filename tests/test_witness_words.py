"""Witnesses leave the trusted folder as data; what readers see of them is written above the line."""

import ast
import re
from pathlib import Path
from string import Formatter

import pytest

from dpverify.search.witness_words import MADE, SENTENCES, in_words
from tests.each import holds_of_each

TRUSTED = Path(__file__).parents[1] / "dpverify" / "trusted"
PARTS = {"pair", "event", "point", "packing"}
FILES = sorted(TRUSTED.rglob("*.py"))
WORDS = re.compile(r"[A-Za-z]{2,}[ ,:]+[A-Za-z]|[a-z]{2,} $")


def texts(node):
    """The texts that stand in an expression, outside of what is a name or a key of an object."""
    if isinstance(node, ast.Dict):
        return [text for key, value in zip(node.keys, node.values, strict=True) if not is_key(key, "says") for text in texts(value)]
    if isinstance(node, ast.IfExp):
        return texts(node.body) + texts(node.orelse)
    own = [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
    return own + [text for child in ast.iter_child_nodes(node) for text in texts(child)]


def is_key(node, *names):
    return isinstance(node, ast.Constant) and node.value in names


def objects(path):
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Dict)]


def named():
    """All names of sentences that the trusted folder writes: what stands under "says", and what a rule hands on to it."""
    return {text for path in FILES for node in objects(path) for key, value in zip(node.keys, node.values, strict=True)
            if is_key(key, "says") for text in texts(value)}  # fmt: skip


@pytest.mark.wide
def test_no_part_of_a_witness_is_a_sentence_below_the_line():
    found = [(path.name, text) for path in FILES for node in objects(path) for key, value in zip(node.keys, node.values, strict=True)
             if is_key(key, *PARTS) for text in texts(value) if WORDS.search(text)]  # fmt: skip
    assert not found


@pytest.mark.wide
def test_every_name_that_is_said_has_a_sentence_and_every_sentence_a_name():
    known = {*SENTENCES, *MADE}
    assert named() <= known and not SENTENCES.keys() & MADE.keys()
    written = "".join(path.read_text() for path in FILES)
    assert {name for name in known if f'"{name}"' not in written} == set()


def test_a_sentence_is_of_what_its_rule_tells():
    holds_of_each(sorted(SENTENCES), is_of_what_its_rule_tells)


def is_of_what_its_rule_tells(name):
    asked = {field.split("[")[0] for _, field, _, _ in Formatter().parse(SENTENCES[name]) if field}
    given = {key: ["1", "2"] if f"{{{key}[" in SENTENCES[name] else "7" for key in asked}
    said = in_words({"says": name, **given})
    assert (
        isinstance(said, str) and "{" not in said.replace("S = {", "") and all(str(x) in said for x in given.values() if isinstance(x, str))
    )


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"says": "output-towards", "side": "right", "point": "1/2"}, "y0 with y0 - q towards 1/2 from above"),
        ({"says": "output-towards", "side": "-inf", "point": None}, "y0 with y0 - q towards -inf"),
        ({"says": "counts", "positives": 2, "negatives": 3, "each": True, "raised": 0}, "2 positives and 3 negatives before each"),
        ({"says": "counts", "positives": 2, "negatives": 3, "each": False, "raised": 4}, "2 positives and 3 negatives, 4 positives more"),
        ({"says": "moves", "up": True, "down": False, "raised": 1}, "up at negatives, not at positives, up at these"),
        ({"says": "told", "words": ["a", "", "b"], "again": [1, 3, None]}, "a, (nothing, b) without end"),
        ({"says": "told", "words": ["a", "b"], "again": [0, 1, 5]}, "(a) 5 times, b"),
        ({"says": "told", "words": ["word"] * 1000, "again": None}, ("word, " * 67)[:400]),
        ({"says": "any-of-words", "words": [["a", "b"], ["c"]]}, "a, b; or c"),
        ({"says": "answers-of-both", "sides": [[["0", "1"], ["2", "3"]], [["4", "5"], ["6", "7"]]]},
         "answers 0 and 1, 2 and 3; and 4 and 5, 6 and 7"),
        ({"says": "event", "of": {"lead": "1", "move": 2}}, "lead: 1, move: 2"),
        ({"says": "first-and-others", "first": ["5", "4"], "others": ["1", "2"], "count": None},
         "answers first 5, all others 1; and first 4, all others 2"),
        ({"says": "first-and-others", "first": ["5", "4"], "others": ["1", "2"], "count": 3},
         "answers first 5, 3 others 1, all further ones far below; and first 4, 3 others 2, all further ones far below"),
        ({"says": "first-is-greatest", "whole": False}, "the first of the answers is told to be the greatest"),
        ({"says": "negatives-then-positives", "negatives": 0, "positives": 2}, "2 positives"),
        ({"says": "negatives-then-positives", "negatives": 0, "positives": "1"}, "1 positive"),
        ({"says": "negatives-then-positives", "negatives": 0, "positives": "n - 1"}, "n - 1 positives"),
        ({"says": "counts", "positives": 1, "negatives": 1, "each": False, "raised": 1}, "1 positive and 1 negative, 1 positive more"),
        ({"says": "told", "words": ["a", "b"], "again": [0, 1, 1]}, "(a) 1 time, b"),
        ({"says": "sums-of-bumps", "cells": 1}, "sums of bumps on 1 cell"),
        ({"says": "left-ends", "steps": "n - 1"}, "the left ends of the pieces after n - 1 steps"),
        ({"says": "difference-in-functionals", "norm": "2", "count": "1"},
         "answers whose difference has the norm 2 in 1 standardised functional"),
        ({"says": "negatives-then-positives", "negatives": 1, "positives": 2}, "1 negative, then 2 positives"),
        ({"says": "packing", "count": None, "far": "2", "near": "1", "overlap": 1,
          "what": {"says": "tuples", "of": [{"says": "one-point"}] * 2}},
         "infinitely many databases, at most 2 apart, whose true answers are tuples of one point and one point: "
         "no answer is within 1 of more than one of them"),
        (["0", {"says": "answer", "at": "-1"}], ["0", "answer -1"]),
    ],
)  # fmt: skip
def test_what_is_told_is_said_in_full(told, said):
    assert in_words(told) == said


def test_data_without_a_sentence_stays_as_it_is():
    told = {"P": ["1", "2"], "at": {"n": "4"}, "neighbours": [{"pair": [0, 1]}]}
    assert in_words(told) == told
