"""The fits of an audit: in pieces, in parallel, with progress, and not twice where they are stored.

A piece is some fits on one table. What the pieces hold does not depend on how many processes there
are or on what was stored before, if every fit has a seed of its own.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from sklearn.utils.parallel import delayed

from shoal._typing import Floats
from shoal.audit._quietly import quietly, started
from shoal.audit.estimators._releases import Ragged, Statistic, fit_many
from shoal.audit.estimators._store import PieceStore
from shoal.audit.estimators.neighbors import Neighbors

PIECE = 100  # Fits that a process is handed at a time; what they find does not depend on it.

Progress = Callable[[int, int], None]
Seeds = Sequence[int | None]
Pieces = list[dict[str, Ragged]]


class Wanted(NamedTuple):
    """Fits on both tables of a pair."""

    name: str  # of the stage and the pair, for the files
    pair: Neighbors
    seeds_without: Seeds
    seeds_with: Seeds


class Sides(NamedTuple):
    """What the fits on both tables of a pair released."""

    without: Pieces
    with_added: Pieces


class Fits:
    """Runs fits, and tells how many are done.

    Parameters
    ----------
    model : estimator
        Fitted again and again.
    statistic : callable or None
        As in :func:`shoal.audit.audit_estimator`.
    parallel : Parallel
        Gives results one after the other, in order (``return_as="generator"``).
    total : int
        Number of fits of the whole audit.
    progress : callable or None
        Told ``(done, total)`` as pieces are finished.
    store : PieceStore or None
        Where finished pieces are.
    """

    def __init__(
        self,
        model: Any,
        statistic: Statistic | None,
        *,
        parallel: Any,
        total: int,
        progress: Progress | None,
        store: PieceStore | None,
    ) -> None:
        self._model = model
        self._statistic = statistic
        self._parallel = parallel
        self._total = total
        self._progress = progress
        self._store = store
        self._done = 0

    def run(self, wanted: Sequence[Wanted]) -> list[Sides]:
        """Fit all pairs that are wanted.

        Parameters
        ----------
        wanted : sequence of Wanted
            Each name once in an audit.

        Returns
        -------
        sides : list of Sides
            In the order of `wanted`.
        """
        tasks = [task for one in wanted for task in _tasks(one)]
        found = {task.name: piece for task in tasks if (piece := self._stored(task)) is not None}
        missing = [task for task in tasks if task.name not in found]
        work = quietly(fit_many)
        fitted = started(
            self._parallel,
            (
                delayed(work)(self._model, task.records, task.seeds, task.pair, self._statistic)
                for task in missing
            ),
        )
        try:
            for task, piece in zip(missing, fitted, strict=True):
                if self._store is not None:
                    self._store.save(task.name, piece)
                found[task.name] = piece
                self._advance(len(task.seeds))
        finally:
            with warnings.catch_warnings():
                # Whoever stops an audit knows that some fits were not finished.
                warnings.filterwarnings("ignore", "[0-9]+ tasks", UserWarning)
                fitted.close()
        sides = [Sides([], []) for _ in wanted]
        places = {one.name: place for one, place in zip(wanted, sides, strict=True)}
        for task in tasks:
            places[task.wanted][task.side].append(found[task.name])
        return sides

    def _stored(self, task: "_Task") -> dict[str, Ragged] | None:
        piece = None if self._store is None else self._store.load(task.name)
        if piece is not None:
            self._advance(len(task.seeds))
        return piece

    def _advance(self, fits: int) -> None:
        self._done += fits
        if self._progress is not None:
            self._progress(self._done, self._total)


class _Task(NamedTuple):
    name: str
    wanted: str
    side: int
    pair: Neighbors
    records: Floats
    seeds: Seeds


def _tasks(wanted: Wanted) -> Iterator[_Task]:
    pair = wanted.pair
    tables = ((pair.records, wanted.seeds_without), (pair.with_added, wanted.seeds_with))
    for side, (records, seeds) in enumerate(tables):
        for start in range(0, len(seeds), PIECE):
            name = f"{wanted.name}-{('without', 'with')[side]}-{start}"
            piece = seeds[start : start + PIECE]
            yield _Task(name, wanted.name, side, pair, records, piece)
