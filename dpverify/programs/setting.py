"""What is said of the data that a program is run on, and how claims and mechanisms say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpverify.programs.path import Shared


@dataclass(frozen=True)
class Setting:
    """What is said of the data. taken: names of parameters; own: those that are arguments of the program."""

    options: Mapping[str, Any]
    taken: frozenset[str]
    shared: Shared
    own: frozenset[str] = frozenset()
    plain: bool = False
    """Whether a stream stays one, where another kind says the same, or holds for it."""

    @property
    def neighbours(self) -> str:
        return str(self.options.get("neighbours", "all"))

    @property
    def length(self) -> Any:
        return self.options.get("answers")

    def many(self, least: int) -> tuple[Any, dict[str, Any]]:
        """How many answers there are, as said; else a parameter for it, n where that is free, and the domain that it is to be given."""
        if self.length is not None:
            return self.length, {}
        name = "n"
        while name in self.own:
            name += "_"
        return name, {} if name in self.taken else {"parameters": {name: f"integer >= {least}"}}

    def sensitivity(self, factor: Fraction | str = Fraction(1)) -> dict[str, Any]:
        """The key of a claim: the sensitivity, times a factor."""
        said = self.options.get("sensitivity")
        if said is None:
            return {} if factor == 1 or self.options.get("bounds") is not None else {"sensitivity": str(factor)}
        return {"sensitivity": said if factor == 1 else f"({factor})*({said})"}

    def together(self) -> dict[str, Any]:
        """The keys of a selection: how answers move together, and where they lie."""
        found = {key: self.options[key] for key in ("hull", "bounds") if key in self.options}
        return {**found, **({"neighbours": self.neighbours} if self.neighbours != "all" else {})}
