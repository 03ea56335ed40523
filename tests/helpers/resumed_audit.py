"""An audit that a test stops and starts again: a program of its own, so that it can be killed.

`python resumed_audit.py FOLDER LOG JOBS`: FOLDER is what the audit resumes from, or "none"; every
fit adds a byte to LOG; progress and the result are printed.
"""

import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator

from shoal.audit import Neighbors, audit_estimator
from shoal.privacy import Guarantee

PAIRS = [Neighbors(f"n = {n}", records=np.zeros((n, 1)), added=[0.0]) for n in (1, 3, 5)]
RUNS, SEARCH_RUNS = 300, 100
FITS = 2 * (3 * SEARCH_RUNS + 2 * SEARCH_RUNS + RUNS)


class Logged(BaseEstimator):
    """A noisy count whose fits are counted, each a little slow."""

    def __init__(self, log, *, random_state=None):
        self.log = log
        self.random_state = random_state

    def fit(self, X):
        with Path(self.log).open("ab") as log:
            log.write(b".")
        time.sleep(0.0005)
        noise = np.random.default_rng(self.random_state).laplace()
        self.guarantee_ = Guarantee("central", epsilon=1.0)
        self.release_ = SimpleNamespace(values={"count": round(len(X) + noise, 3)})
        return self


def run(folder, log, jobs=1, progress=None):
    """Return what the audit finds, as text."""
    audit = audit_estimator(
        Logged(log),
        PAIRS,
        runs=RUNS,
        search_runs=SEARCH_RUNS,
        resume=None if folder == "none" else folder,
        n_jobs=int(jobs),
        random_state=0,
        progress=progress,
    )
    return f"{audit}\n{dict(audit.results)}\n{dict(audit.searched)}"


def say(done, total):
    os.write(1, f"{done} of {total}\n".encode())


if __name__ == "__main__":
    sys.stdout.write(f"{run(*sys.argv[1:], progress=say)}\n")
