"""An experiment that a test stops and starts again: a program of its own, so that it can be killed.

`python stopped_experiment.py STORE LOG JOBS PLAN`: every trial worked on adds a byte to LOG;
progress is printed, and at the end the records. PLAN "hold" lets trials after the first half never
end; "within write" dies in the middle of the write of the fifth trial, "before sync" after it.
"""

import json
import math
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from shoal.exceptions import ShoalError
from shoal.experiments import record_store
from shoal.experiments.record_store import RecordStore
from shoal.experiments.runner import run_spec
from shoal.experiments.spec import ExperimentSpec
from shoal.experiments.trial import Component

SPEC = ExperimentSpec(
    name="stopped",
    datasets=("line", "circle"),
    mechanisms=(Component("Laplace"), Component("Piecewise", columns="all")),
    clusterers=(Component("KMeans", n_clusters=3),),
    epsilons=(0.5, 2.0),
    dimensions=(2,),
    repeats=3,
    seed=7,
)
TRIALS = len(SPEC.trials())


def noisy(trial, log=None, hold=math.inf):
    """Return three records that depend on the trial's seed alone."""
    if log is not None:
        with Path(log).open("ab") as file:
            file.write(b".")
        if Path(log).stat().st_size > hold:
            time.sleep(300)
    rng = np.random.default_rng(trial.seed)
    # A product of this size goes through BLAS.
    product = rng.normal(size=(150, 150)) @ rng.normal(size=(150, 150))
    return [
        {"measure": f"m, {number}", "value": np.float64(product[number].sum()), "even": None}
        for number in range(3)
    ]


def plant(plan):
    """Let the write of the fifth trial be the last thing this process does."""
    writes = 0

    class Dying:
        def __getattr__(self, name):
            return getattr(os, name)

        def write(self, descriptor, data):
            nonlocal writes
            writes += 1
            if writes == 6:  # the first write claims the file
                os.write(descriptor, data if plan == "before sync" else data[: len(data) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return os.write(descriptor, data)

    record_store.os = Dying()


def main(path, log, jobs, plan=""):
    hold = TRIALS // 2 if plan == "hold" else math.inf
    if plan not in ("", "hold"):
        plant(plan)
    try:
        with RecordStore(path, SPEC) as store:
            records = run_spec(
                SPEC,
                partial(noisy, log=log, hold=hold),
                store,
                n_jobs=int(jobs),
                progress=lambda done, total: os.write(1, f"{done} of {total}\n".encode()),
            )
    except ShoalError as error:
        sys.exit(f"refused: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    sys.stdout.write(json.dumps(records) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
