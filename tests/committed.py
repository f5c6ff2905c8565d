"""The committed certificates by their names: the one place where tests read them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from dpverify.evidence.collected import SINGLE, by_name, read

FOLDER = Path(__file__).parents[1] / "reports" / "certificates"
DEAR = (
    "compose_exponential", "compose_kernels", "delta_above_threshold_at_most", "delta_above_threshold_gaussian",
    "delta_above_threshold_mixed", "delta_gaussian_mixture", "delta_several_modes", "delta_zero_inside", "exponential_any_scores_zcdp",
    "least_error_parities", "least_error_prefix_sums", "nested_sampling", "noisy_max_two_cauchy", "noisy_votes_of_three_answers",
    "permute_and_flip_zcdp", "pipeline", "process_sequences", "shuffle_answers", "smooth_fourth_power", "stream_heavy_tails",
    "stream_range_between_bounds", "stream_range_gaussian", "threshold_of_words",
)  # fmt: skip
"""Mechanisms whose certificates take a second or more to be judged, or to be changed and judged."""
DEAREST = (
    "delta_zero_inside", "least_error_prefix_sums", "noisy_max_two_cauchy", "shuffle_answers", "shuffle_response", "smooth_gaussian",
)  # fmt: skip
"""Mechanisms whose certificates take seconds to be changed and judged; each of their rules has a table of refusals of its own."""


@cache
def _places() -> dict[str, Path]:
    return by_name(FOLDER)


@cache
def text(name: str) -> bytes:
    """The text of a certificate, as the file of its own that it would be."""
    return read(_places()[name])


def names() -> list[str]:
    """The names of all committed certificates, such as "laplace.sensitivity-1-exact", in order."""
    return list(_places())


def certificate(name: str) -> Any:
    """The JSON value of a certificate, to be changed at will."""
    return json.loads(text(name))


def certificates() -> dict[str, Any]:
    """All of them by their names."""
    return {name: certificate(name) for name in names()}


def saved(name: str, folder: Path) -> Path:
    """The file of its own that a certificate is, in a folder."""
    file = folder / f"{name}{SINGLE}"
    file.write_bytes(text(name))
    return file


def place(name: str) -> Path:
    """Where a certificate is, as `dpverify check` takes it."""
    return _places()[name]


def is_dear(name: str) -> bool:
    """Whether a certificate is one of those that cost most."""
    return name.partition(".")[0] in DEAR
