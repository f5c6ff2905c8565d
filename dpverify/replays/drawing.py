"""A pipeline run with its noise drawn, for testers that sample outputs."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpverify.catalogue.mechanisms import read_mechanism
from dpverify.replays.calls import Call
from dpverify.replays.noise import Noise, Session
from dpverify.replays.owned import patched_for_real
from dpverify.replays.search import takes_noise
from dpverify.samplers import mechanisms


def sampler(
    pipeline: Callable[..., Any], config: Mapping[str, Any], sensitivity: Any, opened: Callable[[Any], Any] = copy.deepcopy
) -> Callable[[Any, Any], Any]:
    """A function of data and a generator of numpy that runs a pipeline with its noise drawn. opened: the data as the pipeline takes it."""

    def drawn(data: Any, rng: Any) -> Any:
        session = Session(_Drawing(rng).choose, None, sensitivity)
        extra = {"noise": Noise(session)} if takes_noise(pipeline) else {}
        with patched_for_real(int(rng.integers(2**31))):
            return pipeline(opened(data), **copy.deepcopy(dict(config)), **extra)

    return drawn


class _Drawing:
    """Draws what a call gives."""

    def __init__(self, rng: Any) -> None:
        self.rng, self.thresholds = rng, dict[int, float]()

    def choose(self, kind: str, value: Any, call: Call) -> Any:
        if kind in ("number", "integer"):
            return value + self.noise(call.mechanism)
        if kind == "truth":
            at = call.at
            if at not in self.thresholds:
                self.thresholds[at] = self.number(call.mechanism["threshold"]) + self.noise(call.mechanism["threshold_noise"])
            return value + self.noise(call.mechanism["query_noise"]) >= self.thresholds[at]
        if kind == "keys":
            counts, threshold = value
            noisy = {key: count + self.noise(call.mechanism["noise"]) for key, count in sorted(counts.items(), key=repr)}
            return {key: count for key, count in noisy.items() if count >= threshold}
        gumbel = {"kind": "builtin", "name": "gumbel", "scale": "1"}
        beta = self.number(call.mechanism["beta"]) if "beta" in call.mechanism else 1.0
        scores = [beta * float(score) + self.noise(call.mechanism.get("noise", gumbel)) for score in call.values]
        return max(range(len(scores)), key=scores.__getitem__)

    def number(self, text: Any) -> float:
        """A parameter as a float."""
        return float(Fraction(text))

    def noise(self, table: Mapping[str, Any]) -> Any:
        """One draw of additive noise."""
        return _law(json.dumps(dict(table), sort_keys=True))(0, 1, self.rng)[0].item()


@lru_cache(maxsize=64)
def _law(table: str) -> mechanisms.Sampler:
    read = json.loads(table)
    return mechanisms.of_claim(read_mechanism("noise", read))
