"""Words in charts: how wide they are, where they break, and where they stand without touching each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from dpverify.report.strokes import Frame, Point, tenths

SIZE: Final = 12.0
"""Height of letters in pixels of the view box."""
LINE: Final = 15.0
"""From one line of text to the next."""
CLEAR: Final = 1.5
"""What is left free between a text and what it names."""
APART: Final = 6.0
"""What is left free between a text and what it does not name."""
_NARROW: Final = frozenset("iljtfrI.,:;|!'()[] ⁰¹²³⁴⁵⁶⁷⁸⁹⁻·")
_WIDE: Final = frozenset("mwMW@%∞→≥≤—…")


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text. at: the left, middle or right end of its base line, as anchor says: start, middle, end."""

    text: str
    at: Point
    anchor: str = "start"

    @property
    def frame(self) -> Frame:
        """The rectangle that it takes at most, in the widest of the usual fonts."""
        width = text_width(self.text)
        left = self.at[0] - {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor] * width
        return Frame(left, self.at[1] - 0.8 * SIZE, left + width, self.at[1] + 0.25 * SIZE)

    def markup(self) -> str:
        """The `text` element."""
        anchor = "" if self.anchor == "start" else f' text-anchor="{self.anchor}"'
        x, y = (tenths(round(10 * value)) for value in self.at)
        return f'<text x="{x}" y="{y}"{anchor}>{escape(self.text, quote=False)}</text>'


def text_width(text: str) -> float:
    """How wide a text is at most, in pixels."""
    return sum(0.42 if c in _NARROW else 0.98 if c in _WIDE else 0.76 if c.isupper() else 0.64 for c in text) * SIZE


def wrap(text: str, room: float) -> list[str]:
    """A text in lines no wider than `room`, broken at spaces, and inside words only where there is no other way."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}") <= room:
            lines[-1] += f" {word}"
            continue
        lines.append("")
        for letter in word:
            if lines[-1] and text_width(lines[-1] + letter) > room:
                lines.append("")
            lines[-1] += letter
    return lines


def place(
    candidates: Iterable[Label], inside: Frame, taken: Sequence[Frame], own: Sequence[Point], others: Sequence[Point]
) -> Label | None:
    """The first candidate that stays inside, touches no other text, covers nothing drawn, and is near to nothing but its own.

    own, others: points of what the label names, and of all else. None where no candidate will do.
    """
    for label in candidates:
        frame = label.frame
        if frame.within(inside) and not any(frame.meets(other) for other in taken):
            close, near = frame.grown(CLEAR), frame.grown(APART)
            if not any(map(close.holds, own)) and not any(map(near.holds, others)):
                return label
    return None
