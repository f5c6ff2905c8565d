"""Where what is declared, and what is proved, comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """Where a statement comes from: a text of the field and the place in it."""

    text: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.text}, {self.place}" if self.place else self.text
