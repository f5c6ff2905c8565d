"""Work on a Dask cluster comes to the same whatever becomes of its workers and its scheduler, and ends where nobody is left to do it."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpverify.runtime import cluster as module
from dpverify.runtime.cluster import Cluster, Dead, Unreachable

pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.wide]

ROOT = Path(__file__).resolve().parents[1]
WORK = """
import os, time

def square(number, delay=0.05):
    time.sleep(float(os.environ.get("STRAGGLE", delay)))
    return number**2

def fails(number):
    raise TimeoutError(f"no time for {number}")

def ends(number):
    os._exit(3)
"""


class Farm:
    """A scheduler and workers that are processes, as on a cluster."""

    def __init__(self, folder):
        self.folder, self.several = folder, []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def start(self, what, *options, **environment):
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options]
        paths = os.pathsep.join(map(str, [ROOT]))
        environment = {**os.environ, "PYTHONPATH": paths, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1", **environment}
        process = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.several.append(process)
        return process

    def worker(self, **environment):
        options = ("--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder / "local"))
        return self.start("worker", self.address, *options, **environment)

    def restart(self):
        self.scheduler.kill()
        self.scheduler.wait()
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def end(self):
        for process in self.several:
            process.send_signal(signal.SIGTERM)
        for process in self.several:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def farm(tmp_path, monkeypatch):
    (tmp_path / "far_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module, "PATIENCE", 30.0)
    farm = Farm(tmp_path)
    yield farm
    farm.end()
    sys.modules.pop("far_work", None)


def test_what_workers_and_scheduler_suffer_changes_no_answer(farm):
    """A worker that takes an hour for what others do in a twentieth of a second, one that is killed, a scheduler that is started anew."""
    import far_work

    first, _ = farm.worker(), farm.worker(STRAGGLE="3600")
    seen = []
    with Cluster(farm.address, (str(farm.folder / "far_work.py"),)) as cluster:
        for result in cluster.in_order(far_work.square, lambda number: (number,), 0, 120):
            seen.append(result)
            if len(seen) == 30:
                farm.worker()
                first.kill()
            if len(seen) == 60:
                farm.restart()
                farm.worker()
    assert seen == [number**2 for number in range(120)]


def test_what_the_work_raises_is_raised_and_what_ends_workers_is_told(farm):
    import far_work

    farm.worker()
    with Cluster(farm.address, (str(farm.folder / "far_work.py"),)) as cluster:
        with pytest.raises(TimeoutError, match="no time for 0"):
            next(cluster.in_order(far_work.fails, lambda number: (number,), 0, 3))
        assert list(cluster.in_order(far_work.square, lambda number: (number,), 2, 4)) == [4, 9]
        with pytest.raises(Dead):
            next(cluster.in_order(far_work.ends, lambda number: (number,), 0, 1))


def test_a_scheduler_that_stays_away_is_an_error(farm, monkeypatch):
    import far_work

    monkeypatch.setattr(module, "RETURN", 3.0)
    monkeypatch.setattr(module, "PATIENCE", 5.0)
    farm.worker()
    time.sleep(3)
    with Cluster(farm.address, (str(farm.folder / "far_work.py"),)) as cluster:
        results = cluster.in_order(far_work.square, lambda number: (number,), 0, 1000)
        assert next(results) == 0
        farm.scheduler.kill()
        with pytest.raises(Unreachable, match="no Dask scheduler answers"):
            for _ in results:
                pass


def test_a_file_that_cannot_be_sent_is_an_error(farm):
    farm.worker()
    with pytest.raises(Unreachable, match=r"nothing\.py cannot be sent to the workers"), Cluster(farm.address, ("nothing.py",)):
        pass
