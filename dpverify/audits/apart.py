"""Audits of claim files in a process of their own: the code that they run cannot end, patch or silence the process that reports on it.

What comes back is the findings, as JSON data: never a pickle that foreign code could have made. Within that process the sampler's calls
are watched by the engine, those of a query by `timed`.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final

from dpverify.audits import audit_spec, intact
from dpverify.catalogue import Spec, Stated
from dpverify.errors import AuditError, SamplerError
from dpverify.runtime.finding import Finding, as_data, of_data
from dpverify.runtime.processes import Bounds, Ended, apart
from dpverify.trusted.kernel.errors import DpverifyError

PATIENCE: Final = 10
"""So many times what one call may take may pass before the first sample: neighbours are searched for, with many calls of a query."""
LEAST: Final = 30.0  # seconds


def audit_apart(spec: Spec, stated: Stated, progress: Callable[[int], object], settings: Mapping[str, Any]) -> list[Finding]:
    """`audit_spec` of one claim, in a process of its own.

    Raises AuditError or SamplerError as that does, AuditError where the code ends its process or does not return, OSError for a checkpoint
    that cannot be kept, and Failed for a fault of dpverify.
    """

    def told(done: Any) -> None:
        if type(done) is int:
            progress(done)

    bounds = Bounds(max(LEAST, PATIENCE * settings["timeout"]), None)
    answer = apart(_audited, (spec, stated, dict(settings)), bounds=bounds, told=told)
    if isinstance(answer, Ended):
        raise AuditError(
            f"the audit ran {_named(spec.audit or {})}, and its process was {answer.how}: no finding. "
            "Code that is audited must return, and must not end its process."
        )
    try:
        if "findings" in answer:
            return [of_data(one) for one in answer["findings"]]
        name, *arguments = answer["error"]
        if name == "OSError":
            number, why, file = arguments
            raise OSError(number, str(why), None if file is None else str(file))
        raise (SamplerError if name == "SamplerError" else AuditError)(str(arguments[0]))
    except (LookupError, TypeError, ValueError) as error:
        raise AuditError(f"the audit ran {_named(spec.audit or {})}, and what its process said cannot be read: {error}.") from error


def _named(table: Mapping[str, Any]) -> str:
    """The code that an [audit] table names."""
    names = [f"the {key} {table[key]}" for key in ("sampler", "query", "train", "score") if key in table]
    patterns = str(table.get("patterns", ""))
    names += [f"the strategy {patterns.removeprefix('strategy:')}"] if patterns.startswith("strategy:") else []
    return " and ".join(names)


def _audited(spec: Spec, stated: Stated, settings: Mapping[str, Any], say: Callable[[Any], None]) -> dict[str, Any]:
    """The findings as JSON data, or the error that stands in their place."""
    intact.remember(keep=True)  # before the code that is audited is imported
    try:
        findings = [as_data(one) for one in audit_spec(spec, claims=[stated], progress=say, **settings)]
        return _replaced(spec) or {"findings": findings}
    except SamplerError as error:
        return {"error": ["SamplerError", str(error)]}
    except DpverifyError as error:
        return _replaced(spec) or {"error": ["AuditError", str(error)]}
    except OSError as error:
        return {"error": ["OSError", error.errno, error.strerror or str(error), error.filename]}
    except Exception:
        if os.environ.get("DPVERIFY_DEBUG"):
            traceback.print_exc()
        if (said := _replaced(spec)) is not None:
            return said
        raise


def _replaced(spec: Spec) -> dict[str, Any] | None:
    """The error that the code replaced something that the audit uses, if it did: then nothing else that was found is to be believed."""
    name = intact.changed()
    if name is None:
        return None
    return {"error": ["AuditError", f"{_named(spec.audit or {})} replaces {name}, which the audit itself uses: change only what is yours."]}
