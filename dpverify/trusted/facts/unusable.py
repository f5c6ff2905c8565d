"""Where a rule stopped that could not use its parameters: asked again, with a record of what it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from dpverify.trusted.kernel.errors import CertificateError


class Unusable(CertificateError):
    """Parameters that a rule cannot use. key: of the one that it had read last, "" for none; missing: whether it is not there."""

    key: str = ""
    value: Any = None
    missing: bool = False


class _Read(dict[str, Any]):
    """Parameters as a rule is given them. last: the one that it has read last."""

    last = ""

    def __getitem__(self, key: str) -> Any:
        self.last = key
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.last = key
        return super().get(key, default)


def unusable(name: str, ask: Callable[[Mapping[str, Any]], Any], parameters: Mapping[str, Any]) -> Unusable:
    """What a rule stumbled over."""
    read = _Read(parameters)
    with suppress(Exception):
        ask(read)
    found = Unusable(f"{name}: what it is given cannot be used.")
    found.key, found.value, found.missing = read.last, parameters.get(read.last), read.last not in parameters
    return found
