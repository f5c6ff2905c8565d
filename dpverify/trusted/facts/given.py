"""Premises as a rule is given them: a rule rests on all that its line names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.fact import Fact


class Given(Sequence[Fact]):
    """The premises, with a record of those that have been looked at."""

    def __init__(self, premises: tuple[Fact, ...]) -> None:
        self._premises = premises
        self._unread = set(range(len(premises)))

    def __len__(self) -> int:
        return len(self._premises)

    @overload
    def __getitem__(self, number: int) -> Fact: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Fact, ...]: ...
    def __getitem__(self, number: int | slice) -> Fact | tuple[Fact, ...]:
        read = range(len(self))[number]
        self._unread.difference_update((read,) if isinstance(read, int) else read)
        return self._premises[number]

    def require_read(self, rule: str) -> None:
        """Raises CertificateError where some have not been looked at."""
        if self._unread:
            unread = len(self._unread)
            raise CertificateError(f"{rule}: it does not use {unread} of its {len(self)} premises; give it those alone that it rests on.")
