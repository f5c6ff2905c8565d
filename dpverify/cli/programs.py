"""Programs that are audited: the function beside its declaration, its refutations in it, and samples of it."""

from __future__ import annotations

import importlib.util
import itertools
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dpverify.catalogue import Spec, Stated
    from dpverify.programs.compiled import Compiled
    from dpverify.replays.agreeing import Agreement
    from dpverify.replays.refuted import Rerun
    from dpverify.report.results import Fault
    from dpverify.runtime.finding import Finding
    from dpverify.trusted.kernel.expr import Expr

MOST_SAMPLES: Final = 50_000
"""Runs on each input where no number is given: a program runs in Python."""
ANSWERS: Final = 4
MOST_PAIRS: Final = 6


@dataclass
class Audited:
    """What was found: agreements and reruns by program, findings and faults as of other audits."""

    agreements: list[Agreement] = field(default_factory=list)
    reruns: list[tuple[str, Rerun]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def text(self) -> list[str]:
        """What readers are told before the findings."""
        return [*map(str, self.agreements), *(f"{claim}: {one}" for claim, one in self.reruns)]

    def beside(self, answer: str) -> str:
        """JSON with what was found of programs beside the findings."""
        programs = [one.as_json() for one in self.agreements]
        reruns = [{"claim": claim, **one.as_json()} for claim, one in self.reruns]
        return json.dumps({**json.loads(answer), "programs": programs, "reruns": reruns}, indent=1)


def is_program(spec: Spec) -> bool:
    """Whether claims are those of a Python function."""
    return spec.audit is None and spec.source.partition(":")[0].endswith(".py") and spec.file.endswith(".py")


def audited_programs(specs: Sequence[Spec], samples: int | None, how: Mapping[str, Any]) -> Audited:
    """Run programs with the noise of their declarations, on the inputs of refutations, and with noise that is drawn."""
    from dpverify.report.results import Fault

    found = Audited()
    for spec in specs:
        try:
            program = _program(spec)
            agreement = program.agree()
            found.agreements.append(agreement)
            if (shown := agreement.example) is not None:
                said = f"it tells {shown.function}, and the declaration that is proved tells {shown.declaration}, with the same noise"
                found.faults.append(Fault(spec.file, spec.claims[0].claim.name, said, 1))
        except Exception as error:  # one program's fault must not take the others' answers away
            found.faults.append(Fault(spec.file, spec.claims[0].claim.name, f"{type(error).__name__}: {error}"))
            continue
        for stated in spec.claims:
            try:
                _sampled(found, spec, stated, program, samples, how)
            except Exception as error:
                found.faults.append(Fault(spec.file, stated.claim.name, f"{type(error).__name__}: {error}"))
    return found


def _program(spec: Spec) -> Any:
    """The program itself: its module is run, once."""
    file, _, name = spec.source.rpartition(":")
    path = Path(file).resolve()
    key = f"_dpverify_program_{path.stem}_{abs(hash(path))}"
    if key not in sys.modules:
        made = importlib.util.spec_from_file_location(key, path)
        if made is None or made.loader is None:
            raise ImportError(f"{path} is no module of Python")
        module = importlib.util.module_from_spec(made)
        sys.modules[key] = module
        sys.path.insert(0, str(path.parent))
        try:
            made.loader.exec_module(module)
        except BaseException:
            del sys.modules[key]
            raise
        finally:
            sys.path.remove(str(path.parent))
    return getattr(sys.modules[key], name)


def _sampled(found: Audited, spec: Spec, stated: Stated, program: Any, samples: int | None, how: Mapping[str, Any]) -> None:
    """The refutation of a claim in the function, and samples on the pair that tells the most, as far as one is known."""
    from dpverify.audits import audit
    from dpverify.replays.refuted import declared
    from dpverify.report.answers import judged
    from dpverify.trusted.kernel.expr import format_expr, symbols

    answer = judged(stated, 20, spec.file)
    pairs: list[tuple[Any, Any]] = []
    parameters: dict[str, Any] = {}
    if answer.verdict == "REFUTED":
        shown = program.rerun(answer)
        found.reruns.append((stated.claim.name, shown))
        if shown.first is not None and shown.second is not None:
            pairs.append((shown.first.data, shown.second.data))
            parameters = dict(shown.parameters)
    claim = stated.claim
    if claim.epsilon is None or symbols(claim.epsilon) or (claim.delta is not None and symbols(claim.delta)):
        return
    if not pairs:
        parameters, compiled = declared(program.text, {})
        pairs = neighbours(program.options, compiled)
    if not pairs:
        return
    parameters = parameters or declared(program.text, {})[0]
    settings = {key: how[key] for key in ("confidence", "seed") if key in how}
    delta = "0" if claim.delta is None else format_expr(claim.delta)
    one = audit(
        program.sampler(**parameters), epsilon=_at_least(claim.epsilon), delta=delta, pairs=pairs, level=how.get("level", "model"),
        samples=samples or MOST_SAMPLES, **settings,
    )  # fmt: skip
    again = f"dpverify audit {spec.source} --claim {shlex.quote(claim.name)} --seed {one.seed} --samples {samples or MOST_SAMPLES}"
    found.findings.append(replace(one, file=spec.file, name=claim.name, expected=stated.expect, sampler=spec.source, replay=again))


def neighbours(said: Mapping[str, Any], compiled: Compiled) -> list[tuple[Any, Any]]:
    """Pairs of neighbours to sample a program on, of those that the decorator speaks of; none where no such pair is known.

    said: the decorator's options; compiled: the declaration, which knows whether the data are one number, or several in each step.
    """
    if "inputs" in said:
        return list(itertools.combinations(said["inputs"], 2))[:MOST_PAIRS]
    how, length, bounds = said.get("neighbours", "all"), said.get("answers", ANSWERS), said.get("bounds")
    if "adjacency" in said or said.get("sensitivity", 1) != 1 or how not in ("all", "one", "monotone") or not isinstance(length, int):
        return []
    if bounds is not None and not (all(isinstance(each, int) for each in bounds) and bounds[0] <= 0 and bounds[1] >= 1):
        return []
    if compiled.alone:
        return [(0, 1)]
    table = compiled.mechanism.get("part", compiled.mechanism)
    width = len(table.get("answers", ())) if table["kind"] == "stream" and not (table.get("queries") == 1 and length > 1) else 1

    def data(numbers: list[int]) -> list[Any]:
        return numbers if width <= 1 else [numbers[at : at + width] for at in range(0, len(numbers), width)]

    size = length * max(width, 1)
    if how == "one":
        return [(data([0] * size), data([1] + [0] * (size - 1)))]
    apart = (data([0] * size), data([1] * size))
    return [apart] if how == "monotone" else [apart, (data([at % 2 for at in range(size)]), data([1 - at % 2 for at in range(size)]))]


def _at_least(epsilon: Expr) -> str:
    """An epsilon as a number; one that is none, log(3), as one that is slightly above it."""
    from dpverify.trusted.facts.evaluate import known
    from dpverify.trusted.kernel.expr import Num, format_expr

    if isinstance(epsilon, Num):
        return format_expr(epsilon)
    return str(Fraction(float(known(epsilon)().upper())) + Fraction(1, 10**9))
