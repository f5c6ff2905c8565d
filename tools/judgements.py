"""What the kernel says of each committed certificate, and of damaged ones, written down: reports/judgements.json.

    python tools/judgements.py

A certificate states its verdict alone. The enclosures, the rules, the assumptions and the witness are the kernel's, so that a change
of the kernel may change what readers have signed while every verdict stays, or take evidence that it refused before.
tests/mutants/test_recorded.py compares with this record. Of each certificate it holds the judgement, and the bounds that are proved
where one thing is changed: a value of its evidence ("evidence"), its steps for ones of other certificates ("steps"), a value of the
claim ("claims"), or the epsilon at which its privacy curve is read ("asked"). What is not listed there is refused. The changes are
drawn by the names of the certificates, equal on every machine.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
REPORTS = ROOT / "reports"
sys.path.insert(0, str(ROOT))

from dpverify.trusted import kernel  # noqa: E402
from dpverify.trusted.facts.bounds import Bound, Infinite  # noqa: E402
from dpverify.trusted.language.certificate import Step, decode  # noqa: E402
from dpverify.trusted.language.errors import DpverifyError, Rejected  # noqa: E402
from dpverify.trusted.language.expr import Expr, format_expr  # noqa: E402
from dpverify.trusted.language.model import Claim, from_json  # noqa: E402

KINDS = {"evidence": 6, "steps": 5, "claims": 4, "asked": 2}
"""How many changes of each kind are tried."""
EPSILONS = ("0", "1/100", "1/7", "1/2", "log(2)", "1", "2", "5", "20")
LONGEST = 160
"""Longer texts are shortened, with a digest of the whole."""

Changed = tuple[str, Mapping[str, Any], Step]
"""What was changed, the claim as JSON, and a step."""


# -- what is said -----------------------------------------------------------------------------------


def read() -> dict[str, Any]:
    """The certificates of reports/ by their names."""
    return {path.name.removesuffix(".cert.json"): decode(path.read_bytes()) for path in sorted(REPORTS.glob("*.cert.json"))}


def judged(judgement: kernel.Judgement) -> dict[str, Any]:
    """A judgement as JSON, exact: every value is an expression. What is empty or not known is left out."""
    values = {name: getattr(judgement, name) for name in ("lower", "upper", "delta_lower", "delta_upper")}
    facts = {
        "verdict": judgement.verdict,
        **{name: text(value) for name, value in values.items() if value is not None},
        "rules": list(judgement.rules),
        "assumptions": list(judgement.assumptions),
        "witness": judgement.witness,
        "also": dict(judgement.also),
    }
    return json.loads(json.dumps({name: value for name, value in facts.items() if value}))


def text(value: Expr | Infinite) -> str:
    """A bound as text."""
    return "inf" if isinstance(value, Infinite) else format_expr(value)


def proved(claim: Claim, step: Step, prec: int) -> tuple[Bound, ...]:
    """The bounds of one step; none where it is refused."""
    try:
        return kernel.bound(claim, step, prec)
    except (DpverifyError, Rejected):
        return ()


def told(bounds: tuple[Bound, ...]) -> str:
    """Bounds in one line, with a digest of the rules, assumptions and witnesses that they rest on."""
    parts = (f"{b.side} {b.quantity} {text(b.value)}" + (f" at {sorted(b.at)}" if b.at else "") for b in bounds)
    rests = json.dumps([[list(b.through), list(b.assumed), b.witness and dict(b.witness), dict(b.also)] for b in bounds])
    return f"{shortened('; '.join(parts))} [{sha256(rests.encode()).hexdigest()[:8]}]"


def shortened(line: str) -> str:
    """A text, its end replaced by a digest of the whole where it is long."""
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}... {sha256(line.encode()).hexdigest()[:8]}"


def tried(kind: str, name: str, certificates: Mapping[str, Any]) -> list[tuple[str, tuple[Bound, ...]]]:
    """The changes of one kind and what is proved after each, nothing where it is refused."""
    found = []
    for what, data, step in changes(kind, name, certificates):
        try:
            claim = from_json(data)
        except DpverifyError:
            continue
        found.append((what, proved(claim, step, certificates[name]["prec"])))
    return found


def accepted(found: Iterable[tuple[str, tuple[Bound, ...]]]) -> dict[str, str]:
    """What is proved after each change, where anything is, as texts."""
    return {shortened(what): told(bounds) for what, bounds in found if bounds}


# -- what is changed ----------------------------------------------------------------------------------


def changes(kind: str, name: str, certificates: Mapping[str, Any]) -> Iterator[Changed]:
    """The changes of one kind for one certificate."""
    data = certificates[name]
    claim, steps, rng = data["claim"], data["steps"], random.Random(f"{kind} {name}")
    if not steps:
        return
    if kind == "steps":
        for other in sorted(certificates, key=lambda other: sha256(f"{name} {other}".encode()).digest())[: KINDS[kind]]:
            for step in certificates[other]["steps"][:1]:
                yield f"{step['rule']} of {other}", claim, Step(step["rule"], step["evidence"])
        return
    if kind == "asked":
        for step in steps:
            for epsilon in rng.sample(EPSILONS, KINDS[kind]) if "curve" in step["evidence"] else ():
                evidence = {key: value for key, value in step["evidence"].items() if key not in ("upper", "lower")}
                yield f"at {epsilon}", claim | {"epsilon": epsilon}, Step(step["rule"], evidence | {"delta": True})
        return
    for _ in range(KINDS[kind]):
        step = copy.deepcopy(rng.choice(steps))
        whole = copy.deepcopy(claim) if kind == "claims" else step["evidence"]
        spots = list(places(whole))
        if spots:
            where, inside, key = rng.choice(spots)
            made = rng.choice(others(inside[key], rng))
            what = f"{step['rule']}, {where}: {json.dumps(inside[key])} -> {'nothing' if made is ... else json.dumps(made)}"
            if made is ...:
                del inside[key]
            else:
                inside[key] = made
            yield what, whole if kind == "claims" else claim, Step(step["rule"], step["evidence"])


def places(value: Any, at: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every place inside a JSON value: its name, what holds it, and its key there."""
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, inner in items:
        yield f"{at}/{key}", value, key
        yield from places(inner, f"{at}/{key}")


WORDS = (
    ("upper", "lower"), ("right", "left"), ("+inf", "-inf"), ("l1", "l2", "linf"), ("add-remove", "replace"), ("forward", "backward"),
)  # fmt: skip


def others(value: Any, rng: random.Random) -> list[Any]:
    """What may stand in the place of a value; ... for nothing."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, list):
        swapped = rng.sample(value, len(value))
        return [[], value[:-1], value[1:], value[::-1], value + value[:1], swapped]
    if isinstance(value, dict):
        return [..., {}]
    for words in WORDS:
        if value in words:
            return [word for word in words if word != value]
    if value is None:
        return [..., 0, "1"]
    try:
        number = exact(value)
    except (ValueError, ZeroDivisionError):
        return [..., f"2*({value})", f"({value})/2"]
    near = [0, number / 2, number * 2, number * Fraction(999, 1000), number * Fraction(1001, 1000), number + 1, number - 1, -number]
    return [int(each) if isinstance(value, int) else str(each) for each in near if each != number] + [...]


def exact(value: Any) -> Fraction:
    """A number of a certificate: a fraction, or a dyadic m*2^e."""
    mantissa, mark, exponent = str(value).partition("*2^")
    return Fraction(mantissa) * Fraction(2) ** (int(exponent) if mark else 0)


def main() -> int:
    """Write the record of every certificate in reports/."""
    certificates = read()
    record = {}
    for name, data in certificates.items():
        changed = {kind: accepted(tried(kind, name, certificates)) for kind in KINDS}
        record[name] = judged(kernel.check(data)) | {kind: found for kind, found in changed.items() if found}
    (REPORTS / "judgements.json").write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{len(record)} judgements")
    return 0


if __name__ == "__main__":
    sys.exit(main())
