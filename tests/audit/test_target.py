"""Laws of the sampled implementation: found, called as its signature says, and blamed with everything that brings its fault about."""

import contextlib
import functools
import pickle
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from dpverify.audits.target import Target, load, prepare, show
from dpverify.errors import AuditError, SamplerError


def rng():
    return np.random.default_rng(5)


def laplace(data, rng):
    return data[0] + rng.laplace()


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# -- finding it


@pytest.mark.parametrize("reference", ["deep.noise:draw", "deep/noise.py:draw", "deep.noise:Holder.draw", "deep.noise:held.draw"])
def test_a_reference_is_found_from_the_spec_files_own_folder(tmp_path, capsys, reference):
    code = "def draw(data, rng): return 7.0\nclass Holder:\n    draw = staticmethod(draw)\nheld = Holder()\n"
    write(tmp_path, "deep/noise.py", code)
    assert load(reference, tmp_path)([0.0], None) == 7.0
    assert str(tmp_path / "deep/noise.py") in capsys.readouterr().err
    assert str(tmp_path) not in sys.path and str(tmp_path / "deep") not in sys.path


def test_the_spec_files_folder_comes_before_the_working_directory_and_that_before_what_is_installed(tmp_path, monkeypatch):
    own, work = tmp_path / "own", tmp_path / "work"
    for folder, names in ((own, ["one_of_three"]), (work, ["one_of_three", "colorsys"])):
        for name in names:
            write(folder, f"{name}.py", f"where = {folder.name!r}")
    monkeypatch.chdir(work)
    assert load("one_of_three:where", own) == "own"
    assert load("one_of_three:where", None) == "work"
    assert load("colorsys:where", own) == "work"
    assert load("sysconfig:get_paths", own).__module__ == "sysconfig"


def test_modules_of_one_name_in_two_folders_are_two_modules_with_their_own_helpers(tmp_path):
    for name in ("a", "b"):
        write(tmp_path / name, "twin_noise.py", "from twin_helper import value\ndef draw(data): return value\n")
        write(tmp_path / name, "twin_helper.py", f"value = {name!r}")
    first, second = (load("twin_noise:draw", tmp_path / name) for name in ("a", "b"))
    assert (first(0), second(0)) == ("a", "b")
    assert load("twin_noise:draw", tmp_path / "b") is second


def test_a_module_runs_once_a_process(tmp_path, capsys):
    write(tmp_path, "run_once.py", "print('ran')\na = b = 1")
    load("run_once:a", tmp_path), load("run_once:b", tmp_path), load("run_once.py:b", tmp_path)
    assert capsys.readouterr().out == "ran\n"


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("faulty_ok", 'not of the form "package.module:name"'),
        ("faulty_ok:", 'not of the form "package.module:name"'),
        ("faulty ok:draw", "neither a module's name nor a .py file"),
        ("no_such_module_here:draw", "no module 'no_such_module_here'"),
        ("nunpy:draw", "Did you mean 'numpy'"),
        ("numpy.no_such_part:draw", "no module 'numpy.no_such_part'"),
        ("no/such/file.py:draw", "no such file"),
        ("faulty_ok:drew", "has no 'drew'. Did you mean 'draw'"),
        ("faulty_raises:draw", "ValueError: not today"),
        ("faulty_exits:draw", "SystemExit: 3"),
        ("faulty_syntax.py:draw", "SyntaxError"),
        ("faulty_imports:draw", "No module named 'not_installed_at_all'. Install what it imports"),
    ],
)
def test_what_cannot_be_loaded_is_an_error_that_says_why(tmp_path, reference, said):
    write(tmp_path, "faulty_ok.py", "draw = 3")
    write(tmp_path, "faulty_raises.py", "raise ValueError('not today')")
    write(tmp_path, "faulty_exits.py", "raise SystemExit(3)")
    write(tmp_path, "faulty_syntax.py", "def draw(")
    write(tmp_path, "faulty_imports.py", "import not_installed_at_all")
    with pytest.raises(AuditError, match=said.replace(".", r"\.").replace("(", r"\(")):
        load(reference, tmp_path)
    assert str(tmp_path) not in sys.path


def test_what_is_no_callable_is_no_sampler(tmp_path):
    write(tmp_path, "constant.py", "draw = 3")
    with pytest.raises(AuditError, match="constant:draw is not callable: it is 3"):
        Target.of("constant:draw", tmp_path)


def test_a_target_from_a_reference_is_pickled_as_the_reference(tmp_path):
    write(tmp_path, "sent_away.py", "def draw(x, k, g):\n    return g.laplace(size=k)\n")
    target = Target.of("sent_away:draw", tmp_path)
    again = pickle.loads(pickle.dumps(target))
    assert again == target and again.vectorised


# -- how it is called


class Caller:
    def __call__(self, data, rng):
        return 0.0


def star(*args):
    return 0.0


@pytest.mark.parametrize(
    ("sampler", "positional", "keywords"),
    [
        (lambda data: 0, ["data"], {}),
        (lambda x, g: 0, ["data", "rng"], {}),
        (lambda x, k, g: 0, ["data", "size", "rng"], {}),
        (lambda x, n: 0, ["data", "size"], {}),
        (lambda x, size, g: 0, ["data", "size", "rng"], {}),
        (lambda rng, data: 0, ["rng", "data"], {}),
        (lambda samples, rng: 0, ["data", "rng"], {}),
        (lambda data, *, rng: 0, ["data"], {"rng": "rng"}),
        (lambda data, *, n_samples, random_state=None: 0, ["data"], {"size": "n_samples", "rng": "random_state"}),
        (lambda data, epsilon=1.0, rng=None: 0, ["data"], {"rng": "rng"}),
        (lambda data, rng, n=10: 0, ["data", "rng"], {}),  # a setting of the mechanism, by its default
        (lambda data, rng, size=None: 0, ["data", "rng", "size"], {}),
        (lambda *, data, rng: 0, [], {"data": "data", "rng": "rng"}),
        (functools.partial(lambda data, epsilon, rng: 0, epsilon=1.0), ["data"], {"rng": "rng"}),
        (functools.partial(lambda epsilon, data, rng: 0, 1.0), ["data", "rng"], {}),
        (Caller(), ["data", "rng"], {}),
        (star, ["data", "rng"], {}),
        (lambda data, *rest: 0, ["data", "rng"], {}),
        (max, ["data", "rng"], {}),  # in C, without a signature
        (abs, ["data"], {}),
        (np.random.default_rng(1).laplace, ["data"], {"size": "size"}),
    ],
)
def test_the_signature_tells_how_a_sampler_is_called(sampler, positional, keywords):
    target = Target.of(sampler)
    if sampler is max and not target.reproducible:  # newer Pythons give it a signature
        return
    assert (list(target.positional), dict(target.keywords)) == (positional, keywords)


def test_the_caller_may_say_whether_a_sampler_is_vectorised():
    assert Target.of(lambda data, count, rng: 0, vectorised=True).positional == ("data", "size", "rng")
    assert Target.of(star, vectorised=True).vectorised
    assert not Target.of(lambda data, rng, size=None: 0, vectorised=False).vectorised


@pytest.mark.parametrize(
    ("sampler", "vectorised", "said"),
    [
        (lambda data, epsilon, rng: 0, None, "asks for epsilon"),
        (lambda a, b, c, d: 0, None, "asks for b, c, d"),
        (lambda data, rng: 0, True, "takes no size"),
        (lambda rng: 0, None, "takes no data"),
        (lambda: 0, None, "takes no data"),
        (lambda data, epsilon=1, rng=None, /: 0, None, "by position only"),
    ],
)
def test_a_signature_that_an_audit_cannot_serve_is_an_error(sampler, vectorised, said):
    with pytest.raises(AuditError, match=said):
        Target.of(sampler, vectorised=vectorised)


def test_a_sampler_without_an_rng_is_not_reproducible_and_the_global_generators_are_left_alone():
    np.random.seed(3)
    state = np.random.get_state()[1].copy()
    target = Target.of(lambda data: 1.0)
    target.draw([0.0], 100, rng())
    assert not target.reproducible and np.array_equal(np.random.get_state()[1], state)


# -- drawing


def test_a_scalar_and_a_vectorised_sampler_draw_what_their_calls_give():
    by_hand = rng()
    expected = [2.0 + by_hand.laplace() for _ in range(50)]
    assert Target.of(laplace).draw([2.0], 50, rng()).numbers[:, 0].tolist() == expected
    assert Target.of(lambda data, size, rng: data + rng.laplace(size=size)).draw([2.0], 50, rng()).numbers[:, 0].tolist() == expected


def test_lists_of_numbers_become_arrays_and_all_else_stays():
    assert prepare([1, 2]).dtype == np.int64 and prepare([[1.0, 2], [3, 4]]).shape == (2, 2)
    for data in ([[1], [2, 3]], ["a", 1.0], {"a": [1]}, (1, 2), 3, "text", [2**70], [None]):
        assert prepare(data) is data


def test_a_sampler_that_changes_an_output_it_gave_before_is_named_and_one_that_gives_constants_is_not():
    buffer, constant = np.zeros(1), np.ones(1)

    def reused(data, rng):
        buffer[:] = data + rng.laplace(size=1)
        return buffer

    with pytest.raises(SamplerError, match="changes the output that it gave before"):
        Target.of(reused).draw([0.0], 3, np.random.default_rng(0))
    assert len(Target.of(lambda data, rng: constant).draw([0.0], 3, np.random.default_rng(0))) == 3


def test_a_vectorised_sampler_may_change_its_input_for_it_is_a_copy():
    def spoil(data, size, rng):
        data += 1.0
        return data[0] + rng.laplace(size=size)

    data, target = np.array([0.0]), Target.of(spoil)
    first, second = (target.draw(data, 10, rng()).numbers for _ in range(2))
    assert np.array_equal(first, second) and data[0] == 0.0


@pytest.mark.parametrize("data", [[0.0], {"a": [1]}, [{"a": 1}, "b"], np.array([1, None], dtype=object)], ids=str)
def test_a_scalar_sampler_that_changes_its_input_is_named_and_the_callers_data_is_safe(data):
    def spoil(data, rng):
        data["new" if isinstance(data, dict) else 0] = 9.0
        return 1.0

    before = show(data)
    with pytest.raises(SamplerError, match="changes its input, to"):
        Target.of(spoil).draw(data, 10, rng())
    assert show(data) == before


def raises(data, rng):
    raise ZeroDivisionError("by zero")


def exits(data, rng):
    sys.exit(3)


def nan_once(data, rng):
    return float("nan") if rng.random() < 0.1 else 1.0


def lazily(data, rng):
    yield 1.0


async def later(data, rng):
    return 1.0


def holds_itself(data, rng):
    held = [rng.random()]
    return [*held, held.append(held) or held]


class Mute(Exception):
    def __repr__(self):
        raise RuntimeError("no words")

    __str__ = __repr__

    def __eq__(self, other):
        return True


def mute(data, rng):
    return Mute()


def raises_mute(data, rng):
    raise Mute


@pytest.mark.parametrize(
    ("sampler", "said"),
    [
        (raises, r"call 0 \(from 0\) of the block: ZeroDivisionError: by zero"),
        (exits, "SystemExit: 3"),
        (nan_once, "gave nan in output"),
        (lazily, "generator"),
        (later, "coroutine"),
        (holds_itself, "gave an output that holds itself or is nested too deep"),
        (mute, "gave an output that raises RuntimeError when it is read"),
        (raises_mute, "Mute: it cannot be written as text"),
        (lambda data, size, rng: rng.laplace(size=size - 1), "gave 99 outputs instead of 100"),
        (lambda data, size, rng: 1.0, "instead of a sequence"),
        (lambda data, size, rng: (x for x in range(size)), "gave a generator"),
        (lambda data, size, rng: None, "gave None instead"),
    ],
)
def test_a_faulty_sampler_is_an_error_with_its_name_input_and_seed(sampler, said):
    with pytest.raises(SamplerError, match=said) as caught:
        Target.of(sampler).draw([0.25], 100, rng(), seed="seed 7, block 3")
    message = str(caught.value)
    assert sampler.__qualname__ in message and "input [0.25]" in message and "(seed 7, block 3)" in message


def test_an_interrupt_by_the_user_stays_one():
    def interrupted(data, rng):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Target.of(interrupted).draw([0.0], 1, rng())


def sleeps(data, rng):
    time.sleep(100)


def spins(data, rng):
    while True:
        with contextlib.suppress(Exception):
            sum(range(100))


@pytest.mark.parametrize("sampler", [sleeps, spins, lambda data, size, rng: time.sleep(100)])
@pytest.mark.parametrize("aside", [False, True], ids=["main thread", "another thread"])
def test_a_sampler_that_hangs_is_an_error(sampler, aside):
    faults = []

    def draw():
        with pytest.raises(SamplerError, match=r"did not return within 0\.2 s") as caught:
            Target.of(sampler).draw([0.0], 10, rng(), timeout=0.2)
        faults.append(caught)

    if aside:
        thread = threading.Thread(target=draw)
        thread.start()
        thread.join()
    else:
        draw()
    assert faults


def test_a_slow_sampler_whose_calls_return_does_not_hang():
    def slow(data, rng):
        time.sleep(0.2)
        return 1.0

    assert len(Target.of(slow).draw([0.0], 10, rng(), timeout=1.5)) == 10


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_a_timer_of_the_caller_goes_on():
    rung = []
    handler = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        Target.of(laplace).draw([0.0], 100, rng())
        time.sleep(0.2)
        assert rung == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
