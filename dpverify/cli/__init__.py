"""The command line: parse, call, print, exit code. stdout carries the answer, stderr everything else.

One verb a file, imported when it is asked for; what is heavy is imported by the verb that needs it.
"""

from __future__ import annotations

import gc

if gc.isenabled():  # circles of objects are looked for seldom: what is loaded below is no garbage, and trees of expressions have none
    gc.set_threshold(50_000, 20, 50)

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

import click

from dpverify.cli.completion import complete
from dpverify.cli.output import fault, say, unwritten
from dpverify.errors import SpecError
from dpverify.runtime import streams
from dpverify.runtime.outside import GONE, gone
from dpverify.runtime.version import __version__
from dpverify.trusted.kernel.errors import DpverifyError

INTERRUPTED: Final = 130
VERBS: Final[Mapping[str, Callable[[], click.Command]]] = {
    "verify": lambda: import_module("dpverify.cli.verify").verify,
    "check": lambda: import_module("dpverify.cli.check").check,
    "audit": lambda: import_module("dpverify.cli.audit").audit,
    "ledger": lambda: import_module("dpverify.cli.ledger").ledger,
    "report": lambda: import_module("dpverify.cli.report").report,
    "calibrate": lambda: import_module("dpverify.cli.calibrate").calibrate,
    "design": lambda: import_module("dpverify.cli.design").design,
    "release": lambda: import_module("dpverify.cli.release").release,
    "tradeoff": lambda: import_module("dpverify.cli.tradeoff").tradeoff,
    "account": lambda: import_module("dpverify.cli.account").account,
    "curves": lambda: import_module("dpverify.cli.curves").curves,
    "sample": lambda: import_module("dpverify.cli.sample").sample,
    "list": lambda: import_module("dpverify.cli.list").names,
    "explain": lambda: import_module("dpverify.cli.explain").explain,
    "baseline": lambda: import_module("dpverify.cli.baseline").baseline,
    "cache": lambda: import_module("dpverify.cli.cache").cache,
    "init": lambda: import_module("dpverify.cli.init").init,
    "new": lambda: import_module("dpverify.cli.new").new,
    "completion": lambda: import_module("dpverify.cli.completion").completion,
    "schema": lambda: import_module("dpverify.cli.schema").schema,
}
"""Every verb by its name, imported when it is called for."""


class _Commands(Mapping[str, click.Command]):
    """Every verb by its name, with what its arguments are completed with."""

    def __getitem__(self, name: str) -> click.Command:
        found = VERBS[name]()
        complete(found)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


class _Verbs(click.Group):
    """The verbs, with one place where failures become messages and exit codes."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """What is told while the line is read, such as --help."""
        with _heard():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb."""
        with _heard():
            return super().invoke(ctx)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a verb and leave with its exit code: that of what it found, or 128 and the number of the signal that ended it."""
        streams.prepare()
        with _ended_in_order() as ended_by:
            code = self._code(ended_by, *args, **kwargs)
        if ended_by:
            say(f"ended by {ended_by[0].name}; no file is left half-written.", err=True)
            code = 128 + ended_by[0]
        sys.exit(code)

    def _code(self, ended_by: Sequence[signal.Signals], *args: Any, **kwargs: Any) -> Any:
        """The exit code: 2 for bad usage or files, and for an answer that cannot be told; 3 for a fault of dpverify; 130 for Ctrl-C."""
        kwargs["standalone_mode"] = False
        try:
            code = super().main(*args, **kwargs) or 0
            sys.stdout.flush()
        except click.ClickException as error:
            _show(error)
            return 2
        except SpecError as error:
            say(*(f"SpecError: {said}" for said in error.faults), err=True)
            return 2
        except DpverifyError as error:
            say(*f"{type(error).__name__}: {error}".split("\n"), err=True)
            return 2
        except OSError as error:
            streams.drop()
            say(unwritten(error), err=True)
            return 2
        except SystemExit as left:
            return 2 if left.code == 1 else left.code  # click has 1 where it knows no such shell
        except Exception as error:
            if not _broken_off(error):
                say(*fault(error).split("\n"), err=True)
                return 3
            if not ended_by:  # which is told by whoever knows it
                say("interrupted; no file is left half-written.", err=True)
            return INTERRUPTED
        return code


def _broken_off(error: Exception) -> bool:
    """Whether an error came of a signal alone: code in C makes a SystemError of what comes in while it calls back."""
    inside = error.__cause__ or error.__context__ if isinstance(error, SystemError) else error
    return isinstance(inside, click.Abort | KeyboardInterrupt | SystemExit)


@contextlib.contextmanager
def _heard() -> Iterator[None]:
    """See that a reader that closes the pipe is no verdict, which click's exit code 1 would say."""
    try:
        yield
    except BrokenPipeError as error:
        streams.drop()
        raise click.ClickException("the output was closed before all of it was written.") from error


def _show(error: click.ClickException) -> None:
    """What click says of bad usage, with the names in it made printable."""
    said = io.StringIO()
    error.show(said)
    say(*said.getvalue().rstrip("\n").split("\n"), err=True)


@contextlib.contextmanager
def _ended_in_order() -> Iterator[list[signal.Signals]]:
    """See that a signal that ends this process lets it end its own processes first, as an exit does; the signal, once there is one."""
    numbers = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]
    here = threading.current_thread() is threading.main_thread()
    mine = [number for number in numbers if here and signal.getsignal(number) is signal.SIG_DFL]
    ended_by: list[signal.Signals] = []

    def end(number: int, _: object) -> None:
        for other in mine:
            signal.signal(other, signal.SIG_IGN)  # what is put in order is not broken off
        ended_by.append(signal.Signals(number))
        sys.exit(128 + number)

    for number in mine:
        signal.signal(number, end)
    try:
        yield ended_by
    finally:
        for number in mine:
            signal.signal(number, signal.SIG_DFL)


@click.group(cls=_Verbs, commands=_Commands(), context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="dpverify")
def main() -> None:
    """Prove or refute differential-privacy claims.

    Start with `dpverify verify cauchy_1d`, a mechanism that comes along, with `dpverify new NAME --kind builtin` for a claim file
    of your own, or with `dpverify init` in a project.

    Exit codes: 0 all as expected; 1 a verdict other than expected, or a violation found; 2 bad usage or a bad file; 3 a fault of
    dpverify itself; 4 nothing wrong found but something undecided.
    """
    if gone():
        raise click.ClickException(GONE)
    # Matrices are small here: threads of BLAS only wait for each other, ten times as long as the work takes on a busy machine.
    for library in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(library, "1")
