"""Studies: the experiments of a source, run again, judged, and put into one report."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from shoal._optional import require
from shoal.exceptions import ParameterError
from shoal.experiments import (
    ExperimentSpec,
    Progress,
    Provenance,
    RecordStore,
    Report,
    Work,
    offset_progress,
    run_spec,
)
from shoal.papers.claims import OUTCOMES, Verdict
from shoal.papers.measurements import Measurement, Measurements

__all__ = ["STUDIES", "Experiment", "Reproduction", "Study", "load_study", "run_study"]

#: Location of each study by name; :func:`load_study` imports it when it is needed.
STUDIES = {
    "kd-laplace": "shoal.papers.kd_laplace.study:KdLaplaceStudy",
    "kccm": "shoal.papers.kccm.study:KccmStudy",
    "wavecluster": "shoal.papers.wavecluster.study:WaveClusterStudy",
}


@dataclass(frozen=True)
class Experiment:
    """One experiment of a study, with a file for its records.

    Parameters
    ----------
    name : str
        Name of the experiment and of its file of records.
    spec : ExperimentSpec
        The trials to run.
    work : callable
        Function that runs a trial and returns its measurements. It must be picklable, since
        processes get copies of it.

    Examples
    --------
    >>> from shoal.experiments import Component
    >>> spec = ExperimentSpec(
    ...     name="cost", datasets=("iris",), mechanisms=(Component("Laplace"),), epsilons=(1.0, 2.0)
    ... )
    >>> experiment = Experiment("cost", spec, lambda trial: [{"cost": 1 / trial.epsilon}])
    >>> [experiment.work(trial) for trial in experiment.spec.trials()]
    [[{'cost': 1.0}], [{'cost': 0.5}]]
    """

    name: str
    spec: ExperimentSpec
    work: Work


class Study(ABC):
    """Protocol of studies: the experiments of one source, its claims, and its report.

    Examples
    --------
    >>> from shoal.papers import Study
    >>> class Empty(Study):
    ...     name, title, source = "empty", "No experiments", "A paper without any"
    ...     def experiments(self, *, full, seed):
    ...         return ()
    ...     def judge(self, measurements):
    ...         return ()
    ...     def render(self, report, measurements):
    ...         report.lead("Nothing was measured.")
    >>> Empty().experiments(full=False, seed=0)
    ()
    """

    name: str
    title: str
    source: str

    @abstractmethod
    def experiments(self, *, full: bool, seed: int) -> tuple[Experiment, ...]:
        """Return the experiments.

        Parameters
        ----------
        full : bool
            True for the size of the source's experiments, False for a quick look.
        seed : int
            Seed of all experiments.

        Returns
        -------
        experiments : tuple of Experiment
            The experiments, in the order in which they are run.

        Raises
        ------
        DataError
            If a file that they need does not exist.
        """

    @abstractmethod
    def judge(self, measurements: Measurements) -> tuple[Verdict, ...]:
        """Return a verdict on every claim of the source.

        Parameters
        ----------
        measurements : mapping of str to sequence of mapping
            Measurements of all experiments, by name.

        Returns
        -------
        verdicts : tuple of Verdict
            The verdicts, in the order of the source.
        """

    @abstractmethod
    def render(self, report: Report, measurements: Measurements) -> None:
        """Add the figures and tables to the report.

        Parameters
        ----------
        report : Report
            The report.
        measurements : mapping of str to sequence of mapping
            Measurements of all experiments, by name.
        """


@dataclass(frozen=True)
class Reproduction:
    """The results of a study: report, verdicts and measurements.

    Parameters
    ----------
    report : Path
        One HTML file with all figures.
    verdicts : tuple of Verdict
        One verdict for each claim of the source.
    measurements : mapping of str to sequence of mapping
        Measurements of each experiment, by name.

    Examples
    --------
    >>> from shoal.papers import Claim
    >>> verdict = Verdict(Claim("H1", "more noise hides more"), "reproduced", "0.1 against 0.3")
    >>> Reproduction(Path("report.html"), (verdict,), {}).summary.partition(",")[0]
    'Of 1 claims: 1 reproduced'
    """

    report: Path
    verdicts: tuple[Verdict, ...]
    measurements: Measurements

    @property
    def summary(self) -> str:
        """How many claims had which outcome, as a sentence."""
        outcomes = [verdict.outcome for verdict in self.verdicts]
        counts = ", ".join(f"{outcomes.count(one)} {one}" for one in OUTCOMES)
        return f"Of {len(outcomes)} claims: {counts}."


def load_study(name: str) -> Study:
    """Return the study of a source by name.

    Parameters
    ----------
    name : str
        Name of the study, a key of ``STUDIES``.

    Returns
    -------
    study : Study
        The study, ready to run.

    Raises
    ------
    ParameterError
        If there is no study of this name.

    Examples
    --------
    >>> load_study("kccm").name
    'kccm'
    """
    if name not in STUDIES:
        raise ParameterError(f"study must be one of {', '.join(STUDIES)}, got {name!r}")
    module, _, kind = STUDIES[name].partition(":")
    study: Study = getattr(import_module(module), kind)()
    return study


def run_study(
    study: Study,
    *,
    folder: Path,
    full: bool = False,
    seed: int = 0,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
) -> Reproduction:
    """Run all experiments of a study and write its report; continue an earlier run if it stopped.

    Parameters
    ----------
    study : Study
        The study to run.
    folder : Path
        Folder for records, figures and report; created if missing.
    full : bool, default=False
        True for the size of the source's experiments, False for a quick look.
    seed : int, default=0
        Seed of all experiments.
    n_jobs : int, default=1
        Number of processes; -1 takes one for each core. Measurements do not depend on it.
    progress : callable, default=None
        Called as ``progress(done, total)``, counting the trials of all experiments.

    Returns
    -------
    reproduction : Reproduction
        The report, the verdicts and the measurements.

    Raises
    ------
    DataError
        If a file that the study needs does not exist.
    MissingPackageError
        If a package that the study or its report needs is not installed.
    ParameterError
        If the folder cannot be written, or holds records of another run.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shoal.papers import Study, run_study
    >>> class Empty(Study):
    ...     name, title, source = "empty", "No experiments", "A paper without any"
    ...     def experiments(self, *, full, seed):
    ...         return ()
    ...     def judge(self, measurements):
    ...         return ()
    ...     def render(self, report, measurements):
    ...         report.lead("Nothing was measured.")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_study(Empty(), folder=Path(folder)).verdicts
    ()
    """
    # What the report needs is asked for before hours of work, not after.
    for package in ("altair", "vl_convert"):
        require(package, extra="plot")
    experiments = study.experiments(full=full, seed=seed)
    figures = folder / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(
            f"folder must be one that can be written, got {str(folder)!r}: {error.strerror}"
        ) from None
    measurements = _run(experiments, folder, n_jobs, progress)
    result = Reproduction(folder / "report.html", study.judge(measurements), measurements)
    # Figures may show single records of the source's own, public tables.
    report = Report(study.title, figures=figures, publishable=False)
    report.lead(f"{study.source}. {_size(full)}").verdict(result.summary)
    _render_claims(report, result.verdicts)
    study.render(report, measurements)
    size = "--full" if full else "--quick"
    command = f"shoal reproduce {study.name} {size} --seed {seed}"
    report.provenance(
        Provenance(command, seed, data="the tables of the source"),
        "Records are beside this file as CSV, figures as SVG. The command repeats them.",
    )
    report.write(result.report, n_jobs=n_jobs)
    return result


def _run(
    experiments: Sequence[Experiment], folder: Path, n_jobs: int | None, progress: Progress | None
) -> Measurements:
    """Run the experiments one after the other, each with its store."""
    sizes = [len(experiment.spec.trials()) for experiment in experiments]
    measurements: dict[str, Sequence[Measurement]] = {}
    for index, experiment in enumerate(experiments):
        with RecordStore(folder / f"{experiment.name}.csv", experiment.spec) as store:
            measurements[experiment.name] = run_spec(
                experiment.spec,
                experiment.work,
                store=store,
                n_jobs=n_jobs,
                progress=offset_progress(progress, sum(sizes[:index]), sum(sizes)),
            )
    return measurements


def _size(full: bool) -> str:
    if full:
        return "Run in full, with at least the source's own number of repeats."
    return "A quick run, with few repeats and epsilons: its verdicts are a first look."


def _render_claims(report: Report, verdicts: Sequence[Verdict]) -> None:
    report.section("The claims, one by one")
    report.text(
        "A verdict needs an interval of 95% that excludes the limit; where a claim is about "
        "several means, they share the 5%."
    )
    report.points(f"{name[:1].upper()}{name[1:]}: {meaning}." for name, meaning in OUTCOMES.items())
    report.table(
        ["claim", "what the source says", "verdict", "what we measured"],
        [[one.claim.name, one.claim.text, one.outcome, one.evidence] for one in verdicts],
        text=4,
    )
