"""The fits of an audit: in pieces, in parallel, with progress, and not twice where they are stored.

A piece is the releases of some fits on one table. What the pieces hold does not depend on how many
processes there are or on what was stored before, if every fit has a seed of its own.

With a folder, an audit that was stopped can go on: a piece is one .npz file, written under another
name and renamed when it is whole, so a process that is killed leaves whole pieces behind, and at
most one file whose name ends in .tmp. The folder belongs to one audit, whose key it holds.
"""

import contextlib
import hashlib
import json
import os
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import delayed

from shoal import __version__
from shoal._processes import ignore_sigint, run_parallel
from shoal._typing import Floats
from shoal.audit.estimators._releases import Ragged, Statistic, fit_many
from shoal.audit.estimators.neighbors import Neighbors
from shoal.exceptions import ParameterError

KEY_FILE = "audit.json"

Piece = dict[str, Ragged]


def audit_key(model: Any, **kwargs: Any) -> str:
    """Hash what the fits of an audit depend on."""
    return hashlib.sha256(_as_text((__version__, model, kwargs)).encode()).hexdigest()


class PieceStore:
    """The pieces of one audit in a folder.

    Parameters
    ----------
    folder : str or path
        Made if it is not there; otherwise empty, or that of the same audit.
    key : str
        As :func:`audit_key` gives it.
    """

    def __init__(self, folder: str | os.PathLike[str], key: str) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            used = any(self._folder.iterdir())
        except OSError as failure:
            raise ParameterError(
                f"resume must be a folder that can be made or read, got {str(folder)!r}: "
                f"{failure.strerror}"
            ) from None
        if not used:
            self._write(KEY_FILE, lambda file: file.write(json.dumps({"key": key}).encode()))
        elif self._found_key() != key:
            raise ParameterError(
                "resume must be a new folder or one of the same audit (estimator, tables, runs, "
                f"seed, version), got one of something else: {str(folder)!r}"
            )

    def load(self, name: str) -> Piece | None:
        """Read a piece, or return None if it was not finished."""
        path = self._folder / f"{name}.npz"
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                return {
                    str(value): Ragged(stored[f"numbers_{index}"], stored[f"lengths_{index}"])
                    for index, value in enumerate(stored["names"])
                }
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            raise ParameterError(
                f"resume must hold whole pieces, got a damaged one: delete {str(path)!r}"
            ) from None

    def save(self, name: str, piece: Piece) -> None:
        """Write a piece; it is there when it is whole, and not before."""
        # Released values have any names; those of the arrays must suit a zip file.
        arrays: dict[str, Any] = {"names": np.array(list(piece), dtype=np.str_)}
        for index, (numbers, lengths) in enumerate(piece.values()):
            arrays |= {f"numbers_{index}": numbers, f"lengths_{index}": lengths}
        self._write(f"{name}.npz", lambda file: np.savez(file, **arrays))

    def _write(self, name: str, write: Any) -> None:
        # The number of the process keeps two of them from writing into one file.
        unfinished = self._folder / f"{name}.{os.getpid()}.tmp"
        try:
            with unfinished.open("wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self._folder / name)
        finally:
            unfinished.unlink(missing_ok=True)

    def _found_key(self) -> str | None:
        with contextlib.suppress(OSError, ValueError):
            stored_key = json.loads((self._folder / KEY_FILE).read_bytes())
            if isinstance(stored_key, dict):
                return stored_key.get("key")
        return None


def _as_text(value: Any) -> str:
    """Write a value out in full: numbers of arrays as their bytes, estimators by parameter."""
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array({value.dtype}, {value.shape}, {digest})"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_as_text(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{_as_text(value[key])}" for key in sorted(value)) + "}"
    if hasattr(value, "get_params"):
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        return kind + _as_text(value.get_params(deep=False))
    return repr(value)


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
    """Runs fits, and counts how many are done.

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
        Called with ``(done, total)`` as pieces are finished.
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
        """Fit all pairs that are wanted."""
        tasks = [task for one in wanted for task in _tasks(one)]
        pieces = {task.name: piece for task in tasks if (piece := self._stored(task)) is not None}
        missing = [task for task in tasks if task.name not in pieces]
        work = ignore_sigint(fit_many)
        fitted = run_parallel(
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
                pieces[task.name] = piece
                self._advance(len(task.seeds))
        finally:
            with warnings.catch_warnings():
                # Whoever stops an audit knows that some fits were not finished.
                warnings.filterwarnings("ignore", "[0-9]+ tasks", UserWarning)
                fitted.close()
        sides = [Sides([], []) for _ in wanted]
        by_name = {one.name: side for one, side in zip(wanted, sides, strict=True)}
        for task in tasks:
            by_name[task.wanted][task.side].append(pieces[task.name])
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
