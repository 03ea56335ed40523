"""What an attacker learns from one method at one epsilon, on some of the records.

From a central release: was this record in? (:func:`shoal.audit.attack_centers`.) From a report:
what was the record? (:func:`shoal.audit.reconstruct`, as well as anyone can who knows all records
but not whose report it is.) Either is told as a gain from 0, nothing learned, to 1, all of it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from shoal._statistics import mean_interval
from shoal._typing import Floats
from shoal.audit import advantage_ceiling, attack_centers, reconstruct
from shoal.experiments.cell import Cell
from shoal.experiments.compare.contender import Contender
from shoal.experiments.compare.equal_privacy import box_diameter
from shoal.experiments.compare.frame import Frame, random_rows
from shoal.mechanisms import KdLaplace
from shoal.metrics import privacy_distance

__all__ = ["MAX_ATTACKED", "AttackWork", "attack_without_privacy"]

Row = dict[str, Any]

MAX_ATTACKED = 600  # records, of which each fit sees about half
RUNS, SHADOWS = 20, 64
ERROR = 0.05


@dataclass(frozen=True)
class AttackWork:
    """Work on a cell: attack a method.

    Parameters
    ----------
    frame : Frame
        What is compared on.
    contenders : tuple of Contender
        By whose names the cells go.
    """

    frame: Frame
    contenders: tuple[Contender, ...]

    def __call__(self, cell: Cell) -> list[Row]:
        """Return one row."""
        (contender,) = (one for one in self.contenders if one.name == cell.mechanism.name)
        frame = self.frame
        method = contender.build(cell.epsilon, frame.columns, frame.clusters, seed=cell.seed)
        some = _some(frame)
        if contender.kind == "reports":
            return [_reports(method, some, cell.seed)]
        return [_release(method, some, cell.seed)]


def attack_without_privacy(frame: Frame) -> Row:
    """Attack the centers of k-means, as a control.

    Parameters
    ----------
    frame : Frame
        What is compared on.

    Returns
    -------
    row : dict
        With the gain and its limits.
    """
    return _release(KMeans(frame.clusters, n_init=1), _some(frame), seed=0)


def _some(frame: Frame) -> Floats:
    X = frame.load().X
    some: Floats = X[random_rows(len(X), MAX_ATTACKED)]
    return some


def _release(method: Any, some: Floats, seed: int) -> Row:
    found = attack_centers(method, some, runs=RUNS, shadows=SHADOWS, random_state=seed)
    low, high = found.interval(1 - ERROR)
    promise = getattr(method.fit(some), "guarantee_", None)
    ceiling = None
    if promise is not None and promise.notion != "none":
        ceiling = advantage_ceiling(promise)
    return {
        "attack": "membership",
        "gain": found.advantage,
        "low": low,
        "high": high,
        "ceiling": ceiling,
        "off": None,
        "off_without": None,
        "distance": None,
    }


def _reports(mechanism: Any, some: Floats, seed: int) -> Row:
    columns = some.shape[1]
    shown = mechanism.fit_transform(some)
    # A remap sees reports only: whoever has these has all that it knows.
    channel = mechanism.mechanism_ if isinstance(mechanism, KdLaplace) else mechanism
    found = reconstruct(channel, some, prior="records", random_state=seed)
    # Where all records are alike there is nothing left to learn.
    gains = np.zeros(len(some))
    if found.error_without:
        gains = (found.distances_without - found.distances) / found.error_without
    low, high = mean_interval(gains, error=ERROR)
    whole = box_diameter(columns)
    return {
        "attack": "reconstruction",
        "gain": float(gains.mean()),
        "low": low,
        "high": high,
        "ceiling": None,
        "off": found.error / whole,
        "off_without": found.error_without / whole,
        "distance": privacy_distance(some, np.asarray(shown)) / whole,
    }
