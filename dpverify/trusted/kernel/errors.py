"""What the core raises on purpose; the whole tree is in `dpverify.errors`."""

from __future__ import annotations

from typing import Final


class DpverifyError(Exception):
    """Root of everything that dpverify raises on purpose."""


class ExprError(DpverifyError):
    """An expression that cannot be read, or that has no value where one is needed."""


class CertificateError(DpverifyError):
    """A certificate that the kernel cannot take for what it says it is."""


class Rejected(DpverifyError):
    """A rule's refusal of its evidence.

    rule: the rule's name; where: the cell, column or entry; why: what failed and what would help.
    """

    def __init__(self, rule: str, where: object, why: str) -> None:
        self.rule, self.where, self.why = rule, where, why
        super().__init__(f"{rule}: at {where}: {why}")


class Undecided(DpverifyError):
    """An enclosure too wide, or a form outside what is covered, to answer with certainty."""


STUMBLES: Final = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What is raised over data that has not the form that is expected."""


def certify(holds: bool, otherwise: str) -> None:
    """Raises CertificateError unless something holds."""
    require(holds, CertificateError(otherwise))


def require(holds: bool, otherwise: DpverifyError) -> None:
    """Raises an error unless something holds."""
    if not holds:
        raise otherwise
