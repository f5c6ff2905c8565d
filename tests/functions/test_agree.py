"""A program and the declaration that is proved of it tell the same, where they are given the same noise."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from random import Random
from types import GeneratorType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.api.programs import Program
from dpverify.catalogue.values import read_value_or_domain
from dpverify.programs.agreement import Tape, Watched, carried_out, rendered
from dpverify.programs.reading import compile_program, default_parameters, module_of, programs_of
from tests.functions import battery

ONE_BY_ONE = [name for name, found in vars(battery).items() if isinstance(found, Program)]
AT_THE_END = {"svt10", "partial", "partial2", "best1", "best2", "best3", "bestval", "bestkey"}
"""Those that tell one thing in the end, which is no stream."""


AT_ONCE = {"at_once", "greatest_of_three", "bestfixed"}
"""Those that read three answers at once."""


def law_of(name, values, named):
    """The law of a draw, as the declaration has it."""
    (scale,) = values
    return ("kind", "builtin"), ("name", name), ("scale", str(Fraction(scale)))


@cache
def declared(name, parameters):
    """The stream that a program is, with values for its parameters."""
    program = vars(battery)[name]
    module = module_of(program.text.file, program.text.text)
    found = next(one for one in programs_of(module) if one.name == name)
    said = default_parameters(found, {key: str(value) for key, value in parameters})
    read = {key: read_value_or_domain(value) for key, value in said.items()}
    return compile_program(module, found, read, {}, {}, plain=True)


def in_a_row(told):
    """What a program tells, one after the other."""
    items = list(told) if isinstance(told, list | GeneratorType) else [] if told is None else [told]
    return " ".join(map(rendered, items))


@pytest.mark.parametrize("name", [name for name in ONE_BY_ONE if name not in AT_THE_END])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_told_is_the_same(name, data):
    program = vars(battery)[name]
    code = program.function.__code__
    known = {"threshold": st.integers(-2, 2), "epsilon": st.just(1), "c": st.integers(1, 3)}
    parameters = {key: Fraction(data.draw(values)) for key, values in known.items() if key in code.co_varnames[: code.co_argcount]}
    size = 3 if name in AT_ONCE else data.draw(st.integers(1, 7))
    answers = data.draw(st.lists(st.integers(-5, 5), min_size=size, max_size=size))
    seed = data.draw(st.integers(0, 2**32))
    found = declared(name, tuple(sorted(parameters.items())))
    table = found.mechanism.get("part", found.mechanism)

    def drawn(step, law, count):
        return Fraction(Random(f"{seed} {step} {law} {count}").randint(-9, 9), 2)

    assert table["kind"] == "stream"
    tape = Tape(drawn, law_of)
    told = program(answers if name in AT_ONCE else Watched(answers, tape), **parameters, noise=tape)
    assert in_a_row(told) == carried_out(table, found.draws, answers, drawn, parameters)
