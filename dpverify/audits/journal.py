"""What has been sampled so far, so that a run that was stopped goes on where it was, block for block the same.

Blocks are written down as they are merged. In the long last stretch, where nothing but sums matters any more, blocks of which nothing was
noted are *quiet*: they are one entry that grows, and are added up again without a second look, for a look at sums sees other things than
looks at each block.
"""

from __future__ import annotations

import base64
import io
import json
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from dpverify.audits.engine import BlockResult, Checkpoint
from dpverify.audits.outputs import Exact, Outputs

SECONDS_BETWEEN_SAVES: Final = 10.0


@dataclass(frozen=True, slots=True)
class Entry:
    """Blocks `first` to `first + blocks - 1`, merged into one result. quiet: nothing was noted when they were merged into the run."""

    first: int
    blocks: int
    result: BlockResult
    quiet: bool

    def followed_by(self, result: BlockResult) -> Entry:
        """This entry with the next block added to its sums."""
        mine = self.result
        counts = tuple(a + b for a, b in zip(mine.counts, result.counts, strict=True))
        statistics = tuple(a if b is None else a + b for a, b in zip(mine.statistics, result.statistics, strict=True))
        merged = BlockResult(mine.index, mine.size + result.size, counts, statistics, None, mine.seconds + result.seconds)
        return Entry(self.first, self.blocks + 1, merged, self.quiet)


def seed_of(path: Path) -> int | None:
    """The seed of the run that left a checkpoint, so that it goes on without being told; None where there is none to be read."""
    if not path.is_file():
        return None
    try:
        seed = json.loads(path.read_bytes())["state"]["seed"]
    except (OSError, ValueError, TypeError, KeyError):
        return None  # whoever loads the checkpoint will say what is wrong with it
    return seed if isinstance(seed, int) else None


class Journal:
    """The merged blocks of a run of this seed, kept in a checkpoint file if there is one.

    A run that was extended has stages, which are runs by themselves, by how many samples a side there are at the end of each.
    """

    def __init__(self, checkpoint: Checkpoint | None = None, seed: int = 0) -> None:
        self.checkpoint, self.seed = checkpoint, seed
        saved = checkpoint.load() if checkpoint else None
        stages = [[saved.get("samples", 0), saved["blocks"]], *saved.get("more", [])] if saved else []
        self._stages = {int(samples): [_decoded(entry) for entry in blocks] for samples, blocks in stages}
        self.stage(next(iter(self._stages), 0))

    @property
    def totals(self) -> list[int]:
        """How many samples a side there are, or are to be, at the end of each stage that was begun."""
        return [samples for samples in self._stages if samples]

    def stage(self, samples: int) -> None:
        """Go to the stage that ends with so many samples; a new one comes after all others."""
        if not self._stages.get(0, [None]):
            del self._stages[0]  # of a journal that was just begun
        self.entries = self._stages.setdefault(samples, [])
        self._replayed = {entry.first: entry for entry in self.entries}
        self._saved = time.monotonic()

    def replay(self, index: int) -> Entry | None:
        """What is known already of the blocks from `index` on."""
        return self._replayed.get(index)

    def record(self, result: BlockResult, *, quiet: bool) -> None:
        """Write a merged block down. quiet: only its sums matter, so it may join a quiet entry before it."""
        if self.checkpoint is None:
            return
        last = self.entries[-1] if self.entries else None
        if quiet and last is not None and last.quiet and last.first + last.blocks == result.index:
            self.entries[-1] = last.followed_by(result)
        else:
            self.entries.append(Entry(result.index, 1, result, quiet))
        if time.monotonic() - self._saved > SECONDS_BETWEEN_SAVES:
            self.save()

    def follow(self, run: Any) -> None:
        """Told once of the run whose blocks these are."""

    def save(self) -> None:
        """Put the file in its place as it is now."""
        if self.checkpoint is not None:
            (samples, blocks), *more = ((samples, list(map(_encoded, entries))) for samples, entries in self._stages.items())
            extended = {"more": more} if more else {}
            self.checkpoint.save({"seed": self.seed, "samples": samples, "blocks": blocks, **extended})
            self._saved = time.monotonic()


def _encoded(entry: Entry) -> dict[str, Any]:
    result = entry.result
    return {
        "first": entry.first,
        "blocks": entry.blocks,
        "quiet": entry.quiet,
        "size": result.size,
        "seconds": result.seconds,
        "counts": [_packed(counts) for counts in result.counts],
        "statistics": [None if statistics is None else _packed(statistics) for statistics in result.statistics],
        "kept": None if result.kept is None else [_packed_outputs(side) for side in result.kept],
    }


def _decoded(data: dict[str, Any]) -> Entry:
    kept = data["kept"]
    result = BlockResult(
        data["first"],
        data["size"],
        tuple(map(_unpacked, data["counts"])),
        tuple(None if packed is None else _unpacked(packed) for packed in data["statistics"]),
        None if kept is None else (_unpacked_outputs(kept[0]), _unpacked_outputs(kept[1])),
        data["seconds"],
    )
    return Entry(data["first"], data["blocks"], result, data["quiet"])


def _packed_outputs(outputs: Outputs) -> dict[str, Any]:
    shapes = None if outputs.shapes is None else _packed(outputs.shapes)
    exact = None if outputs.exact is None else [[_written(value) for value in row] for row in outputs.exact.tolist()]
    forms = None if outputs.forms is None else _packed(outputs.forms)
    said = {"numbers": _packed(outputs.numbers), "shapes": shapes, "names": list(outputs.names), "exact": exact}
    return {**said, "forms": forms, "written": list(outputs.written)}


def _unpacked_outputs(data: dict[str, Any]) -> Outputs:
    shapes = None if data["shapes"] is None else _unpacked(data["shapes"])
    numbers, exact = _unpacked(data["numbers"]), None
    if data["exact"] is not None:
        exact = np.empty(numbers.shape, object)
        for index, row in enumerate(data["exact"]):
            exact[index] = list(map(_read, row))
    forms = None if data["forms"] is None else _unpacked(data["forms"])
    return Outputs(numbers, shapes, tuple(data["names"]), exact, forms, tuple(data["written"]))


def _written(value: Exact) -> str:
    """An exact number as text, which may be of any size in base 16."""
    return value.hex() if isinstance(value, float) else f"{value.numerator:x}/{value.denominator:x}"


def _read(text: str) -> Exact:
    numerator, slash, denominator = text.partition("/")
    if not slash:
        return float.fromhex(text)
    value = Fraction(int(numerator, 16), int(denominator, 16))
    return value.numerator if value.denominator == 1 else value


def packed(array: np.ndarray[Any, Any]) -> str:
    """An array of numbers as text."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return base64.b64encode(buffer.getvalue()).decode()


def unpacked(text: str) -> np.ndarray[Any, Any]:
    """The array that `packed` wrote. Raises ValueError for anything else."""
    array: np.ndarray[Any, Any] = np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)
    return array


_packed, _unpacked = packed, unpacked
