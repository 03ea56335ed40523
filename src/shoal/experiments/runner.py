"""Run an experiment: trial by trial, on several cores, going on from where it was stopped."""

import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from typing import Any, NamedTuple

from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from shoal._processes import ignore_sigint, run_parallel
from shoal.exceptions import ParameterError, ShoalError, TrialError
from shoal.experiments.record_store import Record, RecordStore, check_record
from shoal.experiments.spec import ExperimentSpec
from shoal.experiments.trial import Trial

__all__ = ["OnRecords", "Progress", "Work", "offset_progress", "run_spec"]

#: Callback for progress, called with the number of finished trials and the number of all.
Progress = Callable[[int, int], None]
OnRecords = Callable[[Sequence[Record]], None]
#: Function that runs a trial and returns its records, each a mapping from column to value.
Work = Callable[[Trial], Iterable[Mapping[str, Any]]]


def run_spec(
    spec: ExperimentSpec,
    work: Work,
    store: RecordStore | None = None,
    *,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
    on_records: OnRecords | None = None,
) -> list[Record]:
    """Run all trials of an experiment that are not in its store yet.

    Parameters
    ----------
    spec : ExperimentSpec
        The experiment.
    work : callable
        ``work(trial)`` runs a trial and returns its records, at least one, all with the same
        columns. All its randomness must come from ``trial.seed``. With more than one process it
        must be a function that can be pickled.
    store : RecordStore, optional
        Store of the same experiment: trials in it are not run again, and new ones are added as they
        finish. None stores nothing.
    n_jobs : int, default=1
        Number of processes; -1 takes one for each core. Records do not depend on it.
    progress : callable, optional
        Called as ``progress(done, total)`` at the start and after each trial.
    on_records : callable, optional
        Called with the records of each trial as it finishes, before ``progress``; not for trials
        that are in the store already.

    Returns
    -------
    records : list of dict
        The records in the order of the experiment's trials, in whatever order these finished. Each
        begins with data set, columns, mechanism, clusterer, epsilon and repeat of its trial.

    Raises
    ------
    TrialError
        If a trial fails. The message names the trial, and a note has the traceback; the records of
        earlier trials are kept in the store.
    ParameterError
        If the store belongs to another experiment, or cannot be written to.

    Examples
    --------
    >>> spec = ExperimentSpec(
    ...     name="small", datasets=("heart",), mechanisms=("Laplace",), epsilons=(1.0, 2.0)
    ... )
    >>> for record in run_spec(spec, lambda trial: [{"cost": 1 / trial.epsilon}]):
    ...     print(record["mechanism"], record["epsilon"], record["cost"])
    Laplace 1.0 1.0
    Laplace 2.0 0.5
    """
    if store is not None and store.spec != spec:
        raise ParameterError("store must be of the experiment that is run, got that of another")
    trials = spec.trials()
    keys = {trial.key for trial in trials}
    done = frozenset() if store is None else store.done
    records: dict[str, list[Record]] = {}
    _notify(progress, len(done), len(keys))
    missing = [trial for trial in trials if trial.key not in done]
    with closing(_results(missing, work, n_jobs)) as results:
        for result in results:
            records[result.key] = result.records
            if store is not None:
                store.append(result.key, result.records)
            if on_records is not None:
                on_records(result.records)
            _notify(progress, len(done) + len(records), len(keys))
    if store is not None:
        return store.records()
    return [record for trial in trials for record in records[trial.key]]


def offset_progress(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Return a progress callback for one of several experiments that share a progress bar.

    Parameters
    ----------
    progress : callable or None
        The shared callback, ``progress(done, total)``, over all experiments.
    before : int
        Number of trials of the experiments before this one.
    total : int
        Number of trials of all experiments.

    Returns
    -------
    progress : callable or None
        The callback for this experiment.

    Examples
    --------
    >>> second = offset_progress(lambda done, total: print(f"{done} of {total}"), 10, 30)
    >>> second(5, 20)
    15 of 30
    """
    if progress is None:
        return None
    return lambda done, _: progress(before + done, total)


class _Result(NamedTuple):
    key: str
    records: list[Record]


def _results(
    trials: Sequence[Trial], work: Work, n_jobs: int | None
) -> Generator[_Result, None, None]:
    """Yield the results as trials are finished; whoever stops early stops the processes too."""
    quiet = ignore_sigint(_tried)
    tasks = (delayed(quiet)(work, trial) for trial in trials)
    running = run_parallel(_parallel(n_jobs), tasks)
    try:
        for result in running:
            if isinstance(result, TrialError):
                raise result
            yield result
    except BrokenProcessPool:
        raise TrialError(
            "a process was ended from outside, perhaps for want of memory; what was done is kept: "
            "run again with fewer processes"
        ) from None
    finally:
        with warnings.catch_warnings():
            # Whoever stops a run knows that some trials were not finished.
            warnings.filterwarnings("ignore", "[0-9]+ tasks", UserWarning)
            running.close()


def _parallel(n_jobs: int | None) -> Any:
    # Trials that are handed out together would come back, or be lost, together. Records are sent
    # through pipes: joblib would write larger tables to a temporary folder.
    kwargs = {"n_jobs": n_jobs, "batch_size": 1, "max_nbytes": None}
    try:
        return Parallel(**kwargs, return_as="generator_unordered")
    except ValueError:  # joblib < 1.4: a slow trial holds back those that are finished after it
        return Parallel(**kwargs, return_as="generator")


def _tried(work: Work, trial: Trial) -> _Result | TrialError:
    """Work on a trial, or return why not: raised, it would overtake trials that are finished."""
    try:
        return _worked(work, trial)
    except TrialError as failed:
        # Unlike a cause, a note travels between processes.
        failed.add_note("".join(traceback.format_exception(failed.__cause__)).rstrip())
        failed.__cause__ = None
        return failed


def _worked(work: Work, trial: Trial) -> _Result:
    # More threads add up in another order: numbers would depend on the number of processes.
    with threadpool_limits(1):
        try:
            return _Result(trial.key, [_record(trial, record) for record in work(trial)])
        except ShoalError as error:
            raise TrialError(f"{error}, in the trial {trial.key!r}") from error
        except Exception as error:
            # Messages of others may show values of records: theirs is left to the traceback.
            raise TrialError(f"{type(error).__name__} in the trial {trial.key!r}") from error


def _record(trial: Trial, record: Any) -> Record:
    own = check_record(record)
    for column, value in trial.fields.items():
        if value is not None and own.get(column, value) != value:
            raise ParameterError(f"{column} of a record must be that of its trial, {value!r}")
    return {**trial.fields, **own}


def _notify(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
