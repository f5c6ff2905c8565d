"""What `import dpverify` offers, on top of all floors: nothing in the package imports it.

An answer and a finding show themselves in a notebook by the blocks of the report's page. The classes below the report know nothing of
pages; those that are given to people are made here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, Final, ParamSpec, overload

from dpverify import audits
from dpverify.catalogue import Spec, Stated, resolve
from dpverify.catalogue import read_spec as read_spec
from dpverify.catalogue.declarations import CONSTRUCTORS, FUNCTIONS, Declared
from dpverify.catalogue.inline import OF_A_CLAIM, Noise, stated
from dpverify.errors import SpecError
from dpverify.ground.finding import Finding
from dpverify.ground.outside import read_regular
from dpverify.project import calibration, designer
from dpverify.report import designs, notebook
from dpverify.report.answers import Answer as Answer
from dpverify.report.answers import Enclosure as Enclosure
from dpverify.report.answers import answer
from dpverify.search import optimum as optima
from dpverify.search import verify as judging
from dpverify.trusted.kernel import Judgement
from dpverify.trusted.language.certificate import MAX_BYTES, decode
from dpverify.trusted.language.model import Claim, Table

P = ParamSpec("P")
KINDS: Final = FUNCTIONS
"""A function for every kind of mechanism and for every builtin, by its name."""
Entry = int | str | Fraction | Decimal
"""A number that is exact; sympy's exact numbers will do too."""


@dataclass(frozen=True, slots=True)
class Audited(Finding):
    """What an audit found, which a notebook shows as the page of a report does."""

    def _repr_html_(self) -> str:
        return notebook.of_finding(self)


# -- verify ------------------------------------------------------------------------------------------------------


@overload
def verify(what: Noise | Claim | Stated, digits: int = 20, **claim: Any) -> Answer: ...
@overload
def verify(what: str | Path, digits: int = 20) -> list[Answer]: ...
def verify(
    what: Noise | Claim | Stated | str | Path, digits: int = 20, *, sensitivity: Any = None, query: Any = None,
    adjacency: str | None = None, epsilon: Any = None, delta: Any = None, **more: Any,
) -> Answer | list[Answer]:  # fmt: skip
    """Prove or refute a claim, with its tight epsilon enclosed to `digits` digits where a rule reaches it.

    what: a mechanism, as dpverify.gaussian and its like declare one, with the claim beside it; or a claim file, a folder of such or a name
    on the shelf, whose claims are all judged: the answer is a list then. sensitivity: by how much neighbours move the true answer, in the
    mechanism's norm; query and adjacency: linear queries on a histogram, one a row, in its place. epsilon, delta: what is claimed, delta 0
    where it is left out; either may be "tight". more: whatever else a [[claim]] of a claim file may say, such as utility=True.
    Numbers are int, Fraction, Decimal, texts such as "1.775" or "log(3)", or exact ones of sympy.
    Raises SpecError listing all that is wrong with what is stated.
    """
    claim = {"sensitivity": sensitivity, "query": query, "adjacency": adjacency, "epsilon": epsilon, "delta": delta, **more}
    if isinstance(what, Claim | Stated | str | Path):
        if given := [key for key, value in claim.items() if value is not None]:
            raise SpecError(f"verify: {', '.join(given)}: a claim that is read from a file says this itself. Leave it out.")
        if isinstance(what, str | Path):
            return [_judged(one, digits, spec.file) for spec in map(read_spec, resolve(str(what))) for one in spec.claims]
        return _judged(what if isinstance(what, Stated) else Stated(what), digits)
    return _judged(stated(what, claim), digits)


def _judged(asked: Stated, digits: int, file: str = "") -> Answer:
    started = time.perf_counter()
    verified = judging.verify(asked.claim, digits)
    seconds = time.perf_counter() - started
    return answer(verified, file=file, expected=asked.expect, line=asked.line, digits=digits, seconds=seconds)


def tight_epsilon(noise: Noise, *, sensitivity: Any = None, delta: Any = 0, digits: int = 20, **claim: Any) -> Enclosure:
    """The least epsilon for which the mechanism is (epsilon, delta)-private, between proved bounds of `digits` digits.

    The arguments are those of dpverify.verify. A bound that no rule reaches is None; dpverify.verify says why.
    """
    return verify(noise, digits, sensitivity=sensitivity, epsilon="tight", delta=delta, **claim).epsilon


def tight_delta(noise: Noise, *, sensitivity: Any = None, epsilon: Any, digits: int = 20, **claim: Any) -> Enclosure:
    """The least delta for which the mechanism is (epsilon, delta)-private, between proved bounds of `digits` digits.

    The arguments are those of dpverify.verify. A bound that no rule reaches is None; dpverify.verify says why.
    """
    return verify(noise, digits, sensitivity=sensitivity, epsilon=epsilon, delta="tight", **claim).delta


def check(certificate: Mapping[str, Any] | str | Path) -> Answer:
    """What the kernel says of a certificate: its JSON value, or the file that holds it. Nothing is searched.

    Raises OSError for a file that cannot be read, CertificateError for what is no certificate or says another verdict than its lines give,
    Rejected for a line that is refused.
    """
    started = time.perf_counter()
    data = certificate if isinstance(certificate, Mapping) else decode(read_regular(Path(certificate), MAX_BYTES + 1))
    verified = judging.replayed(data)
    return answer(verified, expected=verified.judgement.verdict, seconds=time.perf_counter() - started)


# -- calibrate ---------------------------------------------------------------------------------------------------


def calibrate(noise: Callable[..., Declared] | Noise, parameter: str | None = None, *, digits: int = 6, **given: Any) -> Decimal:
    """The value of a parameter at which a claim just holds, to so many significant digits; certified on both sides.

    noise, parameter: a function of a kind and the argument that is looked for, such as dpverify.gaussian, "sigma"; or a mechanism in which
    the word "least" or "greatest" stands in the place of the number. given: the claim, as dpverify.verify has it, and all other arguments
    of the function. It is the least value where the claim holds above it, rounded up, and the greatest where it holds below it, rounded
    down: there the claim is proved, and one unit in the last digit further it is not. dpverify.calibrated gives both answers too.
    Raises SpecError for what is wrong with the claim, CalibrationError where there is no such value.
    """
    return calibrated(noise, parameter, digits=digits, **given).value


def calibrated(noise: Callable[..., Declared] | Noise, parameter: str | None = None, *, digits: int = 6, **given: Any) -> Calibrated:
    """The same with what is known of the value and of the one beside it: their answers, with certificates. See dpverify.calibrate."""
    claim = {key: value for key, value in given.items() if key in OF_A_CLAIM}
    if parameter is not None and callable(noise):
        others = {key: value for key, value in given.items() if key not in claim}
        noise = noise(**{**others, parameter: calibration.LEAST})
    elif parameter is not None or callable(noise):
        raise SpecError(
            "calibrate: name a function of a kind and the parameter that is looked for, as in calibrate(dpverify.gaussian, "
            '"sigma", ...), or give a mechanism with "least" in the place of a number.'
        )
    else:
        claim = given
    found = calibration.of_noise(noise, claim, digits)
    here, beside = (tuple(answer(one, digits=calibration.DIGITS) for one in ones) for ones in (found.here, found.beside))
    return Calibrated(found.value, found.word, here, found.next, beside, tuple(found.lines()))


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A value at which a claim just holds.

    value: the value. word: "least" or "greatest". answers: of the claim there. beside: the value one unit in the last digit further;
    answers_beside: of the claim there. lines: all this in sentences, which printing it shows.
    """

    value: Decimal
    word: str
    answers: tuple[Answer, ...]
    beside: Decimal
    answers_beside: tuple[Answer, ...]
    lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self.lines)


# -- audit -------------------------------------------------------------------------------------------------------


def _shown(audit: Callable[P, Finding]) -> Callable[P, Audited]:
    """The same audit; what it finds shows itself in a notebook."""

    @wraps(audit)
    def shown(*given: P.args, **named: P.kwargs) -> Audited:
        finding = audit(*given, **named)
        return Audited(**{one.name: getattr(finding, one.name) for one in fields(Finding)})

    return shown


audit = _shown(audits.audit)


# -- the least error ---------------------------------------------------------------------------------------------


class Optimum(optima.Optimum):
    """A private mechanism with its error, and a bound that no other is below; with its declaration."""

    @property
    def declaration(self) -> Declared:
        """The mechanism as the constructors of `dpverify.declare` make one: a table that is private for the nearest neighbours."""
        table = self.claims[0].mechanism
        assert isinstance(table, Table)
        rows = [[str(entry) for entry in row] for row in self.rows]
        found: Declared = CONSTRUCTORS["Table"](rows, adjacent="all" if table.adjacent is None else [list(pair) for pair in table.adjacent])
        return found


def _declared(find: Callable[P, optima.Optimum]) -> Callable[P, Optimum]:
    """The same search; what it finds has a declaration."""

    @wraps(find)
    def declared(*given: P.args, **named: P.kwargs) -> Optimum:
        found = find(*given, **named)
        return Optimum(**{one.name: getattr(found, one.name) for one in fields(optima.Optimum)})

    return declared


optimum = _declared(optima.optimum)


# -- mechanisms for a query --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Designed(designer.Design):
    """Mechanisms for a query, which shows itself as the command line does."""

    def __str__(self) -> str:
        return "\n".join(designs.lines(self))


def design(
    query: Sequence[Sequence[Entry]] | None = None, *, workload: Mapping[str, Any] | None = None, adjacency: str, epsilon: Entry,
    delta: Entry = 0, output: str | Path | None = None, digits: int = 20,
) -> Designed:  # fmt: skip
    """Mechanisms for a query, or a workload by name, in the order of their certified errors; what `dpverify design` tells.

    query: a row for each linear query, a column for each kind of record. workload: in its place a table as files have it, such as
    {"kind": "prefix", "length": 8}. adjacency: "add-remove", "replace", "l1" or "l2". output: a folder for the claim files. Numbers are
    integers, fractions, decimals, or expressions as texts. Raises SpecError listing all that is wrong with what is asked.
    """
    asked = {"query": query, "workload": workload, "adjacency": adjacency, "epsilon": epsilon, "delta": delta}
    given = {key: _as_in_files(value) for key, value in asked.items() if value is not None}

    def judge(specs: Sequence[Spec]) -> list[Judgement | None]:
        return [judging.verify(spec.claims[0].claim, digits).judgement for spec in specs]

    found = designer.design(designer.question_of("design", {"design": given}), judge)
    if output is not None:
        found = designer.written(found, Path(output))
    return Designed(**{one.name: getattr(found, one.name) for one in fields(designer.Design)})


def _as_in_files(value: Any) -> Any:
    if isinstance(value, Fraction | Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _as_in_files(inside) for key, inside in value.items()}
    return [_as_in_files(inside) for inside in value] if isinstance(value, Sequence) and not isinstance(value, str) else value
