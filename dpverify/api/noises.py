"""Noise for programs that are run: a method for each law, drawn one by one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpverify.catalogue import inline
from dpverify.catalogue.declarations import FUNCTIONS
from dpverify.errors import SpecError
from dpverify.programs.calls import ARGUMENTS, WHOLE
from dpverify.samplers import mechanisms


class Noises:
    """A source of noise: noise.laplace(scale), noise.gaussian(sigma), and the other builtins on one number; noise.of(declaration);
    noise.coin(p) and noise.below(k), whose values are drawn exactly.

    What it is given may be a float: that is taken as the decimal that Python writes for it. Each draw is an int for noise on the integers,
    drawn exactly, and a float else.
    """

    def __init__(self, seed: Any = None) -> None:
        self.generator = np.random.default_rng(seed)
        """What it draws from."""
        self._samplers: dict[Any, mechanisms.Sampler] = {}
        self.on_integers = True
        """Whether noise on the integers may be drawn, which hides integers alone."""

    def __getattr__(self, name: str) -> Any:
        if name not in ARGUMENTS:
            raise AttributeError(f"noise has no {name}. There are {', '.join(ARGUMENTS)}, and noise.of(declaration).")

        def drawn(*values: Any, **named: Any) -> Any:
            given = {**dict(zip(ARGUMENTS[name], values, strict=False)), **named}
            if len(values) > len(ARGUMENTS[name]):
                raise SpecError(f"noise.{name} takes {', '.join(ARGUMENTS[name])}.")
            exact = {key: _exact(value) for key, value in given.items()}
            if name in WHOLE and not self.on_integers:
                raise SpecError(f"noise.{name} is noise on the integers, and the answers are none. Use other noise, or round the answers.")
            return self._drawn((name, *sorted(exact.items())), lambda: FUNCTIONS[name](**exact), name in WHOLE)

        return drawn

    def coin(self, p: Any) -> bool:
        """True with probability p, a fraction or the decimal that is written, exactly."""
        chance = Fraction(_exact(p))
        if not 0 <= chance <= 1:
            raise SpecError(f"noise.coin takes a probability from 0 to 1, not {p}.")
        return self.below(chance.denominator) < chance.numerator

    def below(self, k: Any) -> int:
        """One of 0, 1, ..., k - 1, each as likely as another."""
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise SpecError(f"noise.below takes a positive integer, not {k!r:.40}.")
        count = int(k)
        size = (count.bit_length() + 7) // 8
        most = 256**size - 256**size % count
        while (drawn := int.from_bytes(self.generator.bytes(size), "big")) >= most:
            pass
        return drawn % count

    def of(self, declaration: Any) -> Any:
        """A draw of noise that is declared."""
        return self._drawn(id(declaration), lambda: declaration, False)

    def _drawn(self, key: Any, declared: Any, whole: bool) -> Any:
        if key not in self._samplers:
            made = declared()
            self._samplers[key] = mechanisms.of_claim(inline.unclaimed(made), None, None)
            self._samplers[key, "kept"] = made
        value = self._samplers[key]([0], 1, self.generator).tolist()[0]
        return int(value) if whole else value


def _exact(value: Any) -> str:
    """A number as text: of a float, and of what numpy makes of it, the decimal that Python writes."""
    if isinstance(value, np.generic):
        value = value.item()
    return str(Fraction(str(value))) if isinstance(value, float) else str(value)
