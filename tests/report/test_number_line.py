"""A number line shows an interval beside zero, to scale, whatever their size."""

import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from dpverify.report.number_line import NumberLine

SIZES = st.floats(1e-200, 1e6)


def drawn(low, high):
    text = NumberLine("title", "what <it> shows", "allowed", "P(S)", low, high, "unit").svg("n")
    return ElementTree.fromstring(text), text


def places(text):
    """Where zero stands, and the two ends of the interval, by the path data."""
    zero = float(re.search(r'M([\d.]+) [\d.]+v-18"', text).group(1))
    left, right = map(float, re.search(r'd="M([\d.]+) [\d.]+H([\d.]+)v10', text).groups())
    return zero, left, right


@given(SIZES, st.floats(1.01, 100))
def test_the_interval_stands_right_of_zero_and_to_scale(low, ratio):
    _, text = drawn(low, low * ratio)
    zero, left, right = places(text)
    assert zero < left < right
    if right - left > 3:  # narrower ones are widened so that they are seen
        assert abs((right - zero) / (left - zero) - ratio) < 0.02 * ratio + 0.3 * ratio / (left - zero)


@given(SIZES, st.floats(1, 100))
def test_words_stay_in_the_picture_and_do_not_touch(low, ratio):
    root, _ = drawn(low, low * ratio)
    _, _, width, height = map(float, root.get("viewBox").split())
    names = {}
    for element in root.iter("text"):
        half = 12 * 0.31 * len(element.text)
        x, y = float(element.get("x")), float(element.get("y"))
        assert 0 <= x <= width and 9 <= y <= height and element.get("text-anchor") == "middle"
        names[element.text] = (x - half, x + half, y)
    (_, end, y), (start, _, other) = names["allowed"], names["P(S)"]
    assert end < start or y != other


def test_it_is_an_image_with_a_name_and_a_description():
    root, _ = drawn(1e-8, 2e-8)
    assert root.get("role") == "img" and root.get("aria-labelledby") == "n-t n-d"
    assert [child.text for child in root[:2]] == ["title", "what <it> shows"]
