"""What the modules of the rules hold, for the type checker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from dpverify.trusted.facts.errors import ErrorBound
    from dpverify.trusted.kernel.bounds import Bound
    from dpverify.trusted.kernel.model import Claim


class Theorem(Protocol):
    """What every module about a theorem holds; its docstring states the theorem, which nothing below the line reads."""

    @property
    def NAME(self) -> str: ...
    @property
    def ASSUMED(self) -> tuple[str, ...]: ...


class Rule(Theorem, Protocol):
    """A theorem that a line of a certificate may name."""

    def check(self, claim: Claim, evidence: Mapping[str, Any]) -> Bound | tuple[Bound | ErrorBound, ...]:
        """The bounds that the rule proves for this claim from this evidence. Raises Rejected or Undecided."""
        ...
