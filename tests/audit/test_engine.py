"""Laws of the engine: what a run finds depends on the seed alone, not on where its blocks run or what befalls the workers."""

import builtins
import contextlib
import errno
import os
import re
import resource
import signal
import stat
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from dpverify.audits import engine, learn
from dpverify.audits.engine import MAX_BLOCK, SEGMENTS, BlockResult, Checkpoint, Engine, Job, block_size, run_block
from dpverify.audits.target import Target
from dpverify.errors import AuditError, SamplerError
from dpverify.runtime import cluster as cluster_module
from dpverify.runtime import processes

forked = pytest.mark.skipif(not hasattr(os, "fork"), reason="samplers made here reach workers by a fork")


@dataclass(frozen=True)
class Cuts:
    """Cells between the integers -3, ..., 3."""

    size: int = 8

    def codes(self, outputs):
        y = outputs.numbers[:, 0]
        codes = np.zeros(len(y), dtype=np.uint8)
        for cut in range(-3, 4):
            codes += y > cut
        return codes

    def describe(self, low, high):
        return f"cells {low} to {high}"


@dataclass(frozen=True)
class Halves:
    """Two cells, below and above 0."""

    size: int = 2

    def codes(self, outputs):
        return (outputs.numbers[:, 0] > 0).astype(np.uint8)

    def describe(self, low, high):
        return f"cells {low} to {high}"


@dataclass(frozen=True)
class Moments:
    def statistics(self, outputs):
        return np.array([outputs.numbers.sum(), (outputs.numbers**2).sum()])


JOB = Job(([0.0], [1.0]), (Cuts(),), (Moments(), None), keep=3)
LAST = 9


def laplace(data, size, rng):
    return data[0] + rng.laplace(size=size)


def seen(result: BlockResult):
    """Everything about a block but its time."""
    assert result.kept is not None
    return (
        result.index,
        result.size,
        [counts.tobytes() for counts in result.counts],
        [None if s is None else s.tobytes() for s in result.statistics],
        [side.numbers.tobytes() for side in result.kept],
    )


def run(sampler=laplace, last=LAST, job=JOB, **places):
    with Engine(Target.of(sampler), root=7, **places) as engine:
        return [seen(result) for result in engine.results(lambda index: job, 0, last)]


@pytest.fixture(scope="module")
def alone():
    return run()


# -- a block


def test_blocks_double_from_256_to_65536_as_their_number_alone_says():
    sizes = [block_size(index) for index in range(12)]
    assert sizes == [256, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 65536, 65536]
    assert block_size(10**9) == MAX_BLOCK and all(size % SEGMENTS == 0 for size in sizes)


def test_a_block_is_the_two_children_of_its_stream_counted_jointly_in_order():
    result = run_block(Target.of(laplace), JOB, 3, 7)
    sides = [np.random.default_rng(child).laplace(size=1024) for child in np.random.SeedSequence(7, spawn_key=(3,)).spawn(2)]
    sides[1] = sides[1] + 1.0
    expected = np.zeros((SEGMENTS, 8, 8), dtype=np.int64)
    cells = [np.digitize(side, np.arange(-3, 4), right=True) for side in sides]
    np.add.at(expected, (np.repeat(np.arange(SEGMENTS), 1024 // SEGMENTS), *cells), 1)
    assert np.array_equal(result.counts[0], expected)
    assert result.statistics[0] == pytest.approx([sides[0].sum(), (sides[0] ** 2).sum()]) and result.statistics[1] is None
    assert [side.numbers[:, 0].tolist() for side in result.kept] == [side[:3].tolist() for side in sides]


def test_a_job_may_fix_the_size_of_its_blocks_and_keep_nothing():
    result = run_block(Target.of(laplace), replace(JOB, size=32, keep=0), 5, 7)
    assert result.size == result.counts[0].sum() == 32 and result.kept is None


def test_a_long_block_is_drawn_call_after_call_from_the_same_two_streams_and_each_call_is_a_segment():
    calls, each = 8, MAX_BLOCK // 2
    size = calls * each
    result = run_block(Target.of(laplace), replace(JOB, partitions=(Cuts(), Halves()), size=size, segments=calls), 5, 7)
    streams = [np.random.default_rng(stream) for stream in np.random.SeedSequence(7, spawn_key=(5,)).spawn(2)]
    sides = [np.concatenate([x + rng.laplace(size=each) for _ in range(calls)]) for x, rng in enumerate(streams)]
    for counts, cuts in zip(result.counts, (np.arange(-3, 4), [0.0]), strict=True):
        expected = np.zeros((calls, len(cuts) + 1, len(cuts) + 1), dtype=np.int64)
        cells = [np.digitize(side, cuts, right=True) for side in sides]
        np.add.at(expected, (np.repeat(np.arange(calls), each), *cells), 1)
        assert np.array_equal(counts, expected)
    assert result.size == size and result.statistics[0] == pytest.approx([sides[0].sum(), (sides[0] ** 2).sum()])
    assert [side.numbers[:, 0].tolist() for side in result.kept] == [side[:3].tolist() for side in sides]


def test_the_seed_that_a_fault_names_brings_it_about_again():
    def rare(data, rng):
        value = rng.random()
        if value > 0.999:
            raise ArithmeticError(repr(value))
        return value

    with pytest.raises(SamplerError, match="seed 7, block") as caught:
        run(rare, last=6)
    message = str(caught.value)
    recipe = message[message.index("np.random.default_rng(") : message.index("))):") + 2]
    call = int(message.partition("call ")[2].partition(" ")[0])
    again = eval(recipe, {"np": np})
    said = message.partition("ArithmeticError: ")[2].partition(". On its neighbour")[0]
    assert repr([again.random() for _ in range(call + 1)][-1]) == said


# -- where blocks run


@forked
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_number_of_processes_gives_the_same_results(alone, workers):
    assert run(workers=workers) == alone


def test_executors_of_threads_and_processes_give_the_same_results(alone, tmp_path):
    with ThreadPoolExecutor(3) as executor:
        assert run(executor=executor, workers=3) == alone
    (tmp_path / "sent_noise.py").write_text("def laplace(data, size, rng):\n    return data[0] + rng.laplace(size=size)\n")
    with ProcessPoolExecutor(2) as executor, Engine(Target.of("sent_noise:laplace", tmp_path), root=7, executor=executor) as engine:
        assert [seen(result)[:2] for result in engine.results(lambda index: replace(JOB, partitions=(), conformances=(None, None)), 0, 4)]


@forked
def test_a_later_stretch_with_another_job_gives_the_same_results_on_workers():
    def stretches(workers):
        with Engine(Target.of(laplace), root=7, workers=workers) as engine:
            first = [seen(result) for result in engine.results(lambda index: JOB, 0, 3)]
            second = replace(JOB, pair=([5.0], [-5.0]))
            return first + [seen(result) for result in engine.results(lambda index: second if index < 6 else JOB, 3, 8)]

    assert stretches(2) == stretches(0)


@forked
def test_no_more_than_twice_as_many_blocks_as_workers_are_begun_ahead():
    asked = []
    with Engine(Target.of(laplace), root=7, workers=2) as engine:
        results = engine.results(lambda index: asked.append(index) or JOB, 0, 100)
        next(results)
        assert max(asked) < 1 + 4
        results.close()
        assert all(worker.task is None for worker in engine._pool)


def fails(data, size, rng, *, where, how):
    if data[0] in where:
        if how == "raises":
            raise ValueError("no more ink")
        return np.full(size, np.nan)
    return rng.laplace(size=size)


@pytest.mark.parametrize("how", ["raises", "nan"])
@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({0.0}, r"on input \[0\.0\] .*On its neighbour \[1\.0\] it did not fail\. What fails on one of two"),
        ({1.0}, r"on input \[1\.0\] .*On its neighbour \[0\.0\] it did not fail\. .*let it return a word for it"),
        ({0.0, 1.0}, r"on input \[0\.0\] .*It fails on the neighbour \[1\.0\] too\. Correct it"),
    ],
)
def test_a_sampler_that_fails_is_told_whether_it_does_so_on_one_side_alone_and_what_to_do(how, where, said):
    with pytest.raises(SamplerError, match=said):
        run_block(Target.of(partial(fails, where=where, how=how)), JOB, 0, 7)


@forked
def test_the_first_fault_in_the_order_of_blocks_is_the_one_that_is_told():
    def faulty(data, size, rng):
        if size == 1024:
            time.sleep(0.3)  # block 3 is last to fail in time
            raise ValueError("third")
        if size > 1024:
            raise ValueError("later")
        return rng.laplace(size=size)

    with pytest.raises(SamplerError, match=r"block 3: .*third"):
        run(faulty, workers=3)


def test_a_sampler_without_an_rng_has_one_worker_that_no_copy_can_repeat(capsys):
    with Engine(Target.of(lambda data: float(os.getpid())), root=7, workers=2) as engine:
        result = next(engine.results(lambda index: JOB, 0, 1))
    assert len({*result.kept[0].numbers[:, 0], *result.kept[1].numbers[:, 0]}) == 1
    assert "takes no rng: it has one worker" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ({"workers": -1}, "workers = -1"),
        ({"timeout": 0}, "timeout = 0"),
        ({"executor": ThreadPoolExecutor(1), "dask": "tcp://localhost:1"}, "two places"),
    ],
)
def test_a_place_that_makes_no_sense_is_an_error(places, said):
    with pytest.raises(AuditError, match=said):
        Engine(Target.of(laplace), root=7, **places)


def test_what_cannot_be_sent_to_workers_is_an_error_with_the_way_out():
    with ProcessPoolExecutor(1) as executor, pytest.raises(AuditError, match="cannot be sent to a worker"):
        run(lambda data, rng: 1.0, executor=executor)
    with pytest.raises(AuditError, match=r"the inputs cannot be sent to a worker.*workers = 0"):
        run(lambda data, rng: 1.0, workers=1, job=replace(JOB, pair=(lambda: 0, lambda: 1)))


# -- what befalls the workers


@forked
def test_killed_workers_change_nothing(alone):
    with Engine(Target.of(laplace), root=7, workers=2) as engine:
        found = []
        for result in engine.results(lambda index: JOB, 0, LAST):
            found.append(seen(result))
            if result.index in (1, 4, 6):
                os.kill(engine._pool[result.index % 2].process.pid, signal.SIGKILL)
        assert found == alone


@forked
def test_a_worker_killed_in_the_middle_of_a_block_changes_nothing(alone, tmp_path):
    marker = tmp_path / "killed"

    def dies_once(data, size, rng):
        if size == 1024 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return laplace(data, size, rng)

    assert run(dies_once, workers=2) == alone
    assert marker.exists()


@forked
@pytest.mark.parametrize(("end", "said"), [(lambda: os._exit(3), "exit code 3"), (lambda: os.kill(os.getpid(), 9), r"signal 9 \(Killed")])
def test_a_sampler_that_ends_its_process_is_an_error_after_two_retries(end, said, tmp_path):
    log = tmp_path / "log"

    def ends(data, rng):
        if data[0] == 1.0:
            with log.open("a") as file:
                file.write("x")
            end()
        return 0.0

    with pytest.raises(SamplerError, match=rf"on input \[1\.0\] \(seed 7, block 0: .*the process died: {said}"):
        run(ends, workers=1)
    assert log.read_text() == "xxx"


@forked
@pytest.mark.parametrize("workers", [0, 2])
def test_a_hanging_sampler_is_an_error_wherever_it_runs(workers):
    def hangs(data, rng):
        time.sleep(600)

    with pytest.raises(SamplerError, match="did not return within 1 s"):
        run(hangs, workers=workers, timeout=1)


WRITTEN = {
    "text": b"some words",
    "a long word": b"\x7f\xff\xff\xff",
    "half a word": b"\x00\x00\x10\x00ab",
    "no pickle": b"\x00\x00\x00\x02ab",
}


@forked
@pytest.mark.parametrize("what", WRITTEN)
def test_a_sampler_that_writes_into_descriptors_that_are_not_its_own_is_an_error_at_once(what, monkeypatch):
    monkeypatch.setattr(processes, "_REST", 0.5)

    def writes(data, rng):
        for number in range(3, 256):
            with contextlib.suppress(OSError):
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    os.write(number, WRITTEN[what])
        return rng.laplace()

    with pytest.raises(SamplerError, match="something else was written into the pipe through which it answers"):
        run(writes, workers=1)


def broken(*_, **__):
    raise RuntimeError("replaced")


REPLACED = {
    "numpy.bincount": lambda: setattr(np, "bincount", broken),
    "numpy.asarray": lambda: setattr(np, "asarray", lambda *_, **__: np.zeros(3)),
    "dpverify.audits.engine.code_counts": lambda: setattr(engine, "code_counts", broken),
    "dpverify.audits.learn.Intervals.codes": lambda: setattr(learn.Intervals, "codes", broken),
    "builtins.sorted": lambda: setattr(builtins, "sorted", broken),
}


@forked
@pytest.mark.parametrize("what", REPLACED)
@pytest.mark.parametrize("fails", [False, True])
def test_a_sampler_that_replaces_what_its_outputs_are_counted_with_is_an_error_that_names_it(what, fails):
    def replaces(data, rng):
        REPLACED[what]()
        return 1 / 0 if fails else rng.laplace()

    with pytest.raises(SamplerError, match=rf"replaces {re.escape(what)}, which the audit itself uses"):
        run(replaces, workers=1)


@forked
def test_names_that_are_added_and_what_was_replaced_before_the_audit_are_no_fault(monkeypatch):
    counted = np.bincount
    monkeypatch.setattr(np, "bincount", lambda *args, **rest: counted(*args, **rest))

    def adds(data, rng):
        np.an_old_name = float  # as packages do that were written for another numpy
        return rng.laplace()

    assert len(run(adds, workers=1)) == LAST


@forked
def test_a_sampler_that_no_timer_can_interrupt_is_killed():
    def deaf(data, rng):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])  # as code in C is that never returns
        time.sleep(100)

    with pytest.raises(SamplerError, match=r"on input \[0\.0\].*did not return within 0\.3 s"):
        run(deaf, workers=1, timeout=0.3)


@forked
def test_workers_end_with_their_engine_even_if_it_is_killed(tmp_path):
    told = tmp_path / "pids"
    child = os.fork()
    if child == 0:
        with Engine(Target.of(laplace), root=7, workers=2) as engine:
            for _ in engine.results(lambda index: JOB, 0, 4):
                pass
            told.write_text(" ".join(str(worker.process.pid) for worker in engine._pool))
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    for pid in map(int, told.read_text().split()):
        for _ in range(1200):
            status = Path(f"/proc/{pid}/stat")
            if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z":
                break
            time.sleep(0.05)
        else:
            pytest.fail(f"worker {pid} outlived its engine")


# -- Dask


@pytest.mark.slow
@pytest.mark.wide
def test_a_dask_cluster_of_two_workers_gives_the_same_results_though_one_is_killed(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    # Workers are new processes: what is sent to them must be there by name, or is sent whole.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, sys.path)))
    (tmp_path / "dask_noise.py").write_text(
        "import time\ndef laplace(data, size, rng):\n    time.sleep(0.05)\n    return data[0] + rng.laplace(size=size)\n"
    )
    target = Target.of("dask_noise:laplace", tmp_path)
    job = Job(([0.0], [1.0]), (), (None, None), keep=256)
    with Engine(target, root=7) as engine:
        expected = [side.numbers.tobytes() for result in engine.results(lambda index: job, 0, 16) for side in result.kept]
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Engine(target, root=7, dask=cluster.scheduler_address) as engine:
            found = []
            for result in engine.results(lambda index: job, 0, 16):
                found += [side.numbers.tobytes() for side in result.kept]
                if result.index == 2:
                    os.kill(cluster.workers[0].pid, signal.SIGKILL)
        assert found == expected
        cluster.scheduler.allowed_failures = 0
        (tmp_path / "dask_death.py").write_text("import os\ndef ends(data, rng):\n    os._exit(3)\n")
        dead = Engine(Target.of("dask_death:ends", tmp_path), root=7, dask=cluster.scheduler_address)
        with dead, pytest.raises(SamplerError, match=r"seed 7, block 0\): the process died"):
            next(dead.results(lambda index: job, 0, 1))


def test_a_dask_scheduler_that_does_not_answer_is_an_error(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster_module, "PATIENCE", 0.5)
    with pytest.raises(AuditError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        run(dask="tcp://127.0.0.1:9")


def test_without_distributed_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(AuditError, match=r"pip install 'dpverify\[dask\]'"):
        run(dask="tcp://127.0.0.1:9")


# -- what is kept


STATE = {"blocks": 3, "counts": [[2**62 + 1, 0], [5, 7]], "wealth": [0.1 + 0.2, -1e-300, float("inf")], "name": "ε ≤ 1", "none": None}


def test_a_checkpoint_gives_back_exactly_what_was_saved(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run.json", "key")
    assert checkpoint.load() is None
    checkpoint.save({"old": 1})
    checkpoint.save(STATE)
    assert Checkpoint(tmp_path / "run.json", "key").load() == STATE
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_a_run_taken_up_from_its_checkpoint_ends_as_if_never_stopped(alone, tmp_path):
    checkpoint = Checkpoint(tmp_path / "run.json", "key")

    def go_on(last):
        state = checkpoint.load() or {"following": 0, "total": np.zeros((8, 8), dtype=np.int64).tolist()}
        total = np.array(state["total"])
        with Engine(Target.of(laplace), root=7) as engine:
            for result in engine.results(lambda index: JOB, state["following"], last):
                total += result.counts[0].sum(axis=0)
                checkpoint.save({"following": result.index + 1, "total": total.tolist()})
        return total

    go_on(4)
    expected = sum(np.frombuffer(counts[0], dtype=np.int64).reshape(SEGMENTS, 8, 8).sum(axis=0) for _, _, counts, _, _ in alone)
    assert np.array_equal(go_on(LAST), expected)


def test_a_checkpoint_of_another_run_is_refused_with_the_way_out(tmp_path):
    Checkpoint(tmp_path / "run.json", "key").save(STATE)
    with pytest.raises(AuditError, match=r"another audit.*Give another path, or delete it"):
        Checkpoint(tmp_path / "run.json", "other").load()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-20],
        lambda text: text.replace("[5, 7]", "[5, 8]"),
        lambda text: text.replace('"key": "key"', '"key": "other"'),
        lambda text: text.replace("checkpoint/2", "checkpoint/9"),
        lambda text: "",
        lambda text: "[]",
        lambda text: "\xff\x00",
    ],
)
def test_a_damaged_checkpoint_is_refused(tmp_path, damage):
    path = tmp_path / "run.json"
    Checkpoint(path, "key").save(STATE)
    path.write_text(damage(path.read_text()))
    with pytest.raises(AuditError, match=r"damaged.*delete it"):
        Checkpoint(path, "key").load()


def test_a_full_disk_leaves_the_earlier_checkpoint_intact(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run.json", "key")
    checkpoint.save(STATE)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(OSError, match="the checkpoint cannot be written") as caught:
            checkpoint.save({"much": "x" * 100_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.errno == errno.EFBIG and caught.value.filename == str(tmp_path / "run.json")
    assert checkpoint.load() == STATE and len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="the checkpoint cannot be written"):
        Checkpoint(tmp_path / "none" / "run.json", "key").save(STATE)
