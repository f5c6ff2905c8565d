"""Charts: words never touch or leave the box, lines are true to half a pixel, and nothing depends on the day."""

import math
import re
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.report.axes import Axis, Scale, power_of_ten, short, span, ticks
from dpverify.report.labels import text_width, wrap
from dpverify.report.strokes import Frame, cut, cut_area, inside, path, thin
from dpverify.report.svg import KINDS, MARKS, Band, Chart, Mark, Series
from tests.effort import examples


def drawn(chart, prefix="c"):
    return ElementTree.fromstring(chart.svg(prefix))


def box(element):
    """A second reckoning of where a text stands: letters of at most 0.62 em on average, sans serif."""
    widths = {**dict.fromkeys("0123456789", 0.6), **dict.fromkeys(" .,il:'·", 0.3), **dict.fromkeys("⁰¹²³⁴⁵⁶⁷⁸⁹⁻fjrtI", 0.4)}
    width = 12 * sum(widths.get(c, 0.62) for c in element.text)
    x, y = float(element.get("x")), float(element.get("y"))
    left = {None: x, "middle": x - width / 2, "end": x - width}[element.get("text-anchor")]
    return Frame(left, y - 9, left + width, y + 2.5)


def assert_words_are_apart(root):
    _, _, width, height = map(float, root.get("viewBox").split())
    boxes = [(element.text, box(element)) for element in root.iter("text")]
    for text, one in boxes:
        assert one.within(Frame(0, 0, width, height)), text
    for (a, one), (b, other) in combinations(boxes, 2):
        assert not one.meets(other), (a, b)


def absolute(data):
    """The corners of path data with M, m, l, h, v, H, V and z, read by the rules of SVG."""
    lines, here, start, command = [], (0.0, 0.0), (0.0, 0.0), ""
    numbers = []
    need = {"M": 2, "m": 2, "l": 2, "h": 1, "v": 1, "H": 1, "V": 1}
    for token in re.findall(r"[A-Za-z]|-?(?:\d+\.?\d*|\.\d+)", data):
        if token.isalpha():
            command = token
            if token == "z":
                lines[-1].append(start)
                here = start
            continue
        numbers.append(float(token))
        if len(numbers) == need[command]:
            x, y = here
            here = {
                "M": lambda n: (n[0], n[1]), "m": lambda n, x=x, y=y: (x + n[0], y + n[1]), "l": lambda n, x=x, y=y: (x + n[0], y + n[1]),
                "h": lambda n, x=x, y=y: (x + n[0], y), "v": lambda n, x=x, y=y: (x, y + n[0]),
                "H": lambda n, y=y: (n[0], y), "V": lambda n, x=x: (x, n[0]),
            }[command](numbers)  # fmt: skip
            if command in "Mm":
                lines.append([])
                start = here
                command = "l"
            lines[-1].append(here)
            numbers = []
    return lines


FLOATS = st.floats(-1e6, 1e6, allow_nan=False)
NAMES = st.text(alphabet="abcdefghij ε=.0123456789MW<&", min_size=1, max_size=40).filter(str.strip)
LINES = st.lists(st.lists(st.tuples(FLOATS, st.one_of(FLOATS, st.just(math.inf))), min_size=1, max_size=12), min_size=1, max_size=3)
SERIES = st.lists(st.builds(Series, NAMES, LINES, st.sampled_from(KINDS)), max_size=3)
MARKINGS = st.lists(st.builds(Mark, NAMES, FLOATS, st.sampled_from("xy"), st.sampled_from(MARKS)), max_size=4)
EDGES = st.tuples(FLOATS, FLOATS, FLOATS).map(lambda edge: (edge[0], *sorted(edge[1:])))
BANDS = st.lists(st.builds(Band, NAMES, st.lists(EDGES, max_size=8).map(sorted)), max_size=2)
AXES = st.builds(Axis, NAMES, st.booleans())
CHARTS = st.builds(Chart, NAMES, NAMES, AXES, AXES, SERIES, MARKINGS, BANDS)


# -- every chart -----------------------------------------------------------------------------------


@settings(max_examples=examples(60), deadline=None)
@given(CHARTS)
def test_words_never_touch_each_other_or_leave_the_box(chart):
    assert_words_are_apart(drawn(chart))


@settings(max_examples=examples(60), deadline=None)
@given(CHARTS)
def test_what_is_drawn_stays_in_the_box(chart):
    root = drawn(chart)
    _, _, width, height = map(float, root.get("viewBox").split())
    for element in root.iter("path"):
        for x, y in (point for line in absolute(element.get("d")) for point in line):
            assert -1 <= x <= width + 1 and -8 <= y <= height + 8


@settings(max_examples=examples(60), deadline=None)
@given(CHARTS)
def test_every_name_is_told_and_the_same_chart_gives_the_same_bytes(chart):
    svg = chart.svg("a")
    assert svg == chart.svg("a")
    told = " ".join(element.text for element in ElementTree.fromstring(svg).iter("text"))
    for one in (*chart.series, *chart.marks, *chart.bands):
        assert "".join(one.label.split()) in "".join(told.split())


def test_a_chart_has_a_name_and_a_description_under_unique_ids():
    chart = Chart("Loss", "It rises.", Axis("t"), Axis("nats"))
    root = drawn(chart, "first")
    assert root.get("role") == "img" and root.get("aria-labelledby") == "first-t first-d"
    told = [(one.tag, one.get("id"), one.text) for one in list(root)[:2]]
    assert told == [("title", "first-t", "Loss"), ("desc", "first-d", "It rises.")]
    assert not {one.get("id") for one in root.iter()} & {one.get("id") for one in drawn(chart, "second").iter()} - {None}
    assert root.get("width") is None and root.get("viewBox").startswith("0 0 360 ")


def test_letters_are_at_least_11_pixels_on_a_phone_of_360():
    svg = Chart("a", "b", Axis("x"), Axis("y")).svg("p")
    size = float(re.search(r"font:([\d.]+)px", svg)[1])
    width = float(re.search(r'viewBox="0 0 (\d+)', svg)[1])
    assert size * 360 / width >= 11


def test_colours_are_custom_properties_with_fallbacks():
    series = [Series(kind, [[(0, 1), (1, 2)]], kind) for kind in KINDS]
    chart = Chart("a", "b", Axis("x"), Axis("y"), series, [Mark("m", 1)], [Band("e", [(0, 0, 1), (1, 1, 2)])])
    colours = re.findall(r"(?:stroke|fill):([^;\"]+)", chart.svg("p"))
    assert colours and all(one == "none" or re.fullmatch(r"var\(--[a-z]+,#[0-9a-f]+\)", one) for one in colours)


def test_series_differ_in_more_than_colour():
    chart = Chart("a", "b", Axis("x"), Axis("y"), [Series(f"s{i}", [[(0, i), (1, i)]]) for i in range(4)])
    dashes = [re.search(r"dasharray:([^;\"]+)", one.get("style")) for one in drawn(chart).iter("path")][2:6]
    assert len({match and match[1] for match in dashes}) == 4
    scatter = Chart("a", "b", Axis("x"), Axis("y"), [Series(f"s{i}", [[(0, i)]], "points") for i in range(4)])
    marks = [re.sub(r"^M[\d. ]+", "", one.get("d")) + one.get("style") for one in drawn(scatter).iter("path")][2:6]
    assert len({re.sub(r"stroke:[^;]+", "", mark) for mark in marks}) == 4


def test_a_line_of_100_points_is_under_1500_bytes():
    points = [(i, math.sin(i * i / 50)) for i in range(100)]
    (line,) = list(drawn(Chart("a", "b", Axis("x"), Axis("y"), [Series("s", [points])])).iter("path"))[2:3]
    assert len(ElementTree.tostring(line)) < 1500
    assert len(absolute(line.get("d"))[0]) > 50


def test_markup_in_names_is_escaped():
    chart = Chart("<script>", "a & b", Axis("<x>"), Axis("y"), [Series("</svg>", [[(0, 1), (1, 2)]])], [Mark("<m>", 1.5)])
    assert "<script>" not in chart.svg("p") and {"<x>", "</svg>", "<m>"} <= {one.text for one in drawn(chart).iter("text")}


# -- faithful --------------------------------------------------------------------------------------


def line_of(chart, index=2):
    return absolute(list(drawn(chart).iter("path"))[index].get("d"))


def test_a_line_passes_within_half_a_pixel_of_every_point():
    points = [(i / 10, math.exp(-i / 30) * math.cos(i / 5)) for i in range(200)]
    axis = Axis("x", low=0, high=20), Axis("y", low=-1, high=1)
    chart = Chart("a", "b", *axis, [Series("", [points])])
    (corners,) = line_of(chart)
    frame = line_of(chart, 1)[0]  # the two axes: from the top left over the origin to the right
    (left, top), (_, bottom), (right, _) = frame
    for x, y in points:
        at = left + x / 20 * (right - left), bottom - (y + 1) / 2 * (bottom - top)
        assert min(off(at, a, b) for a, b in pairwise(corners)) < 0.5


def off(p, a, b):
    length = (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2
    t = max(0, min(1, ((p[0] - a[0]) * (b[0] - a[0]) + (p[1] - a[1]) * (b[1] - a[1])) / length))
    return math.hypot(p[0] - a[0] - t * (b[0] - a[0]), p[1] - a[1] - t * (b[1] - a[1]))


def test_a_line_breaks_where_a_value_is_infinite_and_at_its_own_breaks():
    points = [(0, 1), (1, 2), (2, math.inf), (3, 2), (4, 1)]
    assert len(line_of(Chart("a", "b", Axis("x"), Axis("y"), [Series("", [points, [(4, 0), (5, 1)]])]))) == 3


def test_what_is_not_positive_is_left_out_on_a_logarithmic_axis():
    (corners,) = line_of(Chart("a", "b", Axis("x"), Axis("y", log=True), [Series("", [[(0, 0), (1, 1), (2, 10), (3, 5)]])]))
    assert len(corners) == 3


def test_decades_are_evenly_spaced_on_a_logarithmic_axis():
    scale = Scale(1, 10_000, 0, 100, log=True)
    assert [scale(10.0**k) for k in range(5)] == pytest.approx([0, 25, 50, 75, 100])


def test_equal_axes_show_a_circle_as_a_circle():
    circle = [(5 * math.cos(t), 5 * math.sin(t)) for t in (2 * math.pi * k / 60 for k in range(60))]
    (corners,) = line_of(Chart("a", "b", Axis("x"), Axis("y"), [Series("ball", [circle], "outline")], equal=True))
    xs, ys = zip(*corners, strict=True)
    assert max(xs) - min(xs) == pytest.approx(max(ys) - min(ys), abs=0.5)
    assert corners[0] == corners[-1]


def test_a_step_holds_its_value_up_to_the_next():
    chart = Chart("a", "b", Axis("x", low=0, high=2), Axis("y", low=0, high=1), [Series("", [[(0, 0), (1, 1), (2, 1)]], "step")])
    (corners,) = line_of(chart)
    assert all(a[0] == pytest.approx(b[0]) or a[1] == pytest.approx(b[1]) for a, b in pairwise(corners))


def test_bars_stand_on_zero_and_beside_each_other():
    chart = Chart("a", "b", Axis("x", names=("no", "yes")), Axis("y"), [Series(n, [[(0, 2), (1, -1)]], "bars") for n in "pq"])
    bars = line_of(chart) + line_of(chart, 3)
    grounds = {tuple(sorted(y for _, y in bar[:-1])) for bar in bars}
    assert len({y for pair in grounds for y in pair if sum(y in other for other in grounds) == len(grounds)}) == 1
    edges = sorted((min(x for x, _ in bar), max(x for x, _ in bar)) for bar in bars)
    assert all(before[1] < after[0] for before, after in pairwise(edges))


def test_a_band_with_an_infinite_edge_ends_at_the_frame():
    chart = Chart("a", "b", Axis("x"), Axis("y", low=0, high=1), bands=[Band("e", [(0, 0.2, math.inf), (1, 0.4, 0.6)])])
    frame = line_of(chart, 1)[0]
    assert min(y for _, y in line_of(chart)[0]) == pytest.approx(frame[0][1], abs=0.06)


def test_a_mark_outside_the_chart_is_named_and_not_drawn():
    inside = drawn(Chart("a", "b", Axis("x"), Axis("y", low=0, high=1), marks=[Mark("claim", 0.5)]))
    beyond = drawn(Chart("a", "b", Axis("x"), Axis("y", low=0, high=1), marks=[Mark("claim", 5)]))
    assert "claim" in [one.text for one in inside.iter("text")]
    assert "claim (outside)" in [one.text for one in beyond.iter("text")]


# -- pieces ----------------------------------------------------------------------------------------

FRAME = Frame(0, 0, 100, 50)
PLACES = st.tuples(st.floats(-200, 300), st.floats(-200, 300))


@given(st.lists(PLACES, min_size=2, max_size=8))
def test_what_is_cut_lies_inside_and_on_the_line(line):
    for piece in cut(line, FRAME):
        for point in piece:
            assert point[0] == pytest.approx(min(max(point[0], 0), 100), abs=1e-6)
            assert point[1] == pytest.approx(min(max(point[1], 0), 50), abs=1e-6)
            assert min(math.dist(point, a) if a == b else off(point, a, b) for a, b in pairwise(line)) < 1e-6


def test_an_area_is_cut_to_the_corners_of_the_frame():
    assert sorted(set(cut_area([(-10, -10), (200, -10), (200, 200), (-10, 200)], FRAME))) == [(0, 0), (0, 50), (100, 0), (100, 50)]


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=1, max_size=30))
def test_thinning_keeps_the_ends_and_strays_no_further_than_allowed(line):
    kept = thin(line, 0.5)
    assert kept[0] == line[0] and kept[-1] == line[-1] and set(kept) <= set(line)
    for point in line:
        near = [math.dist(point, a) if a == b else off(point, a, b) for a, b in pairwise(kept)]
        assert min(near, default=0) <= 0.5 + 1e-9


@given(st.lists(st.lists(st.tuples(st.floats(0, 400), st.floats(0, 400)), min_size=2, max_size=8), min_size=1, max_size=3))
def test_path_data_reads_back_to_a_tenth_of_a_pixel(lines):
    for line, seen in zip(lines, absolute(path(lines)), strict=True):
        assert seen[0] == pytest.approx(line[0], abs=0.06) and seen[-1] == pytest.approx(line[-1], abs=0.06)


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        (0, 10, 5, [0, 2, 4, 6, 8, 10]),
        (0, 1, 5, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (-1.5, 1.5, 6, [-1.5, -1, -0.5, 0, 0.5, 1, 1.5]),
        (1775, 1790, 4, [1775, 1780, 1785, 1790]),
    ],
)
def test_ticks_are_round(low, high, most, expected):
    assert ticks(low, high, most) == expected


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(2, 8))
def test_ticks_are_few_and_inside(low, width, most):
    found = ticks(low, low + width, most)
    assert 0 <= len(found) <= most + 1
    assert all(low - 1e-6 * (abs(low) + width) <= v <= low + width + 1e-6 * (abs(low) + width) for v in found)


def test_ticks_of_a_logarithmic_axis_are_powers_of_ten_or_1_2_5():
    assert ticks(1e-15, 1, 6, log=True) == pytest.approx([1e-15, 1e-10, 1e-5, 1])
    assert ticks(1, 100, 8, log=True) == pytest.approx([1, 10, 100])
    assert ticks(1, 30, 8, log=True) == pytest.approx([1, 2, 5, 10, 20])


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.3, "0.3"), (-1.5, "−1.5"), (1.77427, "1.774"), (12345, "12345"), (1e6, "10⁶"), (2.5e-7, "2.5·10⁻⁷"), (math.inf, "∞")],
)
def test_numbers_are_short(value, text):
    assert short(value) == text


def test_powers_of_ten_are_written_as_such_on_a_logarithmic_axis():
    assert [power_of_ten(v) for v in (0.01, 1, 1000, 1e4, 1e-6, 20000)] == ["0.01", "1", "1000", "10⁴", "10⁻⁶", "20000"]


def test_lines_of_words_are_no_wider_than_their_room():
    lines = wrap("position along the ray, in sensitivities " + "x" * 80, 100)
    assert all(text_width(line) <= 100 for line in lines)
    assert "".join("".join(lines).split()) == "positionalongtheray,insensitivities" + "x" * 80


# -- refused ---------------------------------------------------------------------------------------


def test_a_chart_lists_all_that_is_wrong_with_it():
    with pytest.raises(ValueError) as caught:
        Chart("", " ", Axis("x"), Axis("y", log=True), [Series("s", [], "pie")], [Mark("m", 1, "z", "wish")], equal=True)
    said = str(caught.value)
    assert all(part in said for part in ("title is empty", "description is empty", "'pie'", "'wish'", "neither x nor y", "two linear axes"))


def test_a_prefix_that_cannot_start_an_id_is_refused():
    with pytest.raises(ValueError, match="prefix 'a b' cannot start an id"):
        Chart("a", "b", Axis("x"), Axis("y")).svg("a b")


def test_an_axis_without_room_is_refused():
    with pytest.raises(ValueError, match="axis 'x': no room from 2 to 1"):
        span(Axis("x", low=2, high=1), [])


# -- where something fails -----------------------------------------------------------------------------


@given(st.lists(st.floats(0, 100), min_size=3, max_size=8, unique=True), st.floats(-50, 250))
def test_a_slanted_line_is_cut_to_what_is_inside_a_convex_area(angles, total):
    corners = [(50 + 40 * math.cos(a * math.pi / 50), 50 + 40 * math.sin(a * math.pi / 50)) for a in sorted(angles)]
    for piece in inside(corners, total):
        assert all(abs(x + y - total) < 1e-6 for x, y in piece)
        x, y = (sum(part) / 2 for part in zip(*piece, strict=True))
        turns = [(u - a) * (y - b) - (v - b) * (x - a) for (a, b), (u, v) in zip(corners, [*corners[1:], corners[0]], strict=True)]
        assert all(turn > -1e-3 for turn in turns)


def test_a_slanted_line_through_a_square_is_met_from_side_to_side():
    square = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)]
    assert inside(square, 10.0) == [[(0.0, 10.0), (10.0, 0.0)]] and inside(square, 30.0) == []


def test_an_area_that_fails_is_hatched_and_named_not_filled():
    area = Band("the claim fails", [(0.0, 1.0, 2.0), (4.0, 1.0, 2.0)], "fails")
    root = drawn(Chart("c", "d", Axis("x"), Axis("y"), [Series("", [[(0.0, 0.0), (4.0, 3.0)]])], bands=[area]))
    hatched = [
        one for one in root.iter() if one.tag.endswith("path") and "--warn" in one.get("style", "") and "fill:none" in one.get("style")
    ]
    assert hatched and all(len(line) == 2 for line in absolute(hatched[0].get("d")))
    assert any(one.text == "the claim fails" for one in root.iter("text"))
    assert not any("--fill" in one.get("style", "") for one in root.iter())


def test_an_area_of_no_kind_is_refused():
    with pytest.raises(ValueError, match="band 'b': kind 'odd' is none of enclosure, fails"):
        Chart("c", "d", Axis("x"), Axis("y"), bands=[Band("b", [], "odd")])
