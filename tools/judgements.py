"""What the kernel says of each committed certificate, and of damaged ones, written down as digests: tests/mutants/recorded.txt.

    python tools/judgements.py              # writes the record anew, in some minutes
    python tools/judgements.py NAME...      # prints in full what is said of these certificates, to be compared between two commits

A certificate states its verdict alone. The enclosures, the rules, the assumptions and the witness are the kernel's, so that a change
of the kernel may change what readers have signed while every verdict stays, or take evidence that it refused before.
tests/mutants/test_recorded.py compares with this record. Of each certificate it holds a digest of the judgement, and of the bounds on the
whole claim that are proved where one thing is changed: a value of one of its lines, by the lines that rest on it ("lines"), its lines for
those of another certificate ("others"), a value of the claim ("claims"), or the epsilon at which its privacy curve is read ("asked"). A
line that is refused takes the lines that rest on it with it; what is not listed proves nothing. The changes are drawn by the names of the
certificates, equal on every machine. Of certificates with the same rules about one mechanism the first alone is changed.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests" / "mutants" / "recorded.txt"
sys.path.insert(0, str(ROOT))

from dpverify.evidence.collected import by_name  # noqa: E402
from dpverify.evidence.collected import read as text_of  # noqa: E402
from dpverify.trusted.kernel import judgement as kernel  # noqa: E402
from dpverify.trusted.kernel.bounds import Infinite  # noqa: E402
from dpverify.trusted.kernel.canonical_form import claim_hash  # noqa: E402
from dpverify.trusted.kernel.certificate import Line, decode, unpack  # noqa: E402
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected  # noqa: E402
from dpverify.trusted.kernel.expr import Expr, format_expr  # noqa: E402
from dpverify.trusted.kernel.fact import Fact, as_bounds  # noqa: E402
from dpverify.trusted.kernel.model import Claim  # noqa: E402
from dpverify.trusted.kernel.proof import Proof, forget  # noqa: E402
from dpverify.trusted.kernel.registry import OF_CURVES, RULES  # noqa: E402
from dpverify.trusted.theories.composition.rules import privacy_profile  # noqa: E402

KINDS = {"lines": 6, "others": 5, "claims": 4, "asked": 2}
"""How many changes of each kind are tried."""
EPSILONS = ("0", "1/100", "1/7", "1/2", "log(2)", "1", "2", "5", "20")
COLUMNS = ("judgement", *KINDS)
LONGEST = 160
"""Longer texts are shortened, with a digest of the whole."""
DIGITS = 12
"""Of a digest in the record."""

Changed = tuple[str, dict[str, Any], int]
"""What was changed, the certificate then, and the number of the line that others must rest on to be looked at; -1 where all are."""


# -- what is said -----------------------------------------------------------------------------------


def read() -> dict[str, Any]:
    """The certificates of reports/ by their names."""
    return {name: decode(text_of(place)) for name, place in by_name(ROOT / "reports").items()}


ASKED = ("epsilon", "delta", "name", "mechanism_name")
"""What a claim asks about its mechanism."""


def to_change(certificates: Mapping[str, Any]) -> frozenset[str]:
    """The certificates that are changed: of those that prove something of one mechanism by the same rules, the first."""
    first: dict[Any, str] = {}
    for name in sorted(certificates):
        claim = {key: value for key, value in certificates[name]["claim"].items() if key not in ASKED}
        rules = frozenset(line["rule"] for line in certificates[name]["lines"])
        first.setdefault((json.dumps(claim, sort_keys=True), rules), name)
    return frozenset(first.values())


ENCLOSED = ("P", "Q")
"""What of a witness is enclosed at whatever precision is left where it is asked for: its last bits may differ from run to run."""


def judged(judgement: kernel.Judgement) -> dict[str, Any]:
    """A judgement as JSON, exact: every value is an expression. What is empty or not known is left out."""
    values = {name: getattr(judgement, name) for name in ("lower", "upper", "delta_lower", "delta_upper")}
    facts = {
        "verdict": judgement.verdict,
        **{name: text(value) for name, value in values.items() if value is not None},
        "rules": list(judgement.rules),
        "assumptions": list(judgement.assumptions),
        "witness": stable(judgement.witness),
        "also": dict(judgement.also),
    }
    return json.loads(json.dumps({name: value for name, value in facts.items() if value}))


def afresh(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """What the kernel says of a certificate that it knows nothing of yet: a curve that was evaluated elsewhere before is known better."""
    forget()
    return judged(kernel.check(certificate))


def stable(witness: Mapping[str, Any] | None) -> dict[str, Any]:
    """A witness without what is enclosed."""
    return {key: value for key, value in (witness or {}).items() if key not in ENCLOSED}


def text(value: Expr | Infinite) -> str:
    """A bound as text."""
    return "inf" if isinstance(value, Infinite) else format_expr(value)


def taken(claim: Claim, lines: Sequence[Line]) -> dict[int, Fact]:
    """What lines prove of a claim, by their numbers: a line that is refused takes the lines that rest on it with it, all others stand."""
    proof, facts = Proof(claim), dict[int, Fact]()
    for number, line in enumerate(lines):
        if all(premise in facts for premise in line.premises):
            try:
                premises = [facts[premise] for premise in line.premises]
                facts[number] = kernel.infer(proof, line.rule, line.parameters, premises, line.prec, line.place)
            except (CertificateError, Rejected):
                continue
    return facts


def proved(claim: Claim, lines: Sequence[Line], number: int = -1) -> tuple[Fact, ...]:
    """The bounds on the whole claim that lines prove; number: by the lines that rest on this one alone."""
    resting = {number}
    for other, line in enumerate(lines):
        if number < 0 or resting.intersection(line.premises):
            resting.add(other)
    return tuple(fact for other, fact in taken(claim, lines).items() if other in resting and not fact.place and as_bounds(fact.says))


def told(facts: Iterable[Fact]) -> str:
    """Bounds in one line, with a digest of the rules, assumptions and witnesses that they rest on."""
    bounds = [(fact, b) for fact in facts for b in as_bounds(fact.says)]
    parts = (f"{b.side} {b.quantity} {text(b.value)}" + (f" at {sorted(b.at)}" if b.at else "") for _, b in bounds)
    rests = [[fact.rule, *b.through, *fact.assumed, *b.assumed, stable(b.witness), dict(b.also)] for fact, b in bounds]
    return f"{shortened('; '.join(parts))} [{sha256(json.dumps(rests).encode()).hexdigest()[:8]}]"


def shortened(line: str) -> str:
    """A text, its end replaced by a digest of the whole where it is long."""
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}... {sha256(line.encode()).hexdigest()[:8]}"


def tried(kind: str, name: str, certificates: Mapping[str, Any]) -> list[tuple[str, tuple[Fact, ...]]]:
    """The changes of one kind and what is proved after each, nothing where it is refused."""
    found = []
    for what, data, number in changes(kind, name, certificates):
        if kind == "asked":
            forget()  # a curve that was evaluated elsewhere before is known better
        try:
            certificate = unpack(data | {"claim_sha256": claim_hash(data["claim"])})
            with kernel.shown_by(certificate):
                found.append((what, proved(certificate.claim, certificate.lines, number)))
        except DpverifyError:
            found.append((what, ()))
    return found


def accepted(found: Iterable[tuple[str, tuple[Fact, ...]]]) -> dict[str, str]:
    """What is proved after each change, where anything is, as texts."""
    return {shortened(what): told(facts) for what, facts in found if facts}


# -- what is changed ----------------------------------------------------------------------------------


def changes(kind: str, name: str, certificates: Mapping[str, Any]) -> Iterator[Changed]:
    """The changes of one kind for one certificate."""
    data = certificates[name]
    claim, lines, rng = data["claim"], data["lines"], random.Random(f"{kind} {name}")
    if not lines:
        return
    if kind == "others":
        for other in sorted(certificates, key=lambda other: sha256(f"{name} {other}".encode()).digest())[: KINDS[kind]]:
            given = certificates[other]["lines"]
            for number in [i for i, line in enumerate(given) if not line.get("place") and line["rule"] not in OF_CURVES][:1]:
                yield f"{given[number]['rule']} of {other}", certificates[other] | {"claim": claim, "lines": given[: number + 1]}, -1
        return
    if kind == "asked":
        for number, line in enumerate(lines):
            for epsilon in rng.sample(EPSILONS, KINDS[kind]) if line["rule"] == privacy_profile.NAME else ():
                parameters = {key: value for key, value in line.get("parameters", {}).items() if key not in ("upper", "lower")}
                read = [*lines[:number], line | {"parameters": parameters | {"delta": True}}]
                yield f"line {number} at {epsilon}", data | {"claim": claim | {"epsilon": epsilon}, "lines": read}, number
        return
    for _ in range(KINDS[kind]):
        made, number = copy.deepcopy(data), rng.randrange(len(lines)) if kind == "lines" else -1
        spots = list(places(made["lines"][number] if kind == "lines" else made["claim"]))
        if spots:
            where, inside, key = rng.choice(spots)
            value = rng.choice(sorted({*RULES, *OF_CURVES} - {inside[key]}) if where == "/rule" else others(inside[key], rng))
            start = f"line {number}, {lines[number]['rule']}, " if kind == "lines" else ""
            what = f"{start}{where}: {json.dumps(inside[key])} -> {'nothing' if value is ... else json.dumps(value)}"
            if value is ...:
                del inside[key]
            else:
                inside[key] = value
            yield what, made, number


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


def digest(said: Mapping[str, Any]) -> str:
    """What the record holds of something that is said; nothing where nothing is."""
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:DIGITS] if said else "-"


def whole(name: str, certificates: Mapping[str, Any], chosen: frozenset[str]) -> dict[str, dict[str, Any]]:
    """What is said of a certificate, and where it is changed, by the columns of the record. chosen: those that are changed."""
    changed = {kind: accepted(tried(kind, name, certificates)) for kind in (KINDS if name in chosen else ())}
    return {"judgement": afresh(certificates[name]), **changed}


def recorded() -> dict[str, dict[str, str]]:
    """The digests of the record, by the names of certificates and by its columns."""
    rows = [line.split() for line in RECORD.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")]
    return {name: dict(zip(COLUMNS, digests, strict=True)) for name, *digests in rows}


def main(names: Sequence[str]) -> int:
    """Write the record of every certificate in reports/, or print what is said of these."""
    certificates = read()
    chosen = to_change(certificates)
    said = {name: whole(name, certificates, chosen) for name in names or certificates}
    if names:
        print(json.dumps(said, indent=1, sort_keys=True))
        return 0
    lines = [f"{name} {' '.join(digest(one.get(column, {})) for column in COLUMNS)}" for name, one in said.items()]
    RECORD.write_text("\n".join([f"# certificate {' '.join(COLUMNS)}", *lines]) + "\n", encoding="utf-8")
    print(f"{len(said)} judgements")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
