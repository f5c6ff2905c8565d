"""Claims and audits as tests: the marker dp_claim, the fixtures dp_verify, dp_audit and dp_replay, and claim files with an [audit] table.

    @pytest.mark.dp_claim(epsilon=1, sensitivity=1, pairs=[([0.0], [1.0])])
    def test_noisy_mean_is_private(dp_audit):
        dp_audit(noisy_mean)

    @pytest.mark.parametrize("scale", ["1/2", 1, 2])
    def test_laplace_noise(dp_verify, dp_audit, scale):
        noise = dpverify.laplace(scale)
        dp_verify(noise, sensitivity=1, epsilon=1 / Fraction(scale))
        dp_audit(sampler(scale), noise, sensitivity=1, epsilon=1 / Fraction(scale), level="model")

A claim file (*.toml with a [mechanism] and an [audit] table) is a test for each of its claims when it is named on the command line, or
matches `dp_specs` in a directory that pytest collects from. Nothing heavy is imported before the first audit.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import inspect
import os
import shlex
import tomllib
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from dpverify.errors import AuditError, DpverifyError, SpecError
from dpverify.runtime.outside import printable_lines, read_regular

if TYPE_CHECKING:
    from dpverify.catalogue import Spec, Stated
    from dpverify.report.answers import Answer
    from dpverify.runtime.finding import Finding

MARKER: Final = (
    "dp_claim(spec=None, claim=None, **arguments): what the fixtures dp_audit and dp_verify look at: a claim of a claim file "
    "(spec: its path, claim: the claim's name), or arguments of dpverify.audit such as epsilon, delta, sensitivity, pairs, level."
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the ini file and the command line ask for.

    limits: samples and confidence where they are set; specs: the files to collect; again: what of the command line an audit depends on.
    """

    limits: dict[str, Any]
    seed: int
    specs: frozenset[Path]
    again: tuple[str, ...] = ()


MAX_BYTES: Final = 1 << 20
"""Of a claim file, as the catalogue has it."""
SETTINGS: Final = pytest.StashKey[Settings]()
PROFILED: Final = pytest.StashKey["Profiled"]()
AUDITED: Final = pytest.StashKey[bool]()


@dataclass(frozen=True, slots=True)
class Profiled:
    """The limits of an audit: of the ini file, else of the profile. again: the options that say what an environment variable chose."""

    limits: dict[str, Any]
    again: tuple[str, ...] = ()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of an audit, in the ini file; `--dp-seed` and `--dp-specs` also on the command line."""
    parser.addini("dp_samples", "runs on each side for every audit (default: that of the profile)", default="")
    parser.addini("dp_confidence", "1 - the false-alarm budget of each audit (default: that of the profile)", default="")
    parser.addini("dp_seed", "the root that the seed of every test is derived from (default: 0)", default="0")
    parser.addini("dp_specs", "globs, relative to the rootdir, of the claim files that are tests", type="args", default=[])
    group = parser.getgroup("dpverify", "audits of differential privacy")
    group.addoption("--dp-seed", metavar="N", help="the root of all seeds, instead of that of the ini option dp_seed")
    group.addoption(
        "--dp-specs", action="append", metavar="GLOB", help="claim files that are tests, instead of those of the ini option dp_specs"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and read the options. Raises pytest.UsageError listing all that is wrong with them."""
    config.addinivalue_line("markers", MARKER)
    faults: list[str] = []

    def read(name: str, kind: Callable[[str], Any], valid: Callable[[Any], bool], meaning: str) -> Any:
        """The value of an option, None where it is not set or faulty."""
        given = config.getoption(name, None)
        text = str(config.getini(name) if given is None else given).strip()
        if not text:
            return None
        with contextlib.suppress(ValueError):
            if valid(value := kind(text)):
                return value
        faults.append(f"{name} = {text}: not {meaning}.")
        return None

    samples = read("dp_samples", int, lambda value: value > 0, "a positive integer")
    confidence = read("dp_confidence", float, lambda value: 0 < value < 1, "a number between 0 and 1, such as 0.999999")
    seed = read("dp_seed", int, lambda value: value >= 0, "an integer of at least 0")
    if faults:
        raise pytest.UsageError("\n".join(faults))
    limits = {key: value for key, value in {"samples": samples, "confidence": confidence}.items() if value is not None}
    given: list[str] | None = config.getoption("dp_specs")
    globs, base = (config.getini("dp_specs"), config.rootpath) if given is None else (given, config.invocation_params.dir)
    matched = {pattern: glob.glob(pattern, root_dir=base, recursive=True) for pattern in globs}  # noqa: PTH207 (may be absolute)
    nothing = [pattern for pattern, paths in matched.items() if not paths]
    if nothing:
        text = f"dp_specs: no file matches {', '.join(nothing)} in {base}, so no claim file is a test by it. Correct the pattern."
        config.issue_config_time_warning(pytest.PytestConfigWarning(text), stacklevel=2)
    specs = frozenset((base / path).resolve() for paths in matched.values() for path in paths)
    config.stash[SETTINGS] = Settings(limits, seed or 0, specs, tuple(_again(config)))


def _profiled(config: pytest.Config) -> Profiled:
    """What the profile that is taken says; read once, at the first audit. Raises SpecError for what is wrong with pyproject.toml."""
    from dpverify.project.config import read_config

    if PROFILED not in config.stash:
        project = read_config(config.rootpath)
        chosen, without = project.chosen(), project.chosen(environment={})
        limits = {"samples": chosen.samples, "confidence": chosen.confidence} | config.stash[SETTINGS].limits
        said = {"samples": without.samples, "confidence": without.confidence} | config.stash[SETTINGS].limits
        again = [f"dp_{name}={value}" for name, value in limits.items() if said[name] != value]
        config.stash[PROFILED] = Profiled(limits, tuple(part for option in again for part in ("-o", option)))
    return config.stash[PROFILED]


def _again(config: pytest.Config) -> Iterator[str]:
    """The options of the command line on which the audit of a test depends: what the ini file says need not be said again."""
    for option, name in (("-c", "inifilename"), ("--rootdir", "rootdir"), ("--dp-seed", "dp_seed")):
        value = config.getoption(name, None)
        if value is not None:
            yield from (option, str(value))
    for override in config.getoption("override_ini", None) or ():
        if override.startswith(("dp_samples=", "dp_confidence=", "dp_seed=")):
            yield from ("-o", override)


def _replayed(finding: Finding, item: pytest.Item) -> Finding:
    """The finding with the line that runs its test again; as it is where the sampler takes no generator."""
    if not finding.replay or item.parent is None:
        return finding
    file, *names = [*str(item.parent.nodeid).split("::"), item.name]  # without what pytest-xdist may add to the item's own
    place = os.path.relpath(item.config.rootpath / file, item.config.invocation_params.dir)
    line = shlex.join(["pytest", *item.config.stash[SETTINGS].again, *_profiled(item.config).again, "::".join([place, *names])])
    return replace(finding, replay=line, also=tuple(_replayed(one, item) for one in finding.also))


def seed_of(root: int, item: pytest.Item) -> int:
    """The seed of a test: of dp_seed and of the test's file and name alone, so it is the same in every process and in every order."""
    file, _, name = item.location  # the node id, without what pytest-xdist may add to it
    return int.from_bytes(hashlib.sha256(f"{root}:{file}::{name}".encode()).digest()[:4])


def _arguments(item: pytest.Item, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an audit: limits of the ini file or the profile, and the seed; over them those given.

    The seed is shown where the test fails, whatever the reason.
    """
    settings = item.config.stash[SETTINGS]
    arguments = {**_profiled(item.config).limits, "seed": seed_of(settings.seed, item), **given}
    item.add_report_section("call", "dpverify", f"seed {arguments['seed']} (from dp_seed = {settings.seed} and the test's name)")
    return arguments


# -- the marker and the fixture ------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test with the marker that passes without an audit has tested nothing: it fails, and says what to do."""
    passed = yield
    reported = getattr(item, "_excinfo", None)  # what unittest keeps instead of raising it
    if item.get_closest_marker("dp_claim") is not None and not item.stash.get(AUDITED, False) and not reported:
        taken = next((name for name in ("dp_audit", "dp_verify") if name in getattr(item, "fixturenames", ())), None)
        pytest.fail(
            f"{item.name} has the marker dp_claim, and nothing was audited: it "
            + (f"takes the fixture {taken}, but did not call it." if taken else "does not take the fixture dp_audit.")
            + " Call dp_audit(sampler) in the test, with dp_audit among its parameters, or take the marker away.",
            pytrace=False,
        )
    return passed


@pytest.fixture
def dp_audit(request: pytest.FixtureRequest) -> Callable[..., Finding]:
    """Audit a sampler: `dp_audit(sampler, **overrides)` returns the Finding, and fails the test on VIOLATION and NONCONFORMING.

    A mechanism that is declared in Python, or a claim, may stand behind the sampler, as for dpverify.audit. What is claimed stands in
    the marker dp_claim; overrides are arguments of dpverify.audit (or spec and claim) that replace the marker's. The seed is derived
    from dp_seed and the test's name. Where dpverify.audit raises AuditError, SamplerError or SpecError, the test fails with that
    message alone.
    """
    item: pytest.Item = request.node

    def run(sampler: Callable[..., Any] | str, claim: Any = None, **overrides: Any) -> Finding:
        __tracebackhide__ = True
        item.stash[AUDITED] = True
        overrides |= {} if claim is None else {"claim": claim}
        try:
            finding = _finding(item, sampler, overrides)
        except DpverifyError as error:
            raise pytest.fail.Exception(_told(error), pytrace=False) from None
        if not finding.as_expected:
            pytest.fail(printable_lines(finding.text()), pytrace=False)
        return finding

    return run


@pytest.fixture
def dp_verify(request: pytest.FixtureRequest) -> Callable[..., Answer]:
    """Prove a claim: `dp_verify(noise, **claim)` returns the answer of dpverify.verify, and fails the test where it is not PROVED.

    expect="refuted" (or "unknown") asks for another verdict. What is claimed may stand in the marker dp_claim too, of a claim file as well:
    then dp_verify() needs no mechanism. Where the claim cannot be read, the test fails with that message alone.
    """
    item: pytest.Item = request.node

    def run(noise: Any = None, digits: int = 20, **overrides: Any) -> Answer:
        __tracebackhide__ = True
        item.stash[AUDITED] = True
        try:
            answer = _judged(item, noise, digits, overrides)
        except DpverifyError as error:
            raise pytest.fail.Exception(_told(error), pytrace=False) from None
        if not answer.as_expected:
            pytest.fail(str(answer), pytrace=False)
        return answer

    return run


@pytest.fixture
def dp_replay() -> Callable[..., Any]:
    """Replay a pipeline: `dp_replay(pipeline, rows=..., **more)` is dpverify.replay, and fails the test where the contract is broken.

    So it does where what is claimed beside, by epsilon and delta, is refuted or undecided. The arguments are those of dpverify.replay.
    """

    def run(pipeline: Callable[..., Any], **given: Any) -> Any:
        __tracebackhide__ = True
        from dpverify.report.replays import replay

        try:
            found = replay(pipeline, **given)
        except DpverifyError as error:
            raise pytest.fail.Exception(_told(error), pytrace=False) from None
        if not found.is_clean:
            pytest.fail(printable_lines(str(found)), pytrace=False)
        return found

    return run


def _judged(item: pytest.Item, noise: Any, digits: int, overrides: dict[str, Any]) -> Answer:
    """The answer to what the test's marker and the overrides claim; the marker may hold what is for audits alone."""
    from dpverify.catalogue.inline import OF_A_CLAIM, nothing_beside, stated
    from dpverify.report.answers import judged

    marked = _marked(item)
    named = noise if isinstance(noise, str | Path) else None
    spec = overrides.pop("spec", marked.get("spec") if named is None else named)
    said = {key: value for key, value in marked.items() if key in OF_A_CLAIM and not callable(value)}
    if spec is None:
        return judged(stated(noise, {**said, **overrides}), digits)
    found = _stated(Path(spec), overrides.pop("claim", marked.get("claim")), (item.path.parent, item.config.rootpath))
    expect = str(overrides.pop("expect", said.pop("expect", "PROVED"))).upper()
    nothing_beside({**said, **overrides})
    return judged(replace(found, expect=expect), digits)


def _finding(item: pytest.Item, sampler: Callable[..., Any] | str, overrides: dict[str, Any]) -> Finding:
    """The finding of what the test's marker and the overrides claim."""
    from dpverify.audits import audit

    given = {**_marked(item), **overrides}
    if given.keys().isdisjoint(("spec", "claim", "epsilon")):
        way = "Mark it @pytest.mark.dp_claim(epsilon=1, pairs=[...]), or name what is claimed in dp_audit."
        raise AuditError(f"{item.name}: what is claimed? {way}")
    spec = given.pop("spec", None)
    if spec is not None:
        given["claim"] = _stated(Path(spec), given.get("claim"), (item.path.parent, item.config.rootpath)).claim
    return _replayed(audit(sampler, **_arguments(item, given)), item)


def _marked(item: pytest.Item) -> dict[str, Any]:
    """What the test's marker claims. Raises SpecError for what is no argument of a claim, nor of an audit."""
    from dpverify.catalogue.inline import OF_A_CLAIM

    marker = item.get_closest_marker("dp_claim")
    if marker is None:
        return {}
    if marker.args:
        raise SpecError(f"dp_claim takes no positional arguments: name {marker.args!r:.80}, as in dp_claim(epsilon=1).")
    known = {"spec", "claim", *OF_A_CLAIM}
    if not marker.kwargs.keys() <= known:
        from dpverify.audits import audit
        from dpverify.catalogue.toml import meant

        known |= inspect.signature(audit).parameters.keys()
        faults = [f"dp_claim: unknown argument {name!r}.{meant(name, sorted(known))}" for name in marker.kwargs if name not in known]
        if faults:
            raise SpecError(faults)
    return dict(marker.kwargs)


def _told(error: DpverifyError) -> str:
    """What dpverify raises on purpose needs no traceback, but a sampler that crashed is shown with its own frames, where they are known."""
    frames = traceback.extract_tb(error.__cause__.__traceback__ if error.__cause__ is not None else None)
    foreign = [frame for frame in frames if not Path(frame.filename).is_relative_to(Path(__file__).parent)]
    return printable_lines("".join([f"{type(error).__name__}: {error}\n", *traceback.format_list(foreign)]))


def _stated(path: Path, name: str | None, folders: tuple[Path, ...]) -> Stated:
    """The claim of this name, or the only one, of a claim file beside the test or below the rootdir. Raises SpecError."""
    from dpverify.catalogue import read_spec

    file = next((folder / path for folder in folders if (folder / path).is_file()), None)
    if file is None:
        raise SpecError(f"dp_claim: {path}: no such file. Looked in {', '.join(map(str, dict.fromkeys(folders)))}.")
    claims = {stated.claim.name: stated for stated in read_spec(file).claims}
    if name is None and len(claims) == 1:
        return next(iter(claims.values()))
    if name is None or name not in claims:
        wrong = f"holds {len(claims)} claims" if name is None else f"holds no claim {name!r}"
        raise SpecError(f"dp_claim: {path} {wrong}. Give claim = one of {', '.join(map(repr, claims))}.")
    return claims[name]


# -- claim files ---------------------------------------------------------------------------------------------


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A claim file that is named on the command line or matches dp_specs; other files are left to other plugins."""
    if file_path.suffix != ".toml" or file_path.name == "pyproject.toml":
        return None
    named = parent.session.isinitpath(file_path)
    if not named and file_path.resolve() not in parent.config.stash[SETTINGS].specs:
        return None
    with contextlib.suppress(OSError, ValueError):  # reading it again says what is wrong
        tables = tomllib.loads(read_regular(file_path, MAX_BYTES).decode("utf-8"))
        if "mechanism" not in tables or not (named or "audit" in tables):
            return None
    # Outside the rootdir pytest would name a file that was asked for by the empty string.
    nodeid = None if file_path.is_relative_to(parent.config.rootpath) else file_path.as_posix()
    return ClaimFile.from_parent(parent, path=file_path, nodeid=nodeid)


class ClaimFile(pytest.File):
    """A claim file: a test for each claim."""

    def collect(self) -> Iterator[ClaimItem]:
        """One item a claim. Raises CollectError listing all that is wrong with the file."""
        from dpverify.catalogue import read_spec

        try:
            spec = read_spec(self.path)
        except SpecError as error:
            raise self.CollectError("\n".join(error.faults)) from error
        if spec.audit is None:
            raise self.CollectError(f"{self.path}: no [audit] table, so there is nothing to run. Add one that names the sampler.")
        for stated in spec.claims:
            yield ClaimItem.from_parent(self, name=stated.claim.name or f"line {stated.line}", spec=spec, stated=stated)


class ClaimItem(pytest.Item):
    """One claim of a file, audited: passes unless something is found that the file does not expect."""

    def __init__(self, *, spec: Spec, stated: Stated, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.spec, self.stated = spec, stated

    def runtest(self) -> None:
        from dpverify.audits import audit_spec

        findings = audit_spec(self.spec, claims=[self.stated], **_arguments(self, {}))
        surprises = [_replayed(finding, self).text() for finding in findings if not finding.as_expected]
        if surprises:
            pytest.fail(printable_lines("\n".join(surprises)), pytrace=False)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What dpverify raises on purpose is told by its message."""
        if isinstance(excinfo.value, DpverifyError):
            return _told(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the claim stands, lines counted from 0."""
        return self.path, self.stated.line - 1, self.name
