"""The study of DP-KCCM: its parts, its three findings, its report."""

from shoal.experiments.book import Book
from shoal.papers.finding import Finding
from shoal.papers.kccm import load_blood
from shoal.papers.kccm.cells import FindCenters, Load, MeasureCosts
from shoal.papers.kccm.cluster_pictures import tell_clusters
from shoal.papers.kccm.comparisons import compare_all
from shoal.papers.kccm.cost_pictures import tell_costs
from shoal.papers.kccm.findings import judge_findings, tell_comparisons
from shoal.papers.kccm.plan import FULL, QUICK, Plan
from shoal.papers.study import Part, Records, Study

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

    def parts(self, *, full: bool, seed: int) -> tuple[Part, ...]:
        """List the experiments: by epsilon, by k, as published, and fits for pictures.

        Parameters
        ----------
        full : bool
            20 starts with 50 runs each, or a first look.
        seed : int
            Seed of everything.

        Returns
        -------
        parts : tuple of Part
            In the order in which they are run.

        Raises
        ------
        DataError
            If the table is not there.
        """
        self.load()  # what is missing is said before any work
        return tuple(
            Part(name, spec, FindCenters(self.load) if name == "clusters" else measure)
            for measure in [MeasureCosts(self.load)]
            for name, spec in self.plans[full].specs(seed=seed).items()
        )

    def findings(self, records: Records) -> tuple[Finding, ...]:
        """Judge the three findings.

        Parameters
        ----------
        records : mapping of str to list of dict
            Records of all parts.

        Returns
        -------
        findings : tuple of Finding
            In the order of the source's abstract.
        """
        return judge_findings(compare_all(records), records)

    def tell(self, book: Book, records: Records) -> None:
        """Put figures and tables into the report.

        Parameters
        ----------
        book : Book
            The report.
        records : mapping of str to list of dict
            Records of all parts.
        """
        tell_costs(book, records)
        tell_comparisons(book, compare_all(records))
        tell_clusters(book, records["clusters"], self.load())
