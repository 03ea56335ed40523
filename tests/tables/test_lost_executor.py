"""Real executors, of which one is declared lost and comes back: one set of reports is ever read."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.spark import need_spark

SCRIPT = Path(__file__).parents[1] / "helpers" / "spark_lost_executor.py"

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for executors in /proc"),
]


def readings(folder, *checkpoints):
    """Run the story, and give what each reading of the reports gave."""
    need_spark()
    paths = [str(SCRIPT.parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), *checkpoints],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    executors = {(folder / name).read_text() for name in ("first", "second")}
    assert len(executors) == 2, "two executors drew reports of the same records"
    return found


def test_a_second_copy_of_reports_is_never_read(tmp_path):
    found = readings(tmp_path)
    assert len({str(values) for values in found if isinstance(values, list)}) <= 1
    for error in found:
        if isinstance(error, str):
            assert "reports must be those that were drawn first" in error or "not found" in error
    assert isinstance(found[-1], str), "both executors that drew are gone"


def test_reports_in_a_checkpoint_folder_outlive_both_executors(tmp_path):
    found = readings(tmp_path, str(tmp_path / "checkpoints"))
    assert all(values == found[0] for values in found)
    assert np.abs(np.array(found[0]) - np.arange(50)).max() < 8  # a false alarm in 10^12 runs
