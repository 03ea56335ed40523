"""Count the files of shoal that a call walks through, and how deep it goes.

``python tools/trace_walk.py fit``: ``DPKMeans.fit`` on 2,000 records.
``python tools/trace_walk.py compare``: ``shoal compare`` on a small file, one process.
``python tools/trace_walk.py modules``: the modules of shoal that ``shoal cluster`` loads.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

SEPARATOR = f"{os.sep}shoal{os.sep}"


class Walk:
    """Files of shoal seen by a profile hook, and the deepest stack of its frames."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.deepest = 0
        self._depth = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Follow one call or return."""
        file = frame.f_code.co_filename
        if SEPARATOR not in file or "src" not in file or frame.f_code.co_name == "<module>":
            return
        if event == "call":
            self._depth += 1
            self.deepest = max(self.deepest, self._depth)
            self.files.add(file)
        elif event == "return":
            self._depth -= 1


def traced(call: Callable[[], object]) -> Walk:
    """Run a call under the hook."""
    walk = Walk()
    sys.setprofile(walk)
    try:
        call()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    return walk


def fit() -> None:
    """Trace a fit."""
    from shoal import DPKMeans

    records = np.random.default_rng(0).normal(size=(2000, 2)).clip(-3, 3)
    model = DPKMeans(3, epsilon=1.0, bounds=(-3.0, 3.0), random_state=0)
    walk = traced(lambda: model.fit(records))
    print(f"DPKMeans.fit: {len(walk.files)} files, {walk.deepest} calls deep")


def write_table(folder: Path) -> Path:
    """Write a small table."""
    rng = np.random.default_rng(0)
    rows = [f"{x:.4f},{y:.4f}" for x, y in rng.uniform(0, 1, (400, 2))]
    path = folder / "table.csv"
    path.write_text("\n".join(["x,y", *rows]) + "\n")
    return path


def command(arguments: list[str]) -> Walk:
    """Trace a command line."""
    from shoal.cli import app

    return traced(lambda: app(arguments))


def compare() -> None:
    """Trace a comparison."""
    with tempfile.TemporaryDirectory() as name:
        path = write_table(Path(name))
        arguments = ["compare", str(path), "--columns", "x,y", "--bounds", "0:1,0:1", "--runs", "1"]
        arguments += ["--epsilon", "1", "--clusters", "3", "--out", f"{name}/out", "--seed", "0"]
        walk = command([*arguments, "--only", "DPKMeans,Laplace"])
        print(f"shoal compare: {len(walk.files)} files, {walk.deepest} calls deep")


def modules() -> None:
    """Count the modules that `shoal cluster` loads."""
    with tempfile.TemporaryDirectory() as name:
        path = write_table(Path(name))
        arguments = ["cluster", str(path), "--columns", "x,y", "--bounds", "0:1,0:1"]
        command([*arguments, "--set", "n_clusters=3", "--seed", "0", "--out", f"{name}/out"])
        loaded = [name for name in sys.modules if name == "shoal" or name.startswith("shoal.")]
        print(f"shoal cluster: {len(loaded)} modules of shoal")


if __name__ == "__main__":
    {"fit": fit, "compare": compare, "modules": modules}[sys.argv[1]]()
