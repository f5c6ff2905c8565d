"""What of a program is read, and what is refused, with its place."""

# ruff: noqa: E501
from __future__ import annotations

import textwrap

import pytest

import dpverify as dp
from dpverify.catalogue import read_spec, resolve
from dpverify.errors import SpecError

HEAD = "import dpverify as dp\n"


def spec_of(tmp_path, text, options='sensitivity=1, claims=[{"epsilon": 1}]'):
    """The claims of a program that is written to a file, and never loaded."""
    file = tmp_path / "written.py"
    file.write_text(HEAD + textwrap.dedent(text).replace("@program", f"@dp.program({options})"))
    return [read_spec(path) for path in resolve(str(file))]


def faults_of(tmp_path, text, **more):
    with pytest.raises(SpecError) as error:
        spec_of(tmp_path, text, **more)
    return error.value.faults


SPARSE = {
    "else": """
        if answer + noise.laplace(4) >= t:
            yield True
            return
        else:
            yield False
    """,
    "the other test": """
        if answer + noise.laplace(4) < t:
            yield False
        else:
            yield True
            break
    """,
    "flag": """
        above = answer + noise.laplace(4) >= t
        yield above
        if above:
            return
    """,
    "not": """
        if not (t > answer + noise.laplace(4)):
            yield True
            return
        yield False
    """,
    "match": """
        match t <= answer + noise.laplace(4):
            case True:
                yield True
                return
            case _:
                yield False
    """,
    "twice": """
        gap = answer - t + noise.laplace(4)
        if gap >= 5:
            yield True
            return
        if gap >= 0:
            yield True
            return
        if gap < 7:
            yield False
    """,
}


def written(step):
    body = textwrap.indent(textwrap.dedent(step).strip(), " " * 8)
    return f"@program\ndef sparse(answers, noise):\n    t = noise.laplace(2)\n    for answer in answers:\n{body}\n"


def test_six_writings_are_one_mechanism(tmp_path):
    claims = [spec_of(tmp_path, written(step))[0].claims[0].claim for step in SPARSE.values()]
    assert len({claim.mechanism for claim in claims}) == 1


REFUSED = {
    "try": ("try:\n            yield answer + noise.laplace(1)\n        except ValueError:\n            yield 0", "try", 5),
    "walrus": ("yield (x := answer + noise.laplace(1))", ":=", 5),
    "product": ("yield answer * answer + noise.laplace(1)", "product", 5),
    "product with noise": ("yield answer * noise.laplace(1)", "product", 5),
    "quotient": ("yield 1 / answer + noise.laplace(1)", "divides", 5),
    "floor": ("yield answer // 1 + noise.laplace(1)", "rounds", 5),
    "round": ("yield round(answer) + noise.laplace(1)", "round", 5),
    "scale of the data": ("yield answer + noise.laplace(answer)", "depends on the data", 5),
    "unknown noise": ("yield answer + noise.laplaec(1)", "laplaec", 5),
    "stored noise": ("yield [noise][0].laplace(1)", "noise is put into", 5),
    "noise passed on": ("yield frobnicate(noise)", "frobnicate", 5),
    "del": ("del answer", "del", 5),
    "eval": ("yield eval('answer')", "eval", 5),
    "nested function": ("f = lambda x: x\n        yield f(answer)", "lambda", 5),
    "f-string": ("yield f'{answer}'", "f-string", 5),
    "attribute": ("answer.x = 1\n        yield 1", "attribute", 5),
    "yield as a value": ("x = yield 1", "used as a value", 5),
    "global": ("global answer\n        yield 1", "global", 5),
    "print": ("print(answer)\n        yield 1", "print", 5),
    "set": ("yield {1, 2}", "set", 5),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_where(tmp_path, name):
    step, said, line = REFUSED[name]
    faults = faults_of(tmp_path, f"@program\ndef wrong(answers, noise):\n    for answer in answers:\n        {step}\n")
    assert any(said in fault and f"(line {line}, column " in fault for fault in faults), faults


WHOLE = {
    "mutable default": ("@program\ndef f(answers, noise, seen=[]):\n    return 1\n", "default []"),
    "star": ("@program\ndef f(answers, *more, noise):\n    return 1\n", "*more"),
    "async": ("@program\nasync def f(answers, noise):\n    return 1\n", "async"),
    "decorated": ("@program\n@staticmethod\ndef f(answers, noise):\n    return 1\n", "staticmethod"),
    "aliased lists": ("@program\ndef f(answers, noise):\n    a = b = []\n    return a\n", "several names"),
    "recursion": ("def g(x):\n    return g(x)\n@program\ndef f(answers, noise):\n    return g(1)\n", "calls itself"),
    "changing global": (
        "S = 1\ndef g():\n    global S\n    S = 2\n@program\ndef f(answers, noise):\n    for a in answers:\n        yield a + noise.laplace(S)\n",
        "S is bound",
    ),
    "changing list": (
        "S = [1]\nS.append(2)\n@program\ndef f(answers, noise):\n    for a in answers:\n        yield a + noise.laplace(S[0])\n",
        "S is a list",
    ),
    "shadowed": ("@program\ndef f(answers, noise):\n    sum = 1\n    return sum(answers) + noise.laplace(1)\n", "sum is a name"),
    "redefined": ("from other import *\n@program\ndef f(answers, noise):\n    return max(answers)\n", "may mean anything"),
    "defined twice": ("@program\ndef f(answers, noise):\n    return 1\ndef f(answers, noise):\n    return 2\n", "no programs"),
    "a loop in a loop": (
        "@program\ndef f(answers, noise):\n    for a in answers:\n        for b in answers:\n            yield 2\n",
        "in each step of another",
    ),
    "a loop that depends on one before": (
        "@program\ndef f(answers, noise):\n    k = 0\n    for a in answers:\n        k += a + noise.laplace(1) > 0\n    for a in answers:\n        yield k\n",
        "kept is told after another one",
    ),
    "a loop that may not be": (
        "@program\ndef f(answers, noise):\n    for a in answers:\n        if a + noise.laplace(1) > 0:\n            return\n    for a in answers:\n        yield 1\n",
        "follows another one",
    ),
    "a list of an earlier loop": (
        "def g(answers, out, noise):\n    for a in answers:\n        out.append(a + noise.laplace(1) > 0)\n@program\ndef f(answers, noise):\n    out = []\n    g(answers, out, noise)\n    n = len(out)\n    for a in answers:\n        yield n\n",
        "is read in it",
    ),
    "one threshold for two loops": (
        "@program\ndef f(answers, noise):\n    t = noise.laplace(1)\n    for a in answers:\n        yield a + noise.laplace(1) > t\n    s = 0\n    for a in answers:\n        s += a\n    yield s + t\n",
        "use one noise",
    ),
    "one noisy list for two loops": (
        "@program\ndef f(answers, noise):\n    noisy = [a + noise.laplace(1) for a in answers]\n    for x in noisy:\n        yield x\n    for x in noisy:\n        yield x\n",
        "an earlier loop over the answers",
    ),
    "no noise": ("@program\ndef f(answers):\n    return 1\n", "no argument named noise"),
    "kept list": (
        "@program\ndef f(answers, noise):\n    t = noise.laplace(1)\n    out = [t]\n    for a in answers:\n        out.append(a > t)\n    return out\n",
        "noisy number before it",
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_refused_of_the_whole(tmp_path, name):
    text, said = WHOLE[name]
    assert any(said in fault for fault in faults_of(tmp_path, text))


def test_all_faults_of_a_file_at_once(tmp_path):
    text = "@program\ndef f(answers, noise):\n    del answers\n    yield (x := 1)\n    yield f'{x}'\n"
    assert len(faults_of(tmp_path, text)) == 3


def test_faults_of_meaning_are_told_at_once_and_what_follows_from_them_is_not(tmp_path):
    text = """
    @program
    def f(answers, noise):
        t = noise.laplac(2)
        s = noise.laplace(sum(answers))
        for a in answers:
            b = a * a + noise.laplace(1)
            if str(b) == "3":
                yield frob(b)
            yield b + t
            for c in a:
                yield c + s
    """
    faults = faults_of(tmp_path, text)
    lines = [int(fault.rpartition("(line ")[2].partition(",")[0]) for fault in faults]
    assert lines == [5, 6, 8, 9, 10, 12]
    for fault, said in zip(
        faults, ("Did you mean laplace?", "depends on the data", "a * a", "str", "frob", "a is an answer, and no list"), strict=True
    ):
        assert said in fault


ROWS = {
    "one row": ("rows[0]['age'] + noise.laplace(1)", "one row by its place"),
    "scale of the data": ("len(rows) + noise.laplace(1 / len(rows))", "scale = 1 / len(rows) depends on the data"),
    "bare comparison": ("len(rows) > 3", "Add noise to it first"),
    "bare quotient": ("len(rows) / 3 / (len(rows) + noise.laplace(1))", "Add noise to each of both first"),
    "bare rounding": ("round(len(rows)) + noise.laplace(1)", "rounds what no noise is added to"),
    "one noise for two": ("(lambda z: z)(1)", "lambda"),
    "part of a dict": ("{'a': len(rows) + noise.laplace(1)}.values()[0]", "gone through, and nothing else"),
    "lengths": ("[x for x, y in zip((1, 2), (1, 2, 3), strict=True)] + [noise.laplace(1)]", "not of one length"),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_is_refused_of_rows(tmp_path, name):
    told, said = ROWS[name]
    faults = faults_of(
        tmp_path, f"@program\ndef f(rows, noise):\n    return {told}\n", options='adjacency="add-remove", claims=[{"epsilon": 1}]'
    )
    assert any(said in fault for fault in faults), faults


COINS = {
    "a decimal": ("[1/2, 1]", "x == 1", "inputs lists 1 / 2"),
    "a tuple": ("[(1, 2), (2, 1)]", "x == [1, 2]", "inputs lists (1, 2)"),
    "one alone": ("[1]", "x", "two values or more"),
    "no probability": ("[1, 2]", "noise.coin(3 / 2)", "no probability"),
    "other noise": ("[1, 2]", "x + noise.laplace(1)", "more values than can be listed"),
    "changed data": ("[[1], [2]]", "x.append(1)", "the data are changed"),
}


@pytest.mark.parametrize("name", COINS)
def test_what_is_refused_where_inputs_are_listed(tmp_path, name):
    inputs, told, said = COINS[name]
    faults = faults_of(tmp_path, f"@program\ndef f(x, noise):\n    return {told}\n", options=f'inputs={inputs}, claims=[{{"epsilon": 1}}]')
    assert any(said in fault for fault in faults), faults


def test_a_list_of_answers_is_compared_with_no_list(tmp_path):
    """Of one answer, which may be 3, the answer would be told as it is."""
    for told in ("answers == [3]", "[a for a in answers if a + noise.laplace(1) > 3] == []"):
        assert any("compares" in fault for fault in faults_of(tmp_path, f"@program\ndef f(answers, noise):\n    return {told}\n"))


@pytest.mark.parametrize("parameter", ["positive", "integer >= 1"])
def test_a_count_that_never_is_the_limit_does_not_end_the_run(tmp_path, parameter):
    """Of a limit that may be no integer == is never reached."""
    text = """
    @program
    def f(answers, c, noise):
        t = noise.laplace(2)
        left = c
        for a in answers:
            above = a + noise.laplace(4 * c) >= t
            yield above, 1
            left -= above
            if left == 0:
                return
    """
    options = f'sensitivity=1, parameters={{"c": "{parameter}"}}, claims=[{{"epsilon": 1}}]'
    assert (dp.verify(spec_of(tmp_path, text, options)[0].claims[0].claim).verdict == "PROVED") == (parameter != "positive")


def test_reading_runs_nothing(tmp_path):
    """Hostile text at the module's own level, in the decorator's arguments and in the body."""
    trap = tmp_path / "sprung"
    text = f"open({str(trap)!r}, 'w').close()\n@program\ndef f(answers, noise):\n    open({str(trap)!r}, 'w').close()\n    yield 1\n"
    assert faults_of(tmp_path, text)
    assert faults_of(
        tmp_path, "@program\ndef f(answers, noise):\n    yield 1\n", options=f"sensitivity=open({str(trap)!r}, 'w'), claims=[]"
    )
    assert not trap.exists()


@pytest.mark.parametrize(
    ("ones", "others"), [("True", "1"), ("'1'", "1"), ("'None'", "None"), ("('a', 'b')", "('a, b',)"), ("'go on'", "'go  on'")]
)
def test_outputs_that_differ_are_words_that_differ(tmp_path, ones, others):
    """An exact answer tells which side it is on, in whatever words: no epsilon holds, or it is not known."""
    text = f"@program\ndef f(answers, noise):\n    for a in answers:\n        yield {ones} if a > 0 else {others}\n"
    claim = spec_of(tmp_path, text)[0].claims[0].claim
    assert dp.verify(claim).verdict in ("REFUTED", "UNKNOWN")


@pytest.mark.parametrize(
    ("told", "least"),
    [
        ("count + noise.laplace(2)", "1/2"),
        ("3*count + noise.laplace(2), count + noise.laplace(1)", "5/2"),
        ("'many' if count + noise.discrete_laplace(2) > 7 else 'few'", "1/2"),
        ("min(max(count + noise.laplace(1), 0), 10)", "1"),
    ],
)
def test_data_that_are_one_number_need_no_list(tmp_path, told, least):
    for epsilon, verdict in ((least, "PROVED"), (f"{least}*99/100", "REFUTED")):
        options = f'sensitivity=1, claims=[{{"epsilon": "{epsilon}"}}]'
        claim = spec_of(tmp_path, f"@program\ndef f(count, noise):\n    return {told}\n", options)[0].claims[0].claim
        found = dp.verify(claim).verdict
        assert found == verdict or (verdict == "REFUTED" and "min" in told and found == "UNKNOWN")  # what is cut may lose less


def test_a_number_that_grows_is_not_read(tmp_path):
    text = "@program\ndef f(rows, noise):\n    s = 0\n    for row in rows:\n        if s < 9:\n            s += 1\n    return s + noise.laplace(1)\n"
    assert any("grows" in fault for fault in faults_of(tmp_path, text, options='adjacency="add-remove", claims=[{"epsilon": 1}]'))


@pytest.mark.wide
def test_a_comparison_with_equality_is_exact(tmp_path):
    """A counter that jumps over its limit does not end the run."""
    text = """
    @program
    def f(answers, noise):
        t = noise.laplace(2)
        found = 0
        for a in answers:
            if a + noise.laplace(4) >= t:
                found += 2
                yield True
            else:
                yield False
            if found == 3:
                return
    """
    claim = spec_of(tmp_path, text)[0].claims[0].claim
    assert dp.verify(claim).verdict != "PROVED"


def test_claim_files_name_programs(tmp_path):
    (tmp_path / "a.py").write_text(HEAD + "@dp.program(sensitivity=1)\n" + written(SPARSE["else"]).removeprefix("@program\n"))
    (tmp_path / "a.toml").write_text('[mechanism]\nprogram = "a.py:sparse"\n\n[[claim]]\nepsilon = 1\n')
    assert dp.verify(tmp_path / "a.toml")[0].verdict == "PROVED"


NO = 'when = ["q + nu >= low", "q + nu < high"]\nemit = "inside"\n\n[[mechanism.step]]\nemit = "outside"\ncount = { outside = 1 }\n'
SPLIT = (
    'when = "q + nu < low"\nemit = "outside"\ncount = { outside = 1 }\n\n[[mechanism.step]]\nwhen = "q + nu >= high"\nemit = "outside"\n'
    'count = { outside = 1 }\n\n[[mechanism.step]]\nemit = "inside"\n'
)


@pytest.mark.parametrize("steps", [NO, SPLIT], ids=["both comparisons first", "one after the other"])
def test_written_streams_do_not_hang_on_how_branches_are_written(tmp_path, steps):
    law = '{ kind = "builtin", name = "laplace", scale = 4 }'
    head = f'[mechanism]\nkind = "stream"\nonce = {{ a = {law}, b = {law} }}\nfresh = {{ nu = {law} }}\nstate = {{ low = "a", high = "1 + b" }}\n'
    text = f"{head}limits = {{ outside = 1 }}\n\n[[mechanism.step]]\n{steps}\n[[claim]]\nsensitivity = 1\nepsilon = 1\n"
    (tmp_path / "a.toml").write_text(text)
    assert dp.verify(tmp_path / "a.toml")[0].verdict == "PROVED"
