"""The exception tree.

DpverifyError
├── ExprError          an expression that cannot be read or makes no sense
├── SpecError          a claim file or declaration with faults; lists all of them
├── CertificateError   a certificate that is damaged, of another version, or bound to another claim
├── Rejected           a rule that does not accept its evidence: which rule, where, why
├── Undecided          an enclosure too wide to answer: not a fault, a reason for UNKNOWN
├── CalibrationError   no value of a parameter was found at which the claims just hold
├── AuditError         an audit that cannot be set up as asked
├── NoSampler          a law that no sampler is made for
├── DataError          an input that a sampler cannot be called with
├── NotProved          a claim that a script wants proved, and that is not
├── FoundByAudit       a violation, or another density than declared, where a script wants none
├── NotCertain         an answer or a number that is asked for more than is known of it
├── ProjectError       files of somebody's project that cannot be made or added to; lists all of them
└── SamplerError       a sampled implementation that crashed, hung or gave what is no output: which, on what input and seed

Those that the core raises are in `dpverify.trusted.kernel.errors`.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.runtime.outside import printable, printable_lines
from dpverify.trusted.kernel.errors import DpverifyError as DpverifyError


class SpecError(DpverifyError):
    """A claim file or a declaration with faults.

    faults: one line each, saying what, where and the way out; names from outside are made printable.
    """

    def __init__(self, faults: str | Sequence[str]) -> None:
        self.faults: tuple[str, ...] = tuple(map(printable, (faults,) if isinstance(faults, str) else faults))
        super().__init__("\n".join(self.faults))


class BadFiles(SpecError):
    """Claim files with faults. of_files: each fault with the file that it is in, as that was named."""

    def __init__(self, of_files: Sequence[tuple[str, str]]) -> None:
        self.of_files = tuple((file, printable(fault)) for file, fault in of_files)
        super().__init__([fault for _, fault in of_files])


class CodeForbidden(SpecError):
    """A claim file whose mechanism is code, where none may be run."""


class CodeFailed(SpecError):
    """A claim file with nothing wrong but that the code of its mechanism raised, ended its process or did not return."""


class CalibrationError(DpverifyError):
    """No value of a parameter was found at which the claims just hold: what was seen, and the way out.

    verdict: REFUTED where every claim that was looked at is refuted, UNKNOWN else.
    """

    def __init__(self, message: str, verdict: str = "UNKNOWN") -> None:
        super().__init__(message)
        self.verdict = verdict


class AuditError(DpverifyError):
    """An audit that cannot be set up as asked: what is missing or contradicts itself, and the way out."""


class ProjectError(DpverifyError):
    """Files of somebody's project that cannot be made, read or added to.

    faults: one for each file, saying what, where and the way out; names from outside are made printable.
    """

    def __init__(self, faults: str | Sequence[str]) -> None:
        self.faults: tuple[str, ...] = tuple(map(printable_lines, (faults,) if isinstance(faults, str) else faults))
        super().__init__("\n".join(self.faults))


class SamplerError(DpverifyError):
    """A sampled implementation that crashed, hung, or gave what is no output (nan, another length than asked).

    The message names the sampler, the input and the seed that bring it about. It is never a pass.
    """


class NoSampler(DpverifyError):
    """A law that no sampler is made for: why, and the way out."""


class DataError(DpverifyError):
    """What a sampler cannot be called with: data that are no input of the mechanism, a grid that is none."""


class NotProved(DpverifyError):
    """A claim that a script wants proved, and that is refuted or undecided: all that is known of it. verdicts: of each such claim."""

    def __init__(self, message: str, verdicts: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.verdicts = tuple(verdicts)


class FoundByAudit(DpverifyError):
    """An audit that found something, where a script wants it to find nothing. The message is the finding."""


class NotCertain(DpverifyError, TypeError):
    """What is asked of an answer, a finding or an enclosed number has no certain answer; says what to ask instead."""
