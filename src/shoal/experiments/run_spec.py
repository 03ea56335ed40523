"""Run an experiment: cell by cell, on several cores, going on from where it was stopped."""

import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from typing import Any, NamedTuple

from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from shoal.audit._quietly import quietly, started
from shoal.exceptions import CellError, ParameterError, ShoalError
from shoal.experiments._record_lines import Record, check_record
from shoal.experiments.cell import Cell
from shoal.experiments.record_store import RecordStore
from shoal.experiments.spec import ExperimentSpec

__all__ = ["Progress", "Work", "of_part", "run_spec"]

Progress = Callable[[int, int], None]
Work = Callable[[Cell], Iterable[Mapping[str, Any]]]


def run_spec(
    spec: ExperimentSpec,
    work: Work,
    store: RecordStore | None = None,
    *,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
) -> list[Record]:
    """Work on all cells of an experiment that are not done.

    Parameters
    ----------
    spec : ExperimentSpec
        The experiment.
    work : callable
        ``work(cell)`` gives the records of a cell, at least one, all with the same columns. Its
        randomness comes from ``cell.seed`` alone. With more than one process it must be a function
        that can be pickled.
    store : RecordStore, optional
        Store of the same experiment: what is in it is not done again, and cells are added as they
        are finished. None keeps nothing on the disk.
    n_jobs : int, default=1
        Number of processes; -1 takes one for each core. Records do not depend on it.
    progress : callable, optional
        ``progress(done, total)`` is called at the start and as cells are finished.

    Returns
    -------
    records : list of dict
        In the order of the experiment's cells, however they were finished. Each begins with data
        set, columns, mechanism, clusterer, epsilon and repeat of its cell.

    Raises
    ------
    CellError
        If a cell fails; it names the cell, and its note is the traceback. What was done before is
        kept in the store.
    ParameterError
        If the store is of another experiment, or cannot be written to.

    Examples
    --------
    >>> from shoal.experiments.choice import Choice
    >>> spec = ExperimentSpec(
    ...     name="small", datasets=("heart",), mechanisms=(Choice("Laplace"),), epsilons=(1.0, 2.0)
    ... )
    >>> for record in run_spec(spec, lambda cell: [{"cost": 1 / cell.epsilon}]):
    ...     print(record["mechanism"], record["epsilon"], record["cost"])
    Laplace 1.0 1.0
    Laplace 2.0 0.5
    """
    if store is not None and store.spec != spec:
        raise ParameterError("store must be of the experiment that is run, got that of another")
    cells = spec.cells()
    keys = {cell.key for cell in cells}
    done = frozenset() if store is None else store.done
    found: dict[str, list[Record]] = {}
    _tell(progress, len(done), len(keys))
    missing = [cell for cell in cells if cell.key not in done]
    with closing(_results(missing, work, n_jobs)) as results:
        for result in results:
            found[result.key] = result.records
            if store is not None:
                store.append(result.key, result.records)
            _tell(progress, len(done) + len(found), len(keys))
    if store is not None:
        return store.records()
    return [record for cell in cells for record in found[cell.key]]


def of_part(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Count the cells of one experiment among those of several.

    Parameters
    ----------
    progress : callable or None
        Called as ``progress(done, total)`` for all of them.
    before : int
        Cells of the experiments before this one.
    total : int
        Cells of all.

    Returns
    -------
    progress : callable or None
        For this experiment.
    """
    if progress is None:
        return None
    return lambda done, _: progress(before + done, total)


class _Result(NamedTuple):
    key: str
    records: list[Record]


def _results(
    cells: Sequence[Cell], work: Work, n_jobs: int | None
) -> Generator[_Result, None, None]:
    """Yield the results as cells are finished; whoever stops early stops the processes too."""
    quiet = quietly(_tried)
    tasks = (delayed(quiet)(work, cell) for cell in cells)
    running = started(_parallel(n_jobs), tasks)
    try:
        for result in running:
            if isinstance(result, CellError):
                raise result
            yield result
    except BrokenProcessPool:
        raise CellError(
            "a process was ended from outside, perhaps for want of memory; what was done is kept: "
            "run again with fewer processes"
        ) from None
    finally:
        with warnings.catch_warnings():
            # Whoever stops a run knows that some cells were not finished.
            warnings.filterwarnings("ignore", "[0-9]+ tasks", UserWarning)
            running.close()


def _parallel(n_jobs: int | None) -> Any:
    # Cells that are handed out together would come back, or be lost, together.
    words = {"n_jobs": n_jobs, "batch_size": 1}
    try:
        return Parallel(**words, return_as="generator_unordered")
    except ValueError:  # joblib < 1.4: a slow cell holds back those that are finished after it
        return Parallel(**words, return_as="generator")


def _tried(work: Work, cell: Cell) -> _Result | CellError:
    """Work on a cell, or return why not: raised, it would overtake cells that are finished."""
    try:
        return _worked(work, cell)
    except CellError as failed:
        # Unlike a cause, a note travels between processes.
        failed.add_note("".join(traceback.format_exception(failed.__cause__)).rstrip())
        failed.__cause__ = None
        return failed


def _worked(work: Work, cell: Cell) -> _Result:
    # More threads add up in another order: numbers would depend on the number of processes.
    with threadpool_limits(1):
        try:
            return _Result(cell.key, [_record(cell, record) for record in work(cell)])
        except ShoalError as error:
            raise CellError(f"{error}, in the cell {cell.key!r}") from error
        except Exception as error:
            # Messages of others may show values of records: theirs is left to the traceback.
            raise CellError(f"{type(error).__name__} in the cell {cell.key!r}") from error


def _record(cell: Cell, record: Any) -> Record:
    own = check_record(record)
    for column, value in cell.fields.items():
        if value is not None and own.get(column, value) != value:
            raise ParameterError(f"{column} of a record must be that of its cell, {value!r}")
    return {**cell.fields, **own}


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
