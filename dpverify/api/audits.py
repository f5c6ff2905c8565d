"""Audits in Python: audit, audit_training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, ParamSpec

from dpverify import audits
from dpverify.errors import FoundByAudit
from dpverify.runtime.finding import Finding
from dpverify.runtime.outside import printable, printable_lines

P = ParamSpec("P")


@dataclass(frozen=True, slots=True, repr=False)
class Audited(Finding):
    """What an audit found, which prints as on the command line and shows itself in a notebook as on the page of a report.

    It is neither true nor false: is_clean says whether nothing was found, which proves nothing, and raise_unless_clean() is for scripts.
    """

    def raise_unless_clean(self) -> Audited:
        """The finding itself where nothing was found. Raises FoundByAudit with it else."""
        if not self.is_clean:
            raise FoundByAudit(str(self))
        return self

    def to_dict(self) -> dict[str, Any]:
        """The entry that `dpverify audit --format json` has for the audit."""
        from dpverify.report import findings

        return findings.record(self)

    def __str__(self) -> str:
        return printable_lines(self.text())

    def __repr__(self) -> str:
        return printable(f"<{self.text().splitlines()[0]}>")

    def _repr_html_(self) -> str:
        from dpverify.report import notebook  # with what draws pictures: no audit needs it

        return notebook.of_finding(self)


def _shown(audit: Callable[P, Finding]) -> Callable[P, Audited]:
    """The same audit; what it finds shows itself in a notebook."""

    @wraps(audit)
    def shown(*given: P.args, **named: P.kwargs) -> Audited:
        finding = audit(*given, **named)
        return Audited(**{one.name: getattr(finding, one.name) for one in fields(Finding)})

    return shown


audit = _shown(audits.audit)
audit_training = _shown(audits.audit_training)
