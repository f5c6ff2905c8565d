"""Names and tables in the words of claim files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dpverify.programs import linear as lin
from dpverify.programs.calls import WHOLE
from dpverify.programs.linear import Linear, Literal
from dpverify.programs.path import ANSWER, FRESH, INDEX, KEPT, LENGTH, ONCE, Shared
from dpverify.programs.values import Law
from dpverify.trusted.kernel.expr import FUNCTIONS


def table_of(law: Law) -> dict[str, Any]:
    """The table of noise."""
    if law[0][0] == "json":
        found: dict[str, Any] = json.loads(law[0][1])
        return found
    return dict(law)


def is_whole(law: Law) -> bool:
    """Whether noise is on the integers."""
    table = table_of(law)
    return table.get("name") in WHOLE or bool(table.get("integers"))


class Names:
    """Names for claim files, each once, and none that a parameter or a function has."""

    def __init__(self, taken: Iterable[str], arity: int) -> None:
        self.taken = {*taken, *FUNCTIONS, "pi"}
        self.given: dict[str, str] = {}
        self.arity = arity

    def of(self, inner: str) -> str:
        """The name for one of the program's."""
        if inner not in self.given:
            self.given[inner] = self._free(self._wish(inner))
        return self.given[inner]

    def _wish(self, inner: str) -> str:
        kind, _, rest = inner.partition(":")
        known = {ANSWER: "q" if self.arity == 1 else f"q{rest}", INDEX: "step", LENGTH: "n", ONCE: "w", FRESH: "z", KEPT: rest}
        return known.get(f"{kind}:", "x") or "x"

    def _free(self, wish: str) -> str:
        wish = wish if wish.isascii() and wish.isidentifier() else "x"
        count, name = 1, wish if wish[0] not in "wz" or len(wish) > 1 else f"{wish}1"
        while name in self.taken:
            count += 1
            name = f"{wish}{count}"
        self.taken.add(name)
        return name

    def put(self, number: Linear) -> Linear:
        """A number in these names."""
        return lin.put(number, {name: lin.name(self.of(name)) for name in number.names})

    def text(self, number: Linear) -> str:
        return self.put(number).text()

    def comparison(self, one: Literal) -> str:
        return Literal(self.put(one.left), one.strict).text()


def laws_of(shared: Shared, names: Names, used: Iterable[str], kind: str) -> dict[str, Any]:
    """Tables of the noises among some names."""
    return {names.of(name): table_of(shared.laws[name]) for name in sorted(used, key=_order) if name.startswith(kind)}


def _order(name: str) -> tuple[str, int]:
    kind, _, number = name.partition(":")
    return kind, int(number) if number.isdigit() else 0


def thawed(value: Any) -> Any:
    """Tables and lists as plain ones."""
    if isinstance(value, Mapping):
        return {key: thawed(each) for key, each in value.items()}
    return [thawed(each) for each in value] if isinstance(value, list | tuple) else value
