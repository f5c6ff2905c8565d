"""A design run on data: true answers with noise of the stated deviations, whatever form the data have."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import dpverify
from dpverify.cli import main
from dpverify.errors import DataError
from dpverify.project.designer import data, releases

KINDS = {
    "shape of prefix sums": {"workload": {"kind": "prefix", "length": 40}, "adjacency": "add-remove", "epsilon": 1, "delta": "1e-6"},
    "ranges, replaced": {"workload": {"kind": "ranges", "length": 8}, "adjacency": "replace", "zcdp": "1/10"},
    "marginals": {
        "workload": {"kind": "marginals", "sizes": [3, 4, 5], "sets": [[0, 1], [2], []]}, "adjacency": "add-remove", "zcdp": "1/10",
    },
    "marginals, replaced": {"workload": {"kind": "marginals", "sizes": [5, 5, 5], "ways": 2}, "adjacency": "replace", "gdp": 1},
    "product": {
        "workload": {"kind": "product", "parts": ["prefix", "total", "ranges", "identity"], "sizes": [5, 2, 4, 3]},
        "adjacency": "add-remove", "renyi": {"order": 2, "epsilon": 1}, "objective": "greatest",
    },
    "close in l2": {"workload": {"kind": "product", "parts": ["ranges", "identity"], "sizes": [4, 3]}, "adjacency": "l2", "gdp": 1},
    "union": {
        "workload": {"kind": "union", "weights": [3, 1], "of": [
            {"kind": "product", "parts": ["prefix", "identity"], "sizes": [6, 5]},
            {"kind": "product", "parts": ["ranges", "total"], "sizes": [6, 5]},
        ]},
        "adjacency": "add-remove", "zcdp": 1,
    },
    "a claim file": {"query": [[1, 2, 0], [0, 1, 1]], "adjacency": "add-remove", "epsilon": 1, "weights": [1, 4]},
    "pure, no matrix": {"workload": {"kind": "marginals", "sizes": [30, 20, 4], "ways": 2}, "adjacency": "add-remove", "epsilon": 1},
    "pure, a strategy": {"workload": {"kind": "ranges", "length": 80}, "adjacency": "replace", "epsilon": 1},
    "pure, a strategy, real": {
        "workload": {"kind": "product", "parts": ["ranges", "ranges"], "sizes": [12, 40]}, "adjacency": "l1", "epsilon": 1,
    },
    "pure, shares of tables": {
        "workload": {"kind": "marginals", "sizes": [10, 8, 9], "ways": 2}, "adjacency": "add-remove", "epsilon": 1, "weights": [1, 2, 3],
    },
    "pure, products": {
        "workload": {"kind": "product", "parts": ["prefix", "total", "ranges", "identity"], "sizes": [20, 2, 16, 3]},
        "adjacency": "add-remove", "epsilon": 1,
    },
    "pure, a strategy each": {
        "workload": {"kind": "union", "weights": [3, 1], "of": [
            {"kind": "product", "parts": ["prefix", "total"], "sizes": [40, 41]},
            {"kind": "product", "parts": ["total", "ranges"], "sizes": [40, 41]},
        ]},
        "adjacency": "add-remove", "epsilon": 1,
    },
}  # fmt: skip
TRIALS = 100


def plain(question):
    """The rows without weights."""
    workload = question.workload
    if workload is None:
        rows = [[x / w for x in row] for row, w in zip(question.rows, question.weights, strict=True)]
        return np.array(rows, dtype=float)
    from dpverify.project.designer.workloads import rows_of

    blocks = []
    for term in workload.terms:
        block = np.ones((1, 1))
        for part, size in zip(term.parts, workload.sizes, strict=True):
            block = np.kron(block, np.array(rows_of(part, size), dtype=float))
        blocks.append(block)
    return np.concatenate(blocks)


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", KINDS)
def test_answers_are_the_truth_with_noise_of_the_stated_deviations(name):
    best = dpverify.design(**KINDS[name]).ranked[0]
    counts = np.random.default_rng(1).integers(0, 50, best.question.size[1])
    true = plain(best.question) @ counts
    runs = [best.release(counts.tolist(), seed=seed) for seed in range(TRIALS)]
    off = (np.array([run.answers for run in runs]) - true) / np.array(runs[0].deviations)
    assert np.abs(off.mean(axis=0)).max() < 5.5 / np.sqrt(TRIALS)
    assert np.abs((off**2).mean() - 1) < 0.25 or name == "a claim file"
    assert (off**2).mean() < 1.25
    assert len(runs[0].names) == len(set(runs[0].names)) == len(true)
    assert runs[0] == best.release(counts.tolist(), seed=0) != runs[1]


def test_a_record_is_one_row_of_the_histogram_of_records():
    sizes = (2, 3)
    rows = [[0, 1], [1, 2], [0, 1]]
    one = data.of_records(rows, sizes, whole=True)
    assert one.dense(10).tolist() == [0, 2, 0, 0, 0, 1] == data.of_histogram([0, 2, 0, 0, 0, 1], sizes, whole=True).dense(10).tolist()
    assert one.along((1,), 10).tolist() == [0, 2, 1] and one.along((), 10) == 3
    with pytest.raises(DataError, match="6 cells, more than 5"):
        one.dense(5)


FILES = {
    "records": "sex,age\n0,1\n1,2\n0,1\n",
    "kinds with counts": "sex,age,Count\n0,1,2\n1,2,1\n",
    "a histogram": "count\n0\n2\n0\n0\n0\n1\n",
}


@pytest.mark.wide
@pytest.mark.parametrize("name", FILES)
def test_the_same_data_in_each_form_have_the_same_release(name, tmp_path):
    design, table, target = tmp_path / "design.toml", tmp_path / "data.csv", tmp_path / "answers.csv"
    design.write_text('[design]\nworkload = { kind = "marginals", sizes = [2, 3], ways = 1 }\nadjacency = "add-remove"\nzcdp = 1\n')
    table.write_text(FILES[name])
    told = CliRunner().invoke(main, ["release", str(design), str(table), "-o", str(target), "--seed", "5"])
    assert told.exit_code == 0 and told.stdout == ""
    rows = list(csv.DictReader(target.open()))
    assert [row["query"] for row in rows] == ["#0=0", "#0=1", "#1=0", "#1=1", "#1=2"]
    proved = json.loads(target.with_suffix(".json").read_text())
    best = dpverify.design(workload={"kind": "marginals", "sizes": [2, 3], "ways": 1}, adjacency="add-remove", zcdp=1).ranked[0]
    assert proved["mechanism"] == best.candidate.name and proved["design"]["mechanisms"][0]["verdict"] == "PROVED"
    assert [float(row["answer"]) for row in rows] == list(best.release([0, 2, 0, 0, 0, 1], seed=5).answers)
    assert not [file for file in tmp_path.iterdir() if file.name.endswith(".tmp")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the file is empty"),
        ("sex,age\n0,3\n1,1\n2,0\n", r"2 rows are no records .* row 1, \['0', '3'\]; row 3"),
        ("sex,age\n0\n", "another number of entries"),
        ("0,1\n1,2\n", "it names the columns"),
        ("count\n1\n2\n", "2 entries; there are 6 kinds"),
        ("sex,age,count\n0,0,1.5\n", "1.5.* no integer"),
        ("sex,age,count\n0,0,-1\n", "-1.* no integer"),
    ],
)
def test_a_file_that_holds_no_such_data_says_what_and_where(text, why, tmp_path):
    table = tmp_path / "data.csv"
    table.write_text(text)
    with pytest.raises(DataError, match=why) as caught:
        data.read(table, (2, 3), whole=True)
    assert str(caught.value).startswith(str(table))


def test_real_histograms_may_hold_any_numbers_of_at_least_0(tmp_path):
    table = tmp_path / "data.csv"
    table.write_text("count\n0.5\n1/3\n")
    assert data.read(table, (2,), whole=False).dense(2).tolist() == [0.5, 1 / 3]
    for wrong in ("nan", "-1", "x", "inf"):
        with pytest.raises(DataError):
            data.of_histogram([wrong, "1"], (2,), whole=False)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("made", ["pandas", "duckdb"])
def test_data_frames_and_relations_hold_what_files_hold(made):
    import duckdb
    import pandas as pd

    best = dpverify.design(workload={"kind": "marginals", "sizes": [2, 3], "ways": 1}, adjacency="add-remove", zcdp=1).ranked[0]
    wanted = best.release([0, 2, 0, 0, 0, 1], seed=5)
    records, counted = ([(0, 1), (1, 2), (0, 1)], ["sex", "age"]), ([(0, 1, 2), (1, 2, 1)], ["sex", "age", "count"])
    for rows, names in (records, counted, ([(0,), (2,), (0,), (0,), (0,), (1,)], ["Count"])):
        if made == "pandas":
            table = pd.DataFrame(rows, columns=names)
        else:
            values = ", ".join("(" + ", ".join(map(str, row)) + ")" for row in rows)
            table = duckdb.connect().sql(f"SELECT * FROM (VALUES {values}) t({', '.join(names)})")
        assert best.release(table, seed=5) == wanted
    with pytest.raises(DataError, match="1 rows are no records"):
        best.release(pd.DataFrame([(0, 1.5)], columns=["sex", "age"]))
    with pytest.raises(DataError, match="it names the columns"):
        best.release(pd.DataFrame([(0, 1)]))


@pytest.mark.wide
@pytest.mark.parametrize("by", [1, 2])
def test_an_audit_of_a_release_sees_noise_that_is_half_of_what_it_is_to_be(by, monkeypatch):
    best = next(
        one for one in dpverify.design(workload={"kind": "marginals", "sizes": [3, 3], "ways": 1}, adjacency="add-remove", epsilon=1).ranked
        if one.candidate.name == "geometric, tables"
    )  # fmt: skip
    right = releases._noisy
    monkeypatch.setattr(releases, "_noisy", lambda true, scale, rng, **more: right(true, scale / by, rng, **more))
    found = dpverify.audit(best.sampler, epsilon=1, pairs=[([5] * 9, [6, *[5] * 8])], samples=1500, seed=1)
    assert found.is_clean == (by == 1)
