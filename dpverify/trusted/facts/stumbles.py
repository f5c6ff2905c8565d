"""Where a rule stopped that could not use its parameters: asked again, with a record of what it reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

_FORM: Final = "its parameters have not the form that dpverify writes."


class _Read(dict[str, Any]):
    """Parameters as a rule is given them. last: the one that it has read last."""

    last = ""

    def __getitem__(self, key: str) -> Any:
        self.last = key
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.last = key
        return super().get(key, default)


def where(ask: Callable[[Mapping[str, Any]], Any], parameters: Mapping[str, Any]) -> str:
    """What is wrong, as a reader of the certificate finds it."""
    read = _Read(parameters)
    with suppress(Exception):
        ask(read)
    if read.last not in read:
        return f"{read.last!r} is missing." if read.last else _FORM
    shown = json.dumps(read[read.last])
    return f"it had read {read.last!r} last, {shown if len(shown) <= 60 else shown[:57] + '...'}; {_FORM}"
