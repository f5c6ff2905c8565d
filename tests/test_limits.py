"""Numbers below the trust line that say how much there may be of something are limits of what is read, and refuse what is beyond them.

The few that bound the steps of an algorithm instead are listed here, in one place, with what happens at them.
"""

import ast
import re
from functools import cache
from pathlib import Path

TRUSTED = Path(__file__).parents[1] / "dpverify" / "trusted"
LIMIT = re.compile(r"_?(MOST|MAX)(_|$)")
READERS = {
    "_natural", "_number", "count", "counts", "half_of_vertices", "of_shape", "places", "read_rising", "read_whole", "taylor", "to_whole",
}  # fmt: skip
"""Functions that are handed a limit and refuse what is beyond it."""
STEPS = {
    ("facts/evaluate.py", "MAX_PRECISION"): "a second evaluation has no more bits; what is lost then makes the enclosure wide",
    ("numbers/bessel.py", "MAX_PRECISION"): "the same",
    ("theories/curves/student.py", "MAX_PRECISION"): "the same",
    ("numbers/lattice_sums.py", "_MOST_TERMS"): "terms of one period that are looked at; a longer period is refused beside it",
    ("theories/processes/evaluations.py", "MOST"): "one point more is looked at than may be, so that too many are seen to be",
    ("theories/processes/evaluations.py", "MOST_EXACT"): "so many eigenvalues are looked at before the others, which one law is about",
    ("theories/selection/rules/told_sums.py", "MOST_STEPS"): "one step more is looked at than may be, so that too many are seen to be",
    ("sensitivity/record_sums.py", "MOST_VECTORS"): "records near the ends, beside others; with fewer a lower bound is less",
    ("geometry/vertices.py", "MAX_VERTICES"): "vertices that are tried one by one; beyond them, refused",
    ("theories/composition/grid.py", "MAX_BITS"): "a number this small is rounded down to 0 on the safe side",
    ("theories/curves/rules/every_shift.py", "_MOST_FAR"): "parameters of the certificate's line that are refused beyond it",
    ("theories/curves/rules/every_shift.py", "_MOST_BITS"): "the same",
    ("theories/curves/rules/lattice.py", "_MOST_SHIFTS"): "a sensitivity that is refused beyond it",
    ("theories/curves/lunes.py", "_MOST_DOUBLINGS"): "doublings of a distance; beyond them, Undecided",
    ("theories/curves/shifts.py", "_MOST_SPLITS"): "halvings of the heaviest box; beyond them, the enclosure is as wide as it is",
    ("theories/processes/rules/cameron_martin.py", "MOST_EPSILON"): "a rational function is a bound up to here; above, refused",
    ("theories/curves/rules/student_t.py", "_MOST_POWER"): "the closed form is not taken for a greater power",
    ("theories/selection/rules/alignment.py", "MOST_PLACES"): "one place more is looked at than may be, so that too many are seen to be",
    ("theories/selection/rules/every_word_curve.py", "MOST"): "terms that may still be looked at; beyond them, refused",
    ("theories/selection/rules/every_word.py", "MOST"): "the same",
    ("theories/selection/rules/every_word.py", "MOST_STEPS"): "one step more is looked at than may be, so that too many are seen to be",
    ("theories/selection/rules/worst_words.py", "MOST_RUNS"): "one run more is looked at than may be, so that too many are seen to be",
}


@cache
def uses():
    """Each use of such a number: the file, its name, whether it is compared, and the function that it is handed to."""
    return [use for path in sorted(TRUSTED.rglob("*.py")) for use in uses_in(path)]


def uses_in(path):
    text = path.read_text()
    if not re.search(r"\b_?(MOST|MAX)(_|\b)", text):
        return
    tree = ast.parse(text)
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else getattr(node, "attr", "")
        if LIMIT.match(name):
            over, call = [], ""
            while node in above:
                node = above[node]
                over.append(type(node).__name__)
                if isinstance(node, ast.Call) and not call:
                    call = ast.unparse(node.func).rpartition(".")[2]
            yield path.relative_to(TRUSTED).as_posix(), name, {"Compare", "JoinedStr"} & {*over}, call, over[0]


def test_a_limit_is_compared_or_handed_to_what_refuses_more():
    others = {(file, name) for file, name, compared, call, over in uses() if not compared and call not in READERS and over != "AnnAssign"}
    assert others - STEPS.keys() == set() and len(uses()) > 100


def test_what_bounds_the_steps_of_an_algorithm_is_still_there():
    assert STEPS.keys() <= {(file, name) for file, name, *_ in uses()}
