"""What a program tells follows from what is proved of it: it is a function of what its machine, its noisy sums or its table tell."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random
from types import GeneratorType

import pytest

from dpverify.api.programs import Program
from dpverify.catalogue.values import read_value_or_domain
from dpverify.programs.agreement import Tape, Watched, evaluated, rendered
from dpverify.programs.reading import compile_program, default_parameters, module_of, programs_of
from tests.functions import told_less

PROGRAMS = {name: found for name, found in vars(told_less).items() if isinstance(found, Program)}
LISTED = [name for name, found in PROGRAMS.items() if "inputs" in found.options]
OVER_ROWS = [name for name, found in PROGRAMS.items() if "adjacency" in found.options]
SELECTING = ["select_and_measure", "measure_on_one_way"]
SEVERAL = ["two_loops", "told_into_one_list", "two_searches", "two_counts"]
OVER_ANSWERS = [name for name in PROGRAMS if name not in (*LISTED, *OVER_ROWS, *SELECTING, *SEVERAL)]
EXACT = {
    "first_above", "some_of_them", "steps_until", "test_of_the_count_first", "goes_on_without_a_word", "goes_on_with_a_word", "counts_down",
    "first_above_with_value", "an_end_of_its_own", "jumps_over", "lists_as_they_are",
}  # fmt: skip
"""Those of which refutations hold: the machine tells no more than they do."""


@cache
def read(name, **parameters):
    program = PROGRAMS[name]
    module = module_of(program.text.file, program.text.text)
    found = next(one for one in programs_of(module) if one.name == name)
    said = {key: read_value_or_domain(value) for key, value in default_parameters(found, parameters).items()}
    return compile_program(module, found, said, {}, {}, plain=True)


def holds(text, values):
    for relation, compare in ((">=", Fraction.__ge__), ("<=", Fraction.__le__), (">", Fraction.__gt__), ("<", Fraction.__lt__)):
        left, mark, right = text.partition(relation)
        if mark:
            return compare(Fraction(evaluated(left.strip(), values)), Fraction(evaluated(right.strip(), values)))
    raise ValueError(text)


def carried_out(table, draws, answers, drawn, parameters):
    """What each step of a stream tells: its word and its numbers."""
    values = {**parameters, **{name: drawn(-1, *draws[name]) for name in table.get("once", {})}}
    values |= {name: evaluated(first, values) for name, first in table.get("state", {}).items()}
    limits = {name: evaluated(limit, values) for name, limit in table.get("limits", {}).items()}
    values |= dict.fromkeys(limits, Fraction(0))
    told = []
    for step, answer in enumerate(answers):
        if any(values[name] >= limit for name, limit in limits.items()):
            break
        values |= {table["answers"][0]: answer, **{name: drawn(step, *draws[name]) for name in table.get("fresh", {})}}
        branch = next(one for one in table["step"] if all(holds(each, values) for each in one.get("when", ())))
        told.append((branch["emit"], *(evaluated(each, values) for each in branch.get("tell", ()))))
        values |= {name: evaluated(value, values) for name, value in branch.get("set", {}).items()}
        values |= {name: values[name] + evaluated(value, values) for name, value in branch.get("count", {}).items()}
    return tuple(told)


def noise_of(seed):
    def drawn(step, law, count):
        return Fraction(Random(f"{seed} {step} {law} {count}").randint(-6, 6), 2)

    return drawn


def law_of(name, values, named):
    (scale,) = values
    return ("kind", "builtin"), ("name", name), ("scale", str(Fraction(scale)))


@pytest.mark.parametrize("name", OVER_ANSWERS)
def test_what_is_told_follows_from_the_machine(name):
    random = Random(name)
    takes_c = "parameters" in PROGRAMS[name].options
    told, back = {}, {}
    for _ in range(150):
        c = random.randint(1, 2)
        found = read(name, c=str(c)) if takes_c else read(name)
        table = found.mechanism.get("part", found.mechanism)
        answers = [random.randint(-2, 3) for _ in range(random.randint(1, 4))]
        drawn = noise_of(random.random())
        tape = Tape(drawn, law_of)
        result = PROGRAMS[name](Watched(answers, tape), *([c] if takes_c else []), noise=tape)
        output = rendered(list(result) if isinstance(result, GeneratorType) else result)
        at_the_end = drawn(len(answers) - 1, law_of("laplace", (8,), {}), 0) if name == "noise_at_the_end" else 0
        seen = (c if takes_c else 0, len(answers), at_the_end, carried_out(table, found.draws, answers, drawn, {"c": c}))
        assert told.setdefault(seen, output) == output
        if "part" not in found.mechanism:
            assert back.setdefault((*seen[:3], output), seen) == seen
    assert ("part" not in found.mechanism) == (name in EXACT)


@pytest.mark.parametrize("name", SELECTING)
def test_what_is_told_follows_from_the_place_and_what_is_measured_there(name):
    random = Random(name)
    greatest, measured = read(name).mechanism["part"]["parts"]
    assert (greatest["noise"]["scale"], measured["scale"]) == ("4", "2")
    sign = 1 if name == "select_and_measure" else -1
    times = {"1": 1, "(3)*(1)": 3}[str(measured["sensitivity"])]
    told = {}
    for _ in range(250):
        answers = [random.randint(-2, 3) for _ in range(random.randint(2, 3))]
        drawn = noise_of(random.random())
        output = rendered(PROGRAMS[name](answers, noise=Tape(drawn, law_of)))
        four, two, eight = (law_of("laplace", (scale,), {}) for scale in (4, 2, 8))
        noisy = [sign * (answer + drawn(-1, four, i)) for i, answer in enumerate(answers)]
        place = noisy.index(max(noisy))
        seen = (len(answers), place, times * answers[place] - sign * drawn(-1, two, 0), drawn(-1, eight, 0) > 0)
        assert told.setdefault(seen, output) == output


@pytest.mark.parametrize("name", SEVERAL)
def test_what_is_told_follows_from_the_machines_of_its_loops(name):
    """Each noise has a scale of its own; those of 2 and 3 are drawn before a loop."""
    random = Random(name)
    module = module_of(PROGRAMS[name].text.file, PROGRAMS[name].text.text)
    found = compile_program(module, next(one for one in programs_of(module) if one.name == name), {}, {}, {}, plain=True)
    tables = [part.get("part", part) for part in found.mechanism["part"]["parts"]]
    assert [table["kind"] for table in tables] == ["stream", "stream"]
    told = {}
    for _ in range(250):
        answers = [random.randint(-2, 3) for _ in range(random.randint(1, 4))]
        drawn = noise_of(random.random())

        def by_scale(step, law, count, drawn=drawn):
            return drawn(-1 if dict(law)["scale"] in ("2", "3") else step, law, 0)

        tape = Tape(by_scale, law_of)
        output = rendered(PROGRAMS[name](Watched(answers, tape), noise=tape))
        seen = [len(answers)]
        for table in tables:
            draws = {one: (tuple(law.items()), 0) for one, law in {**table.get("once", {}), **table.get("fresh", {})}.items()}
            seen.append(carried_out(table, draws, answers, by_scale, {}))
        assert told.setdefault(tuple(seen), output) == output


def summed(query, rows):
    """A sum over rows, as the query says it."""
    total = Fraction(0)
    (entry,) = query["sum"]
    for row in rows:
        names = {**row, "min": min, "max": max, "abs": abs}
        if eval(query.get("where", "True"), names):
            for one in entry if isinstance(entry, list) else [{"value": entry}]:
                total += Fraction(eval(one["value"], names)) if eval(one.get("where", "True"), names) else 0
    return total


class Few:
    """Noise by its scale alone."""

    def __init__(self, seed):
        self.seed = seed

    def laplace(self, scale):
        return Fraction(Random(f"{self.seed} {scale}").randint(-3, 3), 2)


@pytest.mark.parametrize("name", OVER_ROWS)
def test_what_is_told_follows_from_the_noisy_sums(name):
    random = Random(name)
    found = read(name)
    table = found.mechanism["part"]
    told = {}
    for _ in range(250):
        rows = [{"a": random.randint(-1, 2), "b": random.randint(-1, 2)} for _ in range(random.randint(0, 3))]
        noise = Few(random.random())
        output = rendered(PROGRAMS[name](rows, noise=noise))
        seen = tuple(summed(part["query"], rows) + noise.laplace(int(part["scale"])) for part in table.get("parts", [table]))
        assert told.setdefault(seen, output) == output


class Listed:
    """Noise whose values are those that are listed, with their probability in `weight`."""

    def __init__(self, chosen):
        self.chosen, self.at, self.weight, self.open = chosen, 0, Fraction(1), False

    def _next(self, chances):
        self.open |= self.at >= len(self.chosen)
        value, chance = chances[self.chosen[self.at] if self.at < len(self.chosen) else 0]
        self.at += 1
        self.weight *= chance
        self.sizes = [*getattr(self, "sizes", []), len(chances)]
        return value

    def coin(self, p):
        p = Fraction(str(p)).limit_denominator(1000)
        return self._next([(True, p), (False, 1 - p)])

    def below(self, k):
        return self._next([(i, Fraction(1, k)) for i in range(k)])

    def binomial(self, n, p):
        p = Fraction(str(p))
        ways = Counter()
        for coins in product((0, 1), repeat=n):
            ways[sum(coins)] += p ** sum(coins) * (1 - p) ** (n - sum(coins))
        return self._next(list(ways.items()))


def chances(program, value):
    """How likely each output is: all ways of its noise, by running the function."""
    found, open_ = Counter(), [()]
    while open_:
        chosen = open_.pop()
        noise = Listed(chosen)
        result = program(value, noise=noise)
        output = rendered(list(result) if isinstance(result, GeneratorType) else result)
        if noise.at > len(chosen):
            open_ += [(*chosen, i) for i in range(noise.sizes[len(chosen)])]
        else:
            found[output] += noise.weight
    return found


@pytest.mark.parametrize("name", LISTED)
def test_tables_are_how_likely_outputs_are(name):
    table = read(name).mechanism
    assert table["kind"] == "table"
    rows = [chances(PROGRAMS[name], value) for value in PROGRAMS[name].options["inputs"]]
    outputs = set().union(*rows)
    told = Counter(tuple(Fraction(evaluated(row[i], {})) for row in table["rows"]) for i in range(len(table["rows"][0])))
    assert told == Counter(tuple(row[output] for row in rows) for output in outputs)
