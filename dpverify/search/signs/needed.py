"""Which of the signs that were found a certificate needs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dpverify.search.signs.seek import Sought
from dpverify.trusted.kernel import certificate
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.shown import Shown, under
from dpverify.trusted.order.shown_signs import show


def with_signs(packed: Mapping[str, Any], found: Sought) -> dict[str, Any]:
    """A packed certificate with the signs that its lines, or the verdict on them, are seen to ask for when they are made again."""
    if len(found.evidence) == 1:  # whether that is needed is seen without it
        return _least(packed, [entry for _, entry in found.evidence])
    read, table = certificate.unpack(packed), Shown()
    grounds: list[tuple[set[Any], Any, Mapping[str, Any]]] = []
    with under(table):
        with precision(read.prec):
            for key, entry in found.evidence:
                table.used = {}
                show([entry], table)
                grounds.append((set(table.used), key, entry))
        table.used, table.stamp = {}, object()  # what is remembered under other tables does not tell what it asked for
        kernel.judge(read.claim, kernel.replay(read))
    wanted, kept = set(table.used), list[Mapping[str, Any]]()
    for used, key, entry in reversed(grounds):
        if key in wanted:
            wanted |= used
            kept.append(entry)
    return _least(packed, kept[::-1])


def _least(packed: Mapping[str, Any], signs: list[Mapping[str, Any]]) -> dict[str, Any]:
    """The certificate with those of the signs without which it says another thing: some were asked for, and nothing came of it."""
    said: kernel.Judgement | None = None
    for entry in list(signs):
        fewer = [one for one in signs if one is not entry]
        with suppress(DpverifyError):
            without = _says({**packed, **({"signs": fewer} if fewer else {})})
            said = said or _says({**packed, "signs": signs})  # with all, where they are seen not to be needed for a proof
            if without == said:
                signs = fewer
    return {**packed, **({"signs": signs} if signs else {})}


def _says(packed: Mapping[str, Any]) -> kernel.Judgement:
    read = certificate.unpack(packed)
    with kernel.shown_by(read):
        return kernel.judge(read.claim, kernel.replay(read))
