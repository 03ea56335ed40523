"""The study of DP-KCCM: its parts, its three findings, its report."""

from shoal.experiments.book import Book
from shoal.papers.claims import Verdict
from shoal.papers.kccm import load_blood
from shoal.papers.kccm.cells import FindCenters, Load, MeasureCosts
from shoal.papers.kccm.cluster_pictures import tell_clusters
from shoal.papers.kccm.comparisons import compare_all
from shoal.papers.kccm.cost_pictures import tell_costs
from shoal.papers.kccm.findings import judge_findings, tell_comparisons
from shoal.papers.kccm.plan import FULL, QUICK, Plan
from shoal.papers.measurements import Measurements
from shoal.papers.studies import Experiment, Study

__all__ = ["KccmStudy"]


class KccmStudy(Study):
    """The experiments of DP-KCCM on the blood donors' table, as published and corrected.

    Parameters
    ----------
    load : callable, default=load_blood
        Gives the table: n records of four columns, scaled to [-1, 1].
    quick, full : Plan
        Sizes; the full one has the source's own 20 starts and 50 runs.

    Examples
    --------
    >>> KccmStudy().name
    'kccm'
    """

    name = "kccm"
    title = "DP-KCCM again: private k-means by cluster merging"
    source = (
        "S. Narne, N. Kankanala, M. R. Ravipati, Enhancing Privacy in K-Means Clustering Through "
        "Cluster Fusion"
    )

    def __init__(self, *, load: Load = load_blood, quick: Plan = QUICK, full: Plan = FULL) -> None:
        self.load = load
        self.plans = {False: quick, True: full}

    def experiments(self, *, full: bool, seed: int) -> tuple[Experiment, ...]:
        """List the experiments: by epsilon, by k, as published, and fits for pictures.

        Parameters
        ----------
        full : bool
            20 starts with 50 runs each, or a first look.
        seed : int
            Seed of everything.

        Returns
        -------
        experiments : tuple of Experiment
            In the order in which they are run.

        Raises
        ------
        DataError
            If the table is not there.
        """
        self.load()  # what is missing is said before any work
        return tuple(
            Experiment(name, spec, FindCenters(self.load) if name == "clusters" else measure)
            for measure in [MeasureCosts(self.load)]
            for name, spec in self.plans[full].specs(seed=seed).items()
        )

    def judge(self, measurements: Measurements) -> tuple[Verdict, ...]:
        """Judge the three findings.

        Parameters
        ----------
        measurements : mapping of str to sequence of mapping
            Of all experiments.

        Returns
        -------
        verdicts : tuple of Verdict
            In the order of the source's abstract.
        """
        return judge_findings(compare_all(measurements), measurements)

    def render(self, report: Book, measurements: Measurements) -> None:
        """Put figures and tables into the report.

        Parameters
        ----------
        report : Book
            The report.
        measurements : mapping of str to sequence of mapping
            Of all experiments.
        """
        tell_costs(report, measurements)
        tell_comparisons(report, compare_all(measurements))
        tell_clusters(report, measurements["clusters"], self.load())
