"""Claims in Python: verify, tight_epsilon, tight_delta, check."""

from __future__ import annotations

import time
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, overload

from dpverify.api.digits import checked
from dpverify.catalogue import Spec, Stated, resolve
from dpverify.catalogue import read_spec as read_spec
from dpverify.catalogue.inline import Noise, nothing_beside, stated
from dpverify.errors import SpecError
from dpverify.evidence.collected import read
from dpverify.report.answers import Answer, Answers, Enclosure, answer, judged
from dpverify.search import verify as judging
from dpverify.search.verify import Verified
from dpverify.trusted.kernel.certificate import decode
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.model import CLAIMED_MEASURES, Claim


@overload
def verify(what: Noise | Claim | Stated, digits: int = 20, **claim: Any) -> Answer: ...
@overload
def verify(what: Spec | str | Path, digits: int = 20) -> Answers: ...
def verify(
    what: Noise | Claim | Stated | Spec | str | Path, digits: int = 20, *, sensitivity: Any = None, query: Any = None,
    adjacency: str | None = None, epsilon: Any = None, delta: Any = None, **more: Any,
) -> Answer | Answers:  # fmt: skip
    """Prove or refute a claim, with its tight epsilon enclosed to `digits` digits where a rule reaches it.

    what: a mechanism, as dpverify.gaussian and its like declare one, with the claim beside it; or a claim file, a folder of such, a name
    on the shelf, or what dpverify.read_spec gives, whose claims are all judged: the answer is a list then. sensitivity: by how much
    neighbours move the true answer, in the mechanism's norm; query and adjacency: linear queries on a histogram, one a row, in its place.
    epsilon, delta: what is claimed, delta 0 where it is left out; either may be "tight". more: whatever else a [[claim]] of a claim file
    may say: zcdp, gdp or renyi in place of epsilon, order, difference, utility, within, beta, loss, prior, name, expect.
    Numbers are int, Fraction, Decimal, texts such as "1.775" or "log(3)", or exact ones of sympy.
    An answer is neither true nor false: ask its verdict or is_proved, or call raise_unless_proved().
    Raises SpecError listing all that is wrong with what is stated.
    """
    checked(digits)
    claim = {"sensitivity": sensitivity, "query": query, "adjacency": adjacency, "epsilon": epsilon, "delta": delta, **more}
    if isinstance(what, Claim | Stated | Spec | str | Path):
        nothing_beside(claim)
        if isinstance(what, Spec | str | Path):
            specs = [what] if isinstance(what, Spec) else map(read_spec, resolve(str(what)))
            return Answers(judged(one, digits, spec.file) for spec in specs for one in spec.claims)
        return judged(what if isinstance(what, Stated) else Stated(what), digits)
    return judged(stated(what, claim), digits)


def tight_epsilon(noise: Noise, *, sensitivity: Any = None, delta: Any = 0, digits: int = 20, **claim: Any) -> Enclosure:
    """The least epsilon for which the mechanism is (epsilon, delta)-private, between proved bounds of `digits` digits.

    The arguments are those of dpverify.verify. A bound that no rule reaches is None; dpverify.verify says why.
    """
    _asked_alone("tight_epsilon", "epsilon", claim)
    found = verify(noise, digits, sensitivity=sensitivity, epsilon="tight", delta=delta, **claim).epsilon
    return found if found is not None else Enclosure(None, None)


def tight_delta(noise: Noise, *, sensitivity: Any = None, epsilon: Any, digits: int = 20, **claim: Any) -> Enclosure:
    """The least delta for which the mechanism is (epsilon, delta)-private, between proved bounds of `digits` digits.

    The arguments are those of dpverify.verify. A bound that no rule reaches is None; dpverify.verify says why.
    """
    _asked_alone("tight_delta", "delta", claim)
    found = verify(noise, digits, sensitivity=sensitivity, epsilon=epsilon, delta="tight", **claim).delta
    return found if found is not None else Enclosure(None, None)


def _asked_alone(asked: str, value: str, claim: Mapping[str, Any]) -> None:
    """Raises SpecError for a claim that states what is asked for, or is in another measure, which says nothing of epsilon and delta."""
    if claim.get(value) is not None:
        raise SpecError(f"{asked}: {value} = {claim[value]!r:.40} is what is asked for. Leave it out, or ask dpverify.verify of it.")
    for name in CLAIMED_MEASURES:
        if claim.get(name) is not None:
            value = '{"order": 2, "epsilon": "tight"}' if name == "renyi" else '"tight"'
            raise SpecError(f"{asked}: {name} is another measure than epsilon and delta. Ask dpverify.verify(..., {name}={value}).measure.")


def check(certificate: Mapping[str, Any] | Answer | str | Path) -> Answer:
    """What the kernel says of a certificate: its JSON value, the file that holds it, or the answer that it belongs to. Nothing is searched.

    Raises OSError for a file that cannot be read, CertificateError for what is no certificate or says another verdict than its lines give,
    Rejected for a line that is refused.
    """
    started = time.perf_counter()
    certificate = certificate.certificate if isinstance(certificate, Answer) else certificate
    verified = judging.replayed(certificate) if isinstance(certificate, Mapping) else _replayed(certificate)
    return answer(verified, expected=verified.judgement.verdict, seconds=time.perf_counter() - started)


def _replayed(file: Any) -> Verified:
    """What the certificate in a file proves. Raises CertificateError with the file's name."""
    if not isinstance(file, str | PathLike):
        raise CertificateError(f"{file!r:.80} is not a certificate. Give the name of its file, or its JSON value as a dictionary.")
    if Path(file).suffix == ".toml":
        way = f'dpverify.verify("{file}") judges its claims, and answer.save("claim.cert.json") writes the certificate of one.'
        raise CertificateError(f"{file} is a claim file, not a certificate: {way}")
    try:
        return judging.replayed(decode(read(Path(file))))
    except CertificateError as error:
        raise CertificateError(f"{file}: {error}") from error
