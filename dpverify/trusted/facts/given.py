"""Premises as a rule is given them: a rule rests on all that its line names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpverify.trusted.kernel.errors import certify
from dpverify.trusted.kernel.fact import Fact


class Given(Sequence[Fact]):
    """The premises, with a record of those that have been looked at."""

    def __init__(self, premises: tuple[Fact, ...]) -> None:
        self._premises = premises
        self._unread = set(range(len(premises)))

    def __len__(self) -> int:
        return len(self._premises)

    def __getitem__(self, number: Any) -> Any:
        read = range(len(self))[number]
        self._unread.difference_update((read,) if isinstance(read, int) else read)
        return self._premises[number]

    def require_read(self, rule: str) -> None:
        """Raises CertificateError where some have not been looked at."""
        why = f"{rule}: it does not use {len(self._unread)} of its {len(self)} premises; give it those alone that it rests on."
        certify(not self._unread, why)
