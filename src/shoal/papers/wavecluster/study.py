"""Chen, Yu and Chirkova's experiments again: four techniques as published, corrected, and ours."""

from shoal.experiments.book import Book
from shoal.experiments.choice import Choice
from shoal.experiments.spec import ExperimentSpec
from shoal.papers.finding import Finding
from shoal.papers.study import Part, Records, Study
from shoal.papers.wavecluster import (
    EPSILONS,
    FIGURE_SETS,
    FOURTH,
    TECHNIQUES,
    load_figure_set,
)
from shoal.papers.wavecluster.figure_comparison import Load, figure_comparison
from shoal.papers.wavecluster.judge_findings import judge_findings
from shoal.papers.wavecluster.measure_cell import MeasureCell, read_measurement
from shoal.papers.wavecluster.picture_cell import NONE, PictureCell
from shoal.papers.wavecluster.tell_figures import tell_figures

__all__ = ["WaveClusterStudy"]

MECHANISMS = tuple(Choice(technique) for technique in (*TECHNIQUES, "oneshot"))
MEASURES = ("k_private", "dsg", "f_measure", "ocm", "two_ce")
# The source has 10 runs. Noise that joins two spirals is rare and costs much where it happens, so
# that means over 10 runs fall on either side of two of its limits.
RUNS, FOURTH_RUNS = 40, 10
QUICK_RUNS, QUICK_FOURTH_RUNS = 6, 3
QUICK_EPSILONS = (0.1, 0.5, 1.0, 2.0)  # those of the source's text
PICTURED = 1.0  # the epsilon of most of the numbers that the source prints


class WaveClusterStudy(Study):
    """k', DSG_C, F-measure, OCM and 2CE of private WaveCluster against epsilon, and its claims.

    Parameters
    ----------
    load : callable, default=load_figure_set
        From the name of a set to the set; with several processes, a function that can be pickled.

    Examples
    --------
    >>> from shoal.datasets import make_spirals
    >>> from shoal.papers.wavecluster import FigureSet
    >>> def spirals(name):
    ...     return FigureSet(name, make_spirals(2_000, random_state=0).X, 16, 0.1)
    >>> study = WaveClusterStudy(spirals)
    >>> [(part.name, len(part.spec.cells())) for part in study.parts(full=True, seed=0)]
    [('techniques', 3600), ('gowalla', 300), ('clusters', 24)]
    """

    name = "wavecluster"
    title = "WaveCluster with differential privacy, as published and corrected"
    source = (
        'L. Chen, T. Yu, R. Chirkova, "WaveCluster with Differential Privacy" (2015), section 7'
    )

    def __init__(self, load: Load = load_figure_set) -> None:
        self.load = load

    def parts(self, *, full: bool, seed: int) -> tuple[Part, ...]:
        """List the experiments: the source's own sets, the fourth, and fits for pictures."""
        for name in (*FIGURE_SETS, FOURTH):
            # A file that is not there is missed before any work.
            figure_comparison(self.load, name)
        epsilons = EPSILONS if full else QUICK_EPSILONS
        measure = MeasureCell(self.load)
        own = ExperimentSpec(
            name="wavecluster techniques",
            datasets=tuple(FIGURE_SETS),
            mechanisms=MECHANISMS,
            epsilons=epsilons,
            repeats=RUNS if full else QUICK_RUNS,
            measures=MEASURES,
            seed=seed,
        )
        fourth = ExperimentSpec(
            name="wavecluster gowalla",
            datasets=(FOURTH,),
            mechanisms=MECHANISMS,
            epsilons=epsilons,
            repeats=FOURTH_RUNS if full else QUICK_FOURTH_RUNS,
            measures=MEASURES,
            seed=seed,
        )
        pictures = ExperimentSpec(
            name="wavecluster clusters",
            datasets=(*FIGURE_SETS, FOURTH),
            mechanisms=(Choice(NONE), *MECHANISMS),
            epsilons=(PICTURED,),
            measures=("cells",),
            seed=seed,
        )
        return (
            Part("techniques", own, measure),
            Part("gowalla", fourth, measure),
            Part("clusters", pictures, PictureCell(self.load)),
        )

    def findings(self, records: Records) -> tuple[Finding, ...]:
        """Judge the four findings of section 7, and the sentences that they are made of."""
        return judge_findings(read_measurement(record) for record in records["techniques"])

    def tell(self, book: Book, records: Records) -> None:
        """Show each measure against epsilon, the printed figures beside ours, and the clusters."""
        tell_figures(book, records)
