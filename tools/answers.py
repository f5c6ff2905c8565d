"""Questions that tests have asked below the trust line and the answers, written down: tests/golden/answers.json.

    python tools/answers.py                                    write the answers of today to the questions that are there
    PYTHONPATH=tools python -m pytest -p answers tests/rules   draw new questions from what these tests ask

A test asks for what matters to its law: that a value is enclosed, that a bound is not below the truth. What else changes (an enclosure
ten times as wide, a sign that is no longer decided, an assumption that is no longer shown) it does not see. tests/mutants/test_answers.py
compares with this record, which is no oracle of what is true: it keeps what is there from changing unseen.
"""

from __future__ import annotations

import configparser
import dataclasses
import importlib
import inspect
import json
import os
import pkgutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any

import flint
from flint import acb, arb, ctx

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests" / "golden" / "answers.json"
sys.path.insert(0, str(ROOT))

from dpverify import balls  # noqa: E402 (from this checkout, whatever is installed)
from dpverify.curves.base import Pair  # noqa: E402
from dpverify.curves.event import describe  # noqa: E402
from dpverify.errors import DpverifyError, Rejected  # noqa: E402
from dpverify.expr import Expr, format_expr, parse  # noqa: E402
from dpverify.rules.premises import pure_epsilon  # noqa: E402
from dpverify.shapes import Shapes  # noqa: E402

EPSILONS = ("0", "1/3", "2")
"""Where curves are compared."""
SLOWEST = 0.08
"""Seconds that an answer may take for its question to be kept."""
LONGEST = 3000
"""Characters that a question may have."""
SHORTEST = 70
"""Shorter ones ask for nothing that could be answered in another way."""
EACH, EACH_RULE = 3, 10
"""How many questions to one function are kept from one test file, and to one rule or curve."""
MOST = 48
"""How many questions to one function are kept."""
TRIES = 60
"""How many calls of one function are looked at in one test file."""
SHOWN = 60


class Unwritten(Exception):
    """An argument that has no text."""


# -- as text ----------------------------------------------------------------------------------------


def written(value: Any) -> Any:
    """An argument as JSON. Raises Unwritten."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Expr):
        return {"expr": format_expr(value)}
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, arb):
        if not value.is_finite():
            raise Unwritten
        return {"ball": [[str(part) for part in point.man_exp()] for point in (value.mid(), value.rad())]}
    if value is pure_epsilon:
        return {"premise": None}
    if isinstance(value, Shapes):
        return {"shapes": [value.name, value.half, written(value.domains)]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and type(value).__module__.startswith("dpverify."):
        fields = {field.name: written(getattr(value, field.name)) for field in dataclasses.fields(value) if field.init}
        return {"object": [type(value).__module__.partition(".")[2], type(value).__name__, fields]}
    if isinstance(value, tuple):
        return {"tuple": [written(each) for each in value]}
    if isinstance(value, list):
        return [written(each) for each in value]
    if isinstance(value, Mapping):
        return {"map": {key: written(each) for key, each in value.items()}}
    raise Unwritten


def read(value: Any) -> Any:
    """An argument from its JSON."""
    if isinstance(value, list):
        return [read(each) for each in value]
    if not isinstance(value, dict):
        return value
    [(kind, inside)] = value.items()
    return READERS[kind](inside)


def _ball(inside: Any) -> arb:
    middle, radius = (arb(int(mantissa)) * arb(2) ** int(exponent) for mantissa, exponent in inside)
    return arb(middle, radius)


READERS: dict[str, Callable[[Any], Any]] = {
    "expr": parse,
    "fraction": Fraction,
    "ball": _ball,
    "premise": lambda inside: pure_epsilon,
    "shapes": lambda inside: Shapes(inside[0], inside[1], read(inside[2])),
    "object": lambda inside: found(f"{inside[0]}.{inside[1]}")(**{name: read(each) for name, each in inside[2].items()}),
    "tuple": lambda inside: tuple(map(read, inside)),
    "map": lambda inside: {key: read(each) for key, each in inside.items()},
}


def told(value: Any) -> str:
    """An answer as text, exact."""
    if isinstance(value, Expr):
        return format_expr(value)
    if isinstance(value, arb):
        return str([[str(part) for part in point.man_exp()] for point in (value.mid(), value.rad())]) if value.is_finite() else "nan"
    if isinstance(value, acb):
        return f"{told(value.real)} {told(value.imag)}"
    if value is None or isinstance(value, str | int | Fraction):
        return str(value)
    if isinstance(value, Pair):
        where = [balls.constant(parse(epsilon)) for epsilon in EPSILONS]
        return str([[told(value.forward(at)), told(value.backward(at)), told(describe(value, at))] for at in where])
    if isinstance(value, frozenset | set):
        return str(sorted(map(told, value)))
    if isinstance(value, Mapping):
        return str({key: told(each) for key, each in value.items()})
    if isinstance(value, tuple | list | Iterator):
        return str([told(each) for each in value])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__} {[told(getattr(value, field.name)) for field in dataclasses.fields(value)]}"
    if slots := getattr(type(value), "__slots__", ()):
        return f"{type(value).__name__} {[told(getattr(value, name)) for name in slots]}"
    raise Unwritten


def shortened(text: str) -> str:
    """The beginning of a text and a digest of the whole."""
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 9]} {sha256(text.encode()).hexdigest()[:8]}"


# -- asking ---------------------------------------------------------------------------------------------


def found(name: str) -> Callable[..., Any]:
    """The function or class of a name like `shapes.Shapes.sign`."""
    module, _, last = f"dpverify.{name}".rpartition(".")
    try:
        holder = importlib.import_module(module)
    except ModuleNotFoundError:
        holder = found(module.partition(".")[2])
    return getattr(holder, last)  # type: ignore[no-any-return]


def asked() -> list[str]:
    """What questions are drawn for: every public function below the trust line but those of messages, and those of `Shapes`."""
    contract = configparser.ConfigParser(comment_prefixes=(";",))
    contract.read(ROOT / ".importlinter", encoding="utf-8")
    modules = []
    for name in contract["importlinter:contract:trust-line"]["source_modules"].split():
        if name == "dpverify.errors":
            continue
        module = importlib.import_module(name)
        modules += [module]
        if hasattr(module, "__path__"):
            modules += [importlib.import_module(f"{name}.{each.name}") for each in pkgutil.iter_modules(module.__path__)]
    names = []
    for module in modules:
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
                names.append(f"{module.__name__}.{name}".partition(".")[2])
    methods = [name for name, value in vars(Shapes).items() if inspect.isfunction(value) and not name.startswith("_")]
    return names + [f"shapes.Shapes.{name}" for name in methods]


def answer(name: str, question: Any) -> str:
    """What is answered to a question, at the precision in which it was asked."""
    prec, arguments = question
    with balls.precision(prec):
        try:
            return shortened(told(found(name)(*map(read, arguments))))
        except (DpverifyError, Rejected) as error:
            return type(error).__name__


def record() -> dict[str, list[list[Any]]]:
    """For each function its questions, each with its answer."""
    return json.loads(RECORD.read_text(encoding="utf-8"))["answers"] if RECORD.exists() else {}  # type: ignore[no-any-return]


def of_this_flint() -> bool:
    """Whether the record is of the FLINT that is installed: another one may round elsewhere."""
    return bool(json.loads(RECORD.read_text(encoding="utf-8"))["flint"] == flint.__FLINT_VERSION__)


def write(answers: Mapping[str, list[list[Any]]]) -> None:
    """Write the record, a question a line."""
    kinds = []
    for name, questions in sorted(answers.items()):
        lines = ",\n".join(json.dumps(each, ensure_ascii=True, separators=(",", ":")) for each in sorted(questions, key=str))
        kinds.append(f"{json.dumps(name)}: [\n{lines}\n]")
    head = f'{{"flint": {json.dumps(flint.__FLINT_VERSION__)}, "answers": {{\n'
    RECORD.write_text(head + ",\n".join(kinds) + "\n}}\n", encoding="utf-8")


def alone(name: str, question: Any) -> str:
    """What is answered in a process that has answered nothing before: some answers depend on what is remembered of others."""
    here, there = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(there, answer(name, question).encode())
        os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as answered:
        said = answered.read().decode()
    os.waitpid(pid, 0)
    return said


def main() -> int:
    """Write the answers of today, without those that are not the same alone and after all others."""
    questions = [(name, question) for name, those in record().items() for question, _ in those]
    first = [alone(name, question) for name, question in questions]
    answers: dict[str, list[list[Any]]] = {}
    for (name, question), said in zip(questions, first, strict=True):
        if answer(name, question) == said:
            answers.setdefault(name, []).append([question, said])
    write(answers)
    print(f"{sum(map(len, answers.values()))} answers of {len(questions)}")
    return 0


# -- drawing questions: a plugin of pytest -------------------------------------------------------------------

_asked: dict[str, dict[str, Any]] = {}
_counts: Counter[tuple[str, str]] = Counter()
_tries: Counter[tuple[str, str]] = Counter()
_file = ""
_inside = False


def pytest_collection_finish() -> None:
    """Listen to every function, under whatever name a module has it."""
    heard = {id(plain): _heard(name, plain) for name in asked() for plain in [found(name)]}
    for holder in [Shapes, *(each for name, each in list(sys.modules.items()) if name.partition(".")[0] == "dpverify" or "test_" in name)]:
        for key, value in list(vars(holder).items()):
            if id(value) in heard:
                setattr(holder, key, heard[id(value)])


def pytest_runtest_logstart(nodeid: str) -> None:
    """Know whose questions come."""
    global _file
    _file = nodeid.partition("::")[0]


def _heard(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    most = EACH_RULE if name.rpartition(".")[2] in ("bound", "check", "curve") else EACH

    @wraps(plain)
    def heard(*args: Any, **named: Any) -> Any:
        if named or _counts[name, _file] >= most or _tries[name, _file] >= TRIES:
            return plain(*args, **named)
        began = time.process_time()
        try:
            return plain(*args)
        finally:
            _tries[name, _file] += 1
            if time.process_time() - began < SLOWEST:
                _keep(name, args)

    return heard


def _keep(name: str, args: tuple[Any, ...]) -> None:
    global _inside
    if _inside:
        return
    _inside = True
    try:
        question = [ctx.prec, [written(each) for each in args]]
        text = json.dumps(question)
        # a part of all, so that a file gives more than its first ones
        drawn = sha256(text.encode()).digest()[0] < 96
        if drawn and SHORTEST <= len(text) <= LONGEST and text not in _asked.setdefault(name, {}):
            _asked[name][text] = question
            _counts[name, _file] += 1
    except (Unwritten, TypeError, ValueError, DpverifyError):
        return
    finally:
        _inside = False


def pytest_sessionfinish() -> None:
    """Add the new questions with their answers to the record."""
    global _inside
    _inside = True
    known = record()
    for name, questions in _asked.items():
        kept = known.setdefault(name, [])
        texts = {json.dumps(question) for question, _ in kept}
        for text, question in questions.items():
            began = time.process_time()
            try:
                said = answer(name, question)
                if text not in texts and time.process_time() - began < SLOWEST and answer(name, question) == said:
                    kept.append([question, said])
            except Exception:
                continue
    write({name: sorted(kept, key=lambda each: sha256(str(each[0]).encode()).digest())[:MOST] for name, kept in known.items() if kept})


if __name__ == "__main__":
    sys.exit(main())
