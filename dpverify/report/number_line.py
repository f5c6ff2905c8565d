"""A number line as inline SVG: one interval beside zero. Where two numbers are nearly equal, their difference is what can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Final

from dpverify.report.axes import Axis, Scale, short, span, ticks
from dpverify.report.labels import LINE, SIZE, Label, text_width, wrap
from dpverify.report.strokes import tenths
from dpverify.report.svg import COLOURS, WIDTH

_EDGE: Final = 12.0
_LINE: Final = 46.0


@dataclass(frozen=True, slots=True)
class NumberLine:
    """An interval beside zero. title: its name; description: what it shows, in words; zero, found: what the two are; unit: of the axis."""

    title: str
    description: str
    zero: str
    found: str
    low: float
    high: float
    unit: str

    def svg(self, prefix: str) -> str:
        """The `svg` element. prefix: makes its ids unique in a page, letters, digits and hyphens."""
        start, stop = span(Axis(self.unit), [0.0, self.low, self.high], margin=0.15)
        at = Scale(start, stop, _EDGE, WIDTH - _EDGE)
        labels = [*self._ticks(at), *self._names(at)]
        below = _LINE + 2 * LINE + 6
        labels += [Label(text, (WIDTH / 2, below + LINE * i), "middle") for i, text in enumerate(wrap(self.unit, WIDTH - 4))]
        height = max(label.frame.bottom for label in labels) + 2
        marks = "".join(f"M{_at(at(value))} {_at(_LINE)}v5" for value, _ in self._values(at))
        left, right = at(self.low), max(at(self.high), at(self.low) + 2)
        title, description = (escape(text, quote=False) for text in (self.title, self.description))
        lines = f"fill:none;stroke:{COLOURS['accent']};stroke-width:1.6px;stroke-dasharray:7 3"
        box = f"fill:{COLOURS['fill']};stroke:{COLOURS['warn']}"
        return (
            f'<svg role="img" aria-labelledby="{prefix}-t {prefix}-d" viewBox="0 0 {_at(WIDTH)} {_at(height)}" '
            f'style="font:{_at(SIZE)}px system-ui,sans-serif;fill:{COLOURS["ink"]}">'
            f'<title id="{prefix}-t">{title}</title><desc id="{prefix}-d">{description}</desc>'
            f'<path d="M{_at(_EDGE)} {_at(_LINE)}H{_at(WIDTH - _EDGE)}{marks}" style="fill:none;stroke:{COLOURS["ink"]}"/>'
            f'<path d="M{_at(at(0.0))} {_at(_LINE + 6)}v-18" style="{lines}"/>'
            f'<path d="M{_at(left)} {_at(_LINE - 10)}H{_at(right)}v10H{_at(left)}z" style="{box}"/>'
            f"{''.join(label.markup() for label in labels)}</svg>"
        )

    def _values(self, at: Scale) -> list[tuple[float, str]]:
        """As many values as stand beside each other."""
        for most in (5, 4, 3, 2):
            marks = [(value, short(value)) for value in ticks(at.low, at.high, most)]
            ends = [(at(value) - text_width(text) / 2, at(value) + text_width(text) / 2) for value, text in marks]
            if all(a[1] + 6 <= b[0] for a, b in pairwise(ends)):
                return marks
        return marks[:1]

    def _ticks(self, at: Scale) -> list[Label]:
        return [_inside(text, at(value), _LINE + 6 + SIZE) for value, text in self._values(at)]

    def _names(self, at: Scale) -> list[Label]:
        """The names of zero and of the interval, one above the other where they do not stand side by side."""
        zero, bound = _inside(self.zero, at(0.0), _LINE - 20), _inside(self.found, at((self.low + self.high) / 2), _LINE - 20)
        if zero.frame.grown(4).meets(bound.frame):
            zero = Label(zero.text, (zero.at[0], zero.at[1] - LINE), zero.anchor)
        return [zero, bound]


def _inside(text: str, middle: float, height: float) -> Label:
    """A text about a place, moved so that it stays in the picture."""
    half = text_width(text) / 2
    return Label(text, (min(max(middle, half + 1), WIDTH - half - 1), height), "middle")


def _at(value: float) -> str:
    return tenths(round(10 * value))
