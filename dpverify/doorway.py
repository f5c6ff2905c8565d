"""What `import dpverify` offers, on top of all floors: nothing in the package imports it.

An answer and a finding show themselves in a notebook by the blocks of the report's page. The classes below the report know nothing of
pages; those that are given to people are made here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from dpverify import audits
from dpverify.catalogue import Spec
from dpverify.catalogue import read_spec as read_spec
from dpverify.catalogue.declarations import CONSTRUCTORS, Declared
from dpverify.catalogue.declarations import Mechanism as Declaration
from dpverify.ground.finding import Finding
from dpverify.ground.outside import read_regular
from dpverify.project import designer
from dpverify.report import designs, notebook
from dpverify.samplers import mechanisms
from dpverify.samplers.grids import grid
from dpverify.search import optimum as optima
from dpverify.search import verify as judging
from dpverify.trusted.kernel import Judgement
from dpverify.trusted.language.certificate import MAX_BYTES, decode
from dpverify.trusted.language.model import Claim, Mechanism, Table

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Answer(judging.Verified):
    """A judgement with its proof, which a notebook shows as the page of a report does."""

    def _repr_html_(self) -> str:
        return notebook.of_answer(self)


@dataclass(frozen=True, slots=True)
class Audited(Finding):
    """What an audit found, which a notebook shows as the page of a report does."""

    def _repr_html_(self) -> str:
        return notebook.of_finding(self)


def verify(claim: Claim, digits: int = 20) -> Answer:
    """Prove or refute a claim, with its tight epsilon enclosed to `digits` digits where a rule reaches it."""
    return _answer(judging.verify(claim, digits))


def check(certificate: Mapping[str, Any] | str | Path) -> Answer:
    """What the kernel says of a certificate: its JSON value, or the file that holds it. Nothing is searched.

    Raises OSError for a file that cannot be read, CertificateError for what is no certificate or says another verdict than its lines give,
    Rejected for a line that is refused.
    """
    data = certificate if isinstance(certificate, Mapping) else decode(read_regular(Path(certificate), MAX_BYTES + 1))
    return _answer(judging.replayed(data))


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


@dataclass(frozen=True)
class Designed(designer.Design):
    """Mechanisms for a query, which shows itself as the command line does."""

    def __str__(self) -> str:
        return "\n".join(designs.lines(self))


Entry = int | str | Fraction | Decimal


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


def sampler(of: Claim | Mechanism | Declaration | Declared, *, snap: int | str | Fraction | None = None) -> mechanisms.Sampler:
    """A sampler of a claim's mechanism, or of a mechanism: sampler(data, size, rng) gives `size` independent outputs on the data.

    of: a claim, as `read_spec` gives it; a mechanism, as a claim holds one or `dpverify.declare` makes one. snap: a power of two, to whose
    multiples noisy answers of real numbers are rounded, so that their last bits tell nothing of the true answer; `told` of the sampler
    says how outputs are drawn and how exactly. rng: numpy's Generator. Data: the true answer, a number or a list of numbers.
    Raises NoSampler for a mechanism without a law of its own, saying why, and DataError for what is no power of two.
    """
    rounding = None if snap is None else grid(snap)
    if isinstance(of, Claim):
        return mechanisms.of_claim(of, rounding)
    if isinstance(of, Declared):
        of = Declaration(of.constructor.name, of)
    if isinstance(of, Declaration):
        return mechanisms.of_claim(Claim(of.model(), None, domains=tuple(sorted(of.domains().items()))), rounding)
    return mechanisms.sampler(of, rounding)


def _answer(verified: judging.Verified) -> Answer:
    return Answer(**{one.name: getattr(verified, one.name) for one in fields(judging.Verified)})


def _shown(audit: Callable[P, Finding]) -> Callable[P, Audited]:
    """The same audit; what it finds shows itself in a notebook."""

    @wraps(audit)
    def shown(*given: P.args, **named: P.kwargs) -> Audited:
        finding = audit(*given, **named)
        return Audited(**{one.name: getattr(finding, one.name) for one in fields(Finding)})

    return shown


audit = _shown(audits.audit)
