"""Ctrl-C reaches the process that asked for work, and none of those that do it."""

import os
import signal
from contextlib import nullcontext

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.utils.parallel import Parallel, delayed

from shoal._processes import ignore_sigint, run_parallel
from shoal.audit import attack_centers, membership_inference
from shoal.cluster import DPKMeans


def held(number):
    """Say which process this is, and whether it held Ctrl-C back before it was given any work."""
    return os.getpid(), signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no signal masks on Windows")
def test_processes_are_started_deaf_to_interrupts():
    get_reusable_executor(max_workers=2).shutdown(wait=True)  # those of other tests
    tasks = [delayed(held)(number) for number in range(8)]
    found = list(run_parallel(Parallel(n_jobs=2, return_as="generator"), tasks))
    assert os.getpid() not in dict(found)
    assert all(dict(found).values())
    assert held(0) == (os.getpid(), False)


def test_a_failure_to_start_gives_interrupts_back():
    class Refuse(nullcontext):
        def __call__(self, tasks):
            assert held(0) == (os.getpid(), True)
            raise OSError("no processes")

    with pytest.raises(OSError, match="no processes"):
        list(run_parallel(Refuse(), []))
    assert held(0) == (os.getpid(), False)


def test_in_this_process_nothing_changes():
    before = signal.getsignal(signal.SIGINT)
    tasks = [delayed(ignore_sigint(held))(number) for number in range(3)]
    assert list(run_parallel(Parallel(n_jobs=1, return_as="generator"), tasks)) == 3 * [
        (os.getpid(), False)
    ]
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("attack", [pytest.param("yeom", marks=pytest.mark.full), "centers"])
def test_no_record_is_written_for_other_processes(attack, tmp_path, monkeypatch):
    """As joblib does with tables of a megabyte or more, in a folder for all users."""
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    written = []

    def look(*_):
        written.extend(file for file in tmp_path.rglob("*") if file.is_file())

    X = np.random.default_rng(0).uniform(-1.0, 1.0, (70_000, 2))
    target = DPKMeans(2, bounds=(-1.0, 1.0))
    few = {"runs": 2, "n_jobs": 2, "random_state": 1, "progress": look}
    if attack == "centers":
        attack_centers(target, X, shadows=8, targets=2, **few)
    else:
        membership_inference(None, X, attack=attack, max_records=200, **few)
    assert written == []
