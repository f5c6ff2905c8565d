"""The kernel for the command line: certificate files are checked again, and what each of them proves or refutes is told in full.

`python -P -m dpverify.kernel FILE...` runs it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from dpverify.evidence.collected import places as places_in
from dpverify.evidence.collected import read
from dpverify.runtime import streams
from dpverify.runtime.outside import GONE, gone, printable, quoted
from dpverify.trusted.kernel.canonical_form import TIGHT, to_json
from dpverify.trusted.kernel.certificate import decode
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import format_expr
from dpverify.trusted.kernel.judgement import Judgement, check
from dpverify.trusted.kernel.loading import asked_for
from dpverify.trusted.kernel.model import Claim, Measure

WAY_OUT: Final = "         Make it again from its claim file: dpverify verify FILE --certificates DIR."
"""What is left to do with a certificate that does not hold."""
_FORM: Final = "Its parameters have not the form that dpverify writes."
_SHOWN: Final = 60
"""How many characters of a parameter are shown."""


@dataclass(frozen=True, slots=True)
class Rechecked:
    """What became of a certificate file. code: 0, 1 (a rule refused its evidence) or 2 (not a certificate); lines: for people.

    digest: the SHA-256 of the file, as sha256sum gives it. rules: that its lines name; places: of the trusted folder, that were asked for.
    confirmed: by what its verdict is, where somebody asked.
    """

    code: int
    lines: tuple[str, ...]
    judgement: Judgement | None = None
    digest: str = ""
    rules: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()


def recheck(path: Path) -> Rechecked:
    """Re-check the certificate in a file, or at a place in a collection, and tell the whole statement that it proves or refutes."""
    try:
        raw = read(path)
        data = decode(raw)
        with asked_for() as places:
            judgement = check(data)
    except OSError as error:
        return Rechecked(2, (printable(f"{path}: {error.strerror}"),))
    except CertificateError as error:
        return Rechecked(2, (printable(f"{path}: not a certificate that holds: {_in_full(error)}"), WAY_OUT))
    except Rejected as error:
        return Rechecked(1, (printable(f"{path}: rejected by {error}"), WAY_OUT))
    digest = sha256(raw).hexdigest()
    said = statement(judgement.claim)
    lines = (f"{judgement.verdict:8} {path}: {said[0]}", *(f"         {line}" for line in (*said[1:], f"SHA-256 {digest}")))
    rules = tuple(dict.fromkeys(line["rule"] for line in data["lines"]))
    return Rechecked(0, tuple(map(printable, lines)), judgement, digest, rules, tuple(places))


def _in_full(error: CertificateError) -> str:
    """What is wrong, with what a rule had read where it stopped, as a reader of the certificate finds it."""
    from dpverify.trusted.facts.unusable import Unusable  # what a certificate that holds need not load

    stumble = error.__cause__  # the kernel names the line
    if not isinstance(stumble, Unusable):
        return str(error)
    if stumble.missing:
        return f"{error} {stumble.key!r} is missing." if stumble.key else f"{error} {_FORM}"
    shown = json.dumps(stumble.value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."
    return f"{error} The rule had read {stumble.key!r} last, {shown}. {_FORM}"


def statement(claim: Claim) -> list[str]:
    """A claim's canonical form, whole, in a few lines."""
    whole = to_json(claim)
    measure = [] if claim.measure is None else [_in_measure(claim.measure)]
    instead = ("epsilon", "delta", "measure") if measure else ()
    named = [key for key in ("epsilon", "delta", "sensitivity") if whole.get(key) is not None and key not in instead]
    others = [key for key in whole if key not in (*named, *instead, "name", "mechanism_name") and whole[key] not in (None, {})]
    head = [quoted(whole["mechanism_name"]), quoted(whole["name"]), *measure, *(f"{key} {whole[key]}" for key in named)]
    return [", ".join(head), *(f"{key} {json.dumps(whole[key])}" for key in others)]


def _in_measure(measure: Measure) -> str:
    """What is claimed in place of epsilon and delta."""
    value = TIGHT if measure.value is None else format_expr(measure.value)
    return f"{measure.name} {value}" if measure.at is None else f"{measure.name} divergence of order {measure.at} {value}"


def main(argv: Sequence[str]) -> int:
    """Re-check certificate files and collections. 0: all hold; 1: a rule refused its evidence; 2: not a certificate, or no output."""
    streams.prepare()
    if not argv:
        print("usage: python -P -m dpverify.kernel FILE...", file=sys.stderr)
        return 2
    code = 0
    if gone() and not all(Path(name).is_absolute() for name in argv):
        print(GONE, file=sys.stderr)
        return 2
    try:
        for place in (place for name in argv for place in places_in(Path(name))):
            found = recheck(place)
            print("\n".join(found.lines), file=sys.stderr if found.code else sys.stdout, flush=True)
            code = max(code, found.code)
    except OSError as error:
        print(f"cannot write the output: {error.strerror}", file=sys.stderr)
        streams.drop()
        return 2
    return code
