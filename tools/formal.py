"""Compile the theory of specs/formal, record what its theorems rest on, and replay a few certificates: `make formal`.

Writes specs/formal/assumptions.txt. Exit code 1 where a file does not compile or assumes anything, by its words or as `coqchk -o` finds
in all of them, a theorem rests on more than the axioms of MathComp Analysis, what Coq answers is not understood, or a certificate of the
sample is not replayed; 3 where Coq is not there.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dpverify.collected import by_name, read
from dpverify.project.formal import coq, foundations
from dpverify.project.formal.ledger import theorems
from dpverify.project.formal.replay import replay
from dpverify.trusted.kernel import check
from dpverify.trusted.language.certificate import decode, unpack

ROOT = Path(__file__).resolve().parents[1]
THEORY = ROOT / "specs" / "formal"
RECORD = THEORY / "assumptions.txt"
SAMPLE = (
    "exponential_radial_all_l1.eps-times-sensitivity", "student_t_all.closed-form", "discrete_laplace.sensitivity-1-exact",
    "hyperbolic.sensitivity-1-exact", "laplace_iid.l1-sensitivity-1-exact",
    "randomized_response_table.exact", "exponential_mechanism_cube.exact",
)  # fmt: skip
SECONDS = 120.0


def main() -> int:
    """All of it, where Coq is."""
    try:
        coq.program()
    except coq.CoqError as error:
        print(error, file=sys.stderr)
        return 3
    try:
        return _all()
    except coq.CoqError as error:
        print(error, file=sys.stderr)
        return 1


def _all() -> int:
    """What there is to do where Coq is. Raises CoqError where a file does not compile, or an answer is not understood."""
    files = sorted(THEORY.glob("*.v"))
    compiled = coq.compiled_theory(THEORY, tuple(file.stem for file in files))
    said, wrong = list[str](), False
    for file in files:
        if words := foundations.assumed(file.read_text(encoding="utf-8")):
            print(f"{file.name}: assumes what is not proved: {', '.join(dict.fromkeys(words))}", file=sys.stderr)
            wrong = True
    for hole in coq.holes(compiled, [file.stem for file in files], None):
        print(f"coqchk finds what is assumed, not proved: {hole}", file=sys.stderr)
        wrong = True
    named = [(file, list(dict.fromkeys(one.theorem for one in theorems(file)))) for file in files]
    asked = [(file.stem, names) for file, names in named if names]
    processes = min(os.cpu_count() or 1, len(asked))
    parts = [asked[start::processes] for start in range(processes)]
    with ThreadPoolExecutor(processes) as pool:
        found = list(pool.map(lambda part: coq.check(_questions(part), compiled, coq.LIBRARY_SECONDS), parts))
    for fault in [held.fault for held in found if held.fault]:
        print(f"What theorems rest on is not found: {fault}", file=sys.stderr)
        return 1
    meant = coq.whole_names({name for held in found for name in held.axioms}, [file.stem for file in files], compiled)
    answers = sorted(answer for part, held in zip(parts, found, strict=True) for answer in zip(part, held.each, strict=True))
    for (name, names), axioms in answers:
        others = sorted({name for axiom in axioms for name in meant[axiom] or (axiom,)} - coq.AXIOMS)
        wrong |= bool(others)
        if others:
            print(f"{name}.v: rests on more than the three axioms: {', '.join(others)}", file=sys.stderr)
        said += [f"{name}.v: {', '.join(names)}", f"  rest on: {', '.join(sorted(axioms)) or 'no axiom'}", ""]
    RECORD.write_text("\n".join(said).rstrip() + "\n", encoding="utf-8")
    print(f"{len(files)} files compiled, what their theorems rest on is in {RECORD.relative_to(ROOT)}")
    committed = by_name(ROOT / "reports")
    for name in SAMPLE:
        data = decode(read(committed[name]))
        held = coq.check(replay(unpack(data), check(data), name).text, compiled, SECONDS)
        full = coq.whole_names(held.axioms, coq.REPLAYS, compiled)
        others = coq.foreign(one for axiom in held.axioms for one in full[axiom] or (axiom,))
        fault = held.fault or (f"it rests on {', '.join(others)}" if others else "")
        print(f"{name}: {f'not replayed: {fault}' if fault else 'replayed'}")
        wrong |= bool(fault)
    return int(wrong)


def _questions(asked: list[tuple[str, list[str]]]) -> str:
    """A file that asks of each of these files what its theorems rest on, all at once: together they rest on what each does."""
    lines = [f"From dpverify Require {' '.join(module for module, _ in asked)}."]
    for module, names in asked:
        together = ", ".join(f"@{module}.{name}" for name in names)
        lines += [f"Definition all_of_{module} := ({together}, tt).", f"Print Assumptions all_of_{module}."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
