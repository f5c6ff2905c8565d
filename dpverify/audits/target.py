"""The user's callable: where it is, how it is called, what is its fault."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import functools
import gc
import importlib
import importlib.metadata
import inspect
import itertools
import reprlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from dpverify.audits.outputs import NotAnOutput, NotANumber, Outputs, Raised, encode
from dpverify.catalogue.toml import meant
from dpverify.errors import AuditError, SamplerError
from dpverify.runtime.outside import printable

RNG_NAMES: Final = frozenset({"rng", "random_state", "generator", "random"})
SIZE_NAMES: Final = frozenset({"size", "n", "num_samples", "n_samples", "samples"})
TIMEOUT: Final = 60.0  # seconds
FAILURES, TIME = "failures", "time"

Beat = Callable[[bool], None]  # told True when a call begins and while calls return, False when all have


# -- finding it ----------------------------------------------------------------------------------------------


def load(reference: str, folder: Path | None = None) -> object:
    """What `reference` names: "package.module:name" or "path/to/file.py:name"; the name may be dotted.

    Looked for in `folder` (that of the spec file), the working directory, the installed packages, in that order. Runs the module's
    code, once a process, and says so on stderr. Folders are on sys.path only while the module is imported, and modules of one name in two
    folders are two modules; the first keeps the name in sys.modules.

    Raises AuditError where there is no such module or name, or where the module fails.
    """
    return _load(reference, folder)[0]


def _load(reference: str, folder: Path | None) -> tuple[object, Path | None]:
    """What `reference` names, and the folder that it was found from: None for an installed package."""
    file, mark, name = reference.rpartition(":")
    if not mark or not file or not all(part.isidentifier() for part in name.split(".")):
        raise AuditError(f'{reference!r} is not of the form "package.module:name" or "path/to/file.py:name".')
    bases = list(dict.fromkeys(base.resolve() for base in (folder, Path()) if base is not None))
    if file.endswith(".py"):
        base = next((base for base in bases if (base / file).is_file()), None)
        if base is None:
            raise AuditError(f"{reference!r}: no such file. Looked in {', '.join(map(str, bases))}.")
        module = _module(Path(file).stem, (base / file).resolve().parent)
    elif all(part.isidentifier() for part in file.split(".")):
        base = next((base for base in bases if _spec(file, base) is not None), None)
        module = _module(file, base)
    else:
        raise AuditError(f"{reference!r}: {file!r} is neither a module's name nor a .py file.")
    thing: Any = module
    for part in name.split("."):
        if not hasattr(thing, part):
            known = [key for key in dir(thing) if not key.startswith("__")]
            raise AuditError(f"{reference!r}: {getattr(module, '__file__', file)} has no {part!r}.{meant(part, known)}")
        thing = getattr(thing, part)
    return thing, base


def _spec(module: str, base: Path) -> ModuleSpec | None:
    """Where `module` is below the folder `base`, without running anything."""
    places: list[str] | None = [str(base)]
    spec = None
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:count]), places) if places is not None else None
        if spec is None:
            return None
        places = None if spec.submodule_search_locations is None else list(spec.submodule_search_locations)
    return spec if spec is not None and spec.origin is not None else None


@functools.cache
def _module(name: str, base: Path | None) -> ModuleType:
    """The module `name` below `base`, or an installed one; its code runs the first time."""
    spec = None if base is None else _spec(name, base)
    known = sys.modules.get(name)
    if known is not None and (spec is None or _place(known.__spec__) == _place(spec)):
        return known
    print(printable(f"running {name if spec is None else spec.origin} (for the audit)"), file=sys.stderr)  # noqa: T201
    try:
        with contextlib.nullcontext() if base is None else _first_on_path(base, name):
            return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if spec is None and isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            raise AuditError(
                f"no module {error.name!r}: not in the spec file's folder, nor in {Path().resolve()}, nor installed."
                f'{meant(name.partition(".")[0], _modules_nearby())} Install it, or write its place: "path/to/file.py:name".'
            ) from error
        wanted = " Install what it imports." if isinstance(error, ModuleNotFoundError) else ""
        place = name if spec is None else spec.origin
        raise AuditError(f"{place} fails when it is imported: {type(error).__name__}: {error}.{wanted}") from error


@contextlib.contextmanager
def _first_on_path(base: Path, name: str) -> Iterator[None]:
    """`base` at the front of sys.path, and what it holds in place of modules of the same names from elsewhere."""
    top = name.partition(".")[0]
    importlib.invalidate_caches()
    clashing = set()
    for other in [key for key in sys.modules if "." not in key and (key == top or key not in sys.stdlib_module_names)]:
        spec = PathFinder.find_spec(other, [str(base)])
        if spec is not None and (spec.origin or other == top) and _place(spec) != _place(getattr(sys.modules[other], "__spec__", None)):
            clashing.add(other)
    hidden = {key: sys.modules.pop(key) for key in list(sys.modules) if key.partition(".")[0] in clashing}
    sys.path.insert(0, str(base))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # the module may have changed sys.path itself
            sys.path.remove(str(base))
        for key in [key for key in sys.modules if key.partition(".")[0] in clashing]:
            del sys.modules[key]
        sys.modules.update(hidden)


def _place(spec: ModuleSpec | None) -> tuple[str, ...]:
    """What tells a module from others of the same name: its file, or its folders."""
    if spec is None:
        return ()
    return (spec.origin,) if spec.origin else tuple(spec.submodule_search_locations or ())


def _modules_nearby() -> list[str]:
    """Names of modules in the working directory and of installed packages, for a message."""
    here = [path.stem if path.suffix == ".py" else path.name for path in Path().iterdir() if path.suffix == ".py" or path.is_dir()]
    return here + sorted(importlib.metadata.packages_distributions())


# -- how it is called ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Target:
    """A sampled implementation and how it is called.

    positional: which of "data", "size", "rng" go by position, in order; keywords: (which, parameter) of those that go by name.
    reference, folder: where it came from, None where it was given as a callable.
    observe: "failures" for nan and exceptions of single calls as outputs, "time" for how long a call took beside its output.

    A sampler that takes no rng runs in a declared mode, "not reproducible": neither `random` nor `np.random` is seeded for it, since
    their state belongs to the caller and a sampler without an rng need not use them.
    """

    call: Callable[..., Any]
    name: str
    positional: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...] = ()
    reference: str | None = None
    folder: Path | None = None
    observe: str = ""

    @classmethod
    def of(
        cls, sampler: Callable[..., Any] | str, folder: Path | None = None, vectorised: bool | None = None, observe: str = ""
    ) -> Target:
        """The target that `sampler` is or names; vectorised: whether it gives `size` outputs a call, None to see it from the signature.

        Parameters named rng, random_state, generator or random take a numpy Generator, those named size, n, num_samples, n_samples or
        samples (without a default, or with None or 1) the number of outputs, the first other one the data. Where no name tells, one
        required parameter is (data), two are (data, rng), three (data, size, rng).

        Raises AuditError where `sampler` names nothing, is not callable, or has a parameter of which nobody knows the value.
        """
        reference = None
        if isinstance(sampler, str):
            reference = sampler
            sampler, folder = _load(sampler, folder)  # type: ignore[assignment]
        name = reference or _name(sampler)
        if not callable(sampler):
            raise AuditError(f"the sampler {name} is not callable: it is {show(sampler)}.")
        positional, keywords = _roles(sampler, name, vectorised)
        return cls(sampler, name, positional, keywords, reference, folder if reference else None, observe)

    @property
    def vectorised(self) -> bool:
        """Whether one call gives many outputs."""
        return "size" in self._roles

    @property
    def reproducible(self) -> bool:
        """Whether the sampler takes its randomness from the rng that it is given."""
        return "rng" in self._roles

    @property
    def _roles(self) -> tuple[str, ...]:
        return *self.positional, *(role for role, _ in self.keywords)

    def __reduce__(self) -> tuple[Any, ...]:
        """What came from a reference is found again where it is unpickled: its module need not be importable there by name."""
        if self.reference is not None:
            return Target.of, (self.reference, self.folder, self.vectorised, self.observe)
        return Target, (self.call, self.name, self.positional, self.keywords, None, None, self.observe)

    def draw(
        self, data: Any, size: int, rng: np.random.Generator, *, seed: str = "", timeout: float = TIMEOUT, beat: Beat | None = None
    ) -> Outputs:
        """`size` outputs on `data`.

        data: numeric lists become arrays; the sampler gets a copy of it, and a scalar sampler must leave that as it was.
        seed: how to come by the rng again, for messages. timeout: seconds in which a call must return.
        beat: told from inside while the sampler is alive.

        Raises SamplerError where the sampler crashes, hangs, changes its input or the output of another call, or gives what is no output or
        another number of them.
        """
        fail = functools.partial(self.fault, data, seed)
        given = prepare(data)
        mine = copied(given)
        values = {"data": mine, "size": size, "rng": rng}
        call = functools.partial(
            self.call, *(values[role] for role in self.positional), **{name: values[role] for role, name in self.keywords}
        )
        if self.observe == FAILURES and not self.vectorised:
            call = functools.partial(_or_raised, call)
        calls = 1 if self.vectorised else size
        # Appending in C costs less than a comprehension, and tells how far it got to those who watch.
        got: list[Any] = []
        first: list[Any] = []  # the first output as it was given: a later call may change it

        def work() -> None:
            got.append(call())
            if not self.vectorised:
                first.append(copied(got[0]))
                got.extend(itertools.starmap(call, itertools.repeat((), calls - 1)))

        try:
            _watched(work, got, timeout, beat)
        except _Hanging:
            what = f"the call for {size} outputs" if self.vectorised else f"call {len(got)} (from 0)"
            raise fail(f"{what} {overdue(timeout)}") from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            at = "" if self.vectorised else f"call {len(got)} (from 0) of the block: "
            raise fail(f"{at}{type(error).__name__}: {error}", Failing) from error
        if not self.vectorised and mine is not given and not _same(mine, given):
            raise fail(f"changes its input, to {show(mine)}: copy it before changing it.")
        if first and not _same(got[0], first[0]):
            raise fail(f"changes the output that it gave before, {show(first[0])} to {show(got[0])}: return a copy of it.")
        try:
            return encode(got[0] if self.vectorised else got, size, failures=self.observe == FAILURES)
        except NotAnOutput as error:
            for lazy in filter(inspect.iscoroutine, got):
                lazy.close()  # or each of them would warn that nobody awaited it
            raise fail(f"gave {error}.", GaveNan if isinstance(error, NotANumber) else SamplerError) from error

    def draw_timed(
        self, pair: tuple[Any, Any], size: int, streams: Sequence[np.random.SeedSequence], *, seed: str = "", timeout: float = TIMEOUT
    ) -> tuple[Outputs, Outputs]:
        """`size` outputs on each of two inputs with how long each call took: calls come in pairs, whose order a coin decides.

        So whatever else moves the time of a call, such as the load of the machine, moves both sides alike.
        streams: for x, for x' and for the coins. Raises SamplerError as `draw` does.
        """
        coins = np.random.default_rng(streams[2]).integers(0, 2, size).tolist()
        given = [copied(prepare(data)) for data in pair]
        calls = []
        for data, stream in zip(given, streams, strict=False):
            values = {"data": data, "size": 1, "rng": np.random.default_rng(stream)}
            named = {name: values[role] for role, name in self.keywords}
            calls.append(functools.partial(self.call, *(values[role] for role in self.positional), **named))
        got: tuple[list[Any], list[Any]] = ([], [])
        done: list[Any] = []

        def work() -> None:
            clock = time.perf_counter_ns
            for coin in coins:
                for side in (coin, 1 - coin):
                    call, began = calls[side], clock()
                    output = call()
                    ended = clock()
                    got[side].append({"output": copied(output[0]) if self.vectorised else copied(output), "nanoseconds": ended - began})
                    done.append(None)

        collecting = gc.isenabled()
        gc.disable()  # or it would fall on one call in many
        try:
            _watched(work, done, timeout, None)
        except _Hanging:
            raise self.fault(pair[0], seed, f"call {len(done)} (from 0) of both {overdue(timeout)}") from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self.fault(pair[0], seed, f"or {show(pair[1])}: {type(error).__name__}: {error}") from error
        finally:
            if collecting:
                gc.enable()
        try:
            return encode(got[0], size), encode(got[1], size)
        except NotAnOutput as error:
            raise self.fault(pair[0], seed, f"or {show(pair[1])}: gave {error}.") from error

    def fault(self, data: Any, seed: str, what: str, kind: type[SamplerError] = SamplerError) -> SamplerError:
        """The fault `what`, with everything that brings it about."""
        where = seed if self.reproducible else f"{seed}; it takes no rng: not reproducible" if seed else "it takes no rng: not reproducible"
        return kind(f"sampler {self.name} on input {show(data)}{f' ({where})' if where else ''}: {what}")


def _or_raised(call: Callable[..., Any]) -> Any:
    """An output, or the exception that stands in its place."""
    try:
        return call()
    except Exception as error:
        return Raised(type(error).__name__, str(error))


class Failing(SamplerError):
    """The sampler raises, or gives nan, which it may do on one of two neighbours alone."""


class GaveNan(Failing):
    """The sampler gives nan."""


def overdue(timeout: float) -> str:
    """What is said of a call that takes more than `timeout` seconds."""
    return f"did not return within {timeout:g} s. If it is only slow, allow more time (timeout)."


def timed(call: Callable[[Any], Any], name: str, timeout: float) -> Callable[[Any], Any]:
    """A query whose calls must return within `timeout` seconds: they raise AuditError where they do not, or where they end the process."""

    @functools.wraps(call)
    def watched(data: Any) -> Any:
        answers: list[Any] = []
        try:
            _watched(lambda: answers.append(call(data)), answers, timeout, None)
        except _Hanging:
            raise AuditError(f"the query {name} on input {show(data)} {overdue(timeout)}") from None
        except SystemExit as error:
            raise AuditError(f"the query {name} on input {show(data)} ends its process: SystemExit({error.code!r}).") from error
        return answers[0]

    return watched


def timed_call(call: Callable[[], Any], what: str, timeout: float) -> Any:
    """What a call returns. Raises SamplerError, which says of what, where it crashes, ends its process or takes too many seconds."""
    got: list[Any] = []
    try:
        _watched(lambda: got.append(call()), got, timeout, None)
    except _Hanging:
        raise SamplerError(f"{what} {overdue(timeout)}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise SamplerError(f"{what}: {type(error).__name__}: {error}") from error
    return got[0]


def _name(sampler: object) -> str:
    """A callable in words."""
    while isinstance(sampler, functools.partial):
        sampler = sampler.func
    named = sampler if hasattr(sampler, "__qualname__") else type(sampler)
    return str(named.__qualname__)


def _roles(call: Callable[..., Any], name: str, vectorised: bool | None) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """How `call` takes data, size and rng: `positional` and `keywords` of the Target."""
    contract = ("data", "size", "rng") if vectorised else ("data", "rng")
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except (ValueError, TypeError):  # written in C, and without a signature
        return contract, ()
    star = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    parameters = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    rest = {p.name: p for p in parameters}

    def take(wanted: Callable[[inspect.Parameter], bool]) -> str | None:
        return next((rest.pop(p.name).name for p in parameters if p.name in rest and wanted(p)), None)

    if not rest and star:
        return contract, ()
    data = take(lambda p: p.name not in RNG_NAMES | SIZE_NAMES) or take(lambda p: p.name not in RNG_NAMES)
    if data is None:
        raise AuditError(f"the sampler {name} takes no data: it is called as (data, rng) or (data, size, rng).")
    rng = take(lambda p: p.name in RNG_NAMES)
    size = None if vectorised is False else take(lambda p: p.name in SIZE_NAMES and p.default in (p.empty, None, 1))
    unknown = [p.name for p in rest.values() if p.default is p.empty]
    if rng is None and size is None and len(unknown) == 2 and vectorised is not False:
        size, rng, unknown = *unknown, []
    elif rng is None and len(unknown) == 1 and not (vectorised and size is None):
        rng, unknown = unknown[0], []
    elif size is None and len(unknown) == 1 and vectorised:
        size, unknown = unknown[0], []
    if unknown:
        raise AuditError(
            f"the sampler {name} asks for {', '.join(unknown)}, and an audit has only data, size and rng to give: "
            "bind it with functools.partial, or name the parameters so."
        )
    if vectorised and size is None:
        raise AuditError(f"the sampler {name} is to give many outputs a call, but takes no size: add a parameter `size`.")
    positional: list[str] = []
    keywords = []
    skipped = False
    for p in parameters:
        role = {data: "data", size: "size", rng: "rng"}.get(p.name)
        if role is None:
            skipped = skipped or p.kind is not p.KEYWORD_ONLY
        elif p.kind is p.KEYWORD_ONLY or (skipped and p.kind is p.POSITIONAL_OR_KEYWORD):
            keywords.append((role, p.name))
        elif skipped:
            raise AuditError(f"the sampler {name} takes {p.name} by position only, after parameters of which nobody knows the value.")
        else:
            positional.append(role)
    if star and rng is None and not skipped:
        positional.append("rng")
    return tuple(positional), tuple(keywords)


# -- its data ------------------------------------------------------------------------------------------------


def prepare(data: Any) -> Any:
    """Data as a sampler gets it: lists of numbers, nested evenly, become arrays (integers stay integers); all else is left as it is."""
    if isinstance(data, list):
        try:
            array = np.asarray(data)
        except (ValueError, OverflowError):
            return data
        if array.dtype.kind in "biu" or (array.dtype.kind == "f" and _as_given(data)):
            return array
    return data


def _as_given(data: list[Any]) -> bool:
    """Whether all integers among these numbers are floats too: an array of floats would give the sampler other data."""
    whole = (value for value in np.asarray(data, object).ravel().tolist() if isinstance(value, (int, np.integer)))
    return all(abs(value) <= 2**53 or int(float(value)) == value for value in map(int, whole))


def show(data: Any) -> str:
    """Data for a message, shortened."""
    if isinstance(data, np.ndarray):
        if data.size > 12:
            return f"array of shape {data.shape}, beginning with {_SHORT.repr(data.ravel()[:4].tolist())}"
        data = data.tolist()
    return _SHORT.repr(data)


_SHORT: Final = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 8
_SHORT.maxstring = _SHORT.maxother = 80


def copied(data: Any) -> Any:
    """A copy that the sampler may spoil; `data` itself where it cannot change or cannot be copied."""
    if data is None or isinstance(data, (int, float, complex, str, bytes, frozenset, np.generic)):
        return data
    try:
        return copy.deepcopy(data)
    except Exception:
        return data


def _same(a: Any, b: Any) -> bool:
    """Whether two copies are still alike; True where their kind has no way to tell."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype.kind == "O":
            return _same(a.tolist(), b.tolist())
        return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(value, b[key]) for key, value in a.items())
    if hasattr(a, "equals"):  # tables of pandas, polars, arrow
        return bool(a.equals(b))
    if all("__eq__" not in vars(kind) for kind in type(a).__mro__[:-1]):
        # Known by its identity alone.
        return not hasattr(a, "__dict__") or _same(vars(a), vars(b))
    return bool(a == b) or bool(a != a)


# -- its time ------------------------------------------------------------------------------------------------


class _Hanging(BaseException):
    """Raised inside of a sampler that does not return; not an Exception, so that it is not taken for one of its own."""


def _watched(work: Callable[[], object], done: list[Any], timeout: float, beat: Beat | None) -> None:
    """Do `work`, which fills `done`; raise _Hanging where for `timeout` seconds nothing was added.

    In the main thread by a timer, which ends whatever runs in Python or waits. In another thread the work is left to a thread of its
    own, which is told to stop, and abandoned if it does not (code in C that does not return).
    """
    if beat is not None:
        beat(True)
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        _by_timer(work, done, timeout, beat)
    else:
        _by_thread(work, done, timeout)
    if beat is not None:
        beat(False)


def _by_timer(work: Callable[[], object], done: list[Any], timeout: float, beat: Beat | None) -> None:
    progress, since = 0, time.monotonic()

    def tick(*_: object) -> None:
        nonlocal progress, since
        if beat is not None:
            beat(True)
        now = time.monotonic()
        if len(done) > progress:
            progress, since = len(done), now
        elif now - since >= timeout:
            raise _Hanging

    began = since
    handler = signal.signal(signal.SIGALRM, tick)
    left, interval = signal.setitimer(signal.ITIMER_REAL, timeout / 4, timeout / 4)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler if handler is not None else signal.SIG_DFL)
        if left:  # a timer of the caller goes on
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 1e-6), interval)


def _by_thread(work: Callable[[], object], done: list[Any], timeout: float) -> None:
    faults: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    progress, since = 0, time.monotonic()
    while thread.is_alive():
        thread.join(timeout / 4)
        now = time.monotonic()
        if len(done) > progress:
            progress, since = len(done), now
        elif thread.is_alive() and now - since >= timeout:
            assert thread.ident is not None
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_Hanging))
            raise _Hanging
    if faults:
        raise faults[0]
