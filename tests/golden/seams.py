"""Every private name that runs replace, in one place: for speed, or where nothing can be passed.

Tables of the thesis are made up here, too: its study loads the author's files by name.
"""

import contextlib
import hashlib
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from shoal import papers
from shoal.experiments import report as experiment_report
from shoal.experiments.compare import measurements
from shoal.papers.kd_laplace import attacks, settings


def without_pictures() -> Any:
    """Return a patch that draws nothing: pictures are not compared, and take longest."""
    empty = SimpleNamespace(records=False, to_fragment=lambda caption: "")
    return mock.patch.object(
        experiment_report, "_draw", lambda figure: experiment_report._Shown(empty, figure.says)
    )


@contextlib.contextmanager
def cheap_comparison() -> Iterator[None]:
    """Make attacks of a comparison few, and stop its clock."""
    small = mock.patch.multiple(measurements, RUNS=2, SHADOWS=8)
    with small, mock.patch("time.perf_counter", return_value=0.0), without_pictures():
        yield


def study_of_command(study: Any) -> Any:
    """Return a patch that gives a small study to ``shoal reproduce``."""
    return mock.patch.object(papers, "load_study", return_value=study)


@contextlib.contextmanager
def made_up_files() -> Iterator[None]:
    """Take made-up tables for the files of the thesis' author."""
    with (
        mock.patch.object(settings, "load", made_up_file),
        mock.patch.object(attacks, "load", made_up_file),
    ):
        yield


def made_up_file(name: str) -> Any:
    """Return records with a class and public bounds, as the file of this name would hold them."""
    columns = 3 if name.endswith("_3d") else 9
    rng = np.random.default_rng(list(name.encode()))
    y = np.arange(90) % 2
    X = rng.normal(0.35 + 0.3 * y[:, None], 0.1, (90, columns))
    bounds = (np.zeros(columns), np.ones(columns))
    return SimpleNamespace(X=np.clip(X, 0.0, 1.0), y=y, bounds=bounds)


def with_known_entropy(work: Callable[[], Any]) -> Any:
    """Return what a device does when the operating system's entropy is a known stream.

    Devices take no seed. A new thread makes a new key, from ``os.urandom``, which is replaced.
    """
    drawn, found = 0, []

    def urandom(size: int) -> bytes:
        nonlocal drawn
        drawn += 1
        return hashlib.shake_128(b"golden %d" % drawn).digest(size)

    def in_thread() -> None:
        found.append(work())

    with mock.patch("os.urandom", urandom):
        thread = threading.Thread(target=in_thread)
        thread.start()
        thread.join()
    return found[0]
